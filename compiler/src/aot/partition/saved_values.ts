// Which forward values the backward pass keeps (min_cut_rematerialization_partition). In: the joint graph. Out: the saved
// nodes in graph order. Promises: the cut of least bytes under the rules for what may be computed again; among equal
// cuts the one closest to the backward pass.
import { isExpr } from "../../aten/dim_math";
import { itemSize } from "../../aten/ops/helpers/dtypes";
import type { FxGraph, FxNode } from "../../fx/graph";
import { isFakeTensor } from "../../fx/print";
import type { FakeValue } from "../../fx/types";
import type { Expr } from "../../inductor/symbolic/expr";
import { FlowNetwork } from "./max_flow";
import { isFusible, isRecomputable, isViewOp } from "./op_lists";

export interface PartitionInput {
  readonly graph: FxGraph;
  readonly forwardOutputs: readonly FxNode[];
  readonly backwardOutputs: readonly FxNode[];
  readonly primals: readonly FxNode[];
  readonly tangents: readonly FxNode[];
  readonly staticInputs: ReadonlySet<FxNode>;
  /** nodes that belong to the forward whatever uses them: copy_ into inputs */
  readonly forwardOnly: ReadonlySet<FxNode>;
  readonly hint: (e: Expr) => number;
}

interface Classes {
  readonly backward: ReadonlySet<FxNode>;
  readonly forward: ReadonlySet<FxNode>;
  /** position among the forward nodes */
  readonly order: ReadonlyMap<FxNode, number>;
  readonly distance: ReadonlyMap<FxNode, number>;
}

const FAR = 1e9;

function classify(input: PartitionInput): Classes {
  const backward = new Set<FxNode>(input.tangents);
  for (const n of input.graph.nodes) if (backward.has(n)) for (const u of n.users) backward.add(u);
  for (const n of input.backwardOutputs) backward.add(n);
  const forward = new Set<FxNode>(input.primals);
  const stack = [...input.forwardOutputs, ...input.forwardOnly];
  for (let n = stack.pop(); n !== undefined; n = stack.pop()) {
    if (forward.has(n) && n.op !== "placeholder") continue;
    forward.add(n);
    for (const i of n.inputs) if (!forward.has(i)) stack.push(i);
  }
  const order = new Map<FxNode, number>();
  for (const n of input.graph.nodes) if (forward.has(n)) order.set(n, order.size);
  const distance = new Map<FxNode, number>();
  for (let i = input.graph.nodes.length - 1; i >= 0; i--) {
    const n = input.graph.nodes[i] as FxNode;
    if (n.op === "output") distance.set(n, FAR);
    else if (!forward.has(n)) distance.set(n, 0);
    else {
      let least = FAR;
      for (const u of n.users) least = Math.min(least, (distance.get(u) ?? FAR) + 1);
      distance.set(n, least);
    }
  }
  return { backward, forward, order, distance };
}

/** bytes of a value; a symbolic int counts 1, a symbolic float 4 */
function sizeOf(v: FakeValue | undefined, hint: (e: Expr) => number): number {
  if (v === undefined || v === null) return 0;
  if (Array.isArray(v)) return (v as readonly (FakeValue | null)[]).reduce<number>((n, x) => n + sizeOf(x, hint), 0);
  if (isFakeTensor(v)) {
    let bytes = itemSize(v.dtype);
    for (const s of v.shape) bytes *= hint(s);
    return bytes;
  }
  return isExpr(v) ? 1 : 4;
}

/**
 * What one checkpointed region hands straight to a later one is kept: both would compute it again otherwise
 * (cleanup_recompute_tags).
 */
function keepBetweenRegions(graph: FxGraph): void {
  for (const n of graph.nodes) {
    const own = n.meta.checkpoint;
    if (!wantsRecompute(n) || own === undefined) continue;
    if ([...n.users].some(u => wantsRecompute(u) && (u.meta.checkpoint ?? -1) > own)) n.meta.recompute = "must_save";
  }
}

export function chooseSavedValues(input: PartitionInput): FxNode[] {
  keepBetweenRegions(input.graph);
  const classes = classify(input);
  const banned = new Set<FxNode>();
  const { nodes } = input.graph;
  const net = new FlowNetwork();
  const [source, sink] = [net.addNode(), net.addNode()];
  // a value is an edge of the network: what is above it enters, what uses it leaves
  const entrances = new Map<string, number>();
  const into = (n: FxNode): number => {
    let at = entrances.get(n.name);
    if (at === undefined) {
      at = net.addNode();
      net.addNode();
      entrances.set(n.name, at);
    }
    return at;
  };
  const outOf = (n: FxNode): number => into(n) + 1;
  const size = (n: FxNode): number => sizeOf(n.meta.val, input.hint);
  const ban = (n: FxNode): void => {
    if (isViewOp(n) || wantsRecompute(n) || isSymFloat(n)) return;
    banned.add(n);
    net.addEdge(source, into(n), Infinity);
  };
  const isInput = new Set(input.primals);
  for (const n of nodes) {
    if (n.op === "output") continue;
    if (classes.backward.has(n)) {
      if (!isInput.has(n)) {
        net.addEdge(into(n), sink, Infinity);
        continue;
      }
      net.addEdge(outOf(n), sink, Infinity);
    }
    if (wantsRecompute(n)) {
      net.addEdge(into(n), sink, Infinity);
      continue;
    }
    if (isInput.has(n)) ban(n);
    if (classes.forward.has(n) && mustNotRecompute(n, classes, size)) ban(n);
    net.addEdge(into(n), outOf(n), weight(n, input, classes, size));
    for (const u of n.users) if (u.op !== "output") net.addEdge(outOf(n), into(u), Infinity);
  }
  banUsedFarApart(classes, banned, ban);
  banLongChains(input.graph, classes, banned, ban);
  const side = net.sinkSide(source, sink);
  return nodes.filter(n => !side.has(into(n)) && side.has(outOf(n)));
}

function wantsRecompute(n: FxNode): boolean {
  return n.meta.recompute === "must_recompute" || n.meta.recompute === "prefer_recompute";
}

function isSymFloat(n: FxNode): boolean {
  const v = n.meta.val;
  return typeof v === "object" && v !== null && "symFloat" in v;
}

function mustNotRecompute(n: FxNode, classes: Classes, size: (n: FxNode) => number): boolean {
  if (n.op !== "call_function" || n.target === "operator.getitem") return false;
  if (n.meta.recompute === "must_save") return true;
  if (n.target.startsWith("aten.lift_fresh")) return false;
  if (!isRecomputable(n)) return true;
  if (materializedInBackward(n, classes)) return true;
  const read = n.args.reduce<number>(
    (sum, a) => sum + (typeof a === "object" && a !== null && "graph" in a ? size(a) : 0),
    0,
  );
  return size(n) * 4 < read;
}

/** it, or a view of it, meets a backward user that it cannot be fused with */
function materializedInBackward(n: FxNode, classes: Classes): boolean {
  if (isViewOp(n)) return false;
  const stack = [n];
  for (let cur = stack.pop(); cur !== undefined; cur = stack.pop()) {
    for (const u of cur.users) {
      if (!classes.forward.has(u) && !isFusible(cur, u)) return true;
      if (isViewOp(u)) stack.push(u);
    }
  }
  return false;
}

function weight(n: FxNode, input: PartitionInput, classes: Classes, size: (n: FxNode) => number): number {
  const v = n.meta.val;
  if (isExpr(v)) return 1;
  if (isSymFloat(n)) return Infinity;
  if (!isFakeTensor(v)) return Infinity;
  if (input.staticInputs.has(n)) return 0;
  const bytes = Math.trunc(size(n) * 1.1 ** Math.max(Math.min(classes.distance.get(n) ?? FAR, 100), 1));
  const materialized = n.op === "placeholder" || [...n.users].some(u => !isFusible(n, u));
  return materialized ? bytes : bytes * 2;
}

/** a use that comes after something that can't be fused would need the value in memory anyway */
function banUsedFarApart(classes: Classes, banned: ReadonlySet<FxNode>, ban: (n: FxNode) => void): void {
  const position = (n: FxNode): number => classes.order.get(n) ?? -1;
  const firstUnfusible = (start: readonly FxNode[], last: number): number => {
    const heap: { at: number; node: FxNode; fusible: boolean }[] = start.map(node => ({
      at: position(node),
      node,
      fusible: true,
    }));
    while (heap.length > 0) {
      let best = 0;
      for (let i = 1; i < heap.length; i++) {
        const [a, b] = [heap[i], heap[best]] as [(typeof heap)[number], (typeof heap)[number]];
        if (a.at < b.at || (a.at === b.at && !a.fusible && b.fusible)) best = i;
      }
      const [cur] = heap.splice(best, 1) as [(typeof heap)[number]];
      if (!cur.fusible) return cur.at;
      for (const u of cur.node.users) {
        if (!classes.forward.has(u) || position(u) > last) continue;
        const fusible = isFusible(cur.node, u);
        if (!heap.some(h => h.node === u && h.fusible === fusible)) heap.push({ at: position(u), node: u, fusible });
      }
    }
    return last;
  };
  for (const used of classes.order.keys()) {
    const users = [...used.users].filter(u => classes.forward.has(u));
    if (users.length === 0) continue;
    const limit = firstUnfusible(users, Math.max(...users.map(position)));
    for (const u of users) if (position(u) > limit && isFusible(used, u) && !banned.has(u)) ban(u);
  }
}

/** a fusible chain of more than a hundred nodes is cut */
function banLongChains(graph: FxGraph, classes: Classes, banned: ReadonlySet<FxNode>, ban: (n: FxNode) => void): void {
  const visited = new Set<FxNode>();
  const position = (n: FxNode): number => classes.order.get(n) ?? -1;
  for (const start of graph.nodes) {
    if (!classes.forward.has(start)) continue;
    const heap = [start];
    while (heap.length > 0) {
      let best = 0;
      for (let i = 1; i < heap.length; i++) if (position(heap[i] as FxNode) < position(heap[best] as FxNode)) best = i;
      const [cur] = heap.splice(best, 1) as [FxNode];
      if (visited.has(cur)) continue;
      visited.add(cur);
      if (position(cur) > position(start) + 100 && heap.length === 0) {
        ban(cur);
        break;
      }
      for (const u of cur.users) if (classes.forward.has(u) && isFusible(cur, u) && !banned.has(u)) heap.push(u);
    }
  }
}
