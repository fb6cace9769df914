// One captured frame through the stages after capture: AOTAutograd, post-grad passes, loop IR, schedule, plan, text.
// In: CapturedFrame. Out: FrameResult. Between two stages `verify` states what holds; tests run it always.

import { aotCompile } from "./aot/compile";
import type { AotResult, GraphInfo } from "./aot/types";
import { compileGraph, type FrameOptions, type GraphResult, graphRecord } from "./compile_graph";
import type { CapturedFrame, Diagnostic } from "./dynamo/types";
import type { FxGraph } from "./fx/graph";
import type { Expr } from "./inductor/symbolic/expr";
import { Stopped } from "./interrupt";
import { readBoolean } from "./presets";
import type { Artifact, LogRecord } from "./report/log";
import { stageBegins } from "./stages";

export interface FrameResult {
  readonly aot: AotResult;
  readonly graphs: readonly GraphResult[];
  readonly logs: readonly LogRecord[];
  /** of the backward graph, which torch compiles when backward() first runs */
  readonly backwardLogs: readonly LogRecord[];
  readonly diagnostics: readonly Diagnostic[];
  readonly estimates: readonly string[];
  /** how many AOT ids the frame used */
  readonly aotIds: number;
}

/** Throws Stopped at most: what goes wrong in a stage costs this frame, said at its function, and the rest of the file compiles. */
export function compileFrame(frame: CapturedFrame, options: FrameOptions): FrameResult {
  try {
    return compileStages(frame, options);
  } catch (e) {
    if (e instanceof Stopped) throw e;
    return failedFrame(frame, e);
  }
}

function failedFrame(frame: CapturedFrame, e: unknown): FrameResult {
  const at = frame.stack[frame.stack.length - 1];
  const failure: Diagnostic = {
    file: at?.file ?? frame.file,
    span: at?.span ?? { line: 1, column: 0, endLine: 1, endColumn: 0 },
    severity: "error",
    code: "internal",
    message: `the compile of ${frame.name} failed here: ${e instanceof Error ? e.message : String(e)}`,
  };
  const { shapeEnv, graph } = frame;
  const aot = {
    kind: "error",
    shapeEnv,
    preGrad: graph,
    attempts: [],
    keptInputs: [],
    diagnostics: [failure],
  } as const;
  return { aot, graphs: [], logs: [], backwardLogs: [], diagnostics: [failure], estimates: [], aotIds: 1 };
}

function compileStages(frame: CapturedFrame, options: FrameOptions): FrameResult {
  const logs: LogRecord[] = [];
  const wants = (artifact: Artifact): boolean => options.logs.has(artifact);
  const behaves = (name: string): boolean => readBoolean(options.behaviours, name);
  stageBegins("aot");
  const aot = aotCompile(frame, {
    behaviours: options.behaviours,
    keepTraced: wants("aot_joint_graph") || wants("aot_graphs"),
  });
  const preGrad = (graph: FxGraph): void => {
    if (!wants("pre_grad_graphs")) return;
    logs.push(graphRecord("DEBUG", "pre_grad_graphs", graph, { title: "BEFORE PRE GRAD", className: "GraphModule" }));
  };
  for (const [i, attempt] of aot.attempts.entries()) {
    preGrad(attempt.preGrad);
    if (wants("aot_graphs") && !attempt.train) {
      const title = `Forward graph ${options.aotId + i}`;
      logs.push(graphRecord("INFO", "aot_graphs", attempt.graph, { title, className: "<lambda>" }));
    }
  }
  preGrad(aot.preGrad);
  const id = options.aotId + aot.attempts.length;
  const backwardLogs: LogRecord[] = [];
  const empty = {
    aot,
    graphs: [],
    logs,
    backwardLogs,
    diagnostics: aot.diagnostics,
    estimates: [],
    aotIds: aot.attempts.length + 1,
  };
  if (aot.kind === "error") return empty;
  const infos: GraphInfo[] = [];
  if (aot.kind === "inference") {
    if (wants("aot_graphs") && aot.graph)
      logs.push(graphRecord("INFO", "aot_graphs", aot.graph, { title: `Forward graph ${id}`, className: "<lambda>" }));
    infos.push(aot.compiled);
  } else {
    if (wants("aot_joint_graph") && aot.joint) {
      logs.push(
        graphRecord("INFO", "aot_joint_graph", aot.joint, {
          title: `Joint graph ${id}`,
          className: "inner_f",
          joint: true,
          backwardComments: behaves("backward_comments"),
        }),
      );
    }
    if (wants("aot_graphs")) {
      logs.push(
        graphRecord("INFO", "aot_graphs", aot.forward.graph, {
          title: `Forward graph ${id}`,
          className: "GraphModule",
        }),
      );
      logs.push(
        graphRecord("INFO", "aot_graphs", aot.backward.graph, {
          title: `Backward graph ${id}`,
          className: "GraphModule",
          file: "<eval_with_key>.2",
        }),
      );
    }
    infos.push(aot.forward);
    // torch compiles a backward graph when backward() first runs
    if (options.backward) infos.push(aot.backward);
  }
  const graphs: GraphResult[] = [];
  const estimates: string[] = [];
  for (const info of infos) {
    const strides = info.kind === "backward" ? savedStrides(aot, graphs[0]) : undefined;
    const into = info.kind === "backward" ? backwardLogs : logs;
    const result = compileGraph(frame, info, aot, { ...options, aotId: id }, into, strides);
    graphs.push(result);
    estimates.push(...result.estimates);
  }
  return { ...empty, graphs, estimates };
}

/** The strides that saved values have in memory: the forward may have padded what it keeps for the backward. */
function savedStrides(aot: AotResult, forward: GraphResult | undefined): ReadonlyMap<string, readonly Expr[]> {
  const strides = new Map<string, readonly Expr[]>();
  if (aot.kind !== "train" || forward === undefined) return strides;
  for (const [i, position] of aot.savedOutputs.entries()) {
    const name = aot.backward.inputs[i];
    const stride = forward.outputStrides[position];
    if (name !== undefined && stride) strides.set(name, stride);
  }
  return strides;
}
