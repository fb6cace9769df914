// In: nodes before fusion. Out: nodes after it, with the log of what was tried. Promises: pairs are tried and taken in
// Inductor's order: up to ten rounds, then one more in which loops may be reordered (PR 162355). After fuse_nodes,
// fuse_nodes_once, get_possible_fusions (torch/_inductor/scheduler.py).
import { stopPoint } from "../../interrupt";
import { canFuse, memoryScore, willFusionCreateCycle } from "./can_fuse";
import { withoutReads } from "./dependencies";
import { fuse } from "./fuse";
import { setReadWrites, topologicalSort } from "./nodes";
import { overlapScore } from "./overlap";
import { sortDescending } from "./python_sort";
import { lessScore, scoreFusion } from "./score";
import {
  currentNode,
  flag,
  isExtern,
  isForeach,
  isGroup,
  isNop,
  isTemplate,
  membersOf,
  type SchedulerState,
  setting,
  usedBufferNames,
} from "./state";
import { fuseTransposeReductions } from "./transpose_reduction";
import type { AnyNode, CandidateSnapshot, Dep } from "./types";
import { fusableWeakDep } from "./vertical";

const MAX_ROUNDS = 10;

/** whether a legal fusion pays */
export type Pays = (a: AnyNode, b: AnyNode) => boolean;

export function fuseNodes(s: SchedulerState, nodes: readonly AnyNode[], pays: Pays): AnyNode[] {
  let current = [...nodes];
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const before = current.length;
    s.round = round;
    s.events.push({ kind: "attempting", round, maxRounds: MAX_ROUNDS, nodes: before });
    current = fuseOnce(s, current, false, pays);
    s.events.push({ kind: "completed", round, maxRounds: MAX_ROUNDS, before, after: current.length });
    if (current.length === before || current.length === 1) {
      s.events.push({ kind: "complete", rounds: round });
      break;
    }
  }
  current = fuseTransposeReductions(s, current);
  if (flag(s, "loop_ordering_after_fusion") || flag(s, "loop_index_inversion_in_fusion")) {
    s.inReorderRound = true;
    current = fuseOnce(s, current, true, pays);
    s.inReorderRound = false;
  }
  return current;
}

function fuseOnce(s: SchedulerState, nodes: readonly AnyNode[], reorder: boolean, pays: Pays): AnyNode[] {
  for (const n of nodes) pruneRedundantDeps(s, n);
  s.events.push({ kind: "candidates", nodes: nodes.map(snapshot) });
  const fused = new Set(nodes);
  for (const [first, second] of possibleFusions(s, nodes, reorder)) {
    const a = currentNode(s, first);
    const b = currentNode(s, second);
    if (!canFuse(s, a, b, { reorder }) || willFusionCreateCycle(s, a, b) || !pays(a, b)) continue;
    const names = [a.name, b.name] as const;
    const at = s.events.length;
    s.events.push({ kind: "fusing", a: names[0], b: names[1], result: "" });
    const result = fuse(s, a, b);
    s.events[at] = { kind: "fusing", a: names[0], b: names[1], result: result.name };
    fused.delete(a);
    fused.delete(b);
    fused.add(result);
  }
  return topologicalSort([...fused].sort((x, y) => x.minOrder - y.minOrder));
}

function snapshot(n: AnyNode): CandidateSnapshot {
  const parts = isForeach(n) && isGroup(n) ? n.snodes.map(x => (isGroup(x) ? snapshot(x) : x)) : membersOf(n);
  return { name: n.name, type: n.type, members: parts };
}

/** what no kernel of ours can hold */
const unfusable = (n: AnyNode): boolean => (isExtern(n) || isNop(n)) && !isTemplate(n);

/** Pairs that may fuse, best first. */
function possibleFusions(
  s: SchedulerState,
  nodes: readonly AnyNode[],
  reorder: boolean,
): (readonly [AnyNode, AnyNode])[] {
  const pairs: (readonly [AnyNode, AnyNode])[] = [];
  const seen = new Map<AnyNode, Set<AnyNode>>();
  const attempts = setting(s, "max_fusion_buffer_group_pairwise_attempts", 64);
  const tryAll = (group: readonly AnyNode[]): void => {
    group.forEach((a, i) => {
      stopPoint();
      for (const b of group.slice(i + 1, i + 1 + attempts)) {
        const tried = seen.get(a) ?? new Set();
        if (tried.has(b)) continue;
        seen.set(a, tried.add(b));
        if (canFuse(s, a, b, { reorder })) pairs.push([a, b]);
        else if ((isTemplate(b) || isForeach(b)) && canFuse(s, b, a, { reorder })) pairs.push([b, a]);
      }
    });
  };
  const fusible = nodes.filter(n => !unfusable(n));
  for (const group of groupBy(fusible, usedBufferNames)) tryAll(group);
  if (flag(s, "aggressive_fusion"))
    for (const group of groupBy(nodes, n => [`${n.group[0].id},${n.group[1].id}`])) tryAll(group);
  const scored = pairs.map(([a, b]) => {
    const memory = memoryScore(s, a, b);
    return { pair: [a, b] as const, score: scoreFusion(s, a, b, memory, overlapScore(s, a, b, memory)) };
  });
  s.events.push({ kind: "found", count: pairs.length });
  return sortDescending(scored, (x, y) => lessScore(x.score, y.score)).map(x => x.pair);
}

function groupBy(nodes: readonly AnyNode[], keys: (n: AnyNode) => Iterable<string>): Iterable<AnyNode[]> {
  const groups = new Map<string, AnyNode[]>();
  for (const n of nodes) {
    for (const key of keys(n)) {
      const list = groups.get(key);
      if (list) list.push(n);
      else groups.set(key, [n]);
    }
  }
  return groups.values();
}

/** A weak dependency says nothing new on a node that is waited for anyway, or on the node itself. */
function pruneRedundantDeps(s: SchedulerState, node: AnyNode): void {
  if (!node.unmetDependencies.some(d => d.kind === "weak")) return;
  const producer = (d: Dep): AnyNode | undefined => s.fusedNode.get(s.buffers.get(d.name)?.definingOp.name ?? "");
  const waitedFor = new Set(node.unmetDependencies.flatMap(d => (d.kind === "weak" ? [] : (producer(d) ?? []))));
  const gone = new Set(
    node.unmetDependencies.filter(d => {
      if (d.kind !== "weak") return false;
      const p = producer(d);
      return p === node || (p !== undefined && waitedFor.has(p) && fusableWeakDep(s, d, p, node));
    }),
  );
  if (gone.size) setReadWrites(s, node, withoutReads(node.readWrites, gone));
}
