// Dense arrays of float64 for evaluating small programs. In: shapes and data. Out: broadcasting, permuting and reducing
// over them. Everything is row-major and contiguous; views are copies.
import type { DType } from "../aten/types";

export interface Dense {
  readonly shape: readonly number[];
  readonly data: Float64Array;
  readonly dtype: DType;
}

export const isDense = (x: unknown): x is Dense =>
  typeof x === "object" && x !== null && "data" in x && x.data instanceof Float64Array;

/** counts element operations; spending more than there is ends the evaluation */
export class Budget {
  constructor(private left: number) {}
  spend(n: number): void {
    this.left -= n;
    if (this.left < 0) throw new TooMuch("the evaluation takes too long");
  }
}

/** what ends an evaluation without a result */
export class TooMuch extends Error {}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
export const dense = (shape: readonly number[], data: Float64Array, dtype: DType): Dense => ({ shape, data, dtype });

export function stridesOf(shape: readonly number[]): number[] {
  const out = new Array<number>(shape.length).fill(1);
  for (let d = shape.length - 2; d >= 0; d--) out[d] = (out[d + 1] ?? 1) * (shape[d + 1] ?? 1);
  return out;
}

export function broadcastShape(...shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(0, ...shapes.map(s => s.length));
  return Array.from({ length: rank }, (_, d) =>
    shapes.reduce((n, s) => {
      const x = s[d - rank + s.length] ?? 1;
      return x === 1 ? n : x;
    }, 1),
  );
}

/**
 * Reads an array by strides into a new contiguous one: `shape` is the result's, `strides` say how far each of its dims
 * moves in the source (0: broadcast).
 */
export function gatherStrided(
  source: Float64Array,
  shape: readonly number[],
  strides: readonly number[],
  offset = 0,
): Float64Array {
  const n = sizeOf(shape);
  const out = new Float64Array(n);
  if (n === 0) return out;
  const rank = shape.length;
  if (rank === 0) {
    out[0] = source[offset] ?? 0;
    return out;
  }
  const inner = shape[rank - 1] ?? 1;
  const step = strides[rank - 1] ?? 0;
  const at = new Array<number>(rank).fill(0);
  let base = offset;
  for (let i = 0; i < n; i += inner) {
    for (let j = 0, p = base; j < inner; j++, p += step) out[i + j] = source[p] ?? 0;
    for (let d = rank - 2; d >= 0; d--) {
      at[d] = (at[d] ?? 0) + 1;
      base += strides[d] ?? 0;
      if ((at[d] ?? 0) < (shape[d] ?? 1)) break;
      base -= (strides[d] ?? 0) * (shape[d] ?? 1);
      at[d] = 0;
    }
  }
  return out;
}

export function expandTo(a: Dense, shape: readonly number[]): Dense {
  if (a.shape.length === shape.length && a.shape.every((s, d) => s === shape[d])) return a;
  const own = stridesOf(a.shape);
  const lead = shape.length - a.shape.length;
  const strides = shape.map((_, d) => (d < lead || a.shape[d - lead] === 1 ? 0 : (own[d - lead] ?? 0)));
  return dense(shape, gatherStrided(a.data, shape, strides), a.dtype);
}

export function permuted(a: Dense, order: readonly number[]): Dense {
  const own = stridesOf(a.shape);
  const shape = order.map(d => a.shape[d] ?? 1);
  return dense(
    shape,
    gatherStrided(
      a.data,
      shape,
      order.map(d => own[d] ?? 0),
    ),
    a.dtype,
  );
}

export function sliced(a: Dense, dim: number, start: number, stop: number, step: number): Dense {
  const own = stridesOf(a.shape);
  const n = Math.max(0, Math.ceil((stop - start) / step));
  const shape = a.shape.map((s, d) => (d === dim ? n : s));
  const strides = own.map((s, d) => (d === dim ? s * step : s));
  return dense(shape, gatherStrided(a.data, shape, strides, start * (own[dim] ?? 0)), a.dtype);
}

export function concatenated(parts: readonly Dense[], dim: number, dtype: DType): Dense {
  const first = parts[0];
  if (!first) return dense([0], new Float64Array(0), dtype);
  const shape = first.shape.map((s, d) => (d === dim ? parts.reduce((n, p) => n + (p.shape[dim] ?? 0), 0) : s));
  const out = new Float64Array(sizeOf(shape));
  const outer = sizeOf(shape.slice(0, dim));
  const inner = sizeOf(shape.slice(dim + 1));
  const row = (shape[dim] ?? 0) * inner;
  let at = 0;
  for (const p of parts) {
    const width = (p.shape[dim] ?? 0) * inner;
    for (let o = 0; o < outer; o++) out.set(p.data.subarray(o * width, (o + 1) * width), o * row + at);
    at += width;
  }
  return dense(shape, out, dtype);
}

/** the array as [outer, reduced, 1]: the dims that go, moved last; and the result's shape */
export function forReduction(
  a: Dense,
  dims: readonly number[],
  keep: boolean,
): { data: Float64Array; outer: number; length: number; shape: number[] } {
  const gone = new Set(dims);
  const kept = a.shape.map((_, d) => d).filter(d => !gone.has(d));
  const moved = a.shape.map((_, d) => d).filter(d => gone.has(d));
  const order = [...kept, ...moved];
  const inOrder = order.every((d, i) => d === i);
  const data = inOrder ? a.data : permuted(a, order).data;
  const length = sizeOf(moved.map(d => a.shape[d] ?? 1));
  const shape = keep ? a.shape.map((s, d) => (gone.has(d) ? 1 : s)) : kept.map(d => a.shape[d] ?? 1);
  return { data, outer: length === 0 ? sizeOf(shape) : data.length / length, length, shape };
}

const whole = (d: DType): boolean => !d.startsWith("float") && d !== "bfloat16" && !d.startsWith("complex");

/** rounds in place to what the dtype can hold */
export function rounded(data: Float64Array, dtype: DType): Float64Array {
  if (dtype === "float32") for (let i = 0; i < data.length; i++) data[i] = Math.fround(data[i] ?? 0);
  else if (dtype === "bool") for (let i = 0; i < data.length; i++) data[i] = data[i] === 0 ? 0 : 1;
  else if (whole(dtype)) for (let i = 0; i < data.length; i++) data[i] = Math.trunc(data[i] ?? 0);
  return data;
}
