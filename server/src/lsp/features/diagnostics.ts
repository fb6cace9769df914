// textDocument/publishDiagnostics: syntax errors, graph breaks, opaque operators, each with the version it was found in.
import type { Analysis } from "../../analysis/analyzer";
import type { ServerContext } from "../context";
import { pathOf, toLspDiagnostic, uriOf } from "../convert";

export function publish(ctx: ServerContext, analysis: Analysis): void {
  const uri = ctx.documents.all().find(d => pathOf(d.uri) === analysis.path)?.uri ?? uriOf(analysis.path);
  const own = analysis.program.diagnostics.filter(d => d.file === analysis.path || d.file === "");
  ctx.connection.sendDiagnostics({ uri, version: analysis.version, diagnostics: own.map(toLspDiagnostic) });
}
