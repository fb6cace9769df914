// textDocument/hover
import { type Hover, type HoverParams, MarkupKind } from "vscode-languageserver/node";
import { hoverAt } from "../../ide/hover";
import type { ServerContext } from "../context";
import { fromPosition, pathOf, toRange } from "../convert";

export async function hover(ctx: ServerContext, params: HoverParams): Promise<Hover | null> {
  const analysis = await ctx.current(params.textDocument.uri);
  if (!analysis) return null;
  const measured = (compilation: number, kernel: string) => {
    const code = analysis.program.compilations[compilation]?.outputCode.standalone;
    return code === undefined ? undefined : ctx.measurements.get(code)?.kernels.get(kernel);
  };
  const text = hoverAt(analysis.program, pathOf(params.textDocument.uri), fromPosition(params.position), measured);
  return text && { contents: { kind: MarkupKind.Markdown, value: text.markdown }, range: toRange(text.span) };
}
