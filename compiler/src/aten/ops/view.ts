// Views that keep every element: reshapes, permutations, squeezes, expansions, and views as another dtype.
// A view's lowering is an index map; what it costs is decided by its consumers.
import type { Args, Dim, DType, GraphBuilder, MetaBuilder, OpRecord, TensorMeta } from "../types";
import { each, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import {
  at,
  composed,
  expandGeometry,
  fakeViewStrides,
  inferSize,
  numel,
  outMeta,
  range,
  sameShape,
  shapeText,
  sumTo,
  viewMeta,
  viewStrides,
  wrapDims,
} from "./helpers/shape";
import { CONTIGUOUS } from "./helpers/trace";

function metaOfView(m: MetaBuilder, t: TensorMeta, sizes: readonly Dim[]): TensorMeta {
  const shape = inferSize(m, sizes, numel(m, t));
  const stride = fakeViewStrides(m, t, shape, m.isContiguous(t));
  if (stride === null) {
    return m.fail(
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
    );
  }
  return viewMeta(t, shape, stride);
}

/** Tensor.reshape: a view where one exists, else a contiguous copy */
export function reshape<T>(b: GraphBuilder<T>, x: T, sizes: readonly (Dim | number)[]): T {
  const t = b.meta(x);
  const shape = inferSize(b, sizes.map(b.dim), numel(b, t));
  if (viewStrides(b, t.shape, t.stride, shape) !== null) {
    // a contiguous tensor is viewed as asked, -1 and all
    return b.call("aten.view.default", [x, b.isContiguous(x) ? sizes : shape]);
  }
  const copy = b.call("aten.clone.default", [x], { memory_format: CONTIGUOUS });
  return b.call("aten._unsafe_view.default", [copy, shape]);
}

/** the gradient of anything that only changes the shape */
const reshapeGrad = each({ self: (b, c) => reshape(b, c.grad(), b.meta(c.args.tensor("self")).shape) });

/** the bits as another dtype; autograd cuts such a view off by an alias */
const viewAsType = composed({
  name: "Tensor.view.dtype",
  schema: "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
  python: ["Tensor.view"],
  composite: (b, a) => b.call("aten.alias.default", [b.call("aten.view.dtype", [a.tensor("self"), a.raw("dtype")])]),
});

const view: OpRecord[] = [
  {
    name: "aten.view.default",
    schema: "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    python: ["Tensor.view"],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => metaOfView(m, a.tensor("self"), a.dims("size")),
    derivative: reshapeGrad,
    lower: (b, a) => b.view(a.tensor("self"), outMeta(b).shape),
  },
  {
    name: "aten.view.dtype",
    schema: "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => viewAsDtype(m, a.tensor("self"), a.dtype("dtype") ?? "float32"),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const x = a.tensor("self");
      const dtype = a.dtype("dtype") ?? b.dtype(x);
      if (bytesOf(b.dtype(x)) === bytesOf(dtype)) return b.viewDtype(x, dtype);
      return b.extern({
        kind: "fallback",
        kernel: "torch.ops.aten.view.dtype",
        op: "aten.view.dtype",
        inputs: [x],
        args: [x, a.raw("dtype")],
      });
    },
  },
  {
    // what reshape leaves of its copy, and what post-grad passes write for every view
    name: "aten.reshape.default",
    schema: "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
    python: spell("reshape"),
    tags: ["view"],
    meta: (m, a) => reshape<TensorMeta>(m, a.tensor("self"), a.dims("shape")),
    composite: (b, a) => reshape(b, a.tensor("self"), a.dims("shape")),
    lower: (b, a) => b.view(a.tensor("self"), outMeta(b).shape),
  },
  {
    name: "aten._unsafe_view.default",
    schema: "_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
    meta: (m, a) => metaOfView(m, a.tensor("self"), a.dims("size")),
    decompose: (b, a) => b.call("aten.view.default", [a.tensor("self"), a.raw("size")]),
    derivative: reshapeGrad,
    lower: (b, a) => b.view(a.tensor("self"), outMeta(b).shape),
  },
  composed({
    name: "aten.sum_to_size.default",
    schema: "sum_to_size(Tensor self, SymInt[] size) -> Tensor",
    python: ["Tensor.sum_to_size"],
    composite: (b, a) => sumTo(b, a.tensor("self"), a.dims("size")),
  }),
  composed({
    name: "aten.view_as.default",
    schema: "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    python: ["Tensor.view_as"],
    composite: (b, a) => b.call("aten.view.default", [a.tensor("self"), b.meta(a.tensor("other")).shape]),
  }),
  composed({
    name: "aten.reshape_as.default",
    schema: "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    python: ["Tensor.reshape_as"],
    composite: (b, a) => reshape(b, a.tensor("self"), b.meta(a.tensor("other")).shape),
  }),
  composed({
    name: "aten.flatten.using_ints",
    schema: "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    python: spell("flatten"),
    composite: (b, a) => flatten(b, a.tensor("self"), a.int("start_dim"), a.int("end_dim")),
  }),
  composed({
    name: "aten.unflatten.int",
    schema: "unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
    python: spell("unflatten"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const shape = b.meta(x).shape;
      const dim = b.wrapDim(a.int("dim"), shape.length);
      const sizes = a.dims("sizes");
      if (sizes.length === 0) return b.fail("unflatten: sizes must be non-empty");
      const inner = inferSize(
        b,
        sizes,
        at(shape, dim),
        () =>
          `unflatten: Provided sizes ${shapeText(b, sizes)} don't multiply up to the size of dim ${dim} (${b.hint(at(shape, dim))}) in the input tensor`,
      );
      return b.call("aten.view.default", [x, [...shape.slice(0, dim), ...inner, ...shape.slice(dim + 1)]]);
    },
  }),
  composed({
    name: "aten.ravel.default",
    schema: "ravel(Tensor(a) self) -> Tensor(a)",
    python: spell("ravel"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const dense = b.isContiguous(x) ? x : b.call("aten.clone.default", [x], { memory_format: CONTIGUOUS });
      return b.call("aten.view.default", [dense, [-1]]);
    },
  }),
];

export function flatten<T>(b: GraphBuilder<T>, x: T, startDim: number, endDim: number): T {
  const shape = b.meta(x).shape;
  const start = b.wrapDim(startDim, shape.length);
  const end = b.wrapDim(endDim, shape.length);
  if (start > end) return b.fail("flatten() has invalid args: start_dim cannot come after end_dim");
  if (shape.length === 0) return reshape(b, x, [1]);
  if (start === end) return x;
  const merged = b.product(shape.slice(start, end + 1));
  return reshape(b, x, [...shape.slice(0, start), merged, ...shape.slice(end + 1)]);
}

const BYTES: Partial<Record<DType, number>> = {
  float64: 8,
  int64: 8,
  uint64: 8,
  complex64: 8,
  complex128: 16,
  float16: 2,
  bfloat16: 2,
  int16: 2,
  uint16: 2,
  int8: 1,
  uint8: 1,
  bool: 1,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
};
const bytesOf = (d: DType): number => BYTES[d] ?? 4;

function viewAsDtype(m: MetaBuilder, t: TensorMeta, dtype: DType): TensorMeta {
  const from = bytesOf(t.dtype);
  const to = bytesOf(dtype);
  if (from === to) return { ...viewMeta(t, t.shape, t.stride), dtype };
  const last = t.shape.length - 1;
  if (last < 0) return m.fail("self.dim() cannot be 0 to view Float as a different element size");
  if (!m.eq(at(t.stride, last), 1)) {
    return m.fail(`self.stride(-1) must be 1 to view ${t.dtype} as ${dtype} (different element sizes)`);
  }
  const scale = (d: Dim): Dim => (from > to ? m.mul(d, from / to) : m.floordiv(d, to / from));
  const shape = t.shape.map((s, i) => (i === last ? scale(s) : s));
  const stride = t.stride.map((s, i) => (i === last ? s : scale(s)));
  return { ...viewMeta(t, shape, stride, scale(t.storageOffset)), dtype };
}

function permuteMeta(m: MetaBuilder, t: TensorMeta, order: readonly number[]): TensorMeta {
  if (order.length !== t.shape.length) {
    return m.fail(
      `permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = ${t.shape.length} is not equal to len(dims) = ${order.length}`,
    );
  }
  const dims = wrapDims(m, order, t.shape.length);
  return viewMeta(
    t,
    dims.map(d => at(t.shape, d)),
    dims.map(d => at(t.stride, d)),
  );
}

/** the identity order with two dims exchanged */
function swapped(rank: number, d0: number, d1: number): number[] {
  const order = range(rank);
  if (rank > 0) [order[d0], order[d1]] = [d1, d0];
  return order;
}

const transposeOf =
  (first: string, second: string) =>
  <T>(b: GraphBuilder<T>, a: Args<T>): T =>
    b.call("aten.transpose.int", [a.tensor("self"), a.raw(first), a.raw(second)]);

/** the matrix transpose of the last two dims (mT, mH, adjoint); `any2d`: numpy's T of a matrix */
function matrixTranspose<T>(b: GraphBuilder<T>, x: T, name: string): T {
  const rank = b.meta(x).shape.length;
  if (rank < 2) {
    return b.fail(`tensor.${name} is only supported on matrices or batches of matrices. Got ${rank}-D tensor.`);
  }
  return b.call("aten.transpose.int", [x, -2, -1]);
}

const permutations: OpRecord[] = [
  {
    name: "aten.permute.default",
    schema: "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    python: spell("permute"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => permuteMeta(m, a.tensor("self"), a.ints("dims")),
    derivative: each({
      self: (b, c) => {
        const dims = wrapDims(b, c.args.ints("dims"), b.meta(c.args.tensor("self")).shape.length);
        return b.call("aten.permute.default", [c.grad(), range(dims.length).map(i => dims.indexOf(i))]);
      },
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const rank = b.size(x).length;
      return b.permute(
        x,
        a.ints("dims").map(d => b.wrapDim(d, rank)),
      );
    },
  },
  {
    name: "aten.transpose.int",
    schema: "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    python: spell("transpose"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const rank = t.shape.length;
      const [d0, d1] = [m.wrapDim(a.int("dim0"), rank), m.wrapDim(a.int("dim1"), rank)];
      return permuteMeta(m, t, swapped(rank, d0, d1));
    },
    decompose: (b, a) => {
      const x = a.tensor("self");
      const rank = b.meta(x).shape.length;
      const [d0, d1] = [b.wrapDim(a.int("dim0"), rank), b.wrapDim(a.int("dim1"), rank)];
      if (rank <= 1) return b.call("aten.alias.default", [x]);
      return b.call("aten.permute.default", [x, swapped(rank, d0, d1)]);
    },
    derivative: each({
      self: (b, c) => b.call("aten.transpose.int", [c.grad(), c.args.raw("dim0"), c.args.raw("dim1")]),
    }),
  },
  {
    name: "aten.t.default",
    schema: "t(Tensor(a) self) -> Tensor(a)",
    python: spell("t"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      if (t.shape.length > 2)
        return m.fail(`t() expects a tensor with <= 2 dimensions, but self is ${t.shape.length}D`);
      return permuteMeta(m, t, range(t.shape.length).reverse());
    },
    decompose: (b, a) => {
      const x = a.tensor("self");
      return b.meta(x).shape.length < 2
        ? b.call("aten.alias.default", [x])
        : b.call("aten.permute.default", [x, [1, 0]]);
    },
    derivative: each({ self: (b, c) => b.call("aten.t.default", [c.grad()]) }),
  },
  ...["swapaxes", "swapdims"].map(name => {
    const [first, second] = name === "swapaxes" ? ["axis0", "axis1"] : ["dim0", "dim1"];
    return composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor(a) self, int ${first}, int ${second}) -> Tensor(a)`,
      python: spell(name),
      composite: transposeOf(first as string, second as string),
    });
  }),
  composed({
    name: "aten.numpy_T.default",
    schema: "numpy_T(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.T"],
    composite: (b, a) => {
      const x = a.tensor("self");
      return b.call("aten.permute.default", [x, range(b.meta(x).shape.length).reverse()]);
    },
  }),
  composed({
    name: "aten.matrix_H.default",
    schema: "matrix_H(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.H"],
    composite: (b, a) => {
      const x = a.tensor("self");
      const rank = b.meta(x).shape.length;
      if (rank !== 2 && rank !== 0)
        return b.fail(`tensor.H is only supported on matrices (2-D tensors). Got ${rank}-D tensor.`);
      return adjoint(b, x, "H");
    },
  }),
  composed({
    name: "aten.mT.default",
    schema: "mT(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.mT"],
    composite: (b, a) => matrixTranspose(b, a.tensor("self"), "mT"),
  }),
  composed({
    name: "aten.mH.default",
    schema: "mH(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.mH"],
    composite: (b, a) => adjoint(b, a.tensor("self"), "mH"),
  }),
  composed({
    name: "aten.adjoint.default",
    schema: "adjoint(Tensor(a) self) -> Tensor(a)",
    python: spell("adjoint"),
    composite: (b, a) => adjoint(b, a.tensor("self"), "adjoint()"),
  }),
  ...(["movedim", "moveaxis"] as const).flatMap(name => [
    composed({
      name: `aten.${name}.int`,
      schema: `${name}.int(Tensor(a) self, int source, int destination) -> Tensor(a)`,
      python: spell(name),
      composite: (b, a) => moveDims(b, a.tensor("self"), [a.int("source")], [a.int("destination")]),
    }),
    composed({
      name: `aten.${name}.intlist`,
      schema: `${name}.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)`,
      python: spell(name),
      composite: (b, a) => moveDims(b, a.tensor("self"), a.ints("source"), a.ints("destination")),
    }),
  ]),
];

function adjoint<T>(b: GraphBuilder<T>, x: T, name: string): T {
  if (b.meta(x).shape.length === 0) return x;
  const t = matrixTranspose(b, x, name);
  return b.meta(x).dtype.startsWith("complex") ? b.call("aten._conj.default", [t]) : t;
}

export function moveDims<T>(b: GraphBuilder<T>, x: T, source: readonly number[], destination: readonly number[]): T {
  const rank = b.meta(x).shape.length;
  if (source.length !== destination.length) {
    return b.fail(
      `movedim: Invalid source or destination dims: source (${source.length} dims) should contain the same number of dims as destination (${destination.length} dims)`,
    );
  }
  const from = source.map(d => b.wrapDim(d, rank));
  const to = destination.map(d => b.wrapDim(d, rank));
  const order: (number | undefined)[] = new Array(rank).fill(undefined);
  from.forEach((d, i) => {
    order[at(to, i)] = d;
  });
  const rest = range(rank).filter(d => !from.includes(d));
  return b.call("aten.permute.default", [x, order.map(d => d ?? (rest.shift() as number))]);
}

/** meta without the dims (all of size 1) at the given places */
function dropDims(t: TensorMeta, drop: (i: number) => boolean): TensorMeta {
  return viewMeta(
    t,
    t.shape.filter((_, i) => !drop(i)),
    t.stride.filter((_, i) => !drop(i)),
  );
}

/** Gradient of squeeze: puts back each of the dims that had size 1, from the first on. */
function unsqueezeTo<T>(b: GraphBuilder<T>, grad: T, shape: readonly Dim[], dims: readonly number[]): T {
  const wrapped = dims.map(d => b.wrapDim(d, shape.length));
  return range(shape.length)
    .filter(i => wrapped.includes(i) && b.eq(at(shape, i), 1))
    .reduce((g, i) => b.call("aten.unsqueeze.default", [g, i]), grad);
}

const squeezes: OpRecord[] = [
  {
    name: "aten.squeeze.default",
    schema: "squeeze(Tensor(a) self) -> Tensor(a)",
    python: spell("squeeze"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      return dropDims(t, i => m.eq(at(t.shape, i), 1));
    },
    derivative: each({
      self: (b, c) => {
        const shape = b.meta(c.args.tensor("self")).shape;
        return unsqueezeTo(b, c.grad(), shape, range(shape.length));
      },
    }),
    lower: (b, a) => {
      let x = a.tensor("self");
      const size = b.size(x);
      for (let i = size.length - 1; i >= 0; i--) if (b.static(at(size, i)) === 1) x = b.squeeze(x, i);
      return x;
    },
  },
  {
    name: "aten.squeeze.dim",
    schema: "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    python: spell("squeeze"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const d = m.wrapDim(a.int("dim"), t.shape.length);
      return dropDims(t, i => i === d && m.eq(at(t.shape, i), 1));
    },
    derivative: each({
      self: (b, c) => unsqueezeTo(b, c.grad(), b.meta(c.args.tensor("self")).shape, [c.args.int("dim")]),
    }),
    lower: (b, a) => b.view(a.tensor("self"), outMeta(b).shape),
  },
  {
    name: "aten.squeeze.dims",
    schema: "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    python: spell("squeeze"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const dims = wrapDims(m, a.ints("dim"), t.shape.length);
      return dropDims(t, i => dims.includes(i) && m.eq(at(t.shape, i), 1));
    },
    derivative: each({
      self: (b, c) => unsqueezeTo(b, c.grad(), b.meta(c.args.tensor("self")).shape, c.args.ints("dim")),
    }),
    lower: (b, a) => b.view(a.tensor("self"), outMeta(b).shape),
  },
  {
    name: "aten.unsqueeze.default",
    schema: "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    python: spell("unsqueeze"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const rank = t.shape.length;
      const d = m.wrapDim(a.int("dim"), rank + 1);
      const step = d >= rank ? m.int(1) : m.mul(at(t.shape, d), at(t.stride, d));
      return viewMeta(
        t,
        [...t.shape.slice(0, d), m.int(1), ...t.shape.slice(d)],
        [...t.stride.slice(0, d), step, ...t.stride.slice(d)],
      );
    },
    derivative: each({ self: (b, c) => b.call("aten.squeeze.dim", [c.grad(), c.args.raw("dim")]) }),
    lower: (b, a) => b.view(a.tensor("self"), outMeta(b).shape),
  },
];

const expansions: OpRecord[] = [
  {
    name: "aten.expand.default",
    schema: "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    python: ["Tensor.expand"],
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const { shape, stride } = expandGeometry(m, t, a.dims("size"));
      return viewMeta(t, shape, stride);
    },
    derivative: each({ self: (b, c) => sumTo(b, c.grad(), b.meta(c.args.tensor("self")).shape) }),
    lower: (b, a) => b.expand(a.tensor("self"), outMeta(b).shape),
  },
  composed({
    name: "aten.expand_as.default",
    schema: "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    python: ["Tensor.expand_as"],
    composite: (b, a) => b.call("aten.expand.default", [a.tensor("self"), b.meta(a.tensor("other")).shape]),
  }),
  composed({
    name: "aten.broadcast_to.default",
    schema: "broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    python: spell("broadcast_to"),
    composite: (b, a) => b.call("aten.expand.default", [a.tensor("self"), a.raw("size")]),
  }),
  composed({
    name: "aten.broadcast_tensors.default",
    schema: "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
    python: ["torch.broadcast_tensors", "torch.functional.broadcast_tensors"],
    printedAs: "torch.functional.broadcast_tensors",
    composite: (b, a) => {
      const xs = a.tensors("tensors");
      const shape = xs.reduce<readonly Dim[]>((s, x) => broadcast(b, s, b.meta(x).shape), []);
      return xs.map(x => (sameShape(b, b.meta(x).shape, shape) ? x : b.call("aten.expand.default", [x, shape])));
    },
  }),
];

function broadcast<T>(b: GraphBuilder<T>, x: readonly Dim[], y: readonly Dim[]): Dim[] {
  const rank = Math.max(x.length, y.length);
  return range(rank).map(i => {
    const p = x[i - (rank - x.length)];
    const q = y[i - (rank - y.length)];
    if (p === undefined || q === undefined) return (p ?? q) as Dim;
    if (b.static(p) === 1) return q;
    if (b.static(q) === 1 || b.eq(p, q)) return p;
    return b.fail(
      `The size of tensor a (${b.hint(p)}) must match the size of tensor b (${b.hint(q)}) at non-singleton dimension ${i}`,
    );
  });
}

export const records: readonly OpRecord[] = [viewAsType, ...view, ...permutations, ...squeezes, ...expansions];
