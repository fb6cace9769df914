// Tensors filled as a Fill says, in a machine's memory.
import { accessor, itemSize } from "./dtypes";
import { type FillSpec, fillValue } from "./fill";
import { type Held, type Machine, storageBytes } from "./machine";
import { forEachElement, numel, type TensorView } from "./rows";

export interface TensorSpec {
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly dtype: string;
}

export function createTensor(machine: Machine, spec: TensorSpec): Held {
  const base = machine.allocate(storageBytes(spec.size, spec.stride, 0, spec.dtype));
  return { base, view: { ...spec, address: base, itemSize: itemSize(spec.dtype) } };
}

export function fillTensor(machine: Machine, view: TensorView, fill: FillSpec): void {
  const element = accessor(machine.buffer, view.dtype);
  const rowLength = view.size.length ? numel(view.size) / Math.max(1, view.size[0] ?? 1) : 1;
  forEachElement(view, (flat, address) => element.set(address, fillValue(fill, flat, rowLength)));
}
