// Changes to a body's loops. In: a LoopBody. Out: another that computes the same, over loops p0.. numbered anew.
// Promises: the operations stay; only loops and index expressions change. After LoopBody.merge_loops, reorder_iter_loops,
// expand_dimension_for_pointwise_node (torch/_inductor/loop_body.py).
import { type Expr, isSizeFree, type SymExpr, substitute, sym } from "../symbolic/expr";
import { internTable } from "../symbolic/intern";
import { mergeLoops as mergeByFormulas } from "../symbolic/simplify";
import type { SizeVars } from "../symbolic/size_vars";
import { idsOf } from "./body_shape";
import type { BodySizes } from "./build_body";
import type { LoopBody } from "./loop_body";
import { recapture } from "./replay";

/** size variables as capturing wants them */
export function bodySizes(sizevars: SizeVars): BodySizes {
  return {
    simplifyWithRanges: (e, ranges) => sizevars.simplifyWithRanges(e, ranges),
    staticallyTrue: (r, ranges) => sizevars.evaluateStatic(r, ranges) === true,
  };
}

/** loop variables p0.. for iteration, then reduction */
export function loopVars(
  iterSizes: readonly Expr[],
  reduceSizes: readonly Expr[],
  prefix = "p",
): readonly [SymExpr[], SymExpr[]] {
  const iter = iterSizes.map((_, i) => sym(`${prefix}${i}`));
  return [iter, reduceSizes.map((_, i) => sym(`${prefix}${i + iter.length}`))];
}

/** Same operations over new loops: each old variable becomes an expression of the new ones, indices are simplified. */
export function withLoops(
  body: LoopBody,
  iterSizes: readonly Expr[],
  reduceSizes: readonly Expr[],
  values: (iterVars: readonly SymExpr[], reduceVars: readonly SymExpr[]) => readonly [readonly Expr[], readonly Expr[]],
  sizevars: SizeVars,
): LoopBody {
  const [iterVars, reduceVars] = loopVars(iterSizes, reduceSizes);
  const [iterValues, reduceValues] = values(iterVars, reduceVars);
  const ranges = new Map<SymExpr, Expr>();
  for (const [i, v] of iterVars.entries()) ranges.set(v, iterSizes[i] as Expr);
  for (const [i, v] of reduceVars.entries()) ranges.set(v, reduceSizes[i] as Expr);
  const replace = new Map<SymExpr, Expr>();
  for (const [i, v] of body.iterVars.entries()) replace.set(v, iterValues[i] as Expr);
  for (const [i, v] of body.reduceVars.entries()) replace.set(v, reduceValues[i] as Expr);
  const indexing = new Map<string, Expr>();
  for (const [name, e] of body.indexing)
    indexing.set(name, sizevars.simplifyWithRanges(substitute(e, replace), ranges));
  return { ...body, iterVars, reduceVars, iterSizes, reduceSizes, indexing };
}

/** Joins neighbouring loops wherever every index expression steps through them as one. */
export function mergeLoops(body: LoopBody, sizevars: SizeVars): LoopBody {
  return withKnownLoops(body, "merged_loops", "", () => {
    const formulas = [...body.indexing.values()];
    const iter = mergeByFormulas(body.iterVars, body.iterSizes, formulas, sizevars);
    const reduce = mergeByFormulas(body.reduceVars, body.reduceSizes, formulas, sizevars);
    return withLoops(body, iter.sizes, reduce.sizes, (i, r) => [iter.reindex(i), reduce.reindex(r)], sizevars);
  });
}

type Loops = Pick<LoopBody, "iterVars" | "reduceVars" | "iterSizes" | "reduceSizes" | "indexing">;

/**
 * The body with the loops that `make` gives it, which depend on its loops, its indices and `also` alone: found out once for
 * all bodies that walk alike. Symbolic sizes may have been narrowed in between, so nothing is kept of those.
 */
export function withKnownLoops(body: LoopBody, what: string, also: string, make: () => LoopBody): LoopBody {
  const { iterSizes, reduceSizes, indexing } = body;
  if (!iterSizes.every(isSizeFree) || !reduceSizes.every(isSizeFree)) return make();
  let key = `${idsOf(body.iterVars)};${idsOf(iterSizes)};${idsOf(body.reduceVars)};${idsOf(reduceSizes)};${also}`;
  for (const [name, e] of indexing) {
    if (!isSizeFree(e)) return make();
    key += `;${name}=${e.id}`;
  }
  const memo = internTable().memo<string, Loops>(what);
  const known = memo.get(key);
  if (known) return { ...body, ...known };
  const made = make();
  const { iterVars, reduceVars } = made;
  memo.set(key, {
    iterVars,
    reduceVars,
    iterSizes: made.iterSizes,
    reduceSizes: made.reduceSizes,
    indexing: made.indexing,
  });
  return made;
}

/** New iteration loop i is old loop order[i]. */
export function reorderIterLoops(body: LoopBody, order: readonly number[], sizevars: SizeVars): LoopBody {
  const iterSizes = order.map(i => body.iterSizes[i] as Expr);
  const [iterVars, reduceVars] = loopVars(iterSizes, body.reduceSizes);
  const values = body.iterVars.map((_, old) => iterVars[order.indexOf(old)] as Expr);
  return recapture(body, iterVars, iterSizes, reduceVars, body.reduceSizes, values, reduceVars, bodySizes(sizevars));
}

/** Iteration loops replaced by others over the same elements; `reindex` gives each old variable in terms of the new. */
function reindexIterLoops(
  body: LoopBody,
  iterSizes: readonly Expr[],
  reindex: (vars: readonly Expr[]) => readonly Expr[],
  sizevars: SizeVars,
): LoopBody {
  const [iterVars, reduceVars] = loopVars(iterSizes, body.reduceSizes);
  return recapture(
    body,
    iterVars,
    iterSizes,
    reduceVars,
    body.reduceSizes,
    reindex(iterVars),
    reduceVars,
    bodySizes(sizevars),
  );
}

/**
 * Widens one iteration loop of a pointwise body to `size`, a multiple of the old one, by running it over again
 * (its variable becomes ModularIndexing(v, 1, old size) through `wrap`).
 */
export function expandDimension(
  body: LoopBody,
  dimension: number,
  size: Expr,
  wrap: (v: Expr, old: Expr) => Expr,
  sizevars: SizeVars,
): LoopBody {
  const iterSizes = body.iterSizes.map((s, i) => (i === dimension ? size : s));
  return reindexIterLoops(
    body,
    iterSizes,
    vars => vars.map((v, i) => (i === dimension ? wrap(v, body.iterSizes[i] as Expr) : v)),
    sizevars,
  );
}
