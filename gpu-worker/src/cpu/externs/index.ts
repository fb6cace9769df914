// Kernels that a plan calls rather than generates. Each is an implementation over tensor views in the one memory;
// `externs/*.ts` hold them by family. A name without an entry is `unsupported`, with that name.
import type { PlanArg, PlanStep, PlanTensor } from "@fuselens/compiler/plan";
import type { ErrorCode } from "../protocol";
import { attention } from "./externs/attention";
import { convolution } from "./externs/convolution";
import { matmul } from "./externs/matmul";
import { ordering } from "./externs/ordering";
import type { TensorView } from "./rows";

export type ExternStep = Extract<PlanStep, { kind: "extern" }>;

/** a tensor that an extern call made, with the allocation that holds it; null for a result that is None */
export type ExternValue = { readonly view: TensorView; readonly base: number } | null;

export interface ExternContext {
  readonly buffer: ArrayBufferLike;
  tensor(arg: PlanArg): TensorView;
  create(t: PlanTensor): { readonly view: TensorView; readonly base: number };
  named(name: string): TensorView;
  fail(code: ErrorCode, message: string): never;
}

export type ExternFunction = (step: ExternStep, ctx: ExternContext) => readonly ExternValue[];

/** by operator name without overload: "aten.mm", "aten.convolution" */
const FUNCTIONS: Readonly<Record<string, ExternFunction>> = { ...matmul, ...convolution, ...attention, ...ordering };

export function runExtern(step: ExternStep, ctx: ExternContext): readonly ExternValue[] {
  const name = step.op.split(".").slice(0, 2).join(".");
  const run = FUNCTIONS[step.op] ?? FUNCTIONS[name];
  if (!run) return ctx.fail("unsupported", `the CPU executor has no ${step.op}`);
  return run(step, ctx);
}

export function isSupportedExtern(op: string): boolean {
  return op in FUNCTIONS || op.split(".").slice(0, 2).join(".") in FUNCTIONS;
}
