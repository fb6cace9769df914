// Expressions as plan data. In: sizes and layouts of a lowered graph. Out: numbers, or Python text with an example value.
import type { GraphView, TensorLayout } from "../codegen/triton/graph_view";
import type { BufferView } from "../ir/types";
import { type Expr, intValue } from "../symbolic/expr";
import { printPython } from "../symbolic/print_python";
import type { PlanArg, PlanSize, PlanTensor } from "./types";

export function planSize(e: Expr, view: GraphView): PlanSize {
  const simple = view.sizevars.simplify(e);
  const number = intValue(simple);
  if (number !== undefined) return number;
  const size = { text: printPython(simple), value: view.sizevars.sizeHint(simple, 8192) };
  const meaning = simple.kind === "sym" ? view.sizevars.invPrecomputedReplacements.get(simple) : undefined;
  return meaning === undefined ? size : { ...size, meaning: printPython(meaning) };
}
export const sizeValue = (s: PlanSize): number => (typeof s === "number" ? s : s.value);
export const sizeText = (s: PlanSize): string => (typeof s === "number" ? String(s) : s.text);
export const sameSizes = (a: readonly PlanSize[], b: readonly PlanSize[]): boolean =>
  a.length === b.length && a.every((x, i) => sizeText(x) === sizeText(b[i] as PlanSize));

export function planTensor(name: string, l: TensorLayout, view: GraphView): PlanTensor {
  return {
    name,
    size: l.size.map(s => planSize(s, view)),
    stride: l.stride.map(s => planSize(s, view)),
    offset: planSize(l.offset, view),
    dtype: l.dtype,
    device: l.device.index === null ? l.device.type : `${l.device.type}:${l.device.index}`,
  };
}

/** a buffer by name, or the view that reinterpret_tensor makes of it */
export function planView(v: BufferView, view: GraphView): PlanArg {
  if (v.whole) return { kind: "buffer", name: v.buffer };
  return {
    kind: "view",
    buffer: v.buffer,
    size: v.size.map(s => planSize(s, view)),
    stride: v.stride.map(s => planSize(s, view)),
    offset: planSize(v.offset, view),
    dtype: v.dtype,
  };
}

/** names of the buffers that arguments are, or are views of */
export const buffersOf = (args: readonly PlanArg[]): string[] =>
  args.flatMap(a => {
    if (a.kind === "buffer") return [a.name];
    if (a.kind === "view") return [a.buffer];
    return a.kind === "list" ? buffersOf(a.items) : [];
  });
