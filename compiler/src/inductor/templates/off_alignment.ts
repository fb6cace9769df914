// Products of half precision whose sizes the library's fast kernels do not take: what a template takes for them, and where it
// is taken unasked. In: a product, the target. Out: microseconds; whether that beats the library. Fitted to an H200.
import { estimateExternUs } from "../cost";
import { isHalf } from "../ir/dtypes";
import type { TargetProperties } from "../ir/target";
import type { ExternOperation } from "../ir/types";
import type { SizeVars } from "../symbolic/size_vars";
import { libraryPenalty, templatePenalty } from "./alignment";
import { type Gemm, gemmOf } from "./gemm";

/** the tile that is counted with */
const TILE = 128;
/** share of the tensor cores' peak that one multiprocessor reaches on such a tile */
const EFFICIENCY = 0.7;
/** filling and emptying the pipeline, and what a tile's store does not overlap with */
const START_US = 6;
/** by how much the template must be estimated faster to be taken unasked */
const WORTH = 0.8;

/** `penalty`: by how much loads slow the arithmetic down; programs run in waves of one per multiprocessor */
export function estimateTemplateUs(
  g: Gemm,
  bytes: number,
  target: TargetProperties,
  sv: SizeVars,
  penalty: number,
): number {
  const [m, n, k] = [g.m, g.n, g.k].map(e => sv.sizeHint(e, 1)) as [number, number, number];
  const batch = g.batch === null ? 1 : sv.sizeHint(g.batch, 1);
  const waves = Math.ceil((Math.ceil(m / TILE) * Math.ceil(n / TILE) * batch) / target.multiProcessorCount);
  const rate = (target.peak16 * EFFICIENCY) / target.multiProcessorCount;
  const compute = START_US + ((waves * 2 * TILE * TILE * k * penalty) / rate) * 1e6;
  const memory = estimateExternUs(g.op, bytes, target, sv, 0);
  return Math.max(compute, memory);
}

/** whether a product is computed by a template without being asked to (max_autotune asks): one with aligned rows, odd sizes */
export function templatePays(op: ExternOperation, bytes: number, target: TargetProperties, sv: SizeVars): boolean {
  if (libraryPenalty(op) === 1 || templatePenalty(op) !== 1 || target.computeCapability[0] < 9) return false;
  const g = gemmOf(op);
  if (g === null || !isHalf(g.a.dtype)) return false;
  return estimateTemplateUs(g, bytes, target, sv, 1) <= estimateExternUs(op, bytes, target, sv) * WORTH;
}
