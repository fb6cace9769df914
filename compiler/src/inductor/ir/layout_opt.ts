// Whether convolutions run channels-last, and which values then prefer that format (GraphLowering.decide_layout_opt,
// find_nodes_prefer_channels_last). In: a graph. Out: a decision and a set of nodes.
import type { FxGraph, FxNode } from "../../fx/graph";
import { type Expr, freeSymbols, intValue } from "../symbolic/expr";
import { tensorMeta } from "./constraints";

const CONVOLUTION = "aten.convolution.default";

/** measured time channels-last / contiguous by class of convolution */
const RATIO = { grouped: 1.358, small: 0.783, inOut: 0.725, other: 0.823 } as const;
type Class = keyof typeof RATIO;

interface Convolution {
  readonly out: number;
  readonly in: number;
  readonly kernel: readonly number[];
  readonly groups: number;
  readonly flops: number;
}

const number = (e: Expr | undefined): number => (e === undefined ? 1 : (intValue(e) ?? 1));

function describe(n: FxNode): Convolution | undefined {
  const weight = n.args[1];
  const w =
    typeof weight === "object" && weight !== null && "meta" in weight ? tensorMeta(weight as FxNode) : undefined;
  const out = tensorMeta(n);
  if (w === undefined || out === undefined) return undefined;
  const shape = w.shape.map(number);
  const kernel = shape.slice(2);
  const spatial = out.shape.slice(2).map(number);
  const groups = n.args[n.args.length - 1];
  const product = (xs: readonly number[]): number => xs.reduce((a, b) => a * b, 1);
  return {
    out: shape[0] ?? 1,
    in: shape[1] ?? 1,
    kernel,
    groups: typeof groups === "number" ? groups : 1,
    flops: 2 * number(out.shape[0]) * product(spatial) * product(kernel) * (shape[0] ?? 1) * (shape[1] ?? 1),
  };
}

const isGrouped = (c: Convolution): boolean => c.groups > 1 && c.in > 1;
const isInOut = (c: Convolution): boolean => c.out * 2 <= c.in && (c.kernel[0] ?? 1) > 1;
const isSmall = (c: Convolution): boolean => c.out <= 64 && c.in <= 64;

function hasSymbols(n: FxNode, position: number): boolean {
  const a = n.args[position];
  const t = typeof a === "object" && a !== null && "meta" in a ? tensorMeta(a as FxNode) : undefined;
  return t !== undefined && [...t.shape, ...t.stride].some(s => freeSymbols(s).size > 0);
}

export function decideLayoutOpt(
  graph: FxGraph,
  isInference: boolean,
  config: { readonly enabled: boolean; readonly force: boolean },
): boolean {
  if (!config.enabled) return false;
  if (config.force) return true;
  const nodes = graph.nodes.filter(n => n.target === CONVOLUTION);
  if (nodes.length === 0 || graph.nodes.length >= 300 * nodes.length) return false;
  if (nodes.some(n => hasSymbols(n, 0) || hasSymbols(n, 1))) return false;
  const convolutions = nodes.flatMap(n => describe(n) ?? []);
  if (isInference) {
    let total = 0;
    let weighted = 0;
    for (const c of convolutions) {
      const kind: Class = isGrouped(c) ? "grouped" : isSmall(c) ? "small" : isInOut(c) ? "inOut" : "other";
      total += c.flops;
      weighted += c.flops * RATIO[kind];
    }
    return weighted <= total;
  }
  return !convolutions.some(isGrouped) && !convolutions.some(isInOut) && !convolutions.every(isSmall);
}

/** convolutions, what feeds them, and what follows from those up to the last convolution */
export function nodesPreferringChannelsLast(graph: FxGraph): ReadonlySet<FxNode> {
  const set = new Set<FxNode>();
  let last: FxNode | undefined;
  const blocks = (n: FxNode): boolean => n.target === "aten.bmm.default";
  for (const n of [...graph.nodes].reverse()) {
    if (n.target === CONVOLUTION) {
      set.add(n);
      last ??= n;
      continue;
    }
    if (blocks(n)) continue;
    if ([...n.users].some(u => set.has(u))) set.add(n);
  }
  for (const n of graph.nodes) {
    if (n === last) break;
    if (!set.has(n)) continue;
    for (const u of n.users) if (!blocks(u)) set.add(u);
  }
  return set;
}

const DISLIKE_PADDING: ReadonlySet<string> = new Set(["convolution", "convolution_backward", "_scaled_mm"]);
const LIKE_PADDING: ReadonlySet<string> = new Set([
  "var_mean",
  "sum",
  "mean",
  "prod",
  "any",
  "amin",
  "amax",
  "min",
  "max",
  "argmin",
  "argmax",
  "scatter_reduce",
]);

/**
 * Nodes whose values must stay dense: inputs of kernels that would copy them otherwise, as far back as nothing on the way
 * gains from padding, and outputs that the user sees (mark_nodes_dislike_padding).
 */
export function nodesDislikingPadding(
  graph: FxGraph,
  userVisible: ReadonlySet<FxNode>,
  padsOutputs: boolean,
): ReadonlySet<FxNode> {
  const set = new Set<FxNode>();
  const packet = (n: FxNode): string | undefined =>
    n.op === "call_function" && n.target !== "operator.getitem" ? n.target.split(".")[1] : undefined;
  for (const n of [...graph.nodes].reverse()) {
    const name = packet(n);
    if (name === undefined) continue;
    if (DISLIKE_PADDING.has(name)) set.add(n);
    if (set.has(n)) {
      for (const input of n.inputs) {
        const before = packet(input);
        if (before !== undefined && !LIKE_PADDING.has(before)) set.add(input);
      }
    }
    // after the step above: only the output itself is meant, not what it comes from
    if (!padsOutputs && userVisible.has(n)) set.add(n);
  }
  return set;
}
