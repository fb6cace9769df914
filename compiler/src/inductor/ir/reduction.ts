// Reductions (Reduction.create, _make_reduction_inner, reduction lowerings). In: a box and dimensions. Out: a box, in
// memory unless the reduction was short enough to be computed in place. Promises: rules in the order of lowering.md §5.1.
import type { Dim, DType, Loader, Ops, ReductionType } from "../../aten/types";
import { add, type Expr, int, intValue, mul, product } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf, valueLayout } from "./access";
import { type InnerFn, single } from "./body_ops";
import type { TensorBox } from "./boxes";
import type { Lowering } from "./context";
import { categoryOf } from "./dtypes";
import { isContiguous } from "./layouts";
import { numSplits } from "./num_splits";
import { createPointwise } from "./pointwise";
import { realize } from "./realize";
import type { ReductionSpec } from "./reduction_spec";
import { splitReduction, splitWithExistingRanges } from "./split_reduction";
import { isStridedStorage } from "./views";

/** what the loops over x are when `dims` are reduced */
export function reductionLoops(
  x: TensorBox,
  dims: readonly number[],
  keepdim: boolean,
): {
  readonly ranges: readonly Expr[];
  readonly reductionRanges: readonly Expr[];
  /** index of x from the kept and the reduced variables */
  readonly index: (kept: readonly Expr[], reduced: readonly Expr[]) => Expr[];
} {
  const size = sizeOf(x);
  const axes = normalizeDims(dims, size.length);
  const reduced = new Set(axes);
  const keptDims = size.map((_, i) => i).filter(i => !reduced.has(i));
  const ranges = keepdim ? size.map((s, i) => (reduced.has(i) ? int(1) : s)) : keptDims.map(i => size[i] as Expr);
  return {
    ranges,
    reductionRanges: axes.map(i => size[i] as Expr),
    index: (kept, r) => {
      const values = keepdim ? keptDims.map(i => kept[i] as Expr) : kept;
      const out: Expr[] = size.map(() => int(0));
      for (const [k, d] of keptDims.entries()) out[d] = values[k] as Expr;
      for (const [k, d] of axes.entries()) out[d] = r[k] as Expr;
      return out;
    },
  };
}

/** all dimensions if none is given; sorted, without repeats */
export function normalizeDims(dims: readonly number[], rank: number): number[] {
  if (dims.length === 0) return Array.from({ length: rank }, (_, i) => i);
  // dim 0 of a 0-d tensor is no dimension
  return [...new Set(dims.map(d => (d < 0 ? d + rank : d)).filter(d => d >= 0 && d < rank))].sort((a, b) => a - b);
}

const isArg = (t: ReductionType): boolean => t === "argmax" || t === "argmin";

/** A reduction of x over `dims`; `dtype` is the result's, x's unless given. */
export function reduce(
  ctx: Lowering,
  x: TensorBox,
  type: ReductionType,
  dims: readonly number[],
  keepdim: boolean,
  dtype?: DType,
): TensorBox {
  const { ranges, reductionRanges, index } = reductionLoops(x, dims, keepdim);
  const load = loaderOf(ctx, x);
  const withIndex = isArg(type) && reductionRanges.length > 1 && needsLogicalIndex(ctx, x);
  const inner: InnerFn = <V>(ops: Ops<V>, i: readonly Expr[], r: readonly Expr[]): V | readonly V[] => {
    const value = load(ops, index(i, r));
    return withIndex ? [value, ops.indexExpr(flatIndex(r, reductionRanges), "int64")] : value;
  };
  const result = createReduction(ctx, {
    device: deviceOf(x),
    dtype: dtype ?? (isArg(type) ? "int64" : dtypeOf(x)),
    srcDtype: dtypeOf(x),
    inner,
    ranges,
    reductionRanges,
    type,
    hint: "DEFAULT",
    input: x,
  });
  if (result.data.kind === "storage" && result.data.data.kind === "Reduction") realize(ctx, result);
  return result;
}

/** a reduction of a window around each element */
export function reduceWindow(
  ctx: Lowering,
  spec: {
    readonly input: TensorBox;
    readonly size: readonly Expr[];
    readonly window: readonly number[];
    readonly type: "sum" | "max" | "argmax";
    readonly dtype: DType;
    readonly unrollBelow?: number;
    readonly body: <V>(ops: Ops<V>, index: readonly Dim[], window: readonly Dim[]) => V;
  },
): TensorBox {
  const result = createReduction(ctx, {
    device: deviceOf(spec.input),
    dtype: spec.dtype,
    srcDtype: dtypeOf(spec.input),
    inner: spec.body as InnerFn,
    ranges: spec.size,
    reductionRanges: spec.window.map(int),
    type: spec.type,
    hint: "DEFAULT",
    input: spec.input,
    ...(spec.unrollBelow === undefined ? {} : { unrollBelow: spec.unrollBelow }),
  });
  if (result.data.kind === "storage" && result.data.data.kind === "Reduction") realize(ctx, result);
  return result;
}

/** an arg reduction counts in row-major order of the logical dimensions, whatever order the loops run in */
function needsLogicalIndex(ctx: Lowering, x: TensorBox): boolean {
  if (!isStridedStorage(x)) return x.data.kind === "view" && x.data.view === "permute";
  const l = valueLayout(x);
  return l !== undefined && !isContiguous(l.size, l.stride, ctx.sizevars);
}

export function flatIndex(index: readonly Expr[], sizes: readonly Expr[]): Expr {
  return index.reduce<Expr>((flat, v, i) => add(mul(flat, sizes[i] as Expr), v), int(0));
}

/** value of an empty reduction */
function emptyValue(type: ReductionType): number {
  switch (type) {
    case "sum":
    case "xor_sum":
    case "any":
      return 0;
    case "prod":
      return 1;
    default:
      throw new Error(`${type} of no elements`);
  }
}

function createReduction(ctx: Lowering, r: ReductionSpec): TensorBox {
  const rnumel = ctx.sizevars.simplify(product(r.reductionRanges));
  const n = intValue(rnumel);
  const pointwise = (inner: Loader): TensorBox =>
    createPointwise(ctx, { size: r.ranges, dtype: r.dtype, device: r.device, inner });
  if (n === 0) {
    const value = emptyValue(r.type);
    const typed = categoryOf(r.dtype) === "bool" ? value !== 0 : value;
    return pointwise(ops => ops.constant(typed, r.dtype));
  }
  if (n === 1) {
    if (isArg(r.type)) return pointwise(ops => ops.constant(0, r.dtype));
    return pointwise((ops, index) =>
      single(
        r.inner(
          ops,
          index as readonly Expr[],
          r.reductionRanges.map(() => int(0)),
        ),
      ),
    );
  }
  const one = intValue(ctx.sizevars.simplify(product(r.ranges))) === 1;
  if (
    n !== undefined &&
    n < (r.unrollBelow ?? ctx.configNumber("unroll_reductions_threshold")) &&
    (!one || r.device.type === "cuda") &&
    r.type !== "dot"
  ) {
    return pointwise(unrolled(r));
  }
  const { hint: found, split: asked } = numSplits(ctx, r);
  const split = asked > 1 && n === undefined ? Math.max(asked, ctx.configNumber("min_num_split")) : asked;
  const hint = r.hint === "DEFAULT" ? found : r.hint;
  const again = (first: ReductionSpec): TensorBox => createReduction(ctx, first);
  if (split === -1) return splitWithExistingRanges(ctx, { ...r, hint }, again);
  if (split > 1) return splitReduction(ctx, { ...r, hint }, split, again);
  return ctx.boxOf({
    kind: "Reduction",
    device: r.device,
    dtype: r.dtype,
    ranges: r.ranges,
    reductionRanges: r.reductionRanges,
    type: r.type,
    srcDtype: r.srcDtype,
    hint,
    inner: r.inner,
    outputIndex: 0,
    origins: ctx.origins,
    originNode: null,
  });
}

/** the reduction written out over all its elements, in row-major order */
function unrolled(r: ReductionSpec): Loader {
  const sizes = r.reductionRanges.map(s => intValue(s) as number);
  const positions = allPositions(sizes);
  return <V>(ops: Ops<V>, index: readonly Dim[]): V => {
    const at = (p: readonly number[]): V | readonly V[] => r.inner(ops, index as readonly Expr[], p.map(int));
    if (!isArg(r.type))
      return positions
        .slice(1)
        .reduce((a, p) => combine(ops, r.type, a, single(at(p))), single(at(positions[0] as number[])));
    const pair = (p: readonly number[]): [V, V] => {
      const v = at(p);
      if (Array.isArray(v)) return [v[0], v[1]] as [V, V];
      const flat = p.reduce((f, x, i) => f * (sizes[i] as number) + x, 0);
      return [v as V, ops.indexExpr(int(flat), "int64")];
    };
    let best = pair(positions[0] as number[]);
    for (const p of positions.slice(1)) best = combineArg(ops, r.type === "argmax", r.srcDtype, best, pair(p));
    return best[1];
  };
}

function allPositions(sizes: readonly number[]): number[][] {
  let out: number[][] = [[]];
  for (const s of sizes) out = out.flatMap(p => Array.from({ length: s }, (_, i) => [...p, i]));
  return out;
}

function combine<V>(ops: Ops<V>, type: ReductionType, a: V, b: V): V {
  switch (type) {
    case "sum":
      return ops.op("add", a, b);
    case "prod":
      return ops.op("mul", a, b);
    case "max":
      return ops.op("maximum", a, b);
    case "min":
      return ops.op("minimum", a, b);
    case "any":
      return ops.op("logical_or", a, b);
    case "xor_sum":
      return ops.op("bitwise_xor", a, b);
    case "argmax":
    case "argmin":
    case "welford_reduce":
    case "welford_combine":
    case "online_softmax_reduce":
    case "dot":
      throw new Error(`${type} has no combine function of two values`);
    default: {
      const never: never = type;
      return never;
    }
  }
}

/** (value, index) of two candidates: nan wins over numbers, the smaller index over equals */
function combineArg<V>(ops: Ops<V>, isMax: boolean, dtype: DType, a: [V, V], b: [V, V]): [V, V] {
  const [av, ai] = a;
  const [bv, bi] = b;
  let mask = isMax ? ops.op("gt", av, bv) : ops.op("lt", av, bv);
  let equal = ops.op("eq", av, bv);
  if (categoryOf(dtype) === "float") {
    const aNan = ops.op("ne", av, av);
    const bNan = ops.op("ne", bv, bv);
    mask = ops.op("logical_or", mask, ops.op("gt", aNan, bNan));
    equal = ops.op("logical_or", equal, ops.op("logical_and", aNan, bNan));
  }
  mask = ops.op("logical_or", mask, ops.op("logical_and", equal, ops.op("lt", ai, bi)));
  return [ops.op("where", mask, av, bv), ops.op("where", mask, ai, bi)];
}
