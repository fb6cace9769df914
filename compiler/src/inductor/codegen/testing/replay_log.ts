// Test only. In: a recorded TORCH_LOGS log. Out: per compiled graph, the schedule that its AFTER FUSION dump shows and
// the output code that torch made of it. Promises: nothing is decided here; what a dump lacks is taken from the output.

import { FxGraph } from "../../../fx/graph";
import { defaultBehaviours, defaultConfig, type PresetName } from "../../../presets";
import { DEFAULT_TARGET } from "../../ir/target";
import type { LoweredGraph, Operation } from "../../ir/types";
import { makeGroup } from "../../scheduler/groups";
import { computeLastUsage } from "../../scheduler/last_usage";
import { computeAncestors, computeDependencies, createNodes } from "../../scheduler/nodes";
import { membersOf, newState, type SchedulerState } from "../../scheduler/state";
import { parseDump } from "../../scheduler/testing/parse_dump";
import { parseExpr, parseSymbol } from "../../scheduler/testing/parse_expr";
import type { AnyNode, Schedule, SchedulerNode } from "../../scheduler/types";
import { type Expr, int, mul } from "../../symbolic/expr";

export interface ExpectedKernel {
  readonly name: string;
  /** from `def` on */
  readonly body: readonly string[];
  readonly decorator: readonly string[];
}

export interface ReplayedGraph {
  readonly schedule: Schedule;
  readonly outputCode: string;
  readonly kernels: readonly ExpectedKernel[];
}

/** members of the first one's extent, and the others: a dump lists them all in a row */
function splitHalves(s: SchedulerState, members: readonly AnyNode[]): readonly [AnyNode, AnyNode] {
  const [first] = members;
  if (!first) throw new Error("a group needs members");
  const sv = s.sizevars;
  const [n, r] = first.group;
  const fits = (m: AnyNode): boolean => {
    const [a, b] = m.group;
    return (
      (sv.knownEquals(a, n) && (sv.knownEquals(b, r) || sv.knownEquals(b, 1))) ||
      (sv.knownEquals(a, mul(n, r)) && sv.knownEquals(b, 1))
    );
  };
  const half = (list: readonly AnyNode[]): AnyNode => {
    const [only] = list;
    if (!only) throw new Error("an empty half");
    return list.length === 1 ? only : makeGroup(s, "FusedSchedulerNode", list);
  };
  return [half(members.filter(fits)), half(members.filter(m => !fits(m)))];
}

interface Header {
  readonly name: string;
  readonly type: string;
  readonly members: Header[];
  readonly block: string;
}

/** nodes of a dump with their members, by indentation of names only: "X.snodes[i] =" starts a member */
function parseHeaders(dump: string): Header[] {
  const blocks = dump
    .split(/\n\n\n+/)
    .map(b => b.replace(/^\n+|\n+$/g, ""))
    .filter(b => b !== "");
  return blocks.map(parseBlock);
}

function parseBlock(block: string): Header {
  const head = /^(\w+): (\w+)\(/.exec(block);
  if (!head?.[1] || !head[2]) throw new Error(`block ${block.slice(0, 60)}`);
  const [, name, type] = head;
  const lines = block.split("\n");
  const starts = lines.flatMap((l, i) => (l.startsWith(`${name}.snodes[`) ? [i] : []));
  const members = starts.map((at, i) => parseBlock(lines.slice(at + 1, starts[i + 1] ?? lines.length).join("\n")));
  return { name, type, members, block };
}

const singles = (h: Header): Header[] => (h.members.length ? h.members.flatMap(singles) : [h]);

export function replayLog(log: string, preset: PresetName): ReplayedGraph[] {
  const graphs: ReplayedGraph[] = [];
  const parts = log.split(/^\[INFO\]:AFTER FUSION\n/m);
  for (let i = 1; i < parts.length; i++) {
    const before = parts[i - 1] ?? "";
    const part = parts[i] ?? "";
    const end = part.search(/^\[(DEBUG|INFO)\]:/m);
    const code = /^\[DEBUG\]:Output code: ?\n([\s\S]*?)\n\[DEBUG\]:Output code written/m.exec(part)?.[1] ?? "";
    const graphText =
      /def forward\(.*/.exec(before.slice(Math.max(0, before.lastIndexOf("AFTER POST GRAD"))))?.[0] ?? "";
    graphs.push(replay(part.slice(0, end), graphText, before, code, preset));
  }
  return graphs;
}

function replay(dump: string, graphText: string, before: string, code: string, preset: PresetName): ReplayedGraph {
  const headers = parseHeaders(dump);
  const flat = headers.flatMap(singles);
  const hints = new Map<string, number>();
  const bound = new Map([...code.matchAll(/^ {8}(s\d+|u\d+) = (\w+)$/gm)].map(m => [m[2] ?? "", m[1] ?? ""]));
  for (const m of code.matchAll(/^ {4}(\w+) = (\d+)$/gm)) {
    const symbol = bound.get(m[1] ?? "");
    if (symbol) hints.set(symbol, Number(m[2]));
  }
  const kind = /AOT ID: \['\d+_(\w+)'\]/.exec(code)?.[1] ?? "inference";
  const parsed = parseDump(flat.map(h => h.block).join("\n\n\n"), {
    graphText,
    hints,
    kind: kind as LoweredGraph["kind"],
  });
  // symbols come as inputs of their own
  const symbolic = [...bound].map(([name, symbol]) => ({
    name,
    layout: null,
    symbol: parseSymbol(symbol),
    hint: hints.get(symbol) ?? 0,
  }));
  const kernels = parseKernels(code);
  const origins = parseOrigins(before);
  const donated = new Set(
    kind === "backward" ? parsed.inputs.map(i => i.name).filter(n => !/^(primals|tangents)_/.test(n)) : [],
  );
  const outputs = parseReturn(code);
  const graph: LoweredGraph = {
    ...parsed,
    outputs,
    inputs: inArgOrder([...symbolic, ...parsed.inputs.filter(i => !bound.has(i.name))], code),
    donated,
    operations: parsed.operations.map(op => withOrigins(op, origins)),
  };
  // Dumps after fusion hold normalised loops and dependencies.
  const config = defaultConfig(preset, [["loop_ordering_after_fusion", false]]);
  const s = newState(graph, { config, behaviours: defaultBehaviours(preset), target: DEFAULT_TARGET });
  const created = createNodes(s);
  const launches = [...code.matchAll(/^\s+(triton_\w+)\.run\(/gm)].map(m => kernels.find(k => k.name === m[1]));
  computeDependencies(s, created);
  computeAncestors(s, created);
  const byName = new Map<string, SchedulerNode>(created.map(n => [n.name, n]));
  const build = (h: Header): AnyNode => {
    const own = byName.get(h.name);
    if (h.members.length === 0) {
      if (!own) throw new Error(`no node ${h.name}`);
      return own;
    }
    const members = h.members.map(build);
    const halves =
      h.type === "FusedMixOrderReductions" || h.type === "FusedNestedReductions" ? splitHalves(s, members) : undefined;
    const combo = preset !== "torch-2.11" && h.type === "ForeachKernelSchedulerNode";
    return makeGroup(s, h.type as Parameters<typeof makeGroup>[1], members, { halves, combo });
  };
  const nodes = headers.map(build);
  nodes
    .filter(n => n.type !== "ExternKernelSchedulerNode" && n.type !== "NopKernelSchedulerNode")
    .forEach((n, i) => {
      withHints(n, /ReductionHint\.(\w+)/.exec(launches[i]?.decorator.join("\n") ?? "")?.[1]);
    });
  s.nodes = nodes;
  computeLastUsage(s, nodes);
  const schedule: Schedule = {
    graph,
    layouts: [],
    preFusionDump: null,
    postFusionDump: null,
    events: [],
    refusals: [],
    nodes,
    buffers: s.buffers,
    mutationRealName: s.mutationRealName,
    mutationRenames: s.mutationRenames,
    removedOps: new Set(),
    bytes: new Map(),
    totalBytes: 0,
    peakMemory: 0,
  };
  return { schedule, outputCode: code, kernels };
}

/** inputs in the order in which `call` takes them */
function inArgOrder(inputs: LoweredGraph["inputs"], code: string): LoweredGraph["inputs"] {
  const names = (/^ {8}(\w+(?:, \w+)*),? = args$/m.exec(code)?.[1] ?? "").split(", ");
  return names.flatMap(n => inputs.find(i => i.name === n) ?? []);
}

/** what `call` returns: buffers and views of them */
function parseReturn(code: string): LoweredGraph["outputs"] {
  const call = code.slice(code.indexOf("def call("));
  const text = /^ {8}return \((.*)\)$/m.exec(call)?.[1] ?? "";
  const outputs: LoweredGraph["outputs"][number][] = [];
  for (const m of text.matchAll(/reinterpret_tensor\((\w+), \(([^)]*)\), \(([^)]*)\), ([^)]*)\)|(\w+)/g)) {
    const list = (t: string): Expr[] =>
      t
        .split(",")
        .map(x => x.trim())
        .filter(x => x !== "")
        .map(parseExpr);
    if (m[5] === "None") outputs.push(null);
    else if (m[5]) outputs.push({ buffer: m[5], size: [], stride: [], offset: int(0), dtype: "float32", whole: true });
    else
      outputs.push({
        buffer: m[1] ?? "",
        size: list(m[2] ?? ""),
        stride: list(m[3] ?? ""),
        offset: parseExpr(m[4] ?? "0"),
        dtype: "float32",
        whole: false,
      });
  }
  return outputs;
}

/** the hint that lowering gave, as far as the kernel's decorator shows it */
function withHints(node: AnyNode, hint: string | undefined): void {
  for (const m of membersOf(node)) {
    const op = m.operation;
    if (hint && op.kind === "computed" && "hint" in op.loops) Object.assign(op.loops, { hint });
  }
}

/** origins of each operation as the fusion log names them */
function parseOrigins(text: string): Map<string, string[]> {
  const origins = new Map<string, string[]>();
  for (const m of text.matchAll(
    /SchedulerNode\(name=\\?'(\w+)\\?'\), \w+\(\[[^\n]*?origins=OrderedSet\(\[([^\]]*)\]\)/g,
  )) {
    const [, op = "", list = ""] = m;
    if (!origins.has(op))
      origins.set(
        op,
        list.split(", ").filter(x => x !== ""),
      );
  }
  return origins;
}

function withOrigins(op: Operation, origins: ReadonlyMap<string, readonly string[]>): Operation {
  const graph = new FxGraph();
  const names = origins.get(op.name) ?? [];
  const nodes = names.map(n =>
    graph.create("call_function", n, [], new Map(), { stack: [], fromNode: [] }, { candidate: n }),
  );
  return { ...op, origins: nodes } as Operation;
}

function parseKernels(code: string): ExpectedKernel[] {
  const kernels: ExpectedKernel[] = [];
  const lines = code.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const m = /^def (triton_\w+)\(/.exec(lines[i] ?? "");
    if (!m?.[1]) continue;
    let at = i;
    while (at > 0 && !(lines[at] ?? "").startsWith("@triton_heuristics")) at--;
    const body: string[] = [];
    for (let j = i; j < lines.length && (j === i || /^( |$)/.test(lines[j] ?? "")); j++) body.push(lines[j] ?? "");
    while (body[body.length - 1] === "") body.pop();
    kernels.push({ name: m[1], body, decorator: lines.slice(at, i - 1) });
  }
  return kernels;
}
