// What kernels move. Without the schemas of messages, which the CPU executor's bundle does without: it starts sooner.
import type { ExecutablePlan } from "@fuselens/compiler/plan";

/** bytes of all launches of each generated kernel in one run of the plan, by its name */
export function bytesByKernel(plan: ExecutablePlan): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>();
  for (const s of plan.steps) {
    const k = s.kind === "launch" ? plan.kernels[s.kernel] : undefined;
    if (k) bytes.set(k.name, (bytes.get(k.name) ?? 0) + k.bytes);
  }
  return bytes;
}
