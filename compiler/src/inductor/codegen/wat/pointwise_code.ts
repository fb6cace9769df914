// Pointwise operations by Inductor's names. In: values. Out: an expression and its dtype. Floats beyond add and mul go
// through f64 helpers and are rounded once.
import type { DType, OpName } from "../../../aten/types";
import { changeType, commonDtype, convert } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import type { HelperName } from "./helpers";
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
  lgamma: "lgamma",
  fmod: "fmod",
};
const COMPARE: Partial<Record<OpName, string>> = { eq: "eq", ne: "ne", lt: "lt", le: "le", gt: "gt", ge: "ge" };

export function pointwiseCode(name: OpName, args: readonly WatValue[], f: FunctionBuilder): Coded {
  if (name === "where") return where(args, f);
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
      return isF || type === "i64" || dtype === "int32"
        ? same(`(${type}.${name} ${a} ${b})`)
        : { code: convert({ code: `(${type}.${name} ${a} ${b})`, type, dtype: "int32" }, dtype).code, dtype };
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
      return isF ? same(`(${type}.neg ${a})`) : same(`(${type}.sub ${literal(0, type)} ${a})`);
    case "abs":
      return isF
        ? same(`(${type}.abs ${a})`)
        : isUnsigned(dtype)
          ? same(a)
          : same(`(select ${a} (${type}.sub ${literal(0, type)} ${a}) (${type}.ge_s ${a} ${literal(0, type)}))`);
    case "sqrt":
      return { code: `(${floatType}.sqrt ${asFloat(0)})`, dtype: float };
    case "rsqrt":
      return {
        code: changeType(
          `(f64.div (f64.const 1) (f64.sqrt ${changeType(asFloat(0), floatType, "f64", float)}))`,
          "f64",
          floatType,
          float,
        ),
        dtype: float,
      };
    case "reciprocal":
      return { code: `(${floatType}.div ${literal(1, floatType)} ${asFloat(0)})`, dtype: float };
    case "square":
      return same(`(${type}.mul ${a} ${a})`);
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
    case "logical_and":
    case "and_":
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
      return dtype === "bool"
        ? bool(`(i32.eqz ${a})`)
        : {
            code: convert({ code: `(${type}.xor ${a} ${literal(-1, type)})`, type, dtype: "int32" }, dtype).code,
            dtype,
          };
    case "bitwise_left_shift":
      return { code: convert({ code: `(${type}.shl ${a} ${b})`, type, dtype: "int32" }, dtype).code, dtype };
    case "bitwise_right_shift":
      return same(`(${type}.shr_${isUnsigned(dtype) ? "u" : "s"} ${a} ${b})`);
    case "exp2":
      return throughF64("exp", `(${floatType}.mul ${asFloat(0)} ${literal(Math.LN2, floatType)})`);
    case "log2":
    case "log10": {
      const inner = changeType(
        `(f64.mul (call ${f.use("log")} ${changeType(asFloat(0), floatType, "f64", float)}) (f64.const ${name === "log2" ? Math.LOG2E : Math.LOG10E}))`,
        "f64",
        floatType,
        float,
      );
      return { code: inner, dtype: float };
    }
    case "hypot":
      return {
        code: changeType(
          `(f64.sqrt (f64.add (f64.mul ${p64(asFloat(0), floatType, float)} ${p64(asFloat(0), floatType, float)}) (f64.mul ${p64(asFloat(1), floatType, float)} ${p64(asFloat(1), floatType, float)})))`,
          "f64",
          floatType,
          float,
        ),
        dtype: float,
      };
    case "pow": {
      if (isF) return throughF64("pow", a, b);
      return same(
        changeType(
          `(f64.nearest (call ${f.use("pow")} ${changeType(a, type, "f64", dtype)} ${changeType(b, type, "f64", dtype)}))`,
          "f64",
          type,
          dtype,
        ),
      );
    }
    case "remainder":
      if (isF) return throughF64("remainder", a, b);
      return same(`(call ${f.use(type === "i64" ? "floor_mod_i64" : "floor_mod_i32")} ${a} ${b})`);
    case "mod":
      return isF ? throughF64("fmod", a, b) : same(`(${type}.rem_s ${a} ${b})`);
    case "floordiv":
      if (isF) return same(`(${type}.floor (${type}.div ${a} ${b}))`);
      return same(`(call ${f.use(type === "i64" ? "floor_div_i64" : "floor_div_i32")} ${a} ${b})`);
    case "truncdiv":
      return isF ? same(`(${type}.trunc (${type}.div ${a} ${b}))`) : same(`(${type}.div_s ${a} ${b})`);
    default:
      throw new UnsupportedOnCpu(`the operation ${name}`);
  }
}

function p64(code: string, type: WasmType, dtype: DType): string {
  return changeType(code, type, "f64", dtype);
}

function maximum(a: string, b: string, type: WasmType, dtype: DType, which: "max" | "min", f: FunctionBuilder): string {
  if (isFloat(dtype)) return `(${type}.${which} ${a} ${b})`;
  return type === "i64" ? `(call ${f.use(`${which}_i64`)} ${a} ${b})` : `(call ${f.use(`${which}_i32`)} ${a} ${b})`;
}

function where([c, a, b]: readonly WatValue[], _f: FunctionBuilder): Coded {
  if (!c || !a || !b) throw new Error("where takes three values");
  const dtype = a.dtype === b.dtype ? a.dtype : commonDtype([a.dtype, b.dtype]);
  return {
    code: `(select ${convert(a, dtype).code} ${convert(b, dtype).code} ${c.dtype === "bool" ? c.code : `(${c.type}.ne ${c.code} ${literal(0, c.type)})`})`,
    dtype,
  };
}
