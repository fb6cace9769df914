// Facts of a kernel's members that its form depends on (SIMDKernelFeatures, InductorChoices). In: members, extent,
// tiling scores. Out: reduction hint, persistent or looped, width of indices.
import type { ReductionHint } from "../../ir/types";
import { isIndirect } from "../../scheduler/dependencies";
import type { Dep, SchedulerNode } from "../../scheduler/types";
import { addTerms, type Expr, intValue, mul } from "../../symbolic/expr";
import { nextPowerOf2 } from "./blocks";
import type { GraphView } from "./graph_view";
import { isReductionNode } from "./node_schedule";
import { type CodegenOptions, configBool, configNumber, has } from "./options";
import { holdsWideRow } from "./wide_rows";

export interface Features {
  readonly nodes: readonly SchedulerNode[];
  readonly numel: Expr;
  readonly rnumel: Expr;
}

/** read or written in order; so is what always is the same element */
function isContiguous(d: Dep): boolean {
  if (d.kind !== "memory") return false;
  return d.index.kind === "int" || (d.index.kind === "sym" && d.vars.includes(d.index));
}

function stride1ForLastDim(d: Extract<Dep, { kind: "memory" }>): boolean {
  const last = d.vars[d.vars.length - 1];
  if (last === undefined) return true;
  for (const term of addTerms(d.index)) {
    if (term === last) return true;
    if (
      term.kind === "mul" &&
      term.args.length === 2 &&
      term.args[1] === last &&
      (intValue(term.args[0] as Expr) ?? 0) > 1
    )
      return false;
  }
  return true;
}

/** the hint that the kernel's decorator shows */
export function reductionHint(
  f: Features,
  scores: ReadonlyMap<string, number> | null,
  graph: GraphView,
): ReductionHint {
  const reductions = f.nodes.filter(isReductionNode);
  if (reductions.length === 0) return "DEFAULT";
  const hints = reductions.map((n): ReductionHint => {
    if ([...n.readWrites.reads, ...n.readWrites.writes].every(isContiguous)) return "INNER";
    return n.operation.kind === "computed" && "hint" in n.operation.loops
      ? (n.operation.loops.hint ?? "DEFAULT")
      : "DEFAULT";
  });
  let hint: ReductionHint = hints.every(h => h === hints[0]) ? (hints[0] as ReductionHint) : "DEFAULT";
  if (hint === "INNER" && hasStridedPointwise(f, graph)) hint = "DEFAULT";
  if (hint === "DEFAULT" && scores?.has("r0_") && scores.has("x")) {
    if ((scores.get("r0_") ?? 0) / Math.max(scores.get("x") ?? 0, 1) >= 8) hint = "INNER";
  }
  return hint;
}

function hasStridedPointwise(f: Features, graph: GraphView): boolean {
  const sv = graph.sizevars;
  const full = sv.simplify(mul(f.numel, f.rnumel));
  return f.nodes.some(n => {
    if (isReductionNode(n) || sv.simplify(n.group[0]) !== full) return false;
    return [...n.readWrites.reads, ...n.readWrites.writes].some(
      d => d.kind === "memory" && !isContiguous(d) && d.index.kind !== "int" && !stride1ForLastDim(d),
    );
  });
}

/** rows that a block may hold at once, whatever their places */
const FEW_ROWS = 8;
/** whether rows are added up that are named at run time: a program that walks them one by one reads each in whole lines */
export const gathers = (f: Features, hint: ReductionHint, graph: GraphView): boolean =>
  hint !== "INNER" &&
  !graph.sizevars.knownLeq(f.rnumel, FEW_ROWS) &&
  f.nodes.some(n => isReductionNode(n) && n.readWrites.reads.some(d => d.kind === "memory" && isIndirect(d)));

/** whether a row is held in one block (should_use_persistent_reduction) */
export function usesPersistentReduction(
  f: Features,
  hint: ReductionHint,
  graph: GraphView,
  options: CodegenOptions,
): boolean {
  if (f.nodes.some(n => n.operation.kind === "computed" && n.operation.loops.kind === "Sort")) return true;
  if (f.nodes.some(n => n.operation.kind === "computed" && n.operation.loops.kind === "SplitScan")) return false;
  if (!configBool(options, "triton.persistent_reductions")) return false;
  if (has(options, "gathers_in_loops") && gathers(f, hint, graph)) return false;
  let threshold = hint === "INNER" ? 1024 : 64;
  if (hint !== "INNER" && hint !== "OUTER_TINY") {
    const { lower, upper } = graph.sizevars.bounds(f.rnumel);
    if (!Number.isFinite(lower) || !Number.isFinite(upper) || nextPowerOf2(lower) !== nextPowerOf2(upper)) return false;
  }
  if (configNumber(options, "triton.multi_kernel", 0) > 0) threshold *= 16;
  if (holdsWideRow(f.nodes, f.numel, f.rnumel, hint, graph, options)) return true;
  return graph.sizevars.knownLeq(f.rnumel, threshold);
}

const INT32_MAX = 2 ** 31 - 1;

/** int32 where every index fits (select_index_dtype); a symbolic size is guarded to fit if its example does */
export function indexDtype(f: Features, graph: GraphView): "int32" | "int64" {
  const fits = (e: Expr): boolean => {
    const n = intValue(graph.sizevars.simplify(e));
    if (n !== undefined) return n <= INT32_MAX;
    if (graph.sizevars.knownLeq(e, INT32_MAX)) return true;
    const hint = graph.sizevars.hint(e);
    if (hint === undefined || hint > INT32_MAX) return false;
    graph.sizevars.guardLeq(e, INT32_MAX);
    return true;
  };
  if (!fits(mul(f.numel, f.rnumel))) return "int64";
  const names = new Set<string>();
  for (const n of f.nodes) {
    for (const o of n.outputs) names.add(o.name);
    for (const d of [...n.readWrites.reads, ...n.readWrites.writes]) names.add(d.name);
  }
  for (const name of names) {
    const l = graph.layout(name);
    if (!l || l.kind === "multi_output" || l.kind === "none") continue;
    if (!fits(graph.storageSize(name))) return "int64";
  }
  return "int32";
}
