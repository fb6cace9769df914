// In: an expression. Out: the text that sympy's `str` gives, as TORCH_LOGS, FX prints and dependency dumps show it.
// Promises: term and factor order are sympy's print order (sort_key.ts); pure and cached per node.

import { neg, splitNumber } from "./arith";
import { internTable } from "./intern";
import type { Expr, RelationOp } from "./nodes";
import { classOf } from "./order";
import { NON_ATOM, PREC, parenthesize, precedence } from "./precedence";
import { compareSortKey, orderedFactors, orderedTerms } from "./sort_key";

export const RELATION_TEXT: Record<RelationOp, string> = { eq: "==", ne: "!=", lt: "<", le: "<=", gt: ">", ge: ">=" };

/** sympy's `str(e)`. */
export function printLog(e: Expr): string {
  if (e.kind === "float") return printFloat(e.value, false);
  const memo = internTable().memo<Expr, string>("printLog");
  let text = memo.get(e);
  if (text === undefined) {
    text = print(e);
    memo.set(e, text);
  }
  return text;
}

/** Inside another expression: floats lose their trailing zeros. */
function inner(e: Expr): string {
  return e.kind === "float" ? printFloat(e.value, true) : printLog(e);
}

function call(name: string, args: readonly Expr[]): string {
  return `${name}(${args.map(inner).join(", ")})`;
}

function print(e: Expr): string {
  switch (e.kind) {
    case "int":
      return String(e.value);
    case "float":
      return printFloat(e.value, false);
    case "sym":
      return e.name;
    case "add":
      return printAdd(e);
    case "mul":
      return printMul(e);
    case "pow": {
      const [base, exponent] = e.args;
      if (exponent.kind === "int" && exponent.value === -1) return `1/${parenthesize(base, inner(base), PREC.Pow)}`;
      return `${parenthesize(base, inner(base), PREC.Pow)}**${parenthesize(exponent, inner(exponent), PREC.Pow)}`;
    }
    case "floordiv": {
      const [a, b] = e.args;
      return `(${parenthesize(a, inner(a), NON_ATOM)}//${parenthesize(b, inner(b), NON_ATOM)})`;
    }
    case "identity":
      return `(${inner(e.args[0])})`;
    case "min":
    case "max":
      return call(classOf(e)[1], [...e.args].sort(compareSortKey));
    case "modular":
    case "mod":
    case "where":
    case "truediv":
      return call(classOf(e)[1], e.args);
    case "relation": {
      const [a, b] = e.args;
      if (e.op === "eq" || e.op === "ne") return call(e.op === "eq" ? "Eq" : "Ne", e.args);
      const level = PREC.Relational;
      return `${parenthesize(a, inner(a), level)} ${RELATION_TEXT[e.op]} ${parenthesize(b, inner(b), level)}`;
    }
    case "and":
      return e.args.length === 0 ? "True" : connect(e.args, " & ", PREC.And);
    case "or":
      return e.args.length === 0 ? "False" : connect(e.args, " | ", PREC.Or);
    case "not":
      return `~${parenthesize(e.args[0], inner(e.args[0]), PREC.Not)}`;
    default: {
      const never: never = e;
      return never;
    }
  }
}

function connect(args: readonly Expr[], separator: string, level: number): string {
  const sorted = [...args].sort(compareSortKey);
  return sorted.map(a => parenthesize(a, inner(a), level)).join(separator);
}

function printAdd(e: Expr): string {
  let text = "";
  for (const term of orderedTerms(e)) {
    let t = inner(term);
    const minus = t.startsWith("-") && term.kind !== "add";
    if (minus) t = t.slice(1);
    if (precedence(term) < PREC.Add || term.kind === "add") t = `(${t})`;
    if (text === "") text = minus ? `-${t}` : t;
    else text += ` ${minus ? "-" : "+"} ${t}`;
  }
  return text;
}

function printMul(e: Expr): string {
  const level = precedence(e);
  const [number] = splitNumber(e);
  const positive = number < 0 ? neg(e) : e;
  const sign = number < 0 ? "-" : "";
  const above: string[] = [];
  const below: string[] = [];
  for (const factor of orderedFactors(positive)) {
    if (factor.kind === "pow" && factor.args[1].kind === "int" && factor.args[1].value < 0) {
      const inverse = factor.args[1].value === -1 ? factor.args[0] : undefined;
      below.push(
        inverse !== undefined
          ? parenthesize(inverse, inner(inverse), level)
          : `${parenthesize(factor.args[0], inner(factor.args[0]), PREC.Pow)}**${-factor.args[1].value}`,
      );
    } else above.push(parenthesize(factor, inner(factor), level));
  }
  const numerator = sign + (above.length === 0 ? "1" : above.join("*"));
  if (below.length === 0) return numerator;
  return below.length === 1 ? `${numerator}/${below[0]}` : `${numerator}/(${below.join("*")})`;
}

/** sympy's text of a double: 15 significant digits, fixed notation for exponents from -5 to 14. */
export function printFloat(value: number, strip: boolean): string {
  if (Number.isNaN(value)) return "nan";
  if (value === Number.POSITIVE_INFINITY) return "oo";
  if (value === Number.NEGATIVE_INFINITY) return "-oo";
  if (value === 0) return strip ? "0.0" : "0";
  const sign = value < 0 ? "-" : "";
  const [mantissa, exponentText] = Math.abs(value).toExponential(14).split("e") as [string, string];
  const digits = mantissa.replace(".", "");
  const exponent = Number(exponentText);
  let text: string;
  let suffix = "";
  if (exponent >= -5 && exponent < 15) {
    if (exponent < 0) text = `0.${"0".repeat(-exponent - 1)}${digits}`;
    else text = `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
  } else {
    text = `${digits[0]}.${digits.slice(1)}`;
    suffix = exponent < 0 ? `e${exponent}` : `e+${exponent}`;
  }
  if (strip) {
    text = text.replace(/0+$/, "");
    if (text.endsWith(".")) text += "0";
  }
  return sign + text + suffix;
}
