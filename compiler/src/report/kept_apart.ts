// Which kernels of the finished schedule stay apart, why, and what that costs. In: a graph's report with every refusal that
// was met on the way. Out: one refusal a pair of kernels, most bytes first. Promises: no pair that met in one kernel after
// all, none that costs (next to) nothing, a few a kernel.
import type { ReportGraph, ReportRefusal } from "./types";

/** a refusal between two kernels of the finished schedule */
export interface KernelRefusal extends ReportRefusal {
  /** indices into ReportGraph.kernels */
  readonly kernels: readonly [number, number];
}

/** a hover shows four; a page of reasons a few more */
const KEPT_PER_KERNEL = 8;

/** The last word on each pair of kernels counts, since a pair is refused again in every round. */
export function keptApart(graph: Pick<ReportGraph, "kernels" | "refusals">): KernelRefusal[] {
  const kernelOf = new Map<string, number>();
  graph.kernels.forEach((k, i) => {
    for (const op of k.nodes) kernelOf.set(op, i);
  });
  const pairs = new Map<string, KernelRefusal>();
  for (const r of graph.refusals) {
    // nodes that read different parts of one buffer share next to nothing, although both read that buffer
    if (r.bytesLost <= 0 || r.code === "score_fusion_memory_threshold") continue;
    const [a, b] = [kernelOf.get(firstMember(r.a)), kernelOf.get(firstMember(r.b))];
    if (a === undefined || b === undefined || a === b) continue;
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    const known = pairs.get(key);
    if (!known || replaces(r, known)) pairs.set(key, { ...r, kernels: [a, b] });
  }
  const taken = new Map<number, number>();
  return [...pairs.values()]
    .sort((x, y) => y.bytesLost - x.bytesLost)
    .filter(r => {
      const counts = r.kernels.map(k => taken.get(k) ?? 0);
      if (counts.every(n => n >= KEPT_PER_KERNEL)) return false;
      r.kernels.forEach((k, i) => {
        taken.set(k, (counts[i] ?? 0) + 1);
      });
      return true;
    });
}

/** A pair that is also asked the other way round is refused for its order there, which says less than any other reason. */
function replaces(r: ReportRefusal, known: ReportRefusal): boolean {
  const [order, before] = [r.code === "order", known.code === "order"];
  return order === before ? r.bytesLost >= known.bytesLost : before;
}

/** "op0_op3" → "op0" */
function firstMember(node: string): string {
  const end = node.indexOf("_");
  return end < 0 ? node : node.slice(0, end);
}
