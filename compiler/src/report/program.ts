// A running program's report, put together event by event. In: capture events and compiled frames in order.
// Out: Program, plain data.

import type { GraphResult } from "../compile_graph";
import type { CapturedFrame, CaptureEvent, CaptureResult, Diagnostic, RuntimeStep } from "../dynamo/types";
import { typeText } from "../fx/print";
import type { TargetProperties } from "../inductor/ir/target";
import type { FrameResult } from "../pipeline";
import { graphReport, isFakeTensor, leaves } from "./graph_report";
import type { LogRecord } from "./log";
import { framesIn, reportedFile, UNNAMED } from "./origins";
import type { Compilation, Program, ProgramEvent, SourceEntry } from "./types";
import { ValueProgramBuilder } from "./value_program";

export interface ProgramContext {
  readonly path: string;
  readonly preset: string;
  readonly target: TargetProperties;
  readonly captured: CaptureResult;
  /** artifacts to keep whatever the program's set_logs says; null: as it says */
  readonly artifacts: ReadonlySet<string> | null;
}

export class ProgramBuilder {
  private readonly events: ProgramEvent[] = [];
  private readonly compilations: Compilation[] = [];
  private readonly source: SourceEntry[] = [];
  private readonly diagnostics: Diagnostic[];
  private readonly estimates = new Set<string>();
  private readonly breaks: { line: number; reason: string }[] = [];
  /** compilations of each frame */
  private readonly byFrame = new Map<number, number[]>();
  private readonly values: ValueProgramBuilder;

  constructor(private readonly ctx: ProgramContext) {
    this.diagnostics = [...ctx.captured.diagnostics];
    this.values = new ValueProgramBuilder();
  }

  captureEvent(event: Exclude<CaptureEvent, { kind: "frame" }>): void {
    switch (event.kind) {
      case "cell":
        this.events.push({ kind: "cell", index: event.index });
        return;
      case "print":
        this.events.push({ kind: "print", text: event.text });
        return;
      case "graph_break": {
        this.breaks.push({ line: event.break.line, reason: event.break.reason });
        if ((this.ctx.artifacts ?? event.logs).has("graph_breaks"))
          this.log({ level: "DEBUG", artifact: "graph_breaks", message: event.break.text });
        return;
      }
      case "runtime":
        this.values.step(event.step);
        return;
      default: {
        const never: never = event;
        throw new Error(`unhandled event ${JSON.stringify(never)}`);
      }
    }
  }

  frame(frame: CapturedFrame, result: FrameResult): void {
    for (const record of result.logs) this.log(record);
    for (const e of result.estimates) this.estimates.add(e);
    this.diagnostics.push(...result.diagnostics);
    const saved = result.aot.kind === "train" ? result.aot.savedOutputs : [];
    const indices = result.graphs.map(g => this.compilation(frame, g, g.info.kind === "forward" ? saved : []));
    this.byFrame.set(frame.id, indices);
    this.values.frame(frame, result.aot, result.graphs);
  }

  /** an operator outside of compiled frames, compiled only so that it can be replayed */
  eager(step: RuntimeStep, result: FrameResult): void {
    this.values.eager(step, result.aot, result.graphs);
  }

  finish(): Program {
    const { path, preset, target, captured } = this.ctx;
    return {
      report: {
        file: path,
        preset,
        target: target.name,
        graphs: this.compilations.map(c => c.graph),
        graph_breaks: this.breaks,
        diagnostics: this.diagnostics.map(d => ({
          line: d.span.line,
          severity: d.severity,
          code: d.code,
          message: d.message,
        })),
      },
      compilations: this.compilations,
      roots: captured.roots.map(r => ({
        name: r.name,
        span: r.span,
        compilations: r.frames.flatMap(f => this.byFrame.get(f) ?? []),
        assumed: r.assumed,
      })),
      diagnostics: this.diagnostics,
      events: this.events,
      source: this.source,
      logFormat: captured.logFormat,
      estimates: [...this.estimates],
      values: this.values.finish(),
    };
  }

  private log(record: LogRecord): void {
    this.events.push({ kind: "log", record });
  }

  private compilation(frame: CapturedFrame, g: GraphResult, savedOutputs: readonly number[]): number {
    const index = this.compilations.length;
    const { info, schedule, plan, outputCode, wat, schedulerGraph } = g;
    const file = reportedFile(schedule.graph.graph.nodes, this.ctx.path, frame.file);
    const graph = graphReport({
      file,
      fallbackName: UNNAMED,
      kind: info.kind,
      schedule,
      plan,
      target: this.ctx.target,
      saved: info.saved,
      assumed: frame.assumed,
      savedOutputs,
    });
    this.compilations.push({ graph, schedulerGraph, plan, wat, outputCode });
    this.addSource(frame, g, index);
    return index;
  }

  /** one entry per graph node and frame of the file, so that a hover on a call site answers too */
  private addSource(frame: CapturedFrame, g: GraphResult, compilation: number): void {
    const file = reportedFile(g.schedule.graph.graph.nodes, this.ctx.path, frame.file);
    const kernels = new Map<string, number[]>();
    const listed = g.schedule.nodes.filter(
      n => !("operation" in n && n.operation.kind === "extern" && n.operation.irClass === "MultiOutput"),
    );
    listed.forEach((node, k) => {
      for (const leaf of leaves(node)) {
        for (const origin of leaf.operation.origins) {
          const list = kernels.get(origin.name) ?? [];
          if (!list.includes(k)) list.push(k);
          kernels.set(origin.name, list);
        }
      }
    });
    for (const n of g.schedule.graph.graph.nodes) {
      if (n.op !== "call_function" || n.target === "operator.getitem") continue;
      const frames = framesIn(n, file);
      const innermost = frames[frames.length - 1];
      if (!innermost) continue;
      this.source.push({
        file,
        span: innermost.span,
        compilation,
        node: n.name,
        target: n.target,
        type: isFakeTensor(n.meta.val) ? typeText(n.meta.val) : null,
        kernels: kernels.get(n.name) ?? [],
        callers: frames.slice(0, -1).map(f => f.line),
      });
    }
  }
}
