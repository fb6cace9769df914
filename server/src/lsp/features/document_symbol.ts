// textDocument/documentSymbol: kernels under the functions they come from; in generated code, kernels and `call`.
import {
  type DocumentSymbol,
  type DocumentSymbolParams,
  type SymbolInformation,
  SymbolKind,
} from "vscode-languageserver/node";
import { type KernelSymbol, kernelSymbols } from "../../ide/symbols";
import type { ServerContext } from "../context";
import { lineRange } from "../generated_documents";
import type { View } from "../view";

export async function documentSymbols(
  ctx: ServerContext,
  params: DocumentSymbolParams,
): Promise<DocumentSymbol[] | SymbolInformation[]> {
  const { uri } = params.textDocument;
  const symbols = ctx.generated.isGenerated(uri) ? await generatedSymbols(ctx, uri) : await sourceSymbols(ctx, uri);
  return ctx.client.symbolTree ? symbols : flat(uri, symbols, undefined);
}

async function sourceSymbols(ctx: ServerContext, uri: string): Promise<DocumentSymbol[]> {
  const view = await ctx.view(uri);
  if (!view) return [];
  return kernelSymbols(view.program).flatMap(s => (view.holds(s.span) ? [toSymbol(view, s)] : []));
}

function toSymbol(view: View, s: KernelSymbol): DocumentSymbol {
  const end = view.lines.textOf(s.span.endLine).length;
  const range = view.range({ ...s.span, endColumn: Math.max(s.span.endColumn, s.kind === "kernel" ? end : 0) });
  const first = view.lines.textOf(s.span.line).length;
  const selection = view.range({ line: s.span.line, column: s.span.column, endLine: s.span.line, endColumn: first });
  return {
    name: s.name,
    detail: s.detail,
    kind: s.kind === "root" ? SymbolKind.Function : SymbolKind.Event,
    range,
    // LSP wants the selection within the range
    selectionRange:
      selection.end.line === range.end.line && selection.end.character > range.end.character ? range : selection,
    children: s.children.map(c => toSymbol(view, c)),
  };
}

async function generatedSymbols(ctx: ServerContext, uri: string): Promise<DocumentSymbol[]> {
  const made = await ctx.generated.open(ctx, uri);
  if (!made) return [];
  return made.generated.kernels.flatMap((k): DocumentSymbol[] => {
    if (!k.definition) return [];
    const range = lineRange(made, k.definition[0], k.definition[1]);
    return [
      {
        name: `${k.number}: ${k.name}`,
        kind: SymbolKind.Function,
        range,
        selectionRange: lineRange(made, k.definition[0]),
      },
    ];
  });
}

function flat(uri: string, symbols: readonly DocumentSymbol[], container: string | undefined): SymbolInformation[] {
  return symbols.flatMap(s => [
    {
      name: s.name,
      kind: s.kind,
      location: { uri, range: s.range },
      ...(container ? { containerName: container } : {}),
    },
    ...flat(uri, s.children ?? [], s.name),
  ]);
}
