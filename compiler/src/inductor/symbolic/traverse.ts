// In: an expression. Out: its symbols, parts, coefficients, or the expression with parts replaced.
// Promises: rebuilt nodes go through the evaluating constructors; results are cached on the node or memoised per call.

import { abs } from "./absolute";
import { addTerms, expandTop, mul, mulFactors, pow, product, sub, sum } from "./arith";
import { and, identity, max, min, not, or, relation, where } from "./choice";
import { floorDiv, mod, modularIndexing, trueDiv } from "./divide";
import { type Expr, type ExprKind, type ExprLike, int, kindBit, type SymExpr, toExpr } from "./nodes";

const NO_SYMBOLS: ReadonlySet<SymExpr> = new Set();

/** Symbols in the expression, in order of first occurrence. The set is shared: never change it. */
export function freeSymbols(e: Expr): ReadonlySet<SymExpr> {
  const known = e.cache.free;
  if (known !== undefined) return known;
  let result: ReadonlySet<SymExpr>;
  if (e.kind === "sym") result = new Set([e]);
  else if (e.args.length === 0) result = NO_SYMBOLS;
  else if (e.args.length === 1) result = freeSymbols(e.args[0] as Expr);
  else {
    const all = new Set<SymExpr>();
    for (const a of e.args) for (const s of freeSymbols(a)) all.add(s);
    result = all;
  }
  e.cache.free = result;
  return result;
}

/** Whether all symbols are loop or indirect variables: nothing that is learnt of sizes can change the expression. */
export function isSizeFree(e: Expr): boolean {
  let known = e.cache.sizeFree;
  if (known === undefined) {
    known = true;
    for (const s of freeSymbols(e)) known &&= s.symKind === "loop" || s.symKind === "indirect";
    e.cache.sizeFree = known;
  }
  return known;
}

/** The node with other arguments, evaluated anew. */
export function rebuild(e: Expr, args: readonly Expr[]): Expr {
  const [a, b, c] = args as readonly [Expr, Expr, Expr];
  switch (e.kind) {
    case "int":
    case "float":
    case "sym":
      return e;
    case "add":
      return sum(args);
    case "mul":
      return product(args);
    case "pow":
      return pow(a, b);
    case "floordiv":
      return floorDiv(a, b);
    case "modular":
      return modularIndexing(a, b, c);
    case "mod":
      return mod(a, b);
    case "min":
      return min(...args);
    case "max":
      return max(...args);
    case "where":
      return where(a, b, c);
    case "abs":
      return abs(a);
    case "identity":
      return identity(a);
    case "truediv":
      return trueDiv(a, b);
    case "relation":
      return relation(e.op, a, b);
    case "and":
      return and(...args);
    case "or":
      return or(...args);
    case "not":
      return not(a);
    default: {
      const never: never = e;
      return never;
    }
  }
}

/** Applies `f` to the arguments; the same node if none changes. */
export function mapArgs(e: Expr, f: (a: Expr) => Expr): Expr {
  if (e.args.length === 0) return e;
  let changed = false;
  const args: Expr[] = [];
  for (const a of e.args) {
    const n = f(a);
    changed ||= n !== a;
    args.push(n);
  }
  return changed ? rebuild(e, args) : e;
}

/** Replaces symbols, all at once. */
export function substitute(e: Expr, replacements: ReadonlyMap<SymExpr, ExprLike>): Expr {
  if (replacements.size === 0) return e;
  // most expressions are small, and many have none of the symbols: neither needs a memo
  let memo: Map<Expr, Expr> | undefined;
  const visit = (x: Expr): Expr => {
    if (x.kind === "sym") {
      const r = replacements.get(x);
      return r === undefined ? x : toExpr(r);
    }
    if (x.args.length === 0) return x;
    const done = memo?.get(x);
    if (done !== undefined) return done;
    let touched = false;
    for (const s of freeSymbols(x)) {
      if (replacements.has(s)) {
        touched = true;
        break;
      }
    }
    if (!touched) return x;
    const result = mapArgs(x, visit);
    if (x !== e) {
      memo ??= new Map();
      memo.set(x, result);
    }
    return result;
  };
  return visit(e);
}

/** Replaces every node bottom-up: `f` sees a node whose arguments are already rewritten. */
export function rewrite(e: Expr, f: (x: Expr) => Expr): Expr {
  const memo = new Map<Expr, Expr>();
  const visit = (x: Expr): Expr => {
    const done = memo.get(x);
    if (done !== undefined) return done;
    const result = f(mapArgs(x, visit));
    memo.set(x, result);
    return result;
  };
  return visit(e);
}

/** Replaces whole subexpressions, top-down (sympy's xreplace). */
export function replaceExpr(e: Expr, replacements: ReadonlyMap<Expr, Expr>): Expr {
  if (replacements.size === 0) return e;
  const memo = new Map<Expr, Expr>();
  const visit = (x: Expr): Expr => {
    const r = replacements.get(x);
    if (r !== undefined) return r;
    const done = memo.get(x);
    if (done !== undefined) return done;
    const result = mapArgs(x, visit);
    memo.set(x, result);
    return result;
  };
  return visit(e);
}

/** All nodes of one kind in the expression, in order of first occurrence. */
export function atoms<K extends ExprKind>(e: Expr, kind: K): ReadonlySet<Extract<Expr, { kind: K }>> {
  const found = new Set<Extract<Expr, { kind: K }>>();
  const seen = new Set<Expr>();
  const visit = (x: Expr): void => {
    if (seen.has(x)) return;
    seen.add(x);
    if (x.kind === kind) found.add(x as Extract<Expr, { kind: K }>);
    x.args.forEach(visit);
  };
  visit(e);
  return found;
}

/** Whether a node of this kind occurs anywhere. */
export function hasKind(e: Expr, kind: ExprKind): boolean {
  return (e.cache.kinds & kindBit(kind)) !== 0;
}

/** Multiplies out products and powers of sums everywhere, also inside function arguments (sympy's expand). */
export function expand(e: ExprLike): Expr {
  const x = toExpr(e);
  if (x.args.length === 0) return x;
  const known = x.cache.expanded;
  if (known !== undefined) return known;
  let result = expandTop(mapArgs(x, expand));
  // Evaluation of an expanded argument may expose new products.
  if (result !== x && result.args.length > 0) result = expand(result);
  x.cache.expanded = result;
  result.cache.expanded = result;
  return result;
}

/** Removes Identity wrappers (and multiplies out what they hid). */
export function dropIdentity(e: Expr): Expr {
  return hasKind(e, "identity") ? expand(rewrite(e, x => (x.kind === "identity" ? x.args[0] : x))) : e;
}

/** `index` as steps over `vars` and an offset without them; null where it is more than that */
export function stepsOver(
  index: Expr,
  vars: readonly SymExpr[],
): { readonly steps: readonly Expr[]; readonly offset: Expr } | null {
  const steps = vars.map(v => coefficientOf(index, v));
  const offset = vars.reduce<Expr>((rest, v, i) => sub(rest, mul(v, steps[i] as Expr)), index);
  const own = new Set<SymExpr>(vars);
  return [offset, ...steps].some(e => [...freeSymbols(e)].some(s => own.has(s))) ? null : { steps, offset };
}

/** Coefficient of the first power of `s` in the terms of `e` (not expanded): 6*x*y has 6*y at x. */
export function coefficientOf(e: Expr, s: SymExpr): Expr {
  const parts: Expr[] = [];
  for (const term of addTerms(e)) {
    if (term === s) parts.push(int(1));
    else if (term.kind === "mul" && term.args.includes(s)) parts.push(product(mulFactors(term).filter(f => f !== s)));
  }
  return sum(parts);
}
