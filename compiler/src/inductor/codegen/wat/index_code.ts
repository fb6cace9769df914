// Index expressions as i32 arithmetic. In: an Expr whose symbols have locals or example values. Out: WebAssembly text.
// Divisions are unsigned where the ranges prove both sides non-negative, Python's floor division otherwise. No division
// traps: a divisor that may be zero goes through a helper.
import type { Expr, SymExpr } from "../../symbolic/expr";
import { bounds } from "../../symbolic/ranges";
import type { HelperName } from "./helpers/index";
import { UnsupportedOnCpu } from "./wat_types";

export interface IndexContext {
  /** text of a symbol's value, as i32 */
  symbol(s: SymExpr): string;
  /** sizes of the loop variables, for the sign of a division's operands */
  readonly ranges: ReadonlyMap<SymExpr, Expr>;
  use(helper: HelperName): string;
}

export function indexCode(e: Expr, ctx: IndexContext): string {
  const code = (x: Expr): string => indexCode(x, ctx);
  const fold = (op: string, xs: readonly Expr[]): string => xs.map(code).reduce((a, b) => `(i32.${op} ${a} ${b})`);
  switch (e.kind) {
    case "int":
      return `(i32.const ${e.value})`;
    case "sym":
      return ctx.symbol(e);
    case "add":
      return fold("add", e.args);
    case "mul":
      return fold("mul", e.args);
    case "floordiv":
      return nonNegative(e.args[0], ctx) && positive(e.args[1])
        ? `(i32.div_u ${code(e.args[0])} ${code(e.args[1])})`
        : `(call ${ctx.use("floor_div_i32")} ${code(e.args[0])} ${code(e.args[1])})`;
    case "modular": {
      const [x, divisor, modulus] = e.args;
      const whole = nonNegative(x, ctx);
      const safe = whole && positive(modulus);
      const quotient =
        divisor.kind === "int" && divisor.value === 1
          ? code(x)
          : whole && positive(divisor)
            ? `(i32.div_u ${code(x)} ${code(divisor)})`
            : `(call ${ctx.use("floor_div_i32")} ${code(x)} ${code(divisor)})`;
      return safe
        ? `(i32.rem_u ${quotient} ${code(modulus)})`
        : `(call ${ctx.use("floor_mod_i32")} ${quotient} ${code(modulus)})`;
    }
    case "mod":
      return nonNegative(e.args[0], ctx) && positive(e.args[1])
        ? `(i32.rem_u ${code(e.args[0])} ${code(e.args[1])})`
        : `(call ${ctx.use("floor_mod_i32")} ${code(e.args[0])} ${code(e.args[1])})`;
    case "abs":
      return `(call ${ctx.use("max_i32")} ${code(e.args[0])} (i32.sub (i32.const 0) ${code(e.args[0])}))`;
    case "identity":
      return code(e.args[0]);
    case "min":
    case "max":
      return e.args.map(code).reduce((a, b) => `(call ${ctx.use(e.kind === "min" ? "min_i32" : "max_i32")} ${a} ${b})`);
    case "pow": {
      const [base, exponent] = e.args;
      if (exponent.kind !== "int" || exponent.value < 0) throw new UnsupportedOnCpu("a power of a symbolic size");
      return exponent.value === 0
        ? "(i32.const 1)"
        : Array.from({ length: exponent.value }, () => code(base)).reduce((a, b) => `(i32.mul ${a} ${b})`);
    }
    case "where":
      return `(select ${code(e.args[1])} ${code(e.args[2])} ${code(e.args[0])})`;
    case "relation":
      return `(i32.${{ eq: "eq", ne: "ne", lt: "lt_s", le: "le_s", gt: "gt_s", ge: "ge_s" }[e.op]} ${code(e.args[0])} ${code(e.args[1])})`;
    case "and":
      return fold("and", e.args);
    case "or":
      return fold("or", e.args);
    case "not":
      return `(i32.eqz ${code(e.args[0])})`;
    case "float":
    case "truediv":
      throw new UnsupportedOnCpu("a fractional index");
    default: {
      const never: never = e;
      throw new Error(`no code for ${JSON.stringify(never)}`);
    }
  }
}

/** whether a size's value is no integer: a quotient of sizes, as a mean's or a variance's correction has it */
export function isFractional(e: Expr): boolean {
  if (e.kind === "float" || e.kind === "truediv") return true;
  return (e.kind === "add" || e.kind === "mul") && e.args.some(isFractional);
}

/** A fractional value as f64 arithmetic; what is whole in it is computed as an index. */
export function fractionalCode(e: Expr, ctx: IndexContext): string {
  const fold = (op: string, xs: readonly Expr[]): string =>
    xs.map(x => fractionalCode(x, ctx)).reduce((a, b) => `(f64.${op} ${a} ${b})`);
  if (e.kind === "truediv") return fold("div", e.args);
  if (e.kind === "float") return `(f64.const ${e.value})`;
  if ((e.kind === "add" || e.kind === "mul") && isFractional(e)) return fold(e.kind, e.args);
  return `(f64.convert_i32_s ${indexCode(e, ctx)})`;
}

function positive(e: Expr): boolean {
  return e.kind === "int" && e.value > 0;
}

function nonNegative(e: Expr, ctx: IndexContext): boolean {
  return bounds(e, ctx.ranges).lower >= 0;
}
