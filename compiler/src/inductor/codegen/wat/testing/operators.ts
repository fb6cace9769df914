// Test only. The meaning of each operation on numbers, and the dtype of its result.
import type { DType, OpName } from "../../../../aten/types";
import { isInt, widest } from "./numbers";

const BOOLEAN: ReadonlySet<OpName> = new Set([
  "eq",
  "ne",
  "lt",
  "le",
  "gt",
  "ge",
  "logical_not",
  "logical_and",
  "logical_or",
  "logical_xor",
  "isnan",
  "isinf",
  "signbit",
]);

export function resultDtype(fn: OpName, args: readonly DType[]): DType {
  if (BOOLEAN.has(fn)) return "bool";
  const d = widest(fn === "where" ? args.slice(1) : args);
  const integral = isInt(d);
  return integral && INT_TO_FLOAT.has(fn) ? "float32" : d;
}

const INT_TO_FLOAT: ReadonlySet<OpName> = new Set([
  "truediv",
  "sqrt",
  "rsqrt",
  "exp",
  "log",
  "reciprocal",
  "sigmoid",
  "tanh",
  "sin",
  "cos",
  "erf",
  "log1p",
  "expm1",
  "log2",
  "log10",
  "exp2",
]);

export function call(fn: OpName, args: readonly number[]): number {
  const [a = 0, b = 0, c = 0] = args;
  const bool = (x: boolean): number => (x ? 1 : 0);
  switch (fn) {
    case "add":
      return a + b;
    case "sub":
      return a - b;
    case "mul":
      return a * b;
    case "truediv":
      return a / b;
    case "fma":
      return a * b + c;
    case "neg":
      return -a;
    case "abs":
      return Math.abs(a);
    case "exp":
      return Math.exp(a);
    case "exp2":
      return 2 ** a;
    case "expm1":
      return Math.expm1(a);
    case "log":
      return Math.log(a);
    case "log2":
      return Math.log2(a);
    case "log10":
      return Math.log10(a);
    case "log1p":
      return Math.log1p(a);
    case "sqrt":
      return Math.sqrt(a);
    case "rsqrt":
      return 1 / Math.sqrt(a);
    case "reciprocal":
      return 1 / a;
    case "square":
      return a * a;
    case "relu":
      return Math.max(a, 0);
    case "maximum":
      return Math.max(a, b);
    case "minimum":
      return Math.min(a, b);
    case "tanh":
      return Math.tanh(a);
    case "sigmoid":
      return 1 / (1 + Math.exp(-a));
    case "sin":
      return Math.sin(a);
    case "cos":
      return Math.cos(a);
    case "tan":
      return Math.tan(a);
    case "sinh":
      return Math.sinh(a);
    case "cosh":
      return Math.cosh(a);
    case "asin":
      return Math.asin(a);
    case "acos":
      return Math.acos(a);
    case "atan":
      return Math.atan(a);
    case "atan2":
      return Math.atan2(a, b);
    case "asinh":
      return Math.asinh(a);
    case "acosh":
      return Math.acosh(a);
    case "atanh":
      return Math.atanh(a);
    case "hypot":
      return Math.hypot(a, b);
    case "pow":
      return a ** b;
    case "erf":
      return erf(a);
    case "floor":
      return Math.floor(a);
    case "ceil":
      return Math.ceil(a);
    case "trunc":
      return Math.trunc(a);
    case "round":
      return roundEven(a);
    case "sign":
      return Number.isNaN(a) ? 0 : Math.sign(a);
    case "signbit":
      return bool(a < 0 || Object.is(a, -0));
    case "copysign":
      return b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a);
    case "isnan":
      return bool(Number.isNaN(a));
    case "isinf":
      return bool(Math.abs(a) === Number.POSITIVE_INFINITY);
    case "eq":
      return bool(a === b);
    case "ne":
      return bool(a !== b);
    case "lt":
      return bool(a < b);
    case "le":
      return bool(a <= b);
    case "gt":
      return bool(a > b);
    case "ge":
      return bool(a >= b);
    case "where":
      return a ? b : c;
    case "logical_not":
      return bool(a === 0);
    case "and_":
    case "logical_and":
      return bool(a !== 0 && b !== 0);
    case "logical_or":
      return bool(a !== 0 || b !== 0);
    case "logical_xor":
      return bool((a !== 0) !== (b !== 0));
    case "bitwise_and":
      return Number(BigInt(a) & BigInt(b));
    case "bitwise_or":
      return Number(BigInt(a) | BigInt(b));
    case "bitwise_xor":
      return Number(BigInt(a) ^ BigInt(b));
    case "bitwise_not":
      return -a - 1;
    case "bitwise_left_shift":
      return a * 2 ** b;
    case "bitwise_right_shift":
      return Math.floor(a / 2 ** b);
    case "remainder": {
      const r = a % b;
      return r !== 0 && r < 0 !== b < 0 ? r + b : r;
    }
    case "fmod":
    case "mod":
      return a % b;
    case "floordiv":
      return Math.floor(a / b);
    case "truncdiv":
      return Math.trunc(a / b);
    default:
      throw new Error(`${fn} is not interpreted`);
  }
}

function roundEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

/** by its power series, and for large arguments by the continued fraction of erfc */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (Number.isNaN(x)) return x;
  if (a > 6) return Math.sign(x);
  if (a < 2.5) {
    let term = x;
    let sum = x;
    for (let k = 1; k < 200 && Math.abs(term) > 1e-20 * Math.abs(sum); k++) {
      term *= (-x * x) / k;
      sum += term / (2 * k + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  return Math.sign(x) * (1 - erfcLarge(a));
}

export function erfcLarge(x: number): number {
  let f = 0;
  for (let k = 120; k > 0; k--) f = k / 2 / (x + f);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + f);
}
