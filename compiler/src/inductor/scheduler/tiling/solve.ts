// In: an index in one variable that jumps where it should step by one. Out: the factor by which to split the variable so
// that it steps. Promises: exact for what views make (FloorDiv, ModularIndexing of a multiple of the variable), null for
// everything else. After solve_for_tiling, solve_for_zero (torch/_inductor/tiling_utils.py).
import { coefficientOf, type Expr, freeSymbols, int, intValue, type SymExpr, substitute } from "../../symbolic";
import { addTerms, mulFactors } from "../../symbolic/arith";

/** a*v + b with integers a, b; null if the expression is something else */
function linear(e: Expr, v: SymExpr): { readonly a: number; readonly b: number } | null {
  const a = intValue(coefficientOf(e, v));
  const rest = intValue(substitute(e, new Map([[v, int(0)]])));
  if (a === undefined || rest === undefined) return null;
  const at2 = intValue(substitute(e, new Map([[v, int(2)]])));
  return at2 === 2 * a + rest ? { a, b: rest } : null;
}

/** v with a*v + b == value, if it is one number */
function solveLinear(e: Expr, v: SymExpr, value: number): number | null {
  const l = linear(e, v);
  return l === null || l.a === 0 ? null : (value - l.b) / l.a;
}

/** the value at which the factor of a product becomes 0 */
function solveForZero(e: Expr, v: SymExpr): number | null {
  if (intValue(e) !== undefined || e.kind === "floordiv" || !freeSymbols(e).has(v)) return null;
  if (e.kind !== "modular") return solveLinear(e, v, 0);
  const modulus = intValue(e.args[2]);
  return modulus === undefined ? null : solveLinear(e.args[0], v, modulus);
}

export function solveForTiling(e: Expr): number | null {
  const [v, ...more] = freeSymbols(e);
  if (v === undefined || more.length) return null;
  const divides = (x: Expr): boolean => x.kind === "modular" || x.kind === "floordiv" || x.args.some(divides);
  if (!divides(e)) return integral(solveLinear(e, v, 1));
  const required: number[] = [];
  const steps: Expr[] = [];
  for (const term of addTerms(e)) {
    if (term.kind !== "mul") {
      steps.push(term);
      continue;
    }
    const zeros = mulFactors(term).flatMap(f => solveForZero(f, v) ?? []);
    if (zeros.length === 0) return null;
    required.push(...zeros);
  }
  if (steps.length === 0) return null;
  // x // d and (x // d) % m count as x / d while solving; the result is tried on the real expression afterwards
  let a = 0;
  let b = 0;
  for (const term of steps) {
    const divisor = term.kind === "floordiv" || term.kind === "modular" ? intValue(term.args[1]) : 1;
    const l = linear(term.kind === "floordiv" || term.kind === "modular" ? term.args[0] : term, v);
    if (divisor === undefined || l === null) return null;
    a += l.a / divisor;
    b += l.b / divisor;
  }
  const factor = a === 0 ? null : integral((1 - b) / a);
  if (factor === null) return null;
  const at = new Map([[v, int(factor)]]);
  const value = steps.reduce((t, term) => t + (intValue(substitute(term, at)) ?? Number.NaN), 0);
  return value === 1 && required.every(r => r === factor) ? factor : null;
}

const integral = (n: number | null): number | null => (n !== null && Number.isInteger(n) ? n : null);
