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
import { int, intValue, sub } from "../inductor/symbolic/expr";
import { runBackward } from "./autograd";
import type { Computed } from "./computed";
import { Dispatcher } from "./dispatch";
import { Interpreter } from "./interpret";
import { isImpure } from "./purity";
import { TracedTensor } from "./traced_tensor";
import { Tracer } from "./tracer";
import { isDifferentiableValue, isValue, metaOf, type Value } from "./value";

interface TracedInput {
  /** position among the frame's inputs */
  readonly index: number;
  readonly node: FxNode;
  readonly value: Value;
}

interface TracedInputs {
  readonly values: readonly Computed[];
  /** by position; null: a symbol */
  readonly tensors: readonly (TracedInput | null)[];
}

export interface TracedGraph {
  readonly graph: FxGraph;
  readonly inputs: readonly string[];
  /** inputs written by copy_ nodes */
  readonly mutated: readonly string[];
  /** number of forward outputs that stand before the user's (new values of inputs that the runtime copies back) */
  readonly leading: number;
  /** positions among the inputs of those */
  readonly returnedInputs: readonly number[];
  /** frame outputs */
  readonly outputs: readonly {
    readonly node: FxNode | null;
    readonly meta: FakeTensor | null;
    readonly requiresGrad: boolean;
    readonly inputAlias: number | null;
    /** input whose memory it lies in, with the offset in elements */
    readonly viewOf: { readonly input: number; readonly offset: number } | null;
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
    device: frame.defaultDevice ?? { type: "cpu", index: null },
    config: name => frame.config.get(name) ?? behaviours.get(name),
  };
}

function traceInputs(
  frame: CapturedFrame,
  tracer: Tracer,
  dispatcher: Dispatcher,
  name: (i: number) => string,
  copied: ReadonlySet<number>,
): TracedInputs {
  const values: Computed[] = [];
  const tensors: TracedInputs["tensors"][number][] = [];
  for (const [i, node] of frame.graph.placeholders().entries()) {
    const val = node.meta.val ?? null;
    const p = tracer.placeholder(name(i), isFakeTensor(val) ? { ...val, requiresGrad: false } : val);
    if (isFakeTensor(val)) {
      const value = dispatcher.wrap(new TracedTensor(p, { ...val, requiresGrad: false }));
      value.wantsGrad = val.requiresGrad;
      if (val.requiresGrad && frame.gradEnabled) value.edge = { leaf: i };
      value.mayBeWritten = node.meta.nonLeaf === true;
      tensors.push({ index: i, node: p, value });
      values.push(value);
    } else {
      values.push(
        isExpr(val) ? val : typeof val === "object" && val !== null && "symFloat" in val ? val.symFloat : null,
      );
      tensors.push(null);
    }
  }
  for (const i of copied) {
    const input = tensors[i];
    if (!input) continue;
    const value = dispatcher.builder.call("aten.clone.default", [input.value]);
    tensors[i] = { ...input, value };
    values[i] = value;
  }
  return { values, tensors };
}

export interface TraceOptions {
  readonly behaviours?: ReadonlyMap<string, unknown>;
}

/** `train`: trace under autograd and add the backward pass; undefined when no output needs a gradient */
export function traceFrame(frame: CapturedFrame, train: boolean, options: TraceOptions = {}): TracedGraph | undefined {
  const first = traceOnce(frame, train, options, new Set());
  if (first === undefined || !("copy" in first)) return first;
  const again = traceOnce(frame, train, options, first.copy);
  if (again !== undefined && "copy" in again) throw new Error("every trace copies the same inputs");
  return again;
}

/**
 * One trace. Inputs in `copied` are copied first, so that autograd sees them as they were. The set of inputs that must
 * be, if they are others: those that need gradients and are written where autograd looks.
 */
function traceOnce(
  frame: CapturedFrame,
  train: boolean,
  options: TraceOptions,
  copied: ReadonlySet<number>,
): TracedGraph | { readonly copy: ReadonlySet<number> } | undefined {
  const behaviours = options.behaviours ?? new Map<string, unknown>();
  const guards = guardsOf(frame.shapeEnv, () => "aot");
  const tracer = new Tracer(guards, defaultsOf(frame, behaviours));
  const dispatcher = new Dispatcher(tracer, train, behaviours.get("symbolic_name_gaps") === true);
  const inputs = traceInputs(frame, tracer, dispatcher, i => (train ? `primals_${i + 1}` : `arg${i}_1`), copied);
  if (!train) for (const t of inputs.tensors) if (t) t.value.edge = null;
  const interpreter = new Interpreter(dispatcher);
  const results = interpreter.run(frame.graph, inputs.values, frame.autocast ?? null);
  const mutated = inputs.tensors.filter(t => t !== null).filter(t => t.value.tensor.storage.generation > 0);
  const returned = mutated.filter(t => train && t.value.edge !== null && t.value.tensor.storage.writtenUnderGrad);
  if (returned.some(t => !copied.has(t.index))) return { copy: new Set(returned.map(t => t.index)) };
  if (train && !results.some(r => isValue(r) && r.requiresGrad) && returned.length === 0) return undefined;
  const leadingValues = returned.map(t => t.value);
  const joint = train ? backward(tracer, dispatcher, inputs, results, leadingValues) : null;
  const copies = new Map<Computed, FxNode>();
  for (const t of mutated) {
    if (returned.includes(t)) continue;
    const { tensor } = t.value;
    const now = tensor.sync(tracer);
    if (now.node === t.node) continue;
    const context = train
      ? { stack: [], fromNode: [], isBackward: false }
      : // it stands for no call of the user's, so it names no source node
        { ...(tensor.storage.lastWrite ?? tracer.context), fromNode: [] };
    const copy = tracer.withContext(context, () =>
      tracer.withOriginal("aten.copy_", () =>
        tracer.create("aten.copy_.default", [t.node, now.node], new Map(), now.meta),
      ),
    );
    copies.set(t.value, copy);
  }
  const leading = leadingValues.map(v => v.tensor.sync(tracer).node);
  const outputs = results.map(r => {
    if (!isValue(r)) {
      const node = isExpr(r) ? argumentNode(tracer.toArgument(r)) : null;
      return { node, meta: null, requiresGrad: false, inputAlias: null, viewOf: null };
    }
    const traced = r.tensor.sync(tracer);
    const alias = inputs.tensors.find(t => t?.value === r);
    const base = inputs.tensors.find(t => t?.value.tensor.storage === r.tensor.storage);
    const offset = base ? intValue(sub(traced.meta.storageOffset, base.value.tensor.meta.storageOffset)) : undefined;
    // a written input that is handed out again is the copy into it; a joint graph hands out the input
    const copy = copies.get(r);
    return {
      node: (copy && train ? alias?.node : copy) ?? traced.node,
      meta: traced.meta,
      requiresGrad: train && r.requiresGrad,
      inputAlias: alias?.index ?? null,
      viewOf: base && offset !== undefined ? { input: base.index, offset } : null,
    };
  });
  const forward = [...leading, ...outputs.map((o, i): Argument => o.node ?? constantOutput(results[i] as Computed))];
  const all = joint === null ? forward : [...forward, ...joint.gradients];
  tracer.graph.create("output", "output", [new TupleArg(all)], new Map(), { stack: [], fromNode: [] });
  tracer.graph.eliminateDeadCode(isImpure);
  numberCheckpoints(tracer.graph);
  return {
    graph: tracer.graph,
    inputs: tracer.graph.placeholders().map(n => n.name),
    mutated: mutated.filter(t => copies.has(t.value)).map(t => t.node.name),
    leading: leading.length,
    returnedInputs: returned.map(t => t.index),
    outputs,
    specialized: interpreter.specialized,
    joint:
      joint === null
        ? null
        : { forwardOutputs: forward.length, tangents: joint.tangents, tangentOutputs: joint.tangentOutputs },
  };
}

/** torch numbers the calls of all programs through, and traces each graph twice: once to see what it writes */
function numberCheckpoints(graph: FxGraph): void {
  const calls = new Set(graph.nodes.flatMap(n => n.meta.checkpoint ?? []));
  if (calls.size === 0) return;
  const before = Math.min(...calls);
  for (const { meta } of graph.nodes)
    if (meta.checkpoint !== undefined) meta.checkpointId = before + calls.size + meta.checkpoint + 1;
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

/** tangents come contiguous, or channels-last where the output is; a size that only the data decides is taken as any */
function tangentMeta(tracer: Tracer, out: TensorMeta): FakeTensor {
  const m = { ...tracer.math, eq: tracer.math.knownEq };
  const channelsLast = out.shape.length === 4 && !isContiguous(m, out) && isContiguous(m, out, "channels_last");
  const stride =
    isContiguous(m, out) && out.shape.every(s => m.static(s) !== 0)
      ? out.stride // dims of size 1 keep theirs
      : channelsLast
        ? channelsLastStrides(m, out.shape)
        : contiguousStrides(m, out.shape);
  return {
    ...(out as FakeTensor),
    stride: stride as unknown as FakeTensor["stride"],
    storageOffset: int(0),
    requiresGrad: false,
  };
}
