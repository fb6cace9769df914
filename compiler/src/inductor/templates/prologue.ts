// What comes before a matrix product and may be computed on the way into its template (prologue fusion): how the tiles of
// an operand lie in the buffer that pointwise operations compute. In: an operand's view, the operations. Out: the dimensions
// of a tile, or why there are none. Promises: a tile's elements are computed where the loads of the product would read them,
// from the same indices, so that fused is as unfused.
import { graphFacts } from "../ir/graph_facts";
import { contiguousStrides } from "../ir/layouts";
import type { LoopBody } from "../ir/loop_body";
import type { BufferView, ComputedOperation, Layout, LoweredGraph } from "../ir/types";
import { add, type Expr, int, intValue, mul } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import type { Gemm } from "./gemm";

/** how an operand lies in memory: rows of `inner` elements, each `step` after the one before */
export interface OperandTile {
  /** matrices, and how far apart they are; null: one */
  readonly batch: { readonly count: Expr; readonly step: Expr } | null;
  readonly outer: Expr;
  readonly inner: Expr;
  /** more than `inner` where rows are padded */
  readonly step: Expr;
  /** the operand's last dimension is the outer one */
  readonly turned: boolean;
}

/** Null where the operand is not the whole of a buffer, or has gaps but at the ends of rows and matrices. */
export function operandTile(v: BufferView, layout: Layout | null, sv: SizeVars): OperandTile | null {
  if (layout === null || (layout.kind !== "fixed" && layout.kind !== "flexible") || v.dtype !== layout.dtype)
    return null;
  const [rows, columns] = v.size.slice(-2) as [Expr, Expr];
  const [rowStep, columnStep] = v.stride.slice(-2) as [Expr, Expr];
  const [count, step] = v.size.length === 3 ? [v.size[0], v.stride[0]] : [];
  const batch = count && step ? { count, step } : null;
  const turned = intValue(columnStep) !== 1;
  if (turned && intValue(rowStep) !== 1) return null;
  const tile = turned
    ? { batch, outer: columns, inner: rows, step: columnStep, turned }
    : { batch, outer: rows, inner: columns, step: rowStep, turned };
  const whole = sv.knownEquals(sv.numel(v.size), sv.numel(layout.size)) && sv.knownEquals(v.offset, 0);
  // the buffer's own dimensions, outermost in memory first
  const dims = layout.size
    .map((size, d) => ({ size, stride: layout.stride[d] as Expr }))
    .filter(d => intValue(d.size) !== 1)
    .sort((x, y) => sv.sizeHint(y.stride, 1) - sv.sizeHint(x.stride, 1));
  const steps = whole
    ? stepsInRows(
        dims.map(d => d.size),
        tile,
        sv,
      )
    : null;
  return steps && dims.every((d, i) => sv.knownEquals(d.stride, steps[i] as Expr)) ? tile : null;
}

/** How far apart in memory neighbours are along dimensions of these sizes; null where one runs across a gap. */
function stepsInRows(size: readonly Expr[], tile: OperandTile, sv: SizeVars): readonly Expr[] | null {
  const dense = contiguousStrides(size);
  const { inner, outer, step, batch } = tile;
  const matrix = mul(outer, inner);
  if (sv.knownEquals(inner, step) && (batch === null || sv.knownEquals(batch.step, matrix))) return dense;
  // [elements that are counted, how far apart they are]: single ones, rows with gaps, matrices
  const levels = [
    [1, 1],
    ...(sv.knownEquals(inner, step) ? [] : [[intValue(inner), intValue(step)]]),
    ...(batch ? [[intValue(matrix), intValue(batch.step)]] : []),
  ];
  const out: Expr[] = [];
  for (const [d, s] of dense.entries()) {
    const [at, count] = [intValue(s), intValue(size[d] as Expr)];
    if (at === undefined || count === undefined) return null;
    const level = levels.findLastIndex(([elements]) => elements !== undefined && at % elements === 0);
    const [elements = 1, apart = 1] = levels[level] ?? [];
    const next = levels[level + 1]?.[0];
    if (next !== undefined && next % (at * count) !== 0) return null;
    out.push(int((at / elements) * apart));
  }
  return out;
}

const WITHIN_A_TILE: ReadonlySet<string> = new Set([
  "get_index",
  "load",
  "store",
  "constant",
  "index_expr",
  "to_dtype",
  "to_dtype_bitcast",
  "masked",
  "call",
]);

/** whether the loops write one buffer element by element in the order of its rows, with nothing but pointwise arithmetic */
export function computesInOrder(body: LoopBody, tile: OperandTile, sv: SizeVars): boolean {
  const blocks = [body.block, ...body.subblocks.values()];
  if (body.reduceVars.length > 0 || !blocks.every(b => b.nodes.every(n => WITHIN_A_TILE.has(n.op)))) return false;
  const stores = body.block.nodes.filter(n => n.op === "store");
  const [store] = stores;
  if (stores.length !== 1 || store?.op !== "store" || store.mode !== null || store.at.op !== "get_index") return false;
  const steps = stepsInRows(body.iterSizes, tile, sv);
  if (steps === null) return false;
  const inOrder = body.iterVars.reduce<Expr>((at, v, i) => add(at, mul(v, steps[i] as Expr)), int(0));
  return body.indexing.get(store.at.index) === inOrder;
}

/** operands of a product, without what is added or scales it */
export const operandsOf = (g: Gemm): readonly BufferView[] => [g.a, g.b];

/** whether some operand is what pointwise operations compute for this product alone */
export function hasProducers(graph: LoweredGraph, g: Gemm): boolean {
  return operandsOf(g).some(v => producerOf(graph, g, v) !== null);
}

/** the pointwise operation that computes an operand for this product alone */
export function producerOf(graph: LoweredGraph, { op }: Gemm, v: BufferView): ComputedOperation | null {
  const facts = graphFacts(graph);
  const from = facts.producer(v.buffer);
  if (from?.kind !== "computed" || from.loops.kind !== "Pointwise") return null;
  if (facts.isReturned(v.buffer) || facts.readers(v.buffer).some(o => o !== op)) return null;
  const tile = operandTile(v, graph.buffers.get(v.buffer)?.layout ?? null, graph.sizevars);
  return tile === null || !computesInOrder(from.body, tile, graph.sizevars) ? null : from;
}
