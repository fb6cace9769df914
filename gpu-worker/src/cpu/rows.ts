// A tensor as `fuselens values` reports it: sums and samples in float64, as the truth's values.py defines them.
import type { ValueRow } from "../protocol";
import type { Accessor } from "./dtypes";
import { uniform } from "./fill";

export interface TensorView {
  readonly size: readonly number[];
  /** in elements */
  readonly stride: readonly number[];
  /** byte address of element 0 */
  readonly address: number;
  readonly dtype: string;
  readonly itemSize: number;
}

const SAMPLES = 16;

export function numel(size: readonly number[]): number {
  return size.reduce((a, b) => a * b, 1);
}

/** calls f(flat index, byte address) for every element, row-major */
export function forEachElement(t: TensorView, f: (flat: number, address: number) => void): void {
  const total = numel(t.size);
  const rank = t.size.length;
  const index = new Array<number>(rank).fill(0);
  let offset = 0;
  for (let flat = 0; flat < total; flat++) {
    f(flat, t.address + offset * t.itemSize);
    for (let d = rank - 1; d >= 0; d--) {
      const size = t.size[d] ?? 1;
      const stride = t.stride[d] ?? 0;
      index[d] = (index[d] ?? 0) + 1;
      offset += stride;
      if ((index[d] ?? 0) < size) break;
      offset -= stride * size;
      index[d] = 0;
    }
  }
}

export function valueRow(t: TensorView, element: Accessor): ValueRow {
  const total = numel(t.size);
  const at = new Set<number>();
  if (total > 0) for (let j = 0; j < SAMPLES; j++) at.add(Math.floor(((total - 1) * j) / (SAMPLES - 1)));
  let sum = 0;
  let absSum = 0;
  let weighted = 0;
  const values: (number | string)[] = [];
  forEachElement(t, (flat, address) => {
    const v = element.get(address);
    sum += v;
    absSum += Math.abs(v);
    weighted += v * uniform(flat, 0);
    if (at.has(flat)) values.push(number(v));
  });
  return {
    shape: [...t.size],
    dtype: `torch.${t.dtype}`,
    sum: number(sum),
    abs_sum: number(absSum),
    wsum: number(weighted),
    at: [...at].sort((a, b) => a - b),
    values,
  };
}

function number(x: number): number | string {
  if (Number.isNaN(x)) return "nan";
  return x === Number.POSITIVE_INFINITY ? "inf" : x === Number.NEGATIVE_INFINITY ? "-inf" : x;
}
