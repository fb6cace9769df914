// Between the compiler's spans (1-based lines, UTF-16 columns) and LSP ranges (0-based, in the agreed encoding).

import { fileURLToPath, pathToFileURL } from "node:url";
import type { Diagnostic, SourceEntry } from "@fuselens/compiler";
import type { Position as LspPosition } from "vscode-languageserver/node";
import { DiagnosticSeverity, type Diagnostic as LspDiagnostic, type Range } from "vscode-languageserver/node";
import type { Position } from "../ide/lookup";

type Span = SourceEntry["span"];

export function toRange(span: Span): Range {
  return {
    start: { line: Math.max(0, span.line - 1), character: span.column },
    end: { line: Math.max(0, span.endLine - 1), character: span.endColumn },
  };
}

export function fromPosition(p: LspPosition): Position {
  return { line: p.line + 1, column: p.character };
}

const SEVERITY = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
} as const;

export function toLspDiagnostic(d: Diagnostic): LspDiagnostic {
  return {
    range: toRange(d.span),
    severity: SEVERITY[d.severity],
    code: d.code,
    source: "fuselens",
    message: d.message,
  };
}

/** The file behind a document; documents that are not files keep their URI as a name. */
export function pathOf(uri: string): string {
  return uri.startsWith("file:") ? fileURLToPath(uri) : uri;
}

export function uriOf(path: string): string {
  return /^[a-z][\w+.-]+:/i.test(path) ? path : pathToFileURL(path).href;
}
