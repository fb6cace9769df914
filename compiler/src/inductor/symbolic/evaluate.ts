// In: an expression and values for its symbols. Out: its number (conditions: 0 or 1).
// Promises: Python's integer semantics; undefined where a symbol has no value or a division is by zero.

import { compareNumbers } from "./choice";
import { floorDivNumber, modNumber } from "./divide";
import type { Expr, SymExpr } from "./nodes";

/** Value of the expression. */
export function evaluateNumber(e: Expr, lookup: (s: SymExpr) => number | undefined): number | undefined {
  if (e.kind === "int" || e.kind === "float") return e.value;
  if (e.kind === "sym") return lookup(e);
  const v: number[] = [];
  for (const a of e.args) {
    const x = evaluateNumber(a, lookup);
    if (x === undefined) return undefined;
    v.push(x);
  }
  const [a, b, c] = v as [number, number, number];
  switch (e.kind) {
    case "add":
      return v.reduce((x, y) => x + y, 0);
    case "mul":
      return v.reduce((x, y) => x * y, 1) + 0; // never -0
    case "pow":
      return a ** b;
    case "floordiv":
      return b === 0 ? undefined : floorDivNumber(a, b);
    case "modular":
      return b === 0 || c === 0 ? undefined : modNumber(floorDivNumber(a, b), c);
    case "mod":
      return b === 0 ? undefined : modNumber(a, b);
    case "min":
      return Math.min(...v);
    case "max":
      return Math.max(...v);
    case "where":
      return a !== 0 ? b : c;
    case "abs":
      return Math.abs(a);
    case "identity":
      return a;
    case "truediv":
      return b === 0 ? undefined : a / b;
    case "relation":
      return compareNumbers(e.op, a, b) ? 1 : 0;
    case "and":
      return v.every(x => x !== 0) ? 1 : 0;
    case "or":
      return v.some(x => x !== 0) ? 1 : 0;
    case "not":
      return a === 0 ? 1 : 0;
    default: {
      const never: never = e;
      return never;
    }
  }
}
