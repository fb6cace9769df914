// Sliding windows: sizes of what pooling gives, reads outside the input, and the uneven windows of adaptive pooling. In:
// sizes and window parameters. Out: sizes and loaders. Promises: formulas are PyTorch's (pooling_output_shape,
// pooling_size of Inductor); nothing here is known of any one operator.
import type { Args, Dim, DimMath, DType, Loader, LoweringBuilder, Ops, PyFloat, TensorMeta } from "../../types";
import { at, looksChannelsLast, range } from "./shape";

export interface Window {
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
  readonly ceil: boolean;
}

/** one number for each dim: a single one stands for all */
export function perDim(given: readonly number[] | null, dims: number, otherwise: readonly number[]): number[] {
  if (given === null || given.length === 0) return [...otherwise];
  return given.length === 1 ? range(dims).map(() => at(given, 0)) : [...given];
}

/** the window parameters of a pooling call; names that its schema lacks are left out */
export function windowOf<T>(a: Args<T>, dims: number, dilated: boolean): Window {
  const kernel = perDim(a.ints("kernel_size"), dims, []);
  const same = (n: number): number[] => range(dims).map(() => n);
  return {
    kernel,
    stride: perDim(a.optInts("stride"), dims, kernel),
    padding: perDim(a.optInts("padding"), dims, same(0)),
    dilation: dilated ? perDim(a.optInts("dilation"), dims, same(1)) : same(1),
    ceil: a.bool("ceil_mode"),
  };
}

type Failing = DimMath & { fail(m: string): never };

/** size of one dim after pooling (pooling_output_shape) */
function pooledSize(m: Failing, size: Dim, w: Window, i: number): Dim {
  const [k, s, p, d] = [at(w.kernel, i), at(w.stride, i), at(w.padding, i), at(w.dilation, i)];
  if (s === 0) m.fail("stride should not be zero");
  if (p < 0) m.fail(`pad must be non-negative, but got pad: ${p}`);
  if (p > Math.floor(((k - 1) * d + 1) / 2)) {
    m.fail(`pad should be at most half of effective kernel size, but got pad=${p}, kernel_size=${k} and dilation=${d}`);
  }
  const room = m.add(size, 2 * p - d * (k - 1) - 1 + (w.ceil ? s - 1 : 0));
  const n = m.add(m.floordiv(room, s), 1);
  // the last window starts inside the input or its left padding
  return w.ceil && m.le(m.add(size, p), m.mul(m.sub(n, 1), s)) ? m.sub(n, 1) : n;
}

export function pooledShape(m: Failing, x: TensorMeta, w: Window, name: string): Dim[] {
  const dims = w.kernel.length;
  const rank = x.shape.length;
  if (rank !== dims + 1 && rank !== dims + 2) {
    m.fail(
      `Expected ${dims + 1}D or ${dims + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got: [${x.shape.map(s => m.hint(s)).join(", ")}]`,
    );
  }
  const spatial = range(dims).map(i => pooledSize(m, at(x.shape, rank - dims + i), w, i));
  if (spatial.some(s => m.lt(s, 1))) {
    const text = (sizes: readonly Dim[]): string => `(${sizes.map(s => m.hint(s)).join("x")})`;
    const channels = at(x.shape, rank - dims - 1);
    m.fail(
      `${name}: Given input size: ${text(x.shape.slice(rank - dims - 1))}. Calculated output size: ${text([channels, ...spatial])}. Output size is too small`,
    );
  }
  return [...x.shape.slice(0, rank - dims), ...spatial];
}

/** strides of a result that keeps its input's memory format */
export function likeFormat(
  m: DimMath & { channelsLast(shape: readonly Dim[]): Dim[] },
  x: TensorMeta,
  shape: readonly Dim[],
): Dim[] | undefined {
  return looksChannelsLast(m, x) ? m.channelsLast(shape) : undefined;
}

/** size of one dim after pooling, and whether rounding up made a difference (Inductor's pooling_size) */
export function loopSize(b: DimMath, size: Dim, w: Window, i: number): { readonly size: Dim; readonly ceil: boolean } {
  const [k, s, p, d] = [at(w.kernel, i), at(w.stride, i), at(w.padding, i), at(w.dilation, i)];
  const floor = b.floordiv(b.add(size, 2 * p - d * (k - 1) + (s - 1)), s);
  if (!w.ceil) return { size: floor, ceil: false };
  let up = b.floordiv(b.add(size, 2 * p - d * (k - 1) + 2 * (s - 1)), s);
  if (b.hint(b.mul(b.sub(up, 1), s)) - b.hint(size) - p >= 0) up = b.sub(up, 1);
  if (b.hint(floor) === b.hint(up)) return { size: floor, ceil: false };
  return { size: up, ceil: true };
}

const inside = <V>(ops: Ops<V>, b: DimMath, i: Dim, size: Dim): V =>
  ops.op(
    "and_",
    ops.op("ge", ops.indexExpr(i, "int64"), ops.indexExpr(b.int(0), "int64")),
    ops.op("lt", ops.indexExpr(i, "int64"), ops.indexExpr(size, "int64")),
  );

/** a loader that gives `fill` outside x in the last `dims` dims (constant_boundary_condition) */
export function bounded<B>(b: LoweringBuilder<B>, x: B, fill: number | boolean | PyFloat, dims: number): Loader {
  const load = b.loader(x);
  const sizes = b.size(x);
  const first = sizes.length - dims;
  return (ops, index) => {
    const masks = range(dims).map(i => inside(ops, b, at(index, first + i), at(sizes, first + i)));
    const mask = masks.reduce((p, q) => ops.op("and_", p, q));
    return ops.masked(mask, () => load(ops, index), fill);
  };
}

/** place in the input of a place in the window around an output element */
export function windowIndex(b: DimMath, w: Window, index: readonly Dim[], window: readonly Dim[]): Dim[] {
  const dims = w.kernel.length;
  const spatial = index.slice(-dims);
  const inner = spatial.map((o, i) =>
    b.sub(b.add(b.mul(o, at(w.stride, i)), b.mul(at(window, i), at(w.dilation, i))), at(w.padding, i)),
  );
  return [...index.slice(0, -dims), ...inner];
}

/** coordinates of a running number in row-major order */
export function unflatten(b: DimMath, index: Dim, sizes: readonly (Dim | number)[]): Dim[] {
  if (sizes.length === 1) return [index];
  const rest = b.product(sizes.slice(1).map(s => b.dim(s)));
  const first = b.floordiv(index, rest);
  return [first, ...unflatten(b, b.sub(index, b.mul(first, rest)), sizes.slice(1))];
}

export function flattenIndex(b: DimMath, index: readonly Dim[], sizes: readonly Dim[]): Dim {
  return index.slice(1).reduce((flat, v, i) => b.add(b.mul(at(sizes, i + 1), flat), v), at(index, 0));
}

/** Windows whose bounds depend on the output element; both dims of an image. */
export interface AdaptiveWindows {
  readonly largest: readonly [number, number];
  readonly start: (i: Dim, dim: 0 | 1) => Dim;
  readonly end: (i: Dim, dim: 0 | 1) => Dim;
}

/** windows of adaptive pooling from `input` to `output` sizes */
export function adaptiveWindows(
  b: DimMath,
  input: readonly [number, number],
  output: readonly [number, number],
): AdaptiveWindows {
  const longest = (d: 0 | 1): number => Math.ceil((input[d] + output[d] - 1) / output[d]);
  return {
    largest: [longest(0), longest(1)],
    start: (i, d) => b.floordiv(b.mul(i, input[d]), output[d]),
    end: (i, d) => b.floordiv(b.add(b.mul(b.add(i, 1), input[d]), output[d] - 1), output[d]),
  };
}

/** folds `step` over the elements of each output element's window; elements beyond a window's end read as `fill` */
export function foldWindows<B>(
  b: LoweringBuilder<B>,
  x: B,
  windows: AdaptiveWindows,
  fill: number | PyFloat,
): <V, R>(ops: Ops<V>, index: readonly Dim[], step: (result: R | null, value: V, row: Dim, col: Dim) => R) => R {
  const load = b.loader(x);
  return (ops, index, step) => {
    const prefix = index.slice(0, -2);
    const [h, w] = index.slice(-2) as [Dim, Dim];
    const [top, bottom] = [windows.start(h, 0), windows.end(h, 0)];
    const [left, right] = [windows.start(w, 1), windows.end(w, 1)];
    let result: Parameters<typeof step>[0] = null;
    for (let i = 0; i < windows.largest[0]; i++) {
      for (let j = 0; j < windows.largest[1]; j++) {
        const [row, col] = [b.add(top, i), b.add(left, j)];
        const mask = ops.op(
          "and_",
          ops.op("lt", ops.indexExpr(row, "int64"), ops.indexExpr(bottom, "int64")),
          ops.op("lt", ops.indexExpr(col, "int64"), ops.indexExpr(right, "int64")),
        );
        const value = ops.masked(mask, () => load(ops, [...prefix, row, col]), fill);
        result = step(result, value, row, col);
      }
    }
    if (result === null) throw new Error("a window has at least one element");
    return result;
  };
}

/** how many windows cover one element at most (the loop of a pooling's gradient) */
export function covering(w: Window): number[] {
  return w.kernel.map((k, i) => {
    const s = at(w.stride, i);
    const counts = range(k * 2).map(h => Math.max(Math.floor(h / s) - Math.max(0, Math.floor((h - k) / s)), 1));
    return Math.max(...counts);
  });
}

/** least value of a dtype, as max pooling starts from */
export const lowest = (d: DType, minusInfinity: PyFloat): number | boolean | PyFloat => {
  if (d === "bool") return false;
  const bits = /^u?int(\d+)$/.exec(d);
  if (bits === null) return minusInfinity;
  return d.startsWith("u") ? 0 : -(2 ** (Number(bits[1]) - 1));
};
