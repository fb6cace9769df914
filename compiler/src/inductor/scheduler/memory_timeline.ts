// What memory buffers take and which nodes need it (compute_memory_timeline and estimate_peak_memory in
// torch/_inductor/memory.py). In: nodes in an order. Out: bytes of every buffer, who needs it, and bytes alive at each step;
// graph inputs that stay anyway do not count.

import { itemsize } from "../ir/dtypes";
import { bufferNumel, type DepSource, depBytes, layoutOf } from "./state";
import type { AnyNode, Dep, SchedulerBuffer } from "./types";

/** what a schedule, made or in the making, says of its buffers */
export interface MemorySource extends DepSource {
  readonly buffers: ReadonlyMap<string, SchedulerBuffer>;
}

/** A buffer of the graph, or an input that dies on the way (what a backward saved). */
export interface PlannedBuffer {
  readonly name: string;
  readonly alloc: number;
  readonly free: number;
  /** nodes that need it in memory; a wait for an earlier reader keeps nothing alive */
  readonly successors: ReadonlySet<AnyNode>;
}

export interface PlannedNode {
  readonly node: AnyNode;
  readonly index: number;
  /** bytes allocated for its outputs */
  readonly size: number;
  readonly inputs: ReadonlySet<PlannedBuffer>;
  readonly predecessors: ReadonlySet<AnyNode>;
  readonly successors: ReadonlySet<AnyNode>;
}

export interface MemoryPlan {
  readonly buffers: ReadonlyMap<string, PlannedBuffer>;
  readonly freeableInputs: ReadonlyMap<string, PlannedBuffer>;
  readonly nodes: ReadonlyMap<AnyNode, PlannedNode>;
  readonly outputs: ReadonlySet<string>;
}

/** inputs that the caller keeps: parameters and arguments, random states, gradients of the outputs */
const HELD_BY_CALLER = /^(primals_|arg|tangents_|fwd_rng_state|bwd_rng_state)/;

export function planMemory(s: MemorySource, nodes: readonly AnyNode[]): MemoryPlan {
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
function bufferSizes(s: MemorySource): ReadonlyMap<string, readonly [number, number]> {
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
 * Bytes alive at each step. A buffer lives from the step that makes it to the last step that needs it; what the graph
 * returns lives on. `returnsFirst`: it is taken off before the first step instead, so that where returns are large, orders
 * count as equal.
 */
export function memoryAtSteps(plan: MemoryPlan, order: readonly AnyNode[], returnsFirst: boolean): number[] {
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
  return change.map(c => {
    now += c;
    return now;
  });
}

/** Bytes alive at the worst moment. */
export const peakOf = (plan: MemoryPlan, order: readonly AnyNode[], returnsFirst: boolean): number =>
  Math.max(0, ...memoryAtSteps(plan, order, returnsFirst));
