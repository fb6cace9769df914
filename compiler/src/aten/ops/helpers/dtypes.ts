// What is known of an element type alone: its category and its size. Promotion between types is promotion.ts.
import type { DType } from "../../types";

export type Category = "bool" | "int" | "float" | "complex";

const CATEGORY: Readonly<Record<DType, Category>> = {
  bool: "bool",
  uint8: "int",
  uint16: "int",
  uint32: "int",
  uint64: "int",
  int8: "int",
  int16: "int",
  int32: "int",
  int64: "int",
  float8_e4m3fn: "float",
  float8_e5m2: "float",
  float16: "float",
  bfloat16: "float",
  float32: "float",
  float64: "float",
  complex64: "complex",
  complex128: "complex",
};

/** bytes of one element */
const SIZE: Readonly<Record<DType, number>> = {
  bool: 1,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
  float16: 2,
  bfloat16: 2,
  float32: 4,
  float64: 8,
  complex64: 8,
  complex128: 16,
};

const RANK: Readonly<Record<Category, number>> = { bool: 0, int: 1, float: 2, complex: 3 };

/** bytes of one element */
export const itemSize = (d: DType): number => SIZE[d];
export const categoryOf = (d: DType): Category => CATEGORY[d];
export const isFloatDType = (d: DType): boolean => CATEGORY[d] === "float";
export const isComplexDType = (d: DType): boolean => CATEGORY[d] === "complex";
/** what may require a gradient */
export const isDifferentiableDType = (d: DType): boolean => isFloatDType(d) || isComplexDType(d);
/** integers without bool */
export const isIntDType = (d: DType): boolean => CATEGORY[d] === "int";
/** integers and bool */
export const isIntegralDType = (d: DType): boolean => RANK[CATEGORY[d]] <= RANK.int;

/** torch.can_cast of a result to what it is written into: never to a lower category */
export const canCast = (from: DType, to: DType): boolean => RANK[CATEGORY[from]] <= RANK[CATEGORY[to]];
