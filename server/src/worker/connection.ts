// One worker as the server sees it: a DEALER socket, requests by id, answers as promises. A connection that breaks is
// made again, and each waiting job's answer is asked for; a worker that lost the job gets it once more. One that stays
// away fails its waiting jobs, each once.
import { randomBytes } from "node:crypto";
import {
  decodeResponse,
  encodeHeader,
  encodeJob,
  type Job,
  type JobResult,
  PROTOCOL_VERSION,
  type Request,
  type Response,
} from "@fuselens/gpu-worker/protocol";
import { Dealer } from "zeromq";
import { type CurveClient, type JobAnswer, JobError, NoWorker, type SubmitOptions, WorkerLost } from "./job";

interface Waiting {
  readonly resolve: (r: Response) => void;
  readonly reject: (e: Error) => void;
  readonly onProgress?: SubmitOptions["onProgress"];
  /** which answer ends the wait */
  readonly ends: (r: Response) => boolean;
  /** a job: its frames, to send again to a worker that lost it */
  readonly job?: readonly Uint8Array[];
  /** it has shown progress since it was sent, so it may be what its worker died of */
  ran: boolean;
  /** workers lost while it ran, and while it waited */
  lost: { ran: number; waited: number };
}

/** workers that a job may cost while it runs, and that may go away while it only waits */
const MAX_LOST = { ran: 1, waited: 50 };
/** ms without a connection after which a worker counts as gone */
const GONE_MS = 30_000;

export class WorkerConnection {
  private readonly socket: Dealer;
  private readonly waiting = new Map<string, Waiting[]>();
  private sending: Promise<void> = Promise.resolve();
  private closed = false;
  private gone: NodeJS.Timeout | undefined;

  constructor(
    readonly endpoint: string,
    curve: CurveClient | null,
    private readonly log: (message: string) => void,
  ) {
    this.socket = new Dealer({
      linger: 0,
      routingId: `fuselens-${process.pid}-${randomBytes(6).toString("hex")}`,
      reconnectInterval: 200,
      reconnectMaxInterval: 5_000,
      heartbeatInterval: 5_000,
      heartbeatTimeout: 30_000,
      ...(curve
        ? { curveServerKey: curve.serverKey, curvePublicKey: curve.publicKey, curveSecretKey: curve.secretKey }
        : {}),
    });
    // before it connects: a handshake that nobody saw would make the next one, after a break, look like the first
    this.watch();
    try {
      this.socket.connect(endpoint);
    } catch (e) {
      this.socket.close();
      throw new NoWorker(`'${endpoint}' is no endpoint (${textOf(e)}); name ipc://PATH or tcp://HOST:PORT`);
    }
    void this.receive();
  }

  async describe(timeoutMs = 15_000): Promise<Extract<Response, { type: "describe" }>> {
    const id = randomBytes(8).toString("hex");
    const answer = await this.request(
      { v: PROTOCOL_VERSION, id, type: "hello", client: "fuselens" },
      [],
      r => r.type === "describe",
      timeoutMs,
    );
    if (answer.type !== "describe") throw new JobError("internal", `unexpected ${answer.type}`);
    return answer;
  }

  async submit(job: Job, options: SubmitOptions = {}): Promise<JobAnswer> {
    const { bytes, id } = encodeJob(job);
    options.onCancel?.(() => this.send([encodeHeader({ v: PROTOCOL_VERSION, id, type: "cancel" })]));
    const header: Request = {
      v: PROTOCOL_VERSION,
      id,
      type: "submit",
      device: null,
      fresh: options.fresh ?? false,
      payload: 0,
    };
    const answer = await this.request(header, [bytes], r => r.type === "result", null, options.onProgress);
    if (answer.type !== "result") throw new JobError("internal", `unexpected ${answer.type}`);
    return {
      result: answer.result as JobResult,
      device: answer.device,
      cached: answer.cached,
      ageSeconds: answer.ageSeconds,
    };
  }

  /** fails everything that waits; for a worker that is known to be gone */
  lost(message: string): void {
    this.failAll(new WorkerLost(message));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.gone);
    this.failAll(new JobError("executor-lost", "the connection to the worker was closed"));
    this.socket.close();
  }

  private failAll(e: JobError): void {
    const all = [...this.waiting.values()].flat();
    this.waiting.clear();
    for (const w of all) w.reject(e);
  }

  /** follows the connection: broken, made again, refused */
  private watch(): void {
    const { events } = this.socket;
    let connections = 0;
    events.on("handshake", () => {
      clearTimeout(this.gone);
      this.gone = undefined;
      if (connections++ > 0) this.askAgain();
    });
    events.on("disconnect", () => {
      this.gone ??= setTimeout(() => {
        this.gone = undefined;
        this.lost(`the worker at ${this.endpoint} has been away for ${GONE_MS / 1000} s; see whether it still runs`);
      }, GONE_MS).unref();
    });
    events.on("handshake:error:auth", () =>
      this.failAll(
        new NoWorker(`the worker at ${this.endpoint} does not know this client's key; 'fuselens worker pair' lists it`),
      ),
    );
  }

  /** asks for the answer of each waiting job; what the worker never had, or lost, comes back as `unknown-job` */
  private askAgain(): void {
    for (const [id, waiting] of this.waiting) {
      if (waiting.some(w => w.job)) this.send([encodeHeader({ v: PROTOCOL_VERSION, id, type: "fetch" })]);
    }
  }

  private request(
    header: Request,
    frames: readonly Uint8Array[],
    ends: Waiting["ends"],
    timeoutMs: number | null,
    onProgress?: Waiting["onProgress"],
  ): Promise<Response> {
    if (this.closed) return Promise.reject(new WorkerLost("the worker ended before the job was sent; try again"));
    return new Promise((resolve, reject) => {
      const all = [encodeHeader(header), ...frames];
      const job = header.type === "submit" ? all : undefined;
      const waiting: Waiting = {
        resolve,
        reject,
        ends,
        onProgress,
        ran: false,
        lost: { ran: 0, waited: 0 },
        ...(job ? { job } : {}),
      };
      this.waiting.set(header.id, [...(this.waiting.get(header.id) ?? []), waiting]);
      if (timeoutMs !== null) {
        const timer = setTimeout(() => {
          this.drop(header.id, waiting);
          reject(
            new NoWorker(
              `no worker answers at ${this.endpoint} within ${timeoutMs / 1000} s; see whether one runs there`,
            ),
          );
        }, timeoutMs);
        timer.unref();
      }
      this.send(all);
    });
  }

  private drop(id: string, w: Waiting): void {
    const rest = (this.waiting.get(id) ?? []).filter(x => x !== w);
    if (rest.length) this.waiting.set(id, rest);
    else this.waiting.delete(id);
  }

  private send(frames: readonly Uint8Array[]): void {
    this.sending = this.sending
      .then(() => (this.closed ? undefined : this.socket.send(frames as Uint8Array[])))
      .catch(e => this.log(`a message to the worker could not be sent: ${e instanceof Error ? e.message : String(e)}`));
  }

  private async receive(): Promise<void> {
    try {
      for await (const [frame] of this.socket) {
        const decoded = frame ? decodeResponse(frame) : { ok: false as const, error: "an empty message" };
        if (!decoded.ok) {
          this.log(`a message from the worker was not understood: ${decoded.error}`);
          continue;
        }
        this.dispatch(decoded.value);
      }
    } catch (e) {
      if (!this.closed) this.lost(e instanceof Error ? e.message : String(e));
    }
  }

  private dispatch(response: Response): void {
    for (const w of this.waiting.get(response.id) ?? []) {
      if (response.type === "progress") {
        w.ran = true;
        w.onProgress?.(response.done, response.total, response.text);
      } else if (response.type === "error" && response.code === "unknown-job" && w.job && mayGoAgain(w)) {
        w.ran = false;
        this.send(w.job);
      } else if (response.type === "error") {
        this.drop(response.id, w);
        w.reject(
          response.code === "unknown-job"
            ? new WorkerLost(`the worker at ${this.endpoint} was lost over this job twice; it is not tried again`)
            : new JobError(response.code, response.message, response.detail),
        );
      } else if (w.ends(response)) {
        this.drop(response.id, w);
        w.resolve(response);
      }
    }
  }
}

function textOf(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}

function mayGoAgain(w: Waiting): boolean {
  if (w.ran) w.lost.ran += 1;
  else w.lost.waited += 1;
  return w.lost.ran <= MAX_LOST.ran && w.lost.waited <= MAX_LOST.waited;
}
