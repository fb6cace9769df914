// textDocument/documentHighlight: all expressions that share a kernel with the one under the cursor.
import {
  type DocumentHighlight,
  DocumentHighlightKind,
  type DocumentHighlightParams,
} from "vscode-languageserver/node";
import { kernelAtLine, linesFromSource } from "../../ide/generated";
import { kernelSpans } from "../../ide/highlight";
import type { ServerContext } from "../context";
import { lineRange } from "../generated_documents";

export async function documentHighlight(
  ctx: ServerContext,
  params: DocumentHighlightParams,
): Promise<DocumentHighlight[]> {
  const { uri } = params.textDocument;
  if (ctx.generated.isGenerated(uri)) return inGenerated(ctx, uri, params.position.line);
  const view = await ctx.view(uri);
  if (!view) return [];
  return kernelSpans(view.program, view.path, view.position(params.position)).flatMap(span =>
    view.holds(span) ? [{ range: view.range(span), kind: DocumentHighlightKind.Read }] : [],
  );
}

/** in generated code: lines of the same source, and where the kernel is launched */
async function inGenerated(ctx: ServerContext, uri: string, line: number): Promise<DocumentHighlight[]> {
  const made = await ctx.generated.open(ctx, uri);
  if (!made) return [];
  const source = new Set(made.generated.toSource[line] ?? []);
  const launches = kernelAtLine(made.generated, line)?.launches ?? [];
  const lines = new Set([...linesFromSource(made.generated, source), ...launches]);
  return [...lines]
    .sort((a, b) => a - b)
    .map(l => ({
      range: lineRange(made, l),
      kind: launches.includes(l) ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
    }));
}
