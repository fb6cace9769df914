// In: operands of integer division and remainder. Out: FloorDiv, ModularIndexing, Python's % and true division, evaluated.
// Promises: the same automatic simplifications as torch.utils._sympy.functions (FloorDiv, ModularIndexing, PythonMod,
// CeilDiv), no more: what an index prints as depends on them. Division rounds to minus infinity, as in Python.

import { add, addTerms, expandTop, mul, mulFactors, neg, pow, product, splitNumber, sub, sum } from "./arith";
import { isInteger, isNegative, isPositive } from "./assumptions";
import { type Expr, type ExprLike, float, int, isNumber, makeNode, toExpr, ZERO } from "./nodes";

export function gcdNumber(a: number, b: number): number {
  a = Math.abs(a);
  b = Math.abs(b);
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** Python's a // b. */
export function floorDivNumber(a: number, b: number): number {
  const q = Math.floor(a / b);
  // a / b is rounded for large a; the remainder tells whether the quotient is the exact one.
  const r = a - q * b;
  if (r !== 0 && r < 0 !== b < 0) return q - 1;
  if (Math.abs(r) >= Math.abs(b)) return q + 1;
  return q === 0 ? 0 : q;
}

/** Python's a % b. */
export function modNumber(a: number, b: number): number {
  const r = a % b;
  if (r === 0) return 0;
  return r < 0 !== b < 0 ? r + b : r;
}

/** Number of a term as an integer, 0 if it is a float. */
function integerPart(term: Expr): number {
  const [n, , isFloat] = splitNumber(term);
  return isFloat ? 0 : n;
}

function integerContent(e: Expr): number {
  let g = 0;
  for (const t of addTerms(e)) g = gcdNumber(g, integerPart(t));
  return g;
}

/** Exponent of each factor of one term; negative or symbolic exponents make the power a factor of its own. */
function powers(term: Expr): Map<Expr, number> {
  const result = new Map<Expr, number>();
  for (const f of mulFactors(term)) {
    if (isNumber(f)) continue;
    if (f.kind === "pow" && f.args[1].kind === "int" && f.args[1].value > 0) result.set(f.args[0], f.args[1].value);
    else result.set(f, 1);
  }
  return result;
}

/** term / divisor if the quotient has integer coefficients and no new denominators. divisor is a single term. */
function divideTerm(term: Expr, divisor: Expr): Expr | undefined {
  if (divisor.kind === "int") {
    const [n, rest, isFloat] = splitNumber(term);
    if (isFloat || n % divisor.value !== 0) return undefined;
    const q = n / divisor.value;
    return rest === undefined ? int(q) : mul(q, rest);
  }
  const [dn, , dFloat] = splitNumber(divisor);
  const [tn, , tFloat] = splitNumber(term);
  if (dFloat || tFloat || tn % dn !== 0) return undefined;
  if (tn === 0) return ZERO();
  const have = powers(term);
  for (const [base, exponent] of powers(divisor)) {
    const left = (have.get(base) ?? 0) - exponent;
    if (left < 0) return undefined;
    have.set(base, left);
  }
  return product([int(tn / dn), ...[...have].map(([base, exponent]) => pow(base, exponent))]);
}

/** Exact quotient e / divisor as an expression, or undefined if it isn't one syntactically. */
export function divideExact(e: ExprLike, divisor: ExprLike): Expr | undefined {
  const a = toExpr(e);
  const b = toExpr(divisor);
  if (b.kind === "int" && b.value === 0) return undefined;
  if (b.kind === "int" && b.value === 1) return a;
  if (a === b) return int(1);
  if (b.kind !== "add") {
    const whole = a.kind === "add" ? undefined : divideTerm(a, b);
    if (whole !== undefined) return whole;
    const parts: Expr[] = [];
    for (const t of addTerms(expandTop(a))) {
      const q = divideTerm(t, b);
      if (q === undefined) return undefined;
      parts.push(q);
    }
    return sum(parts);
  }
  return dividePolynomial(a, b);
}

/** Long division by a sum: the first term of the divisor leads; gives up when a step doesn't divide. */
function dividePolynomial(a: Expr, b: Expr): Expr | undefined {
  if (a.kind === "mul") {
    const factors = [...a.args];
    const at = factors.indexOf(b);
    if (at >= 0) {
      factors.splice(at, 1);
      return product(factors);
    }
  }
  const divisorTerms = addTerms(expandTop(b));
  // Lead with the term of highest degree, so that plain numbers never lead.
  const lead = divisorTerms.reduce((best, t) => (degree(t) > degree(best) ? t : best));
  let rest = expandTop(a);
  let quotient: Expr = ZERO();
  for (let step = 0; step < 64; step++) {
    if (rest.kind === "int" && rest.value === 0) return quotient;
    let q: Expr | undefined;
    for (const t of [...addTerms(rest)].sort((x, y) => degree(y) - degree(x))) {
      q = divideTerm(t, lead);
      if (q !== undefined) break;
    }
    if (q === undefined) return undefined;
    quotient = add(quotient, q);
    rest = expandTop(sub(rest, expandTop(mul(q, b))));
  }
  return undefined;
}

function degree(term: Expr): number {
  let d = 0;
  for (const n of powers(term).values()) d += n;
  return d;
}

/** Greatest common divisor of two polynomials: integer content, common factors, and either one dividing the other. */
export function gcdExpr(p: ExprLike, q: ExprLike): Expr {
  const a = expandTop(toExpr(p));
  const b = expandTop(toExpr(q));
  if (a.kind === "int" && a.value === 0) return b;
  if (b.kind === "int" && b.value === 0) return a;
  const content = gcdNumber(integerContent(a), integerContent(b)) || 1;
  if (a.kind === "int" || b.kind === "int") return int(content);
  if (b.kind === "add" && divideExact(a, b) !== undefined) return b;
  if (a.kind === "add" && divideExact(b, a) !== undefined) return a;
  let common: Map<Expr, number> | undefined;
  for (const t of [...addTerms(a), ...addTerms(b)]) {
    const mine = powers(t);
    if (common === undefined) {
      common = mine;
      continue;
    }
    for (const [base, n] of common) {
      const shared: number = Math.min(n, mine.get(base) ?? 0);
      if (shared === 0) common.delete(base);
      else common.set(base, shared);
    }
    if (common.size === 0) break;
  }
  return product([int(content), ...[...(common ?? [])].map(([base, n]) => pow(base, n))]);
}

/** The common divisor that FloorDiv cancels: integer content times the divisor's factors that every term has. */
function floorDivGcd(base: Expr, divisor: Expr): Expr {
  const content = gcdNumber(integerContent(base), integerContent(divisor)) || 1;
  const splits = addTerms(base).map(t => mulFactors(t));
  const factors: Expr[] = [int(content)];
  for (const x of mulFactors(divisor)) {
    if (!isNumber(x) && splits.every(s => s.includes(x))) factors.push(x);
  }
  return product(factors);
}

const isOne = (e: Expr): boolean => e.kind === "int" && e.value === 1;
const isZero = (e: Expr): boolean => e.kind === "int" && e.value === 0;

/**
 * a // b. Exact parts of a sum are taken out for an integer divisor, common divisors cancelled, nested divisions joined.
 * @throws RangeError for a literal zero divisor (callers check; a bug otherwise).
 */
export function floorDiv(a: ExprLike, b: ExprLike): Expr {
  const base = toExpr(a);
  const divisor = toExpr(b);
  if (divisor.kind === "int" && divisor.value === 0) throw new RangeError("division by zero");
  if (base.kind === "int" && base.value === 0) return base;
  if (isInteger(base) && divisor.kind === "int") {
    if (divisor.value === 1) return base;
    if (divisor.value === -1) return neg(base);
  }
  if (base === divisor) return int(1);
  if (isNumber(base) && isNumber(divisor)) return int(floorDivNumber(base.value, divisor.value));
  if (base.kind === "floordiv") return floorDiv(base.args[0], mul(base.args[1], divisor));
  if (divisor.kind === "int") {
    const left: Expr[] = [];
    const quotients: Expr[] = [];
    for (const term of addTerms(base)) {
      const q = isInteger(term) ? divideTerm(term, divisor) : undefined;
      if (q === undefined) left.push(term);
      else quotients.push(q);
    }
    if (quotients.length > 0) return sum([floorDiv(sum(left), divisor), ...quotients]);
  }
  let gcd = floorDivGcd(base, divisor);
  if (isOne(gcd) && divisor.kind === "add") gcd = gcdExpr(base, divisor);
  if (!isOne(gcd)) {
    const p = divideExact(base, gcd);
    const q = divideExact(divisor, gcd);
    if (p !== undefined && q !== undefined) return floorDiv(p, q);
  }
  return makeNode("floordiv", [base, divisor]);
}

/** Division rounding up: (a + b - 1) // b, or the exact quotient where b divides a. */
export function ceilDiv(a: ExprLike, b: ExprLike): Expr {
  const base = toExpr(a);
  const divisor = toExpr(b);
  if (gcdExpr(base, divisor) === divisor) return floorDiv(base, divisor);
  return floorDiv(add(base, sub(divisor, 1)), divisor);
}

/** ModularIndexing(x, divisor, modulus) = (x // divisor) % modulus. */
export function modularIndexing(x: ExprLike, d: ExprLike, m: ExprLike): Expr {
  const base = toExpr(x);
  const divisor = toExpr(d);
  const modulus = toExpr(m);
  if ((base.kind === "int" && base.value === 0) || isOne(modulus)) return ZERO();
  // an index into nothing: sizes of 0 have no element that it could reach
  if (isZero(divisor) || isZero(modulus)) return ZERO();
  if (base.kind === "int" && divisor.kind === "int" && modulus.kind === "int") {
    return int(modNumber(floorDivNumber(base.value, divisor.value), modulus.value));
  }
  if (!isOne(divisor)) {
    const gcd = gcdExpr(base, divisor);
    if (!isOne(gcd)) {
      const p = divideExact(base, gcd);
      const q = divideExact(divisor, gcd);
      if (p !== undefined && q !== undefined) return modularIndexing(p, q, modulus);
    }
  }
  if (base.kind === "add") {
    const period = mul(modulus, divisor);
    const kept: Expr[] = [];
    let allPositive = true;
    for (const term of base.args) {
      if (gcdExpr(term, period) === period) continue;
      // torch leaves sums with a negative term alone, since Triton's // rounds to zero.
      if (integerPart(term) < 0) {
        allPositive = false;
        break;
      }
      kept.push(term);
    }
    if (allPositive && kept.length !== base.args.length) return modularIndexing(sum(kept), divisor, modulus);
  }
  if (base.kind === "floordiv") return modularIndexing(base.args[0], mul(base.args[1], divisor), modulus);
  return makeNode("modular", [base, divisor, modulus]);
}

/** Python's a % b: takes the sign of b. @throws RangeError for a literal zero. */
export function mod(a: ExprLike, b: ExprLike): Expr {
  const p = toExpr(a);
  const q = toExpr(b);
  if (isNumber(q) && q.value === 0) throw new RangeError("modulo by zero");
  if ((p.kind === "int" && p.value === 0) || p === q || p === neg(q)) return ZERO();
  if (isNumber(p) && isNumber(q)) {
    const r = modNumber(p.value, q.value);
    return p.kind === "float" || q.kind === "float" ? float(r) : int(r);
  }
  if (isOne(q) && isInteger(p)) return ZERO();
  if (isInteger(p) && divideExact(p, q) !== undefined) return ZERO();
  if (q.kind === "int" && q.value === 2 && p.kind === "add" && isInteger(p)) {
    // Odd: an odd number plus even terms.
    const [first, ...rest] = p.args;
    if (first?.kind === "int" && first.value % 2 !== 0 && rest.every(t => integerPart(t) % 2 === 0)) return int(1);
  }
  if (isPositive(p) && isPositive(q) && isNegative(sub(p, q))) return p;
  return makeNode("mod", [p, q]);
}

/** a / b as a real number; only literals are folded. */
export function trueDiv(a: ExprLike, b: ExprLike): Expr {
  const p = toExpr(a);
  const q = toExpr(b);
  if (isNumber(p) && isNumber(q) && q.value !== 0) return float(p.value / q.value);
  if (isOne(q) && p.kind === "float") return p;
  return makeNode("truediv", [p, q]);
}
