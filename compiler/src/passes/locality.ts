// Moves producers next to their consumers (post_grad.reorder_for_locality). In: an inference graph. Out: the same graph
// in another order. Promises: only nodes before the first copy_ move; a node stays before all its users.
import type { FxGraph, FxNode } from "../fx/graph";
import { visitNodes } from "../fx/graph";

export function reorderForLocality(graph: FxGraph): void {
  const order = new LinkedOrder(graph.nodes);
  const firstCopy = graph.nodes.find(n => n.target === "aten.copy_.default");
  let past = firstCopy === undefined;
  const seen = new Set<FxNode>();
  for (let node = order.last; node !== undefined; node = order.before(node)) {
    seen.add(node);
    if (!past) {
      past = node === firstCopy;
      continue;
    }
    const here = node;
    const visit = (other: FxNode): void => {
      if (
        other.op === "call_function" &&
        other.target !== "operator.getitem" &&
        [...other.users].every(u => seen.has(u))
      )
        order.moveBefore(other, here);
    };
    for (const a of node.args) visitNodes(a, visit);
    for (const a of node.kwargs.values()) visitNodes(a, visit);
  }
  graph.reorder(order.list());
}

/** the nodes as a doubly linked list, so that a move costs nothing */
class LinkedOrder {
  private readonly prev = new Map<FxNode, FxNode | undefined>();
  private readonly next = new Map<FxNode, FxNode | undefined>();
  private first: FxNode | undefined;
  last: FxNode | undefined;

  constructor(nodes: readonly FxNode[]) {
    for (const [i, n] of nodes.entries()) {
      this.prev.set(n, nodes[i - 1]);
      this.next.set(n, nodes[i + 1]);
    }
    this.first = nodes[0];
    this.last = nodes[nodes.length - 1];
  }

  before(n: FxNode): FxNode | undefined {
    return this.prev.get(n);
  }

  moveBefore(n: FxNode, at: FxNode): void {
    if (n === at) return;
    const [p, q] = [this.prev.get(n), this.next.get(n)];
    if (p) this.next.set(p, q);
    else this.first = q;
    if (q) this.prev.set(q, p);
    else this.last = p;
    const before = this.prev.get(at);
    this.prev.set(n, before);
    this.next.set(n, at);
    this.prev.set(at, n);
    if (before) this.next.set(before, n);
    else this.first = n;
  }

  list(): FxNode[] {
    const out: FxNode[] = [];
    for (let n = this.first; n !== undefined; n = this.next.get(n)) out.push(n);
    return out;
  }
}
