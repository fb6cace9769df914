// The layout of operands as part of a way to compute a product ("library_padded"). In: a way's text, configuration. Out: its
// parts. Promises: a way without a layout in it means operands as they are given.

import type { GemmWay } from "../templates/forms";

/** given: as lowering left them. padded: rows copied to aligned places. viewed: read through a view where lowering copied. */
export type OperandWay = "given" | "padded" | "viewed";

type OneWay = GemmWay | "library";
/** how the product is computed and, where it may lie otherwise than given, how its operands lie */
export type Way = OneWay | `${OneWay}_${Exclude<OperandWay, "given">}`;

const SUFFIX = /_(padded|viewed)$/;

/** A way apart: how the product is computed, and how its operands lie. */
export function wayParts(text: string): { readonly base: string; readonly operands: OperandWay } {
  const operands = SUFFIX.exec(text)?.[1] as OperandWay | undefined;
  return operands === undefined ? { base: text, operands: "given" } : { base: text.replace(SUFFIX, ""), operands };
}

export const withOperands = <W extends string>(base: W, operands: Exclude<OperandWay, "given">) =>
  `${base}_${operands}` as const;
