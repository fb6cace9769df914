// What the worker and an executor child say over the child's IPC channel (Node's advanced serialisation).
import type { DeviceInfo, ErrorCode, Job, JobResult } from "../protocol";

export type ToExecutor =
  | { readonly kind: "run"; readonly job: Job; readonly payload: readonly Uint8Array[] }
  /** answered with `ready` once more, the device's measurements made */
  | { readonly kind: "describe" };

export type FromExecutor =
  | { readonly kind: "ready"; readonly device: DeviceInfo }
  /** the child can't serve its device and ends; `message` says how to mend that */
  | { readonly kind: "unavailable"; readonly message: string }
  | { readonly kind: "progress"; readonly done: number; readonly total: number; readonly text: string }
  | { readonly kind: "result"; readonly result: JobResult }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string; readonly detail?: string };
