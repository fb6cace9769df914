// fuselens report FILE [--out FILE]: a bug report as Markdown.
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { bugReport } from "../bug_report";
import { UsageError } from "../errors";
import { EXIT } from "../exit_status";
import { parseCommand, requireFile, sessionOptions } from "../options";
import { printRaw } from "../render/output";
import { readSource } from "../source_files";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("report", argv);
  const path = requireFile(line);
  const text = readSource(path);
  if (text === undefined) throw new UsageError(`can't read ${basename(path)}`);
  const out = bugReport(text, sessionOptions(line.values));
  const to = line.values["out"];
  if (typeof to === "string") writeFileSync(to, out);
  else printRaw(out);
  return EXIT.fine;
}
