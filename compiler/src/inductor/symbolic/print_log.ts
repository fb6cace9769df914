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
      return integerText(e.value);
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
      if (exponent.kind !== "int") return call(classOf(e)[1], e.args);
      if (exponent.value === -1) return `1/${parenthesize(base, inner(base), PREC.Pow)}`;
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
    case "abs":
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
      return e.args.length === 0 ? "True" : connect(e.args, " & ", PREC.BitwiseAnd);
    case "or":
      return e.args.length === 0 ? "False" : connect(e.args, " | ", PREC.BitwiseOr);
    case "not":
      return `~${parenthesize(e.args[0], inner(e.args[0]), PREC.Not)}`;
    default: {
      const never: never = e;
      return never;
    }
  }
}

function connect(args: readonly Expr[], separator: string, level: number): string {
  return args.map(a => parenthesize(a, inner(a), level)).join(separator);
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

/** Digits of an integer. A double holds int64's largest value as 2**63; no size is that large, so that is what is meant. */
export function integerText(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  return value === 2 ** 63 ? "9223372036854775807" : BigInt(value).toString();
}

/** sympy's text of a double: 15 significant digits, fixed notation for exponents from -4 to 14. */
export function printFloat(value: number, strip: boolean): string {
  if (value === 0) return "0.0";
  let [text, suffix] = digits(value, 15) as [string, string];
  if (strip) {
    text = text.replace(/0+$/, "");
    if (text.endsWith(".")) text += "0";
  }
  return text + suffix;
}

/** A double with `count` significant digits as mpmath writes it: [digits with a point, exponent]. */
export function digits(value: number, count: number): readonly [text: string, suffix: string] {
  if (Number.isNaN(value)) return ["nan", ""];
  if (!Number.isFinite(value)) return [value > 0 ? "oo" : "-oo", ""];
  const sign = value < 0 ? "-" : "";
  const [mantissa, exponentText] = Math.abs(value)
    .toExponential(count - 1)
    .split("e") as [string, string];
  const all = mantissa.replace(".", "");
  const exponent = Number(exponentText);
  if (exponent <= -5 || exponent >= count) {
    return [`${sign}${all[0]}.${all.slice(1)}`, exponent < 0 ? `e${exponent}` : `e+${exponent}`];
  }
  if (exponent < 0) return [`${sign}0.${"0".repeat(-exponent - 1)}${all}`, ""];
  return [`${sign}${all.slice(0, exponent + 1)}.${all.slice(exponent + 1)}`, ""];
}

/** A double through Python's format(): fixed down to 1e-6, a capital E beyond. FX prints and Triton text use it. */
export function formatFloat(value: number): string {
  if (value === 0) return "0.0";
  const [text, suffix] = digits(value, 15);
  const exponent = suffix === "" ? 0 : Number(suffix.slice(1));
  if (suffix === "") return text.endsWith(".") ? text.slice(0, -1) : text;
  if (exponent > 0 || exponent < -6) return text + suffix.toUpperCase();
  const sign = text.startsWith("-") ? "-" : "";
  return `${sign}0.${"0".repeat(-exponent - 1)}${text.replace(/[-.]/g, "")}`;
}

/** What FX prints within `Sym(...)`: as printLog, but a lone float in Python's format. */
export function printSym(e: Expr): string {
  return e.kind === "float" ? formatFloat(e.value) : printLog(e);
}
