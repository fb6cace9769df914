// Bounds of values (ValueRangeAnalysis in torch/_inductor/bounds.py). In: bounds of operands. Out: bounds of the result.
// Promises: sound; UNKNOWN where nothing is said of an operation.

import { itemSize } from "../../../aten/ops/helpers/dtypes";
import type { DType, OpName } from "../../../aten/types";
import { isIntegerDType } from "../../ir/dtypes";
import { rangeFrom, UNKNOWN, type ValueRange } from "./cse";

/** of a value cast to `dtype`; a float's bounds are cut to whole numbers */
export function castRange(r: ValueRange, dtype: DType): ValueRange {
  if (dtype === "bool") return { lower: 0, upper: 1 };
  if (!isIntegerDType(dtype)) return r;
  return rangeFrom([r], () => {
    const lower = Math.trunc(r.lower);
    const upper = Math.trunc(r.upper);
    // what does not fit wraps around
    const bits = 8 * itemSize(dtype);
    const [least, beyond] = dtype.startsWith("uint") ? [0, 2 ** bits] : [-(2 ** (bits - 1)), 2 ** (bits - 1)];
    return lower >= least && upper < beyond ? { lower, upper } : UNKNOWN;
  });
}

export function addRange(a: ValueRange, b: ValueRange, sign: 1 | -1): ValueRange {
  return rangeFrom([a, b], () => {
    const lower = a.lower + (sign === 1 ? b.lower : -b.upper);
    const upper = a.upper + (sign === 1 ? b.upper : -b.lower);
    return { lower: Number.isNaN(lower) ? UNKNOWN.lower : lower, upper: Number.isNaN(upper) ? UNKNOWN.upper : upper };
  });
}

export function mulRange(a: ValueRange, b: ValueRange): ValueRange {
  return rangeFrom([a, b], () => {
    const times = (x: number, y: number): number => (x === 0 || y === 0 ? 0 : x * y);
    const all = [times(a.lower, b.lower), times(a.lower, b.upper), times(a.upper, b.lower), times(a.upper, b.upper)];
    return { lower: Math.min(...all), upper: Math.max(...all) };
  });
}

export function negRange(r: ValueRange): ValueRange {
  return rangeFrom([r], () => ({ lower: -r.upper, upper: -r.lower }));
}

/** bounds of the larger or smaller of two */
export function eachBound(pick: (x: number, y: number) => number, a: ValueRange, b: ValueRange): ValueRange {
  return rangeFrom([a, b], () => ({ lower: pick(a.lower, b.lower), upper: pick(a.upper, b.upper) }));
}

export function eitherRange(a: ValueRange, b: ValueRange): ValueRange {
  return rangeFrom([a, b], () => ({ lower: Math.min(a.lower, b.lower), upper: Math.max(a.upper, b.upper) }));
}

export function unaryRange(fn: OpName, r: ValueRange): ValueRange {
  const each = (f: (x: number) => number): ValueRange =>
    rangeFrom([r], () => ({ lower: f(r.lower), upper: f(r.upper) }));
  switch (fn) {
    case "abs":
      return rangeFrom([r], () =>
        r.lower >= 0 ? r : { lower: 0, upper: Math.max(Math.abs(r.lower), Math.abs(r.upper)) },
      );
    case "floor":
      return each(Math.floor);
    case "ceil":
      return each(Math.ceil);
    case "trunc":
      return each(Math.trunc);
    case "exp":
    case "exp2":
    case "sqrt":
      return { lower: 0, upper: Number.POSITIVE_INFINITY };
    case "sigmoid":
      return { lower: 0, upper: 1 };
    default:
      return UNKNOWN;
  }
}

const BIT: ValueRange = { lower: 0, upper: 1 };
const TRUTHS: ReadonlySet<OpName> = new Set<OpName>([
  "eq",
  "ne",
  "lt",
  "le",
  "gt",
  "ge",
  "logical_and",
  "logical_or",
  "logical_xor",
  "logical_not",
]);

/** of an operation of a body over values with these bounds */
export function rangeOfCall(fn: OpName, args: readonly ValueRange[]): ValueRange {
  const [a = UNKNOWN, b = UNKNOWN, c = UNKNOWN] = args;
  if (TRUTHS.has(fn)) return BIT;
  switch (fn) {
    case "add":
      return addRange(a, b, 1);
    case "sub":
      return addRange(a, b, -1);
    case "mul":
      return mulRange(a, b);
    case "neg":
      return negRange(a);
    case "square":
      return rangeFrom([a], () => {
        const ends = [a.lower * a.lower, a.upper * a.upper];
        return { lower: a.lower <= 0 && a.upper >= 0 ? 0 : Math.min(...ends), upper: Math.max(...ends) };
      });
    case "truediv":
      return quotientRange(a, b, x => x);
    case "truncdiv":
      return quotientRange(a, b, Math.trunc);
    case "floordiv":
      return quotientRange(a, b, Math.floor);
    case "mod":
      return rangeFrom([a, b], () => {
        if (b.lower <= 0 && b.upper >= 0) return UNKNOWN;
        const most = Math.max(Math.abs(b.lower), Math.abs(b.upper)) - 1;
        // the remainder has the sign of the dividend, and no more than its size
        return {
          lower: a.lower >= 0 ? 0 : Math.max(-most, a.lower),
          upper: a.upper <= 0 ? 0 : Math.min(most, a.upper),
        };
      });
    case "maximum":
      return eachBound(Math.max, a, b);
    case "minimum":
      return eachBound(Math.min, a, b);
    case "where":
      return eitherRange(b, c);
    default:
      return unaryRange(fn, a);
  }
}

function quotientRange(a: ValueRange, b: ValueRange, round: (x: number) => number): ValueRange {
  return rangeFrom([a, b], () => {
    if (b.lower <= 0 && b.upper >= 0) return UNKNOWN;
    const ends = [a.lower / b.lower, a.lower / b.upper, a.upper / b.lower, a.upper / b.upper].map(round);
    return ends.some(Number.isNaN) ? UNKNOWN : { lower: Math.min(...ends), upper: Math.max(...ends) };
  });
}
