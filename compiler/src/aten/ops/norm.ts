// Normalisation over trailing dims and over groups of channels: layer_norm, rms_norm, group_norm and their gradients.
import {
  type Args,
  type ArgValue,
  type DerivativeContext,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  MemoryFormatArg,
  type OpRecord,
} from "../types";
import { aten, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { composed, looksChannelsLast } from "./helpers/shape";
import { full, opmath, quotient, sumDims, toDtype } from "./helpers/trace";

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** dims that normalized_shape covers, checked against the input */
function normalizedDims<T>(b: GraphBuilder<T>, x: T, shape: readonly Dim[], what: string): number[] {
  const size = b.meta(x).shape;
  const first = size.length - shape.length;
  if (shape.length === 0)
    return b.fail(
      `Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []`,
    );
  if (first < 0 || shape.some((s, i) => !b.eq(s, size[first + i] ?? s))) {
    const text = (dims: readonly Dim[]): string => dims.map(d => b.hint(d)).join(", ");
    return b.fail(
      `Given normalized_shape=[${text(shape)}], expected input with shape [*, ${text(shape)}], but got input of size[${text(size)}]${what}`,
    );
  }
  return range(first, size.length);
}

/** x.to(dtype, memory_format=contiguous), as the reference gradients start: null stays null */
function contiguousCast<T>(b: GraphBuilder<T>, x: T | null, dtype: DType): T | null {
  if (x === null) return null;
  return b.call("aten.to.dtype", [x, new DTypeArg(dtype), false, false, new MemoryFormatArg("contiguous_format")]);
}

const castBack = <T>(b: GraphBuilder<T>, x: T | null, like: T | null): T | null =>
  x === null || like === null ? x : toDtype(b, x, b.meta(like).dtype);

const nativeLayerNorm: OpRecord = {
  name: "aten.native_layer_norm.default",
  schema:
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
  python: ["torch.native_layer_norm"],
  nonDifferentiable: [1, 2],
  meta: (m, a) => {
    const x = a.tensor("input");
    const dims = normalizedDims(m, x, a.dims("normalized_shape"), "");
    const stats = x.shape.map((s, i) => (dims.includes(i) ? m.int(1) : s));
    const stat = m.tensor(stats, { dtype: x.device.type === "cpu" ? x.dtype : opmath(x.dtype), device: x.device });
    return [m.tensor(x.shape, x), stat, stat];
  },
  decompose: (b, a) => {
    const f = aten(b);
    const input = a.tensor("input");
    const { dtype, device } = b.meta(input);
    const dims = normalizedDims(b, input, a.dims("normalized_shape"), "");
    const [own, weight, bias] = [input, a.optTensor("weight"), a.optTensor("bias")].map(t =>
      t === null ? null : f("contiguous.default", t),
    ) as [typeof input, typeof input | null, typeof input | null];
    const x = toDtype(b, own, opmath(dtype));
    const { out, mean, rstd } = normalize(b, x, dims, a.number("eps"));
    let y = out;
    if (weight !== null) y = f("mul.Tensor", y, weight);
    if (bias !== null) y = f("add.Tensor", y, bias);
    const result = toDtype(b, y, dtype);
    if (device.type !== "cpu") return [result, mean, rstd];
    return [result, toDtype(b, mean, dtype), toDtype(b, rstd, dtype)];
  },
  derivative: {
    kind: "joint",
    of: ["input", "weight", "bias"],
    grads: (b, c) => {
      const [mean, rstd] = [c.result(1), c.result(2)];
      const names = ["input", "weight", "bias"] as const;
      const mask = names.map(n => c.needs(n));
      const grads = b.callMany("aten.native_layer_norm_backward.default", [
        c.grad(0),
        c.args.tensor("input"),
        c.args.dims("normalized_shape"),
        mean,
        rstd,
        c.args.optTensor("weight"),
        c.args.optTensor("bias"),
        mask,
      ]);
      return Object.fromEntries(names.map((n, i) => [n, mask[i] ? (grads[i] ?? null) : null]));
    },
  },
};

/** (x - mean) * rstd over dims, with the statistics kept as size 1 */
function normalize<T>(b: GraphBuilder<T>, x: T, dims: readonly number[], eps: number): { out: T; mean: T; rstd: T } {
  const f = aten(b);
  const [variance, mean] = b.callMany("aten.var_mean.correction", [x, dims], { correction: 0, keepdim: true }) as [
    T,
    T,
  ];
  const rstd = f("rsqrt.default", f("add.Tensor", variance, fl(eps)));
  const out = f("mul.Tensor", f("sub.Tensor", x, mean), rstd);
  return { out, mean, rstd };
}

function count<T>(b: GraphBuilder<T>, x: T, dims: readonly number[]): ArgValue<T> {
  const { shape } = b.meta(x);
  const n = b.product(dims.map(d => shape[d] ?? b.int(1)));
  return b.static(n) ?? n;
}

const nativeLayerNormBackward: OpRecord = {
  name: "aten.native_layer_norm_backward.default",
  schema:
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => {
    const mask = a.raw("output_mask") as readonly boolean[];
    const all = [a.tensor("input"), a.optTensor("weight"), a.optTensor("bias")];
    return all.map((t, i) => (mask[i] && t !== null ? m.tensor(t.shape, t) : null));
  },
  decompose: (b, a) => {
    const f = aten(b);
    const [input, weight, bias] = [a.tensor("input"), a.optTensor("weight"), a.optTensor("bias")];
    const mask = a.raw("output_mask") as readonly boolean[];
    const compute = opmath(b.meta(input).dtype);
    const [g, x, w] = [a.tensor("grad_out"), input, weight, bias].map(t => contiguousCast(b, t, compute)) as [
      typeof input,
      typeof input,
      typeof input | null,
    ];
    const rank = b.meta(input).shape.length;
    const first = rank - a.dims("normalized_shape").length;
    const [outer, inner] = [range(0, first), range(first, rank)];
    const n = count(b, input, inner);
    const [mean, rstd] = [a.tensor("mean"), a.tensor("rstd")];
    const xhat = f("mul.Tensor", f("sub.Tensor", x, mean), rstd);
    const gxhat = w === null ? g : f("mul.Tensor", g, w);
    const scaled = f("mul.Tensor", gxhat, n);
    const total = sumDims(b, gxhat, inner, true);
    const projected = sumDims(b, f("mul.Tensor", gxhat, xhat), inner, true);
    const along = f("mul.Tensor", xhat, projected);
    const rest = f("sub.Tensor", f("sub.Tensor", scaled, total), along);
    let [dx, dw, db]: (typeof input | null)[] = [null, null, null];
    if (mask[0]) dx = f("mul.Tensor", f("div.Tensor", rstd, n), rest);
    if (mask[1] && weight !== null) {
      const product = f("mul.Tensor", g, xhat);
      dw = outer.length > 0 ? sumDims(b, product, outer) : product;
    }
    if (mask[2] && bias !== null) db = outer.length > 0 ? sumDims(b, g, outer) : f("clone.default", g);
    return [castBack(b, dx ?? null, input), castBack(b, dw ?? null, weight), castBack(b, db ?? null, bias)];
  },
};

const layerNorms: OpRecord[] = [
  composed({
    name: "aten.layer_norm.default",
    schema:
      "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    python: ["torch.layer_norm"],
    composite: (b, a) => layerNorm(b, a),
  }),
  composed({
    name: "torch.nn.functional.layer_norm.default",
    schema:
      "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
    python: ["torch.nn.functional.layer_norm"],
    composite: (b, a) => layerNorm(b, a),
  }),
];

function layerNorm<T>(b: GraphBuilder<T>, a: Args<T>): T {
  return b.callMany("aten.native_layer_norm.default", [
    a.tensor("input"),
    a.dims("normalized_shape"),
    a.optTensor("weight"),
    a.optTensor("bias"),
    fl(a.number("eps")),
  ])[0] as T;
}

const EPSILON: Partial<Record<DType, number>> = {
  float64: 2.220446049250313e-16,
  float32: 1.1920928955078125e-7,
  float16: 0.0009765625,
  bfloat16: 0.0078125,
};

/** dims that rms_norm reduces, last first */
const rmsDims = (rank: number, covered: number): number[] => range(0, covered).map(i => rank - 1 - i);

/**
 * What the statistics' own gradients add to that of the input, for x in groups of `count` elements:
 * d mean = 1/count, d rstd = -rstd^3 (x - mean) / count. Null: nothing reads the statistics.
 */
function throughStatistics<T>(
  b: GraphBuilder<T>,
  x: T,
  stats: { readonly mean: T | null; readonly rstd: T },
  grads: { readonly mean: T | null; readonly rstd: T | null },
  count: Dim,
): T | null {
  const f = aten(b);
  let sum: T | null = null;
  if (grads.rstd !== null) {
    const centred = stats.mean === null ? x : f("sub.Tensor", x, stats.mean);
    const slope = f("neg.default", f("mul.Tensor", f("pow.Tensor_Scalar", stats.rstd, 3), grads.rstd));
    sum = f("mul.Tensor", centred, f("div.Scalar", slope, count));
  }
  if (grads.mean === null) return sum;
  const mean = f("expand.default", f("div.Scalar", grads.mean, count), b.meta(x).shape);
  return sum === null ? mean : f("add.Tensor", sum, mean);
}

/** the gradients with `more` added to the input's; an output without a gradient contributes none of its own */
function addToFirst<T>(b: GraphBuilder<T>, grads: readonly (T | null)[], none: boolean, more: T | null): (T | null)[] {
  const [first, ...others] = grads;
  if (more === null || first === undefined) return [...grads];
  const sum = first === null || none ? more : b.call("aten.add.Tensor", [first, more]);
  return [sum, ...others];
}

const fusedRmsNorm: OpRecord = {
  name: "aten._fused_rms_norm.default",
  schema: "_fused_rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
  meta: (m, a) => {
    const x = a.tensor("input");
    const dims = normalizedDims(m, x, a.dims("normalized_shape"), "");
    const stats = x.shape.map((s, i) => (dims.includes(i) ? m.int(1) : s));
    return [m.elementwise(x.dtype, x), m.tensor(stats, { dtype: opmath(x.dtype), device: x.device })];
  },
  decompose: (b, a) => {
    const f = aten(b);
    const input = a.tensor("input");
    const { dtype, shape } = b.meta(input);
    const eps = a.optNumber("eps") ?? EPSILON[opmath(dtype)] ?? 0;
    const x = toDtype(b, input, opmath(dtype));
    const dims = rmsDims(shape.length, a.dims("normalized_shape").length);
    const square = f("mean.dim", f("pow.Tensor_Scalar", x, 2), dims, true);
    const rstd = f("rsqrt.default", f("add.Scalar", square, fl(eps)));
    let y = f("mul.Tensor", x, rstd);
    const weight = a.optTensor("weight");
    if (weight !== null) y = f("mul.Tensor", y, weight);
    const results = looksChannelsLast(b, b.meta(input)) ? [y, rstd] : [y, rstd].map(t => f("contiguous.default", t));
    return [toDtype(b, results[0] as typeof y, dtype), results[1] as typeof y];
  },
  derivative: {
    kind: "joint",
    of: ["input", "weight"],
    grads: (b, c) => {
      const rstd = c.result(1);
      const names = ["input", "weight"] as const;
      const mask = names.map(n => c.needs(n));
      const grads = b.callMany("aten._fused_rms_norm_backward.default", [
        c.grad(0),
        c.args.tensor("input"),
        c.args.dims("normalized_shape"),
        rstd,
        c.args.optTensor("weight"),
        mask,
      ]);
      const x = c.args.tensor("input");
      const count = b.product(c.args.dims("normalized_shape"));
      const stats = throughStatistics(b, x, { mean: null, rstd }, { mean: null, rstd: c.optGrad(1) }, count);
      const all = addToFirst(b, grads, c.optGrad(0) === null, stats);
      return Object.fromEntries(names.map((n, i) => [n, mask[i] ? (all[i] ?? null) : null]));
    },
  },
};

const fusedRmsNormBackward: OpRecord = {
  name: "aten._fused_rms_norm_backward.default",
  schema:
    "_fused_rms_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor rstd, Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => {
    const mask = a.raw("output_mask") as readonly boolean[];
    const all = [a.tensor("input"), a.optTensor("weight")];
    return all.map((t, i) => (mask[i] && t !== null ? m.tensor(t.shape, t) : null));
  },
  decompose: (b, a) => {
    const f = aten(b);
    const [input, weight] = [a.tensor("input"), a.optTensor("weight")];
    const mask = a.raw("output_mask") as readonly boolean[];
    const compute = opmath(b.meta(input).dtype);
    const [g, x, w] = [a.tensor("grad_out"), input, weight].map(t => contiguousCast(b, t, compute)) as [
      typeof input,
      typeof input,
      typeof input | null,
    ];
    const rank = b.meta(input).shape.length;
    const first = rank - a.dims("normalized_shape").length;
    const [outer, inner] = [range(0, first), range(first, rank)];
    const rstd = a.tensor("rstd");
    const gxhat = w === null ? g : f("mul.Tensor", g, w);
    const xhat = f("mul.Tensor", x, rstd);
    let [dx, dw]: (typeof input | null)[] = [null, null];
    const projected = sumDims(b, f("mul.Tensor", xhat, gxhat), inner, true);
    const along = f("mul.Tensor", f("div.Tensor", xhat, count(b, input, inner)), projected);
    if (mask[0]) dx = f("mul.Tensor", f("sub.Tensor", gxhat, along), rstd);
    if (mask[1] && weight !== null) {
      const product = f("mul.Tensor", g, xhat);
      dw = outer.length > 0 ? sumDims(b, product, outer) : product;
    }
    return [castBack(b, dx ?? null, input), castBack(b, dw ?? null, input)];
  },
};

const rmsNorm = composed({
  name: "aten.rms_norm.default",
  schema: "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
  python: ["torch.rms_norm", "torch.nn.functional.rms_norm"],
  printedAs: "torch.rms_norm",
  composite: (b, a) => {
    const f = aten(b);
    const [x, weight] = [a.tensor("input"), a.optTensor("weight")];
    const { dtype, device, shape } = b.meta(x);
    const mixed = weight !== null && b.meta(weight).dtype !== dtype;
    if (device.type === "cuda" && !mixed) {
      return b.callMany("aten._fused_rms_norm.default", [
        x,
        a.dims("normalized_shape"),
        weight,
        a.raw("eps"),
      ])[0] as typeof x;
    }
    // composed of differentiable operators, eps in the arithmetic type
    normalizedDims(b, x, a.dims("normalized_shape"), "");
    const compute = opmath(dtype);
    const given = a.optNumber("eps") ?? EPSILON[compute] ?? 0;
    const up = compute === dtype ? x : f("to.dtype", x, new DTypeArg(compute));
    const dims = rmsDims(shape.length, a.dims("normalized_shape").length);
    const square = f("mean.dim", f("pow.Tensor_Scalar", up, 2), dims, true);
    const eps = compute === "float32" ? Math.fround(given) : given;
    let y = f("mul.Tensor", up, f("rsqrt.default", f("add.Scalar", square, fl(eps))));
    if (weight !== null) y = f("mul.Tensor", y, weight);
    return f("to.dtype", y, new DTypeArg(dtype));
  },
});

const nativeGroupNorm: OpRecord = {
  name: "aten.native_group_norm.default",
  schema:
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
  python: ["torch.native_group_norm"],
  meta: (m, a) => {
    const x = a.tensor("input");
    const stat = m.tensor([a.dim("N"), a.int("group")], x);
    return [m.tensor(x.shape, x), stat, stat];
  },
  decompose: (b, a) => {
    const f = aten(b);
    const input = a.tensor("input");
    const { dtype, shape } = b.meta(input);
    const x = toDtype(b, input, opmath(dtype));
    const grouped = f("view.default", x, groupShape(b, a, a.dim("HxW")));
    const { out, mean, rstd } = normalize(b, grouped, [2, 3], a.number("eps"));
    let y = f("view.default", out, shape);
    const spread = (t: typeof y): typeof y =>
      [0, ...range(2, shape.length)].reduce((s, d) => f("unsqueeze.default", s, d), t);
    const [weight, bias] = [a.optTensor("weight"), a.optTensor("bias")];
    if (weight !== null) y = f("mul.Tensor", y, spread(weight));
    if (bias !== null) y = f("add.Tensor", y, spread(bias));
    const result = toDtype(b, y, dtype);
    const stats = [toDtype(b, mean, dtype), toDtype(b, rstd, dtype)];
    return [result, ...stats.map(t => f("squeeze.dims", t, [2, 3]))];
  },
  derivative: {
    kind: "joint",
    of: ["input", "weight", "bias"],
    grads: (b, c) => {
      const [mean, rstd] = [c.result(1), c.result(2)];
      const names = ["input", "weight", "bias"] as const;
      const mask = names.map(n => c.needs(n));
      const grads = b.callMany("aten.native_group_norm_backward.default", [
        c.grad(0),
        c.args.tensor("input"),
        mean,
        rstd,
        c.args.optTensor("weight"),
        c.args.raw("N"),
        c.args.raw("C"),
        c.args.raw("HxW"),
        c.args.raw("group"),
        mask,
      ]);
      const all = addToFirst(b, grads, c.optGrad(0) === null, groupStatistics(b, c, mean, rstd));
      return Object.fromEntries(names.map((n, i) => [n, mask[i] ? (all[i] ?? null) : null]));
    },
  },
};

function groupStatistics<T>(b: GraphBuilder<T>, c: DerivativeContext<T>, mean: T, rstd: T): T | null {
  const [dMean, dRstd] = [c.optGrad(1), c.optGrad(2)];
  if (dMean === null && dRstd === null) return null;
  const f = aten(b);
  const x = c.args.tensor("input");
  const { dtype, shape } = b.meta(x);
  const wide = (t: T | null): T | null =>
    t === null ? null : f("unsqueeze.default", f("unsqueeze.default", toDtype(b, t, opmath(dtype)), -1), -1);
  const [hw, c1] = [c.args.dim("HxW"), b.floordiv(c.args.dim("C"), c.args.int("group"))];
  const grouped = f("view.default", toDtype(b, x, opmath(dtype)), groupShape(b, c.args, hw));
  const stats = { mean: wide(mean), rstd: wide(rstd) as T };
  const sum = throughStatistics(b, grouped, stats, { mean: wide(dMean), rstd: wide(dRstd) }, b.mul(hw, c1));
  return sum === null ? null : toDtype(b, f("view.default", sum, shape), dtype);
}

/** [N, groups, C / groups, rest...] */
function groupShape<T>(b: GraphBuilder<T>, a: Args<T>, ...rest: Dim[]): ArgValue<T> {
  const group = a.int("group");
  return [a.dim("N"), group, b.floordiv(a.dim("C"), group), ...rest];
}

const nativeGroupNormBackward: OpRecord = {
  name: "aten.native_group_norm_backward.default",
  schema:
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => {
    const mask = a.raw("output_mask") as readonly boolean[];
    const x = a.tensor("input");
    const channel = m.tensor([a.dim("C")], x);
    return [mask[0] ? m.tensor(x.shape, x) : null, mask[1] ? channel : null, mask[2] ? channel : null];
  },
  decompose: (b, a) => {
    const f = aten(b);
    const input = a.tensor("input");
    const weight = a.optTensor("weight");
    const mask = a.raw("output_mask") as readonly boolean[];
    const { dtype, shape, device } = b.meta(input);
    const compute = opmath(dtype);
    const up = (t: typeof input): typeof input => toDtype(b, t, compute);
    const [g, x, mean, rstd] = [a.tensor("grad_out"), input, a.tensor("mean"), a.tensor("rstd")].map(up) as [
      typeof input,
      typeof input,
      typeof input,
      typeof input,
    ];
    const w = weight === null ? null : up(weight);
    const [n, c, hw] = [a.dim("N"), a.dim("C"), a.dim("HxW")];
    const group = a.int("group");
    const perGroup = b.floordiv(c, group);
    const channels = [n, c, hw];
    const groups = [n, group, perGroup];
    const ds = sumDims(b, f("view.default", f("mul.Tensor", g, x), channels), [2]);
    const db = sumDims(b, f("view.default", g, channels), [2]);
    let [dx, dw, dbias]: (typeof input | null)[] = [null, null, null];
    if (mask[0]) {
      const s = quotient(b, 1, b.mul(hw, perGroup));
      const perGroupSum = (t: typeof input): typeof input =>
        sumDims(b, f("view.default", w === null ? t : f("mul.Tensor", t, f("unsqueeze.default", w, 0)), groups), [2]);
      const [dsSum, dbSum] = [perGroupSum(ds), perGroupSum(db)];
      const spread = f("unsqueeze.default", rstd, -1);
      const ofWeight =
        w === null
          ? full(b, [1, group, perGroup], 1, b.meta(rstd).dtype, device)
          : f("view.default", w, [1, group, perGroup]);
      const c1 = f("mul.Tensor", spread, ofWeight);
      const product = (...ts: ArgValue<typeof input>[]): typeof input =>
        ts.slice(1).reduce<typeof input>((p, t) => f("mul.Tensor", p, t as typeof input), ts[0] as typeof input);
      const centred = f("sub.Tensor", f("mul.Tensor", dbSum, mean), dsSum);
      const c2 = product(centred, rstd, rstd, rstd, s);
      const left = f("mul.Tensor", f("neg.default", c2), mean);
      const c3 = f("sub.Tensor", left, product(dbSum, rstd, s));
      const last = (t: typeof input): typeof input => f("unsqueeze.default", t, -1);
      const [e1, e2, e3] = [last(c1), last(last(c2)), last(last(c3))];
      const whole = [n, group, perGroup, hw];
      const first = f("mul.Tensor", f("view.default", g, whole), e1);
      const second = f("mul.Tensor", f("view.default", x, whole), e2);
      dx = f("view.default", f("add.Tensor", f("add.Tensor", first, second), e3), shape);
    }
    if (mask[1]) {
      const [dsGroups, dbGroups] = [f("view.default", ds, groups), f("view.default", db, groups)];
      const scaled = f("mul.Tensor", dbGroups, f("unsqueeze.default", mean, -1));
      const centred = f("sub.Tensor", dsGroups, scaled);
      const product = f("mul.Tensor", centred, f("unsqueeze.default", rstd, -1));
      dw = f("view.default", sumDims(b, product, [0]), [c]);
    }
    if (mask[2]) dbias = sumDims(b, db, [0]);
    return [dx, dw, dbias].map(t => (t === null || t === undefined ? null : toDtype(b, t, dtype)));
  },
};

/** each value over a power of the mean square of the channels around it */
const localResponseNorm = composed({
  name: "torch.nn.functional.local_response_norm.default",
  schema: "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor",
  python: ["torch.nn.functional.local_response_norm"],
  composite: (b, a) => {
    const f = aten(b);
    const [x, size] = [a.tensor("input"), a.int("size")];
    const { shape } = b.meta(x);
    const [n, c, length] = shape;
    if (n === undefined || c === undefined || length === undefined) {
      return b.fail(`Expected 3D or higher dimensionality input (got ${shape.length} dimensions)`, "ValueError");
    }
    const around = [Math.floor(size / 2), Math.floor((size - 1) / 2)];
    const squares = f("mul.Tensor", x, x);
    let mean: typeof x;
    if (shape.length === 3) {
      const padded = f("constant_pad_nd.default", f("unsqueeze.default", squares, 1), [0, 0, ...around], fl(0));
      mean = f("squeeze.dim", f("avg_pool2d.default", padded, [size, 1], [1, 1]), 1);
    } else {
      const rows = f("view.default", squares, [n, 1, c, length, -1]);
      const padded = f("constant_pad_nd.default", rows, [0, 0, 0, 0, ...around], fl(0));
      const pooled = f("squeeze.dim", f("avg_pool3d.default", padded, [size, 1, 1], [1, 1, 1]), 1);
      mean = f("view.default", pooled, shape);
    }
    const scaled = f("add.Tensor", f("mul.Tensor", mean, fl(a.number("alpha"))), fl(a.number("k")));
    return f("div.Tensor", x, f("pow.Tensor_Scalar", scaled, fl(a.number("beta"))));
  },
});

const groupNorms: OpRecord[] = (["aten.group_norm.default", "torch.nn.functional.group_norm.default"] as const).map(
  name =>
    composed({
      name,
      schema: `group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05${name.startsWith("aten") ? ", bool cudnn_enabled=True" : ""}) -> Tensor`,
      python: [name.startsWith("aten") ? "torch.group_norm" : "torch.nn.functional.group_norm"],
      composite: (b, a) => {
        const f = aten(b);
        const x = a.tensor("input");
        const { shape } = b.meta(x);
        const groups = a.int("num_groups");
        const [n, c, ...rest] = shape;
        if (n === undefined || c === undefined) {
          return b.fail(`Expected at least 2 dimensions for input tensor but received ${shape.length}`);
        }
        if (!b.eq(b.mod(c, groups), 0)) {
          return b.fail(
            `Expected number of channels in input to be divisible by num_groups, but got input of shape [${shape.map(d => b.hint(d)).join(", ")}] and num_groups=${groups}`,
          );
        }
        return b.callMany("aten.native_group_norm.default", [
          f("contiguous.default", x),
          a.optTensor("weight"),
          a.optTensor("bias"),
          n,
          c,
          b.product(rest),
          groups,
          fl(a.number("eps")),
        ])[0] as typeof x;
      },
    }),
);

export const records: readonly OpRecord[] = [
  nativeLayerNorm,
  nativeLayerNormBackward,
  ...layerNorms,
  fusedRmsNorm,
  fusedRmsNormBackward,
  rmsNorm,
  nativeGroupNorm,
  nativeGroupNormBackward,
  ...groupNorms,
  localResponseNorm,
];
