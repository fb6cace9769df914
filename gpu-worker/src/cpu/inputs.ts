// Tensors filled as a Fill says, in a machine's memory.
import type { PlanInput, PlanSize, PlanTensor } from "@fuselens/compiler/plan";
import { canSpread, spread } from "./dense";
import { accessor } from "./dtypes";
import { type FillSpec, fillNumbers, fillValue } from "./fill";
import type { Machine } from "./machine";
import { contiguousStride, forEachElement, type Held, inParts, isContiguous, numel, type TensorView } from "./tensors";

export interface TensorSpec {
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly dtype: string;
}

const GRAIN = 65536;

/** a plan's tensor at the example sizes */
export function tensorSpec(t: PlanTensor): TensorSpec {
  const value = (s: PlanSize): number => (typeof s === "number" ? s : s.value);
  return { size: t.size.map(value), stride: t.stride.map(value), dtype: t.dtype };
}

/** what a plan's k-th input holds when it is run without a program: the same numbers in every run */
export function exampleFill(input: PlanInput, k: number): FillSpec {
  if (/^(b?float|complex)/.test(input.dtype)) return { how: "randn", k };
  return input.below === undefined ? { how: "full", value: 0 } : { how: "randint", k, low: 0, high: input.below };
}

export function createTensor(machine: Machine, spec: TensorSpec): Held {
  return machine.create(spec.size, spec.stride, spec.dtype);
}

/** Both parts of a complex number follow the hash, each as an element of its own; a number that is given is the real part. */
export function fillTensor(machine: Machine, tensor: TensorView, fill: FillSpec): void {
  const view = inParts(tensor);
  if (view !== tensor && (fill.how === "full" || fill.how === "data")) {
    const part = accessor(machine.buffer, view.dtype);
    forEachElement(tensor, (flat, address) => {
      part.set(address, fillValue(fill, flat, 1));
      part.set(address + view.itemSize, 0);
    });
    return;
  }
  const total = numel(view.size);
  if (total === 0) return;
  const rowLength = view.size.length ? total / Math.max(1, view.size[0] ?? 1) : 1;
  const numbers = fillNumbers(fill, rowLength);
  const kernel = `fill_${view.dtype}`;
  if (numbers && machine.has(kernel) && !isContiguous(view) && canSpread(machine, view)) {
    machine.borrow(total * view.itemSize, address => {
      fillTensor(machine, { ...view, address, stride: contiguousStride(view.size) }, fill);
      spread(machine, address, view);
    });
    return;
  }
  if (numbers && isContiguous(view) && machine.has(kernel)) {
    machine.borrow(8 * numbers.length, address => {
      new Float64Array(machine.buffer, address, numbers.length).set(numbers);
      machine.builtin(kernel, [view.address, "k" in fill ? fill.k : 0, address], total, GRAIN);
    });
    return;
  }
  const element = accessor(machine.buffer, view.dtype);
  forEachElement(view, (flat, address) => element.set(address, fillValue(fill, flat, rowLength)));
}
