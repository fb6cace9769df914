// Losses between probabilities: binary cross entropy, Kullback-Leibler divergence, Gaussian and Poisson likelihoods.
import type { Args, ArgValue, GraphBuilder, OpRecord } from "../types";
import { aten, each, F, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { LEGACY, lossMeta, Reduction, reduceLoss, reductionOf } from "./helpers/loss";
import { composed, equalShapes } from "./helpers/shape";
import { full, numelOf, sizeScalar, withOpmath } from "./helpers/trace";

const logFloor = <T>(b: GraphBuilder<T>, x: T): T => {
  const m = b.meta(x);
  return b.call("aten.maximum.default", [x, full(b, [], -100, m.dtype, m.device)]);
};

const binary: OpRecord[] = [
  {
    name: "aten.binary_cross_entropy.default",
    schema: "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor",
    python: ["torch._C._nn.binary_cross_entropy"],
    meta: (m, a) => {
      const x = a.tensor("self");
      return lossMeta(m, m.elementwise(x.dtype, x), a.int("reduction"));
    },
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("self"), a.tensor("target"), a.optTensor("weight")], (x, y, weight) => {
        const f = aten(b);
        const absent = f("sub.Tensor", y, 1);
        const left = f("mul.Tensor", absent, logFloor(b, f("log1p.default", f("neg.default", x))));
        const right = f("mul.Tensor", y, logFloor(b, f("log.default", x)));
        let loss = f("sub.Tensor", left, right);
        if (a.has("weight")) loss = f("mul.Tensor", loss, weight as typeof x);
        return reduceLoss(b, loss, a.int("reduction"));
      }),
    derivative: each({
      self: (b, c) =>
        b.call("aten.binary_cross_entropy_backward.default", [
          c.grad(),
          c.args.tensor("self"),
          c.args.tensor("target"),
          c.args.optTensor("weight"),
          c.args.raw("reduction"),
        ]),
      target: (b, c) => {
        const f = aten(b);
        const x = c.args.tensor("self");
        let g = f("mul.Tensor", f("neg.default", f("logit.default", x)), c.grad());
        const weight = c.args.optTensor("weight");
        if (weight !== null) g = f("mul.Tensor", g, weight);
        if (c.args.int("reduction") !== Reduction.mean) return g;
        return f("div.Scalar", g, sizeScalar(b, numelOf(b, c.args.tensor("target"))));
      },
    }),
  },
  {
    name: "aten.binary_cross_entropy_backward.default",
    schema:
      "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor",
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => m.elementwise(a.tensor("self").dtype, a.tensor("self")),
    decompose: (b, a) =>
      withOpmath(
        b,
        [a.tensor("grad_output"), a.tensor("self"), a.tensor("target"), a.optTensor("weight")],
        (g, x, y, weight) => {
          const f = aten(b);
          const error = f("mul.Tensor", g, f("sub.Tensor", x, y));
          const spread = f("clamp_min.default", f("mul.Tensor", x, f("sub.Tensor", 1, x)), fl(1e-12));
          let r = f("div.Tensor", error, spread);
          if (a.has("weight")) r = f("mul.Tensor", r, weight as typeof x);
          if (a.int("reduction") === Reduction.mean) r = f("div.Tensor", r, sizeScalar(b, numelOf(b, x)));
          return r;
        },
      ),
  },
  composed({
    name: `${F}binary_cross_entropy.default`,
    schema: `binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, ${LEGACY}) -> Tensor`,
    python: [`${F}binary_cross_entropy`],
    composite: (b, a) => {
      const reduction = reductionOf(b, a);
      const [x, y, weight] = [a.tensor("input"), a.tensor("target"), a.optTensor("weight")];
      const shape = b.meta(y).shape;
      if (!equalShapes(b, b.meta(x).shape, shape)) {
        const text = (t: typeof x): string =>
          `torch.Size([${b
            .meta(t)
            .shape.map(d => b.hint(d))
            .join(", ")}])`;
        return b.fail(
          `Using a target size (${text(y)}) that is different to the input size (${text(x)}) is deprecated. Please ensure they have the same size.`,
          "ValueError",
        );
      }
      const wide = weight === null ? null : b.call("aten.expand.default", [weight, shape]);
      return b.call("aten.binary_cross_entropy.default", [x, y, wide, reduction]);
    },
  }),
  {
    name: "aten.binary_cross_entropy_with_logits.default",
    schema:
      "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean) -> Tensor",
    python: ["torch.binary_cross_entropy_with_logits"],
    meta: (m, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("target")];
      const extra = ["weight", "pos_weight"].flatMap(n => (a.has(n) ? [a.tensor(n)] : []));
      return lossMeta(m, m.elementwise(m.promote("default", x, y, ...extra), x, y, ...extra), a.int("reduction"));
    },
    decompose: (b, a) => {
      const f = aten(b);
      const [x, y, weight, positive] = [
        a.tensor("self"),
        a.tensor("target"),
        a.optTensor("weight"),
        a.optTensor("pos_weight"),
      ];
      const scale = positive === null ? null : f("add.Tensor", f("mul.Tensor", f("sub.Tensor", positive, 1), y), 1);
      const left = f("mul.Tensor", f("sub.Tensor", 1, y), x);
      const logSigmoid = b.callMany("aten.log_sigmoid_forward.default", [x])[0] as typeof x;
      const right = scale === null ? logSigmoid : f("mul.Tensor", scale, logSigmoid);
      let loss = f("sub.Tensor", left, right);
      if (weight !== null) loss = f("mul.Tensor", loss, weight);
      return reduceLoss(b, loss, a.int("reduction"));
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const [x, y, positive] = [c.args.tensor("self"), c.args.tensor("target"), c.args.optTensor("pos_weight")];
        let g: typeof x;
        if (positive === null) {
          g = f("sub.Tensor", f("sigmoid.default", x), y);
        } else {
          const t = f("mul.Tensor", positive, y);
          const shifted = f("sub.Tensor", f("add.Scalar", t, 1), y);
          g = f("sub.Tensor", f("mul.Tensor", shifted, f("sigmoid.default", x)), t);
        }
        return logitsTail(b, f("mul.Tensor", g, c.grad()), x, c.args);
      },
      target: (b, c) => {
        const f = aten(b);
        const [x, positive] = [c.args.tensor("self"), c.args.optTensor("pos_weight")];
        if (positive === null) return logitsTail(b, f("mul.Tensor", f("neg.default", x), c.grad()), x, c.args);
        const scaled = f("mul.Tensor", positive, f("log_sigmoid.default", x));
        const difference = f("sub.Tensor", f("log_sigmoid.default", f("neg.default", x)), scaled);
        return logitsTail(b, f("mul.Tensor", difference, c.grad()), x, c.args);
      },
    }),
  },
  composed({
    name: `${F}binary_cross_entropy_with_logits.default`,
    schema: `binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, ${LEGACY}, Tensor? pos_weight=None) -> Tensor`,
    python: [`${F}binary_cross_entropy_with_logits`],
    composite: (b, a) =>
      b.call("aten.binary_cross_entropy_with_logits.default", [
        a.tensor("input"),
        a.tensor("target"),
        a.optTensor("weight"),
        a.optTensor("pos_weight"),
        reductionOf(b, a),
      ]),
  }),
];

/** weight and mean of the gradient of binary_cross_entropy_with_logits */
function logitsTail<T>(b: GraphBuilder<T>, g: T, x: T, a: Args<T>): T {
  const weight = a.optTensor("weight");
  const scaled = weight === null ? g : b.call("aten.mul.Tensor", [g, weight]);
  if (a.int("reduction") !== Reduction.mean) return scaled;
  return b.call("aten.div.Scalar", [scaled, sizeScalar(b, numelOf(b, x))]);
}

const divergences: OpRecord[] = [
  composed({
    name: "aten.kl_div.default",
    schema: "kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor",
    python: ["torch.kl_div"],
    composite: (b, a) =>
      reduceLoss(b, klDiv(b, a.tensor("self"), a.tensor("target"), a.bool("log_target")), a.int("reduction")),
  }),
  composed({
    name: `${F}kl_div.default`,
    schema: `kl_div(Tensor input, Tensor target, ${LEGACY}, bool log_target=False) -> Tensor`,
    python: [`${F}kl_div`],
    composite: (b, a) => {
      const batch = a.str("reduction") === "batchmean";
      const [x, y] = [a.tensor("input"), a.tensor("target")];
      const kwargs: Record<string, ArgValue<never>> = a.bool("log_target") ? { log_target: true } : {};
      const r = b.call("aten.kl_div.default", [x, y, batch ? Reduction.sum : reductionOf(b, a)], kwargs);
      const [size] = b.meta(x).shape;
      return batch && size !== undefined ? b.call("aten.div.Tensor", [r, sizeScalar(b, size)]) : r;
    },
  }),
  ...(["aten.poisson_nll_loss.default", `${F}poisson_nll_loss.default`] as const).map(name => {
    const inAten = name.startsWith("aten");
    return composed({
      name,
      schema: inAten
        ? "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor"
        : 'poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, Any size_average=None, float eps=1e-08, Any reduce=None, str reduction="mean") -> Tensor',
      python: [inAten ? "torch.poisson_nll_loss" : `${F}poisson_nll_loss`],
      composite: (b, a) => reduceLoss(b, poissonNll(b, a), inAten ? a.int("reduction") : reductionOf(b, a)),
    });
  }),
];

/** target * (log target - input), the product with the input first */
function klDiv<T>(b: GraphBuilder<T>, x: T, target: T, logTarget: boolean): T {
  const f = aten(b);
  if (logTarget) {
    const difference = f("sub.Tensor", target, x);
    return f("mul.Tensor", f("exp.default", target), difference);
  }
  const cross = f("mul.Tensor", target, x);
  return f("sub.Tensor", f("xlogy.Tensor", target, target), cross);
}

function poissonNll<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const f = aten(b);
  const [x, target] = [a.tensor("input"), a.tensor("target")];
  let loss: T;
  if (a.bool("log_input")) {
    const product = f("mul.Tensor", target, x);
    loss = f("sub.Tensor", f("exp.default", x), product);
  } else {
    const log = f("log.default", f("add.Scalar", x, a.float("eps")));
    loss = f("sub.Tensor", x, f("mul.Tensor", target, log));
  }
  if (!a.bool("full")) return loss;
  const half = f("mul.Scalar", f("log.default", f("mul.Scalar", target, fl(2 * Math.PI))), fl(0.5));
  const scaled = f("mul.Tensor", target, f("log.default", target));
  const stirling = f("add.Tensor", f("sub.Tensor", scaled, target), half);
  const small = f("le.Scalar", target, 1);
  return f("add.Tensor", loss, b.call("aten.masked_fill.Scalar", [stirling, small, 0]));
}

export const records: readonly OpRecord[] = [...binary, ...divergences];
