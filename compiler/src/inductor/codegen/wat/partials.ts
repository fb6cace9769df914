// Column sums of a mix-order kernel. In: a reduction over rows, and how many partial results the plan wants of it. Out:
// the same loops as a pointwise body over (rows, columns), whose value is added to its column of the rows' own partial
// result in the workspace.
import type { LoopBody } from "../../ir/loop_body";
import type { PlanSize } from "../../plan/types";
import type { SchedulerNode } from "../../scheduler/types";
import { int, product } from "../../symbolic/expr";
import { UnsupportedOnCpu } from "./wat_types";

export interface Slot {
  /** number of the result in the workspace */
  readonly slot: number;
  readonly product: boolean;
}

/** what a launch leaves in its workspace for finish_partials */
export interface Partials {
  readonly workspace: string;
  /** partial results of each slot; the rows are divided among them */
  readonly splits: PlanSize;
  /** by operation */
  readonly slots: ReadonlyMap<string, Slot>;
}

/** the loops before the reduction was split in two stages */
function wholeBody(n: SchedulerNode): LoopBody {
  const op = n.operation;
  if (op.kind === "computed" && "split" in op.loops && op.loops.split) return op.loops.split.original();
  if (!n.body) throw new UnsupportedOnCpu(`${n.name}, which has no loops`);
  return n.body;
}

export function accumulating(n: SchedulerNode): SchedulerNode {
  const whole = wholeBody(n);
  const body: LoopBody = {
    ...whole,
    iterVars: [...whole.reduceVars, ...whole.iterVars],
    iterSizes: [...whole.reduceSizes, ...whole.iterSizes],
    reduceVars: [],
    reduceSizes: [],
  };
  const op = n.operation;
  if (op.kind !== "computed") throw new UnsupportedOnCpu(`${n.name}, which has no loops`);
  return {
    ...n,
    operation: { ...op, loops: { kind: "Pointwise" }, body },
    body,
    sizes: [body.iterSizes, []],
    group: [product(body.iterSizes), int(1)],
    readWrites: { ...n.readWrites, writes: [] },
  };
}
