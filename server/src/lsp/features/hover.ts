// textDocument/hover, in the source and in generated code.
import { type Hover, type HoverParams, MarkupKind } from "vscode-languageserver/node";
import { BETTER_PRESET, betterLines } from "../../ide/better";
import { kernelAtLine } from "../../ide/generated";
import { hoverAt, kernelLines, type MeasuredKernel } from "../../ide/hover";
import { type KernelRef, rootOf } from "../../ide/lookup";
import { codeBlock, escapeMarkdown } from "../../ide/markdown";
import type { ServerContext } from "../context";
import { lineRange } from "../generated_documents";
import type { View } from "../view";

const LINES_SHOWN = 12;

export async function hover(ctx: ServerContext, params: HoverParams): Promise<Hover | null> {
  const { uri } = params.textDocument;
  if (ctx.generated.isGenerated(uri)) return generatedHover(ctx, uri, params.position.line);
  const view = await ctx.view(uri);
  if (!view) return null;
  const better = ctx.suggestions.of(view.program);
  const text = hoverAt(view.program, view.path, view.position(params.position), measuredIn(ctx, view), better);
  if (!text || !view.holds(text.span)) return null;
  const gains = betterLines(better, text.kernels).length > 0;
  const value = [text.markdown, ...links(ctx, view, text.kernels, gains)].join("\n\n");
  return { contents: { kind: MarkupKind.Markdown, value }, range: view.range(text.span) };
}

function measuredIn(ctx: ServerContext, view: View): MeasuredKernel {
  return (ref, kernel) => {
    const key = view.program.compilations[ref.compilation]?.codeKey;
    return key === undefined ? undefined : ctx.measurements.get(key)?.kernels.get(kernel);
  };
}

/** command links work in the editors that say so; elsewhere the lenses hold the same commands */
function links(ctx: ServerContext, view: View, kernels: readonly KernelRef[], gains: boolean): string[] {
  if (!ctx.client.rich) return [];
  const root = rootOf(view.program, kernels[0]?.compilation ?? -1);
  const link = (title: string, command: string, more: Readonly<Record<string, unknown>> = {}): string => {
    const target = encodeURIComponent(JSON.stringify([{ uri: view.uri, root: root?.name, ...more }]));
    return `[${title}](command:${command}?${target.replace(/[()]/g, c => `%${c.charCodeAt(0).toString(16)}`)})`;
  };
  return [
    [
      link("Output code", "fuselens.showOutputCode"),
      link("Kernel map", "fuselens.showKernelMap"),
      link("Benchmark", "fuselens.benchmark"),
      link("Graph", "fuselens.showSchedulerGraph"),
      ...(gains
        ? [link(`Compare with ${BETTER_PRESET}`, "fuselens.compare", { right: { preset: BETTER_PRESET } })]
        : []),
    ].join(" · "),
  ];
}

async function generatedHover(ctx: ServerContext, uri: string, line: number): Promise<Hover | null> {
  const made = await ctx.generated.open(ctx, uri);
  if (!made) return null;
  const { generated, source } = made;
  const kernel = kernelAtLine(generated, line);
  const origins = generated.toSource[line] ?? [];
  if (!kernel && !origins.length) return null;
  const parts = kernel ? kernelLines(source.program, [kernel.ref], measuredIn(ctx, source)) : [];
  if (origins.length) {
    const all = source.unitLines();
    const shown = origins.slice(0, LINES_SHOWN).map(l => `${String(l).padStart(4)}  ${all[l - 1] ?? ""}`);
    parts.push(codeBlock(shown.join("\n"), "python"));
    const places = origins.slice(0, LINES_SHOWN).flatMap(l => {
      const at = source.locate({ line: l, column: 0, endLine: l, endColumn: 0 });
      return at ? [`[line ${l}](${escapeLink(at.uri)}#L${at.range.start.line + 1})`] : [];
    });
    parts.push(`From ${places.join(", ")} of ${escapeMarkdown(source.path.replace(/^.*[\\/]/, ""))}`);
  }
  return { contents: { kind: MarkupKind.Markdown, value: parts.join("\n\n") }, range: lineRange(made, line) };
}

function escapeLink(uri: string): string {
  return uri.replace(/[()<>\s]/g, c => `%${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
