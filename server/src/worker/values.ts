// A program's replay as a job for the CPU executor, and its rows put back where they belong.
import type { Program } from "@fuselens/compiler";
import type { Job, ValueRow, ValueStep, ValuesResult } from "@fuselens/gpu-worker/protocol";
import { JobError } from "./job";

export interface ValuesReport {
  readonly calls: readonly { readonly outputs: readonly ValueRow[]; readonly args_after: readonly ValueRow[] }[];
  readonly grads?: readonly ({ readonly of: string } & ValueRow)[];
}

/** a compilation as a job's graph, which the executor loads */
export function loadable({ plan, wat }: Pick<Program["values"]["graphs"][number], "plan" | "wat">) {
  return { plan, wat: [...wat], standalone: "" };
}

/** The job that replays a program; a JobError says why one can't be replayed. */
export function valuesJob(program: Program): Extract<Job, { kind: "values" }> {
  const { values } = program;
  if (values.blocker) throw new JobError("unsupported", values.blocker);
  const blocker = values.graphs.flatMap(g => g.plan.blockers)[0];
  if (blocker) throw new JobError("unsupported", blocker);
  const graphs = values.graphs.map(loadable);
  return { kind: "values", graphs, steps: values.steps as ValueStep[] };
}

export function valuesReport(program: Program, result: ValuesResult): ValuesReport {
  const rows = new Map(result.rows.map(r => [r.slot, r.row]));
  const row = (slot: string): ValueRow => {
    const found = rows.get(slot);
    if (!found) throw new JobError("internal", `the executor sent no row for ${slot}`);
    return found;
  };
  const calls = program.values.calls.map(c => ({ outputs: c.outputs.map(row), args_after: c.args.map(row) }));
  const grads = program.values.grads.map(g => ({ of: g.of, ...row(g.slot) }));
  return grads.length ? { calls, grads } : { calls };
}
