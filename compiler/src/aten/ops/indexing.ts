// Reading by index: index, index_select, take, gather and embedding, with their gradients.
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type Dim,
  DTypeArg,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpRecord,
  PyFloat,
  type TensorMeta,
} from "../types";
import { each, fallback, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import { broadcastIndices, expandTo, indexMap } from "./helpers/gather_scatter";
import { at, broadcastShapes, composed, decomposed, range } from "./helpers/shape";
import { full, maskedFill, newZeros, STRIDED, toDtype } from "./helpers/trace";
import { reshape } from "./view";

/** Strides of the result of x[indices]: those of a copy of x with the indexed dims expanded (TensorIterator). */
function indexMeta(m: MetaBuilder, x: TensorMeta, indices: readonly (TensorMeta | null)[]): TensorMeta {
  const expanded = expandMasks(m, indices);
  if (expanded.length > x.shape.length) {
    return m.fail(`too many indices for tensor of dimension ${x.shape.length} (got ${expanded.length})`, "IndexError");
  }
  const given = expanded.filter(t => t !== null);
  for (const t of given) {
    if (!["int64", "int32", "int16", "int8", "uint8", "bool"].includes(t.dtype)) {
      return m.fail("tensors used as indices must be long, int, byte or bool tensors", "IndexError");
    }
  }
  const places = range(expanded.length).filter(i => expanded[i] !== null);
  const first = places[0] ?? 0;
  const adjacent = places.every((p, i) => p === first + i);
  const shape = m.broadcast(...given.map(t => t.shape));
  const order = [...range(x.shape.length)];
  const kept = order.filter(i => !places.includes(i));
  const lead = adjacent ? kept.filter(i => i < first) : [];
  const after = kept.filter(i => !lead.includes(i));
  const zeros = shape.map(() => m.int(0));
  const restrided: TensorMeta = {
    ...x,
    shape: [...lead.map(i => at(x.shape, i)), ...shape, ...after.map(i => at(x.shape, i))],
    stride: [...lead.map(i => at(x.stride, i)), ...zeros, ...after.map(i => at(x.stride, i))],
  };
  return { ...m.elementwise(x.dtype, restrided), device: x.device };
}

/** a mask of rank r counts as r index tensors of a length that only the data knows */
function expandMasks(m: MetaBuilder, indices: readonly (TensorMeta | null)[]): (TensorMeta | null)[] {
  return indices.flatMap(t => {
    if (t === null || (t.dtype !== "bool" && t.dtype !== "uint8")) return [t];
    const length = m.unbacked();
    const one = m.tensor([length], { dtype: "int64", device: t.device });
    return t.shape.map(() => one);
  });
}

/** gradient of reading by index: zeros with the gradient added at the places read */
function indexBackward<T>(b: GraphBuilder<T>, x: T, indices: ArgValue<T>, grad: T): T {
  return b.call("aten.index_put.default", [newZeros(b, grad, b.meta(x).shape), indices, grad, true]);
}

function lowerIndex<B>(b: LoweringBuilder<B>, a: Args<B>, op: string, check: boolean): B {
  const x = a.tensor("self");
  const indices = broadcastIndices(b, a.optTensors("indices"), b.device(x));
  if (indices === null) {
    b.realize(x);
    return fallback(op, ["self"], ["self", "indices"])(b, a);
  }
  const { size, map } = indexMap(b, b.size(x), indices, { check });
  const load = b.loader(x);
  return b.pointwise({
    size,
    dtype: b.dtype(x),
    device: b.device(x),
    body: (ops, index) => load(ops, map(ops, index)),
  });
}

const placesBefore = <T>(dim: number, index: T): (T | null)[] => [...new Array<null>(dim).fill(null), index];

/** x indexed by a vector along one dim */
function indexSelect<T>(b: GraphBuilder<T>, x: T, d: number, index: T): T {
  const rank = b.meta(x).shape.length;
  const dim = b.wrapDim(d, rank);
  const places = b.meta(index).shape.length === 0 ? b.call("aten.unsqueeze.default", [index, 0]) : index;
  if (rank === 0) {
    const one = b.call("aten.unsqueeze.default", [x, 0]);
    return b.call("aten.clone.default", [
      b.call("aten.squeeze.dim", [b.call("aten.index.Tensor", [one, [places]]), 0]),
    ]);
  }
  return b.call("aten.index.Tensor", [x, placesBefore(dim, places)]);
}

const byTensor: OpRecord[] = [
  {
    name: "aten.index.Tensor",
    schema: "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    meta: (m, a) => indexMeta(m, a.tensor("self"), a.optTensors("indices")),
    derivative: each({
      self: (b, c) => indexBackward(b, c.args.tensor("self"), c.args.raw("indices"), c.grad()),
    }),
    lower: (b, a) => lowerIndex(b, a, "aten.index.Tensor", true),
  },
  {
    name: "aten._unsafe_index.Tensor",
    schema: "_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    meta: (m, a) => indexMeta(m, a.tensor("self"), a.optTensors("indices")),
    derivative: each({
      self: (b, c) => {
        const zeros = newZeros(b, c.grad(), b.meta(c.args.tensor("self")).shape);
        return b.call("aten._unsafe_index_put.default", [zeros, c.args.raw("indices"), c.grad(), true]);
      },
    }),
    lower: (b, a) => lowerIndex(b, a, "aten._unsafe_index.Tensor", false),
  },
  {
    name: "aten._unsafe_masked_index.default",
    schema: "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    meta: (m, a) => indexMeta(m, a.tensor("self"), a.optTensors("indices")),
    derivative: each({
      self: (b, c) => {
        const zeros = newZeros(b, c.grad(), b.meta(c.args.tensor("self")).shape);
        return b.call("aten._unsafe_masked_index_put_accumulate.default", [
          zeros,
          c.args.raw("mask"),
          c.args.raw("indices"),
          c.grad(),
        ]);
      },
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const mask = a.tensor("mask");
      const indices = broadcastIndices(b, a.optTensors("indices"), b.device(x));
      if (indices === null) return b.error("_unsafe_masked_index: masks as indices");
      const { size, map } = indexMap(b, b.size(x), indices, { check: false, wrapNeg: false });
      const [load, loadMask] = [b.loader(x), b.loader(expandTo(b, mask, size))];
      const given = a.scalar("fill");
      const fill = given instanceof PyFloat || typeof given === "boolean" ? given : a.number("fill");
      return b.pointwise({
        size,
        dtype: b.dtype(x),
        device: b.device(x),
        body: (ops, index) => {
          const m = loadMask(ops, index);
          const bool = b.dtype(mask) === "bool" ? m : ops.toDtype(m, "bool", b.dtype(mask));
          return ops.masked(bool, () => load(ops, map(ops, index)), fill);
        },
      });
    },
  },
  decomposed({
    name: "aten.index_select.default",
    schema: "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    python: spell("index_select"),
    decompose: (b, a) => {
      const [x, index] = [a.tensor("self"), a.tensor("index")];
      const { shape, dtype, device } = b.meta(x);
      if (b.meta(index).shape.length > 1) return b.fail("index_select(): Index is supposed to be a vector");
      if (shape.length > 0) return indexSelect(b, x, a.int("dim"), index);
      const empty = b.call("aten.empty.memory_format", [[]], {
        dtype: new DTypeArg(dtype),
        layout: STRIDED,
        device: new DeviceArg(device),
        pin_memory: false,
      });
      const values = b.call("aten.expand.default", [x, b.meta(index).shape]);
      return b.call("aten.index_copy.default", [empty, 0, index, values]);
    },
    derivative: each({
      self: (b, c) => {
        const zeros = newZeros(b, c.grad(), b.meta(c.args.tensor("self")).shape);
        return b.call("aten.index_add.default", [zeros, c.args.raw("dim"), c.args.tensor("index"), c.grad()]);
      },
    }),
  }),
  decomposed({
    name: "aten.take.default",
    schema: "take(Tensor self, Tensor index) -> Tensor",
    python: spell("take"),
    decompose: (b, a) => {
      const flat = reshape(b, a.tensor("self"), [-1]);
      return b.call("aten.index.Tensor", [flat, [a.tensor("index")]]);
    },
    derivative: each({
      self: (b, c) => {
        const zeros = newZeros(b, c.grad(), b.meta(c.args.tensor("self")).shape);
        return b.call("aten.put.default", [zeros, c.args.tensor("index"), c.grad(), true]);
      },
    }),
  }),
];

const gathers: OpRecord[] = [
  {
    name: "aten.gather.default",
    schema: "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    python: spell("gather"),
    meta: (m, a) => {
      const x = a.tensor("self");
      const index = a.tensor("index");
      m.wrapDim(a.int("dim"), x.shape.length);
      if (index.dtype !== "int64" && index.dtype !== "int32") {
        return m.fail("gather(): Expected dtype int32/int64 for index");
      }
      if (Math.max(x.shape.length, 1) !== Math.max(index.shape.length, 1)) {
        return m.fail("Index tensor must have the same number of dimensions as input tensor");
      }
      return m.tensor(index.shape, x);
    },
    derivative: each({
      self: (b, c) => {
        const zeros = newZeros(b, c.grad(), b.meta(c.args.tensor("self")).shape);
        return b.call("aten.scatter_add.default", [zeros, c.args.raw("dim"), c.args.tensor("index"), c.grad()]);
      },
    }),
    lower: (b, a) => {
      let x = a.tensor("self");
      const index = a.tensor("index");
      const like = { dtype: b.dtype(x), device: b.device(x) };
      if (b.static(b.product(b.size(index))) === 0) return b.constant(0, like.dtype, like.device, b.size(index));
      if (b.size(x).length === 0) x = b.expand(x, [1]);
      const size = b.size(x);
      const dim = b.wrapDim(a.int("dim"), size.length);
      const [load, place] = [b.loader(x), b.loader(index)];
      return b.pointwise({
        size: b.size(index),
        ...like,
        body: (ops, i) => {
          const found = ops.indirectIndexing(place(ops, i), at(size, dim));
          return load(ops, i.length === 0 ? [found] : i.map((v, d) => (d === dim ? found : v)));
        },
      });
    },
  },
  composed({
    name: "aten.take_along_dim.default",
    schema: "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    python: spell("take_along_dim"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const index = a.tensor("indices");
      const given = a.optInt("dim");
      if (given === null) {
        const flat = reshape(b, x, [-1]);
        return b.call("aten.gather.default", [flat, 0, reshape(b, index, [-1])]);
      }
      const shape = b.meta(x).shape;
      const dim = b.wrapDim(given, shape.length);
      const other = b.meta(index).shape;
      if (shape.length !== other.length) {
        return b.fail(
          `torch.take_along_dim(): input and indices should have the same number of dimensions, but got ${shape.length} dimensions for input, and ${other.length} dimensions for indices`,
        );
      }
      const one = b.int(1);
      const both = broadcastShapes(
        b,
        shape.map((s, i) => (i === dim ? one : s)),
        other.map((s, i) => (i === dim ? one : s)),
      );
      const sized = (of: readonly Dim[]): Dim[] => both.map((s, i) => (i === dim ? at(of, dim) : s));
      const indices = b.call("aten.expand.default", [index, sized(other)]);
      const self = b.call("aten.expand.default", [x, sized(shape)]);
      const n = at(shape, dim);
      const wrapped = b.call("aten.remainder.Scalar", [indices, b.static(n) ?? n]);
      return b.call("aten.gather.default", [self, dim, wrapped]);
    },
  }),
  {
    name: "aten.embedding.default",
    schema:
      "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    python: ["torch.embedding"],
    meta: (m, a) => {
      const w = a.tensor("weight");
      const i = a.tensor("indices");
      if (w.shape.length !== 2) return m.fail("'weight' must be 2-D");
      if (i.dtype !== "int64" && i.dtype !== "int32") {
        return m.fail(
          `Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.${i.dtype} instead (while checking arguments for embedding)`,
        );
      }
      return m.tensor([...i.shape, ...w.shape.slice(1)], w);
    },
    derivative: each({
      weight: (b, c) =>
        b.call("aten.embedding_dense_backward.default", [
          c.grad(),
          c.args.tensor("indices"),
          at(b.meta(c.args.tensor("weight")).shape, 0),
          c.args.raw("padding_idx"),
          c.args.raw("scale_grad_by_freq"),
        ]),
    }),
    lower: (b, a) => {
      const [w, i] = [a.tensor("weight"), a.tensor("indices")];
      const rank = b.size(i).length;
      const rows = at(b.size(w), 0);
      const [load, row] = [b.loader(w), b.loader(i)];
      return b.pointwise({
        size: [...b.size(i), ...b.size(w).slice(1)],
        dtype: b.dtype(w),
        device: b.device(w),
        body: (ops, index) =>
          load(ops, [ops.indirectIndexing(row(ops, index.slice(0, rank)), rows), ...index.slice(rank)]),
      });
    },
  },
  composed({
    name: "torch.nn.functional.embedding.default",
    schema:
      "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    python: ["torch.nn.functional.embedding"],
    composite: (b, a) => {
      const weight = a.tensor("weight");
      let padding = a.optInt("padding_idx") ?? -1;
      if (a.has("padding_idx") && padding < 0) padding += b.hint(at(b.meta(weight).shape, 0));
      return b.call("aten.embedding.default", [
        weight,
        a.tensor("input"),
        padding,
        a.raw("scale_grad_by_freq"),
        a.raw("sparse"),
      ]);
    },
  }),
  decomposed({
    name: "aten.embedding_dense_backward.default",
    schema:
      "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    decompose: (b, a) => {
      const dtype = b.meta(a.tensor("grad_output")).dtype;
      const wide = dtype === "float16" || dtype === "bfloat16" ? "float32" : dtype;
      let grad = toDtype(b, a.tensor("grad_output"), wide);
      const indices = toDtype(b, a.tensor("indices"), "int64");
      const rank = b.meta(indices).shape.length;
      const rows = a.dim("num_weights");
      const device = b.meta(grad).device;
      if (a.bool("scale_grad_by_freq")) {
        const counts = full(b, [rows], 0, "int64", device);
        const ones = full(b, b.meta(indices).shape, 1, "int64", device);
        const seen = b.call("aten.index_put.default", [counts, [indices], ones, true]);
        const scale = b.call("aten.index.Tensor", [seen, [indices]]);
        grad = b.call("aten.div.Tensor", [grad, unsqueezeTo(b, scale, b.meta(grad).shape.length)]);
      }
      const padding = unsqueezeTo(
        b,
        b.call("aten.eq.Scalar", [indices, a.raw("padding_idx")]),
        b.meta(grad).shape.length,
      );
      const kept = maskedFill(b, grad, padding, 0);
      const zeros = full(b, [rows, ...b.meta(grad).shape.slice(rank)], 0, wide, device);
      const sum = b.call("aten.index_put.default", [zeros, [indices], kept, true]);
      return toDtype(b, sum, dtype);
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
];

/** unsqueeze(-1) until the rank is reached */
function unsqueezeTo<T>(b: GraphBuilder<T>, x: T, rank: number): T {
  let y = x;
  while (b.meta(y).shape.length < rank) y = b.call("aten.unsqueeze.default", [y, -1]);
  return y;
}

export const records: readonly OpRecord[] = [...byTensor, ...gathers];
