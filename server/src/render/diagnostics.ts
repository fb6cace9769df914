// Diagnostics on stderr, one line each: FILE:LINE:COLUMN: severity: message [code].
import { relative } from "node:path";
import type { Diagnostic } from "@fuselens/compiler";
import { printError } from "./output";

export function printDiagnostics(diagnostics: readonly Diagnostic[], path: string): void {
  for (const d of diagnostics) {
    const file = relative(process.cwd(), d.file === "" ? path : d.file);
    printError(`${file}:${d.span.line}:${d.span.column + 1}: ${d.severity}: ${d.message} [${d.code}]`);
  }
}
