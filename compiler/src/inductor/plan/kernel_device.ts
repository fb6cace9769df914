// Memory on the device of the kernels that use it (GraphLowering.constant_name). In: a plan's constants, steps and outputs.
// Out: the same, where a GPU's kernel reads a copy of a constant that was written for the CPU, and what a program computes
// on the CPU on its way to the GPU is computed there. Promises: what a caller or another operator wants on the CPU stays.
import { buffersOf } from "./sizes";
import type { ExecutablePlan, PlanArg, PlanStep } from "./types";

type Constant = ExecutablePlan["constants"][number];

interface Placed {
  readonly constants: readonly Constant[];
  readonly steps: readonly PlanStep[];
}

export function onKernelDevice(
  constants: readonly Constant[],
  steps: readonly PlanStep[],
  outputs: readonly PlanArg[],
  device: string,
): Placed {
  return device === "cpu"
    ? { constants, steps }
    : constantsOnDevice(constants, computedOnDevice(steps, outputs, device), device);
}

function constantsOnDevice(constants: readonly Constant[], steps: readonly PlanStep[], device: string): Placed {
  const elsewhere = new Map(constants.filter(c => c.device === "cpu").map(c => [c.name, c]));
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
  const called = new Set(rest.flatMap(s => (s.kind === "extern" ? buffersOf(s.args) : [])));
  const kept = constants.flatMap(c => {
    const copy = copies.get(c.name);
    if (copy === undefined) return [c];
    return called.has(c.name) ? [c, copy] : [copy];
  });
  return { constants: kept, steps: rest };
}

/** buffers of the CPU that kernels write or read, and nothing else but copies to the device does, moved to the device */
function computedOnDevice(
  steps: readonly PlanStep[],
  outputs: readonly PlanArg[],
  device: string,
): readonly PlanStep[] {
  const own = new Set(steps.flatMap(s => (s.kind === "allocate" && s.tensor.device === "cpu" ? [s.tensor.name] : [])));
  if (own.size === 0) return steps;
  const launched = new Set(steps.flatMap(s => (s.kind === "launch" ? buffersOf(s.args) : [])));
  const wanted = new Set([
    ...buffersOf(outputs),
    ...steps.flatMap(s => (s.kind === "extern" && s.op !== "aten.copy_.default" ? buffersOf(s.args) : [])),
  ]);
  if ([...own].some(n => wanted.has(n) || !launched.has(n))) return steps;
  return steps.map(s =>
    s.kind === "allocate" && own.has(s.tensor.name) ? { ...s, tensor: { ...s.tensor, device } } : s,
  );
}
