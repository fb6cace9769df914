// What kind of executor serves a device.
import type { Job } from "../protocol";
import type { StartTransport } from "./transport";

/** How an executor is started: one child per device. */
export interface ExecutorSpec {
  readonly device: string;
  readonly start: StartTransport;
  /** whether it can run this kind of job */
  readonly accepts: (job: Job) => boolean;
}
