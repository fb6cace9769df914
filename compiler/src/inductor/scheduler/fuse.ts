// In: two nodes that may fuse. Out: the node that replaces them, of the kind that the pair calls for.
// Promises: names join the members' names in fused order; the map from operations to groups is kept.

import { canFuse } from "./can_fuse";
import { fuseForeach } from "./foreach";
import { makeGroup } from "./groups";
import { canMixOrder, fuseMixOrder, joinMixOrder } from "./mix_order";
import { fuseNested, joinNested, nestedShape } from "./nested";
import { isForeach, isMixOrder, isNested, isReduction, membersOf, type SchedulerState } from "./state";
import type { AnyNode, GroupNode } from "./types";

export function fuse(s: SchedulerState, a: AnyNode, b: AnyNode): GroupNode {
  if (isForeach(a) || isForeach(b)) return fuseForeach(s, a, b);
  if (isMixOrder(a))
    return joinMixOrder(
      s,
      a,
      b,
      (x, y) => canFuse(s, x, y, { mixOrder: false }),
      (x, y) => fuse(s, x, y),
    );
  if (isNested(a)) return joinNested(s, a, b);
  if (canMixOrder(s, a, b)) return fuseMixOrder(s, a, b);
  if (isReduction(a) && isReduction(b) && nestedShape(s, a, b)) return fuseNested(s, a, b);
  return makeGroup(s, "FusedSchedulerNode", [...membersOf(a), ...membersOf(b)]);
}
