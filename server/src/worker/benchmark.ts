// Benchmarks one root's graphs on the worker, with progress in the editor; numbers go to lens and hover.
import type { Compilation } from "@fuselens/compiler";
import type { BenchmarkResult, Job } from "@fuselens/gpu-worker/protocol";
import { type CancellationToken, LSPErrorCodes, ResponseError } from "vscode-languageserver/node";
import type { Analysis } from "../analysis/analyzer";
import type { GraphMeasurement, Measurement } from "../ide/measurements";
import type { ServerContext } from "../lsp/context";
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

export async function benchmarkRoot(
  ctx: ServerContext,
  analysis: Analysis,
  rootName: string | undefined,
  fresh: boolean,
  token: CancellationToken,
): Promise<BenchmarkSummary> {
  const { program } = analysis;
  const root = program.roots.find(r => r.name === rootName);
  const compilations = root ? root.compilations.flatMap(i => program.compilations[i] ?? []) : program.compilations;
  if (!compilations.length)
    throw new ResponseError(LSPErrorCodes.RequestFailed, "nothing here is compiled, so there is nothing to benchmark");
  const progress = await ctx.connection.window.createWorkDoneProgress();
  progress.begin(`Benchmarking ${rootName ?? "all"}`, 0, "starting the worker", true);
  let cancel: () => void = () => undefined;
  token.onCancellationRequested(() => cancel());
  progress.token.onCancellationRequested(() => cancel());
  try {
    const summary = await benchmarkGraphs(
      ctx.workers,
      compilations,
      { ...DEFAULT_BENCHMARK, fresh },
      {
        onProgress: (done, total, text) => progress.report(Math.round((100 * done) / Math.max(1, total)), text),
        onCancel: c => {
          cancel = c;
        },
      },
    );
    summary.graphs.forEach((g, i) => {
      const c = compilations[i];
      if (c) ctx.measurements.set(c.outputCode.standalone, asMeasurement(g.result));
    });
    ctx.refreshLenses();
    return summary;
  } catch (e) {
    if (e instanceof JobError)
      throw new ResponseError(
        e.code === "cancelled" ? LSPErrorCodes.RequestCancelled : LSPErrorCodes.RequestFailed,
        e.message,
      );
    throw e;
  } finally {
    progress.done();
  }
}

function asMeasurement(r: BenchmarkResult): GraphMeasurement {
  const common = { where: r.where, maxError: r.maxError, shareOfCopy: r.shareOfCopy };
  const compiled = r.against["compile"];
  const kernels = new Map<string, Measurement>();
  for (const k of r.kernels)
    kernels.set(k.name, { ...k, where: r.where, maxError: null, shareOfCopy: null, speedupOverCompile: null });
  return { ...r.graph, ...common, speedupOverCompile: compiled ? compiled.medianUs / r.graph.medianUs : null, kernels };
}
