// Ways to compute a graph's matrix products and attention, and the choice among them. In: a lowered graph before it is
// scheduled; times that a worker measured. Out: a key that equal graphs share, whatever their names; its products, of which
// equal ones are one; the ways of each; the one to take. Promises: the key says sizes, strides, dtypes, what follows each
// product, and the target.
import { createHash } from "node:crypto";
import { buffersRead, graphFacts } from "../ir/graph_facts";
import type { TargetProperties } from "../ir/target";
import type { ExternOperation, LoweredGraph } from "../ir/types";
import { type LayoutOptions, otherWays } from "../operand_layouts";
import { type Way, wayParts } from "../operand_layouts/ways";
import { bufferDtype } from "../scheduler/state";
import { printLog } from "../symbolic";
import { attentionOf } from "./attention";
import { estimatedBest, estimatesOf, type WayEstimates } from "./estimates";
import { formsOf, type GemmWay, splitWay, waysWith, withPrologue } from "./forms";
import { type Gemm, gemmOf } from "./gemm";
import { hasProducers, operandsOf, producerOf } from "./prologue";
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
  /** what the cost model says of some of those ways, microseconds; of attention nothing */
  readonly estimates: readonly WayEstimates[];
  /** the number among `products` of each operation that is one */
  readonly numbers: ReadonlyMap<string, number>;
}

export interface WaysAsked {
  /** sums in pieces, operands computed on the way in */
  readonly splits: boolean;
  readonly prologues: boolean;
  /** whether the library's kernel is a candidate */
  readonly library: boolean;
  /** float32 products are computed of bfloat16 parts */
  readonly inParts: boolean;
}

/** Null where the graph has nothing that a template computes. */
export function waysOf(
  graph: LoweredGraph,
  options: LayoutOptions,
  takes: (op: ExternOperation) => boolean,
  also: WaysAsked,
): GraphWays | null {
  const { target } = options;
  const sv = graph.sizevars;
  const products: (readonly Way[])[] = [];
  const estimates: WayEstimates[] = [];
  const numbers = new Map<string, number>();
  const known = new Map<string, number>();
  const parts: string[] = [];
  for (const op of graph.operations) {
    if (op.kind !== "extern" || op.device.type !== "cuda" || !takes(op)) continue;
    const gemm = gemmOf(op);
    const templates = gemm
      ? waysOfProduct(graph, gemm, target, also)
      : attentionOf(op, sv)
        ? (["pointers"] as const)
        : null;
    if (templates === null) continue;
    const part = JSON.stringify([
      op.op,
      op.reads.map(r => [r.dtype, r.size.map(printLog), r.stride.map(printLog)]),
      Object.entries(op.kwargs).map(([k, v]) => [k, typeof v === "object" ? null : String(v)]),
      followers(graph, op),
      also.prologues && gemm ? producers(graph, gemm) : [],
    ]);
    parts.push(part);
    let number = known.get(part);
    if (number === undefined) {
      const all: readonly Way[] = ["library", ...templates, ...otherWays(op, graphFacts(graph), options)];
      number = products.push(also.library ? all : all.filter(w => wayParts(w).base !== "library")) - 1;
      estimates.push(gemm ? estimatesOf(graph, gemm, templates, target, also.inParts) : {});
      known.set(part, number);
    }
    numbers.set(op.name, number);
  }
  if (parts.length === 0) return null;
  const key = createHash("sha256")
    .update(JSON.stringify([target.name, parts]))
    .digest("hex")
    .slice(0, 32);
  return { key, products, estimates, numbers };
}

function waysOfProduct(
  graph: LoweredGraph,
  gemm: Gemm,
  target: TargetProperties,
  also: { readonly splits: boolean; readonly prologues: boolean },
): readonly GemmWay[] {
  const sv = graph.sizevars;
  const splits = (also.splits ? splitsOf(gemm, target, sv) : []).map(splitWay);
  const computed = also.prologues && hasProducers(graph, gemm);
  // with fewer tiles than multiprocessors there is nothing to walk over
  const forms = splits.length > 0 ? (["pointers"] as const) : formsOf([gemm], target, sv);
  const plain = [...waysWith(forms), ...splits];
  return computed ? [...plain, ...(["pointers", ...splits] as const).map(withPrologue)] : plain;
}

/** The ways that all products may take at once: one that a product does not have leaves it to the cost model. */
export const commonWays = (g: GraphWays): readonly Way[] => [...new Set(g.products.flat())];

/** The ways to take unmeasured, as `fastest` gives them; a product whose part is empty is left to the scheduler. Null: all are. */
export function estimatedFastest(g: GraphWays): string | null {
  const each = g.estimates.map(us => estimatedBest(us) ?? "");
  return each.some(w => w !== "") ? each.join() : null;
}

/** whether the text names a way, or one for each product */
export function isWayOf(text: string, g: GraphWays): boolean {
  const each = text.split(",");
  if (each.length === 1) return commonWays(g).some(w => w === text);
  return each.length === g.products.length && each.every((w, i) => (g.products[i] as readonly string[]).includes(w));
}

/** operators that read the product, in order */
function followers(graph: LoweredGraph, op: ExternOperation): string[] {
  const readers = op.outputs.flatMap(o => graphFacts(graph).readers(o));
  return readers.filter(o => o.kind === "computed").map(o => o.origins.map(n => n.target).join(" "));
}

/** operators that compute an operand, with the dtypes that they read */
function producers(graph: LoweredGraph, gemm: Gemm): string[] {
  return operandsOf(gemm).map(v => {
    const from = producerOf(graph, gemm, v);
    if (from === null) return "";
    const dtypes = buffersRead(from).map(b => bufferDtype(graph, b) ?? "");
    return [...from.origins.map(n => n.target), ...dtypes].join(" ");
  });
}

/** the fastest of what was measured: a way, or several with a comma between them, one for each product */
export function fastest(measured: MeasuredWays): string | null {
  const times = Object.entries(measured.microseconds).sort(([, a], [, b]) => a - b);
  return times[0]?.[0] ?? null;
}
