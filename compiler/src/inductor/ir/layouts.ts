// Strides of buffers: orders, padding, freezing a flexible layout (FlexibleLayout, Layout in torch/_inductor/ir.py).
// In: sizes and wanted orders. Out: layouts. Promises: orders are lists of dimension numbers; `fill order` lists
// dimensions innermost first, `stride order` gives each dimension its rank (0 = innermost).
import type { DType } from "../../aten/types";
import { ceilDiv, type Expr, int, intValue, mul, sum } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import type { StridedLayout } from "./boxes";
import { itemsize } from "./dtypes";

export function contiguousStrides(sizes: readonly Expr[]): Expr[] {
  const out: Expr[] = [];
  let acc: Expr = int(1);
  for (let i = sizes.length - 1; i >= 0; i--) {
    out.unshift(acc);
    acc = mul(acc, sizes[i] as Expr);
  }
  return out;
}

/** strides when dimensions are laid out in this order, innermost first */
export function fillOrdered(sizes: readonly Expr[], order: readonly number[]): Expr[] {
  const out: Expr[] = sizes.map(() => int(1));
  let next: Expr = int(1);
  for (const d of order) {
    out[d] = next;
    next = mul(next, sizes[d] as Expr);
  }
  return out;
}

/** [rank of each dimension] <-> [dimensions innermost first] */
function strideOrderToFillOrder(order: readonly number[]): number[] {
  const fill: number[] = order.map(() => 0);
  for (const [dim, rank] of order.entries()) fill[rank] = dim;
  return fill;
}

export function strideOrdered(sizes: readonly Expr[], order: readonly number[]): Expr[] {
  return fillOrdered(sizes, strideOrderToFillOrder(order));
}

/** rank of each dimension by stride (get_stride_order) */
export function strideOrderOf(strides: readonly Expr[], sizevars: SizeVars): number[] {
  const fill = fillOrderOf(strides, sizevars);
  const out: number[] = strides.map(() => 0);
  for (const [rank, dim] of fill.entries()) out[dim] = rank;
  return out;
}

/** dimensions by stride, innermost first (get_fill_order); of equal strides the later dimension is inside */
export function fillOrderOf(strides: readonly Expr[], sizevars: SizeVars): number[] {
  const hints = strides.map(s => sizevars.sizeHint(s, 8192));
  return strides.map((_, i) => i).sort((a, b) => (hints[a] as number) - (hints[b] as number) || b - a);
}

/** strides in the order of others (same_ordered); of equal strides the earlier dimension is inside */
export function sameOrdered(sizes: readonly Expr[], strides: readonly Expr[], sizevars: SizeVars): Expr[] {
  const hints = strides.map(s => sizevars.sizeHint(s, 8192));
  const fill = strides.map((_, i) => i).sort((a, b) => (hints[a] as number) - (hints[b] as number));
  return fillOrdered(sizes, fill);
}

const CHANNELS_LAST_FILL = [1, 3, 2, 0];
export const CHANNELS_LAST_ORDER = [3, 0, 2, 1];

/** that of values of any rank: channels run fastest, then the last dimension */
export function channelsLastOrder(rank: number): number[] {
  const order = Array.from({ length: rank }, (_, d) => rank - 1 - d);
  order.splice(1, 0, ...order.splice(-1));
  return order;
}

/** strides of a memory format over 4-D (channels_last) or 5-D (channels_last_3d) sizes */
export function channelsLastStrides(sizes: readonly Expr[]): Expr[] {
  return fillOrdered(sizes, sizes.length === 5 ? [1, 4, 3, 2, 0] : CHANNELS_LAST_FILL);
}

/** is_contiguous_strides_for_shape: dims of size 1 may have any stride */
export function isContiguous(sizes: readonly Expr[], strides: readonly Expr[], sizevars: SizeVars): boolean {
  const expected = contiguousStrides(sizes);
  return (
    sizes.every(
      (s, i) => sizevars.knownEquals(s, 1) || sizevars.knownEquals(expected[i] as Expr, strides[i] as Expr),
    ) || sizes.some(s => intValue(s) === 0)
  );
}

export function isChannelsLastContiguous(
  sizes: readonly Expr[],
  strides: readonly Expr[],
  sizevars: SizeVars,
): boolean {
  return isDenseChannelsLast(sizes, strides, sizevars) && intValue(sizes[1] as Expr) !== 1;
}

/** Tensor.is_contiguous(channels_last), which a tensor of one channel is as well */
export function isDenseChannelsLast(sizes: readonly Expr[], strides: readonly Expr[], sizevars: SizeVars): boolean {
  if (sizes.length !== 4 && sizes.length !== 5) return false;
  return channelsLastStrides(sizes).every(
    (l, i) => intValue(sizes[i] as Expr) === 1 || sizevars.knownEquals(l, strides[i] as Expr),
  );
}

/** whether strides grow in this order; dims of size 1 don't count (Layout.is_stride_ordered) */
export function isStrideOrdered(
  sizes: readonly Expr[],
  strides: readonly Expr[],
  order: readonly number[],
  sizevars: SizeVars,
): boolean {
  const kept = sizes
    .map((s, i) => ({ s, stride: strides[i] as Expr, rank: order[i] as number }))
    .filter(x => sizevars.sizeHint(x.s, 2) !== 1);
  const ranked = [...kept].sort((a, b) => a.rank - b.rank);
  for (let i = 0; i + 1 < ranked.length; i++) {
    const a = sizevars.sizeHint((ranked[i] as { stride: Expr }).stride, 8192);
    const b = sizevars.sizeHint((ranked[i + 1] as { stride: Expr }).stride, 8192);
    if (a > b) return false;
  }
  return true;
}

export interface PaddingOptions {
  readonly enabled: boolean;
  /** bytes that strides are rounded up to (padding_alignment_bytes) */
  readonly alignment: number;
  /** only strides above this many elements are rounded (padding_stride_threshold) */
  readonly threshold: number;
  readonly padDynamic: boolean;
  readonly padChannelsLast: boolean;
}

/** Rounds large strides up so that rows start on aligned addresses (Layout._pad_strides). */
export function padStrides(
  sizes: readonly Expr[],
  strides: readonly Expr[],
  dtype: DType,
  options: PaddingOptions,
  sizevars: SizeVars,
): readonly Expr[] {
  const align = Math.floor(options.alignment / itemsize(dtype));
  if (strides.length === 0) return strides;
  if (!options.padChannelsLast && isChannelsLastContiguous(sizes, strides, sizevars)) return strides;
  const dynamic = [...sizes, ...strides].some(e => intValue(e) === undefined);
  if (dynamic && !options.padDynamic) return strides;
  const order = strideOrderOf(strides, sizevars);
  const fill = strideOrderToFillOrder(order);
  const out = strides.map((): Expr => int(0));
  out[fill[0] as number] = int(1);
  let padded = false;
  for (let rank = 1; rank < fill.length; rank++) {
    const dim = fill[rank] as number;
    const previous = fill[rank - 1] as number;
    let stride: Expr = mul(out[previous] as Expr, sizes[previous] as Expr);
    const n = intValue(stride);
    if (n !== undefined && n > options.threshold && n % align !== 0) {
      stride = mul(ceilDiv(stride, align), align);
      padded = true;
    }
    out[dim] = stride;
  }
  return padded ? out : strides;
}

/** position in storage: sum of index * stride over the dims that have more than one element (_fixed_indexer) */
export function fixedIndexer(
  layout: Pick<StridedLayout, "size" | "stride" | "offset">,
): (index: readonly Expr[]) => Expr {
  return index => {
    if (index.length !== layout.stride.length)
      throw new Error(`${index.length} indices for ${layout.stride.length} dimensions`);
    // zeros need no sum, and two terms are known as a pair
    const terms: Expr[] = intValue(layout.offset) === 0 ? [] : [layout.offset];
    for (let i = 0; i < index.length; i++) {
      if (intValue(layout.size[i] as Expr) === 1) continue;
      const term = mul(index[i] as Expr, layout.stride[i] as Expr);
      if (intValue(term) !== 0) terms.push(term);
    }
    return terms.length === 1 ? (terms[0] as Expr) : sum(terms);
  };
}
