// What operations read and write, as MemoryDep, StarDep and WeakDep values. In: buffers, indices and their loops.
// Promises: dependencies are interned in the session's table, so equal ones are the same object and sets work by value;
// a node's reads keep the order of the loads in its body. After torch/_inductor/dependencies.py.
import { idsOf } from "../ir/body_shape";
import {
  type Expr,
  expand,
  freeSymbols,
  int,
  internTable,
  intValue,
  isSizeFree,
  type SymExpr,
  sameExprs,
  substitute,
  sym,
} from "../symbolic";
import { preventReordering } from "../symbolic/simplify";
import type { SizeVars } from "../symbolic/size_vars";
import type { Dep, ReadWrites } from "./types";

export type MemoryDep = Extract<Dep, { kind: "memory" }>;
export type StarDep = Extract<Dep, { kind: "star" }>;
export type WeakDep = Extract<Dep, { kind: "weak" }>;

const NO_EXPRS: readonly Expr[] = [];

function interned<D extends Dep>(key: string, make: () => D): D {
  const table = internTable().memo<string, Dep>("dependencies");
  let d = table.get(key);
  if (d === undefined) {
    d = make();
    table.set(key, d);
  }
  return d as D;
}

export function memoryDep(
  name: string,
  index: Expr,
  vars: readonly SymExpr[],
  sizes: readonly Expr[],
  mode: MemoryDep["mode"] = null,
): MemoryDep {
  const table = internTable().memo<string, Map<Expr, MemoryDep[]>>("memory_dependencies");
  let byIndex = table.get(name);
  if (byIndex === undefined) {
    byIndex = new Map();
    table.set(name, byIndex);
  }
  let list = byIndex.get(index);
  if (list === undefined) {
    list = [];
    byIndex.set(index, list);
  }
  for (const d of list) if (d.mode === mode && sameExprs(d.vars, vars) && sameExprs(d.sizes, sizes)) return d;
  const d: MemoryDep = { kind: "memory", name, index, vars, sizes, mode };
  list.push(d);
  return d;
}

export function starDep(name: string, mode: StarDep["mode"] = null): StarDep {
  return interned(`s${name}|${mode ?? ""}`, () => ({ kind: "star", name, mode }));
}

export function weakDep(name: string, mutatingBuffer: string, isFake = false): WeakDep {
  return interned(`w${name}|${mutatingBuffer}|${isFake}`, () => ({ kind: "weak", name, mutatingBuffer, isFake }));
}

export const isMemoryDep = (d: Dep): d is MemoryDep => d.kind === "memory";

/** The dependency on another buffer; the same object if the name stays. */
function renameDep<D extends Dep>(d: D, renames: ReadonlyMap<string, string>): D {
  const name = renames.get(d.name);
  if (name === undefined || name === d.name) return d;
  const dep: Dep = d;
  switch (dep.kind) {
    case "memory":
      return memoryDep(name, dep.index, dep.vars, dep.sizes, dep.mode) as Dep as D;
    case "star":
      return starDep(name, dep.mode) as Dep as D;
    case "weak":
      return weakDep(name, dep.mutatingBuffer, dep.isFake) as Dep as D;
    default: {
      const never: never = dep;
      return never;
    }
  }
}

/** Whether the position read depends on loaded data. */
export function isIndirect(d: MemoryDep): boolean {
  for (const s of freeSymbols(d.index)) if (s.symKind === "indirect") return true;
  return false;
}

/** A dependency on one element: the index is a number, no loop moves it. */
export const isScalar = (d: MemoryDep): boolean => {
  if (d.index.kind === "sym") return !d.vars.includes(d.index) && d.index.symKind !== "indirect";
  return d.index.kind === "int";
};

/** A fresh variable per size other than 1, numbered on over both lists; 0 for the others. */
export function indexVars(
  sizes: readonly [readonly Expr[], readonly Expr[]],
  prefix: string,
): { args: readonly [Expr[], Expr[]]; ranges: Map<SymExpr, Expr> } {
  const ranges = new Map<SymExpr, Expr>();
  const make = (list: readonly Expr[]): Expr[] =>
    list.map(size => {
      if (intValue(size) === 1) return int(0);
      const v = sym(`${prefix}${ranges.size}`);
      ranges.set(v, size);
      return v;
    });
  const iteration = make(sizes[0]);
  return { args: [iteration, make(sizes[1])], ranges };
}

/** an index and its loops as a dependency has them */
export interface Canonical {
  readonly index: Expr;
  readonly vars: readonly SymExpr[];
  readonly sizes: readonly Expr[];
}

/** A reduced loop is the last of its node but unknown to those who read the result, so trailing unused loops go. */
export function dropTrailing(index: Expr, vars: readonly SymExpr[], sizes: readonly Expr[]): Canonical {
  const free = freeSymbols(index);
  let n = vars.length;
  while (n > 0 && !free.has(vars[n - 1] as SymExpr)) n--;
  return { index, vars: vars.slice(0, n), sizes: sizes.slice(0, n) };
}

/** Loops merged as far as this one index allows, in c0.. */
export function normalizeIndex(index: Expr, ranges: ReadonlyMap<SymExpr, Expr>, sizevars: SizeVars): Canonical {
  const vars = [...ranges.keys()];
  const sizes = [...ranges.values()];
  const make = (): Canonical => {
    const merged = mergeLoopsOf(index, vars, sizes, "c", sizevars);
    return dropTrailing(merged.index, merged.vars, merged.sizes);
  };
  if (!isSizeFree(index) || !sizes.every(isSizeFree)) return make();
  const memo = internTable().memo<Expr, Map<string, Canonical>>("normalized_indices");
  let byLoops = memo.get(index);
  if (byLoops === undefined) {
    byLoops = new Map();
    memo.set(index, byLoops);
  }
  const key = `${idsOf(vars)};${idsOf(sizes)}`;
  let result = byLoops.get(key);
  if (result === undefined) {
    result = make();
    byLoops.set(key, result);
  }
  return result;
}

function mergeLoopsOf(
  index: Expr,
  vars: readonly SymExpr[],
  sizes: readonly Expr[],
  prefix: string,
  sizevars: SizeVars,
): Canonical {
  const loops = sizevars.simplifyLoops(vars, sizes, preventReordering([index], vars, sizes));
  const fresh = loops.sizes.map((_, i) => sym(`${prefix}${i}`));
  const values = loops.reindex(fresh);
  const replace = new Map(vars.map((v, i) => [v, values[i] ?? int(0)] as const));
  return { index: substitute(expand(index), replace), vars: fresh, sizes: loops.sizes };
}

/** The same access with its loops merged, order kept (MemoryDep.normalize). */
export function normalize(d: MemoryDep, sizevars: SizeVars): MemoryDep {
  return remembered("normalized", d, () => normalized(d, sizevars));
}

/** What is made of an access, once; sizes that hold symbols may have been narrowed since, so nothing is kept of those. */
function remembered(what: string, d: MemoryDep, make: () => MemoryDep): MemoryDep {
  if (!isSizeFree(d.index) || !d.sizes.every(isSizeFree)) return make();
  const memo = internTable().memo<MemoryDep, MemoryDep>(what);
  let result = memo.get(d);
  if (result === undefined) {
    result = make();
    memo.set(d, result);
  }
  return result;
}

function normalized(d: MemoryDep, sizevars: SizeVars): MemoryDep {
  const ranges = new Map(d.vars.map((v, i) => [v, d.sizes[i] ?? int(1)] as const));
  const c = normalizeIndex(d.index, ranges, sizevars);
  return memoryDep(d.name, c.index, c.vars, c.sizes, d.mode);
}

/** Loops sorted by descending stride, then merged: equal for two walks over the same elements in different order. */
export function normalizeWithStrideOrder(d: MemoryDep, sizevars: SizeVars, prefix = "t"): MemoryDep {
  return remembered(`stride_ordered_${prefix}`, d, () => strideOrdered(d, sizevars, prefix));
}

function strideOrdered(d: MemoryDep, sizevars: SizeVars, prefix: string): MemoryDep {
  const strides = sizevars.strideHints(d.index, d.vars);
  const order = strides.map((_, i) => i).sort((a, b) => (strides[b] ?? 0) - (strides[a] ?? 0) || a - b);
  const vars = order.map(i => d.vars[i] as SymExpr);
  const sizes = order.map(i => d.sizes[i] as Expr);
  const c = mergeLoopsOf(d.index, vars, sizes, prefix, sizevars);
  return memoryDep(d.name, c.index, c.vars, c.sizes);
}

/**
 * The order of self's loops under which it walks as `other` does: result[i] is the position in self of other's i-th
 * loop. null where broadcasts, sizes 0 or 1, or equal strides leave it open.
 */
export function decideLoopOrderToMatch(self: MemoryDep, other: MemoryDep, sizevars: SizeVars): number[] | null {
  if (self.vars.length !== freeSymbols(self.index).size || other.vars.length !== freeSymbols(other.index).size)
    return null;
  const degenerate = (s: Expr): boolean => intValue(s) === 0 || intValue(s) === 1;
  if (self.sizes.some(degenerate) || other.sizes.some(degenerate)) return null;
  const mine = sizevars.strideHints(self.index, self.vars);
  const theirs = sizevars.strideHints(other.index, other.vars);
  const at = new Map(mine.map((s, i) => [s, i] as const));
  if (at.size !== mine.length || new Set(theirs).size !== theirs.length) return null;
  if (theirs.length !== mine.length) return null;
  const order: number[] = [];
  for (const s of theirs) {
    const i = at.get(s);
    if (i === undefined) return null;
    order.push(i);
  }
  return order;
}

/** What several members read and write together; a read equal to a write of the group is no read. */
export function mergeReadWrites(list: readonly ReadWrites[]): ReadWrites {
  const writes = new Set(list.flatMap(rw => rw.writes));
  const reads = new Set(list.flatMap(rw => rw.reads));
  for (const w of writes) reads.delete(w);
  return {
    reads: [...reads],
    writes: [...writes],
    indexExprs: [...new Set(list.flatMap(rw => rw.indexExprs))],
    rangeVars: [],
  };
}

export function withRead(rw: ReadWrites, d: Dep): ReadWrites {
  return rw.reads.includes(d) ? rw : { ...rw, reads: [...rw.reads, d] };
}

export function withoutReads(rw: ReadWrites, gone: ReadonlySet<Dep>): ReadWrites {
  return { ...rw, reads: rw.reads.filter(d => !gone.has(d)) };
}

export function renameReadWrites(rw: ReadWrites, renames: ReadonlyMap<string, string>): ReadWrites {
  const rename = (list: readonly Dep[]): Dep[] => [...new Set(list.map(d => renameDep(d, renames)))];
  return { ...rw, reads: rename(rw.reads), writes: rename(rw.writes) };
}

/** reads and writes of whole buffers, as extern and nop operations have them */
export function starReadWrites(reads: readonly string[], writes: readonly string[]): ReadWrites {
  const stars = (names: readonly string[]): Dep[] => [...new Set(names)].map(n => starDep(n));
  return { reads: stars(reads), writes: stars(writes), indexExprs: NO_EXPRS, rangeVars: [] };
}
