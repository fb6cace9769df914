// Commands that answer with a text: output code, kernels, reasons, one stage's dump.
import { basename } from "node:path";
import type { ReportGraph, ReportLayout } from "@fuselens/compiler";
import { ARTIFACTS, type Artifact } from "@fuselens/compiler/vocabulary";
import type { CancellationToken } from "vscode-languageserver/node";
import { explainText } from "../../ide/explain_text";
import { entriesByLine, kernelsOf, numberOf, refusalsOf } from "../../ide/lookup";
import { reasonsPage } from "../../ide/reasons_page";
import type { ServerContext } from "../context";
import { startProgress } from "../progress";
import { failed, indicesOf, invalid, rootIn, type ShownDocument, type Target, viewOf } from "./target";

export async function showOutputCode(ctx: ServerContext, target: Target): Promise<ShownDocument> {
  const view = await viewOf(ctx, target);
  const root = rootIn(view, target);
  const header = target["header"] === "inductor" ? "inductor" : "standalone";
  const uri = ctx.generated.uriFor(ctx, view, root, header);
  const made = await ctx.generated.open(ctx, uri);
  if (!made) throw failed("the document changed; try again");
  ctx.generated.write(made);
  return { title: `${root?.name ?? "output"}_code.py`, language: "python", text: made.generated.text, uri };
}

export async function showKernels(ctx: ServerContext, target: Target): Promise<ShownDocument> {
  const view = await viewOf(ctx, target);
  const root = rootIn(view, target);
  const { program } = view;
  const indices = indicesOf(view, root);
  const graphs = indices.flatMap((i): ReportGraph[] => {
    const graph = program.compilations[i]?.graph;
    return graph ? [{ ...graph, aten: [] }] : [];
  });
  // as everywhere in the editor, kernels have numbers over all graphs of the file
  const firstNumbers = indices.map(compilation => numberOf(program, { compilation, kernel: 0 }));
  const report = {
    file: program.file,
    preset: program.preset,
    target: program.target,
    graphs,
    graph_breaks: program.graphBreaks,
    diagnostics: [],
  };
  return {
    title: `${root?.name ?? "kernels"}.txt`,
    language: "plaintext",
    text: explainText(report, { firstNumbers }),
  };
}

/** {uri, lines: [first, last]} or {uri, root} */
export async function showReasons(ctx: ServerContext, target: Target): Promise<ShownDocument> {
  const view = await viewOf(ctx, target);
  const root = rootIn(view, target);
  const lines = target["lines"];
  const indices = indicesOf(view, root);
  if (Array.isArray(lines) && lines.every(l => typeof l === "number")) {
    const [first = 0, last = first] = lines as number[];
    const index = entriesByLine(view.program, view.path);
    const entries = [];
    for (let l = first; l <= Math.min(last, first + 1000); l++) entries.push(...(index.get(l) ?? []));
    const refusals = refusalsOf(view.program, kernelsOf(entries));
    const onLines = (l: ReportLayout): boolean => l.at.some(line => line >= first && line <= last);
    const layouts = view.program.compilations.flatMap(c => c.graph.layouts ?? []).filter(onLines);
    const title = first === last ? `line ${first}` : `lines ${first}-${last}`;
    return {
      title: `why_line_${first}.md`,
      language: "markdown",
      text: reasonsPage(view.program, title, refusals, layouts, view.unitLines()),
    };
  }
  const graphs = indices.flatMap(i => view.program.compilations[i]?.graph ?? []);
  const refusals = graphs.flatMap(g => g.refusals);
  const layouts = graphs.flatMap(g => g.layouts ?? []);
  return {
    title: `why_${root?.name ?? "all"}.md`,
    language: "markdown",
    text: reasonsPage(view.program, root?.name ?? basename(view.path), refusals, layouts, view.unitLines()),
  };
}

/** Stage dumps are made on demand by a compile of their own, since logs cost time that typing should not pay. */
export async function showStage(ctx: ServerContext, target: Target, token: CancellationToken): Promise<ShownDocument> {
  const stage = ARTIFACTS.find(a => a === target["stage"]);
  if (!stage) throw invalid(`stage must be one of ${ARTIFACTS.join(", ")}`);
  const text = await stageText(ctx, target, stage, token);
  return {
    title: `${stage}.${LANGUAGES[stage] ?? "txt"}`,
    language: stage === "scheduler_graph" ? "dot" : "plaintext",
    text,
  };
}

const LANGUAGES: Partial<Record<Artifact, string>> = { scheduler_graph: "dot" };

async function stageText(
  ctx: ServerContext,
  target: Target,
  stage: Artifact,
  token: CancellationToken,
): Promise<string> {
  const view = await viewOf(ctx, target);
  const progress = await startProgress(ctx, "FuseLens", `making ${stage}`, token);
  try {
    const request = { path: view.path, overlay: ctx.overlay(), options: ctx.threadOptions() };
    const { text } = await ctx.side.run(request, { want: "stage", stage }, progress.cancellation);
    return text || `nothing: ${basename(view.path)} has no records of ${stage}\n`;
  } finally {
    progress.done();
  }
}
