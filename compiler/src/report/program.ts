// A running program's report, put together event by event. In: capture events and reports of compiled frames in order.
// Out: Program, plain data.
import type { CaptureEvent, CaptureResult, Diagnostic, RuntimeStep } from "../dynamo/types";
import type { TargetProperties } from "../inductor/ir/target";
import { framesBehind } from "./backward_order";
import type { FrameReport } from "./frame_report";
import type { LogRecord } from "./log";
import { rootInputs } from "./root_inputs";
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

/** a program, and which file each of its lines is of where it does not say so itself */
export interface Placed {
  readonly program: Program;
  /** per compilation */
  readonly files: readonly string[];
  /** per graph break of the report */
  readonly breakFiles: readonly string[];
}

export class ProgramBuilder {
  private readonly events: ProgramEvent[] = [];
  private readonly compilations: Compilation[] = [];
  private readonly source: SourceEntry[] = [];
  private readonly diagnostics: Diagnostic[];
  private readonly estimates = new Set<string>();
  private readonly breaks: { line: number; reason: string }[] = [];
  private readonly breakFiles: string[] = [];
  private readonly files: string[] = [];
  /** compilations of each frame */
  private readonly byFrame = new Map<number, number[]>();
  private readonly steps: RuntimeStep[] = [];
  /** logs of backward graphs by frame, until a backward pass comes to them */
  private readonly waiting = new Map<number, readonly LogRecord[]>();
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
        this.breakFiles.push(event.break.file);
        if ((this.ctx.artifacts ?? event.logs).has("graph_breaks"))
          this.log({ level: "DEBUG", artifact: "graph_breaks", message: event.break.text });
        return;
      }
      case "runtime":
        this.values.step(event.step);
        if (event.step.kind === "backward") for (const id of framesBehind(this.steps, event.step)) this.logBackward(id);
        else this.steps.push(event.step);
        return;
      default: {
        const never: never = event;
        throw new Error(`unhandled event ${JSON.stringify(never)}`);
      }
    }
  }

  private logBackward(id: number): void {
    for (const record of this.waiting.get(id) ?? []) this.log(record);
    this.waiting.delete(id);
  }

  frame(id: number, report: FrameReport): void {
    for (const record of report.logs) this.log(record);
    if (report.backwardLogs.length > 0) this.waiting.set(id, report.backwardLogs);
    for (const e of report.estimates) this.estimates.add(e);
    this.diagnostics.push(...report.diagnostics);
    const first = this.compilations.length;
    this.compilations.push(...report.compilations);
    this.files.push(...report.files);
    for (const e of report.source) this.source.push({ ...e, compilation: first + e.compilation });
    this.byFrame.set(
      id,
      report.compilations.map((_, i) => first + i),
    );
    this.values.frame(id, report.replay, report.compilations);
  }

  /** an operator outside of compiled frames, compiled only so that it can be replayed */
  eager(step: RuntimeStep, report: FrameReport): void {
    this.values.eager(step, report.replay, report.compilations);
  }

  finish(): Placed {
    for (const id of [...this.waiting.keys()]) this.logBackward(id);
    return { program: this.program(), files: this.files, breakFiles: this.breakFiles };
  }

  private program(): Program {
    const { path, preset, target, captured } = this.ctx;
    const frames = new Map(captured.events.flatMap(e => (e.kind === "frame" ? [[e.frame.id, e.frame] as const] : [])));
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
        inputs: rootInputs(r.frames.flatMap(f => frames.get(f) ?? [])),
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
}
