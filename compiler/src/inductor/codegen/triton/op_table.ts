// Pointwise operations as Triton text (TritonOverrides and OpOverrides in torch/_inductor/codegen). In: operand values.
// Out: one value, possibly over several lines. Promises: operands are names, so no precedence issue arises; every
// operation yields its dtype and what is known of its range.

import { FloatParameter } from "../../../aten/float_parameter";
import type { DType, OpName } from "../../../aten/types";
import { isFloatDType, promoteTypes } from "../../ir/dtypes";
import type { ConstantValue } from "../../ir/loop_body";
import { type CseVar, rangeOfConstant, type Shape, UNKNOWN, type ValueRange } from "./cse";
import type { TritonKernel } from "./kernel";
import { broadcastShapes } from "./memory";
import { has } from "./options";
import { computeDType, constantText, tritonComputeType, tritonType } from "./triton_types";
import { addRange, castRange, eachBound, eitherRange, mulRange, negRange, unaryRange } from "./value_ranges";

export function emitConstant(k: TritonKernel, value: ConstantValue, dtype: DType): CseVar {
  const shape = k.onesShape();
  const type = tritonComputeType(dtype);
  const out = { dtype: computeDType(dtype), shape, range: rangeOfConstant(value) };
  const list = `[${shape.join(", ")}]`;
  // what may be a parameter is no zero
  const v = value instanceof FloatParameter ? Number.NaN : Number(value);
  if (isFloatDType(dtype) && Object.is(v, -0)) {
    // -0.0 as a literal would lose its sign
    const [bits, zero] = dtype === "float64" ? ["int64", "-9223372036854775808"] : ["int32", "-2147483648"];
    return k.cse.generate(k.compute, `tl.full(${list}, ${zero}, tl.${bits}).to(${type}, bitcast=True)`, k.op, out);
  }
  if (dtype.startsWith("uint") && v < 0) {
    const signed = dtype.slice(1) as DType;
    return k.cse.generate(
      k.compute,
      `tl.full(${list}, ${constantText(v, signed)}, ${tritonType(signed)}).to(${type})`,
      k.op,
      out,
    );
  }
  return k.cse.generate(k.compute, `tl.full(${list}, ${constantText(value, dtype)}, ${type})`, k.op, out);
}

export function emitToDType(k: TritonKernel, x: CseVar, dtype: DType, src: DType | null): CseVar {
  if (src !== null) k.minElemPerThread = Math.max(k.minElemPerThread, minElements(src, dtype));
  const range = castRange(x.range, dtype);
  const out = { dtype: computeDType(dtype), shape: x.shape, range };
  const text =
    dtype === "bool"
      ? `(${x.name} != 0)`
      : dtype === "uint8" && (src === null || isFloatDType(src))
        ? `${x.name}.to(tl.int16).to(tl.uint8)`
        : `${x.name}.to(${tritonComputeType(dtype)})`;
  return derived(k, k.cse.generate(k.compute, text, k.op, out), [x]);
}

/** fp8 conversions work on at least this many elements a thread */
function minElements(src: DType, dst: DType): number {
  if (src === dst) return 0;
  if (src === "float8_e5m2" || dst === "float8_e5m2") return 4;
  return src === "float8_e4m3fn" || dst === "float8_e4m3fn" ? 2 : 0;
}

const WIDTH: Readonly<Record<string, number>> = {
  float64: 64,
  int64: 64,
  uint64: 64,
  float32: 32,
  int32: 32,
  uint32: 32,
  float16: 16,
  bfloat16: 16,
  int16: 16,
  uint16: 16,
};

export function emitBitcast(k: TritonKernel, x: CseVar, dtype: DType, src: DType): CseVar {
  const half = (d: DType): boolean => d === "float16" || d === "bfloat16";
  let text: string;
  if (half(src)) {
    text = `${x.name}.to(tl.${src}).to(${half(dtype) ? `tl.${dtype}` : tritonComputeType(dtype)}, bitcast=True)`;
    if (half(dtype)) text += ".to(tl.float32)";
  } else if (half(dtype)) text = `${x.name}.to(tl.${dtype}, bitcast=True).to(tl.float32)`;
  else
    text = `${x.name}.to(${tritonComputeType(dtype)}, bitcast=${(WIDTH[src] ?? 8) === (WIDTH[dtype] ?? 8) ? "True" : "False"})`;
  return derived(k, k.cse.generate(k.compute, text, k.op, { dtype: computeDType(dtype), shape: x.shape }), [x]);
}

function derived(k: TritonKernel, v: CseVar, from: readonly CseVar[]): CseVar {
  for (const x of from) for (const m of x.maskVars) v.maskVars.add(m);
  if (from.some(x => x.ofMemory)) {
    v.ofMemory = true;
    v.range = UNKNOWN;
  }
  void k;
  return v;
}

/** taken from libdevice where the operand is a double */
const DOUBLE_FUNCTIONS: ReadonlySet<OpName> = new Set<OpName>(["sqrt", "log", "sin", "cos"]);

const FLOAT_FUNCTIONS: Readonly<Partial<Record<OpName, string>>> = {
  exp: "libdevice.exp",
  exp2: "libdevice.exp2",
  expm1: "libdevice.expm1",
  log: "tl_math.log",
  log1p: "libdevice.log1p",
  log2: "libdevice.log2",
  log10: "libdevice.log10",
  sqrt: "tl.sqrt_rn",
  rsqrt: "libdevice.rsqrt",
  sigmoid: "tl.sigmoid",
  tanh: "libdevice.tanh",
  erf: "libdevice.erf",
  erfc: "libdevice.erfc",
  erfcx: "libdevice.erfcx",
  erfinv: "libdevice.erfinv",
  sin: "tl_math.sin",
  cos: "tl_math.cos",
  tan: "libdevice.tan",
  asin: "libdevice.asin",
  acos: "libdevice.acos",
  atan: "libdevice.atan",
  sinh: "libdevice.sinh",
  cosh: "libdevice.cosh",
  asinh: "libdevice.asinh",
  acosh: "libdevice.acosh",
  atanh: "libdevice.atanh",
  lgamma: "libdevice.lgamma",
  i0: "libdevice.cyl_bessel_i0",
  i1: "libdevice.cyl_bessel_i1",
};
const SAME_TYPE_FUNCTIONS: Readonly<Partial<Record<OpName, string>>> = {
  abs: "tl_math.abs",
  floor: "libdevice.floor",
  ceil: "libdevice.ceil",
  trunc: "libdevice.trunc",
  round: "libdevice.nearbyint",
};
const FLOAT_PAIRS: Readonly<Partial<Record<OpName, string>>> = {
  atan2: "libdevice.atan2",
  hypot: "libdevice.hypot",
  copysign: "libdevice.copysign",
  nextafter: "libdevice.nextafter",
  fmod: "libdevice.fmod",
};
const COMPARISONS: Readonly<Partial<Record<OpName, string>>> = {
  eq: "==",
  ne: "!=",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
};
const BITWISE: Readonly<Partial<Record<OpName, string>>> = {
  bitwise_and: "&",
  bitwise_or: "|",
  bitwise_xor: "^",
  bitwise_left_shift: "<<",
  bitwise_right_shift: ">>",
  and_: "&",
};

/** an operand: a value or a literal that prints as it is */
type Operand = CseVar | number;
const show = (x: Operand): string => (typeof x === "number" ? String(x) : x.name);
const shapeOf = (xs: readonly Operand[]): Shape =>
  xs.reduce<Shape>((s, x) => (typeof x === "number" ? s : broadcastShapes(s, x.shape)), []);
const rangeOf = (x: Operand): ValueRange => (typeof x === "number" ? { lower: x, upper: x } : x.range);

function promoted(xs: readonly Operand[]): DType {
  let d: DType | undefined;
  for (const x of xs) if (typeof x !== "number") d = d === undefined ? x.dtype : promoteTypes(d, x.dtype);
  return d ?? "int32";
}
const asFloat = (d: DType): DType => (isFloatDType(d) ? d : "float32");

/** a call of `fn` over values; frexp gives two */
export function emitCall(k: TritonKernel, fn: OpName, args: readonly Operand[]): CseVar | readonly CseVar[] {
  const put = (text: string, dtype: DType, range: ValueRange = UNKNOWN): CseVar => {
    const v = k.value(text, dtype, shapeOf(args), range);
    return derived(
      k,
      v,
      args.filter((a): a is CseVar => typeof a !== "number"),
    );
  };
  const call = (f: OpName, ...xs: Operand[]): CseVar => emitCall(k, f, xs) as CseVar;
  const [a, b, c] = args as readonly [Operand, Operand, Operand];
  const common = promoted(args);
  const wide = common === "float64" && DOUBLE_FUNCTIONS.has(fn);
  const floatFn = wide ? `libdevice.${fn}` : FLOAT_FUNCTIONS[fn];
  if (floatFn) return put(`${floatFn}(${show(a)})`, asFloat(common), unaryRange(fn, rangeOf(a)));
  const same = SAME_TYPE_FUNCTIONS[fn];
  if (same) return put(`${same}(${show(a)})`, common, unaryRange(fn, rangeOf(a)));
  const pair = FLOAT_PAIRS[fn];
  if (pair) return put(`${pair}(${show(a)}, ${show(b)})`, asFloat(common));
  const comparison = COMPARISONS[fn];
  if (comparison) return put(`${show(a)} ${comparison} ${show(b)}`, "bool", { lower: 0, upper: 1 });
  const bitwise = BITWISE[fn];
  if (bitwise)
    return put(`${show(a)} ${bitwise} ${show(b)}`, common, common === "bool" ? { lower: 0, upper: 1 } : UNKNOWN);
  switch (fn) {
    case "add":
      return put(`${show(a)} + ${show(b)}`, common, addRange(rangeOf(a), rangeOf(b), 1));
    case "sub":
      return put(`${show(a)} - ${show(b)}`, common, addRange(rangeOf(a), rangeOf(b), -1));
    case "mul":
      return put(`${show(a)} * ${show(b)}`, common, mulRange(rangeOf(a), rangeOf(b)));
    case "truediv":
      return put(`(${show(a)} / ${show(b)})`, asFloat(common));
    case "neg":
      return put(`-${show(a)}`, common, negRange(rangeOf(a)));
    case "square":
      return call("mul", a, a);
    case "reciprocal":
      return call("truediv", emitConstant(k, 1, "int32"), a);
    case "relu": {
      const zero = emitConstant(k, 0, "int32");
      return call("maximum", zero, a);
    }
    case "maximum":
    case "minimum": {
      const range = eachBound(fn === "maximum" ? Math.max : Math.min, rangeOf(a), rangeOf(b));
      const text = has(k.options, "tl_maximum")
        ? `tl.${fn}(${show(a)}, ${show(b)}, tl.PropagateNan.ALL)`
        : `triton_helpers.${fn}(${show(a)}, ${show(b)})`;
      return put(text, common, range);
    }
    case "where": {
      const dtype = promoted([b, c]);
      return put(`tl.where(${show(a)}, ${show(b)}, ${show(c)})`, dtype, eitherRange(rangeOf(b), rangeOf(c)));
    }
    case "logical_and":
      return put(`${show(a)} & ${show(b)}`, "bool", { lower: 0, upper: 1 });
    case "logical_or":
      return put(`${show(a)} | ${show(b)}`, "bool", { lower: 0, upper: 1 });
    case "logical_xor":
      return put(`(${show(a)} ^ ${show(b)})`, "bool", { lower: 0, upper: 1 });
    case "logical_not":
      return put(`${show(a)} == 0`, "bool", { lower: 0, upper: 1 });
    case "bitwise_not":
      return put(`~${show(a)}`, common);
    case "mod":
      return put(`(${show(a)} % ${show(b)})`, common);
    case "remainder": {
      const r = call("mod", a, b);
      const nonzero = call("ne", r, emitConstant(k, 0, "int32"));
      const differs = call("ne", call("signbit", r), call("signbit", b));
      return call("where", call("and_", nonzero, differs), call("add", r, b), r);
    }
    case "truncdiv":
      return put(`${show(a)} // ${show(b)}`, common);
    case "floordiv": {
      // rounds to minus infinity, where // rounds to zero
      const quotient = `${show(a)} // ${show(b)}`;
      const remainder = `${show(a)} % ${show(b)}`;
      return put(
        `tl.where((${show(a)} < 0) != (${show(b)} < 0), tl.where(${remainder} != 0, ${quotient} - 1, ${quotient}), ${quotient})`,
        common,
      );
    }
    case "signbit":
      return put(
        `(libdevice.signbit(${show(a)}) != 0) if (${show(a)}).dtype is tl.float32 else ${show(a)} < 0`,
        "bool",
        { lower: 0, upper: 1 },
      );
    case "isnan":
      return put(`libdevice.isnan(${show(a)}).to(tl.int1)`, "bool", { lower: 0, upper: 1 });
    case "isinf":
      return put(`libdevice.isinf(${show(a)}).to(tl.int1)`, "bool", { lower: 0, upper: 1 });
    case "pow":
      if (isFloatDType(common)) return put(`libdevice.pow(${show(a)}, ${show(b)})`, common);
      return put(`triton_helpers.pow_integer(${show(a)}, ${show(b)})`, common);
    case "fma":
      return put(`tl.fma(${show(a)}, ${show(b)}, ${show(c)})`, common);
    case "sign": {
      const zero = emitConstant(k, 0, "int32");
      const left = emitToDType(k, call("lt", zero, a), "int8", null);
      const right = emitToDType(k, call("lt", a, zero), "int8", null);
      const difference = call("sub", left, right);
      return put(`${difference.name}.to(${show(a)}.dtype)`, common, { lower: -1, upper: 1 });
    }
    case "ldexp":
      return put(`libdevice.ldexp(${show(a)}, ${show(b)}.to(tl.int32))`, asFloat(common));
    case "digamma":
      return put(`libdevice.digamma(${show(a)})`, asFloat(common));
    case "frexp": {
      const [mantissa, exponent] = [k.cse.fresh(common, shapeOf(args)), k.cse.fresh("int32", shapeOf(args))];
      const key = `frexp(${show(a)})`;
      const known = k.cse.get(`${key}_0`);
      const known1 = k.cse.get(`${key}_1`);
      if (known && known1) return [known, known1];
      k.cse.put(`${key}_0`, mantissa);
      k.cse.put(`${key}_1`, exponent);
      k.compute.write(
        `${exponent.name}, ${mantissa.name} = triton_helpers.frexp(${show(a)})`.replace(
          /^(\w+), (\w+)/,
          `${mantissa.name}, ${exponent.name}`,
        ),
        k.op,
      );
      return [mantissa, exponent];
    }
    default:
      throw new Error(`no Triton text for ${fn}`);
  }
}
