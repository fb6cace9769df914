// In: two expressions. Out: which one sympy puts first among the arguments of a sum or product (`Basic.compare`).
// Promises: a total order; 0 only for the same node. Triton text prints arguments in this order.

import { isInteger, isNonnegative } from "./assumptions";
import type { Expr, RelationOp, SymExpr } from "./nodes";

const RELATION_CLASS: Record<RelationOp, [rank: number, name: string]> = {
  eq: [60, "Equality"],
  ne: [61, "Unequality"],
  gt: [62, "StrictGreaterThan"],
  lt: [63, "StrictLessThan"],
  ge: [64, "GreaterThan"],
  le: [65, "LessThan"],
};
/** Classes that sympy's list of classes does not know compare by name, after all that it knows. */
const UNKNOWN = 99;

/** Rank among sympy's known classes, and the Python class name. */
export function classOf(e: Expr): readonly [rank: number, name: string] {
  switch (e.kind) {
    case "int":
      if (e.value === 0) return [0, "Zero"];
      if (e.value === 1) return [1, "One"];
      if (e.value === -1) return [5, "NegativeOne"];
      return [7, "Integer"];
    case "float":
      return [9, "Float"];
    case "sym":
      return [13, "Symbol"];
    case "pow":
      return e.args[1].kind === "int" ? [15, "Pow"] : [UNKNOWN, "PowByNatural"];
    case "mul":
      return [16, "Mul"];
    case "add":
      return [17, "Add"];
    case "abs":
      return [20, "Abs"];
    case "floordiv":
      return [UNKNOWN, "FloorDiv"];
    case "modular":
      return [UNKNOWN, "ModularIndexing"];
    case "mod":
      return [UNKNOWN, isNonnegative(e.args[0]) && isNonnegative(e.args[1]) ? "Mod" : "PythonMod"];
    case "min":
      return [UNKNOWN, "Min"];
    case "max":
      return [UNKNOWN, "Max"];
    case "where":
      return [UNKNOWN, "Where"];
    case "identity":
      return [UNKNOWN, "Identity"];
    case "truediv":
      return [UNKNOWN, isInteger(e.args[0]) && isInteger(e.args[1]) ? "IntTrueDiv" : "FloatTrueDiv"];
    case "relation":
      return RELATION_CLASS[e.op];
    case "and":
      return [UNKNOWN, "And"];
    case "or":
      return [UNKNOWN, "Or"];
    case "not":
      return [UNKNOWN, "Not"];
    default: {
      const never: never = e;
      return never;
    }
  }
}

/** How many facts sympy derives from a symbol's assumptions; symbols with fewer facts come first whatever their name. */
function factCount(s: SymExpr): number {
  if (s.symKind === "float") return s.positive ? 20 : 9;
  return s.positive ? 26 : s.nonnegative ? 19 : 15;
}

/** Order by code points, as Python compares str. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts in place: most lists have one to three terms, for which Array.sort's copy costs more than the sorting. */
export function sortSympy(xs: Expr[]): void {
  if (xs.length > 8) {
    xs.sort(compareSympy);
    return;
  }
  for (let i = 1; i < xs.length; i++) {
    const x = xs[i] as Expr;
    let at = i;
    for (; at > 0 && compareSympy(xs[at - 1] as Expr, x) > 0; at--) xs[at] = xs[at - 1] as Expr;
    xs[at] = x;
  }
}

/** sympy's `Basic.compare`: class, then number of arguments, then arguments from left to right. */
export function compareSympy(a: Expr, b: Expr): number {
  if (a === b) return 0;
  if (a.kind === "sym" && b.kind === "sym") {
    return factCount(a) - factCount(b) || compareText(a.name, b.name) || a.id - b.id;
  }
  const [ra, na] = classOf(a);
  const [rb, nb] = classOf(b);
  if (ra !== rb) return ra - rb;
  const byName = compareText(na, nb);
  if (byName !== 0) return byName;
  if ((a.kind === "int" && b.kind === "int") || (a.kind === "float" && b.kind === "float")) return a.value - b.value;
  if (a.args.length !== b.args.length) return a.args.length - b.args.length;
  if (a.args.length === 0) return a.id - b.id;
  let result = 0;
  for (let i = 0; i < a.args.length && result === 0; i++) result = compareSympy(a.args[i] as Expr, b.args[i] as Expr);
  return result;
}
