// In: an expression. Out: how tightly its text binds, in sympy's numbers. Shared by the three printers.

import type { Expr } from "./nodes";

export const PREC = {
  Or: 20,
  And: 30,
  Relational: 35,
  BitwiseOr: 36,
  BitwiseAnd: 38,
  Add: 40,
  Mul: 50,
  Pow: 60,
  Func: 70,
  Not: 100,
  Atom: 1000,
} as const;

/** Below everything that is not an atom: what torch passes to parenthesise all but atoms. */
export const NON_ATOM = PREC.Atom - 0.5;

const bindsLess = (e: Expr): boolean =>
  e.kind === "floordiv" ||
  e.kind === "modular" ||
  e.kind === "mod" ||
  e.kind === "where" ||
  e.kind === "truediv" ||
  e.kind === "identity";

export function precedence(e: Expr): number {
  switch (e.kind) {
    case "int":
    case "float":
      return e.value < 0 ? PREC.Add : PREC.Atom;
    case "sym":
      return PREC.Atom;
    case "add":
      return PREC.Add;
    case "mul": {
      // sympy looks at a product's sign only where no factor is a function that binds less than a product
      if (e.args.some(bindsLess)) return PREC.Mul;
      const first = e.args[0];
      const negative = (first?.kind === "int" || first?.kind === "float") && first.value < 0;
      return negative ? PREC.Add : PREC.Mul;
    }
    case "pow":
      return e.args[1].kind === "int" ? PREC.Pow : PREC.Mul;
    case "floordiv":
    case "modular":
    case "mod":
    case "where":
    case "truediv":
      return 35;
    case "relation":
      return e.op === "eq" || e.op === "ne" ? PREC.Mul : PREC.Relational;
    case "identity":
      return 10;
    case "abs":
      return PREC.Func;
    case "min":
    case "max":
      return PREC.Atom;
    case "and":
      return e.args.length === 0 ? PREC.Atom : PREC.And;
    case "or":
      return e.args.length === 0 ? PREC.Atom : PREC.Or;
    case "not":
      return PREC.Not;
    default: {
      const never: never = e;
      return never;
    }
  }
}

/** `text` of `e`, in parentheses unless it binds more tightly than `level`. */
export function parenthesize(e: Expr, text: string, level: number): string {
  return precedence(e) <= level ? `(${text})` : text;
}
