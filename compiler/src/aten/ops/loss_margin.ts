// Margin losses over classes and labels: soft_margin, multi_margin and multilabel_margin.
import { type Args, DeviceArg, DTypeArg, type GraphBuilder, type OpRecord } from "../types";
import { aten, each, elementwiseMeta, F, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { LEGACY, lossMeta, Reduction, reduceLoss, reductionOf } from "./helpers/loss";
import { composed } from "./helpers/shape";
import { arange, cast, numelOf, STRIDED, sizeScalar, where, withOpmath } from "./helpers/trace";

const softMargin: OpRecord[] = [
  {
    name: "aten.soft_margin_loss.default",
    schema: "soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
    python: ["torch._C._nn.soft_margin_loss"],
    meta: (m, a) => lossMeta(m, elementwiseMeta(m, a, ["self", "target"]), a.int("reduction")),
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("self"), a.tensor("target")], (x, y) => {
        const f = aten(b);
        const loss = f("log1p.default", f("exp.default", f("mul.Tensor", f("neg.default", x), y)));
        return reduceLoss(b, loss, a.int("reduction"));
      }),
    derivative: each({
      self: (b, c) =>
        b.call("aten.soft_margin_loss_backward.default", [
          c.grad(),
          c.args.tensor("self"),
          c.args.tensor("target"),
          c.args.raw("reduction"),
        ]),
    }),
  },
  {
    name: "aten.soft_margin_loss_backward.default",
    schema: "soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => elementwiseMeta(m, a, ["self", "target"]),
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("grad_output"), a.tensor("self"), a.tensor("target")], (g, x, y) => {
        const f = aten(b);
        const scaled = f("mul.Tensor", y, g);
        const slope = f("sub.Tensor", f("sigmoid.default", f("mul.Tensor", y, x)), 1);
        const grad = f("mul.Tensor", scaled, slope);
        if (a.int("reduction") !== Reduction.mean) return grad;
        return f("div.Tensor", grad, sizeScalar(b, numelOf(b, x)));
      }),
  },
  composed({
    name: `${F}soft_margin_loss.default`,
    schema: `soft_margin_loss(Tensor input, Tensor target, ${LEGACY}) -> Tensor`,
    python: [`${F}soft_margin_loss`],
    composite: (b, a) =>
      b.call("aten.soft_margin_loss.default", [a.tensor("input"), a.tensor("target"), reductionOf(b, a)]),
  }),
];

interface MultiMargin<T> {
  readonly input: T;
  readonly target: T;
  readonly weight: T | null;
  readonly p: number;
  readonly margin: number;
  readonly reduction: number;
}

/** hinge of every class score against the score of the target class; composed before autograd */
function multiMarginNodes<T>(b: GraphBuilder<T>, n: MultiMargin<T>): T {
  const f = aten(b);
  if (n.p !== 1 && n.p !== 2) return b.fail("only p == 1 and p == 2 supported");
  const input = f("atleast_2d.default", n.input);
  const { shape, device } = b.meta(input);
  const [frames, classes] = shape;
  const index = f("atleast_1d.default", n.target);
  const given = b.meta(index).shape;
  if (shape.length !== 2 || frames === undefined || classes === undefined)
    return b.fail(
      `Expected non-empty vector or matrix with optional 0-dim batch size, but got: torch.Size([${shape.map(s => b.hint(s)).join(", ")}])`,
    );
  if (given.length !== 1 || !b.eq(given[0] ?? b.int(1), frames))
    return b.fail(
      `inconsistent target size, expected ${b.hint(frames)} but got torch.Size([${given.map(s => b.hint(s)).join(", ")}])`,
    );
  const target = f("unsqueeze.default", index, 1);
  const own = f("gather.default", input, 1, target);
  const gap = f("add.Tensor", f("rsub.Scalar", own, fl(n.margin)), input);
  let z = f("clamp_min.default", gap, 0);
  if (n.p === 2) z = f("mul.Tensor", z, z);
  if (n.weight !== null) z = f("mul.Tensor", z, f("index.Tensor", f("atleast_1d.default", n.weight), [target]));
  const other = f("ne.Tensor", arange(b, classes, device), target);
  z = where(b, other, z, 0);
  if (n.reduction === Reduction.mean) return f("mean.default", z);
  if (n.reduction === Reduction.sum) return f("div.Tensor", f("sum.default", z), sizeScalar(b, classes));
  return f("mean.dim", z, [1]);
}

/**
 * hinge between every labelled and every other score of a row; labels end at the first -1. Composed before autograd.
 * Results: the loss, and which scores are labelled.
 */
function multilabelMarginNodes<T>(b: GraphBuilder<T>, x: T, y: T, reduction: number): [T, T] {
  const f = aten(b);
  const [input, target] = [f("atleast_2d.default", x), f("atleast_2d.default", y)];
  const classes = b.meta(input).shape[1] ?? b.int(1);
  const { dtype, device } = b.meta(input);
  const index = arange(b, classes, device);
  // the first -1 of each row
  const isEnd = f("eq.Scalar", target, -1);
  const none = b.call("aten.scalar_tensor.default", [sizeScalar(b, classes)], {
    dtype: new DTypeArg("int64"),
    layout: STRIDED,
    device: new DeviceArg(device),
  });
  const ends = f("where.self", isEnd, index, none);
  const present = f("lt.Tensor", index, f("amin.default", ends, [-1], true));
  const scores = f("gather.default", input, -1, where(b, present, target, 0));
  const labels = where(b, present, target, -1);
  const labelled = f("any.dim", f("eq.Tensor", index, f("unsqueeze.default", labels, -1)), 1);
  const column = f("unsqueeze.default", f("permute.default", scores, [1, 0]), -1);
  const gap = f("add.Tensor", f("rsub.Scalar", column, fl(1)), input);
  const shared = f("div.Tensor", f("clamp_min.default", gap, 0), sizeScalar(b, classes));
  const z = where(b, labelled, 0, shared);
  const marks = f("reshape.default", cast(b, labelled, dtype), b.meta(y).shape);
  if (reduction === Reduction.sum) return [f("sum.default", z), marks];
  const rows = f("sum.dim_IntList", z, [0, -1]);
  return [reduction === Reduction.mean ? f("mean.default", rows) : rows, marks];
}

const multiArgs = <T>(a: Args<T>, input: string, reduction: number): MultiMargin<T> => ({
  input: a.tensor(input),
  target: a.tensor("target"),
  weight: a.optTensor("weight"),
  p: a.number("p"),
  margin: a.number("margin"),
  reduction,
});

const overClasses: OpRecord[] = [
  composed({
    name: "aten.multi_margin_loss.default",
    schema:
      "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=Mean) -> Tensor",
    python: ["torch._C._nn.multi_margin_loss"],
    composite: (b, a) => multiMarginNodes(b, multiArgs(a, "self", a.int("reduction"))),
  }),
  composed({
    name: `${F}multi_margin_loss.default`,
    schema: `multi_margin_loss(Tensor input, Tensor target, Scalar p=1, float margin=1.0, Tensor? weight=None, ${LEGACY}) -> Tensor`,
    python: [`${F}multi_margin_loss`],
    composite: (b, a) => multiMarginNodes(b, multiArgs(a, "input", reductionOf(b, a))),
  }),
  composed({
    name: "aten.multilabel_margin_loss.default",
    schema: "multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
    python: ["torch._C._nn.multilabel_margin_loss"],
    composite: (b, a) => multilabelMarginNodes(b, a.tensor("self"), a.tensor("target"), a.int("reduction"))[0],
  }),
  composed({
    name: `${F}multilabel_margin_loss.default`,
    schema: `multilabel_margin_loss(Tensor input, Tensor target, ${LEGACY}) -> Tensor`,
    python: [`${F}multilabel_margin_loss`],
    composite: (b, a) => multilabelMarginNodes(b, a.tensor("input"), a.tensor("target"), reductionOf(b, a))[0],
  }),
];

export const records: readonly OpRecord[] = [...softMargin, ...overClasses];
