// In: an index that shuffles the digits of one variable (sums of c * (v // d) % m). Out: the index that undoes it.
// Promises: result(index(v)) == v for every v in range, or null. After torch/_inductor/invert_expr_analysis.py.
import { add, type Expr, floorDiv, intValue, modularIndexing, mul, type SymExpr } from "../symbolic";
import { addTerms, splitNumber } from "../symbolic/arith";

interface Digit {
  readonly coefficient: number;
  /** how many values it has; null: as many as the variable leaves */
  readonly range: number | null;
  /** what one step of it is worth in the variable */
  readonly multiplier: number;
}

export function inverseFormula(e: Expr, v: SymExpr): Expr | null {
  if (e.kind !== "add") return null;
  const digits: Digit[] = [];
  for (const term of addTerms(e)) {
    const [coefficient, rest, isFloat] = splitNumber(term);
    const digit = rest === undefined || isFloat || coefficient <= 0 ? null : digitOf(rest, v);
    if (!digit) return null;
    digits.push({ coefficient, ...digit });
  }
  const byCoefficient = [...digits].sort((a, b) => b.coefficient - a.coefficient);
  if (!isMixedRadix(byCoefficient, d => d.coefficient)) return null;
  if (
    !isMixedRadix(
      [...digits].sort((a, b) => b.multiplier - a.multiplier),
      d => d.multiplier,
    )
  )
    return null;
  let result: Expr | null = null;
  let rest: Expr = v;
  byCoefficient.forEach((d, i) => {
    const part = mul(floorDiv(rest, d.coefficient), d.multiplier);
    result = result === null ? part : add(result, part);
    if (i < byCoefficient.length - 1) rest = modularIndexing(rest, 1, d.coefficient);
  });
  return result;
}

function digitOf(e: Expr, v: SymExpr): Omit<Digit, "coefficient"> | null {
  if (e === v) return { range: null, multiplier: 1 };
  if (e.kind === "modular" && e.args[0] === v) {
    const [, divisor, modulus] = e.args.map(intValue);
    return divisor !== undefined && modulus !== undefined ? { range: modulus, multiplier: divisor } : null;
  }
  if (e.kind !== "floordiv") return null;
  const [base, d] = e.args;
  const divisor = intValue(d);
  if (divisor === undefined) return null;
  if (base === v) return { range: null, multiplier: divisor };
  if (base.kind !== "modular" || base.args[0] !== v || intValue(base.args[1]) !== 1) return null;
  const modulus = intValue(base.args[2]);
  return modulus !== undefined && modulus % divisor === 0 ? { range: modulus / divisor, multiplier: divisor } : null;
}

/** From the least: each weight is the product of the ranges below it, and only the greatest may be unbounded. */
function isMixedRadix(digits: readonly Digit[], weight: (d: Digit) => number): boolean {
  let expected = 1;
  for (let i = digits.length - 1; i >= 0; i--) {
    const d = digits[i] as Digit;
    if (weight(d) !== expected || (d.range === null && i > 0)) return false;
    expected *= d.range ?? 1;
  }
  return true;
}
