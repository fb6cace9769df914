// Dims of size 1: views that drop, add and expand them.
import type { Dim, GraphBuilder, OpRecord, TensorMeta } from "../types";
import { each, spell } from "./helpers/define";
import { at, composed, expandGeometry, outMeta, range, sameShape, sumTo, viewMeta, wrapDims } from "./helpers/shape";

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

export const records: readonly OpRecord[] = [...squeezes, ...expansions];
