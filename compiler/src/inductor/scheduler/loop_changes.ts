// What trying a pair does to the loops of its nodes, so that a refused pair leaves nothing behind. In: nodes that are about
// to change. Promises: undone changes leave a node with the very objects that it had.
import { isGroup, type SchedulerState } from "./state";
import type { AnyNode } from "./types";

/** To be told before a node's loops change, or a group's dependencies after those of its members. */
export function noteLoops(s: SchedulerState, node: AnyNode): void {
  const { readWrites, unmetDependencies } = node;
  const before = isGroup(node)
    ? { readWrites, unmetDependencies }
    : { readWrites, unmetDependencies, body: node.body, sizes: node.sizes, group: node.group };
  s.loopChanges.push(() => Object.assign(node, before));
}

/** Undoes what was noted since there were `count` changes. */
export function undoLoops(s: SchedulerState, count: number): void {
  while (s.loopChanges.length > count) s.loopChanges.pop()?.();
}
