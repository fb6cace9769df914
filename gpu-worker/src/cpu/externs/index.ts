// Kernels that a plan calls rather than generates. Each is an implementation over tensor views in the one memory;
// the files beside this one hold them by family. A name without an entry is `unsupported`, with that name.
import { NoElementAccess } from "../dtypes";
import { attention } from "./attention";
import { cells } from "./cells";
import { complex } from "./complex";
import { complexMath } from "./complex_math";
import { complexParts } from "./complex_parts";
import { complexCopies, complexViews } from "./complex_views";
import { convolution } from "./convolution";
import { dataDependent } from "./data_dependent";
import { elementwise } from "./elementwise";
import { indexing } from "./indexing";
import { linalg } from "./linalg";
import { lists } from "./lists";
import { matmul } from "./matmul";
import { ordering } from "./ordering";
import { pooling } from "./pooling";
import { products } from "./products";
import { random } from "./random";
import { recurrent } from "./recurrent";
import { sampling } from "./sampling";
import { scans } from "./scans";
import type { ExternContext, ExternFunction, ExternStep, ExternValue } from "./types";
import { weightNorm } from "./weight_norm";

/** by operator name, with overload where one differs: "aten.mm", "aten.index_reduce.default" */
const FUNCTIONS: ReadonlyMap<string, ExternFunction> = new Map(
  [
    matmul,
    convolution,
    attention,
    ordering,
    scans,
    indexing,
    pooling,
    elementwise,
    random,
    dataDependent,
    linalg,
    lists,
    cells,
    recurrent,
    weightNorm,
    sampling,
    products,
    complex,
    complexMath,
    complexParts,
    complexViews,
    complexCopies,
  ].flatMap(family => Object.entries(family)),
);

const packetOf = (op: string): string => op.split(".").slice(0, 2).join(".");

export function runExtern(step: ExternStep, ctx: ExternContext): readonly ExternValue[] {
  const run = FUNCTIONS.get(step.op) ?? FUNCTIONS.get(packetOf(step.op));
  if (!run) return ctx.fail("unsupported", step.opaque ?? `the CPU executor has no ${step.op}`);
  try {
    return run(step, ctx);
  } catch (e) {
    if (e instanceof NoElementAccess)
      return ctx.fail("unsupported", `the CPU executor has no ${step.op} of ${e.dtype}`);
    throw e;
  }
}

/** whether the call's results are its first argument's memory seen otherwise */
export const isView = (op: string): boolean => Object.hasOwn(complexViews, packetOf(op));

export function isSupportedExtern(op: string): boolean {
  return FUNCTIONS.has(op) || FUNCTIONS.has(packetOf(op));
}
