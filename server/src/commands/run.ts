// fuselens run FILE [--out DIR]: prints what the program prints and the logs that it asks for, as torch would.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramEvent } from "@fuselens/compiler";
import { formatRecord } from "@fuselens/compiler/vocabulary";
import { compileFile } from "../compile";
import { statusOf } from "../exit_status";
import { parseCommand, requireFile, sessionOptions } from "../options";
import { printDiagnostics } from "../render/diagnostics";
import { printError, printRaw } from "../render/output";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("run", argv);
  const path = requireFile(line);
  const program = compileFile(path, sessionOptions(line.values));
  const cells = textByCell(program.events, program.logFormat);
  const out = line.values["out"];
  if (typeof out === "string") {
    mkdirSync(out, { recursive: true });
    for (const [index, text] of cells) writeFileSync(join(out, `out${index}.txt`), text);
  } else {
    for (const [, text] of cells) printRaw(text);
  }
  printDiagnostics(program.diagnostics, path);
  for (const estimate of program.estimates) printError(`estimated: ${estimate}`);
  return statusOf(program.diagnostics);
}

/** Output per notebook cell, counted from 1; a plain file is one cell. */
function textByCell(events: readonly ProgramEvent[], format: string | null): Map<number, string> {
  const cells = new Map<number, string>();
  let current = 1;
  const append = (text: string) => cells.set(current, (cells.get(current) ?? "") + text);
  append("");
  for (const event of events) {
    if (event.kind === "cell") {
      current = event.index;
      append("");
    } else if (event.kind === "print") append(event.text);
    else append(`${formatRecord(event.record, format)}\n`);
  }
  return cells;
}
