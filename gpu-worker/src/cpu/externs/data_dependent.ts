// Operators whose results' sizes are in the data: nonzero, masked_select, unique. The results are as large as the data
// says; the plan's size symbols take their values from them.
import { read, write } from "../dense";
import { contiguousStride, type Held, numel, type TensorView } from "../tensors";
import { sortedOrder } from "./along";
import { argument, boolOf, numberOf, tensorAt, wrapDim } from "./arguments";
import { broadcastTo } from "./matmul";
import type { ExternContext, ExternFunction } from "./types";

function made(
  ctx: ExternContext,
  size: readonly number[],
  stride: readonly number[],
  dtype: string,
  values: ArrayLike<number>,
): Held {
  const held = ctx.machine.create(size, stride, dtype);
  write(ctx.buffer, held.view, values);
  return held;
}

const dense = (ctx: ExternContext, size: readonly number[], dtype: string, values: ArrayLike<number>): Held =>
  made(ctx, size, contiguousStride(size), dtype, values);

const nonzero: ExternFunction = (step, ctx) => {
  const x = tensorAt(step, ctx, 0);
  const stride = contiguousStride(x.size);
  const places: number[] = [];
  read(ctx.buffer, x).forEach((v, i) => {
    if (v !== 0) places.push(i);
  });
  const rank = x.size.length;
  const values = places.flatMap(p => x.size.map((s, d) => Math.floor(p / (stride[d] ?? 1)) % s));
  // one coordinate after the other, as ATen's kernel writes them
  return [made(ctx, [places.length, rank], [1, places.length], "int64", values)];
};

const maskedSelect: ExternFunction = (step, ctx) => {
  const x = tensorAt(step, ctx, 0);
  const mask = tensorAt(step, ctx, 1);
  const rank = Math.max(x.size.length, mask.size.length);
  const at = (t: TensorView, d: number): number => t.size[d - (rank - t.size.length)] ?? 1;
  const shape = Array.from({ length: rank }, (_, d) => Math.max(at(x, d), at(mask, d)));
  const flags = read(ctx.buffer, broadcastTo(mask, shape));
  const chosen = [...read(ctx.buffer, broadcastTo(x, shape))].filter((_, i) => flags[i]);
  return [dense(ctx, [chosen.length], x.dtype, chosen)];
};

/** positions of a tensor's slices along a dim, and the values of each */
function slicesAlong(ctx: ExternContext, x: TensorView, dim: number): readonly Float64Array[] {
  const size = [x.size[dim] ?? 1, ...x.size.filter((_, d) => d !== dim)];
  const stride = [x.stride[dim] ?? 0, ...x.stride.filter((_, d) => d !== dim)];
  const values = read(ctx.buffer, { ...x, size, stride });
  const width = numel(size.slice(1));
  return Array.from({ length: size[0] ?? 0 }, (_, i) => Float64Array.from(values.subarray(i * width, (i + 1) * width)));
}

function compareSlices(a: Float64Array, b: Float64Array): number {
  const at = a.findIndex((v, i) => v !== b[i]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

/** unique_dim(self, dim, sorted, return_inverse, return_counts): slices instead of elements, in lexical order */
function uniqueSlices(
  ctx: ExternContext,
  x: TensorView,
  dim: number,
  consecutive: boolean,
  wants: { readonly inverse: boolean; readonly counts: boolean },
): readonly Held[] {
  const slices = slicesAlong(ctx, x, dim);
  const order = slices.map((_, i) => i);
  if (!consecutive) order.sort((i, j) => compareSlices(slices[i] as Float64Array, slices[j] as Float64Array) || i - j);
  const found: Float64Array[] = [];
  const counts: number[] = [];
  const inverse = new Float64Array(slices.length);
  for (const i of order) {
    const slice = slices[i] as Float64Array;
    const last = found[found.length - 1];
    if (!last || compareSlices(last, slice) !== 0) {
      found.push(slice);
      counts.push(0);
    }
    counts[counts.length - 1] = (counts[counts.length - 1] as number) + 1;
    inverse[i] = found.length - 1;
  }
  const size = x.size.map((s, d) => (d === dim ? found.length : s));
  const held = ctx.machine.create(size, contiguousStride(size), x.dtype);
  found.forEach((slice, i) => {
    const { view } = held;
    const rest = <T>(xs: readonly T[]): T[] => xs.filter((_, d) => d !== dim);
    const address = view.address + i * (view.stride[dim] ?? 0) * view.itemSize;
    write(ctx.buffer, { ...view, address, size: rest(view.size), stride: rest(view.stride) }, slice);
  });
  return [
    held,
    wants.inverse ? dense(ctx, [slices.length], "int64", inverse) : dense(ctx, [0], "int64", []),
    wants.counts ? dense(ctx, [counts.length], "int64", counts) : dense(ctx, [0], "int64", []),
  ];
}

const uniqueDim: ExternFunction = (step, ctx) => {
  const x = tensorAt(step, ctx, 0);
  return uniqueSlices(ctx, x, wrapDim(numberOf(ctx, argument(step, 1, "dim"), 0), x.size.length), false, {
    inverse: boolOf(argument(step, 3, "return_inverse"), false),
    counts: boolOf(argument(step, 4, "return_counts"), false),
  });
};

/** _unique2(self, sorted, return_inverse, return_counts) and unique_consecutive(self, return_inverse, return_counts, dim) */
const unique =
  (consecutive: boolean): ExternFunction =>
  (step, ctx) => {
    const x = tensorAt(step, ctx, 0);
    const dim = consecutive ? argument(step, 3, "dim") : undefined;
    if (dim && dim.kind !== "none")
      return uniqueSlices(ctx, x, wrapDim(numberOf(ctx, dim, 0), x.size.length), true, {
        inverse: boolOf(argument(step, 1, "return_inverse"), false),
        counts: boolOf(argument(step, 2, "return_counts"), false),
      });
    const values = read(ctx.buffer, x);
    const order = consecutive ? Array.from(values, (_, i) => i) : sortedOrder(values, false);
    const first = consecutive ? 1 : 2;
    const found: number[] = [];
    const counts: number[] = [];
    const inverse = new Float64Array(values.length);
    for (const i of order) {
      const v = values[i] as number;
      if (found.length === 0 || found[found.length - 1] !== v) {
        found.push(v);
        counts.push(0);
      }
      counts[counts.length - 1] = (counts[counts.length - 1] as number) + 1;
      inverse[i] = found.length - 1;
    }
    const wants = (at: number, name: string): boolean => boolOf(argument(step, first + at, name), false);
    return [
      dense(ctx, [found.length], x.dtype, found),
      wants(0, "return_inverse") ? dense(ctx, x.size, "int64", inverse) : dense(ctx, [0], "int64", []),
      wants(1, "return_counts") ? dense(ctx, [counts.length], "int64", counts) : dense(ctx, [0], "int64", []),
    ];
  };

export const dataDependent: Readonly<Record<string, ExternFunction>> = {
  "aten.nonzero": nonzero,
  "aten.masked_select": maskedSelect,
  "aten._unique2": unique(false),
  "aten.unique_consecutive": unique(true),
  "aten.unique_dim": uniqueDim,
};
