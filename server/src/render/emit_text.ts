// One artifact's records of a program as text.
import type { Program } from "@fuselens/compiler";
import { type Artifact, formatRecord } from "@fuselens/compiler/vocabulary";

export function emitText(program: Program, stage: Artifact): string {
  return program.events
    .map(e => (e.kind === "log" && e.record.artifact === stage ? `${formatRecord(e.record, program.logFormat)}\n` : ""))
    .join("");
}
