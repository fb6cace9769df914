// Loads and stores by dtype: memory form to compute form and back, rounded to nearest even on the way out.
import type { DType } from "../../../aten/types";
import type { FunctionBuilder } from "./function_builder";
import { UnsupportedOnCpu } from "./wat_types";

export function loadCode(address: string, dtype: DType, f: FunctionBuilder): string {
  switch (dtype) {
    case "float32":
      return `(f32.load ${address})`;
    case "float64":
      return `(f64.load ${address})`;
    case "float16":
      return `(call ${f.use("load_f16")} ${address})`;
    case "bfloat16":
      return `(f32.reinterpret_i32 (i32.shl (i32.load16_u ${address}) (i32.const 16)))`;
    case "float8_e4m3fn":
      return `(call ${f.use("load_f8")} ${address} (i32.const 3) (f32.const 0x1p120) (i32.const 1))`;
    case "float8_e5m2":
      return `(call ${f.use("load_f8")} ${address} (i32.const 2) (f32.const 0x1p112) (i32.const 0))`;
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
    default:
      throw new UnsupportedOnCpu(`loads of ${dtype}`);
  }
}

export function storeCode(address: string, value: string, dtype: DType, f: FunctionBuilder): string {
  switch (dtype) {
    case "float32":
      return `(f32.store ${address} ${value})`;
    case "float64":
      return `(f64.store ${address} ${value})`;
    case "float16":
      return `(call ${f.use("store_f16")} ${address} ${value})`;
    case "bfloat16":
      return `(call ${f.use("store_bf16")} ${address} ${value})`;
    // scale: 2**(bias - 127); limit: the largest finite pattern; over: what larger values become
    case "float8_e4m3fn":
      return `(call ${f.use("store_f8")} ${address} ${value} (i32.const 3) (f32.const 0x1p-120) (i32.const 0x7e) (i32.const 0x7f) (i32.const 0x7f))`;
    case "float8_e5m2":
      return `(call ${f.use("store_f8")} ${address} ${value} (i32.const 2) (f32.const 0x1p-112) (i32.const 0x7b) (i32.const 0x7c) (i32.const 0x7f))`;
    case "int64":
    case "uint64":
      return `(i64.store ${address} ${value})`;
    case "int32":
    case "uint32":
      return `(i32.store ${address} ${value})`;
    case "int16":
    case "uint16":
      return `(i32.store16 ${address} ${value})`;
    case "int8":
    case "uint8":
    case "bool":
      return `(i32.store8 ${address} ${value})`;
    default:
      throw new UnsupportedOnCpu(`stores of ${dtype}`);
  }
}
