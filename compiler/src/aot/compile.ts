// AOTAutograd's door. In: a captured frame. Out: the functional graphs that Inductor compiles: one for inference, or
// joint, forward and backward. Promises: an error of the user's program is a diagnostic at its line, never thrown.
import { guardsOf } from "../aten/dim_math";
import type { CapturedFrame, Diagnostic } from "../dynamo/types";
import { copyGraph } from "../fx/copy";
import type { FxGraph } from "../fx/graph";
import { FxNode } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import type { FakeTensor } from "../fx/types";
import { itemsOf } from "../passes/edit";
import { jointGraphPasses } from "../passes/joint_graph";
import { preGradPasses } from "../passes/pre_grad";
import { OpFailure } from "./failure";
import { onTarget } from "./on_target";
import { partitionJoint } from "./partition/partition";
import { specializeInputs } from "./specialize";
import { type TracedGraph, traceFrame } from "./trace";
import type { AotResult, GraphInfo, InferenceResult, OutputInfo, TrainResult } from "./types";

export interface AotOptions {
  /** named behaviours of the preset */
  readonly behaviours?: ReadonlyMap<string, unknown>;
  /** keep the traced graph as it was before Inductor's passes; by default they work on it */
  readonly keepTraced?: boolean;
}

export function aotCompile(frame: CapturedFrame, options: AotOptions = {}): AotResult {
  const attempts: AotResult["attempts"][number][] = [];
  let current = frame.onCpu ? onTarget(frame) : frame;
  for (;;) {
    const common = {
      shapeEnv: frame.shapeEnv,
      preGrad: current.graph,
      attempts,
      keptInputs: frame.inputs.flatMap((input, i) =>
        current.inputs.some(c => c.node.name === input.node.name) ? [i] : [],
      ),
      diagnostics: [],
    };
    try {
      const { traced, train: trains } = traceEither(preGradPasses(current), options);
      const fixed = traced.specialized;
      if (fixed.length === 0) {
        const { config: settings } = current;
        const config: Config = name => settings.get(name) ?? options.behaviours?.get(name);
        const kept = options.keepTraced ? copyGraph(traced.graph).graph : null;
        return {
          ...common,
          ...(trains ? train(current, traced, kept, config) : inference(current, traced, kept, config)),
        };
      }
      attempts.push({ preGrad: current.graph, graph: traced.graph, train: trains });
      current = specializeInputs(current, fixed, hintOf(frame));
    } catch (e) {
      if (!(e instanceof OpFailure)) throw e;
      return { ...common, kind: "error", diagnostics: [diagnosticOf(frame, e)] };
    }
  }
}

function hintOf(frame: CapturedFrame): (node: FxNode) => number {
  const guards = guardsOf(frame.shapeEnv);
  return node => {
    const v = node.meta.val;
    return typeof v === "object" && v !== null && "symFloat" in v ? guards.hint(v.symFloat) : 0;
  };
}

/** under autograd where that is wanted and some output needs a gradient, else for inference */
function traceEither(frame: CapturedFrame, options: AotOptions): { traced: TracedGraph; train: boolean } {
  const wanted =
    frame.gradEnabled && frame.graph.placeholders().some(n => isFakeTensor(n.meta.val) && n.meta.val.requiresGrad);
  const joint = wanted ? traceFrame(frame, true, options) : undefined;
  if (joint?.joint) return { traced: joint, train: true };
  const traced = traceFrame(frame, false, options);
  if (traced === undefined) throw new Error("an inference graph can always be traced");
  return { traced, train: false };
}

function diagnosticOf(frame: CapturedFrame, e: OpFailure): Diagnostic {
  const at = e.frames[e.frames.length - 1];
  return {
    file: at?.file ?? frame.file,
    span: at?.span ?? { line: 1, column: 0, endLine: 1, endColumn: 0 },
    severity: "error",
    code: e.cause.pythonType === "NotImplementedError" ? "not-supported" : "torch-error",
    message: `${e.cause.pythonType}: ${e.cause.message}`,
  };
}

/** a setting of torch._inductor.config, or a behaviour of the preset, by name */
type Config = (name: string) => unknown;

/** names that parameters and buffers have in the traced graph */
function staticNames(frame: CapturedFrame, traced: TracedGraph): ReadonlySet<string> {
  return new Set(frame.inputs.flatMap((input, i) => (input.parameter || input.buffer ? [traced.inputs[i] ?? ""] : [])));
}

function outputInfos(traced: TracedGraph): OutputInfo[] {
  return traced.outputs.map((o, i) => ({
    from: { graphOutput: traced.leading + i },
    requiresGrad: o.requiresGrad,
    viewOf: o.viewOf,
  }));
}

function valuesOf(graph: FxGraph, from: number, to: number): (FakeTensor | null)[] {
  return itemsOf(graph.output.args[0]).map((a, i) => {
    const v = i >= from && i < to && a instanceof FxNode ? a.meta.val : undefined;
    return isFakeTensor(v) ? v : null;
  });
}

/** `kept`: the traced graph as it was */
function inference(frame: CapturedFrame, traced: TracedGraph, kept: FxGraph | null, config: Config): InferenceResult {
  const { graph } = traced;
  const count = traced.leading + traced.outputs.length;
  const userOutputs = valuesOf(graph, traced.leading, count);
  jointGraphPasses(graph, guardsOf(frame.shapeEnv), config);
  return {
    kind: "inference",
    graph: kept,
    compiled: {
      kind: "inference",
      graph,
      inputs: traced.inputs,
      saved: new Set(),
      staticInputs: staticNames(frame, traced),
      mutatedInputs: traced.mutated,
      donated: [],
      userOutputs,
    },
    outputs: outputInfos(traced),
  };
}

function train(frame: CapturedFrame, traced: TracedGraph, kept: FxGraph | null, config: Config): TrainResult {
  const parts = traced.joint;
  if (parts === null) throw new Error("a joint graph knows its parts");
  const guards = guardsOf(frame.shapeEnv);
  const { graph } = traced;
  jointGraphPasses(graph, guards, config);
  const statics = staticNames(frame, traced);
  const p = partitionJoint(graph, { forwardOutputs: parts.forwardOutputs, staticInputs: statics, hint: guards.hint });
  const primals = p.forward.placeholders().map(n => n.name);
  const saved = new Set([...p.savedSymbols, ...p.savedTensors]);
  const gradients = itemsOf(p.backward.output.args[0]);
  const forward: GraphInfo = {
    kind: "forward",
    graph: p.forward,
    inputs: primals,
    saved: new Set(),
    staticInputs: statics,
    mutatedInputs: traced.mutated,
    donated: [],
    userOutputs: valuesOf(p.forward, traced.leading, parts.forwardOutputs),
  };
  const backward: GraphInfo = {
    kind: "backward",
    graph: p.backward,
    inputs: p.backward.placeholders().map(n => n.name),
    saved,
    staticInputs: new Set([...statics].filter(n => saved.has(n))),
    mutatedInputs: [],
    donated: p.donated,
    userOutputs: valuesOf(p.backward, 0, gradients.length),
  };
  return {
    kind: "train",
    joint: kept,
    forward,
    backward,
    // the forward returns saved tensors before saved symbols, the backward takes them the other way round
    savedOutputs: [...p.savedSymbols.map((_, i) => i + p.savedTensors.length), ...p.savedTensors.map((_, i) => i)].map(
      i => parts.forwardOutputs + i,
    ),
    gradients: gradients.map((g, i) => (g instanceof FxNode ? i : null)),
    returnedInputs: traced.returnedInputs,
    tangentOutputs: parts.tangentOutputs,
    outputs: outputInfos(traced),
  };
}
