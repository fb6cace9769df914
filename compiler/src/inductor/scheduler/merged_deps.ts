// Data that two nodes share under loops of unlike shape. In: two nodes without an equal access. Out: the bytes of accesses
// that are the same once each has its loops merged. Promises: 0 unless behaviour `compares_merged_loops` is on. Inductor
// compares loops as they are, so [4096, 4096] and [512, 32768] over one buffer share nothing there.
import { isIndirect, isMemoryDep, type MemoryDep, normalize } from "./dependencies";
import { behaves, depBytes, isForeach, isTemplate, type SchedulerState } from "./state";
import type { AnyNode } from "./types";

export function mergedScore(s: SchedulerState, a: AnyNode, b: AnyNode): number {
  if (!behaves(s, "compares_merged_loops") || isTemplate(a) || isTemplate(b) || isForeach(a) || isForeach(b)) return 0;
  const theirs = new Set(merged(s, b));
  return merged(s, a).reduce((bytes, d) => bytes + (theirs.has(d) ? depBytes(s, d) : 0), 0);
}

function merged(s: SchedulerState, n: AnyNode): MemoryDep[] {
  const deps = [...n.readWrites.reads, ...n.readWrites.writes].filter(isMemoryDep).filter(d => !isIndirect(d));
  return [...new Set(deps.map(d => normalize(d, s.sizevars)))];
}
