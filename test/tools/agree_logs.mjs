#!/usr/bin/env node
// Compares stage dumps with recorded logs of torch 2.11, line for line.
//
//   node test/tools/agree_logs.mjs [--family pointwise,reduce] [--only NAME] [--stage ir_pre_fusion,fusion] [--show N]
//
// Needs the logs: FUSELENS_TRUTH (a folder with programs/ and recorded/logs/), default ../shared/truth. A program is
// the same when every line of every stage is. Prints a line per program that differs, then the total.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const truth = process.env.FUSELENS_TRUTH ?? join(root, "..", "shared", "truth");
const option = name => {
  const i = process.argv.indexOf(name);
  return i < 0 ? undefined : process.argv[i + 1];
};
const families = option("--family")?.split(",");
const stages = (option("--stage") ?? "ir_pre_fusion,fusion,ir_post_fusion,schedule").split(",");
const show = Number(option("--show") ?? 0);
if (!existsSync(truth)) {
  console.log(`no logs at ${truth}: nothing compared`);
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

/** the log's records of one stage, as lines without trailing blanks */
function records(text, stage) {
  const out = [];
  let current = [];
  const flush = () => {
    if (current.length && stageOf(current[0] + (/TRACED GRAPH$/.test(current[0]) ? (current[1] ?? "") : "")) === stage)
      out.push(...current);
    current = [];
  };
  for (const line of text.split("\n")) {
    if (/^\[(DEBUG|INFO|WARNING)\]:/.test(line)) flush();
    current.push(line.trimEnd());
  }
  flush();
  while (out.length && !out[out.length - 1]) out.pop();
  return out
    .filter(l => l !== "")
    .map(l =>
      l
        .replace(/File "[^"]*"/g, 'File "F"')
        .replace(/# File: [^ ]*?([^/ ]+:\d+) in/, "# File: $1 in")
        .replace(/^(#|\/\/) kernel path:.*/, "# kernel path")
        .replace(/'backend_hash': '[0-9A-F]+'/, "'backend_hash': H")
        .replace(/written to: .*/, "written to"),
    );
}

const names = readdirSync(join(truth, "programs"))
  .filter(f => f.endsWith(".py"))
  .map(f => f.slice(0, -3))
  .filter(n => (!families || families.includes(n.split("_")[0])) && (!option("--only") || n === option("--only")))
  .sort();
const totals = Object.fromEntries(stages.map(s => [s, [0, 0]]));
let same = 0;
for (const name of names) {
  const log = readFileSync(join(truth, "recorded", "logs", `${name}.log`), "utf8");
  let all = true;
  const notes = [];
  for (const stage of stages) {
    const want = records(log, stage);
    let got = [];
    try {
      got = records(
        execFileSync(
          process.execPath,
          [
            join(root, "server", "bin", "fuselens.cjs"),
            "emit",
            join(truth, "programs", `${name}.py`),
            "--preset",
            "torch-2.11",
            "--target",
            "h200",
            "--stage",
            stage,
          ],
          { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 },
        ),
        stage,
      );
    } catch {
      notes.push(`${stage}: no output`);
    }
    const equal = want.length === got.length && want.every((l, i) => l === got[i]);
    totals[stage][1]++;
    if (equal) totals[stage][0]++;
    else {
      all = false;
      const at = want.findIndex((l, i) => l !== got[i]);
      notes.push(`${stage}: differs at line ${at < 0 ? want.length : at} of ${want.length} (${got.length} printed)`);
      for (let i = at; show && i >= 0 && i < Math.min(at + show, want.length); i++)
        if (want[i] !== got[i]) notes.push(`    - ${want[i]}`, `    + ${got[i] ?? ""}`);
    }
  }
  if (all) same++;
  else console.log(`${name}\n  ${notes.join("\n  ")}`);
}
console.log(`${same}/${names.length} the same; ${stages.map(s => `${s} ${totals[s].join("/")}`).join(", ")}`);
