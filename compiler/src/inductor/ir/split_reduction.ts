// Long reductions in two steps (create_multilayer, _multilayer_wrap_loader). In: a reduction and a number of pieces.
// Out: a reduction over pieces that reads a reduction within pieces. Promises: the first step is in memory and keeps what
// the reduction was; elements past the end count as the default value.
import { type DType, type Ops, PyFloat, type ReductionType } from "../../aten/types";
import { add, type Expr, int, intValue, mul, product } from "../symbolic/expr";
import { loaderOf, sizeOf, valueLayout } from "./access";
import type { InnerFn } from "./body_ops";
import { bufferOf, isLoops, isReduction, storageOf, type TensorBox } from "./boxes";
import type { Lowering } from "./context";
import { categoryOf, integerLimits, isHalf } from "./dtypes";
import { blockSize, needsMask, producerRanges } from "./num_splits";
import { countOf } from "./op_count";
import { decideLayout, realize } from "./realize";
import type { ReductionSpec } from "./reduction_spec";
import type { ReductionHint } from "./types";
import { isStridedStorage, reshapeIndexer } from "./views";

/** value that does not change a result (Reduction.default_value) */
export function defaultValue(type: ReductionType, dtype: DType): number | boolean | PyFloat {
  const category = categoryOf(dtype);
  switch (type) {
    case "max":
    case "argmax":
      return category === "float"
        ? new PyFloat(Number.NEGATIVE_INFINITY)
        : category === "bool"
          ? false
          : integerLimits(dtype)[0];
    case "min":
    case "argmin":
      return category === "float"
        ? new PyFloat(Number.POSITIVE_INFINITY)
        : category === "bool"
          ? true
          : integerLimits(dtype)[1];
    case "prod":
      return category === "bool" ? true : 1;
    case "sum":
    case "xor_sum":
    case "any":
    case "dot":
    case "welford_reduce":
    case "welford_combine":
    case "online_softmax_reduce":
      return category === "bool" ? false : 0;
    default: {
      const never: never = type;
      return never;
    }
  }
}

/** the whole reduction's elements by piece and position in the piece */
export function pieceLoader(
  ctx: Lowering,
  inner: InnerFn,
  reductionRanges: readonly Expr[],
  rnumel: Expr,
  block: Expr,
  split: number,
  fill: number | boolean | PyFloat,
  input: TensorBox | null,
): InnerFn {
  const denseDim = input === null ? undefined : denseDimension(ctx, input, rnumel);
  const reindex = reshapeIndexer(reductionRanges, [rnumel], ctx.sizevars, denseDim);
  const masked = needsMask(ctx, rnumel, split);
  const width = ctx.sizevars.knownLt(rnumel, 2 ** 31) ? "int32" : "int64";
  return <V>(ops: Ops<V>, index: readonly Expr[], rindex: readonly Expr[]): V | readonly V[] => {
    const outer = index.slice(0, -1);
    const flat = add(mul(block, index[index.length - 1] as Expr), rindex[0] as Expr);
    const body = (): V | readonly V[] => inner(ops, outer, reindex([flat]));
    if (!masked) return body();
    const inside = ops.op("lt", ops.indexExpr(flat, width), ops.indexExpr(rnumel, width));
    return ops.masked(inside, () => body() as V, fill);
  };
}

/** A full reduction reads its input in memory; the dimension of stride 1 goes innermost. Undefined: as they come. */
function denseDimension(ctx: Lowering, input: TensorBox, rnumel: Expr): number | undefined {
  if (!ctx.sizevars.knownEquals(product(sizeOf(input)), rnumel)) return undefined;
  realize(ctx, input);
  const b = bufferOf(input);
  if (b === undefined || !isStridedStorage(input)) return undefined;
  decideLayout(ctx, b);
  const l = valueLayout(input);
  if (l === undefined) return undefined;
  const dense = l.stride.findIndex(s => intValue(s) === 1);
  return dense >= 0 && dense !== l.stride.length - 1 ? dense : undefined;
}

/** half types keep their pieces in single precision */
const pieceDtype = (d: DType): DType => (isHalf(d) ? "float32" : d);

export function secondStepHint(split: number, numel: number, hint: ReductionHint): ReductionHint {
  if (hint !== "OUTER") return hint;
  return (split <= 512 && numel <= 512) || (split <= 1024 && numel <= 256) ? "OUTER_TINY" : hint;
}

/** `create` makes the first step, which may be split again */
export function splitReduction(
  ctx: Lowering,
  r: ReductionSpec,
  split: number,
  create: (r: ReductionSpec) => TensorBox,
): TensorBox {
  const rnumel = ctx.sizevars.simplify(product(r.reductionRanges));
  const block = blockSize(rnumel, split);
  const fill = defaultValue(r.type, r.dtype);
  const inner = pieceLoader(ctx, r.inner, r.reductionRanges, rnumel, block, split, fill, r.input);
  const out = twoSteps(ctx, r, create, inner, [...r.ranges, int(split)], [block], [int(split)], split);
  if (ctx.configFlag("triton.mix_order_reduction")) rememberSplit(ctx, out, r, split);
  return out;
}

/** the first step remembers the reduction that it was cut from */
function rememberSplit(ctx: Lowering, out: TensorBox, r: ReductionSpec, split: number): void {
  const d = storageOf(out).data;
  if (!isLoops(d) || !isReduction(d)) return;
  const names = new Set(countOf(d).reads);
  const first = names.size === 1 ? ctx.buffersByName.get([...names][0] as string) : undefined;
  if (first?.kind === "computed" && isReduction(first.data)) {
    first.data.split = { size: split, ranges: r.ranges, reductionRanges: r.reductionRanges, inner: r.inner };
  }
}

function twoSteps(
  ctx: Lowering,
  r: ReductionSpec,
  create: (r: ReductionSpec) => TensorBox,
  inner: InnerFn,
  firstRanges: readonly Expr[],
  firstReduction: readonly Expr[],
  secondReduction: readonly Expr[],
  split: number,
): TensorBox {
  const dtype = pieceDtype(r.dtype);
  const first = create({ ...r, dtype, inner, ranges: firstRanges, reductionRanges: firstReduction, input: null });
  realize(ctx, first);
  const load = loaderOf(ctx, first);
  const outerRank = r.ranges.length;
  const second: InnerFn = (ops, index, rindex) => load(ops, [...index.slice(0, outerRank), ...rindex]);
  const numel = ctx.sizevars.sizeHint(product(r.ranges), 8192);
  const hint = secondStepHint(split, numel, r.hint);
  return ctx.boxOf({
    kind: "Reduction",
    device: r.device,
    dtype: r.dtype,
    ranges: r.ranges,
    reductionRanges: secondReduction,
    type: r.type,
    srcDtype: r.srcDtype,
    hint,
    inner: second,
    outputIndex: 0,
    origins: ctx.origins,
    originNode: null,
  });
}

/** Two steps whose first has the loops of the reduction that feeds this one, so that both run in one kernel. */
export function splitWithExistingRanges(
  ctx: Lowering,
  r: ReductionSpec,
  create: (r: ReductionSpec) => TensorBox,
): TensorBox {
  const rnumel = ctx.sizevars.sizeHint(product(r.reductionRanges));
  const existing = r.input === null ? undefined : producerRanges(ctx, r.input, rnumel);
  if (existing === undefined) throw new Error("no reduction feeds this one");
  const reindex = reshapeIndexer(r.reductionRanges, [...existing.ranges, ...existing.reductionRanges], ctx.sizevars);
  const outerRank = r.ranges.length;
  const inner: InnerFn = (ops, index, rindex) =>
    r.inner(ops, index.slice(0, outerRank), reindex([...index.slice(outerRank), ...rindex]));
  return twoSteps(
    ctx,
    r,
    create,
    inner,
    [...r.ranges, ...existing.ranges],
    existing.reductionRanges,
    existing.ranges,
    -1,
  );
}
