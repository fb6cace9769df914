// Whether two nodes may become one kernel. In: node1, node2. Out: yes or no; every no that Inductor words is recorded.
// Promises: the checks and their order are those of Scheduler.can_fuse; each kind of fusion has its own file.
import { backendRefusal } from "./backend";
import { expandDimensionToMatch } from "./expand_dimension";
import { horizontalRefusal } from "./horizontal";
import { sharedDataAfterInvertingIndexing } from "./index_inversion";
import { undoLoops } from "./loop_changes";
import { sharedDataAfterReorderingLoop } from "./loop_reorder";
import { mergedScore } from "./merged_deps";
import { canJoinMixOrder, canMixOrder, mixOrderScore } from "./mix_order";
import { nestedAccepts, nestedRelaxation } from "./nested";
import { unionOf } from "./op_set";
import { overlapScore } from "./overlap";
import { fusionIncreasesPeakMemory } from "./peak_memory_check";
import { operandRelaxation } from "./prologue";
import { passes, reason, refuse, type Verdict } from "./refusal";
import { scoreFusionMemory } from "./score";
import {
  behaves,
  flag,
  isExtern,
  isForeach,
  isMixOrder,
  isNested,
  isNop,
  isReduction,
  isTemplate,
  membersOf,
  operationNames,
  type SchedulerState,
  setting,
} from "./state";
import { epilogueRefusal, isMultiOutputOf, prologueRefusal } from "./template";
import { deviceText } from "./texts";
import { isTransposeReduction } from "./transpose_reduction";
import type { AnyNode } from "./types";
import { isProducerOf, verticalRefusal } from "./vertical";

export interface CanFuseOptions {
  /** the separate last round, in which loops may be reordered */
  readonly reorder?: boolean;
  /** false while something is tried against one half of a mix-order node */
  readonly mixOrder?: boolean;
}

export function canFuse(s: SchedulerState, a: AnyNode, b: AnyNode, options: CanFuseOptions = {}): boolean {
  if (a === b) return false;
  if (isNested(b) || isTransposeReduction(a) || isTransposeReduction(b)) return false;
  if (isMixOrder(a)) return canJoinMixOrder(s, a, b, (x, y) => canFuse(s, x, y, { mixOrder: false }));
  if (isMixOrder(b)) return false;
  if (isMultiOutputOf(a, b)) return true;
  if (!passes(s, a, b, kindRefusal(s, a, b))) return false;
  if (!behaves(s, "rollback_refused_reordering")) return fits(s, a, b, options);
  const changes = s.loopChanges.length;
  if (fits(s, a, b, options)) return true;
  undoLoops(s, changes);
  return false;
}

/** what the nodes are, before what they read */
function kindRefusal(s: SchedulerState, a: AnyNode, b: AnyNode): Verdict {
  if (a.type === "GroupedSchedulerNode" || b.type === "GroupedSchedulerNode") {
    return reason("grouped_node", "grouped node must not be fused with other nodes");
  }
  if (isNop(a)) return reason("nop_kernel", "node1 is nop");
  if (isExtern(a)) {
    return reason(
      "extern_kernel",
      behaves(s, "extern_epilogue_wording") ? "node1 is extern but not a triton kernel" : "node1 is extern or nop",
    );
  }
  if (isExtern(b) || isNop(b)) return reason("extern_kernel", "node2 is extern or nop");
  if (operationNames(b).some(o => a.ancestors.has(o))) return reason("order", "node1 must go before node2");
  if (isTemplate(b)) {
    const why = prologueRefusal(s, a, b);
    if (why) return why;
  }
  if (isTemplate(a)) {
    const why = epilogueRefusal(s, a, b);
    if (why) return why;
  }
  const [d1, d2] = [deviceText(a.device), deviceText(b.device)];
  return d1 === d2 ? null : reason("device_mismatch", `device mismatch (${d1} vs ${d2})`);
}

/** the data that they share and the loops that they have */
function fits(s: SchedulerState, a: AnyNode, b: AnyNode, options: CanFuseOptions): boolean {
  const mixOrder = options.mixOrder !== false;
  const threshold = setting(s, "score_fusion_memory_threshold", 10);
  let score = memoryScore(s, a, b, mixOrder);
  // what follows a product shares the whole of it, in whatever order it reads
  if (options.reorder && (score < threshold || isTemplate(a)) && flag(s, "loop_ordering_after_fusion")) {
    score = Math.max(score, sharedDataAfterReorderingLoop(s, a, b));
  }
  if (flag(s, "expand_dimension_for_pointwise_nodes") && expandDimensionToMatch(s, a, b))
    score = memoryScore(s, a, b, mixOrder);
  if (flag(s, "loop_index_inversion_in_fusion") && score < threshold) {
    score = Math.max(score, sharedDataAfterInvertingIndexing(s, a, b));
  }
  if (score < threshold) score = Math.max(score, mergedScore(s, a, b));
  if (!choicesAllow(s, a, b, score)) return false;
  const recurse = (x: AnyNode, y: AnyNode): boolean => canFuse(s, x, y);
  if (isProducerOf(a, b)) {
    const relaxed = relaxationOf(s, a, b);
    if (isNested(a) && !relaxed) return false;
    return (
      passes(s, a, b, verticalRefusal(s, a, b, relaxed ?? undefined)) &&
      (relaxed !== null || passes(s, a, b, backendRefusal(s, a, b, recurse)))
    );
  }
  if (isNested(a)) return false;
  const horizontal = canMixOrder(s, a, b) ? null : horizontalRefusal(s, a, b, score);
  return passes(s, a, b, horizontal) && passes(s, a, b, backendRefusal(s, a, b, recurse));
}

/** which reads of what `a` computes are matched by rules of a kind of fusion's own */
function relaxationOf(s: SchedulerState, a: AnyNode, b: AnyNode): ReturnType<typeof nestedRelaxation> {
  if (isNested(a)) return nestedAccepts(s, a, b);
  if (isTemplate(b) && behaves(s, "computes_operands")) return operandRelaxation(a, b);
  return nestedRelaxation(s, a, b);
}

/** bytes shared, or elements for a pair of reductions along rows and columns */
export function memoryScore(s: SchedulerState, a: AnyNode, b: AnyNode, mixOrder = true): number {
  return mixOrder && canMixOrder(s, a, b) ? mixOrderScore(s, a) : scoreFusionMemory(s, a, b);
}

function choicesAllow(s: SchedulerState, a: AnyNode, b: AnyNode, score: number): boolean {
  const shares = score > 0 || overlapScore(s, a, b, score) > 0;
  if (!shares && (!flag(s, "aggressive_fusion") || isReduction(a) || isReduction(b))) {
    return refuse(s, a, b, reason("no_shared_data", "no shared data"));
  }
  if (!isForeach(a) && !isForeach(b) && membersOf(a).length + membersOf(b).length > setting(s, "max_fusion_size", 64)) {
    return refuse(s, a, b, reason("max_fusion_size", "exceeds max fusion"));
  }
  if (fusionIncreasesPeakMemory(s, a, b, () => memoryScore(s, a, b))) {
    return refuse(s, a, b, reason("peak_memory", "Fusion will increase peak memory"));
  }
  const limit = setting(s, "max_fusion_unique_io_buffers", Number.POSITIVE_INFINITY);
  if (Number.isFinite(limit) && uniqueBuffers(a, b) > limit) {
    return refuse(s, a, b, reason("too_many_buffers", "fusion_prevent_too_many_reads_and_writes"));
  }
  return true;
}

/** buffers that the fused kernel reads and writes; what one makes for the other is not read */
function uniqueBuffers(a: AnyNode, b: AnyNode): number {
  const writes = new Set([...a.readWrites.writes, ...b.readWrites.writes].map(d => d.name));
  const reads = new Set([...a.readWrites.reads, ...b.readWrites.reads].map(d => d.name).filter(n => !writes.has(n)));
  return reads.size + writes.size;
}

/**
 * Whether the fused node would wait for itself: a fused node between the two, some members of which descend from one and
 * some of which the other needs.
 */
export function willFusionCreateCycle(s: SchedulerState, a: AnyNode, b: AnyNode): boolean {
  const names = new Set([...operationNames(a), ...operationNames(b)]);
  const above = unionOf([a.ancestors, b.ancestors]);
  const isAbove = (n: string): boolean => above.has(n) && !names.has(n);
  const visited = new Set<AnyNode>();
  const queue: string[] = [];
  for (const first of above) {
    if (!names.has(first)) queue.push(first);
    while (queue.length) {
      const node = s.fusedNode.get(queue.pop() ?? "");
      if (!node || !("snodes" in node) || node.type === "GroupedSchedulerNode" || visited.has(node)) continue;
      visited.add(node);
      if (operationNames(node).every(isAbove)) continue;
      for (const x of node.ancestors) {
        if (names.has(x)) {
          refuse(s, a, b, reason("cycle", "will create cycle"));
          return true;
        }
        if (!isAbove(x)) queue.push(x);
      }
    }
  }
  return false;
}
