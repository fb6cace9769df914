// Fused plans against the unfused ones on the same inputs: largest error per output. What a pair held is released before
// the next one runs, but for what the unfused plan gave, where the next pair has the same plan.
import type { Job, VerifiedPair, VerifyResult } from "../protocol";
import { COPY_BUILTINS } from "./builtins/index";
import { difference } from "./compare";
import { createTensor, exampleFill, fillTensor, tensorSpec } from "./inputs";
import type { Machine } from "./machine";
import { inputBytes, requireMemory } from "./peak";
import { runPlan } from "./plan_run";
import { type Held, JobFailure } from "./tensors";

type VerifyJob = Extract<Job, { kind: "verify" }>;
type Pair = VerifyJob["pairs"][number];

export async function runVerify(machine: Machine, job: VerifyJob): Promise<VerifyResult> {
  await machine.loadBuiltins(COPY_BUILTINS); // what fills strided tensors
  const pairs: VerifiedPair[] = [];
  const reference = new Reference(machine);
  try {
    for (const [i, pair] of job.pairs.entries()) {
      try {
        pairs.push(await verifyPair(machine, pair, reference));
      } catch (e) {
        if (e instanceof JobFailure && job.pairs.length > 1)
          throw new JobFailure(e.code, `pair ${i}: ${e.message}`, e.detail);
        throw e;
      }
    }
  } finally {
    reference.release();
  }
  return { kind: "verify", pairs };
}

/** what the last unfused plan gave: the next pair often has the same one, under another preset */
class Reference {
  private plan = "";
  private held: readonly Held[] = [];

  constructor(private readonly machine: Machine) {}

  async of(unfused: Pair["unfused"]): Promise<readonly Held[]> {
    const plan = JSON.stringify(unfused);
    if (plan === this.plan) return this.held;
    this.release();
    this.held = await results(this.machine, unfused);
    this.plan = plan;
    return this.held;
  }

  release(): void {
    for (const held of this.held) this.machine.release(held.base);
    this.held = [];
    this.plan = "";
  }
}

async function verifyPair(machine: Machine, pair: Pair, reference: Reference): Promise<VerifiedPair> {
  const unfused = await reference.of(pair.unfused);
  const fused = await results(machine, pair.fused);
  try {
    if (fused.length !== unfused.length) throw new JobFailure("invalid-job", "the two plans have different outputs");
    return {
      outputs: fused.map((f, i) => ({
        ...difference(machine.buffer, f.view, (unfused[i] as Held).view),
        dtype: f.view.dtype,
      })),
    };
  } finally {
    for (const held of fused) machine.release(held.base);
  }
}

/** what a plan gives on filled inputs: its outputs, then the inputs that it wrote. The caller releases them. */
async function results(machine: Machine, g: Pair["fused"]): Promise<Held[]> {
  requireMemory(machine, g.plan, g.wat, undefined, inputBytes(g.plan));
  const loaded = await machine.load(g.plan, g.wat);
  const inputs: (Held | number)[] = [];
  try {
    // filled anew for each plan, since it may write its inputs
    g.plan.inputs.forEach((input, k) => {
      if ("symbol" in input) {
        inputs.push(input.value);
        return;
      }
      const held = createTensor(machine, tensorSpec(input));
      inputs.push(held);
      fillTensor(machine, held.view, exampleFill(input, k));
    });
    const outputs = runPlan(machine, loaded, inputs);
    const mutated = inputs.filter((_, i) => g.plan.mutatedInputs.includes(g.plan.inputs[i]?.name ?? ""));
    for (const m of mutated) if (typeof m !== "number") machine.hold(m.base);
    return [...outputs, ...mutated].filter((o): o is Held => o !== null && typeof o !== "number");
  } finally {
    for (const held of inputs) if (typeof held !== "number") machine.release(held.base);
  }
}
