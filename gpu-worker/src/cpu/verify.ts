// The fused plan against the unfused one on the same inputs: largest error per output.
import type { Job, VerifyResult } from "../protocol";
import { accessor } from "./dtypes";
import { createTensor, fillTensor, tensorSpec } from "./inputs";
import type { Machine } from "./machine";
import { runPlan } from "./plan_run";
import { forEachElement, type Held, JobFailure, numel } from "./tensors";

type VerifyJob = Extract<Job, { kind: "verify" }>;

export async function runVerify(machine: Machine, job: VerifyJob): Promise<VerifyResult> {
  const values: number[][][] = [];
  for (const g of [job.fused, job.unfused]) {
    const loaded = await machine.load(g.plan, g.wat);
    // filled anew for each, since a plan may write its inputs
    const inputs: (Held | number)[] = g.plan.inputs.map((input, k) => {
      if ("symbol" in input) return input.value;
      const held = createTensor(machine, tensorSpec(input));
      fillTensor(
        machine,
        held.view,
        /^(b?float|complex)/.test(input.dtype) ? { how: "randn", k } : { how: "full", value: 0 },
      );
      return held;
    });
    const outputs = runPlan(machine, loaded, inputs);
    const mutated = inputs.filter((_, i) => g.plan.mutatedInputs.includes(g.plan.inputs[i]?.name ?? ""));
    values.push([...outputs, ...mutated].flatMap(o => (o && typeof o !== "number" ? [read(machine, o)] : [])));
  }
  const [fused, unfused] = values;
  if (!fused || !unfused || fused.length !== unfused.length)
    throw new JobFailure("invalid-job", "the two plans have different outputs");
  return { kind: "verify", outputs: fused.map((f, i) => difference(f, unfused[i] ?? [])) };
}

function read(machine: Machine, held: Held): number[] {
  const element = accessor(machine.buffer, held.view.dtype);
  const out = new Array<number>(numel(held.view.size));
  forEachElement(held.view, (flat, address) => {
    out[flat] = element.get(address);
  });
  return out;
}

function difference(a: readonly number[], b: readonly number[]): VerifyResult["outputs"][number] {
  let maxAbs = 0;
  let total = 0;
  for (let i = 0; i < b.length; i++) {
    const x = a[i] ?? Number.NaN;
    const y = b[i] ?? Number.NaN;
    total += Math.abs(y);
    const same = Object.is(x, y) || x === y || (Number.isNaN(x) && Number.isNaN(y));
    if (!same) maxAbs = Math.max(maxAbs, Number.isFinite(x - y) ? Math.abs(x - y) : Number.POSITIVE_INFINITY);
  }
  const mean = b.length ? total / b.length : 0;
  return { maxAbs, maxRel: maxAbs === 0 ? 0 : mean ? maxAbs / mean : Number.POSITIVE_INFINITY };
}
