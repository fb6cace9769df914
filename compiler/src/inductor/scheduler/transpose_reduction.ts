// Sums along either axis of a matrix and copies of it in any order, in one pass over square tiles. In: nodes after the
// ordinary rounds. Out: nodes of which some are FusedTransposeReduction, whose sums leave partial results per tile row
// (or column) for a second stage. Promises: a group fuses only where that moves fewer bytes and is estimated faster; every
// refusal says why. Not Inductor's: behaviour `transpose_reduction_fusion`. See docs/scheduler.md.
import { estimateKernelUs } from "../cost";
import { intValue } from "../symbolic";
import { countBytes } from "./bytes";
import { makeGroup } from "./groups";
import { topologicalSort } from "./nodes";
import { type Reason, reason, refuse, sharedTraffic } from "./refusal";
import { type Cut, canCutAgain, cutAgain, cutReduction, cuttable, secondStage } from "./split_sum";
import {
  behaves,
  isGpu,
  isMixOrder,
  isReduction,
  isTemplate,
  membersOf,
  operationNames,
  type SchedulerState,
  usedBufferNames,
} from "./state";
import { elements, type Frame, type FrameMember, frameOf, runsBothWays, wholeBody } from "./transpose_frame";
import type { AnyNode, GroupNode, SchedulerNode } from "./types";

/** a tile's side along the kept elements, and the rows that one program takes at a time */
export const TILE = 64;
/** reduced elements that a program walks at least, where there are enough of them */
const SHORTEST_WALK = 256;
/** programs per multiprocessor that keep the memory busy */
const PROGRAMS_PER_SM = 8;
/** what is read again soon comes from the L2 this many times faster than from memory */
const L2_SPEEDUP = 2.5;
/** a fused kernel must be estimated at this share of the separate ones, or less */
const WORTH = 0.97;
/** share of the copy speed that a kernel reaches whose loops follow one direction where accesses run in two */
const ONE_SIDED = 0.85;
/** bytes per partial result */
const PARTIAL = 4;

/** reductions that a tile can do across its other side */
const ACROSS: ReadonlySet<string> = new Set(["sum", "prod", "max", "min"]);

const PLAIN: ReadonlySet<string> = new Set([
  "SchedulerNode",
  "FusedSchedulerNode",
  "FusedMixOrderReductions",
  "FusedTransposeReduction",
]);

export const isTransposeReduction = (n: AnyNode): n is GroupNode => n.type === "FusedTransposeReduction";

/** What a group would be: its loops, who is in it, how its sums are cut, and what stays outside (uses of the sums). */
export interface TransposeShape {
  readonly frame: Frame;
  /** programs along the reduced elements */
  readonly pieces: number;
  readonly cuts: ReadonlyMap<SchedulerNode, Cut>;
  readonly rest: readonly SchedulerNode[];
  /** sums that were cut into too few pieces, and the cut that they get */
  readonly recuts: ReadonlyMap<SchedulerNode, Cut>;
}

/** without `fusedNode` (once the schedule stands) no reduction is cut anew */
export type ShapeInput = Pick<SchedulerState, "sizevars" | "target"> & Partial<Pick<SchedulerState, "fusedNode">>;

export const isFailure = (x: TransposeShape | Reason): x is Reason => "code" in x;

/** One pass for these members; or why not. */
export function transposeShape(s: ShapeInput, members: readonly SchedulerNode[]): TransposeShape | Reason {
  const sums = members.filter(isReduction);
  if (sums.length === 0) return reason("no_shared_data", "nothing is reduced");
  for (const m of members) {
    const why = unfit(m);
    if (why) return why;
  }
  const [total] = [extentOf(sums[0] as SchedulerNode)];
  if (total === null) return reason("not_one_pass", "sizes are not known numbers");
  const names = new Set(sums.map(x => x.name));
  const uses = (m: SchedulerNode): boolean => [...names].some(n => m.ancestors.has(n));
  const rest = members.filter(m => !isReduction(m) && uses(m) && extentOf(m) !== total);
  const inside = members.filter(m => !rest.includes(m));
  // pairs that no single pass could ever serve need no word
  if (inside.some(m => extentOf(m) !== total))
    return reason("no_shared_data", "they walk different numbers of elements");
  if (inside.some(uses) || inside.some(m => rest.some(r => m.ancestors.has(r.name)))) {
    return reason("not_one_pass", "one needs a result over all of what the other walks");
  }
  let first: Reason | null = null;
  for (const seed of seedsOf(inside)) {
    const framed = frameOf(s, inside, seed);
    const shape = "why" in framed ? framed.why : cutsOf(s, framed.frame, rest);
    if (!isFailure(shape)) return shape;
    first ??= shape;
  }
  return first ?? reason("no_shared_data", "nothing is reduced");
}

/** what a tile kernel can't hold, whatever the loops */
function unfit(m: SchedulerNode): Reason | null {
  const op = m.operation;
  if (op.kind !== "computed" || !m.body) return reason("extern_kernel", `${m.name} is no loop nest`);
  if (m.outputs.length !== 1 || m.outputs.some(o => o.mutations.length > 0 || o.aliases.length > 0)) {
    return reason("not_one_pass", `${m.name} writes into another tensor`);
  }
  if (op.loops.kind === "Pointwise") return null;
  if (op.loops.kind === "Reduction" && (op.loops.split !== undefined || cuttable(m))) return null;
  return reason("not_one_pass", `${m.name} is no plain sum`);
}

function extentOf(m: SchedulerNode): number | null {
  const body = wholeBody(m);
  if (!body) return null;
  let n = 1;
  for (const e of [...body.iterSizes, ...body.reduceSizes]) {
    const v = intValue(e);
    if (v === undefined) return null;
    n *= v;
  }
  return n;
}

const splitOf = (m: SchedulerNode): number | null => {
  const op = m.operation;
  return op.kind === "computed" && "split" in op.loops ? (op.loops.split?.size ?? null) : null;
};

const keptCount = (m: SchedulerNode): number =>
  (wholeBody(m)?.iterSizes ?? []).reduce((n, e) => n * (intValue(e) ?? 1), 1);

/**
 * Sums whose kept elements may lie across the tiles' columns, best first: those that are cut already, then by what they
 * keep; one of each way to cut the matrix.
 */
function seedsOf(members: readonly SchedulerNode[]): SchedulerNode[] {
  const sums = members
    .filter(isReduction)
    .sort((a, b) => Number(splitOf(b) !== null) - Number(splitOf(a) !== null) || keptCount(b) - keptCount(a));
  const seen = new Set<string>();
  return sums.filter(m => {
    const key = `${keptCount(m)} ${splitOf(m)}`;
    const fresh = !seen.has(key);
    seen.add(key);
    return fresh;
  });
}

/** How many partial results each sum leaves. */
function cutsOf(s: ShapeInput, frame: Frame, rest: readonly SchedulerNode[]): TransposeShape | Reason {
  const [kept, reduced] = [elements(frame.kept), elements(frame.reduced)];
  if (kept < TILE / 2 || reduced < TILE / 2) return reason("cost_model", "too narrow for square tiles");
  const columns = Math.ceil(kept / TILE);
  const sums = frame.members.filter(m => m.role === "sum");
  const given = new Set(sums.flatMap(m => splitOf(m.node) ?? []));
  if (given.size > 1) return reason("numel_rnumel_mismatch_reduce", "they are cut into different numbers of pieces");
  const wanted = Math.ceil((s.target.multiProcessorCount * PROGRAMS_PER_SM) / columns);
  const most = Math.max(1, Math.floor(reduced / SHORTEST_WALK));
  const [fixed] = given;
  const again = fixed !== undefined && 2 * fixed <= Math.min(wanted, most) && cutsAnew(s, sums);
  const pieces = again ? Math.min(wanted, most) : (fixed ?? Math.min(wanted, most));
  const cuts = new Map<SchedulerNode, Cut>();
  const recuts = new Map<SchedulerNode, Cut>();
  if (again)
    for (const m of sums) if (splitOf(m.node) !== null) recuts.set(m.node, { pieces, block: walk(reduced, pieces) });
  for (const m of frame.members) {
    const { node } = m;
    if (m.role === "cross" && node.operation.kind === "computed" && "type" in node.operation.loops) {
      if (!ACROSS.has(node.operation.loops.type)) return reason("not_one_pass", `${node.name} has no sum over a tile`);
    }
    if (m.role === "copy" || splitOf(m.node) !== null) {
      // a sum across the tiles has one piece per tile
      if (m.role === "cross" && splitOf(m.node) !== columns)
        return reason("numel_rnumel_mismatch_reduce", "the other sum is cut into other pieces");
      continue;
    }
    if (m.role === "cross" && columns > 1) cuts.set(m.node, { pieces: columns, block: TILE });
    else if (m.role === "sum" && pieces > 1) cuts.set(m.node, { pieces, block: walk(reduced, pieces) });
  }
  return { frame, pieces, cuts, rest, recuts };
}

/** whether the second stages of these sums can take another number of pieces: no other reduction shares their loops */
function cutsAnew(s: ShapeInput, sums: readonly FrameMember[]): boolean {
  const later = new Set<SchedulerNode>();
  for (const m of sums) {
    if (splitOf(m.node) === null) continue;
    const second = canCutAgain(m.node) ? secondStage(m.node) : null;
    if (!second) return false;
    later.add(second);
  }
  return [...later].every(n => {
    const group = s.fusedNode?.get(n.name);
    return group !== undefined && PLAIN.has(group.type) && membersOf(group).every(m => !isReduction(m) || later.has(m));
  });
}

/** reduced elements per program: whole tiles, two at a time where a program has several */
export function walk(reduced: number, pieces: number): number {
  const each = Math.ceil(reduced / pieces);
  const step = each > 2 * TILE ? 2 * TILE : TILE;
  return Math.ceil(each / step) * step;
}

/** microseconds of one pass, its partial results and the kernels that add those up */
function fusedUs(s: SchedulerState, shape: TransposeShape, bytes: number): number {
  const [kept, reduced] = [elements(shape.frame.kept), elements(shape.frame.reduced)];
  let partial = 0;
  let launches = 0;
  const stages = new Set<string>();
  for (const m of shape.frame.members) {
    if (!shape.cuts.has(m.node)) continue;
    partial += PARTIAL * (m.role === "cross" ? reduced * Math.ceil(kept / TILE) : kept * shape.pieces);
    stages.add(m.role);
  }
  launches += stages.size;
  const programs = Math.ceil(kept / TILE) * shape.pieces;
  const idle = Math.max(1, s.target.multiProcessorCount / programs);
  const pass = estimateKernelUs((bytes + partial) * idle, 0, s.target);
  return (
    pass +
    (launches > 0 ? estimateKernelUs(partial, 0, s.target) + (launches - 1) * estimateKernelUs(0, 0, s.target) : 0)
  );
}

function bytesOf(s: SchedulerState, n: AnyNode): number {
  return countBytes(s, [n]).get(n.name) ?? 0;
}

/** whether one pass beats two kernels, by the roofline */
function costRefusal(s: SchedulerState, a: AnyNode, b: AnyNode, shape: TransposeShape): Reason | null {
  const [x, y] = [bytesOf(s, a), bytesOf(s, b)];
  const { bytes: saved, buffer } = sharedTraffic(s, a, b);
  if (saved <= 0) return reason("no_shared_data", "no shared data");
  const us = (bytes: number): number => estimateKernelUs(bytes, 0, s.target);
  const cached = buffer !== null && saved < s.target.l2Bytes / 2;
  const apart = us(x) + us(y) - (cached ? (us(saved) - us(0)) * (1 - 1 / L2_SPEEDUP) : 0);
  const together = fusedUs(s, shape, x + y - saved);
  return together <= apart * WORTH
    ? null
    : reason("cost_model", `one pass is estimated at ${together.toFixed(1)} us, two at ${apart.toFixed(1)} us`);
}

interface Candidate {
  readonly a: AnyNode;
  readonly b: AnyNode;
  readonly saved: number;
}

/** Groups of sums and copies, the pairs that save most first; what is left is as it was. */
export function fuseTransposeReductions(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  if (!behaves(s, "transpose_reduction_fusion")) return [...nodes];
  let current = [...nodes];
  const refused = new Set<string>();
  for (;;) {
    const best = bestPair(s, current, refused);
    if (!best) break;
    const { a, b } = best;
    const group = makeGroup(s, "FusedTransposeReduction", inOrder([...parts(a), ...parts(b)]));
    s.events.push({ kind: "fusing", a: a.name, b: b.name, result: group.name });
    current = topologicalSort(
      [...current.filter(n => n !== a && n !== b), group].sort((x, y) => x.minOrder - y.minOrder),
    );
  }
  current = current.map(n => (wantsTiles(s, n) ? makeGroup(s, "FusedTransposeReduction", parts(n)) : n));
  for (const g of current.filter(isTransposeReduction)) current = settle(s, g, current);
  return current;
}

/** a kernel that ordinary rounds put together, but whose loops can only follow one of its two directions */
function wantsTiles(s: SchedulerState, n: AnyNode): boolean {
  if (n.type !== "FusedSchedulerNode" || !isGpu(n) || isTemplate(n) || !isReduction(n)) return false;
  const shape = transposeShape(s, membersOf(n));
  if (isFailure(shape) || !runsBothWays(shape.frame, s.sizevars)) return false;
  const bytes = bytesOf(s, n);
  return fusedUs(s, shape, bytes) * ONE_SIDED <= estimateKernelUs(bytes, 0, s.target);
}

/** what a group was made of: each part keeps its own loops */
const parts = (n: AnyNode): readonly AnyNode[] =>
  isTransposeReduction(n) || isMixOrder(n) ? (n.halves ?? n.snodes).flatMap(parts) : [n];

/** producers first */
function inOrder(list: readonly AnyNode[]): AnyNode[] {
  return topologicalSort([...list].sort((x, y) => x.minOrder - y.minOrder));
}

/** `refused` holds the pairs that have been refused already */
function bestPair(s: SchedulerState, nodes: readonly AnyNode[], refused: Set<string>): Candidate | null {
  const open = nodes.filter(n => PLAIN.has(n.type) && isGpu(n) && !isTemplate(n));
  let best: Candidate | null = null;
  for (const [i, a] of open.entries()) {
    const mine = usedBufferNames(a);
    for (const b of open.slice(i + 1)) {
      if (!isReduction(a) && !isReduction(b)) continue;
      if (![...usedBufferNames(b)].some(n => mine.has(n))) continue;
      const saved = sharedTraffic(s, a, b).bytes;
      if (saved <= (best?.saved ?? 0)) continue;
      const key = `${a.name} ${b.name}`;
      if (refused.has(key)) continue;
      if (accepts(s, a, b, nodes)) best = { a, b, saved };
      else refused.add(key);
    }
  }
  return best;
}

function accepts(s: SchedulerState, a: AnyNode, b: AnyNode, nodes: readonly AnyNode[]): boolean {
  const members = inOrder([...membersOf(a), ...membersOf(b)]) as SchedulerNode[];
  const shape = transposeShape(s, members);
  if (isFailure(shape)) {
    // pairs that this kernel was never meant for need no word
    return shape.code === "no_shared_data" ? false : refuse(s, a, b, shape);
  }
  const why = between(a, b, nodes) ?? costRefusal(s, a, b, shape);
  return why === null ? true : refuse(s, a, b, why);
}

/** a node that waits for one of the two and that the other waits for */
function between(a: AnyNode, b: AnyNode, nodes: readonly AnyNode[]): Reason | null {
  const own = new Set([...operationNames(a), ...operationNames(b)]);
  const producer = new Map<string, AnyNode>();
  for (const n of nodes) for (const m of membersOf(n)) producer.set(m.name, n);
  const seen = new Set<AnyNode>();
  const queue = [a, b].flatMap(n => waitsFor(n, producer)).filter(n => n !== a && n !== b);
  for (let n = queue.pop(); n !== undefined; n = queue.pop()) {
    if (seen.has(n)) continue;
    seen.add(n);
    if (operationNames(n).some(o => own.has(o))) return reason("cycle", "will create cycle");
    for (const p of waitsFor(n, producer)) {
      if (p === a || p === b) return reason("intermediate_nodes", "intermediate nodes between node1 & node2");
      queue.push(p);
    }
  }
  return null;
}

function waitsFor(n: AnyNode, producer: ReadonlyMap<string, AnyNode>): AnyNode[] {
  const list = new Set<AnyNode>();
  for (const m of membersOf(n)) {
    for (const name of m.ancestors) {
      const p = producer.get(name);
      if (p && p !== n) list.add(p);
    }
  }
  return [...list];
}

/** Cuts the sums of a group that is complete, and puts what uses them behind it. */
function settle(s: SchedulerState, group: GroupNode, nodes: readonly AnyNode[]): AnyNode[] {
  const shape = transposeShape(s, membersOf(group));
  if (isFailure(shape)) throw new Error(`${group.name}: ${shape.detail}`);
  const others = nodes.filter(n => n !== group);
  for (const [node, cut] of shape.recuts) cutAgain(s, node, cut);
  const rest: SchedulerNode[] = [...shape.rest];
  const all = [...others, ...membersOf(group)];
  const inside = shape.frame.members.map(({ node }) => {
    const cut = shape.cuts.get(node);
    if (!cut) return node;
    rest.push(node);
    return cutReduction(s, node, cut, all);
  });
  const again = makeGroup(s, "FusedTransposeReduction", inOrder(inside));
  const behind = grouped(rest).map(list => {
    const sorted = inOrder(list);
    const [only] = sorted;
    if (sorted.length === 1 && only) {
      s.fusedNode.set(only.name, only);
      return only;
    }
    return makeGroup(s, "FusedSchedulerNode", sorted);
  });
  return topologicalSort([...others, again, ...behind].sort((x, y) => x.minOrder - y.minOrder));
}

/** Second stages by their loops, each with what uses it alone; what uses several together comes after them. */
function grouped(nodes: readonly SchedulerNode[]): SchedulerNode[][] {
  const lists = new Map<string, SchedulerNode[]>();
  const put = (key: string, n: SchedulerNode): void => {
    const list = lists.get(key);
    if (list) list.push(n);
    else lists.set(key, [n]);
  };
  for (const n of inOrder(nodes) as SchedulerNode[]) {
    if (isReduction(n)) {
      put(`${n.group[0].id} ${n.group[1].id}`, n);
      continue;
    }
    const needs = [...lists].filter(([, list]) => list.some(m => n.ancestors.has(m.name)));
    const [only] = needs;
    const joins = needs.length === 1 && only?.[1].some(m => isReduction(m) && m.group[0] === n.group[0]);
    put(joins && only ? only[0] : `${n.group[0].id}`, n);
  }
  return [...lists.values()];
}
