// Reductions with several results: mean and variance by Welford, max and sum of a softmax in one pass
// (WelfordReduction, var_mean_helper_, prepare_softmax_online). In: a box and dimensions. Out: boxes in memory.
// Promises: every result of such a reduction is a node of its own; those not used are dropped later.
import type { Device, DType, Loader, Ops } from "../../aten/types";
import { type Expr, int, intValue, max, product, sub } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf } from "./access";
import { type InnerFn, single } from "./body_ops";
import type { ReductionLoops, TensorBox } from "./boxes";
import { requireContiguous } from "./constraints";
import type { Lowering } from "./context";
import { computationDtype } from "./dtypes";
import { blockSize, needsMask, numSplits } from "./num_splits";
import { createPointwise, elementwise, toDtype } from "./pointwise";
import { realize } from "./realize";
import { normalizeDims, reduce, reductionLoops } from "./reduction";
import { pieceLoader, secondStepHint } from "./split_reduction";
import type { ReductionHint } from "./types";
import { reshapeView } from "./views";

interface WelfordSpec {
  readonly device: Device;
  readonly dtype: DType;
  /** one loader (the values) or three (mean, m2, weight of parts) */
  readonly inners: readonly InnerFn[];
  readonly ranges: readonly Expr[];
  readonly reductionRanges: readonly Expr[];
  readonly type: "welford_reduce" | "welford_combine";
  readonly hint: ReductionHint;
}

type Triple = readonly [TensorBox, TensorBox, TensorBox];

function welford(ctx: Lowering, w: WelfordSpec): Triple {
  const n = intValue(ctx.sizevars.simplify(product(w.reductionRanges)));
  const pointwise = (inner: Loader): TensorBox =>
    createPointwise(ctx, { size: w.ranges, dtype: w.dtype, device: w.device, inner });
  const constant = (v: number): TensorBox => pointwise(ops => ops.constant(v, w.dtype));
  if (n === 0) return [constant(0), constant(0), constant(0)];
  if (n === 1) {
    const copy = (i: number): TensorBox =>
      pointwise((ops, index) =>
        single(
          (w.inners[i] as InnerFn)(
            ops,
            index as readonly Expr[],
            w.reductionRanges.map(() => int(0)),
          ),
        ),
      );
    return w.type === "welford_reduce" ? [copy(0), constant(0), constant(1)] : [copy(0), copy(1), copy(2)];
  }
  const { hint: found, split } = numSplits(ctx, { ...w, inner: w.inners[0] as InnerFn, input: null });
  const hint = w.hint === "DEFAULT" ? found : w.hint;
  if (split > 1) return splitWelford(ctx, { ...w, hint }, split);
  const inner: InnerFn =
    w.inners.length === 1 ? (w.inners[0] as InnerFn) : (ops, i, r) => w.inners.map(f => single(f(ops, i, r)));
  return outputs(ctx, 3, "WelfordReduction", { ...w, hint }, inner) as unknown as Triple;
}

/** one node per result, all over the same loops */
function outputs(
  ctx: Lowering,
  count: number,
  kind: "WelfordReduction" | "MultiOutputReduction",
  r: Omit<WelfordSpec, "inners" | "type"> & { readonly type: ReductionLoops["type"] },
  inner: InnerFn,
): TensorBox[] {
  const results = Array.from({ length: count }, (_, outputIndex) =>
    ctx.boxOf({
      kind,
      device: r.device,
      dtype: r.dtype,
      ranges: r.ranges,
      reductionRanges: r.reductionRanges,
      type: r.type,
      srcDtype: r.dtype,
      hint: r.hint,
      inner,
      outputIndex,
      origins: ctx.origins,
      originNode: null,
    }),
  );
  for (const t of results) realize(ctx, t);
  return results;
}

function splitWelford(ctx: Lowering, w: WelfordSpec, split: number): Triple {
  const rnumel = ctx.sizevars.simplify(product(w.reductionRanges));
  if (needsMask(ctx, rnumel, split) && w.type !== "welford_combine") {
    // elements past the end must not count, so every element carries its weight
    const constant =
      (v: number): InnerFn =>
      ops =>
        ops.constant(v, w.dtype);
    return splitWelford(
      ctx,
      { ...w, inners: [w.inners[0] as InnerFn, constant(0), constant(1)], type: "welford_combine" },
      split,
    );
  }
  const block = blockSize(rnumel, split);
  const first = welford(ctx, {
    ...w,
    inners: w.inners.map(inner => pieceLoader(ctx, inner, w.reductionRanges, rnumel, block, split, 0, null)),
    ranges: [...w.ranges, int(split)],
    reductionRanges: [block],
  });
  for (const t of first) realize(ctx, t);
  const numel = ctx.sizevars.sizeHint(product(w.ranges), 8192);
  return welford(ctx, {
    ...w,
    inners: first.map((t): InnerFn => {
      const load = loaderOf(ctx, t);
      return (ops, i, r) => load(ops, [...i, ...r]);
    }),
    reductionRanges: [int(split)],
    type: "welford_combine",
    hint: secondStepHint(split, numel, w.hint),
  });
}

/** Variance and mean over `dims`; short reductions take two passes that are computed in place. */
export function varMean(
  ctx: Lowering,
  x: TensorBox,
  dims: readonly number[],
  correction: number,
  keepdim: boolean,
  wantsMean: boolean,
): { readonly var: TensorBox; readonly mean: TensorBox } {
  const dtype = dtypeOf(x);
  const computed = toDtype(ctx, x, computationDtype(dtype));
  const { ranges, reductionRanges } = reductionLoops(computed, dims, keepdim);
  const n = intValue(product(reductionRanges));
  const twoSteps =
    n !== undefined && n < ctx.configNumber("unroll_reductions_threshold") && intValue(product(ranges)) !== 1;
  const r = twoSteps
    ? varMeanTwoSteps(ctx, computed, dims, correction, keepdim, wantsMean)
    : varMeanWelford(ctx, computed, dims, correction, keepdim);
  return { var: toDtype(ctx, r.var, dtype), mean: toDtype(ctx, r.mean, dtype) };
}

function meanOf(ctx: Lowering, x: TensorBox, dims: readonly number[], keepdim: boolean): TensorBox {
  const axes = normalizeDims(dims, sizeOf(x).length);
  const sum = reduce(ctx, x, "sum", dims, keepdim);
  return elementwise(ctx, "truediv", [sum, product(axes.map(i => sizeOf(x)[i] as Expr))]);
}

function varMeanTwoSteps(
  ctx: Lowering,
  x: TensorBox,
  dims: readonly number[],
  correction: number,
  keepdim: boolean,
  wantsMean: boolean,
): { var: TensorBox; mean: TensorBox } {
  const mean = meanOf(ctx, x, dims, true);
  if (wantsMean) realize(ctx, mean);
  const squares = elementwise(ctx, "square", [elementwise(ctx, "sub", [x, mean])]);
  const sum = reduce(ctx, squares, "sum", dims, keepdim);
  const axes = normalizeDims(dims, sizeOf(x).length);
  const count = product(axes.map(i => sizeOf(x)[i] as Expr));
  const denominator = correction !== 0 ? max(sub(count, correction), 0) : count;
  const variance = elementwise(ctx, "truediv", [sum, denominator]);
  if (keepdim) return { var: variance, mean };
  const kept = sizeOf(mean).filter((_, i) => !axes.includes(i));
  return {
    var: variance,
    mean: ctx.box(reshapeView(ctx, mean, kept, v => requireContiguous(ctx, ctx.box(v.kind === "tensor" ? v.data : v)))),
  };
}

function varMeanWelford(
  ctx: Lowering,
  x: TensorBox,
  dims: readonly number[],
  correction: number,
  keepdim: boolean,
): { var: TensorBox; mean: TensorBox } {
  const dtype = dtypeOf(x);
  const { ranges, reductionRanges, index } = reductionLoops(x, dims, keepdim);
  const load = loaderOf(ctx, x);
  const [mean, m2] = welford(ctx, {
    device: deviceOf(x),
    dtype,
    inners: [(ops, i, r) => load(ops, index(i, r))],
    ranges,
    reductionRanges,
    type: "welford_reduce",
    hint: "DEFAULT",
  });
  realize(ctx, m2);
  const count = ctx.sizevars.simplify(product(reductionRanges));
  const scale = <V>(ops: Ops<V>, data: V): V => {
    const n = intValue(count);
    const c = ops.constant(correction, dtype);
    const size = n !== undefined ? ops.constant(n, dtype) : ops.toDtype(ops.indexExpr(count, "int64"), dtype);
    const zero = ops.constant(0, dtype);
    return ops.op("truediv", data, ops.op("maximum", zero, ops.op("sub", size, c)));
  };
  const variance = elementwise(ctx, scale, [m2]);
  realize(ctx, mean);
  return { var: variance, mean };
}

/** Max and sum(exp(x - max)) along `dim`, kept; in one pass unless the reduction must be cut or is short. */
export function onlineSoftmax(
  ctx: Lowering,
  x: TensorBox,
  dim: number,
): { readonly max: TensorBox; readonly sum: TensorBox } {
  const { ranges, reductionRanges, index } = reductionLoops(x, [dim], true);
  const rnumel = ctx.sizevars.simplify(product(reductionRanges));
  const load = loaderOf(ctx, x);
  const inner: InnerFn = (ops, i, r) => load(ops, index(i, r));
  const { hint, split } = numSplits(ctx, {
    ranges,
    reductionRanges,
    type: "online_softmax_reduce",
    inner,
    input: null,
  });
  if (split === 1 && ctx.sizevars.knownGeq(rnumel, ctx.configNumber("unroll_reductions_threshold"))) {
    const [m, s] = outputs(
      ctx,
      2,
      "MultiOutputReduction",
      { device: deviceOf(x), dtype: dtypeOf(x), ranges, reductionRanges, type: "online_softmax_reduce", hint },
      inner,
    );
    return { max: m as TensorBox, sum: s as TensorBox };
  }
  const amax = reduce(ctx, x, "max", [dim], true);
  const exp = elementwise(ctx, "exp", [elementwise(ctx, "sub", [x, amax])], { promotion: "int_to_float" });
  return { max: amax, sum: reduce(ctx, exp, "sum", [dim], true) };
}
