// Test helper: what torch 2.11 lowers post-grad graphs of single operators to. In: test/recorded/operator_loops.json.gz.
// Out: per graph the scheduler nodes before fusion as torch dumped them (without users and dependencies), ours beside it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parseLog } from "../../../fx/testing/parse_printed";
import { defaultBehaviours, defaultConfig } from "../../../presets";
import { schedule } from "../../scheduler/schedule";
import { InternTable, withInternTable } from "../../symbolic";
import { targetByName } from "../target";
import { lowerPrinted } from "./recorded_lowering";

export interface RecordedLoops {
  /** the body of a function of the inputs, and their dtypes and shapes: aten/testing/recorded_operators.ts */
  readonly code: string;
  readonly inputs: string;
  readonly kind: "inference" | "forward" | "backward";
  /** the printed post-grad graph */
  readonly graph: string;
  readonly loops: string;
  /** forward and backward: results that are the user's, not saved */
  readonly outputs?: number;
  /** backward: inputs whose memory may be used again */
  readonly donated?: readonly number[];
  /** example sizes of the graph's symbols */
  readonly hints?: Readonly<Record<string, number>>;
}

const FOLDER = join(__dirname, "../../../../../test/recorded");

/** graphs over known sizes, or over those of dynamic=True */
export function recordedLoops(sizes: "static" | "dynamic"): readonly RecordedLoops[] {
  const file = join(FOLDER, sizes === "static" ? "operator_loops.json.gz" : "operator_loops_dynamic.json.gz");
  if (!existsSync(file)) return [];
  return JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as RecordedLoops[];
}

const LEFT_OUT =
  /^\s*(op\d+\.(unmet|met|group|outputs|writes)|\w+_layout|get_index|NodeUser|\]|buf\d+\.users|.*MemoryDep|.*StarDep)/;

/** our scheduler nodes, printed like the record's. @throws what lowering throws */
export function ourLoops(r: RecordedLoops): string {
  return withInternTable(new InternTable(), () => {
    const lines = r.graph.trimEnd().split("\n");
    const record = ["TRACED GRAPH", " ===== BEFORE PRE GRAD =====", ` torch/fx.py ${lines[0]?.trim()}`];
    const [frame] = parseLog([...record, ...lines.slice(1)].join("\n"));
    if (frame === undefined) throw new Error("no graph in the record");
    const lowered = lowerPrinted(
      frame.pre.graph,
      r.kind,
      r.outputs ?? 0,
      r.donated ?? [],
      new Map(Object.entries(r.hints ?? {})),
    );
    const { preFusionDump } = schedule(lowered, {
      config: defaultConfig("torch-2.11"),
      behaviours: defaultBehaviours("torch-2.11"),
      target: targetByName("h200"),
      wantDumps: true,
    });
    const kept = (preFusionDump ?? "").split("\n").filter(l => !LEFT_OUT.test(l));
    return kept
      .map(l => l.trim())
      .filter(l => l)
      .join("\n");
  });
}
