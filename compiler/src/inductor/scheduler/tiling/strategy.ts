// In: a kernel's coalescing analysis. Out: the tiling whose tiles coalesce most, with their scores.
// Promises: after SIMDScheduling.compute_tiling_strategy: order of candidates, penalties and ties are Inductor's.
import { type Expr, floorDiv, int, intValue, mul, type SymExpr } from "../../symbolic";
import type { SchedulerNode } from "../types";
import { maxTiles } from "./candidates";
import type { Coalescing } from "./coalescing";
import { isCompatible } from "./split_ranges";
import { createTiling, isGoodSize, sameTiling, type Tiling, type TilingContext, type TilingScores } from "./types";

const BAD_SIZE_PENALTY = 1.025;
const GOOD_SIZE_PENALTY = 1.005;
/** share of what stays scattered that counts for every candidate alike */
const UNCOALESCED_SHARE = 0.05;

interface Parts {
  readonly sizes: readonly Expr[];
  readonly scores: readonly number[];
}

export function tilingStrategy(
  c: TilingContext,
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr,
  analysis: Coalescing,
): { tiling: Tiling; scores: TilingScores | null } {
  const sv = c.graph.sizevars;
  const { accesses, byVar, split } = analysis;
  const score = (v: SymExpr): number => byVar.get(v) ?? 0;

  const cut = (
    vars: readonly SymExpr[],
    total: Expr,
    ends: readonly SymExpr[],
    useSplit: boolean,
    pointwise: boolean,
  ): Parts => {
    if (vars.length === 0) return { sizes: [total], scores: [] };
    const sizes: Expr[] = [];
    const scores: number[] = [];
    let product: Expr = int(1);
    let last = 0;
    for (const v of vars) {
      const range = accesses.ranges.get(v) ?? int(1);
      if (!ends.includes(v)) {
        product = mul(product, range);
        last = score(v);
      } else if (useSplit && split && v === split.variable) {
        sizes.push(mul(product, floorDiv(range, split.factor)), int(split.factor));
        scores.push(split.score, score(v));
        product = int(1);
        last = 0;
      } else {
        sizes.push(mul(product, range));
        scores.push(score(v));
        product = int(1);
      }
    }
    if (intValue(product) !== 1 || (pointwise && sizes.length === 0)) {
      sizes.push(product);
      scores.push(last);
    }
    // tiles too short for a whole memory transaction count less
    return {
      sizes: sizes.map(e => sv.simplify(e)),
      scores: scores.map((x, i) => Math.trunc((x * Math.min(sv.sizeHint(sizes[i] as Expr, 32), 8)) / 8)),
    };
  };

  const reduction = cut(accesses.reductionVars, rnumel, [], false, false);
  const pointwise = (ends: readonly SymExpr[], useSplit = false): Parts =>
    cut(accesses.pointwiseVars, numel, ends, useSplit, true);
  const scored = accesses.pointwiseVars.filter(v => byVar.has(v));
  const cuts = [
    pointwise([]),
    ...(split ? [pointwise([split.variable], true)] : []),
    ...scored.map(v => pointwise([v])),
  ];
  if (maxTiles(c, 3) === 3 && sv.knownEquals(rnumel, 1)) {
    scored.forEach((v, i) => {
      for (const w of scored.slice(i + 1)) cuts.push(pointwise([v, w]));
    });
  }
  const scattered = [...analysis.uncoalesced.values()].reduce((a, b) => a + b, 0);
  const candidates = cuts.map(p => {
    const tiling: Tiling = createTiling(p.sizes, reduction.sizes);
    const total = [...p.scores, ...reduction.scores].reduce((a, b) => a + b, 0);
    let factor = 1;
    for (const e of tiling.values()) factor /= isGoodSize(e, sv) ? GOOD_SIZE_PENALTY : BAD_SIZE_PENALTY;
    return {
      tiling,
      scores: createTiling(p.scores, reduction.scores) as TilingScores,
      worth: (total + scattered * UNCOALESCED_SHARE) * factor,
    };
  });
  const fallback: Tiling = createTiling([numel], [rnumel]);
  const hidden = sv.knownEquals(rnumel, 1) ? 1 : 0;
  // Array.sort is stable, as Python's sorted
  for (const x of [...candidates].sort((a, b) => b.worth - a.worth)) {
    const fits =
      nodes.every(n => isCompatible([...x.tiling.values()], n.sizes, sv, rnumel)) || sameTiling(x.tiling, fallback);
    if (fits && x.tiling.size - hidden <= maxTiles(c, 3)) return { tiling: x.tiling, scores: x.scores };
  }
  return { tiling: fallback, scores: null };
}
