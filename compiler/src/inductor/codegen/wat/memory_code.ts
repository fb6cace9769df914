// Loads and stores by dtype: memory form to compute form and back, rounded to nearest even on the way out.
import type { DType } from "../../../aten/types";
import { changeType } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { computeType, isFloat, itemSize, UnsupportedOnCpu, type WasmType, type WatValue } from "./wat_types";

export function loadCode(address: string, dtype: DType, f: FunctionBuilder): string {
  switch (dtype) {
    case "float32":
      return `(f32.load ${address})`;
    case "float64":
      return `(f64.load ${address})`;
    case "float16":
    case "bfloat16":
      return fromBits(`(i32.load16_u ${address})`, dtype, f);
    case "float8_e4m3fn":
    case "float8_e5m2":
      return fromBits(`(i32.load8_u ${address})`, dtype, f);
    case "int64":
    case "uint64":
      return `(i64.load ${address})`;
    case "int32":
    case "uint32":
      return `(i32.load ${address})`;
    case "int16":
      return `(i32.load16_s ${address})`;
    case "uint16":
      return `(i32.load16_u ${address})`;
    case "int8":
      return `(i32.load8_s ${address})`;
    case "uint8":
    case "bool":
      return `(i32.load8_u ${address})`;
    case "complex64":
    case "complex128":
      throw new UnsupportedOnCpu(`loads of ${dtype}`);
    default: {
      const never: never = dtype;
      return never;
    }
  }
}

export function storeCode(address: string, value: string, dtype: DType, f: FunctionBuilder): string {
  switch (itemSize(dtype)) {
    case 1:
      return `(i32.store8 ${address} ${toBits(value, dtype, f)})`;
    case 2:
      return `(i32.store16 ${address} ${toBits(value, dtype, f)})`;
    default:
      return `(${computeType(dtype)}.store ${address} ${value})`;
  }
}

/** the i32 bits of a value of at most two bytes in compute form, above them anything */
function toBits(value: string, dtype: DType, f: FunctionBuilder): string {
  switch (dtype) {
    case "float16":
      return `(call ${f.use("to_f16")} ${value})`;
    case "bfloat16":
      return `(call ${f.use("to_bf16")} ${value})`;
    case "float8_e4m3fn":
      return `(call ${f.use("to_f8")} ${value} (i32.const 3) (i32.const 0x3c800000) (f32.const 0x1p14) (i32.const 0x3c000000) (i32.const 0x7e) (i32.const 0x7f))`;
    case "float8_e5m2":
      return `(call ${f.use("to_f8")} ${value} (i32.const 2) (i32.const 0x38800000) (f32.const 0x1p7) (i32.const 0x38000000) (i32.const 0x7b) (i32.const 0x7c))`;
    default:
      return value;
  }
}

/** compute form of bits that lie in an i32 with zeros above them */
function fromBits(bits: string, dtype: DType, f: FunctionBuilder): string {
  switch (dtype) {
    case "float16":
      return `(call ${f.use("from_f16")} ${bits})`;
    case "bfloat16":
      return `(f32.reinterpret_i32 (i32.shl ${bits} (i32.const 16)))`;
    case "float8_e4m3fn":
      return `(call ${f.use("from_f8")} ${bits} (i32.const 3) (f32.const 0x1p120) (i32.const 1))`;
    case "float8_e5m2":
      return `(call ${f.use("from_f8")} ${bits} (i32.const 2) (f32.const 0x1p112) (i32.const 0))`;
    case "int16":
      return `(i32.extend16_s ${bits})`;
    case "int8":
      return `(i32.extend8_s ${bits})`;
    case "uint16":
      return `(i32.and ${bits} (i32.const 0xffff))`;
    case "uint8":
      return `(i32.and ${bits} (i32.const 0xff))`;
    case "bool":
      return `(i32.ne ${bits} (i32.const 0))`;
    default:
      return bits;
  }
}

/** the same bits read as another dtype of the same width */
export function bitcast(
  x: WatValue,
  dtype: DType,
  srcDtype: DType,
  f: FunctionBuilder,
): { readonly code: string; readonly type: WasmType } {
  const width = itemSize(srcDtype);
  if (itemSize(dtype) !== width || dtype.startsWith("complex") || srcDtype.startsWith("complex"))
    throw new UnsupportedOnCpu(`a bit cast from ${srcDtype} to ${dtype}`);
  const from = computeType(srcDtype);
  const to = computeType(dtype);
  const value = changeType(x.code, x.type, from, x.dtype);
  if (width >= 4) return { code: from === to ? value : `(${to}.reinterpret_${from} ${value})`, type: to };
  const bits = toBits(value, srcDtype, f);
  const clean = isFloat(srcDtype) ? bits : `(i32.and ${bits} (i32.const ${width === 1 ? 0xff : 0xffff}))`;
  return { code: fromBits(clean, dtype, f), type: to };
}
