// Session: the compiler's public door. In: a read function for files, options, edits. Out: Program, plain data.
// Joins the stages and remembers what each made, keyed by content, so that an edit redoes only what changed.

import { floatsKept } from "./aten/float_parameter";
import { capture } from "./dynamo/capture";
import type { CapturedFrame, CaptureResult } from "./dynamo/types";
import { eagerFrame } from "./evaluate/eager_frame";
import { Evaluator } from "./evaluate/replay";
import { FrameMemo } from "./incremental/frames";
import { LastRuns, Reading } from "./incremental/last_runs";
import { Parses } from "./incremental/parses";
import { MemoStore } from "./incremental/store";
import { targetByName } from "./inductor/ir/target";
import { InternTable, withInternTable } from "./inductor/symbolic/intern";
import { Stopped, stopPoint, withStop } from "./interrupt";
import { compileFrame } from "./pipeline";
import { defaultConfig, presets } from "./presets";
import { PythonFile } from "./python/file";
import { type FrameReport, frameReport } from "./report/frame_report";
import { type Placed, ProgramBuilder } from "./report/program";
import type { Program } from "./report/types";
import { defaultSessionOptions, type SessionOptions } from "./session_options";

/** element operations that one value may cost which a program's control flow asks for */
const EVALUATION_BUDGET = 150_000_000;

export interface RunControl {
  /** polled between steps; true ends the run with what is there so far */
  readonly shouldStop?: () => boolean;
}

/** expressions that a table may hold before it is given up for a new one, and with it what was keyed by them */
const MOST_INTERNED = 400_000;
/** each edit of a constant leaves one behind, in the table and in what is remembered of it */
const MOST_FLOATS = 2000;

/** what there is of a program whose run was stopped before anything was captured */
const NOTHING: CaptureResult = { events: [], diagnostics: [], logFormat: null, roots: [] };

function unlessStopped<T>(otherwise: T, f: () => T): T {
  try {
    return f();
  } catch (e) {
    if (!(e instanceof Stopped)) throw e;
    return otherwise;
  }
}

export class Session {
  private interned = new InternTable();
  private readonly store: MemoStore;
  private readonly frames: FrameMemo;
  private readonly evaluator = new Evaluator();
  private readonly parses = new Parses();
  private readonly lastRuns = new LastRuns();
  private readonly edits = new Map<string, string>();

  constructor(
    private readonly files: (path: string) => string | undefined,
    private readonly options: SessionOptions = defaultSessionOptions(),
  ) {
    this.store = new MemoStore(options.memory ?? 0);
    this.frames = new FrameMemo(this.store);
  }

  /** The text of a file as the editor holds it; it wins over what the read function gives. */
  update(path: string, text: string | undefined): void {
    if (text === undefined) this.edits.delete(path);
    else this.edits.set(path, text);
  }

  /** Runs a file as a program and compiles every frame of it. Never throws on user code. */
  run(path: string, control: RunControl = {}): Program {
    const floats = this.interned.floats.size + floatsKept(this.interned);
    if (this.interned.nodes.size > MOST_INTERNED || floats > MOST_FLOATS) {
      this.interned = new InternTable();
      this.store.clear();
    }
    const shouldStop = control.shouldStop ?? (() => false);
    return withInternTable(this.interned, () => withStop(shouldStop, () => this.runInterned(path, control)));
  }

  private runInterned(path: string, control: RunControl): Program {
    const read = (p: string): string | undefined => {
      const text = this.edits.get(p) ?? this.files(p);
      // Python and editors end lines at a bare CR too; as many characters, so places stay
      return text?.replace(/\r(?!\n)/g, "\n");
    };
    if (!this.remembers) return this.anew(path, control, new Reading(read, (_, text) => new PythonFile(text))).program;
    const parse = (p: string, text: string): PythonFile => this.parses.parse(p, text);
    this.parses.begin();
    const still = unlessStopped(undefined, () => this.lastRuns.still(path, read, parse));
    if (still) return still;
    const reading = new Reading(read, parse);
    const placed = this.anew(path, control, reading);
    this.parses.end();
    if (control.shouldStop?.() || tellsLines(reading)) this.lastRuns.forget(path);
    else this.lastRuns.keep(path, placed, reading);
    return placed.program;
  }

  private anew(path: string, control: RunControl, reading: Reading): Placed {
    const shouldStop = control.shouldStop ?? (() => false);
    const preset = presets[this.options.preset];
    const config = new Map([...defaultConfig(this.options.preset), ...this.options.config]);
    const captured = unlessStopped(NOTHING, () =>
      capture(path, {
        files: reading.file,
        parse: reading.parse,
        config,
        behaviours: new Map(Object.entries(preset.behaviours)),
        shouldStop,
        stepBudget: this.options.stepBudget,
        ...(this.options.environment ? { environment: this.options.environment } : {}),
        ...(this.options.imports ? { imports: this.options.imports } : {}),
        ...(this.options.project ? { project: this.options.project } : {}),
        evaluate: (steps, tensor) =>
          this.evaluator.evaluate(steps, tensor, {
            frameOf: step => eagerFrame(step, path, config),
            behaviours: new Map(Object.entries(preset.behaviours)),
            budget: EVALUATION_BUDGET,
          }),
        ...(this.options.roots ? { roots: this.options.roots } : {}),
        training: root => this.options.training?.(root, path) ?? false,
      }),
    );
    const program = new ProgramBuilder({
      path,
      preset: this.options.preset,
      target: targetByName(this.options.target),
      captured,
      artifacts: this.options.artifacts,
    });
    unlessStopped(undefined, () => this.compileAll(path, captured, config, program));
    return program.finish();
  }

  private compileAll(
    path: string,
    captured: CaptureResult,
    config: ReadonlyMap<string, unknown>,
    program: ProgramBuilder,
  ): void {
    const lastBackward = captured.events.findLastIndex(e => e.kind === "runtime" && e.step.kind === "backward");
    let aotId = 0;
    for (const [at, event] of captured.events.entries()) {
      stopPoint();
      if (event.kind !== "frame") {
        if (this.options.replay && event.kind === "runtime" && event.step.kind === "eager") {
          program.eager(event.step, this.frame(path, eagerFrame(event.step, path, config), 0, at < lastBackward));
        }
        program.captureEvent(event);
        continue;
      }
      const result = this.frame(path, event.frame, aotId, at < lastBackward || event.frame.backward === true);
      aotId += result.aotIds;
      program.frame(event.frame.id, result);
    }
  }

  private frame(path: string, frame: CapturedFrame, aotId: number, backward: boolean): FrameReport {
    const compile = (): FrameReport => this.compile(path, frame, aotId, backward);
    return this.remembers ? this.frames.report(frame, { path, aotId, backward }, compile) : compile();
  }

  /** logs and CPU kernels name lines in their texts, so a run that makes them is a run of its own */
  private get remembers(): boolean {
    const { memory, artifacts, wat, replay } = this.options;
    return (memory ?? 0) > 0 && artifacts?.size === 0 && !wat && !replay;
  }

  private compile(path: string, frame: CapturedFrame, aotId: number, backward: boolean): FrameReport {
    const preset = presets[this.options.preset];
    const target = targetByName(this.options.target);
    const result = compileFrame(frame, {
      path,
      aotId,
      preset: this.options.preset,
      behaviours: new Map(Object.entries(preset.behaviours)),
      target,
      logs: this.options.artifacts ?? frame.logs,
      wat: this.options.wat,
      unfused: this.options.unfused,
      choices: this.options.choices ?? new Map(),
      backward,
    });
    return frameReport(frame, result, target);
  }
}

/** a program that can read off where its own lines stand */
function tellsLines(reading: Reading): boolean {
  return [...reading.read.values()].some(text => text?.includes("lineno"));
}
