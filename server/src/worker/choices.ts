// Which way to compute a graph's matrix products is the fastest: each way's plan is benchmarked on the worker, which keeps
// its answers on disk by what it ran and where. In: graphs compiled once per way. Out: medians by the graph's choice key.
import type { Compilation, MeasuredWays } from "@fuselens/compiler";
import { benchmarkJob, DEFAULT_BENCHMARK } from "./benchmark";
import type { SubmitOptions } from "./job";
import type { WorkerPool } from "./pool";

/** a graph under each way; null: the way has no plan that can be run */
export interface WayPlans {
  readonly key: string;
  readonly plans: ReadonlyMap<string, Compilation | null>;
}

/** seconds per way: medians of a few dozen runs tell ways apart */
const SECONDS = 0.2;

export async function measureWays(
  workers: WorkerPool,
  graphs: readonly WayPlans[],
  fresh: boolean,
  options: SubmitOptions,
): Promise<Map<string, MeasuredWays>> {
  const found = new Map<string, MeasuredWays>();
  for (const { key, plans } of graphs) {
    const microseconds: Record<string, number> = {};
    let where = "";
    const seen = new Set<string>();
    for (const [way, c] of plans) {
      // two ways may come to the same, as where results can't go out through descriptors
      if (c === null || c.plan.blockers.length > 0 || seen.has(c.outputCode.standalone)) continue;
      seen.add(c.outputCode.standalone);
      const job = benchmarkJob(c, { ...DEFAULT_BENCHMARK, seconds: SECONDS });
      const answer = await workers.submit({ ...job, perKernel: false } as typeof job, { ...options, fresh });
      if (answer.result.kind !== "benchmark") continue;
      microseconds[way] = answer.result.graph.medianUs;
      where = answer.result.where;
    }
    if (Object.keys(microseconds).length > 1) found.set(key, { microseconds, where });
  }
  return found;
}
