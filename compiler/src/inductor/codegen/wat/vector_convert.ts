// Conversions between dtypes, four elements at a time: as convert.ts makes them one at a time. Pairs without an
// instruction go lane by lane.
import type { DType } from "../../../aten/types";
import { convert, rounded } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import {
  constant4,
  firstHalves,
  fromLanes,
  isNarrow,
  isVector,
  isWide,
  keepVector,
  lane,
  low,
  secondHalf,
  shapeOf,
  splat,
  type Value,
  type VecValue,
} from "./vector_types";
import { literal, type WatValue } from "./wat_types";

const ones = constant4("f32x4", [1, 1, 1, 1]);
const intOnes = constant4("i32x4", [1, 1, 1, 1]);

/** the value as a vector of the dtype, halves and float8 rounded */
export function convertVector(v: Value, dtype: DType, f: FunctionBuilder): VecValue {
  if (!isVector(v)) {
    const same = v.dtype === dtype;
    const { code, type } = convert(v, dtype);
    const scalar: WatValue = { code: f.keep(same ? code : rounded(code, dtype, f), type), type, dtype };
    if (dtype.startsWith("float8") && !same) return byLanes(v, dtype, f);
    const shape = shapeOf(dtype);
    return keepVector(shape, splat(scalar, shape), dtype, f);
  }
  if (v.dtype === dtype) return v;
  if (dtype.startsWith("float8") || v.dtype === "uint32" || v.dtype === "uint64" || dtype === "uint64")
    return byLanes(v, dtype, f);
  const plain = plainVector(v, dtype, f);
  if (plain === null) return byLanes(v, dtype, f);
  const half = dtype === "float16" || dtype === "bfloat16";
  return half ? roundedVector(plain, dtype, f) : plain;
}

function byLanes(v: Value, dtype: DType, f: FunctionBuilder): VecValue {
  const lanes = [0, 1, 2, 3].map((k): WatValue => {
    const x = isVector(v) ? lane(v, k) : v;
    const { code, type } = convert(x, dtype);
    return { code: f.keep(rounded(code, dtype, f), type), type, dtype };
  });
  return fromLanes(lanes, dtype, f);
}

/** f32 lanes rounded to a half type */
export function roundedVector(v: VecValue, dtype: DType, f: FunctionBuilder): VecValue {
  if (dtype !== "float16" && dtype !== "bfloat16") return v;
  const code = f.vectorFunction(dtype === "float16" ? "round_f16" : "round_bf16", v.codes[0] ?? "");
  return { shape: "f32x4", codes: [code], dtype };
}

/** without rounding to halves; null where there is no instruction */
function plainVector(v: VecValue, dtype: DType, f: FunctionBuilder): VecValue | null {
  const to = shapeOf(dtype);
  const from = v.shape;
  const [a = "", b = ""] = v.codes;
  const made = (codes: readonly string[]): VecValue => keepVector(to, codes, dtype, f);
  if (to === "mask") {
    const zero = isWide(from)
      ? splat({ code: literal(0, from === "f64x2" ? "f64" : "i64"), type: "f64", dtype }, from)[0]
      : constant4("i32x4", [0, 0, 0, 0]);
    if (from === "mask") return { ...v, dtype };
    return made([
      isWide(from) ? low(`(${from}.ne ${a} ${zero})`, `(${from}.ne ${b} ${zero})`) : `(${from}.ne ${a} ${zero})`,
    ]);
  }
  if (from === "mask") {
    if (to === "f32x4") return made([`(v128.and ${a} ${ones})`]);
    const numbers: VecValue = keepVector("i32x4", [`(v128.and ${a} ${intOnes})`], "int32", f);
    if (to === "i32x4") return { ...numbers, dtype };
    return to === "i64x2" ? { ...numbers, dtype } : plainVector(numbers, dtype, f);
  }
  if (from === "i32x4") {
    switch (to) {
      case "i32x4":
        return narrowed(v, dtype, f);
      case "f32x4":
        return made([`(f32x4.convert_i32x4_s ${a})`]);
      case "f64x2":
        return made([`(f64x2.convert_low_i32x4_s ${a})`, `(f64x2.convert_low_i32x4_s ${secondHalf(a)})`]);
      case "i64x2":
        return { ...v, dtype }; // they fit
      default: {
        const never: never = to;
        return never;
      }
    }
  }
  if (from === "f32x4") {
    if (to === "f32x4") return { ...v, dtype };
    if (to === "f64x2") return made([`(f64x2.promote_low_f32x4 ${a})`, `(f64x2.promote_low_f32x4 ${secondHalf(a)})`]);
    if (to === "i32x4") return narrowed(keepVector("i32x4", [`(i32x4.trunc_sat_f32x4_s ${a})`], "int32", f), dtype, f);
    return null;
  }
  if (from === "f64x2") {
    if (to === "f64x2") return { ...v, dtype };
    if (to === "f32x4") return made([firstHalves(`(f32x4.demote_f64x2_zero ${a})`, `(f32x4.demote_f64x2_zero ${b})`)]);
    if (to === "i32x4")
      return narrowed(
        keepVector(
          "i32x4",
          [firstHalves(`(i32x4.trunc_sat_f64x2_s_zero ${a})`, `(i32x4.trunc_sat_f64x2_s_zero ${b})`)],
          "int32",
          f,
        ),
        dtype,
        f,
      );
    return null;
  }
  if (to === "i64x2") return { ...v, dtype };
  return to === "i32x4" ? narrowed(keepVector("i32x4", [low(a, b)], "int32", f), dtype, f) : null;
}

/** 32-bit lanes as a narrower integer holds them */
export function narrowed(v: VecValue, dtype: DType, f: FunctionBuilder): VecValue {
  const [a] = v.codes;
  const signed = (bits: number): string => `(i32x4.shr_s (i32x4.shl ${a} (i32.const ${bits})) (i32.const ${bits}))`;
  const masked = (mask: number): string => `(v128.and ${a} ${constant4("i32x4", [mask, mask, mask, mask])})`;
  switch (dtype) {
    case "int16":
      return keepVector("i32x4", [signed(16)], dtype, f);
    case "int8":
      return keepVector("i32x4", [signed(24)], dtype, f);
    case "uint8":
      return keepVector("i32x4", [masked(255)], dtype, f);
    case "uint16":
      return keepVector("i32x4", [masked(65535)], dtype, f);
    default:
      return { ...v, dtype };
  }
}

/** 64-bit lanes for numbers that lie in 32-bit ones */
export function widened(v: VecValue, f: FunctionBuilder): VecValue {
  if (!isNarrow(v)) return v;
  const [a] = v.codes;
  return keepVector("i64x2", [`(i64x2.extend_low_i32x4_s ${a})`, `(i64x2.extend_high_i32x4_s ${a})`], v.dtype, f);
}

/** a mask for 64-bit lanes */
export const wideMask = (m: string): [string, string] => [
  `(i64x2.extend_low_i32x4_s ${m})`,
  `(i64x2.extend_high_i32x4_s ${m})`,
];
