// Views that keep every element in its order: reshapes, flattened dims, and views as another dtype.
// A view's lowering is an index map; what it costs is decided by its consumers.
import type { Dim, DType, GraphBuilder, MetaBuilder, OpRecord, TensorMeta } from "../types";
import { each, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import { itemSize } from "./helpers/dtypes";
import {
  at,
  composed,
  fakeViewStrides,
  inferSize,
  numel,
  outMeta,
  shapeText,
  sumTo,
  viewMeta,
  viewStrides,
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
  composite: (b, a) => b.call("aten.detach.default", [b.call("aten.view.dtype", [a.tensor("self"), a.raw("dtype")])]),
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
      if (itemSize(b.dtype(x)) === itemSize(dtype)) return b.viewDtype(x, dtype);
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
    viewOf: "self",
    hiddenView: true,
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

function viewAsDtype(m: MetaBuilder, t: TensorMeta, dtype: DType): TensorMeta {
  const from = itemSize(t.dtype);
  const to = itemSize(dtype);
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

export const records: readonly OpRecord[] = [viewAsType, ...view];
