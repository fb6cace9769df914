// Analyzer: the newest program of each open document. Runs compiles in a thread, one at a time: a newer version of a
// document cancels the compile of its older one, an edit goes before documents that were merely opened, and an answer
// about an older version is never handed out.
import type { Worker } from "node:worker_threads";
import type { OutputCode } from "@fuselens/compiler";
import type { EditorProgram } from "../ide/model";
import { type CompileThread, startCompileThread } from "./compile_thread";
import { endThread } from "./end_thread";
import type { CompileRequest, ThreadAnswer, ThreadOptions } from "./messages";

export interface Analysis {
  readonly path: string;
  readonly version: number;
  readonly text: string;
  readonly program: EditorProgram;
  readonly milliseconds: number;
}

export interface AnalyzerEvents {
  readonly onAnalysis: (a: Analysis) => void;
  /** a path's compile begins; null: nothing is left to do */
  readonly onRunning: (path: string | null) => void;
  readonly onError: (message: string) => void;
  /** the thread ended while it compiled this version; it is not tried again until the text changes */
  readonly onCrash: (path: string, version: number, message: string) => void;
}

type Waiter = (a: Analysis | null) => void;

interface Pending {
  readonly path: string;
  readonly text: string;
  readonly version: number;
  readonly edit: boolean;
  readonly waiters: Waiter[];
}

export class Analyzer {
  private thread: Worker | null = null;
  private readonly generation: Int32Array<SharedArrayBuffer>;
  private readonly latest = new Map<string, Analysis>();
  private readonly queue = new Map<string, Pending>();
  private running: (Pending & { readonly id: number; stopped: boolean }) | null = null;
  /** versions that the reader cancelled: not tried again until the text changes */
  private readonly givenUp = new Map<string, number>();
  private readonly files = new Map<string, ReadonlySet<string>>();
  private readonly codeWaiters = new Map<number, (codes: readonly OutputCode[] | null) => void>();
  private nextId = 1;
  private keyed = false;

  constructor(
    private readonly threadFile: string,
    private options: ThreadOptions,
    private readonly events: AnalyzerEvents,
    /** a thread that is starting already; by default one is started when it is needed */
    started?: CompileThread,
  ) {
    this.generation = started?.generation ?? new Int32Array(new SharedArrayBuffer(4));
    if (started) this.adopt(started.worker);
  }

  /** From now on analyses tell graphs apart by their code; those at hand don't, and are made again when asked for. */
  useCodeKeys(): void {
    if (this.keyed) return;
    this.keyed = true;
    this.latest.clear();
    const { running } = this;
    if (!running || running.stopped) return;
    if (!this.queue.has(running.path)) this.queue.set(running.path, { ...running, waiters: running.waiters.splice(0) });
    this.stop(running);
  }

  /** The newest finished analysis, whatever its version. */
  get(path: string): Analysis | undefined {
    return this.latest.get(path);
  }

  /** Asks for a compile; resolves with the analysis of this or a later version, null if it was given up. */
  update(path: string, text: string, version: number, edit = false): Promise<Analysis | null> {
    return new Promise(resolve => {
      if (this.givenUp.get(path) === version && !edit) {
        resolve(null);
        return;
      }
      this.givenUp.delete(path);
      const { running } = this;
      if (running?.path === path && running.version === version && !running.stopped && running.text === text) {
        running.waiters.push(resolve);
        return;
      }
      const queued = this.queue.get(path);
      const waiters = queued?.waiters ?? [];
      waiters.push(resolve);
      if (running?.path === path) {
        waiters.unshift(...running.waiters.splice(0));
        this.stop(running);
      } else if (edit && running && !running.edit && !this.queue.has(running.path)) {
        // an edit does not wait for a document that was merely opened; that one is done again later
        this.queue.set(running.path, { ...running, waiters: running.waiters.splice(0) });
        this.stop(running);
      }
      this.queue.set(path, { path, text, version, edit: edit || (queued?.edit ?? false), waiters });
      this.pump();
    });
  }

  /** The next request for the path compiles again: something that it imports has changed. */
  forget(path: string): void {
    this.latest.delete(path);
  }

  /** Gives up the compile of a path until it changes again. */
  cancel(path: string): void {
    const version = this.queue.get(path)?.version ?? (this.running?.path === path ? this.running.version : undefined);
    if (version !== undefined) this.givenUp.set(path, version);
    this.drop(path);
  }

  private drop(path: string): void {
    for (const w of this.queue.get(path)?.waiters ?? []) w(null);
    this.queue.delete(path);
    if (this.running?.path === path) {
      for (const w of this.running.waiters.splice(0)) w(null);
      this.stop(this.running);
    }
  }

  /** Output code of the graphs of an analysis; null where a newer one has taken its place. */
  codes(analysis: Analysis): Promise<readonly OutputCode[] | null> {
    return new Promise(resolve => {
      const id = this.nextId++;
      this.codeWaiters.set(id, resolve);
      this.post({ kind: "codes", id, path: analysis.path, version: analysis.version });
    });
  }

  /** A text that open documents may import, itself not analysed. */
  overlay(path: string, text: string): void {
    this.post({ kind: "overlay", path, text });
  }

  /** paths of analysed documents whose compile has read one of the files */
  dependents(changed: ReadonlySet<string>): string[] {
    return [...this.files].flatMap(([path, files]) =>
      [...changed].some(f => f !== path && files.has(f)) ? [path] : [],
    );
  }

  close(path: string): void {
    this.drop(path);
    this.givenUp.delete(path);
    this.latest.delete(path);
    this.files.delete(path);
    this.post({ kind: "close", path });
  }

  configure(options: ThreadOptions): void {
    this.options = options;
    this.latest.clear();
    this.givenUp.clear();
    if (this.thread) this.post({ kind: "configure", options });
  }

  async dispose(): Promise<void> {
    for (const w of this.codeWaiters.values()) w(null);
    const { thread } = this;
    this.thread = null;
    Atomics.add(this.generation, 0, 1);
    if (thread) await endThread(thread);
  }

  private post(request: CompileRequest): void {
    this.ensureThread().postMessage(request);
  }

  private stop(running: { stopped: boolean }): void {
    running.stopped = true;
    Atomics.add(this.generation, 0, 1);
  }

  private pump(): void {
    if (this.running) return;
    const pending = [...this.queue.values()];
    const next = pending.find(p => p.edit) ?? pending[0];
    if (!next) {
      this.events.onRunning(null);
      return;
    }
    this.queue.delete(next.path);
    this.running = { ...next, id: this.nextId++, stopped: false };
    const generation = Atomics.add(this.generation, 0, 1) + 1;
    const { path, text, version } = next;
    this.events.onRunning(path);
    const { keyed } = this;
    this.post({ kind: "compile", id: this.running.id, generation, path, text, version, keyed });
  }

  private answer(answer: ThreadAnswer): void {
    if (answer.kind === "codes") {
      this.codeWaiters.get(answer.id)?.(answer.codes);
      this.codeWaiters.delete(answer.id);
      return;
    }
    if (answer.kind !== "compiled") return;
    const run = this.running;
    if (!run || run.id !== answer.id) return;
    this.running = null;
    if (answer.program && !run.stopped) {
      const { path, version, text } = run;
      const analysis: Analysis = { path, version, text, program: answer.program, milliseconds: answer.milliseconds };
      this.latest.set(path, analysis);
      this.files.set(path, new Set(answer.files));
      for (const w of run.waiters) w(analysis);
      this.pump(); // the next compile runs while this one's answers are written
      this.events.onAnalysis(analysis);
      return;
    }
    for (const w of run.waiters) w(null);
    this.pump();
  }

  private ensureThread(): Worker {
    return this.thread ?? this.adopt(startCompileThread(this.threadFile, this.generation).worker);
  }

  private adopt(thread: Worker): Worker {
    thread.on("message", (a: ThreadAnswer) => this.answer(a));
    thread.on("error", e => {
      // The compiler never throws on user code; if it does, the thread is replaced and the document keeps its last answer.
      this.events.onError(`compile thread: ${e.stack ?? e.message}`);
      this.thread = null;
      for (const w of this.codeWaiters.values()) w(null);
      this.codeWaiters.clear();
      const run = this.running;
      this.running = null;
      if (run && !run.stopped) {
        this.givenUp.set(run.path, run.version);
        this.events.onCrash(run.path, run.version, e.message.split("\n")[0] ?? e.message);
      }
      for (const w of run?.waiters ?? []) w(null);
      this.pump();
    });
    this.thread = thread;
    this.post({ kind: "configure", options: this.options });
    return thread;
  }
}
