// Putting values in memory (StorageBox.realize, realize_hint, mark_reuse) and fixing their layouts (decide_layout,
// freeze_layout*). In: boxes. Out: buffers in the boxes. Promises: a value is put in memory once; a layout once fixed
// never changes.
import { type Expr, int, intValue, type SymExpr, substitute } from "../symbolic/expr";
import {
  type IrBuffer,
  isLoops,
  isReduction,
  type Loops,
  loopsSize,
  type StridedLayout,
  storageOf,
  type Value,
} from "./boxes";
import type { Lowering } from "./context";
import { contiguousStrides, fillOrdered, padStrides, strideOrdered } from "./layouts";
import { pickLoopOrder } from "./loop_order";
import { countOf, isLarge } from "./op_count";
import { loopReads } from "./reads";

function flexibleLayout(l: Loops): StridedLayout {
  const size = loopsSize(l);
  return { kind: "flexible", device: l.device, dtype: l.dtype, size, stride: contiguousStrides(size), offset: int(0) };
}

/** the buffer that holds the value, made now if it isn't there */
export function realize(ctx: Lowering, x: Value): IrBuffer {
  const box = storageOf(x);
  if (!isLoops(box.data)) return box.data;
  box.data = ctx.registerComputed(box.data, flexibleLayout(box.data), box.origins);
  return box.data;
}

const readsOf = (l: Loops): number => countOf(l).reads.length;

/** a value that will have to be in memory later: put there now if computing it again would read twice or more */
export function realizeHint(ctx: Lowering, x: Value): void {
  const d = storageOf(x).data;
  if (isLoops(d) && countOf(d).nontrivialReads > 1) realize(ctx, x);
}

/** used by several: in memory if it reads or computes much */
export function markReuse(ctx: Lowering, x: Value, users: number): void {
  if (users > 1 && isWorthReusing(ctx, x)) realize(ctx, x);
}

/** reads or computes so much that it should not be done once for each user */
export function isWorthReusing(ctx: Lowering, x: Value): boolean {
  const d = storageOf(x).data;
  if (!isLoops(d) || (d.kind !== "Pointwise" && !isReduction(d))) return false;
  if (d.device.type === "cpu") {
    const { used } = countOf(d);
    if (used.has("exp") || used.has("sigmoid")) return true;
  }
  return readsOf(d) > ctx.configNumber("realize_reads_threshold") || isLarge(ctx, d);
}

/** reads so much that later users would only add to it */
export function hasExceededMaxReads(ctx: Lowering, x: Value): boolean {
  const d = storageOf(x).data;
  return (
    isLoops(d) &&
    d.kind === "Pointwise" &&
    (readsOf(d) > ctx.configNumber("realize_acc_reads_threshold") || isLarge(ctx, d))
  );
}

// --- fixing layouts ---

function padded(ctx: Lowering, l: StridedLayout, stride: readonly Expr[], allow: boolean): readonly Expr[] {
  return allow && ctx.padding.enabled ? padStrides(l.size, stride, l.dtype, ctx.padding, ctx.sizevars) : stride;
}

function fix(b: IrBuffer, l: StridedLayout, stride: readonly Expr[]): void {
  b.layout = { ...l, kind: "fixed", stride };
}

/** pads the strides of a flexible layout in place, as asking whether it is contiguous does */
export function padFlexible(ctx: Lowering, b: IrBuffer): void {
  const l = b.layout;
  if (l.kind === "flexible") b.layout = { ...l, stride: padded(ctx, l, l.stride, true) };
}

/** fixes the strides that the layout has now */
export function freezeLayout(ctx: Lowering, b: IrBuffer): void {
  const l = b.layout;
  if (l.kind === "flexible") fix(b, l, padded(ctx, l, l.stride, true));
}

export function freezeWithStrideOrder(
  ctx: Lowering,
  b: IrBuffer,
  order: readonly number[],
  allowPadding: boolean,
): void {
  const l = b.layout;
  if (l.kind === "flexible") fix(b, l, padded(ctx, l, strideOrdered(l.size, order), allowPadding));
}

export function freezeWithExactStrides(
  ctx: Lowering,
  b: IrBuffer,
  strides: readonly Expr[],
  allowPadding: boolean,
): void {
  const l = b.layout;
  if (l.kind === "flexible") fix(b, l, padded(ctx, l, strides, allowPadding));
}

function freezeWithFillOrder(ctx: Lowering, b: IrBuffer, order: readonly number[]): void {
  const l = b.layout;
  if (l.kind === "flexible") fix(b, l, padded(ctx, l, fillOrdered(l.size, order), true));
}

/** fixes a flexible layout: computed buffers follow the strides that they read with, others keep their order */
export function decideLayout(ctx: Lowering, b: IrBuffer): void {
  if (b.layout.kind !== "flexible") return;
  const order = b.kind === "computed" ? fillOrderOfReads(ctx, b.data) : undefined;
  if (order === undefined) freezeLayout(ctx, b);
  else freezeWithFillOrder(ctx, b, order);
}

/**
 * Fixes a flexible layout under a view of the strides that it has now: as decideLayout does, unless that would move
 * elements. torch decides later, view or no view.
 */
export function decideInPlace(ctx: Lowering, b: IrBuffer): void {
  const l = b.layout;
  if (l.kind !== "flexible") return;
  decideLayout(ctx, b);
  const decided = (b.layout as StridedLayout).stride;
  const moves = l.size.some(
    (s, i) => intValue(s) !== 1 && !ctx.sizevars.knownEquals(decided[i] as Expr, l.stride[i] as Expr),
  );
  if (!moves) return;
  b.layout = l;
  freezeLayout(ctx, b);
}

/** dimensions innermost first, as most reads would have them (ComputedBuffer.get_fill_order) */
function fillOrderOfReads(ctx: Lowering, l: Loops): number[] | undefined {
  const { reads, indexVars, reduceVars } = loopReads(l, ctx.sizevars);
  if (reads.length === 0) return undefined;
  const zero = new Map<SymExpr, Expr>();
  for (const v of reduceVars) if (v.kind === "sym") zero.set(v, int(0));
  const scanned = l.kind === "Scan" || l.kind === "SplitScan" || l.kind === "Sort";
  const vars = scanned ? l.reindex(indexVars, reduceVars) : indexVars;
  const strides = reads.map(r => ctx.sizevars.strideHints(substitute(r.index, zero), vars));
  return pickLoopOrder(
    strides,
    loopsSize(l).map(s => intValue(s)),
  );
}
