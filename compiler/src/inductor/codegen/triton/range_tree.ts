// A kernel's iteration space: one tree per tile dimension, whose entries are the index variables x0, r0_1, ...
// (IterationRangesRoot and IterationRangesEntry in torch/_inductor/codegen/simd.py). In: the tiling. Out: variables for
// any split of a tree. Promises: one variable per distinct expression; numbers are shared by all trees of the kernel.
import {
  add,
  type Expr,
  floorDiv,
  freeSymbols,
  int,
  modularIndexing,
  mul,
  type SymExpr,
  substitute,
  sym,
} from "../../symbolic/expr";
import { preventReordering } from "../../symbolic/simplify";
import type { SizeVars } from "../../symbolic/size_vars";

export type Prefix = "x" | "y" | "z" | "r0_" | "r1_";
const PREFIX_ORDER: readonly Prefix[] = ["z", "y", "x", "r0_", "r1_"];
export const isReductionPrefix = (p: string): boolean => p.startsWith("r");
export type Tiling = ReadonlyMap<Prefix, Expr>;

export interface RangeEntry {
  readonly name: string;
  readonly symbol: SymExpr;
  readonly tree: RangeTree;
  readonly divisor: Expr;
  readonly length: Expr;
  expr: Expr;
  /** its definition has been written in the current scope */
  written: boolean;
}

export interface VariableSpace {
  readonly sizevars: SizeVars;
  readonly counter: { next: number };
  /** all entries of the kernel by symbol */
  readonly entries: Map<SymExpr, RangeEntry>;
}

export interface TreeNames {
  readonly index: string;
  readonly mask: string;
  readonly block: string;
}

export class RangeTree {
  readonly name: string;
  readonly mask: string;
  readonly block: string;
  readonly symbol: SymExpr;
  readonly isReduction: boolean;
  /** lines that stand before the first variable of a tree that has no header of its own */
  header: readonly string[] = [];
  headerWritten = false;
  private readonly byExpr = new Map<Expr, RangeEntry>();

  constructor(
    readonly prefix: Prefix,
    readonly numel: Expr,
    /** position among tensor dimensions; null: the tree is none */
    readonly tensorDim: number | null,
    /** 0 x, 1 y, 2 z; null: not a grid dimension */
    readonly gridDim: number | null,
    readonly isLoop: boolean,
    readonly hasZ: boolean,
    private readonly space: VariableSpace,
    /** where it is not xindex, xmask, XBLOCK: groups of a nested reduction, an operand's tiles */
    names?: TreeNames,
  ) {
    this.name = names?.index ?? `${prefix}index`;
    this.mask = names?.mask ?? `${prefix}mask`;
    this.block = names?.block ?? `${prefix.toUpperCase()}BLOCK`;
    this.symbol = sym(this.name);
    this.isReduction = isReductionPrefix(prefix);
  }

  get entries(): Iterable<RangeEntry> {
    return this.byExpr.values();
  }

  lookup(divisor: Expr, length: Expr): RangeEntry {
    const whole = this.space.sizevars.knownEquals(mul(divisor, length), this.numel);
    const expr = whole ? floorDiv(this.symbol, divisor) : modularIndexing(this.symbol, divisor, length);
    let entry = this.byExpr.get(expr);
    if (entry === undefined) {
      const name = `${this.prefix}${this.space.counter.next++}`;
      entry = { name, symbol: sym(name), tree: this, divisor, length, expr, written: false };
      this.byExpr.set(expr, entry);
      this.space.entries.set(entry.symbol, entry);
    }
    return entry;
  }

  /** variables for these lengths, outermost first; the innermost gets the smallest number */
  construct(lengths: readonly Expr[]): SymExpr[] {
    let divisor: Expr = int(1);
    const vars: SymExpr[] = [];
    for (let i = lengths.length - 1; i >= 0; i--) {
      const length = lengths[i] as Expr;
      vars.push(this.lookup(divisor, length).symbol);
      divisor = mul(divisor, length);
    }
    return vars.reverse();
  }

  /** the tree's variables that an index uses, with the gaps between them filled, outermost first */
  varsAndSizes(index: Expr): { vars: SymExpr[]; sizes: Expr[] } {
    const sv = this.space.sizevars;
    const used = [...freeSymbols(index)]
      .map(s => this.space.entries.get(s))
      .filter((e): e is RangeEntry => e !== undefined && e.tree === this);
    used.sort((a, b) => sv.sizeHint(a.divisor, 8192) - sv.sizeHint(b.divisor, 8192));
    let divisor: Expr = int(1);
    const vars: SymExpr[] = [];
    const sizes: Expr[] = [];
    const add = (e: RangeEntry): void => {
      vars.push(e.symbol);
      sizes.push(e.length);
      divisor = mul(divisor, e.length);
    };
    for (const e of used) {
      if (!sv.knownEquals(e.divisor, divisor)) {
        add(this.lookup(divisor, floorDiv(e.divisor, divisor)));
        divisor = e.divisor;
      }
      add(e);
    }
    if (!sv.knownEquals(this.numel, divisor)) add(this.lookup(divisor, floorDiv(this.numel, divisor)));
    return { vars: vars.reverse(), sizes: sizes.reverse() };
  }

  /** the index with neighbouring variables of this tree merged where it steps through them as one */
  combineContiguous(index: Expr): Expr {
    if (index.kind === "int" || index.kind === "sym") return index;
    const { vars, sizes } = this.varsAndSizes(index);
    if (sizes.length <= 1) return index;
    const merged = this.space.sizevars.simplifyLoops(vars, sizes, preventReordering([index], vars, sizes));
    if (merged.sizes.length === sizes.length && merged.sizes.every((s, i) => s === sizes[i])) return index;
    const fresh = this.construct(merged.sizes);
    const replaced = merged.reindex(fresh);
    return substitute(index, new Map(vars.map((v, i) => [v, replaced[i] as Expr])));
  }

  /** forgets which definitions were written (a loop has ended) */
  resetWritten(): void {
    for (const e of this.byExpr.values()) e.written = false;
    this.headerWritten = false;
  }
}

/** Trees of a tiling in Inductor's order (construct_range_trees). A pointwise kernel keeps a reduction tree of 1. */
export function constructRangeTrees(
  tiling: Tiling,
  space: VariableSpace,
  kernel: {
    readonly isReduction: boolean;
    readonly persistent: boolean;
    readonly splitScan?: boolean;
    readonly scalarTrees?: ReadonlySet<Prefix>;
    readonly treeNames?: ReadonlyMap<Prefix, TreeNames>;
  },
): RangeTree[] {
  const active = PREFIX_ORDER.filter(p => tiling.has(p));
  // a scan that is split among programs has one row per program
  const tensorDims = PREFIX_ORDER.filter(
    p =>
      active.includes(p) &&
      !kernel.scalarTrees?.has(p) &&
      (isReductionPrefix(p) ? kernel.isReduction : kernel.splitScan !== true),
  );
  const gridDims: readonly Prefix[] = kernel.splitScan ? ["r0_", "x", "y"] : ["x", "y", "z"];
  return active.map(p => {
    const tensorDim = tensorDims.indexOf(p);
    const gridDim = gridDims.indexOf(p);
    const reduction = isReductionPrefix(p);
    return new RangeTree(
      p,
      tiling.get(p) as Expr,
      tensorDim < 0 ? null : tensorDim,
      gridDim < 0 ? null : gridDim,
      reduction && !kernel.persistent && kernel.splitScan !== true,
      tiling.has("z"),
      space,
      kernel.treeNames?.get(p),
    );
  });
}

/**
 * Maps a node's (iteration, reduction) sizes onto groups of a kernel: new lengths per group, and the node's index
 * expressions over the variables of those lengths. Undefined: the sizes do not fit (CantSplit).
 */
export function splitIterationRanges(
  groups: readonly Expr[],
  lengths: readonly (readonly Expr[])[],
  sv: SizeVars,
): { ranges: Expr[][]; index: (vars: readonly Expr[]) => Expr[][] } | undefined {
  const remaining = groups.map(g => sv.simplify(g));
  const ranges: Expr[][] = groups.map(() => []);
  let count = 0;
  const addRange = (i: number, e: Expr): number | undefined => {
    const size = sv.simplify(e);
    if (!sv.knownMultipleOf(remaining[i] as Expr, size)) return undefined;
    remaining[i] = floorDiv(remaining[i] as Expr, size);
    (ranges[i] as Expr[]).push(size);
    return count++;
  };
  type Getter = (vars: readonly Expr[]) => Expr;
  const combined =
    (sizes: readonly Expr[], ids: readonly number[]): Getter =>
    vars => {
      // sizes are those after the first; (v0*s1 + v1)*s2 + v2
      let e = vars[ids[0] as number] as Expr;
      for (let i = 0; i < sizes.length; i++) e = addMul(e, sizes[i] as Expr, vars[ids[i + 1] as number] as Expr);
      return e;
    };
  const getters: Getter[][] = [];
  let group = 0;
  const left = (i: number): Expr => remaining[i] as Expr;
  for (const list of lengths) {
    const out: Getter[] = [];
    for (const size of list) {
      if (sv.knownEquals(size, 1)) {
        out.push(() => int(0));
        continue;
      }
      while (group < remaining.length && sv.knownEquals(left(group), 1)) group++;
      if (group < remaining.length - 1 && sv.sizeHint(size, 1) > sv.sizeHint(left(group), 1)) {
        // the size spans this group's rest and the next group, or even a third
        if (!sv.knownMultipleOf(size, left(group))) return undefined;
        const size1 = left(group);
        const size2 = floorDiv(size, size1);
        if (
          group + 2 < remaining.length &&
          !sv.knownMultipleOf(left(group + 1), size2) &&
          sv.knownMultipleOf(size2, left(group + 1))
        ) {
          const middle = left(group + 1);
          const size3 = floorDiv(size2, middle);
          const a = addRange(group, size1);
          const b = addRange(group + 1, middle);
          const c = addRange(group + 2, size3);
          if (a === undefined || b === undefined || c === undefined) return undefined;
          out.push(combined([middle, size3], [a, b, c]));
          continue;
        }
        const a = addRange(group, size1);
        const b = addRange(group + 1, size2);
        if (a === undefined || b === undefined) return undefined;
        out.push(combined([size2], [a, b]));
        continue;
      }
      if (group >= remaining.length) return undefined;
      const a = addRange(group, size);
      if (a === undefined) return undefined;
      out.push(vars => vars[a] as Expr);
    }
    getters.push(out);
  }
  if (!remaining.every(r => sv.knownEquals(r, 1))) return undefined;
  return {
    ranges,
    index: vars => {
      // variables come group by group, while ids were given in order of use
      return getters.map(list => list.map(g => g(vars)));
    },
  };
}

function addMul(a: Expr, size: Expr, b: Expr): Expr {
  return add(mul(a, size), b);
}
