// In: operands of min, max, where, comparisons and boolean connectives. Out: the evaluated expression.
// Promises: decided where the symbols' assumptions decide it, else a node; true is the empty `and`, false the empty `or`.

import { sub } from "./arith";
import { isNegative, isNonnegative, isNonpositive, isNonzero, isPositive } from "./assumptions";
import {
  type Expr,
  type ExprLike,
  float,
  int,
  isNumber,
  makeNode,
  makeRelation,
  type RelationOp,
  toExpr,
} from "./nodes";
import { compareSympy } from "./order";
import { compareSortKey } from "./sort_key";

export const TRUE = (): Expr => makeNode("and", []);
export const FALSE = (): Expr => makeNode("or", []);
export const isTrue = (e: Expr): boolean => e.kind === "and" && e.args.length === 0;
export const isFalse = (e: Expr): boolean => e.kind === "or" && e.args.length === 0;
export const boolExpr = (b: boolean): Expr => (b ? TRUE() : FALSE());

function extremum(kind: "min" | "max", xs: readonly ExprLike[]): Expr {
  const isMax = kind === "max";
  let number: number | undefined;
  let numberIsFloat = false;
  const others = new Set<Expr>();
  const visit = (e: Expr): void => {
    if (e.kind === kind) e.args.forEach(visit);
    else if (isNumber(e)) {
      if (number === undefined || (isMax ? e.value > number : e.value < number)) {
        number = e.value;
        numberIsFloat = e.kind === "float";
      }
    } else others.add(e);
  };
  for (const x of xs) visit(toExpr(x));
  // Absorption: max(a, min(a, b)) = a.
  const dual = isMax ? "min" : "max";
  for (const e of [...others]) {
    if (e.kind === dual && e.args.some(a => others.has(a))) others.delete(e);
  }
  const constant = number === undefined ? undefined : numberIsFloat ? float(number) : int(number);
  if (constant !== undefined && others.size === 1) {
    const other = [...others][0] as Expr;
    // Only 0 and 1 are compared with a symbolic value, as torch does.
    const above = (number === 0 && isNonnegative(other)) || (number === 1 && isPositive(other)) ? true : undefined;
    const below = number === 0 && isNonpositive(other) ? true : undefined;
    if (above) return isMax ? other : constant;
    if (below) return isMax ? constant : other;
  }
  const args = [...others].sort(compareSortKey);
  if (constant !== undefined) args.unshift(constant);
  if (args.length === 0) throw new RangeError(`${kind} of nothing`);
  return args.length === 1 ? (args[0] as Expr) : makeNode(kind, args);
}

/** Smallest of the arguments. */
export function min(...xs: ExprLike[]): Expr {
  return extremum("min", xs);
}

/** Largest of the arguments. */
export function max(...xs: ExprLike[]): Expr {
  return extremum("max", xs);
}

/** `a` where the condition holds, else `b`. */
export function where(c: Expr, a: ExprLike, b: ExprLike): Expr {
  const p = toExpr(a);
  const q = toExpr(b);
  if (isTrue(c) || p === q) return p;
  if (isFalse(c)) return q;
  return makeNode("where", [c, p, q]);
}

/** Hides an expression from simplification. Identity of a number is the number. */
export function identity(e: ExprLike): Expr {
  const x = toExpr(e);
  if (isNumber(x) || x.kind === "identity") return x;
  return makeNode("identity", [x]);
}

function decide(op: RelationOp, a: Expr, b: Expr): boolean | undefined {
  if (isNumber(a) && isNumber(b)) return compareNumbers(op, a.value, b.value);
  if (a === b) return op === "eq" || op === "le" || op === "ge";
  if (a.kind === "relation" || b.kind === "relation") return undefined;
  const d = sub(a, b);
  switch (op) {
    case "eq":
      return isNonzero(d) ? false : isNumber(d) ? d.value === 0 : undefined;
    case "ne":
      return isNonzero(d) ? true : isNumber(d) ? d.value !== 0 : undefined;
    case "lt":
      return isNegative(d) ? true : isNonnegative(d) ? false : undefined;
    case "le":
      return isNonpositive(d) ? true : isPositive(d) ? false : undefined;
    case "gt":
      return isPositive(d) ? true : isNonpositive(d) ? false : undefined;
    case "ge":
      return isNonnegative(d) ? true : isNegative(d) ? false : undefined;
    default: {
      const never: never = op;
      return never;
    }
  }
}

export function compareNumbers(op: RelationOp, a: number, b: number): boolean {
  switch (op) {
    case "eq":
      return a === b;
    case "ne":
      return a !== b;
    case "lt":
      return a < b;
    case "le":
      return a <= b;
    case "gt":
      return a > b;
    case "ge":
      return a >= b;
    default: {
      const never: never = op;
      return never;
    }
  }
}

/** Comparison; TRUE() or FALSE() where assumptions decide it. */
export function relation(op: RelationOp, a: ExprLike, b: ExprLike): Expr {
  const p = toExpr(a);
  const q = toExpr(b);
  const known = decide(op, p, q);
  return known === undefined ? makeRelation(op, p, q) : boolExpr(known);
}

export const NEGATED: Record<RelationOp, RelationOp> = { eq: "ne", ne: "eq", lt: "ge", le: "gt", gt: "le", ge: "lt" };

function connective(kind: "and" | "or", xs: readonly Expr[]): Expr {
  const neutral = kind === "and" ? isTrue : isFalse;
  const absorbing = kind === "and" ? isFalse : isTrue;
  const seen = new Set<Expr>();
  for (const x of xs) {
    for (const part of x.kind === kind ? x.args : [x]) {
      if (absorbing(part)) return part;
      if (!neutral(part)) seen.add(part);
    }
  }
  const args = [...seen].sort(compareSympy);
  return args.length === 1 ? (args[0] as Expr) : makeNode(kind, args);
}

export function and(...xs: Expr[]): Expr {
  return connective("and", xs);
}

export function or(...xs: Expr[]): Expr {
  return connective("or", xs);
}

export function not(e: Expr): Expr {
  if (isTrue(e)) return FALSE();
  if (isFalse(e)) return TRUE();
  if (e.kind === "not") return e.args[0];
  if (e.kind === "relation") return relation(NEGATED[e.op], e.args[0], e.args[1]);
  return makeNode("not", [e]);
}
