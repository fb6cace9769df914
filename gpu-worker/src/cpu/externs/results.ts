// Where an extern call's results go: the tensors that the plan describes, filled by the kernel.
import type { Held, TensorView } from "../tensors";
import type { ExternContext, ExternStep, ExternValue } from "./types";

/** Writes a call's only result: into its out= tensor, or into one that is made for it. */
export function oneResult(
  step: ExternStep,
  ctx: ExternContext,
  fill: (out: TensorView) => void,
): readonly ExternValue[] {
  if (step.call === "out") {
    fill(ctx.named(step.output));
    return [];
  }
  const [result] = step.results;
  if (!result) return ctx.fail("invalid-job", `${step.op} has no result`);
  const held = ctx.create(result);
  fill(held.view);
  return [held];
}

/** Makes all results that are used and hands them over; null stands for one that is not. */
export function manyResults(
  step: ExternStep,
  ctx: ExternContext,
  fill: (outs: readonly (TensorView | null)[]) => void,
): readonly ExternValue[] {
  if (step.call === "out") {
    // a template's call: its first result lies where the kernel would write it, no other is used
    fill([ctx.named(step.output), ...step.results.slice(1).map(() => null)]);
    return [];
  }
  const held: (Held | null)[] = step.results.map(r => (r ? ctx.create(r) : null));
  fill(held.map(h => h?.view ?? null));
  return held;
}
