// In: two expressions. Out: their order under sympy's `default_sort_key`; the order in which its printer lists the terms
// of a sum and the factors of a product. The other order, that of stored arguments, is order.ts.

import { addTerms, mulFactors, splitNumber } from "./arith";
import { internTable } from "./intern";
import { type Expr, isNumber, ONE, type PowExpr } from "./nodes";
import { classOf, compareText } from "./order";

/** sympy's `class_key`. Functions with a fixed number of arguments sort after those without. */
function classKey(e: Expr): readonly [number, number, string] {
  const name = classOf(e)[1];
  switch (e.kind) {
    case "int":
    case "float":
      return [1, 0, "Number"];
    case "sym":
      return [2, 0, name];
    case "mul":
      return [3, 0, name];
    case "add":
      return [3, 1, name];
    case "pow":
      return e.args[1].kind === "int" ? [3, 2, name] : [4, 10000, name];
    case "identity":
      return [4, 0, name];
    case "abs":
    case "floordiv":
    case "modular":
    case "mod":
    case "where":
    case "truediv":
      return [4, 10000, name];
    case "min":
    case "max":
    case "relation":
    case "and":
    case "or":
    case "not":
      return [5, 0, name];
    default: {
      const never: never = e;
      return never;
    }
  }
}

function keyArgs(e: Expr): readonly Expr[] {
  if (e.kind === "add") return orderedTerms(e);
  if (e.kind === "mul") return orderedFactors(e);
  return e.args;
}

/** Order by sympy's `default_sort_key`: class, arguments, exponent, coefficient. */
export function compareSortKey(a: Expr, b: Expr): number {
  if (a === b) return 0;
  const memo = internTable().memo<Expr, Map<Expr, number>>("sortKey");
  let row = memo.get(a);
  if (row === undefined) {
    row = new Map();
    memo.set(a, row);
  }
  let result = row.get(b);
  if (result === undefined) {
    result = computeSortKey(a, b);
    row.set(b, result);
  }
  return result;
}

function isPlainPow(e: Expr): e is PowExpr {
  return e.kind === "pow" && e.args[1].kind === "int";
}

function computeSortKey(a: Expr, b: Expr): number {
  const [na, ra] = splitNumber(a);
  const [nb, rb] = splitNumber(b);
  // A number's key is its class, no arguments, no exponent.
  if (ra === undefined || rb === undefined) {
    if (ra === undefined && rb === undefined) return na - nb;
    return ra === undefined ? -1 : 1;
  }
  const ba = isPlainPow(ra) ? ra.args[0] : ra;
  const bb = isPlainPow(rb) ? rb.args[0] : rb;
  const ca = classKey(ba);
  const cb = classKey(bb);
  const byClass = ca[0] - cb[0] || ca[1] - cb[1] || compareText(ca[2], cb[2]);
  if (byClass !== 0) return byClass;
  if (ba.kind === "sym" && bb.kind === "sym") {
    const byName = compareText(ba.name, bb.name);
    if (byName !== 0) return byName;
  } else if (isNumber(ba) && isNumber(bb)) {
    if (ba.value !== bb.value) return ba.value - bb.value;
  } else {
    const xs = keyArgs(ba);
    const ys = keyArgs(bb);
    if (xs.length !== ys.length) return xs.length - ys.length;
    for (let i = 0; i < xs.length; i++) {
      const c = compareSortKey(xs[i] as Expr, ys[i] as Expr);
      if (c !== 0) return c;
    }
  }
  const ea = isPlainPow(ra) ? ra.args[1] : ONE();
  const eb = isPlainPow(rb) ? rb.args[1] : ONE();
  return compareSortKey(ea, eb) || na - nb || a.id - b.id;
}

/** Factors in the order in which sympy prints them. */
export function orderedFactors(e: Expr): Expr[] {
  return [...mulFactors(e)].sort(compareSortKey);
}

/** Base and integer exponent of a factor (`decompose_power`). */
function decompose(factor: Expr): [Expr, number] {
  if (factor.kind === "pow" && factor.args[1].kind === "int") return [factor.args[0], factor.args[1].value];
  return [factor, 1];
}

/** The number below Identity wrappers: sympy sorts it as a constant. */
function hiddenNumber(e: Expr): number | undefined {
  if (e.kind !== "identity") return undefined;
  const inner = e.args[0];
  return isNumber(inner) ? inner.value : hiddenNumber(inner);
}

/**
 * Terms in the order in which sympy prints them: by exponents over the sorted generators, highest first, the constant
 * last; except that a positive number goes before a lone negative product (65 - 3*x).
 */
export function orderedTerms(e: Expr): readonly Expr[] {
  if (e.kind !== "add") return [e];
  const [first, second] = e.args;
  if (e.args.length === 2 && first !== undefined && second?.kind === "mul" && isNumber(first) && first.value > 0) {
    const c = second.args[0];
    if (second.args.length === 2 && c !== undefined && isNumber(c) && c.value < 0) return e.args;
  }
  const generators = new Set<Expr>();
  const terms = addTerms(e).map(term => {
    const split = splitNumber(term);
    const rest = split[1];
    let number = split[0];
    const exponents = new Map<Expr, number>();
    for (const f of rest === undefined ? [] : mulFactors(rest)) {
      const constant = hiddenNumber(f);
      if (constant !== undefined) {
        number *= constant;
        continue;
      }
      const [base, n] = decompose(f);
      exponents.set(base, n);
      generators.add(base);
    }
    return { term, number, exponents };
  });
  const sorted = [...generators].sort(compareSortKey);
  return terms
    .sort((a, b) => {
      for (const g of sorted) {
        const d = (b.exponents.get(g) ?? 0) - (a.exponents.get(g) ?? 0);
        if (d !== 0) return d;
      }
      return a.number - b.number;
    })
    .map(t => t.term);
}

/** Small expressions come first among the arguments of min, max, and, or (sympy's `ordered`). Floats count half. */
function nodeCount(e: Expr): number {
  return e.kind === "float" ? 0.5 : e.args.reduce((n, a) => n + nodeCount(a), 1);
}

/** The distinct expressions in the order of sympy's `ordered`. */
export function inOrder(xs: Iterable<Expr>): Expr[] {
  return [...new Set(xs)].sort((a, b) => nodeCount(a) - nodeCount(b) || compareSortKey(a, b));
}
