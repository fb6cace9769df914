// Benchmarks graphs on the worker, one after another. In: compiled graphs, settings. Out: numbers and a line that says them.
import type { Compilation } from "@fuselens/compiler";
import type { BenchmarkResult, Job } from "@fuselens/gpu-worker/protocol";
import { formatBandwidth, formatTime } from "../render/units";
import { JobError, type SubmitOptions } from "./job";
import type { WorkerPool } from "./pool";

export interface BenchmarkSummary {
  readonly summary: string;
  readonly graphs: readonly {
    /** its place among the graphs that were asked for */
    readonly index: number;
    readonly name: string;
    readonly kind: string;
    readonly cached: boolean;
    readonly ageSeconds: number;
    readonly result: BenchmarkResult;
  }[];
  /** graphs that can't be run, and why; the others are measured all the same */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
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

/** Rejects with a JobError where no graph can be measured. */
export async function benchmarkGraphs(
  workers: WorkerPool,
  compilations: readonly Compilation[],
  settings: BenchmarkSettings,
  options: SubmitOptions,
): Promise<BenchmarkSummary> {
  const graphs: BenchmarkSummary["graphs"][number][] = [];
  const skipped: BenchmarkSummary["skipped"][number][] = [];
  for (const [index, c] of compilations.entries()) {
    const [blocker] = c.plan.blockers;
    if (blocker) {
      skipped.push({ name: c.graph.name, reason: blocker });
      continue;
    }
    // several graphs share one bar
    const onProgress = (done: number, total: number, text: string): void =>
      options.onProgress?.(
        index + done / Math.max(1, total),
        compilations.length,
        compilations.length > 1 ? `${c.graph.name} (${c.graph.kind}): ${text}` : text,
      );
    const answer = await workers.submit(benchmarkJob(c, settings), { ...options, onProgress, fresh: settings.fresh });
    if (answer.result.kind !== "benchmark") throw new JobError("internal", "the worker answered another question");
    graphs.push({
      index,
      name: c.graph.name,
      kind: c.graph.kind,
      cached: answer.cached,
      ageSeconds: answer.ageSeconds,
      result: answer.result,
    });
  }
  const [none] = skipped;
  if (!graphs.length && none) throw new JobError("unsupported", `${none.name} can't be benchmarked: ${none.reason}`);
  const left = skipped.map(s => `${s.name} can't be benchmarked: ${s.reason}`);
  return { summary: [...graphs.map(summaryLine), ...left].join("; "), graphs, skipped };
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
