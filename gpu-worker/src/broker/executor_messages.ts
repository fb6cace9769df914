// What the worker and an executor child say over the child's IPC channel (Node's advanced serialisation).
import type { DeviceInfo, ErrorCode, Job, JobResult } from "../protocol";

export type ToExecutor = { readonly kind: "run"; readonly job: Job; readonly payload: readonly Uint8Array[] };

export type FromExecutor =
  | { readonly kind: "ready"; readonly device: DeviceInfo }
  | { readonly kind: "progress"; readonly done: number; readonly total: number; readonly text: string }
  | { readonly kind: "result"; readonly result: JobResult }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string; readonly detail?: string };

/** How an executor is started: one child per device. */
export interface ExecutorSpec {
  readonly device: string;
  readonly file: string;
  readonly execArgv: readonly string[];
  /** whether it can run this kind of job */
  readonly accepts: (job: Job) => boolean;
}
