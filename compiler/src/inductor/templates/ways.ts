// Ways to compute a graph's matrix products and attention, and the choice among them. In: a lowered graph before it is
// scheduled; times that a worker measured. Out: a key that equal graphs share, whatever their names; its products, of which
// equal ones are one; the ways of each; the one to take. Promises: the key says sizes, strides, dtypes, what follows each
// product, and the target.
import { createHash } from "node:crypto";
import type { ExternOperation, LoweredGraph, Operation } from "../ir/types";
import { type LayoutOptions, otherWays } from "../operand_layouts";
import { GraphFacts } from "../operand_layouts/facts";
import type { Way } from "../operand_layouts/ways";
import { printLog } from "../symbolic";
import { attentionOf } from "./attention";
import { formsOf, splitWay, waysWith } from "./forms";
import { gemmOf } from "./gemm";
import { splitsOf } from "./split_k";

/** what a worker measured of one graph, microseconds by way */
export interface MeasuredWays {
  readonly microseconds: Readonly<Record<string, number>>;
  /** "cpu, wasm", "NVIDIA H200, ..." */
  readonly where: string;
}

export interface GraphWays {
  readonly key: string;
  /** the ways of each product, in the order in which the graph first has it */
  readonly products: readonly (readonly Way[])[];
  /** the number among `products` of each operation that is one */
  readonly numbers: ReadonlyMap<string, number>;
}

/** Null where the graph has nothing that a template computes. */
export function waysOf(
  graph: LoweredGraph,
  options: LayoutOptions,
  takes: (op: ExternOperation) => boolean,
  splits = false,
): GraphWays | null {
  const { target } = options;
  const sv = graph.sizevars;
  const facts = new GraphFacts(graph);
  const products: (readonly Way[])[] = [];
  const numbers = new Map<string, number>();
  const known = new Map<string, number>();
  const parts: string[] = [];
  for (const op of graph.operations) {
    if (op.kind !== "extern" || op.device.type !== "cuda" || !takes(op)) continue;
    const gemm = gemmOf(op);
    const templates = gemm
      ? [...waysWith(formsOf([gemm], target, sv)), ...(splits ? splitsOf(gemm, target, sv) : []).map(splitWay)]
      : attentionOf(op, sv)
        ? (["pointers"] as const)
        : null;
    if (templates === null) continue;
    const part = JSON.stringify([
      op.op,
      op.reads.map(r => [r.dtype, r.size.map(printLog), r.stride.map(printLog)]),
      Object.entries(op.kwargs).map(([k, v]) => [k, typeof v === "object" ? null : String(v)]),
      followers(graph, op),
    ]);
    parts.push(part);
    const number = known.get(part) ?? products.push(["library", ...templates, ...otherWays(op, facts, options)]) - 1;
    known.set(part, number);
    numbers.set(op.name, number);
  }
  if (parts.length === 0) return null;
  const key = createHash("sha256")
    .update(JSON.stringify([target.name, parts]))
    .digest("hex")
    .slice(0, 32);
  return { key, products, numbers };
}

/** The ways that all products may take at once: one that a product does not have leaves it to the cost model. */
export const commonWays = (g: GraphWays): readonly Way[] => [...new Set(g.products.flat())];

/** whether the text names a way, or one for each product */
export function isWayOf(text: string, g: GraphWays): boolean {
  const each = text.split(",");
  if (each.length === 1) return commonWays(g).some(w => w === text);
  return each.length === g.products.length && each.every((w, i) => (g.products[i] as readonly string[]).includes(w));
}

/** operators that read the product, in order */
function followers(graph: LoweredGraph, op: ExternOperation): string[] {
  const own = new Set(op.outputs);
  const reads = (o: Operation): boolean =>
    o.kind === "computed" ? o.body.block.nodes.some(n => n.op === "load" && own.has(n.buffer)) : false;
  return graph.operations.filter(reads).map(o => o.origins.map(n => n.target).join(" "));
}

/** the fastest of what was measured: a way, or several with a comma between them, one for each product */
export function fastest(measured: MeasuredWays): string | null {
  const times = Object.entries(measured.microseconds).sort(([, a], [, b]) => a - b);
  return times[0]?.[0] ?? null;
}
