// Which compiled frames a backward pass runs through. In: the program's steps so far and the tensors it begins at. Out:
// the numbers of the frames, latest first, as autograd's engine comes to them and torch compiles their backward graphs.
import type { RuntimeStep, RuntimeTensor } from "../dynamo/types";

type Backward = Extract<RuntimeStep, { readonly kind: "backward" }>;

export function framesBehind(steps: readonly RuntimeStep[], { roots }: Backward): number[] {
  const reached = new Set(roots.map(t => t.id));
  const frames: number[] = [];
  const isReached = (t: RuntimeTensor | null): boolean => t !== null && reached.has(t.id);
  const reach = (inputs: readonly (RuntimeTensor | number)[]): void => {
    for (const t of inputs) if (typeof t !== "number") reached.add(t.id);
  };
  for (const step of [...steps].reverse()) {
    if (step.kind !== "call" && step.kind !== "eager") continue;
    if (!step.outputs.some(isReached)) continue;
    if (step.kind === "call") frames.push(step.frame.id);
    else if (step.graph.nodes.some(n => n.target === "detach")) continue;
    reach(step.inputs);
  }
  return frames;
}
