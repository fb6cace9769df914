// What a plan's kernels are compiled for. In: a plan. Out: each kernel with the arguments of its launches, as far as Triton
// specialises on them. Promises: data alone; a launch that repeats another's is left out. A kernel that is launched with
// other arguments than these is compiled at that launch.
import type { ExecutablePlan, PlanArg, PlanSize } from "@fuselens/compiler/plan";
import { itemSize } from "../cpu/dtypes";

/** the kernel's name; per argument its value, for a pointer its address modulo POINTER_ALIGNMENT */
export type Launch = readonly [kernel: string, args: readonly (number | boolean)[]];

/** bytes; Triton generates other loads for pointers that are multiples of it */
const POINTER_ALIGNMENT = 16;

export function launchesOf(plan: ExecutablePlan): Launch[] {
  const offsets = new Map<string, number>();
  for (const s of plan.steps)
    if (s.kind === "allocate") offsets.set(s.tensor.name, sizeOf(s.tensor.offset) * itemSize(s.tensor.dtype));
  const seen = new Set<string>();
  const out: Launch[] = [];
  for (const s of plan.steps) {
    const kernel = s.kind === "launch" ? plan.kernels[s.kernel] : undefined;
    if (s.kind !== "launch" || !kernel) continue;
    const launch: Launch = [kernel.name, s.args.map(a => argumentOf(a, offsets))];
    const key = JSON.stringify(launch);
    if (seen.has(key)) continue;
    seen.add(key);
    out.push(launch);
  }
  return out;
}

const sizeOf = (s: PlanSize): number => (typeof s === "number" ? s : s.value);

function argumentOf(a: PlanArg, offsets: ReadonlyMap<string, number>): number | boolean {
  switch (a.kind) {
    case "buffer":
      return (offsets.get(a.name) ?? 0) % POINTER_ALIGNMENT;
    case "view":
      return ((offsets.get(a.buffer) ?? 0) + sizeOf(a.offset) * itemSize(a.dtype)) % POINTER_ALIGNMENT;
    case "size":
      return sizeOf(a.value);
    case "number":
    case "bool":
      return a.value;
    default:
      return 0; // kernels take nothing else
  }
}
