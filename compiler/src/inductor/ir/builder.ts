// LoweringBuilder over boxes: what operator records lower through. In: a Lowering. Out: the builder. Promises: every call
// acts on the graph being lowered, under the origins of the node in hand.
import { guardsOf, isExpr, makeDimMath } from "../../aten/dim_math";
import { promoteElementwise } from "../../aten/promotion";
import {
  type ArgValue,
  type Dim,
  type Loader,
  type LoweringBuilder,
  OpError,
  type ReductionType,
  type TensorMeta,
} from "../../aten/types";
import { type Expr, int, intValue, modularIndexing, relation, toExpr } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf } from "./access";
import { allocate, externOp, toDevice } from "./allocation";
import { bufferOf, isTensorBox, type TensorBox } from "./boxes";
import { concatenate } from "./cat";
import { realizeInput, requireContiguous, requireStride1, requireStrideOrder } from "./constraints";
import type { Lowering } from "./context";
import { extern, externMany, inTracedOrder } from "./extern";
import { tracedResults } from "./fallback_meta";
import { CHANNELS_LAST_ORDER, channelsLastOrder, channelsLastStrides, strideOrderOf } from "./layouts";
import { copyInto, foreach, readNames, scatter } from "./mutation";
import {
  clone,
  constantOf,
  createPointwise,
  elementwise,
  expand,
  full,
  isScalar,
  type Operand,
  toDtype,
} from "./pointwise";
import { lookupSeed, seeds } from "./random";
import { freezeWithStrideOrder, markReuse, realize, realizeHint } from "./realize";
import { reduce, reduceWindow } from "./reduction";
import { scan, sort } from "./scan_sort";
import { asStridedView, dtypeView, genericView, normalizeSlice, permuteView, reshapeView, sliceView } from "./views";
import { onlineSoftmax, varMean } from "./welford";

const expr = (d: Dim | number): Expr => toExpr(d as Expr | number);
const exprs = (ds: readonly (Dim | number)[]): Expr[] => ds.map(expr);

/** a slice's end beyond any tensor (sys.maxsize) */
const isHuge = (e: Dim | number | bigint): boolean =>
  typeof e === "bigint" ? e >= 2n ** 62n : typeof e === "number" && e >= 2 ** 62;

export function makeBuilder(ctx: Lowering): LoweringBuilder<TensorBox> {
  const math = makeDimMath(guardsOf(ctx.sizevars.shapeEnv, () => ctx.currentNode?.target ?? "lowering"));
  const reshape = (x: TensorBox, size: readonly Expr[]): TensorBox =>
    ctx.box(reshapeView(ctx, x, size, v => requireContiguous(ctx, ctx.box(v.kind === "tensor" ? v.data : v))));

  const slice: LoweringBuilder<TensorBox>["slice"] = (x, dim, start, end, step = 1, clamp = true) => {
    const size = sizeOf(x)[dim] as Expr;
    let first = expr(start);
    let last = isHuge(end) ? size : expr(end as Dim | number);
    if (clamp) [first, last] = normalizeSlice(ctx.sizevars, size, first, last);
    const by = expr(step);
    if (intValue(first) === 0 && last === size && intValue(by) === 1) return x;
    return ctx.box(sliceView(ctx, x, dim, first, last, by));
  };
  const squeeze = (x: TensorBox, dim: number): TensorBox => {
    const size = sizeOf(x);
    if (!ctx.sizevars.isSizeOne(size[dim] ?? int(0))) return x;
    return reshape(
      x,
      size.filter((_, i) => i !== dim),
    );
  };

  return {
    ...math,
    size: sizeOf,
    dtype: dtypeOf,
    device: deviceOf,
    isBox: isTensorBox,
    out: () => {
      const v = tracedResults(ctx.currentNode);
      if (v === undefined) throw new OpError(`${ctx.currentNode?.name ?? "node"} has no tensor result`);
      return v as TensorMeta | readonly (TensorMeta | null)[];
    },
    config: name => ctx.config(name) ?? ctx.options.behaviours?.get(name),
    wrapDim: (d, rank) => (d < 0 ? d + Math.max(rank, 1) : d),
    promote: (kind, ...operands) => promoteElementwise(kind, operands),

    loader: x => loaderOf(ctx, x),
    pointwise: spec =>
      createPointwise(ctx, { size: exprs(spec.size), dtype: spec.dtype, device: spec.device, inner: spec.body }),
    elementwise: (op, operands, opts) =>
      elementwise(
        ctx,
        op,
        operands.map(o => operand(o)),
        opts,
      ),
    constant: (value, dtype, device, size) => full(ctx, value, dtype, device, exprs(size)),
    constantOf,
    toDtype: (x, dtype, copy) => toDtype(ctx, x, dtype, copy),
    reduce: (x, type: ReductionType, dims, keepdim, dtype) => reduce(ctx, x, type, dims, keepdim, dtype),
    reduceWindow: spec => reduceWindow(ctx, { ...spec, size: exprs(spec.size) }),
    varMean: (x, dims, correction, keepdim, returnMean) => {
      const wantsMean = returnMean ?? Array.isArray(tracedResults(ctx.currentNode));
      return varMean(ctx, x, dims, correction, keepdim, wantsMean);
    },
    onlineSoftmax: (x, dim) => onlineSoftmax(ctx, x, dim < 0 ? dim + sizeOf(x).length : dim),
    scan: (xs, dim, combine) => scan(ctx, xs, dim < 0 ? dim + sizeOf(xs[0] as TensorBox).length : dim, combine) ?? null,
    sort: (x, dim, opts) => sort(ctx, x, dim < 0 ? dim + sizeOf(x).length : dim, opts.stable, opts.descending) ?? null,

    view: (x, size) => reshape(x, exprs(size)),
    permute: (x, order) =>
      ctx.box(
        permuteView(
          ctx,
          x,
          order.map(d => (d < 0 ? d + order.length : d)),
        ),
      ),
    expand: (x, size) => expand(ctx, x, exprs(size)),
    squeeze,
    unsqueeze: (x, dim) => {
      const size = [...sizeOf(x)];
      size.splice(dim, 0, int(1));
      return reshape(x, size);
    },
    slice,
    select: (x, dim, index) => {
      const i = expr(index);
      const n = intValue(i);
      const negative = n !== undefined ? n < 0 : ctx.sizevars.guardOrFalse(relation("lt", i, 0));
      const at = negative ? math.add(i, sizeOf(x)[dim] as Expr) : i;
      return squeeze(slice(x, dim, at, math.add(at, 1), 1, false), dim);
    },
    asStrided: (x, size, stride, offset) => ctx.box(asStridedView(ctx, x, exprs(size), exprs(stride), expr(offset))),
    viewDtype: (x, dtype) => ctx.box(dtypeView(ctx, x, dtype)),
    genericView: (x, size, reindex) => ctx.box(genericView(ctx, x, exprs(size), index => exprs(reindex(index)))),
    modularIndexing: (base, divisor, modulus) => modularIndexing(expr(base), expr(divisor), expr(modulus)),
    markReuse: (x, users) => markReuse(ctx, x, users),

    empty: (size, stride, dtype, device) => allocate(ctx, exprs(size), exprs(stride), dtype, device),
    toDevice: (x, device) => toDevice(ctx, x, device),
    reads: (x, target) => {
      const b = bufferOf(target);
      return b !== undefined && readNames(x).has(b.name);
    },
    externTarget: x => externOp(x),
    bucketize: () => null,
    inplacePad: () => null,
    realize: x => {
      realize(ctx, x);
      return x;
    },
    operand: x => requireStride1(ctx, realizeInput(ctx, x)),
    inTracedOrder: x => inTracedOrder(ctx, x),
    channelsLast: x => {
      realize(ctx, x);
      const b = bufferOf(x);
      if (b?.layout.kind === "flexible") {
        const strides = channelsLastStrides(sizeOf(x));
        freezeWithStrideOrder(ctx, b, strideOrderOf(strides, ctx.sizevars), false);
      }
      return x;
    },
    requireChannelsLast: x => realizeInput(ctx, requireStrideOrder(ctx, x, channelsLastOrder(sizeOf(x).length))),
    convolvesChannelsLast: () => {
      const meta = tracedResults(ctx.currentNode) as TensorMeta;
      if (meta.shape.length !== 4) return false;
      const order = strideOrderOf(meta.stride as readonly Expr[], ctx.sizevars);
      return ctx.layoutOpt || order.join() === CHANNELS_LAST_ORDER.join();
    },
    choosesFormats: () => ctx.layoutOpt,
    realizeHint: x => realizeHint(ctx, x),
    clone: x => clone(ctx, x),
    cat: (xs, dim) => concatenate(ctx, xs, dim < 0 ? dim + sizeOf(xs[0] as TensorBox).length : dim),
    copyInto: (dst, src) => copyInto(ctx, dst, src),
    scatter: spec => scatter(ctx, { ...spec, size: exprs(spec.size), value: spec.value as Loader }),
    extern: spec => extern(ctx, spec),
    externMany: spec => externMany(ctx, spec),
    foreach: (members, inplace, targets) => foreach(ctx, members, inplace, targets ?? []),
    seeds: (count, device) => seeds(ctx, count, device),
    lookupSeed: (x, index) => lookupSeed(ctx, x, index),
    error: message => {
      throw new OpError(message);
    },
  };
}

function operand(o: ArgValue<TensorBox>): Operand {
  if (isTensorBox(o) || isScalar(o)) return o;
  if (isExpr(o)) return o;
  throw new OpError("an operand must be a tensor or a number", "TypeError");
}
