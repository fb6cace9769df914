// One set of loops for everything that walks the same matrix. In: pointwise nodes and reductions over the same elements,
// each in its own loop order. Out: their bodies over common loops: those that the first reduction keeps, then those that
// it reduces. Promises: loops are matched by how they step through a shared buffer; a value that passes from one member to
// another passes at the same element; what does not fit is refused, with a reason. Sizes are numbers.
import type { Block, LoopBody } from "../ir/loop_body";
import { recapture } from "../ir/replay";
import { bodySizes, loopVars } from "../ir/transform";
import {
  add,
  type Expr,
  floorDiv,
  freeSymbols,
  int,
  intValue,
  modularIndexing,
  mul,
  type SymExpr,
  sub,
} from "../symbolic";
import type { SizeVars } from "../symbolic/size_vars";
import { type Reason, reason } from "./refusal";
import { isReduction } from "./state";
import type { SchedulerNode } from "./types";

/** sum: keeps the frame's first part; cross: keeps the second; copy: pointwise over both */
export type FrameRole = "sum" | "cross" | "copy";

export interface FrameMember {
  readonly node: SchedulerNode;
  readonly role: FrameRole;
  /** over the frame's loops: a sum reduces the second part, everything else iterates over both */
  readonly body: LoopBody;
  /** what it writes, and where that is in terms of the loops that it keeps */
  readonly store: { readonly buffer: string; readonly index: Expr };
}

export interface Frame {
  /** sizes of the loops that are kept, and of those that are reduced */
  readonly kept: readonly number[];
  readonly reduced: readonly number[];
  readonly members: readonly FrameMember[];
}

export interface Sizes {
  readonly sizevars: SizeVars;
}

export type Framed = { readonly frame: Frame } | { readonly why: Reason };

/** a reduction's loops before Inductor cut it into two stages */
const wholeBodies = new WeakMap<object, LoopBody>();
export function wholeBody(n: SchedulerNode): LoopBody | null {
  const op = n.operation;
  if (op.kind !== "computed") return null;
  if (!("split" in op.loops) || op.loops.split === undefined) return n.body;
  let body = wholeBodies.get(op.loops.split);
  if (body === undefined) {
    body = op.loops.split.original();
    wholeBodies.set(op.loops.split, body);
  }
  return body;
}

interface Access {
  readonly buffer: string;
  readonly index: Expr;
  readonly write: boolean;
}

/** every load and store of a body, those under masks too */
export function accessesOf(body: LoopBody): Access[] {
  const list: Access[] = [];
  const visit = (block: Block): void => {
    for (const n of block.nodes) {
      if (n.op === "masked") {
        const inner = body.subblocks.get(n.subblock);
        if (inner) visit(inner);
      }
      if (n.op !== "load" && n.op !== "store" && n.op !== "store_reduction") continue;
      const index = n.at.op === "get_index" ? body.indexing.get(n.at.index) : undefined;
      if (index) list.push({ buffer: n.buffer, index, write: n.op !== "load" });
    }
  };
  visit(body.block);
  return list;
}

interface Walk {
  readonly steps: readonly number[];
  readonly start: Expr;
}

/** How far each loop steps; null unless the index is a sum of loops times numbers, with no loop left out. */
function walkOf(index: Expr, vars: readonly SymExpr[], sv: SizeVars): Walk | null {
  if ([...freeSymbols(index)].some(s => !vars.includes(s))) return null;
  const steps = sv.strideVars(index, vars);
  const start = sv.simplify(sv.offsetVar(index, vars));
  let rest = sub(index, start);
  for (const [i, v] of vars.entries()) rest = sub(rest, mul(steps[i] as Expr, v));
  if (intValue(sv.simplify(rest)) !== 0) return null;
  const numbers = steps.map(s => intValue(s) ?? 0);
  return numbers.every(n => n > 0) ? { steps: numbers, start } : null;
}

interface Axis {
  readonly size: number;
  readonly step: number;
}

/**
 * Each of `loops` in terms of `axes`, where both walk the same elements: matched from the smallest step up, cut where one
 * side's loop spans several of the other. Null where they do not match.
 */
export function matchLoops(
  loops: readonly Axis[],
  axes: readonly Axis[],
  axisVars: readonly Expr[],
): { readonly values: readonly Expr[]; readonly uses: readonly ReadonlySet<number>[] } | null {
  const ascending = (list: readonly Axis[]): number[] =>
    list.flatMap((a, i) => (a.size === 1 ? [] : [i])).sort((a, b) => (list[a] as Axis).step - (list[b] as Axis).step);
  const loopOrder = ascending(loops);
  const axisOrder = ascending(axes);
  const values: Expr[] = loops.map(() => int(0));
  const uses = loops.map(() => new Set<number>());
  let [a, l] = [0, 0];
  let [axisDone, loopDone] = [1, 1];
  while (a < axisOrder.length && l < loopOrder.length) {
    const [ai, li] = [axisOrder[a] as number, loopOrder[l] as number];
    const axis = axes[ai] as Axis;
    const loop = loops[li] as Axis;
    if (axis.step * axisDone !== loop.step * loopDone) return null;
    const axisLeft = axis.size / axisDone;
    const loopLeft = loop.size / loopDone;
    const piece = Math.min(axisLeft, loopLeft);
    if (axisLeft % piece !== 0 || loopLeft % piece !== 0) return null;
    const v = axisVars[ai] as Expr;
    const value = piece === axisLeft ? floorDiv(v, axisDone) : modularIndexing(v, axisDone, piece);
    values[li] = add(values[li] as Expr, mul(value, loopDone));
    uses[li]?.add(ai);
    axisDone *= piece;
    loopDone *= piece;
    if (axisDone === axis.size) {
      a++;
      axisDone = 1;
    }
    if (loopDone === loop.size) {
      l++;
      loopDone = 1;
    }
  }
  return a === axisOrder.length && l === loopOrder.length ? { values, uses } : null;
}

const numbers = (sizes: readonly Expr[]): number[] | null => {
  const list = sizes.map(intValue);
  return list.every(n => n !== undefined && n > 0) ? (list as number[]) : null;
};

const notOnePass = (detail: string): Framed => ({ why: reason("not_one_pass", detail) });

/**
 * Common loops of `members` (in fused order). `seed` is the reduction whose loops they are; it keeps the first part.
 */
export function frameOf(s: Sizes, members: readonly SchedulerNode[], seed: SchedulerNode): Framed {
  const sv = s.sizevars;
  const seedBody = wholeBody(seed);
  const kept = seedBody && numbers(seedBody.iterSizes);
  const reduced = seedBody && numbers(seedBody.reduceSizes);
  if (!seedBody || !kept || !reduced) return notOnePass("sizes are not known numbers");
  const sizes = [...kept, ...reduced];
  const total = sizes.reduce((x, y) => x * y, 1);
  const [axisVars] = loopVars(sizes.map(int), []);
  /** buffers that are walked in full, with how far each common loop steps through them */
  const known = new Map<string, Walk>();
  const learn = (body: LoopBody): void => {
    for (const x of accessesOf(body)) {
      const walk = known.has(x.buffer) ? null : walkOf(x.index, [...body.iterVars, ...body.reduceVars], sv);
      if (walk) known.set(x.buffer, walk);
    }
  };
  const framed = new Map<SchedulerNode, FrameMember>();
  const include = (n: SchedulerNode): Reason | "later" | null => {
    const body = wholeBody(n);
    if (!body) return reason("not_one_pass", `${n.name} has no loops`);
    const own = numbers([...body.iterSizes, ...body.reduceSizes]);
    if (!own) return reason("not_one_pass", "sizes are not known numbers");
    if (own.reduce((x, y) => x * y, 1) !== total) {
      return reason("nodes_numel_incompatibility", "they walk different numbers of elements");
    }
    const vars = [...body.iterVars, ...body.reduceVars];
    let seen = false;
    for (const x of accessesOf(body)) {
      const theirs = known.get(x.buffer);
      const mine = theirs && walkOf(x.index, vars, sv);
      if (!theirs || !mine) continue;
      seen = true;
      // another slice of the same buffer is other data
      if (mine.start !== theirs.start) continue;
      const match = matchLoops(
        mine.steps.map((step, i) => ({ step, size: own[i] as number })),
        theirs.steps.map((step, i) => ({ step, size: sizes[i] as number })),
        axisVars,
      );
      if (!match) continue;
      const member = memberOf(s, n, body, match, sizes.length, kept.length, sizes);
      if ("code" in member) return member;
      framed.set(n, member);
      learn(member.body);
      return null;
    }
    return seen ? reason("memory_deps_did_not_match", "they step through what they share in unlike ways") : "later";
  };
  learn(seedBody);
  let waiting = [...members];
  while (waiting.length > 0) {
    const rest: SchedulerNode[] = [];
    for (const n of waiting) {
      const why = include(n);
      if (why === "later") rest.push(n);
      else if (why !== null) return { why };
    }
    if (rest.length === waiting.length) return { why: reason("no_shared_data", "no buffer that both walk in full") };
    waiting = rest;
  }
  const list = members.map(n => framed.get(n) as FrameMember);
  const why = valuesPassInPlace(list);
  return why ? { why } : { frame: { kept, reduced, members: list } };
}

function memberOf(
  s: Sizes,
  n: SchedulerNode,
  body: LoopBody,
  match: { readonly values: readonly Expr[]; readonly uses: readonly ReadonlySet<number>[] },
  count: number,
  keptCount: number,
  sizes: readonly number[],
): FrameMember | Reason {
  const iterCount = body.iterVars.length;
  const partsOf = (from: number, to: number): Set<string> =>
    new Set(match.uses.slice(from, to).flatMap(u => [...u].map(i => (i < keptCount ? "kept" : "reduced"))));
  let role: FrameRole = "copy";
  if (isReduction(n)) {
    const mine = partsOf(0, iterCount);
    const gone = partsOf(iterCount, match.uses.length);
    if (!mine.has("reduced") && !gone.has("kept")) role = "sum";
    else if (!mine.has("kept") && !gone.has("reduced")) role = "cross";
    else return reason("not_one_pass", `${n.name} reduces along both parts`);
  }
  const reduces = role === "sum" ? count - keptCount : 0;
  const exprs = sizes.map(int);
  const iterSizes = exprs.slice(0, count - reduces);
  const reduceSizes = exprs.slice(count - reduces);
  const [iterVars, reduceVars] = loopVars(iterSizes, reduceSizes);
  const again = recapture(
    body,
    iterVars,
    iterSizes,
    reduceVars,
    reduceSizes,
    match.values.slice(0, iterCount),
    match.values.slice(iterCount),
    bodySizes(s.sizevars),
  );
  const store = accessesOf(again).filter(x => x.write);
  const [only] = store;
  if (store.length !== 1 || !only) return reason("not_one_pass", `${n.name} writes more than once`);
  return { node: n, role, body: again, store: { buffer: only.buffer, index: only.index } };
}

/** What one member writes and another reads must be the same element of the same iteration; sums are not ready yet. */
function valuesPassInPlace(members: readonly FrameMember[]): Reason | null {
  const written = new Map(members.map(m => [m.store.buffer, m] as const));
  for (const m of members) {
    for (const x of accessesOf(m.body)) {
      const from = x.write ? undefined : written.get(x.buffer);
      if (!from) continue;
      if (from.role !== "copy") return reason("not_one_pass", `${m.node.name} needs all of ${from.node.name}`);
      if (from.store.index !== x.index)
        return reason("memory_deps_did_not_match", `${m.node.name} reads other elements than ${from.node.name} writes`);
    }
  }
  return null;
}

/**
 * Whether some access runs densely along the kept loops and another along the reduced ones, both over all elements: only
 * tiles serve both well.
 */
export function runsBothWays(f: Frame, sv: SizeVars): boolean {
  const directions = new Set<boolean>();
  for (const m of f.members) {
    const vars = [...m.body.iterVars, ...m.body.reduceVars];
    for (const x of accessesOf(m.body)) {
      const dense = walkOf(x.index, vars, sv)?.steps.indexOf(1) ?? -1;
      if (dense >= 0) directions.add(dense < f.kept.length);
    }
  }
  return directions.size === 2;
}

export const elements = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);
