// Views that pick places by a pattern: diagonals, windows (unfold), as_strided, and their gradients.

import type { Dim, GraphBuilder, LoweringBuilder, OpRecord, TensorMeta } from "../types";
import { each, spell } from "./helpers/define";
import { at, decomposed, numel, outMeta, range, viewMeta } from "./helpers/shape";
import { CONTIGUOUS, full, iota } from "./helpers/trace";
import { flatten } from "./view";

/** elements of storage from a tensor's first to its last; it has some, and none of its steps is negative */
function extent(b: GraphBuilder<unknown>, t: TensorMeta): Dim {
  return b.add(1, ...t.shape.map((size, i) => b.mul(b.sub(size, 1), at(t.stride, i))));
}

function diagonalGeometry(
  b: GraphBuilder<TensorMeta> | LoweringBuilder<unknown>,
  shape: readonly Dim[],
  offset: number,
  d1: number,
  d2: number,
): { dim1: number; dim2: number; length: Dim } {
  const dim1 = b.wrapDim(d1, shape.length);
  const dim2 = b.wrapDim(d2, shape.length);
  const rows = offset >= 0 ? at(shape, dim1) : b.add(at(shape, dim1), offset);
  const cols = offset >= 0 ? b.sub(at(shape, dim2), offset) : at(shape, dim2);
  const shorter = b.le(rows, cols) ? rows : cols;
  return { dim1, dim2, length: b.lt(shorter, 0) ? b.int(0) : shorter };
}

/** of diagonal and its copy: the gradient goes back to where the diagonal lies, zeros elsewhere */
export const DIAGONAL_DERIVATIVE = each({
  self: (b, c) =>
    b.call("aten.diagonal_backward.default", [
      c.grad(),
      b.meta(c.args.tensor("self")).shape,
      c.args.raw("offset"),
      c.args.raw("dim1"),
      c.args.raw("dim2"),
    ]),
});

/** the diagonal of a box as an index map */
export function lowerDiagonal<B>(b: LoweringBuilder<B>, x: B, offset: number, d1: number, d2: number): B {
  const size = b.size(x);
  const { dim1, dim2, length } = diagonalGeometry(b as LoweringBuilder<unknown>, size, offset, d1, d2);
  const kept = range(size.length).filter(d => d !== dim1 && d !== dim2);
  return b.genericView(x, [...kept.map(d => at(size, d)), length], index => {
    const along = at(index, index.length - 1);
    return range(size.length).map(d => {
      if (d === dim1) return offset < 0 ? b.sub(along, offset) : along;
      if (d === dim2) return offset >= 0 ? b.add(along, offset) : along;
      return at(index, kept.indexOf(d));
    });
  });
}

const windows: OpRecord[] = [
  {
    name: "aten.diagonal.default",
    schema: "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    python: [...spell("diagonal"), "torch.linalg.diagonal"],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const offset = a.int("offset");
      const { dim1, dim2, length } = diagonalGeometry(m, t.shape, offset, a.int("dim1"), a.int("dim2"));
      if (dim1 === dim2) return m.fail(`diagonal dimensions cannot be identical ${a.int("dim1")}, ${a.int("dim2")}`);
      const kept = range(t.shape.length).filter(d => d !== dim1 && d !== dim2);
      const [s1, s2] = [at(t.stride, dim1), at(t.stride, dim2)];
      const shift = m.static(length) === 0 ? m.int(0) : offset >= 0 ? m.mul(s2, offset) : m.mul(s1, -offset);
      return viewMeta(
        t,
        [...kept.map(d => at(t.shape, d)), length],
        [...kept.map(d => at(t.stride, d)), m.add(s1, s2)],
        m.add(t.storageOffset, shift),
      );
    },
    derivative: DIAGONAL_DERIVATIVE,
    lower: (b, a) => lowerDiagonal(b, a.tensor("self"), a.int("offset"), a.int("dim1"), a.int("dim2")),
  },
  decomposed({
    name: "aten.diagonal_backward.default",
    schema: "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    decompose: (b, a) => {
      const g = a.tensor("grad_output");
      const m = b.meta(g);
      const zeros = full(b, a.dims("input_sizes"), 0, m.dtype, m.device);
      return b.call("aten.diagonal_scatter.default", [zeros, g, a.raw("offset"), a.raw("dim1"), a.raw("dim2")]);
    },
    derivative: each({
      grad_output: (b, c) =>
        b.call("aten.diagonal.default", [c.grad(), c.args.raw("offset"), c.args.raw("dim1"), c.args.raw("dim2")]),
    }),
  }),
  {
    name: "aten.unfold.default",
    schema: "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    python: ["Tensor.unfold"],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const [size, step] = [a.int("size"), a.int("step")];
      if (t.shape.length === 0) return viewMeta(t, [m.int(size)], [m.int(1)]);
      const dim = m.wrapDim(a.int("dimension"), t.shape.length);
      if (step <= 0) return m.fail(`step is ${step} but must be > 0`);
      if (m.lt(at(t.shape, dim), size)) {
        return m.fail(`maximum size for tensor at dimension ${dim} is ${m.hint(at(t.shape, dim))} but size is ${size}`);
      }
      const count = m.add(m.floordiv(m.sub(at(t.shape, dim), size), step), 1);
      return viewMeta(
        t,
        [...t.shape.map((s, i) => (i === dim ? count : s)), m.int(size)],
        [...t.stride.map((s, i) => (i === dim ? m.mul(s, step) : s)), at(t.stride, dim)],
      );
    },
    derivative: each({
      self: (b, c) =>
        b.call("aten.unfold_backward.default", [
          c.grad(),
          b.meta(c.args.tensor("self")).shape,
          c.args.raw("dimension"),
          c.args.raw("size"),
          c.args.raw("step"),
        ]),
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const size = b.size(x);
      const [length, step] = [a.int("size"), a.int("step")];
      if (size.length === 0) return b.slice(b.unsqueeze(x, 0), 0, 0, length, 1, false);
      const dim = b.wrapDim(a.int("dimension"), size.length);
      const out = outMeta(b).shape;
      if (b.hint(at(size, dim)) > 0) b.markReuse(x, b.hint(b.ceildiv(b.mul(at(out, dim), length), at(size, dim))));
      return b.genericView(x, out, index => {
        const along = b.add(at(index, index.length - 1), b.mul(at(index, dim), step));
        return index.slice(0, -1).map((v, i) => (i === dim ? along : v));
      });
    },
  },
  decomposed({
    name: "aten.unfold_backward.default",
    schema: "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
    decompose: (b, a) => {
      const g = a.tensor("grad_in");
      const m = b.meta(g);
      const sizes = a.dims("input_sizes");
      const [size, step] = [a.int("size"), a.int("step")];
      if (sizes.length === 0) return b.call("aten.squeeze.dim", [g, 0]);
      const dim = b.wrapDim(a.int("dim"), sizes.length);
      const places = iota(b, at(sizes, dim), m.device, 0, 1, "int32");
      const index = flatten(b, b.call("aten.unfold.default", [places, 0, size, step]), 0, -1);
      // the window's own dim goes next to the windowed one, then both are one
      const rank = m.shape.length;
      const order = range(rank - 1);
      order.splice(dim + 1, 0, rank - 1);
      const values = flatten(b, b.call("aten.permute.default", [g, order]), dim, dim + 1);
      const zeros = full(b, sizes, 0, m.dtype, m.device);
      return b.call("aten.index_put.default", [zeros, [...new Array<null>(dim).fill(null), index], values, true]);
    },
    derivative: each({
      grad_in: (b, c) =>
        b.call("aten.unfold.default", [c.grad(), c.args.raw("dim"), c.args.raw("size"), c.args.raw("step")]),
    }),
  }),
  {
    name: "aten.as_strided.default",
    schema: "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
    python: spell("as_strided"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const [size, stride] = [a.dims("size"), a.dims("stride")];
      if (size.length !== stride.length) return m.fail("mismatch in length of strides and shape");
      return viewMeta(t, size, stride, a.optDim("storage_offset") ?? t.storageOffset);
    },
    derivative: each({
      // as_strided_backward over the storage from the input's first element to its last: every place that was read gets its share
      self: (b, c) => {
        const self = c.args.tensor("self");
        const t = b.meta(self);
        const g = c.grad();
        const total = b.isContiguous(self) ? numel(b, t) : extent(b, t);
        const storage = full(b, [total], 0, t.dtype, t.device);
        const places = b.call("aten.as_strided.default", [
          iota(b, total, t.device),
          c.args.raw("size"),
          c.args.raw("stride"),
          b.sub(c.args.optDim("storage_offset") ?? t.storageOffset, t.storageOffset),
        ]);
        const values = b.call("aten.view.default", [
          b.isContiguous(g) ? g : b.call("aten.clone.default", [g], { memory_format: CONTIGUOUS }),
          [-1],
        ]);
        const put = b.call("aten.index_put.default", [storage, [flatten(b, places, 0, -1)], values, true]);
        return b.call("aten.as_strided.default", [put, t.shape, t.stride, 0]);
      },
    }),
    lower: (b, a) =>
      b.asStrided(a.tensor("self"), a.dims("size"), a.dims("stride"), a.optDim("storage_offset") ?? b.int(0)),
  },
];

export const records: readonly OpRecord[] = [...windows];
