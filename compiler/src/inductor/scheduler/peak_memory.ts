// In: nodes in a valid order. Out: the order of least estimated peak memory, and that estimate in bytes.
// Promises: candidates are the given order, least-peak-memory-first, breadth first and depth first, in that order; the
// first of the lowest wins, so the given order stays unless strictly beaten. After torch/_inductor/memory.py.
import { type MemoryPlan, type PlannedNode, peakOf, planMemory } from "./memory_timeline";
import { behaves, type SchedulerState, setting } from "./state";
import type { AnyNode } from "./types";

export function reorderForPeakMemory(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  const plan = planMemory(s, nodes);
  plans.set(s, plan);
  const candidates = [[...nodes], leastPeakFirst(s, plan, nodes), breadthFirst(plan, nodes), depthFirst(plan, nodes)];
  let best = candidates[0] as AnyNode[];
  const returnsFirst = behaves(s, "returns_freed_first");
  let lowest = peakOf(plan, best, returnsFirst);
  for (const order of candidates.slice(1)) {
    if (order.length !== nodes.length) continue;
    const peak = peakOf(plan, order, returnsFirst);
    if (peak < lowest) {
      best = order;
      lowest = peak;
    }
  }
  return best;
}

/** Bytes alive at the worst moment: graph inputs that stay anyway do not count. */
export function estimatePeakMemory(s: SchedulerState, nodes: readonly AnyNode[]): number {
  return peakOf(planOf(s, nodes), nodes, false);
}

const plans = new WeakMap<SchedulerState, MemoryPlan>();

/** What is known of these nodes in this order, where it has stayed since other orders were tried. */
function planOf(s: SchedulerState, nodes: readonly AnyNode[]): MemoryPlan {
  const before = plans.get(s);
  if (before?.nodes.size === nodes.length && nodes.every((n, i) => before.nodes.get(n)?.index === i)) return before;
  return planMemory(s, nodes);
}

/** Always the ready node that adds least to the peak, then least to what is alive, then the earliest. */
function leastPeakFirst(s: SchedulerState, plan: MemoryPlan, nodes: readonly AnyNode[]): AnyNode[] {
  const info = new Map<AnyNode, { waits: number; frees: number }>();
  const ready = new Set<AnyNode>();
  for (const n of nodes) {
    const waits = plan.nodes.get(n)?.predecessors.size ?? 0;
    info.set(n, { waits, frees: 0 });
    if (waits === 0) ready.add(n);
  }
  const all = [...plan.buffers.values(), ...plan.freeableInputs.values()];
  const users = new Map(all.map(b => [b, b.successors.size + Number(plan.outputs.has(b.name))] as const));
  let live = [...plan.freeableInputs.values()].reduce((t, b) => t + b.free, 0);
  let most = live;
  let outputBytes = 0;
  for (const name of plan.outputs) outputBytes += (plan.buffers.get(name) ?? plan.freeableInputs.get(name))?.free ?? 0;
  most = Math.max(live, outputBytes);
  for (const n of nodes) {
    const mine = info.get(n);
    if (!mine) continue;
    for (const b of plan.nodes.get(n)?.inputs ?? []) if (users.get(b) === 1) mine.frees += b.free;
    for (const o of n.outputs) {
      const b = plan.buffers.get(o.name);
      if (b && users.get(b) === 0) mine.frees += b.free;
    }
  }
  const threshold = setting(s, "size_threshold_for_succ_based_strategy", 0);
  const order: AnyNode[] = [];
  while (ready.size) {
    const planned = [...ready].flatMap(n => plan.nodes.get(n) ?? []);
    const bySuccessor = threshold > 0 && planned.every(p => p.size > threshold);
    const key = (p: PlannedNode): readonly number[] => {
      if (bySuccessor)
        return [Math.min(nodes.length, ...[...p.successors].map(n => plan.nodes.get(n)?.index ?? nodes.length))];
      return [p.size > most - live ? p.size : 0, p.size - (info.get(p.node)?.frees ?? 0), p.index];
    };
    const chosen = planned.reduce((best, p) => (lessList(key(p), key(best)) ? p : best));
    ready.delete(chosen.node);
    order.push(chosen.node);
    live += chosen.size;
    most = Math.max(most, live);
    live -= info.get(chosen.node)?.frees ?? 0;
    for (const n of chosen.successors) {
      const next = info.get(n);
      if (next && --next.waits === 0) ready.add(n);
    }
    for (const b of chosen.inputs) {
      const left = (users.get(b) ?? 0) - 1;
      users.set(b, left);
      if (left !== 1) continue;
      for (const n of b.successors) {
        const next = info.get(n);
        if (next) next.frees += b.free;
      }
    }
  }
  return order;
}

function lessList(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    if (x !== y) return x < y;
  }
  return a.length < b.length;
}

/** Always the ready node whose predecessors ran earliest. */
function breadthFirst(plan: MemoryPlan, nodes: readonly AnyNode[]): AnyNode[] {
  const waits = new Map(nodes.map(n => [n, plan.nodes.get(n)?.predecessors.size ?? 0] as const));
  const position = new Map<AnyNode, number>();
  const order: AnyNode[] = [];
  const ready: { readonly node: AnyNode; readonly priority: readonly number[] }[] = [];
  const push = (node: AnyNode): void => {
    const ran = [...(plan.nodes.get(node)?.predecessors ?? [])].map(p => position.get(p) ?? -1);
    ready.push({
      node,
      priority: [...ran.sort((a, b) => a - b), Number.NEGATIVE_INFINITY, plan.nodes.get(node)?.index ?? 0],
    });
  };
  for (const n of nodes) if (waits.get(n) === 0) push(n);
  while (ready.length) {
    let at = 0;
    for (let i = 1; i < ready.length; i++) if (lessList(ready[i]?.priority ?? [], ready[at]?.priority ?? [])) at = i;
    const [chosen] = ready.splice(at, 1);
    if (!chosen) break;
    position.set(chosen.node, order.length);
    order.push(chosen.node);
    for (const n of plan.nodes.get(chosen.node)?.successors ?? []) {
      const left = (waits.get(n) ?? 0) - 1;
      waits.set(n, left);
      if (left === 0) push(n);
    }
  }
  return order;
}

/** Nodes that touch little memory first, each after what it needs, in the same order. */
function depthFirst(plan: MemoryPlan, nodes: readonly AnyNode[]): AnyNode[] {
  const producer = new Map<string, AnyNode>();
  for (const n of nodes) for (const o of n.outputs) producer.set(o.name, n);
  const touched = new Map<AnyNode, number>();
  for (const n of nodes) {
    const p = plan.nodes.get(n);
    touched.set(n, (p?.size ?? 0) + [...(p?.inputs ?? [])].reduce((t, b) => t + b.free, 0));
  }
  const byBytes = (list: readonly AnyNode[]): AnyNode[] =>
    [...list].sort(
      (a, b) =>
        (touched.get(a) ?? 0) - (touched.get(b) ?? 0) ||
        (plan.nodes.get(a)?.index ?? 0) - (plan.nodes.get(b)?.index ?? 0),
    );
  const seen = new Set<AnyNode>();
  const result: AnyNode[] = [];
  for (const root of byBytes(nodes)) {
    const stack: { readonly node: AnyNode; readonly next: AnyNode[] }[] = [];
    const enter = (node: AnyNode): void => {
      if (seen.has(node)) return;
      seen.add(node);
      stack.push({ node, next: byBytes(node.unmetDependencies.flatMap(d => producer.get(d.name) ?? [])).reverse() });
    };
    enter(root);
    for (let top = stack[stack.length - 1]; top !== undefined; top = stack[stack.length - 1]) {
      const next = top.next.pop();
      if (next !== undefined) enter(next);
      else {
        result.push(top.node);
        stack.pop();
      }
    }
  }
  return result;
}
