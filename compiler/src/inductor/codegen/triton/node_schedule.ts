// The order in which a fused kernel's members are emitted, with marks where its reduction loop closes and opens again
// (generate_node_schedule in torch/_inductor/codegen/simd.py). In: members in fused order and the kernel's extent. Out:
// members and marks. Promises: a member stands after every reduction that it needs.
import type { SchedulerNode } from "../../scheduler/types";
import { type Expr, mul } from "../../symbolic/expr";
import type { SizeVars } from "../../symbolic/size_vars";

export type ScheduleEntry = SchedulerNode | "disable" | "enable";

const isScan = (n: SchedulerNode): boolean =>
  n.operation.kind === "computed" && (n.operation.loops.kind === "Scan" || n.operation.loops.kind === "SplitScan");
/** has reduction loops: a reduction, a scan or a sort */
export const isReductionNode = (n: SchedulerNode): boolean =>
  n.operation.kind === "computed" && n.operation.loops.kind !== "Pointwise" && n.operation.loops.kind !== "Scatter";

/** undefined: a member fits neither the kernel's loops nor the space outside its reduction */
export function nodeSchedule(
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr,
  sv: SizeVars,
): ScheduleEntry[] | undefined {
  const list: ScheduleEntry[] = [];
  const notReady = new Set<string>();
  const usage = new Set<string>();
  let maybeSplit: number | null = null;
  const isOne = sv.knownEquals(rnumel, 1);
  const same = (a: Expr, b: Expr): boolean => sv.simplify(a) === sv.simplify(b);
  const fitsMain = (n: SchedulerNode): boolean =>
    (same(n.group[0], numel) && same(n.group[1], rnumel)) ||
    (same(n.group[0], mul(numel, rnumel)) && sv.knownEquals(n.group[1], 1));
  const fitsOutside = (n: SchedulerNode): boolean => same(n.group[0], numel) && sv.knownEquals(n.group[1], 1) && !isOne;

  const close = (): void => {
    if (list[list.length - 1] === "enable") list.pop();
    else list.push("disable");
    if (maybeSplit) {
      list.splice(maybeSplit, 0, "disable", "enable");
      maybeSplit = null;
    }
  };
  const open = (): void => {
    list.push("enable");
    notReady.clear();
    usage.clear();
  };

  for (const n of nodes) {
    if (fitsMain(n)) {
      if (!isOne && [...notReady].some(r => n.ancestors.has(r))) {
        close();
        open();
      }
      // work that shares no buffer with the loop so far is better off in a loop of its own
      const improves = n.readWrites.reads.some(d => usage.has(d.name));
      if (usage.size > 0 && !improves) maybeSplit = maybeSplit || list.length;
      else maybeSplit = null;
      list.push(n);
      for (const d of n.readWrites.reads) usage.add(d.name);
      if (isReductionNode(n) && !isScan(n)) notReady.add(n.name);
      else for (const d of n.readWrites.writes) usage.add(d.name);
    } else if (fitsOutside(n)) {
      close();
      list.push(n);
      open();
    } else return undefined;
  }
  return list;
}
