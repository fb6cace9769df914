// One executor child and what happens to it. The child runs generated code only, with a scrubbed environment and a
// temporary folder of its own; a job that hangs, crashes or poisons its device costs the child, never the worker.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeviceInfo, ErrorCode, Job, JobResult } from "../protocol";
import type { FromExecutor } from "./executor_messages";
import type { ExecutorSpec } from "./executor_spec";
import { onceEnded, type Transport } from "./transport";

export type Outcome =
  | { readonly kind: "result"; readonly result: JobResult }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string; readonly detail?: string }
  /** the child died before it answered; `ready` and `received`: it had started and been given the job, which may be what killed it */
  | { readonly kind: "lost"; readonly how: string; readonly ready: boolean; readonly received: boolean }
  /** no child can be started: a program or a library is missing */
  | { readonly kind: "unavailable"; readonly message: string };

/** for a child's measurements */
const DESCRIBE_MS = 3_000;

export class Executor {
  private child: ChildProcess | null = null;
  private transport: Transport | null = null;
  private folder: string | null = null;
  private settle: ((o: Outcome) => void) | null = null;
  private onProgress: (done: number, total: number, text: string) => void = () => undefined;
  private onDescribed: () => void = () => undefined;
  private ready: Promise<void> = Promise.resolve();
  private isReady = false;
  /** the job could not be handed over: the child was dying already */
  private undelivered = false;
  device: DeviceInfo | null = null;
  /** why the last child could not start; null once one is ready */
  problem: string | null = null;
  busy = false;

  constructor(readonly spec: ExecutorSpec) {}

  /** Starts the child if it is not running; resolves when it has described its device. */
  start(): Promise<void> {
    if (this.child) return this.ready;
    let transport: Transport;
    try {
      const folder = mkdtempSync(join(tmpdir(), "fuselens-executor-"));
      this.folder = folder;
      transport = this.spec.start(folder, scrubbedEnvironment(folder));
    } catch (e) {
      this.removeFolder();
      return this.unavailable(
        `the executor of ${this.spec.device} can't be started: ${textOf(e)}; it needs a temporary folder that may be written, which TMPDIR names`,
      );
    }
    const child = transport.process;
    this.transport = transport;
    this.child = child;
    this.isReady = false;
    this.ready = new Promise((resolve, reject) => {
      onceEnded(child, how => {
        reject(new Error(`the executor of ${this.spec.device} did not start`));
        this.exited(child, how);
      });
      child.once("error", reject);
      transport.onMessage(m => {
        if (this.child !== child) return;
        if (m.kind === "ready") {
          this.device = m.device;
          this.problem = null;
          this.isReady = true;
          resolve();
          this.onDescribed();
        } else if (m.kind === "unavailable") {
          void this.unavailable(m.message);
          reject(new Error(m.message));
        } else this.receive(m);
      });
    });
    this.ready.catch(() => undefined);
    child.once("error", e => {
      // no process: the program is missing or may not be run
      if (child.pid === undefined)
        void this.unavailable(`the executor of ${this.spec.device} can't be started: ${e.message}`);
      this.exited(child, e.message);
    });
    return this.ready;
  }

  /** Starts the child if need be and has it measure what it has not yet; a busy one is not held up by that. */
  async describe(): Promise<void> {
    await this.start();
    const { transport, child } = this;
    if (this.busy || !transport || !child || this.device?.copyBytesPerSecond !== null) return;
    await new Promise<void>(resolve => {
      this.onDescribed = resolve;
      setTimeout(resolve, DESCRIBE_MS).unref();
      child.once("exit", () => resolve());
      try {
        transport.send({ kind: "describe" }, () => resolve());
      } catch {
        resolve(); // what it has said is all it will
      }
    });
  }

  /** Runs one job; never rejects. */
  async run(
    job: Job,
    payload: readonly Uint8Array[],
    onProgress: (done: number, total: number, text: string) => void,
    timeoutMs: number,
  ): Promise<Outcome> {
    this.busy = true;
    this.onProgress = onProgress;
    const answered = new Promise<Outcome>(resolve => {
      this.settle = resolve;
    });
    const timer = setTimeout(() => {
      this.finish({ kind: "failed", code: "timeout", message: `no answer within ${Math.round(timeoutMs / 1000)} s` });
      this.kill();
    }, timeoutMs);
    try {
      await this.start();
      const { child } = this;
      this.transport?.send({ kind: "run", job, payload }, () => {
        if (this.child !== child) return;
        // its exit, which is on its way, tells the rest; a new child can't be started before
        this.undelivered = true;
        child?.kill("SIGKILL");
      });
    } catch (e) {
      // a child that started and a job that can't be sent: the job is at fault
      if (this.isReady) this.finish({ kind: "failed", code: "invalid-job", message: textOf(e) });
      // one that said why it can't start, and has not ended yet
      else if (this.problem !== null) this.finish({ kind: "unavailable", message: this.problem });
      else this.lost(textOf(e));
    }
    const outcome = await answered;
    clearTimeout(timer);
    this.busy = false;
    return outcome;
  }

  /** Ends the child and with it whatever it was doing. */
  kill(): void {
    this.child?.kill("SIGKILL");
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  private receive(m: FromExecutor): void {
    if (m.kind === "progress") this.onProgress(m.done, m.total, m.text);
    else if (m.kind === "result") this.finish({ kind: "result", result: m.result });
    else if (m.kind === "failed") this.finish({ kind: "failed", code: m.code, message: m.message, detail: m.detail });
  }

  private exited(child: ChildProcess, how: string): void {
    if (this.child !== child) return;
    this.child = null;
    this.removeFolder();
    // killed from outside, it may well start again; one that ends by itself before it is ready will not
    if (this.isReady || child.signalCode !== null || !this.settle) this.lost(how);
    else
      void this.unavailable(
        `the executor of ${this.spec.device} ended before it was ready (${how}); the worker's log says more`,
      );
    this.isReady = false;
  }

  private unavailable(message: string): Promise<never> {
    this.problem = message;
    this.finish({ kind: "unavailable", message });
    const failed = Promise.reject(new Error(message));
    failed.catch(() => undefined);
    return failed;
  }

  private lost(how: string): void {
    this.finish({ kind: "lost", how, ready: this.isReady, received: !this.undelivered });
    this.undelivered = false;
  }

  private removeFolder(): void {
    if (!this.folder) return;
    try {
      rmSync(this.folder, { recursive: true, force: true });
    } catch {
      // what is left in the temporary folder is the system's to clean
    }
    this.folder = null;
  }

  private finish(outcome: Outcome): void {
    const settle = this.settle;
    this.settle = null;
    settle?.(outcome);
  }
}

function textOf(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}

/** Only what a program needs to run: no credentials, no PYTHONPATH, no NODE_OPTIONS. */
function scrubbedEnvironment(folder: string): NodeJS.ProcessEnv {
  const kept = ["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "SystemRoot"];
  const env: NodeJS.ProcessEnv = { HOME: folder, TMPDIR: folder, TEMP: folder, TMP: folder };
  for (const name of kept) if (process.env[name] !== undefined) env[name] = process.env[name];
  if (process.versions["electron"]) env["ELECTRON_RUN_AS_NODE"] = "1";
  return env;
}
