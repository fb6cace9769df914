// In: an expression and the ranges of its loop variables. Out: numeric bounds of its value.
// Promises: sound (the value always lies within); where nothing is known the bound is infinite. Pure interval arithmetic
// on the expression as written, with like terms already collected by the constructors.

import { compareNumbers } from "./choice";
import { floorDivNumber, modNumber } from "./divide";
import { type Expr, isInt, type SymExpr } from "./nodes";
import { isSizeFree } from "./traverse";

/** 0 <= variable < size. */
export type VarRanges = ReadonlyMap<SymExpr, Expr>;

export interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

/** Range of a symbol that is no loop variable of the range map; undefined leaves the default by kind. */
export type SymbolBounds = (s: SymExpr) => Bounds | undefined;

const INF = Number.POSITIVE_INFINITY;
export const UNBOUNDED: Bounds = { lower: -INF, upper: INF };

const memos = new WeakMap<VarRanges, Map<Expr, Bounds>>();

/**
 * Bounds of `e`. Loop variables in `ranges` go from 0 to size - 1; positive sizes are >= 2, unbacked symbols and loop
 * variables >= 0 unless `symbolBounds` says otherwise. `ranges` must not change afterwards (results are kept with it).
 */
export function bounds(e: Expr, ranges: VarRanges, symbolBounds?: SymbolBounds): Bounds {
  // Ranges of sizes can be narrowed at any time, so what depends on them is not kept.
  let memo: Map<Expr, Bounds> | undefined;
  if (symbolBounds === undefined || (isSizeFree(e) && onlyIntSizes(ranges))) {
    memo = memos.get(ranges);
    if (memo === undefined) {
      memo = new Map();
      memos.set(ranges, memo);
    }
  } else memo = new Map();
  return evaluate(e, { ranges, symbolBounds, memo });
}

const intSizes = new WeakMap<VarRanges, boolean>();

function onlyIntSizes(ranges: VarRanges): boolean {
  let known = intSizes.get(ranges);
  if (known === undefined) {
    known = [...ranges.values()].every(isInt);
    intSizes.set(ranges, known);
  }
  return known;
}

interface Scope {
  readonly ranges: VarRanges;
  readonly symbolBounds: SymbolBounds | undefined;
  readonly memo: Map<Expr, Bounds>;
}

function evaluate(e: Expr, scope: Scope): Bounds {
  if (e.kind === "int" || e.kind === "float") return { lower: e.value, upper: e.value };
  const known = scope.memo.get(e);
  if (known !== undefined) return known;
  const result = compute(e, scope);
  scope.memo.set(e, result);
  return result;
}

function ofSymbol(s: SymExpr, scope: Scope): Bounds {
  const size = scope.ranges.get(s);
  if (size !== undefined) return { lower: 0, upper: Math.max(0, evaluate(size, scope).upper - 1) };
  const given = scope.symbolBounds?.(s);
  if (given !== undefined) return given;
  switch (s.symKind) {
    case "size":
      return { lower: s.positive ? 2 : s.nonnegative ? 0 : -INF, upper: INF };
    case "unbacked":
    case "loop":
    case "indirect":
      return { lower: 0, upper: INF };
    case "float":
      return { lower: s.nonnegative ? 0 : -INF, upper: INF };
    default: {
      const never: never = s.symKind;
      return never;
    }
  }
}

/** 0 * infinity is 0 here: a factor that is 0 makes the product 0. */
function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

function mulBounds(a: Bounds, b: Bounds): Bounds {
  const products = [times(a.lower, b.lower), times(a.lower, b.upper), times(a.upper, b.lower), times(a.upper, b.upper)];
  return { lower: Math.min(...products), upper: Math.max(...products) };
}

function floorQuotient(a: number, b: number): number {
  if (Number.isFinite(a) && Number.isFinite(b)) return floorDivNumber(a, b);
  if (Number.isFinite(a)) return a === 0 || a > 0 === b > 0 ? 0 : -1;
  if (Number.isFinite(b)) return a > 0 === b > 0 ? INF : -INF;
  return a > 0 === b > 0 ? INF : -INF;
}

function divBounds(a: Bounds, b: Bounds): Bounds {
  // A divisor range that includes 0 says nothing, save that division by zero never happens: integers >= 0 act as >= 1.
  const divisor = b.lower === 0 ? { lower: 1, upper: Math.max(1, b.upper) } : b;
  if (divisor.lower <= 0 && divisor.upper >= 0) return UNBOUNDED;
  const corners = [
    floorQuotient(a.lower, divisor.lower),
    floorQuotient(a.lower, divisor.upper),
    floorQuotient(a.upper, divisor.lower),
    floorQuotient(a.upper, divisor.upper),
  ];
  let lower = Math.min(...corners);
  let upper = Math.max(...corners);
  // inf // inf may be anything between 0 and inf.
  if (a.upper === INF && divisor.upper === INF && a.lower >= 0) lower = Math.min(lower, 0);
  if (Number.isNaN(lower)) lower = -INF;
  if (Number.isNaN(upper)) upper = INF;
  return { lower, upper };
}

function modBounds(x: Bounds, m: Bounds): Bounds {
  if (x.lower === x.upper && m.lower === m.upper && Number.isFinite(x.lower) && m.lower !== 0) {
    const r = modNumber(x.lower, m.lower);
    return { lower: r, upper: r };
  }
  if (m.lower >= 0) {
    // Within one period of a constant modulus the remainder moves with x.
    if (m.lower === m.upper && m.lower > 0 && Number.isFinite(x.lower) && Number.isFinite(x.upper)) {
      const period = floorDivNumber(x.lower, m.lower);
      if (period === floorDivNumber(x.upper, m.lower)) {
        return { lower: x.lower - period * m.lower, upper: x.upper - period * m.lower };
      }
    }
    return { lower: 0, upper: Math.max(0, m.upper - 1) };
  }
  if (m.upper <= 0) return { lower: m.lower + 1, upper: 0 };
  return { lower: Math.min(0, m.lower + 1), upper: Math.max(0, m.upper - 1) };
}

function powBounds(b: Bounds, n: number): Bounds {
  const low = b.lower ** n;
  const high = b.upper ** n;
  if (n % 2 === 0) {
    const upper = Math.max(low, high);
    return b.lower <= 0 && b.upper >= 0 ? { lower: 0, upper } : { lower: Math.min(low, high), upper };
  }
  return { lower: low, upper: high };
}

function compute(e: Expr, scope: Scope): Bounds {
  switch (e.kind) {
    case "int":
    case "float":
      return { lower: e.value, upper: e.value };
    case "sym":
      return ofSymbol(e, scope);
    case "add": {
      let lower = 0;
      let upper = 0;
      for (const a of e.args) {
        const b = evaluate(a, scope);
        lower += b.lower;
        upper += b.upper;
      }
      return { lower: Number.isNaN(lower) ? -INF : lower, upper: Number.isNaN(upper) ? INF : upper };
    }
    case "mul":
      return e.args.map(a => evaluate(a, scope)).reduce(mulBounds);
    case "pow": {
      const n = e.args[1];
      if (n.kind !== "int" || n.value < 0) return UNBOUNDED;
      return powBounds(evaluate(e.args[0], scope), n.value);
    }
    case "floordiv":
      return divBounds(evaluate(e.args[0], scope), evaluate(e.args[1], scope));
    case "modular": {
      const quotient = divBounds(evaluate(e.args[0], scope), evaluate(e.args[1], scope));
      const modulus = evaluate(e.args[2], scope);
      const remainder = modBounds(quotient, modulus);
      // Triton's % gives a negative remainder for a negative number; the bounds hold for both.
      if (quotient.lower >= 0 || modulus.lower < 0) return remainder;
      return { lower: Math.max(quotient.lower, 1 - modulus.upper), upper: Math.max(remainder.upper, 0) };
    }
    case "mod":
      return modBounds(evaluate(e.args[0], scope), evaluate(e.args[1], scope));
    case "min": {
      const all = e.args.map(a => evaluate(a, scope));
      return { lower: Math.min(...all.map(b => b.lower)), upper: Math.min(...all.map(b => b.upper)) };
    }
    case "max": {
      const all = e.args.map(a => evaluate(a, scope));
      return { lower: Math.max(...all.map(b => b.lower)), upper: Math.max(...all.map(b => b.upper)) };
    }
    case "where": {
      const c = evaluate(e.args[0], scope);
      if (c.lower === 1) return evaluate(e.args[1], scope);
      if (c.upper === 0) return evaluate(e.args[2], scope);
      const a = evaluate(e.args[1], scope);
      const b = evaluate(e.args[2], scope);
      return { lower: Math.min(a.lower, b.lower), upper: Math.max(a.upper, b.upper) };
    }
    case "abs": {
      const a = evaluate(e.args[0], scope);
      const upper = Math.max(Math.abs(a.lower), Math.abs(a.upper));
      return { lower: a.lower > 0 ? a.lower : a.upper < 0 ? -a.upper : 0, upper };
    }
    case "identity":
      return evaluate(e.args[0], scope);
    case "truediv": {
      const a = evaluate(e.args[0], scope);
      const b = evaluate(e.args[1], scope);
      if (b.lower <= 0 && b.upper >= 0) return UNBOUNDED;
      const q = [a.lower / b.lower, a.lower / b.upper, a.upper / b.lower, a.upper / b.upper];
      return q.some(Number.isNaN) ? UNBOUNDED : { lower: Math.min(...q), upper: Math.max(...q) };
    }
    case "relation": {
      const a = evaluate(e.args[0], scope);
      const b = evaluate(e.args[1], scope);
      return decide(e.op, a, b);
    }
    case "and": {
      const all = e.args.map(a => evaluate(a, scope));
      return { lower: Math.min(1, ...all.map(b => b.lower)), upper: Math.min(1, ...all.map(b => b.upper)) };
    }
    case "or": {
      const all = e.args.map(a => evaluate(a, scope));
      return { lower: Math.max(0, ...all.map(b => b.lower)), upper: Math.max(0, ...all.map(b => b.upper)) };
    }
    case "not": {
      const b = evaluate(e.args[0], scope);
      return { lower: 1 - b.upper, upper: 1 - b.lower };
    }
    default: {
      const never: never = e;
      return never;
    }
  }
}

const MAYBE: Bounds = { lower: 0, upper: 1 };
const YES: Bounds = { lower: 1, upper: 1 };
const NO: Bounds = { lower: 0, upper: 0 };

/** Truth of a comparison as 0 or 1. */
function decide(op: "eq" | "ne" | "lt" | "le" | "gt" | "ge", a: Bounds, b: Bounds): Bounds {
  switch (op) {
    case "eq":
    case "ne": {
      const yes = op === "eq" ? YES : NO;
      const no = op === "eq" ? NO : YES;
      if (a.upper < b.lower || a.lower > b.upper) return no;
      if (a.lower === a.upper && b.lower === b.upper) return compareNumbers("eq", a.lower, b.lower) ? yes : no;
      return MAYBE;
    }
    case "lt":
      return a.upper < b.lower ? YES : a.lower >= b.upper ? NO : MAYBE;
    case "le":
      return a.upper <= b.lower ? YES : a.lower > b.upper ? NO : MAYBE;
    case "gt":
      return decide("lt", b, a);
    case "ge":
      return decide("le", b, a);
    default: {
      const never: never = op;
      return never;
    }
  }
}
