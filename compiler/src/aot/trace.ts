// From a captured frame to functional ATen graphs. In: the pre-grad graph. Out: the inference graph, or the joint graph
// of forward and backward. Promises: inputs are named arg0_1 or primals_1 in the frame's order, writes to inputs stand
// as copy_ at the end, dead nodes are gone and keep their names.
import { guardsOf, isExpr } from "../aten/dim_math";
import { channelsLastStrides, contiguousStrides, isContiguous, type MetaDefaults } from "../aten/meta_builder";
import type { TensorMeta } from "../aten/types";
import type { CapturedFrame } from "../dynamo/types";
import type { FxGraph, FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import { type Argument, type FakeTensor, OpaqueArg, TupleArg } from "../fx/types";
import { int } from "../inductor/symbolic/expr";
import { runBackward } from "./autograd";
import type { Computed } from "./computed";
import { Dispatcher } from "./dispatch";
import { Interpreter } from "./interpret";
import { isImpure } from "./purity";
import { TracedTensor, Tracer } from "./tracer";
import { isDifferentiableValue, isValue, metaOf, type Value } from "./value";

export interface TracedInputs {
  readonly values: readonly Computed[];
  /** by position; null: a symbol */
  readonly tensors: readonly ({ readonly node: FxNode; readonly before: TracedTensor; readonly value: Value } | null)[];
}

export interface TracedGraph {
  readonly graph: FxGraph;
  readonly inputs: readonly string[];
  /** inputs written by copy_ nodes */
  readonly mutated: readonly string[];
  /** number of forward outputs that stand before the user's (new values of inputs that the runtime copies back) */
  readonly leading: number;
  /** frame outputs */
  readonly outputs: readonly {
    readonly node: FxNode | null;
    readonly meta: FakeTensor | null;
    readonly requiresGrad: boolean;
    readonly inputAlias: number | null;
  }[];
  readonly joint: JointParts | null;
  /** float inputs whose value was fixed */
  readonly specialized: readonly string[];
}

export interface JointParts {
  readonly forwardOutputs: number;
  readonly tangents: readonly string[];
  /** positions among the forward outputs that have tangents */
  readonly tangentOutputs: readonly number[];
}

function defaultsOf(frame: CapturedFrame, behaviours: ReadonlyMap<string, unknown>): MetaDefaults {
  return {
    dtype: "float32",
    device: { type: "cpu", index: null },
    config: name => frame.config.get(name) ?? behaviours.get(name),
  };
}

function traceInputs(
  frame: CapturedFrame,
  tracer: Tracer,
  dispatcher: Dispatcher,
  name: (i: number) => string,
): TracedInputs {
  const values: Computed[] = [];
  const tensors: TracedInputs["tensors"][number][] = [];
  for (const [i, node] of frame.graph.placeholders().entries()) {
    const val = node.meta.val ?? null;
    const p = tracer.placeholder(name(i), isFakeTensor(val) ? { ...val, requiresGrad: false } : val);
    if (isFakeTensor(val)) {
      const traced = new TracedTensor(p, { ...val, requiresGrad: false });
      const value = dispatcher.wrap(traced);
      if (val.requiresGrad && frame.gradEnabled) value.edge = { leaf: i };
      values.push(value);
      tensors.push({ node: p, before: traced, value });
    } else {
      values.push(
        isExpr(val) ? val : typeof val === "object" && val !== null && "symFloat" in val ? val.symFloat : null,
      );
      tensors.push(null);
    }
  }
  return { values, tensors };
}

/** `train`: trace under autograd and add the backward pass; undefined when no output needs a gradient */
export function traceFrame(
  frame: CapturedFrame,
  train: boolean,
  options: { readonly behaviours?: ReadonlyMap<string, unknown> } = {},
): TracedGraph | undefined {
  const tracer = new Tracer(
    guardsOf(frame.shapeEnv, () => "aot"),
    defaultsOf(frame, options.behaviours ?? new Map()),
  );
  const dispatcher = new Dispatcher(tracer, train, options.behaviours?.get("symbolic_name_gaps") === true);
  const inputs = traceInputs(frame, tracer, dispatcher, i => (train ? `primals_${i + 1}` : `arg${i}_1`));
  if (!train) for (const t of inputs.tensors) if (t) t.value.edge = null;
  const interpreter = new Interpreter(dispatcher);
  const results = interpreter.run(frame.graph, inputs.values);
  const mutated = inputs.tensors.filter(t => t !== null && t.value.tensor.storage.generation > 0);
  const returned = mutated.filter(t => train && t !== null && t.value.edge !== null);
  if (train && !results.some(r => isValue(r) && r.requiresGrad) && returned.length === 0) return undefined;
  const joint = train
    ? backward(
        tracer,
        dispatcher,
        inputs,
        results,
        returned.map(t => (t as { value: Value }).value),
      )
    : null;
  const written: string[] = [];
  for (const t of mutated) {
    if (t === null || returned.includes(t)) continue;
    const now = t.value.tensor.sync(tracer);
    if (now.node === t.node) continue;
    const context = train
      ? { stack: [], fromNode: [], isBackward: false }
      : // it stands for no call of the user's, so it names no source node
        { ...(t.value.tensor.storage.lastWrite ?? tracer.context), fromNode: [] };
    tracer.withContext(context, () =>
      tracer.withOriginal("aten.copy_", () =>
        tracer.create("aten.copy_.default", [t.node, now.node], new Map(), now.meta),
      ),
    );
    written.push(t.node.name);
  }
  const leading = returned.map(t => (t as { value: Value }).value.tensor.sync(tracer).node);
  const outputs = results.map(r => {
    if (!isValue(r))
      return {
        node: isExpr(r) ? argumentNode(tracer.toArgument(r)) : null,
        meta: null,
        requiresGrad: false,
        inputAlias: null,
      };
    const traced = r.tensor.sync(tracer);
    const alias = inputs.tensors.findIndex(t => t?.value === r);
    return {
      node: traced.node,
      meta: traced.meta,
      requiresGrad: train && r.requiresGrad,
      inputAlias: alias < 0 ? null : alias,
    };
  });
  const forward = [...leading, ...outputs.map((o, i): Argument => o.node ?? constantOutput(results[i] as Computed))];
  const all = joint === null ? forward : [...forward, ...joint.gradients];
  tracer.graph.create("output", "output", [new TupleArg(all)], new Map(), { stack: [], fromNode: [] });
  tracer.graph.eliminateDeadCode(isImpure);
  return {
    graph: tracer.graph,
    inputs: tracer.graph.placeholders().map(n => n.name),
    mutated: written,
    leading: leading.length,
    outputs,
    specialized: interpreter.specialized,
    joint:
      joint === null
        ? null
        : { forwardOutputs: forward.length, tangents: joint.tangents, tangentOutputs: joint.tangentOutputs },
  };
}

const argumentNode = (a: Argument): FxNode | null => (a !== null && typeof a === "object" && "graph" in a ? a : null);

function constantOutput(c: Computed): Argument {
  if (isExpr(c) || c === null || typeof c === "number" || typeof c === "boolean" || typeof c === "string") return c;
  return c instanceof OpaqueArg ? c : null;
}

/** runs the tape: the tangents as inputs, and one gradient (or null) per primal */
function backward(
  tracer: Tracer,
  dispatcher: Dispatcher,
  inputs: TracedInputs,
  results: readonly Computed[],
  returned: readonly Value[],
): { tangents: string[]; tangentOutputs: number[]; gradients: (FxNode | null)[] } {
  dispatcher.gradEnabled = false;
  const wanted = [...returned, ...results]
    .map((v, i) => ({ v, i }))
    .filter((x): x is { v: Value; i: number } => isValue(x.v) && x.v.requiresGrad && isDifferentiableValue(x.v));
  const first = tracer.graph.nodes.find(n => n.op !== "placeholder");
  const tangents: string[] = [];
  const roots = wanted.flatMap(({ v }) => {
    const meta = tangentMeta(tracer, metaOf(v));
    const name = `tangents_${tangents.length + 1}`;
    const node = tracer.graph.create(
      "placeholder",
      name,
      [],
      new Map(),
      { val: meta, stack: [], fromNode: [] },
      { candidate: name, ...(first ? { before: first } : {}) },
    );
    tangents.push(node.name);
    return v.edge === null ? [] : [{ edge: v.edge, grad: dispatcher.wrap(new TracedTensor(node, meta)) }];
  });
  const leaves = runBackward(dispatcher, roots);
  const gradients = inputs.tensors.map((t, i) =>
    t === null ? null : (leaves.get(i)?.tensor.sync(tracer).node ?? null),
  );
  return { tangents, tangentOutputs: wanted.map(x => x.i), gradients };
}

/** tangents come contiguous, or channels-last where the output is */
function tangentMeta(tracer: Tracer, out: TensorMeta): FakeTensor {
  const m = tracer.math;
  const channelsLast = out.shape.length === 4 && !isContiguous(m, out) && isContiguous(m, out, "channels_last");
  const stride = channelsLast ? channelsLastStrides(m, out.shape) : contiguousStrides(m, out.shape);
  return {
    ...(out as FakeTensor),
    stride: stride as unknown as FakeTensor["stride"],
    storageOffset: int(0),
    requiresGrad: false,
  };
}
