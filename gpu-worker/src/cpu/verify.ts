// Fused plans against the unfused ones on the same inputs: largest error per output. What a pair held is released before
// the next one runs.
import type { Job, VerifiedPair, VerifyResult } from "../protocol";
import { accessor } from "./dtypes";
import { createTensor, fillTensor, tensorSpec } from "./inputs";
import type { Machine } from "./machine";
import { runPlan } from "./plan_run";
import { forEachElement, type Held, JobFailure, numel } from "./tensors";

type VerifyJob = Extract<Job, { kind: "verify" }>;
type Pair = VerifyJob["pairs"][number];

interface Values {
  readonly dtype: string;
  readonly values: readonly number[];
}

export async function runVerify(machine: Machine, job: VerifyJob): Promise<VerifyResult> {
  const pairs: VerifiedPair[] = [];
  for (const [i, pair] of job.pairs.entries()) {
    try {
      pairs.push(await verifyPair(machine, pair));
    } catch (e) {
      if (e instanceof JobFailure && job.pairs.length > 1)
        throw new JobFailure(e.code, `pair ${i}: ${e.message}`, e.detail);
      throw e;
    }
  }
  return { kind: "verify", pairs };
}

async function verifyPair(machine: Machine, pair: Pair): Promise<VerifiedPair> {
  const fused = await results(machine, pair.fused);
  const unfused = await results(machine, pair.unfused);
  if (fused.length !== unfused.length) throw new JobFailure("invalid-job", "the two plans have different outputs");
  return {
    outputs: fused.map((f, i) => ({ ...difference(f.values, unfused[i]?.values ?? []), dtype: f.dtype })),
  };
}

/** what a plan gives on filled inputs: its outputs, then the inputs that it wrote */
async function results(machine: Machine, g: Pair["fused"]): Promise<Values[]> {
  const loaded = await machine.load(g.plan, g.wat);
  // filled anew for each plan, since it may write its inputs
  const inputs: (Held | number)[] = g.plan.inputs.map((input, k) => {
    if ("symbol" in input) return input.value;
    const held = createTensor(machine, tensorSpec(input));
    const fill = /^(b?float|complex)/.test(input.dtype)
      ? ({ how: "randn", k } as const)
      : ({ how: "full", value: 0 } as const);
    fillTensor(machine, held.view, fill);
    return held;
  });
  const outputs = runPlan(machine, loaded, inputs);
  const mutated = inputs.filter((_, i) => g.plan.mutatedInputs.includes(g.plan.inputs[i]?.name ?? ""));
  const out = [...outputs, ...mutated].flatMap(o => (o && typeof o !== "number" ? [read(machine, o)] : []));
  for (const held of [...outputs, ...inputs]) if (held && typeof held !== "number") machine.release(held.base);
  return out;
}

function read(machine: Machine, held: Held): Values {
  const element = accessor(machine.buffer, held.view.dtype);
  const values = new Array<number>(numel(held.view.size));
  forEachElement(held.view, (flat, address) => {
    values[flat] = element.get(address);
  });
  return { dtype: held.view.dtype, values };
}

function difference(a: readonly number[], b: readonly number[]): { maxAbs: number; maxRel: number } {
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
