// In: comparisons known to hold. Out: which other comparisons they decide.
// Promises: sound over integers. An inequality is kept as d <= 0 with d expanded; one fact at a time is used.

import { add, addTerms, neg, splitNumber, sub } from "./arith";
import { isInteger, isNegative, isNonnegative, isNonpositive, isNonzero, isPositive } from "./assumptions";
import { divideExact, gcdNumber } from "./divide";
import { type Expr, int, intValue, isNumber, type RelationExpr, type SymExpr, sym } from "./nodes";
import { type Bounds, bounds, type SymbolBounds, type VarRanges } from "./ranges";
import { dropIdentity, expand, freeSymbols, hasKind, substitute } from "./traverse";

const NO_RANGES: VarRanges = new Map();

/** A sum without its number, and the number. */
function splitConstant(e: Expr): [Expr | undefined, number] {
  const first = addTerms(e)[0] as Expr;
  if (!isNumber(first)) return [e, 0];
  return e === first ? [undefined, first.value] : [sub(e, first), first.value];
}

/** Divides out an integer that all terms share: 6*x + 4*y -> 3*x + 2*y. The sign stays. */
function lowestTerms(d: Expr): Expr {
  let g = 0;
  for (const t of addTerms(d)) {
    const [n, , isFloat] = splitNumber(t);
    if (isFloat) return d;
    g = gcdNumber(g, n);
  }
  return g > 1 ? (divideExact(d, int(g)) ?? d) : d;
}

function difference(a: Expr, b: Expr): Expr {
  return lowestTerms(expand(sub(a, b)));
}

/** d such that the comparison is d <= 0 (integers only); undefined for == and !=. */
function asNonpositive(r: RelationExpr): Expr | undefined {
  const [a, b] = r.args;
  switch (r.op) {
    case "le":
      return difference(a, b);
    case "lt":
      return add(difference(a, b), 1);
    case "ge":
      return difference(b, a);
    case "gt":
      return add(difference(b, a), 1);
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
      const e = difference(r.args[0], r.args[1]);
      (r.op === "eq" ? this.#zero : this.#nonzero).add(e).add(neg(e));
      if (r.op === "eq") {
        this.#bound(e);
        this.#bound(neg(e));
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

interface Sign {
  nonpos: boolean;
  neg: boolean;
  nonneg: boolean;
  pos: boolean;
}

/** Sign of d as far as it can be known. */
function signOf(d: Expr, k: Knowledge): Sign {
  const s: Sign = { nonpos: isNonpositive(d), neg: isNegative(d), nonneg: isNonnegative(d), pos: isPositive(d) };
  const note = (nonpos: boolean, negative: boolean, nonneg: boolean, pos: boolean): void => {
    s.neg ||= negative;
    s.pos ||= pos;
    s.nonpos ||= nonpos || s.neg;
    s.nonneg ||= nonneg || s.pos;
  };
  for (const f of k.facts) {
    note(
      f.impliesNonpositive(d),
      f.impliesNonpositive(add(d, 1)),
      f.impliesNonpositive(neg(d)),
      f.impliesNonpositive(add(neg(d), 1)),
    );
  }
  if (s.neg || s.pos || (s.nonpos && s.nonneg)) return s;
  let range: Bounds;
  if (isLinear(d)) range = bounds(d, k.ranges ?? NO_RANGES, k.symbolBounds);
  else {
    // Products are not bounded as they stand: with every symbol written as its lower bound less one plus something
    // positive, and multiplied out, like terms cancel and signs show. torch decides on that form, and so do we.
    const shifted = shiftSymbols(d, k);
    for (const e of new Set([shifted.e, expand(shifted.e)])) {
      note(isNonpositive(e), isNegative(e), isNonnegative(e), isPositive(e));
    }
    range = bounds(expand(shifted.e), NO_RANGES, v => shifted.ranges.get(v));
  }
  note(range.upper <= 0, range.upper < 0, range.lower >= 0, range.lower > 0);
  return s;
}

/** No products or powers of symbols anywhere: moving a symbol's origin changes nothing then. */
function isLinear(e: Expr): boolean {
  if (!hasKind(e, "mul") && !hasKind(e, "pow")) return true;
  if (e.kind === "pow") return false;
  if (e.kind === "mul" && e.args.filter(a => !isNumber(a)).length > 1) return false;
  return (e.args as readonly Expr[]).every(isLinear);
}

function shiftSymbols(d: Expr, k: Knowledge): { readonly e: Expr; readonly ranges: ReadonlyMap<SymExpr, Bounds> } {
  const shift = new Map<SymExpr, Expr>();
  const ranges = new Map<SymExpr, Bounds>();
  let i = 0;
  for (const s of freeSymbols(d)) {
    const range = bounds(s, k.ranges ?? NO_RANGES, k.symbolBounds);
    if (s.symKind === "float" || !Number.isFinite(range.lower)) {
      ranges.set(s, range);
      continue;
    }
    const fresh = sym(`_shift${i++}`, { kind: "size" });
    shift.set(s, add(fresh, range.lower - 1));
    ranges.set(fresh, { lower: 1, upper: range.upper - range.lower + 1 });
  }
  return { e: substitute(d, shift), ranges };
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
  const d = lowestTerms(expand(dropIdentity(sub(r.args[0], r.args[1]))));
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
  const s = signOf(d, k);
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
  const s = signOf(d, k);
  if (s.neg || s.pos) return false;
  if (s.nonpos && s.nonneg) return true;
  // An odd number is not the sum of even ones.
  const [rest, constant] = splitConstant(d);
  if (rest === undefined || Math.abs(constant % 2) !== 1 || !isInteger(rest)) return undefined;
  return addTerms(rest).every(t => splitNumber(t)[0] % 2 === 0) ? false : undefined;
}
