// group_norm and its gradient.
import type { Args, ArgValue, DerivativeContext, Dim, GraphBuilder, OpRecord } from "../types";
import { aten, masked, NOT_DIFFERENTIABLE } from "./helpers/define";
import { addToFirst, between, normalize, throughStatistics } from "./helpers/norm";
import { composed } from "./helpers/shape";
import { full, opmath, quotient, sumDims, toDtype } from "./helpers/trace";

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
    const { out, mean, rstd } = normalize(b, grouped, [2, 3], a.float("eps"));
    let y = f("view.default", out, shape);
    const spread = (t: typeof y): typeof y =>
      [0, ...between(2, shape.length)].reduce((s, d) => f("unsqueeze.default", s, d), t);
    const [weight, bias] = [a.optTensor("weight"), a.optTensor("bias")];
    if (weight !== null) y = f("mul.Tensor", y, spread(weight));
    if (bias !== null) y = f("add.Tensor", y, spread(bias));
    const result = toDtype(b, y, dtype);
    const stats = [toDtype(b, mean, dtype), toDtype(b, rstd, dtype)];
    return [result, ...stats.map(t => f("squeeze.dims", t, [2, 3]))];
  },
  derivative: masked(["input", "weight", "bias"], (b, c, mask) => {
    const [mean, rstd] = [c.result(1), c.result(2)];
    const contiguous = aten(b);
    const grads = b.callMany("aten.native_group_norm_backward.default", [
      contiguous("contiguous.default", c.grad(0)),
      contiguous("contiguous.default", c.args.tensor("input")),
      mean,
      rstd,
      c.args.optTensor("weight"),
      c.args.raw("N"),
      c.args.raw("C"),
      c.args.raw("HxW"),
      c.args.raw("group"),
      mask,
    ]);
    return addToFirst(b, grads, c.optGrad(0) === null, groupStatistics(b, c, mean, rstd));
  }),
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
          a.float("eps"),
        ])[0] as typeof x;
      },
    }),
);

export const records: readonly OpRecord[] = [nativeGroupNorm, nativeGroupNormBackward, ...groupNorms];
