// Products of few tiles and long sums, in pieces of the sum (split-K): one kernel computes the pieces' partial sums in
// float32, a second one adds them up and ends in what follows the product. In: a lowered graph, how many pieces each
// product has. Out: the graph with such products as two operations. Promises: partial sums are added in their order, never
// atomically; scales, what is added and the rounding come once, after the whole sum.
import type { Dim, Loader, Ops } from "../../aten/types";
import { bodyOf } from "../ir/computed_body";
import { GraphEdit } from "../ir/graph_edit";
import { contiguousStrides, fixedIndexer } from "../ir/layouts";
import type { TargetProperties } from "../ir/target";
import type { Buffer, BufferView, ComputedOperation, ExternOperation, LoweredGraph } from "../ir/types";
import { type Expr, int, intValue } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { type Gemm, gemmOf, viewIndex } from "./gemm";

/** a piece's depth is a multiple of every tile's, so that a tile lies in one piece */
const DEPTH_STEP = 256;
const PIECES: readonly number[] = [2, 4, 8, 16, 32];
/** sides of the tile that fills the multiprocessors as it is */
const TILE = 64;
/** programs per multiprocessor beyond which more pieces only cost partial sums */
const MOST_PROGRAMS = 8;
/** share of the multiprocessors that have a program at the least */
const ENOUGH = 0.75;

const tilesOf = (m: number, n: number): number => Math.ceil(m / TILE) * Math.ceil(n / TILE);

/** numbers of pieces that may pay: those that give each multiprocessor a program, and up to eight; else the largest there is */
export function splitsOf(g: Gemm, target: TargetProperties, sv: SizeVars): readonly number[] {
  const k = intValue(g.k);
  const tiles = tilesOf(sv.sizeHint(g.m, 1), sv.sizeHint(g.n, 1));
  const most = target.multiProcessorCount;
  if (g.batch !== null || k === undefined || tiles >= most) return [];
  const all = PIECES.filter(p => pieceDepth(k, p) !== null && tiles * p <= MOST_PROGRAMS * most);
  const enough = all.filter(p => tiles * p >= ENOUGH * most);
  return enough.length > 0 ? enough : all.slice(-1);
}

/** elements of the sum per piece; null: there is no such number of pieces */
function pieceDepth(k: number, pieces: number): number | null {
  const depth = Math.ceil(k / pieces / DEPTH_STEP) * DEPTH_STEP;
  return Math.ceil(k / depth) === pieces && pieces > 1 ? depth : null;
}

/** The graph with each product that `piecesOf` gives a number for in so many pieces. */
export function withSplitProducts(graph: LoweredGraph, piecesOf: (g: Gemm) => number | null): LoweredGraph {
  const edit = new GraphEdit(graph);
  for (const op of graph.operations) {
    const gemm = op.kind === "extern" && op.device.type === "cuda" ? gemmOf(op) : null;
    const pieces = gemm && piecesOf(gemm);
    const depth = gemm && pieces ? pieceDepth(intValue(gemm.k) ?? 0, pieces) : null;
    if (!gemm || !pieces || depth === null) continue;
    const names = edit.newNames();
    const parts = partsOf(gemm, pieces, depth, names.buffer);
    const sum = sumOf(graph, gemm, parts.buffer, names.op);
    edit.replace(parts.operation);
    edit.insertAfter(parts.operation.name, sum, parts.buffer);
    for (const name of sum.outputs)
      edit.setBuffer({ ...edit.buffer(name), irClass: "ComputedBuffer", operation: sum.name });
  }
  return edit.result;
}

/** the product with its partial sums as the result; it keeps its name, by which ways are known */
function partsOf(g: Gemm, pieces: number, depth: number, name: string) {
  const { op } = g;
  const size = [int(pieces), g.m, g.n];
  const buffer: Buffer = {
    name,
    irClass: "TemplateBuffer",
    layout: {
      kind: "fixed",
      device: op.device,
      dtype: "float32",
      size,
      stride: contiguousStrides(size),
      offset: int(0),
    },
    operation: op.name,
    originNode: null,
  };
  const operation: ExternOperation = {
    ...op,
    irClass: "TemplateBuffer",
    kernel: "fuselens.split_mm",
    op: "fuselens.split_mm",
    args: [g.a, g.b, pieces, depth],
    kwargs: g.fastAccumulation ? { use_fast_accum: true } : {},
    reads: [g.a, g.b],
    outputs: [name],
    originNode: null,
  };
  return { operation, buffer };
}

/** the pieces added up, scaled, with what is added to them, as a pointwise operation */
function sumOf(graph: LoweredGraph, g: Gemm, parts: Buffer, name: string): ComputedOperation {
  const { op } = g;
  const out = op.outputs[0] ?? "";
  const layout = graph.buffers.get(out)?.layout;
  const from = parts.layout;
  if (!layout || !("size" in layout) || !("size" in from)) throw new Error(`${op.name} has no matrix as its result`);
  const pieces = intValue(from.size[0] as Expr) ?? 0;
  const at = fixedIndexer(from);
  const inner: Loader = <V>(ops: Ops<V>, dims: readonly Dim[]): V => {
    const index = dims as readonly Expr[];
    const load = (v: BufferView): V => wide(ops, ops.load(v.buffer, viewIndex(v, index)), v);
    let value = ops.load(parts.name, at([int(0), ...index]));
    for (let p = 1; p < pieces; p++) value = ops.op("add", value, ops.load(parts.name, at([int(p), ...index])));
    if (g.scales) value = ops.op("mul", value, ops.op("mul", load(g.scales.a), load(g.scales.b)));
    if (g.alpha !== 1) value = ops.op("mul", value, ops.constant(g.alpha, "float32"));
    if (g.added && g.added.beta !== 0) {
      const other = load(g.added.view);
      const { beta } = g.added;
      value = ops.op("add", value, beta === 1 ? other : ops.op("mul", other, ops.constant(beta, "float32")));
    }
    return layout.dtype === "float32" ? value : ops.toDtype(value, layout.dtype, "float32");
  };
  const loops = {
    kind: "Pointwise" as const,
    device: op.device,
    dtype: layout.dtype,
    ranges: layout.size,
    origins: new Set(op.origins),
    originNode: op.originNode,
    inner,
  };
  const { sizes, body } = bodyOf(loops, out, fixedIndexer(layout), graph.sizevars, false);
  return {
    name,
    outputs: [out],
    device: op.device,
    origins: op.origins,
    originNode: op.originNode,
    kind: "computed",
    loops: { kind: "Pointwise" },
    ranges: layout.size,
    reductionRanges: [],
    sizes,
    body,
  };
}

const wide = <V>(ops: Ops<V>, x: V, v: BufferView): V =>
  v.dtype === "float32" ? x : ops.toDtype(x, "float32", v.dtype);
