// In: an expression. Out: what is known of its sign and integrality from its symbols' assumptions alone (no ranges).
// Promises: `true` is proven; `false` means not known. Cached on the node.

import type { Expr } from "./nodes";

const NONNEG = 1;
const POS = 2;
const NONPOS = 4;
const NEG = 8;

function signOf(e: Expr): number {
  const known = e.cache.sign;
  if (known !== undefined) return known;
  const bits = computeSign(e);
  e.cache.sign = bits;
  return bits;
}

function ofNumber(v: number): number {
  if (v > 0) return NONNEG | POS;
  if (v < 0) return NONPOS | NEG;
  return v === 0 ? NONNEG | NONPOS : 0;
}

/** A number plus terms of one sign: positive integers are at least 1, so s - 1 is nonnegative and 2*s - 1 positive. */
function signOfShifted(args: readonly Expr[]): number {
  const constant = args[0];
  if (constant?.kind !== "int") return 0;
  const up = constant.value < 0;
  let nearest = constant.value;
  for (const term of args.slice(1)) {
    if (!isMonomial(term) || (signOf(term) & (up ? POS : NEG)) === 0) return 0;
    nearest += term.kind === "mul" && term.args[0]?.kind === "int" ? term.args[0].value : up ? 1 : -1;
  }
  if (up) return nearest < 0 ? 0 : NONNEG | (nearest > 0 ? POS : 0);
  return nearest > 0 ? 0 : NONPOS | (nearest < 0 ? NEG : 0);
}

function isMonomial(e: Expr): boolean {
  if (e.kind === "sym") return e.symKind !== "float";
  if (e.kind === "int") return true;
  if (e.kind === "pow") return isMonomial(e.args[0]) && e.args[1].kind === "int" && e.args[1].value > 0;
  return e.kind === "mul" && e.args.every(isMonomial);
}

function computeSign(e: Expr): number {
  switch (e.kind) {
    case "int":
    case "float":
      return ofNumber(e.value);
    case "sym":
      return e.positive ? NONNEG | POS : e.nonnegative ? NONNEG : 0;
    case "add": {
      let all = NONNEG | NONPOS;
      let strict = 0;
      for (const a of e.args) {
        const s = signOf(a);
        all &= s;
        strict |= s & (POS | NEG);
      }
      if (all & NONNEG) return NONNEG | (strict & POS);
      if (all & NONPOS) return NONPOS | (strict & NEG);
      return signOfShifted(e.args);
    }
    case "mul": {
      let negative = false;
      let strict = true;
      for (const a of e.args) {
        const s = signOf(a);
        if (s & NONNEG) strict &&= (s & POS) !== 0;
        else if (s & NONPOS) {
          negative = !negative;
          strict &&= (s & NEG) !== 0;
        } else return 0;
      }
      if (negative) return NONPOS | (strict ? NEG : 0);
      return NONNEG | (strict ? POS : 0);
    }
    case "pow": {
      const s = signOf(e.args[0]);
      if (s & POS) return NONNEG | POS;
      const n = e.args[1];
      if (n.kind === "int" && n.value > 0 && (s & NONNEG || n.value % 2 === 0)) return NONNEG;
      return 0;
    }
    case "floordiv":
    case "modular":
      // As much as torch derives. The remainder of a negative number counts as unknown: Triton's % rounds to zero.
      return signOf(e.args[0]) & NONNEG && signOf(e.args[1]) & NONNEG ? NONNEG : 0;
    case "mod": {
      const b = signOf(e.args[1]);
      return b & POS ? NONNEG : b & NEG ? NONPOS : 0;
    }
    case "min": {
      let all = NONNEG | POS;
      let some = 0;
      for (const a of e.args) {
        all &= signOf(a);
        some |= signOf(a) & (NONPOS | NEG);
      }
      return all | some;
    }
    case "max": {
      let all = NONPOS | NEG;
      let some = 0;
      for (const a of e.args) {
        all &= signOf(a);
        some |= signOf(a) & (NONNEG | POS);
      }
      return all | some;
    }
    case "where":
      return signOf(e.args[1]) & signOf(e.args[2]);
    case "identity":
      // torch's Identity hides the sign, so that Triton divides it with the helpers for possibly negative numbers.
      return 0;
    case "abs":
      return NONNEG | (isNonzero(e.args[0]) ? POS : 0);
    case "truediv": {
      const a = signOf(e.args[0]);
      const b = signOf(e.args[1]);
      if (a & NONNEG && b & POS) return NONNEG | (a & POS);
      return 0;
    }
    case "relation":
    case "and":
    case "or":
    case "not":
      return 0;
    default: {
      const never: never = e;
      return never;
    }
  }
}

export const isNonnegative = (e: Expr): boolean => (signOf(e) & NONNEG) !== 0;
export const isPositive = (e: Expr): boolean => (signOf(e) & POS) !== 0;
export const isNonpositive = (e: Expr): boolean => (signOf(e) & NONPOS) !== 0;
export const isNegative = (e: Expr): boolean => (signOf(e) & NEG) !== 0;
export const isNonzero = (e: Expr): boolean => (signOf(e) & (POS | NEG)) !== 0;

/** Whether every value of the expression is an integer. */
export function isInteger(e: Expr): boolean {
  const known = e.cache.integer;
  if (known !== undefined) return known;
  const result = computeInteger(e);
  e.cache.integer = result;
  return result;
}

function computeInteger(e: Expr): boolean {
  switch (e.kind) {
    case "int":
    case "floordiv":
    case "modular":
      return true;
    case "float":
    case "truediv":
    case "relation":
    case "and":
    case "or":
    case "not":
      return false;
    case "sym":
      return e.symKind !== "float";
    case "pow":
      return isInteger(e.args[0]) && isInteger(e.args[1]) && isNonnegative(e.args[1]);
    case "where":
      return isInteger(e.args[1]) && isInteger(e.args[2]);
    case "add":
    case "mul":
    case "mod":
    case "min":
    case "max":
    case "identity":
    case "abs":
      return e.args.every(isInteger);
    default: {
      const never: never = e;
      return never;
    }
  }
}
