// Writing by index: index_put, index_add, index_copy, index_fill, put, masked_scatter, index_reduce. Lowered to a copy and
// a Scatter into it, or to a Pointwise where the places are known.

import type { Args, ArgValue, Dim, GraphBuilder, LoweringBuilder, OpRecord } from "../types";
import {
  aten,
  each,
  fallback,
  inplace,
  isComplexDType,
  isFloatDType,
  NOT_DIFFERENTIABLE,
  numberOf,
  spell,
} from "./helpers/define";
import {
  broadcastIndices,
  expandTo,
  indexMap,
  isDeterministic,
  isMaskDType,
  lacksAtomicAdd,
} from "./helpers/gather_scatter";
import { maybeMultiply } from "./helpers/products";
import { at, decomposed, denseLike, numel, range } from "./helpers/shape";
import { CONTIGUOUS, convert, filledWith, fullLike, onesLike, scalarTensor, zerosLike } from "./helpers/trace";
import { productGrads, writtenInPlace } from "./scatter";
import { flatten, reshape } from "./view";

interface PutOptions {
  readonly check: boolean;
  /** in place on a value that others may read */
  readonly mayRealize: boolean;
}

/** index_put_ on `target`, which is written in place; the box of the result is target itself */
function lowerIndexPut<B>(b: LoweringBuilder<B>, a: Args<B>, target: B, opts: PutOptions): B {
  const given = a.optTensors("indices");
  let values: B = a.tensor("values");
  const accumulate = a.bool("accumulate");
  if (opts.mayRealize && b.reads(values, target)) {
    const distinct = given.every(i => i !== null && b.externTarget(i) === "aten.randperm.default");
    if (!distinct) b.realize(values);
  }
  const size = b.size(target);
  const mask = given.length === 1 ? given[0] : null;
  const single = b.static(b.product(b.size(values))) === 1;
  if (single && mask !== null && mask !== undefined && isMaskDType(b.dtype(mask))) {
    let m: B = mask;
    while (b.size(m).length < size.length) m = b.unsqueeze(m, b.size(m).length);
    values = b.toDevice(values, b.device(target));
    if (accumulate) values = b.elementwise("add", [target, values]);
    const dtype = b.dtype(target);
    const chosen = b.elementwise("where", [m, b.toDtype(values, dtype), target], { promotion: null, dtype });
    return b.copyInto(target, chosen);
  }
  const dtype = b.dtype(target);
  const viaAten = (): B => {
    b.realize(target);
    b.extern({
      kind: "fallback",
      kernel: "aten.index_put_",
      op: "aten.index_put_.default",
      inputs: [target, values, ...given.filter((x): x is B => x !== null)],
      args: [target, given as readonly ArgValue<B>[], values, accumulate],
      mutates: [target],
    });
    return target;
  };
  if (given.some(i => i !== null && isMaskDType(b.dtype(i)))) return viaAten();
  if (isDeterministic(b) || (accumulate && lacksAtomicAdd(b, dtype))) return viaAten();
  values = b.toDtype(values, dtype);
  const indices = broadcastIndices(b, given, b.device(target));
  if (indices === null) return viaAten();
  b.realize(target);
  const place = size.length === 0 ? b.view(target, [1]) : target;
  const { size: written, map } = indexMap(b, b.size(place), indices, { check: opts.check });
  values = expandTo(b, values, written);
  b.scatter({
    target: place,
    size: written,
    index: map,
    value: b.loader(values),
    mode: accumulate ? "atomic_add" : "store",
    reads: [values, ...indices.filter((x): x is B => x !== null)],
  });
  return target;
}

const putMeta: OpRecord["meta"] = (m, a) => denseLike(m, a.tensor("self"));

const putGrads = (op: string) =>
  each({
    self: (b, c) => {
      if (c.args.bool("accumulate")) return c.grad();
      const values = b.meta(c.args.tensor("values"));
      return b.call(op, [c.grad(), c.args.raw("indices"), filledWith(b, "zeros", values.shape, values)]);
    },
    values: (b, c) => b.call("aten.index.Tensor", [c.grad(), c.args.raw("indices")]),
  });

const indexPut: OpRecord = {
  name: "aten.index_put.default",
  schema: "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
  python: spell("index_put"),
  meta: putMeta,
  derivative: putGrads("aten.index_put.default"),
  lower: (b, a) => lowerIndexPut(b, a, b.clone(a.tensor("self")), { check: true, mayRealize: false }),
};

const unsafeIndexPut: OpRecord = {
  name: "aten._unsafe_index_put.default",
  schema: "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
  meta: putMeta,
  derivative: putGrads("aten._unsafe_index_put.default"),
  decompose: (b, a) =>
    b.call("aten.index_put.default", [a.raw("self"), a.raw("indices"), a.raw("values"), a.raw("accumulate")]),
  lower: (b, a) => lowerIndexPut(b, a, b.clone(a.tensor("self")), { check: false, mayRealize: false }),
};

/** dim as a run of None before an index tensor */
const alongDim = <T>(dim: number, index: T): (T | null)[] => [...new Array<null>(dim).fill(null), index];

function refuseMatrix<T>(b: GraphBuilder<T>, index: T): void {
  const rank = b.meta(index).shape.length;
  if (rank > 1) b.fail(`Index should have dimension 1 or 0 (got ${rank})`);
}

/** index_add and index_copy as index_put; 0-d tensors are handled as one element */
function putAlong<T>(b: GraphBuilder<T>, a: Args<T>, source: T, accumulate: boolean): T {
  const x = a.tensor("self");
  const rank = b.meta(x).shape.length;
  refuseMatrix(b, a.tensor("index"));
  const dim = b.wrapDim(a.int("dim"), rank);
  const zeroDim = rank === 0;
  const self = zeroDim ? b.call("aten.unsqueeze.default", [x, 0]) : x;
  const put = b.call("aten.index_put.default", [self, alongDim(dim, a.tensor("index")), source, accumulate]);
  if (zeroDim) return b.call("aten.squeeze.dim", [put, 0]);
  return b.isContiguous(put) ? put : b.call("aten.clone.default", [put], { memory_format: CONTIGUOUS });
}

/** the part of a gradient that an indexed source gets */
function sourceGrad<T>(b: GraphBuilder<T>, grad: T, a: Args<T>): T {
  const source = b.meta(a.tensor("source"));
  const index = a.tensor("index");
  if (source.shape.length === 0) {
    const flat = b.call("aten.squeeze.default", [index]);
    return b.call("aten.index_select.default", [grad, a.raw("dim"), flat]);
  }
  return b.call("aten.expand.default", [
    b.call("aten.index_select.default", [grad, a.raw("dim"), index]),
    source.shape,
  ]);
}

const indexAdd = decomposed({
  name: "aten.index_add.default",
  schema: "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
  python: spell("index_add"),
  decompose: (b, a) => {
    const alpha = a.scalar("alpha");
    let source = a.tensor("source");
    if (numberOf(alpha) !== 1) source = b.call("aten.mul.Tensor", [source, alpha]);
    return putAlong(b, a, source, true);
  },
  derivative: each({
    self: (_, c) => c.grad(),
    source: (b, c) => {
      const g = sourceGrad(b, c.grad(), c.args);
      return maybeMultiply(b, g, c.args.scalar("alpha"));
    },
  }),
});

const indexCopy = decomposed({
  name: "aten.index_copy.default",
  schema: "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
  python: spell("index_copy"),
  decompose: (b, a) => putAlong(b, a, a.tensor("source"), false),
  derivative: each({
    self: (b, c) => b.call("aten.index_fill.int_Scalar", [c.grad(), c.args.raw("dim"), c.args.tensor("index"), 0]),
    source: (b, c) => sourceGrad(b, c.grad(), c.args),
  }),
});

function indexFill<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const x = a.tensor("self");
  const t = b.meta(x);
  const index = a.tensor("index");
  refuseMatrix(b, index);
  const value = a.isTensor("value") ? a.tensor("value") : scalarTensor(b, a.scalar("value"), t.dtype, t.device, false);
  const rank = t.shape.length;
  const dim = b.wrapDim(a.int("dim"), rank);
  const self = rank === 0 ? b.call("aten.unsqueeze.default", [x, 0]) : x;
  const count = numel(b, b.meta(index));
  const wide = b.call("aten.expand.default", [value, b.meta(self).shape.map((s, i) => (i === dim ? count : s))]);
  const put = b.call("aten.index_copy.default", [self, a.raw("dim"), index, wide]);
  return rank === 0 ? b.call("aten.clone.default", [b.call("aten.squeeze.dim", [put, 0])]) : put;
}

const indexFills = [
  decomposed({
    name: "aten.index_fill.int_Scalar",
    schema: "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    python: spell("index_fill"),
    decompose: indexFill,
    derivative: each({
      self: (b, c) => b.call("aten.index_fill.int_Scalar", [c.grad(), c.args.raw("dim"), c.args.tensor("index"), 0]),
    }),
  }),
  decomposed({
    name: "aten.index_fill.int_Tensor",
    schema: "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    python: spell("index_fill"),
    decompose: indexFill,
    derivative: each({
      self: (b, c) => b.call("aten.index_fill.int_Scalar", [c.grad(), c.args.raw("dim"), c.args.tensor("index"), 0]),
      value: (b, c) =>
        b.call("aten.sum.default", [
          b.call("aten.index_select.default", [c.grad(), c.args.raw("dim"), c.args.tensor("index")]),
        ]),
    }),
  }),
];

const put = decomposed({
  name: "aten.put.default",
  schema: "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
  python: spell("put"),
  decompose: (b, a) => {
    const x = a.tensor("self");
    const index = a.tensor("index");
    const flat = flatten(b, x, 0, -1);
    const source = reshape(b, a.tensor("source"), b.meta(index).shape);
    const done = b.call("aten.index_put.default", [flat, [index], source, a.raw("accumulate")]);
    return reshape(b, done, b.meta(x).shape);
  },
  derivative: each({
    self: (b, c) =>
      c.args.bool("accumulate")
        ? c.grad()
        : b.call("aten.put.default", [c.grad(), c.args.tensor("index"), zerosLike(b, c.args.tensor("source")), false]),
    source: (b, c) =>
      reshape(
        b,
        b.call("aten.take.default", [c.grad(), c.args.tensor("index")]),
        b.meta(c.args.tensor("source")).shape,
      ),
  }),
});

const maskedScatter = decomposed({
  name: "aten.masked_scatter.default",
  schema: "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
  python: spell("masked_scatter"),
  decompose: (b, a) => {
    const shape = broadcastOf(b, a.tensor("self"), a.tensor("mask"));
    const self = expandIfNeeded(b, a.tensor("self"), shape);
    const mask = expandIfNeeded(b, a.tensor("mask"), shape);
    const order = b.call("aten.cumsum.default", [reshape(b, mask, [-1]), 0]);
    const place = b.call("aten.sub.Tensor", [order, 1]);
    const n = b.product(shape);
    const [flatSelf, flatMask] = [reshape(b, self, [n]), reshape(b, mask, [n])];
    const source = flatten(b, a.tensor("source"), 0, -1);
    const taken = b.call("aten._unsafe_masked_index.default", [source, flatMask, [place], 0]);
    return reshape(b, b.call("aten.where.self", [flatMask, taken, flatSelf]), shape);
  },
  derivative: each({
    self: (b, c) => b.call("aten.masked_fill.Scalar", [c.grad(), c.args.tensor("mask"), 0]),
    source: (b, c) =>
      b.call("aten.masked_scatter_backward.default", [
        c.grad(),
        c.args.tensor("mask"),
        b.meta(c.args.tensor("source")).shape,
      ]),
  }),
});

function broadcastOf<T>(b: GraphBuilder<T>, x: T, y: T): Dim[] {
  const [p, q] = [b.meta(x).shape, b.meta(y).shape];
  const rank = Math.max(p.length, q.length);
  return range(rank).map(i => {
    const [s, t] = [p[i - (rank - p.length)], q[i - (rank - q.length)]];
    return s === undefined || b.static(s) === 1 ? (t ?? (s as Dim)) : s;
  });
}

function expandIfNeeded<T>(b: GraphBuilder<T>, x: T, shape: readonly Dim[]): T {
  const own = b.meta(x).shape;
  const same = own.length === shape.length && own.every((s, i) => s === shape[i] || b.knownEq(s, at(shape, i)));
  return same ? x : b.call("aten.expand.default", [x, shape]);
}

const maskedScatterBackward: OpRecord = {
  name: "aten.masked_scatter_backward.default",
  schema: "masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
  tags: ["extern"],
  meta: (m, a) => m.tensor(a.dims("sizes"), a.tensor("grad_output")),
  derivative: NOT_DIFFERENTIABLE,
  lower: fallback("aten.masked_scatter_backward.default", ["grad_output", "mask"], ["grad_output", "mask", "sizes"]),
};

const maskedIndexPut: OpRecord = {
  name: "aten._unsafe_masked_index_put_accumulate.default",
  schema: "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
  meta: putMeta,
  derivative: NOT_DIFFERENTIABLE,
  lower: (b, a) => {
    const target = b.clone(a.tensor("self"));
    const size = b.size(target);
    const masked = b.elementwise(
      (ops, m, v, z) => ops.op("where", m, v, z),
      [a.tensor("mask"), a.tensor("values"), b.constant(0, b.dtype(target), b.device(target), [])],
      { promotion: null, dtype: b.dtype(target) },
    );
    // places outside are clamped: their value is zero, so it does not matter where it is added
    const clamped = a.optTensors("indices").map((x, i) => {
      if (x === null) return null;
      const n = at(size, i);
      const dtype = b.dtype(x);
      const [load, like] = [b.loader(x), { dtype, device: b.device(x), size: b.size(x) }];
      return b.pointwise({
        ...like,
        body: (ops, index) =>
          ops.op(
            "maximum",
            ops.indexExpr(b.mul(n, -1), dtype),
            ops.op("minimum", ops.indexExpr(b.sub(n, 1), dtype), load(ops, index)),
          ),
      });
    });
    b.realize(target);
    if (isDeterministic(b)) {
      b.extern({
        kind: "fallback",
        kernel: "aten.index_put_",
        op: "aten.index_put_.default",
        inputs: [target, masked, ...clamped.filter((x): x is B1<typeof x> => x !== null)],
        args: [target, clamped as readonly ArgValue<B1<(typeof clamped)[number]>>[], masked, true],
        mutates: [target],
      });
      return target;
    }
    const indices = broadcastIndices(b, clamped, b.device(target));
    if (indices === null) return b.error("_unsafe_masked_index_put_accumulate: masks as indices");
    const { size: written, map } = indexMap(b, size, indices, { check: false });
    const values = expandTo(b, masked, written);
    b.scatter({
      target,
      size: written,
      index: map,
      value: b.loader(values),
      mode: "atomic_add",
      reads: [values, ...indices.filter((x): x is B1<typeof x> => x !== null)],
    });
    return target;
  },
};
type B1<X> = Exclude<X, null>;

const indexReduce: OpRecord = {
  name: "aten.index_reduce.default",
  schema:
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
  python: spell("index_reduce"),
  tags: ["extern"],
  meta: putMeta,
  decompose: (b, a) => {
    if (a.str("reduce") !== "mean") return undefined;
    const f = aten(b);
    const [x, index, source, dim] = [a.tensor("self"), a.tensor("index"), a.tensor("source"), a.raw("dim")];
    const ones = fullLike(b, source, 1);
    const add = (y: typeof x, z: typeof x): typeof x => f("index_add.default", y, dim, index, z);
    let [out, counts] = [x, x];
    if (a.bool("include_self")) counts = add(fullLike(b, x, 1), ones);
    else {
      out = f("index_fill.int_Scalar", x, dim, index, 0);
      counts = add(zerosLike(b, x), ones);
      counts = f("masked_fill.Scalar", counts, f("lt.Scalar", counts, 1), 1);
    }
    const sums = add(out, source);
    const exact = isFloatDType(b.meta(x).dtype) || isComplexDType(b.meta(x).dtype);
    return f(exact ? "div.Tensor" : "floor_divide.default", sums, counts);
  },
  derivative: {
    kind: "joint",
    of: ["self", "source"],
    grads: (b, c) => {
      const a = c.args;
      const reduce = a.str("reduce");
      const [self, index, source] = [a.tensor("self"), a.tensor("index"), a.tensor("source")];
      const [dim, includeSelf] = [a.raw("dim"), a.bool("include_self")];
      const pick = (x: typeof self): typeof self => b.call("aten.index_select.default", [x, dim, index]);
      const add = (x: typeof self, y: typeof self): typeof self => b.call("aten.index_add.default", [x, dim, index, y]);
      const clear = (g: typeof self): typeof self =>
        includeSelf ? g : b.call("aten.index_fill.int_Scalar", [g, dim, index, 0]);
      if (reduce === "prod") {
        const { forSelf, forSrc } = productGrads(b, c.grad(), self, source, c.result(), {
          pick,
          add,
          reduce: (x, y) =>
            b.call("aten.index_reduce.default", [x, dim, index, y, reduce], includeSelf ? {} : { include_self: false }),
        });
        return { self: clear(forSelf), source: forSrc };
      }
      if (reduce === "mean") {
        const counts = add(includeSelf ? onesLike(b, c.grad()) : zerosLike(b, c.grad()), onesLike(b, source));
        const safe = b.call("aten.masked_fill.Scalar", [counts, b.call("aten.eq.Scalar", [counts, 0]), 1]);
        const forSelf = b.call("aten.div.Tensor", [c.grad(), safe]);
        const perSource = pick(safe);
        const forSource = b.call("aten.div.Tensor", [pick(c.grad()), perSource]);
        return { self: clear(forSelf), source: forSource };
      }
      const value = c.result();
      const best = pick(value);
      const dtype = b.meta(self).dtype;
      const own = convert(b, b.call("aten.eq.Tensor", [self, value]), dtype);
      const theirs = convert(b, b.call("aten.eq.Tensor", [source, best]), dtype);
      const winners = b.call("aten.index_add.default", [own, a.raw("dim"), index, theirs]);
      const share = b.call("aten.div.Tensor", [c.grad(), winners]);
      const forSelf = b.call("aten.mul.Tensor", [own, share]);
      const forSource = b.call("aten.mul.Tensor", [theirs, pick(share)]);
      return { self: clear(forSelf), source: forSource };
    },
  },
  lower: fallback(
    "aten.index_reduce.default",
    ["self", "index", "source"],
    ["self", "dim", "index", "source", "reduce"],
    ["include_self"],
  ),
};

const inPlace: OpRecord[] = [
  writtenInPlace(indexPut, (b, a) => lowerIndexPut(b, a, a.tensor("self"), { check: true, mayRealize: true })),
  writtenInPlace(unsafeIndexPut, (b, a) => lowerIndexPut(b, a, a.tensor("self"), { check: false, mayRealize: true })),
  ...[indexAdd, indexCopy, ...indexFills, put, maskedScatter, indexReduce].map(r => inplace(r)),
];

export const records: readonly OpRecord[] = [
  indexPut,
  unsafeIndexPut,
  maskedIndexPut,
  indexAdd,
  indexCopy,
  ...indexFills,
  put,
  maskedScatter,
  maskedScatterBackward,
  indexReduce,
  ...inPlace,
];
