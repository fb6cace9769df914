// In: an index expression. Out: Triton text, as Inductor's TritonPrinter writes it.
// Promises: sum and product arguments in stored (sympy's) order; no subtraction; division of a possibly negative operand
// goes through triton_helpers, since Triton's // and % round to zero.

import { isInteger, isNonnegative } from "./assumptions";
import { max, min } from "./choice";
import type { Expr } from "./nodes";
import { NON_ATOM, PREC, parenthesize, precedence } from "./precedence";
import { formatFloat, integerText, RELATION_TEXT } from "./print_log";

export interface TritonPrintOptions {
  /** Text of a symbol instead of its name (size arguments: s77 -> ks0). */
  readonly symbol?: (name: string) => string;
}

/** Triton text of an expression. */
export function printTriton(e: Expr, options: TritonPrintOptions = {}): string {
  const print = (x: Expr): string => printTriton(x, options);
  const list = (args: readonly Expr[], separator: string, level: number): string =>
    args.map(a => parenthesize(a, print(a), level)).join(separator);
  switch (e.kind) {
    case "int":
      return integerText(e.value);
    case "float":
      return e.value === 0 ? "0" : `tl.full([], ${formatFloat(e.value)}, tl.float64)`;
    case "sym":
      return options.symbol?.(e.name) ?? e.name;
    case "add":
      return list(e.args, " + ", precedence(e));
    case "mul":
      return list(e.args, "*", precedence(e));
    case "pow": {
      const [base, n] = e.args;
      if (n.kind === "int" && n.value > 0) return list(new Array<Expr>(n.value).fill(base), "*", PREC.Mul);
      const double = (x: Expr): string =>
        x.kind === "int" ? `tl.full([], ${x.value}.0, tl.float64)` : `(${print(x)}).to(tl.float64)`;
      return `libdevice.pow(${double(base)}, ${double(n)})`;
    }
    case "floordiv": {
      const [a, b] = e.args;
      if (isNonnegative(a) && isNonnegative(b)) return list(e.args, " // ", NON_ATOM);
      return `triton_helpers.div_floor_integer(${print(a)},  ${print(b)})`;
    }
    case "modular": {
      const [x, divisor, modulus] = e.args;
      let text = parenthesize(x, print(x), NON_ATOM);
      if (!(divisor.kind === "int" && divisor.value === 1)) {
        text = `(${text} // ${parenthesize(divisor, print(divisor), NON_ATOM)})`;
      }
      return `(${text} % ${parenthesize(modulus, print(modulus), NON_ATOM)})`;
    }
    case "mod": {
      const [a, b] = e.args;
      if (isNonnegative(a) && isNonnegative(b)) return list(e.args, " % ", NON_ATOM);
      return `triton_helpers.remainder_integer(${print(a)}, ${print(b)})`;
    }
    case "min":
    case "max": {
      const middle = e.args.length >> 1;
      const make = e.kind === "min" ? min : max;
      const a = print(make(...e.args.slice(0, middle)));
      const b = print(make(...e.args.slice(middle)));
      const [first, second] = e.kind === "min" ? ["<=", "<"] : [">=", ">"];
      return `((${a}) * ((${a}) ${first} (${b})) + (${b}) * ((${b}) ${second} (${a})))`;
    }
    case "abs":
      return `tl_math.abs(${print(e.args[0])})`;
    case "where":
      return `tl.where(${e.args.map(print).join(", ")})`;
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
