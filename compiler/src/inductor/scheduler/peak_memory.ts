// In: nodes in a valid order. Out: the order of least estimated peak memory, and that estimate in bytes.
// Promises: candidates are the given order, least-peak-memory-first, breadth first and depth first, in that order; the
// first of the lowest wins, so the given order stays unless strictly beaten. After torch/_inductor/memory.py.
import { itemsize } from "../ir/dtypes";
import { behaves, bufferNumel, depBytes, layoutOf, type SchedulerState, setting } from "./state";
import type { AnyNode, Dep, SchedulerBuffer } from "./types";

/** A buffer of the graph, or an input that dies on the way (what a backward saved). */
interface PlannedBuffer {
  readonly name: string;
  readonly alloc: number;
  readonly free: number;
  /** nodes that need it in memory; a wait for an earlier reader keeps nothing alive */
  readonly successors: ReadonlySet<AnyNode>;
}

interface PlannedNode {
  readonly node: AnyNode;
  readonly index: number;
  /** bytes allocated for its outputs */
  readonly size: number;
  readonly inputs: ReadonlySet<PlannedBuffer>;
  readonly predecessors: ReadonlySet<AnyNode>;
  readonly successors: ReadonlySet<AnyNode>;
}

interface Plan {
  readonly buffers: ReadonlyMap<string, PlannedBuffer>;
  readonly freeableInputs: ReadonlyMap<string, PlannedBuffer>;
  readonly nodes: ReadonlyMap<AnyNode, PlannedNode>;
  readonly outputs: ReadonlySet<string>;
}

export function reorderForPeakMemory(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  const plan = makePlan(s, nodes);
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

const plans = new WeakMap<SchedulerState, Plan>();

/** What is known of these nodes in this order, where it has stayed since other orders were tried. */
function planOf(s: SchedulerState, nodes: readonly AnyNode[]): Plan {
  const before = plans.get(s);
  if (before?.nodes.size === nodes.length && nodes.every((n, i) => before.nodes.get(n)?.index === i)) return before;
  return makePlan(s, nodes);
}

/** inputs that the caller keeps: parameters and arguments, random states, gradients of the outputs */
const HELD_BY_CALLER = /^(primals_|arg|tangents_|fwd_rng_state|bwd_rng_state)/;

function makePlan(s: SchedulerState, nodes: readonly AnyNode[]): Plan {
  const inputs = new Set(s.graph.inputs.map(i => i.name));
  const waiting = new Map<string, Set<AnyNode>>();
  const ordered = new Map<string, Set<AnyNode>>();
  const readers = new Map<string, Set<AnyNode>>();
  const inputBytes = new Map<string, number>();
  const addTo = (m: Map<string, Set<AnyNode>>, name: string, n: AnyNode): void => {
    m.set(name, (m.get(name) ?? new Set()).add(n));
  };
  for (const n of nodes) {
    for (const d of n.unmetDependencies) {
      addTo(ordered, d.name, n);
      if (!isOrderOnly(d)) addTo(waiting, d.name, n);
    }
    for (const d of n.readWrites.reads) {
      if (!inputs.has(d.name) || HELD_BY_CALLER.test(d.name)) continue;
      inputBytes.set(d.name, depBytes(s, d));
      if (!isOrderOnly(d)) addTo(readers, d.name, n);
    }
  }
  // Whoever waits for a later version of a buffer needs the original's memory too, and comes after it.
  for (const [version, real] of [...s.mutationRealName].reverse()) {
    for (const n of waiting.get(version) ?? []) addTo(waiting, real, n);
    for (const n of ordered.get(version) ?? []) addTo(ordered, real, n);
  }
  const sizes = bufferSizes(s);
  const buffers = new Map<string, PlannedBuffer>();
  for (const name of s.buffers.keys()) {
    const [alloc, free] = sizes.get(name) ?? [0, 0];
    buffers.set(name, { name, alloc, free, successors: waiting.get(name) ?? new Set() });
  }
  const freeableInputs = new Map<string, PlannedBuffer>();
  for (const [name, bytes] of inputBytes) {
    freeableInputs.set(name, { name, alloc: bytes, free: bytes, successors: readers.get(name) ?? new Set() });
  }
  const read = new Map<AnyNode, Set<PlannedBuffer>>();
  const predecessors = new Map<AnyNode, Set<AnyNode>>();
  const successors = new Map<AnyNode, Set<AnyNode>>();
  const reads = (b: PlannedBuffer): void => {
    for (const n of b.successors) read.set(n, (read.get(n) ?? new Set()).add(b));
  };
  const ownBuffers = (node: AnyNode): PlannedBuffer[] => node.outputs.flatMap(o => buffers.get(o.name) ?? []);
  for (const node of nodes) {
    const after = new Set<AnyNode>();
    for (const b of ownBuffers(node)) {
      for (const n of ordered.get(b.name) ?? []) if (n !== node) after.add(n);
      reads(b);
    }
    successors.set(node, after);
    for (const n of after) predecessors.set(n, (predecessors.get(n) ?? new Set()).add(node));
  }
  for (const b of freeableInputs.values()) reads(b);
  const planned = new Map<AnyNode, PlannedNode>();
  nodes.forEach((node, index) => {
    planned.set(node, {
      node,
      index,
      size: ownBuffers(node).reduce((t, b) => t + b.alloc, 0),
      inputs: read.get(node) ?? new Set(),
      predecessors: predecessors.get(node) ?? new Set(),
      successors: successors.get(node) ?? new Set(),
    });
  });
  const outputs = new Set(s.graph.outputs.flatMap(o => (o && "buffer" in o ? [o.buffer] : [])));
  return { buffers, freeableInputs, nodes: planned, outputs };
}

const isOrderOnly = (d: Dep): boolean => d.kind === "weak" && d.isFake;

/** bytes allocated with a buffer and freed with it: what is unpacked from a tuple comes with the tuple */
function bufferSizes(s: SchedulerState): ReadonlyMap<string, readonly [number, number]> {
  const sizes = new Map<string, readonly [number, number]>();
  const compute = (b: SchedulerBuffer, unpacked: boolean): number => {
    const layout = layoutOf(s.graph, b.name);
    let alloc = 0;
    let free = 0;
    // a version of a buffer that was written is that buffer's memory
    if (s.mutationRealName.has(b.name)) {
      sizes.set(b.name, [0, 0]);
      return 0;
    }
    if (layout?.kind === "multi_output") {
      for (const u of b.users) {
        for (const o of u.node?.outputs ?? []) if (o.buffer.irClass === "MultiOutput") alloc += compute(o, true);
      }
    } else if (layout && "size" in layout) {
      alloc = (s.sizevars.hint(bufferNumel(s.graph, b.name)) ?? 0) * itemsize(layout.dtype);
      free = alloc;
    }
    sizes.set(b.name, [unpacked ? 0 : alloc, free]);
    return alloc;
  };
  // an item that aliases make an item of several tuples counts with each of them
  for (const b of s.buffers.values()) if (!sizes.has(b.name)) compute(b, false);
  return sizes;
}

/**
 * A buffer lives from the step that makes it to the last step that needs it; what the graph returns lives on.
 * `returnsFirst`: it is taken off before the first step instead, so that where returns are large, orders count as equal.
 */
function peakOf(plan: Plan, order: readonly AnyNode[], returnsFirst: boolean): number {
  const step = new Map(order.map((n, i) => [n, i] as const));
  const change = new Array<number>(order.length + 1).fill(0);
  const live = (b: PlannedBuffer, start: number): void => {
    let last = start;
    if (plan.outputs.has(b.name)) last = returnsFirst ? -1 : order.length - 1;
    else if (b.successors.size) {
      last = 0;
      for (const n of b.successors) last = Math.max(last, step.get(n) ?? start);
    }
    change[start] = (change[start] ?? 0) + b.alloc;
    change[last + 1] = (change[last + 1] ?? 0) - b.free;
  };
  for (const b of plan.freeableInputs.values()) live(b, 0);
  order.forEach((n, i) => {
    for (const o of n.outputs) {
      const b = plan.buffers.get(o.name);
      if (b) live(b, i);
    }
  });
  let now = 0;
  let peak = 0;
  for (const c of change) {
    now += c;
    peak = Math.max(peak, now);
  }
  return peak;
}

/** Always the ready node that adds least to the peak, then least to what is alive, then the earliest. */
function leastPeakFirst(s: SchedulerState, plan: Plan, nodes: readonly AnyNode[]): AnyNode[] {
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
function breadthFirst(plan: Plan, nodes: readonly AnyNode[]): AnyNode[] {
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
function depthFirst(plan: Plan, nodes: readonly AnyNode[]): AnyNode[] {
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
