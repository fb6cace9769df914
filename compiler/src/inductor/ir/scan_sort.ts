// Scans along one axis and sorts of short rows (Scan.create, Sort.create, sort_stable). In: boxes and an axis. Out: boxes
// in memory, or undefined where ATen's kernel is called instead.
import type { DType, Loader, Ops } from "../../aten/types";
import { type Expr, int, product } from "../symbolic/expr";
import { deviceOf, dtypeOf, loaderOf, sizeOf } from "./access";
import type { CombineFn, InnerFn } from "./body_ops";
import type { TensorBox } from "./boxes";
import type { Lowering } from "./context";
import { numSplits } from "./num_splits";
import { createPointwise, expand, full, toDtype } from "./pointwise";
import { realize } from "./realize";
import { reshapeView } from "./views";

/** triton's sort beats ATen's up to about this row length */
const MAX_SORT = 512;
const INT16_MAX = 32767;

const without = (list: readonly Expr[], axis: number): Expr[] => list.filter((_, i) => i !== axis);

const along =
  (axis: number) =>
  (index: readonly Expr[], scan: readonly Expr[]): Expr[] => [...index.slice(0, axis), ...scan, ...index.slice(axis)];

export function scan(
  ctx: Lowering,
  xs: readonly TensorBox[],
  axis: number,
  combine: CombineFn,
): TensorBox[] | undefined {
  const [first] = xs;
  if (first === undefined || deviceOf(first).type !== "cuda") return undefined;
  const size = sizeOf(first);
  const dtypes = xs.map(dtypeOf);
  const inners = xs.map(x => loaderOf(ctx, x));
  const device = deviceOf(first);
  const scanRanges = size.length === 0 ? [] : [size[axis] as Expr];
  if (size.length === 0 || ctx.sizevars.knownLeq(product(scanRanges), 1)) {
    return inners.map((inner, i) => createPointwise(ctx, { size, dtype: dtypes[i] as DType, device, inner }));
  }
  const ranges = without(size, axis);
  const reindex = along(axis);
  const inner: InnerFn = (ops, index, r) => (inners[0] as Loader)(ops, reindex(index, r));
  const { split, hint } = numSplits(ctx, { ranges, reductionRanges: scanRanges, type: "scan", inner, input: null });
  if (split > 1 && dtypes.length > 1) return undefined;
  const results = dtypes.map((dtype, outputIndex) =>
    ctx.boxOf({
      kind: split > 1 ? "SplitScan" : "Scan",
      hint,
      device,
      dtype,
      ranges,
      scanRanges,
      size,
      dtypes,
      inners,
      combine,
      reindex,
      outputIndex,
      origins: ctx.origins,
      originNode: null,
    }),
  );
  for (const r of results) realize(ctx, r);
  return results;
}

/** values and int64 positions; undefined: the row is too long for a kernel */
export function sort(
  ctx: Lowering,
  x: TensorBox,
  axis: number,
  stable: boolean,
  descending: boolean,
): { readonly values: TensorBox; readonly indices: TensorBox } | undefined {
  const size = sizeOf(x);
  const device = deviceOf(x);
  if (size.length === 0) {
    const values = createPointwise(ctx, { size, dtype: dtypeOf(x), device, inner: loaderOf(ctx, x) });
    return { values, indices: full(ctx, 0, "int64", device, size) };
  }
  const row = size[axis] as Expr;
  if (!ctx.sizevars.knownLt(row, INT16_MAX) || device.type !== "cuda") return undefined;
  const positions = createPointwise(ctx, {
    size: [row],
    dtype: "int16",
    device,
    inner: <V>(ops: Ops<V>, index: readonly { readonly kind: string; readonly id: number }[]): V =>
      ops.indexExpr(index[0] as Expr, "int16"),
  });
  const shape = size.map((s, i) => (i === axis ? s : (int(1) as Expr)));
  const indices = expand(ctx, ctx.box(reshapeView(ctx, positions, shape, v => v)), size);
  const inners = [loaderOf(ctx, x), loaderOf(ctx, indices)];
  const dtypes: DType[] = [dtypeOf(x), "int16"];
  if (!ctx.configFlag("triton.persistent_reductions") || !ctx.sizevars.knownLeq(row, MAX_SORT)) return undefined;
  const make = (outputIndex: number): TensorBox =>
    ctx.sizevars.knownLeq(row, 1)
      ? createPointwise(ctx, {
          size,
          dtype: dtypes[outputIndex] as DType,
          device,
          inner: inners[outputIndex] as Loader,
        })
      : ctx.boxOf({
          kind: "Sort",
          device,
          dtype: dtypes[outputIndex] as DType,
          ranges: without(size, axis),
          sortRanges: [row],
          size,
          dtypes,
          inners,
          reindex: along(axis),
          outputIndex,
          stable,
          descending,
          origins: ctx.origins,
          originNode: null,
        });
  const results = [make(0), make(1)] as const;
  if (!ctx.sizevars.knownLeq(row, 1)) for (const r of results) realize(ctx, r);
  return { values: results[0], indices: toDtype(ctx, results[1], "int64") };
}
