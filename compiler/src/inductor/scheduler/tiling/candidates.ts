// The older way to tile: by dimensions of stride 1. In: nodes of one kernel. Out: the tiling whose accesses move most.
// Promises: after SIMDScheduling.candidate_tilings and select_tiling without a coalescing analysis; fusion checks use it.
import { readBoolean, readNumber } from "../../../presets";
import type { LoopBody } from "../../ir/loop_body";
import { type Expr, int, isSizeFree, type SymExpr, sub } from "../../symbolic";
import { divideExact } from "../../symbolic/expr";
import { extractReadWrites } from "../extract";
import { product } from "../state";
import type { SchedulerNode } from "../types";
import { isCompatible } from "./split_ranges";
import { createTiling, isGoodSize, type Tiling, type TilingContext } from "./types";

interface Candidate {
  readonly tiling: Tiling;
  readonly score: number;
  /** the buffer whose walk suggests it */
  readonly name: string;
}

export function maxTiles(c: TilingContext, otherwise: number): number {
  return readNumber(c.config, "triton.max_tiles") ?? otherwise;
}

export function selectByStride(c: TilingContext, nodes: readonly SchedulerNode[], numel: Expr, rnumel: Expr): Tiling {
  const sv = c.graph.sizevars;
  const fallback = createTiling([numel], [rnumel]);
  const pointwise = sv.knownEquals(rnumel, 1);
  if ((!pointwise && !readBoolean(c.config, "triton.tile_reductions")) || maxTiles(c, 2) <= 1) return fallback;
  const seen = new Set<string>();
  // every buffer speaks for itself: equal tilings of two buffers are not added up
  const candidates: Candidate[] = [];
  for (const n of nodes) {
    for (const candidate of candidateTilings(c, n, numel, rnumel, pointwise)) {
      if (seen.has(candidate.name)) continue;
      seen.add(candidate.name);
      candidates.push(candidate);
    }
  }
  const ranked = candidates.sort((a, b) => b.score - a.score).map(t => t.tiling);
  const sizes = (t: Tiling): Expr[] => [...t.values()];
  const fits = (t: Tiling): boolean => nodes.every(n => isCompatible(sizes(t), n.sizes, sv, rnumel));
  return ranked.find(fits) ?? fallback;
}

interface KnownCandidates {
  readonly sizes: SchedulerNode["sizes"];
  readonly numel: Expr;
  readonly rnumel: Expr;
  readonly candidates: readonly Candidate[];
}

/** a node is asked for each pair that it is tried in, most often for its own extent */
const known = new WeakMap<LoopBody, KnownCandidates[]>();

function candidateTilings(
  c: TilingContext,
  n: SchedulerNode,
  numel: Expr,
  rnumel: Expr,
  pointwise: boolean,
): readonly Candidate[] {
  const { body, sizes } = n;
  if (!body) return [];
  const before = known.get(body) ?? [];
  const free = c.removedBuffers === undefined && [numel, rnumel, ...sizes[0], ...sizes[1]].every(isSizeFree);
  const found = before.find(k => free && k.sizes === sizes && k.numel === numel && k.rnumel === rnumel);
  if (found) return found.candidates;
  const candidates = makeCandidates(c, n, numel, rnumel, pointwise);
  if (free) known.set(body, [...before, { sizes, numel, rnumel, candidates }]);
  return candidates;
}

function makeCandidates(
  c: TilingContext,
  n: SchedulerNode,
  numel: Expr,
  rnumel: Expr,
  pointwise: boolean,
): Candidate[] {
  const [iteration, reduction] = n.sizes;
  if (!n.body || (iteration.length <= 1 && reduction.length <= 1)) return [];
  if ([...iteration, ...reduction].some(hasUnbacked)) return [];
  const sv = c.graph.sizevars;
  const ranges = pointwise ? iteration : reduction;
  const { rw, vars } = partialReadWrites(c, n, pointwise);
  const collapse = (es: readonly Expr[]): Expr => sv.simplify(product(es));
  const full = (parts: readonly Expr[]): Tiling => {
    const rest = divideExact(sv.simplify(product([numel, rnumel])), sv.simplify(product(parts))) ?? int(1);
    return pointwise ? createTiling(parts, [rest]) : createTiling([rest], parts);
  };
  const result: Candidate[] = [{ tiling: full([collapse(ranges)]), score: 0, name: "none" }];
  const writes = new Set(rw.writes.map(d => d.name));
  for (const d of [...rw.reads, ...rw.writes]) {
    if (d.kind !== "memory" || c.removedBuffers?.has(d.name)) continue;
    const strides = sv.strideHints(d.index, vars);
    const split = strides.indexOf(1) + 1;
    if (split === 0 || split === ranges.length || strides.slice(split).every(x => x === 0)) continue;
    const parts = [collapse(ranges.slice(0, split)), collapse(ranges.slice(split))];
    let score = sv.sizeHint(product(ranges.filter((_, i) => strides[i] !== 0)), 1);
    if (writes.has(d.name)) score *= 2;
    for (const p of parts) if (isGoodSize(p, sv)) score *= 2;
    const total = product([...ranges, ...(pointwise ? reduction : reduction)]);
    if (sv.sizeHint(sub(int(score), total), 0) >= 0) result.push({ tiling: full(parts), score, name: d.name });
  }
  return result;
}

const hasUnbacked = (e: Expr): boolean => (e.kind === "sym" ? e.symKind === "unbacked" : e.args.some(hasUnbacked));

/** Reads and writes along one kind of loops, the others standing at 0. */
function partialReadWrites(
  c: TilingContext,
  n: SchedulerNode,
  pointwise: boolean,
): { rw: ReturnType<typeof extractReadWrites>; vars: readonly SymExpr[] } {
  const [iteration, reduction] = n.sizes;
  const ones = (list: readonly Expr[]): Expr[] => list.map(() => int(1));
  const sizes = pointwise ? ([iteration, ones(reduction)] as const) : ([ones(iteration), reduction] as const);
  if (!n.body) throw new Error(`${n.name} has no body`);
  const rw = extractReadWrites(n.body, sizes, c.graph.sizevars);
  return { rw, vars: rw.rangeVars };
}
