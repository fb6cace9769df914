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
  return applied(e, v);
}

/** A number that a free symbol decides; undefined as `evaluateNumber` has it. */
export type NumberFunction = (free: number) => number | undefined;

/**
 * Value of the expression for any number in place of those symbols that `lookup` calls "free". What no free symbol is in is
 * worked out once, so that many numbers can be tried.
 */
export function numberFunction(e: Expr, lookup: (s: SymExpr) => number | "free" | undefined): NumberFunction {
  const made = new Map<Expr, number | undefined | NumberFunction>();
  const make = (x: Expr): number | undefined | NumberFunction => {
    if (made.has(x)) return made.get(x);
    const m = parts(x);
    made.set(x, m);
    return m;
  };
  const parts = (x: Expr): number | undefined | NumberFunction => {
    if (x.kind === "int" || x.kind === "float") return x.value;
    if (x.kind === "sym") {
      const known = lookup(x);
      return known === "free" ? free => free : known;
    }
    const args = x.args.map(make);
    if (args.includes(undefined)) return undefined;
    const values = args.map(a => (typeof a === "number" ? a : 0));
    const moving = args.flatMap((f, i) => (typeof f === "function" ? [{ f, i }] : []));
    if (moving.length === 0) return applied(x, values);
    return free => {
      for (const { f, i } of moving) {
        const value = f(free);
        if (value === undefined) return undefined;
        values[i] = value;
      }
      return applied(x, values);
    };
  };
  const whole = make(e);
  return typeof whole === "function" ? whole : () => whole;
}

/** what an operation comes to on these numbers */
function applied(e: Exclude<Expr, { kind: "int" | "float" | "sym" }>, v: readonly number[]): number | undefined {
  const [a, b, c] = v as readonly [number, number, number];
  switch (e.kind) {
    case "add": {
      let sum = 0;
      for (const x of v) sum += x;
      return sum;
    }
    case "mul": {
      let product = 1;
      for (const x of v) product *= x;
      return product + 0; // never -0
    }
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
