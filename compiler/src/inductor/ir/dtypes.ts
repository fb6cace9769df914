// Facts about dtypes that lowering needs beyond aten/promotion. In: dtypes. Out: category, size, limits.
import { ITEM_SIZE, isComplexDType, isFloatDType, isIntDType, promoteTypes } from "../../aten/promotion";
import type { DType } from "../../aten/types";

export { isFloatDType, promoteTypes };

export type Category = "bool" | "int" | "float" | "complex";

export function categoryOf(d: DType): Category {
  if (d === "bool") return "bool";
  return isComplexDType(d) ? "complex" : isFloatDType(d) ? "float" : "int";
}

export const itemsize = (d: DType): number => ITEM_SIZE[d];
export const isIntegerDType = isIntDType;
export const isHalf = (d: DType): boolean => d === "float16" || d === "bfloat16";

export function integerBits(d: DType): { readonly width: number; readonly signed: boolean } {
  return { width: ITEM_SIZE[d] * 8, signed: !d.startsWith("uint") };
}

/** smallest and largest integer of a dtype; those of 64 bits are rounded to what a double holds */
export function integerLimits(d: DType): readonly [number, number] {
  const { width, signed } = integerBits(d);
  return signed ? [-(2 ** (width - 1)), 2 ** (width - 1) - 1] : [0, 2 ** width - 1];
}

/** dtype that computation happens in: half types compute in float32 (get_computation_dtype) */
export function computationDtype(d: DType): DType {
  return isHalf(d) || d.startsWith("float8") ? "float32" : d;
}
