// Bytes that a forward graph keeps for its backward, by the expression and by the line that made them.
import type { SourceEntry } from "@fuselens/compiler";
import type { EditorProgram } from "./model";
import { reportBytes } from "./tensor_text";

/** a value is saved under the name of the node that made it; the backward of a forward graph is compiled right after it */
export function savedBytes(program: EditorProgram, entries: readonly SourceEntry[]): number | null {
  let bytes: number | null = null;
  const counted = new Set<string>();
  for (const e of entries) {
    const forward = program.compilations[e.compilation];
    const backward = program.compilations[e.compilation + 1];
    if (forward?.graph.kind !== "forward" || backward?.graph.kind !== "backward") continue;
    const key = `${e.compilation} ${e.node}`;
    const input = backward.graph.inputs.find(i => i.saved && i.name === e.node);
    if (!input || counted.has(key)) continue;
    counted.add(key);
    const size = reportBytes(input, backward.symbols);
    if (size !== null) bytes = (bytes ?? 0) + size;
  }
  return bytes;
}

/** bytes kept of all that a line made, in the forward graphs that the entries stand in */
export function savedOnLine(program: EditorProgram, entries: readonly SourceEntry[], line: number): number {
  const compilations = new Set(entries.filter(e => e.file === program.file).map(e => e.compilation));
  let bytes = 0;
  for (const i of compilations)
    for (const s of program.compilations[i]?.graph.saved_bytes ?? []) if (s.line === line) bytes += s.bytes;
  return bytes;
}

/** bytes of all that a backward graph keeps, inputs of the forward included */
export function allSavedBytes(program: EditorProgram, compilation: number): number {
  const c = program.compilations[compilation];
  if (c?.graph.kind !== "backward") return 0;
  return c.graph.inputs.reduce((n, i) => n + (i.saved ? (reportBytes(i, c.symbols) ?? 0) : 0), 0);
}
