// Views that cut a tensor into pieces along a dim: split, chunk, unbind, tensor_split and kin.

import type { Args, Dim, DimMath, GraphBuilder, LoweringBuilder, OpRecord, TensorMeta } from "../types";
import { spell } from "./helpers/define";
import { at, composed, range, viewMeta } from "./helpers/shape";
import { filledWith } from "./helpers/trace";
import { selectMeta } from "./view_select";

/** sizes of the pieces of split(size): all equal but the last */
function pieceSizes(b: DimMath & { fail(m: string): never }, total: Dim, size: Dim): Dim[] {
  if (b.static(size) === 0) {
    if (b.hint(total) === 0) return [total];
    return b.fail(`split_size can only be 0 if dimension size is 0, but got dimension size of ${b.hint(total)}`);
  }
  // the number of pieces is a number of Python objects, so it is fixed by the example sizes
  const pieces = Math.max(1, b.hint(b.ceildiv(total, size)));
  if (!b.eq(b.ceildiv(total, size), pieces) && b.hint(total) !== 0)
    return b.fail("split: the number of pieces is not known");
  const sizes = new Array<Dim>(pieces).fill(size);
  sizes[pieces - 1] = b.sub(total, b.mul(size, pieces - 1));
  return sizes;
}

/** metas of consecutive pieces along a dim */
function pieces(b: DimMath, t: TensorMeta, dim: number, sizes: readonly Dim[]): TensorMeta[] {
  let start: Dim = b.int(0);
  return sizes.map(size => {
    const piece = viewMeta(
      t,
      t.shape.map((s, i) => (i === dim ? size : s)),
      t.stride,
      b.add(t.storageOffset, b.mul(start, at(t.stride, dim))),
    );
    start = b.add(start, size);
    return piece;
  });
}

function lowerPieces<B>(b: LoweringBuilder<B>, x: B, dim: number, sizes: readonly Dim[]): B[] {
  let start: Dim = b.int(0);
  return sizes.map(size => {
    const end = b.add(start, size);
    const piece = b.slice(x, dim, start, end, 1, false);
    start = end;
    return piece;
  });
}

/** gradient of a split: the pieces' gradients side by side, zeros where a piece has none */
function catGrads<T>(
  b: GraphBuilder<T>,
  grads: readonly (T | null)[],
  x: TensorMeta,
  dim: number,
  sizes: readonly Dim[],
): T {
  const parts = grads.map((g, i) => {
    if (g !== null) return g;
    const shape = x.shape.map((s, d) => (d === dim ? at(sizes, i) : s));
    return filledWith(b, "zeros", shape, x);
  });
  return b.call("aten.cat.default", [parts, dim]);
}

const splits: OpRecord[] = [
  {
    name: "aten.split.Tensor",
    schema: "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    python: ["torch.split", "Tensor.split", "torch.functional.split", "torch.Tensor.split"],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const dim = m.wrapDim(a.int("dim"), t.shape.length);
      return pieces(m, t, dim, pieceSizes(m, at(t.shape, dim), a.dim("split_size")));
    },
    derivative: {
      kind: "joint",
      of: ["self"],
      grads: (b, c) => {
        const t = b.meta(c.args.tensor("self"));
        const dim = b.wrapDim(c.args.int("dim"), t.shape.length);
        const sizes = pieceSizes(b, at(t.shape, dim), c.args.dim("split_size"));
        return {
          self: catGrads(
            b,
            sizes.map((_, i) => c.optGrad(i)),
            t,
            dim,
            sizes,
          ),
        };
      },
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      const dim = b.wrapDim(a.int("dim"), b.size(x).length);
      const metas = b.out() as readonly TensorMeta[];
      return lowerPieces(
        b,
        x,
        dim,
        metas.map(t => at(t.shape, dim)),
      );
    },
  },
  {
    name: "aten.split_with_sizes.default",
    schema: "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    python: [...spell("split_with_sizes")],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const dim = m.wrapDim(a.int("dim"), t.shape.length);
      const sizes = a.dims("split_sizes");
      if (
        !m.eq(
          sizes.reduce<Dim>((x, y) => m.add(x, y), m.int(0)),
          at(t.shape, dim),
        )
      ) {
        return m.fail(
          `split_with_sizes expects split_sizes to sum exactly to ${m.hint(at(t.shape, dim))} (input tensor's size at dimension ${dim}), but got split_sizes=[${sizes.map(s => m.hint(s)).join(", ")}]`,
        );
      }
      return pieces(m, t, dim, sizes);
    },
    derivative: {
      kind: "joint",
      of: ["self"],
      grads: (b, c) => {
        const t = b.meta(c.args.tensor("self"));
        const sizes = c.args.dims("split_sizes");
        const dim = b.wrapDim(c.args.int("dim"), t.shape.length);
        return {
          self: catGrads(
            b,
            sizes.map((_, i) => c.optGrad(i)),
            t,
            dim,
            sizes,
          ),
        };
      },
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      return lowerPieces(b, x, b.wrapDim(a.int("dim"), b.size(x).length), a.dims("split_sizes"));
    },
  },
  composed({
    name: "aten.split.sizes",
    schema: "split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    python: ["torch.split", "Tensor.split", "torch.functional.split", "torch.Tensor.split"],
    composite: (b, a) =>
      b.callMany("aten.split_with_sizes.default", [a.tensor("self"), a.raw("split_size"), a.raw("dim")]),
  }),
  composed({
    name: "aten.chunk.default",
    schema: "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
    python: spell("chunk"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const shape = b.meta(x).shape;
      const chunks = a.int("chunks");
      if (shape.length === 0) return b.fail("chunk expects at least a 1-dimensional tensor");
      if (chunks <= 0) return b.fail(`chunk expects \`chunks\` to be greater than 0, got: ${chunks}`);
      const size = at(shape, b.wrapDim(a.int("dim"), shape.length));
      const piece = b.floordiv(b.add(size, chunks - 1), chunks);
      if (b.static(piece) === 0) {
        // an empty dim still gives the asked number of pieces
        const sizes = new Array<Dim>(chunks).fill(b.int(0));
        return b.callMany("aten.split_with_sizes.default", [x, sizes, a.raw("dim")]);
      }
      return b.callMany("aten.split.Tensor", [x, piece, a.raw("dim")]);
    },
  }),
  composed({
    name: "aten.tensor_split.sections",
    schema: "tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    python: spell("tensor_split"),
    composite: (b, a) => tensorSplit(b, a.tensor("self"), a.int("sections"), a.int("dim")),
  }),
  composed({
    name: "aten.tensor_split.indices",
    schema: "tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    python: spell("tensor_split"),
    composite: (b, a) => tensorSplit(b, a.tensor("self"), a.ints("indices"), a.int("dim")),
  }),
  ...(
    [
      ["hsplit", 1],
      ["vsplit", 0],
      ["dsplit", 2],
    ] as const
  ).flatMap(([name, dim]) => [
    composed({
      name: `aten.${name}.int`,
      schema: `${name}.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]`,
      python: spell(name),
      composite: (b, a) => tensorSplit(b, a.tensor("self"), a.int("sections"), splitDim(b, a, name, dim)),
    }),
    composed({
      name: `aten.${name}.array`,
      schema: `${name}.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]`,
      python: spell(name),
      composite: (b, a) => tensorSplit(b, a.tensor("self"), a.ints("indices"), splitDim(b, a, name, dim)),
    }),
  ]),
  {
    name: "aten.unbind.int",
    schema: "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
    python: spell("unbind"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const dim = m.wrapDim(a.int("dim"), t.shape.length);
      if (t.shape.length === 0) return m.fail("Dimension specified as 0 but tensor has no dimensions", "IndexError");
      const size = at(t.shape, dim);
      const count = m.hint(size);
      m.eq(size, count); // the number of results fixes the size
      return range(count).map(i => selectMeta(m, t, dim, m.int(i)));
    },
    derivative: {
      kind: "joint",
      of: ["self"],
      grads: (b, c) => {
        const t = b.meta(c.args.tensor("self"));
        const dim = b.wrapDim(c.args.int("dim"), t.shape.length);
        const shape = t.shape.filter((_, i) => i !== dim);
        const grads = range(b.hint(at(t.shape, dim))).map(i => {
          const g = c.optGrad(i);
          return g ?? b.call("aten.expand.default", [filledWith(b, "zeros", [], t), shape]);
        });
        return { self: b.call("aten.stack.default", [grads, c.args.raw("dim")]) };
      },
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      const dim = b.wrapDim(a.int("dim"), b.size(x).length);
      return range((b.out() as readonly TensorMeta[]).length).map(i => b.select(x, dim, i));
    },
  },
];

function splitDim<T>(b: GraphBuilder<T>, a: Args<T>, name: string, dim: number): number {
  const rank = b.meta(a.tensor("self")).shape.length;
  const need = dim === 2 ? 3 : dim === 1 ? 1 : 2;
  if (rank < need)
    return b.fail(
      `torch.${name} requires a tensor with at least ${need} dimension, but got a tensor with ${rank} dimensions!`,
    );
  return name === "hsplit" && rank === 1 ? 0 : dim;
}

function tensorSplit<T>(b: GraphBuilder<T>, x: T, by: number | readonly number[], d: number): T[] {
  const shape = b.meta(x).shape;
  if (shape.length === 0)
    return b.fail("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const dim = b.wrapDim(d, shape.length);
  const size = at(shape, dim);
  const slice = (start: Dim | number, end: Dim | number): T => b.call("aten.slice.Tensor", [x, dim, start, end, 1]);
  if (typeof by === "number") {
    if (by <= 0) return b.fail(`number of sections must be larger than 0, got ${by}`);
    const base = b.floordiv(size, by);
    const longer = b.hint(b.mod(size, by));
    let start: Dim = b.int(0);
    return range(by).map(i => {
      const from = start;
      start = b.add(start, i < longer ? b.add(base, 1) : base);
      return slice(from, start);
    });
  }
  let start: number | Dim = 0;
  const out = by.map(index => {
    const piece = slice(start, index);
    start = index;
    return piece;
  });
  return [...out, slice(start, size)];
}

export const records: readonly OpRecord[] = [...splits];
