// Rows of a product's operands further apart, so that each begins on the alignment that tensor cores' kernels load with. In: an
// operand. Out: strides and what the copy to them moves. Promises: shapes stay; nothing is computed on the padding.

import { estimateKernelUs } from "../cost";
import { itemsize } from "../ir/dtypes";
import type { GraphFacts } from "../ir/graph_facts";
import { fillOrderOf } from "../ir/layouts";
import type { TargetProperties } from "../ir/target";
import type { BufferView } from "../ir/types";
import { type Expr, int, intValue } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { alignmentOf, repeats } from "../templates/alignment";
import { denseDimension } from "../templates/forms";

/** strides in the same order, each but the innermost a multiple of what is loaded at once */
export function paddedStrides(v: BufferView, sv: SizeVars): readonly Expr[] {
  const step = alignmentOf(v.dtype);
  const last = v.size.length - 1;
  const dense = last > 0 && denseDimension(v) === "first" ? last - 1 : last;
  const order = [dense, ...fillOrderOf(v.stride, sv).filter(d => d !== dense)];
  const out: Expr[] = v.size.map(() => int(0));
  let next = 1;
  for (const d of order) {
    if (repeats(v.stride[d] as Expr)) continue;
    out[d] = int(next);
    next = Math.ceil((next * (intValue(v.size[d] as Expr) ?? 1)) / step) * step;
  }
  return out;
}

export const bytesOf = (v: BufferView): number =>
  v.size.reduce((n, s, d) => (repeats(v.stride[d] as Expr) ? n : n * (intValue(s) ?? 1)), itemsize(v.dtype));

/** bytes that copying an operand moves by itself: nothing where the kernel that makes it, for this reader alone, pads it */
export function paddingBytes(v: BufferView, facts: GraphFacts): number {
  if (facts.producer(v.buffer)?.kind !== "computed") return 2 * bytesOf(v);
  return facts.readers(v.buffer).length > 1 || facts.isReturned(v.buffer) ? bytesOf(v) : 0;
}

export const copyUs = (bytes: number, target: TargetProperties): number =>
  bytes === 0 ? 0 : estimateKernelUs(bytes, 0, target);
