// Analyzer: the newest Program of each open document. Runs compiles in a thread, one at a time; a newer version of a
// document cancels the compile of its older one, and an answer about an older version is never handed out.
import { Worker } from "node:worker_threads";
import type { Program } from "@fuselens/compiler";
import type { CompileAnswer, CompileRequest, ThreadOptions, ThreadStart } from "./messages";

export interface Analysis {
  readonly path: string;
  readonly version: number;
  readonly text: string;
  readonly program: Program;
}

interface Pending {
  readonly path: string;
  readonly text: string;
  readonly version: number;
  readonly waiters: ((a: Analysis | null) => void)[];
}

export class Analyzer {
  private thread: Worker | null = null;
  private readonly generation = new Int32Array(new SharedArrayBuffer(4));
  private readonly latest = new Map<string, Analysis>();
  private readonly queue = new Map<string, Pending>();
  private running: (Pending & { readonly id: number }) | null = null;
  private nextId = 1;

  constructor(
    private readonly threadFile: string,
    private options: ThreadOptions,
    private readonly onAnalysis: (a: Analysis) => void,
    private readonly onError: (message: string) => void,
  ) {}

  /** The newest finished analysis, whatever its version. */
  get(path: string): Analysis | undefined {
    return this.latest.get(path);
  }

  /** Asks for a compile; resolves with the analysis of this or a later version, null if the document closed. */
  update(path: string, text: string, version: number): Promise<Analysis | null> {
    return new Promise(resolve => {
      const waiters = this.queue.get(path)?.waiters ?? [];
      waiters.push(resolve);
      if (this.running?.path === path) waiters.unshift(...this.running.waiters.splice(0));
      this.queue.set(path, { path, text, version, waiters });
      if (this.running?.path === path) Atomics.add(this.generation, 0, 1); // overtaken: stop it
      this.pump();
    });
  }

  close(path: string): void {
    this.latest.delete(path);
    for (const w of this.queue.get(path)?.waiters ?? []) w(null);
    this.queue.delete(path);
    this.post({ kind: "close", path });
  }

  configure(options: ThreadOptions): void {
    this.options = options;
    this.post({ kind: "configure", options });
  }

  async dispose(): Promise<void> {
    await this.thread?.terminate();
    this.thread = null;
  }

  private post(request: CompileRequest): void {
    this.ensureThread().postMessage(request);
  }

  private pump(): void {
    if (this.running) return;
    const next = this.queue.values().next().value;
    if (!next) return;
    this.queue.delete(next.path);
    this.running = { ...next, id: this.nextId++ };
    const generation = Atomics.add(this.generation, 0, 1) + 1;
    this.post({
      kind: "compile",
      id: this.running.id,
      generation,
      path: next.path,
      text: next.text,
      version: next.version,
    });
  }

  private answer(answer: CompileAnswer): void {
    const run = this.running;
    if (!run || run.id !== answer.id) return;
    this.running = null;
    if (answer.program) {
      const analysis: Analysis = { path: run.path, version: run.version, text: run.text, program: answer.program };
      this.latest.set(run.path, analysis);
      this.onAnalysis(analysis);
      for (const w of run.waiters) w(analysis);
    } else if (!this.queue.has(run.path)) {
      for (const w of run.waiters) w(null);
    }
    this.pump();
  }

  private ensureThread(): Worker {
    if (this.thread) return this.thread;
    const data: ThreadStart = { options: this.options, generation: this.generation.buffer as SharedArrayBuffer };
    const thread = new Worker(this.threadFile, { workerData: data, resourceLimits: { stackSizeMb: 16 } });
    thread.on("message", (a: CompileAnswer) => this.answer(a));
    thread.on("error", e => {
      // The compiler never throws on user code; if it does, the thread is replaced and the document keeps its last answer.
      this.onError(`compile thread: ${e.stack ?? e.message}`);
      this.thread = null;
      const run = this.running;
      this.running = null;
      for (const w of run?.waiters ?? []) w(null);
      this.pump();
    });
    thread.unref();
    this.thread = thread;
    return thread;
  }
}
