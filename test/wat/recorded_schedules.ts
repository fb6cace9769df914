// Test only. In: the text of a recorded log. Out: the schedules of its graphs, made by our scheduler from the dumps
// before fusion. Promises: what a dump does not hold is left open: indirect indices are not checked.

import type { LoopBody } from "@fuselens/compiler/inductor/ir/loop_body";
import { targetByName } from "@fuselens/compiler/inductor/ir/target";
import type { Operation } from "@fuselens/compiler/inductor/ir/types";
import { schedule } from "@fuselens/compiler/inductor/scheduler/schedule";
import { loweredGraphOf, splitLog } from "@fuselens/compiler/inductor/scheduler/testing/recorded";
import type { Schedule } from "@fuselens/compiler/inductor/scheduler/types";
import { defaultBehaviours, defaultConfig } from "@fuselens/compiler/presets";

/** example sizes that decide in graphs with symbols */
export const HINTS = new Map([
  ["s77", 1000],
  ["s27", 128],
  ["s94", 256],
  ["s53", 32],
]);

export function recordedSchedules(log: string): Schedule[] {
  return splitLog(log).map(g => {
    const graph = loweredGraphOf(g, HINTS);
    return schedule(
      { ...graph, operations: graph.operations.map(withoutChecks) },
      {
        config: defaultConfig("torch-2.11"),
        behaviours: defaultBehaviours("torch-2.11"),
        target: targetByName("h200"),
        wantDumps: false,
      },
    );
  });
}

/** dumps do not say how large an indirectly indexed dim is */
function withoutChecks(op: Operation): Operation {
  if (op.kind !== "computed") return op;
  return { ...op, body: relax(op.body) };
}

function relax(body: LoopBody): LoopBody {
  for (const block of [body.block, ...body.subblocks.values()]) {
    for (const n of block.nodes) if (n.op === "set_indirect") Object.assign(n, { check: false, wrapNeg: false });
  }
  return body;
}
