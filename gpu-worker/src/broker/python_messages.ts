// The pickle-free protocol with the Python executor, checked by schema on both sides: jobs as JSON without what only the
// CPU executor needs, answers as JSON.
import { z } from "zod";
import { bytesByKernel, deviceSchema, ERROR_CODES, type JobResult } from "../protocol";
import type { FromExecutor, ToExecutor } from "./executor_messages";
import { launchesOf } from "./launches";

export function toPython(message: ToExecutor): unknown {
  if (message.kind !== "run") throw new Error("the Python executor measures as it starts");
  const { job } = message;
  if (job.kind !== "benchmark") throw new Error(`the Python executor takes no job of kind ${job.kind}`);
  const { plan, standalone, eager } = job.graph;
  const moved = bytesByKernel(plan);
  const kernels = plan.kernels.map(({ name }) => ({ name, bytes: moved.get(name) ?? 0 }));
  return {
    kind: "benchmark",
    standalone,
    eager: eager ?? null,
    graph: plan.kind,
    kernels,
    launches: launchesOf(plan),
    bytes: job.bytes ?? null,
    seconds: job.seconds,
    min_runs: job.minRuns,
    per_kernel: job.perKernel,
    against: job.against,
  };
}

const timing = z.object({
  medianUs: z.number(),
  p20Us: z.number(),
  p80Us: z.number(),
  count: z.number(),
  bytesPerSecond: z.number(),
});
export const benchmarkResultSchema = z.object({
  kind: z.literal("benchmark"),
  where: z.string(),
  graph: timing,
  overheadUs: z.number(),
  kernels: z.array(timing.extend({ name: z.string(), config: z.string() })),
  shareOfCopy: z.number().nullable(),
  maxError: z.number().nullable(),
  against: z.record(z.string(), timing),
});
const schema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready"), device: deviceSchema }),
  z.object({ kind: z.literal("unavailable"), message: z.string() }),
  z.object({ kind: z.literal("progress"), done: z.number(), total: z.number(), text: z.string() }),
  z.object({ kind: z.literal("result"), result: benchmarkResultSchema }),
  z.object({
    kind: z.literal("failed"),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    detail: z.string().optional(),
  }),
]);

/** null for a line that is no message: the child no longer speaks the protocol */
export function parseFromPython(line: string): FromExecutor | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    return {
      kind: "failed",
      code: "internal",
      message: `the Python executor sent what the protocol does not know: ${parsed.error.issues[0]?.message ?? ""}`,
    };
  const m = parsed.data;
  return m.kind === "result" ? { kind: "result", result: m.result satisfies JobResult } : m;
}
