// textDocument/semanticTokens/full and /range, for output code alone: Python sources belong to the Python extension.
import { type SemanticTokens, SemanticTokensBuilder, type SemanticTokensLegend } from "vscode-languageserver/node";
import { outputTokens, TOKEN_MODIFIERS, TOKEN_TYPES } from "../../ide/semantic";
import type { ServerContext } from "../context";

export const LEGEND: SemanticTokensLegend = { tokenTypes: [...TOKEN_TYPES], tokenModifiers: [...TOKEN_MODIFIERS] };

export async function semanticTokens(
  ctx: ServerContext,
  params: {
    readonly textDocument: { readonly uri: string };
    readonly range?: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  },
): Promise<SemanticTokens> {
  const builder = new SemanticTokensBuilder();
  const { uri } = params.textDocument;
  const made = ctx.generated.isGenerated(uri) ? await ctx.generated.open(ctx, uri) : null;
  if (!made) return builder.build();
  const [first, last] = params.range ? [params.range.start.line, params.range.end.line] : [0, Number.POSITIVE_INFINITY];
  for (const t of outputTokens(made.generated.lines)) {
    if (t.line < first || t.line > last) continue;
    const start = made.lines.position(t.line + 1, t.column).character;
    const end = made.lines.position(t.line + 1, t.column + t.length).character;
    const modifiers = t.modifiers.reduce((bits, m) => bits | (1 << TOKEN_MODIFIERS.indexOf(m)), 0);
    builder.push(t.line, start, end - start, TOKEN_TYPES.indexOf(t.type), modifiers);
  }
  return builder.build();
}
