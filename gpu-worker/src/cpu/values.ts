// Replays a small program: tensors filled, plans called, rows reported.
import type { Job, ValuesResult } from "../protocol";
import { COPY_BUILTINS } from "./builtins/index";
import { copyTensor } from "./dense";
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
  // what copies, and fills strided tensors
  await machine.loadBuiltins(COPY_BUILTINS);
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
          step.inputs.map((i, n) => ("id" in i ? asLaidOut(machine, find(i.id), graph.plan.inputs[n]) : i.value)),
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
          view: { size, stride, dtype, itemSize: width, address: of.view.address + step.offset * width },
        });
        break;
      }
      case "accumulate": {
        const from = find(step.of);
        const into = tensors.get(step.id);
        // a tensor of its own: a gradient may be an expanded view, every element of which is the same place
        const target = copyOf(machine, from, contiguousStrides(from.view.size));
        if (into) {
          const element = accessor(machine.buffer, target.view.dtype);
          const added = copyOf(machine, into, target.view.stride);
          forEachElement(target.view, (_, address) =>
            element.set(
              address,
              element.get(address) + element.get(address - target.view.address + added.view.address),
            ),
          );
          machine.release(added.base);
        }
        tensors.set(step.id, target);
        break;
      }
      case "copy":
        copyTensor(machine, find(step.of).view, find(step.id).view);
        break;
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

/** the tensor with the strides that a plan expects of this input (a gradient may come as an expanded view) */
function asLaidOut(machine: Machine, held: Held, input: LoadedPlan["plan"]["inputs"][number] | undefined): Held {
  if (!input || !("stride" in input)) return held;
  const stride = input.stride.flatMap(s => (typeof s === "number" ? [s] : []));
  const differs = stride.some((s, d) => (held.view.size[d] ?? 1) > 1 && s !== held.view.stride[d]);
  return stride.length === held.view.size.length && differs ? copyOf(machine, held, stride) : held;
}

function copyOf(machine: Machine, held: Held, stride: readonly number[]): Held {
  const { size, dtype } = held.view;
  const copy = createTensor(machine, { size, stride, dtype });
  const element = accessor(machine.buffer, dtype);
  const values = new Float64Array(size.reduce((a, b) => a * b, 1));
  forEachElement(held.view, (flat, address) => {
    values[flat] = element.get(address);
  });
  forEachElement(copy.view, (flat, address) => element.set(address, values[flat] as number));
  return copy;
}

function contiguousStrides(size: readonly number[]): number[] {
  const out = new Array<number>(size.length);
  let product = 1;
  for (let d = size.length - 1; d >= 0; d--) {
    out[d] = product;
    product *= size[d] ?? 1;
  }
  return out;
}
