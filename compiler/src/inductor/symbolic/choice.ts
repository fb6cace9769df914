// In: operands of min, max, where, comparisons and boolean connectives. Out: the evaluated expression.
// Promises: decided where the symbols' assumptions decide it, else a node; true is the empty `and`, false the empty `or`.

import { sub } from "./arith";
import { isNegative, isNonnegative, isNonpositive, isNonzero, isPositive } from "./assumptions";
import { internTable } from "./intern";
import {
  type Expr,
  type ExprLike,
  type FloatExpr,
  type IntExpr,
  isNumber,
  makeNode,
  makeRelation,
  type RelationOp,
  toExpr,
} from "./nodes";
import { inOrder } from "./sort_key";

export const TRUE = (): Expr => constant("and");
export const FALSE = (): Expr => constant("or");
export const isTrue = (e: Expr): boolean => e.kind === "and" && e.args.length === 0;
export const isFalse = (e: Expr): boolean => e.kind === "or" && e.args.length === 0;
export const boolExpr = (b: boolean): Expr => (b ? TRUE() : FALSE());

/** the empty connective, which most comparisons come out as */
function constant(kind: "and" | "or"): Expr {
  const table = internTable();
  table.empty[kind] ??= makeNode(kind, []);
  return table.empty[kind];
}

type Extremum = "min" | "max";

/** The node over these arguments without further evaluation; the argument itself if it is the only one. */
function rawExtremum(kind: Extremum, xs: Iterable<Expr>): Expr {
  const args = inOrder(xs);
  return args.length === 1 ? (args[0] as Expr) : makeNode(kind, args);
}

/** `e` given that `known` stands beside it in a `kind`: max(a, min(a, b)) keeps a, max(a, min(b, max(a, c))) drops a. */
function absorb(e: Expr, known: Expr, kind: Extremum): Expr {
  if (e.kind !== "min" && e.kind !== "max") return e;
  if (!(e.args as readonly Expr[]).includes(known))
    return rawExtremum(
      e.kind,
      e.args.map(a => absorb(a, known, kind)),
    );
  if (e.kind !== kind) return known;
  return rawExtremum(
    kind,
    e.args.filter(a => a !== known).map(a => absorb(a, known, kind)),
  );
}

/** max(min(x, y), min(x, z)) is min(x, max(y, z)). */
function factorCommon(args: readonly Expr[], kind: Extremum): readonly Expr[] {
  const dual: Extremum = kind === "max" ? "min" : "max";
  const inner = args.filter(a => a.kind === dual);
  if (inner.length === 0) return args;
  const common = (inner[0] as Expr).args.filter(x => inner.every(a => (a.args as readonly Expr[]).includes(x)));
  if (common.length === 0) return args;
  const rests = inner.map(a => a.args.filter(x => !common.includes(x)));
  const factors = [...common];
  if (rests.every(r => r.length > 0))
    factors.push(
      rawExtremum(
        kind,
        rests.map(r => rawExtremum(dual, r)),
      ),
    );
  return [...args.filter(a => a.kind !== dual), rawExtremum(dual, factors)];
}

function extremum(kind: Extremum, xs: readonly ExprLike[]): Expr {
  const isMax = kind === "max";
  // what strides are made of: max(size, 1)
  if (xs.length === 2) {
    const [a, b] = [toExpr(xs[0] as ExprLike), toExpr(xs[1] as ExprLike)];
    if (a.kind === "int" && b.kind === "int") return (isMax ? b.value > a.value : b.value < a.value) ? b : a;
  }
  let number: IntExpr | FloatExpr | undefined;
  const others = new Set<Expr>();
  const visit = (e: Expr): void => {
    if (e.kind === kind) e.args.forEach(visit);
    else if (!isNumber(e)) others.add(e);
    else if (number === undefined || (isMax ? e.value > number.value : e.value < number.value)) number = e;
  };
  for (const x of xs) visit(toExpr(x));
  const bound = number as IntExpr | FloatExpr | undefined;
  // max(5, min(3, x)) is 5.
  const dual = isMax ? "min" : "max";
  const hidden = (e: Expr): boolean => {
    const first = e.args[0];
    if (bound === undefined || e.kind !== dual || first === undefined || !isNumber(first)) return false;
    return isMax ? first.value < bound.value : first.value > bound.value;
  };
  let args = inOrder(others).filter(e => !hidden(e));
  if (bound !== undefined) args = args.map(e => absorb(e, bound, kind)).filter(e => e !== bound);
  for (let i = 0; i < args.length; i++) {
    const known = args[i] as Expr;
    args = args.map((e, j) => (j > i ? absorb(e, known, kind) : e));
  }
  args = [...new Set(args.length > 1 ? factorCommon(args, kind) : args)];
  if (bound !== undefined && args.length === 1) {
    const other = args[0] as Expr;
    // Only 0 and 1 are compared with a symbolic value, as torch does.
    const above = (bound.value === 0 && isNonnegative(other)) || (bound.value === 1 && isPositive(other));
    if (above) return isMax ? other : bound;
  }
  if (bound !== undefined) args.push(bound);
  if (args.length === 0) throw new RangeError(`${kind} of nothing`);
  return rawExtremum(kind, args);
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

/** Hides an expression from simplification; its sign is hidden too. Nested and constant ones stay, as in torch. */
export function identity(e: ExprLike): Expr {
  return makeNode("identity", [toExpr(e)]);
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

const NEGATED: Record<RelationOp, RelationOp> = { eq: "ne", ne: "eq", lt: "ge", le: "gt", gt: "le", ge: "lt" };

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
  const args = inOrder(seen);
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
