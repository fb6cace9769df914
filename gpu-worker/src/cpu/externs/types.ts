// What an extern kernel gets and gives.
import type { PlanArg, PlanSize, PlanStep, PlanTensor } from "@fuselens/compiler/plan";
import type { ErrorCode } from "../../protocol";
import type { Machine } from "../machine";
import type { Held, TensorView } from "../tensors";

export type ExternStep = Extract<PlanStep, { kind: "extern" }>;

/** a tensor that an extern call made, with the allocation that holds it; null for a result that is None */
export type ExternValue = Held | null;

export interface ExternContext {
  readonly machine: Machine;
  readonly buffer: ArrayBufferLike;
  tensor(arg: PlanArg): TensorView;
  /** the tensor with its allocation, for results that share it (`machine.hold` it) */
  held(arg: PlanArg): Held;
  size(s: PlanSize): number;
  create(t: PlanTensor): Held;
  named(name: string): TensorView;
  fail(code: ErrorCode, message: string): never;
}

/** Results that were created or held are the caller's to release. */
export type ExternFunction = (step: ExternStep, ctx: ExternContext) => readonly ExternValue[];
