// How far two tensors are apart. In: two views over one memory. Out: the largest difference, absolute and relative to the
// second one's mean magnitude. NaN agrees with NaN, infinities with their like; everything else that is not finite is
// infinitely far. Tensors may be too large to be copied out: those that lie alike and without gaps are read piece by piece.
import { accessor, fromBFloat, fromHalf, itemSize } from "./dtypes";
import { forEachElement, numel, type TensorView } from "./tensors";

export interface Difference {
  readonly maxAbs: number;
  readonly maxRel: number;
}

const PIECE = 65536;

export function difference(buffer: ArrayBufferLike, a: TensorView, b: TensorView): Difference {
  const count = numel(b.size);
  const same = numel(a.size) === count;
  const alike = a.dtype === b.dtype && a.stride.every((s, d) => s === b.stride[d] || (a.size[d] ?? 1) <= 1);
  const { most, total } = !same
    ? { most: Number.POSITIVE_INFINITY, total: 0 }
    : alike && isWithoutGaps(b)
      ? inPieces(buffer, a, b, count)
      : byElement(buffer, a, b, count);
  const mean = count ? total / count : 0;
  return { maxAbs: most, maxRel: most === 0 ? 0 : mean ? most / mean : Number.POSITIVE_INFINITY };
}

interface Sums {
  /** largest difference */
  readonly most: number;
  /** sum of the second one's magnitudes */
  readonly total: number;
}

function inPieces(buffer: ArrayBufferLike, a: TensorView, b: TensorView, count: number): Sums {
  const read = reader(buffer, a.dtype);
  const [x, y] = [new Float64Array(PIECE), new Float64Array(PIECE)];
  let [most, total] = [0, 0];
  for (let from = 0; from < count; from += PIECE) {
    const n = Math.min(PIECE, count - from);
    read(a.address + from * a.itemSize, n, x);
    read(b.address + from * b.itemSize, n, y);
    const piece = apart(x, y, n);
    most = Math.max(most, piece.most);
    total += piece.total;
  }
  return { most, total };
}

function byElement(buffer: ArrayBufferLike, a: TensorView, b: TensorView, count: number): Sums {
  const values = (t: TensorView): Float64Array => {
    const element = accessor(buffer, t.dtype);
    const out = new Float64Array(count);
    forEachElement(t, (flat, address) => {
      out[flat] = element.get(address);
    });
    return out;
  };
  return apart(values(a), values(b), count);
}

function apart(xs: Float64Array, ys: Float64Array, count: number): Sums {
  let [most, total] = [0, 0];
  for (let i = 0; i < count; i++) {
    const [x, y] = [xs[i] as number, ys[i] as number];
    total += Math.abs(y);
    if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
    const d = Math.abs(x - y);
    most = Math.max(most, Number.isFinite(d) ? d : Number.POSITIVE_INFINITY);
  }
  return { most, total };
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
