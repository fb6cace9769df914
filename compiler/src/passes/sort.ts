// Stable topological order. In: a graph whose nodes may stand before their inputs. Out: the same graph in an order that
// keeps every node as near to its old place as possible (pattern_matcher.stable_topological_sort).
import type { FxGraph, FxNode } from "../fx/graph";

export function stableTopologicalSort(graph: FxGraph): void {
  const pending = [...graph.nodes].reverse();
  const ready = new Set<FxNode>();
  const waiting = new Map<FxNode, FxNode[]>();
  const outputs: FxNode[] = [];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.op === "output") {
      outputs.push(node);
      continue;
    }
    const last = node.inputs.findLast(n => !ready.has(n));
    if (last !== undefined) {
      const list = waiting.get(last);
      if (list) list.push(node);
      else waiting.set(last, [node]);
      continue;
    }
    ready.add(node);
    const freed = waiting.get(node);
    if (freed === undefined) continue;
    pending.push(...freed.reverse());
    waiting.delete(node);
  }
  graph.reorder([...ready, ...outputs]);
}
