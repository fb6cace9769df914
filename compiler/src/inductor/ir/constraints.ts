// Strides that extern kernels and outputs ask for (ExternKernel.realize_input, require_strides, copy_input,
// convert_to_reinterpret_view). In: a value. Out: the value, a strided view of it, or a copy. Promises: a flexible layout
// is fixed as asked before anything is copied; a copy is an ordinary pointwise loop put in memory.

import type { FxNode } from "../../fx/graph";
import type { FakeTensor } from "../../fx/types";
import { type Expr, int, intValue, mul, sum } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { deviceOf, dtypeOf, indexerOf, loaderOf, sizeOf, valueLayout } from "./access";
import { bufferOf, isLoops, type StridedLayout, storageOf, type TensorBox, type Value, type View } from "./boxes";
import type { Lowering } from "./context";
import {
  channelsLastStrides,
  contiguousStrides,
  isDenseChannelsLast,
  isStrideOrdered,
  sameOrdered,
  strideOrderOf,
} from "./layouts";
import { createPointwise, expand } from "./pointwise";
import { squeezedVars } from "./reads";
import { decideLayout, freezeLayout, freezeWithExactStrides, freezeWithStrideOrder, realize } from "./realize";
import { isStridedStorage, reinterpret, sliceView } from "./views";

/** a copy in memory with a flexible layout */
function copyInput(ctx: Lowering, x: Value): TensorBox {
  const copy = createPointwise(ctx, {
    size: sizeOf(x),
    dtype: dtypeOf(x),
    device: deviceOf(x),
    inner: loaderOf(ctx, x),
  });
  realize(ctx, copy);
  return copy;
}

/** the traced tensor of a node with one tensor result */
export function tensorMeta(node: FxNode | null): FakeTensor | undefined {
  const v = node?.meta.val;
  return v !== null && v !== undefined && !Array.isArray(v) && typeof v === "object" && "shape" in v
    ? (v as FakeTensor)
    : undefined;
}

/** strides over the storage, if the view's index is linear in its variables; fixes the storage's layout */
function toReinterpretView(ctx: Lowering, x: View): View | undefined {
  if (x.kind === "reinterpret") return x;
  const storage = storageOf(x);
  const b = storage.data;
  if (isLoops(b)) return undefined;
  const traced = tensorMeta(b.originNode);
  const flexible = b.layout.kind === "flexible" ? b.layout : undefined;
  if (
    flexible !== undefined &&
    traced !== undefined &&
    isDenseChannelsLast(traced.shape, traced.stride, ctx.sizevars)
  ) {
    // eager's format is kept; as_same_order pads like the other forms
    const strides = sameOrdered(flexible.size, channelsLastStrides(flexible.size), ctx.sizevars);
    freezeWithExactStrides(ctx, b, strides, true);
  } else freezeLayout(ctx, b);
  const size = sizeOf(x);
  const { vars, ranges } = squeezedVars([size], "r", ctx.sizevars);
  const index = ctx.sizevars.simplifyWithRanges(indexerOf(x)(vars[0] as Expr[]), ranges);
  const stride = ctx.sizevars.strideVars(index, vars[0] as Expr[]);
  const offset = ctx.sizevars.offsetVar(index, vars[0] as Expr[]);
  const expected = sum([offset, ...(vars[0] as Expr[]).map((v, i) => mul(v, stride[i] as Expr))]);
  if (ctx.sizevars.simplify(expected) !== ctx.sizevars.simplify(index)) return undefined;
  return reinterpret(ctx, storage, { device: deviceOf(x), dtype: dtypeOf(x), size, stride, offset });
}

/** the value in memory as an extern kernel takes it: a buffer or strides over one */
export function realizeInput(ctx: Lowering, x: TensorBox): TensorBox {
  const d = x.data;
  if (d.kind === "storage") {
    realize(ctx, d);
    return x;
  }
  realize(ctx, d);
  if (d.kind === "reinterpret") return x;
  const view = toReinterpretView(ctx, d);
  return view === undefined ? copyInput(ctx, x) : ctx.box(view);
}

export function requireStride1(ctx: Lowering, x: TensorBox): TensorBox {
  const l = valueLayout(x);
  if (l !== undefined && (l.stride.length === 0 || l.stride.some(s => intValue(s) === 1))) return x;
  return copyInput(ctx, x);
}

const insignificant = (s: SizeVars, size: Expr): boolean => s.knownLeq(size, 1);

/** equal where a dimension has more than one element */
function significantStridesEqual(
  ctx: Lowering,
  a: readonly Expr[],
  b: readonly Expr[],
  size: readonly Expr[],
): boolean {
  const { sizevars } = ctx;
  return size.every((s, i) => {
    if (insignificant(sizevars, s)) return true;
    const [x, y] = [a[i] as Expr, b[i] as Expr];
    return sizevars.knownEquals(x, y) || sizevars.symbolicHint(x) === sizevars.symbolicHint(y);
  });
}

/** the same view with the wanted strides on dimensions of size 1, so that metadata equals eager's */
export function matchInsignificantStrides(ctx: Lowering, x: TensorBox, strides: readonly Expr[]): TensorBox {
  const l = valueLayout(x);
  if (l === undefined || !isStridedStorage(x) || l.stride.length !== strides.length) return x;
  if (l.stride.every((s, i) => ctx.sizevars.knownEquals(s, strides[i] as Expr))) return x;
  if (!significantStridesEqual(ctx, strides, l.stride, l.size)) return x;
  const b = bufferOf(x);
  if (b !== undefined) decideLayout(ctx, b);
  const now = valueLayout(x) as StridedLayout;
  const stride = now.stride.map((s, i) =>
    insignificant(ctx.sizevars, now.size[i] as Expr) ? (strides[i] as Expr) : s,
  );
  return ctx.box(reinterpret(ctx, storageOf(x), { ...now, stride }));
}

/** what is asked of a value's strides: an order of dimensions (0 = innermost rank), or the strides themselves */
export type StrideDemand = { readonly order: readonly number[] } | { readonly exact: readonly Expr[] };

function satisfies(ctx: Lowering, l: Pick<StridedLayout, "size" | "stride">, demand: StrideDemand): boolean {
  return "order" in demand
    ? isStrideOrdered(l.size, l.stride, demand.order, ctx.sizevars)
    : significantStridesEqual(ctx, demand.exact, l.stride, l.size);
}

function freezeTo(ctx: Lowering, x: TensorBox, demand: StrideDemand, allowPadding: boolean): void {
  const b = storageOf(x).data;
  if (isLoops(b)) return;
  if ("order" in demand) freezeWithStrideOrder(ctx, b, demand.order, allowPadding);
  else freezeWithExactStrides(ctx, b, demand.exact, allowPadding);
}

function requireStrides(ctx: Lowering, x: TensorBox, demand: StrideDemand, allowPadding = false): TensorBox {
  const size = sizeOf(x);
  const numel = intValue(ctx.sizevars.numel(size));
  if ((numel === 0 || numel === 1) && "order" in demand) return x;
  if (isStridedStorage(x)) {
    const b = bufferOf(x);
    const layout = valueLayout(x);
    if (x.data.kind === "storage" && b?.layout.kind === "flexible") {
      const l = b.layout;
      if ("order" in demand && isStrideOrdered(l.size, l.stride, demand.order, ctx.sizevars)) {
        freezeTo(ctx, x, { order: strideOrderOf(l.stride, ctx.sizevars) }, allowPadding);
      } else freezeTo(ctx, x, demand, allowPadding);
      return x;
    }
    if (layout !== undefined && satisfies(ctx, layout, demand)) {
      const mutation = x.data.kind === "storage" && b?.layout.kind === "mutation";
      return "exact" in demand && !mutation ? matchInsignificantStrides(ctx, x, demand.exact) : x;
    }
  } else if (x.data.kind !== "storage" && bufferOf(x) !== undefined && !isExternAlloc(x)) {
    const view = toReinterpretView(ctx, x.data);
    if (view !== undefined) {
      x.data = view;
      return requireStrides(ctx, x, demand, allowPadding);
    }
  }
  return copyTo(ctx, x, size, demand, allowPadding);
}

const isExternAlloc = (x: TensorBox): boolean => {
  const b = bufferOf(x);
  return b?.kind === "extern" && b.irClass === "ExternKernelAlloc";
};

/** a copy laid out as demanded; dimensions of stride 0 are copied once and expanded again */
function copyTo(
  ctx: Lowering,
  x: TensorBox,
  size: readonly Expr[],
  demand: StrideDemand,
  allowPadding: boolean,
): TensorBox {
  let source = x;
  let expanded = false;
  if ("exact" in demand) {
    for (const [dim, s] of size.entries()) {
      if (!ctx.sizevars.knownEquals(demand.exact[dim] as Expr, 0) || !ctx.sizevars.knownGeq(s, 2)) continue;
      source = ctx.box(sliceView(ctx, source, dim, int(0), int(1), int(1)));
      expanded = true;
    }
  }
  const copy = copyInput(ctx, source);
  freezeTo(ctx, copy, demand, allowPadding);
  return expanded && "exact" in demand ? matchInsignificantStrides(ctx, expand(ctx, copy, size), demand.exact) : copy;
}

export const requireStrideOrder = (
  ctx: Lowering,
  x: TensorBox,
  order: readonly number[],
  allowPadding = false,
): TensorBox => requireStrides(ctx, x, { order }, allowPadding);

export const requireExactStrides = (
  ctx: Lowering,
  x: TensorBox,
  exact: readonly Expr[],
  allowPadding = false,
): TensorBox => requireStrides(ctx, x, { exact }, allowPadding);

export const requireContiguous = (ctx: Lowering, x: TensorBox): TensorBox =>
  requireStrides(ctx, x, { exact: contiguousStrides(sizeOf(x)) });

/** order of the strides that the FX node had */
export function fxStrideOrder(ctx: Lowering, traced: FakeTensor): number[] {
  return strideOrderOf(traced.stride, ctx.sizevars);
}
