// View operators as index maps (ExpandView, PermuteView, SqueezeView, SliceView, View, GenericView, DtypeView,
// ReinterpretView). In: a value and a new shape. Out: a value that shows the same elements. Promises: nothing is copied;
// a view of strided storage is strides over it, which fixes the storage's layout; any other view only maps indices.
import type { DType } from "../../aten/types";
import {
  add,
  type Expr,
  floorDiv,
  int,
  intValue,
  max,
  min,
  modularIndexing,
  mul,
  product,
  relation,
  type SymExpr,
  sub,
  substitute,
  sym,
} from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { dtypeOf, sizeOf, valueLayout } from "./access";
import {
  isLoops,
  type LazyView,
  type ReinterpretView,
  type StorageBox,
  type StridedLayout,
  storageOf,
  type TensorBox,
  type Value,
  type View,
} from "./boxes";
import type { Lowering } from "./context";
import { contiguousStrides, isContiguous } from "./layouts";
import { decideInPlace, decideLayout, freezeLayout, padFlexible, realize } from "./realize";

type Reindex = (index: readonly Expr[]) => Expr[];
/** what a view is taken of: the box's content, never the box itself */
export type Viewed = StorageBox | View;

const unwrap = (x: Value): Viewed => (x.kind === "tensor" ? x.data : x);

/** is_storage_and_layout: strides exist, so a view can be strides again */
export function isStridedStorage(x: Value): boolean {
  const v = unwrap(x);
  if (v.kind === "reinterpret") return true;
  return v.kind === "storage" && !isLoops(v.data);
}

/** the storage and its strides, fixed (as_storage_and_layout with freeze) */
function strided(
  ctx: Lowering,
  x: Value,
  contiguous = false,
): { readonly storage: StorageBox; readonly layout: StridedLayout } {
  const v = unwrap(x);
  const storage = storageOf(v);
  if (!isLoops(storage.data)) {
    if (contiguous && v.kind === "storage") freezeLayout(ctx, storage.data);
    else decideLayout(ctx, storage.data);
  }
  const layout = valueLayout(v);
  if (layout === undefined) throw new Error("this value has no strides");
  return { storage, layout };
}

export function reinterpret(ctx: Lowering, storage: StorageBox, layout: Omit<StridedLayout, "kind">): ReinterpretView {
  return { kind: "reinterpret", data: storage, layout: { ...layout, kind: "fixed" }, origins: ctx.origins };
}

function lazy(ctx: Lowering, view: LazyView["view"], data: Viewed, size: readonly Expr[], reindex: Reindex): LazyView {
  return { kind: "view", view, data, size, reindex, origins: ctx.origins };
}

export function expandView(ctx: Lowering, x: Value, size: readonly Expr[]): View | StorageBox {
  const data = unwrap(x);
  if (isStridedStorage(data)) {
    const { storage, layout } = strided(ctx, data);
    const skip = size.length - layout.size.length;
    const stride = size.map((_, i): Expr => {
      const d = i - skip;
      return d < 0 || ctx.sizevars.isSizeOne(layout.size[d] as Expr) ? int(0) : (layout.stride[d] as Expr);
    });
    return reinterpret(ctx, storage, { ...layout, size, stride });
  }
  const actual = sizeOf(data);
  const skip = size.length - actual.length;
  return lazy(ctx, "expand", data, size, index =>
    actual.map((s, i) => (intValue(s) === 1 ? int(0) : (index[i + skip] as Expr))),
  );
}

export function permuteView(ctx: Lowering, x: Value, dims: readonly number[]): View | StorageBox {
  const data = unwrap(x);
  if (isStridedStorage(data)) {
    const { storage, layout } = strided(ctx, data);
    const pick = (list: readonly Expr[]): Expr[] => dims.map(d => list[d] as Expr);
    return reinterpret(ctx, storage, { ...layout, size: pick(layout.size), stride: pick(layout.stride) });
  }
  const size = sizeOf(data);
  return lazy(
    ctx,
    "permute",
    data,
    dims.map(d => size[d] as Expr),
    index => dims.map((_, old) => index[dims.indexOf(old)] as Expr),
  );
}

/** SliceView.create; `start` and `end` are within the dimension if `clamp` is off */
export function sliceView(ctx: Lowering, x: Value, dim: number, start: Expr, end: Expr, step: Expr): View | StorageBox {
  const data = unwrap(x);
  const old = sizeOf(data);
  const size = old.map((s, i) => (i === dim ? floorDiv(add(sub(end, start), sub(step, 1)), step) : s));
  if (isStridedStorage(data)) {
    const { storage, layout } = strided(ctx, data);
    const at = layout.stride[dim] as Expr;
    const stride = layout.stride.map((s, i) => (i === dim ? mul(s, step) : s));
    return reinterpret(ctx, storage, { ...layout, size, stride, offset: add(layout.offset, mul(at, start)) });
  }
  return lazy(ctx, "slice", data, size, index => index.map((v, i) => (i === dim ? add(mul(v, step), start) : v)));
}

/** whether strides are contiguous, once a flexible layout has got the padding it will get */
function isContiguousStorage(ctx: Lowering, x: Value): boolean {
  const v = unwrap(x);
  if (!isStridedStorage(v)) return false;
  if (v.kind === "storage" && !isLoops(v.data)) padFlexible(ctx, v.data);
  const layout = valueLayout(v);
  return layout !== undefined && isContiguous(layout.size, layout.stride, ctx.sizevars);
}

/** View.create: the same elements in row-major order under another shape */
export function reshapeView(
  ctx: Lowering,
  x: Value,
  size: readonly Expr[],
  toContiguous: (v: Value) => Value,
): View | StorageBox {
  let data = unwrap(x);
  const old = sizeOf(data);
  if (ctx.sizevars.knownListEquals(old, size)) return data;
  const unbacked = [...old, ...size].some(s => ctx.sizevars.hint(s) === undefined);
  if (size.some(s => intValue(s) === 0)) return lazy(ctx, "view", data, size, () => old.map(() => int(0)));
  const contiguous = isContiguousStorage(ctx, data);
  if (contiguous || unbacked) {
    if (!contiguous) data = unwrap(toContiguous(data));
    const { storage, layout } = strided(ctx, data, true);
    return reinterpret(ctx, storage, { ...layout, size, stride: contiguousStrides(size) });
  }
  const layout = isStridedStorage(data) ? valueLayout(data) : undefined;
  const stride = layout === undefined ? undefined : viewStrides(layout.size, layout.stride, size, ctx.sizevars);
  if (layout !== undefined && stride !== undefined) {
    const storage = storageOf(data);
    if (!isLoops(storage.data)) decideInPlace(ctx, storage.data);
    return reinterpret(ctx, storage, { ...layout, size, stride });
  }
  return lazy(ctx, "view", data, size, reshapeIndexer(old, size, ctx.sizevars));
}

/**
 * Strides under which the same storage shows another shape, undefined if there are none (at::detail::computeStride):
 * runs of dimensions that step through memory as one are split and joined within themselves.
 */
function viewStrides(
  old: readonly Expr[],
  stride: readonly Expr[],
  size: readonly Expr[],
  sizevars: SizeVars,
): Expr[] | undefined {
  if (old.length === 0) return size.map(() => int(1));
  const equal = (a: Expr, b: Expr): boolean => sizevars.guardOrFalse(relation("eq", a, b));
  const out: Expr[] = size.map(() => int(0));
  let d = size.length - 1;
  let base = stride[stride.length - 1] as Expr;
  let run: Expr = int(1);
  let covered: Expr = int(1);
  for (let t = old.length - 1; t >= 0; t--) {
    run = mul(run, old[t] as Expr);
    const continues = t > 0 && (equal(old[t - 1] as Expr, int(1)) || equal(stride[t - 1] as Expr, mul(run, base)));
    if (continues) continue;
    while (d >= 0 && (equal(size[d] as Expr, int(1)) || sizevars.guardOrFalse(relation("lt", covered, run)))) {
      out[d] = mul(covered, base);
      covered = mul(covered, size[d] as Expr);
      d--;
    }
    if (!equal(covered, run)) return undefined;
    if (t > 0) {
      base = stride[t - 1] as Expr;
      run = int(1);
      covered = int(1);
    }
  }
  return d === -1 ? out : undefined;
}

export function genericView(ctx: Lowering, x: Value, size: readonly Expr[], reindex: Reindex): View {
  return lazy(ctx, "generic", unwrap(x), size, reindex);
}

export function dtypeView(ctx: Lowering, x: Value, dtype: DType): View {
  const data = unwrap(x);
  if (isStridedStorage(data)) {
    const { storage, layout } = strided(ctx, data);
    return reinterpret(ctx, storage, { ...layout, dtype });
  }
  return { kind: "dtype", data, target: dtype, origins: ctx.origins };
}

/** as_strided: other strides over the storage under all views */
export function asStridedView(
  ctx: Lowering,
  x: TensorBox,
  size: readonly Expr[],
  stride: readonly Expr[],
  offset: Expr,
): View {
  const dtype = dtypeOf(x);
  const storage = storageOf(x);
  realize(ctx, storage);
  const { layout } = strided(ctx, storage);
  return reinterpret(ctx, storage, { device: layout.device, dtype, size, stride, offset });
}

/** index of the old shape from an index of the new one, both row-major over the same elements */
export function reshapeIndexer(
  old: readonly Expr[],
  size: readonly Expr[],
  sizevars: SizeVars,
  denseDim?: number,
): Reindex {
  const direct = tryReshapeIndexer(old, size, sizevars, denseDim);
  if (direct !== undefined) return direct;
  const flat = [product(old)];
  const outer = tryReshapeIndexer(old, flat, sizevars, undefined);
  const inner = tryReshapeIndexer(flat, size, sizevars, undefined);
  if (outer === undefined || inner === undefined) throw new Error("shapes of different element counts");
  return index => outer(inner(index));
}

function tryReshapeIndexer(
  old: readonly Expr[],
  size: readonly Expr[],
  sizevars: SizeVars,
  denseDim: number | undefined,
): Reindex | undefined {
  const vars = size.map((_, i) => sym(`view${i}`));
  const stackNew = size.map((s, i): [Expr, Expr] => [vars[i] as Expr, s]);
  const stackOld = [...old];
  const reordered = denseDim !== undefined && size.length === 1;
  if (reordered && denseDim !== old.length - 1) stackOld.push(...stackOld.splice(denseDim, 1));
  const hint = (e: Expr): number => sizevars.sizeHint(e, 8192);
  const equal = (a: Expr, b: Expr): boolean => {
    if (hint(a) !== hint(b)) return false;
    sizevars.guardEquals(a, b);
    return true;
  };
  const exprs: Expr[] = [];
  while (stackNew.length > 0 && stackOld.length > 0) {
    let sizeOld = stackOld.pop() as Expr;
    let [variable, sizeNew] = stackNew.pop() as [Expr, Expr];
    if (intValue(sizeOld) === 1) {
      exprs.push(int(0));
      stackNew.push([variable, sizeNew]);
    } else if (intValue(sizeNew) === 1) {
      stackOld.push(sizeOld);
    } else if (hint(sizeNew) === hint(sizeOld)) {
      exprs.push(variable);
      sizevars.guardEquals(sizeNew, sizeOld);
    } else if (hint(sizeNew) < hint(sizeOld)) {
      while (hint(sizeNew) < hint(sizeOld)) {
        const next = stackNew.pop();
        if (next === undefined) return undefined;
        variable = add(mul(next[0], sizeNew), variable);
        sizeNew = mul(sizeNew, next[1]);
      }
      exprs.push(variable);
      if (!equal(sizeNew, sizeOld)) return undefined;
    } else {
      let modulus = sizeOld;
      let divisor: Expr = int(1);
      exprs.push(modularIndexing(variable, divisor, modulus));
      divisor = mul(divisor, modulus);
      while (hint(sizeNew) > hint(sizeOld)) {
        const next = stackOld.pop();
        if (next === undefined) return undefined;
        modulus = next;
        exprs.push(modularIndexing(variable, divisor, modulus));
        divisor = mul(divisor, modulus);
        sizeOld = mul(sizeOld, modulus);
      }
      if (!equal(sizeNew, sizeOld)) return undefined;
    }
  }
  for (const s of stackOld.reverse()) {
    if (!equal(s, int(1))) return undefined;
    exprs.push(int(0));
  }
  for (const [, s] of stackNew) if (!equal(s, int(1))) return undefined;
  exprs.reverse();
  if (reordered) {
    const dense = exprs.pop() as Expr;
    exprs.splice(denseDim, 0, dense);
  }
  return index => {
    const replace = new Map<SymExpr, Expr>(vars.map((v, i) => [v, index[i] as Expr]));
    return exprs.map(e => substitute(e, replace));
  };
}

/** start and end of a slice within the dimension: negative ones count from its end (SliceView.normalize_start_end) */
export function normalizeSlice(sizevars: SizeVars, size: Expr, start: Expr, end: Expr): readonly [Expr, Expr] {
  const clampTo = (v: Expr, low: Expr): Expr => {
    const n = intValue(v);
    const negative = n !== undefined ? n < 0 : sizevars.guardOrFalse(relation("lt", v, 0));
    const shifted = negative ? add(v, size) : v;
    if (sizevars.hint(shifted) === undefined || sizevars.hint(size) === undefined) {
      // only the run will tell
      const above = sizevars.knownGeq(shifted, low) ? shifted : max(shifted, low);
      return sizevars.knownLeq(above, size) ? above : min(above, size);
    }
    // clamp to [low, size]
    if (sizevars.guardOrFalse(relation("lt", shifted, low))) return low;
    return sizevars.guardOrFalse(relation("gt", shifted, size)) ? size : shifted;
  };
  const first = clampTo(start, int(0));
  return [first, clampTo(end, first)];
}
