// Rewrites of a captured graph before autograd sees it (fuse_fx of torch/_inductor/fx_passes/pre_grad.py). In: a captured
// frame. Out: the frame with its graph rewritten, or the same one. Promises: the given graph stays as it is.
import type { CapturedFrame } from "../dynamo/types";
import { copyGraph } from "../fx/copy";
import { type FxGraph, FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import { type Argument, type NodeMeta, TupleArg } from "../fx/types";

export function preGradPasses(frame: CapturedFrame): CapturedFrame {
  if (!frame.graph.nodes.some(n => isCat(n) && pointwiseAfter(n) !== undefined)) return frame;
  const { graph, nodes } = copyGraph(frame.graph);
  // torch rewrites the captured graph itself, whose names stay taken
  graph.namespace.take(frame.graph.namespace);
  for (const n of [...graph.nodes]) if (isCat(n)) sinkCat(graph, n);
  const inputs = frame.inputs.map(input => ({ ...input, node: nodes.get(input.node) ?? input.node }));
  return { ...frame, graph, inputs };
}

const isCat = (n: FxNode): boolean => n.op === "call_function" && n.target === "torch.cat";

const POINTWISE: ReadonlySet<string> = new Set(["torch.relu", "torch.tanh", "relu", "tanh"]);

const onlyUser = (n: FxNode): FxNode | undefined => (n.users.size === 1 ? [...n.users][0] : undefined);

/** the relu or tanh of a concatenation that nothing else reads, views between them left out, and what it is applied to */
function pointwiseAfter(cat: FxNode): { readonly pointwise: FxNode; readonly input: FxNode } | undefined {
  let input = cat;
  let user = onlyUser(input);
  while (user !== undefined && user.op === "call_method" && user.target === "view") {
    input = user;
    user = onlyUser(input);
  }
  return user !== undefined && POINTWISE.has(user.target) ? { pointwise: user, input } : undefined;
}

/** what is computed of each element of a concatenation is computed of its parts, where it may fuse with what made them */
function sinkCat(graph: FxGraph, cat: FxNode): void {
  const found = pointwiseAfter(cat);
  const parts = partsOf(cat);
  if (found === undefined || parts === undefined) return;
  const { pointwise, input } = found;
  const kwargs = new Map([...pointwise.kwargs].filter(([name]) => name !== "input"));
  const made = parts.map(part =>
    graph.create(pointwise.op, pointwise.target, [part], kwargs, metaOf(part, pointwise), { before: cat }),
  );
  const dim = cat.args[1] ?? cat.kwargs.get("dim") ?? 0;
  const joined = graph.create(cat.op, cat.target, [made, dim], new Map(), metaOf(cat, pointwise), { before: cat });
  pointwise.replaceAllUsesWith(input);
  cat.replaceAllUsesWith(joined);
  graph.erase(pointwise);
  graph.erase(cat);
}

function partsOf(cat: FxNode): readonly FxNode[] | undefined {
  const list: Argument = cat.args[0] ?? cat.kwargs.get("tensors") ?? null;
  const items: readonly unknown[] = list instanceof TupleArg ? list.items : Array.isArray(list) ? list : [];
  const nodes = items.filter(x => x instanceof FxNode);
  return nodes.length > 0 && nodes.length === items.length ? nodes : undefined;
}

/** of a value shaped as `like`, with the dtype that `pointwise` makes; torch forgets the line, and reports do not */
function metaOf(like: FxNode, pointwise: FxNode): NodeMeta {
  const [shape, made] = [like.meta.val, pointwise.meta.val];
  const val = isFakeTensor(shape) && isFakeTensor(made) ? { ...shape, dtype: made.dtype } : shape;
  const stack = pointwise.meta.stack.map(frame => ({ ...frame, reportOnly: true as const }));
  return { ...(val === undefined ? {} : { val }), stack, fromNode: [] };
}
