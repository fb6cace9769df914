// Operators that a program runs outside of compiled frames, in the form of a frame. In: an eager step. Out: a frame that
// the stages after capture take like any other.
import type { CapturedFrame, InputInfo, RuntimeStep } from "../dynamo/types";
import { ShapeEnv } from "../inductor/symbolic/shape_env";

/** an eager operator's graph as a frame that no log and no report mentions */
export function eagerFrame(
  step: Extract<RuntimeStep, { kind: "eager" }>,
  path: string,
  config: ReadonlyMap<string, unknown>,
): CapturedFrame {
  const inputs = step.graph.placeholders().map((node, i): InputInfo => {
    const value = step.inputs[i] ?? null;
    return { node, source: `L['arg${i}']`, kind: "tensor", parameter: false, buffer: false, value };
  });
  return {
    id: -1,
    name: "eager",
    file: path,
    graph: step.graph,
    inputs,
    shapeEnv: new ShapeEnv(),
    gradEnabled: step.gradEnabled && step.outputs.some(t => t.meta.requiresGrad),
    fullgraph: false,
    config,
    logs: new Set(),
    deterministic: false,
    assumed: [],
    stack: [],
  };
}
