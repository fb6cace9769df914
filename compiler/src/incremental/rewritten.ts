// A kept compilation that is shown anew, on other lines or with other numbers. In: it, and how its parts are made. Out: the
// compilation, its plan and code made when they are asked for: most answers to an edit need neither.
import type { ExecutablePlan } from "../inductor/plan/types";
import { once } from "../once";
import type { Compilation, OutputCode, ReportGraph } from "../report/types";

export function rewritten(
  c: Compilation,
  graph: ReportGraph,
  makePlan: () => ExecutablePlan,
  makeCode: (plan: () => ExecutablePlan) => OutputCode,
): Compilation {
  const plan = once(makePlan);
  const outputCode = once(() => makeCode(plan));
  return {
    graph,
    schedulerGraph: c.schedulerGraph,
    get plan() {
      return plan();
    },
    wat: c.wat,
    get outputCode() {
      return outputCode();
    },
  };
}
