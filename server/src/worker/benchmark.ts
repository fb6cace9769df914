// Benchmarks graphs on the worker, one after another. In: compiled graphs, settings. Out: numbers and a line that says them.
import type { Compilation } from "@fuselens/compiler";
import type { BenchmarkResult, Job } from "@fuselens/gpu-worker/protocol";
import { formatBandwidth, formatTime } from "../render/units";
import type { SubmitOptions } from "./connection";
import { JobError } from "./connection";
import type { WorkerPool } from "./pool";

export interface BenchmarkSummary {
  readonly summary: string;
  readonly graphs: readonly {
    readonly name: string;
    readonly kind: string;
    readonly cached: boolean;
    readonly ageSeconds: number;
    readonly result: BenchmarkResult;
  }[];
}

export interface BenchmarkSettings {
  readonly seconds: number;
  readonly minRuns: number;
  readonly against: readonly ("eager" | "compile")[];
  readonly fresh: boolean;
}

export const DEFAULT_BENCHMARK: BenchmarkSettings = { seconds: 0.5, minRuns: 10, against: [], fresh: false };

/** A plan that holds an opaque operator can't be run: the JobError says which. */
export function benchmarkJob(c: Compilation, settings: BenchmarkSettings): Job {
  const [blocker] = c.plan.blockers;
  if (blocker) throw new JobError("unsupported", `${c.graph.name} can't be benchmarked: ${blocker}`);
  return {
    kind: "benchmark",
    graph: {
      plan: c.plan,
      wat: [...c.wat],
      standalone: c.outputCode.standalone,
      ...(c.outputCode.eager === null ? {} : { eager: c.outputCode.eager }),
    },
    bytes: c.graph.bytes,
    seconds: settings.seconds,
    minRuns: settings.minRuns,
    perKernel: true,
    against: [...settings.against],
  };
}

export async function benchmarkGraphs(
  workers: WorkerPool,
  compilations: readonly Compilation[],
  settings: BenchmarkSettings,
  options: SubmitOptions,
): Promise<BenchmarkSummary> {
  const graphs: BenchmarkSummary["graphs"][number][] = [];
  for (const c of compilations) {
    const answer = await workers.submit(benchmarkJob(c, settings), { ...options, fresh: settings.fresh });
    if (answer.result.kind !== "benchmark") throw new JobError("internal", "the worker answered another question");
    graphs.push({
      name: c.graph.name,
      kind: c.graph.kind,
      cached: answer.cached,
      ageSeconds: answer.ageSeconds,
      result: answer.result,
    });
  }
  return { summary: graphs.map(summaryLine).join("; "), graphs };
}

function summaryLine(g: BenchmarkSummary["graphs"][number]): string {
  const r = g.result;
  const parts = [`${g.name} (${g.kind}): ${formatTime(r.graph.medianUs)}`, formatBandwidth(r.graph.bytesPerSecond)];
  if (r.shareOfCopy !== null) parts[1] += ` (${Math.round(100 * r.shareOfCopy)}% of copy)`;
  const compiled = r.against["compile"];
  if (compiled) parts.push(`${(compiled.medianUs / r.graph.medianUs).toFixed(2)}x torch.compile`);
  if (r.maxError !== null) parts.push(`max err ${r.maxError.toExponential(0)}`);
  if (g.cached) parts.push(`measured ${Math.round(g.ageSeconds / 60)} min ago`);
  return `${parts.join(", ")}, ${r.where}`;
}
