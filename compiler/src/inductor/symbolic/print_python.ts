// In: a size or index expression. Out: Python text, as the wrapper code writes it (Inductor's pexpr).
// Promises: valid Python; arguments in stored (sympy's) order.

import { isInteger } from "./assumptions";
import type { Expr, SymExpr } from "./nodes";
import { NON_ATOM, PREC, parenthesize, precedence } from "./precedence";
import { digits, integerText, RELATION_TEXT } from "./print_log";

export interface PythonPrintOptions {
  /** Text of a symbol instead of its name (guards print sources: s77 -> L['x'].size()[0]). */
  readonly symbol?: (s: SymExpr) => string | undefined;
}

/** Python text of an expression. */
export function printPython(e: Expr, options: PythonPrintOptions = {}): string {
  const print = (x: Expr): string => printPython(x, options);
  const list = (args: readonly Expr[], separator: string, level: number): string =>
    args.map(a => parenthesize(a, print(a), level)).join(separator);
  switch (e.kind) {
    case "int":
      return integerText(e.value);
    case "float":
      return pythonFloat(e.value);
    case "sym":
      return options.symbol?.(e) ?? e.name;
    case "add":
      return list(e.args, " + ", precedence(e));
    case "mul":
      return list(e.args, "*", precedence(e));
    case "pow": {
      const [base, n] = e.args;
      if (n.kind === "int" && n.value > 0) return list(new Array<Expr>(n.value).fill(base), "*", PREC.Mul);
      return list(e.args, " ** ", PREC.Pow);
    }
    case "floordiv":
      return list(e.args, " // ", NON_ATOM);
    case "modular": {
      const [x, divisor, modulus] = e.args;
      let text = parenthesize(x, print(x), NON_ATOM);
      if (!(divisor.kind === "int" && divisor.value === 1)) {
        text = `(${text} // ${parenthesize(divisor, print(divisor), NON_ATOM)})`;
      }
      return `(${text} % ${parenthesize(modulus, print(modulus), NON_ATOM)})`;
    }
    case "mod":
      return list(e.args, " % ", NON_ATOM);
    case "min":
    case "max":
      return `${e.kind}(${e.args.map(print).join(", ")})`;
    case "abs":
      return `abs(${print(e.args[0])})`;
    case "where": {
      const [c, a, b] = e.args;
      return `(${print(a)} if ${print(c)} else ${print(b)})`;
    }
    case "identity":
      return print(e.args[0]);
    case "truediv": {
      const text = list(e.args, " / ", NON_ATOM);
      return e.args.every(isInteger) ? text : `(${text})`;
    }
    case "relation":
      return list(e.args, ` ${RELATION_TEXT[e.op]} `, PREC.Relational);
    case "and":
      return e.args.length === 0 ? "True" : list(e.args, " and ", PREC.And);
    case "or":
      return e.args.length === 0 ? "False" : list(e.args, " or ", PREC.Or);
    case "not":
      return `not (${print(e.args[0])})`;
    default: {
      const never: never = e;
      return never;
    }
  }
}

/** 17 significant digits, so that the double survives. */
function pythonFloat(value: number): string {
  if (value === 0) return "0.0";
  if (Number.isNaN(value)) return "math.nan";
  if (!Number.isFinite(value)) return value > 0 ? "math.inf" : "-math.inf";
  return digits(value, 17).join("");
}
