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
const STAGES =
  "pre_grad_graphs,aot_joint_graph,aot_graphs,post_grad_graphs,ir_pre_fusion,fusion,ir_post_fusion,schedule,output_code";
const stages = (option("--stage") ?? STAGES).split(",");
const show = Number(option("--show") ?? 0);
if (!existsSync(logs)) {
  console.log(`no logs at ${logs}: nothing compared`);
  process.exit(0);
}

/** which artifact a log record belongs to, by its first line */
function stageOf(first) {
  const message = first.replace(/^\[[A-Z]+\]:/, "");
  if (/^BEFORE FUSION/.test(message)) return "ir_pre_fusion";
  if (/^AFTER FUSION/.test(message)) return "ir_post_fusion";
  if (/^Schedule:/.test(message)) return "schedule";
  if (/^Output code/.test(message)) return "output_code";
  if (
    /^(=====|fuse_nodes_once| {2}(Scheduler|Fused|Extern|Nop|Foreach)|cannot fuse|found \d|fusing |completed fusion|can fuse|.*attempting to reorder|loop order|Don't reorder)/.test(
      message,
    )
  )
    return "fusion";
  if (/BEFORE PRE GRAD/.test(message)) return "pre_grad_graphs";
  if (/===== Joint graph/.test(message)) return "aot_joint_graph";
  if (/===== (Forward|Backward) graph/.test(message)) return "aot_graphs";
  if (/AFTER POST GRAD/.test(message)) return "post_grad_graphs";
  return "other";
}

/** a line without what differs from machine to machine */
const plain = line =>
  line
    .trimEnd()
    .replace(/File "[^"]*"/g, 'File "F"')
    .replace(/^(\s*#.*?) ?File: [^ ]*?([^/ ]+:\d+) in/, "$1 File: $2 in")
    .replace(/^ \S*(torch\/fx\/_lazy_graph_module.py|<eval_with_key>)\S* class/, " $1 class")
    .replace(/^(#|\/\/) kernel path:.*/, "# kernel path")
    .replace(/'backend_hash': '[0-9A-F]+'/, "'backend_hash': H")
    .replace(/'force_disable_caches': \w+/, "'force_disable_caches': C");

/** the log's records by stage, as lines without blank ones */
function records(text) {
  const out = Object.fromEntries(stages.map(s => [s, []]));
  let current = [];
  const flush = () => {
    const warning = current.findIndex(l => /^\S+\.py:\d+: \w*Warning:/.test(l));
    if (warning >= 0) current.length = warning;
    const first = current[0] ?? "";
    out[stageOf(first + (/TRACED GRAPH$/.test(first) ? (current[1] ?? "") : ""))]?.push(...current);
    current = [];
  };
  for (const line of text.split("\n")) {
    if (/^\[(DEBUG|INFO|WARNING)\]:/.test(line)) flush();
    if (line.trim() && !/Output code written to:/.test(line)) current.push(plain(line));
  }
  flush();
  return out;
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
  const want = records(readFileSync(join(logs, `${name}.log`), "utf8"));
  const got = records(ours(`${name}.py`));
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
