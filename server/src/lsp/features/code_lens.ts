// textDocument/codeLens. Lenses come whole: their titles cost nothing once the analysis is there.
import type { CodeLens, CodeLensParams } from "vscode-languageserver/node";
import { lensesFor } from "../../ide/lenses";
import type { ServerContext } from "../context";

export async function codeLenses(ctx: ServerContext, params: CodeLensParams): Promise<CodeLens[]> {
  const { uri } = params.textDocument;
  const analysis = await ctx.current(uri);
  if (!analysis) return [];
  return lensesFor(analysis.program, ctx.measurements).map(lens => ({
    range: { start: { line: lens.line - 1, character: 0 }, end: { line: lens.line - 1, character: 0 } },
    command: {
      title: lens.title,
      command: lens.command,
      arguments: [{ uri, root: lens.root, version: analysis.version }],
    },
  }));
}
