// fuselens.showSchedulerGraph: operations, buffers and fusion rounds of a root's graphs, as data and as DOT per round.
import type { SchedulerGraph } from "@fuselens/compiler";
import { schedulerDot } from "@fuselens/compiler/vocabulary";
import type { CancellationToken } from "vscode-languageserver/node";
import { isLaunched, numberOf, titleOf } from "../../ide/lookup";
import type { EditorProgram } from "../../ide/model";
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
  /** the groups as launched, in the order of the DOT text's `group_N`: a kernel's number (null: none) and its ops */
  readonly launched: readonly { readonly number: number | null; readonly ops: readonly number[] }[];
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
      return graph ? [shownGraph(graph, kernelsIn(view.program, i, graph))] : [];
    });
    return { uri: view.uri, title: root?.name ?? "all graphs", graphs: shown };
  } finally {
    progress.done();
  }
}

interface NamedKernel {
  readonly number: number | null;
  readonly title: string;
}

/** the kernels that the graph's final groups are, by the operations that they hold; fewer than groups where unknown */
function kernelsIn(program: EditorProgram, compilation: number, g: SchedulerGraph): (NamedKernel | undefined)[] {
  const kernels = program.compilations[compilation]?.graph.kernels ?? [];
  return g.final.map((members): NamedKernel | undefined => {
    const ops = new Set(members.map(m => g.ops[m]?.name ?? ""));
    const kernel = kernels.findIndex(k => k.nodes.some(n => ops.has(n)));
    const found = kernels[kernel];
    if (!found) return undefined;
    if (!isLaunched(found)) return { number: null, title: titleOf(found) };
    const number = numberOf(program, { compilation, kernel });
    return { number, title: `kernel ${number}: ${titleOf(found)}` };
  });
}

/** what the graph view is sent; `kernels` name the final groups */
export function shownGraph(g: SchedulerGraph, kernels: readonly (NamedKernel | undefined)[]): ShownGraph {
  const rounds = g.rounds.map((r, i) => ({
    title: r.title,
    fused: r.fused.length,
    groups: r.groups.length,
    dot: schedulerDot(g, i),
  }));
  const titles = g.final.map((ops, i) => kernels[i]?.title ?? `${ops.length} op${ops.length === 1 ? "" : "s"}`);
  const launched = { title: "as launched", fused: 0, groups: g.final.length, dot: schedulerDot(g, undefined, titles) };
  return {
    name: g.name,
    kind: g.kind,
    rounds: [...rounds, launched],
    lines: g.ops.map(o => o.at),
    launched: g.final.map((ops, i) => ({ number: kernels[i]?.number ?? null, ops })),
  };
}
