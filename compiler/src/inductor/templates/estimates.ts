// What ways to compute a product take where nothing was measured: the library's kernel, the sum in pieces, operands computed
// on the way in. In: a product of a lowered graph, its ways, the target. Out: microseconds by way, the kernels included that
// compute its operands, without those of what follows. Fitted to products of few rows on an H200.
import {
  estimateExternUs,
  estimateKernelUs,
  externFlops,
  KERNEL_FLOOR_US,
  L2_SPEEDUP,
  STREAMING_EFFICIENCY,
} from "../cost";
import { itemsize } from "../ir/dtypes";
import { buffersRead } from "../ir/graph_facts";
import type { TargetProperties } from "../ir/target";
import type { LoweredGraph } from "../ir/types";
import { bufferDtype, bufferNumel } from "../scheduler/state";
import { trafficOf } from "../scheduler/template_choices";
import { computesOperands, isGemmWay, piecesOf } from "./forms";
import type { Gemm } from "./gemm";
import { estimatePartsUs, isInParts } from "./in_parts";
import { operandsOf, producerOf } from "./prologue";

/** bytes per second that one program loads, and that one program computes of an operand */
const PROGRAM_LOADS = 40e9;
const PROGRAM_COMPUTES = 27e9;
/** bytes per second of an operand that all multiprocessors compute */
const MOST_COMPUTED = 7e12;
/** shares of the dense peak that templates reach, with operands loaded and computed */
const EFFICIENCY = 0.6;
const COMPUTED_EFFICIENCY = 0.4;
/** tiles of few rows are narrow, so that there are enough programs */
const FEW_ROWS = 64;
const tileSide = (rows: number): number => (rows > FEW_ROWS ? 128 : 64);

interface Computed {
  /** bytes that its operations read, and those of the operand */
  readonly read: number;
  readonly written: number;
  /** tiles of the result that need the same part of it */
  readonly times: number;
}

export type WayEstimates = Readonly<Record<string, number>>;

/** Microseconds of the library and of those of `ways` that cut the sum or compute operands; other ways have no estimate. */
export function estimatesOf(
  graph: LoweredGraph,
  g: Gemm,
  ways: readonly string[],
  target: TargetProperties,
  inParts: boolean,
): WayEstimates {
  const { op } = g;
  const computed = computedOperands(graph, g);
  const apart = computed.reduce((us, c) => us + estimateKernelUs(c.read + c.written, 0, target), 0);
  const traffic = trafficOf(graph, op);
  const result = bytesOf(graph, op.outputs[0] ?? "");
  const out: Record<string, number> = { library: apart + estimateExternUs(op, traffic, target, graph.sizevars) };
  for (const way of ways) {
    if (!isGemmWay(way)) continue;
    const [pieces, fused] = [piecesOf(way) ?? 1, computesOperands(way)];
    if (pieces === 1 && !fused) continue;
    const partial = partialBytes(graph, g, pieces);
    const bytes = traffic + (pieces > 1 ? partial - result : 0);
    const product = productUs(graph, g, { pieces, bytes, computed: fused ? computed : [], inParts }, target);
    const sum = pieces > 1 ? estimateKernelUs(partial + result, 0, target) : 0;
    out[way] = product + sum + (fused ? 0 : apart);
  }
  return Object.fromEntries(Object.entries(out).map(([way, us]) => [way, Math.round(us * 1e3) / 1e3]));
}

/**
 * Microseconds of a scheduled product that computes operands, `fused`, or whose sum is in pieces, as `estimatesOf` counts its
 * kernel; null for other products.
 */
export function scheduledUs(
  graph: LoweredGraph,
  g: Gemm,
  { fused, inParts }: { readonly fused: boolean; readonly inParts: boolean },
  target: TargetProperties,
): number | null {
  if (g.piece === null && !fused) return null;
  const pieces = g.piece === null || g.batch === null ? 1 : graph.sizevars.sizeHint(g.batch, 1);
  const whole = g.piece === null ? g : { ...g, batch: null };
  const result = bytesOf(graph, g.op.outputs[0] ?? "");
  const bytes = trafficOf(graph, g.op) + (pieces > 1 ? partialBytes(graph, g, pieces) - result : 0);
  const computed = fused ? computedOperands(graph, g) : [];
  return productUs(graph, whole, { pieces, bytes, computed, inParts }, target);
}

/** Partial sums are float32, and still in the L2 when they are added up; 0 where the sum is whole. */
function partialBytes({ sizevars: sv }: LoweredGraph, g: Gemm, pieces: number): number {
  return pieces > 1 ? (pieces * sv.sizeHint(g.m, 1) * sv.sizeHint(g.n, 1) * 4) / L2_SPEEDUP : 0;
}

interface OneKernel {
  readonly pieces: number;
  readonly bytes: number;
  readonly computed: readonly Computed[];
  /** float32 without TF32 is computed of bfloat16 parts */
  readonly inParts: boolean;
}

function productUs(
  graph: LoweredGraph,
  g: Gemm,
  { pieces, bytes, computed, inParts }: OneKernel,
  target: TargetProperties,
): number {
  const sv = graph.sizevars;
  const side = tileSide(sv.sizeHint(g.m, 1));
  const batch = g.batch === null ? 1 : sv.sizeHint(g.batch, 1);
  const tiles = Math.ceil(sv.sizeHint(g.m, 1) / side) * Math.ceil(sv.sizeHint(g.n, 1) / side) * batch;
  const programs = tiles * pieces;
  const moved = computed.reduce((b, c) => b + c.read - c.written + (c.read * (c.times - 1)) / L2_SPEEDUP, bytes);
  const loads = moved / Math.min(target.memoryBandwidth * STREAMING_EFFICIENCY, programs * PROGRAM_LOADS);
  const made = computed.reduce((b, c) => b + c.written * c.times, 0);
  const computes = made / Math.min(MOST_COMPUTED, programs * PROGRAM_COMPUTES);
  const half = itemsize(g.a.dtype) <= 2;
  const efficiency = computed.length > 0 ? COMPUTED_EFFICIENCY : EFFICIENCY;
  const share = efficiency * Math.min(1, programs / target.multiProcessorCount);
  const arithmetic = externFlops(g.op, sv) / ((half ? target.peak16 : target.peak32) * share);
  const us = KERNEL_FLOOR_US + Math.max(loads, computes, arithmetic) * 1e6;
  return inParts && isInParts(g.op) ? Math.max(us, estimatePartsUs(g, target, sv, pieces)) : us;
}

function computedOperands(graph: LoweredGraph, g: Gemm): Computed[] {
  const sv = graph.sizevars;
  return operandsOf(g).flatMap((v): Computed[] => {
    const from = producerOf(graph, g, v);
    if (from === null) return [];
    const read = [...new Set(buffersRead(from))].reduce((b, name) => b + bytesOf(graph, name), 0);
    const across = sv.sizeHint(v === g.a ? g.n : g.m, 1);
    const times = Math.ceil(across / tileSide(sv.sizeHint(g.m, 1)));
    return [{ read, written: bytesOf(graph, v.buffer), times }];
  });
}

function bytesOf(graph: LoweredGraph, name: string): number {
  const dtype = bufferDtype(graph, name);
  return dtype === null ? 0 : graph.sizevars.sizeHint(bufferNumel(graph, name), 1) * itemsize(dtype);
}

/** by how much a way must be estimated faster than the library's to be taken unmeasured */
const WORTH = 0.95;

/** the way that is estimated to be the fastest; null: none that is worth it */
export function estimatedBest(us: WayEstimates): string | null {
  const [best] = Object.entries(us).sort(([, x], [, y]) => x - y);
  return best && best[0] !== "library" && best[1] < (us.library ?? 0) * WORTH ? best[0] : null;
}
