// Four elements at a time. In: values by dtype. Out: which vectors hold them: one v128 of 32-bit lanes, or two of 64-bit
// lanes, first two elements first. Booleans are masks: all bits of a 32-bit lane set or none.
import type { DType } from "../../../aten/types";
import { changeType } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { computeType, type WasmType, type WatValue } from "./wat_types";

export const LANES = 4;

export type Shape = "f32x4" | "i32x4" | "f64x2" | "i64x2" | "mask";

export interface VecValue {
  readonly shape: Shape;
  /** one expression, or two for 64-bit lanes; locals or constants */
  readonly codes: readonly string[];
  /** int64 values in 32-bit lanes (shape i32x4): numbers known to fit */
  readonly dtype: DType;
}

/** a value of each element, or one for all of them */
export type Value = WatValue | VecValue;

export const isVector = (v: Value): v is VecValue => "shape" in v;

/** Something that only the element-by-element form can do: the caller falls back to that. */
export class NotVectorizable extends Error {}

export function shapeOf(dtype: DType): Shape {
  if (dtype === "bool") return "mask";
  const types: Record<WasmType, Shape> = { f32: "f32x4", f64: "f64x2", i32: "i32x4", i64: "i64x2" };
  return types[computeType(dtype)];
}

export const isWide = (shape: Shape): boolean => shape === "f64x2" || shape === "i64x2";
/** int64 numbers that lie in 32-bit lanes */
export const isNarrow = (v: VecValue): boolean => v.shape === "i32x4" && computeType(v.dtype) === "i64";

export const low = (a: string, b: string): string =>
  `(i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27 ${a} ${b})`;
/** the first halves of two vectors */
export const firstHalves = (a: string, b: string): string =>
  `(i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 ${a} ${b})`;
/** the second half in the place of the first */
export const secondHalf = (a: string): string =>
  `(i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 ${a} ${a})`;

export function constant4(shape: "f32x4" | "i32x4", values: readonly number[]): string {
  return `(v128.const ${shape} ${values.join(" ")})`;
}

/** the same number in all lanes */
export function splat(v: WatValue, shape: Shape): string[] {
  const number = /^\([fi](?:32|64)\.const (\S+)\)$/.exec(v.code)?.[1];
  if (number !== undefined) {
    const x = shape === "mask" ? (number === "0" ? "0" : "-1") : number;
    const code = `(v128.const ${shape === "mask" ? "i32x4" : shape} ${new Array(isWide(shape) ? 2 : 4).fill(x).join(" ")})`;
    return isWide(shape) ? [code, code] : [code];
  }
  switch (shape) {
    case "mask":
      return [`(i32x4.splat (i32.sub (i32.const 0) ${v.code}))`];
    case "f32x4":
    case "i32x4":
      return [`(${shape}.splat ${v.code})`];
    case "f64x2":
    case "i64x2": {
      const code = `(${shape}.splat ${v.code})`;
      return [code, code];
    }
    default: {
      const never: never = shape;
      return never;
    }
  }
}

/** one element of a vector as a scalar in its dtype's compute form */
export function lane(v: VecValue, k: number): WatValue {
  const type = computeType(v.dtype);
  const { dtype } = v;
  switch (v.shape) {
    case "mask":
      return { code: `(i32.and (i32x4.extract_lane ${k} ${v.codes[0]}) (i32.const 1))`, type, dtype };
    case "f32x4":
      return { code: `(f32x4.extract_lane ${k} ${v.codes[0]})`, type, dtype };
    case "i32x4":
      return { code: changeType(`(i32x4.extract_lane ${k} ${v.codes[0]})`, "i32", type, "int32"), type, dtype };
    case "f64x2":
    case "i64x2":
      return { code: `(${v.shape}.extract_lane ${k % 2} ${v.codes[k >> 1]})`, type, dtype };
    default: {
      const never: never = v.shape;
      return never;
    }
  }
}

/** four scalars of one dtype as a vector */
export function fromLanes(values: readonly WatValue[], dtype: DType, f: FunctionBuilder): VecValue {
  const shape = shapeOf(dtype);
  const at = (k: number): string =>
    shape === "mask" ? `(i32.sub (i32.const 0) ${values[k]?.code})` : (values[k]?.code ?? "");
  const lanes = shape === "mask" ? "i32x4" : shape;
  const build = (from: number, count: number): string => {
    let code = `(${lanes}.splat ${at(from)})`;
    for (let k = 1; k < count; k++) code = `(${lanes}.replace_lane ${k} ${code} ${at(from + k)})`;
    return f.keep(code, "v128", "v");
  };
  return { shape, dtype, codes: isWide(shape) ? [build(0, 2), build(2, 2)] : [build(0, 4)] };
}

export function keepVector(shape: Shape, codes: readonly string[], dtype: DType, f: FunctionBuilder): VecValue {
  return { shape, dtype, codes: codes.map(c => f.keep(c, "v128", "v")) };
}
