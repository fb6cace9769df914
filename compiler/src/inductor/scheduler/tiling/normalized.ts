// In: the members of one kernel. Out: what they read and write over common variables n0, n1, ... of one split into
// pointwise and reduction loops that fits every member. Promises: after NodeSplitGetter, extract_normalized_read_writes
// (torch/_inductor/tiling_utils.py); equal index expressions are one entry with all their buffers.
import { dropIdentity, type Expr, int, mul, type SymExpr, substitute, sym } from "../../symbolic";
import { isReduction, membersOf, product } from "../state";
import type { SchedulerNode } from "../types";
import { type Lengths, prepareLengths, splitIterationRanges } from "./split_ranges";
import type { TilingContext } from "./types";

export interface NormalizedAccesses {
  readonly pointwiseVars: readonly SymExpr[];
  readonly reductionVars: readonly SymExpr[];
  readonly ranges: ReadonlyMap<SymExpr, Expr>;
  /** index -> buffers read there */
  readonly reads: ReadonlyMap<Expr, ReadonlySet<string>>;
  readonly writes: ReadonlyMap<Expr, ReadonlySet<string>>;
}

interface Loops {
  readonly vars: readonly SymExpr[];
  readonly sizes: readonly Expr[];
}

/** A member's loops as (pointwise, reduction); null if a pointwise member can't be cut between two of its loops. */
function memberSplit(c: TilingContext, n: SchedulerNode, numel: Expr, rnumel: Expr): readonly [Loops, Loops] | null {
  const { body } = n;
  if (!body) return null;
  const sv = c.graph.sizevars;
  const whole = [
    { vars: body.iterVars, sizes: body.iterSizes },
    { vars: body.reduceVars, sizes: body.reduceSizes },
  ] as const;
  if (isReduction(n) || sv.knownEquals(product(body.iterSizes), numel)) return whole;
  let reduced: Expr = int(1);
  for (let i = body.iterSizes.length - 1; i >= 0; i--) {
    reduced = mul(reduced, body.iterSizes[i] as Expr);
    if (sv.simplify(reduced) !== sv.simplify(rnumel)) continue;
    return [
      { vars: body.iterVars.slice(0, i), sizes: body.iterSizes.slice(0, i) },
      { vars: body.iterVars.slice(i), sizes: body.iterSizes.slice(i) },
    ];
  }
  return null;
}

type Split = readonly [readonly Expr[], readonly Expr[]];
const keyOf = (sizes: readonly Expr[]): string => sizes.map(e => e.id).join();

/** Splits by their length, each once. */
class SplitOptions {
  private readonly byLength = new Map<number, Map<string, readonly Expr[]>>();

  add(sizes: readonly Expr[]): void {
    const list = this.byLength.get(sizes.length) ?? new Map<string, readonly Expr[]>();
    this.byLength.set(sizes.length, list.set(keyOf(sizes), sizes));
  }
  of(length: number): (readonly Expr[])[] {
    return [...(this.byLength.get(length)?.values() ?? [])];
  }
  get longest(): number {
    return Math.max(0, ...this.byLength.keys());
  }
  /** adds what the splits of this length become where two neighbours are one */
  combine(length: number): void {
    for (const s of this.of(length)) {
      for (let i = 0; i + 1 < s.length; i++)
        this.add([...s.slice(0, i), mul(s[i] as Expr, s[i + 1] as Expr), ...s.slice(i + 2)]);
    }
  }
}

/** One split of the kernel's loops that fits every member: as long as there is one, pointwise loops before reductions. */
function commonSplit(c: TilingContext, nodes: readonly SchedulerNode[], numel: Expr, rnumel: Expr): Split {
  const sv = c.graph.sizevars;
  const [pointwise, reduction] = [new SplitOptions(), new SplitOptions()];
  const all = new Map<string, Split>();
  for (const n of [...nodes].reverse()) {
    if (!n.body) continue;
    const own = memberSplit(c, n, numel, rnumel);
    if (!own) {
      all.set(`${keyOf(n.body.iterSizes)};${keyOf(n.body.reduceSizes)}`, [n.body.iterSizes, n.body.reduceSizes]);
      continue;
    }
    const [pw = [], red = []] = prepareLengths([numel, rnumel], [own[0].sizes, own[1].sizes], rnumel, sv);
    pointwise.add(pw);
    reduction.add(red);
    all.set(`${keyOf(pw)};${keyOf(red)}`, [pw, red]);
  }
  const [only, ...more] = all.values();
  if (only && more.length === 0) return only;
  // a pointwise split is tried with one reduction split only, as in Inductor
  const seen = new Set<string>();
  const trySplit = (pw: readonly Expr[], red: readonly Expr[]): Split | null => {
    if (seen.has(keyOf(pw))) return null;
    seen.add(keyOf(pw));
    for (const lengths of all.values()) {
      const split = splitIterationRanges([...pw, ...red], lengths, sv);
      if (!split) return null;
      const flat = split.ranges.slice(0, pw.length).flat();
      if (keyOf(flat) === keyOf(pw)) continue;
      const longer = trySplit(flat, red);
      if (longer) return longer;
    }
    return [pw, red];
  };
  const [longest, longestReduction] = [pointwise.longest, reduction.longest];
  for (let round = 0; round < longest + longestReduction; round++) {
    const total = longest + longestReduction - round;
    for (let length = total; length > 0; length--) {
      for (const pw of pointwise.of(length)) {
        for (const red of reduction.of(total - length)) {
          const found = trySplit(pw, red);
          if (found) return found;
        }
      }
    }
    pointwise.combine(longest - round);
    reduction.combine(longestReduction - round);
  }
  return [[numel], [rnumel]];
}

/** null where a member does not fit the common split */
export function normalizedAccesses(
  c: TilingContext,
  nodes: readonly SchedulerNode[],
  numel: Expr,
  rnumel: Expr,
): NormalizedAccesses | null {
  const sv = c.graph.sizevars;
  const [pw, red] = commonSplit(c, nodes, numel, rnumel);
  const groups = [...pw, ...red];
  const vars = groups.map((_, i) => sym(`n${i}`));
  const ranges = new Map(vars.map((v, i) => [v, groups[i] as Expr] as const));
  const own = nodes.flatMap(n => n.outputs.map(o => o.name));
  const dead = new Set(own.filter(name => diesInside(c, name, nodes)));
  const outputs = own.filter(name => !dead.has(name));
  const inputs = new Set(readTogether(c, nodes, new Set(own)).filter(name => !dead.has(name)));
  const reads = new Map<Expr, Set<string>>();
  const writes = new Map<Expr, Set<string>>();
  for (const n of nodes) {
    const { body } = n;
    if (!body) continue;
    const accesses = bodyAccesses(n);
    const mine = indexedBy(inputs, accesses.loads);
    const made = indexedBy(outputs, accesses.stores);
    if (mine.size === 0 && made.size === 0) continue;
    const parts = memberSplit(c, n, numel, rnumel) ?? [
      { vars: body.iterVars, sizes: body.iterSizes },
      { vars: body.reduceVars, sizes: body.reduceSizes },
    ];
    const map = mapVariables(groups, vars, parts, rnumel, c);
    if (!map) return null;
    for (const [list, into] of [
      [mine, reads],
      [made, writes],
    ] as const) {
      // Indices of one member that become equal here count once, with the last one's buffers, as in Inductor.
      const mapped = new Map([...list].map(([e, names]) => [substitute(dropIdentity(e), map), names] as const));
      for (const [e, names] of mapped) {
        const index = sv.simplifyWithRanges(e, ranges);
        into.set(index, new Set([...(into.get(index) ?? []), ...names]));
      }
    }
  }
  return { pointwiseVars: vars.slice(0, pw.length), reductionVars: vars.slice(pw.length), ranges, reads, writes };
}

/**
 * What a kernel reads: of its own buffers those that a member reads otherwise than they are written (a reduction in parts
 * reads rows of what another member writes), as the group knew when it was fused.
 */
function readTogether(c: TilingContext, nodes: readonly SchedulerNode[], own: ReadonlySet<string>): string[] {
  const names = (list: readonly SchedulerNode[]): string[] => list.flatMap(n => n.readWrites.reads.map(d => d.name));
  const [first] = nodes;
  if (first === undefined || nodes.length === 1) return names(nodes);
  const group = c.nodes?.find(g => membersOf(g).length === nodes.length && membersOf(g).includes(first));
  if (group?.type === "FusedSchedulerNode") return group.readWrites.reads.map(d => d.name);
  return names(nodes).filter(name => !own.has(name));
}

/** index -> buffers, in the buffers' order */
function indexedBy(names: Iterable<string>, accesses: ReadonlyMap<string, readonly Expr[]>): Map<Expr, Set<string>> {
  const result = new Map<Expr, Set<string>>();
  for (const name of names) {
    for (const e of accesses.get(name) ?? []) result.set(e, (result.get(e) ?? new Set()).add(name));
  }
  return result;
}

/** The member's own variables in terms of n0, n1, ... */
function mapVariables(
  groups: readonly Expr[],
  vars: readonly SymExpr[],
  parts: readonly [Loops, Loops],
  rnumel: Expr,
  c: TilingContext,
): Map<SymExpr, Expr> | null {
  const sv = c.graph.sizevars;
  const lengths: Lengths = prepareLengths(groups, [parts[0].sizes, parts[1].sizes], rnumel, sv);
  const split = splitIterationRanges(groups, lengths, sv);
  if (!split) return null;
  const flat: Expr[] = [];
  split.ranges.forEach((list, g) => {
    let stride: Expr = int(1);
    const values: Expr[] = [];
    for (const size of [...list].reverse()) {
      values.unshift(mul(vars[g] as Expr, stride));
      stride = mul(stride, size);
    }
    flat.push(...values);
  });
  const map = new Map<SymExpr, Expr>();
  split.index(flat).forEach((values, i) => {
    const own = parts[i]?.vars ?? [];
    if (own.length === values.length) {
      own.forEach((v, k) => {
        map.set(v, values[k] as Expr);
      });
    }
  });
  return map;
}

/** index expressions by buffer, in the body's order */
function bodyAccesses(n: SchedulerNode): { loads: Map<string, Expr[]>; stores: Map<string, Expr[]> } {
  const loads = new Map<string, Expr[]>();
  const stores = new Map<string, Expr[]>();
  const { body } = n;
  if (!body) return { loads, stores };
  const renamed = new Map(n.readWrites.reads.map(d => [d.name, d.name] as const));
  for (const block of [body.block, ...body.subblocks.values()]) {
    for (const node of block.nodes) {
      if (node.op !== "load" && node.op !== "store" && node.op !== "store_reduction") continue;
      const index = node.at.op === "get_index" ? body.indexing.get(node.at.index) : undefined;
      if (!index) continue;
      const into = node.op === "load" ? loads : stores;
      const name = renamed.get(node.buffer) ?? node.buffer;
      const list = into.get(name);
      if (list) list.push(index);
      else into.set(name, [index]);
    }
  }
  return { loads, stores };
}

/** Whether every user of a buffer is inside the kernel, so that it needs no memory. */
function diesInside(c: TilingContext, name: string, nodes: readonly SchedulerNode[]): boolean {
  const inside = new Set<SchedulerNode>(nodes);
  const users = c.buffers.get(name)?.users ?? [];
  return (
    users.every(u => u.isWeak || (u.node !== null && inside.has(u.node))) &&
    !c.mutationRenames.has(name) &&
    !c.mutationRealName.has(name)
  );
}
