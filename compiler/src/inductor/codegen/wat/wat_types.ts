// Values of a CPU kernel: which WebAssembly type computes which dtype, and how each dtype lies in memory.
// Half types and float8 compute in f32, as on the GPU; narrow integers and booleans in i32.
import type { DType } from "../../../aten/types";

export type WasmType = "f32" | "f64" | "i32" | "i64";

export interface WatValue {
  /** an expression without side effects that costs nothing to repeat: a local or a constant */
  readonly code: string;
  readonly type: WasmType;
  readonly dtype: DType;
}

export function computeType(dtype: DType): WasmType {
  switch (dtype) {
    case "float64":
      return "f64";
    case "float32":
    case "float16":
    case "bfloat16":
    case "float8_e4m3fn":
    case "float8_e5m2":
      return "f32";
    case "int64":
    case "uint64":
      return "i64";
    case "int32":
    case "int16":
    case "int8":
    case "uint8":
    case "uint16":
    case "uint32":
    case "bool":
      return "i32";
    case "complex64":
    case "complex128":
      throw new UnsupportedOnCpu(`${dtype} values`);
    default: {
      const never: never = dtype;
      throw new Error(`no such dtype: ${String(never)}`);
    }
  }
}

/** Something that the CPU form of a kernel has no code for; the plan then says so instead of running. */
export class UnsupportedOnCpu extends Error {}

export { isFloatDType as isFloat, itemSize } from "../../../aten/ops/helpers/dtypes";

export function isUnsigned(dtype: DType): boolean {
  return dtype.startsWith("uint") || dtype === "bool";
}

/** the literal of a number in a WebAssembly type */
export function literal(value: number, type: WasmType): string {
  if (type === "i32" || type === "i64") return `(${type}.const ${integerText(value)})`;
  return `(${type}.const ${floatText(value)})`;
}

function integerText(value: number): string {
  if (!Number.isFinite(value)) return "0";
  return BigInt(Math.trunc(value)).toString();
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (value === Number.POSITIVE_INFINITY) return "inf";
  if (value === Number.NEGATIVE_INFINITY) return "-inf";
  return Object.is(value, -0) ? "-0" : String(value);
}
