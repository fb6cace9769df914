// Along which loop a part's elements are taken four at a time. In: an analysed part. Out: how its loops run. Promises: a
// guess about speed alone; every choice computes the same.
import { type Expr, intValue, type SymExpr } from "../../symbolic/expr";
import { type Access, isIndirect } from "./accesses";
import type { LoopDim } from "./loop_space";
import type { Member, Part } from "./part";
import type { KernelSizes } from "./sizes";
import { laneStride } from "./vector_handler";
import { LANES } from "./vector_types";

export type PartMode =
  /** one element after the other */
  | { readonly kind: "scalar" }
  /** along the last dim: of the elements, or of a row's reduction */
  | { readonly kind: "last" }
  /** tiles over the last dim and another one, along which some accesses are contiguous and the last's are not */
  | { readonly kind: "tiles"; readonly across: SymExpr }
  /** along the last dim of the iteration space, whose columns are reduced side by side */
  | { readonly kind: "columns" };

/** shorter loops do not pay for the way into vectors */
const LEAST = 8;

export interface AccessCount {
  readonly contiguous: number;
  readonly uniform: number;
  /** with another stride, or none */
  readonly scattered: number;
}

export function simplifierOf(part: Part, sizes: KernelSizes) {
  const { sv } = sizes;
  const simplifyWith = (e: Expr, ranges: ReadonlyMap<SymExpr, Expr>): Expr =>
    sv.simplifyWithRanges(sv.removePrecomputed(e), ranges);
  return { ranges: part.ranges, simplifyWith, simplify: (e: Expr): Expr => simplifyWith(e, part.ranges) };
}

function countAccesses(part: Part, members: readonly Member[], variable: SymExpr, sizes: KernelSizes): AccessCount {
  const scope = simplifierOf(part, sizes);
  const count = { contiguous: 0, uniform: 0, scattered: 0 };
  const seen = new Set<string>();
  for (const m of members) {
    for (const a of m.accesses) {
      const key = `${a.buffer} ${a.index.id}`;
      if (seen.has(key) || a.kind === "store_reduction") continue;
      seen.add(key);
      const stride = laneStride(a.index, variable, true, scope);
      if (stride === 0) count.uniform += 1;
      else if (stride === 1) count.contiguous += 1;
      else count.scattered += 1;
    }
  }
  return count;
}

const long = (d: LoopDim | undefined, sizes: KernelSizes): d is LoopDim =>
  d !== undefined && sizes.hint(d.size) >= LEAST;

export function choosePartMode(part: Part, sizes: KernelSizes): PartMode {
  const members = part.segments.flatMap(s => s.members);
  if (part.atomic || members.some(m => m.body.block.nodes.some(n => n.op === "scan" || n.op === "sort")))
    return { kind: "scalar" };
  const lastX = part.space.x[part.space.x.length - 1];
  const lastR = part.space.r[part.space.r.length - 1];
  if (!part.reduces) {
    if (!long(lastX, sizes)) return { kind: "scalar" };
    const across = acrossDim(part, members, lastX, sizes);
    if (across) return { kind: "tiles", across };
    return worth(countAccesses(part, members, lastX.variable, sizes)) ? { kind: "last" } : { kind: "scalar" };
  }
  const inLoops = part.segments.filter(s => s.loop).flatMap(s => s.members);
  const along = (d: LoopDim | undefined): AccessCount | null =>
    long(d, sizes) ? countAccesses(part, inLoops, d.variable, sizes) : null;
  const r = along(lastR);
  const x = along(lastX);
  if (x && x.contiguous > (r?.contiguous ?? 0) && worth(x)) return { kind: "columns" };
  return r && worth(r) ? { kind: "last" } : { kind: "scalar" };
}

/** whether lanes that are gathered one by one do not outweigh those that are loaded at once */
const worth = (c: AccessCount): boolean => c.contiguous > 0 && c.contiguous >= c.scattered;

/** shorter sides of a tile are not worth turning over */
const LEAST_TILE = 16;

/** accesses that a tile over the two loops turns over: adjacent along `across`, steadily apart along the last */
export function turnedOver(
  part: Part,
  members: readonly Member[],
  across: SymExpr,
  last: SymExpr,
  sizes: KernelSizes,
): Access[] {
  const scope = simplifierOf(part, sizes);
  const found = new Map<string, Access>();
  for (const a of members.flatMap(m => m.accesses)) {
    if (a.masked || isIndirect(a.index)) continue;
    const [along, over] = [laneStride(a.index, last, false, scope), laneStride(a.index, across, false, scope)];
    if (over === 1 && along !== null && along !== 0 && along !== 1)
      found.set(`${a.kind === "load"} ${a.buffer} ${a.index.id}`, a);
  }
  return [...found.values()];
}

/** the dim along which most of the accesses that the last dim scatters are contiguous */
export function acrossDim(
  part: Part,
  members: readonly Member[],
  last: LoopDim,
  sizes: KernelSizes,
  least = LEAST_TILE,
): SymExpr | null {
  let best: SymExpr | null = null;
  let most = 0;
  for (const d of part.space.x) {
    if (d === last || sizes.hint(d.size) < least || sizes.hint(last.size) < least) continue;
    const count = turnedOver(part, members, d.variable, last.variable, sizes).length;
    if (count > most) [best, most] = [d.variable, count];
  }
  return best;
}

/** whether the loop of this size starts every group at a multiple of four */
export const isAligned = (d: LoopDim): boolean => {
  const n = intValue(d.size);
  return n !== undefined && n % LANES === 0;
};
