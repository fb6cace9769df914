// fuselens emit FILE --stage STAGE: the text of one stage, under TORCH_LOGS's artifact names.
import { ARTIFACTS, type Artifact } from "@fuselens/compiler/vocabulary";
import { compileFile } from "../compile";
import { UsageError } from "../errors";
import { statusOf } from "../exit_status";
import { parseCommand, requireFile, sessionOptions } from "../options";
import { printDiagnostics } from "../render/diagnostics";
import { emitText } from "../render/emit_text";
import { printRaw } from "../render/output";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("emit", argv);
  const stage = line.values["stage"];
  if (!ARTIFACTS.includes(stage as Artifact)) throw new UsageError(`--stage takes one of ${ARTIFACTS.join(", ")}`);
  const header = line.values["header"] ?? "inductor";
  if (header !== "inductor" && header !== "standalone") throw new UsageError("--header takes inductor or standalone");
  const path = requireFile(line);
  const options = sessionOptions(line.values);
  options.artifacts = new Set([stage as Artifact]);
  const program = compileFile(path, options);
  if (stage === "output_code" && header === "standalone") {
    for (const c of program.compilations) printRaw(c.outputCode.standalone);
  } else {
    printRaw(emitText(program, stage as Artifact));
  }
  printDiagnostics(program.diagnostics, path);
  return statusOf(program.diagnostics);
}
