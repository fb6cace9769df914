// workspace/textDocumentContent (LSP 3.18), and the same as `fuselens/textDocumentContent` for clients that can ask a
// server for texts of their own accord.
import type { ServerContext } from "../context";

export interface DocumentContent {
  readonly text: string;
}

export async function documentContent(ctx: ServerContext, params: { readonly uri: string }): Promise<DocumentContent> {
  const made = ctx.generated.isGenerated(params.uri) ? await ctx.generated.open(ctx, params.uri) : null;
  return { text: made?.generated.text ?? "# The source of this document is not open.\n" };
}

/** Tells the client which of its generated documents have new text. */
export function refreshDocuments(ctx: ServerContext, source: string): void {
  if (!ctx.client.textContent) return;
  for (const uri of ctx.generated.madeOf(source))
    ctx.connection.sendRequest("workspace/textDocumentContent/refresh", { uri }).catch(() => undefined);
}
