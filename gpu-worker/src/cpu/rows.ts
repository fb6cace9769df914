// A tensor as `fuselens values` reports it: shape, dtype, sums and samples in float64. The weighted sum (each value times
// u of its flat index) is summed in the order of PyTorch's GPU kernel, so that it can be compared to the last bit.
import type { ValueRow } from "../protocol";
import { PARTIAL_BYTES, SUM_SCRATCH, SUM_THREADS } from "./builtins/hash_texts";
import { joinThreads, type SumShape, shortSum, sumShape } from "./cuda_sum";
import { accessor } from "./dtypes";
import { uniform } from "./fill";
import type { Machine } from "./machine";
import { forEachElement, inParts, isContiguous, numel, type TensorView } from "./tensors";

const SAMPLES = 16;

/** of a complex tensor: the row of its parts, under its own shape's and dtype's names */
export function valueRow(machine: Machine, tensor: TensorView): ValueRow {
  const t = inParts(tensor);
  const total = numel(t.size);
  const at = new Set<number>();
  if (total > 0) for (let j = 0; j < SAMPLES; j++) at.add(Math.floor(((total - 1) * j) / (SAMPLES - 1)));
  const flats = [...at].sort((a, b) => a - b);
  const element = accessor(machine.buffer, t.dtype);
  const { sum, absSum, weighted } = sums(machine, t);
  return {
    shape: [...tensor.size],
    dtype: `torch.${tensor.dtype}`,
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
  const shape = sumShape(total);
  if (shape.vectorized && isContiguous(t) && machine.has(`sums_${t.dtype}`)) return longSums(machine, t, total);
  const element = accessor(machine.buffer, t.dtype);
  const weighted = new Float64Array(total);
  let sum = 0;
  let absSum = 0;
  forEachElement(t, (flat, address) => {
    const v = element.get(address);
    sum += v;
    absSum += Math.abs(v);
    weighted[flat] = v * uniform(flat, 0);
  });
  return { sum, absSum, weighted: shape.vectorized ? weightedSum(weighted, shape) : shortSum(weighted) };
}

/** as the kernel does it, for tensors that it does not read */
function weightedSum(values: Float64Array, shape: SumShape): number {
  const threads = shape.width * shape.blocks;
  const whole = values.length - (values.length % 4);
  const sums = new Float64Array(4 * threads);
  for (let i = 0; i < whole; i++) {
    const at = i % (4 * threads);
    sums[at] = (sums[at] as number) + (values[i] as number);
  }
  for (let i = whole; i < values.length; i++)
    sums[4 * (i - whole)] = (sums[4 * (i - whole)] as number) + (values[i] as number);
  const joined = Float64Array.from({ length: threads }, (_, q) => {
    const [a = 0, b = 0, c = 0, d = 0] = sums.subarray(4 * q, 4 * q + 4);
    return a + b + c + d;
  });
  return joinThreads(joined, shape);
}

function longSums(machine: Machine, t: TensorView, total: number): Sums {
  const shape = sumShape(total);
  const threads = shape.width * shape.blocks;
  const chunks = Math.ceil(threads / SUM_THREADS);
  return machine.borrow(8 * threads, sumsAt =>
    machine.borrow(chunks * PARTIAL_BYTES, partials => {
      const args = [t.address, total, sumsAt, partials, threads, shape.width];
      machine.builtin(`sums_${t.dtype}`, args, chunks, 1, SUM_SCRATCH);
      const parts = new Float64Array(machine.buffer, partials, 2 * chunks);
      let sum = 0;
      let absSum = 0;
      for (let i = 0; i < parts.length; i += 2) {
        sum += parts[i] as number;
        absSum += parts[i + 1] as number;
      }
      return { sum, absSum, weighted: joinThreads(new Float64Array(machine.buffer, sumsAt, threads), shape) };
    }),
  );
}

function number(x: number): number | string {
  if (Number.isNaN(x)) return "nan";
  return x === Number.POSITIVE_INFINITY ? "inf" : x === Number.NEGATIVE_INFINITY ? "-inf" : x;
}
