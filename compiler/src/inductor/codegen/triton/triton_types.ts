// Triton's names of dtypes. In: a DType. Out: how kernels spell it (tl.float32), how signatures do (*fp32), what
// arithmetic happens in and what reductions accumulate in (torch/_inductor/codegen/triton.py, triton_utils.py).

import { markOf } from "../../../aten/float_parameter";
import type { DType } from "../../../aten/types";
import { isFloatDType, isHalf, isIntegerDType } from "../../ir/dtypes";
import type { ConstantValue } from "../../ir/loop_body";
import { pythonFloat, pythonInt } from "./python_text";

const TRITON: Readonly<Record<DType, string>> = {
  float64: "tl.float64",
  float32: "tl.float32",
  float16: "tl.float16",
  bfloat16: "tl.bfloat16",
  float8_e4m3fn: "tl.float8e4nv",
  float8_e5m2: "tl.float8e5",
  int64: "tl.int64",
  int32: "tl.int32",
  int16: "tl.int16",
  int8: "tl.int8",
  uint8: "tl.uint8",
  uint16: "tl.uint16",
  uint32: "tl.uint32",
  uint64: "tl.uint64",
  bool: "tl.int1",
  complex64: "tl.float32",
  complex128: "tl.float64",
};

const SIGNATURE: Readonly<Record<DType, string>> = {
  float64: "fp64",
  float32: "fp32",
  float16: "fp16",
  bfloat16: "bf16",
  float8_e4m3fn: "fp8e4nv",
  float8_e5m2: "fp8e5",
  int64: "i64",
  int32: "i32",
  int16: "i16",
  int8: "i8",
  uint8: "u8",
  uint16: "u16",
  uint32: "u32",
  uint64: "u64",
  bool: "i1",
  complex64: "fp32",
  complex128: "fp64",
};

export const tritonType = (d: DType): string => TRITON[d];
export const signatureType = (d: DType): string => SIGNATURE[d];
/** half types are computed with in float32 */
export const computeDType = (d: DType): DType => (isHalf(d) ? "float32" : d);
export const tritonComputeType = (d: DType): string => TRITON[computeDType(d)];

/** what a reduction over values of this dtype accumulates in */
export function accumulatorType(d: DType): string {
  if (isIntegerDType(d) && !d.startsWith("u")) return d === "int64" ? "tl.int64" : "tl.int32";
  return tritonComputeType(d);
}

/** the literal that stands for a value in Triton source */
export function constantText(value: ConstantValue, d: DType | null): string {
  if (d === "bool") return value ? "True" : "False";
  if (typeof value === "boolean" && d === null) return value ? "True" : "False";
  // equal constants have equal texts, wherever they come from
  const mark = typeof value !== "boolean" && d !== null && isFloatDType(d) ? markOf(value) : null;
  if (mark !== null) return mark;
  const v = Number(value);
  if (v === Number.POSITIVE_INFINITY) return 'float("inf")';
  if (v === Number.NEGATIVE_INFINITY) return 'float("-inf")';
  if (Number.isNaN(v)) return 'float("nan")';
  if (d !== null && isFloatDType(d)) return pythonFloat(v);
  return Number.isInteger(v) ? pythonInt(v) : pythonFloat(v);
}

/** smallest and largest value of an integer dtype, as text (they pass 2**53) */
export function integerLimit(d: DType, which: "min" | "max"): string {
  const bits = { int8: 8, int16: 16, int32: 32, int64: 64, uint8: 8, uint16: 16, uint32: 32, uint64: 64 }[d as string];
  if (bits === undefined) return which === "min" ? "0" : "1";
  const signed = !d.startsWith("u");
  const max = (1n << BigInt(signed ? bits - 1 : bits)) - 1n;
  return (which === "max" ? max : signed ? -max - 1n : 0n).toString();
}
