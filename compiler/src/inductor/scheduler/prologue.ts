// Pointwise operations before a matrix product, computed on the way into its template (preset fuselens; PyTorch's own rules
// are in template.ts). In: a producer and a template. Out: why it stays a kernel of its own; whether it pays not to. Promises:
// what is taken fits the template's tiles, and the product's way (measured, asked for or estimated) computes operands.
import type { BufferView } from "../ir/types";
import { int } from "../symbolic/expr";
import { wantedWay } from "../templates/choose";
import { estimatesOf } from "../templates/estimates";
import { computesOperands, type GemmWay } from "../templates/forms";
import { type Gemm, gemmOf } from "../templates/gemm";
import { computesInParts } from "../templates/in_parts";
import { computesInOrder, operandsOf, operandTile } from "../templates/prologue";
import { type Reason, reason, refuse } from "./refusal";
import { bufferNames, isTemplate, layoutOf, membersOf, type SchedulerState } from "./state";
import { isCompatible } from "./tiling/split_ranges";
import type { AnyNode, Dep, SchedulerNode } from "./types";

/** why something is not computed on the way into a template */
export const prologue = (detail: string): Reason => reason("template_prologue", detail);

/** the product and its operands that `a` computes */
function computedBy(a: AnyNode, b: AnyNode): { readonly gemm: Gemm; readonly views: readonly BufferView[] } | null {
  const [template, ...more] = membersOf(b).filter(isTemplate);
  if (!template || more.length > 0 || template.operation.kind !== "extern") return null;
  const gemm = gemmOf(template.operation);
  const written = bufferNames(a);
  return gemm && { gemm, views: operandsOf(gemm).filter(v => written.has(v.buffer)) };
}

/** why a template's tiles can't hold `a`, a pointwise node whose one user is the template (template.ts has that checked) */
export function tileRefusal(s: SchedulerState, a: AnyNode, b: AnyNode): Reason | null {
  const found = computedBy(a, b);
  if (!found) return prologue("template has no allowed prologue inputs");
  const { views } = found;
  const [view] = views;
  if (!view || views.length > 1) return prologue("prologue fusion not implemented for kernel for these inputs");
  const tile = operandTile(view, layoutOf(s.graph, view.buffer), s.sizevars);
  if (tile === null)
    return prologue("the operand is a part of what is computed, or lies in another order than its tiles");
  const groups = [...(tile.batch === null ? [] : [tile.batch.count]), tile.outer, tile.inner, int(1)];
  const fits = (m: SchedulerNode): boolean =>
    m.body !== null && computesInOrder(m.body, tile, s.sizevars) && isCompatible(groups, m.sizes, s.sizevars);
  return membersOf(a).every(fits) ? null : prologue("the operand's loops do not fall into the template's tiles");
}

/** A template reads the whole of the operand: any element that was written is where a tile will look for it. */
export function operandRelaxation(a: AnyNode, b: AnyNode): ((read: Dep) => boolean) | null {
  const names = new Set(computedBy(a, b)?.views.map(v => v.buffer));
  return names.size === 0 ? null : read => names.has(read.name);
}

/** Whether `a` is computed on the way into the template of `b`: if its way does so. A no is recorded, with what one pass saves. */
export function prologuePays(s: SchedulerState, a: AnyNode, b: AnyNode): boolean {
  const found = computedBy(a, b);
  if (!found) return false;
  const { gemm, views } = found;
  const wanted = wantedWay(s, gemm.op.name);
  if (wanted !== null && wanted !== "library" && computesOperands(wanted)) return true;
  if (wanted !== null) return refuse(s, a, b, reason("cost_model", `${wanted} reads its operands from memory`));
  const fused: GemmWay = "pointers_prologue";
  const us = estimatesOf(s.graph, gemm, [fused], s.target, computesInParts(s));
  const [across, what] = views[0] === gemm.a ? [gemm.n, "columns"] : [gemm.m, "rows"];
  const detail = `${s.sizevars.sizeHint(across, 1)} ${what} would have it computed again by every tile: ${text(us[fused])} in one kernel, ${text(us.library)} in two (estimate)`;
  return refuse(s, a, b, reason("cost_model", detail));
}

const text = (us: number | undefined): string => `${(us ?? 0).toFixed(1)} us`;
