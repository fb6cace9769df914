// Margin losses over pairs and triplets of inputs: compositions of ATen, with their writes in place.
import type { Args, GraphBuilder, OpRecord, Scalar } from "../types";
import { aten, F, fl } from "./helpers/define";
import { LEGACY, reduceLoss, reductionOf } from "./helpers/loss";
import { composed } from "./helpers/shape";
import { sizeScalar } from "./helpers/trace";

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
    const zeros = f("zeros_like.default", cos);
    const near = minusTensor(b, 1, cos);
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
    const zeros = f("zeros_like.default", x);
    const gap = f("clamp_min_.default", minusTensor(b, fl(margin), x), 0);
    const first = f("where.self", f("ne.Scalar", target, 1), gap, zeros);
    return f("add.Tensor", first, f("where.self", f("ne.Scalar", target, -1), x, zeros));
  },
};

/** a number less a tensor, in C++: a tensor is filled with the number */
function minusTensor<T>(b: GraphBuilder<T>, n: Scalar, x: T): T {
  const f = aten(b);
  return f("sub.Tensor", f("fill_.Scalar", f("empty_like.default", x), n), x);
}

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

export const records: readonly OpRecord[] = [...margins, triplet, multilabelSoftMargin];
