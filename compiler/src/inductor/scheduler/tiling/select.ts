// How a kernel's iteration space is cut into tiles. In: the members of one kernel and its extent. Out: tiling and scores.
// Promises: after SIMDScheduling.get_tiling_and_scores: with a coalescing analysis for code generation, by strides alone
// for fusion checks.
import { readBoolean } from "../../../presets";
import { type Expr, int } from "../../symbolic";
import type { SchedulerNode } from "../types";
import { selectByStride } from "./candidates";
import { analyzeCoalescing } from "./coalescing";
import { tilingStrategy } from "./strategy";
import type { Tiling, TilingContext, TilingScores } from "./types";

export type { Prefix, Tiling, TilingContext, TilingScores } from "./types";

/** The tiling of a kernel that is generated. Scores are null where none are printed. */
export function selectTiling(
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr,
  c: TilingContext,
): { readonly tiling: Tiling; readonly scores: TilingScores | null } {
  if (readBoolean(c.config, "triton.coalesce_tiling_analysis") && !readBoolean(c.config, "triton.prefer_nd_tiling")) {
    const analysis = analyzeCoalescing(c, nodes, numel, rnumel);
    if (analysis) return tilingStrategy(c, nodes, numel, rnumel, analysis);
  }
  return { tiling: selectByStride(c, nodes, numel, rnumel), scores: null };
}

/** The tiling that fusion checks compare. */
export function tilingOf(
  c: TilingContext,
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr = int(1),
): Tiling {
  return selectByStride(c, nodes, numel, rnumel);
}
