// In: a kernel's accesses over common variables. Out: per variable, the bytes whose walk it makes contiguous; what no
// variable does; and where splitting a variable would help. Promises: after analyze_memory_coalescing; sizes by example.
import { itemsize } from "../../ir/dtypes";
import { type Expr, freeSymbols, int, intValue, product as productOf, type SymExpr, substitute } from "../../symbolic";
import { layoutOf } from "../state";
import type { SchedulerNode } from "../types";
import { type NormalizedAccesses, normalizedAccesses } from "./normalized";
import { solveForTiling } from "./solve";
import type { TilingContext } from "./types";

export interface Coalescing {
  readonly accesses: NormalizedAccesses;
  readonly byVar: ReadonlyMap<SymExpr, number>;
  readonly uncoalesced: ReadonlyMap<Expr, number>;
  readonly split: { readonly variable: SymExpr; readonly factor: number; readonly score: number } | null;
}

/** neither part of a split variable may be this short */
const MIN_TILING_BLOCK = 8;

export function analyzeCoalescing(
  c: TilingContext,
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr,
): Coalescing | null {
  const accesses = normalizedAccesses(c, nodes, numel, rnumel);
  if (!accesses) return null;
  const byVar = new Map<SymExpr, number>();
  const uncoalesced = new Map<Expr, number>();
  for (const [list, weight] of [
    [accesses.reads, 1],
    [accesses.writes, 2],
  ] as const) {
    for (const [index, buffers] of list) {
      const size = accessSize(c, index, accesses.ranges);
      if (size === 0) continue;
      const v = isIndirect(index)
        ? null
        : (coalescedVar(c, index, accesses.ranges) ?? broadcastVar(c, index, accesses.ranges));
      const score = weight * [...buffers].reduce((t, b) => t + bufferScore(c, b, size), 0);
      if (v) byVar.set(v, (byVar.get(v) ?? 0) + score);
      else uncoalesced.set(index, (uncoalesced.get(index) ?? 0) + score);
    }
  }
  return { accesses, byVar, uncoalesced, split: bestSplit(c, uncoalesced, accesses.ranges) };
}

const isIndirect = (e: Expr): boolean => [...freeSymbols(e)].some(s => s.symKind === "indirect");

/** elements visited: the ranges of the variables that occur */
function accessSize(c: TilingContext, index: Expr, ranges: ReadonlyMap<SymExpr, Expr>): number {
  return c.graph.sizevars.sizeHint(productOf([...freeSymbols(index)].flatMap(s => ranges.get(s) ?? [])), 8192);
}

function bufferScore(c: TilingContext, name: string, size: number): number {
  const layout = layoutOf(c.graph, name);
  if (!layout || !("size" in layout)) return 0;
  return Math.min(c.graph.sizevars.sizeHint(productOf(layout.size), 0), size) * itemsize(layout.dtype);
}

/** values of all symbols with the loop variables at 0 */
function zeros(c: TilingContext, index: Expr, ranges: ReadonlyMap<SymExpr, Expr>): Map<SymExpr, Expr> {
  return new Map(
    [...freeSymbols(index)].map(s => [s, int(ranges.has(s) ? 0 : Math.trunc(c.graph.sizevars.hint(s) ?? 0))] as const),
  );
}

/** The variable along which the index steps by one. */
function coalescedVar(c: TilingContext, index: Expr, ranges: ReadonlyMap<SymExpr, Expr>): SymExpr | null {
  const terms: readonly Expr[] = index.kind === "add" ? index.args : [index];
  for (const v of ranges.keys()) if (terms.includes(v)) return v;
  const values = zeros(c, index, ranges);
  const at = (v: SymExpr, n: number): number =>
    intValue(substitute(index, new Map([...values, [v, int(n)]]))) ?? Number.NaN;
  for (const v of ranges.keys()) {
    if (!freeSymbols(index).has(v)) continue;
    const one = at(v, 1);
    if (one - at(v, 0) === 1 && at(v, 2) - one === 1) return v;
  }
  return null;
}

/** A variable whose first step stays on the element: its accesses stay in cache. */
function broadcastVar(c: TilingContext, index: Expr, ranges: ReadonlyMap<SymExpr, Expr>): SymExpr | null {
  const values = zeros(c, index, ranges);
  for (const v of ranges.keys()) {
    if (!freeSymbols(index).has(v)) continue;
    if (substitute(index, new Map([...values, [v, int(1)]])) === substitute(index, values)) return v;
  }
  return null;
}

/** null where a size that counts as 0 here divides */
function atZero(index: Expr, zeros: ReadonlyMap<SymExpr, Expr>): Expr | null {
  try {
    return substitute(index, zeros);
  } catch (e) {
    if (e instanceof RangeError) return null;
    throw e;
  }
}

function bestSplit(
  c: TilingContext,
  uncoalesced: ReadonlyMap<Expr, number>,
  ranges: ReadonlyMap<SymExpr, Expr>,
): Coalescing["split"] {
  const sv = c.graph.sizevars;
  const scores = new Map<SymExpr, Map<number, number>>();
  for (const [index, score] of uncoalesced) {
    if (score === 0) continue;
    const all = new Map([...freeSymbols(index)].map(s => [s, int(0) as Expr] as const));
    for (const v of freeSymbols(index)) {
      const range = ranges.get(v);
      if (!range) continue;
      const others = new Map(all);
      others.delete(v);
      const alone = atZero(index, others);
      const factor = alone === null ? null : solveForTiling(alone);
      if (factor === null || factor <= 0 || !sv.knownLt(int(factor), range)) continue;
      const size = sv.sizeHint(range, 8192);
      if (factor <= MIN_TILING_BLOCK || Math.floor(size / factor) <= MIN_TILING_BLOCK) continue;
      const list = scores.get(v) ?? new Map<number, number>();
      scores.set(v, list.set(factor, (list.get(factor) ?? 0) + score));
    }
  }
  let best: Coalescing["split"] = null;
  for (const [variable, list] of scores) {
    for (const [factor, score] of list) if (score > (best?.score ?? 0)) best = { variable, factor, score };
  }
  return best;
}
