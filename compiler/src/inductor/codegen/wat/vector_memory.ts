// Loads and stores of four adjacent elements by dtype.
import type { DType } from "../../../aten/types";
import type { FunctionBuilder } from "./function_builder";
import { widened } from "./vector_convert";
import { constant4, keepVector, NotVectorizable, shapeOf, type VecValue } from "./vector_types";

const at = (offset: number): string => (offset ? `offset=${offset} ` : "");

export function loadVector(address: string, offset: number, dtype: DType, f: FunctionBuilder): VecValue {
  const shape = shapeOf(dtype);
  const made = (...codes: string[]): VecValue => keepVector(shape, codes, dtype, f);
  const bytes = `(v128.load32_zero ${at(offset)}${address})`;
  const half = (sign: "s" | "u"): string => `(v128.load16x4_${sign} ${at(offset)}${address})`;
  switch (dtype) {
    case "float32":
    case "int32":
    case "uint32":
      return made(`(v128.load ${at(offset)}${address})`);
    case "float64":
    case "int64":
    case "uint64":
      return made(`(v128.load ${at(offset)}${address})`, `(v128.load ${at(offset + 16)}${address})`);
    case "bfloat16":
      return made(`(i32x4.shl ${half("u")} (i32.const 16))`);
    case "float16":
      return made(f.vectorFunction("from_f16", f.keep(half("u"), "v128", "bits")));
    case "int16":
      return made(half("s"));
    case "uint16":
      return made(half("u"));
    case "int8":
      return made(`(i32x4.extend_low_i16x8_s (i16x8.extend_low_i8x16_s ${bytes}))`);
    case "uint8":
      return made(`(i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u ${bytes}))`);
    case "bool":
      return made(
        `(i32x4.ne (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u ${bytes})) ${constant4("i32x4", [0, 0, 0, 0])})`,
      );
    default:
      throw new NotVectorizable(`loads of ${dtype}`);
  }
}

/** statements that store the value, which is of the dtype */
export function storeVector(address: string, offset: number, v0: VecValue, dtype: DType, f: FunctionBuilder): string[] {
  const v = widened(v0, f);
  const [a = "", b = ""] = v.codes;
  const mask = (m: number): string => `(v128.and ${a} ${constant4("i32x4", [m, m, m, m])})`;
  const halves = (x: string): string =>
    `(v128.store64_lane ${at(offset)}0 ${address} (i16x8.narrow_i32x4_u ${x} ${x}))`;
  const bytes = (x: string): string => {
    const words = `(i16x8.narrow_i32x4_u ${x} ${x})`;
    return `(v128.store32_lane ${at(offset)}0 ${address} (i8x16.narrow_i16x8_u ${words} ${words}))`;
  };
  switch (dtype) {
    case "float32":
    case "int32":
    case "uint32":
      return [`(v128.store ${at(offset)}${address} ${a})`];
    case "float64":
    case "int64":
    case "uint64":
      return [`(v128.store ${at(offset)}${address} ${a})`, `(v128.store ${at(offset + 16)}${address} ${b})`];
    case "bfloat16":
      // the value is rounded: its lower half is zero
      return [halves(`(i32x4.shr_u ${a} (i32.const 16))`)];
    case "float16":
      return [halves(f.vectorFunction("to_f16", a))];
    case "int16":
    case "uint16":
      return [halves(mask(65535))];
    case "int8":
    case "uint8":
      return [bytes(mask(255))];
    case "bool":
      return [bytes(mask(1))];
    default:
      throw new NotVectorizable(`stores of ${dtype}`);
  }
}

/** four columns' numbers in scratch */
export function loadColumn(ref: { readonly dtype: DType }, address: string, f: FunctionBuilder): VecValue {
  const { dtype } = ref;
  const shape = shapeOf(dtype);
  const code = (offset: number): string => `(v128.load ${at(offset)}${address})`;
  if (shape === "mask")
    return keepVector("mask", [`(i32x4.ne ${code(0)} ${constant4("i32x4", [0, 0, 0, 0])})`], dtype, f);
  return keepVector(shape, shape === "f64x2" || shape === "i64x2" ? [code(0), code(16)] : [code(0)], dtype, f);
}

export function storeColumn(v0: VecValue, address: string, f: FunctionBuilder): string[] {
  const v = widened(v0, f);
  const codes = v.shape === "mask" ? [`(v128.and ${v.codes[0]} ${constant4("i32x4", [1, 1, 1, 1])})`] : v.codes;
  return codes.map((c, i) => `(v128.store ${at(16 * i)}${address} ${c})`);
}
