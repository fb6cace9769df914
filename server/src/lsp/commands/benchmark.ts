// fuselens.benchmark: one root's graphs on the worker, with progress; numbers go to lens, hover and history.
// fuselens.history: what was measured so far.
import { basename } from "node:path";
import type { Compilation } from "@fuselens/compiler";
import type { BenchmarkResult } from "@fuselens/gpu-worker/protocol";
import {
  type CancellationToken,
  LSPErrorCodes,
  ResponseError,
  type WorkDoneProgressReporter,
} from "vscode-languageserver/node";
import { Cancelled } from "../../analysis/side_thread";
import type { GraphMeasurement, HistoryEntry, Measurement } from "../../ide/measurements";
import { codeKey } from "../../ide/model";
import { type BenchmarkSummary, benchmarkGraphs, DEFAULT_BENCHMARK } from "../../worker/benchmark";
import { measureWays } from "../../worker/choices";
import { JobError } from "../../worker/job";
import type { ServerContext } from "../context";
import { type Progress, startProgress } from "../progress";
import type { View } from "../view";
import { failed, indicesOf, rootIn, type Target, viewOf } from "./target";

/** {uri, root?, fresh?, against?: ["eager", "compile"]} */
export async function benchmark(
  ctx: ServerContext,
  target: Target,
  token: CancellationToken,
  reporter: WorkDoneProgressReporter,
): Promise<BenchmarkSummary> {
  const view = await viewOf(ctx, target);
  const root = rootIn(view, target);
  const indices = indicesOf(view, root);
  if (!indices.length) throw failed("nothing here is compiled, so there is nothing to benchmark");
  const progress = await startProgress(
    ctx,
    `Benchmarking ${root?.name ?? "all"}`,
    "making the kernels",
    token,
    reporter,
  );
  try {
    await measureChoices(ctx, view, indices, target["fresh"] !== false, progress);
    const request = { path: view.path, overlay: ctx.overlay(), options: ctx.threadOptions() };
    const made = await ctx.side.run(request, { want: "benchmark" }, progress.cancellation);
    const compilations = indices.flatMap(i => made.compilations[i] ?? []);
    const against = Array.isArray(target["against"])
      ? target["against"].filter(x => x === "eager" || x === "compile")
      : ctx.settings.benchmark.against;
    const settings = {
      ...DEFAULT_BENCHMARK,
      seconds: ctx.settings.benchmark.seconds,
      against,
      fresh: target["fresh"] !== false,
    };
    progress.report(0, "starting the worker");
    const summary = await benchmarkGraphs(ctx.workers, compilations, settings, onWorker(progress));
    for (const g of summary.graphs) {
      const c = compilations[g.index];
      if (!c) continue;
      ctx.measurements.set(codeKey(c.outputCode.standalone), asMeasurement(g.result));
      ctx.measurements.record({
        ...historyEntry(g),
        file: basename(view.path),
        root: root?.name ?? g.name,
        kernels: c.graph.kernels.filter(k => k.type !== "NopKernelSchedulerNode").length,
        bytes: c.graph.bytes,
      });
    }
    ctx.analyzer.useCodeKeys();
    ctx.refresh();
    await ctx.workerChanged();
    return summary;
  } catch (e) {
    throw asResponseError(e);
  } finally {
    progress.done();
  }
}

/** Ways to compute matrix products are measured first; from then on the fastest is what the editor shows. */
async function measureChoices(
  ctx: ServerContext,
  view: View,
  indices: readonly number[],
  fresh: boolean,
  progress: Progress,
): Promise<void> {
  const open = indices.flatMap(index => {
    const choice = view.program.compilations[index]?.graph.choice;
    return choice && choice.ways.length > 1 && (fresh || choice.measured === null) ? [{ index, choice }] : [];
  });
  if (open.length === 0) return;
  const base = ctx.threadOptions();
  // graphs of a file share what is compiled for a way
  const made = new Map<string, readonly Compilation[]>();
  const compileAll = async (way: string): Promise<readonly Compilation[]> => {
    const known = made.get(way);
    if (known) return known;
    progress.report(0, `matrix products: ${way}`);
    const options = ctx.threadOptions({ config: [...base.config, ["triton.template_form", way]] });
    const request = { path: view.path, overlay: ctx.overlay(), options };
    const { compilations } = await ctx.side.run(request, { want: "benchmark" }, progress.cancellation);
    made.set(way, compilations);
    return compilations;
  };
  const graphs = open.map(({ index, choice }) => ({
    choice,
    compile: async (way: string) => (await compileAll(way))[index] ?? null,
  }));
  const found = await measureWays(ctx.workers, graphs, fresh, onWorker(progress));
  if (found.size > 0) ctx.chosen(found);
}

function onWorker(progress: Progress) {
  return {
    onProgress: (done: number, total: number, text: string) =>
      progress.report(Math.round((100 * done) / Math.max(1, total)), text),
    onCancel: (cancel: () => void) => {
      if (progress.cancellation.isCancellationRequested) cancel();
      else progress.cancellation.onCancellationRequested(cancel);
    },
  };
}

export function asResponseError(e: unknown): unknown {
  if (e instanceof Cancelled) return new ResponseError(LSPErrorCodes.RequestCancelled, "cancelled");
  if (e instanceof JobError)
    return new ResponseError(
      e.code === "cancelled" ? LSPErrorCodes.RequestCancelled : LSPErrorCodes.RequestFailed,
      e.message,
    );
  return e;
}

function historyEntry(
  g: BenchmarkSummary["graphs"][number],
): Omit<HistoryEntry, "id" | "file" | "root" | "kernels" | "bytes"> {
  const r = g.result;
  return {
    when: Date.now(),
    graph: g.name,
    kind: g.kind,
    where: r.where,
    medianUs: r.graph.medianUs,
    p20Us: r.graph.p20Us,
    p80Us: r.graph.p80Us,
    count: r.graph.count,
    bytesPerSecond: r.graph.bytesPerSecond,
    shareOfCopy: r.shareOfCopy,
    maxError: r.maxError,
    eagerUs: r.against["eager"]?.medianUs ?? null,
    compileUs: r.against["compile"]?.medianUs ?? null,
    cachedSeconds: g.cached ? g.ageSeconds : null,
  };
}

function asMeasurement(r: BenchmarkResult): GraphMeasurement {
  const common = { where: r.where, maxError: r.maxError, shareOfCopy: r.shareOfCopy };
  const compiled = r.against["compile"];
  const kernels = new Map<string, Measurement>();
  for (const k of r.kernels)
    kernels.set(k.name, { ...k, where: r.where, maxError: null, shareOfCopy: null, speedupOverCompile: null });
  return { ...r.graph, ...common, speedupOverCompile: compiled ? compiled.medianUs / r.graph.medianUs : null, kernels };
}
