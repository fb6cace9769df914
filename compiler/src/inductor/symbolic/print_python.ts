// In: a size or index expression. Out: Python text, as the wrapper code writes it (Inductor's pexpr).
// Promises: valid Python; arguments in stored (sympy's) order.

import type { Expr } from "./nodes";
import { NON_ATOM, PREC, parenthesize, precedence } from "./precedence";
import { RELATION_TEXT } from "./print_log";
import { pythonFloat } from "./print_triton";

/** Python text of an expression. */
export function printPython(e: Expr): string {
  const list = (args: readonly Expr[], separator: string, level: number): string =>
    args.map(a => parenthesize(a, printPython(a), level)).join(separator);
  switch (e.kind) {
    case "int":
      return String(e.value);
    case "float":
      return pythonFloat(e.value);
    case "sym":
      return e.name;
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
      let text = parenthesize(x, printPython(x), NON_ATOM);
      if (!(divisor.kind === "int" && divisor.value === 1)) {
        text = `(${text} // ${parenthesize(divisor, printPython(divisor), NON_ATOM)})`;
      }
      return `(${text} % ${parenthesize(modulus, printPython(modulus), NON_ATOM)})`;
    }
    case "mod":
      return list(e.args, " % ", NON_ATOM);
    case "min":
    case "max":
      return `${e.kind}(${e.args.map(printPython).join(", ")})`;
    case "where": {
      const [c, a, b] = e.args;
      return `(${printPython(a)} if ${printPython(c)} else ${printPython(b)})`;
    }
    case "identity":
      return printPython(e.args[0]);
    case "truediv":
      return list(e.args, " / ", NON_ATOM);
    case "relation":
      return list(e.args, ` ${RELATION_TEXT[e.op]} `, PREC.Relational);
    case "and":
      return e.args.length === 0 ? "True" : list(e.args, " and ", PREC.And);
    case "or":
      return e.args.length === 0 ? "False" : list(e.args, " or ", PREC.Or);
    case "not":
      return `not (${printPython(e.args[0])})`;
    default: {
      const never: never = e;
      return never;
    }
  }
}
