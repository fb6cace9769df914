// Constants on the device of the kernels that read them (GraphLowering.constant_name). In: a plan's constants and steps.
// Out: the same, where a kernel of a GPU reads a copy of a constant that was written for the CPU.
import type { ExecutablePlan, PlanArg, PlanStep } from "./types";

type Constant = ExecutablePlan["constants"][number];

export function constantsOnDevice(
  constants: readonly Constant[],
  steps: readonly PlanStep[],
  device: string,
): { constants: readonly Constant[]; steps: readonly PlanStep[] } {
  const elsewhere = new Map(constants.filter(c => c.device === "cpu" && device !== "cpu").map(c => [c.name, c]));
  if (elsewhere.size === 0) return { constants, steps };
  const copies = new Map<string, Constant>();
  const moved = (a: PlanArg): PlanArg => {
    const constant = a.kind === "buffer" ? elsewhere.get(a.name) : undefined;
    if (constant === undefined) return a;
    const name = `${constant.name}_${device.replace(":", "")}`;
    copies.set(constant.name, { ...constant, name, device });
    return { kind: "buffer", name };
  };
  const rest = steps.map(s => (s.kind === "launch" ? { ...s, args: s.args.map(moved) } : s));
  const read = new Set(
    rest.flatMap(s => (s.kind === "extern" ? s.args : [])).flatMap(a => (a.kind === "buffer" ? [a.name] : [])),
  );
  const kept = constants.flatMap(c => {
    const copy = copies.get(c.name);
    if (copy === undefined) return [c];
    return read.has(c.name) ? [c, copy] : [copy];
  });
  return { constants: kept, steps: rest };
}
