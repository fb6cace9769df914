// textDocument/publishDiagnostics for clients that wait, textDocument/diagnostic for those that ask. Each list is of one
// version of the document.
import {
  type Diagnostic,
  DiagnosticSeverity,
  type DocumentDiagnosticParams,
  type DocumentDiagnosticReport,
  DocumentDiagnosticReportKind,
} from "vscode-languageserver/node";
import { type Problem, problemsFor } from "../../ide/problems";
import type { ServerContext } from "../context";
import type { View } from "../view";

const SEVERITY = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
} as const;

/** one notification for each part of the unit, so that a cell whose problems went away is told so */
export function publish(ctx: ServerContext, views: readonly View[]): void {
  const [first] = views;
  if (!first) return;
  const problems = problemsOf(ctx, first);
  for (const view of views) {
    const diagnostics = problems.flatMap(p => (view.holds(p.span) ? [toDiagnostic(ctx, view, p)] : []));
    void ctx.connection.sendDiagnostics({ uri: view.uri, version: view.part.version, diagnostics });
  }
}

export async function diagnostic(
  ctx: ServerContext,
  params: DocumentDiagnosticParams,
): Promise<DocumentDiagnosticReport> {
  const { uri } = params.textDocument;
  const view = ctx.generated.isGenerated(uri) ? null : await ctx.view(uri);
  if (!view) return { kind: DocumentDiagnosticReportKind.Full, items: ctx.crashes.get(uri)?.diagnostics ?? [] };
  const resultId = `${view.part.version} ${view.analysis.version} ${settingsKey(ctx)}`;
  if (params.previousResultId === resultId) return { kind: DocumentDiagnosticReportKind.Unchanged, resultId };
  const items = problemsOf(ctx, view).flatMap(p => (view.holds(p.span) ? [toDiagnostic(ctx, view, p)] : []));
  return { kind: DocumentDiagnosticReportKind.Full, resultId, items };
}

/** What a reader is told where the compiler itself failed: a bug of ours, on the first line. */
export function crashDiagnostic(message: string): Diagnostic {
  const start = { line: 0, character: 0 };
  return {
    range: { start, end: start },
    severity: DiagnosticSeverity.Error,
    code: "internal-error",
    source: "fuselens",
    message: `FuseLens failed on this text (${message}); it tries again after the next edit`,
  };
}

function settingsKey(ctx: ServerContext): string {
  const { preset, target } = ctx.threadOptions();
  return `${preset} ${target} ${JSON.stringify(ctx.settings.config)} ${JSON.stringify(ctx.settings.diagnostics)}`;
}

function problemsOf(ctx: ServerContext, view: View): Problem[] {
  return problemsFor(view.program, view.path, view.unitLines(), ctx.settings.diagnostics);
}

function toDiagnostic(ctx: ServerContext, view: View, p: Problem): Diagnostic {
  const related = p.related.flatMap(r => {
    const location = view.locate(r.span);
    return location ? [{ location, message: r.message }] : [];
  });
  return {
    range: view.range(p.span),
    severity: SEVERITY[p.severity],
    code: p.code,
    source: "fuselens",
    message: p.message,
    ...(ctx.client.relatedInformation && related.length ? { relatedInformation: related } : {}),
  };
}
