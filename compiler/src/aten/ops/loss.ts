// Losses of regression: squared, absolute and Huber errors.
import type { Args, ArgValue, GraphBuilder, OpRecord, Scalar } from "../types";
import { aten, each, F, fl, NOT_DIFFERENTIABLE, numberOf } from "./helpers/define";
import { LEGACY, lossMeta, Reduction, reduceLoss, reductionOf } from "./helpers/loss";
import { composed, sameShape } from "./helpers/shape";
import { numelOf, quotient, withOpmath } from "./helpers/trace";

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

export const records: readonly OpRecord[] = [...regressions, l1, ...functionals];
