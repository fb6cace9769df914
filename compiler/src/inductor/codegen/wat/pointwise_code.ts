// Pointwise operations by Inductor's names. In: values. Out: an expression and its dtype. Floats beyond plain arithmetic
// go through f64 helpers and are rounded once.
import type { DType, OpName } from "../../../aten/types";
import { changeType, commonDtype, convert, narrow, rounded, widestDtype } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import type { HelperName } from "./helpers/index";
import { computeType, isFloat, isUnsigned, literal, UnsupportedOnCpu, type WasmType, type WatValue } from "./wat_types";

export interface Coded {
  readonly code: string;
  readonly dtype: DType;
}

/** operations that are one f64 helper of one or two arguments */
const THROUGH_F64: Partial<Record<OpName, HelperName>> = {
  exp: "exp",
  log: "log",
  log1p: "log1p",
  expm1: "expm1",
  tanh: "tanh",
  sigmoid: "sigmoid",
  erf: "erf",
  erfc: "erfc",
  sin: "sin",
  cos: "cos",
  tan: "tan",
  sinh: "sinh",
  cosh: "cosh",
  atan: "atan",
  atan2: "atan2",
  asin: "asin",
  acos: "acos",
  asinh: "asinh",
  acosh: "acosh",
  atanh: "atanh",
  erfcx: "erfcx",
  erfinv: "erfinv",
  lgamma: "lgamma",
  digamma: "digamma",
  i0: "i0",
  i1: "i1",
  ldexp: "ldexp",
};
const COMPARE: Partial<Record<OpName, string>> = { eq: "eq", ne: "ne", lt: "lt", le: "le", gt: "gt", ge: "ge" };

/** operations that give a number of the same half type exactly */
export const EXACT: ReadonlySet<OpName> = new Set([
  "abs",
  "neg",
  "relu",
  "maximum",
  "minimum",
  "floor",
  "ceil",
  "trunc",
  "round",
  "sign",
  "copysign",
  "where",
]);

/** the operation's result; of halves it is one too, rounded */
export function pointwiseCode(name: OpName, args: readonly WatValue[], f: FunctionBuilder): Coded {
  const result = plainCode(name, args, f);
  const widest = widestDtype((name === "where" ? args.slice(1) : args).map(a => a.dtype));
  if (result.dtype !== "float32" || (widest !== "float16" && widest !== "bfloat16")) return result;
  return { code: EXACT.has(name) ? result.code : rounded(result.code, widest, f), dtype: widest };
}

function plainCode(name: OpName, args: readonly WatValue[], f: FunctionBuilder): Coded {
  if (name === "where") return where(args);
  const dtype = commonDtype(args.map(a => a.dtype));
  const type = computeType(dtype);
  const xs = args.map(a => convert(a, dtype).code);
  const [a = "", b = "", c = ""] = xs;
  const same = (code: string): Coded => ({ code, dtype });
  const bool = (code: string): Coded => ({ code, dtype: "bool" });
  const float: DType = isFloat(dtype) ? dtype : "float32";
  const floatType = computeType(float);
  const asFloat = (i: number): string => changeType(xs[i] ?? "", type, floatType, dtype);
  const throughF64 = (helper: HelperName, ...codes: string[]): Coded => ({
    code: changeType(
      `(call ${f.use(helper)} ${codes.map(x => changeType(x, floatType, "f64", float)).join(" ")})`,
      "f64",
      floatType,
      float,
    ),
    dtype: float,
  });
  const int = type === "i64" ? "i64" : "i32";
  const wide = (i: number): string => changeType(asFloat(i), floatType, "f64", float);
  /** integer results back into their width */
  const wrapped = (code: string): Coded => ({ code: narrow(code, dtype), dtype });
  // a shift by the width or more, which the instruction takes modulo the width, shifts everything out
  const bits = type === "i64" ? 64 : 32;
  const inWidth = `(${type}.lt_u ${b} ${literal(bits, type)})`;
  const helper = THROUGH_F64[name];
  if (helper) return throughF64(helper, ...args.map((_, i) => asFloat(i)));
  const compare = COMPARE[name];
  if (compare) {
    const sign = isFloat(dtype) || compare === "eq" || compare === "ne" ? "" : isUnsigned(dtype) ? "_u" : "_s";
    return bool(`(${type}.${compare}${sign} ${a} ${b})`);
  }
  const truth = (i: number): string =>
    args[i]?.dtype === "bool"
      ? (args[i]?.code ?? "")
      : `(${args[i]?.type}.ne ${args[i]?.code} ${literal(0, args[i]?.type ?? "i32")})`;
  const isF = isFloat(dtype);
  switch (name) {
    case "add":
    case "sub":
    case "mul":
      // booleans: addition is or, multiplication and
      if (dtype === "bool") return bool(`(i32.${name === "add" ? "or" : name === "mul" ? "and" : "xor"} ${a} ${b})`);
      return wrapped(`(${type}.${name} ${a} ${b})`);
    case "truediv":
      return { code: `(${floatType}.div ${asFloat(0)} ${asFloat(1)})`, dtype: float };
    case "fma":
      // one rounding: the product of two f32 is exact in f64
      return type === "f32"
        ? same(
            `(f32.demote_f64 (f64.add (f64.mul (f64.promote_f32 ${a}) (f64.promote_f32 ${b})) (f64.promote_f32 ${c})))`,
          )
        : same(`(${type}.add (${type}.mul ${a} ${b}) ${c})`);
    case "neg":
      return isF ? same(`(${type}.neg ${a})`) : wrapped(`(${type}.sub ${literal(0, type)} ${a})`);
    case "abs":
      return isF
        ? same(`(${type}.abs ${a})`)
        : isUnsigned(dtype)
          ? same(a)
          : wrapped(`(select ${a} (${type}.sub ${literal(0, type)} ${a}) (${type}.ge_s ${a} ${literal(0, type)}))`);
    case "sqrt":
      return { code: `(${floatType}.sqrt ${asFloat(0)})`, dtype: float };
    case "rsqrt":
      return {
        code: changeType(`(f64.div (f64.const 1) (f64.sqrt ${wide(0)}))`, "f64", floatType, float),
        dtype: float,
      };
    case "reciprocal":
      return { code: `(${floatType}.div ${literal(1, floatType)} ${asFloat(0)})`, dtype: float };
    case "square":
      return wrapped(`(${type}.mul ${a} ${a})`);
    case "relu":
      return same(maximum(a, literal(0, type), type, dtype, "max", f));
    case "maximum":
    case "minimum":
      return same(maximum(a, b, type, dtype, name === "maximum" ? "max" : "min", f));
    case "floor":
    case "ceil":
    case "trunc":
      return isF ? same(`(${type}.${name} ${a})`) : same(a);
    case "round":
      return isF ? same(`(${type}.nearest ${a})`) : same(a);
    case "sign":
      return isF
        ? same(
            `(${type}.convert_i32_s (i32.sub (${type}.gt ${a} ${literal(0, type)}) (${type}.lt ${a} ${literal(0, type)})))`,
          )
        : isUnsigned(dtype)
          ? same(changeType(`(${type}.ne ${a} ${literal(0, type)})`, "i32", type, "int32"))
          : same(
              changeType(
                `(i32.sub (${type}.gt_s ${a} ${literal(0, type)}) (${type}.lt_s ${a} ${literal(0, type)}))`,
                "i32",
                type,
                "int32",
              ),
            );
    case "signbit":
      return bool(
        type === "f32"
          ? `(i32.lt_s (i32.reinterpret_f32 ${a}) (i32.const 0))`
          : type === "f64"
            ? `(i64.lt_s (i64.reinterpret_f64 ${a}) (i64.const 0))`
            : `(${type}.lt_s ${a} ${literal(0, type)})`,
      );
    case "copysign":
      return { code: `(${floatType}.copysign ${asFloat(0)} ${asFloat(1)})`, dtype: float };
    case "isnan":
      return bool(isF ? `(${type}.ne ${a} ${a})` : "(i32.const 0)");
    case "isinf":
      return bool(isF ? `(${type}.eq (${type}.abs ${a}) (${type}.const inf))` : "(i32.const 0)");
    case "logical_not":
      return bool(`(i32.eqz ${truth(0)})`);
    case "and_":
      return dtype === "bool" ? bool(`(i32.and ${a} ${b})`) : same(`(${type}.and ${a} ${b})`);
    case "logical_and":
      return bool(`(i32.and ${truth(0)} ${truth(1)})`);
    case "logical_or":
      return bool(`(i32.or ${truth(0)} ${truth(1)})`);
    case "logical_xor":
      return bool(`(i32.xor ${truth(0)} ${truth(1)})`);
    case "bitwise_and":
    case "bitwise_or":
    case "bitwise_xor":
      return same(`(${type}.${name.slice(8)} ${a} ${b})`);
    case "bitwise_not":
      return dtype === "bool" ? bool(`(i32.eqz ${a})`) : wrapped(`(${type}.xor ${a} ${literal(-1, type)})`);
    case "bitwise_left_shift":
      return wrapped(`(select (${type}.shl ${a} ${b}) ${literal(0, type)} ${inWidth})`);
    case "bitwise_right_shift":
      return isUnsigned(dtype)
        ? same(`(select (${type}.shr_u ${a} ${b}) ${literal(0, type)} ${inWidth})`)
        : same(`(${type}.shr_s ${a} (select ${b} ${literal(bits - 1, type)} ${inWidth}))`);
    case "exp2":
      return {
        code: changeType(
          `(call ${f.use("exp")} (f64.mul ${wide(0)} (f64.const ${Math.LN2})))`,
          "f64",
          floatType,
          float,
        ),
        dtype: float,
      };
    case "log2":
    case "log10":
      return {
        code: changeType(
          `(f64.mul (call ${f.use("log")} ${wide(0)}) (f64.const ${name === "log2" ? Math.LOG2E : Math.LOG10E}))`,
          "f64",
          floatType,
          float,
        ),
        dtype: float,
      };
    case "hypot":
      return {
        code: changeType(
          `(f64.sqrt (f64.add (f64.mul ${wide(0)} ${wide(0)}) (f64.mul ${wide(1)} ${wide(1)})))`,
          "f64",
          floatType,
          float,
        ),
        dtype: float,
      };
    case "pow":
      if (isF) return throughF64("pow", a, b);
      return wrapped(
        changeType(
          `(call ${f.use("pow_i64")} ${changeType(a, type, "i64", dtype)} ${changeType(b, type, "i64", dtype)})`,
          "i64",
          type,
          dtype,
        ),
      );
    case "fmod":
    case "mod":
      return isF ? throughF64("fmod", a, b) : same(`(call ${f.use(`trunc_mod_${int}`)} ${a} ${b})`);
    case "remainder":
      return isF ? throughF64("remainder", a, b) : same(`(call ${f.use(`floor_mod_${int}`)} ${a} ${b})`);
    case "floordiv":
      if (isF) return same(`(${type}.floor (${type}.div ${a} ${b}))`);
      return wrapped(`(call ${f.use(`floor_div_${int}`)} ${a} ${b})`);
    case "truncdiv":
      return isF
        ? same(`(${type}.trunc (${type}.div ${a} ${b}))`)
        : wrapped(`(call ${f.use(`trunc_div_${int}`)} ${a} ${b})`);
    case "nextafter":
      return {
        code: `(call ${f.use(floatType === "f64" ? "nextafter_f64" : "nextafter_f32")} ${asFloat(0)} ${asFloat(1)})`,
        dtype: float,
      };
    case "frexp":
      throw new UnsupportedOnCpu("frexp as one value");
    default: {
      const never: never = name as never;
      throw new UnsupportedOnCpu(`the operation ${String(never)}`);
    }
  }
}

/** mantissa in [0.5, 1) and exponent of a float */
export function frexp(x: WatValue, f: FunctionBuilder): readonly [Coded, Coded] {
  const wide = f.keep(convert(x, "float64").code, "f64");
  const ordinary = f.keep(`(i32.and (f64.ne ${wide} (f64.const 0)) (f64.lt (f64.abs ${wide}) (f64.const inf)))`, "i32");
  // every f32 is a normal f64, so the exponent is in the bits
  const bits = f.keep(`(i64.reinterpret_f64 ${wide})`, "i64");
  const exponent = `(i32.sub (i32.wrap_i64 (i64.and (i64.shr_u ${bits} (i64.const 52)) (i64.const 2047))) (i32.const 1022))`;
  const mantissa = `(f64.reinterpret_i64 (i64.or (i64.and ${bits} (i64.const 0x800fffffffffffff)) (i64.const 0x3fe0000000000000)))`;
  const dtype: DType = x.dtype === "float64" ? "float64" : "float32";
  return [
    { code: changeType(`(select ${mantissa} ${wide} ${ordinary})`, "f64", computeType(dtype), dtype), dtype },
    { code: `(select ${exponent} (i32.const 0) ${ordinary})`, dtype: "int32" },
  ];
}

function maximum(a: string, b: string, type: WasmType, dtype: DType, which: "max" | "min", f: FunctionBuilder): string {
  if (isFloat(dtype)) return `(${type}.${which} ${a} ${b})`;
  return `(call ${f.use(extremeHelper(which, type, dtype))} ${a} ${b})`;
}

/** name of the helper that picks the larger or smaller of two integers */
export function extremeHelper(which: "max" | "min", type: WasmType, dtype: DType): HelperName {
  const wide = type === "i64";
  if (isUnsigned(dtype)) return wide ? `${which}_u64` : `${which}_u32`;
  return wide ? `${which}_i64` : `${which}_i32`;
}

function where([c, a, b]: readonly WatValue[]): Coded {
  if (!c || !a || !b) throw new Error("where takes three values");
  const dtype = a.dtype === b.dtype ? a.dtype : commonDtype([a.dtype, b.dtype]);
  const truth = c.dtype === "bool" ? c.code : `(${c.type}.ne ${c.code} ${literal(0, c.type)})`;
  return { code: `(select ${convert(a, dtype).code} ${convert(b, dtype).code} ${truth})`, dtype };
}
