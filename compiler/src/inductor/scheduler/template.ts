import type { Reason } from "./refusal";
import type { SchedulerState } from "./state";
import type { AnyNode } from "./types";
export function isMultiOutputOf(_a: AnyNode, _b: AnyNode): boolean {
  return false;
}
export function prologueRefusal(_s: SchedulerState, _a: AnyNode, _b: AnyNode): Reason | null {
  return null;
}
export function epilogueRefusal(_s: SchedulerState, _a: AnyNode, _b: AnyNode): Reason | null {
  return null;
}
