// The functional forms of a write into a view, which functionalization makes: slice_scatter, select_scatter and kin.

import type { Args, ArgValue, Dim, LoweringBuilder, MetaBuilder, OpRecord, TensorMeta } from "../types";
import { each, fl, isFloatDType, spell } from "./helpers/define";
import { at, denseLike, sliceBounds, sliceLength } from "./helpers/shape";
import { filledWith, full } from "./helpers/trace";
import { lowerDiagonal } from "./view_window";

/** the functional forms of a write into a view */
const viewScatters: OpRecord[] = [
  {
    name: "aten.select_scatter.default",
    schema: "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
    python: spell("select_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      self: (b, c) => {
        const s = b.meta(c.args.tensor("src"));
        const zeros = filledWith(b, "zeros", s.shape, s);
        return b.call("aten.select_scatter.default", [c.grad(), zeros, c.args.raw("dim"), c.args.raw("index")]);
      },
      src: (b, c) => b.call("aten.select.int", [c.grad(), c.args.raw("dim"), c.args.raw("index")]),
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const size = b.size(x);
      const dim = b.wrapDim(a.int("dim"), size.length);
      const given = a.dim("index");
      const place = b.lt(given, 0) ? b.add(given, at(size, dim)) : given;
      const load = b.loader(x);
      const src = b.expand(b.unsqueeze(b.toDtype(a.tensor("src"), b.dtype(x)), dim), size);
      const loadSrc = b.loader(src);
      return b.pointwise({
        size,
        dtype: b.dtype(x),
        device: b.device(x),
        body: (ops, i) =>
          ops.op(
            "where",
            ops.op("eq", ops.indexExpr(at(i, dim), "int32"), ops.indexExpr(place, "int32")),
            loadSrc(ops, i),
            load(ops, i),
          ),
      });
    },
  },
  {
    name: "aten.slice_scatter.default",
    schema:
      "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
    python: spell("slice_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      self: (b, c) => {
        const s = b.meta(c.args.tensor("src"));
        const zeros = filledWith(b, "zeros", s.shape, s);
        return b.call("aten.slice_scatter.default", [c.grad(), zeros, ...sliceArgs(c.args)]);
      },
      src: (b, c) => b.call("aten.slice.Tensor", [c.grad(), ...sliceArgs(c.args)]),
    }),
    lower: lowerSliceScatter,
  },
  {
    name: "aten.diagonal_scatter.default",
    schema: "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    python: spell("diagonal_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      self: (b, c) => {
        const s = b.meta(c.args.tensor("src"));
        const zeros = filledWith(b, "zeros", s.shape, s);
        return b.call("aten.diagonal_scatter.default", [
          c.grad(),
          zeros,
          c.args.raw("offset"),
          c.args.raw("dim1"),
          c.args.raw("dim2"),
        ]);
      },
      src: (b, c) =>
        b.call("aten.diagonal.default", [c.grad(), c.args.raw("offset"), c.args.raw("dim1"), c.args.raw("dim2")]),
    }),
    lower: (b, a) => {
      const out = b.clone(a.tensor("self"));
      const target = lowerDiagonal(b, out, a.int("offset"), a.int("dim1"), a.int("dim2"));
      b.copyInto(target, a.tensor("src"));
      return out;
    },
  },
  {
    name: "aten.as_strided_scatter.default",
    schema:
      "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
    python: spell("as_strided_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      // autograd's formula keeps what was written over
      self: (b, c) => {
        const view = [c.args.raw("size"), c.args.raw("stride"), c.args.raw("storage_offset")];
        const part = b.call("aten.as_strided.default", [c.grad(), ...view]);
        const { shape, stride, dtype, device } = b.meta(c.args.tensor("self"));
        const whole = full(b, shape, 0, dtype, device);
        b.call("aten.copy_.default", [b.call("aten.as_strided.default", [whole, ...view]), part]);
        return b.call("aten.as_strided.default", [whole, shape, stride]);
      },
      src: (b, c) =>
        b.call("aten.as_strided.default", [
          c.grad(),
          c.args.raw("size"),
          c.args.raw("stride"),
          c.args.raw("storage_offset"),
        ]),
    }),
    lower: (b, a) => {
      const out = b.clone(a.tensor("self"));
      const target = b.asStrided(out, a.dims("size"), a.dims("stride"), a.optDim("storage_offset") ?? b.int(0));
      b.copyInto(target, b.toDtype(a.tensor("src"), b.dtype(out)));
      return out;
    },
  },
];

/** the result has the tensor's own strides, dense or not, unless elements share memory (at::clone_preserve_strides) */
function preserved(m: MetaBuilder, t: TensorMeta): TensorMeta {
  const overlaps = t.shape.some((s, i) => m.static(at(t.stride, i)) === 0 && m.static(s) !== 1);
  return overlaps ? denseLike(m, t) : m.tensor(t.shape, t, t.stride);
}

const sliceArgs = <T>(a: Args<T>): ArgValue<T>[] => ["dim", "start", "end", "step"].map(n => a.raw(n));

function lowerSliceScatter<B>(b: LoweringBuilder<B>, a: Args<B>): B {
  const x = a.tensor("self");
  const dtype = b.dtype(x);
  const load = b.loader(x);
  const size = b.size(x);
  const dim = b.wrapDim(a.int("dim"), size.length);
  const extent = at(size, dim);
  const step = a.int("step");
  const { start, end } = sliceBounds(
    b,
    extent,
    a.raw("start") as Dim | number | null,
    a.raw("end") as Dim | number | bigint | null,
  );
  const fromStart = b.knownEq(start, 0);
  const toEnd = b.knownEq(end, extent);
  const src = b.expand(
    b.toDtype(a.tensor("src"), dtype),
    size.map((s, i) => (i === dim ? sliceLength(b, start, end, step) : s)),
  );
  const loadSrc = b.loader(src);
  const zero = isFloatDType(dtype) ? fl(0) : 0;
  return b.pointwise({
    size,
    dtype,
    device: b.device(x),
    body: (ops, index) => {
      if (fromStart && toEnd && step === 1) return loadSrc(ops, index);
      const here = at(index, dim);
      const place = ops.indexExpr(here, "int64");
      const inside = [];
      if (!fromStart) inside.push(ops.op("ge", place, ops.indexExpr(start, "int64")));
      if (!toEnd) inside.push(ops.op("lt", place, ops.indexExpr(end, "int64")));
      if (step !== 1) {
        const phase = ops.indexExpr(b.modularIndexing(b.sub(here, start), 1, step), "int64");
        inside.push(ops.op("eq", phase, ops.constant(0, "int64")));
      }
      const mask = inside.reduce((p, q) => ops.op("and_", p, q));
      const from = index.map((v, i) => (i === dim ? b.floordiv(b.sub(v, start), step) : v));
      return ops.op(
        "where",
        mask,
        ops.masked(mask, () => loadSrc(ops, from), zero),
        load(ops, index),
      );
    },
  });
}

export const records: readonly OpRecord[] = [...viewScatters];
