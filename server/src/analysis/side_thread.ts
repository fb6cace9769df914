// Compiles beside the typing: stage dumps, comparisons, benchmarks' kernels, graphs. A thread of its own, so that none of
// them holds up an edit; it ends when it was idle for a while. A cancelled job is answered at once; the thread stops it at
// the next place where compiles look.
import type { Worker } from "node:worker_threads";
import { startCompileThread } from "./compile_thread";
import { endThread } from "./end_thread";
import type { CompileRequest, SideJob, SideResult, ThreadAnswer, ThreadOptions } from "./messages";

const IDLE_MS = 20_000;

export interface SideRequest {
  readonly path: string;
  readonly overlay: readonly (readonly [path: string, text: string])[];
  readonly options: ThreadOptions;
}

/** what asks a job to be given up: an LSP cancellation token, a progress token */
export interface Cancellation {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): unknown;
}

export class Cancelled extends Error {
  constructor() {
    super("cancelled");
  }
}

interface Job {
  readonly id: number;
  readonly request: SideRequest;
  readonly job: SideJob;
  readonly resolve: (r: SideResult) => void;
  readonly reject: (e: Error) => void;
}

export class SideThread {
  private thread: Worker | null = null;
  private running: Job | null = null;
  private queue: Job[] = [];
  private idle: NodeJS.Timeout | undefined;
  private nextId = 1;

  /** what a job is started with; another value stops it */
  private readonly generation = new Int32Array(new SharedArrayBuffer(4));

  constructor(private readonly threadFile: string) {}

  /** Rejects with Cancelled, or with an Error of one line. */
  run<J extends SideJob>(
    request: SideRequest,
    job: J,
    cancel?: Cancellation,
  ): Promise<Extract<SideResult, { want: J["want"] }>> {
    return new Promise((resolve, reject) => {
      const entry: Job = {
        id: this.nextId++,
        request,
        job,
        // the thread answers a job with a result of the same `want`
        resolve: r => resolve(r as Extract<SideResult, { want: J["want"] }>),
        reject,
      };
      if (cancel?.isCancellationRequested) return reject(new Cancelled());
      cancel?.onCancellationRequested(() => this.cancel(entry));
      this.queue.push(entry);
      this.pump();
    });
  }

  async dispose(): Promise<void> {
    clearTimeout(this.idle);
    const { thread } = this;
    this.thread = null;
    this.stop();
    if (thread) await endThread(thread);
  }

  private cancel(job: Job): void {
    this.queue = this.queue.filter(j => j !== job);
    if (this.running === job) this.stop();
    job.reject(new Cancelled());
  }

  private stop(): void {
    Atomics.add(this.generation, 0, 1);
  }

  private pump(): void {
    clearTimeout(this.idle);
    if (this.running) return;
    const next = this.queue.shift();
    if (!next) {
      this.idle = setTimeout(() => void this.dispose(), IDLE_MS);
      this.idle.unref();
      return;
    }
    this.running = next;
    const generation = Atomics.load(this.generation, 0);
    const request: CompileRequest = { kind: "side", id: next.id, generation, job: next.job, ...next.request };
    this.ensureThread().postMessage(request);
  }

  private ensureThread(): Worker {
    if (this.thread) return this.thread;
    const { worker: thread } = startCompileThread(this.threadFile, this.generation);
    thread.on("message", (a: ThreadAnswer) => {
      const job = this.running;
      if (a.kind !== "side" || job?.id !== a.id) return;
      this.running = null;
      if (a.result) job.resolve(a.result);
      else job.reject(new Cancelled());
      this.pump();
    });
    thread.on("error", e => {
      if (this.thread !== thread) return;
      this.thread = null;
      const job = this.running;
      this.running = null;
      job?.reject(e);
      this.pump();
    });
    this.thread = thread;
    return thread;
  }
}
