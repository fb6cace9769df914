// How much a loop nest computes and reads (OpCounterCSE, inner_fn_opcount). In: loops not in memory. Out: number of
// distinct operations, distinct loads. Promises: the loops run once, symbolically; nothing is folded; equal operations
// count once; kept with the loops, as of the layouts at the first count.
import { floatKey } from "../../aten/float_parameter";
import { type DType, type OpName, type Ops, PyFloat } from "../../aten/types";
import { type Expr, int, intValue, sym } from "../symbolic/expr";
import { isReduction, type Loops } from "./boxes";
import type { Lowering } from "./context";

export interface OpCount {
  readonly ops: number;
  /** buffer of every distinct load, in order of first load */
  readonly reads: readonly string[];
  /** loads whose index is no constant */
  readonly nontrivialReads: number;
  readonly used: ReadonlySet<string>;
}

class CountingOps implements Ops<string> {
  ops = 0;
  nontrivialReads = 0;
  readonly reads: string[] = [];
  readonly used = new Set<string>();
  private readonly names = new Map<string, string>();

  private count(name: string, text: string): string {
    this.used.add(name);
    let v = this.names.get(text);
    if (v === undefined) {
      v = `t${this.ops++}`;
      this.names.set(text, v);
    }
    return v;
  }

  constant(value: number | boolean | PyFloat, dtype: DType): string {
    const shown = value instanceof PyFloat ? `${floatKey(value)}f` : String(value);
    return this.count("constant", `constant(${shown},${dtype})`);
  }
  indexExpr(e: Expr, dtype: DType): string {
    return this.count("index_expr", `index_expr(${e.id},${dtype})`);
  }
  load(buffer: string, index: Expr): string {
    const text = `load(${buffer},${index.id})`;
    if (!this.names.has(text)) {
      this.reads.push(buffer);
      if (intValue(index) === undefined) this.nontrivialReads++;
    }
    return this.count("load", text);
  }
  toDtype(x: string, dtype: DType, srcDtype?: DType): string {
    return this.count("to_dtype", `to_dtype(${x},${dtype},${srcDtype ?? ""})`);
  }
  toDtypeBitcast(x: string, dtype: DType, srcDtype: DType): string {
    return this.count("to_dtype_bitcast", `bitcast(${x},${dtype},${srcDtype})`);
  }
  indirectIndexing(x: string): Expr {
    this.used.add("indirect_indexing");
    return sym(`(${x})`, { kind: "indirect" });
  }
  masked(mask: string, body: () => string, other: number | boolean | PyFloat): string {
    const inner = body();
    return this.count("masked", `masked(${mask},${inner},${other instanceof PyFloat ? `${floatKey(other)}f` : other})`);
  }
  op(name: OpName, ...args: string[]): string {
    return this.count(name, `${name}(${args.join(",")})`);
  }
  loadSeed(buffer: string, offset: number): string {
    const text = `load_seed(${buffer},${offset})`;
    if (!this.names.has(text)) this.reads.push(buffer);
    return this.count("load_seed", text);
  }
  random(kind: "rand" | "randn", seed: string, offset: string): string {
    return this.count(kind, `${kind}(${seed},${offset})`);
  }
  randint64(seed: string, offset: string, low: string, high: string): string {
    return this.count("randint64", `randint64(${seed},${offset},${low},${high})`);
  }
}

/** i0.. over the ranges; a range of one element is always at 0 (Loops._index) */
export function loopIndex(ranges: readonly Expr[], prefix: string): Expr[] {
  return ranges.map((s, i) => (intValue(s) === 1 ? int(0) : sym(`${prefix}${i}`)));
}

const counts = new WeakMap<Loops, OpCount>();

export function countOf(l: Loops): OpCount {
  const known = counts.get(l);
  if (known !== undefined) return known;
  const h = new CountingOps();
  if (l.kind === "Pointwise") l.inner(h, loopIndex(l.ranges, "i"));
  else if (l.kind === "Scatter") {
    const index = loopIndex(l.ranges, "i");
    l.outputIndexer(h, index);
    l.inner(h, index);
  } else if (isReduction(l)) l.inner(h, loopIndex(l.ranges, "i"), loopIndex(l.reductionRanges, "r0_"));
  else {
    const scan = l.kind === "Sort" ? l.sortRanges : l.scanRanges;
    const index = l.reindex(loopIndex(l.ranges, "i"), loopIndex(scan, "r0_"));
    for (const inner of l.inners) inner(h, index);
  }
  const result: OpCount = { ops: h.ops, reads: h.reads, nontrivialReads: h.nontrivialReads, used: h.used };
  counts.set(l, result);
  return result;
}

/** has_large_inner_fn: more operations than the configured limit, or than `threshold` if that is larger */
export function isLarge(ctx: Lowering, l: Loops, threshold = 0): boolean {
  return countOf(l).ops > Math.max(threshold, ctx.configNumber("realize_opcount_threshold"));
}
