// Writing by index: index_put, scatter and their families, and the *_scatter forms that functionalization makes of
// writes into views. Lowered to a copy and a Scatter into it, or to a Pointwise where the places are known.
import type {
  Args,
  ArgValue,
  Dim,
  DType,
  GraphBuilder,
  LoweringBuilder,
  MetaBuilder,
  OpRecord,
  Ops,
  TensorMeta,
} from "../types";
import {
  aten,
  each,
  fallback,
  fl,
  inplace,
  isComplex,
  isFloat,
  NOT_DIFFERENTIABLE,
  numberOf,
  spell,
} from "./helpers/define";
import { broadcastIndices, expandTo, indexMap, isMaskDType, lacksAtomicAdd } from "./helpers/gather_scatter";
import { at, decomposed, denseLike, numel, range, sliceBounds, sliceLength } from "./helpers/shape";
import { CONTIGUOUS, convert, full, fullLike, scalarTensor, zerosLike } from "./helpers/trace";
import { flatten, reshape } from "./view";
import { lowerDiagonal } from "./view_select";

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
  if (accumulate && lacksAtomicAdd(b, dtype)) return viaAten();
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
      return b.call(op, [c.grad(), c.args.raw("indices"), zerosLike(b, c.args.tensor("values"))]);
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

/** index_add and index_copy as index_put; 0-d tensors are handled as one element */
function putAlong<T>(b: GraphBuilder<T>, a: Args<T>, source: T, accumulate: boolean): T {
  const x = a.tensor("self");
  const rank = b.meta(x).shape.length;
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
      const alpha = c.args.scalar("alpha");
      const g = sourceGrad(b, c.grad(), c.args);
      return numberOf(alpha) === 1 ? g : b.call("aten.mul.Scalar", [g, alpha]);
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
  if (b.meta(index).shape.length > 1) {
    return b.fail(`Index should have dimension 1 or 0 (got ${b.meta(index).shape.length})`);
  }
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
    const indices = broadcastIndices(b, clamped, b.device(target));
    if (indices === null) return b.error("_unsafe_masked_index_put_accumulate: masks as indices");
    b.realize(target);
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

/** whether the values written are a tensor; overloads with a number have no `src`, or a Scalar of that name */
const writesTensor = <T>(a: Args<T>): boolean => a.has("src") && a.isTensor("src");

const scatterMeta = (m: MetaBuilder, a: Args<TensorMeta>): TensorMeta => {
  const x = a.tensor("self");
  const index = a.tensor("index");
  m.wrapDim(a.int("dim"), x.shape.length);
  if (index.dtype !== "int64" && index.dtype !== "int32") return m.fail("scatter(): Expected dtype int64 for index");
  if (writesTensor(a) && a.tensor("src").dtype !== x.dtype) {
    return m.fail("scatter(): Expected self.dtype to be equal to src.dtype");
  }
  return m.tensor(x.shape, x);
};

interface ScatterCall<B> {
  readonly packet: "scatter_" | "scatter_add_" | "scatter_reduce_";
  /** overload of the in-place operator, for the ATen call */
  readonly overload: string;
  readonly target: B;
  readonly reduce: string | null;
  readonly includeSelf: boolean;
}

function lowerScatter<B>(b: LoweringBuilder<B>, a: Args<B>, call: ScatterCall<B>): B {
  const index = a.tensor("index");
  const isTensor = writesTensor(a);
  const dtype = b.dtype(call.target);
  const needsAten = (packet: string, reduce: string | null, tensor: boolean, srcDtype: DType): boolean => {
    if (packet === "scatter_reduce_" && reduce === null) return false;
    const supported = packet === "scatter_" ? "add" : "sum";
    return (
      (reduce !== null && reduce !== supported) ||
      (tensor && lacksAtomicAdd(b, srcDtype)) ||
      (reduce === supported && (dtype === "bool" || dtype === "int64"))
    );
  };
  const viaAten = (packet: string, overload: string, reduce: string | null): B => {
    b.realize(call.target);
    const value = isTensor ? a.tensor("src") : a.raw(a.has("value") ? "value" : "src");
    const kwargs: Record<string, ArgValue<B>> = {};
    if (packet === "scatter_reduce_") kwargs.include_self = call.includeSelf;
    else if (reduce !== null) kwargs.reduce = reduce;
    const args: ArgValue<B>[] = [call.target, a.raw("dim"), index, value];
    if (packet === "scatter_reduce_") args.push(reduce);
    b.extern({
      kind: "fallback",
      kernel: `aten.${packet}.${overload}`,
      op: `aten.${packet}.${overload}`,
      inputs: [call.target, index, ...(isTensor ? [a.tensor("src")] : [])],
      args,
      kwargs,
      mutates: [call.target],
    });
    return call.target;
  };
  let reduce = call.reduce;
  if (call.packet === "scatter_") {
    const src = isTensor ? b.dtype(a.tensor("src")) : dtype;
    if (reduce === null && needsAten("scatter_", null, isTensor, src)) return viaAten("scatter_", call.overload, null);
    reduce = reduce === "add" ? "sum" : reduce === "multiply" ? "prod" : reduce;
  }
  let src = isTensor
    ? a.tensor("src")
    : b.constant(a.scalar(a.has("value") ? "value" : "src"), dtype, b.device(call.target), b.size(call.target));
  if (needsAten("scatter_reduce_", reduce, true, b.dtype(src))) return viaAten("scatter_reduce_", "two", reduce);
  const size = b.size(call.target);
  const target = size.length === 0 ? b.view(call.target, [1]) : call.target;
  let places = index;
  if (b.size(src).length === 0) src = b.view(src, [1]);
  if (b.size(places).length === 0) places = b.view(places, [1]);
  if (b.static(b.product(b.size(places))) === 0) return call.target;
  const dim = b.wrapDim(a.int("dim"), size.length);
  b.realize(target);
  const [load, place] = [b.loader(src), b.loader(places)];
  const shape = b.size(target);
  const spec = {
    target,
    size: b.size(places),
    index: <V>(ops: Ops<V>, i: readonly Dim[]): readonly Dim[] =>
      i.map((v, d) => (d === dim ? ops.indirectIndexing(place(ops, i), at(shape, dim), { wrapNeg: false }) : v)),
  };
  if (!call.includeSelf) {
    b.scatter({ ...spec, value: ops => ops.constant(0, dtype), mode: "store", reads: [places] });
  }
  b.scatter({ ...spec, value: load, mode: reduce === "sum" ? "atomic_add" : "store", reads: [places, src] });
  return call.target;
}

const scatterGrads = {
  self: each({
    self: (b, c) => b.call("aten.scatter.value", [c.grad(), c.args.raw("dim"), c.args.tensor("index"), 0]),
  }),
  selfAndSrc: each({
    self: (b, c) => b.call("aten.scatter.value", [c.grad(), c.args.raw("dim"), c.args.tensor("index"), 0]),
    src: (b, c) => b.call("aten.gather.default", [c.grad(), c.args.raw("dim"), c.args.tensor("index")]),
  }),
};

const scatterSrc: OpRecord = {
  name: "aten.scatter.src",
  schema: "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
  python: spell("scatter"),
  meta: scatterMeta,
  derivative: scatterGrads.selfAndSrc,
  lower: (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_",
      overload: "src",
      target: b.clone(a.tensor("self")),
      reduce: null,
      includeSelf: true,
    }),
};
const scatterValue: OpRecord = {
  name: "aten.scatter.value",
  schema: "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
  python: spell("scatter"),
  meta: scatterMeta,
  derivative: scatterGrads.self,
  lower: (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_",
      overload: "value",
      target: b.clone(a.tensor("self")),
      reduce: null,
      includeSelf: true,
    }),
};
const scatterReduced: OpRecord[] = (["reduce", "value_reduce"] as const).map(overload => ({
  name: `aten.scatter.${overload}`,
  schema: `scatter.${overload}(Tensor self, int dim, Tensor index, ${overload === "reduce" ? "Tensor src" : "Scalar value"}, *, str reduce) -> Tensor`,
  python: spell("scatter"),
  meta: scatterMeta,
  derivative: NOT_DIFFERENTIABLE,
  lower: <B>(b: LoweringBuilder<B>, a: Args<B>): B =>
    lowerScatter(b, a, {
      packet: "scatter_",
      overload,
      target: b.clone(a.tensor("self")),
      reduce: a.str("reduce"),
      includeSelf: true,
    }),
}));
const scatterAdd: OpRecord = {
  name: "aten.scatter_add.default",
  schema: "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
  python: spell("scatter_add"),
  meta: scatterMeta,
  derivative: each({
    self: (_, c) => c.grad(),
    src: (b, c) => b.call("aten.gather.default", [c.grad(), c.args.raw("dim"), c.args.tensor("index")]),
  }),
  lower: (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_add_",
      overload: "default",
      target: b.clone(a.tensor("self")),
      reduce: "sum",
      includeSelf: true,
    }),
};
const scatterReduce: OpRecord = {
  name: "aten.scatter_reduce.two",
  schema:
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
  python: spell("scatter_reduce"),
  meta: scatterMeta,
  derivative: {
    kind: "joint",
    of: ["self", "src"],
    grads: (b, c) => scatterReduceGrads(b, c.args, c.grad(), () => c.result()),
  },
  lower: (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_reduce_",
      overload: "two",
      target: b.clone(a.tensor("self")),
      reduce: a.str("reduce"),
      includeSelf: a.bool("include_self"),
    }),
};

/** scatter_reduce_backward: gradients of self and src for each reduction */
function scatterReduceGrads<T>(b: GraphBuilder<T>, a: Args<T>, grad: T, result: () => T): Record<string, T> {
  const [self, index, src] = [a.tensor("self"), a.tensor("index"), a.tensor("src")];
  const dim = a.raw("dim");
  const includeSelf = a.bool("include_self");
  const gather = (x: T): T => b.call("aten.gather.default", [x, dim, index]);
  const scatterAddTo = (x: T, y: T): T => b.call("aten.scatter_add.default", [x, dim, index, y]);
  const clear = (g: T): T => (includeSelf ? g : b.call("aten.scatter.value", [g, dim, index, 0]));
  const reduce = a.str("reduce");
  switch (reduce) {
    case "sum": {
      const forSrc = gather(grad);
      return { self: clear(grad), src: forSrc };
    }
    case "mean": {
      const base = includeSelf ? fullLike(b, grad, 1) : zerosLike(b, grad);
      const counts = scatterAddTo(base, fullLike(b, src, 1));
      const safe = b.call("aten.masked_fill.Scalar", [counts, b.call("aten.eq.Scalar", [counts, 0]), 1]);
      const forSelf = b.call("aten.div.Tensor", [grad, safe]);
      const perSource = gather(safe);
      const forSrc = b.call("aten.div.Tensor", [gather(grad), perSource]);
      return { self: clear(forSelf), src: forSrc };
    }
    case "amax":
    case "amin": {
      const value = result();
      const best = gather(value);
      const dtype = b.meta(self).dtype;
      const hit = (x: T, y: T): T => convert(b, b.call("aten.eq.Tensor", [x, y]), dtype);
      const own = hit(self, value);
      const winners = scatterAddTo(own, hit(src, best));
      const share = b.call("aten.div.Tensor", [grad, winners]);
      const forSelf = b.call("aten.mul.Tensor", [b.call("aten.eq.Tensor", [self, value]), share]);
      const perSource = gather(share);
      const forSrc = b.call("aten.mul.Tensor", [b.call("aten.eq.Tensor", [src, best]), perSource]);
      return { self: clear(forSelf), src: forSrc };
    }
    case "prod": {
      const { forSelf, forSrc } = productGrads(b, grad, self, src, result(), {
        pick: gather,
        add: scatterAddTo,
        reduce: (x, y) =>
          b.call("aten.scatter_reduce.two", [x, dim, index, y, reduce], includeSelf ? {} : { include_self: false }),
      });
      return { self: clear(forSelf), src: forSrc };
    }
    default:
      return b.fail(
        `derivative for aten::scatter_reduce with reduce='${reduce}' is not implemented`,
        "NotImplementedError",
      );
  }
}

interface Places<T> {
  /** what lies where the sources go */
  readonly pick: (x: T) => T;
  readonly add: (x: T, sources: T) => T;
  readonly reduce: (x: T, sources: T) => T;
}

/** gradients of products scattered into a tensor: factors that are zero leave out themselves alone */
function productGrads<T>(
  b: GraphBuilder<T>,
  grad: T,
  self: T,
  src: T,
  result: T,
  at_: Places<T>,
): Record<"forSelf" | "forSrc", T> {
  const f = aten(b);
  const isZero = (x: T): T => f("eq.Scalar", x, 0);
  const masked = f("masked_fill.Scalar", self, isZero(self), 1);
  const forSelf = f("div.Tensor", f("mul.Tensor", grad, at_.reduce(masked, src)), masked);
  const zero = isZero(src);
  const counts = at_.add(zerosLike(b, self), convert(b, zero, b.meta(self).dtype));
  const single = f("bitwise_and.Tensor", zero, f("eq.Scalar", at_.pick(counts), 1));
  const without = at_.reduce(self, f("masked_fill.Scalar", src, single, 1));
  const divisor = f("masked_fill.Scalar", src, zero, 1);
  const plain = f("div.Tensor", at_.pick(f("mul.Tensor", grad, result)), divisor);
  return { forSelf, forSrc: f("where.self", single, at_.pick(f("mul.Tensor", grad, without)), plain) };
}

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
    const exact = isFloat(b.meta(x).dtype) || isComplex(b.meta(x).dtype);
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
        const counts = add(includeSelf ? fullLike(b, c.grad(), 1) : zerosLike(b, c.grad()), fullLike(b, source, 1));
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

/** in-place forms that stay in graphs after reinplacing have a lowering of their own */
function writtenInPlace(record: OpRecord, lower: OpRecord["lower"]): OpRecord {
  return { ...inplace(record), ...(lower ? { lower } : {}) };
}

const inPlace: OpRecord[] = [
  writtenInPlace(indexPut, (b, a) => lowerIndexPut(b, a, a.tensor("self"), { check: true, mayRealize: true })),
  writtenInPlace(unsafeIndexPut, (b, a) => lowerIndexPut(b, a, a.tensor("self"), { check: false, mayRealize: true })),
  writtenInPlace(scatterSrc, (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_",
      overload: "src",
      target: a.tensor("self"),
      reduce: null,
      includeSelf: true,
    }),
  ),
  writtenInPlace(scatterValue, (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_",
      overload: "value",
      target: a.tensor("self"),
      reduce: null,
      includeSelf: true,
    }),
  ),
  ...scatterReduced.map(r => inplace(r)),
  writtenInPlace(scatterAdd, (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_add_",
      overload: "default",
      target: a.tensor("self"),
      reduce: "sum",
      includeSelf: true,
    }),
  ),
  writtenInPlace(scatterReduce, (b, a) =>
    lowerScatter(b, a, {
      packet: "scatter_reduce_",
      overload: "two",
      target: a.tensor("self"),
      reduce: a.str("reduce"),
      includeSelf: a.bool("include_self"),
    }),
  ),
  ...[indexAdd, indexCopy, ...indexFills, put, maskedScatter, indexReduce].map(r => inplace(r)),
];

/** the functional forms of a write into a view */
const viewScatters: OpRecord[] = [
  {
    name: "aten.select_scatter.default",
    schema: "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
    python: spell("select_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      self: (b, c) => {
        const s = b.meta(c.args.tensor("src"));
        const zeros = full(b, s.shape, 0, s.dtype, s.device);
        return b.call("aten.select_scatter.default", [c.grad(), zeros, c.args.raw("dim"), c.args.raw("index")]);
      },
      src: (b, c) => b.call("aten.select.int", [c.grad(), c.args.raw("dim"), c.args.raw("index")]),
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const size = b.size(x);
      const dim = b.wrapDim(a.int("dim"), size.length);
      const given = a.dim("index");
      const place = b.lt(given, 0) ? b.add(given, at(size, dim)) : given;
      const load = b.loader(x);
      const src = b.expand(b.unsqueeze(b.toDtype(a.tensor("src"), b.dtype(x)), dim), size);
      const loadSrc = b.loader(src);
      return b.pointwise({
        size,
        dtype: b.dtype(x),
        device: b.device(x),
        body: (ops, i) =>
          ops.op(
            "where",
            ops.op("eq", ops.indexExpr(at(i, dim), "int32"), ops.indexExpr(place, "int32")),
            loadSrc(ops, i),
            load(ops, i),
          ),
      });
    },
  },
  {
    name: "aten.slice_scatter.default",
    schema:
      "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
    python: spell("slice_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      self: (b, c) => {
        const s = b.meta(c.args.tensor("src"));
        const zeros = full(b, s.shape, 0, s.dtype, s.device);
        return b.call("aten.slice_scatter.default", [c.grad(), zeros, ...sliceArgs(c.args)]);
      },
      src: (b, c) => b.call("aten.slice.Tensor", [c.grad(), ...sliceArgs(c.args)]),
    }),
    lower: lowerSliceScatter,
  },
  {
    name: "aten.diagonal_scatter.default",
    schema: "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    python: spell("diagonal_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      self: (b, c) => {
        const s = b.meta(c.args.tensor("src"));
        const zeros = full(b, s.shape, 0, s.dtype, s.device);
        return b.call("aten.diagonal_scatter.default", [
          c.grad(),
          zeros,
          c.args.raw("offset"),
          c.args.raw("dim1"),
          c.args.raw("dim2"),
        ]);
      },
      src: (b, c) =>
        b.call("aten.diagonal.default", [c.grad(), c.args.raw("offset"), c.args.raw("dim1"), c.args.raw("dim2")]),
    }),
    lower: (b, a) => {
      const out = b.clone(a.tensor("self"));
      const target = lowerDiagonal(b, out, a.int("offset"), a.int("dim1"), a.int("dim2"));
      b.copyInto(target, a.tensor("src"));
      return out;
    },
  },
  {
    name: "aten.as_strided_scatter.default",
    schema:
      "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
    python: spell("as_strided_scatter"),
    meta: (m, a) => preserved(m, a.tensor("self")),
    derivative: each({
      // autograd's formula keeps what was written over
      self: (b, c) => {
        const view = [c.args.raw("size"), c.args.raw("stride"), c.args.raw("storage_offset")];
        const part = b.call("aten.as_strided.default", [c.grad(), ...view]);
        const { shape, stride, dtype, device } = b.meta(c.args.tensor("self"));
        const whole = full(b, shape, 0, dtype, device);
        b.call("aten.copy_.default", [b.call("aten.as_strided.default", [whole, ...view]), part]);
        return b.call("aten.as_strided.default", [whole, shape, stride]);
      },
      src: (b, c) =>
        b.call("aten.as_strided.default", [
          c.grad(),
          c.args.raw("size"),
          c.args.raw("stride"),
          c.args.raw("storage_offset"),
        ]),
    }),
    lower: (b, a) => {
      const out = b.clone(a.tensor("self"));
      const target = b.asStrided(out, a.dims("size"), a.dims("stride"), a.optDim("storage_offset") ?? b.int(0));
      b.copyInto(target, b.toDtype(a.tensor("src"), b.dtype(out)));
      return out;
    },
  },
];

/** the result has the tensor's own strides, dense or not, unless elements share memory (at::clone_preserve_strides) */
function preserved(m: MetaBuilder, t: TensorMeta): TensorMeta {
  const overlaps = t.shape.some((s, i) => m.static(at(t.stride, i)) === 0 && m.static(s) !== 1);
  return overlaps ? denseLike(m, t) : m.tensor(t.shape, t, t.stride);
}

const sliceArgs = <T>(a: Args<T>): ArgValue<T>[] => ["dim", "start", "end", "step"].map(n => a.raw(n));

function lowerSliceScatter<B>(b: LoweringBuilder<B>, a: Args<B>): B {
  const x = a.tensor("self");
  const dtype = b.dtype(x);
  const load = b.loader(x);
  const size = b.size(x);
  const dim = b.wrapDim(a.int("dim"), size.length);
  const extent = at(size, dim);
  const step = a.int("step");
  const { start, end } = sliceBounds(
    b,
    extent,
    a.raw("start") as Dim | number | null,
    a.raw("end") as Dim | number | bigint | null,
  );
  const fromStart = b.knownEq(start, 0);
  const toEnd = b.knownEq(end, extent);
  const src = b.expand(
    b.toDtype(a.tensor("src"), dtype),
    size.map((s, i) => (i === dim ? sliceLength(b, start, end, step) : s)),
  );
  const loadSrc = b.loader(src);
  const zero = isFloat(dtype) ? fl(0) : 0;
  return b.pointwise({
    size,
    dtype,
    device: b.device(x),
    body: (ops, index) => {
      if (fromStart && toEnd && step === 1) return loadSrc(ops, index);
      const here = at(index, dim);
      const place = ops.indexExpr(here, "int64");
      const inside = [];
      if (!fromStart) inside.push(ops.op("ge", place, ops.indexExpr(start, "int64")));
      if (!toEnd) inside.push(ops.op("lt", place, ops.indexExpr(end, "int64")));
      if (step !== 1) {
        const phase = ops.indexExpr(b.modularIndexing(b.sub(here, start), 1, step), "int64");
        inside.push(ops.op("eq", phase, ops.constant(0, "int64")));
      }
      const mask = inside.reduce((p, q) => ops.op("and_", p, q));
      const from = index.map((v, i) => (i === dim ? b.floordiv(b.sub(v, start), step) : v));
      return ops.op(
        "where",
        mask,
        ops.masked(mask, () => loadSrc(ops, from), zero),
        load(ops, index),
      );
    },
  });
}

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
  scatterSrc,
  scatterValue,
  ...scatterReduced,
  scatterAdd,
  scatterReduce,
  indexReduce,
  ...inPlace,
  ...viewScatters,
];
