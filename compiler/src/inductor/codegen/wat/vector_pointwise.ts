// Pointwise operations on four elements at a time. In: vectors, and scalars that stand for all lanes. Out: a vector. What
// has no vector form is worked out lane by lane by the scalar code, so every operation is here.
import type { DType, OpName } from "../../../aten/types";
import { commonDtype, widestDtype } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import type { VectorFunction } from "./helpers/vector_functions";
import { EXACT, pointwiseCode } from "./pointwise_code";
import { convertVector, narrowed, roundedVector, wideMask, widened } from "./vector_convert";
import {
  constant4,
  fromLanes,
  isNarrow,
  isVector,
  isWide,
  keepVector,
  lane,
  low,
  type Shape,
  shapeOf,
  splat,
  type Value,
  type VecValue,
} from "./vector_types";
import { computeType, isFloat, isUnsigned, type WatValue } from "./wat_types";

const FUNCTIONS: Partial<Record<OpName, VectorFunction>> = {
  exp: "exp",
  expm1: "expm1",
  log: "log",
  log1p: "log1p",
  tanh: "tanh",
  sigmoid: "sigmoid",
  erf: "erf",
  sin: "sin",
  cos: "cos",
};
const COMPARE: Partial<Record<OpName, string>> = { eq: "eq", ne: "ne", lt: "lt", le: "le", gt: "gt", ge: "ge" };

/** whether the operation has a vector form for these dtypes; else it costs four scalar ones and the way there and back */
function hasVectorForm(name: OpName, dtypes: readonly DType[]): boolean {
  if (name === "where" || /^logical_|^and_$/.test(name)) return true;
  const dtype = commonDtype(dtypes);
  if (name in COMPARE) return dtype !== "uint64" && dtype !== "uint32";
  if (isFloat(dtype)) {
    if (name in FUNCTIONS) return dtype === "float32";
    return FLOAT_OPS.has(name);
  }
  return INT_OPS.has(name) && !isUnsignedWide(dtype);
}

const isUnsignedWide = (d: DType): boolean => d === "uint32" || d === "uint64";
const FLOAT_OPS: ReadonlySet<OpName> = new Set([
  "add",
  "sub",
  "mul",
  "truediv",
  "neg",
  "abs",
  "sqrt",
  "rsqrt",
  "reciprocal",
  "square",
  "relu",
  "maximum",
  "minimum",
  "floor",
  "ceil",
  "trunc",
  "round",
  "isnan",
  "isinf",
  "signbit",
  "copysign",
  "sign",
  "fma",
]);
const INT_OPS: ReadonlySet<OpName> = new Set([
  "add",
  "sub",
  "mul",
  "neg",
  "abs",
  "square",
  "relu",
  "maximum",
  "minimum",
  "bitwise_and",
  "bitwise_or",
  "bitwise_xor",
  "bitwise_not",
]);

export function vectorPointwise(name: OpName, args: readonly Value[], f: FunctionBuilder): VecValue {
  const result = hasVectorForm(
    name,
    (name === "where" ? args.slice(1) : args).map(a => a.dtype),
  )
    ? vectorForm(name, args, f)
    : null;
  return result ?? byLanes(name, args, f);
}

function byLanes(name: OpName, args: readonly Value[], f: FunctionBuilder): VecValue {
  const lanes = [0, 1, 2, 3].map((k): WatValue => {
    const { code, dtype } = pointwiseCode(
      name,
      args.map((a): WatValue => {
        if (!isVector(a)) return a;
        const x = lane(a, k);
        return { ...x, code: f.keep(x.code, x.type) };
      }),
      f,
    );
    const type = computeType(dtype);
    return { code: f.keep(code, type), type, dtype };
  });
  return fromLanes(lanes, lanes[0]?.dtype ?? "float32", f);
}

function vectorForm(name: OpName, args: readonly Value[], f: FunctionBuilder): VecValue | null {
  if (name === "where") return where(args, f);
  const masks = (): string[] => args.map(a => convertVector(a, "bool", f).codes[0] ?? "");
  const bool = (code: string): VecValue => keepVector("mask", [code], "bool", f);
  const allBool = args.every(a => a.dtype === "bool");
  switch (name) {
    case "logical_not":
      return bool(`(v128.not ${masks()[0]})`);
    case "logical_and":
      return bool(`(v128.and ${masks().join(" ")})`);
    case "logical_or":
      return bool(`(v128.or ${masks().join(" ")})`);
    case "logical_xor":
      return bool(`(v128.xor ${masks().join(" ")})`);
    default:
      break;
  }
  if (allBool) {
    const [a, b] = masks();
    switch (name) {
      case "and_":
      case "bitwise_and":
      case "mul":
      case "minimum":
        return bool(`(v128.and ${a} ${b})`);
      case "bitwise_or":
      case "add":
      case "maximum":
        return bool(`(v128.or ${a} ${b})`);
      case "bitwise_xor":
      case "sub":
      case "ne":
        return bool(`(v128.xor ${a} ${b})`);
      case "eq":
        return bool(`(v128.not (v128.xor ${a} ${b}))`);
      case "bitwise_not":
        return bool(`(v128.not ${a})`);
      default:
        return null;
    }
  }
  const dtype = commonDtype(args.map(a => a.dtype));
  const widest = widestDtype(args.map(a => a.dtype));
  if (isFloat(dtype)) {
    const vs = args.map(a => convertVector(a, dtype, f));
    const result = floatForm(name, vs, shapeOf(dtype), dtype, f);
    if (result === null || result.dtype === "bool") return result;
    const half = widest === "float16" || widest === "bfloat16";
    if (!half) return result;
    return EXACT.has(name) ? { ...result, dtype: widest } : roundedVector(result, widest, f);
  }
  return intForm(name, args, dtype, f);
}

function floatForm(
  name: OpName,
  vs: readonly VecValue[],
  shape: Shape,
  dtype: DType,
  f: FunctionBuilder,
): VecValue | null {
  const width = shape === "f64x2" ? 2 : 1;
  const each = (make: (...xs: string[]) => string): VecValue =>
    keepVector(
      shape,
      Array.from({ length: width }, (_, i) => make(...vs.map(v => v.codes[i] ?? ""))),
      dtype,
      f,
    );
  const mask = (make: (...xs: string[]) => string): VecValue => {
    const codes = Array.from({ length: width }, (_, i) => make(...vs.map(v => v.codes[i] ?? "")));
    return keepVector("mask", [width === 2 ? low(codes[0] ?? "", codes[1] ?? "") : (codes[0] ?? "")], "bool", f);
  };
  const number = (x: number): string =>
    `(v128.const ${shape} ${new Array(shape === "f64x2" ? 2 : 4).fill(Number.isFinite(x) ? x : "inf").join(" ")})`;
  const compare = COMPARE[name];
  if (compare) return mask((a = "", b = "") => `(${shape}.${compare} ${a} ${b})`);
  const helper = FUNCTIONS[name];
  if (helper) return { shape, codes: [f.vectorFunction(helper, vs[0]?.codes[0] ?? "")], dtype };
  const ints = shape === "f64x2" ? "i64x2" : "i32x4";
  const signs =
    shape === "f64x2"
      ? "(v128.const i64x2 -9223372036854775808 -9223372036854775808)"
      : constant4("i32x4", new Array(4).fill(-2147483648));
  switch (name) {
    case "add":
    case "sub":
    case "mul":
      return each((a = "", b = "") => `(${shape}.${name} ${a} ${b})`);
    case "truediv":
      return each((a = "", b = "") => `(${shape}.div ${a} ${b})`);
    case "fma":
      if (shape === "f32x4") return null; // one rounding: by way of f64
      return each((a = "", b = "", c = "") => `(${shape}.add (${shape}.mul ${a} ${b}) ${c})`);
    case "neg":
    case "abs":
    case "sqrt":
    case "floor":
    case "ceil":
    case "trunc":
      return each((a = "") => `(${shape}.${name} ${a})`);
    case "round":
      return each((a = "") => `(${shape}.nearest ${a})`);
    case "rsqrt":
      return each((a = "") => `(${shape}.div ${number(1)} (${shape}.sqrt ${a}))`);
    case "reciprocal":
      return each((a = "") => `(${shape}.div ${number(1)} ${a})`);
    case "square":
      return each((a = "") => `(${shape}.mul ${a} ${a})`);
    case "relu":
      return each((a = "") => `(${shape}.max ${a} ${number(0)})`);
    case "maximum":
    case "minimum":
      return each((a = "", b = "") => `(${shape}.${name.slice(0, 3)} ${a} ${b})`);
    case "isnan":
      return mask((a = "") => `(${shape}.ne ${a} ${a})`);
    case "isinf":
      return mask((a = "") => `(${shape}.eq (${shape}.abs ${a}) ${number(Number.POSITIVE_INFINITY)})`);
    case "signbit":
      return mask((a = "") => `(${ints}.lt_s ${a} (v128.const i32x4 0 0 0 0))`);
    case "copysign":
      return each((a = "", b = "") => `(v128.bitselect ${b} ${a} ${signs})`);
    case "sign":
      return each(
        (a = "") =>
          `(${shape}.sub (v128.and (${shape}.gt ${a} ${number(0)}) ${number(1)}) (v128.and (${shape}.lt ${a} ${number(0)}) ${number(1)}))`,
      );
    default:
      return null;
  }
}

function intForm(name: OpName, args: readonly Value[], dtype: DType, f: FunctionBuilder): VecValue | null {
  const compare = COMPARE[name];
  const wide = computeType(dtype) === "i64";
  // numbers that fit are compared in 32-bit lanes
  const fits = args.every(a => (isVector(a) ? a.shape !== "i64x2" : constantThatFits(a)));
  const small = !wide || (fits && (compare !== undefined || name === "maximum" || name === "minimum"));
  const shape: Shape = small ? "i32x4" : "i64x2";
  const vs = args.map(a => {
    if (!isVector(a) && small && wide)
      return keepVector(
        "i32x4",
        splat({ code: `(i32.const ${constantOf(a)})`, type: "i32", dtype: "int32" }, "i32x4"),
        dtype,
        f,
      );
    const v = convertVector(a, dtype, f);
    return small ? v : widened(v, f);
  });
  const width = small ? 1 : 2;
  const sign = isUnsigned(dtype) ? "u" : "s";
  const each = (make: (...xs: string[]) => string): VecValue => {
    const v = keepVector(
      shape,
      Array.from({ length: width }, (_, i) => make(...vs.map(x => x.codes[i] ?? ""))),
      dtype,
      f,
    );
    return wide ? v : narrowed(v, dtype, f);
  };
  if (compare) {
    if (!small && sign === "u") return null;
    const ordered = compare === "eq" || compare === "ne" ? compare : `${compare}_${sign}`;
    const codes = Array.from({ length: width }, (_, i) => `(${shape}.${ordered} ${vs.map(x => x.codes[i]).join(" ")})`);
    return keepVector("mask", [width === 2 ? low(codes[0] ?? "", codes[1] ?? "") : (codes[0] ?? "")], "bool", f);
  }
  const zero = "(v128.const i32x4 0 0 0 0)";
  switch (name) {
    case "add":
    case "sub":
    case "mul":
      return each((a = "", b = "") => `(${shape}.${name} ${a} ${b})`);
    case "square":
      return each((a = "") => `(${shape}.mul ${a} ${a})`);
    case "neg":
    case "abs":
      return name === "abs" && sign === "u" ? (vs[0] ?? null) : each((a = "") => `(${shape}.${name} ${a})`);
    case "relu":
      return small
        ? each((a = "") => `(i32x4.max_${sign} ${a} ${zero})`)
        : each((a = "") => `(v128.and ${a} (i64x2.gt_s ${a} ${zero}))`);
    case "maximum":
    case "minimum": {
      const op = name.slice(0, 3);
      if (small) return each((a = "", b = "") => `(i32x4.${op}_${sign} ${a} ${b})`);
      return each((a = "", b = "") => `(v128.bitselect ${a} ${b} (i64x2.${op === "max" ? "gt" : "lt"}_s ${a} ${b}))`);
    }
    case "bitwise_and":
    case "bitwise_or":
    case "bitwise_xor":
      return each((a = "", b = "") => `(v128.${name.slice(8)} ${a} ${b})`);
    case "bitwise_not":
      return each((a = "") => `(v128.not ${a})`);
    default:
      return null;
  }
}

/** the number of a constant operand, if 32 bits hold it */
function constantOf(v: WatValue): string | null {
  const m = /^\(i(?:32|64)\.const (-?\d+)\)$/.exec(v.code);
  const value = m?.[1];
  if (value === undefined) return null;
  const n = BigInt(value);
  return n >= -(2n ** 31n) && n < 2n ** 31n ? value : null;
}
const constantThatFits = (v: WatValue): boolean => constantOf(v) !== null;

function where([c, a, b]: readonly Value[], f: FunctionBuilder): VecValue | null {
  if (!c || !a || !b) throw new Error("where takes three values");
  const dtype = a.dtype === b.dtype ? a.dtype : commonDtype([a.dtype, b.dtype]);
  let [x, y] = [convertVector(a, dtype, f), convertVector(b, dtype, f)];
  if (isNarrow(x) !== isNarrow(y)) [x, y] = [widened(x, f), widened(y, f)];
  const mask = convertVector(c, "bool", f).codes[0] ?? "";
  const masks = isWide(x.shape) ? wideMask(mask) : [mask];
  const codes = masks.map((m, i) => `(v128.bitselect ${x.codes[i]} ${y.codes[i]} ${m})`);
  return keepVector(x.shape, codes, dtype, f);
}
