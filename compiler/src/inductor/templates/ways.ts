// Ways to compute a graph's matrix products and attention, and the choice among them. In: a lowered graph before it is
// scheduled; times that a worker measured. Out: a key that equal products share, whatever their names; the ways there are;
// the one to take. Promises: the key says sizes, strides, dtypes, what follows each product, and the target.
import { createHash } from "node:crypto";
import type { TargetProperties } from "../ir/target";
import type { ExternOperation, LoweredGraph, Operation } from "../ir/types";
import { printLog } from "../symbolic";
import { attentionOf } from "./attention";
import { formsOf, type GemmWay, waysWith } from "./forms";
import { gemmOf } from "./gemm";

export type Way = GemmWay | "library";

/** what a worker measured of one graph, microseconds by way */
export interface MeasuredWays {
  readonly microseconds: Readonly<Record<string, number>>;
  /** "cpu, wasm", "NVIDIA H200, ..." */
  readonly where: string;
}

/** how a graph's products and attention are computed, and why so */
export interface TemplateWay {
  readonly key: string;
  /** what there was to choose from */
  readonly ways: readonly Way[];
  /** what was measured; null: the way taken is the cost model's */
  readonly measured: MeasuredWays | null;
}

/** Null where the graph has nothing that a template computes. */
export function waysOf(
  graph: LoweredGraph,
  target: TargetProperties,
  takes: (op: ExternOperation) => boolean,
): { readonly key: string; readonly ways: readonly Way[] } | null {
  const sv = graph.sizevars;
  const ways = new Set<Way>(["library"]);
  const parts: unknown[] = [];
  for (const op of graph.operations) {
    if (op.kind !== "extern" || op.device.type !== "cuda" || !takes(op)) continue;
    const gemm = gemmOf(op);
    if (gemm) for (const w of waysWith(formsOf([gemm], target, sv))) ways.add(w);
    else if (attentionOf(op, sv)) ways.add("pointers");
    else continue;
    parts.push([
      op.op,
      op.reads.map(r => [r.dtype, r.size.map(printLog), r.stride.map(printLog)]),
      Object.entries(op.kwargs).map(([k, v]) => [k, typeof v === "object" ? null : String(v)]),
      followers(graph, op),
    ]);
  }
  if (parts.length === 0) return null;
  const key = createHash("sha256")
    .update(JSON.stringify([target.name, parts]))
    .digest("hex")
    .slice(0, 32);
  return { key, ways: [...ways] };
}

/** operators that read the product, in order */
function followers(graph: LoweredGraph, op: ExternOperation): string[] {
  const own = new Set(op.outputs);
  const reads = (o: Operation): boolean =>
    o.kind === "computed" ? o.body.block.nodes.some(n => n.op === "load" && own.has(n.buffer)) : false;
  return graph.operations.filter(reads).map(o => o.origins.map(n => n.target).join(" "));
}

/** the fastest of what was measured */
export function fastest(measured: MeasuredWays): Way | null {
  const times = Object.entries(measured.microseconds).sort(([, a], [, b]) => a - b);
  return (times[0]?.[0] as Way | undefined) ?? null;
}
