// The roofline estimate that stands where nothing was measured. In: bytes moved, floating-point operations, the target.
// Out: microseconds. It is a bound with a fixed cost, not a simulation; every number from here is marked as an estimate.

import type { TargetProperties } from "./ir/target";
import type { ExternOperation } from "./ir/types";
import type { SizeVars } from "./symbolic/size_vars";
import { libraryPenalty } from "./templates/alignment";

/** start and end of a kernel on the device, as seen between two launches of a CUDA graph */
export const KERNEL_FLOOR_US = 2.2;
/** a copy reaches about this share of the data sheet's bandwidth (4.25 of 4.8 TB/s on an H200), generated kernels a little less */
const COPY_EFFICIENCY = 0.885;
export const STREAMING_EFFICIENCY = 0.92 * COPY_EFFICIENCY;
/** library matrix products reach about this share of the dense peak */
const MATMUL_EFFICIENCY = 0.7;

/** what a kernel reads again within its rows comes from the L2, so many times faster than from memory */
export const L2_SPEEDUP = 2.5;

/** Microseconds as reports tell them: to the nanosecond. */
export const reportedUs = (us: number): number => Math.round(us * 1000) / 1000;

/** `again`: bytes that the kernel moves more than once, as loops over a row that did not stay in registers do */
export function estimateKernelUs(bytes: number, flops: number, target: TargetProperties, again = 0): number {
  const memory = ((bytes + again / L2_SPEEDUP) / (target.memoryBandwidth * STREAMING_EFFICIENCY)) * 1e6;
  const compute = (flops / target.peak32) * 1e6;
  return KERNEL_FLOOR_US + Math.max(memory, compute);
}

/** `penalty`: by how much arithmetic is slower than at the library's best */
export function estimateExternUs(
  op: ExternOperation,
  bytes: number,
  target: TargetProperties,
  sizevars: SizeVars,
  penalty = libraryPenalty(op),
): number {
  const memory = (bytes / (target.memoryBandwidth * STREAMING_EFFICIENCY)) * 1e6;
  const flops = externFlops(op, sizevars);
  const half = op.reads.some(r => r.dtype === "float16" || r.dtype === "bfloat16");
  const compute = (flops / ((half ? target.peak16 : target.peak32) * MATMUL_EFFICIENCY)) * 1e6 * penalty;
  return KERNEL_FLOOR_US + Math.max(memory, compute);
}

/** multiply-adds counted twice; 0 for kernels that are not bound by arithmetic */
export function externFlops(op: ExternOperation, sizevars: SizeVars): number {
  const dims = op.reads.map(r => r.size.map(s => sizevars.sizeHint(s)));
  const name = op.op.split(".")[1] ?? op.op;
  switch (name) {
    case "mm":
    case "addmm":
    case "bmm":
    case "baddbmm":
    case "split_mm": {
      const [a, b] = dims.slice(-2);
      if (!a || !b) return 0;
      return 2 * product(a) * (b[b.length - 1] ?? 1);
    }
    case "convolution": {
      const [x, w] = dims;
      if (!x || !w) return 0;
      // each output position multiplies one filter; output positions are taken as the input's (stride 1, padded)
      return 2 * (x[0] ?? 1) * product(x.slice(2)) * product(w);
    }
    default:
      return 0;
  }
}

function product(xs: readonly number[]): number {
  return xs.reduce((a, b) => a * b, 1);
}
