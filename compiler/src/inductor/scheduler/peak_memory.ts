import type { SchedulerState } from "./state";
import type { AnyNode } from "./types";
export function estimatePeakMemory(_s: SchedulerState, _nodes: readonly AnyNode[]): number {
  return 0;
}
export function reorderForPeakMemory(_s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  return [...nodes];
}
