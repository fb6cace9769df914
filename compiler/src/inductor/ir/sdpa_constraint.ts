// Strides that attention kernels accept (sdpa_constraint of torch/_inductor/lowering.py). In: one argument. Out: the
// argument, or the same values laid out anew. Promises: rows end dense and other strides are multiples of 8 elements;
// nothing is copied where the tensor is already so.
import type { TensorMeta } from "../../aten/types";
import { ceilDiv, type Expr, int, intValue, mod, mul } from "../symbolic/expr";
import { sizeOf, valueLayout } from "./access";
import { type StridedLayout, storageOf, type TensorBox } from "./boxes";
import { matchInsignificantStrides, realizeInput, requireExactStrides, requireStrideOrder } from "./constraints";
import type { Lowering } from "./context";
import { strideOrderOf } from "./layouts";
import { isStridedStorage } from "./views";

const ALIGNMENT = 8;
const FORWARD = "aten._scaled_dot_product_efficient_attention.default";
const BACKWARD = "aten._scaled_dot_product_efficient_attention_backward.default";

export function sdpaInput(
  ctx: Lowering,
  x: TensorBox,
  op: string,
  position: number,
  traced: TensorMeta | undefined,
): TensorBox {
  if (traced === undefined) return x;
  const size = sizeOf(x);
  const strides = traced.stride as readonly Expr[];
  let order: readonly number[] = strideOrderOf(strides, ctx.sizevars);
  if (order.length > 0 && order[order.length - 1] !== 0) order = size.map((_, i) => size.length - 1 - i);
  // the kernel's own output and its gradient have heads inside rows
  if (op === BACKWARD && (position === 0 || position === 5)) order = [3, 1, 2, 0];
  if (traced.device.type !== "cuda") return requireStrideOrder(ctx, x, order);
  if (size.length !== 3 && size.length !== 4) return x;
  const layout = isStridedStorage(x) ? valueLayout(x) : undefined;
  if (layout !== undefined && isAligned(ctx, layout))
    return matchInsignificantStrides(ctx, realizeInput(ctx, x), strides);
  if (op === FORWARD && position === 3) return alignedBias(ctx, x, strides, layout);
  // a view whose rows are cut out of aligned ones is taken as it lies
  if (isCutOfAligned(ctx, x)) return matchInsignificantStrides(ctx, realizeInput(ctx, x), strides);
  return requireStrideOrder(ctx, x, order);
}

function isCutOfAligned(ctx: Lowering, x: TensorBox): boolean {
  const storage = storageOf(x);
  if (x.data === storage) return false;
  const whole = (size: readonly Expr[]): boolean => size.length > 0 && multiple(ctx, size[size.length - 1] as Expr);
  return !whole(sizeOf(x)) && whole(sizeOf(storage));
}

const multiple = (ctx: Lowering, e: Expr): boolean => ctx.sizevars.knownEquals(mod(e, ALIGNMENT), 0);

function isAligned(ctx: Lowering, l: StridedLayout): boolean {
  const last = l.stride.length - 1;
  const dense = intValue(l.stride[last] as Expr) === 1 || ctx.sizevars.knownLeq(l.size[last] as Expr, 1);
  return dense && l.stride.slice(0, last).every(s => multiple(ctx, s));
}

/** last dimension dense, the others' strides rounded up; expanded dimensions stay so where alignment allows */
function alignedBias(
  ctx: Lowering,
  x: TensorBox,
  traced: readonly Expr[],
  layout: StridedLayout | undefined,
): TensorBox {
  const size = sizeOf(x);
  const zero = (list: readonly Expr[] | undefined, i: number): boolean =>
    list !== undefined && ctx.sizevars.knownEquals(list[i] as Expr, 0);
  const isExpanded = size.map((_, i) => i < size.length - 1 && (zero(traced, i) || zero(layout?.stride, i)));
  const out: Expr[] = size.map(() => int(1));
  let stride: Expr = int(1);
  for (let i = size.length - 2; i >= 0; i--) {
    const inner = out[i + 1] as Expr;
    if (intValue(inner) !== 0) stride = mul(stride, size[i + 1] as Expr);
    if (isExpanded[i] === true && multiple(ctx, inner)) {
      out[i] = int(0);
      continue;
    }
    if (!multiple(ctx, stride)) stride = mul(ceilDiv(stride, ALIGNMENT), ALIGNMENT);
    out[i] = stride;
  }
  return requireExactStrides(ctx, x, out);
}
