// Reading an extern call's arguments.
import type { PlanArg } from "@fuselens/compiler/plan";
import type { TensorView } from "../tensors";
import type { ExternContext, ExternStep } from "./types";

/** argument by position or keyword */
export function argument(step: ExternStep, position: number, name?: string): PlanArg | undefined {
  const keyword = name === undefined ? undefined : step.kwargs.find(([k]) => k === name)?.[1];
  return keyword ?? step.args[position];
}

export function tensorAt(step: ExternStep, ctx: ExternContext, position: number): TensorView {
  const arg = step.args[position];
  if (!arg) return ctx.fail("invalid-job", `${step.op} lacks argument ${position}`);
  return ctx.tensor(arg);
}

export const isTensor = (arg: PlanArg | undefined): arg is PlanArg => arg?.kind === "buffer" || arg?.kind === "view";

export function optionalTensor(
  step: ExternStep,
  ctx: ExternContext,
  position: number,
  name?: string,
): TensorView | null {
  const arg = argument(step, position, name);
  return isTensor(arg) ? ctx.tensor(arg) : null;
}

export function numberOf(ctx: ExternContext, arg: PlanArg | undefined, otherwise: number): number {
  if (arg?.kind === "number") return arg.value;
  if (arg?.kind === "size") return ctx.size(arg.value);
  if (arg?.kind === "bool") return arg.value ? 1 : 0;
  return otherwise;
}

/** a list of numbers; a single one counts as a list */
export function numbersOf(ctx: ExternContext, arg: PlanArg | undefined): number[] {
  if (arg?.kind === "list") return arg.items.map(i => numberOf(ctx, i, 0));
  return arg === undefined || arg.kind === "none" ? [] : [numberOf(ctx, arg, 0)];
}

export function boolOf(arg: PlanArg | undefined, otherwise: boolean): boolean {
  if (arg?.kind === "number") return arg.value !== 0;
  return arg?.kind === "bool" ? arg.value : otherwise;
}

export function stringOf(arg: PlanArg | undefined, otherwise: string): string {
  return arg?.kind === "string" ? arg.value : otherwise;
}

/** a dim counted from the front */
export const wrapDim = (d: number, rank: number): number => (d < 0 ? d + Math.max(1, rank) : d);
