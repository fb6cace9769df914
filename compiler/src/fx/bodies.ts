// Modules that a captured graph calls: the body of a checkpoint, the forward and backward of an autograd.Function. Capture holds their nodes flat in the graph, each marked
// with its module; torch holds a graph module per call. In: the flat graph. Out: the graph and its modules as torch has
// them, for its print. Promises: the given graph stays as it is.
import { FxGraph, FxNode, mapNodes, visitNodes } from "./graph";
import { type Argument, mapKeywords, type NodeMeta, TupleArg } from "./types";

/** call(outputs): stands behind its module's nodes */
export const CHECKPOINT = "torch.ops.higher_order.tag_activation_checkpoint";

const FUNCTION = "torch.ops.higher_order.autograd_function_";
/** parts of an autograd.Function: f = begin(inputs); forward; g = grad(f, i); backward; apply(f, outputs, grads, given) */
export const FUNCTION_BEGIN = `${FUNCTION}begin`;
export const FUNCTION_GRAD = `${FUNCTION}grad`;
export const FUNCTION_APPLY = `${FUNCTION}apply`;

const isTensorValue = (v: NodeMeta["val"]): boolean =>
  typeof v === "object" && v !== null && "shape" in v && "stride" in v;

/** a node's name in the module that it lies in */
export const shownName = (n: FxNode): string => n.meta.shown ?? n.name;

export interface Nested {
  readonly main: FxGraph;
  readonly modules: readonly { readonly name: string; readonly graph: FxGraph }[];
}

export function nested(flat: FxGraph): Nested {
  if (!flat.nodes.some(n => n.meta.body !== undefined)) return { main: flat, modules: [] };
  return new Nesting(flat).result();
}

class Nesting {
  private readonly main = new FxGraph();
  private readonly modules: { name: string; graph: FxGraph }[] = [];
  private readonly copies = new Map<FxNode, FxNode>();
  private readonly bodies = new Map<string, FxNode[]>();

  constructor(private readonly flat: FxGraph) {
    for (const [k, v] of flat.constants) this.main.constants.set(k, v);
  }

  result(): Nested {
    for (const node of this.flat.nodes) {
      const { body } = node.meta;
      if (body !== undefined) this.bodies.set(body, [...(this.bodies.get(body) ?? []), node]);
      else if (node.target === CHECKPOINT) this.checkpoint(node);
      else if (node.target === FUNCTION_APPLY) this.apply(node);
      else if (node.target !== FUNCTION_BEGIN && node.target !== FUNCTION_GRAD) this.keep(node);
    }
    return { main: this.main, modules: this.modules };
  }

  private keep(node: FxNode): void {
    this.copies.set(node, copyInto(this.main, node, this.copies));
  }

  /** a call of modules on what they read */
  private call(node: FxNode, names: readonly string[], inputs: readonly FxNode[], kwargs = node.kwargs): void {
    const meta: NodeMeta = { stack: node.meta.stack, fromNode: [] };
    const modules = names.map(name => this.main.create("get_attr", name, [], new Map(), meta, { candidate: name }));
    const args = [...modules, ...inputs.map(n => this.copies.get(n) ?? n)];
    const { body: _, ...rest } = node.meta;
    this.copies.set(node, this.main.create(node.op, node.target, args, kwargs, rest, { candidate: node.name }));
  }

  private checkpoint(node: FxNode): void {
    const outputs = asNodes(node.args[0] ?? null);
    const name = outputs.find(n => n.meta.body !== undefined)?.meta.body;
    if (name === undefined) return this.keep(node);
    const inner = this.bodies.get(name) ?? [];
    const inputs = inputsOf(inner, [], outputs);
    this.modules.push({ name, graph: moduleOf(inner, inputs, map => [new TupleArg(outputs.map(map))]) });
    this.call(node, [name], inputs);
  }

  /** autograd.Function: its forward, which gives what it saves too, and its backward, which gets all that */
  private apply(node: FxNode): void {
    const [begin, outs = null, grads = null, given = null] = node.args;
    const outputs = asNodes(outs);
    const name = outputs.find(n => n.meta.body !== undefined)?.meta.body;
    if (name === undefined || !(begin instanceof FxNode)) return this.keep(node);
    const inner = this.bodies.get(name) ?? [];
    const saved = asNodes(node.kwargs.get("saved") ?? null);
    const inputs = inputsOf(inner, asNodes(begin.args[0] ?? null), outputs);
    const others = inner.filter(n => isTensorValue(n.meta.val) && !outputs.includes(n));
    const forward = moduleOf(
      inner,
      inputs,
      map => [new TupleArg([new TupleArg([...outputs, ...others].map(map)), new TupleArg(saved.map(map))])],
      true,
    );
    this.modules.push({ name, graph: forward });
    const back = name.replace("fwd", "bwd");
    const names = node.kwargs.get("gradients");
    const placeholders = asNodes(grads).map(
      (n, i): Placed => [n, Array.isArray(names) ? String(names[i] ?? n.name) : n.name],
    );
    const unused = others.map((_, i) => `unused_${i}`);
    const own = this.bodies.get(back) ?? [];
    const reached = inputsOf(own, [], []).filter(n => !saved.includes(n) && !asNodes(grads).includes(n));
    const read = [...saved, ...reached].map((n): Placed => [n, shownName(n)]);
    const results = Array.isArray(given) ? (given as readonly Argument[]) : [];
    const toTuple = (map: (n: FxNode) => FxNode): Argument[] => [
      new TupleArg(results.map(g => (g instanceof FxNode ? map(g) : g))),
    ];
    this.modules.push({ name: back, graph: moduleOf(own, [...placeholders, ...unused, ...read], toTuple, true) });
    const kwargs = new Map<string, Argument>([
      ["non_differentiable_idx", []],
      ["saved_for_backward_idx", saved.map((_, i) => i)],
    ]);
    this.call(node, [name, back], inputs, kwargs);
  }
}

/** an input of a module and its name there; a name alone is of one that nothing reads */
type Placed = readonly [FxNode, string];

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

function moduleOf(
  inner: readonly FxNode[],
  inputs: readonly (FxNode | Placed | string)[],
  results: (map: (n: FxNode) => FxNode) => readonly Argument[],
  withoutGrad = false,
): FxGraph {
  const graph = new FxGraph();
  const copies = new Map<FxNode, FxNode>();
  const none: NodeMeta = { stack: [], fromNode: [] };
  for (const input of inputs) {
    const [node, name] =
      typeof input === "string" ? [null, input] : input instanceof FxNode ? [input, shownName(input)] : input;
    const meta: NodeMeta = { ...none, ...(node ? { val: node.meta.val } : {}) };
    const placed = graph.create("placeholder", name, [], new Map(), meta, { candidate: name });
    if (node) copies.set(node, placed);
  }
  const grad = (on: boolean): void => {
    if (withoutGrad)
      graph.create("call_function", "torch._C._set_grad_enabled", [on], new Map(), none, {
        candidate: "_set_grad_enabled",
      });
  };
  grad(false);
  for (const n of inner) copies.set(n, copyInto(graph, n, copies, shownName(n)));
  grad(true);
  graph.create(
    "output",
    "output",
    results(n => copies.get(n) ?? n),
    new Map(),
    none,
  );
  return graph;
}

function asNodes(a: Argument): FxNode[] {
  const out: FxNode[] = [];
  visitNodes(a, n => out.push(n));
  return out;
}
