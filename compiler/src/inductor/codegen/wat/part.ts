// One loop nest of a kernel, analysed. In: the members that share it. Out: their common loops, the segments between
// which reduction loops close, and each member's loop variables and accesses in terms of the common loops.
import type { Schedule, SchedulerNode } from "../../scheduler/types";
import { type Expr, int, intValue, mul, product, type SymExpr } from "../../symbolic/expr";
import { nodeSchedule } from "../triton/node_schedule";
import { type Access, accessesOf } from "./accesses";
import { type LoopSpace, loopSpace, memberVariables } from "./loop_space";
import type { KernelSizes } from "./sizes";
import { UnsupportedOnCpu } from "./wat_types";

export interface Member {
  readonly node: SchedulerNode;
  readonly body: NonNullable<SchedulerNode["body"]>;
  readonly iter: readonly Expr[];
  readonly reduce: readonly Expr[];
  readonly accesses: readonly Access[];
}

export interface Segment {
  /** runs inside a loop over the reduction dims */
  readonly loop: boolean;
  readonly members: readonly Member[];
}

export interface Part {
  readonly space: LoopSpace;
  readonly segments: readonly Segment[];
  readonly ranges: ReadonlyMap<SymExpr, Expr>;
  readonly reduces: boolean;
  readonly atomic: boolean;
}

export function analysePart(
  nodes: readonly SchedulerNode[],
  schedule: Schedule,
  sizes: KernelSizes,
  prefix: string,
): Part {
  const { sv } = sizes;
  const members = nodes.filter(m => m.body !== null && !schedule.removedOps.has(m.name));
  const lead = members.find(m => intValue(m.group[1]) !== 1) ?? members[0];
  if (!lead) throw new UnsupportedOnCpu("a kernel without loops");
  const entries = nodeSchedule(members, lead.group[0], lead.group[1], sv);
  if (!entries) throw new UnsupportedOnCpu("members that share no loop");
  const numel = sizes.resolve(lead.group[0]);
  const rnumel = sizes.resolve(lead.group[1]);
  const reduces = intValue(rnumel) !== 1;
  const total = sizes.resolve(mul(numel, rnumel));
  const outside = (m: SchedulerNode): boolean => reduces && sizes.resolve(product([...m.group])) !== total;
  const own = (m: SchedulerNode): readonly Expr[] => {
    const b = m.body;
    return b ? [...b.iterSizes, ...b.reduceSizes].map(e => sizes.resolve(e)) : [];
  };
  const space = loopSpace(
    numel,
    rnumel,
    members.map(m => ({ sizes: own(m), outside: outside(m) })),
    sv,
    prefix,
  );
  const ranges = new Map<SymExpr, Expr>([...space.x, ...space.r].map(d => [d.variable, d.size]));
  const simplify = (e: Expr): Expr => sv.simplifyWithRanges(sv.removePrecomputed(e), ranges);
  const analysed = new Map<SchedulerNode, Member>();
  for (const node of members) {
    const { body } = node;
    if (!body) continue;
    const dims = outside(node) ? space.x : [...space.x, ...space.r];
    const all = memberVariables(own(node), dims, sv);
    const iter = all.slice(0, body.iterSizes.length);
    const reduce = all.slice(body.iterSizes.length);
    analysed.set(node, { node, body, iter, reduce, accesses: accessesOf(body, iter, reduce, simplify) });
  }
  const segments: { loop: boolean; members: Member[] }[] = [{ loop: reduces, members: [] }];
  for (const e of entries) {
    if (e === "disable") segments.push({ loop: false, members: [] });
    else if (e === "enable") segments.push({ loop: true, members: [] });
    else {
      const member = analysed.get(e);
      if (member) segments[segments.length - 1]?.members.push(member);
    }
  }
  return {
    space,
    segments: segments.filter(s => s.members.length),
    ranges,
    reduces,
    atomic: [...analysed.values()].some(m => m.accesses.some(a => a.kind === "atomic_add")),
  };
}

/** elements of one turn of the outer loop */
export const rowLength = (part: Part): Expr => (part.reduces ? part.space.rnumel : int(1));
