// batch_norm and instance_norm: statistics over all dims but the channels, running averages, and the gradient.
import {
  type Args,
  type ArgValue,
  type DerivativeContext,
  type Dim,
  type GraphBuilder,
  MemoryFormatArg,
  type MetaBuilder,
  type OpRecord,
  type PyFloat,
  type TensorMeta,
} from "../types";
import { aten, fl, masked, NOT_DIFFERENTIABLE } from "./helpers/define";
import { composed, suggestedFormat } from "./helpers/shape";
import { convert, opmath, sumDims, toDtype } from "./helpers/trace";

/** all dims but the channels */
const statDims = (rank: number): number[] => Array.from({ length: rank }, (_, i) => i).filter(d => d !== 1);

/** unsqueezed at the end until it has `rank` dims */
function unsqueezeTo<T>(b: GraphBuilder<T>, x: T, rank: number): T {
  let y = x;
  while (b.meta(y).shape.length < rank) y = b.call("aten.unsqueeze.default", [y, -1]);
  return y;
}

/** times weight plus bias, both per channel */
function affine<T>(b: GraphBuilder<T>, x: T, weight: T | null, bias: T | null): T {
  const rank = b.meta(x).shape.length - 1;
  let y = x;
  if (weight !== null) y = b.call("aten.mul.Tensor", [y, unsqueezeTo(b, weight, rank)]);
  if (bias !== null) y = b.call("aten.add.Tensor", [y, unsqueezeTo(b, bias, rank)]);
  return y;
}

interface Running<T> {
  readonly mean: T | null;
  readonly variance: T | null;
}

/** training: by the batch's own statistics. Results: output, saved mean, saved 1/std, new running mean and variance. */
function trainNodes<T>(b: GraphBuilder<T>, a: Args<T>, running: Running<T>): (T | null)[] {
  const f = aten(b);
  const input = a.tensor("input");
  const { dtype, shape } = b.meta(input);
  const dims = statDims(shape.length);
  const x = toDtype(b, input, opmath(dtype));
  const [variance, mean] = b.callMany("aten.var_mean.correction", [x, dims], { correction: 0, keepdim: true }) as [
    T,
    T,
  ];
  const rstd = f("rsqrt.default", f("add.Tensor", variance, a.float("eps")));
  const normalized = f("mul.Tensor", f("sub.Tensor", input, mean), rstd);
  const savedMean = f("squeeze.dims", mean, dims);
  const savedRstd = f("squeeze.dims", rstd, dims);
  const momentum = a.number("momentum");
  const blend = (fresh: T, old: T): T => {
    const first = f("mul.Tensor", fresh, fl(momentum));
    return f("add.Tensor", first, f("mul.Tensor", old, fl(1 - momentum)));
  };
  const newMean = running.mean === null ? null : blend(savedMean, running.mean);
  let newVariance: T | null = null;
  if (running.variance !== null) {
    const n = b.product(dims.map(d => shape[d] ?? b.int(1)));
    const known = b.static(n);
    const squeezed = f("squeeze.dims", variance, dims);
    newVariance = blend(
      f("mul.Tensor", squeezed, known === undefined ? unbiased(b, x) : fl(known / (known - 1))),
      running.variance,
    );
  }
  const out = affine(b, normalized, a.optTensor("weight"), a.optTensor("bias"));
  return [toDtype(b, out, dtype), savedMean, savedRstd, newMean, newVariance];
}

/** n / (n - 1) for the number of values of a channel, as torch works it out from symbolic sizes */
function unbiased<T>(b: GraphBuilder<T>, x: T): ArgValue<T> {
  const { shape } = b.meta(x);
  const n = b.truediv(b.product(shape), shape[1] ?? 1);
  return b.truediv(n, b.sub(n, b.real(1)));
}

/** evaluation: by the running statistics */
function evalNodes<T>(b: GraphBuilder<T>, a: Args<T>): (T | null)[] {
  const f = aten(b);
  const input = a.tensor("input");
  const { dtype, shape, device } = b.meta(input);
  const compute = opmath(dtype);
  const mean = convert(b, a.tensor("running_mean"), compute);
  const variance = convert(b, a.tensor("running_var"), compute);
  const root = f("sqrt.default", f("add.Tensor", variance, a.float("eps")));
  const inverse = f("mul.Tensor", f("reciprocal.default", root), 1);
  const rank = shape.length - 1;
  const m = unsqueezeTo(b, mean, rank);
  const s = unsqueezeTo(b, inverse, rank);
  const normalized = f("mul.Tensor", f("sub.Tensor", input, m), s);
  const out = affine(b, normalized, a.optTensor("weight"), a.optTensor("bias"));
  const saved = device.type === "cpu" ? emptyStat(b, input) : [mean, inverse];
  return [toDtype(b, out, dtype), saved[0] ?? null, saved[1] ?? null];
}

function emptyStat<T>(b: GraphBuilder<T>, input: T): T[] {
  const one = b.call("aten.new_empty.default", [input, [0]]);
  return [one, b.call("aten.new_empty.default", [input, [0]])];
}

function statMeta(m: MetaBuilder, x: TensorMeta): TensorMeta {
  return m.tensor([x.shape[1] ?? m.int(1)], { dtype: opmath(x.dtype), device: x.device });
}

/** gradients of OF, with the statistics that the forward saved */
function gradients<T>(
  b: GraphBuilder<T>,
  c: DerivativeContext<T>,
  saved: readonly [ArgValue<T>, ArgValue<T>],
  train: boolean,
  mask: readonly boolean[],
): readonly (T | null)[] {
  const { args } = c;
  const running = (name: string): ArgValue<T> => (args.has(name) ? args.raw(name) : null);
  return b.callMany("aten.native_batch_norm_backward.default", [
    c.grad(0),
    args.tensor("input"),
    args.optTensor("weight"),
    running("running_mean"),
    running("running_var"),
    ...saved,
    train,
    args.float("eps"),
    mask,
  ]);
}

const OF = ["input", "weight", "bias"] as const;

const functionalTraining: OpRecord = {
  name: "aten._native_batch_norm_legit_functional.default",
  schema:
    "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
  nonDifferentiable: [1, 2, 3, 4],
  meta: (m, a) => {
    const x = a.tensor("input");
    const stat = statMeta(m, x);
    const [mean, variance] = [a.tensor("running_mean"), a.tensor("running_var")];
    return [m.elementwise(x.dtype, x), stat, stat, m.tensor(mean.shape, mean), m.tensor(variance.shape, variance)];
  },
  decompose: (b, a) => {
    const running = { mean: a.tensor("running_mean"), variance: a.tensor("running_var") };
    if (a.bool("training")) return trainNodes(b, a, running);
    return [...evalNodes(b, a), running.mean, running.variance];
  },
  derivative: masked(OF, (b, c, mask) => gradients(b, c, [c.result(1), c.result(2)], c.args.bool("training"), mask)),
};

const noStats: OpRecord = {
  name: "aten._native_batch_norm_legit.no_stats",
  schema:
    "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
  nonDifferentiable: [1, 2],
  meta: (m, a) => {
    const x = a.tensor("input");
    const stat = statMeta(m, x);
    return [m.elementwise(x.dtype, x), stat, stat];
  },
  decompose: (b, a) => trainNodes(b, a, { mean: null, variance: null }).slice(0, 3),
  derivative: masked(OF, (b, c, mask) => gradients(b, c, [c.result(1), c.result(2)], true, mask)),
};

const noTraining: OpRecord = {
  name: "aten._native_batch_norm_legit_no_training.default",
  schema:
    "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
  nonDifferentiable: [1, 2],
  meta: (m, a) => {
    const x = a.tensor("input");
    const stat = x.device.type === "cpu" ? m.tensor([0], x) : statMeta(m, x);
    return [m.elementwise(x.dtype, x), stat, stat];
  },
  decompose: (b, a) => evalNodes(b, a),
  derivative: masked(OF, (b, c, mask) => gradients(b, c, [null, null], false, mask)),
};

const backward: OpRecord = {
  name: "aten.native_batch_norm_backward.default",
  schema:
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => {
    const mask = a.raw("output_mask") as readonly boolean[];
    const [x, weight] = [a.tensor("input"), a.optTensor("weight")];
    const channel = m.tensor([x.shape[1] ?? m.int(1)], weight ?? statMeta(m, x));
    return [mask[0] ? m.elementwise(x.dtype, x) : null, mask[1] ? channel : null, mask[2] ? channel : null];
  },
  decompose: (b, a) => {
    const f = aten(b);
    const [input, weight] = [a.tensor("input"), a.optTensor("weight")];
    const mask = a.raw("output_mask") as readonly boolean[];
    const train = a.bool("train");
    const { dtype, shape } = b.meta(input);
    const compute = opmath(dtype);
    const up = (name: string): typeof input | null => {
      const t = a.optTensor(name);
      return t === null ? null : toDtype(b, t, compute);
    };
    const [g, x] = [up("grad_out"), up("input")] as [typeof input, typeof input];
    const [w, runningMean, runningVar, savedMean, savedRstd] = [
      "weight",
      "running_mean",
      "running_var",
      "save_mean",
      "save_invstd",
    ].map(up) as (typeof input | null)[];
    const dims = statDims(shape.length);
    const features = b.product(dims.map(d => shape[d] ?? b.int(1)));
    const known = b.static(features);
    const mean = (train ? savedMean : runningMean) as typeof input;
    const invstd = train
      ? (savedRstd as typeof input)
      : f("rsqrt.default", f("add.Tensor", runningVar as typeof input, a.float("eps")));
    const spread = (t: typeof input): typeof input => dims.reduce((y, d) => f("unsqueeze.default", y, d), t);
    const wide = spread(mean);
    const norm = known === undefined ? b.truediv(b.real(1), b.truediv(b.product(shape), shape[1] ?? 1)) : fl(1 / known);
    const total = sumDims(b, g, dims);
    const dot = sumDims(b, f("mul.Tensor", g, f("sub.Tensor", x, wide)), dims);
    const gradMean = spread(f("mul.Tensor", total, norm));
    const scaled = f("mul.Tensor", dot, norm);
    const projection = spread(f("mul.Tensor", scaled, f("mul.Tensor", invstd, invstd)));
    const scale =
      w === null || w === undefined ? f("mul.Tensor", spread(invstd), fl(1)) : spread(f("mul.Tensor", invstd, w));
    let dx: typeof input;
    if (train) {
      const along = f("mul.Tensor", f("sub.Tensor", x, wide), projection);
      dx = f("mul.Tensor", f("sub.Tensor", f("sub.Tensor", g, along), gradMean), scale);
    } else dx = f("mul.Tensor", g, scale);
    const dw = mask[1] ? f("mul.Tensor", dot, invstd) : null;
    const like = weight === null ? compute : b.meta(weight).dtype;
    return [
      mask[0] ? toDtype(b, dx, dtype) : null,
      dw === null ? null : toDtype(b, dw, like),
      mask[2] ? toDtype(b, total, like) : null,
    ];
  },
};

const ASSIGN = "fuselens.assign_.default";

/** a new value for a tensor that autograd does not follow: running statistics are written without a node */
const assigns: OpRecord[] = [
  {
    name: ASSIGN,
    schema: "assign_(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    tags: ["inplace"],
    functional: "fuselens.assign.default",
    meta: (_m, a) => a.tensor("self"),
  },
  {
    name: "fuselens.assign.default",
    schema: "assign(Tensor self, Tensor value) -> Tensor",
    derivative: NOT_DIFFERENTIABLE,
    meta: (_m, a) => a.tensor("value"),
    decompose: (_b, a) => a.tensor("value"),
  },
];

interface BatchNorm<T> {
  readonly input: T;
  readonly weight: T | null;
  readonly bias: T | null;
  readonly mean: T | null;
  readonly variance: T | null;
  readonly training: boolean;
  readonly momentum: PyFloat;
  readonly eps: PyFloat;
}

/** at::batch_norm: picks the operator and writes the running statistics back */
function batchNorm<T>(b: GraphBuilder<T>, n: BatchNorm<T>): T {
  if (!usesCudnn(b, n)) return nativeBatchNorm(b, n)[0] as T;
  const memory_format = new MemoryFormatArg(suggestedFormat(b, b.meta(n.input)));
  const input = b.call("aten.contiguous.default", [n.input], { memory_format });
  const out = nativeBatchNorm(b, { ...n, input })[0] as T;
  // what cuDNN's operator gives beside, in tensors without elements: their nodes die, names stay used
  for (const like of n.training ? [input] : [n.weight, n.weight, input]) b.call("aten.new_zeros.default", [like, [0]]);
  return out;
}

/** at::_select_batch_norm_backend */
function usesCudnn<T>(b: GraphBuilder<T>, n: BatchNorm<T>): boolean {
  if (n.weight === null || n.bias === null) return false;
  if (n.mean === null || n.variance === null ? !n.training || n.mean !== n.variance : false) return false;
  const { device, dtype, shape } = b.meta(n.input);
  const weight = b.meta(n.weight).dtype;
  if (device.type !== "cuda" || dtype === "bfloat16" || weight === "bfloat16") return false;
  if (dtype === "float16" && weight !== "float32") return false;
  return shape.length >= 3 && b.hint(shape[0] ?? 1) <= (n.training ? 880801 : 65535);
}

/** output, and the batch's mean and inverse deviation */
function nativeBatchNorm<T>(b: GraphBuilder<T>, n: BatchNorm<T>): T[] {
  const tail = [n.momentum, n.eps];
  if (!n.training) {
    if (n.mean === null || n.variance === null) {
      return b.fail("Expected running_mean and running_var to be defined when training=False");
    }
    const args = [n.input, n.weight, n.bias, n.mean, n.variance, ...tail];
    return b.callMany("aten._native_batch_norm_legit_no_training.default", args);
  }
  if (n.mean === null || n.variance === null) {
    return b.callMany("aten._native_batch_norm_legit.no_stats", [n.input, n.weight, n.bias, true, ...tail]);
  }
  const args = [n.input, n.weight, n.bias, n.mean, n.variance, true, ...tail];
  const [out, batchMean, rstd, mean, variance] = b.callMany("aten._native_batch_norm_legit_functional.default", args);
  b.call(ASSIGN, [n.mean, mean as T]);
  b.call(ASSIGN, [n.variance, variance as T]);
  return [out, batchMean, rstd] as T[];
}

function batchSizeError(sizes: readonly number[]): string | null {
  const perChannel = sizes.reduce((p, s, i) => (i === 1 ? p : p * s), 1);
  return perChannel === 1
    ? `Expected more than 1 value per channel when training, got input size torch.Size([${sizes.join(", ")}])`
    : null;
}

const batchNorms: OpRecord[] = [
  composed({
    name: "aten.native_batch_norm.default",
    schema:
      "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    python: ["torch.native_batch_norm"],
    composite: (b, a) => nativeBatchNorm(b, batchArgs(a, a.bool("training"))),
  }),
  composed({
    name: "aten.batch_norm.default",
    schema:
      "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    python: ["torch.batch_norm"],
    composite: (b, a) => batchNorm(b, batchArgs(a, a.bool("training"))),
  }),
  composed({
    name: "torch.nn.functional.batch_norm.default",
    schema:
      "batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
    python: ["torch.nn.functional.batch_norm"],
    composite: (b, a) => {
      const training = a.bool("training");
      const error = training ? batchSizeError(b.meta(a.tensor("input")).shape.map(d => b.hint(d))) : null;
      return error === null ? batchNorm(b, batchArgs(a, training)) : b.fail(error, "ValueError");
    },
  }),
];

function batchArgs<T>(a: Args<T>, training: boolean): BatchNorm<T> {
  return {
    input: a.tensor("input"),
    weight: a.optTensor("weight"),
    bias: a.optTensor("bias"),
    mean: a.optTensor("running_mean"),
    variance: a.optTensor("running_var"),
    training,
    momentum: a.float("momentum"),
    eps: a.float("eps"),
  };
}

/** at::instance_norm: batch_norm over samples times channels */
function instanceNorm<T>(b: GraphBuilder<T>, n: BatchNorm<T>): T {
  const f = aten(b);
  const { shape } = b.meta(n.input);
  const [samples, channels, ...rest] = shape;
  if (samples === undefined || channels === undefined)
    return b.fail("Expected more than one dimension in instance_norm");
  const repeat = (t: T | null): T | null => (t === null ? null : f("repeat.default", t, [samples]));
  const [weight, bias] = [repeat(n.weight), repeat(n.bias)];
  const [mean, variance] = [repeat(n.mean), repeat(n.variance)];
  const flat = f("view.default", f("contiguous.default", n.input), [1, b.mul(samples, channels), ...rest]);
  const out = batchNorm(b, { ...n, input: flat, weight, bias, mean, variance });
  if (n.training) {
    writeBack(b, n.mean, mean, [samples, channels]);
    writeBack(b, n.variance, variance, [samples, channels]);
  }
  return f("view.default", out, shape);
}

/** the average over samples of statistics that were kept per sample */
function writeBack<T>(b: GraphBuilder<T>, target: T | null, repeated: T | null, shape: readonly Dim[]): void {
  if (target === null || repeated === null) return;
  const f = aten(b);
  const alias = f("alias.default", target);
  f("copy_.default", alias, f("mean.dim", f("view.default", repeated, shape), [0]));
}

const instanceNorms: OpRecord[] = [
  composed({
    name: "aten.instance_norm.default",
    schema:
      "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    python: ["torch.instance_norm"],
    composite: (b, a) => instanceNorm(b, batchArgs(a, a.bool("use_input_stats"))),
  }),
  composed({
    name: "torch.nn.functional.instance_norm.default",
    schema:
      "instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor",
    python: ["torch.nn.functional.instance_norm"],
    composite: (b, a) => instanceNorm(b, batchArgs(a, a.bool("use_input_stats"))),
  }),
];

export const records: readonly OpRecord[] = [
  functionalTraining,
  noStats,
  noTraining,
  backward,
  ...assigns,
  ...batchNorms,
  ...instanceNorms,
];
