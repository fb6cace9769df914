// Diagnostics for a terminal, one line each: FILE:LINE:COLUMN: severity: message [code].
import { relative } from "node:path";
import type { Diagnostic } from "@fuselens/compiler";
import { printError } from "./output";

/** on stderr, files as they are called from the working directory */
export function printDiagnostics(diagnostics: readonly Diagnostic[], path: string): void {
  for (const d of diagnostics) {
    const file = relative(process.cwd(), d.file === "" ? path : d.file);
    printError(diagnosticLine({ ...d, file }));
  }
}

export function diagnosticLine(d: Diagnostic): string {
  return `${d.file}:${d.span.line}:${d.span.column + 1}: ${d.severity}: ${d.message} [${d.code}]`;
}
