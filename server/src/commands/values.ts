// fuselens values FILE --json [--verify]: runs the program's compiled graphs on the CPU executor over inputs that any
// implementation can make again, and prints what comes out. --verify runs each graph fused and unfused instead, and says
// of each output how far it is off, what it may be off, and whether it agrees.
import type { Program } from "@fuselens/compiler";
import { compileFile } from "../compile";
import { UsageError } from "../errors";
import { EXIT, statusOf } from "../exit_status";
import { parseCommand, requireFile, sessionOptions } from "../options";
import { serverPaths } from "../paths";
import { printDiagnostics } from "../render/diagnostics";
import { print, printError, printJson, terminalLine } from "../render/output";
import { agrees, toleranceOf } from "../worker/agreement";
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
      const graphs = await verify(program, compileFile(path, { ...options, unfused: true }), workers);
      if (line.values.json) printJson({ graphs });
      else print(verdictText(graphs));
      const same = graphs.every(g => g.outputs.every(o => o.agrees));
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

/** an output of a fused graph against that of the unfused one */
interface Verdict {
  readonly dtype: string;
  /** largest error, and largest error in relation to the element or to the output's mean magnitude */
  readonly maxAbs: number;
  readonly maxRel: number;
  /** what either of them may be */
  readonly tolerance: number;
  readonly agrees: boolean;
}

interface VerifiedGraph {
  readonly name: string;
  readonly kind: string;
  readonly outputs: readonly Verdict[];
}

async function verify(program: Program, unfused: Program, workers: WorkerPool): Promise<VerifiedGraph[]> {
  const graphs: VerifiedGraph[] = [];
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
    const outputs = result.pairs
      .flatMap(p => p.outputs)
      .map(o => ({ ...o, tolerance: toleranceOf(o.dtype), agrees: agrees(o) }));
    graphs.push({ name: c.graph.name, kind: c.graph.kind, outputs });
  }
  return graphs;
}

export function verdictText(graphs: readonly VerifiedGraph[]): string {
  const lines = graphs.flatMap(g => [
    `${g.name} (${g.kind}), fused against unfused:`,
    ...g.outputs.map((o, k) => {
      const off = o.maxAbs === 0 ? "the same" : `off by ${digits(o.maxAbs)}, ${digits(o.maxRel)} of its magnitude`;
      return `  output ${k} (${o.dtype}): ${o.agrees ? "agrees" : "DISAGREES"}: ${off} (tolerance ${digits(o.tolerance)})`;
    }),
  ]);
  const all = graphs.flatMap(g => g.outputs);
  const wrong = all.filter(o => !o.agrees).length;
  if (all.length === 1) lines.push(`the only output ${wrong === 0 ? "agrees" : "disagrees"}`);
  else lines.push(wrong === 0 ? `all ${all.length} outputs agree` : `of ${all.length} outputs, disagreeing: ${wrong}`);
  return `${lines.map(terminalLine).join("\n")}\n`;
}

/** three digits, which is more than an error needs */
const digits = (x: number): string => String(Number(x.toPrecision(3)));
