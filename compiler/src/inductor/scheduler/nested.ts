import type { MemoryDep } from "./dependencies";
import type { SchedulerState } from "./state";
import type { AnyNode, Dep, GroupNode } from "./types";
export function canJoinNested(_s: SchedulerState, _a: GroupNode, _b: AnyNode): boolean {
  return false;
}
export function nestedRelaxation(
  _s: SchedulerState,
  _a: AnyNode,
  _b: AnyNode,
): ((read: Dep, write: MemoryDep) => boolean) | null {
  return null;
}
