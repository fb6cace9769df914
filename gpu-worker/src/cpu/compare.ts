// How far two tensors are apart. In: two views over one memory. Out: the largest difference, and the largest in relation
// to the second one's element or to its mean magnitude, whichever is more. NaN agrees with NaN, infinities with their like;
// everything else that is not finite is infinitely far. Tensors may be too large to be copied out: those that lie alike
// and without gaps are read piece by piece.
import { accessor, fromBFloat, fromHalf, itemSize } from "./dtypes";
import { forEachElement, inParts, numel, type TensorView } from "./tensors";

export interface Difference {
  readonly maxAbs: number;
  readonly maxRel: number;
}

/** elements that are compared at once */
const PIECE = 65536;

/** @throws Error if a dtype is none of the executor's */
export function difference(buffer: ArrayBufferLike, first: TensorView, second: TensorView): Difference {
  const [a, b] = [inParts(first), inParts(second)];
  const count = numel(b.size);
  if (numel(a.size) !== count) return { maxAbs: Number.POSITIVE_INFINITY, maxRel: Number.POSITIVE_INFINITY };
  const alike = a.dtype === b.dtype && a.stride.every((s, d) => s === b.stride[d] || (a.size[d] ?? 1) <= 1);
  const pieces = alike && isWithoutGaps(b) ? inPieces(buffer, a, b, count) : inOne(buffer, a, b, count);
  let [total, finite] = [0, 0];
  for (const [, y] of pieces()) {
    const t = magnitude(y);
    total += t.total;
    finite += t.finite;
  }
  const mean = finite ? total / finite : 0;
  let [maxAbs, maxRel] = [0, 0];
  for (const [x, y] of pieces()) {
    const d = apart(x, y, mean);
    maxAbs = Math.max(maxAbs, d.maxAbs);
    maxRel = Math.max(maxRel, d.maxRel);
  }
  return { maxAbs, maxRel };
}

/** the elements of both, so many at a time; what was given is overwritten by the next */
type Pieces = () => Iterable<readonly [Float64Array, Float64Array]>;

function inPieces(buffer: ArrayBufferLike, a: TensorView, b: TensorView, count: number): Pieces {
  const read = reader(buffer, a.dtype);
  const [x, y] = [new Float64Array(PIECE), new Float64Array(PIECE)];
  return function* () {
    for (let from = 0; from < count; from += PIECE) {
      const n = Math.min(PIECE, count - from);
      read(a.address + from * a.itemSize, n, x);
      read(b.address + from * b.itemSize, n, y);
      yield [x.subarray(0, n), y.subarray(0, n)];
    }
  };
}

function inOne(buffer: ArrayBufferLike, a: TensorView, b: TensorView, count: number): Pieces {
  const values = (t: TensorView): Float64Array => {
    const element = accessor(buffer, t.dtype);
    const out = new Float64Array(count);
    forEachElement(t, (flat, address) => {
      out[flat] = element.get(address);
    });
    return out;
  };
  const both = [values(a), values(b)] as const;
  return () => [both];
}

function magnitude(ys: Float64Array): { readonly total: number; readonly finite: number } {
  let [total, finite] = [0, 0];
  for (let i = 0; i < ys.length; i++) {
    const y = Math.abs(ys[i] as number);
    if (y < Number.POSITIVE_INFINITY) {
      total += y;
      finite += 1;
    }
  }
  return { total, finite };
}

function apart(xs: Float64Array, ys: Float64Array, mean: number): Difference {
  let [maxAbs, maxRel] = [0, 0];
  for (let i = 0; i < ys.length; i++) {
    const [x, y] = [xs[i] as number, ys[i] as number];
    if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
    const difference = Math.abs(x - y);
    const d = Number.isFinite(difference) ? difference : Number.POSITIVE_INFINITY;
    const scale = Math.max(Math.abs(y), mean);
    maxAbs = Math.max(maxAbs, d);
    maxRel = Math.max(maxRel, scale > 0 && Number.isFinite(scale) ? d / scale : Number.POSITIVE_INFINITY);
  }
  return { maxAbs, maxRel };
}

/** whether the elements fill their storage, in whatever order the dims lie */
function isWithoutGaps(t: TensorView): boolean {
  const dims = t.size
    .map((size, d) => ({ size, stride: t.stride[d] ?? 0 }))
    .filter(d => d.size > 1)
    .sort((p, q) => p.stride - q.stride);
  let next = 1;
  for (const { size, stride } of dims) {
    if (stride !== next) return false;
    next *= size;
  }
  return true;
}

/** reads so many elements from an address on as numbers */
type Reader = (address: number, count: number, out: Float64Array) => void;

/** typed arrays whose numbers are the elements */
const NATIVE: Readonly<Record<string, (b: ArrayBufferLike, at: number, count: number) => ArrayLike<number>>> = {
  float64: (b, at, count) => new Float64Array(b, at, count),
  float32: (b, at, count) => new Float32Array(b, at, count),
  int32: (b, at, count) => new Int32Array(b, at, count),
  int16: (b, at, count) => new Int16Array(b, at, count),
  int8: (b, at, count) => new Int8Array(b, at, count),
  uint32: (b, at, count) => new Uint32Array(b, at, count),
  uint16: (b, at, count) => new Uint16Array(b, at, count),
  uint8: (b, at, count) => new Uint8Array(b, at, count),
};

const HALVES: Readonly<Record<string, (bits: number) => number>> = { float16: fromHalf, bfloat16: fromBFloat };
const tables = new Map<string, Float32Array>();

function reader(buffer: ArrayBufferLike, dtype: string): Reader {
  const native = NATIVE[dtype];
  if (native) return (address, count, out) => out.set(native(buffer, address, count));
  const half = HALVES[dtype];
  if (half) {
    const table = tables.get(dtype) ?? Float32Array.from({ length: 65536 }, (_, bits) => half(bits));
    tables.set(dtype, table);
    return (address, count, out) => {
      const bits = new Uint16Array(buffer, address, count);
      for (let i = 0; i < count; i++) out[i] = table[bits[i] as number] as number;
    };
  }
  const { get } = accessor(buffer, dtype);
  const width = itemSize(dtype);
  return (address, count, out) => {
    for (let i = 0; i < count; i++) out[i] = get(address + i * width);
  };
}
