// What tests of hand-written kernels share: each kernel is run through wabt and compared with what its body means.
import type { DType } from "@fuselens/compiler/aten/types";
import { int } from "@fuselens/compiler/inductor/symbolic/expr";
import { InternTable, withInternTable } from "@fuselens/compiler/inductor/symbolic/index";
import { expect, it } from "vitest";
import { type CheckOptions, KernelChecker } from "./check_kernel";
import { type HandGraph, handSchedule } from "./hand_built";

/** runs every kernel of the graph and compares; returns the checker, for looking at values */
export function check(
  g: HandGraph,
  options: CheckOptions = {},
): { checker: KernelChecker; kernels: number; texts: string[] } {
  const schedule = handSchedule(g);
  const checker = new KernelChecker(schedule, { limit: 1e7, ...options });
  const results = checker.run();
  for (const r of results) {
    expect(r.ran).toBe(true);
    expect(r.differences, r.kernel.text).toEqual([]);
  }
  return { checker, kernels: results.length, texts: results.map(r => r.kernel.text) };
}

/** a test with expressions of its own */
export const test = (name: string, run: () => void): void => it(name, () => withInternTable(new InternTable(), run));

/** where a loop variable is missing, which it is not */
export const X = int(37);
export const f32 = (size: readonly number[]) => ({ dtype: "float32" as DType, size });
