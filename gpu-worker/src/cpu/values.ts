// Replays a small program: tensors filled, plans called, rows reported.
import type { Job, ValuesResult } from "../protocol";
import { accessor, itemSize } from "./dtypes";
import { createTensor, fillTensor } from "./inputs";
import type { LoadedPlan, Machine } from "./machine";
import { runPlan } from "./plan_run";
import { valueRow } from "./rows";
import { forEachElement, type Held, JobFailure } from "./tensors";

type ValuesJob = Extract<Job, { kind: "values" }>;

export async function runValues(machine: Machine, job: ValuesJob): Promise<ValuesResult> {
  const loaded: LoadedPlan[] = [];
  for (const g of job.graphs) loaded.push(await machine.load(g.plan, g.wat));
  const tensors = new Map<number, Held>();
  const find = (id: number): Held => {
    const held = tensors.get(id);
    if (!held) throw new JobFailure("invalid-job", `no tensor ${id} at this step`);
    return held;
  };
  const rows: ValuesResult["rows"][number][] = [];
  for (const step of job.steps) {
    switch (step.kind) {
      case "create": {
        const held = createTensor(machine, step.tensor);
        fillTensor(machine, held.view, step.fill);
        tensors.set(step.tensor.id, held);
        break;
      }
      case "refill":
        fillTensor(machine, find(step.id).view, step.fill);
        break;
      case "call": {
        const graph = loaded[step.graph];
        if (!graph) throw new JobFailure("invalid-job", `no graph ${step.graph}`);
        const outputs = runPlan(
          machine,
          graph,
          step.inputs.map(i => ("id" in i ? find(i.id) : i.value)),
        );
        step.outputs.forEach((id, i) => {
          const o = outputs[i];
          if (id !== null && o && typeof o !== "number") tensors.set(id, o);
        });
        break;
      }
      case "view": {
        const of = find(step.of);
        const width = itemSize(step.tensor.dtype);
        machine.hold(of.base);
        const { size, stride, dtype } = step.tensor;
        tensors.set(step.tensor.id, {
          base: of.base,
          view: { size, stride, dtype, itemSize: width, address: of.base + step.offset * width },
        });
        break;
      }
      case "accumulate": {
        const from = find(step.of);
        const into = tensors.get(step.id);
        const source = accessor(machine.buffer, from.view.dtype);
        const values: number[] = [];
        forEachElement(from.view, (_, address) => values.push(source.get(address)));
        const target = into ?? createTensor(machine, from.view);
        const element = accessor(machine.buffer, target.view.dtype);
        forEachElement(target.view, (flat, address) =>
          element.set(address, (into ? element.get(address) : 0) + (values[flat] ?? 0)),
        );
        tensors.set(step.id, target);
        break;
      }
      case "row": {
        const { view } = find(step.id);
        rows.push({ slot: step.slot, row: valueRow(machine, view) });
        break;
      }
      default: {
        const never: never = step;
        throw new JobFailure("invalid-job", `a step ${JSON.stringify(never)}`);
      }
    }
  }
  return { kind: "values", rows };
}
