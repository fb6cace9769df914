// In: comparisons known to hold. Out: which other comparisons they decide.
// Promises: sound over integers. An inequality is kept as d <= 0 with d expanded; one fact at a time is used.

import { add, addTerms, neg, splitNumber, sub } from "./arith";
import { isNegative, isNonpositive, isNonzero, isPositive } from "./assumptions";
import { gcdNumber } from "./divide";
import { type Expr, intValue, isNumber, type RelationExpr, type SymExpr, sym } from "./nodes";
import { bounds, type SymbolBounds, type VarRanges } from "./ranges";
import { dropIdentity, expand, freeSymbols, substitute } from "./traverse";

const NO_RANGES: VarRanges = new Map();

/** A sum without its number, and the number. */
function splitConstant(e: Expr): [Expr | undefined, number] {
  const first = addTerms(e)[0] as Expr;
  if (!isNumber(first)) return [e, 0];
  return e === first ? [undefined, first.value] : [sub(e, first), first.value];
}

/** d such that the comparison is d <= 0 (integers only); undefined for == and !=. */
function asNonpositive(r: RelationExpr): Expr | undefined {
  const [a, b] = r.args;
  switch (r.op) {
    case "le":
      return expand(sub(a, b));
    case "lt":
      return expand(add(sub(a, b), 1));
    case "ge":
      return expand(sub(b, a));
    case "gt":
      return expand(add(sub(b, a), 1));
    case "eq":
    case "ne":
      return undefined;
    default: {
      const never: never = r.op;
      return never;
    }
  }
}

/** Comparisons assumed true: upper bounds of sums, and differences that are zero or nonzero. */
export class Facts {
  /** For a sum without constant, the largest number known to bound it from above. */
  readonly #upper = new Map<Expr, number>();
  readonly #nonzero = new Set<Expr>();
  readonly #zero = new Set<Expr>();

  add(r: RelationExpr): void {
    const d = asNonpositive(r);
    if (d !== undefined) this.#bound(d);
    else {
      const difference = expand(sub(r.args[0], r.args[1]));
      (r.op === "eq" ? this.#zero : this.#nonzero).add(difference).add(neg(difference));
      if (r.op === "eq") {
        this.#bound(difference);
        this.#bound(neg(difference));
      }
    }
  }

  #bound(d: Expr): void {
    const [rest, constant] = splitConstant(d);
    if (rest === undefined) return;
    const old = this.#upper.get(rest);
    if (old === undefined || -constant < old) this.#upper.set(rest, -constant);
  }

  /** Whether d <= 0 follows from one fact. */
  impliesNonpositive(d: Expr): boolean {
    const [rest, constant] = splitConstant(d);
    if (rest === undefined) return constant <= 0;
    const upper = this.#upper.get(rest);
    return upper !== undefined && upper + constant <= 0;
  }

  impliesZero(d: Expr): boolean {
    return this.#zero.has(d);
  }

  impliesNonzero(d: Expr): boolean {
    return this.#nonzero.has(d);
  }
}

export interface Knowledge {
  readonly facts: readonly Facts[];
  readonly ranges?: VarRanges;
  readonly symbolBounds: SymbolBounds;
  /** Whether `a` is known to be a multiple of `b`. */
  readonly divisible?: (a: Expr, b: Expr) => boolean;
}

/** Sign of d as far as it can be known: "neg" <0, "nonpos" <=0, "pos", "nonneg". */
function signs(d: Expr, k: Knowledge): { nonpos: boolean; neg: boolean; nonneg: boolean; pos: boolean } {
  const range = bounds(d, k.ranges ?? NO_RANGES, k.symbolBounds);
  let nonpos = range.upper <= 0 || isNonpositive(d);
  let negative = range.upper < 0 || isNegative(d);
  let nonneg = range.lower >= 0;
  let pos = range.lower > 0 || isPositive(d);
  if (negative || pos || (nonpos && nonneg)) return { nonpos, neg: negative, nonneg, pos };
  for (const f of k.facts) {
    nonpos ||= f.impliesNonpositive(d);
    negative ||= f.impliesNonpositive(add(d, 1));
    nonneg ||= f.impliesNonpositive(neg(d));
    pos ||= f.impliesNonpositive(add(neg(d), 1));
  }
  if (!negative && !pos) {
    // With every symbol written as its lower bound plus something nonnegative, like terms cancel and signs show.
    const shifted = shiftSymbols(d, k);
    if (shifted !== undefined) {
      nonpos ||= isNonpositive(shifted);
      negative ||= isNegative(shifted);
      nonneg ||= isNonpositive(neg(shifted));
      pos ||= isPositive(shifted);
    }
  }
  return { nonpos: nonpos || negative, neg: negative, nonneg: nonneg || pos, pos };
}

function shiftSymbols(d: Expr, k: Knowledge): Expr | undefined {
  const symbols = freeSymbols(d);
  if (symbols.size === 0 || symbols.size > 8) return undefined;
  const shift = new Map<SymExpr, Expr>();
  let i = 0;
  for (const s of symbols) {
    if (s.symKind === "float") return undefined;
    const lower = k.ranges?.has(s) ? 0 : (k.symbolBounds(s)?.lower ?? 0);
    if (!Number.isFinite(lower)) return undefined;
    shift.set(s, add(sym(`_shift${i++}`), lower));
  }
  return expand(substitute(d, shift));
}

/** Truth of a condition under what is known; undefined if it can't be told. */
export function decideCondition(e: Expr, k: Knowledge): boolean | undefined {
  switch (e.kind) {
    case "and": {
      let all = true;
      for (const a of e.args) {
        const v = decideCondition(a, k);
        if (v === false) return false;
        if (v === undefined) all = false;
      }
      return all ? true : undefined;
    }
    case "or": {
      let none = true;
      for (const a of e.args) {
        const v = decideCondition(a, k);
        if (v === true) return true;
        if (v === undefined) none = false;
      }
      return none ? false : undefined;
    }
    case "not": {
      const v = decideCondition(e.args[0], k);
      return v === undefined ? undefined : !v;
    }
    case "int":
      return e.value !== 0;
    case "relation":
      return decideRelation(e, k);
    default:
      return undefined;
  }
}

function decideRelation(r: RelationExpr, k: Knowledge): boolean | undefined {
  const d = expand(dropIdentity(sub(r.args[0], r.args[1])));
  if (isNumber(d)) {
    const v = d.value;
    switch (r.op) {
      case "eq":
        return v === 0;
      case "ne":
        return v !== 0;
      case "lt":
        return v < 0;
      case "le":
        return v <= 0;
      case "gt":
        return v > 0;
      case "ge":
        return v >= 0;
      default: {
        const never: never = r.op;
        return never;
      }
    }
  }
  if (r.op === "eq" || r.op === "ne") {
    const equal = decideZero(r, d, k);
    return equal === undefined ? undefined : equal === (r.op === "eq");
  }
  const s = signs(d, k);
  switch (r.op) {
    case "lt":
      return s.neg ? true : s.nonneg ? false : undefined;
    case "le":
      return s.nonpos ? true : s.pos ? false : undefined;
    case "gt":
      return s.pos ? true : s.nonpos ? false : undefined;
    case "ge":
      return s.nonneg ? true : s.neg ? false : undefined;
    default: {
      const never: never = r.op;
      return never;
    }
  }
}

function decideZero(r: RelationExpr, d: Expr, k: Knowledge): boolean | undefined {
  if (isNonzero(d)) return false;
  for (const f of k.facts) {
    if (f.impliesZero(d)) return true;
    if (f.impliesNonzero(d)) return false;
  }
  const [a, b] = r.args;
  if (a.kind === "mod" && intValue(b) === 0 && k.divisible?.(a.args[0], a.args[1])) return true;
  const s = signs(d, k);
  if (s.neg || s.pos) return false;
  if (s.nonpos && s.nonneg) return true;
  // No integers satisfy 2*x + 4*y == 1.
  const [rest, constant] = splitConstant(d);
  if (rest !== undefined && Number.isInteger(constant)) {
    let g = 0;
    for (const t of addTerms(rest)) {
      const [n, symbolic, isFloat] = splitNumber(t);
      if (isFloat || symbolic === undefined || [...freeSymbols(symbolic)].some(x => x.symKind === "float"))
        return undefined;
      if (symbolic.kind === "truediv" || symbolic.kind === "pow") return undefined;
      g = gcdNumber(g, n);
    }
    if (g > 1 && constant % g !== 0) return false;
  }
  return undefined;
}
