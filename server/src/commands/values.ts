// fuselens values FILE --json [--verify]: runs the program's compiled graphs on the CPU executor over inputs that any
// implementation can make again, and prints what comes out. --verify runs each graph fused and unfused instead.
import type { Program } from "@fuselens/compiler";
import { compileFile } from "../compile";
import { UsageError } from "../errors";
import { EXIT, statusOf } from "../exit_status";
import { parseCommand, requireFile, sessionOptions } from "../options";
import { serverPaths } from "../paths";
import { printDiagnostics } from "../render/diagnostics";
import { printError, printJson } from "../render/output";
import { agrees } from "../worker/agreement";
import { JobError } from "../worker/job";
import { WorkerPool } from "../worker/pool";
import { loadable, valuesJob, valuesReport } from "../worker/values";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("values", argv);
  const path = requireFile(line);
  const options = { ...sessionOptions(line.values), wat: true, replay: true };
  const program = compileFile(path, options);
  printDiagnostics(program.diagnostics, path);
  const workers = new WorkerPool({ workerFile: serverPaths().worker, log: printError });
  workers.configure({ endpoint: typeof line.values.worker === "string" ? line.values.worker : null, trusted: true });
  try {
    if (line.values.verify) {
      const same = await verify(program, compileFile(path, { ...options, unfused: true }), workers);
      return same ? statusOf(program.diagnostics) : EXIT.no;
    }
    const { result } = await workers.submit(valuesJob(program), { fresh: true });
    if (result.kind !== "values") throw new JobError("internal", "the worker answered another question");
    printJson(valuesReport(program, result), line.values.json ? 0 : 1);
    return statusOf(program.diagnostics);
  } catch (e) {
    if (e instanceof JobError) throw new UsageError(`${e.message} [${e.code}]`);
    throw e;
  } finally {
    await workers.dispose();
  }
}

/** Prints how far each graph's outputs are off those that it has unfused, and on stderr which ones disagree; whether none do. */
async function verify(program: Program, unfused: Program, workers: WorkerPool): Promise<boolean> {
  const graphs: unknown[] = [];
  let same = true;
  for (const [i, c] of program.compilations.entries()) {
    const other = unfused.compilations[i];
    const blocker = c.plan.blockers[0] ?? other?.plan.blockers[0];
    if (!other || blocker)
      throw new JobError("unsupported", blocker ?? "the unfused program has another number of graphs");
    const { result } = await workers.submit(
      { kind: "verify", pairs: [{ fused: loadable(c), unfused: loadable(other) }] },
      { fresh: true },
    );
    if (result.kind !== "verify") throw new JobError("internal", "the worker answered another question");
    const outputs = result.pairs.flatMap(p => p.outputs);
    for (const [k, o] of outputs.entries()) {
      if (agrees(o)) continue;
      same = false;
      printError(
        `${c.graph.name} (${c.graph.kind}): output ${k} (${o.dtype}) is off by ${o.maxAbs}, ${o.maxRel} of its mean magnitude`,
      );
    }
    graphs.push({ name: c.graph.name, kind: c.graph.kind, outputs });
  }
  printJson({ graphs });
  return same;
}
