// In: one generated kernel's node schedule. Out: the text of the `schedule` artifact. Promises: pure.
import type { LogRecord } from "./log";
import { pythonStringRepr } from "./python_text";

/** Members of a kernel in order; the markers say where its reduction loop is closed and opened again. */
export type ScheduleEntry = { readonly type: string; readonly name: string } | "disable_reduction" | "enable_reduction";

const MARKER = {
  disable_reduction: "<class 'torch._inductor.codegen.simd_kernel_features.DisableReduction'>",
  enable_reduction: "<class 'torch._inductor.codegen.simd_kernel_features.EnableReduction'>",
} as const;

/** "Schedule:", then the list on a line of its own. */
function printSchedule(entries: readonly ScheduleEntry[]): string {
  const texts = entries.map(e => (typeof e === "string" ? MARKER[e] : `${e.type}(name=${pythonStringRepr(e.name)})`));
  return `Schedule:\n [${texts.join(", ")}]`;
}

/** one record per generated kernel, in launch order */
export function scheduleRecords(kernels: readonly (readonly ScheduleEntry[])[]): LogRecord[] {
  return kernels.map(entries => ({ level: "DEBUG", artifact: "schedule", message: printSchedule(entries) }));
}
