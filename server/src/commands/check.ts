// fuselens check FILE LOG: our decisions against a TORCH_LOGS log that the user recorded. Says per graph where they
// differ, on which lines, and what we know of the reason. Exit status 1 when they differ.
import { readFileSync } from "node:fs";
import type { ReportGraph } from "@fuselens/compiler";
import { compileFile } from "../compile";
import { UsageError } from "../errors";
import { EXIT } from "../exit_status";
import { parseCommand, requireFiles, sessionOptions } from "../options";
import { print, printJson, terminalLine } from "../render/output";
import { formatLines } from "../render/units";
import { type LoggedGraph, parseTorchLog } from "../torch_log";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("check", argv);
  const [path = "", log = ""] = requireFiles(line, ["FILE", "LOG"]);
  const options = sessionOptions(line.values);
  if (line.values.preset === undefined) options.preset = "torch-2.11";
  const logged = parseTorchLog(readFileSync(log, "utf8"));
  if (!logged.length)
    throw new UsageError(
      "the log holds no compiled graph; record it with TORCH_LOGS=fusion,output_code (and more artifacts if you like)",
    );
  const { graphs } = compileFile(path, options).report;
  const results = Array.from({ length: Math.max(graphs.length, logged.length) }, (_, i) =>
    compareGraph(i, graphs[i], logged[i]),
  );
  const differ = results.some(r => r.differences.length);
  if (line.values.json) printJson(results);
  else
    for (const r of results)
      print(
        [
          `graph ${r.graph} ${r.name}: ${r.differences.length ? "differs" : "the same"}`,
          ...r.differences.map(d => `  ${d}`),
        ]
          .map(l => `${terminalLine(l)}\n`)
          .join(""),
      );
  return differ ? EXIT.no : EXIT.fine;
}

interface Comparison {
  readonly graph: number;
  readonly name: string;
  readonly differences: readonly string[];
}

function compareGraph(graph: number, ours: ReportGraph | undefined, log: LoggedGraph | undefined): Comparison {
  const name = ours?.name ?? "?";
  if (!ours) return { graph, name, differences: ["in the log only"] };
  if (!log) return { graph, name, differences: ["not in the log"] };
  const differences: string[] = [];
  if (log.kernels) {
    const mine = ours.kernels.filter(k => k.type !== "NopKernelSchedulerNode").map(k => k.name);
    const [missing, extra] = difference(log.kernels, mine);
    for (const k of missing) differences.push(`kernel in the log only: ${k}`);
    for (const k of extra) {
      const kernel = ours.kernels.find(x => x.name === k);
      differences.push(`kernel of ours only: ${k} (lines ${formatLines(kernel?.lines ?? [])})`);
    }
  }
  if (log.nodes) {
    const mine = ours.kernels.map(k => k.nodes.join("_"));
    const [missing, extra] = difference(log.nodes, mine);
    for (const n of missing) differences.push(`fused in the log, not here: ${n}${whyNot(ours, n)}`);
    for (const n of extra)
      differences.push(
        `fused here, not in the log: ${n}${log.refusals.has(n) ? `: the log says ${log.refusals.get(n)}` : ""}`,
      );
  }
  return { graph, name, differences };
}

/** our refusal between two members of a node that the log fuses */
function whyNot(ours: ReportGraph, node: string): string {
  const members = new Set(node.split("_"));
  const r = ours.refusals.find(
    x => x.a.split("_").every(m => members.has(m)) && x.b.split("_").every(m => members.has(m)),
  );
  return r
    ? `: we say ${r.a} with ${r.b}: ${r.detail} (lines ${formatLines(r.lines[0])} | ${formatLines(r.lines[1])})`
    : "";
}

/** what only the first holds, what only the second, counted */
function difference(a: readonly string[], b: readonly string[]): [string[], string[]] {
  const left = [...b];
  const missing = a.filter(x => {
    const at = left.indexOf(x);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [missing, left];
}
