// A tensor as `fuselens values` reports it: sums and samples in float64, as the truth's values.py defines them.
import type { ValueRow } from "../protocol";
import { PARTIAL_BYTES, SUM_CHUNK } from "./builtins/hash_texts";
import { accessor } from "./dtypes";
import { uniform } from "./fill";
import type { Machine } from "./machine";
import { forEachElement, isContiguous, numel, type TensorView } from "./tensors";

const SAMPLES = 16;

export function valueRow(machine: Machine, t: TensorView): ValueRow {
  const total = numel(t.size);
  const at = new Set<number>();
  if (total > 0) for (let j = 0; j < SAMPLES; j++) at.add(Math.floor(((total - 1) * j) / (SAMPLES - 1)));
  const flats = [...at].sort((a, b) => a - b);
  const element = accessor(machine.buffer, t.dtype);
  const { sum, absSum, weighted } = sums(machine, t);
  return {
    shape: [...t.size],
    dtype: `torch.${t.dtype}`,
    sum: number(sum),
    abs_sum: number(absSum),
    wsum: number(weighted),
    at: flats,
    values: flats.map(flat => number(element.get(addressOf(t, flat)))),
  };
}

/** byte address of a row-major element */
function addressOf(t: TensorView, flat: number): number {
  let rest = flat;
  let offset = 0;
  for (let d = t.size.length - 1; d >= 0; d--) {
    const size = t.size[d] ?? 1;
    offset += (rest % size) * (t.stride[d] ?? 0);
    rest = Math.floor(rest / size);
  }
  return t.address + offset * t.itemSize;
}

interface Sums {
  readonly sum: number;
  readonly absSum: number;
  readonly weighted: number;
}

function sums(machine: Machine, t: TensorView): Sums {
  const total = numel(t.size);
  if (total > 0 && isContiguous(t) && machine.has(`sums_${t.dtype}`)) return chunkedSums(machine, t, total);
  const element = accessor(machine.buffer, t.dtype);
  let sum = 0;
  let absSum = 0;
  let weighted = 0;
  forEachElement(t, (flat, address) => {
    const v = element.get(address);
    sum += v;
    absSum += Math.abs(v);
    weighted += v * uniform(flat, 0);
  });
  return { sum, absSum, weighted };
}

function chunkedSums(machine: Machine, t: TensorView, total: number): Sums {
  const chunks = Math.ceil(total / SUM_CHUNK);
  return machine.borrow(chunks * PARTIAL_BYTES, partials => {
    machine.builtin(`sums_${t.dtype}`, [t.address, total, partials], chunks, 1);
    const parts = new Float64Array(machine.buffer, partials, (chunks * PARTIAL_BYTES) / 8);
    const out = { sum: 0, absSum: 0, weighted: 0 };
    for (let i = 0; i < parts.length; i += 3) {
      out.sum += parts[i] as number;
      out.absSum += parts[i + 1] as number;
      out.weighted += parts[i + 2] as number;
    }
    return out;
  });
}

function number(x: number): number | string {
  if (Number.isNaN(x)) return "nan";
  return x === Number.POSITIVE_INFINITY ? "inf" : x === Number.NEGATIVE_INFINITY ? "-inf" : x;
}
