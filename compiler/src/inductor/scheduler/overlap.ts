// In: two pointwise nodes without an equal access. Out: the bytes of the buffers that both read, wherever they read them.
// Promises: 0 unless the preset counts overlap, or where the shared part is too small a share (score_fusion of 2026).

import { readNumber } from "../../presets";
import { behaves, depBytes, isReduction, isTemplate, type SchedulerState } from "./state";
import type { AnyNode } from "./types";

/** bytes that an access of unknown size counts */
const UNKNOWN_SIZE = 10;

export function overlapScore(s: SchedulerState, a: AnyNode, b: AnyNode, memory: number): number {
  if (!behaves(s, "buffer_overlap_score") || memory !== 0) return 0;
  if (isReduction(a) || isReduction(b) || isTemplate(a) || isTemplate(b)) return 0;
  const mine = readBytes(s, a);
  const theirs = readBytes(s, b);
  const common = [...mine.keys()].filter(n => theirs.has(n));
  const sum = (m: ReadonlyMap<string, number>, names: Iterable<string>): number =>
    [...names].reduce((t, n) => t + (m.get(n) ?? 0), 0);
  const shared = Math.max(sum(mine, common), sum(theirs, common));
  const total = Math.max(sum(mine, mine.keys()), sum(theirs, theirs.keys()));
  const ratio = total === 0 ? 0 : shared / total;
  return ratio >= (readNumber(s.behaviours, "min_overlap_ratio") ?? 0.5) ? shared : 0;
}

function readBytes(s: SchedulerState, n: AnyNode): Map<string, number> {
  const bytes = new Map<string, number>();
  for (const d of n.readWrites.reads) {
    if (d.kind === "memory") bytes.set(d.name, (bytes.get(d.name) ?? 0) + (depBytes(s, d) || UNKNOWN_SIZE));
  }
  return bytes;
}
