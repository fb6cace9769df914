// Mix-order reduction: two reductions over the same tensor, one along rows, one along columns, in one kernel that reads
// it once. In: two nodes. Out: whether they fit, the fused node, what may join it later. Promises: after
// MixOrderReduction and FusedMixOrderReductions (torch/_inductor/scheduler.py); the rows' node comes first.
import type { ComputedOperation } from "../ir/types";
import { type Expr, freeSymbols, intValue, mul, relation, type SymExpr } from "../symbolic";
import { indexVars } from "./dependencies";
import { makeGroup } from "./groups";
import { commonDeps, scoreFusionMemory } from "./score";
import {
  flag,
  isGpu,
  isGroup,
  isMixOrder,
  isReduction,
  membersOf,
  operationNames,
  product,
  type SchedulerState,
  usedBufferNames,
} from "./state";
import type { AnyNode, GroupNode, SchedulerNode } from "./types";

/** below this many elements the fused kernel is slower than two */
const MIN_ELEMENTS = 5 * 2 ** 20;
const MIN_ROWS = 4096;
/** longer rows would not be reduced in one piece */
const MAX_COLUMNS = 16384;

const computedOf = (n: SchedulerNode): ComputedOperation | null =>
  n.operation.kind === "computed" ? n.operation : null;

function reductionOps(n: AnyNode): ComputedOperation[] {
  return membersOf(n).flatMap(m => {
    const op = isReduction(m) ? computedOf(m) : null;
    return op ? [op] : [];
  });
}

/** (elements kept, elements reduced); for first stages of split reductions those before splitting */
function numelRnumel(s: SchedulerState, n: AnyNode): readonly [Expr, Expr] {
  const ops = reductionOps(n);
  const splits = ops.map(op => ("split" in op.loops ? op.loops.split : undefined));
  const [first] = splits;
  if (ops.length && first && splits.every(x => x !== undefined)) {
    return [s.sizevars.simplify(product(first.ranges)), s.sizevars.simplify(product(first.reductionRanges))];
  }
  return n.group;
}

const elements = (s: SchedulerState, n: AnyNode): number => {
  const [x, r] = numelRnumel(s, n);
  return s.sizevars.sizeHint(mul(x, r), 0);
};

/** Score of a mix-order pair: elements, so that a fusion that saves as many bytes goes first. */
export const mixOrderScore = (s: SchedulerState, a: AnyNode): number => elements(s, a);

const UNPAIRABLE: ReadonlySet<string> = new Set([
  "FusedMixOrderReductions",
  "FusedNestedReductions",
  "ForeachKernelSchedulerNode",
]);

export function canMixOrder(s: SchedulerState, a: AnyNode, b: AnyNode): boolean {
  if (!flag(s, "triton.mix_order_reduction") || flag(s, "cpp_wrapper")) return false;
  if (!isGpu(a) || !isGpu(b) || !isReduction(a) || !isReduction(b)) return false;
  if (UNPAIRABLE.has(a.type) || UNPAIRABLE.has(b.type)) return false;
  if (operationNames(b).some(o => a.ancestors.has(o)) || operationNames(a).some(o => b.ancestors.has(o))) return false;
  const [x1, r1] = numelRnumel(s, a);
  const [x2, r2] = numelRnumel(s, b);
  if (x1 !== r2 || r1 !== x2 || x1 === x2) return false;
  if (!readBothInFull(s, a, b)) return false;
  const rows = isContiguousNode(s, a) ? a : isContiguousNode(s, b) ? b : null;
  if (!rows) return false;
  const [nrow, ncol] = rows === a ? [x1, r1] : [x2, r2];
  if (!flag(s, "triton.mix_order_reduction_non_strict_mode")) {
    const holds = (e: ReturnType<typeof relation>): boolean => s.sizevars.evaluateExpr(e) === true;
    if (!holds(relation("ge", mul(nrow, ncol), MIN_ELEMENTS))) return false;
    if (!holds(relation("ge", nrow, mul(ncol, 2)))) return false;
    if (!holds(relation("ge", nrow, MIN_ROWS))) return false;
  }
  const hintFits = reductionOps(rows).every(
    op => "hint" in op.loops && (op.loops.hint === "INNER" || op.loops.hint === "DEFAULT"),
  );
  if (!hintFits || !s.sizevars.knownLeq(ncol, MAX_COLUMNS)) return false;
  const columns = rows === a ? b : a;
  return reductionOps(columns).every(op => "type" in op.loops && (op.loops.type === "sum" || op.loops.type === "prod"));
}

function readBothInFull(s: SchedulerState, a: AnyNode, b: AnyNode): boolean {
  const theirs = usedBufferNames(b);
  return [...usedBufferNames(a)].some(name => theirs.has(name) && isFullAccess(s, name, a) && isFullAccess(s, name, b));
}

/** The first read of the buffer visits every iteration of the loops at another element. */
function isFullAccess(s: SchedulerState, name: string, n: AnyNode): boolean {
  const dep = n.readWrites.reads.find(d => d.kind === "memory" && d.name === name);
  if (dep?.kind !== "memory") return false;
  const lead = isGroup(n) ? membersOf(n)[0] : n;
  if (!lead) return false;
  const { ranges } = indexVars(lead.sizes, "d");
  const free = freeSymbols(dep.index);
  if ([...ranges.keys()].every((v: SymExpr) => free.has(v))) return true;
  return s.sizevars.knownEquals(product(dep.sizes), product([...ranges.values()]));
}

/** Every load steps by 1, or not at all, along the last loop. */
function isContiguousNode(s: SchedulerState, n: AnyNode): boolean {
  return membersOf(n).every(m => {
    const { body } = m;
    if (!body) return false;
    const vars = [...body.iterVars, ...body.reduceVars];
    const blocks = [body.block, ...body.subblocks.values()];
    return blocks.every(block =>
      block.nodes.every(node => {
        if (node.op !== "load" || node.at.op !== "get_index") return true;
        const index = body.indexing.get(node.at.index);
        if (!index || vars.length === 0) return true;
        const strides = s.sizevars.strideVars(index, vars);
        const last = intValue(strides[strides.length - 1] ?? 0);
        return last === 0 || last === 1;
      }),
    );
  });
}

export type CanFuse = (a: AnyNode, b: AnyNode) => boolean;

/** What may join a mix-order node: something that fits one half, or another pair half by half. */
export function canJoinMixOrder(s: SchedulerState, mix: GroupNode, other: AnyNode, canFuse: CanFuse): boolean {
  const [rows, columns] = halvesOf(mix);
  if (!isMixOrder(other)) {
    return halfCanFuse(s, mix, rows, other, [columns], canFuse) || halfCanFuse(s, mix, columns, other, [rows], canFuse);
  }
  const [otherRows, otherColumns] = halvesOf(other);
  return (
    halfCanFuse(s, mix, rows, otherRows, [columns, otherColumns], canFuse) &&
    halfCanFuse(s, mix, columns, otherColumns, [], canFuse)
  );
}

function halvesOf(mix: GroupNode): readonly [AnyNode, AnyNode] {
  if (!mix.halves) throw new Error(`${mix.name} has no halves`);
  return mix.halves;
}

/** `canFuse` is the scheduler's own check without mix-order fusion, which records refusals under the half's name. */
function halfCanFuse(
  s: SchedulerState,
  mix: GroupNode,
  half: AnyNode,
  other: AnyNode,
  rest: readonly AnyNode[],
  canFuse: CanFuse,
): boolean {
  if (!canFuse(half, other)) return false;
  if (isContiguousNode(s, half) && !isContiguousNode(s, other)) return false;
  const joined = new Set([...operationNames(half), ...operationNames(other)]);
  for (const r of rest) {
    if (operationNames(r).some(o => half.ancestors.has(o) || other.ancestors.has(o))) return false;
    for (const o of r.ancestors) if (joined.has(o)) return false;
  }
  return !isReduction(other) || sharedAmount(s, half, other) >= elements(s, halvesOf(mix)[0]);
}

/** Asked for in elements, but answered in bytes unless one side has more than four times the dependencies of the other. */
function sharedAmount(s: SchedulerState, a: AnyNode, b: AnyNode): number {
  const count = (n: AnyNode): number => n.readWrites.reads.length + n.readWrites.writes.length;
  const [small, large] = [Math.min(count(a), count(b)), Math.max(count(a), count(b))];
  if (small * 4 >= large) return scoreFusionMemory(s, a, b);
  return commonDeps(a, b).reduce(
    (sum, d) => sum + (d.kind === "memory" ? s.sizevars.sizeHint(product(d.sizes), 0) : 0),
    0,
  );
}

export function fuseMixOrder(s: SchedulerState, a: AnyNode, b: AnyNode): GroupNode {
  const [rows, columns] = isContiguousNode(s, a) ? [a, b] : [b, a];
  return makeGroup(s, "FusedMixOrderReductions", [...membersOf(rows), ...membersOf(columns)], {
    halves: [rows, columns],
  });
}

export function joinMixOrder(
  s: SchedulerState,
  mix: GroupNode,
  other: AnyNode,
  canFuse: CanFuse,
  fuse: (a: AnyNode, b: AnyNode) => AnyNode,
): GroupNode {
  const [rows, columns] = halvesOf(mix);
  if (isMixOrder(other)) {
    const [otherRows, otherColumns] = halvesOf(other);
    return fuseMixOrder(s, fuse(rows, otherRows), fuse(columns, otherColumns));
  }
  if (halfCanFuse(s, mix, rows, other, [columns], canFuse)) return fuseMixOrder(s, fuse(rows, other), columns);
  return fuseMixOrder(s, rows, fuse(columns, other));
}
