// scatter, scatter_add, scatter_reduce and their in-place forms: a copy and a Scatter into it.

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
import { aten, each, inplace, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import { isDeterministic, lacksAtomicAdd } from "./helpers/gather_scatter";
import { at } from "./helpers/shape";
import { cast, onesLike, zerosLike } from "./helpers/trace";

/** whether the values written are a tensor; overloads with a number have no `src`, or a Scalar of that name */
const writesTensor = <T>(a: Args<T>): boolean => a.has("src") && a.isTensor("src");

/** a scalar counts as one dimension */
const rankOf = (t: TensorMeta): number => Math.max(1, t.shape.length);

const scatterMeta = (m: MetaBuilder, a: Args<TensorMeta>): TensorMeta => {
  const x = a.tensor("self");
  const index = a.tensor("index");
  m.wrapDim(a.int("dim"), x.shape.length);
  if (index.dtype !== "int64" && index.dtype !== "int32") return m.fail("scatter(): Expected dtype int64 for index");
  if (writesTensor(a) && a.tensor("src").dtype !== x.dtype) {
    return m.fail("scatter(): Expected self.dtype to be equal to src.dtype");
  }
  const rank = rankOf(index);
  if (rank !== rankOf(x)) return m.fail("Index tensor must have the same number of dimensions as self tensor");
  if (writesTensor(a) && rank !== rankOf(a.tensor("src")))
    return m.fail("Index tensor must have the same number of dimensions as src tensor");
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
    if (isDeterministic(b)) return true;
    const supported = packet === "scatter_" ? "add" : "sum";
    return (
      (reduce !== null && reduce !== supported) ||
      (tensor && lacksAtomicAdd(b, srcDtype)) ||
      (reduce === supported && (dtype === "bool" || dtype === "int64"))
    );
  };
  const viaAten = (packet: string, overload: string, reduce: string | null, filled?: B): B => {
    b.realize(call.target);
    const tensor = isTensor ? a.tensor("src") : filled;
    const value = tensor ?? a.raw(a.has("value") ? "value" : "src");
    const kwargs: Record<string, ArgValue<B>> = {};
    if (packet === "scatter_reduce_") kwargs.include_self = call.includeSelf;
    else if (reduce !== null) kwargs.reduce = reduce;
    const args: ArgValue<B>[] = [call.target, a.raw("dim"), index, value];
    if (packet === "scatter_reduce_") args.push(reduce);
    b.extern({
      kind: "fallback",
      kernel: `aten.${packet}.${overload}`,
      op: `aten.${packet}.${overload}`,
      inputs: [call.target, index, ...(tensor === undefined ? [] : [tensor])],
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
  if (needsAten("scatter_reduce_", reduce, true, b.dtype(src))) return viaAten("scatter_reduce_", "two", reduce, src);
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
    grads: (b, c) => scatterReduceGrads(b, c.args, c.grad(), c.result()),
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
function scatterReduceGrads<T>(b: GraphBuilder<T>, a: Args<T>, grad: T, value: T): Record<string, T> {
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
      const base = includeSelf ? onesLike(b, grad) : zerosLike(b, grad);
      const counts = scatterAddTo(base, onesLike(b, src));
      const safe = b.call("aten.masked_fill.Scalar", [counts, b.call("aten.eq.Scalar", [counts, 0]), 1]);
      const forSelf = b.call("aten.div.Tensor", [grad, safe]);
      const perSource = gather(safe);
      const forSrc = b.call("aten.div.Tensor", [gather(grad), perSource]);
      return { self: clear(forSelf), src: forSrc };
    }
    case "amax":
    case "amin": {
      const best = gather(value);
      const dtype = b.meta(self).dtype;
      const hit = (x: T, y: T): T => cast(b, b.call("aten.eq.Tensor", [x, y]), dtype);
      const own = hit(self, value);
      const winners = scatterAddTo(own, hit(src, best));
      const share = b.call("aten.div.Tensor", [grad, winners]);
      const forSelf = b.call("aten.mul.Tensor", [b.call("aten.eq.Tensor", [self, value]), share]);
      const perSource = gather(share);
      const forSrc = b.call("aten.mul.Tensor", [b.call("aten.eq.Tensor", [src, best]), perSource]);
      return { self: clear(forSelf), src: forSrc };
    }
    case "prod": {
      const { forSelf, forSrc } = productGrads(b, grad, self, src, value, {
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
export function productGrads<T>(
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
  const counts = at_.add(zerosLike(b, self), cast(b, zero, b.meta(self).dtype));
  const single = f("bitwise_and.Tensor", zero, f("eq.Scalar", at_.pick(counts), 1));
  const without = at_.reduce(self, f("masked_fill.Scalar", src, single, 1));
  const divisor = f("masked_fill.Scalar", src, zero, 1);
  const plain = f("div.Tensor", at_.pick(f("mul.Tensor", grad, result)), divisor);
  return { forSelf, forSrc: f("where.self", single, at_.pick(f("mul.Tensor", grad, without)), plain) };
}

/** in-place forms that stay in graphs after reinplacing have a lowering of their own */
export function writtenInPlace(record: OpRecord, lower: OpRecord["lower"]): OpRecord {
  return { ...inplace(record), ...(lower ? { lower } : {}) };
}

const inPlace: OpRecord[] = [
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
];

export const records: readonly OpRecord[] = [
  scatterSrc,
  scatterValue,
  ...scatterReduced,
  scatterAdd,
  scatterReduce,
  ...inPlace,
];
