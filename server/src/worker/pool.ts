// The workers that this server uses: a configured endpoint, or one spawned on demand and spawned again when it is lost.
import type { DeviceInfo, Job } from "@fuselens/gpu-worker/protocol";
import type { WorkerConnection } from "./connection";
import { type CurveClient, type JobAnswer, JobError, NoWorker, type SubmitOptions, WorkerLost } from "./job";
import { readClientKeys } from "./keys";
import type { SpawnedWorker } from "./spawn";

export interface WorkerStatus {
  readonly state: "off" | "running" | "failed";
  readonly endpoint: string | null;
  readonly devices: readonly DeviceInfo[];
  readonly message: string;
}

export interface WorkerPoolOptions {
  readonly workerFile: string;
  readonly log: (message: string) => void;
}

export interface WorkerSettings {
  /** null: spawn one on demand */
  readonly endpoint: string | null;
  /** an untrusted workspace gets analysis, no worker */
  readonly trusted: boolean;
  /** folder with client.key, client.pub, server.pub for a CURVE endpoint */
  readonly keys?: string | null;
}

/** workers that one job may cost */
const ATTEMPTS = 2;

export class WorkerPool {
  private settings: WorkerSettings = { endpoint: null, trusted: true };
  private connection: WorkerConnection | null = null;
  private spawned: SpawnedWorker | null = null;
  private starting: Promise<WorkerConnection> | null = null;

  constructor(private readonly options: WorkerPoolOptions) {}

  configure(settings: WorkerSettings): void {
    if (
      settings.endpoint !== this.settings.endpoint ||
      settings.trusted !== this.settings.trusted ||
      settings.keys !== this.settings.keys
    )
      void this.dispose();
    this.settings = settings;
  }

  /** Runs a job; rejects with a JobError whose message is one clear line. A job whose worker died is tried once more. */
  async submit(job: Job, options: SubmitOptions = {}): Promise<JobAnswer> {
    let cancelled = false;
    let cancel = (): void => undefined;
    options.onCancel?.(() => {
      cancelled = true;
      cancel();
    });
    const onCancel = (c: () => void): void => {
      cancel = c;
    };
    for (let attempt = 1; ; attempt++) {
      try {
        const connection = await this.connect();
        if (cancelled) throw new JobError("cancelled", "cancelled");
        return await connection.submit(job, { ...options, onCancel });
      } catch (e) {
        if (cancelled) throw new JobError("cancelled", "cancelled");
        if (!(e instanceof WorkerLost) || attempt === ATTEMPTS) throw e;
      }
    }
  }

  /** what the worker says of itself, started if need be: devices, and executors that can't start */
  async describeAll(): Promise<{ readonly devices: readonly DeviceInfo[]; readonly problems: readonly string[] }> {
    return (await this.connect()).describe();
  }

  /** devices of the worker, started if need be */
  async describe(): Promise<readonly DeviceInfo[]> {
    return (await (await this.connect()).describe()).devices;
  }

  async status(): Promise<WorkerStatus> {
    if (!this.connection)
      return {
        state: "off",
        endpoint: this.settings.endpoint,
        devices: [],
        message: "no worker is running; a benchmark starts one",
      };
    try {
      const d = await this.connection.describe();
      return {
        state: "running",
        endpoint: this.connection.endpoint,
        devices: d.devices,
        message: [...d.devices.map(x => x.title), ...d.problems].join(", "),
      };
    } catch (e) {
      return {
        state: "failed",
        endpoint: this.connection.endpoint,
        devices: [],
        message: e instanceof Error ? e.message : String(e),
      };
    }
  }

  async dispose(): Promise<void> {
    this.connection?.close();
    this.connection = null;
    this.starting = null;
    this.spawned?.dispose();
    this.spawned = null;
  }

  private connect(): Promise<WorkerConnection> {
    if (!this.settings.trusted)
      return Promise.reject(
        new JobError("untrusted", "this workspace is not trusted: analysis works, benchmarks do not"),
      );
    if (this.connection) return Promise.resolve(this.connection);
    this.starting ??= this.open().finally(() => {
      this.starting = null;
    });
    return this.starting;
  }

  private async open(): Promise<WorkerConnection> {
    // the socket's and the protocol's libraries are loaded by the first job, not with the server
    const [{ WorkerConnection }, { spawnWorker }] = await Promise.all([import("./connection"), import("./spawn")]);
    const { endpoint, keys } = this.settings;
    if (endpoint) {
      if (endpoint.startsWith("tcp:") && !keys)
        throw new NoWorker(`${endpoint} is reached with keys only; 'fuselens worker pair' makes them, the setting worker.keys (or --keys) names their folder`); // biome-ignore format: one message
      const curve: CurveClient | null = keys ? readClientKeys(keys) : null;
      const connection = new WorkerConnection(endpoint, curve, this.options.log);
      await connection.describe().catch(e => {
        connection.close();
        throw e;
      });
      this.connection = connection;
      return connection;
    }
    const worker = await spawnWorker(this.options.workerFile, this.options.log);
    const connection = new WorkerConnection(worker.endpoint, worker.curve, this.options.log);
    this.spawned = worker;
    this.connection = connection;
    void worker.ended.then(how => {
      if (this.connection !== connection) return;
      connection.lost(`the worker ended (${how}) before the job was done; try again`);
      connection.close();
      this.connection = null;
      this.spawned = null;
      worker.dispose();
    });
    return connection;
  }
}
