#!/usr/bin/env node
// Compares what FuseLens logs of programs, under preset torch-2.11, with logs of torch 2.11, line for line.
//
//   node test/tools/agree_logs.mjs [--programs FOLDER] [--logs FOLDER] [--only PATTERN] [--stage pre_grad_graphs,fusion] [--show N]
//
// FOLDERs hold NAME.py and NAME.log; the logs come from test/recorder/record.py. Default: programs/ and recorded/logs/ below
// FUSELENS_TRUTH, or ../shared/truth. A program is the same when every line of every stage is. Prints what differs, N lines of
// each stage with --show, then the totals.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCompiler, loadSource } from "../../scripts/sources.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const option = name => {
  const i = process.argv.indexOf(name);
  return i < 0 ? undefined : process.argv[i + 1];
};
const truth = process.env.FUSELENS_TRUTH ?? join(root, "..", "shared", "truth");
const programs = resolve(option("--programs") ?? join(truth, "programs"));
const logs = resolve(option("--logs") ?? join(truth, "recorded", "logs"));
const only = new RegExp(option("--only") ?? "");
const { STAGES, logStages } = await loadSource("test/agreement/stages.ts");
const stages = option("--stage")?.split(",") ?? STAGES;
const show = Number(option("--show") ?? 0);
if (!existsSync(logs)) {
  console.log(`no logs at ${logs}: nothing compared`);
  process.exit(0);
}

const { Session, defaultSessionOptions } = await loadCompiler();
const { formatRecord } = await loadSource("compiler/src/vocabulary.ts");

function ours(name) {
  const read = path => (path === name ? readFileSync(join(programs, name), "utf8") : undefined);
  const options = { ...defaultSessionOptions(), preset: "torch-2.11", target: "h200", artifacts: new Set(stages) };
  const program = new Session(read, options).run(name);
  return program.events.map(e => (e.kind === "log" ? `${formatRecord(e.record, program.logFormat)}\n` : "")).join("");
}

const names = readdirSync(programs)
  .filter(f => f.endsWith(".py") && only.test(f) && existsSync(join(logs, f.replace(/\.py$/, ".log"))))
  .map(f => f.slice(0, -3))
  .sort();
const totals = Object.fromEntries(stages.map(s => [s, 0]));
let same = 0;
for (const name of names) {
  const want = logStages(readFileSync(join(logs, `${name}.log`), "utf8"), stages);
  const got = logStages(ours(`${name}.py`), stages);
  const notes = [];
  for (const stage of stages) {
    const [w, g] = [want[stage], got[stage]];
    const at = w.findIndex((l, i) => l !== g[i]);
    if (at < 0 && w.length === g.length) {
      totals[stage]++;
      continue;
    }
    notes.push(`${stage}: differs at line ${at < 0 ? w.length : at} of ${w.length} (${g.length} printed)`);
    const from = at < 0 ? w.length : at;
    for (let i = from, n = 0; n < show && i < Math.max(w.length, g.length); i++)
      if (w[i] !== g[i]) {
        notes.push(`    - ${w[i] ?? ""}`, `    + ${g[i] ?? ""}`);
        n++;
      }
  }
  if (notes.length) console.log(`${name}\n  ${notes.join("\n  ")}`);
  else same++;
}
console.log(`${same}/${names.length} the same; ${stages.map(s => `${s} ${totals[s]}/${names.length}`).join(", ")}`);
