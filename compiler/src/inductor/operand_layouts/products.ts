// A matrix product whose operands may lie otherwise than lowering left them. In: a product of a lowered graph. Out: the
// other layouts that it may have, each as a template would see it and with what it is estimated to take. Promises: nothing
// is decided here, the graph is not changed.

import { estimateExternUs } from "../cost";
import { isHalf } from "../ir/dtypes";
import { viewKey } from "../ir/graph_edit";
import type { GraphFacts } from "../ir/graph_facts";
import type { TargetProperties } from "../ir/target";
import type { BufferView, ComputedOperation } from "../ir/types";
import type { Expr } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { libraryPenalty, rowsAreOff, templatePenalty } from "../templates/alignment";
import { type Gemm, multiplied } from "../templates/gemm";
import { estimateTemplateUs } from "../templates/off_alignment";
import { asItLies } from "./as_it_lies";
import { bytesOf, copyUs, paddedStrides, paddingBytes } from "./padding";

export interface Weighed {
  /** microseconds as it is, and with the other layout */
  readonly given: number;
  readonly other: number;
}

export interface PaddedRows extends Weighed {
  /** as templates would see it: the operands that are off, with padded strides */
  readonly gemm: Gemm;
  readonly off: readonly { readonly view: BufferView; readonly bytes: number }[];
}

export interface ViewedOperand extends Weighed {
  readonly gemm: Gemm;
  readonly copied: BufferView;
  /** the operation that need not run then */
  readonly copy: ComputedOperation;
}

/** bytes of the result */
export const outBytes = (g: Gemm, sv: SizeVars): number =>
  [g.batch, g.m, g.n].reduce((n, e) => (e === null ? n : n * sv.sizeHint(e, 1)), g.a.dtype === "float32" ? 4 : 2);

/** bytes of operands and result, each once */
export function trafficOf(g: Gemm, sv: SizeVars): number {
  const reads = [g.a, g.b, ...(g.added ? [g.added.view] : [])];
  return reads.reduce((n, v) => n + bytesOf(v), outBytes(g, sv));
}

/** what may compute a product besides the library, and on what terms */
export interface Means {
  readonly target: TargetProperties;
  /** max_autotune: any product may be a template */
  readonly tunes: boolean;
  /** max_autotune or not, products of half precision are templates where the library is surely slower */
  readonly unasked: boolean;
  /** float32 products run as TF32 */
  readonly tf32: boolean;
}

/** times that the library takes for TF32 products off the alignment */
const TF32_PENALTY = 3;

/** whether this product may be a template */
export const hasTemplate = (g: Gemm, means: Means): boolean =>
  means.tunes || (means.unasked && isHalf(g.a.dtype) && means.target.computeCapability[0] >= 9);

/** microseconds of the product with its operands as they are, by whatever may compute it */
export function givenUs(g: Gemm, means: Means, sv: SizeVars): number {
  const bytes = trafficOf(g, sv);
  const off = libraryPenalty(g.op) > 1;
  const penalty = !off ? 1 : isHalf(g.a.dtype) ? libraryPenalty(g.op) : TF32_PENALTY;
  const library = estimateExternUs(g.op, bytes, means.target, sv, penalty);
  if (!hasTemplate(g, means)) return library;
  return Math.min(library, estimateTemplateUs(g, bytes, means.target, sv, templatePenalty(g.op)));
}

/**
 * Null where all rows are aligned, or where not all sizes are numbers. Templates gain from it, since the library's fast
 * kernels want aligned sizes as well. float32 without TF32 and fp8 do not: the one loads few elements at once anyway, the
 * other takes aligned sizes only.
 */
export function paddedRows(g: Gemm, facts: GraphFacts, means: Means): PaddedRows | null {
  const { sizevars: sv } = facts.graph;
  const { target } = means;
  if (g.kind === "scaled_mm" || !(isHalf(g.a.dtype) || means.tf32)) return null;
  const operands = new Map((multiplied(g.op) ?? []).map(v => [viewKey(v), v]));
  const off = [...operands.values()].filter(rowsAreOff).map(view => ({ view, bytes: paddingBytes(view, facts) }));
  if (off.length === 0) return null;
  const padded = (v: BufferView): BufferView => (rowsAreOff(v) ? { ...v, stride: paddedStrides(v, sv) } : v);
  const bytes = trafficOf(g, sv);
  return {
    gemm: { ...g, a: padded(g.a), b: padded(g.b) },
    off,
    given: givenUs(g, means, sv),
    other: estimateTemplateUs(g, bytes, target, sv, 1) + off.reduce((t, o) => t + copyUs(o.bytes, target), 0),
  };
}

/** rows of a template's or the library's tile */
const TILE_ROWS = 128;

/**
 * The product with its first operand read from where lowering copied it from. Null where it is no copy, where someone else
 * reads the copy, or where the source is written over. A template adds a bias without a pass of its own.
 */
export function viewedOperand(g: Gemm, facts: GraphFacts, { target, tunes }: Means): ViewedOperand | null {
  const { sizevars: sv } = facts.graph;
  const copy = facts.producer(g.a.buffer);
  if (g.batch !== null || g.kind === "scaled_mm" || copy?.kind !== "computed") return null;
  if (facts.isReturned(g.a.buffer) || !facts.readers(g.a.buffer).every(r => r.name === g.op.name)) return null;
  // of a copy that is read elsewhere in the product too, nothing is saved
  if ([g.b, g.added?.view].some(v => v?.buffer === g.a.buffer)) return null;
  const a = asItLies(g.a, copy, sv);
  if (a === null || rowsAreOff(a) || facts.isWrittenOver(a.buffer)) return null;
  const bytes = trafficOf(g, sv);
  const own = estimateExternUs(g.op, bytes, target, sv);
  const [batch, rows] = a.size.length === 3 ? [a.size[0], sv.sizeHint(a.size[1] ?? 1, 1)] : [null, TILE_ROWS];
  const wasted = (Math.ceil(rows / TILE_ROWS) * TILE_ROWS) / rows;
  // a batched product of the library adds in a pass of its own
  const added = batch !== null && g.added !== null && !tunes ? copyUs(2 * outBytes(g, sv), target) : 0;
  return {
    gemm: { ...g, a, batch: batch ?? null, m: a.size[a.size.length - 2] as Expr },
    copied: g.a,
    copy,
    given: own + copyUs(2 * bytesOf(g.a), target),
    other: own * wasted + added,
  };
}
