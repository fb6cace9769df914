// Nested reduction: a reduction over groups of G elements inside another's row (or column), in the outer one's kernel.
// In: an outer reduction and a grouped one that reads its result. Out: whether they fit, the fused node, what may follow.
// Promises: after NestedReduction and FusedNestedReductions of mid-2026 (`triton.nested_reduction`).
import type { ComputedOperation, LoopsKind } from "../ir/types";
import {
  type Expr,
  floorDiv,
  freeSymbols,
  int,
  intValue,
  mul,
  product,
  type SymExpr,
  substitute,
  sym,
} from "../symbolic";
import { atoms } from "../symbolic/traverse";
import { isIndirect, type MemoryDep, memoryDep, normalize } from "./dependencies";
import { makeGroup } from "./groups";
import {
  behaves,
  bufferNames,
  flag,
  isGpu,
  isReduction,
  membersOf,
  operationNames,
  type SchedulerState,
} from "./state";
import { tilingOf } from "./tiling/select";
import { isCompatible } from "./tiling/split_ranges";
import type { AnyNode, Dep, GroupNode, SchedulerNode } from "./types";

/** largest group: along rows that are read contiguously, and otherwise */
const MAX_GROUP_INNER = 512;
const MAX_GROUP = 128;
const GROUPED_TYPES: ReadonlySet<string> = new Set(["any", "max", "min", "prod", "sum", "xor_sum"]);

export interface NestedShape {
  readonly axis: "R" | "X";
  readonly groupSize: number;
  /** extent of the outer reduction */
  readonly numel: Expr;
  readonly rnumel: Expr;
  /** extent of what the grouped reduction keeps, along x and along r */
  readonly reduced: readonly [Expr, Expr];
}

type ReductionLoops = Extract<LoopsKind, { type: unknown }>;

function reductionsOf(n: AnyNode): { node: SchedulerNode; op: ComputedOperation; loops: ReductionLoops }[] {
  return membersOf(n).flatMap(m => {
    const op = m.operation;
    return op.kind === "computed" && "type" in op.loops ? [{ node: m, op, loops: op.loops }] : [];
  });
}

/** How `grouped` nests in `outer`; null if it does not. */
export function nestedShape(s: SchedulerState, outer: AnyNode, grouped: AnyNode): NestedShape | null {
  if (!flag(s, "triton.nested_reduction") || !behaves(s, "nested_reduction") || flag(s, "cpp_wrapper")) return null;
  if (!isGpu(outer) || !isGpu(grouped) || !isReduction(outer) || !isReduction(grouped)) return null;
  if (!isPlain(outer) || !isPlain(grouped) || !operationNames(outer).some(o => grouped.ancestors.has(o))) return null;
  const sv = s.sizevars;
  const [x, r] = outer.group;
  const [gx, gr] = grouped.group;
  if (r === gr || sv.simplify(mul(x, r)) !== sv.simplify(mul(gx, gr))) return null;
  const [only, ...more] = reductionsOf(grouped);
  if (!only || more.length || !GROUPED_TYPES.has(only.loops.type)) return null;
  const [iteration, reduction] = only.node.sizes;
  const size = intValue(gr);
  if (reduction.length !== 1 || size === undefined || size < 1 || !Number.isInteger(Math.log2(size))) return null;
  const axis = axisOf(s, iteration, x, r, size);
  if (!axis) return null;
  const inner = reductionsOf(outer).every(o => o.loops.hint === "INNER");
  if (size > (axis === "R" && inner ? MAX_GROUP_INNER : MAX_GROUP)) return null;
  const tiling = tilingOf(s, membersOf(outer), x, r);
  if (tiling.size !== 2 || tiling.get("x") !== x || tiling.get("r0_") !== r) return null;
  const reduced = axis === "R" ? ([x, floorDiv(r, size)] as const) : ([floorDiv(x, size), r] as const);
  return { axis, groupSize: size, numel: x, rnumel: r, reduced };
}

const isPlain = (n: AnyNode): boolean => n.type === "SchedulerNode" || n.type === "FusedSchedulerNode";

function axisOf(s: SchedulerState, iteration: readonly Expr[], x: Expr, r: Expr, size: number): "R" | "X" | null {
  const sv = s.sizevars;
  const [a, b] = iteration;
  if (iteration.length === 2 && a && b) {
    if (sv.knownEquals(a, x) && sv.knownMultipleOf(r, size) && sv.knownEquals(mul(b, size), r)) return "R";
    if (sv.knownEquals(b, r) && sv.knownMultipleOf(x, size) && sv.knownEquals(mul(a, size), x)) return "X";
  } else if (iteration.length === 1 && a) {
    if (sv.knownEquals(x, 1) && sv.knownEquals(mul(a, size), r)) return "R";
    if (sv.knownEquals(x, size) && sv.knownEquals(a, r)) return "X";
  }
  return null;
}

/**
 * For a pair that nests: how a read of the outer node's buffer may match its write. null: the pair does not nest.
 */
export function nestedRelaxation(
  s: SchedulerState,
  outer: AnyNode,
  grouped: AnyNode,
): ((read: Dep, write: MemoryDep) => boolean) | null {
  const shape = nestedShape(s, outer, grouped);
  if (!shape) return null;
  const fits = membersOf(grouped).every(
    m => isReduction(m) || domainOf(s, shape, m, reductionsOf(grouped)[0]?.node ?? null, outer) !== null,
  );
  return fits ? (read, write) => sameElements(s, read, write) : null;
}

type Domain = "reduced" | "local_input" | "parent_full";

/** Which part of the kernel a pointwise member runs in; null if in none, or if its loops do not fit there. */
function domainOf(
  s: SchedulerState,
  shape: NestedShape,
  m: SchedulerNode,
  grouped: SchedulerNode | null,
  outer: AnyNode,
): Domain | null {
  const sv = s.sizevars;
  const [numel] = m.group;
  const consumes = grouped !== null && m.ancestors.has(grouped.name);
  const produces = grouped?.ancestors.has(m.name) ?? false;
  if (consumes && produces) return null;
  const full = sv.simplify(mul(shape.numel, shape.rnumel));
  if (numel === full) {
    const domain = consumes
      ? "parent_full"
      : produces || operationNames(outer).some(o => m.ancestors.has(o))
        ? "local_input"
        : null;
    return domain && isCompatible([shape.numel, shape.rnumel], m.sizes, sv) ? domain : null;
  }
  if (!consumes || numel !== sv.simplify(product(shape.reduced))) return null;
  return isCompatible(shape.reduced, m.sizes, sv) ? "reduced" : null;
}

/** Whether a read visits what was written, broadcast over whatever loops it has besides. */
function sameElements(s: SchedulerState, read: Dep, write: MemoryDep): boolean {
  if (read.kind !== "memory" || isIndirect(read) || isIndirect(write) || write.mode !== null) return false;
  if ((s.mutationRenames.get(read.name) ?? read.name) !== (s.mutationRenames.get(write.name) ?? write.name))
    return false;
  const w = normalize(write, s.sizevars);
  const dense = w.vars.length === 1 && w.index === w.vars[0];
  if (!dense && w.vars.length > 0) return false;
  const same = (d: MemoryDep): boolean => {
    const r = normalize(d, s.sizevars);
    return r.index === w.index && r.sizes.length >= w.sizes.length && w.sizes.every((e, i) => e === r.sizes[i]);
  };
  return same(read) || same(withoutBroadcast(read)) || same(withoutBroadcast(withoutQuotients(read)));
}

function withoutBroadcast(d: MemoryDep): MemoryDep {
  const free = freeSymbols(d.index);
  const kept = d.vars.flatMap((v, i) => (free.has(v) ? [i] : []));
  return memoryDep(
    d.name,
    d.index,
    kept.map(i => d.vars[i] as SymExpr),
    kept.map(i => d.sizes[i] as Expr),
  );
}

/** A loop that is only read as v // c walks size / c elements. */
function withoutQuotients(d: MemoryDep): MemoryDep {
  let { index } = d;
  const vars = [...d.vars];
  const sizes = [...d.sizes];
  for (const q of atoms(d.index, "floordiv")) {
    const [v, c] = q.args;
    const at = v.kind === "sym" ? vars.indexOf(v) : -1;
    const divisor = intValue(c);
    if (at < 0 || divisor === undefined || v.kind !== "sym") continue;
    const fresh = sym(`q${at}`);
    // v = c*q visits every quotient once; if v occurs elsewhere too, the comparison fails, as it should
    index = substitute(index, new Map([[v, mul(divisor, fresh)]]));
    vars[at] = fresh;
    sizes[at] = floorDiv(sizes[at] as Expr, int(divisor));
  }
  return memoryDep(d.name, index, vars, sizes);
}

export function fuseNested(s: SchedulerState, outer: AnyNode, grouped: AnyNode): GroupNode {
  return makeGroup(s, "FusedNestedReductions", [...membersOf(outer), ...membersOf(grouped)], {
    halves: [outer, grouped],
  });
}

/** Whether a node may follow a nested pair: a pointwise consumer of the grouped stage, with loops that fit there. */
export function nestedAccepts(
  s: SchedulerState,
  nested: GroupNode,
  other: AnyNode,
): ((read: Dep, write: MemoryDep) => boolean) | null {
  const [outer, grouped] = nested.halves ?? [];
  if (!outer || !grouped || isReduction(other)) return null;
  const shape = nestedShape(s, outer, grouped);
  const stage = reductionsOf(grouped)[0]?.node ?? null;
  if (!shape || !isPlain(other)) return null;
  const fits = membersOf(other).every(m => {
    const domain = domainOf(s, shape, m, stage, outer);
    return domain === "reduced" || domain === "parent_full";
  });
  if (!fits) return null;
  const first = bufferNames(outer);
  const within = shape.axis === "X" ? shape.rnumel : int(1);
  return (read, write) => sameElements(s, read, write) && inLoopOrder(s, read, first.has(write.name) ? int(1) : within);
}

/**
 * Whether the loops that a read is broadcast over lie together, with loops of `inner` elements in all inside of them: a
 * result is spread over the kernel's elements by its place among them, whatever index the reader's loops have for it.
 */
function inLoopOrder(s: SchedulerState, read: Dep, inner: Expr): boolean {
  if (read.kind !== "memory") return false;
  const free = freeSymbols(read.index);
  const quotients = new Map([...atoms(read.index, "floordiv")].map(q => [q.args[0], q.args[1]]));
  const loops = read.vars.flatMap((v, i): { readonly size: Expr; readonly kept: boolean }[] => {
    const size = read.sizes[i] as Expr;
    const divisor = quotients.get(v);
    if (!free.has(v) || divisor === undefined) return [{ size, kept: free.has(v) }];
    return [
      { size: floorDiv(size, divisor), kept: true },
      { size: divisor, kept: false },
    ];
  });
  const many = loops.filter(l => !s.sizevars.knownEquals(l.size, 1));
  const begin = many.findIndex(l => !l.kept);
  if (begin < 0) return true;
  const rest = many.slice(begin);
  const end = rest.findIndex(l => l.kept);
  const inside = end < 0 ? [] : rest.slice(end);
  return inside.every(l => l.kept) && s.sizevars.knownEquals(product(inside.map(l => l.size)), inner);
}

export function joinNested(s: SchedulerState, nested: GroupNode, other: AnyNode): GroupNode {
  const [outer, grouped] = nested.halves ?? [];
  if (!outer || !grouped) throw new Error(`${nested.name} has no halves`);
  const later = makeGroup(s, "FusedSchedulerNode", [...membersOf(grouped), ...membersOf(other)]);
  return makeGroup(s, "FusedNestedReductions", [...membersOf(outer), ...membersOf(later)], { halves: [outer, later] });
}
