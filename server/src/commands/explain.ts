// fuselens explain FILE [--json]: kernels, the lines behind them, reasons, bytes.

import { compileFile } from "../compile";
import { statusOf } from "../exit_status";
import { BETTER_PRESET, betterSchedules } from "../ide/better";
import { explainText } from "../ide/explain_text";
import { parseCommand, requireFile, sessionOptions } from "../options";
import { printDiagnostics } from "../render/diagnostics";
import { print, printJson } from "../render/output";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("explain", argv);
  const path = requireFile(line);
  const options = sessionOptions(line.values);
  const program = compileFile(path, options);
  if (line.values["json"]) printJson(program.report);
  else {
    const better =
      options.preset === "fuselens"
        ? []
        : betterSchedules(
            program.report.graphs,
            compileFile(path, { ...options, preset: BETTER_PRESET }).report.graphs,
          );
    print(explainText(program.report, { better }));
    printDiagnostics(program.diagnostics, path);
  }
  return statusOf(program.diagnostics);
}
