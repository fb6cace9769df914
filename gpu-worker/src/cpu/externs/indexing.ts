// Reads and writes by index: index, index_put_, gather, scatter and their kind. An index out of bounds is an error.
import { copyTensor, read, write } from "../dense";
import { accessor } from "../dtypes";
import { contiguousStride, numel, type TensorView } from "../tensors";
import { linesAlong } from "./along";
import { argument, boolOf, isTensor, numberOf, optionalTensor, stringOf, tensorAt, wrapDim } from "./arguments";
import { broadcastTo } from "./matmul";
import { manyResults, oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

function broadcastShapes(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(0, ...shapes.map(s => s.length));
  return Array.from({ length: rank }, (_, d) =>
    shapes.reduce((n, s) => {
      const size = s[d - (rank - s.length)] ?? 1;
      return size === 1 ? n : size;
    }, 1),
  );
}

/** coordinates of the true elements, one list per dim */
function trueCoordinates(ctx: ExternContext, mask: TensorView): number[][] {
  const values = read(ctx.buffer, mask);
  const out: number[][] = mask.size.map(() => []);
  const stride = contiguousStride(mask.size);
  values.forEach((v, flat) => {
    if (v) for (const [d, s] of mask.size.entries()) out[d]?.push(Math.floor(flat / (stride[d] ?? 1)) % s);
  });
  return out;
}

/** what an advanced index addresses: element offsets in `self`, in the order and shape of the result */
interface Addressed {
  readonly shape: readonly number[];
  readonly offsets: Float64Array;
}

/** `indices` of index(self, indices): null for a whole dim; masks count as the coordinates of what is true */
function address(step: ExternStep, ctx: ExternContext, self: TensorView, position: number): Addressed {
  const list = step.args[position];
  const given = list?.kind === "list" ? list.items : [];
  const indexed: { dim: number; values: ArrayLike<number>; shape: readonly number[] }[] = [];
  let dim = 0;
  const places: number[] = [];
  given.forEach((arg, i) => {
    if (!isTensor(arg)) {
      dim += 1;
      return;
    }
    const t = ctx.tensor(arg);
    places.push(i);
    if (t.dtype === "bool" || t.dtype === "uint8") {
      for (const values of trueCoordinates(ctx, t)) indexed.push({ dim: dim++, values, shape: [values.length] });
    } else indexed.push({ dim: dim++, values: read(ctx.buffer, t), shape: t.size });
  });
  const shape = broadcastShapes(indexed.map(i => i.shape));
  const dims = new Set(indexed.map(i => i.dim));
  const rest = self.size.flatMap((_, d) => (dims.has(d) ? [] : [d]));
  const first = indexed[0]?.dim ?? 0;
  // indices side by side put their shape in their place, others in front
  const adjacent = indexed.every((x, i) => x.dim === first + i);
  const before = adjacent ? rest.filter(d => d < first) : [];
  const after = adjacent ? rest.filter(d => d > first) : rest;
  const sizes = (ds: readonly number[]): number[] => ds.map(d => self.size[d] ?? 1);
  const count = numel(shape);
  const base = new Float64Array(count);
  for (const { dim: d, values, shape: own } of indexed) {
    const stride = own.map((s, i) => (s === 1 ? 0 : (contiguousStride(own)[i] ?? 0)));
    const lead = shape.length - own.length;
    const size = self.size[d] ?? 0;
    for (let i = 0; i < count; i++) {
      let rest2 = i;
      let at = 0;
      for (let k = shape.length - 1; k >= 0; k--) {
        const s = shape[k] ?? 1;
        if (k >= lead) at += (rest2 % s) * (stride[k - lead] ?? 0);
        rest2 = Math.floor(rest2 / s);
      }
      base[i] = (base[i] as number) + checked(ctx, values[at] as number, size) * (self.stride[d] ?? 0);
    }
  }
  const walk = (ds: readonly number[]): number[] => {
    const out: number[] = [];
    const total = numel(sizes(ds));
    for (let i = 0; i < total; i++) {
      let left = i;
      let at = 0;
      for (const d of [...ds].reverse()) {
        const s = self.size[d] ?? 1;
        at += (left % s) * (self.stride[d] ?? 0);
        left = Math.floor(left / s);
      }
      out.push(at);
    }
    return out;
  };
  const [outer, inner] = [walk(before), walk(after)];
  const offsets = new Float64Array(outer.length * count * inner.length);
  let at = 0;
  for (const o of outer)
    for (let i = 0; i < count; i++) for (const n of inner) offsets[at++] = o + (base[i] as number) + n;
  return { shape: [...sizes(before), ...shape, ...sizes(after)], offsets };
}

function checked(ctx: ExternContext, index: number, size: number): number {
  const i = index < 0 ? index + size : index;
  if (!(i >= 0 && i < size))
    ctx.fail("index-out-of-bounds", `index ${index} is out of bounds for a dimension of size ${size}`);
  return i;
}

const index: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const self = tensorAt(step, ctx, 0);
    const { offsets } = address(step, ctx, self, 1);
    const element = accessor(ctx.buffer, self.dtype);
    write(
      ctx.buffer,
      out,
      offsets.map(o => element.get(self.address + o * self.itemSize)),
    );
  });

/** in place, or into a copy of self */
function written(step: ExternStep, ctx: ExternContext, run: (target: TensorView) => void): ReturnType<ExternFunction> {
  const self = tensorAt(step, ctx, 0);
  if (step.results.length === 0 || /^aten\.\w+_\./.test(step.op)) {
    run(self);
    return [];
  }
  return oneResult(step, ctx, out => {
    copyTensor(ctx.machine, self, out);
    run(out);
  });
}

const indexPut: ExternFunction = (step, ctx) =>
  written(step, ctx, target => {
    const { shape, offsets } = address(step, ctx, target, 1);
    const values = read(ctx.buffer, broadcastTo(tensorAt(step, ctx, 2), shape));
    const accumulate = boolOf(argument(step, 3, "accumulate"), false);
    const element = accessor(ctx.buffer, target.dtype);
    // sums of halves are kept wide until the end
    const sums = new Map<number, number>();
    offsets.forEach((o, i) => {
      const at = target.address + o * target.itemSize;
      const v = values[i] as number;
      if (accumulate) sums.set(at, (sums.get(at) ?? element.get(at)) + v);
      else element.set(at, v);
    });
    for (const [at, v] of sums) element.set(at, v);
  });

const gather: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const self = tensorAt(step, ctx, 0);
    const indices = tensorAt(step, ctx, 2);
    const dim = wrapDim(numberOf(ctx, argument(step, 1, "dim"), 0), self.size.length);
    const element = accessor(ctx.buffer, self.dtype);
    const places = read(ctx.buffer, indices);
    write(
      ctx.buffer,
      out,
      places.map((v, flat) => element.get(placeOf(ctx, self, indices.size, flat, dim, v))),
    );
  });

/** byte address of self[..., index at dim, ...] for element `flat` of a tensor of `size` */
function placeOf(
  ctx: ExternContext,
  self: TensorView,
  size: readonly number[],
  flat: number,
  dim: number,
  v: number,
): number {
  let rest = flat;
  let at = 0;
  for (let d = size.length - 1; d >= 0; d--) {
    const s = size[d] ?? 1;
    const i = d === dim ? checked(ctx, v, self.size[d] ?? 0) : rest % s;
    at += i * (self.stride[d] ?? 0);
    rest = Math.floor(rest / s);
  }
  return self.address + at * self.itemSize;
}

type Reduce = "sum" | "prod" | "mean" | "amax" | "amin" | null;
const REDUCES: Readonly<Record<string, Reduce>> = {
  add: "sum",
  multiply: "prod",
  sum: "sum",
  prod: "prod",
  mean: "mean",
  amax: "amax",
  amin: "amin",
};

function combine(reduce: Reduce, a: number, b: number): number {
  switch (reduce) {
    case "sum":
    case "mean":
      return a + b;
    case "prod":
      return a * b;
    case "amax":
      return Math.max(a, b);
    case "amin":
      return Math.min(a, b);
    case null:
      return b;
    default: {
      const never: never = reduce;
      return never;
    }
  }
}

/** scatters into target; `includeSelf` false: what stood there does not count where something is written */
function scatterInto(
  ctx: ExternContext,
  target: TensorView,
  places: Iterable<readonly [address: number, value: number]>,
  reduce: Reduce,
  includeSelf: boolean,
): void {
  const element = accessor(ctx.buffer, target.dtype);
  const totals = new Map<number, { value: number; count: number }>();
  for (const [at, v] of places) {
    const known = totals.get(at);
    if (known) {
      known.value = combine(reduce, known.value, v);
      known.count += 1;
    } else if (includeSelf && reduce !== null) totals.set(at, { value: combine(reduce, element.get(at), v), count: 2 });
    else totals.set(at, { value: v, count: 1 });
  }
  const whole = /int/.test(target.dtype);
  for (const [at, { value, count }] of totals) {
    const mean = whole ? Math.floor(value / count) : value / count;
    element.set(at, reduce === "mean" ? mean : value);
  }
}

/** scatter, scatter_add, scatter_reduce: (self, dim, index, src or value, reduce?) */
const scatter: ExternFunction = (step, ctx) =>
  written(step, ctx, target => {
    const indices = tensorAt(step, ctx, 2);
    const dim = wrapDim(numberOf(ctx, step.args[1], 0), target.size.length);
    const src = optionalTensor(step, ctx, 3);
    const single = numberOf(ctx, step.args[3], 0);
    const values = src ? read(ctx.buffer, { ...src, size: indices.size }) : null;
    const reduceArg = stringOf(argument(step, 4, "reduce"), step.op.includes("scatter_add") ? "add" : "");
    const reduce = REDUCES[reduceArg] ?? null;
    const includeSelf = boolOf(argument(step, 5, "include_self"), true);
    const places = read(ctx.buffer, indices);
    function* each(): Generator<readonly [number, number]> {
      for (let i = 0; i < places.length; i++)
        yield [
          placeOf(ctx, target, indices.size, i, dim, places[i] as number),
          values ? (values[i] as number) : single,
        ];
    }
    scatterInto(ctx, target, each(), reduce, includeSelf);
  });

/** index_reduce, index_add, index_copy: (self, dim, index, source, ...) */
const alongIndex =
  (kind: "index_reduce" | "index_add" | "index_copy"): ExternFunction =>
  (step, ctx) =>
    written(step, ctx, target => {
      const dim = wrapDim(numberOf(ctx, step.args[1], 0), target.size.length);
      const indices = read(ctx.buffer, tensorAt(step, ctx, 2));
      const source = tensorAt(step, ctx, 3);
      const values = read(ctx.buffer, source);
      const reduce =
        kind === "index_reduce"
          ? (REDUCES[stringOf(argument(step, 4, "reduce"), "")] ?? null)
          : kind === "index_add"
            ? "sum"
            : null;
      const alpha = kind === "index_add" ? numberOf(ctx, argument(step, 4, "alpha"), 1) : 1;
      const includeSelf = kind === "index_reduce" ? boolOf(argument(step, 5, "include_self"), true) : true;
      const lines = linesAlong(source.size, dim);
      function* each(): Generator<readonly [number, number]> {
        for (let l = 0; l < lines.count; l++) {
          for (let i = 0; i < lines.length; i++) {
            const flat = lines.at(l, i);
            yield [
              placeOf(ctx, target, source.size, flat, dim, indices[i] as number),
              alpha * (values[flat] as number),
            ];
          }
        }
      }
      scatterInto(ctx, target, each(), reduce, includeSelf);
    });

/** the gradients at the true places of a mask, in order, the rest of the result zeros */
const maskedScatterBackward: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const grad = tensorAt(step, ctx, 0);
    const g = read(ctx.buffer, grad);
    const mask = read(ctx.buffer, broadcastTo(tensorAt(step, ctx, 1), grad.size));
    const values = new Float64Array(numel(out.size));
    let at = 0;
    mask.forEach((m, i) => {
      if (m && at < values.length) values[at++] = g[i] as number;
    });
    write(ctx.buffer, out, values);
  });

const embeddingBackward: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const grad = tensorAt(step, ctx, 0);
    const indices = read(ctx.buffer, tensorAt(step, ctx, 1));
    const padding = numberOf(ctx, argument(step, 3, "padding_idx"), -1);
    const byFrequency = boolOf(argument(step, 4, "scale_grad_by_freq"), false);
    const g = read(ctx.buffer, grad);
    const width = grad.size[grad.size.length - 1] ?? 1;
    const sums = new Float64Array(numel(out.size));
    const counts = new Map<number, number>();
    for (const i of indices) counts.set(i, (counts.get(i) ?? 0) + 1);
    indices.forEach((row, i) => {
      if (row === padding) return;
      const scale = byFrequency ? 1 / (counts.get(row) ?? 1) : 1;
      const at = checked(ctx, row, out.size[0] ?? 0) * width;
      for (let j = 0; j < width; j++) sums[at + j] = (sums[at + j] as number) + scale * (g[i * width + j] as number);
    });
    write(ctx.buffer, out, sums);
  });

interface Bags {
  readonly indices: ArrayLike<number>;
  /** bag of each index */
  readonly bagOf: readonly number[];
  readonly count: number;
}

function bagsOf(ctx: ExternContext, indices: TensorView, offsets: TensorView, includeLast: boolean): Bags {
  const starts = [...read(ctx.buffer, offsets)];
  const list = read(ctx.buffer, indices);
  const count = starts.length - (includeLast ? 1 : 0);
  let bag = -1;
  const bagOf = Array.from(list, (_, i) => {
    while (bag + 1 < count && (starts[bag + 1] as number) <= i) bag += 1;
    return bag;
  });
  return { indices: list, bagOf, count };
}

/** _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx) */
const embeddingBag: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([out, offset2bag, bagSize, maxIndices]) => {
    const weight = tensorAt(step, ctx, 0);
    const w = read(ctx.buffer, weight);
    const [rows = 0, width = 0] = weight.size;
    const mode = numberOf(ctx, argument(step, 4, "mode"), 0);
    const scales = optionalTensor(step, ctx, 6, "per_sample_weights");
    const s = scales ? read(ctx.buffer, scales) : null;
    const padding = numberOf(ctx, argument(step, 8, "padding_idx"), -1);
    const bags = bagsOf(
      ctx,
      tensorAt(step, ctx, 1),
      tensorAt(step, ctx, 2),
      boolOf(argument(step, 7, "include_last_offset"), false),
    );
    const sums = new Float64Array(bags.count * width);
    const best = new Float64Array(bags.count * width).fill(-1);
    const sizes = new Float64Array(bags.count);
    bags.bagOf.forEach((bag, i) => {
      const row = checked(ctx, bags.indices[i] as number, rows);
      if (row === padding || bag < 0) return;
      sizes[bag] = (sizes[bag] as number) + 1;
      for (let j = 0; j < width; j++) {
        const at = bag * width + j;
        const v = (w[row * width + j] as number) * (s ? (s[i] as number) : 1);
        if (mode !== 2) sums[at] = (sums[at] as number) + v;
        else if ((best[at] as number) < 0 || v > (sums[at] as number)) {
          sums[at] = v;
          best[at] = row;
        }
      }
    });
    if (mode === 1)
      for (let i = 0; i < sums.length; i++)
        sums[i] = (sums[i] as number) / Math.max(1, sizes[Math.floor(i / width)] as number);
    if (out) write(ctx.buffer, out, sums);
    if (offset2bag) write(ctx.buffer, offset2bag, bags.bagOf);
    if (bagSize) write(ctx.buffer, bagSize, sizes);
    if (maxIndices) write(ctx.buffer, maxIndices, mode === 2 ? best : new Float64Array(numel(maxIndices.size)));
  });

/** (grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx) */
const embeddingBagBackward: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const grad = tensorAt(step, ctx, 0);
    const g = read(ctx.buffer, grad);
    const width = grad.size[1] ?? 0;
    const mode = numberOf(ctx, argument(step, 8, "mode"), 0);
    const padding = numberOf(ctx, argument(step, 11, "padding_idx"), -1);
    const scales = optionalTensor(step, ctx, 10, "per_sample_weights");
    const s = scales ? read(ctx.buffer, scales) : null;
    const indices = read(ctx.buffer, tensorAt(step, ctx, 1));
    const bagOf = read(ctx.buffer, tensorAt(step, ctx, 3));
    const sizes = read(ctx.buffer, tensorAt(step, ctx, 4));
    const sums = new Float64Array(numel(out.size));
    if (mode === 2) {
      read(ctx.buffer, tensorAt(step, ctx, 5)).forEach((row, i) => {
        if (row >= 0) sums[row * width + (i % width)] = (sums[row * width + (i % width)] as number) + (g[i] as number);
      });
    } else {
      indices.forEach((row, i) => {
        if (row === padding) return;
        const bag = bagOf[i] as number;
        const scale = (s ? (s[i] as number) : 1) / (mode === 1 ? Math.max(1, sizes[bag] as number) : 1);
        for (let j = 0; j < width; j++)
          sums[row * width + j] = (sums[row * width + j] as number) + scale * (g[bag * width + j] as number);
      });
    }
    write(ctx.buffer, out, sums);
  });

/** (grad, weight, indices, offsets, offset2bag, mode, padding_idx): each sample's row times its bag's gradient */
const embeddingBagSamples: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const [grad, weight] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1)];
    const [g, w] = [read(ctx.buffer, grad), read(ctx.buffer, weight)];
    const [rows = 0, width = 0] = weight.size;
    const padding = numberOf(ctx, argument(step, 6, "padding_idx"), -1);
    const bagOf = read(ctx.buffer, tensorAt(step, ctx, 4));
    const sums = Float64Array.from(read(ctx.buffer, tensorAt(step, ctx, 2)), (index, i) => {
      const row = checked(ctx, index, rows);
      if (row === padding) return 0;
      let sum = 0;
      for (let j = 0; j < width; j++)
        sum += (g[(bagOf[i] as number) * width + j] as number) * (w[row * width + j] as number);
      return sum;
    });
    write(ctx.buffer, out, sums);
  });

/** how often each index repeats: 0, 0, 1, 2, 2, ... */
const repeatInterleave: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const repeats = read(ctx.buffer, tensorAt(step, ctx, 0));
    write(
      ctx.buffer,
      out,
      [...repeats].flatMap((n, i) => new Array<number>(n).fill(i)),
    );
  });

export const indexing: Readonly<Record<string, ExternFunction>> = {
  "aten.index": index,
  "aten._unsafe_index": index,
  "aten.index_put": indexPut,
  "aten.index_put_": indexPut,
  "aten._unsafe_index_put": indexPut,
  "aten.gather": gather,
  "aten.scatter": scatter,
  "aten.scatter_": scatter,
  "aten.scatter_add": scatter,
  "aten.scatter_add_": scatter,
  "aten.scatter_reduce": scatter,
  "aten.scatter_reduce_": scatter,
  "aten.index_reduce": alongIndex("index_reduce"),
  "aten.index_reduce_": alongIndex("index_reduce"),
  "aten.index_add": alongIndex("index_add"),
  "aten.index_add_": alongIndex("index_add"),
  "aten.index_copy": alongIndex("index_copy"),
  "aten.index_copy_": alongIndex("index_copy"),
  "aten.masked_scatter_backward": maskedScatterBackward,
  "aten.embedding_dense_backward": embeddingBackward,
  "aten._embedding_bag": embeddingBag,
  "aten._embedding_bag_forward_only": embeddingBag,
  "aten._embedding_bag_backward": embeddingBagBackward,
  "aten._embedding_bag_per_sample_weights_backward": embeddingBagSamples,
  "aten.repeat_interleave.Tensor": repeatInterleave,
};
