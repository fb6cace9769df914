// Absolute values. In: canonical expressions. Out: canonical absolute values, as sympy's Abs evaluates.
// Promises: never negative; Abs(x - 1) and Abs(1 - x) are one node; known factors stand outside.

import { mulFactors, neg, product } from "./arith";
import { isNonnegative, isNonpositive } from "./assumptions";
import { type Expr, isNumber, makeNode } from "./nodes";
import { compareSortKey } from "./sort_key";

/** Absolute value. */
export function abs(e: Expr): Expr {
  if (isNumber(e) || e.kind === "sym") return isNonnegative(e) ? e : isNonpositive(e) ? neg(e) : makeNode("abs", [e]);
  if (e.kind === "mul") {
    const known: Expr[] = [];
    const open: Expr[] = [];
    for (const factor of mulFactors(e)) {
      const a = abs(factor);
      if (a.kind !== "abs") known.push(a);
      else open.push(factor.kind === "add" && leadsWithMinus(factor) ? neg(factor) : factor);
    }
    return product(open.length === 0 ? known : [...known, makeNode("abs", [product(open)])]);
  }
  if (isNonnegative(e)) return e;
  if (isNonpositive(e)) return neg(e);
  return e.kind === "add" && leadsWithMinus(e) ? abs(neg(e)) : makeNode("abs", [e]);
}

/** sympy's could_extract_minus_sign: more terms with a minus than without, or as many and earlier than the negation */
function leadsWithMinus(e: Expr): boolean {
  if (isNumber(e)) return e.value < 0;
  if (e.kind === "mul") return e.args[0] !== undefined && leadsWithMinus(e.args[0]);
  if (e.kind !== "add") return false;
  const negative = e.args.filter(leadsWithMinus).length;
  const positive = e.args.length - negative;
  return positive === negative ? compareSortKey(e, neg(e)) < 0 : negative > positive;
}
