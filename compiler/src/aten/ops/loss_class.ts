// Losses over class scores: cross_entropy with class or probability targets, nll_loss in one and two dimensions.
import { type Args, type ArgValue, type Dim, DTypeArg, type GraphBuilder, type OpRecord } from "../types";
import { aten, each, F, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { Reduction, reductionOf } from "./helpers/loss";
import { composed, sameShape } from "./helpers/shape";
import { full, numelOf, quotient, sizeScalar, toDtype, where, zerosLike } from "./helpers/trace";

const classDim = (rank: number): number => (rank < 2 ? 0 : 1);

/** weight shaped so that it broadcasts along the classes */
function classShape<T>(b: GraphBuilder<T>, weight: T, rank: number): ArgValue<T> {
  const [n] = b.meta(weight).shape;
  return Array.from({ length: rank }, (_, i) => (i === classDim(rank) ? (n ?? b.int(1)) : 1));
}

/** nll_loss_forward and nll_loss2d_forward, with their gradients */
function nllKernel(packet: "nll_loss" | "nll_loss2d"): OpRecord[] {
  const forward = `${packet}_forward`;
  return [
    {
      name: `aten.${forward}.default`,
      schema: `${forward}(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)`,
      nonDifferentiable: [1],
      meta: (m, a) => {
        const [x, target] = [a.tensor("self"), a.tensor("target")];
        const scalar = m.tensor([], x);
        const none = a.int("reduction") === Reduction.none && x.shape.length > 1;
        return [none ? m.tensor(target.shape, x) : scalar, scalar];
      },
      decompose: (b, a) => nllForward(b, a),
      derivative: each({
        self: (b, c) => {
          const totalWeight = c.result(1);
          return b.call(`aten.${packet}_backward.default`, [
            c.grad(0),
            c.args.tensor("self"),
            c.args.tensor("target"),
            c.args.optTensor("weight"),
            c.args.raw("reduction"),
            c.args.raw("ignore_index"),
            totalWeight,
          ]);
        },
      }),
    },
    {
      name: `aten.${packet}_backward.default`,
      schema: `${packet}_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor`,
      derivative: NOT_DIFFERENTIABLE,
      meta: (m, a) => m.tensor(a.tensor("self").shape, a.tensor("self")),
      decompose: (b, a) => nllBackward(b, a),
    },
  ];
}

function nllForward<T>(b: GraphBuilder<T>, a: Args<T>): T[] {
  const f = aten(b);
  const [target, weight, reduction] = [a.tensor("target"), a.optTensor("weight"), a.int("reduction")];
  const ignored = a.int("ignore_index");
  const { shape, dtype, device } = b.meta(a.tensor("self"));
  const rank = shape.length;
  const dim = classDim(rank);
  let x = a.tensor("self");
  let w: T | null = null;
  if (weight !== null) {
    w = rank > 1 ? f("view.default", weight, classShape(b, weight, rank)) : weight;
    x = f("mul.Tensor", x, w);
  }
  const counted = (): T => f("ne.Scalar", target, ignored);
  const safe = f("unsqueeze.default", where(b, counted(), target, 0), dim);
  const pick = (t: T): T => f("squeeze.dim", f("gather.default", t, dim, safe), dim);
  const negative = f("neg.default", pick(x));
  const losses = where(b, counted(), negative, 0);
  if (reduction === Reduction.none && rank > 1) return [losses, full(b, [], fl(0), dtype, device)];
  let total: T;
  if (w !== null) {
    const picked = pick(f("expand.default", w, shape));
    total = f("sum.default", where(b, counted(), picked, 0));
  } else total = toDtype(b, f("sum.default", counted()), dtype);
  if (reduction === Reduction.sum) return [f("sum.default", losses), total];
  if (reduction === Reduction.mean) return [f("div.Tensor", f("sum.default", losses), total), total];
  return [losses, total];
}

function nllBackward<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const f = aten(b);
  const [x, weight] = [a.tensor("self"), a.optTensor("weight")];
  const ignored = a.int("ignore_index");
  const rank = b.meta(x).shape.length;
  const dim = classDim(rank);
  let g = a.tensor("grad_output");
  if (a.int("reduction") === Reduction.mean) g = f("div.Tensor", g, a.tensor("total_weight"));
  const target = f("unsqueeze.default", a.tensor("target"), dim);
  const safe = where(b, f("ne.Scalar", target, ignored), target, 0);
  const hot = f("scatter.value", zerosLike(b, x), dim, safe, fl(-1));
  const gradRank = b.meta(g).shape.length;
  if (rank > gradRank && gradRank > 0) g = f("unsqueeze.default", g, dim);
  if (weight !== null) g = f("mul.Tensor", g, f("view.default", weight, classShape(b, weight, rank)));
  const kept = where(b, f("ne.Scalar", target, ignored), g, 0);
  return f("mul.Tensor", hot, kept);
}

/** at::nll_loss_nd: any number of spatial dims, as two */
function nllNd<T>(b: GraphBuilder<T>, x: T, target: T, weight: T | null, reduction: number, ignored: ArgValue<T>): T {
  const f = aten(b);
  const { shape } = b.meta(x);
  const rest = [weight, reduction, ignored];
  if (shape.length === 0) return b.fail("Expected 1 or more dimensions (got 0)");
  const kernel = (packet: string, input: T, labels: T): T => b.call(`aten.${packet}.default`, [input, labels, ...rest]);
  if (shape.length <= 2) {
    checkBatch(b, x, target);
    return kernel("nll_loss", x, target);
  }
  if (shape.length === 4) return kernel("nll_loss2d", x, target);
  const [n, c, ...spatial] = shape as [Dim, Dim, ...Dim[]];
  const flat = f("view.default", f("contiguous.default", x), [n, c, 1, -1]);
  const labels = f("view.default", f("contiguous.default", target), [n, 1, -1]);
  const loss = kernel("nll_loss2d", flat, labels);
  return reduction === Reduction.none ? f("view.default", loss, [n, ...spatial]) : loss;
}

function checkBatch<T>(b: GraphBuilder<T>, x: T, target: T): void {
  const [n] = b.meta(x).shape;
  const [m] = b.meta(target).shape;
  if (b.meta(x).shape.length === 2 && n !== undefined && m !== undefined && !b.eq(n, m)) {
    b.fail(`Expected input batch_size (${b.hint(n)}) to match target batch_size (${b.hint(m)}).`, "ValueError");
  }
}

interface CrossEntropy<T> {
  readonly x: T;
  readonly target: T;
  readonly weight: T | null;
  readonly reduction: number;
  readonly ignored: ArgValue<T>;
  readonly smoothing: number;
}

function crossEntropy<T>(b: GraphBuilder<T>, e: CrossEntropy<T>): T {
  const f = aten(b);
  const { shape } = b.meta(e.x);
  const dim = classDim(shape.length);
  const log = f("log_softmax.int", e.x, dim, new DTypeArg(b.meta(e.x).dtype));
  if (sameShape(b, shape, b.meta(e.target).shape)) return probabilityTarget(b, e, log, dim);
  if (e.smoothing > 0) return smoothed(b, e, log, dim);
  return nllNd(b, log, e.target, e.weight, e.reduction, e.ignored);
}

function classes<T>(b: GraphBuilder<T>, e: CrossEntropy<T>, dim: number): Dim {
  return b.meta(e.x).shape[dim] ?? b.int(1);
}

/** targets are probabilities: -(target * log p).sum() */
function probabilityTarget<T>(b: GraphBuilder<T>, e: CrossEntropy<T>, log: T, dim: number): T {
  const f = aten(b);
  const n = classes(b, e, dim);
  let target = e.target;
  if (e.smoothing > 0) {
    const kept = f("mul.Scalar", target, fl(1 - e.smoothing));
    target = f("add.Scalar", kept, quotient(b, e.smoothing, n));
  }
  let product: T;
  if (e.weight === null) product = f("mul.Tensor", log, target);
  else {
    const w = f("view.default", e.weight, classShape(b, e.weight, b.meta(e.x).shape.length));
    product = f("mul.Tensor", f("mul.Tensor", log, target), w);
  }
  if (e.reduction === Reduction.none) return f("neg.default", f("sum.dim_IntList", product, [dim]));
  const total = f("neg.default", f("sum.default", product));
  if (e.reduction === Reduction.sum) return total;
  return f("div.Scalar", total, sizeScalar(b, b.floordiv(numelOf(b, log), n)));
}

/** class targets with label smoothing: a share of the loss is spread over all classes */
function smoothed<T>(b: GraphBuilder<T>, e: CrossEntropy<T>, log: T, dim: number): T {
  const f = aten(b);
  const hard = nllNd(b, log, e.target, e.weight, e.reduction, e.ignored);
  let spread = log;
  if (e.weight !== null) {
    const w = f("view.default", e.weight, classShape(b, e.weight, b.meta(e.x).shape.length));
    spread = f("mul.Tensor", log, w);
  }
  let smooth = f("neg.default", f("sum.dim_IntList", spread, [dim]));
  const ignored = f("eq.Scalar", e.target, e.ignored);
  const fill = (t: T, value: 0): T =>
    b.call("aten.masked_fill.Scalar", [t, ignored, b.meta(t).dtype === "int64" ? value : fl(value)]);
  smooth = fill(smooth, 0);
  let soft = smooth;
  if (e.reduction === Reduction.sum) soft = f("sum.default", smooth);
  if (e.reduction === Reduction.mean) {
    let count: T;
    if (e.weight === null) count = f("sum.default", f("bitwise_not.default", ignored));
    else {
      const flat = (t: T): T => (b.meta(t).shape.length === 1 ? t : f("flatten.using_ints", t));
      const picked = f("gather.default", e.weight, 0, flat(fill(e.target, 0)));
      count = f("sum.default", b.call("aten.masked_fill.Scalar", [picked, flat(ignored), fl(0)]));
    }
    soft = f("div.Tensor", f("sum.default", smooth), count);
  }
  const share = f("mul.Scalar", soft, quotient(b, e.smoothing, classes(b, e, dim)));
  return f("add.Tensor", f("mul.Scalar", hard, fl(1 - e.smoothing)), share);
}

const compositions: OpRecord[] = [
  composed({
    name: "aten.cross_entropy_loss.default",
    schema:
      "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
    python: ["torch._C._nn.cross_entropy_loss"],
    composite: (b, a) =>
      crossEntropy(b, {
        x: a.tensor("self"),
        target: a.tensor("target"),
        weight: a.optTensor("weight"),
        reduction: a.int("reduction"),
        ignored: a.int("ignore_index"),
        smoothing: a.number("label_smoothing"),
      }),
  }),
  composed({
    name: `${F}cross_entropy.default`,
    schema:
      'cross_entropy(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, Any reduce=None, str reduction="mean", float label_smoothing=0.0) -> Tensor',
    python: [`${F}cross_entropy`],
    composite: (b, a) =>
      crossEntropy(b, {
        x: a.tensor("input"),
        target: a.tensor("target"),
        weight: a.optTensor("weight"),
        reduction: reductionOf(b, a),
        ignored: a.int("ignore_index"),
        smoothing: a.number("label_smoothing"),
      }),
  }),
  ...(["nll_loss", "nll_loss2d", "nll_loss_nd"] as const).map(packet =>
    composed({
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor`,
      python: [`torch._C._nn.${packet}`],
      composite: (b, a) => {
        const [x, target, weight] = [a.tensor("self"), a.tensor("target"), a.optTensor("weight")];
        const [reduction, ignored] = [a.int("reduction"), a.int("ignore_index")];
        if (packet === "nll_loss_nd") return nllNd(b, x, target, weight, reduction, ignored);
        return b.callMany(`aten.${packet}_forward.default`, [x, target, weight, reduction, ignored])[0] as typeof x;
      },
    }),
  ),
  composed({
    name: `${F}nll_loss.default`,
    schema:
      'nll_loss(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, Any reduce=None, str reduction="mean") -> Tensor',
    python: [`${F}nll_loss`],
    composite: (b, a) =>
      nllNd(b, a.tensor("input"), a.tensor("target"), a.optTensor("weight"), reductionOf(b, a), a.int("ignore_index")),
  }),
];

export const records: readonly OpRecord[] = [...nllKernel("nll_loss"), ...nllKernel("nll_loss2d"), ...compositions];
