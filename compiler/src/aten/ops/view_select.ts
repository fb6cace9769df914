// Views that keep a part: slices and selections, and the operators that their gradients are written with
// (slice_backward and select_backward).

import type { Args, Dim, DimMath, GraphBuilder, OpRecord, TensorMeta } from "../types";
import { each, spell } from "./helpers/define";
import { at, composed, decomposed, sliceBounds, sliceLength, viewMeta } from "./helpers/shape";
import { full, INT_MAX } from "./helpers/trace";

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

export function selectMeta(b: GraphBuilder<TensorMeta>, t: TensorMeta, d: number, index: Dim): TensorMeta {
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

export const records: readonly OpRecord[] = [...parts];
