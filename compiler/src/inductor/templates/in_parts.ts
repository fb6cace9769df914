// float32 products without TF32 as six products of bfloat16 parts: what they cost, and where they are taken unasked. In: a
// product, the target. Out: microseconds; whether that beats the library. Fitted to products of 512 to 10000 deep (H200).
import { readBoolean } from "../../presets";
import { estimateExternUs } from "../cost";
import type { TargetProperties } from "../ir/target";
import type { ExternOperation } from "../ir/types";
import type { SizeVars } from "../symbolic/size_vars";
import { type Gemm, gemmOf } from "./gemm";

/** products of parts per product */
const PARTS = 6;
/** the tile that was the fastest of nearly all products that are worth it */
export const PARTS_TILE = 128;
/** share of the tensor cores' peak that one multiprocessor reaches on such a tile */
const EFFICIENCY = 0.41;
/** filling and emptying the pipeline, and what a tile's store does not overlap with */
const START_US = 10;
/** by how much the template must be estimated faster to be taken unasked */
const WORTH = 0.9;

export const isInParts = (op: ExternOperation): boolean => op.reads.every(r => r.dtype === "float32");

interface PartsOptions {
  readonly config: ReadonlyMap<string, unknown>;
  readonly behaviours: ReadonlyMap<string, unknown>;
}

/** whether float32 products are computed of bfloat16 parts where that is faster, max-autotune or not */
export function computesInParts(o: PartsOptions): boolean {
  const precision = String(o.config.get("float32_matmul_precision") ?? "highest");
  return readBoolean(o.behaviours, "float32_products_in_parts") && precision === "highest";
}

/** Programs run in waves of one per multiprocessor; the last one may be nearly empty. `pieces`: programs that share a sum. */
export function estimatePartsUs(g: Gemm, target: TargetProperties, sv: SizeVars, pieces = 1): number {
  const [m, n, k] = [g.m, g.n, g.k].map(e => sv.sizeHint(e, 1)) as [number, number, number];
  const batch = g.batch === null ? 1 : sv.sizeHint(g.batch, 1);
  const tiles = Math.ceil(m / PARTS_TILE) * Math.ceil(n / PARTS_TILE) * batch;
  const waves = Math.ceil((tiles * pieces) / target.multiProcessorCount);
  const perTile = (2 * PARTS_TILE * PARTS_TILE * PARTS * k) / pieces;
  const rate = (target.peak16 * EFFICIENCY) / target.multiProcessorCount;
  return START_US + ((waves * perTile) / rate) * 1e6;
}

/** whether a product is computed in parts without being asked to (max_autotune asks) */
export function partsPay(op: ExternOperation, bytes: number, target: TargetProperties, sv: SizeVars): boolean {
  const gemm = isInParts(op) ? gemmOf(op) : null;
  if (gemm === null || gemm.kind === "scaled_mm" || target.computeCapability[0] < 9) return false;
  return estimatePartsUs(gemm, target, sv) <= estimateExternUs(op, bytes, target, sv) * WORTH;
}
