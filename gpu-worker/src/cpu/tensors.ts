// Tensors in the machine's memory, the sizes of a call, and how a job fails.
import type { PlanSize, PlanTensor } from "@fuselens/compiler/plan";
import type { ErrorCode } from "../protocol";
import { itemSize, PART_OF } from "./dtypes";
import { evaluateSizeText } from "./size_text";

export interface TensorView {
  readonly size: readonly number[];
  /** in elements */
  readonly stride: readonly number[];
  /** byte address of element 0 */
  readonly address: number;
  readonly dtype: string;
  readonly itemSize: number;
}

export class JobFailure extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly detail?: string,
  ) {
    super(message);
  }
}

/** A tensor with the allocation that holds it; several may share one. */
export interface Held {
  readonly view: TensorView;
  readonly base: number;
}

export function numel(size: readonly number[]): number {
  return size.reduce((a, b) => a * b, 1);
}

/** strides of a row-major tensor without gaps */
export function contiguousStride(size: readonly number[]): number[] {
  const out: number[] = [];
  let stride = 1;
  for (const s of [...size].reverse()) {
    out.unshift(stride);
    stride *= s;
  }
  return out;
}

export function isContiguous(t: Pick<TensorView, "size" | "stride">): boolean {
  const want = contiguousStride(t.size);
  return numel(t.size) === 0 || t.size.every((s, d) => s === 1 || t.stride[d] === want[d]);
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

export function sizeValue(size: PlanSize, symbols: ReadonlyMap<string, number>): number {
  return typeof size === "number" ? size : evaluateSizeText(size.text, symbols);
}

/** size and stride of a plan's tensor for the sizes of a call */
export function shapeOf(
  t: Pick<PlanTensor, "size" | "stride">,
  symbols: ReadonlyMap<string, number>,
): { readonly size: number[]; readonly stride: number[] } {
  return { size: t.size.map(s => sizeValue(s, symbols)), stride: t.stride.map(s => sizeValue(s, symbols)) };
}

/** bytes from element 0 to the end of the last element that the strides reach */
export function storageBytes(
  size: readonly number[],
  stride: readonly number[],
  offset: number,
  dtype: string,
): number {
  if (numel(size) === 0) return 0;
  const last = size.reduce((n, s, d) => n + (s - 1) * (stride[d] ?? 0), offset);
  return (last + 1) * itemSize(dtype);
}

/** `size` elements of a dim: `first`, `first + by`, ... */
export function narrow(t: TensorView, dim: number, first: number, size: number, by = 1): TensorView {
  const stride = t.stride[dim] ?? 0;
  return {
    ...t,
    size: t.size.map((s, d) => (d === dim ? size : s)),
    stride: t.stride.map((s, d) => (d === dim ? s * by : s)),
    address: t.address + first * stride * t.itemSize,
  };
}

/** a complex tensor as its real and imaginary parts in a further dim; any other as it is */
export function inParts(t: TensorView): TensorView {
  const dtype = PART_OF[t.dtype];
  if (dtype === undefined) return t;
  return { ...t, size: [...t.size, 2], stride: [...t.stride.map(s => 2 * s), 1], dtype, itemSize: t.itemSize / 2 };
}
