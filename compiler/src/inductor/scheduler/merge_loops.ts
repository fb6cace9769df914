// After fusion: loops of every body merged as far as its indices allow, dependencies normalised (Scheduler.merge_loops).
import { mergeLoops } from "../ir/transform";
import { normalizesEarly, refreshDependencies } from "./nodes";
import { behaves, isNested, membersOf, type SchedulerState } from "./state";
import type { AnyNode } from "./types";

export function mergeAllLoops(s: SchedulerState, nodes: readonly AnyNode[]): void {
  for (const n of nodes) {
    if (isNested(n) && behaves(s, "nested_keeps_loops")) continue;
    for (const m of membersOf(n)) {
      if (!m.body || normalizesEarly(s, m.device)) continue;
      m.body = mergeLoops(m.body, s.sizevars);
      m.sizes = [m.body.iterSizes, m.body.reduceSizes];
      m.merged = true;
      refreshDependencies(s, m, true);
    }
  }
}
