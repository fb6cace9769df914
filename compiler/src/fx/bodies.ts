// Modules that a captured graph calls: the body of a checkpoint. Capture holds their nodes flat in the graph, each marked
// with its module; torch holds a graph module per call. In: the flat graph. Out: the graph and its modules as torch has
// them, for its print. Promises: the given graph stays as it is.
import { FxGraph, type FxNode, mapNodes, visitNodes } from "./graph";
import { type Argument, mapKeywords, type NodeMeta, TupleArg } from "./types";

/** call(outputs, given): stands behind its module's nodes; `given` are inputs of the module before those that it reaches */
export const CHECKPOINT = "torch.ops.higher_order.tag_activation_checkpoint";

/** a node's name in the module that it lies in */
export const shownName = (n: FxNode): string => n.meta.shown ?? n.name;

export interface Nested {
  readonly main: FxGraph;
  readonly modules: readonly { readonly name: string; readonly graph: FxGraph }[];
}

export function nested(flat: FxGraph): Nested {
  const modules: { name: string; graph: FxGraph }[] = [];
  if (!flat.nodes.some(n => n.target === CHECKPOINT)) return { main: flat, modules };
  const main = new FxGraph();
  for (const [k, v] of flat.constants) main.constants.set(k, v);
  const copies = new Map<FxNode, FxNode>();
  const inBody = new Map<string, FxNode[]>();
  for (const node of flat.nodes) {
    const { body } = node.meta;
    if (body !== undefined) {
      inBody.set(body, [...(inBody.get(body) ?? []), node]);
      continue;
    }
    const name = node.target === CHECKPOINT ? bodyOf(node) : undefined;
    if (name === undefined) copies.set(node, copyInto(main, node, copies));
    else {
      const inner = inBody.get(name) ?? [];
      const inputs = inputsOf(inner, asNodes(node.args[1] ?? null), asNodes(node.args[0] ?? null));
      modules.push({ name, graph: moduleOf(inner, inputs, asNodes(node.args[0] ?? null)) });
      const meta: NodeMeta = { stack: node.meta.stack, fromNode: [] };
      const attribute = main.create("get_attr", name, [], new Map(), meta, { candidate: name });
      const args = [attribute, ...inputs.map(n => copies.get(n) ?? n)];
      const call = main.create(node.op, node.target, args, node.kwargs, { ...node.meta }, { candidate: node.name });
      copies.set(node, call);
    }
  }
  return { main, modules };
}

/** the module that a call's results come from; undefined: it hands out what it was given */
function bodyOf(call: FxNode): string | undefined {
  return asNodes(call.args[0] ?? null).find(n => n.meta.body !== undefined)?.meta.body;
}

function copyInto(graph: FxGraph, node: FxNode, copies: ReadonlyMap<FxNode, FxNode>, name = node.name): FxNode {
  const map = (a: Argument): Argument => mapNodes(a, n => copies.get(n) ?? n);
  const kwargs = mapKeywords(node.kwargs, map);
  const { body: _, ...meta } = node.meta;
  return graph.create(node.op, node.target, node.args.map(map), kwargs, meta, { candidate: name });
}

function inputsOf(inner: readonly FxNode[], given: readonly FxNode[], outputs: readonly FxNode[]): FxNode[] {
  const own = new Set(inner);
  const inputs = new Set(given);
  const see = (n: FxNode): void => {
    if (!own.has(n)) inputs.add(n);
  };
  for (const n of inner) for (const i of n.inputs) see(i);
  for (const n of outputs) see(n);
  return [...inputs];
}

function moduleOf(inner: readonly FxNode[], inputs: readonly FxNode[], outputs: readonly FxNode[]): FxGraph {
  const graph = new FxGraph();
  const copies = new Map<FxNode, FxNode>();
  for (const n of inputs) {
    const meta: NodeMeta = { val: n.meta.val, stack: [], fromNode: [] };
    copies.set(n, graph.create("placeholder", n.name, [], new Map(), meta, { candidate: n.name }));
  }
  for (const n of inner) copies.set(n, copyInto(graph, n, copies, shownName(n)));
  const results = new TupleArg(outputs.map(n => copies.get(n) ?? n));
  graph.create("output", "output", [results], new Map(), { stack: [], fromNode: [] });
  return graph;
}

function asNodes(a: Argument): FxNode[] {
  const out: FxNode[] = [];
  visitNodes(a, n => out.push(n));
  return out;
}
