// Test helper: what torch 2.11 makes of single operators. In: test/recorded/operators.json.gz. Out: per snippet the
// graph that AOTAutograd gets and the joint or inference graph it gives, with ours beside it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { aotCompile } from "../../aot/compile";
import { frameOf } from "../../aot/testing/replay";
import { type FxGraph, FxNode } from "../../fx/graph";
import { statementText } from "../../fx/print";
import { parseLog } from "../../fx/testing/parse_printed";
import { itemsOf } from "../../passes/edit";

export interface RecordedOperator {
  /** the body of a function of the inputs */
  readonly code: string;
  /** "x:f[4,64] y:i[4]": f float32, h float16, b bfloat16, i int64, B bool, c complex64; names in n want no gradient */
  readonly inputs: string;
  readonly trainPre?: string;
  readonly requiresGrad?: readonly boolean[];
  readonly joint?: string;
  readonly inferPre?: string;
  readonly infer?: string;
  /** for each call of the joint or inference graph the operator that it was before it was decomposed, "-" for none */
  readonly jointOrigins?: string;
  readonly inferOrigins?: string;
  /** example sizes of the graph's symbols */
  readonly hints?: Readonly<Record<string, number>>;
}

const FOLDER = join(__dirname, "../../../../test/recorded");

/** snippets on known sizes, or compiled with dynamic=True */
export function recordedOperators(sizes: "static" | "dynamic"): readonly RecordedOperator[] {
  const file = join(FOLDER, sizes === "static" ? "operators.json.gz" : "operators_dynamic.json.gz");
  if (!existsSync(file)) return [];
  return JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as RecordedOperator[];
}

/** Statements with values numbered in order, for graphs whose names also count arithmetic that left no node. */
export function withoutNames(statements: readonly string[]): string[] {
  const numbers = new Map<string, string>();
  return statements.map(s => {
    const known = s.replace(/(?<![.\w"])[a-z_]\w*\b(?!\s*[=(])/g, w => numbers.get(w) ?? w);
    const name = /^(\w+)(: "[^"]*")? = /.exec(s)?.[1];
    if (name === undefined) return known;
    const number = `v${numbers.size}`;
    numbers.set(name, number);
    return known.replace(/^\w+/, number);
  });
}

function logRecord(title: string, text: string): string[] {
  const lines = text.trimEnd().split("\n");
  return ["TRACED GRAPH", ` ===== ${title} =====`, ` torch/fx.py ${lines[0]?.trim()}`, ...lines.slice(1)];
}

/** The statements of a printed graph, without liveness, and its return line. */
function recordedStatements(text: string): string[] {
  return text
    .split("\n")
    .map(l => l.trim().replace(/; {2}[\w =]+ = None$/, ""))
    .filter(l => / = |^return /.test(l) && !/tree_flatten_spec|^(def|class|primals_1:) ?/.test(l))
    .map(l => l.replace(/^return pytree\.tree_unflatten\((.*), self\._out_spec\)$/, "return $1"))
    .map(l => (l.startsWith("return ") ? l.replace(/^return [[(](.*?),?[\])]$/, "return $1") : l));
}

function ourStatements(graph: FxGraph): string[] {
  const body = graph.nodes.filter(n => n.op !== "placeholder" && n.op !== "output").map(statementText);
  const text = itemsOf(graph.output.args[0]).map(x => (x instanceof FxNode ? x.name : "None"));
  return [...body, `return ${text.join(", ")}`];
}

export interface Comparison {
  readonly recorded: readonly string[];
  readonly ours: readonly string[];
  /** the operators before decomposition that our calls come from */
  readonly origins: readonly string[];
  /** a diagnostic or an exception instead of a graph */
  readonly error?: string;
}

/** Our joint (or inference) graph for a recorded snippet beside torch's. undefined: nothing recorded in that mode. */
export function compare(r: RecordedOperator, mode: "joint" | "infer"): Comparison | undefined {
  const [pre, wanted] = mode === "joint" ? [r.trainPre, r.joint] : [r.inferPre, r.infer];
  if (pre === undefined || wanted === undefined) return undefined;
  const recorded = recordedStatements(wanted);
  try {
    const grads = mode === "joint" ? (r.requiresGrad ?? []) : [];
    const config = `aot_config ${grads.map(g => `InputAliasInfo(requires_grad=${g ? "True" : "False"})`).join(", ")}`;
    const [printed] = parseLog([...logRecord("BEFORE PRE GRAD", pre), config].join("\n"));
    if (printed === undefined) throw new Error("no graph");
    const hints = new Map(Object.entries(r.hints ?? {}));
    const frame = { ...frameOf(printed, hints), gradEnabled: mode === "joint" };
    const result = aotCompile(frame, { keepTraced: true });
    if (result.kind === "error")
      return { recorded, ours: [], origins: [], error: result.diagnostics.map(d => d.message).join("; ") };
    const graph = result.kind === "train" ? result.joint : result.graph;
    const calls = graph?.nodes.filter(n => n.op === "call_function") ?? [];
    const origins = calls.map(n => n.meta.originalAten ?? "-");
    return { recorded, ours: graph === null ? [] : ourStatements(graph), origins };
  } catch (e) {
    return { recorded, ours: [], origins: [], error: e instanceof Error ? `${e.message}` : String(e) };
  }
}
