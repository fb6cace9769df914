// Shape and stride rules that many operators share. In: dims of DimMath. Out: shapes, strides, metas.
// Promises: strides are those of PyTorch's C++ kernels (at::detail::computeStride, infer_size, expand), and nothing here
// creates a graph node except sumTo.
import type {
  Args,
  ArgValue,
  Dim,
  DimMath,
  GraphBuilder,
  LoweringBuilder,
  MemoryFormat,
  MetaBuilder,
  OpRecord,
  Result,
  TensorMeta,
} from "../../types";

/** An operator that is only a composition: its meta rule runs the composition on metas. */
export function composed(
  r: Omit<OpRecord, "meta" | "composite"> & { readonly composite: <T>(b: GraphBuilder<T>, a: Args<T>) => Result<T> },
): OpRecord {
  return { ...r, meta: (m, a) => r.composite<TensorMeta>(m, a) };
}

/** An operator below autograd that always decomposes, with the decomposition's meta. */
export function decomposed(
  r: Omit<OpRecord, "meta" | "decompose"> & { readonly decompose: <T>(b: GraphBuilder<T>, a: Args<T>) => Result<T> },
): OpRecord {
  return { ...r, meta: (m, a) => r.decompose<TensorMeta>(m, a) };
}

/** tensors as one argument, a list */
export const asMany = <T>(xs: readonly T[]): ArgValue<T> => xs as readonly ArgValue<T>[];

export const at = <X>(xs: readonly X[], i: number): X => xs[i] as X;

export function range(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i);
}

/** product of all sizes */
export function numel(b: DimMath, t: { readonly shape: readonly Dim[] }): Dim {
  return b.product(t.shape);
}

export function contiguousStrides(b: DimMath, shape: readonly Dim[]): Dim[] {
  const stride: Dim[] = new Array<Dim>(shape.length);
  let next: Dim = b.int(1);
  for (let i = shape.length - 1; i >= 0; i--) {
    stride[i] = next;
    const size = at(shape, i);
    next = b.static(size) === 0 ? next : b.mul(next, size);
  }
  return stride;
}

export function sameShape(b: DimMath, x: readonly Dim[], y: readonly Dim[]): boolean {
  return x.length === y.length && x.every((s, i) => s === y[i] || b.knownEq(s, at(y, i)));
}

/** the same as a program asks it: sizes that are alike in this run are held to each other */
export function equalShapes(b: DimMath, x: readonly Dim[], y: readonly Dim[]): boolean {
  return x.length === y.length && x.every((s, i) => b.eq(s, at(y, i)));
}

/** [2, s77, 4] as messages show it */
export function shapeText(b: DimMath, shape: readonly Dim[]): string {
  return `[${shape.map(s => b.static(s) ?? b.hint(s)).join(", ")}]`;
}

/** at::infer_size over shapes, for builders that have no broadcast of their own */
export function broadcastShapes(b: DimMath & { fail(m: string): never }, ...shapes: (readonly Dim[])[]): Dim[] {
  const rank = Math.max(0, ...shapes.map(s => s.length));
  return range(rank).map(i => {
    let size: Dim = b.int(1);
    for (const shape of shapes) {
      const s = shape[i - (rank - shape.length)];
      if (s === undefined || b.static(s) === 1 || s === size) continue;
      if (b.static(size) === 1) size = s;
      else if (!b.eq(s, size)) {
        if (b.static(s) === undefined && b.eq(s, 1)) continue;
        return b.fail(
          `The size of tensor a (${b.hint(size)}) must match the size of tensor b (${b.hint(s)}) at non-singleton dimension ${i}`,
        );
      } else if (b.static(s) !== undefined) size = s;
    }
    return size;
  });
}

/** A view's new sizes with the one -1 worked out. */
export function inferSize(
  b: DimMath & { fail(m: string): never },
  sizes: readonly Dim[],
  total: Dim,
  message = (): string => `shape '${shapeText(b, sizes)}' is invalid for input of size ${b.hint(total)}`,
): Dim[] {
  const hole = sizes.findIndex(s => b.static(s) === -1);
  if (hole < 0) {
    if (!b.eq(b.product(sizes), total)) return b.fail(message());
    return [...sizes];
  }
  if (sizes.some((s, i) => i !== hole && b.static(s) === -1)) return b.fail("only one dimension can be inferred");
  const rest = b.product(sizes.filter((_, i) => i !== hole));
  if (b.static(rest) === 0) {
    return b.fail(
      `cannot reshape tensor of 0 elements into shape ${shapeText(b, sizes)} because the unspecified dimension size -1 can be any value and is ambiguous`,
    );
  }
  if (!b.eq(b.mod(total, rest), 0)) return b.fail(message());
  return sizes.map((s, i) => (i === hole ? b.floordiv(total, rest) : s));
}

/** Strides of a view with the given sizes, or null where only a copy has that shape (at::detail::computeStride). */
export function viewStrides(
  b: DimMath,
  shape: readonly Dim[],
  stride: readonly Dim[],
  sizes: readonly Dim[],
): Dim[] | null {
  if (shape.length === 0) return sizes.map(() => b.int(1));
  if (shape.some(s => b.static(s) === 0)) {
    return shape.length === sizes.length && sizes.every((s, i) => s === shape[i])
      ? [...stride]
      : contiguousStrides(b, sizes);
  }
  const result: Dim[] = new Array<Dim>(sizes.length);
  let d = sizes.length - 1;
  let base = at(stride, stride.length - 1);
  let old: Dim = b.int(1);
  let now: Dim = b.int(1);
  for (let i = shape.length - 1; i >= 0; i--) {
    old = b.mul(old, at(shape, i));
    // a chunk ends where the next dim out does not continue this one in memory
    const ends = i === 0 || (!b.eq(at(shape, i - 1), 1) && !b.eq(at(stride, i - 1), b.mul(old, base)));
    if (!ends) continue;
    while (d >= 0 && (b.lt(now, old) || b.eq(at(sizes, d), 1))) {
      result[d] = b.mul(now, base);
      now = b.mul(now, at(sizes, d));
      d--;
    }
    if (!b.eq(now, old)) return null;
    if (i > 0) {
      base = at(stride, i - 1);
      old = b.int(1);
      now = b.int(1);
    }
  }
  return d === -1 ? result : null;
}

/**
 * Strides that fake tensors give a view (torch._refs._reshape_view_helper), which differ from computeStride's in dims of
 * size 1; null where only a copy has that shape.
 */
export function fakeViewStrides(
  b: DimMath,
  t: { readonly shape: readonly Dim[]; readonly stride: readonly Dim[] },
  sizes: readonly Dim[],
  contiguous: boolean,
): Dim[] | null {
  if (t.shape.some(s => b.static(s) === 0)) return contiguousStrides(b, sizes);
  if (t.shape.length === 0 || sizes.length === 0) return sizes.map(() => b.int(1));
  const flattens = sizes.length === 1 && t.shape.length > 1;
  const folds = sizes.length === 2 && t.shape.length === 1;
  if (contiguous && (flattens || folds)) return contiguousStrides(b, sizes);
  const shape = [...t.shape];
  const stride = [...t.stride];
  const split = (dim: number, outer: Dim): void => {
    const inner = b.floordiv(at(shape, dim), outer);
    shape.splice(dim, 1, outer, inner);
    stride.splice(dim, 1, b.mul(at(stride, dim), inner), at(stride, dim));
  };
  for (const [i, length] of sizes.entries()) {
    if (i >= shape.length) {
      split(shape.length - 1, at(shape, shape.length - 1));
      continue;
    }
    if (b.eq(length, at(shape, i))) continue;
    let end = i;
    let whole = at(shape, i);
    while (!b.eq(b.mod(whole, length), 0)) {
      end++;
      if (end >= shape.length) return null;
      whole = b.mul(whole, at(shape, end));
    }
    if (end !== i) {
      let step = at(stride, end);
      for (let d = end - 1; d >= i; d--) {
        const continues = b.eq(at(stride, d), b.mul(at(stride, d + 1), at(shape, d + 1)));
        if (!b.eq(at(shape, d), 1) && !b.eq(at(shape, d + 1), 1) && !continues) return null;
      }
      for (let d = end - 1; d >= i; d--) {
        if (!b.eq(at(shape, d), 1) && b.lt(at(stride, d), step)) step = at(stride, d);
      }
      shape.splice(i, end - i + 1, whole);
      stride.splice(i, end - i + 1, step);
    }
    if (!b.eq(whole, length)) split(i, length);
  }
  return shape.slice(sizes.length).every(s => b.eq(s, 1)) ? stride.slice(0, sizes.length) : null;
}

/** A meta over the same storage. */
export function viewMeta(
  t: TensorMeta,
  shape: readonly Dim[],
  stride: readonly Dim[],
  storageOffset: Dim = t.storageOffset,
): TensorMeta {
  return { ...t, shape, stride, storageOffset, requiresGrad: false };
}

/** Sizes and strides of expand (prims.broadcast_in_dim); -1 keeps a size. */
export function expandGeometry(
  b: DimMath & { fail(m: string): never },
  t: TensorMeta,
  sizes: readonly Dim[],
): { shape: Dim[]; stride: Dim[] } {
  const rank = sizes.length;
  const lead = rank - t.shape.length;
  if (lead < 0) {
    return b.fail(
      `expand(): the number of sizes provided (${rank}) must be greater or equal to the number of dimensions in the tensor (${t.shape.length})`,
    );
  }
  const shape: Dim[] = new Array<Dim>(rank);
  const stride: Dim[] = new Array<Dim>(rank);
  for (let i = rank - 1; i >= 0; i--) {
    const own = t.shape[i - lead];
    const size = own ?? b.int(1);
    // a new dim of one element is as wide as the tensor
    const step =
      own !== undefined
        ? at(t.stride, i - lead)
        : t.shape.length === 0
          ? b.int(1)
          : b.mul(at(t.shape, 0), at(t.stride, 0));
    const wanted = at(sizes, i);
    if (b.static(wanted) === -1) {
      if (own === undefined) {
        return b.fail(
          `expand(): the expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension ${i}`,
        );
      }
      shape[i] = size;
      stride[i] = step;
    } else if (wanted === size || b.knownEq(wanted, size) || (b.static(size) !== 1 && b.eq(wanted, size))) {
      shape[i] = wanted;
      stride[i] = step;
    } else if (b.eq(size, 1)) {
      shape[i] = wanted;
      stride[i] = b.int(0);
    } else {
      return b.fail(
        `The expanded size of the tensor (${b.hint(wanted)}) must match the existing size (${b.hint(size)}) at non-singleton dimension ${i}.  Target sizes: ${shapeText(b, sizes)}.  Tensor sizes: ${shapeText(b, t.shape)}`,
      );
    }
  }
  return { shape, stride };
}

/** Bounds of a slice, clamped to the dim as Python does; `end` null or huge: to the end. */
export function sliceBounds(
  b: DimMath,
  size: Dim,
  start: Dim | number | bigint | null,
  end: Dim | number | bigint | null,
): { start: Dim; end: Dim } {
  const huge = (x: Dim | number | bigint): boolean => typeof x === "bigint" || (typeof x === "number" && x > 2 ** 53);
  const clamp = (x: Dim | number | bigint | null, otherwise: Dim): Dim => {
    if (x === null) return otherwise;
    if (huge(x)) return size;
    let v = b.dim(x as Dim | number);
    if (v === size || b.knownEq(v, size)) return size;
    const n = b.static(v);
    if (n === 0) return v;
    if (n !== undefined && n > 2 ** 53) return size;
    if (b.lt(v, 0)) {
      v = b.add(v, size);
      if (b.lt(v, 0)) return b.int(0);
    }
    return b.lt(size, v) ? size : v;
  };
  const from = clamp(start, b.int(0));
  const to = clamp(end, size);
  return { start: from, end: to === size || !b.lt(to, from) ? to : from };
}

export function sliceLength(b: DimMath, start: Dim, end: Dim, step: number): Dim {
  const n = b.sub(end, start);
  return step === 1 ? n : b.floordiv(b.add(n, step - 1), step);
}

/** Dims in wrapped form, each once; the message is torch's. */
export function wrapDims(
  b: { wrapDim(d: number, rank: number): number; fail(m: string): never },
  dims: readonly number[],
  rank: number,
): number[] {
  const out = dims.map(d => b.wrapDim(d, rank));
  const twice = out.find((d, i) => out.indexOf(d) !== i);
  if (twice !== undefined) return b.fail(`dim ${twice} appears multiple times in the list of dims`);
  return out;
}

/** at::sum_to: the gradient of a broadcast. Nothing if the shapes are equal. */
export function sumTo<T>(b: GraphBuilder<T>, grad: T, shape: readonly Dim[]): T {
  const sizes = b.meta(grad).shape;
  if (shape.length === 0) return sizes.length === 0 ? grad : b.call("aten.sum.default", [grad]);
  const lead = sizes.length - shape.length;
  const dims = range(sizes.length).filter(
    i => i < lead || (b.static(at(shape, i - lead)) === 1 && b.static(at(sizes, i)) !== 1),
  );
  let g = grad;
  if (dims.length > 0) g = b.call("aten.sum.dim_IntList", [g, dims, true]);
  return lead > 0 ? b.call("aten.view.default", [g, shape]) : g;
}

/** Tensor.suggest_memory_format: whether strides rise in the order of channels-last (at::is_channels_last_strides_2d). */
export function looksChannelsLast(b: DimMath, t: TensorMeta): boolean {
  const order = t.shape.length === 4 ? [1, 3, 2, 0] : t.shape.length === 5 ? [1, 4, 3, 2, 0] : null;
  if (order === null || b.static(at(t.stride, 1)) === 0) return false;
  let least: Dim = b.int(0);
  for (const d of order) {
    const [size, stride] = [at(t.shape, d), at(t.stride, d)];
    if (b.static(size) === 0 || b.lt(stride, least)) return false;
    // N111 tensors are ambiguous and count as row-major
    if (d === 0 && b.eq(least, at(t.stride, 1))) return false;
    least = b.lt(1, size) ? b.mul(stride, size) : stride;
  }
  return true;
}

/** a tensor's present format: the order of its strides decides, gaps do not */
export function suggestedFormat(b: DimMath, t: TensorMeta): MemoryFormat {
  if (!looksChannelsLast(b, t)) return "contiguous_format";
  return t.shape.length === 5 ? "channels_last_3d" : "channels_last";
}

/** The traced result's meta of a lowering whose operator has one tensor result. */
export function outMeta<B>(b: LoweringBuilder<B>): TensorMeta {
  return b.out() as TensorMeta;
}

/** Strides of a copy in the same layout: those of a tensor without gaps, dims of size 1 included. */
export function copiedStrides(m: MetaBuilder, t: TensorMeta): readonly Dim[] {
  const order = range(t.shape.length).filter(d => m.static(at(t.shape, d)) !== 1);
  order.sort((p, q) => m.hint(at(t.stride, p)) - m.hint(at(t.stride, q)));
  let expected: Dim = m.int(1);
  for (const d of order) {
    if (!m.eq(at(t.stride, d), expected)) return m.elementwise(t.dtype, t).stride;
    expected = m.mul(expected, at(t.shape, d));
  }
  return t.stride;
}

/** strides in the order of `like` (dense), as empty_like(preserve_format) has them */
export function denseLike(m: MetaBuilder, t: TensorMeta): TensorMeta {
  return m.call("aten.empty_like.default", [t]);
}
