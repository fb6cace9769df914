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

/** the one value there is; not null, which bodies that fold over several values take for none yet */
const RECORDED = "recorded";
type Recorded = typeof RECORDED;

class TracingOps implements Ops<Recorded> {
  readonly reads: Read[] = [];
  private readonly seen = new Set<string>();
  private temporaries = 0;

  load(buffer: string, index: Expr): Recorded {
    const key = `${buffer},${index.id}`;
    if (!this.seen.has(key)) {
      this.seen.add(key);
      this.reads.push({ buffer, index });
    }
    return RECORDED;
  }
  indirectIndexing(_x: Recorded, _size: Expr): Expr {
    return sym(`tmp${this.temporaries++}`, { kind: "indirect" });
  }
  masked(_mask: Recorded, body: () => Recorded): Recorded {
    return body();
  }
  constant(): Recorded {
    return RECORDED;
  }
  indexExpr(_e: Expr, _dtype: DType): Recorded {
    return RECORDED;
  }
  toDtype(): Recorded {
    return RECORDED;
  }
  toDtypeBitcast(): Recorded {
    return RECORDED;
  }
  op(_name: OpName, ..._args: Recorded[]): Recorded {
    return RECORDED;
  }
  loadSeed(buffer: string, offset: number): Recorded {
    return this.load(buffer, int(offset));
  }
  random(): Recorded {
    return RECORDED;
  }
  randint64(): Recorded {
    return RECORDED;
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
export function traceReads(run: (ops: Ops<Recorded>) => void): readonly Read[] {
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
