// Fuses hand-written attention into scaled_dot_product_attention (fx_passes/fuse_attention.py). In: a graph with matrix
// products and softmaxes. Out: the same graph with the attention operator that PyTorch picks on this GPU. Promises: a
// pattern is found loosely first, then traced anew on the real inputs and compared exactly, sizes and numbers included.

import { runBackward } from "../../aot/autograd";
import { Dispatcher } from "../../aot/dispatch";
import { isImpure } from "../../aot/purity";
import { TracedTensor } from "../../aot/traced_tensor";
import { Tracer } from "../../aot/tracer";
import type { Value } from "../../aot/value";
import type { ShapeGuards } from "../../aten/dim_math";
import { OpError, type TensorMeta } from "../../aten/types";
import { type FxGraph, FxNode, mapNodes } from "../../fx/graph";
import { type Argument, type FakeTensor, TupleArg } from "../../fx/types";
import { eraseUnused, itemsOf, Rewriter, replacedFrames } from "../edit";
import { EARLY_RULES } from "../joint_rules";
import { removeNoopOps } from "../noop_ops";
import { applyRules, type Rule } from "../rules";
import { stableTopologicalSort } from "../sort";
import { type Match, matchGraph } from "./match";
import { type AttentionInputs, type AttentionPattern, PATTERNS } from "./patterns";

/** marker numbers, unlikely to be written by anyone */
const MARKERS = new Map<number, string>([
  [0.6180339, "scale"],
  [0.113377, "dropout"],
]);
const MARKED = { scale: 0.6180339, dropout: 0.113377 };

interface Traced {
  readonly graph: FxGraph;
  readonly inputs: readonly FxNode[];
}

/** the pattern or its replacement as a graph over inputs with these metas; with `train`, forward and backward together */
function trace(
  guards: ShapeGuards,
  rw: Rewriter,
  which: "search" | "replace",
  p: AttentionPattern,
  metas: readonly TensorMeta[],
  numbers: { scale: number; dropout: number },
  train: boolean,
): Traced {
  const tracer = new Tracer(guards, { dtype: "float32", device: { type: "cuda", index: 0 }, config: rw.config });
  for (const n of rw.graph.nodes) if (n.meta.val !== undefined) tracer.defineFrom(n);
  const dispatcher = new Dispatcher(tracer, train);
  const values = metas.map((meta, i) => {
    const plain = { ...(meta as FakeTensor), requiresGrad: false };
    const v = dispatcher.wrap(new TracedTensor(tracer.placeholder(`x${i}`, plain), plain));
    if (train && i < 3) v.edge = { leaf: i };
    return v;
  });
  const [query, key, value, mask] = values as [Value, Value, Value, Value | undefined];
  const x: AttentionInputs<Value> = { query, key, value, mask: mask ?? null, ...numbers };
  const out = p[which](dispatcher.builder, x);
  const results: FxNode[] = [out.tensor.sync(tracer).node];
  const inputs = values.map(v => v.tensor.stale.node);
  if (train && out.edge !== null) {
    dispatcher.gradEnabled = false;
    const meta = tracer.metas.tensor(out.tensor.meta.shape, out.tensor.meta) as FakeTensor;
    const first = tracer.graph.nodes.find(n => n.op !== "placeholder");
    const node = tracer.graph.create(
      "placeholder",
      "tangent",
      [],
      new Map(),
      { val: meta, stack: [], fromNode: [] },
      first ? { before: first } : {},
    );
    inputs.push(node);
    const grads = runBackward(dispatcher, [{ edge: out.edge, grad: dispatcher.wrap(new TracedTensor(node, meta)) }]);
    for (let i = 0; i < 3; i++) {
      const g = grads.get(i);
      if (g) results.push(g.tensor.sync(tracer).node);
    }
  }
  const { graph } = tracer;
  graph.create("output", "output", [new TupleArg(results)], new Map(), { stack: [], fromNode: [] });
  const inner = new Rewriter(graph, guards, rw.config);
  removeNoopOps(inner);
  if (train) applyRules(inner, EARLY_RULES);
  graph.eliminateDeadCode(isImpure);
  stableTopologicalSort(graph);
  return { graph, inputs };
}

/** the metas with which torch traces a pattern */
function exampleMetas(rw: Rewriter, p: AttentionPattern, dtype: "float32" | "float16", batch: number): TensorMeta[] {
  const like = { dtype, device: { type: "cuda", index: 0 } } as const;
  const make = (shape: readonly number[]): TensorMeta => rw.contiguousMeta(shape, like);
  const data = p.rank === 3 ? [1024, 128, 128] : p.permuted ? [batch, 4, 8, 16] : [batch, 4, 8, 16];
  const [B, H, S] = p.permuted ? [batch, 8, 4] : [batch, 4, 8];
  const sizes = { B, H, Q: S, K: S } as Record<string, number>;
  const mask = p.mask ? [make(p.mask.map(d => (typeof d === "number" ? d : (sizes[d] as number))))] : [];
  return [make(data), make(data), make(data), ...mask];
}

/**
 * Traced patterns, without values: only their structure is compared. They depend on nothing of a session but the named
 * configuration, so every session shares them.
 */
const examples = new Map<string, Traced>();

function exampleOf(
  guards: ShapeGuards,
  rw: Rewriter,
  p: AttentionPattern,
  dtype: "float32" | "float16",
  batch: 1 | 2,
  train: boolean,
): Traced {
  const key = [p.number, dtype, batch, train, rw.config("coordinate_descent_tuning") === true].join();
  let example = examples.get(key);
  if (example === undefined) {
    example = trace(guards, rw, "search", p, exampleMetas(rw, p, dtype, batch), MARKED, train);
    for (const n of example.graph.nodes) n.meta.val = undefined;
    examples.set(key, example);
  }
  return example;
}

interface GraphFacts {
  readonly random: boolean;
  readonly trains: boolean;
}
const facts = new WeakMap<FxGraph, GraphFacts>();

/** looked for once a graph: fusing attention takes random numbers away, it never adds any, and tangents stay */
function factsOf(graph: FxGraph): GraphFacts {
  let known = facts.get(graph);
  if (known === undefined) {
    known = {
      random: graph.nodes.some(n => n.target.startsWith("aten.rand")),
      trains: graph.placeholders().some(n => n.target.startsWith("tangents_")),
    };
    facts.set(graph, known);
  }
  return known;
}

export function attentionRules(guards: ShapeGuards): readonly Rule[] {
  return [
    {
      name: "fuse_attention",
      targets: ["aten.view.default", "aten.bmm.default"],
      apply: (rw, node) => {
        const t = rw.tensor(node);
        if (t?.device.type !== "cuda" || !endsAttention(node)) return false;
        const dtype = t.dtype === "float32" ? "float32" : "float16";
        const batch = rw.math.knownEq(t.shape[0] ?? 0, 1) ? 1 : 2;
        const { random, trains } = factsOf(rw.graph);
        for (const p of PATTERNS) {
          if (!p.dtypes.includes(dtype) || p.rank !== t.shape.length || (p.scalars.includes("dropout") && !random))
            continue;
          for (const train of trains ? [true, false] : [false]) {
            if (tryPattern(guards, rw, node, p, exampleOf(guards, rw, p, dtype, batch, train), train)) return true;
          }
        }
        return false;
      },
    },
  ];
}

/** a product whose left side goes back to a softmax: cheap test before any tracing */
function endsAttention(node: FxNode): boolean {
  const bmm = node.target === "aten.bmm.default" ? node : node.args[0];
  if (!(bmm instanceof FxNode) || bmm.target !== "aten.bmm.default") return false;
  let left = bmm.args[0];
  for (let step = 0; step < 8 && left instanceof FxNode; step++) {
    if (left.target === "aten.div.Tensor") return true;
    left = left.target === "aten.mul.Tensor" && left.args[1] instanceof FxNode ? left.args[1] : left.args[0];
  }
  return false;
}

function tryPattern(
  guards: ShapeGuards,
  rw: Rewriter,
  node: FxNode,
  p: AttentionPattern,
  example: Traced,
  train: boolean,
): boolean {
  const found = matchGraph(example.graph, node, rw.graph.nodes, { loose: true, markers: MARKERS });
  if (found === null) return false;
  const metas: TensorMeta[] = [];
  for (const input of example.inputs.slice(0, p.inputs.length)) {
    const n = found.bound.get(input);
    const t = n instanceof FxNode ? rw.tensor(n) : undefined;
    if (t === undefined) return false;
    metas.push(t);
  }
  if (!inputsAgree(rw, p, metas)) return false;
  const numbers = { scale: found.scalars.get("scale") ?? 1, dropout: found.scalars.get("dropout") ?? 0 };
  try {
    const exact = trace(guards, rw, "search", p, metas, numbers, train);
    const match = matchGraph(exact.graph, node, rw.graph.nodes, { loose: false, markers: new Map() });
    if (match === null) return false;
    splice(rw, exact, trace(guards, rw, "replace", p, metas, numbers, train), match);
    return true;
  } catch (e) {
    // inputs that the pattern's own operators refuse: not this pattern
    if (e instanceof OpError) return false;
    throw e;
  }
}

function inputsAgree(rw: Rewriter, p: AttentionPattern, metas: readonly TensorMeta[]): boolean {
  const [q, k, v, mask] = metas;
  if (q === undefined || k === undefined || v === undefined) return false;
  if (q.dtype !== k.dtype || q.dtype !== v.dtype || q.device.type !== "cuda") return false;
  // the fused kernels use TF32, which has to be allowed (torch.set_float32_matmul_precision)
  if (q.dtype === "float32" && !["high", "medium"].includes(String(rw.config("float32_matmul_precision"))))
    return false;
  if (!p.mask) return true;
  return (
    mask !== undefined &&
    mask.shape.length > 0 &&
    mask.device.type === q.device.type &&
    [q.dtype, "bool", "float32"].includes(mask.dtype)
  );
}

/** puts the replacement's nodes in and takes the matched ones out */
function splice(rw: Rewriter, exact: Traced, replacement: Traced, match: Match): void {
  const outs = itemsOf(exact.graph.output.args[0]).map(o => match.bound.get(o as FxNode) as FxNode);
  const matched = [...match.bound].filter(([n]) => n.op !== "placeholder").map(([, n]) => n as FxNode);
  const traced = replacedFrames(matched);
  const position = new Map(rw.graph.nodes.map((n, i) => [n, i]));
  const before = outs.reduce((a, b) => ((position.get(b) ?? 0) < (position.get(a) ?? 0) ? b : a));
  const copied = new Map<FxNode, Argument>();
  for (const [i, n] of replacement.inputs.entries()) {
    const from = exact.inputs[i];
    if (from) copied.set(n, match.bound.get(from) ?? null);
  }
  for (const n of replacement.graph.nodes) {
    if (n.op === "placeholder" || n.op === "output") continue;
    const map = (a: Argument): Argument => mapNodes(a, x => copied.get(x) ?? rw.symbolOf(x));
    const kwargs = new Map([...n.kwargs].map(([k, v]) => [k, map(v)] as const));
    const made = rw.node(n.target, n.args.map(map), kwargs, n.meta.val ?? null, { before, traced });
    if (n.meta.originalAten) made.meta.originalAten = n.meta.originalAten;
    copied.set(n, made);
  }
  const news = itemsOf(replacement.graph.output.args[0]);
  for (const [i, old] of outs.entries()) {
    const by = copied.get(news[i] as FxNode);
    if (by instanceof FxNode) old.replaceAllUsesWith(by);
  }
  eraseUnused(rw.graph, matched);
}
