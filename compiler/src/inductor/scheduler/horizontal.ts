// Fusion of two nodes that share reads but do not depend on each other. In: two nodes and their score. Out: why they
// stay apart. Promises: after InductorChoices.can_fuse_horizontal.
import { type Reason, reason } from "./refusal";
import { proximity } from "./score";
import { type SchedulerState, setting } from "./state";
import type { AnyNode } from "./types";

/** nodes farther apart than this in the original order would keep buffers alive between them */
const MAX_DISTANCE = 64;

export function horizontalRefusal(s: SchedulerState, a: AnyNode, b: AnyNode, score: number): Reason | null {
  if (score < setting(s, "score_fusion_memory_threshold", 10)) {
    return reason("score_fusion_memory_threshold", "score_fusion_memory_threshold");
  }
  if (-proximity(a, b) > MAX_DISTANCE) {
    return reason("too_far_away", "Nodes are too far away. Fusing them may increase peak memory.");
  }
  return null;
}
