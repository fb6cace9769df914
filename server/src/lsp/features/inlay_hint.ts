// textDocument/inlayHint: shapes and kernel numbers, each switchable by a setting.
import { type InlayHint, InlayHintKind, type InlayHintParams } from "vscode-languageserver/node";
import { inlaysFor } from "../../ide/inlay";
import type { ServerContext } from "../context";

export async function inlayHints(ctx: ServerContext, params: InlayHintParams): Promise<InlayHint[]> {
  const { uri } = params.textDocument;
  const settings = ctx.settings.inlayHints;
  if ((!settings.shapes && !settings.kernels) || ctx.generated.isGenerated(uri)) return [];
  const view = await ctx.view(uri);
  if (!view) return [];
  const first = params.range.start.line + view.lines.firstLine;
  const last = Math.min(params.range.end.line + view.lines.firstLine, view.lines.lastLine);
  return inlaysFor(view.program, view.path, view.unitLines(), { first, last }, settings).map(h => ({
    position: view.lines.position(h.line, h.column),
    label: h.label,
    tooltip: h.tooltip,
    kind: h.kind === "shape" ? InlayHintKind.Type : undefined,
  }));
}
