// Reading an extern call's arguments.
import type { PlanArg } from "@fuselens/compiler/plan";
import type { ExternContext, ExternStep } from "../externs";
import type { TensorView } from "../rows";

/** argument by position or keyword */
export function argument(step: ExternStep, position: number, name?: string): PlanArg | undefined {
  return step.args[position] ?? (name === undefined ? undefined : step.kwargs.find(([k]) => k === name)?.[1]);
}

export function tensorAt(step: ExternStep, ctx: ExternContext, position: number): TensorView {
  const arg = step.args[position];
  if (!arg) return ctx.fail("invalid-job", `${step.op} lacks argument ${position}`);
  return ctx.tensor(arg);
}

export function optionalTensor(
  step: ExternStep,
  ctx: ExternContext,
  position: number,
  name?: string,
): TensorView | null {
  const arg = argument(step, position, name);
  return arg && arg.kind !== "none" ? ctx.tensor(arg) : null;
}

export function numberOf(arg: PlanArg | undefined, otherwise: number): number {
  if (arg?.kind === "number") return arg.value;
  if (arg?.kind === "size") return typeof arg.value === "number" ? arg.value : arg.value.value;
  if (arg?.kind === "bool") return arg.value ? 1 : 0;
  return otherwise;
}

export function numbersOf(arg: PlanArg | undefined): number[] {
  return arg?.kind === "list" ? arg.items.map(i => numberOf(i, 0)) : [];
}

export function boolOf(arg: PlanArg | undefined, otherwise: boolean): boolean {
  return arg?.kind === "bool" ? arg.value : otherwise;
}

/** where an out= call writes */
export function outTensor(step: ExternStep, ctx: ExternContext): TensorView {
  return ctx.named(step.output);
}
