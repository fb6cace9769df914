// What one Triton kernel can hold. In: two nodes. Out: why their loops do not fit one kernel.
// Promises: after SIMDScheduling.can_fuse (torch/_inductor/codegen/simd.py), the same for producers and neighbours.
import { mul, printLog } from "../symbolic";
import { foreachRefusal } from "./foreach";
import { canMixOrder } from "./mix_order";
import { type Reason, reason, type Verdict } from "./refusal";
import {
  bufferNames,
  flag,
  isForeach,
  isReduction,
  isSplitScan,
  isTemplate,
  membersOf,
  type SchedulerState,
  usedBufferNames,
} from "./state";
import { type Tiling, tilingOf } from "./tiling/select";
import { isCompatible } from "./tiling/split_ranges";
import { sameTiling } from "./tiling/types";
import type { AnyNode } from "./types";

export type CanFuse = (a: AnyNode, b: AnyNode) => boolean;

export function backendRefusal(s: SchedulerState, a: AnyNode, b: AnyNode, canFuse: CanFuse): Verdict {
  if (isForeach(a) || isForeach(b)) return foreachRefusal(s, a, b, canFuse);
  if (isSplitScan(a) !== isSplitScan(b) && isReduction(a) && isReduction(b)) {
    return reason("split_scan", "Split scan cannot fuse with reductions");
  }
  if (isReduction(a) && isReduction(b)) return reductionPair(s, a, b);
  if (!isReduction(a) && !isReduction(b)) return pointwisePair(s, a, b);
  if (!isReduction(a)) return pointwiseAndReduction(s, a, b);
  const why = pointwiseAndReduction(s, b, a);
  return why === null ? null : { ...why, swapped: true };
}

const sameExtent = (a: AnyNode, b: AnyNode): boolean => a.group[0] === b.group[0] && a.group[1] === b.group[1];

function extents(a: AnyNode, b: AnyNode): string {
  const [n1, r1] = a.group.map(printLog);
  const [n2, r2] = b.group.map(printLog);
  return `(${n1}, ${n2}), (${r1}, ${r2})`;
}

function reductionPair(s: SchedulerState, a: AnyNode, b: AnyNode): Reason | null {
  if (sameExtent(a, b) || canMixOrder(s, a, b)) return null;
  return reason("numel_rnumel_mismatch_reduce", `numel/rnumel mismatch (reduce) ${extents(a, b)}`);
}

function pointwisePair(s: SchedulerState, a: AnyNode, b: AnyNode): Reason | null {
  if (!sameExtent(a, b)) {
    if (!isTemplate(b))
      return reason("numel_rnumel_mismatch_pointwise", `numel/rnumel mismatch (non-reduce) ${extents(a, b)}`);
    const written = bufferNames(a);
    for (const m of membersOf(b)) {
      if (isTemplate(m)) break;
      if ([...usedBufferNames(m)].some(n => written.has(n)) && !sameExtent(a, m)) {
        return reason("numel_rnumel_mismatch_pointwise", `numel/rnumel mismatch prologue mismatch ${extents(a, m)}`);
      }
    }
  }
  if (isTemplate(a) || isTemplate(b) || !flag(s, "triton.tiling_prevents_pointwise_fusion")) return null;
  const [numel, rnumel] = a.group;
  const t1 = tilingOf(s, membersOf(a), numel, rnumel);
  const t2 = tilingOf(s, membersOf(b), numel, rnumel);
  if (t1.size <= 2 && t2.size <= 2) return null;
  const t3 = tilingOf(s, [...membersOf(a), ...membersOf(b)], numel, rnumel);
  const fits = t1.size > 2 ? sameTiling(t1, t3) && (t2.size <= 2 || sameTiling(t1, t2)) : sameTiling(t2, t3);
  return fits
    ? null
    : reason("tiling_mismatch", `tiling mismatch (${tilingText(t1)}, ${tilingText(t2)}, ${tilingText(t3)})`);
}

const tilingText = (t: Tiling): string => `{${[...t].map(([p, e]) => `'${p}': ${printLog(e)}`).join(", ")}}`;

/** `a` is pointwise, `b` a reduction: either over the elements that b reduces, or over its results. */
function pointwiseAndReduction(s: SchedulerState, a: AnyNode, b: AnyNode): Reason | null {
  const [numel, rnumel] = b.group;
  if (a.group[0] === s.sizevars.simplify(mul(numel, rnumel))) {
    if (!membersOf(a).every(m => isCompatible([numel, rnumel], m.sizes, s.sizevars))) {
      return reason("nodes_numel_rnumel_incompatibility", "nodes numel/rnumel incompatibility");
    }
    if (!flag(s, "triton.tiling_prevents_reduction_fusion") || isTemplate(a)) return null;
    const sizes = [...tilingOf(s, membersOf(a), a.group[0]).values()];
    const valid = [[a.group[0]], [numel, rnumel]].some(
      want => sizes.length === want.length + 1 && want.every((e, i) => e === sizes[i]),
    );
    return valid ? null : reason("tiling_prevents_reduction_fusion", "invalid tiling for reduction");
  }
  return a.group[0] === numel ? null : reason("nodes_numel_incompatibility", "nodes numel incompatibility");
}
