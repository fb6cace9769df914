// Scans (cumsum and its kind), sorting and selection by rank, differences, and operators whose result's size depends on
// the data.
import {
  type Args,
  type ArgValue,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpRecord,
  type Ops,
  type TensorMeta,
} from "../types";
import {
  aten,
  each,
  fallback,
  fallbackMany,
  fl,
  isFloatDType,
  isIntegralDType,
  NOT_DIFFERENTIABLE,
  spell,
} from "./helpers/define";
import { pickedValues, reducedMeta, valueSelectingBackward } from "./helpers/reduce";
import { composed } from "./helpers/shape";
import { filledWith, scalarTensor } from "./helpers/trace";

const toLong = (d: DType): DType => (isIntegralDType(d) ? "int64" : d);

function scanMeta(m: MetaBuilder, x: TensorMeta, dim: number, dtype: DType): TensorMeta {
  m.wrapDim(dim, x.shape.length);
  return m.elementwise(dtype, x);
}

/** x.flip(dim), scanned, and flipped back */
function reversed<T>(b: GraphBuilder<T>, x: T, dim: number, scan: (t: T) => T): T {
  const flip = (t: T): T => b.call("aten.flip.default", [t, [dim]]);
  return flip(scan(flip(x)));
}

/** cumsum and cumprod */
function cumulative(packet: "cumsum" | "cumprod", op: "add" | "mul"): OpRecord {
  const name = `aten.${packet}.default`;
  return {
    name,
    schema: `${packet}(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor`,
    python: spell(packet),
    meta: (m, a) => {
      const x = a.tensor("self");
      return scanMeta(m, x, a.int("dim"), a.dtype("dtype") ?? toLong(x.dtype));
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      const dtype = a.dtype("dtype") ?? toLong(b.dtype(x));
      const rank = b.size(x).length;
      if (rank === 0) return b.toDtype(x, dtype, true);
      const combine = <V>(ops: Ops<V>, p: V[], q: V[]): V[] => [ops.op(op, p[0] as V, q[0] as V)];
      const r = b.scan([b.toDtype(x, dtype)], b.wrapDim(a.int("dim"), rank), combine);
      return r?.[0] ?? fallback(name, ["self"], ["self", "dim"], ["dtype"])(b, a);
    },
    derivative: each({
      self: (b, c) => {
        const x = c.args.tensor("self");
        const { dtype, shape } = b.meta(x);
        const dim = c.args.int("dim");
        if (packet === "cumprod") return cumprodBackward(b, c.grad(), x, dim, c.result());
        const g =
          b.meta(c.grad()).dtype === dtype ? c.grad() : b.call("aten.to.dtype", [c.grad(), new DTypeArg(dtype)]);
        if (shape.length === 0 || b.static(shape[b.wrapDim(dim, shape.length)] ?? 0) === 1) return g;
        return reversed(b, g, dim, t => b.call("aten.cumsum.default", [t, dim]));
      },
    }),
  };
}

/** for each element, the gradient of all products that it is part of (cumprod_backward's differentiable form) */
function cumprodBackward<T>(b: GraphBuilder<T>, grad: T, x: T, given: number, result: T): T {
  const f = aten(b);
  const m = b.meta(x);
  if (m.shape.length === 0) return grad;
  const dim = b.wrapDim(given, m.shape.length);
  const n = b.fixed(m.shape[dim] ?? 1);
  if (n === 1) return grad;
  f("mul.Tensor", result, grad);
  const ones = f(
    "expand.default",
    filledWith(b, "ones", [1], m),
    m.shape.map((s, i) => (i === dim ? 1 : s)),
  );
  const slices: T[] = [];
  for (let k = 0; k < n; k++) {
    let omitted: T;
    if (k === 0) {
      omitted = f("cat.default", [ones, f("cumprod.default", f("slice.Tensor", x, dim, 1), dim)], dim);
    } else {
      const until = f("prod.dim_int", f("slice.Tensor", x, dim, 0, k), dim, true);
      if (k === n - 1) omitted = until;
      else {
        const from = f("cumprod.default", f("slice.Tensor", x, dim, k + 1), dim);
        const rest = f("mul.Tensor", f("expand.default", until, b.meta(from).shape), from);
        omitted = f("cat.default", [until, rest], dim);
      }
    }
    const part = f("mul.Tensor", f("slice.Tensor", grad, dim, k), omitted);
    slices.push(f("sum.dim_IntList", part, [dim]));
  }
  return f("stack.default", slices, dim);
}

const logCumSumExp: OpRecord = {
  name: "aten.logcumsumexp.default",
  schema: "logcumsumexp(Tensor self, int dim) -> Tensor",
  python: spell("logcumsumexp"),
  meta: (m, a) => scanMeta(m, a.tensor("self"), a.int("dim"), a.tensor("self").dtype),
  lower: (b, a) => {
    const x = a.tensor("self");
    const rank = b.size(x).length;
    if (rank === 0) return b.clone(x);
    const combine = <V>(ops: Ops<V>, [p]: V[], [q]: V[]): V[] => {
      const [low, high] = [ops.op("minimum", p as V, q as V), ops.op("maximum", p as V, q as V)];
      const mask = ops.op("bitwise_or", ops.op("ne", low, high), ops.op("bitwise_not", ops.op("isinf", low)));
      const sum = ops.op("add", ops.op("log1p", ops.op("exp", ops.op("sub", low, high))), high);
      return [ops.op("where", mask, sum, p as V)];
    };
    const r = b.scan([x], b.wrapDim(a.int("dim"), rank), combine);
    return r?.[0] ?? fallback("aten.logcumsumexp.default", ["self"], ["self", "dim"])(b, a);
  },
  derivative: each({
    self: (b, c) => {
      const f = aten(b);
      const [result, x, dim, g] = [c.result(), c.args.tensor("self"), c.args.int("dim"), c.grad()];
      const { dtype, device } = b.meta(g);
      const lowest = scalarTensor(b, fl(LOWEST[dtype] ?? -Infinity), dtype, device);
      const log = f("log.default", f("abs.default", g));
      const positive = f("where.self", f("gt.Scalar", g, 0), log, lowest);
      const negative = f("where.self", f("lt.Scalar", g, 0), log, lowest);
      const part = (t: typeof g): typeof g => {
        const scanned = reversed(b, f("sub.Tensor", t, result), dim, y => f("logcumsumexp.default", y, dim));
        return f("exp.default", f("add.Tensor", scanned, x));
      };
      const first = part(positive);
      return f("sub.Tensor", first, part(negative));
    },
  }),
};

const LOWEST: Partial<Record<DType, number>> = {
  float16: -65504,
  bfloat16: -3.3895313892515355e38,
  float32: -3.4028234663852886e38,
  float64: -Number.MAX_VALUE,
};

/** cummax and cummin: values with the index of the last best one */
function cumulativeExtreme(packet: "cummax" | "cummin"): OpRecord {
  const name = `aten.${packet}.default`;
  return {
    name,
    schema: `${packet}(Tensor self, int dim) -> (Tensor values, Tensor indices)`,
    python: spell(packet),
    meta: (m, a) => {
      const x = a.tensor("self");
      return [scanMeta(m, x, a.int("dim"), x.dtype), scanMeta(m, x, a.int("dim"), "int64")];
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      const size = b.size(x);
      if (size.length === 0) return [b.clone(x), b.constant(0, "int64", b.device(x), [])];
      const dim = b.wrapDim(a.int("dim"), size.length);
      const index = b.pointwise({
        size,
        dtype: "int64",
        device: b.device(x),
        body: (ops, i) => ops.indexExpr(i[dim] ?? b.int(0), "int64"),
      });
      const r = b.scan([x, index], dim, extremeCombine(packet === "cummax", isFloatDType(b.dtype(x))));
      return r ?? fallbackMany(name, ["self"], ["self", "dim"])(b, a);
    },
    derivative: each({
      self: (b, c) => {
        const x = c.args.tensor("self");
        const indices = c.result(1);
        return aten(b)(
          "scatter_add.default",
          filledWith(b, "zeros", b.meta(x).shape, b.meta(c.grad(0))),
          c.args.int("dim"),
          indices,
          c.grad(0),
        );
      },
    }),
  };
}

/** the better of two (value, index) pairs; NaN is best, ties go to the later index */
function extremeCombine(max: boolean, float: boolean): <V>(ops: Ops<V>, p: V[], q: V[]) => V[] {
  return <V>(ops: Ops<V>, [pv, pi]: V[], [qv, qi]: V[]): V[] => {
    const [a, b] = [pv as V, qv as V];
    let better = ops.op(max ? "gt" : "lt", a, b);
    let equal = ops.op("eq", a, b);
    if (float) {
      const [aNan, bNan] = [ops.op("ne", a, a), ops.op("ne", b, b)];
      better = ops.op("logical_or", better, ops.op("gt", aNan, bNan));
      equal = ops.op("logical_or", equal, ops.op("logical_and", aNan, bNan));
    }
    const later = ops.op("gt", pi as V, qi as V);
    const mask = ops.op("logical_or", better, ops.op("logical_and", equal, later));
    return [ops.op("where", mask, a, b), ops.op("where", mask, pi as V, qi as V)];
  };
}

const sortMeta: OpRecord["meta"] = (m, a) => {
  const x = a.tensor("self");
  m.wrapDim(a.int("dim"), x.shape.length);
  return [m.elementwise(x.dtype, x), m.elementwise("int64", x)];
};

function lowerSort<B>(b: LoweringBuilder<B>, a: Args<B>, stable: boolean): (B | null)[] {
  const x = a.tensor("self");
  const size = b.size(x);
  if (size.length === 0) return [b.clone(x), b.constant(0, "int64", b.device(x), [])];
  const dim = b.wrapDim(a.int("dim"), size.length);
  const descending = a.bool("descending");
  const r = b.sort(x, dim, { stable, descending });
  if (r !== null) return [r.values, b.toDtype(r.indices, "int64")];
  return b.externMany({
    kernel: "torch.ops.aten.sort.stable",
    op: "aten.sort.stable",
    inputs: [x],
    args: [x],
    kwargs: { stable, dim, descending },
  });
}

/** gradient of values that were moved along a dim */
const movedValues = each({
  self: (b, c) => valueSelectingBackward(b, c.grad(0), c.args.tensor("self"), c.result(1), c.args.int("dim"), true),
});

const sorts: OpRecord[] = [
  {
    name: "aten.sort.default",
    schema: "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    python: spell("sort"),
    meta: sortMeta,
    lower: (b, a) => lowerSort(b, a, false),
    derivative: movedValues,
  },
  {
    name: "aten.sort.stable",
    schema:
      "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    python: spell("sort"),
    meta: sortMeta,
    lower: (b, a) => lowerSort(b, a, a.optBool("stable") ?? false),
    derivative: movedValues,
  },
  composed({
    name: "aten.argsort.default",
    schema: "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    python: spell("argsort"),
    composite: (b, a) => second(b, "aten.sort.default", [a.tensor("self"), a.raw("dim"), a.raw("descending")]),
  }),
  composed({
    name: "aten.argsort.stable",
    schema: "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    python: spell("argsort"),
    composite: (b, a) =>
      second(b, "aten.sort.stable", [a.tensor("self")], {
        stable: a.bool("stable"),
        dim: a.int("dim"),
        descending: a.bool("descending"),
      }),
  }),
  composed({
    name: "aten.msort.default",
    schema: "msort(Tensor self) -> Tensor",
    python: spell("msort"),
    composite: (b, a) => b.callMany("aten.sort.default", [a.tensor("self"), 0])[0] as never,
  }),
  {
    name: "aten.topk.default",
    schema:
      "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    python: spell("topk"),
    meta: (m, a) => {
      const [x, k] = [a.tensor("self"), a.dim("k")];
      const dim = m.wrapDim(a.int("dim"), x.shape.length);
      const size = x.shape[dim];
      if (size !== undefined && !m.le(k, size)) return m.fail("selected index k out of range");
      const shape = x.shape.map((s, i) => (i === dim ? k : s));
      return [m.tensor(shape, x), m.tensor(shape, { dtype: "int64", device: x.device })];
    },
    lower: fallbackMany("aten.topk.default", ["self"], ["self", "k", "dim", "largest", "sorted"]),
    derivative: movedValues,
  },
  {
    name: "aten.kthvalue.default",
    schema: "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    python: spell("kthvalue"),
    meta: (m, a) => {
      const [x, dim, keepdim] = [a.tensor("self"), [a.int("dim")], a.bool("keepdim")];
      return [reducedMeta(m, x, dim, keepdim), reducedMeta(m, x, dim, keepdim, "int64")];
    },
    lower: fallbackMany("aten.kthvalue.default", ["self"], ["self", "k", "dim", "keepdim"]),
    derivative: pickedValues,
  },
];

function second<T>(
  b: GraphBuilder<T>,
  op: string,
  args: readonly ArgValue<T>[],
  kwargs: Record<string, ArgValue<T>> = {},
): T {
  return b.callMany(op, args, kwargs)[1] as T;
}

const diff = composed({
  name: "aten.diff.default",
  schema: "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
  python: spell("diff"),
  composite: (b, a) => {
    const f = aten(b);
    const dim = a.int("dim");
    const parts = [a.optTensor("prepend"), a.tensor("self"), a.optTensor("append")].filter(t => t !== null);
    let x = parts.length > 1 ? f("cat.default", parts as never, dim) : a.tensor("self");
    for (let i = 0; i < a.int("n"); i++) {
      const { shape, dtype } = b.meta(x);
      const size = shape[b.wrapDim(dim, shape.length)] ?? b.int(0);
      const before = f("slice.Tensor", x, dim, 0, b.sub(size, 1));
      const after = f("slice.Tensor", x, dim, 1, size);
      x = f(dtype === "bool" ? "logical_xor.default" : "sub.Tensor", after, before);
    }
    return x;
  },
});

/** sizes that only the data decides */
const dataDependent: OpRecord[] = [
  {
    name: "aten._unique2.default",
    schema:
      "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    tags: ["data_dependent"],
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => uniqueMeta(m, a, null),
    lower: fallbackMany("aten._unique2.default", ["self"], ["self", "sorted", "return_inverse", "return_counts"]),
  },
  {
    name: "aten.unique_dim.default",
    schema:
      "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    tags: ["data_dependent"],
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => uniqueMeta(m, a, a.int("dim")),
    lower: fallbackMany(
      "aten.unique_dim.default",
      ["self"],
      ["self", "dim", "sorted", "return_inverse", "return_counts"],
    ),
  },
  {
    name: "aten.unique_consecutive.default",
    schema:
      "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
    tags: ["data_dependent"],
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => uniqueMeta(m, a, a.optInt("dim")),
    lower: fallbackMany(
      "aten.unique_consecutive.default",
      ["self"],
      ["self", "return_inverse", "return_counts", "dim"],
    ),
  },
  uniqueFunction("unique", ", bool sorted=True", (b, a) => {
    const flags = [a.raw("sorted"), a.raw("return_inverse"), a.raw("return_counts")];
    return a.has("dim")
      ? b.callMany("aten.unique_dim.default", [a.tensor("input"), a.raw("dim"), ...flags])
      : b.callMany("aten._unique2.default", [a.tensor("input"), ...flags]);
  }),
  uniqueFunction("unique_consecutive", "", (b, a) =>
    b.callMany("aten.unique_consecutive.default", [
      a.tensor("input"),
      a.raw("return_inverse"),
      a.raw("return_counts"),
      a.raw("dim"),
    ]),
  ),
  {
    name: "aten.histc.default",
    schema: "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    python: spell("histc"),
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => m.tensor([a.int("bins")], a.tensor("self")),
    lower: fallback("aten.histc.default", ["self"], ["self", "bins", "min", "max"]),
  },
];

function uniqueMeta(m: MetaBuilder, a: Args<TensorMeta>, dim: number | null): TensorMeta[] {
  const x = a.tensor("self");
  const found = m.unbacked();
  const d = dim === null ? null : m.wrapDim(dim, x.shape.length);
  const values =
    d === null
      ? m.tensor([found], x)
      : m.tensor(
          x.shape.map((s, i) => (i === d ? found : s)),
          x,
        );
  const long = { dtype: "int64" as const, device: x.device };
  const inverse = a.bool("return_inverse")
    ? m.tensor(d === null ? x.shape : [x.shape[d] ?? 0], long)
    : m.tensor([0], long);
  return [values, inverse, a.bool("return_counts") ? m.tensor([found], long) : m.tensor([0], long)];
}

/** torch.unique: the values, with inverse and counts where they are asked for */
function uniqueFunction(name: string, parameters: string, call: <T>(b: GraphBuilder<T>, a: Args<T>) => T[]): OpRecord {
  return composed({
    name: `torch.${name}.default`,
    schema: `${name}(Tensor input${parameters}, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor`,
    python: [`torch.${name}`, `Tensor.${name}`],
    printedAs: `torch.functional.${name}`,
    tags: ["data_dependent"],
    composite: (b, a) => {
      const [values, inverse, counts] = call(b, a);
      const wanted = [
        values,
        a.bool("return_inverse") ? inverse : undefined,
        a.bool("return_counts") ? counts : undefined,
      ];
      const results = wanted.filter(t => t !== undefined);
      return results.length === 1 ? (results[0] as (typeof results)[0]) : results;
    },
  });
}

export const records: readonly OpRecord[] = [
  cumulative("cumsum", "add"),
  cumulative("cumprod", "mul"),
  logCumSumExp,
  cumulativeExtreme("cummax"),
  cumulativeExtreme("cummin"),
  ...sorts,
  diff,
  ...dataDependent,
];
