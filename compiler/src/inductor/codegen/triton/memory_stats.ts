// How much a reduction kernel moves with its row in one block, and with a loop (MemoryEstimator in
// torch/_inductor/codegen/simd_kernel_features.py). In: a kernel's schedule and extent. Out: bytes either way, and memory
// operations per thread. Promises: simulates what code generation will reuse; it decides nothing itself.
import { itemsize } from "../../ir/dtypes";
import type { BodyHandler } from "../../ir/run_body";
import { runBody } from "../../ir/run_body";
import type { SchedulerNode } from "../../scheduler/types";
import { type Expr, floorDiv, freeSymbols, int, modularIndexing, mul, type SymExpr, sym } from "../../symbolic/expr";
import type { GraphView } from "./graph_view";
import type { ScheduleEntry } from "./node_schedule";
import { splitIterationRanges } from "./range_tree";

export interface MemoryStats {
  readonly loopedBytes: number;
  readonly persistentBytes: number;
  /** loads and stores that one thread does when nothing is read twice */
  readonly countPerThread: number;
}

interface Access {
  readonly index: Expr;
  readonly numel: Expr;
}

/** accesses by buffer; equal ones once */
class Estimate {
  readonly reads = new Map<string, Map<Expr, Access>>();
  readonly writes = new Map<string, Map<Expr, Access>>();
  add(to: "reads" | "writes", name: string, a: Access): void {
    const m = this[to].get(name) ?? new Map<Expr, Access>();
    m.set(a.index, a);
    this[to].set(name, m);
  }
  remove(name: string): void {
    this.reads.delete(name);
    this.writes.delete(name);
  }
}

export function memoryStats(
  graph: GraphView,
  schedule: readonly ScheduleEntry[],
  numel: Expr,
  rnumel: Expr,
): MemoryStats | null {
  const sv = graph.sizevars;
  const symbols = [sym("i0"), sym("i1")] as const;
  const outside = new Estimate();
  const loops = [new Estimate()];
  const persistent = new Estimate();
  const stored = new Set<string>();
  const mustKeep = new Set<string>();
  const own = new Set<string>();
  let inside = true;
  const lastLoop = (): Estimate => loops[loops.length - 1] as Estimate;
  for (const e of schedule) {
    if (e === "disable") {
      inside = false;
      continue;
    }
    if (e === "enable") {
      inside = true;
      loops.push(new Estimate());
      continue;
    }
    own.add(e.name);
    const groups = [numel, inside ? rnumel : int(1)];
    const accesses = accessesOf(e, groups, symbols, graph);
    if (!accesses) return null;
    const scope = (a: Access): Estimate => {
      const indirect = [...freeSymbols(a.index)].some(s => s.symKind === "indirect");
      return inside && (freeSymbols(a.index).has(symbols[1]) || indirect) ? lastLoop() : outside;
    };
    for (const [name, a] of accesses.reads) {
      if (!persistent.writes.has(name)) persistent.add("reads", name, a);
      if (outside.writes.has(name) || lastLoop().writes.has(name)) continue;
      scope(a).add("reads", name, a);
      if (stored.has(name) && lastLoop().reads.has(name)) mustKeep.add(name);
    }
    for (const [name, a] of accesses.writes) {
      stored.add(name);
      persistent.add("writes", name, a);
      scope(a).add("writes", name, a);
    }
  }
  for (const name of stored) {
    const users = graph.schedulerBuffer(name)?.users ?? [];
    const mutated = graph.schedule.mutationRenames.has(name) || graph.schedule.mutationRealName.has(name);
    const local = !mutated && users.every(u => u.isWeak || (u.node !== null && own.has(u.node.name)));
    if (persistent.reads.has(name) || !local) continue;
    persistent.remove(name);
    if (!mustKeep.has(name)) for (const l of [outside, ...loops]) l.remove(name);
  }
  const bytes = (e: Estimate): number => {
    let total = 0;
    for (const m of [e.reads, e.writes]) {
      for (const [name, accesses] of m) {
        let n = 0;
        for (const a of accesses.values()) n += sv.sizeHint(a.numel, 8192);
        if (accesses.size > 1) n = Math.min(n, sv.sizeHint(graph.numel(name), 8192));
        total += n * itemsize(graph.dtype(name));
      }
    }
    return total;
  };
  const count = (m: ReadonlyMap<string, ReadonlyMap<Expr, Access>>): number =>
    [...m.values()].reduce((n, a) => n + a.size, 0);
  return {
    loopedBytes: [outside, ...loops].reduce((n, e) => n + bytes(e), 0),
    persistentBytes: bytes(persistent),
    countPerThread: count(persistent.reads) + count(persistent.writes),
  };
}

/** a flat range as the expressions of its parts, outermost first */
function flatRange(symbol: SymExpr, numel: Expr, lengths: readonly Expr[], graph: GraphView): Expr[] {
  const sv = graph.sizevars;
  if (lengths.length === 1 && sv.knownEquals(numel, lengths[0] as Expr)) return [symbol];
  let divisor: Expr = int(1);
  const parts: Expr[] = [];
  for (let i = lengths.length - 1; i >= 0; i--) {
    const length = lengths[i] as Expr;
    parts.unshift(
      sv.knownEquals(mul(divisor, length), numel)
        ? floorDiv(symbol, divisor)
        : modularIndexing(symbol, divisor, length),
    );
    divisor = mul(divisor, length);
  }
  return parts;
}

function accessesOf(
  n: SchedulerNode,
  groups: readonly Expr[],
  symbols: readonly SymExpr[],
  graph: GraphView,
): { reads: [string, Access][]; writes: [string, Access][] } | null {
  const sv = graph.sizevars;
  const flat = (lengths: readonly (readonly Expr[])[]): Expr[][] =>
    lengths.map((l, i) => flatRange(symbols[i] as SymExpr, groups[i] as Expr, l, graph));
  let index: Expr[][];
  if (n.sizes.every((l, i) => sv.simplify(sv.numel(l)) === sv.simplify(groups[i] as Expr))) index = flat(n.sizes);
  else {
    const split = splitIterationRanges(groups, n.sizes, sv);
    if (!split) return null;
    index = split.index(flat(split.ranges).flat());
  }
  const ranges = new Map(symbols.map((s, i) => [s, groups[i] as Expr]));
  const reads: [string, Access][] = [];
  const writes: [string, Access][] = [];
  const access = (buffer: string, e: Expr): Access => {
    const simple = sv.simplifyWithRanges(e, ranges);
    const free = freeSymbols(simple);
    if ([...free].some(s => s.symKind === "indirect")) return { index: simple, numel: graph.numel(buffer) };
    return {
      index: simple,
      numel: symbols.reduce<Expr>((p, s, i) => (free.has(s) ? mul(p, groups[i] as Expr) : p), int(1)),
    };
  };
  const none = null;
  type V = null;
  const handler: BodyHandler<V> = {
    constant: () => none,
    indexExpr: () => none,
    load: (buffer, e) => {
      reads.push([buffer, access(buffer, e)]);
      return none;
    },
    store: (buffer, e) => {
      writes.push([buffer, access(buffer, e)]);
    },
    storeReduction: (buffer, e) => {
      writes.push([buffer, access(buffer, e)]);
    },
    toDtype: () => none,
    toDtypeBitcast: () => none,
    indirectIndexing: (_x, _size, _check, _wrap, symbol) => symbol,
    checkBounds: () => {},
    masked: (_mask, body) => body(),
    reduction: (_d, _s, type) =>
      type.startsWith("welford") ? [none, none, none] : type === "online_softmax_reduce" ? [none, none] : none,
    scan: dtypes => dtypes.map(() => none),
    sort: dtypes => dtypes.map(() => none),
    loadSeed: () => none,
    random: () => none,
    randint64: () => none,
    call: fn => (fn === "frexp" ? [none, none] : none),
  };
  if (!n.body) return null;
  runBody(n.body, handler, index[0] ?? [], index[1] ?? []);
  return { reads, writes };
}
