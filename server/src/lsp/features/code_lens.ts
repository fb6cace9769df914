// textDocument/codeLens gives the places, codeLens/resolve the titles of those that come into view.
import type { CodeLens, CodeLensParams } from "vscode-languageserver/node";
import { LENS_COMMANDS, type LensCommand, lensPlaces, lensTitle } from "../../ide/lenses";
import type { ServerContext } from "../context";

interface LensData {
  readonly uri: string;
  readonly version: number;
  readonly root: string;
  readonly command: LensCommand;
}

export async function codeLenses(ctx: ServerContext, params: CodeLensParams): Promise<CodeLens[]> {
  const { uri } = params.textDocument;
  if (!ctx.settings.codeLens || ctx.generated.isGenerated(uri)) return [];
  const view = await ctx.view(uri);
  if (!view) return [];
  return lensPlaces(view.program).flatMap((lens): CodeLens[] => {
    if (!view.lines.holds(lens.line)) return [];
    const start = view.lines.position(lens.line, 0);
    const data: LensData = { uri, version: view.part.version, root: lens.root, command: lens.command };
    return [{ range: { start, end: start }, data }];
  });
}

export async function resolveLens(ctx: ServerContext, lens: CodeLens): Promise<CodeLens> {
  const data = asData(lens.data);
  if (!data) return lens;
  const view = await ctx.view(data.uri);
  // an edit has come in between: the client asks for all lenses anew, and until then shows none
  const title =
    view && view.part.version === data.version
      ? lensTitle(view.program, data.root, data.command, ctx.measurements, ctx.suggestions.of(view.program))
      : null;
  if (title === null) return { ...lens, command: { title: "…", command: "" } };
  return {
    range: lens.range,
    command: {
      title,
      command: data.command,
      arguments: [{ uri: data.uri, root: data.root, version: data.version }],
    },
  };
}

function asData(value: unknown): LensData | null {
  const data = value as Partial<LensData> | null | undefined;
  return typeof data?.uri === "string" &&
    typeof data.root === "string" &&
    typeof data.version === "number" &&
    LENS_COMMANDS.some(c => c === data.command)
    ? (data as LensData)
    : null;
}
