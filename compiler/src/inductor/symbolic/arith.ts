// In: terms and factors in any order. Out: canonical sums, products and powers.
// Promises: as sympy's Add, Mul and Pow evaluate: flattened, like terms collected, numbers folded and put first,
// arguments in sympy's order, a number times a sum distributed over it. Integers must stay below 2**53.

import { internTable, type PairTable } from "./intern";
import {
  type Expr,
  type ExprLike,
  float,
  int,
  isNumber,
  kindBit,
  makeNode,
  ONE,
  sameArgs,
  toExpr,
  ZERO,
} from "./nodes";
import { sortSympy } from "./order";

/** The numeric factor and the rest of a term: 6*x*y -> [6, x*y]. Floats make the number a float. */
export function splitNumber(e: Expr): [number, rest: Expr | undefined, isFloat: boolean] {
  if (isNumber(e)) return [e.value, undefined, e.kind === "float"];
  if (e.kind !== "mul") return [1, e, false];
  const first = e.args[0] as Expr;
  if (!isNumber(first)) return [1, e, false];
  let rest = e.cache.rest;
  if (rest === undefined) {
    rest = e.args.length === 2 ? (e.args[1] as Expr) : makeNode("mul", e.args.slice(1));
    e.cache.rest = rest;
  }
  return [first.value, rest, first.kind === "float"];
}

function numberExpr(value: number, isFloat: boolean): Expr {
  return isFloat || !Number.isInteger(value) ? float(value) : int(value);
}

/** coefficient * rest, where rest carries no number and is no sum. */
function withNumber(value: number, isFloat: boolean, rest: Expr): Expr {
  if (value === 1 && !isFloat) return rest;
  const number = numberExpr(value, isFloat);
  const node = rest.kind === "mul" ? makeNode("mul", [number, ...rest.args]) : makeNode("mul", [number, rest]);
  node.cache.rest = rest;
  return node;
}

/** What an operation makes of two expressions, worked out once for each pair. */
function ofPair(known: PairTable, a: Expr, b: Expr, make: (pair: readonly Expr[]) => Expr): Expr {
  let row = known.get(a);
  if (row === undefined) {
    row = new Map();
    known.set(a, row);
  }
  let result = row.get(b);
  if (result === undefined) {
    result = make([a, b]);
    row.set(b, result);
  }
  return result;
}

/** A list of operands and what a sum makes of it. */
interface KnownSum {
  readonly terms: readonly Expr[];
  readonly sum: Expr;
}

/** The sum of three or more terms, worked out once for each list of them. */
function ofTerms(terms: readonly Expr[]): Expr {
  const memo = internTable().memo<number, KnownSum[]>("sums");
  let hash = terms.length;
  for (const t of terms) {
    hash = (Math.imul(hash, 0x01000193) ^ t.id) | 0;
    hash ^= hash >>> 15;
  }
  const row = memo.get(hash);
  const known = row?.find(k => sameArgs(k.terms, terms));
  if (known) return known.sum;
  const made = { terms, sum: sumOf(terms) };
  if (row) row.push(made);
  else memo.set(hash, [made]);
  return made.sum;
}

/** Sum. */
export function add(x: ExprLike, y: ExprLike): Expr {
  const a = toExpr(x);
  const b = toExpr(y);
  if (a.kind === "int" && a.value === 0) return b;
  if (b.kind === "int" && b.value === 0) return a;
  if (a.kind === "int" && b.kind === "int") return int(a.value + b.value);
  return ofPair(internTable().sums, a, b, sumOf);
}

/** Sum of a list; 0 for an empty one. */
export function sum(xs: readonly ExprLike[]): Expr {
  if (xs.length === 2) return add(xs[0] as ExprLike, xs[1] as ExprLike);
  const terms = xs.map(toExpr);
  return xs.length > 2 ? ofTerms(terms) : sumOf(terms);
}

function sumOf(xs: readonly Expr[]): Expr {
  let constant = 0;
  let constantIsFloat = false;
  const coefficients = new Map<Expr, number>();
  let floats: Set<Expr> | undefined;
  const addTerm = (e: Expr): void => {
    if (e.kind === "add") {
      for (const a of e.args) addTerm(a);
      return;
    }
    const [number, rest, isFloat] = splitNumber(e);
    if (rest === undefined) {
      constant += number;
      constantIsFloat ||= isFloat;
      return;
    }
    coefficients.set(rest, (coefficients.get(rest) ?? 0) + number);
    if (isFloat) {
      floats ??= new Set();
      floats.add(rest);
    }
  };
  for (const x of xs) addTerm(x);
  const terms: Expr[] = [];
  for (const [rest, number] of coefficients) {
    if (number === 0) continue;
    terms.push(withNumber(number, floats?.has(rest) ?? false, rest));
  }
  if (terms.length === 0) return numberExpr(constant, constantIsFloat);
  sortSympy(terms);
  if (constant !== 0) terms.unshift(numberExpr(constant, constantIsFloat));
  return terms.length === 1 ? (terms[0] as Expr) : makeNode("add", terms);
}

/** a - b. */
export function sub(a: ExprLike, b: ExprLike): Expr {
  return add(a, neg(b));
}

/** -a. */
export function neg(a: ExprLike): Expr {
  return typeof a === "number" ? toExpr(-a) : mul(-1, a);
}

/** Product. */
export function mul(x: ExprLike, y: ExprLike): Expr {
  const a = toExpr(x);
  const b = toExpr(y);
  if (a.kind === "int" && a.value === 1) return b;
  if (b.kind === "int" && b.value === 1) return a;
  if (a.kind === "int" && b.kind === "int") return int(a.value * b.value);
  return ofPair(internTable().products, a, b, productOf);
}

/** Product of a list; 1 for an empty one. */
export function product(xs: readonly ExprLike[]): Expr {
  if (xs.length === 2) return mul(xs[0] as ExprLike, xs[1] as ExprLike);
  return productOf(xs.map(toExpr));
}

function productOf(xs: readonly Expr[]): Expr {
  let number = 1;
  let numberIsFloat = false;
  // Exponents by base; a plain factor has exponent 1.
  const exponents = new Map<Expr, Expr>();
  const addFactor = (e: Expr): void => {
    if (e.kind === "mul") {
      for (const a of e.args) addFactor(a);
      return;
    }
    if (isNumber(e)) {
      number *= e.value;
      numberIsFloat ||= e.kind === "float";
      return;
    }
    const base = e.kind === "pow" ? e.args[0] : e;
    const exponent = e.kind === "pow" ? e.args[1] : ONE();
    const old = exponents.get(base);
    exponents.set(base, old === undefined ? exponent : add(old, exponent));
  };
  for (const x of xs) addFactor(x);
  if (number === 0 && (!numberIsFloat || exponents.size > 0)) return ZERO();
  const factors: Expr[] = [];
  let again = false;
  for (const [base, exponent] of exponents) {
    const factor = pow(base, exponent);
    if (isNumber(factor)) {
      number *= factor.value;
      numberIsFloat ||= factor.kind === "float";
    } else {
      again ||= factor.kind === "mul";
      factors.push(factor);
    }
  }
  if (again) return productOf([numberExpr(number, numberIsFloat), ...factors]);
  if (factors.length === 0) return numberExpr(number, numberIsFloat);
  sortSympy(factors);
  const plain = number === 1 && !numberIsFloat;
  const only = factors[0] as Expr;
  if (factors.length === 1) {
    if (plain) return only;
    // sympy's 2-argument Mul: 2*(x + y) is 2*x + 2*y.
    if (only.kind === "add") return sum(only.args.map(a => scale(a, number, numberIsFloat)));
    return withNumber(number, numberIsFloat, only);
  }
  const rest = makeNode("mul", factors);
  return plain ? rest : withNumber(number, numberIsFloat, rest);
}

function scale(e: Expr, by: number, byFloat: boolean): Expr {
  const [number, rest, isFloat] = splitNumber(e);
  if (rest === undefined) return numberExpr(number * by, isFloat || byFloat);
  if (rest.kind === "add") return sum(rest.args.map(a => scale(a, number * by, isFloat || byFloat)));
  return withNumber(number * by, isFloat || byFloat, rest);
}

/** base ** exponent. Integer exponents of products are distributed; a negative power of an integer stays unevaluated. */
export function pow(base: ExprLike, exponent: ExprLike): Expr {
  const b = toExpr(base);
  const n = toExpr(exponent);
  if (n.kind === "int") {
    if (n.value === 0) return ONE();
    if (n.value === 1) return b;
    if (b.kind === "int" && (n.value > 0 || b.value === 1 || b.value === -1)) return int(b.value ** n.value);
    if (b.kind === "mul") return product(b.args.map(a => pow(a, n)));
    if (b.kind === "pow") return pow(b.args[0], mul(b.args[1], n));
  }
  if (isNumber(b) && isNumber(n) && (b.kind === "float" || n.kind === "float")) return float(b.value ** n.value);
  if (b.kind === "int" && b.value === 1) return b;
  return makeNode("pow", [b, n]);
}

const SUM_BIT = kindBit("add");

/** True if sums hide below products or powers at the top of this expression. */
function hasSumInside(e: Expr): boolean {
  if ((e.cache.kinds & SUM_BIT) === 0) return false;
  if (e.kind === "add") return e.args.some(hasSumInside);
  if (e.kind === "mul") return e.args.some(a => a.kind === "add" || hasSumInside(a));
  return e.kind === "pow" && e.args[0].kind === "add" && e.args[1].kind === "int" && e.args[1].value > 0;
}

/** Multiplies out products and positive integer powers of sums at the top level (not inside function arguments). */
export function expandTop(e: Expr): Expr {
  if (!hasSumInside(e)) return e;
  switch (e.kind) {
    case "add":
      return sum(e.args.map(expandTop));
    case "mul": {
      let terms: Expr[] = [ONE()];
      for (const factor of e.args) {
        const f = expandTop(factor);
        const parts = f.kind === "add" ? f.args : [f];
        terms = terms.flatMap(t => parts.map(p => mul(t, p)));
      }
      return sum(terms.map(expandTop));
    }
    case "pow": {
      const n = e.args[1];
      if (n.kind !== "int" || n.value < 2) return e;
      const base = expandTop(e.args[0]);
      let result: Expr = base;
      for (let i = 1; i < n.value; i++) result = expandProduct(result, base);
      return result;
    }
    default:
      return e;
  }
}

function expandProduct(a: Expr, b: Expr): Expr {
  const left = a.kind === "add" ? a.args : [a];
  const right = b.kind === "add" ? b.args : [b];
  return sum(left.flatMap(x => right.map(y => mul(x, y))));
}

/** The terms of a sum, or the expression alone. */
export function addTerms(e: Expr): readonly Expr[] {
  return e.kind === "add" ? e.args : [e];
}

/** The factors of a product, or the expression alone. */
export function mulFactors(e: Expr): readonly Expr[] {
  return e.kind === "mul" ? e.args : [e];
}
