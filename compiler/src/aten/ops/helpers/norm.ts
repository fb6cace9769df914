// What layer_norm, rms_norm and group_norm share: the covered dims, casts of the reference gradients, saved statistics.
import {
  type Args,
  type ArgValue,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  MemoryFormatArg,
  type MetaBuilder,
  type PyFloat,
  type TensorMeta,
} from "../../types";
import { aten } from "./define";
import { toDtype } from "./trace";

/** from, from + 1, ... to - 1 */
export const between = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** dims that normalized_shape covers, checked against the input */
export function normalizedDims<T>(b: GraphBuilder<T>, x: T, shape: readonly Dim[]): number[] {
  const size = b.meta(x).shape;
  const first = size.length - shape.length;
  if (shape.length === 0)
    return b.fail(
      `Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []`,
    );
  if (first < 0 || shape.some((s, i) => !b.eq(s, size[first + i] ?? s))) {
    const text = (dims: readonly Dim[]): string => dims.map(d => b.hint(d)).join(", ");
    return b.fail(
      `Given normalized_shape=[${text(shape)}], expected input with shape [*, ${text(shape)}], but got input of size[${text(size)}]`,
    );
  }
  return between(first, size.length);
}

/** x.to(dtype, memory_format=contiguous), as the reference gradients start: null stays null */
export function contiguousCast<T>(b: GraphBuilder<T>, x: T | null, dtype: DType): T | null {
  if (x === null) return null;
  return b.call("aten.to.dtype", [x, new DTypeArg(dtype), false, false, new MemoryFormatArg("contiguous_format")]);
}

/** a gradient in the dtype of what it belongs to */
export const castBack = <T>(b: GraphBuilder<T>, x: T | null, like: T | null): T | null =>
  x === null || like === null ? x : toDtype(b, x, b.meta(like).dtype);

/** (x - mean) * rstd over dims, with the statistics kept as size 1 */
export function normalize<T>(
  b: GraphBuilder<T>,
  x: T,
  dims: readonly number[],
  eps: PyFloat,
): { out: T; mean: T; rstd: T } {
  const f = aten(b);
  const [variance, mean] = b.callMany("aten.var_mean.correction", [x, dims], { correction: 0, keepdim: true }) as [
    T,
    T,
  ];
  const rstd = f("rsqrt.default", f("add.Tensor", variance, eps));
  const out = f("mul.Tensor", f("sub.Tensor", x, mean), rstd);
  return { out, mean, rstd };
}

/** what a gradient operator with an `output_mask` gives: a tensor like each of these that is there and asked for */
export function maskedMetas(
  m: MetaBuilder,
  a: Args<TensorMeta>,
  of: readonly (TensorMeta | null)[],
): (TensorMeta | null)[] {
  const mask = a.raw("output_mask") as readonly boolean[];
  return of.map((t, i) => (mask[i] && t !== null ? m.tensor(t.shape, t) : null));
}

/** elements that a reduction over dims takes together */
export function count<T>(b: GraphBuilder<T>, x: T, dims: readonly number[]): ArgValue<T> {
  const { shape } = b.meta(x);
  const n = b.product(dims.map(d => shape[d] ?? b.int(1)));
  return b.static(n) ?? n;
}

/**
 * What the statistics' own gradients add to that of the input, for x in groups of `count` elements:
 * d mean = 1/count, d rstd = -rstd^3 (x - mean) / count. Null: nothing reads the statistics.
 */
export function throughStatistics<T>(
  b: GraphBuilder<T>,
  x: T,
  stats: { readonly mean: T | null; readonly rstd: T },
  grads: { readonly mean: T | null; readonly rstd: T | null },
  count: Dim,
): T | null {
  const f = aten(b);
  let sum: T | null = null;
  if (grads.rstd !== null) {
    const centred = stats.mean === null ? x : f("sub.Tensor", x, stats.mean);
    const slope = f("neg.default", f("mul.Tensor", f("pow.Tensor_Scalar", stats.rstd, 3), grads.rstd));
    sum = f("mul.Tensor", centred, f("div.Scalar", slope, count));
  }
  if (grads.mean === null) return sum;
  const mean = f("expand.default", f("div.Scalar", grads.mean, count), b.meta(x).shape);
  return sum === null ? mean : f("add.Tensor", sum, mean);
}

/** the gradients with `more` added to the input's; an output without a gradient contributes none of its own */
export function addToFirst<T>(
  b: GraphBuilder<T>,
  grads: readonly (T | null)[],
  none: boolean,
  more: T | null,
): (T | null)[] {
  const [first, ...others] = grads;
  if (more === null || first === undefined) return [...grads];
  const sum = first === null || none ? more : b.call("aten.add.Tensor", [first, more]);
  return [sum, ...others];
}
