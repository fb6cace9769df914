// Loop reordering in the separate last round. In: two nodes that share a buffer but walk it in different order. Out: the
// data they share once one of them has its loops reordered. Promises: only iteration loops of a pointwise node move; what
// was changed can be undone by the caller. After shared_data_after_reordering_loop, reorder_loops_by_dep_pair.
import { reorderIterLoops } from "../ir/transform";
import { factsOf } from "./access_facts";
import {
  decideLoopOrderToMatch,
  isMemoryDep,
  type MemoryDep,
  normalize,
  normalizeWithStrideOrder,
} from "./dependencies";
import { refreshGroup } from "./groups";
import { noteLoops } from "./loop_changes";
import { refreshDependencies } from "./nodes";
import { scoreFusionMemory } from "./score";
import {
  behaves,
  depBytes,
  depNumel,
  flag,
  isForeach,
  isGpu,
  isGroup,
  isReduction,
  isTemplate,
  membersOf,
  type SchedulerState,
} from "./state";
import type { AnyNode, Dep, SchedulerNode } from "./types";

/** nothing was found; less than any score */
const NONE = -1;

export function sharedDataAfterReorderingLoop(s: SchedulerState, a: AnyNode, b: AnyNode): number {
  if (!flag(s, "loop_ordering_after_fusion") || !isGpu(a) || !isGpu(b)) return NONE;
  // what follows a product may be written in another order; the product keeps its own
  if (isTemplate(b) || (isTemplate(a) && !(behaves(s, "operand_layouts") && !isReduction(b)))) return NONE;
  const pair = pairToAlign(s, a, b);
  if (!pair || !isMemoryDep(pair[0]) || !isMemoryDep(pair[1])) return NONE;
  const [mine, theirs] = pair;
  if (mine.vars.length !== theirs.vars.length) {
    return normalize(mine, s.sizevars) === normalize(theirs, s.sizevars) ? depBytes(s, mine) : NONE;
  }
  let reordered = false;
  if (isTemplate(a)) reordered = reorderByDeps(s, b, theirs, mine);
  else if (!isReduction(a)) reordered = reorderByDeps(s, a, mine, theirs);
  else if (!isReduction(b)) reordered = reorderByDeps(s, b, theirs, mine);
  return reordered ? scoreFusionMemory(s, a, b) : NONE;
}

/** The largest buffer that both walk over the same elements, whatever the order: how each accesses it. */
function pairToAlign(s: SchedulerState, a: AnyNode, b: AnyNode): readonly [Dep, Dep] | null {
  const [x, y] = [factsOf(a), factsOf(b)];
  const names = [...x.loopedBuffers].filter(n => y.loopedBuffers.has(n));
  const [mine, theirs] = [x.lastDeps, y.lastDeps];
  let best: readonly [Dep, Dep] | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const n of names) {
    const p = mine.get(n);
    const q = theirs.get(n);
    if (!p || !q || strideOrdered(s, p) !== strideOrdered(s, q)) continue;
    const numel = s.sizevars.hint(depNumel(s, p)) ?? 0;
    if (numel > most) {
      most = numel;
      best = [p, q];
    }
  }
  return best;
}

const strideOrdered = (s: SchedulerState, d: Dep): Dep =>
  isMemoryDep(d) ? normalizeWithStrideOrder(d, s.sizevars) : d;

/** Gives `node` the loop order in which it walks `mine` as the other walks `theirs`; false if there is none. */
function reorderByDeps(s: SchedulerState, node: AnyNode, mine: MemoryDep, theirs: MemoryDep): boolean {
  if (isForeach(node)) return false;
  const members = membersOf(node);
  const [first] = members;
  if (!first || members.some(m => !m.body)) return false;
  const sizes = first.sizes[0];
  const alike = members.every(m => m.sizes[0].length === sizes.length && m.sizes[0].every((x, i) => x === sizes[i]));
  if (!alike || sizes.length !== mine.vars.length) return false;
  const order = decideLoopOrderToMatch(mine, theirs, s.sizevars);
  if (!order || order.length === 0) return false;
  for (const m of members) applyLoopOrder(s, m, order);
  if (isGroup(node)) {
    noteLoops(s, node);
    refreshGroup(node);
  }
  return true;
}

function applyLoopOrder(s: SchedulerState, node: SchedulerNode, order: readonly number[]): void {
  if (!node.body) return;
  noteLoops(s, node);
  node.body = reorderIterLoops(node.body, order, s.sizevars);
  node.sizes = [node.body.iterSizes, node.body.reduceSizes];
  refreshDependencies(s, node, false);
}
