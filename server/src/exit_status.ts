// What a command's exit status says, everywhere the same.
import type { Diagnostic } from "@fuselens/compiler";

export const EXIT = {
  /** done, and nothing is wrong with the file */
  fine: 0,
  /** done, and the answer is no: the program has errors, results disagree, a change is worse, something is missing */
  no: 1,
  /** not done: a wrong call, no worker, a worker that failed; one line on stderr says what */
  failed: 2,
} as const;

/** Of a command that compiled a file: no where a diagnostic is an error; warnings and remarks are fine. */
export function statusOf(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.some(d => d.severity === "error") ? EXIT.no : EXIT.fine;
}
