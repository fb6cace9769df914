// The fuzzers' command line: shares the time between the modes, prints what was tried as JSON, and exits with 1 where
// something was found.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allRecords } from "@fuselens/compiler/aten/registry";
import { runAsProgram } from "./entry";
import { Findings } from "./findings";
import { fuzzInjection } from "./injection/mode";
import { fuzzLsp } from "./lsp/mode";
import type { Context, Counts } from "./mode";
import { fuzzPython } from "./python/mode";
import { fuzzWorker } from "./worker/mode";

type Mode = (context: Context) => Promise<Counts>;

/** each with its share of the time */
const MODES: Readonly<Record<string, readonly [share: number, run: Mode]>> = {
  python: [5, context => fuzzPython(context, { spellings: spellings() })],
  injection: [2, fuzzInjection],
  lsp: [2, fuzzLsp],
  worker: [1, fuzzWorker],
};

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    options: {
      seconds: { type: "string", default: "60" },
      seed: { type: "string", default: "1" },
      only: { type: "string" },
      case: { type: "string" },
      cases: { type: "string" },
      trials: { type: "string", default: "200" },
      planted: { type: "boolean" },
    },
    allowPositionals: true,
  });
  const root = positionals[0] ?? process.cwd();
  const names = values.only?.split(",") ?? Object.keys(MODES);
  const unknown = names.find(n => !MODES[n]);
  if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(MODES).join(", ")}, not '${unknown}'`);
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  if (!(seconds > 0) || !Number.isInteger(seed))
    throw new Error("--seconds takes a positive number, --seed a whole one");
  const findings = new Findings(join(root, ".cache", "fuzz"));
  const total = names.reduce((n, name) => n + (MODES[name]?.[0] ?? 0), 0);
  const report: Record<string, Counts> = {};
  const slow: { cpuMs: number; input: string }[] = [];
  for (const name of names) {
    const [share, run] = MODES[name] as readonly [number, Mode];
    const end = Date.now() + (1000 * seconds * share) / total;
    let left = Number(values.cases ?? (values.case === undefined ? Number.POSITIVE_INFINITY : 1));
    report[name] = await run({
      root,
      seed,
      firstCase: Number(values.case ?? 0),
      trials: Number(values.trials),
      more: () => left-- > 0 && Date.now() < end,
      findings,
      corpus: corpus(root),
      pageScripts: join(__dirname, "webview"),
      compileChild: join(__dirname, "python", "compile_child.cjs"),
      slow: (cpuMs, input) => {
        slow.push({ cpuMs, input });
        slow.sort((x, y) => y.cpuMs - x.cpuMs).splice(5);
      },
    });
    console.error(`${name}: ${JSON.stringify(report[name])}`);
  }
  const found = findings.all.map(({ mode, kind, signature, times, seed: s, case: c }) => ({ mode, kind, signature, times, seed: s, case: c })); // biome-ignore format: one record
  console.log(JSON.stringify({ seed, seconds, modes: report, findings: found }, null, 1));
  if (process.env["FUSELENS_FUZZ_SLOW"])
    for (const s of slow) console.error(`-- ${s.cpuMs} ms\n${s.input.slice(0, 3000)}`);
  return findings.all.length ? 1 : 0;
}

function corpus(root: string): string[] {
  return ["examples", "test/programs"].flatMap(folder =>
    readdirSync(join(root, folder))
      .filter(f => f.endsWith(".py"))
      .sort()
      .map(f => readFileSync(join(root, folder, f), "utf8")),
  );
}

/** operators as a program would spell them */
function spellings(): string[] {
  const all = allRecords().flatMap(r => [...(r.python ?? []), `torch.ops.${r.name}`]);
  return [...new Set(all)].filter(s => /^(torch|Tensor)\.[\w.]+$/.test(s)).sort();
}

runAsProgram(main);
