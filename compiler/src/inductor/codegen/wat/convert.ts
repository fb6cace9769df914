// Conversions between dtypes as PyTorch makes them: floats to integers truncate, anything to bool compares with zero,
// narrow integers wrap. What is rounded to a half type or float8 is rounded by rounded(), not here.
import type { DType } from "../../../aten/types";
import type { FunctionBuilder } from "./function_builder";
import { computeType, isFloat, isUnsigned, literal, type WasmType, type WatValue } from "./wat_types";

/** the value in another dtype; `code` may be any expression */
export function convert(v: WatValue, dtype: DType): { readonly code: string; readonly type: WasmType } {
  const type = computeType(dtype);
  if (dtype === "bool")
    return { code: v.dtype === "bool" ? v.code : `(${v.type}.ne ${v.code} ${literal(0, v.type)})`, type };
  const code = changeType(v.code, v.type, type, v.dtype);
  return { code: isFloat(dtype) || v.dtype === dtype ? code : narrow(code, dtype), type };
}

/** between WebAssembly types; the dtype says whether an integer is signed */
export function changeType(code: string, from: WasmType, to: WasmType, dtype: DType): string {
  if (from === to) return code;
  const sign = isUnsigned(dtype) ? "u" : "s";
  if (from === "f32" && to === "f64") return `(f64.promote_f32 ${code})`;
  if (from === "f64" && to === "f32") return `(f32.demote_f64 ${code})`;
  if (from === "i32" && to === "i64") return `(i64.extend_i32_${sign} ${code})`;
  if (from === "i64" && to === "i32") return `(i32.wrap_i64 ${code})`;
  if (to === "f32" || to === "f64") return `(${to}.convert_${from}_${sign} ${code})`;
  // by way of i64, so that what is out of range wraps as a conversion through the widest integer does
  return to === "i64" ? `(i64.trunc_sat_${from}_s ${code})` : `(i32.wrap_i64 (i64.trunc_sat_${from}_s ${code}))`;
}

/**
 * A float rounded to a half type, still in f32. Fused kernels round after every operation on halves, as eager PyTorch
 * does (Inductor's emulate_precision_casts), so that fusion changes no value.
 */
export function rounded(code: string, dtype: DType, f: FunctionBuilder): string {
  if (dtype === "float16") return `(call ${f.use("round_f16")} ${code})`;
  if (dtype === "bfloat16") return `(call ${f.use("round_bf16")} ${code})`;
  return code;
}

/** an i32 as a narrower integer holds it */
export function narrow(code: string, dtype: DType): string {
  switch (dtype) {
    case "int16":
      return `(i32.extend16_s ${code})`;
    case "int8":
      return `(i32.extend8_s ${code})`;
    case "uint8":
      return `(i32.and ${code} (i32.const 255))`;
    case "uint16":
      return `(i32.and ${code} (i32.const 65535))`;
    default:
      return code;
  }
}

const ORDER: readonly DType[] = [
  "bool",
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "uint64",
  "int64",
  "float8_e4m3fn",
  "float8_e5m2",
  "float16",
  "bfloat16",
  "float32",
  "float64",
];

/** the dtype that values of this dtype are computed in: halves and float8 as float32 */
export function arithmeticDtype(dtype: DType): DType {
  return isFloat(dtype) && dtype !== "float64" ? "float32" : dtype;
}

/** the widest of these, which is the dtype of an operation's result */
export function widestDtype(dtypes: readonly DType[]): DType {
  return dtypes.reduce((a, b) => (ORDER.indexOf(b) > ORDER.indexOf(a) ? b : a));
}

/** the dtype that an operation on these computes in */
export function commonDtype(dtypes: readonly DType[]): DType {
  return arithmeticDtype(widestDtype(dtypes));
}
