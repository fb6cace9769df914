// Views that keep a part: slices, selections, splits, diagonals, windows, as_strided; and the operators that their
// gradients are written with (slice_backward and its kin).
import type { Args, Dim, DimMath, GraphBuilder, LoweringBuilder, OpRecord, TensorMeta } from "../types";
import { each, spell } from "./helpers/define";
import {
  at,
  composed,
  contiguousStrides,
  decomposed,
  numel,
  outMeta,
  range,
  sliceBounds,
  sliceLength,
  viewMeta,
} from "./helpers/shape";
import { CONTIGUOUS, full, INT_MAX, iota } from "./helpers/trace";
import { flatten } from "./view";

type Bound = Dim | number | bigint | null;
const bound = <T>(a: Args<T>, name: string): Bound => a.raw(name) as Bound;

function sliceMeta(b: DimMath, t: TensorMeta, dim: number, start: Bound, end: Bound, step: number): TensorMeta {
  const size = at(t.shape, dim);
  const edges = sliceBounds(b, size, start, end);
  const length =
    edges.start === b.int(0) && edges.end === size && step === 1 ? size : sliceLength(b, edges.start, edges.end, step);
  return viewMeta(
    t,
    t.shape.map((s, i) => (i === dim ? length : s)),
    t.stride.map((s, i) => (i === dim && step !== 1 ? b.mul(s, step) : s)),
    b.add(t.storageOffset, b.mul(edges.start, at(t.stride, dim))),
  );
}

function selectMeta(b: GraphBuilder<TensorMeta>, t: TensorMeta, d: number, index: Dim): TensorMeta {
  if (t.shape.length === 0) return b.fail("select() cannot be applied to a 0-dim tensor.", "IndexError");
  const dim = b.wrapDim(d, t.shape.length);
  const size = at(t.shape, dim);
  const n = b.static(index);
  if (n !== undefined && b.static(size) !== undefined && (n >= b.hint(size) || n < -b.hint(size))) {
    return b.fail(`index ${n} is out of bounds for dimension ${dim} with size ${b.hint(size)}`, "IndexError");
  }
  const place = b.lt(index, 0) ? b.add(index, size) : index;
  const rest = <X>(xs: readonly X[]): X[] => xs.filter((_, i) => i !== dim);
  return viewMeta(t, rest(t.shape), rest(t.stride), b.add(t.storageOffset, b.mul(place, at(t.stride, dim))));
}

/** sizes of the pieces of split(size): all equal but the last */
function pieceSizes(b: DimMath & { fail(m: string): never }, total: Dim, size: Dim): Dim[] {
  if (b.static(size) === 0) return [total];
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
    return full(b, shape, 0, x.dtype, x.device);
  });
  return b.call("aten.cat.default", [parts, dim]);
}

const parts: OpRecord[] = [
  {
    name: "aten.slice.Tensor",
    schema: "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      if (t.shape.length === 0) return m.fail("slice() cannot be applied to a 0-dim tensor.");
      const step = a.int("step");
      if (step <= 0) return m.fail("slice step must be positive");
      return sliceMeta(m, t, m.wrapDim(a.int("dim"), t.shape.length), bound(a, "start"), bound(a, "end"), step);
    },
    derivative: each({
      self: (b, c) =>
        b.call("aten.slice_backward.default", [
          c.grad(),
          b.meta(c.args.tensor("self")).shape,
          c.args.raw("dim"),
          c.args.has("start") ? c.args.raw("start") : 0,
          c.args.has("end") ? c.args.raw("end") : INT_MAX,
          c.args.raw("step"),
        ]),
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const dim = b.wrapDim(a.int("dim"), b.size(x).length);
      return b.slice(
        x,
        dim,
        (a.raw("start") as Dim | number | null) ?? 0,
        (a.raw("end") as Dim | number | bigint | null) ?? INT_MAX,
        a.int("step"),
      );
    },
  },
  decomposed({
    name: "aten.slice_backward.default",
    schema:
      "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor",
    decompose: (b, a) => {
      const g = a.tensor("grad_output");
      const m = b.meta(g);
      const zeros = full(b, a.dims("input_sizes"), 0, m.dtype, m.device);
      return b.call("aten.slice_scatter.default", [
        zeros,
        g,
        a.raw("dim"),
        a.raw("start"),
        a.raw("end"),
        a.raw("step"),
      ]);
    },
    derivative: each({
      grad_output: (b, c) =>
        b.call("aten.slice.Tensor", [
          c.grad(),
          c.args.raw("dim"),
          c.args.raw("start"),
          c.args.raw("end"),
          c.args.raw("step"),
        ]),
    }),
  }),
  {
    name: "aten.select.int",
    schema: "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    python: spell("select"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => selectMeta(m, a.tensor("self"), a.int("dim"), a.dim("index")),
    derivative: each({
      self: (b, c) =>
        b.call("aten.select_backward.default", [
          c.grad(),
          b.meta(c.args.tensor("self")).shape,
          c.args.raw("dim"),
          c.args.raw("index"),
        ]),
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const dim = b.wrapDim(a.int("dim"), b.size(x).length);
      return b.select(x, dim, a.dim("index"));
    },
  },
  decomposed({
    name: "aten.select_backward.default",
    schema: "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
    decompose: (b, a) => {
      const g = a.tensor("grad_output");
      const m = b.meta(g);
      const zeros = full(b, a.dims("input_sizes"), 0, m.dtype, m.device);
      return b.call("aten.select_scatter.default", [zeros, g, a.raw("dim"), a.raw("index")]);
    },
    derivative: each({
      grad_output: (b, c) => b.call("aten.select.int", [c.grad(), c.args.raw("dim"), c.args.raw("index")]),
    }),
  }),
  composed({
    name: "aten.narrow.default",
    schema: "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
    python: spell("narrow"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const shape = b.meta(x).shape;
      if (shape.length === 0) return b.fail("narrow() cannot be applied to a 0-dim tensor.");
      const size = at(shape, b.wrapDim(a.int("dim"), shape.length));
      const given = a.dim("start");
      const start = b.lt(given, 0) ? b.add(given, size) : given;
      const length = a.dim("length");
      const end = b.add(start, length);
      if (b.lt(size, end)) {
        return b.fail(
          `start (${b.hint(start)}) + length (${b.hint(length)}) exceeds dimension size (${b.hint(size)}).`,
        );
      }
      return b.call("aten.slice.Tensor", [x, a.raw("dim"), start, end, 1]);
    },
  }),
];

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
          return g ?? b.call("aten.expand.default", [full(b, [], 0, t.dtype, t.device), shape]);
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
    derivative: each({
      self: (b, c) =>
        b.call("aten.diagonal_backward.default", [
          c.grad(),
          b.meta(c.args.tensor("self")).shape,
          c.args.raw("offset"),
          c.args.raw("dim1"),
          c.args.raw("dim2"),
        ]),
    }),
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
      // as_strided_backward over the dense storage of the input: every place that was read gets its share
      self: (b, c) => {
        const t = b.meta(c.args.tensor("self"));
        const g = c.grad();
        const total = numel(b, t);
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
        return b.call("aten.as_strided.default", [put, t.shape, contiguousStrides(b, t.shape), 0]);
      },
    }),
    lower: (b, a) =>
      b.asStrided(a.tensor("self"), a.dims("size"), a.dims("stride"), a.optDim("storage_offset") ?? b.int(0)),
  },
];

export const records: readonly OpRecord[] = [...parts, ...splits, ...windows];
