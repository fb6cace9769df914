// Elementwise losses: squared, absolute and Huber errors, binary cross entropy, divergences and margins.
import type { Args, ArgValue, GraphBuilder, OpRecord, Scalar } from "../types";
import { aten, each, fl, NOT_DIFFERENTIABLE, numberOf } from "./helpers/define";
import { LEGACY, lossMeta, Reduction, reduceLoss, reductionOf } from "./helpers/loss";
import { composed, sameShape } from "./helpers/shape";
import { full, fullLike, numelOf, quotient, sizeScalar, withOpmath, zerosLike } from "./helpers/trace";

const F = "torch.nn.functional.";

/** 1 / n for a mean, else 1 */
function meanFactor<T>(b: GraphBuilder<T>, x: T, reduction: number, scale = 1): ArgValue<T> {
  return reduction === Reduction.mean ? quotient(b, scale, numelOf(b, x)) : fl(scale);
}

function negated<T>(b: GraphBuilder<T>, x: ArgValue<T>): ArgValue<T> {
  return b.isDim(x) ? b.mul(-1, x) : fl(-numberOf(x as Scalar));
}

interface Regression {
  readonly packet: string;
  /** further parameters of the ATen operator, with default */
  readonly parameters: string;
  readonly pass: readonly string[];
  readonly loss: <T>(b: GraphBuilder<T>, x: T, y: T, a: Args<T>) => T;
  readonly gradient: <T>(b: GraphBuilder<T>, g: T, x: T, y: T, a: Args<T>) => T;
}

/** a loss of two tensors whose gradient is an operator of its own, the same for both with the tensors swapped */
function regression(r: Regression): OpRecord[] {
  const head = "Tensor self, Tensor target, int reduction";
  const extra = r.parameters.replace(/=[^,]*/g, "");
  return [
    {
      name: `aten.${r.packet}.default`,
      schema: `${r.packet}(${head}=Mean${r.parameters}) -> Tensor`,
      python: [`torch._C._nn.${r.packet}`],
      meta: (m, a) => {
        const [x, y] = [a.tensor("self"), a.tensor("target")];
        return lossMeta(m, m.elementwise(m.promote("default", x, y), x, y), a.int("reduction"));
      },
      decompose: (b, a) =>
        withOpmath(b, [a.tensor("self"), a.tensor("target")], (x, y) =>
          reduceLoss(b, r.loss(b, x, y, a), a.int("reduction")),
        ),
      derivative: each(
        Object.fromEntries(
          (["self", "target"] as const).map((name, i) => [
            name,
            (b, c) => {
              const pair = [c.args.tensor("self"), c.args.tensor("target")];
              const [x, y] = i === 0 ? pair : pair.reverse();
              const rest = ["reduction", ...r.pass].map(p => c.args.raw(p));
              return b.call(`aten.${r.packet}_backward.default`, [c.grad(), x as never, y as never, ...rest]);
            },
          ]),
        ),
      ),
    },
    {
      name: `aten.${r.packet}_backward.default`,
      schema: `${r.packet}_backward(Tensor grad_output, ${head}${extra}) -> Tensor`,
      derivative: NOT_DIFFERENTIABLE,
      meta: (m, a) => {
        const all = [a.tensor("grad_output"), a.tensor("self"), a.tensor("target")];
        return m.elementwise(m.promote("default", ...all), ...all);
      },
      decompose: (b, a) =>
        withOpmath(b, [a.tensor("grad_output"), a.tensor("self"), a.tensor("target")], (g, x, y) =>
          r.gradient(b, g, x, y, a),
        ),
    },
  ];
}

const regressions: OpRecord[] = [
  ...regression({
    packet: "mse_loss",
    parameters: "",
    pass: [],
    loss: (b, x, y) => b.call("aten.pow.Tensor_Scalar", [b.call("aten.sub.Tensor", [x, y]), 2]),
    gradient: (b, g, x, y, a) => {
      const f = aten(b);
      const scaled = f("mul.Tensor", f("sub.Tensor", x, y), meanFactor(b, x, a.int("reduction"), 2));
      return f("mul.Tensor", scaled, g);
    },
  }),
  ...regression({
    packet: "smooth_l1_loss",
    parameters: ", float beta=1.0",
    pass: ["beta"],
    loss: (b, x, y, a) => {
      const f = aten(b);
      const beta = a.number("beta");
      const size = f("abs.default", f("sub.Tensor", x, y));
      const near = f("lt.Scalar", size, fl(beta));
      const square = f("div.Tensor", f("mul.Tensor", f("pow.Tensor_Scalar", size, 2), fl(0.5)), fl(beta));
      return f("where.self", near, square, f("sub.Tensor", size, fl(0.5 * beta)));
    },
    gradient: (b, g, x, y, a) => {
      const f = aten(b);
      const beta = a.float("beta");
      const difference = f("sub.Tensor", x, y);
      const size = f("abs.default", difference);
      const scaled = f("mul.Tensor", g, meanFactor(b, x, a.int("reduction")));
      const near = f("lt.Scalar", size, beta);
      const inner = f("div.Tensor", f("mul.Tensor", scaled, difference), beta);
      return f("where.self", near, inner, f("mul.Tensor", scaled, f("sign.default", difference)));
    },
  }),
  ...regression({
    packet: "huber_loss",
    parameters: ", float delta=1.0",
    pass: ["delta"],
    loss: (b, x, y, a) => {
      const f = aten(b);
      const delta = a.number("delta");
      const size = f("abs.default", f("sub.Tensor", x, y));
      const near = f("lt.Scalar", size, fl(delta));
      const square = f("mul.Tensor", f("mul.Tensor", size, fl(0.5)), size);
      const far = f("mul.Tensor", f("sub.Tensor", size, fl(0.5 * delta)), fl(delta));
      return f("where.self", near, square, far);
    },
    gradient: (b, g, x, y, a) => {
      const f = aten(b);
      const delta = a.number("delta");
      const norm = meanFactor(b, x, a.int("reduction"));
      const difference = f("sub.Tensor", x, y);
      const below = f("lt.Scalar", difference, fl(-delta));
      const low = f("mul.Tensor", f("mul.Tensor", g, negated(b, norm)), fl(delta));
      const above = f("gt.Scalar", difference, fl(delta));
      const high = f("mul.Tensor", f("mul.Tensor", g, norm), fl(delta));
      const inner = f("mul.Tensor", f("mul.Tensor", difference, norm), g);
      return f("where.self", below, low, f("where.self", above, high, inner));
    },
  }),
];

const l1 = composed({
  name: "aten.l1_loss.default",
  schema: "l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
  python: ["torch._C._nn.l1_loss"],
  composite: (b, a) => {
    const size = b.call("aten.abs.default", [b.call("aten.sub.Tensor", [a.tensor("self"), a.tensor("target")])]);
    return reduceLoss(b, size, a.int("reduction"));
  },
});

/** both tensors of a loss in their common shape */
function broadcastPair<T>(b: GraphBuilder<T>, x: T, y: T): [T, T] {
  if (sameShape(b, b.meta(x).shape, b.meta(y).shape)) return [x, y];
  return b.callMany("aten.broadcast_tensors.default", [[x, y]]) as [T, T];
}

/** F.mse_loss and its kin */
function functional(
  name: string,
  parameters: string,
  call: <T>(b: GraphBuilder<T>, a: Args<T>, x: T, y: T, reduction: number) => T,
  order = `Tensor input, Tensor target, ${LEGACY}`,
): OpRecord {
  return composed({
    name: `${F}${name}.default`,
    schema: `${name}(${order}${parameters}) -> Tensor`,
    python: [`${F}${name}`],
    composite: (b, a) => {
      const reduction = order.includes("size_average") ? reductionOf(b, a) : reductionWord(b, a);
      const [x, y] = broadcastPair(b, a.tensor("input"), a.tensor("target"));
      return call(b, a, x, y, reduction);
    },
  });
}

function reductionWord<T>(b: GraphBuilder<T>, a: Args<T>): number {
  const text = a.str("reduction");
  if (text === "none" || text === "mean" || text === "sum") return Reduction[text];
  return b.fail(`${text} is not a valid value for reduction`, "ValueError");
}

/** mean of weighted errors: by the sum of the weights */
function weighted<T>(b: GraphBuilder<T>, loss: T, weight: T, reduction: number): T {
  const f = aten(b);
  const product = f("mul.Tensor", loss, weight);
  if (reduction === Reduction.none) return product;
  const total = f("sum.default", product);
  return reduction === Reduction.sum ? total : f("div.Tensor", total, f("sum.default", weight));
}

const functionals: OpRecord[] = [
  functional("mse_loss", ", Tensor? weight=None", (b, a, x, y, reduction) => {
    const weight = a.optTensor("weight");
    if (weight === null) return b.call("aten.mse_loss.default", [x, y, reduction]);
    const errors = b.call("aten.mse_loss.default", [x, y, Reduction.none]);
    return weighted(b, errors, weight, reduction);
  }),
  functional("l1_loss", ", Tensor? weight=None", (b, a, x, y, reduction) => {
    const weight = a.optTensor("weight");
    if (weight === null) return b.call("aten.l1_loss.default", [x, y, reduction]);
    return weighted(b, b.call("aten.l1_loss.default", [x, y, Reduction.none]), weight, reduction);
  }),
  functional("smooth_l1_loss", ", float beta=1.0", (b, a, x, y, reduction) => {
    const beta = a.float("beta");
    if (beta.is(0)) return b.call("aten.l1_loss.default", [x, y, reduction]);
    return b.call("aten.smooth_l1_loss.default", [x, y, reduction, beta]);
  }),
  functional(
    "huber_loss",
    "",
    (b, a, x, y, reduction) => {
      const delta = a.float("delta");
      const weight = a.optTensor("weight");
      if (weight === null) return b.call("aten.huber_loss.default", [x, y, reduction, delta]);
      return weighted(b, b.call("aten.huber_loss.default", [x, y, Reduction.none, delta]), weight, reduction);
    },
    'Tensor input, Tensor target, str reduction="mean", float delta=1.0, Tensor? weight=None',
  ),
];

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
      if (!sameShape(b, b.meta(x).shape, shape)) {
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

/** margin losses: compositions of ATen, with their writes in place */
const MARGIN_SCHEMAS: Readonly<Record<string, { parameters: string; margin: string }>> = {
  cosine_embedding_loss: { parameters: "Tensor input1, Tensor input2, Tensor target", margin: "0.0" },
  margin_ranking_loss: { parameters: "Tensor input1, Tensor input2, Tensor target", margin: "0.0" },
  hinge_embedding_loss: { parameters: "Tensor self, Tensor target", margin: "1.0" },
};

const MARGIN_NODES: Readonly<Record<string, <T>(b: GraphBuilder<T>, a: Args<T>, margin: number, self: string) => T>> = {
  cosine_embedding_loss: (b, a, margin) => {
    const f = aten(b);
    const [x, y, target] = [a.tensor("input1"), a.tensor("input2"), a.tensor("target")];
    const dim = b.meta(target).shape.length;
    const product = f("sum.dim_IntList", f("mul.Tensor", x, y), [dim]);
    const eps = fl(Math.fround(1e-12));
    const size = (t: typeof x): typeof x => f("add.Scalar", f("sum.dim_IntList", f("mul.Tensor", t, t), [dim]), eps);
    const [sx, sy] = [size(x), size(y)];
    const root = f("sqrt_.default", f("mul.Tensor", sx, sy));
    const cos = f("div.Tensor", product, root);
    const zeros = zerosLike(b, cos);
    const near = f("sub.Tensor", fullLike(b, cos, 1), cos);
    const far = f("clamp_min_.default", f("sub.Scalar", cos, fl(margin)), 0);
    const positive = f("where.self", f("eq.Scalar", target, 1), near, zeros);
    return f("add.Tensor", positive, f("where.self", f("eq.Scalar", target, -1), far, zeros));
  },
  margin_ranking_loss: (b, a, margin) => {
    const f = aten(b);
    const difference = f("sub.Tensor", a.tensor("input1"), a.tensor("input2"));
    const signed = f("mul.Tensor", f("neg.default", a.tensor("target")), difference);
    return f("clamp_min_.default", f("add.Scalar", signed, fl(margin)), 0);
  },
  hinge_embedding_loss: (b, a, margin, self) => {
    const f = aten(b);
    const [x, target] = [a.tensor(self), a.tensor("target")];
    const zeros = zerosLike(b, x);
    const gap = f("clamp_min_.default", f("sub.Tensor", fullLike(b, x, fl(margin)), x), 0);
    const first = f("where.self", f("ne.Scalar", target, 1), gap, zeros);
    return f("add.Tensor", first, f("where.self", f("ne.Scalar", target, -1), x, zeros));
  },
};

const margins: OpRecord[] = Object.entries(MARGIN_SCHEMAS).flatMap(([packet, { parameters, margin }]) => [
  composed({
    name: `aten.${packet}.default`,
    schema: `${packet}(${parameters}, float margin=${margin}, int reduction=Mean) -> Tensor`,
    python: [`torch.${packet}`],
    composite: (b, a) => {
      const nodes = MARGIN_NODES[packet];
      if (nodes === undefined) throw new Error(`no nodes for ${packet}`);
      return reduceLoss(b, nodes(b, a, a.number("margin"), "self"), a.int("reduction"));
    },
  }),
  composed({
    name: `${F}${packet}.default`,
    schema: `${packet}(${parameters.replace("self", "input")}, float margin=${margin}, ${LEGACY}) -> Tensor`,
    python: [`${F}${packet}`],
    composite: (b, a) => {
      const nodes = MARGIN_NODES[packet];
      if (nodes === undefined) throw new Error(`no nodes for ${packet}`);
      return reduceLoss(b, nodes(b, a, a.number("margin"), "input"), reductionOf(b, a));
    },
  }),
]);

const triplet = composed({
  name: `${F}triplet_margin_loss.default`,
  schema: `triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float eps=1e-06, bool swap=False, ${LEGACY}) -> Tensor`,
  python: [`${F}triplet_margin_loss`, "torch.triplet_margin_loss"],
  composite: (b, a) => {
    const f = aten(b);
    const distance = (x: string, y: string): ReturnType<typeof a.tensor> =>
      f("pairwise_distance.default", a.tensor(x), a.tensor(y), a.float("p"), a.float("eps"));
    const near = distance("anchor", "positive");
    let far = distance("anchor", "negative");
    if (a.bool("swap")) far = f("minimum.default", far, distance("positive", "negative"));
    const gap = f("sub.Tensor", f("add.Scalar", near, a.float("margin")), far);
    return reduceLoss(b, f("clamp_min.default", gap, 0), reductionOf(b, a));
  },
});

const multilabelSoftMargin = composed({
  name: `${F}multilabel_soft_margin_loss.default`,
  schema: `multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, ${LEGACY}) -> Tensor`,
  python: [`${F}multilabel_soft_margin_loss`],
  composite: (b, a) => {
    const f = aten(b);
    const [x, y, weight] = [a.tensor("input"), a.tensor("target"), a.optTensor("weight")];
    const present = f("mul.Tensor", y, f("log_sigmoid.default", x));
    const absent = f("rsub.Scalar", y, 1);
    const other = f("mul.Tensor", absent, f("log_sigmoid.default", f("neg.default", x)));
    let loss = f("neg.default", f("add.Tensor", present, other));
    if (weight !== null) loss = f("mul.Tensor", loss, weight);
    const { shape } = b.meta(x);
    const last = shape.length - 1;
    const classes = shape[last] ?? b.int(1);
    const each = f("div.Tensor", f("sum.dim_IntList", loss, [last]), sizeScalar(b, classes));
    return reduceLoss(b, each, reductionOf(b, a));
  },
});

export const records: readonly OpRecord[] = [
  ...regressions,
  l1,
  ...functionals,
  ...binary,
  ...divergences,
  ...margins,
  triplet,
  multilabelSoftMargin,
];
