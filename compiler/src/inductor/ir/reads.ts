// Which memory a loop nest reads, index by index (extract_read_writes by tracing). In: a function over ops. Out: distinct
// (buffer, index) pairs in order of first load. Promises: nothing is folded; an index loaded from memory is a symbol of
// its own each time it is used.
import type { DType, OpName, Ops } from "../../aten/types";
import { type Expr, int, intValue, type SymExpr, sym } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import { isReduction, type Loops } from "./boxes";

export interface Read {
  readonly buffer: string;
  readonly index: Expr;
}

class TracingOps implements Ops<null> {
  readonly reads: Read[] = [];
  private readonly seen = new Set<string>();
  private temporaries = 0;

  load(buffer: string, index: Expr): null {
    const key = `${buffer},${index.id}`;
    if (!this.seen.has(key)) {
      this.seen.add(key);
      this.reads.push({ buffer, index });
    }
    return null;
  }
  indirectIndexing(_x: null, _size: Expr): Expr {
    return sym(`tmp${this.temporaries++}`, { kind: "indirect" });
  }
  masked(_mask: null, body: () => null): null {
    return body();
  }
  constant(): null {
    return null;
  }
  indexExpr(_e: Expr, _dtype: DType): null {
    return null;
  }
  toDtype(): null {
    return null;
  }
  toDtypeBitcast(): null {
    return null;
  }
  op(_name: OpName, ..._args: null[]): null {
    return null;
  }
  loadSeed(buffer: string, offset: number): null {
    return this.load(buffer, int(offset));
  }
  random(): null {
    return null;
  }
  randint64(): null {
    return null;
  }
}

/** One variable per loop of more than one element (index_vars_squeeze); the others are at 0. */
export function squeezedVars(
  groups: readonly (readonly Expr[])[],
  prefix: string,
  sizevars: SizeVars,
): { readonly vars: Expr[][]; readonly ranges: Map<SymExpr, Expr> } {
  const ranges = new Map<SymExpr, Expr>();
  const vars = groups.map(group =>
    group.map((s): Expr => {
      const size = sizevars.simplify(s);
      if (intValue(size) === 1) return int(0);
      const v = sym(`${prefix}${ranges.size}`);
      ranges.set(v, size);
      return v;
    }),
  );
  return { vars, ranges };
}

/** reads of `run`, which gets ops that only record */
export function traceReads(run: (ops: Ops<null>) => void): readonly Read[] {
  const ops = new TracingOps();
  run(ops);
  return ops.reads;
}

export interface LoopReads {
  readonly reads: readonly Read[];
  readonly indexVars: readonly Expr[];
  readonly reduceVars: readonly Expr[];
  readonly ranges: ReadonlyMap<SymExpr, Expr>;
}

/** everything that the loops read when they run over d0.. (reduction variables numbered on) */
export function loopReads(l: Loops, sizevars: SizeVars): LoopReads {
  const scan =
    l.kind === "Scan" || l.kind === "SplitScan" ? l.scanRanges : l.kind === "Sort" ? l.sortRanges : undefined;
  const reduction = isReduction(l) ? l.reductionRanges : (scan ?? []);
  const { vars, ranges } = squeezedVars([l.ranges, reduction], "d", sizevars);
  const [indexVars, reduceVars] = vars as [Expr[], Expr[]];
  const reads = traceReads(ops => {
    if (l.kind === "Pointwise") l.inner(ops, indexVars);
    else if (l.kind === "Scatter") {
      l.outputIndexer(ops, indexVars);
      l.inner(ops, indexVars);
    } else if (isReduction(l)) l.inner(ops, indexVars, reduceVars);
    else for (const inner of l.inners) inner(ops, l.reindex(indexVars, reduceVars));
  });
  return { reads, indexVars, reduceVars, ranges };
}
