// Strided tensors of any float or integer dtype as contiguous float32 in the machine's memory, and back.
import { accessor } from "./dtypes";
import type { Machine } from "./machine";
import { contiguousStride, forEachElement, isContiguous, numel, type TensorView } from "./tensors";

const GRAIN_ELEMENTS = 16384;

export type Floats = Float32Array | Float64Array;

interface Box {
  readonly size: readonly number[];
  /** in elements */
  readonly stride: readonly number[];
}

/** the same elements in as few dims as they lie in; dims of one element vanish */
export function collapse(t: Box): { size: number[]; stride: number[] } {
  const size: number[] = [];
  const stride: number[] = [];
  t.size.forEach((s, d) => {
    if (s === 1) return;
    const last = size.length - 1;
    const step = t.stride[d] ?? 0;
    if (last >= 0 && stride[last] === step * s) {
      size[last] = (size[last] as number) * s;
      stride[last] = step;
    } else {
      size.push(s);
      stride.push(step);
    }
  });
  return { size, stride };
}

/** runs a rows kernel of copy_texts.ts over a strided tensor and a dense one; dims beyond four are looped here */
function rowsKernel(m: Machine, name: string, t: TensorView, dense: number, denseBytes: number): void {
  const { size, stride } = collapse(t);
  while (size.length < 4) {
    size.unshift(1);
    stride.unshift(0);
  }
  const outer = { size: size.slice(0, -4), stride: stride.slice(0, -4) };
  const [n0 = 1, n1 = 1, n2 = 1, n3 = 1] = size.slice(-4);
  const bytes = stride.slice(-4).map(s => s * t.itemSize);
  const block = n0 * n1 * n2 * n3 * denseBytes;
  forEachElement({ ...t, ...outer, dtype: t.dtype }, (flat, address) => {
    m.builtin(
      name,
      [address, dense + flat * block, n1, n2, n3, ...bytes],
      n0 * n1 * n2,
      Math.ceil(GRAIN_ELEMENTS / n3),
    );
  });
}

/** whether the tensor is float32 without gaps already */
const isDense = (t: TensorView): boolean => t.dtype === "float32" && isContiguous(t);

/** Copies into contiguous float32 at `to`. */
export function gather(m: Machine, t: TensorView, to: number): void {
  if (numel(t.size) === 0) return;
  const name = `gather_${t.dtype}`;
  if (m.has(name)) return rowsKernel(m, name, t, to, 4);
  const out = new Float32Array(m.buffer, to, numel(t.size));
  const element = accessor(m.buffer, t.dtype);
  forEachElement(t, (flat, address) => {
    out[flat] = element.get(address);
  });
}

/** Writes contiguous float32 at `from` into the tensor, rounded to its dtype. */
export function scatter(m: Machine, t: TensorView, from: number): void {
  if (numel(t.size) === 0) return;
  const name = `scatter_${t.dtype}`;
  if (m.has(name)) return rowsKernel(m, name, t, from, 4);
  const values = new Float32Array(m.buffer, from, numel(t.size));
  const element = accessor(m.buffer, t.dtype);
  forEachElement(t, (flat, address) => element.set(address, values[flat] as number));
}

/** runs `f` with the tensor's values as contiguous float32, in place where they are that already */
export function withDense<T>(m: Machine, t: TensorView, f: (address: number) => T): T {
  if (isDense(t)) return f(t.address);
  return m.borrow(4 * numel(t.size), address => {
    gather(m, t, address);
    return f(address);
  });
}

/** runs `f` with room for the result as contiguous float32, and stores it */
export function intoDense(m: Machine, t: TensorView, f: (address: number) => void): void {
  if (isDense(t)) return f(t.address);
  m.borrow(4 * numel(t.size), address => {
    f(address);
    scatter(m, t, address);
  });
}

/** whether spread() has a kernel for the tensor; each element has a place of its own */
export const canSpread = (m: Machine, t: TensorView): boolean =>
  m.has(`spread_${t.itemSize}`) && t.size.every((size, d) => size <= 1 || t.stride[d] !== 0);

/** Writes a contiguous tensor of the same dtype, at `from`, into a strided one. */
export function spread(m: Machine, from: number, to: TensorView): void {
  rowsKernel(m, `spread_${to.itemSize}`, to, from, to.itemSize);
}

/** Copies one tensor into another of the same shape, converting as PyTorch does. */
export function copyTensor(m: Machine, from: TensorView, to: TensorView): void {
  if (numel(from.size) === 0) return;
  if (from.dtype === to.dtype && [1, 2, 4, 8].includes(from.itemSize)) {
    const bytes = from.itemSize;
    m.borrow(bytes * numel(from.size), address => {
      rowsKernel(m, `collect_${bytes}`, from, address, bytes);
      rowsKernel(m, `spread_${bytes}`, to, address, bytes);
    });
    return;
  }
  const values = read(m.buffer, from);
  write(m.buffer, to, values);
}

/** row-major values as numbers: float64 tensors and integers keep their precision, halves and floats are float32 */
export function read(buffer: ArrayBufferLike, t: TensorView): Floats {
  const narrow = /^(b?float(16|32)|float8)/.test(t.dtype);
  const out: Floats = narrow ? new Float32Array(numel(t.size)) : new Float64Array(numel(t.size));
  if (isDense(t)) {
    out.set(new Float32Array(buffer, t.address, out.length));
    return out;
  }
  const element = accessor(buffer, t.dtype);
  forEachElement(t, (flat, address) => {
    out[flat] = element.get(address);
  });
  return out;
}

export function write(buffer: ArrayBufferLike, t: TensorView, values: ArrayLike<number>): void {
  if (isDense(t)) {
    new Float32Array(buffer, t.address, numel(t.size)).set(values);
    return;
  }
  const element = accessor(buffer, t.dtype);
  forEachElement(t, (flat, address) => element.set(address, values[flat] ?? 0));
}

/** a dense float32 view of memory */
export function denseView(address: number, size: readonly number[]): TensorView {
  return { size, stride: contiguousStride(size), address, dtype: "float32", itemSize: 4 };
}
