// The CPU executor as a test file asks it: a worker of its own, which is given back with the file.
import { join } from "node:path";
import type { Job, JobResult } from "@fuselens/gpu-worker/protocol";
import { afterAll } from "vitest";
import { WorkerPool } from "../../server/src/worker/pool";

/** a fused and an unfused plan to compare */
export type Pair = Extract<Job, { kind: "verify" }>["pairs"][number];

type Run = <J extends Job>(job: J) => Promise<Extract<JobResult, { kind: J["kind"] }>>;

/** Runs jobs afresh. Called once, outside of the file's tests. A job that fails is rejected with its JobError. */
export function cpuExecutor(): Run {
  const pool = new WorkerPool({
    workerFile: join(__dirname, "..", "..", "gpu-worker", "dist", "main.cjs"),
    log: () => undefined,
  });
  afterAll(() => pool.dispose());
  return async <J extends Job>(job: J) => {
    const { result } = await pool.submit(job, { fresh: true });
    if (result.kind !== job.kind) throw new Error(`a ${result.kind} result answers a ${job.kind} job`);
    return result as Extract<JobResult, { kind: J["kind"] }>;
  };
}
