// Diagnostics on stderr, one line each: FILE:LINE:COLUMN: severity: message [code].
import { relative } from "node:path";
import type { Diagnostic } from "@fuselens/compiler";

export function printDiagnostics(diagnostics: readonly Diagnostic[], path: string): void {
  for (const d of diagnostics) {
    const file = relative(process.cwd(), d.file === "" ? path : d.file);
    process.stderr.write(
      `${file}:${d.span.line}:${d.span.column + 1}: ${d.severity}: ${oneLine(d.message)} [${d.code}]\n`,
    );
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n\f\u2028\u2029]+\s*/g, " ");
}
