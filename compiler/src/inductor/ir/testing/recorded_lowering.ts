// Test only. In: a recorded log. Out: its post-grad graphs lowered anew, each beside the dump that torch made of it.
// Promises: only what the log prints is used; results that it does not print (tuples) are worked out by meta rules.
import { makeArgs } from "../../../aten/args";
import { bindArguments } from "../../../aten/bind";
import { guardsOf, isExpr } from "../../../aten/dim_math";
import { makeMetaBuilder } from "../../../aten/meta_builder";
import { lookup } from "../../../aten/registry";
import { parseSchema } from "../../../aten/schema";
import type { ArgValue, TensorMeta } from "../../../aten/types";
import { type FxGraph, FxNode } from "../../../fx/graph";
import { parseConfig, parseLog } from "../../../fx/testing/parse_printed";
import { type Argument, type FakeTensor, type FakeValue, TupleArg } from "../../../fx/types";
import { defaultBehaviours, defaultConfig } from "../../../presets";
import { type RecordedGraph, splitLog } from "../../scheduler/testing/recorded";
import { freeSymbols, int, type SymExpr } from "../../symbolic/expr";
import { SizeVars } from "../../symbolic/size_vars";
import { tensorMeta } from "../constraints";
import { lowerGraph } from "../graph_lowering";
import { targetByName } from "../target";
import type { LoweredGraph } from "../types";

/** example sizes of the recorded programs with symbols */
export const HINTS: ReadonlyMap<string, number> = new Map([
  ["s77", 1000],
  ["s27", 128],
  ["s94", 256],
  ["s53", 32],
]);

export interface RecordedLowering {
  readonly kind: LoweredGraph["kind"];
  readonly recorded: RecordedGraph;
  readonly lower: () => LoweredGraph;
}

export function recordedLowerings(log: string, hints: ReadonlyMap<string, number> = HINTS): RecordedLowering[] {
  const out: RecordedLowering[] = [];
  const graphs = splitLog(log);
  for (const frame of parseLog(log)) {
    for (const post of frame.post) {
      const recorded = graphs.find(g => g.graphText.includes(post.text.slice(post.text.indexOf("=====")).trimEnd()));
      if (recorded === undefined) continue;
      const inputs = post.graph.placeholders().map(p => p.name);
      const kind = inputs.some(n => n.startsWith("tangents_"))
        ? "backward"
        : inputs.some(n => n.startsWith("primals_"))
          ? "forward"
          : "inference";
      const outputs = (frame.config.match(/OutputAliasInfo\(/g) ?? []).length;
      out.push({
        kind,
        recorded,
        lower: () =>
          lowerPrinted(post.graph, kind, outputs, kind === "backward" ? parseConfig(frame.config).donated : [], hints),
      });
    }
  }
  return out;
}

/** lowers a printed post-grad graph; `userOutputs` counts the results that are not saved for the backward pass */
export function lowerPrinted(
  graph: FxGraph,
  kind: LoweredGraph["kind"],
  userOutputs: number,
  donated: readonly number[],
  hints: ReadonlyMap<string, number>,
): LoweredGraph {
  const sizevars = new SizeVars();
  for (const s of inputSymbols(graph)) sizevars.shapeEnv.hints.set(s, hints.get(s.name) ?? 8);
  fillMetas(graph, sizevars);
  const returned = (
    graph.output.args[0] instanceof TupleArg ? graph.output.args[0].items : graph.output.args[0]
  ) as readonly Argument[];
  const visible = returned.map((a, i): FakeTensor | null => {
    const v = a instanceof FxNode ? a.meta.val : null;
    const isTensor = v !== null && v !== undefined && typeof v === "object" && "shape" in v;
    return isTensor && (kind !== "forward" || i < userOutputs) ? (v as FakeTensor) : null;
  });
  return lowerGraph(graph, {
    kind,
    config: defaultConfig("torch-2.11"),
    behaviours: defaultBehaviours("torch-2.11"),
    target: targetByName("h200"),
    sizevars,
    userOutputs: visible,
    donated,
  });
}

/** works out the values of nodes that print no type, and gives unpacked items theirs */
function fillMetas(graph: FxGraph, sizevars: SizeVars): void {
  const host = {
    isTensor: (x: unknown): x is TensorMeta => typeof x === "object" && x !== null && "shape" in x,
    isDim: isExpr,
    int: (n: number) => int(n),
    specialize: (d: unknown) => sizevars.guardInt(d as SymExpr) ?? 0,
  };
  const builder = makeMetaBuilder(guardsOf(sizevars.shapeEnv));
  const value = (a: Argument): ArgValue<TensorMeta> => {
    if (a instanceof FxNode) return a.meta.val as ArgValue<TensorMeta>;
    if (a instanceof TupleArg) return a.items.map(value);
    return Array.isArray(a) ? (a as readonly Argument[]).map(value) : (a as ArgValue<TensorMeta>);
  };
  for (const n of graph.nodes) {
    if (n.op !== "call_function" || n.meta.val !== undefined) continue;
    const record = lookup(n.target);
    if (record === undefined) {
      n.meta.val = unpackedTypes(n);
      continue;
    }
    const bound = bindArguments(
      parseSchema(record.schema),
      n.args.map(value),
      new Map([...n.kwargs].map(([k, v]) => [k, value(v)])),
      host,
    );
    if (bound.ok) n.meta.val = record.meta(builder, makeArgs(bound.bound, host)) as FakeValue;
  }
}

/** what the users that unpack a tuple print as their types */
function unpackedTypes(n: FxNode): FakeValue | undefined {
  const items: (FakeValue | null)[] = [];
  for (const u of n.users) {
    const index = u.target === "operator.getitem" ? u.args[1] : undefined;
    if (typeof index === "number" && u.meta.val !== undefined) items[index] = u.meta.val;
  }
  return items.length > 0 ? Array.from(items, x => x ?? null) : undefined;
}

/** symbols that sizes of the inputs are written in */
function inputSymbols(graph: FxGraph): SymExpr[] {
  const set = new Set<SymExpr>();
  for (const p of graph.placeholders()) {
    const t = tensorMeta(p);
    if (t !== undefined) for (const e of [...t.shape, ...t.stride]) for (const s of freeSymbols(e)) set.add(s);
    else if (isExpr(p.meta.val)) for (const s of freeSymbols(p.meta.val)) set.add(s);
  }
  return [...set];
}
