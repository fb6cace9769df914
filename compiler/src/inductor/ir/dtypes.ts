// Facts about dtypes that lowering needs beyond aten/promotion. In: dtypes. Out: category, size, limits.
import { itemSize } from "../../aten/ops/helpers/dtypes";
import type { DType } from "../../aten/types";

export {
  type Category,
  categoryOf,
  isFloatDType,
  isIntDType as isIntegerDType,
  itemSize as itemsize,
} from "../../aten/ops/helpers/dtypes";
export { promoteTypes } from "../../aten/promotion";

export const isHalf = (d: DType): boolean => d === "float16" || d === "bfloat16";

export function integerBits(d: DType): { readonly width: number; readonly signed: boolean } {
  return { width: itemSize(d) * 8, signed: !d.startsWith("uint") };
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
