// In: index expressions and the loops they stand in. Out: simpler expressions, merged loops, strides.
// Promises: the rules of torch/_inductor/sizevars.py, applied in its order, since their results are printed. Values are
// kept for every assignment within the ranges.

import { add, addTerms, mul, mulFactors, product, sub, sum } from "./arith";
import { relation } from "./choice";
import { floorDiv, gcdExpr, modularIndexing } from "./divide";
import { Facts } from "./facts";
import { internTable } from "./intern";
import {
  type Expr,
  type ExprLike,
  int,
  intValue,
  isInt,
  makeNode,
  type RelationExpr,
  type SymExpr,
  sym,
  toExpr,
  ZERO,
} from "./nodes";
import type { VarRanges } from "./ranges";
import { freeSymbols, hasKind, isSizeFree, rewrite, substitute } from "./traverse";

/** What the rules need to know of sizes; SizeVars is one. */
export interface SizeKnowledge {
  /** Multiplied out, equalities applied. */
  simplify(e: ExprLike): Expr;
  /** Value under the example inputs. */
  hint(e: ExprLike): number | undefined;
  evaluateStatic(condition: Expr, ranges?: VarRanges, extra?: Facts): boolean | undefined;
  /** Changes whenever any of the above may answer differently. */
  readonly version: number;
}

interface Caches {
  version: number;
  readonly ranged: Map<string, Map<Expr, Expr>>;
  readonly facts: Map<string, Facts>;
  readonly strides: Map<string, readonly Expr[]>;
  readonly loops: Map<string, SimplifiedLoops>;
}

const caches = new WeakMap<SizeKnowledge, Caches>();

function newCaches(version: number): Caches {
  return { version, ranged: new Map(), facts: new Map(), strides: new Map(), loops: new Map() };
}

/** Results that rest on what is known of sizes: dropped when that changes. */
function cachesOf(sizevars: SizeKnowledge): Caches {
  let c = caches.get(sizevars);
  if (c === undefined || c.version !== sizevars.version) {
    c = newCaches(sizevars.version);
    caches.set(sizevars, c);
  }
  return c;
}

/** Results over loop variables and constants only: they hold for every graph of the session. */
function sharedCaches(): Caches {
  const memo = internTable().memo<string, Caches>("simplify");
  let c = memo.get("caches");
  if (c === undefined) {
    c = newCaches(0);
    memo.set("caches", c);
  }
  return c;
}

interface RangeKey {
  readonly text: string;
  readonly sizeFree: boolean;
}

const rangeKeys = new WeakMap<VarRanges, RangeKey>();

function keyOfRanges(ranges: VarRanges): RangeKey {
  let key = rangeKeys.get(ranges);
  if (key === undefined) {
    let text = "";
    let sizeFree = true;
    for (const [v, size] of ranges) {
      text += `${v.id}:${size.id},`;
      sizeFree &&= isInt(size);
    }
    key = { text, sizeFree };
    rangeKeys.set(ranges, key);
  }
  return key;
}

/** Removes FloorDiv and ModularIndexing that the ranges make trivial, and joins split dimensions. */
export function simplifyWithRanges(e: ExprLike, ranges: VarRanges, sizevars: SizeKnowledge): Expr {
  const x = toExpr(e);
  if (x.args.length === 0 && x.kind !== "sym") return x;
  const { text: key, sizeFree } = keyOfRanges(ranges);
  const c = sizeFree && isSizeFree(x) ? sharedCaches() : cachesOf(sizevars);
  let cache = c.ranged.get(key);
  if (cache === undefined) {
    cache = new Map();
    c.ranged.set(key, cache);
  }
  let result = cache.get(x);
  if (result === undefined) {
    result = simplifyRanged(x, ranges, sizevars, key, c);
    cache.set(x, result);
    cache.set(result, result);
  }
  return result;
}

function factsOfRanges(ranges: VarRanges, key: string, c: Caches): Facts {
  let facts = c.facts.get(key);
  if (facts === undefined) {
    facts = new Facts();
    for (const [v, size] of ranges) {
      if (isInt(size)) continue;
      const r = relation("lt", v, size);
      if (r.kind === "relation") facts.add(r as RelationExpr);
    }
    c.facts.set(key, facts);
  }
  return facts;
}

function simplifyRanged(e: Expr, ranges: VarRanges, sizevars: SizeKnowledge, key: string, c: Caches): Expr {
  let x = e;
  // Each round only removes divisions or joins terms, so it ends; the bound guards against a rule that does not.
  for (let round = 0; round < 64; round++) {
    const start = joinDimensions(sizevars.simplify(x));
    x = start;
    if (!hasKind(x, "modular") && !hasKind(x, "floordiv")) return x;
    const facts = factsOfRanges(ranges, key, c);
    const known = (condition: Expr): boolean => sizevars.evaluateStatic(condition, ranges, facts) === true;
    if (hasKind(x, "modular")) {
      x = rewrite(x, n => {
        if (n.kind !== "modular") return n;
        const [base0, divisor, modulus] = n.args;
        const base = removeZeroTerms(base0, divisor, ranges, known);
        if (known(relation("ge", base, 0)) && known(relation("lt", base, mul(modulus, divisor)))) {
          return floorDiv(base, divisor);
        }
        return base === base0 ? n : modularIndexing(base, divisor, modulus);
      });
    }
    if (hasKind(x, "floordiv")) {
      x = rewrite(x, n => {
        if (n.kind !== "floordiv") return n;
        const base = removeZeroTerms(n.args[0], n.args[1], ranges, known);
        return base === n.args[0] ? n : floorDiv(base, n.args[1]);
      });
    }
    if (x === start) return x;
  }
  return x;
}

/** A variable below the divisor adds nothing to the quotient when the rest is a multiple of the divisor. */
function removeZeroTerms(base: Expr, divisor: Expr, ranges: VarRanges, known: (c: Expr) => boolean): Expr {
  if (!known(relation("ge", base, 0))) return base;
  let result = base;
  for (const v of freeSymbols(base)) {
    if (!ranges.has(v) || !addTerms(result).includes(v)) continue;
    const rest = sub(result, v);
    if (freeSymbols(rest).has(v)) continue;
    if (gcdExpr(rest, divisor) === divisor && known(relation("lt", v, divisor))) result = rest;
  }
  return result;
}

interface Scaled {
  readonly scale: Expr;
  readonly node: Expr;
}

/** term = scale * node with node a ModularIndexing or FloorDiv (the last such factor). */
function scaledNode(term: Expr, kind: "modular" | "floordiv"): Scaled | undefined {
  if (term.kind === kind) return { scale: int(1), node: term };
  if (term.kind !== "mul") return undefined;
  const factors = mulFactors(term);
  const node = factors.find(f => f.kind === kind);
  return node === undefined ? undefined : { scale: product(factors.filter(f => f !== node)), node };
}

/**
 * ModularIndexing(x, d, a) + a*ModularIndexing(x, d*a, b) is ModularIndexing(x, d, a*b), and with the second a FloorDiv
 * the sum is FloorDiv(x, d). Such pairs come from views.
 */
export function joinDimensions(e: Expr): Expr {
  if (e.kind !== "add" || !hasKind(e, "modular")) return e;
  for (const kind of ["modular", "floordiv"] as const) {
    for (const term1 of e.args) {
      const first = scaledNode(term1, "modular");
      if (first?.node.kind !== "modular") continue;
      const [base, divisor, mod1] = first.node.args;
      for (const term2 of e.args) {
        if (term2 === term1) continue;
        const second = scaledNode(term2, kind);
        if (second === undefined || second.scale !== mul(first.scale, mod1)) continue;
        // as it is written once common factors are gone: 2x // 32 stands as x // 16
        const [rest, all] =
          second.node.kind === "modular"
            ? [
                modularIndexing(base, mul(divisor, mod1), second.node.args[2]),
                modularIndexing(base, divisor, mul(mod1, second.node.args[2])),
              ]
            : [floorDiv(base, mul(divisor, mod1)), floorDiv(base, divisor)];
        if (second.node !== rest) continue;
        const others = e.args.filter(t => t !== term1 && t !== term2);
        return joinDimensions(sum([...others, mul(first.scale, all)]));
      }
    }
  }
  return e;
}

/** ModularIndexing(ModularIndexing(x, 1, a), 1, b) with b dividing a and a nonnegative symbol x is ModularIndexing(x, 1, b). */
export function combineModularIndexingPairs(e: Expr, sizevars: SizeKnowledge): Expr {
  if (e.kind !== "modular" || intValue(e.args[1]) !== 1) return e;
  const inner = e.args[0];
  const outerMod = intValue(e.args[2]);
  if (inner.kind !== "modular" || intValue(inner.args[1]) !== 1 || outerMod === undefined || outerMod <= 0) return e;
  const innerMod = intValue(inner.args[2]);
  const x = inner.args[0];
  if (innerMod === undefined || innerMod <= 0 || innerMod % outerMod !== 0 || x.kind !== "sym") return e;
  if (sizevars.evaluateStatic(relation("ge", x, 0)) !== true) return e;
  return makeNode("modular", [x, int(1), int(outerMod)]);
}

/**
 * A sum of terms c*v and one v // n, all over nonnegative symbols, as numerator // n: [numerator, n]. Lets the loops of
 * the numerator merge. Undefined where it does not apply.
 */
export function expandFloorDiv(
  e: Expr,
  sizevars: SizeKnowledge,
): readonly [numerator: Expr, denominator: Expr] | undefined {
  if (e.kind !== "add") return undefined;
  let denominator: Expr | undefined;
  let dividend: Expr | undefined;
  const products: Expr[] = [];
  const nonnegative = (v: Expr): boolean => sizevars.evaluateStatic(relation("ge", v, 0)) === true;
  for (const term of e.args) {
    if (term.kind === "mul") {
      const [c, v] = term.args;
      if (term.args.length !== 2 || c?.kind !== "int" || v?.kind !== "sym" || !nonnegative(v)) return undefined;
      products.push(term);
    } else if (term.kind === "floordiv") {
      const [v, n] = term.args;
      if (v.kind !== "sym" || n.kind !== "int" || denominator !== undefined || !nonnegative(v)) return undefined;
      denominator = n;
      dividend = v;
    } else return undefined;
  }
  if (denominator === undefined || dividend === undefined) return undefined;
  const n = denominator;
  return [sum([dividend, ...products.map(p => mul(p, n))]), n];
}

function idsOf(list: readonly Expr[]): string {
  let key = "";
  for (const e of list) key += `${e.id},`;
  return key;
}

/**
 * Stride of each variable: the index at 1 minus the index at 0, every other variable 0. Valid for strided indices only
 * (a wrap-around has none). `supportVars` are all variables of the index, if `vars` are only some.
 */
export function strideVars(
  index: Expr,
  vars: readonly Expr[],
  sizevars: SizeKnowledge,
  supportVars: readonly Expr[] = vars,
): readonly Expr[] {
  const memo = (isSizeFree(index) ? sharedCaches() : cachesOf(sizevars)).strides;
  const key = `${index.id};${idsOf(vars)};${supportVars === vars ? "" : idsOf(supportVars)}`;
  let result = memo.get(key);
  if (result === undefined) {
    result = computeStrides(index, vars, sizevars, supportVars);
    memo.set(key, result);
  }
  return result;
}

function computeStrides(
  index: Expr,
  vars: readonly Expr[],
  sizevars: SizeKnowledge,
  supportVars: readonly Expr[],
): readonly Expr[] {
  const x = sizevars.simplify(index);
  const zeros = new Map<SymExpr, Expr>();
  for (const v of supportVars) if (v.kind === "sym") zeros.set(v, ZERO());
  const free = freeSymbols(x);
  return vars.map(v => {
    if (v.kind !== "sym" || !free.has(v)) return ZERO();
    const others = new Map(zeros);
    others.delete(v);
    const along = substitute(x, others);
    return sub(substitute(along, new Map([[v, int(1)]])), substitute(along, new Map([[v, ZERO()]])));
  });
}

/** The index with every variable 0. */
export function offsetVar(index: Expr, vars: readonly Expr[], sizevars: SizeKnowledge): Expr {
  const zeros = new Map<SymExpr, Expr>();
  for (const v of vars) if (v.kind === "sym") zeros.set(v, ZERO());
  return substitute(sizevars.simplify(index), zeros);
}

/**
 * Strides as numbers under the example inputs; indirect symbols count as 0, and so does a stride without hint or one inside
 * an Identity, which torch can't work out.
 */
export function strideHints(
  index: Expr,
  vars: readonly Expr[],
  sizevars: SizeKnowledge,
  supportVars: readonly Expr[] = vars,
): number[] {
  let indirect: Map<SymExpr, Expr> | undefined;
  for (const s of freeSymbols(index)) {
    if (s.symKind !== "indirect") continue;
    indirect ??= new Map();
    indirect.set(s, ZERO());
  }
  const direct = indirect === undefined ? index : substitute(index, indirect);
  return strideVars(direct, vars, sizevars, supportVars).map(s =>
    hasKind(s, "identity") ? 0 : (sizevars.hint(s) ?? 0),
  );
}

/** Positions of the variables from the smallest absolute stride to the largest, those of stride 0 last. */
export function strideOrder(index: Expr, vars: readonly Expr[], sizevars: SizeKnowledge): number[] {
  const strides = strideHints(index, vars, sizevars).map(Math.abs);
  const zero = (i: number): number => (strides[i] === 0 ? 1 : 0);
  return strides.map((_, i) => i).sort((a, b) => zero(a) - zero(b) || (strides[a] ?? 0) - (strides[b] ?? 0) || a - b);
}

export interface SimplifiedLoops {
  /** Sizes of the loops that remain, outermost first. */
  readonly sizes: readonly Expr[];
  /** Indices over the remaining loops -> one expression for each old loop. */
  reindex(newVars: readonly ExprLike[]): Expr[];
  /** Keeps the elements at the positions of the loops that remain. */
  prune<T>(list: readonly T[]): T[];
}

/**
 * Drops loops of size 1 and merges neighbours that every formula steps through as one. The formulas decide alone: pass
 * the contiguous index as one more (`preventReordering`) to keep merges from reordering loops.
 */
export function simplifyLoops(
  vars: readonly SymExpr[],
  sizes: readonly Expr[],
  indexFormulas: readonly Expr[],
  sizevars: SizeKnowledge,
): SimplifiedLoops {
  const sizeFree = sizes.every(isInt) && indexFormulas.every(isSizeFree);
  const memo = (sizeFree ? sharedCaches() : cachesOf(sizevars)).loops;
  const key = `${idsOf(vars)};${idsOf(sizes)};${idsOf(indexFormulas)}`;
  let result = memo.get(key);
  if (result === undefined) {
    result = computeLoops(vars, sizes, indexFormulas, sizevars);
    memo.set(key, result);
  }
  return result;
}

const isCondition = (e: Expr): boolean =>
  e.kind === "relation" || e.kind === "and" || e.kind === "or" || e.kind === "not";

function computeLoops(
  vars: readonly SymExpr[],
  sizes: readonly Expr[],
  formulas: readonly Expr[],
  sizevars: SizeKnowledge,
): SimplifiedLoops {
  const left: (Expr | undefined)[] = sizes.map(s => {
    const size = sizevars.simplify(s);
    return intValue(size) === 1 ? undefined : size;
  });
  const strides = formulas.map(f => (isCondition(f) ? vars.map(() => ZERO() as Expr) : strideVars(f, vars, sizevars)));
  const tester1 = sym("_merge_tester1");
  const tester2 = sym("_merge_tester2");

  const canMerge = (a: number, b: number, sizeA: Expr): boolean => {
    const va = vars[a] as SymExpr;
    const vb = vars[b] as SymExpr;
    for (let k = 0; k < formulas.length; k++) {
      const inner = strides[k]?.[a] as Expr;
      const outer = strides[k]?.[b] as Expr;
      if (sizevars.simplify(mul(inner, sizeA)) !== sizevars.simplify(outer)) return false;
      // The strides agree; now that moving one step of b equals sizeA steps of a, whatever else is in the formula.
      const formula = formulas[k] as Expr;
      const one = substitute(
        formula,
        new Map<SymExpr, Expr>([
          [va, mul(tester1, sizeA)],
          [vb, tester2],
        ]),
      );
      const two = substitute(
        formula,
        new Map<SymExpr, Expr>([
          [va, ZERO()],
          [vb, add(tester1, tester2)],
        ]),
      );
      if (one !== two && sizevars.simplify(one) !== sizevars.simplify(two)) return false;
    }
    return true;
  };

  let changed = true;
  while (changed) {
    changed = false;
    for (let i = left.length - 1; i >= 0; i--) {
      for (let j = left.length - 1; j >= 0; j--) {
        const a = left[i];
        const b = left[j];
        if (i === j || a === undefined || b === undefined || !canMerge(i, j, a)) continue;
        changed = true;
        left[i] = mul(a, b);
        left[j] = undefined;
      }
    }
  }

  return {
    sizes: left.filter(s => s !== undefined),
    reindex(newVars) {
      let next = 0;
      return left.map(s => (s === undefined ? ZERO() : toExpr(newVars[next++] as ExprLike)));
    },
    prune(list) {
      return list.filter((_, i) => left[i] !== undefined);
    },
  };
}

/** The contiguous index over `vars` in this order; as one more formula it forbids merges that reorder loops. */
export function contiguousIndex(vars: readonly Expr[], sizes: readonly Expr[]): Expr {
  let stride: Expr = int(1);
  const terms: Expr[] = [];
  for (let i = vars.length - 1; i >= 0; i--) {
    const size = sizes[i] as Expr;
    terms.push(mul(vars[i] as Expr, stride));
    stride = mul(stride, size);
  }
  return sum(terms);
}

/** The formulas with the contiguous index appended (index_prevent_reordering). */
export function preventReordering(formulas: readonly Expr[], vars: readonly Expr[], sizes: readonly Expr[]): Expr[] {
  return [...formulas, contiguousIndex(vars, sizes)];
}

/** simplifyLoops that never reorders. */
export function mergeLoops(
  vars: readonly SymExpr[],
  sizes: readonly Expr[],
  indexFormulas: readonly Expr[],
  sizevars: SizeKnowledge,
): SimplifiedLoops {
  return simplifyLoops(vars, sizes, preventReordering(indexFormulas, vars, sizes), sizevars);
}
