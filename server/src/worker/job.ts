// Jobs as those who ask for them see them: what is told with one, its answer, and the errors that it ends with.
import type { JobResult } from "@fuselens/gpu-worker/protocol";

export interface CurveClient {
  readonly serverKey: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

export class JobError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly detail?: string,
  ) {
    super(message);
  }
}

/** no worker can be reached: not started, nobody there, keys or an address missing or wrong */
export class NoWorker extends JobError {
  constructor(message: string) {
    super("no-worker", message);
  }
}

/** the worker went away with the job; it may be tried on another one */
export class WorkerLost extends JobError {
  constructor(message: string) {
    super("executor-lost", message);
  }
}

export interface JobAnswer {
  readonly result: JobResult;
  readonly device: string;
  readonly cached: boolean;
  readonly ageSeconds: number;
}

export interface SubmitOptions {
  readonly fresh?: boolean;
  readonly onProgress?: (done: number, total: number, text: string) => void;
  /** calls its argument when the job should be given up */
  readonly onCancel?: (cancel: () => void) => void;
}
