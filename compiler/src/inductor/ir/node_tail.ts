// What happens to a node's value once it is lowered: strides of outputs, and whether it is put in memory now
// (the end of GraphLowering.run_node). In: a node and its value. Out: the value, perhaps another. Promises: the rules of
// lowering.md §4.2, in order.
import { lookup } from "../../aten/registry";
import { parseSchema } from "../../aten/schema";
import type { FxNode } from "../../fx/graph";
import type { FakeTensor } from "../../fx/types";
import type { Expr } from "../symbolic/expr";
import { sizeOf, valueLayout } from "./access";
import { isLoops, isReduction, type TensorBox } from "./boxes";
import { requireExactStrides, requireStrideOrder, tensorMeta } from "./constraints";
import type { Lowering } from "./context";
import { channelsLastStrides, strideOrderOf } from "./layouts";
import { isLarge } from "./op_count";
import { hasExceededMaxReads, isWorthReusing, markReuse, realize, realizeHint } from "./realize";

/** operators whose inputs are read again and again, or by a kernel that isn't ours */
const NEEDS_REALIZED: ReadonlySet<string> = new Set([
  "as_strided",
  "as_strided_copy",
  "avg_pool2d",
  "avg_pool2d_backward",
  "bmm",
  "convolution",
  "convolution_backward",
  "max_pool2d_with_indices",
  "max_pool3d_with_indices",
  "max_pool2d_with_indices_backward",
  "mm",
  "upsample_nearest2d",
  "_upsample_nearest_exact2d",
  "_int_mm",
]);

const AS_STRIDED: ReadonlySet<string> = new Set([
  "aten.as_strided.default",
  "aten.as_strided_.default",
  "aten.as_strided_scatter.default",
  "aten.resize.default",
  "aten.resize_as.default",
]);

const packet = (target: string): string => target.split(".")[1] ?? target;

/** extern operators that Inductor has a kernel choice for: their inputs are put in memory by the lowering itself */
const CHOSEN: ReadonlySet<string> = new Set(["addmm", "baddbmm", "_scaled_mm", "_grouped_mm"]);

function needsRealizedInputs(target: string): boolean {
  const name = packet(target);
  if (NEEDS_REALIZED.has(name)) return true;
  const record = lookup(target);
  return record !== undefined && (record.tags?.includes("extern") ?? false) && !CHOSEN.has(name);
}

/** by its schema: a result shares the first argument's memory, which is not written */
export const isViewOperator = (n: FxNode): boolean => {
  const record = lookup(n.target);
  return record !== undefined && parseSchema(record.schema).parameters.some(p => p.alias !== null && !p.mutated);
};

/** no element twice and no gaps (torch._prims_common.is_non_overlapping_and_dense) */
function isDense(ctx: Lowering, t: FakeTensor): boolean {
  const fill = t.stride.map((_, i) => i).filter(i => !ctx.sizevars.knownEquals(t.shape[i] as Expr, 1));
  const hint = (e: Expr): number => ctx.sizevars.sizeHint(e, 8192);
  fill.sort((a, b) => hint(t.stride[a] as Expr) - hint(t.stride[b] as Expr));
  let expected = 1;
  for (const d of fill) {
    if (hint(t.stride[d] as Expr) !== expected) return false;
    expected *= hint(t.shape[d] as Expr);
  }
  return true;
}

export function finishNode(
  ctx: Lowering,
  n: FxNode,
  value: TensorBox,
  userVisible: ReadonlyMap<FxNode, readonly Expr[]>,
): TensorBox {
  const users = [...n.users];
  const isOutput = users.some(u => u.op === "output");
  const traced = tensorMeta(n);
  let result = value;
  if (n.meta.realizeToStrides !== undefined) result = realizeToStrides(ctx, result, n.meta.realizeToStrides);
  if (isOutput && result.data.kind !== "storage") realize(ctx, result);
  const feedsAsStrided = users.some(u => AS_STRIDED.has(u.target));
  if ((isOutput || feedsAsStrided) && traced !== undefined)
    result = outputStrides(ctx, n, result, traced, userVisible, feedsAsStrided);
  const channelsLast =
    traced !== undefined && !feedsAsStrided && prefersChannelsLast(ctx, n, result, traced, userVisible);
  const inOrder = (x: TensorBox): TensorBox =>
    channelsLast ? requireStrideOrder(ctx, x, strideOrderOf(channelsLastStrides(sizeOf(x)), ctx.sizevars)) : x;
  if (users.length > 1) {
    result = severalUsers(ctx, users, result, traced);
    if (isWorthReusing(ctx, result)) result = inOrder(result);
    markReuse(ctx, result, users.length);
  }
  if (hasExceededMaxReads(ctx, result)) {
    result = inOrder(result);
    realizeHint(ctx, result);
  }
  if (
    result.data.kind === "storage" &&
    isLoops(result.data.data) &&
    result.data.data.kind === "Pointwise" &&
    isLarge(ctx, result.data.data, 100)
  ) {
    realize(ctx, result);
  }
  return result;
}

/** whether a value that nobody outside sees should have its channels last, for a convolution before or after it */
function prefersChannelsLast(
  ctx: Lowering,
  n: FxNode,
  x: TensorBox,
  traced: FakeTensor,
  userVisible: ReadonlyMap<FxNode, readonly Expr[]>,
): boolean {
  return ctx.prefersChannelsLast.has(n) && !userVisible.has(n) && sizeOf(x).length === 4 && isDense(ctx, traced);
}

function realizeToStrides(ctx: Lowering, x: TensorBox, strides: readonly Expr[]): TensorBox {
  realize(ctx, x);
  const now = valueLayout(x)?.stride;
  const same = now?.every((s, i) => s === strides[i]);
  return same ? x : requireStrideOrder(ctx, x, strideOrderOf(strides, ctx.sizevars));
}

function outputStrides(
  ctx: Lowering,
  n: FxNode,
  x: TensorBox,
  traced: FakeTensor,
  userVisible: ReadonlyMap<FxNode, readonly Expr[]>,
  feedsAsStrided: boolean,
): TensorBox {
  const visible = userVisible.get(n);
  let strides: readonly Expr[] = visible ?? traced.stride;
  if (strides.length === 0 || strides.some(s => ctx.sizevars.hint(s) === undefined)) return x;
  const allowPadding = (ctx.configFlag("pad_outputs") || visible === undefined) && !feedsAsStrided;
  if (!feedsAsStrided && prefersChannelsLast(ctx, n, x, traced, userVisible)) strides = channelsLastStrides(sizeOf(x));
  // a view keeps eager's aliasing: only the order of its dimensions is asked for
  if (x.data.kind !== "storage" || isViewOperator(n))
    return requireStrideOrder(ctx, x, strideOrderOf(strides, ctx.sizevars), allowPadding);
  return requireExactStrides(ctx, x, strides, allowPadding);
}

function severalUsers(
  ctx: Lowering,
  users: readonly FxNode[],
  value: TensorBox,
  traced: FakeTensor | undefined,
): TensorBox {
  let result = value;
  for (const user of users) {
    if (user.op === "call_function" && needsRealizedInputs(user.target)) {
      realizeHint(ctx, result);
      const name = packet(user.target);
      const fixed =
        name === "convolution_backward" ||
        name === "mm" ||
        name === "_int_mm" ||
        (name === "convolution" && !ctx.layoutOpt);
      if (fixed && traced !== undefined)
        result = requireStrideOrder(ctx, result, strideOrderOf(traced.stride, ctx.sizevars), true);
    }
    if (user.op === "output" && result.data.kind === "storage") {
      const d = result.data.data;
      if (isLoops(d) && (d.kind === "Pointwise" || d.kind === "Scatter" || isReduction(d))) realize(ctx, result);
    }
  }
  return result;
}
