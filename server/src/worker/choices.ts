// Which way to compute each of a graph's matrix products is the fastest: plans are benchmarked on the worker, which keeps its
// answers on disk by what it ran and where. In: graphs with their choices, what compiles them under a way. Out: medians of
// the graph by the choice's key. First all products take the same way; where they differ, each then tries its others, one
// product after another, while the rest keep their best.
import type { Compilation, MeasuredWays, ReportChoice } from "@fuselens/compiler";
import { benchmarkJob, DEFAULT_BENCHMARK } from "./benchmark";
import type { SubmitOptions } from "./job";
import type { WorkerPool } from "./pool";

/** a graph under a way, or under one for each product with commas between them; null: it has no plan that can be run */
type CompileWay = (way: string) => Promise<Compilation | null>;

interface OpenChoice {
  readonly choice: ReportChoice;
  readonly compile: CompileWay;
}

/** seconds per way: medians of a few dozen runs tell ways apart */
const SECONDS = 0.2;

/** `fresh`: what the worker has kept does not count */
export async function measureWays(
  workers: Pick<WorkerPool, "submit">,
  graphs: readonly OpenChoice[],
  fresh: boolean,
  options: SubmitOptions,
): Promise<Map<string, MeasuredWays>> {
  const found = new Map<string, MeasuredWays>();
  for (const { choice, compile } of graphs) {
    if (found.has(choice.key)) continue;
    const microseconds: Record<string, number> = {};
    let where = "";
    const seen = new Map<string, number>();
    const measure = async (way: string): Promise<number | null> => {
      const c = await compile(way);
      if (c === null || c.plan.blockers.length > 0) return null;
      // two ways may come to the same, as where results can't go out through descriptors
      const known = seen.get(c.outputCode.standalone);
      if (known !== undefined) return known;
      const job = benchmarkJob(c, { ...DEFAULT_BENCHMARK, seconds: SECONDS });
      const answer = await workers.submit({ ...job, perKernel: false } as typeof job, { ...options, fresh });
      if (answer.result.kind !== "benchmark") return null;
      where = answer.result.where;
      const { medianUs } = answer.result.graph;
      seen.set(c.outputCode.standalone, medianUs);
      microseconds[way] = medianUs;
      return medianUs;
    };
    await search(choice, measure);
    if (Object.keys(microseconds).length > 1) found.set(choice.key, { microseconds, where });
  }
  return found;
}

/** Asks for times until no product on its own can do better, one pass over the products. */
async function search(choice: ReportChoice, measure: (way: string) => Promise<number | null>): Promise<void> {
  let best = { way: "library", us: Number.POSITIVE_INFINITY };
  const consider = async (way: string): Promise<void> => {
    const us = await measure(way);
    if (us !== null && us < best.us) best = { way, us };
  };
  for (const way of choice.ways) await consider(way);
  if (choice.products.length < 2) return;
  for (const [i, ways] of choice.products.entries()) {
    const now = eachOf(best.way, choice);
    for (const way of ways) if (way !== now[i]) await consider(now.map((w, j) => (j === i ? way : w)).join());
  }
}

/** the way of each product; where it does not have the common one, its first: the library's kernel if that is a candidate */
function eachOf(way: string, { products }: ReportChoice): string[] {
  const each = way.split(",");
  return products.map((ways, i) => {
    const w = each.length === 1 ? way : (each[i] ?? "");
    return ways.includes(w) ? w : (ways[0] ?? "library");
  });
}
