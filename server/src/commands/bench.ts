// fuselens bench FILE [--worker ENDPOINT] [--keys DIR] [--against eager,compile] [--json]
import { relative } from "node:path";
import { compileFile } from "../compile";
import { UsageError } from "../errors";
import { statusOf } from "../exit_status";
import { parseCommand, requireFile, sessionOptions } from "../options";
import { serverPaths } from "../paths";
import { printDiagnostics } from "../render/diagnostics";
import { print, printError, printJson, terminalLine } from "../render/output";
import { formatBandwidth, formatTime } from "../render/units";
import { type BenchmarkSummary, benchmarkGraphs, DEFAULT_BENCHMARK } from "../worker/benchmark";
import { JobError } from "../worker/job";
import { WorkerPool } from "../worker/pool";

const RIVALS = ["eager", "compile"] as const;

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("bench", argv);
  const path = requireFile(line);
  const against = parseAgainst(line.values["against"]);
  const seconds = Number(line.values["seconds"] ?? DEFAULT_BENCHMARK.seconds);
  if (!(seconds > 0)) throw new UsageError("--seconds takes a positive number");
  const program = compileFile(path, { ...sessionOptions(line.values), wat: true });
  printDiagnostics(program.diagnostics, path);
  if (!program.compilations.length)
    throw new UsageError(`${relative(process.cwd(), path)} compiles nothing, so there is nothing to benchmark`);
  const workers = new WorkerPool({ workerFile: serverPaths().worker, log: printError });
  workers.configure({ endpoint: asText(line.values["worker"]), trusted: true, keys: asText(line.values["keys"]) });
  try {
    const settings = { ...DEFAULT_BENCHMARK, seconds, against, fresh: line.values["fresh"] === true };
    const summary = await benchmarkGraphs(workers, program.compilations, settings, {});
    if (line.values["json"]) printJson(summary.graphs);
    else print(tableText(summary));
    const untold = against.filter(name => summary.graphs.some(g => !g.result.against[name]));
    if (untold.length)
      printError(`fuselens: not timed against ${untold.join(" and ")}: that takes a worker with PyTorch`);
    return statusOf(program.diagnostics);
  } catch (e) {
    if (e instanceof JobError) throw new UsageError(`${e.message} [${e.code}]`);
    throw e;
  } finally {
    await workers.dispose();
  }
}

function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function parseAgainst(value: unknown): (typeof RIVALS)[number][] {
  if (value === undefined) return [];
  return String(value)
    .split(",")
    .map(name => {
      const rival = RIVALS.find(r => r === name);
      if (!rival) throw new UsageError(`--against takes ${RIVALS.join(" and ")}, not '${name}'`);
      return rival;
    });
}

function tableText(summary: BenchmarkSummary): string {
  const out: string[] = [];
  for (const g of summary.graphs) {
    const r = g.result;
    const share = r.shareOfCopy === null ? "" : ` (${Math.round(100 * r.shareOfCopy)}% of copy)`;
    out.push(
      `${g.name} (${g.kind}) on ${r.where}: median ${formatTime(r.graph.medianUs)}, p20 ${formatTime(r.graph.p20Us)}, p80 ${formatTime(r.graph.p80Us)}, ${r.graph.count} runs, ${formatBandwidth(r.graph.bytesPerSecond)}${share}${r.maxError === null ? "" : `, max err ${r.maxError.toExponential(1)}`}`,
    );
    for (const k of r.kernels)
      out.push(
        `  ${k.name}: ${formatTime(k.medianUs)}, ${k.bytesPerSecond ? `${formatBandwidth(k.bytesPerSecond)}, ` : ""}${k.count} runs`,
      );
    for (const [name, t] of Object.entries(r.against))
      out.push(`  against ${name}: ${formatTime(t.medianUs)}, ${(t.medianUs / r.graph.medianUs).toFixed(2)}x`);
  }
  for (const s of summary.skipped) out.push(`${s.name} can't be benchmarked: ${s.reason}`);
  return `${out.map(terminalLine).join("\n")}\n`;
}
