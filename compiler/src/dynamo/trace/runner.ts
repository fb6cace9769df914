// Compiled calls: takes over the frames of a compiled function, traces each, splits it at graph breaks, and keeps what
// was compiled for later calls. In: a frame about to run. Out: its value; frames, breaks and calls as events.

import type { Code, Instruction } from "../code/instructions";
import { insideLoop, liveSlots } from "../code/instructions";
import { Interrupted, PyError } from "../interp/api";
import type { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { Journal, setJournal } from "../objects/journal";
import type { Kwargs, Value } from "../objects/values";
import type { Torch } from "../torch/context";
import { Unsupported } from "../torch/sink";
import type { CapturedFrame, RuntimeTensor } from "../types";
import { BreakReports } from "./break_reports";
import { breakable, describe, loopText } from "./break_text";
import { type CompileContext, capturedFrame, inputValue, leaves } from "./captured";
import { otherWays } from "./decisions";
import type { GlobalState } from "./guards";
import { closeGraph, OutputCollector, settle, settleFrame } from "./outputs";
import { type FrameSnapshot, restore, storeSequence, takeSnapshot } from "./snapshot";
import { type FrameState, Trace } from "./trace";

interface CacheEntry {
  readonly trace: Trace;
  readonly state: GlobalState;
  /** null: there was nothing to compile */
  readonly captured: CapturedFrame | null;
  /** answers that it took for conditions nobody knows */
  readonly answers: readonly boolean[];
}

interface CodeCache {
  readonly entries: CacheEntry[];
  readonly state: FrameState;
  skip: boolean;
}

/** thrown at the instruction before which the graph ends */
class BreakHere extends Error {}
/** one instruction of a frame has run eagerly */
class Paused extends Error {}

type Ended =
  | { readonly kind: "return"; readonly value: Value }
  | { readonly kind: "broke" }
  | { readonly kind: "eager"; readonly raised?: PyError };

const RECOMPILE_LIMIT = 8;
/** other ways of one call that are compiled at most */
const MOST_WAYS = 6;
/** how much longer than the first way another one may be taken to be */
const ROOM = 1.5;

export class FrameRunner {
  private caches = new Map<Code, Map<number, CodeCache>>();
  private readonly breaks: BreakReports;
  private nextFrameId = 0;
  context: CompileContext | null = null;

  constructor(
    private readonly torch: Torch,
    private readonly vm: Machine,
  ) {
    this.breaks = new BreakReports(torch, vm);
  }

  /** torch._dynamo.reset() */
  reset(): void {
    this.caches.clear();
    this.breaks.said.clear();
  }

  /** runs `f` as if nothing had been compiled before, and forgets what it compiles: a trial */
  isolated<T>(f: () => T): T {
    const { caches, nextFrameId } = this;
    const { said } = this.breaks;
    this.caches = new Map();
    this.breaks.said = new Set();
    try {
      return f();
    } finally {
      Object.assign(this, { caches, nextFrameId });
      this.breaks.said = said;
    }
  }

  /** what has been said so far, to be given to `forget` */
  said(): ReadonlySet<string> {
    return new Set(this.breaks.said);
  }

  /** drops what an attempt compiled, or found nothing to compile in, and what it said: it will be said again where it holds */
  forget(frames: readonly number[], said: ReadonlySet<string>): void {
    this.breaks.said = new Set(said);
    const gone = new Set(frames);
    for (const byPc of this.caches.values()) {
      for (const cache of byPc.values()) {
        for (let i = cache.entries.length - 1; i >= 0; i--) {
          const captured = cache.entries[i]?.captured;
          if (!captured || gone.has(captured.id)) cache.entries.splice(i, 1);
        }
        cache.state.clear();
        cache.skip = false;
      }
    }
  }

  /** calls a target with its frames compiled */
  callCompiled(target: Value, args: readonly Value[], kwargs: Kwargs, context: CompileContext): Value {
    const outerHook = this.vm.frameHook;
    const outerContext = this.context;
    const outermost = outerContext === null && !this.exploring;
    const assumed = [...this.torch.pendingAssumptions];
    if (outermost) this.torch.decisions.begin([]);
    this.context = context;
    this.torch.compiling = true;
    this.vm.frameHook = f => this.intercept(f);
    const before = this.vm.steps;
    let value: Value;
    try {
      value = this.vm.call(target, args, kwargs);
    } finally {
      this.vm.frameHook = outerHook;
      this.context = outerContext;
      this.torch.compiling = outerContext !== null;
    }
    this.torch.step({
      kind: "compiled_call",
      outputs: leaves(value).map(t => this.torch.runtime(t)),
      args: [...args, ...kwargs.values()].flatMap(a => leaves(a)).map(t => this.torch.runtime(t)),
    });
    if (outermost && this.torch.decisions.made.length > 0 && !this.torch.probe) {
      this.explore(target, args, kwargs, context, assumed, this.vm.steps - before);
    }
    return value;
  }

  private exploring = false;

  /**
   * Runs the call again for each condition that nobody knows, with another answer: what the other ways compile stays,
   * all else they do is undone. What both ways share is found compiled. `cost`: the steps that the call took; another way
   * that may take more than are left is not begun.
   */
  private explore(
    target: Value,
    args: readonly Value[],
    kwargs: Kwargs,
    context: CompileContext,
    assumed: readonly string[],
    cost: number,
  ): void {
    const { torch, vm } = this;
    const last = Math.min(vm.stepLimit ?? Number.POSITIVE_INFINITY, vm.host.stepBudget) - cost * ROOM;
    const ways = otherWays(torch.decisions.made, 0);
    const after = [...torch.pendingAssumptions];
    for (let n = 0; n < MOST_WAYS && ways.length > 0 && vm.steps < last; n++) {
      const way = ways.shift() ?? [];
      const journal = new Journal();
      const outer = setJournal(journal);
      const resume = torch.pauseSteps();
      const modes = this.saveModes();
      const events = torch.events.length;
      const frames = vm.frames.length;
      torch.pendingAssumptions.splice(0, torch.pendingAssumptions.length, ...assumed);
      torch.decisions.begin(way);
      this.exploring = true;
      try {
        this.callCompiled(target, args, kwargs, context);
      } catch (e) {
        // the other way may well end in an exception
        if (!(e instanceof PyError)) throw e;
      } finally {
        this.exploring = false;
        resume();
        setJournal(outer);
        journal.rollback();
        this.restoreModes(modes);
        vm.frames.length = frames;
        const kept = torch.events.splice(events).filter(e => e.kind === "frame" || e.kind === "graph_break");
        torch.events.push(...kept);
      }
      ways.push(...otherWays(torch.decisions.made, way.length));
    }
    torch.pendingAssumptions.splice(0, torch.pendingAssumptions.length, ...after);
  }

  /** runs something as if it were not compiled, frames it calls included */
  withoutCompiling<T>(f: () => T): T {
    const hook = this.vm.frameHook;
    this.vm.frameHook = null;
    try {
      return f();
    } finally {
      this.vm.frameHook = hook;
    }
  }

  private intercept(frame: Frame): Value | undefined {
    const library = frame.code.file.library;
    if (library !== "user" && frame.code.name !== "inner") return undefined;
    if (library !== "user" && frame.code.file.name !== "external_utils.py") return undefined;
    if (frame.func?.marks.has("disable")) return this.withoutCompiling(() => this.vm.run(frame));
    if (frame.code.isAsync) return undefined;
    return this.runFrame(frame);
  }

  private cacheFor(frame: Frame): CodeCache {
    let byPc = this.caches.get(frame.code);
    if (!byPc) {
      byPc = new Map();
      this.caches.set(frame.code, byPc);
    }
    let cache = byPc.get(frame.pc);
    if (!cache) {
      cache = { entries: [], state: new Map(), skip: false };
      byPc.set(frame.pc, cache);
    }
    return cache;
  }

  private globalState(): GlobalState {
    const { autocast, gradEnabled, defaultDtype } = this.torch;
    return { gradEnabled, autocast: JSON.stringify(autocast), dtype: defaultDtype };
  }

  private runFrame(frame: Frame): Value {
    const baseGrad = this.torch.gradEnabled;
    for (let segments = 0; ; segments++) {
      const ended = this.segment(frame, baseGrad);
      if (ended.kind === "return") return ended.value;
      if (ended.kind === "broke" && segments <= 200) continue;
      const value = this.vm.run(frame);
      if (ended.kind === "eager" && ended.raised) this.reportMismatch(frame, ended.raised);
      return value;
    }
  }

  // ---- one segment: from the frame's start (or a resume) to its return or next break

  private segment(frame: Frame, baseGrad: boolean): Ended {
    const { vm, torch } = this;
    const context = this.context;
    if (!context) return { kind: "eager" };
    const cache = this.cacheFor(frame);
    if (cache.skip) return { kind: "eager" };
    const entry = { frame };
    const now = this.globalState();
    const hit = cache.entries.find(
      e => torch.decisions.fits(e.answers) && e.trace.guards.failure(entry, e.trace.env, e.state, now) === undefined,
    );
    const answered = torch.decisions.made.length;
    if (!hit && cache.entries.length >= RECOMPILE_LIMIT) {
      vm.report(
        "recompile-limit",
        `torch._dynamo hit config.recompile_limit (${RECOMPILE_LIMIT}) in ${frame.shownName}`,
      );
      cache.skip = true;
      return { kind: "eager" };
    }
    const snapshot = takeSnapshot(frame);
    const failed = new Map<number, Unsupported>();
    const hook = vm.frameHook;
    // a frame called while another steps over its break
    const stepping = vm.traceHook;
    const frames = vm.frames.length;
    for (let attempt = 0; attempt < 40; attempt++) {
      restore(frame, snapshot);
      const journal = new Journal();
      const trace = new Trace(torch, frame, {
        dynamic: context.options.dynamic,
        state: hit || attempt > 0 ? new Map(cache.state) : cache.state,
        quiet: hit !== undefined,
        assumeStaticByDefault: true,
      });
      for (const a of [...context.options.assumed, ...torch.pendingAssumptions]) trace.note(a);
      let count = 0;
      const modes = this.saveModes();
      const outerJournal = setJournal(journal);
      vm.frameHook = null;
      vm.traceHook = {
        frame,
        before: () => {
          if (failed.has(count++)) throw new BreakHere();
        },
      };
      torch.trace = trace;
      vm.observer = trace;
      const uninstall = (): void => {
        setJournal(outerJournal);
        vm.frameHook = hook;
        vm.traceHook = stepping;
        torch.trace = null;
        vm.observer = null;
        vm.frames.length = frames;
      };
      const keep = (): void => {
        uninstall();
        journal.joins(outerJournal);
      };
      const retry = (): void => {
        uninstall();
        journal.rollback();
        this.restoreModes(modes);
        torch.decisions.rewind(answered);
      };
      try {
        if (torch.gradEnabled !== baseGrad) setGradNode(trace, torch.gradEnabled);
        const done = vm.runFrame(frame);
        const value = done.value;
        const collector = new OutputCollector(trace);
        collector.value(value);
        collector.effects();
        if (torch.gradEnabled !== baseGrad) setGradNode(trace, baseGrad);
        keep();
        this.finish(trace, collector, frame, snapshot, hit, cache, now, context, baseGrad, answered);
        const settled = settle(value, trace);
        settleFrame(frame, trace);
        trace.release();
        return { kind: "return", value: settled };
      } catch (e) {
        if (e instanceof BreakHere) {
          const instruction = frame.code.instructions[frame.pc] as Instruction;
          const fault = failed.get(count - 1) as Unsupported;
          const collector = new OutputCollector(trace);
          for (const v of frame.stack) collector.value(v);
          const live = liveSlots(frame.code, frame.pc);
          for (const slot of storeSequence(frame)) if (live.has(slot)) collector.value(frame.locals[slot]);
          for (const c of frame.cells) collector.value(c.value);
          collector.effects();
          if (torch.gradEnabled !== baseGrad) setGradNode(trace, baseGrad);
          keep();
          this.breaks.report(frame, instruction, fault, false, null);
          this.finish(trace, collector, frame, snapshot, hit, cache, now, context, baseGrad, answered);
          settleFrame(frame, trace);
          trace.release();
          return this.stepOver(frame, instruction, live);
        }
        if (e instanceof Unsupported) {
          const at = frame.pc - 1;
          const instruction = frame.code.instructions[at];
          const splits = instruction !== undefined && (breakable(instruction.op) || e.branch) && at >= 0;
          const loop = splits && insideLoop(frame.code, at);
          this.breaks.noteFault(frame, e);
          if (context.options.fullgraph) this.failFullgraph(frame, e, retry);
          if (splits && !loop) {
            retry();
            failed.set(count - 1, e);
            continue;
          }
          const reason = instruction ?? null;
          if (reason) this.breaks.report(frame, reason, e, true, loop ? loopText(frame.code) : null);
          retry();
          restore(frame, snapshot);
          cache.skip = true;
          return { kind: "eager" };
        }
        if (e instanceof PyError) {
          torch.probe?.failed(x => trace.env.hint(x));
          e.text ??= this.textOf(e);
        }
        retry();
        // what recurses without end does so uncompiled too, one call less deep at each try
        if (e instanceof PyError && (torch.probe || e.value.cls.name === "RecursionError")) throw e;
        if (e instanceof PyError) {
          // the exception leaves the compiled function: eager code raises it with all it did before
          restore(frame, snapshot);
          return { kind: "eager", raised: e };
        }
        if (!(e instanceof Interrupted)) restore(frame, snapshot);
        throw e;
      }
    }
    restore(frame, snapshot);
    return { kind: "eager" };
  }

  private textOf(e: PyError): string {
    try {
      return this.vm.str(e.value);
    } catch (inner) {
      if (inner instanceof PyError) return "";
      throw inner;
    }
  }

  /** code that runs eagerly but raised while traced: this stage is at fault, and says so */
  private reportMismatch(frame: Frame, e: PyError): void {
    const at = [...e.trace].reverse().find(t => t.file.library === "user");
    const what = `${e.value.cls.name}: ${this.vm.str(e.value)}`;
    this.vm.report(
      "not-captured",
      `${frame.shownName} could not be captured as one graph: ${what}`,
      "warning",
      at?.span,
    );
  }

  private failFullgraph(frame: Frame, e: Unsupported, retry: () => void): never {
    const at = frame.code.instructions[frame.pc - 1]?.at.span;
    const text = describe(e.gb);
    retry();
    const error = this.vm.makeError("Unsupported", [text]);
    if (at) error.trace.push({ file: frame.code.file, span: at, func: frame.shownName });
    throw error;
  }

  /** runs the broken instruction in Python, where calls may be compiled on their own, and names the resumed frame */
  private stepOver(frame: Frame, instruction: Instruction, live: ReadonlySet<number>): Ended {
    const { vm } = this;
    let first = true;
    const outer = vm.traceHook;
    vm.traceHook = {
      frame,
      before: () => {
        if (!first) throw new Paused();
        first = false;
      },
    };
    try {
      const done = vm.runFrame(frame);
      return { kind: "return", value: done.value };
    } catch (e) {
      if (!(e instanceof Paused)) throw e;
    } finally {
      vm.traceHook = outer;
    }
    frame.resumedAs = `torch_dynamo_resume_in_${frame.code.name}_at_${instruction.at.span.line}`;
    frame.locals.forEach((_, i) => {
      if (!live.has(i)) frame.locals[i] = undefined;
    });
    return { kind: "broke" };
  }

  // ---- what is kept and told

  private finish(
    trace: Trace,
    collector: OutputCollector,
    frame: Frame,
    snapshot: FrameSnapshot,
    hit: CacheEntry | undefined,
    cache: CodeCache,
    state: GlobalState,
    context: CompileContext,
    baseGrad: boolean,
    answered: number,
  ): void {
    const { torch } = this;
    const useful = closeGraph(trace, collector.nodes, baseGrad);
    let captured: CapturedFrame | null = null;
    if (hit) captured = hit.captured;
    else {
      if (useful) {
        captured = capturedFrame(
          torch,
          trace,
          frame,
          context,
          baseGrad,
          state,
          this.nextFrameId++,
          this.breaks.traceback(frame),
        );
        torch.emit({ kind: "frame", frame: captured });
        context.frames.push(captured.id);
      }
      cache.entries.push({ trace, state, captured, answers: torch.decisions.made.slice(answered) });
    }
    if (!captured) return;
    // the concrete metas are what the program holds afterwards
    trace.release();
    const inputs = captured.inputs.map((i): RuntimeTensor | number =>
      inputValue(torch, i, hit?.trace ?? trace, trace, frame, snapshot),
    );
    torch.step({
      kind: "call",
      frame: captured,
      inputs,
      outputs: collector.tensors.map(t => torch.runtime(t)),
    });
  }

  private saveModes(): Pick<
    Torch,
    "gradEnabled" | "inferenceMode" | "autocast" | "defaultDtype" | "defaultDevice" | "filled"
  > {
    const { gradEnabled, inferenceMode, autocast, defaultDtype, defaultDevice, filled } = this.torch;
    return { gradEnabled, inferenceMode, autocast, defaultDtype, defaultDevice, filled };
  }
  private restoreModes(m: ReturnType<FrameRunner["saveModes"]>): void {
    Object.assign(this.torch, m);
  }
}

function setGradNode(trace: Trace, enabled: boolean): void {
  trace.emit("call_function", "torch._C._set_grad_enabled", [enabled], new Map(), null);
}
