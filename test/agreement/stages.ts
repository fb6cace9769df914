// A log by stage, without what differs from machine to machine.

import { ARTIFACTS, type Artifact } from "@fuselens/compiler/vocabulary";

const NO_STAGES: ReadonlySet<Artifact> = new Set(["graph_breaks", "recompiles", "scheduler_graph"]);

export const STAGES = ARTIFACTS.filter(a => !NO_STAGES.has(a));

/** which artifact a log record belongs to, by its first line */
function stageOf(first: string): string {
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
const plain = (line: string): string =>
  line
    .trimEnd()
    .replace(/File "[^"]*"/g, 'File "F"')
    .replace(/^(\s*#.*?) ?File: [^ ]*?([^/ ]+:\d+) in/, "$1 File: $2 in")
    .replace(/^ \S*(torch\/fx\/_lazy_graph_module.py|<eval_with_key>)\S* class/, " $1 class")
    .replace(/^(#|\/\/) kernel path:.*/, "# kernel path")
    .replace(/'backend_hash': '[0-9A-F]+'/, "'backend_hash': H")
    .replace(/'force_disable_caches': \w+/, "'force_disable_caches': C");

/** the log's records by stage, as lines without blank ones */
export function logStages(text: string, stages: readonly string[] = STAGES): Record<string, string[]> {
  const out: Record<string, string[]> = Object.fromEntries(stages.map(s => [s, []]));
  let current: string[] = [];
  const flush = (): void => {
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
