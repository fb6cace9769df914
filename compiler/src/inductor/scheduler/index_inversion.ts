import type { SchedulerState } from "./state";
import type { AnyNode } from "./types";
export function sharedDataAfterInvertingIndexing(_s: SchedulerState, _a: AnyNode, _b: AnyNode): number {
  return -1;
}
