// Which independent kernels gain by sharing a launch. In: nodes of one level. Out: lists that become one launch each.
// Promises: kernels of one list are of one kind, as they share their number of warps; a launch saved, and reads that they
// share, outweigh what the larger kernels may lose. Used where behaviour `combo_by_cost` is on; Inductor combines whatever it finds.
import { estimateKernelUs } from "../cost";
import { countBytes } from "./bytes";
import { interleaving } from "./interleave";
import { isReduction, type SchedulerState } from "./state";
import type { AnyNode } from "./types";

/** share of its time that a kernel may lose to block sizes and registers of its neighbours */
const LOSS = 0.03;
/** rows of more elements take more warps */
const SHORT_ROW = 1024;

export function worthCombining(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[][] {
  const kinds = new Map<string, AnyNode[]>();
  for (const n of nodes) {
    const kind = !isReduction(n) ? "pointwise" : s.sizevars.knownLeq(n.group[1], SHORT_ROW) ? "short" : "long";
    const list = kinds.get(kind);
    if (list) list.push(n);
    else kinds.set(kind, [n]);
  }
  return [...kinds.values()].map(list => affordable(s, list)).filter(list => list.length > 1);
}

/** the nodes without the largest ones, as long as these lose more than a launch costs */
function affordable(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  const launch = estimateKernelUs(0, 0, s.target);
  const us = new Map(nodes.map(n => [n, estimateKernelUs(countBytes(s, [n]).get(n.name) ?? 0, 0, s.target)] as const));
  let kept = [...nodes];
  while (kept.length > 1) {
    const total = kept.reduce((sum, n) => sum + (us.get(n) ?? 0), 0);
    const shared = estimateKernelUs(interleaving(s, kept)?.savedBytes ?? 0, 0, s.target) - launch;
    if ((kept.length - 1) * launch + shared > LOSS * total) return kept;
    const largest = Math.max(...kept.map(n => us.get(n) ?? 0));
    kept = kept.filter(n => us.get(n) !== largest);
  }
  return [];
}
