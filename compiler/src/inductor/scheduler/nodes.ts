// In: a lowered graph. Out: one scheduler node per operation with what it reads, writes and waits for, and who uses each
// buffer. Promises: order and contents as Scheduler._init leaves them before fusion (torch/_inductor/scheduler.py).

import { fixedIndexer } from "../ir/layouts";
import type { Operation } from "../ir/types";
import { type Expr, int, intValue } from "../symbolic";
import {
  indexVars,
  isMemoryDep,
  memoryDep,
  renameReadWrites,
  starDep,
  starReadWrites,
  weakDep,
  withoutReads,
  withRead,
} from "./dependencies";
import { extractReadWrites } from "./extract";
import { OpIndex, OpSet } from "./op_set";
import { flag, layoutOf, product, type SchedulerState } from "./state";
import type { AnyNode, Dep, NodeUser, ReadWrites, SchedulerBuffer, SchedulerNode } from "./types";

/** One node per operation, in the graph's order, with dependencies on inputs already met. */
export function createNodes(s: SchedulerState): SchedulerNode[] {
  return s.graph.operations.map(op => {
    const node = createNode(s, op);
    setReadWrites(s, node, node.readWrites);
    for (const b of node.outputs) s.buffers.set(b.name, b);
    s.fusedNode.set(node.name, node);
    return node;
  });
}

const TEMPLATE: ReadonlySet<string> = new Set(["TemplateBuffer", "MultiTemplateBuffer"]);

export function createNode(s: SchedulerState, op: Operation): SchedulerNode {
  const outputs: SchedulerBuffer[] = [];
  const sizes = op.kind === "computed" ? op.sizes : ([[], []] as const);
  const template = op.kind === "extern" && TEMPLATE.has(op.irClass);
  const node: SchedulerNode = {
    type:
      op.kind === "computed" || template
        ? "SchedulerNode"
        : op.kind === "extern"
          ? "ExternKernelSchedulerNode"
          : "NopKernelSchedulerNode",
    name: op.name,
    operation: op,
    device: op.device,
    outputs,
    readWrites: readWritesOf(s, op),
    unmetDependencies: [],
    ancestors: new Set(),
    minOrder: 0,
    maxOrder: 0,
    minInputDistance: 0,
    maxInputDistance: 0,
    lastUsage: new Set(),
    sizes,
    group: [s.sizevars.numel(sizes[0]), s.sizevars.numel(sizes[1])],
    body: op.kind === "computed" ? op.body : null,
    merged: false,
  };
  if (template) {
    const layout = layoutOf(s.graph, op.outputs[0] ?? "");
    if (layout && "size" in layout) {
      node.sizes = [layout.size, []];
      node.group = [s.sizevars.simplify(product(layout.size)), int(1)];
    }
  }
  op.outputs.forEach((name, i) => {
    const buffer = s.graph.buffers.get(name);
    if (!buffer) throw new Error(`operation ${op.name} writes the unknown buffer ${name}`);
    const { layout } = buffer;
    const mutations =
      layout.kind === "mutation" ? [layout.target] : op.kind === "extern" ? externMutations(s, op, i) : [];
    const shared = op.kind === "extern" ? (op.aliases ?? []) : [];
    const aliases = layout.kind === "non_owning" ? [layout.base] : shared;
    outputs.push({ buffer, name, definingOp: node, users: [], aliases, mutations });
  });
  return node;
}

/** An extern kernel has one MutationOutput buffer per argument that it writes, after its real outputs. */
function externMutations(
  s: SchedulerState,
  op: Extract<Operation, { kind: "extern" }>,
  output: number,
): readonly string[] {
  if (op.mutates.length === 0) return [];
  const mutationOutputs = op.outputs.filter(o => s.graph.buffers.get(o)?.irClass === "MutationOutput");
  const at = mutationOutputs.length ? mutationOutputs.indexOf(op.outputs[output] ?? "") : output;
  const target = op.mutates[at];
  return target === undefined ? [] : [target];
}

/** Dependencies keep their loops apart on a GPU while loops may still be reordered; elsewhere they are normalised at once. */
export function normalizesEarly(s: SchedulerState, device: { readonly type: string }): boolean {
  return !flag(s, "loop_ordering_after_fusion") || device.type !== "cuda";
}

function readWritesOf(s: SchedulerState, op: Operation): ReadWrites {
  switch (op.kind) {
    case "computed":
      return extractReadWrites(op.body, op.sizes, s.sizevars, {
        normalize: normalizesEarly(s, op.device),
        prefix: "d",
      });
    case "extern":
      if (TEMPLATE.has(op.irClass)) return templateReadWrites(s, op);
      return starReadWrites(
        op.reads.map(r => r.buffer),
        op.outputs,
      );
    case "nop":
      return op.irClass === "ComputedBuffer" ? emptyReadWrites(s, op) : starReadWrites(op.reads, op.outputs);
    default: {
      const never: never = op;
      return never;
    }
  }
}

/** Loops over nothing: a tensor without elements, or memory that is only allocated. */
function emptyReadWrites(s: SchedulerState, op: Extract<Operation, { kind: "nop" }>): ReadWrites {
  const star = starReadWrites(op.reads, op.outputs);
  const writes = op.outputs.map(o => {
    const l = layoutOf(s.graph, o);
    if (!l || !("size" in l)) return starDep(o);
    const { args, ranges } = indexVars([l.size, []], "d");
    const sizes = l.size.some(n => intValue(n) === 0) ? [...ranges.values()] : l.size.map(() => int(0));
    return memoryDep(o, fixedIndexer(l)(args[0]), [...ranges.keys()], sizes);
  });
  return { ...star, writes };
}

/** A template writes its output element by element and reads its inputs as they lie. */
function templateReadWrites(s: SchedulerState, op: Extract<Operation, { kind: "extern" }>): ReadWrites {
  const access = (
    name: string,
    view: { readonly size: readonly Expr[]; readonly stride: readonly Expr[]; readonly offset: Expr },
  ): Dep => {
    const { args, ranges } = indexVars([view.size, []], "d");
    return memoryDep(name, fixedIndexer(view)(args[0]), [...ranges.keys()], [...ranges.values()]);
  };
  const writes = op.outputs.flatMap(o => {
    const l = layoutOf(s.graph, o);
    return l && "size" in l ? [access(o, l)] : [starDep(o)];
  });
  const reads = op.reads.map(r => access(r.buffer, r));
  return { reads: [...new Set(reads)], writes, indexExprs: [], rangeVars: [] };
}

/** New dependencies; those on inputs are met. */
export function setReadWrites(s: SchedulerState, node: AnyNode, rw: ReadWrites): void {
  node.readWrites = rw;
  node.unmetDependencies = rw.reads.filter(d => !s.available.has(d.name));
}

/** Users without repeats while they are collected: one user may come with different flags. */
class UserList {
  readonly items: NodeUser[] = [];
  readonly #seen = new Set<string>();
  add(u: NodeUser): void {
    const key = `${u.node?.name ?? "OUTPUT"}|${u.canInplace}|${u.isWeak}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.items.push(u);
  }
}

export function rename(s: SchedulerState, name: string): string {
  let n = name;
  for (let next = s.mutationRenames.get(n); next !== undefined; next = s.mutationRenames.get(n)) n = next;
  return n;
}

/** The buffer's one write is at the place of this read, so it may take over the read buffer's memory. */
function canInplace(node: SchedulerNode, read: Dep): boolean {
  if (node.type !== "SchedulerNode" || node.operation.kind !== "computed") return false;
  if (node.outputs.some(o => o.aliases.length > 0)) return false;
  const [write, ...more] = node.readWrites.writes;
  if (more.length || write?.kind !== "memory" || read.kind !== "memory") return false;
  return (
    read.index === write.index &&
    read.sizes.length === write.sizes.length &&
    read.sizes.every((x, i) => x === write.sizes[i])
  );
}

/** Adds the dependencies that mutation and aliasing make, and hands every buffer its users. */
export function computeDependencies(s: SchedulerState, nodes: readonly SchedulerNode[]): void {
  const lists = shareAliasLists(nodes);
  const listOf = (name: string): UserList => {
    let l = lists.get(name);
    if (l === undefined) {
      l = new UserList();
      lists.set(name, l);
    }
    return l;
  };
  const addUser = (name: string, node: SchedulerNode | null, inplace = false, isWeak = false): void =>
    listOf(rename(s, name)).add({ node, canInplace: inplace, isWeak });
  const addFakeDep = (node: SchedulerNode, d: Dep): void => setReadWrites(s, node, withRead(node.readWrites, d));

  for (const node of nodes) {
    const [write, ...more] = node.readWrites.writes;
    const mode = more.length === 0 && write?.kind === "memory" && write.mode === "atomic_add" ? write.mode : null;
    for (const out of node.outputs) {
      for (const mutated of out.mutations) {
        const current = rename(s, mutated);
        addUser(current, node);
        addFakeDep(node, starDep(current, mode));
        for (const user of [...listOf(current).items]) {
          if (user.node === null || user.node === node) continue;
          for (const other of user.node.outputs) {
            const otherName = rename(s, other.name);
            addFakeDep(node, weakDep(otherName, out.name, !other.aliases.includes(current)));
            addUser(otherName, node, false, true);
          }
        }
      }
    }
    for (const read of node.readWrites.reads) {
      if (read.kind !== "weak") addUser(read.name, node, canInplace(node, read));
    }
    const own = new Map<string, string>();
    for (const d of [...node.readWrites.reads, ...node.readWrites.writes]) {
      const to = s.mutationRenames.get(d.name);
      if (to !== undefined) own.set(d.name, to);
    }
    s.nodeRenames.set(node, own);
    setReadWrites(s, node, renameReadWrites(node.readWrites, own));
    for (const out of node.outputs) {
      for (const mutated of out.mutations) {
        s.mutationRenames.set(rename(s, mutated), out.name);
        s.mutationRenames.set(mutated, out.name);
        s.mutationRealName.set(out.name, s.mutationRealName.get(mutated) ?? mutated);
      }
    }
  }
  for (const out of s.graph.outputs) if (out && "buffer" in out) addUser(out.buffer, null);
  for (const name of s.mutationRenames.keys()) if (s.available.has(name)) addUser(name, null);
  for (const node of nodes) for (const out of node.outputs) out.users = mergeUsers(listOf(out.name).items);
}

/** Buffers that alias each other have one list of users. */
function shareAliasLists(nodes: readonly SchedulerNode[]): Map<string, UserList> {
  const lists = new Map<string, UserList>();
  for (const node of nodes) {
    for (const out of node.outputs) {
      if (out.buffer.layout.kind === "none" && out.aliases.length > 1) continue;
      for (const other of out.aliases) {
        const a = lists.get(out.name);
        const b = lists.get(other);
        if (a && b) for (const [name, l] of lists) if (l === b) lists.set(name, a);
        if (a) lists.set(other, a);
        else {
          const list = b ?? new UserList();
          lists.set(out.name, list);
          lists.set(other, list);
        }
      }
    }
  }
  return lists;
}

/** one entry a node: in place or weak only if it is so in every role */
function mergeUsers(users: readonly NodeUser[]): NodeUser[] {
  const merged = new Map<SchedulerNode | null, NodeUser>();
  for (const u of users) {
    const before = merged.get(u.node);
    merged.set(
      u.node,
      before ? { node: u.node, canInplace: before.canInplace && u.canInplace, isWeak: before.isWeak && u.isWeak } : u,
    );
  }
  return [...merged.values()];
}

/** Depth first in the given order; a node's dependencies are visited in order of the buffers' names. */
export function topologicalSort<N extends AnyNode>(nodes: readonly N[]): N[] {
  const producer = new Map<string, N>();
  for (const n of nodes) for (const o of n.outputs) producer.set(o.name, n);
  const seen = new Set<N>();
  const result: N[] = [];
  // An explicit stack: a chain of a few thousand operations must not overflow the call stack.
  for (const root of nodes) {
    const stack: { readonly node: N /** last first */; readonly next: { readonly node: N }[] }[] = [];
    const enter = (node: N): void => {
      if (seen.has(node)) return;
      seen.add(node);
      const next: { readonly name: string; readonly node: N }[] = [];
      for (const d of node.unmetDependencies) {
        const before = producer.get(d.name);
        if (before !== undefined && !seen.has(before)) next.push({ name: d.name, node: before });
      }
      if (next.length > 1) next.sort((a, b) => (a.name > b.name ? -1 : a.name < b.name ? 1 : 0));
      stack.push({ node, next });
    };
    enter(root);
    for (let top = stack[stack.length - 1]; top !== undefined; top = stack[stack.length - 1]) {
      const next = top.next.pop();
      if (next === undefined) {
        result.push(top.node);
        stack.pop();
      } else enter(next.node);
    }
  }
  return result;
}

/** Operations whose buffers nobody uses go, last first; weak dependencies on them go too. */
export function eliminateDeadNodes(s: SchedulerState, nodes: readonly SchedulerNode[]): SchedulerNode[] {
  if (!flag(s, "use_dce")) return [...nodes];
  const kept: SchedulerNode[] = [];
  for (const node of [...nodes].reverse()) {
    let active = false;
    for (const out of node.outputs) {
      if (out.users.every(u => u.isWeak || (u.node !== null && s.removedOps.has(u.node.name))))
        s.removedBuffers.add(out.name);
      else active = true;
    }
    if (active || hasSideEffects(node)) {
      kept.push(node);
      continue;
    }
    s.removedOps.add(node.name);
    for (const read of node.readWrites.reads) {
      const b = s.buffers.get(read.name);
      if (b) b.users = b.users.filter(u => u.node !== node);
    }
  }
  kept.reverse();
  for (const node of kept) {
    const gone = node.readWrites.reads.filter(
      d => d.kind === "weak" && s.removedOps.has(s.buffers.get(d.name)?.definingOp.name ?? ""),
    );
    if (gone.length) setReadWrites(s, node, withoutReads(node.readWrites, new Set(gone)));
  }
  return kept;
}

/** an extern kernel that returns nothing, or writes what the graph does not show, is called for its effect */
function hasSideEffects(node: SchedulerNode): boolean {
  const op = node.operation;
  if (op.kind === "computed")
    return op.body.block.nodes.some(n => n.op === "call" && (n.fn as string) === "device_assert_async");
  if (op.kind === "nop") return false;
  return op.outputs.length === 0 || op.opaque !== undefined;
}

/** Transitive producers, the position of each node, and its distance from the inputs. */
export function computeAncestors(s: SchedulerState, nodes: readonly SchedulerNode[]): void {
  const index = new OpIndex();
  nodes.forEach((node, order) => {
    index.add(node.name);
    const above: OpSet[] = [];
    const producers: string[] = [];
    const distances: [number, number][] = [];
    for (const d of node.unmetDependencies) {
      const producer = s.buffers.get(d.name)?.definingOp;
      if (!producer) continue;
      producers.push(producer.name);
      if (producer.ancestors instanceof OpSet) above.push(producer.ancestors);
      distances.push([producer.minInputDistance, producer.maxInputDistance]);
    }
    node.ancestors = OpSet.union(index, above, producers);
    node.minOrder = order;
    node.maxOrder = order;
    node.minInputDistance = distances.length ? Math.min(...distances.map(([a]) => a)) + 1 : 0;
    node.maxInputDistance = distances.length ? Math.max(...distances.map(([, b]) => b)) + 1 : 0;
  });
}

/** Dependencies worked out anew after the body's loops changed; those that were added by hand come last, as they were. */
export function refreshDependencies(s: SchedulerState, node: SchedulerNode, normalize: boolean): void {
  if (!node.body) return;
  const fake = node.readWrites.reads.filter(d => !isMemoryDep(d));
  const rw = extractReadWrites(node.body, node.sizes, s.sizevars, { normalize, prefix: "d" });
  const renamed = renameReadWrites(
    { ...rw, reads: [...new Set([...rw.reads, ...fake])] },
    s.nodeRenames.get(node) ?? new Map(),
  );
  setReadWrites(s, node, renamed);
}
