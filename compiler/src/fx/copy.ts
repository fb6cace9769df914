// Copies of graphs. In: a graph, or some of its nodes. Out: a new graph with the same names. Promises: names that are
// not copied are free again in the copy, as in torch.fx's Graph.node_copy; metas are copied shallowly.
import { FxGraph, type FxNode, mapNodes } from "./graph";
import { type Argument, mapKeywords } from "./types";

export interface GraphCopy {
  readonly graph: FxGraph;
  readonly nodes: ReadonlyMap<FxNode, FxNode>;
}

/** Copies `node` to the end of `graph`; its inputs must be in `nodes`. */
export function copyNode(graph: FxGraph, node: FxNode, nodes: ReadonlyMap<FxNode, FxNode>): FxNode {
  const map = (a: Argument): Argument =>
    mapNodes(a, n => {
      const to = nodes.get(n);
      if (to === undefined) throw new Error(`${node.name} needs ${n.name}, which was not copied`);
      return to;
    });
  const kwargs = mapKeywords(node.kwargs, map);
  return graph.create(node.op, node.target, node.args.map(map), kwargs, { ...node.meta }, { candidate: node.name });
}

/** The whole graph anew. */
export function copyGraph(from: FxGraph): GraphCopy {
  const graph = new FxGraph();
  const nodes = new Map<FxNode, FxNode>();
  for (const [k, v] of from.constants) graph.constants.set(k, v);
  for (const n of from.nodes) nodes.set(n, copyNode(graph, n, nodes));
  return { graph, nodes };
}
