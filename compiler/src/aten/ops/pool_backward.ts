// Gradients of pooling. Each element of the input adds up the windows that cover it; large windows are calls.
import type { Dim, LoweringBuilder, MetaBuilder, OpRecord, Ops, TensorMeta } from "../types";
import { fallback, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, looksChannelsLast, outMeta, range } from "./helpers/shape";
import { covering, likeFormat, loopSize, type Window, windowOf } from "./helpers/windows";
import { UNROLLED } from "./pool";

const likeInput = (m: MetaBuilder, x: TensorMeta): TensorMeta => m.tensor(x.shape, x, likeFormat(m, x, x.shape));

/** first and last window that cover an element, in each dim */
interface Cover<V> {
  readonly start: readonly V[];
  readonly end: readonly V[];
}

function coverOf<V>(
  b: LoweringBuilder<unknown>,
  ops: Ops<V>,
  w: Window,
  index: readonly Dim[],
  pooled: readonly Dim[],
): Cover<V> {
  const dims = w.kernel.length;
  const places = index.slice(-dims).map((i, d) => b.add(i, at(w.padding, d)));
  const first = places.map((i, d) => {
    const s = at(w.stride, d);
    return ops.indexExpr(b.floordiv(b.add(i, s - at(w.kernel, d)), s), "int32");
  });
  const last = places.map((i, d) => ops.indexExpr(b.add(b.floordiv(i, at(w.stride, d)), 1), "int32"));
  const start = first.map(v => ops.op("maximum", v, ops.constant(0, "int32")));
  const end = last.map((v, d) => ops.op("minimum", v, ops.indexExpr(at(pooled, d), "int32")));
  return { start, end };
}

/** all combinations of places within the counts, row-major */
function places(counts: readonly number[]): number[][] {
  return counts.reduce<number[][]>((all, n) => all.flatMap(p => range(n).map(i => [...p, i])), [[]]);
}

/** index of the pooled element `offset` windows after the first one, kept within the last */
function pooledIndex<V>(ops: Ops<V>, cover: Cover<V>, at_: readonly V[], sizes: readonly Dim[]): Dim[] {
  return at_.map((p, d) => {
    const last = ops.op("sub", at(cover.end, d), ops.constant(1, "int32"));
    return ops.indirectIndexing(ops.op("minimum", p, last), at(sizes, d), { check: false });
  });
}

const within = <V>(ops: Ops<V>, cover: Cover<V>, at_: readonly V[]): V =>
  at_.map((p, d) => ops.op("lt", p, at(cover.end, d))).reduce((x, y) => ops.op("and_", x, y));

const maxima: OpRecord[] = ([2, 3] as const).map(dims => {
  const name = `aten.max_pool${dims}d_with_indices_backward.default`;
  const positional = ["grad_output", "self", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "indices"];
  const call = fallback(name, ["grad_output", "self", "indices"], positional);
  const list = `int[${dims}]`;
  return {
    name,
    schema: `max_pool${dims}d_with_indices_backward(Tensor grad_output, Tensor self, ${list} kernel_size, ${list} stride, ${list} padding, ${list} dilation, bool ceil_mode, Tensor indices) -> Tensor`,
    meta: (m, a) => likeInput(m, a.tensor("self")),
    derivative: NOT_DIFFERENTIABLE,
    lower: <B>(b: LoweringBuilder<B>, a: Parameters<typeof call<B>>[1]) => {
      const w = windowOf(a, dims, true);
      const counts = covering(w);
      const grad = a.tensor("grad_output");
      if (dims === 3) return call(b, a);
      b.realizeHint(grad);
      if (w.dilation.some(d => d !== 1) || counts.reduce((p, q) => p * q, 1) > UNROLLED) return call(b, a);
      const size = b.size(a.tensor("self"));
      const pooled = b.size(grad).slice(-2);
      const places_ = b.size(a.tensor("indices")).slice(-2);
      const [loadIndex, loadGrad] = [b.loader(a.tensor("indices")), b.loader(grad)];
      const width = at(size, size.length - 1);
      const out = b.pointwise({
        size,
        dtype: b.dtype(grad),
        device: b.device(grad),
        body: <V>(ops: Ops<V>, index: readonly Dim[]): V => {
          const prefix = index.slice(0, -2);
          const [h, col] = index.slice(-2) as [Dim, Dim];
          const own = ops.indexExpr(b.add(b.mul(h, width), col), "int32");
          const cover = coverOf(b as LoweringBuilder<unknown>, ops, w, index, pooled);
          let gradient: V | null = null;
          for (const offset of places(counts)) {
            const here = offset.map((o, d) => ops.op("add", at(cover.start, d), ops.constant(o, "int32")));
            const from = [...prefix, ...pooledIndex(ops, cover, here, places_)];
            const chosen = loadIndex(ops, from);
            const part = loadGrad(ops, from);
            const check = ops.op("eq", chosen, own);
            if (gradient === null) gradient = ops.op("where", check, part, ops.constant(fl(0), "float32"));
            else {
              const mask = ops.op("and_", within(ops, cover, here), check);
              gradient = ops.op("where", mask, ops.op("add", gradient, part), gradient);
            }
          }
          if (gradient === null) throw new Error("every element has a window");
          return gradient;
        },
      });
      return looksChannelsLast(b, outMeta(b)) ? b.channelsLast(out) : out;
    },
  } satisfies OpRecord;
});

/** how many elements inside the input a window has */
function countInside<V>(ops: Ops<V>, w: Window, here: readonly V[], input: readonly Dim[]): V {
  const int = (n: number): V => ops.constant(n, "int32");
  const [strides, pads, kernels] = [w.stride, w.padding, w.kernel].map(ns => ns.map(int)) as [V[], V[], V[]];
  const starts = here.map((p, d) => ops.op("sub", ops.op("mul", p, at(strides, d)), at(pads, d)));
  const ends = starts.map((s, d) =>
    ops.op(
      "minimum",
      ops.op("add", s, at(kernels, d)),
      ops.op("add", ops.indexExpr(at(input, d), "int32"), at(pads, d)),
    ),
  );
  const from = starts.map(s => ops.op("maximum", s, int(0)));
  const to = ends.map((e, d) => ops.op("minimum", e, ops.indexExpr(at(input, d), "int32")));
  return to.map((e, d) => ops.op("sub", e, at(from, d))).reduce((x, y) => ops.op("mul", x, y));
}

const averages: OpRecord[] = ([2, 3] as const).map(dims => {
  const name = `aten.avg_pool${dims}d_backward.default`;
  const positional = [
    "grad_output",
    "self",
    "kernel_size",
    "stride",
    "padding",
    "ceil_mode",
    "count_include_pad",
    "divisor_override",
  ];
  const call = fallback(name, ["grad_output", "self"], positional);
  const list = `int[${dims}]`;
  return {
    name,
    schema: `avg_pool${dims}d_backward(Tensor grad_output, Tensor self, ${list} kernel_size, ${list} stride, ${list} padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor`,
    meta: (m, a) => {
      const x = a.tensor("self");
      return dims === 2 ? likeInput(m, x) : m.tensor(x.shape, x);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: <B>(b: LoweringBuilder<B>, a: Parameters<typeof call<B>>[1]) => {
      const w = windowOf(a, dims, false);
      const grad = a.tensor("grad_output");
      b.realizeHint(grad);
      const size = b.size(a.tensor("self"));
      const input = size.slice(-dims);
      const counts = covering(w);
      // larger loops than these are hard on the compiler of kernels
      if (counts.reduce((p, q) => p * q, 1) > (dims === 2 ? UNROLLED : 125)) return call(b, a);
      const padded = w.padding.some(p => p !== 0) || input.some((s, i) => loopSize(b, s, w, i).ceil);
      const pooled = b.size(grad).slice(-dims);
      const load = b.loader(grad);
      const divisor = a.optInt("divisor_override");
      const whole = divisor ?? (a.bool("count_include_pad") || !padded ? w.kernel.reduce((p, q) => p * q, 1) : null);
      return b.pointwise({
        size,
        dtype: b.dtype(a.tensor("self")),
        device: b.device(grad),
        body: <V>(ops: Ops<V>, index: readonly Dim[]): V => {
          const prefix = index.slice(0, -dims);
          const loops = b as LoweringBuilder<unknown>;
          const cover = coverOf(loops, ops, w, index, pooled);
          let gradient: V | null = null;
          for (const offset of places(counts)) {
            const here = offset.map((o, d) => ops.op("add", at(cover.start, d), ops.constant(o, "int32")));
            const scale = whole === null ? countInside(ops, w, here, input) : ops.constant(fl(whole), "float32");
            const from = [...prefix, ...pooledIndex(ops, cover, here, pooled)];
            const part = ops.op("truediv", load(ops, from), scale);
            const mask = within(ops, cover, here);
            gradient =
              gradient === null
                ? ops.op("where", mask, part, ops.constant(fl(0), "float32"))
                : ops.op("where", mask, ops.op("add", gradient, part), gradient);
          }
          if (gradient === null) throw new Error("every element has a window");
          return gradient;
        },
      });
    },
  } satisfies OpRecord;
});

const adaptive: OpRecord[] = ([2, 3] as const).flatMap(dims => [
  {
    name: `aten._adaptive_avg_pool${dims}d_backward.default`,
    schema: `_adaptive_avg_pool${dims}d_backward(Tensor grad_output, Tensor self) -> Tensor`,
    tags: ["extern"],
    meta: (m, a) => {
      const x = a.tensor("self");
      return dims === 2 ? likeInput(m, x) : m.tensor(x.shape, x);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback(
      `aten._adaptive_avg_pool${dims}d_backward.default`,
      ["grad_output", "self"],
      ["grad_output", "self"],
    ),
  } satisfies OpRecord,
  {
    name: `aten.adaptive_max_pool${dims}d_backward.default`,
    schema: `adaptive_max_pool${dims}d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor`,
    tags: ["extern"],
    meta: (m, a) => (dims === 2 ? likeInput(m, a.tensor("self")) : m.tensor(a.tensor("self").shape, a.tensor("self"))),
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback(
      `aten.adaptive_max_pool${dims}d_backward.default`,
      ["grad_output", "self", "indices"],
      ["grad_output", "self", "indices"],
    ),
  } satisfies OpRecord,
]);

export const records: readonly OpRecord[] = [...maxima, ...averages, ...adaptive];
