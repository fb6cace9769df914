// Repeating: repeat, tile, repeat_interleave.

import type { Args, Dim, GraphBuilder, LoweringBuilder, OpRecord } from "../types";
import { each, fallback, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import { at, composed, outMeta, range } from "./helpers/shape";
import { CONTIGUOUS, full, iota } from "./helpers/trace";
import { flatten, reshape } from "./view";

function lowerRepeat<B>(b: LoweringBuilder<B>, a: Args<B>): B {
  let x = a.tensor("self");
  const repeats = a.dims("repeats");
  const old = [...range(repeats.length - b.size(x).length).map(() => b.int(1)), ...b.size(x)];
  if (old.length > b.size(x).length) x = b.view(x, old);
  const size = old.map((s, i) => b.mul(s, at(repeats, i)));
  const like = { dtype: b.dtype(x), device: b.device(x) };
  if (repeats.some(r => b.static(r) === 0)) return b.empty(size, outMeta(b).stride, like.dtype, like.device);
  const one = (d: Dim): boolean => b.static(d) === 1;
  if (repeats.every((r, i) => one(r) || one(at(old, i)))) return b.clone(b.expand(x, size));
  const before = b.hint(b.product(old));
  if (before > 0) b.markReuse(x, Math.floor(b.hint(b.product(size)) / before));
  const load = b.loader(x);
  return b.pointwise({
    size,
    ...like,
    body: (ops, index) =>
      load(
        ops,
        index.map((v, i) => {
          if (one(at(repeats, i))) return v;
          return one(at(old, i)) ? b.int(0) : b.modularIndexing(v, 1, at(old, i));
        }),
      ),
  });
}

/** gradient of repeat: the repetitions get dims of their own and are summed */
function repeatBackward<T>(b: GraphBuilder<T>, grad: T, repeats: readonly Dim[], shape: readonly Dim[]): T {
  if (repeats.some(r => b.static(r) === 0)) {
    const m = b.meta(grad);
    return full(b, shape, 0, m.dtype, m.device);
  }
  const lead = repeats.length - shape.length;
  const sizes: Dim[] = repeats.slice(0, lead);
  const summed = range(lead);
  shape.forEach((s, i) => {
    const times = at(repeats, lead + i);
    if (b.static(times) !== 1) {
      summed.push(sizes.length);
      sizes.push(times);
    }
    sizes.push(s);
  });
  const split = sizes.length > repeats.length ? reshape(b, grad, sizes) : grad;
  return summed.length === 0 ? split : b.call("aten.sum.dim_IntList", [split, summed]);
}

const repetitions: OpRecord[] = [
  {
    name: "aten.repeat.default",
    schema: "repeat(Tensor self, SymInt[] repeats) -> Tensor",
    python: ["Tensor.repeat"],
    meta: (m, a) => {
      const t = a.tensor("self");
      const repeats = a.dims("repeats");
      const lead = repeats.length - t.shape.length;
      if (lead < 0) {
        return m.fail("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
      }
      return m.tensor(
        repeats.map((r, i) => (i < lead ? r : m.mul(r, at(t.shape, i - lead)))),
        t,
      );
    },
    derivative: each({
      self: (b, c) => repeatBackward(b, c.grad(), c.args.dims("repeats"), b.meta(c.args.tensor("self")).shape),
    }),
    lower: lowerRepeat,
  },
  composed({
    name: "aten.tile.default",
    schema: "tile(Tensor self, SymInt[] dims) -> Tensor",
    python: spell("tile"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const dims = a.dims("dims");
      const missing = Math.max(0, b.meta(x).shape.length - dims.length);
      return b.call("aten.repeat.default", [x, [...range(missing).map(() => b.int(1)), ...dims]]);
    },
  }),
  composed({
    name: "aten.repeat_interleave.self_int",
    schema:
      "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    python: spell("repeat_interleave"),
    composite: (b, a) => {
      const given = a.optInt("dim");
      const x = given === null ? flatten(b, a.tensor("self"), 0, -1) : a.tensor("self");
      const dim = b.wrapDim(given ?? 0, b.meta(x).shape.length);
      const wide = b.call("aten.unsqueeze.default", [x, dim + 1]);
      const shape = b.meta(wide).shape.map((s, i) => (i === dim + 1 ? a.dim("repeats") : s));
      const copies = b.call("aten.clone.default", [b.call("aten.expand.default", [wide, shape])], {
        memory_format: CONTIGUOUS,
      });
      return flatten(b, copies, dim, dim + 1);
    },
  }),
  composed({
    name: "aten.repeat_interleave.self_Tensor",
    schema:
      "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    python: spell("repeat_interleave"),
    composite: (b, a) => {
      const given = a.optInt("dim");
      const x = given === null ? flatten(b, a.tensor("self"), 0, -1) : a.tensor("self");
      const shape = b.meta(x).shape;
      const dim = b.wrapDim(given ?? 0, shape.length);
      let repeats = a.tensor("repeats");
      const r = b.meta(repeats).shape;
      if (r.length === 0 || (r.length === 1 && b.static(at(r, 0)) === 1)) {
        repeats = b.call("aten.expand.default", [reshape(b, repeats, [1]), [at(shape, dim)]]);
      }
      const index = b.call("aten.repeat_interleave.Tensor", [repeats], { output_size: a.raw("output_size") });
      return b.call("aten.index_select.default", [x, dim, index]);
    },
  }),
  {
    name: "aten.repeat_interleave.Tensor",
    schema: "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    python: ["torch.repeat_interleave"],
    tags: ["data_dependent"],
    meta: (m, a) => m.tensor([a.optDim("output_size") ?? m.unbacked()], a.tensor("repeats")),
    decompose: (b, a) => {
      const size = a.optDim("output_size");
      if (size === null) return undefined;
      const repeats = a.tensor("repeats");
      const t = b.meta(repeats);
      const ends = b.call("aten.cumsum.default", [repeats, 0]);
      const place = b.call("aten.searchsorted.Tensor", [ends, iota(b, size, t.device)], { right: true });
      const last = b.sub(at(t.shape, 0), 1);
      return b.call("aten.clamp_max.default", [place, b.static(last) ?? last]);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.repeat_interleave.Tensor", ["repeats"], ["repeats"], ["output_size"]),
  },
];

export const records: readonly OpRecord[] = [...repetitions];
