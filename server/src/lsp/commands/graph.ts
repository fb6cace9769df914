// fuselens.showSchedulerGraph: operations, buffers and fusion rounds of a root's graphs, as data and as DOT per round.
import { type SchedulerGraph, schedulerDot } from "@fuselens/compiler";
import type { CancellationToken } from "vscode-languageserver/node";
import type { ServerContext } from "../context";
import { startProgress } from "../progress";
import { indicesOf, rootIn, type Target, viewOf } from "./target";

export interface ShownGraph {
  readonly name: string;
  readonly kind: SchedulerGraph["kind"];
  /** one a round, and the graph as it is launched at the end */
  readonly rounds: readonly {
    readonly title: string;
    readonly fused: number;
    readonly groups: number;
    readonly dot: string;
  }[];
  /** source lines of op i, innermost */
  readonly lines: readonly (readonly number[])[];
}

export interface ShownGraphs {
  readonly uri: string;
  readonly title: string;
  readonly graphs: readonly ShownGraph[];
}

export async function showSchedulerGraph(
  ctx: ServerContext,
  target: Target,
  token: CancellationToken,
): Promise<ShownGraphs> {
  const view = await viewOf(ctx, target);
  const root = rootIn(view, target);
  const progress = await startProgress(ctx, "FuseLens", "drawing the scheduler graph", token);
  try {
    const request = { path: view.path, overlay: ctx.overlay(), options: ctx.threadOptions() };
    const { graphs } = await ctx.side.run(request, { want: "graphs" }, progress.cancellation);
    const shown = indicesOf(view, root).flatMap(i => {
      const graph = graphs[i];
      return graph ? [shownGraph(graph)] : [];
    });
    return { uri: view.uri, title: root?.name ?? "all graphs", graphs: shown };
  } finally {
    progress.done();
  }
}

function shownGraph(g: SchedulerGraph): ShownGraph {
  const rounds = g.rounds.map((r, i) => ({
    title: r.title,
    fused: r.fused.length,
    groups: r.groups.length,
    dot: schedulerDot(g, i),
  }));
  const launched = { title: "as launched", fused: 0, groups: g.final.length, dot: schedulerDot(g) };
  return { name: g.name, kind: g.kind, rounds: [...rounds, launched], lines: g.ops.map(o => o.at) };
}
