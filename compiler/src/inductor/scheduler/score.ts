// In: two nodes. Out: how much is gained by fusing them, and the order of candidate pairs.
// Promises: the order is Inductor's, ties and all (choices.py: FusionScore; CPython's list.sort, since the comparison is
// not transitive). Scores are bytes under the example sizes.
import { factsOf } from "./access_facts";
import { depBytes, flag, isReduction, isTemplate, type SchedulerState } from "./state";
import type { AnyNode, Dep } from "./types";

/** dependencies of a node, reads first, each once */
export function allDeps(n: AnyNode): ReadonlySet<Dep> {
  return factsOf(n).deps;
}

/** The dependencies that are the same on both sides: same buffer, index, loops and mode. */
export function commonDeps(a: AnyNode, b: AnyNode): Dep[] {
  const theirs = allDeps(b);
  const common: Dep[] = [];
  for (const d of allDeps(a)) if (theirs.has(d)) common.push(d);
  return common;
}

/** bytes of the accesses that both make in the same way */
export function scoreFusionMemory(s: SchedulerState, a: AnyNode, b: AnyNode): number {
  if (isTemplate(a) || isTemplate(b)) return scoreTemplatePair(s, a, b);
  let bytes = 0;
  for (const d of commonDeps(a, b)) bytes += depBytes(s, d);
  return bytes;
}

/** A template's accesses are matched by buffer alone: how it walks is decided later. */
function scoreTemplatePair(s: SchedulerState, a: AnyNode, b: AnyNode): number {
  let bytes = 0;
  const theirs = [...allDeps(b)];
  for (const d of allDeps(a)) {
    const same = theirs.find(o => o.name === d.name && o.kind !== "weak" && d.kind !== "weak");
    if (same) bytes += Math.max(depBytes(s, d), depBytes(s, same));
  }
  return bytes;
}

export interface FusionScore {
  readonly template: number;
  readonly type: boolean;
  readonly memory: number;
  readonly overlap: number;
  readonly proximity: number;
}

/** how far apart two nodes are in the original order, as a negative number */
export function proximity(a: AnyNode, b: AnyNode): number {
  return -Math.max(Math.abs(a.minOrder - b.maxOrder), Math.abs(b.minOrder - a.maxOrder));
}

export function scoreFusion(s: SchedulerState, a: AnyNode, b: AnyNode, memory: number, overlap: number): FusionScore {
  const template = isTemplate(b) ? 0 : 1 + Number(isTemplate(a) === flag(s, "epilogue_fusion_first") && memory > 0);
  return {
    template,
    type: isReduction(a) === isReduction(b) && memory > 0,
    memory,
    overlap,
    proximity: proximity(a, b),
  };
}

/** how many times larger a memory score must be to win whatever else speaks against it */
const MEMORY_DOMINATES = 16;

export function lessScore(a: FusionScore, b: FusionScore): boolean {
  if (a.template !== b.template) return a.template < b.template;
  if (Math.max(a.memory, b.memory) > MEMORY_DOMINATES * Math.min(a.memory, b.memory)) return a.memory < b.memory;
  if (a.type !== b.type) return !a.type;
  if (a.memory !== b.memory) return a.memory < b.memory;
  if (a.overlap !== b.overlap) return a.overlap < b.overlap;
  return a.proximity < b.proximity;
}
