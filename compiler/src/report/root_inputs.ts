// The tensors that a root was called with, by parameter. In: its frames. Out: plain data at the example sizes. Promises: a
// frame's own parameters alone; weights and closed-over tensors are no inputs of the function.
import type { CapturedFrame } from "../dynamo/types";
import { isFakeTensor } from "./graph_report";
import type { RootInput } from "./types";

/** of the first frame: what follows a graph break takes what the first part made */
export function rootInputs(frames: readonly CapturedFrame[]): RootInput[] {
  const [first] = frames;
  if (!first) return [];
  return first.inputs.flatMap((input): RootInput[] => {
    const name = /^L\['(\w+)'\]$/.exec(input.source)?.[1];
    const val = input.node.meta.val;
    if (name === undefined || input.kind !== "tensor" || !isFakeTensor(val)) return [];
    const shape = val.shape.map(s => first.shapeEnv.hint(s) ?? 1);
    return [{ name, shape, dtype: `torch.${val.dtype}`, device: deviceText(val.device) }];
  });
}

function deviceText(d: { readonly type: string; readonly index: number | null }): string {
  return d.index ? `${d.type}:${d.index}` : d.type;
}
