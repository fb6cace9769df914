// The broker: accepts jobs from clients, runs each on an executor, gives exactly one terminal answer. Knows nothing of
// sockets; router.ts feeds it messages and sends what it answers.
import type { Job, JobResult, Response } from "../protocol";
import { decodeJob, jobId, PROTOCOL_VERSION } from "../protocol";
import { Executor } from "./executor";
import type { ExecutorSpec } from "./executor_spec";
import { FairQueue } from "./queue";
import type { ResultCache } from "./result_cache";

/** executors that one job may cost before it is given up */
const MAX_LOST = 2;
/** executors that may die before they are given one job */
const MAX_UNDELIVERED = 20;
/** terminal answers kept for clients that were away */
const ANSWERS_KEPT = 4096;
/** ids of jobs kept that are never tried again */
const POISONOUS_KEPT = 4096;
/** what may wait: jobs, and bytes of them; more is refused, as nobody would wait for it */
const MAX_QUEUED = 20_000;
const MAX_QUEUED_BYTES = 1 << 30;
/** ms that a client waits for executors that are still starting */
const DESCRIBE_WAIT_MS = 10_000;

interface Accepted {
  readonly id: string;
  /** whoever asked for this very job gets its answer; the first one's turn in the queue runs it */
  readonly clients: Set<string>;
  readonly job: Job;
  readonly payload: readonly Uint8Array[];
  readonly fresh: boolean;
  readonly bytes: number;
  lost: number;
  /** executors that died before they were given it */
  undelivered: number;
  cancelled: boolean;
}

type Body<T extends Response["type"]> = Omit<Extract<Response, { type: T }>, "v" | "id" | "type">;

export interface BrokerOptions {
  readonly executors: readonly ExecutorSpec[];
  readonly cache: ResultCache;
  readonly versions: Readonly<Record<string, string>>;
  readonly name: string;
  readonly jobTimeoutMs: number;
  readonly send: (client: string, response: Response) => void;
  readonly log: (message: string) => void;
}

export class Broker {
  private readonly queue = new FairQueue<Accepted>();
  private readonly running = new Map<Executor, Accepted>();
  private readonly live = new Map<string, Accepted>();
  private liveBytes = 0;
  private readonly answers = new Map<string, Response>();
  readonly executors: readonly Executor[];
  /** jobs that killed two executors are never tried again */
  private readonly poisonous = new Set<string>();

  constructor(private readonly options: BrokerOptions) {
    this.executors = options.executors.map(spec => new Executor(spec));
  }

  async describe(client: string, id: string): Promise<void> {
    const started = Promise.allSettled(this.executors.map(e => e.describe()));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise(resolve => {
      timer = setTimeout(resolve, DESCRIBE_WAIT_MS);
    });
    await Promise.race([started, late]);
    clearTimeout(timer);
    const devices = this.executors.flatMap(e => (e.problem === null && e.device ? [e.device] : []));
    this.send(client, id, "describe", {
      worker: this.options.name,
      versions: { ...this.options.versions },
      devices,
      queued: this.queue.length,
      problems: this.executors.flatMap(e =>
        e.problem !== null ? [e.problem] : e.device ? [] : [`${e.spec.device} is still starting`],
      ),
    });
  }

  submit(client: string, id: string, jobBytes: Uint8Array, payload: readonly Uint8Array[], fresh: boolean): void {
    if (jobId(jobBytes, payload) !== id)
      return this.fail(client, id, "invalid-job", "the id is not the hash of the job's content");
    const decoded = decodeJob(jobBytes);
    if (!decoded.ok) return this.fail(client, id, "invalid-job", decoded.error);
    if (this.poisonous.has(id))
      return this.fail(client, id, "executor-lost", "this job has cost two executors and is not tried again");
    const executor = this.executors.find(e => e.spec.accepts(decoded.value));
    if (!executor)
      return this.fail(client, id, "unsupported", `no device here runs a job of kind ${decoded.value.kind}`);
    const waiting = this.live.get(id);
    if (waiting) {
      waiting.clients.add(client);
      return this.send(client, id, "accepted", { position: this.queue.length });
    }
    if (!fresh) {
      const cached = this.options.cache.get(id, executor.spec.device);
      if (cached) {
        this.send(client, id, "accepted", { position: 0 });
        return this.result(client, id, {
          result: cached.result,
          device: executor.spec.device,
          cached: true,
          ageSeconds: cached.ageSeconds,
        });
      }
    }
    const bytes = payload.reduce((n, p) => n + p.byteLength, jobBytes.byteLength);
    if (this.live.size >= MAX_QUEUED || this.liveBytes + bytes > MAX_QUEUED_BYTES)
      return this.fail(client, id, "queue-full", `${this.live.size} jobs wait here already; try again later`);
    const accepted: Accepted = {
      id,
      clients: new Set([client]),
      job: decoded.value,
      payload,
      fresh,
      bytes,
      lost: 0,
      undelivered: 0,
      cancelled: false,
    };
    this.live.set(id, accepted);
    this.liveBytes += bytes;
    this.queue.push(client, accepted);
    this.send(client, id, "accepted", { position: this.queue.length });
    this.pump();
  }

  cancel(client: string, id: string): void {
    const accepted = this.live.get(id);
    if (!accepted?.clients.has(client)) return;
    if (accepted.clients.size > 1) {
      accepted.clients.delete(client); // the others still want it
      return this.fail(client, id, "cancelled", "cancelled");
    }
    accepted.cancelled = true;
    if (this.queue.remove(a => a === accepted).length)
      return this.finish(accepted, "cancelled", "cancelled before it started");
    for (const [executor, a] of this.running) if (a === accepted) executor.kill();
  }

  /** the terminal answer of a job that a client submitted before it went away: at once, or when the job ends */
  fetch(client: string, id: string): void {
    const answer = this.answers.get(id);
    const waiting = this.live.get(id);
    // one that runs anew gives a newer answer than the one that is kept
    if (waiting) waiting.clients.add(client);
    else if (answer) this.options.send(client, answer);
    else this.fail(client, id, "unknown-job", "no such job here");
  }

  get idle(): boolean {
    return this.live.size === 0;
  }

  shutdown(): void {
    for (const a of [...this.live.values()]) this.finish(a, "shutting-down", "the worker is shutting down");
    for (const e of this.executors) e.kill();
  }

  private pump(): void {
    for (const executor of this.executors) {
      if (executor.busy) continue;
      const next = this.queue.shift(a => executor.spec.accepts(a.job));
      if (next) void this.run(executor, next);
    }
  }

  private async run(executor: Executor, a: Accepted): Promise<void> {
    this.running.set(executor, a);
    const progress = (done: number, total: number, text: string) => {
      for (const client of a.clients) this.send(client, a.id, "progress", { done, total, text });
    };
    const outcome = await executor.run(a.job, a.payload, progress, this.options.jobTimeoutMs);
    this.running.delete(executor);
    if (a.cancelled) this.finish(a, "cancelled", "cancelled while it ran");
    else if (outcome.kind === "result") {
      if (a.job.kind === "benchmark") this.options.cache.put(a.id, executor.spec.device, outcome.result);
      this.end(a, {
        v: PROTOCOL_VERSION,
        id: a.id,
        type: "result",
        result: outcome.result,
        device: executor.spec.device,
        cached: false,
        ageSeconds: 0,
      });
    } else if (outcome.kind === "failed") this.finish(a, outcome.code, outcome.message, outcome.detail);
    else if (outcome.kind === "unavailable") this.finish(a, "executor-unavailable", outcome.message);
    else if (!outcome.received && a.undelivered < MAX_UNDELIVERED) {
      a.undelivered += 1;
      this.queue.unshift([...a.clients][0] ?? "", a);
    } else {
      a.lost += 1;
      this.options.log(
        `executor of ${executor.spec.device} lost (${outcome.how}) over job ${a.id.slice(0, 12)}, ${a.lost} of ${MAX_LOST}`,
      );
      if (a.lost >= MAX_LOST) {
        if (outcome.ready) this.poisonous.add(a.id);
        const [oldest] = this.poisonous;
        if (this.poisonous.size > POISONOUS_KEPT && oldest !== undefined) this.poisonous.delete(oldest);
        this.finish(
          a,
          "executor-lost",
          `the executor died twice over this job (${outcome.how}); it is not tried again`,
        );
      } else this.queue.unshift([...a.clients][0] ?? "", a);
    }
    this.pump();
  }

  private finish(a: Accepted, code: Body<"error">["code"], message: string, detail?: string): void {
    this.end(a, errorOf(a.id, code, message, detail));
  }

  /** the one terminal answer of an accepted job, to all who asked, and kept for those who are away */
  private end(a: Accepted, response: Response): void {
    if (this.live.get(a.id) !== a) return;
    this.live.delete(a.id);
    this.liveBytes -= a.bytes;
    this.answers.delete(a.id);
    this.answers.set(a.id, response);
    const oldest = this.answers.keys().next().value;
    if (this.answers.size > ANSWERS_KEPT && oldest !== undefined) this.answers.delete(oldest);
    for (const client of a.clients) this.options.send(client, response);
  }

  private result(client: string, id: string, body: Body<"result"> & { result: JobResult }): void {
    this.options.send(client, { v: PROTOCOL_VERSION, id, type: "result", ...body });
  }

  /** to one client alone; what others may find under this id stays as it is */
  private fail(client: string, id: string, code: Body<"error">["code"], message: string, detail?: string): void {
    this.options.send(client, errorOf(id, code, message, detail));
  }

  private send<T extends Response["type"]>(client: string, id: string, type: T, body: Body<T>): void {
    this.options.send(client, { v: PROTOCOL_VERSION, id, type, ...body } as unknown as Response);
  }
}

function errorOf(id: string, code: Body<"error">["code"], message: string, detail?: string): Response {
  return { v: PROTOCOL_VERSION, id, type: "error", code, message, ...(detail === undefined ? {} : { detail }) };
}
