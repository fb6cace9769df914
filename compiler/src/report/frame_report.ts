// What a compiled frame adds to the program's report, as plain data. In: a frame and what its stages made. Out:
// FrameReport, which holds nothing of the stages: it may be kept, and moved where the frame's lines have moved.
import type { GraphResult } from "../compile_graph";
import type { CapturedFrame, Diagnostic } from "../dynamo/types";
import type { FxNode } from "../fx/graph";
import { typeText } from "../fx/print";
import type { TargetProperties } from "../inductor/ir/target";
import type { FrameResult } from "../pipeline";
import { graphReport, isFakeTensor, isTupleItem, leaves } from "./graph_report";
import type { LogRecord } from "./log";
import { framesIn } from "./origins";
import type { CodeWriter } from "./output_code";
import type { Compilation, SourceEntry } from "./types";
import { type ReplayFacts, replayFacts } from "./value_program";

export interface FrameReport {
  readonly compilations: readonly Compilation[];
  /** writes each compilation's output code anew for a plan with other texts */
  readonly writers: readonly CodeWriter[];
  /** the file that each compilation's lines are of */
  readonly files: readonly string[];
  /** compilations are counted within the frame */
  readonly source: readonly SourceEntry[];
  readonly logs: readonly LogRecord[];
  readonly backwardLogs: readonly LogRecord[];
  readonly estimates: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly replay: ReplayFacts;
  /** how many AOT ids the frame used */
  readonly aotIds: number;
}

export function frameReport(frame: CapturedFrame, result: FrameResult, target: TargetProperties): FrameReport {
  const saved = result.aot.kind === "train" ? result.aot.savedOutputs : [];
  const compilations = result.graphs.map(
    (g): Compilation => ({
      graph: graphReport({
        file: g.file,
        name: g.name,
        kind: g.info.kind,
        schedule: g.schedule,
        plan: g.plan,
        target,
        saved: g.info.saved,
        assumed: frame.assumed,
        savedOutputs: g.info.kind === "forward" ? saved : [],
        choice: g.choice,
        products: g.products,
      }),
      schedulerGraph: g.schedulerGraph,
      plan: g.plan,
      wat: g.wat,
      outputCode: g.outputCode,
    }),
  );
  return {
    compilations,
    writers: result.graphs.map(g => g.writeCode),
    files: result.graphs.map(g => g.file),
    source: result.graphs.flatMap(sourceOf),
    logs: result.logs,
    backwardLogs: result.backwardLogs,
    estimates: result.estimates,
    diagnostics: result.diagnostics,
    replay: replayFacts(result.aot),
    aotIds: result.aotIds,
  };
}

/** one entry per graph node and frame of the file, so that a hover on a call site answers too */
function sourceOf(g: GraphResult, compilation: number): SourceEntry[] {
  const { file } = g;
  const kernels = new Map<string, number[]>();
  const listed = g.schedule.nodes.filter(n => !isTupleItem(n));
  listed.forEach((node, k) => {
    for (const leaf of leaves(node)) {
      for (const origin of leaf.operation.origins) {
        const list = kernels.get(origin.name);
        if (list === undefined) kernels.set(origin.name, [k]);
        else if (list.at(-1) !== k) list.push(k);
      }
    }
  });
  const places = new Map<FxNode["meta"]["stack"], Pick<SourceEntry, "span" | "callers"> | null>();
  const placeOf = (n: FxNode): Pick<SourceEntry, "span" | "callers"> | null => {
    const { stack } = n.meta;
    let place = places.get(stack);
    if (place === undefined) {
      const frames = framesIn(n, file);
      const innermost = frames.pop();
      place = innermost ? { span: innermost.span, callers: frames.map(f => f.line) } : null;
      places.set(stack, place);
    }
    return place;
  };
  const out: SourceEntry[] = [];
  for (const n of g.schedule.graph.graph.nodes) {
    if (n.op !== "call_function" || n.target === "operator.getitem") continue;
    const place = placeOf(n);
    if (place === null) continue;
    out.push({
      file,
      span: place.span,
      compilation,
      node: n.name,
      target: n.target,
      type: isFakeTensor(n.meta.val) ? typeText(n.meta.val) : null,
      kernels: kernels.get(n.name) ?? NO_KERNELS,
      callers: place.callers,
    });
  }
  return out;
}

const NO_KERNELS: readonly number[] = [];
