// Into how many pieces a long reduction is cut so that all multiprocessors have work (Reduction.num_splits,
// InductorChoices.reduction_split_factor). In: the loops. Out: a hint and a number of pieces; 1 leaves it whole, -1 asks
// for the ranges of the reduction that feeds it.
import type { ReductionType } from "../../aten/types";
import { add, type Expr, floorDiv, freeSymbols, int, intValue, product, sameExprs } from "../symbolic/expr";
import type { InnerFn } from "./body_ops";
import { isLoops, isReduction, type Loops, type ReductionLoops, type TensorBox } from "./boxes";
import type { Lowering } from "./context";
import { countOf } from "./op_count";
import { type Read, squeezedVars, traceReads } from "./reads";
import { decideLayout } from "./realize";
import type { ReductionHint } from "./types";

export interface ReductionShape {
  readonly ranges: readonly Expr[];
  readonly reductionRanges: readonly Expr[];
  readonly type: ReductionType | "scan";
  readonly inner: InnerFn;
  readonly input: TensorBox | null;
}

export interface SplitDecision {
  readonly hint: ReductionHint;
  readonly split: number;
}

const WHOLE: SplitDecision = { hint: "DEFAULT", split: 1 };

export function numSplits(ctx: Lowering, r: ReductionShape): SplitDecision {
  const rnumelExpr = ctx.sizevars.simplify(product(r.reductionRanges));
  const numelExpr = ctx.sizevars.simplify(product(r.ranges));
  const rnumel = ctx.sizevars.hint(rnumelExpr);
  const numel = ctx.sizevars.hint(numelExpr);
  const splittable = r.type === "scan" || (r.type !== "argmax" && r.type !== "argmin" && r.type !== "dot");
  const allowed = ctx.configFlag("split_reductions") && !ctx.configFlag("triton.cooperative_reductions");
  if (rnumel === undefined || numel === undefined) return WHOLE;
  // a reduction that may not be cut still gets the hint of how it reads
  const cut = r.type === "scan" || (splittable && allowed) ? (split: number): number => split : (): number => 1;
  const sms = ctx.target.multiProcessorCount;
  const threadsPerSm = ctx.target.maxThreadsPerMultiProcessor;
  if (numel === 1) {
    const split = cut(innerSplit(rnumel, 1, sms, threadsPerSm));
    if (split > 1 && r.input !== null && r.type !== "scan" && producerRanges(ctx, r.input, rnumel) !== undefined)
      return { hint: "INNER", split: -1 };
    return { hint: "INNER", split };
  }
  if (rnumel <= 32 || numel >= sms * 2 * 32) return WHOLE;
  const loads = fullLoads(ctx, r);
  if (loads.length === 0) return WHOLE;
  let outer = 0;
  for (const l of loads) {
    const strides = ctx.sizevars.strideHints(l.index, l.reduceVars, [...l.indexVars, ...l.reduceVars]);
    if (strides.every(s => s === 0 || s > 1)) outer++;
  }
  if (loads.length - outer > outer) return { hint: "INNER", split: cut(innerSplit(rnumel, numel, sms, threadsPerSm)) };
  return { hint: "OUTER", split: cut(outerSplit(rnumel, numel, sms, threadsPerSm)) };
}

interface FullLoad {
  readonly index: Expr;
  readonly indexVars: readonly Expr[];
  readonly reduceVars: readonly Expr[];
}

/** loads that step through every loop; strides of buffers not fixed yet are fixed by asking */
function fullLoads(ctx: Lowering, r: ReductionShape): FullLoad[] {
  const { vars, ranges } = squeezedVars([r.ranges, r.reductionRanges], "d", ctx.sizevars);
  const [indexVars, reduceVars] = vars as [Expr[], Expr[]];
  const trace = (): readonly Read[] =>
    traceReads(ops => {
      r.inner(ops, indexVars, reduceVars);
    }).filter(read => {
      const free = freeSymbols(read.index);
      return [...ranges.keys()].every(v => free.has(v));
    });
  let reads = trace();
  let changed = false;
  for (const read of reads) {
    const b = ctx.buffersByName.get(read.buffer);
    if (b === undefined || b.kind === "input" || b.layout.kind !== "flexible") continue;
    const before = b.layout.stride;
    decideLayout(ctx, b);
    const now = b.layout as { readonly stride?: readonly Expr[] };
    if (now.stride?.some((s, i) => s !== before[i])) changed = true;
  }
  if (changed) reads = trace();
  return reads.map(read => ({ index: ctx.sizevars.simplifyWithRanges(read.index, ranges), indexVars, reduceVars }));
}

/**
 * Loops of the reductions behind `x` if they are all the same and run over as many elements as this one reduces
 * (extract_input_node_reduction_ranges).
 */
export function producerRanges(
  ctx: Lowering,
  x: TensorBox,
  rnumel: number,
): { readonly ranges: readonly Expr[]; readonly reductionRanges: readonly Expr[] } | undefined {
  if (x.data.kind !== "storage") return undefined;
  const d = x.data.data;
  const found = isLoops(d) ? nearestReductions(ctx, d) : d.kind === "computed" && isReduction(d.data) ? [d.data] : [];
  const [first] = found;
  if (first === undefined) return undefined;
  if (found.some(f => !sameExprs(f.ranges, first.ranges) || !sameExprs(f.reductionRanges, first.reductionRanges)))
    return undefined;
  const total = ctx.sizevars.hint(product([...first.ranges, ...first.reductionRanges]));
  return total === rnumel ? { ranges: first.ranges, reductionRanges: first.reductionRanges } : undefined;
}

/** reductions that the loops read, else those that the buffers they read were computed from, and so on */
function nearestReductions(ctx: Lowering, l: Loops): ReductionLoops[] {
  let level: ReadonlySet<string> = new Set(countOf(l).reads);
  const seen = new Set<string>();
  while (level.size > 0) {
    const found: ReductionLoops[] = [];
    const next = new Set<string>();
    for (const name of level) {
      const b = seen.has(name) ? undefined : ctx.buffersByName.get(name);
      seen.add(name);
      if (b?.kind !== "computed") continue;
      if (isReduction(b.data)) found.push(b.data);
      else for (const r of countOf(b.data).reads) next.add(r);
    }
    if (found.length > 0) return found;
    level = next;
  }
  return [];
}

/** smallest and largest pieces that a reduction may have, by how many bytes one multiprocessor keeps in flight */
const LOW_WORK = 32;
const HIGH_WORK = 512;

function closestDivisor(n: number, target: number): number {
  let best = 1;
  let distance = Math.abs(1 - target);
  for (let i = 1; i * i <= n; i++) {
    if (n % i !== 0) continue;
    for (const d of [i, n / i]) {
      if (Math.abs(d - target) < distance || (Math.abs(d - target) === distance && d < best)) {
        best = d;
        distance = Math.abs(d - target);
      }
    }
  }
  return best;
}

/** pieces of a reduction over the dimension that lies innermost in memory */
export function innerSplit(rnumel: number, numel: number, sms: number, threadsPerSm: number): number {
  if (numel >= 2 * sms) return 1;
  if (rnumel <= 8192) return 1;
  const total = rnumel * numel;
  const threads = 256; // num_warps 8 * 32
  let perThread: number;
  if (total <= LOW_WORK * sms * threadsPerSm) perThread = 32;
  else if (total < HIGH_WORK * sms * threadsPerSm) {
    const blocks = Math.ceil(Math.floor((sms * threadsPerSm) / 512) / numel);
    const wanted = Math.ceil(rnumel / (threads * blocks));
    const divisor = closestDivisor(rnumel, wanted);
    perThread = Math.abs(divisor - wanted) < 30 ? Math.max(divisor, 32) : wanted;
  } else {
    const divisor = closestDivisor(rnumel, 512);
    perThread = Math.abs(divisor - 512) < 50 ? divisor : 512;
  }
  return Math.ceil(rnumel / (perThread * threads));
}

/** pieces of a reduction whose kept dimension lies innermost in memory */
export function outerSplit(rnumel: number, numel: number, sms: number, threadsPerSm: number): number {
  const rowsPerBlock = 4;
  const columnBlocks = Math.ceil(numel / 128);
  const total = rnumel * numel;
  let perThread: number;
  if (total < LOW_WORK * sms * threadsPerSm) perThread = 32;
  else if (total < HIGH_WORK * sms * threadsPerSm) {
    const blocks = Math.ceil(Math.floor((sms * threadsPerSm) / 256) / columnBlocks);
    const wanted = Math.ceil(rnumel / (blocks * rowsPerBlock));
    const divisor = closestDivisor(rnumel, wanted);
    perThread = Math.abs(divisor - wanted) < 20 ? Math.max(divisor, 32) : wanted;
  } else {
    const divisor = closestDivisor(rnumel, 512);
    perThread = Math.abs(divisor - 512) < 50 ? divisor : 512;
  }
  return Math.ceil(rnumel / (rowsPerBlock * perThread));
}

/** size of each piece: floor((rnumel + split - 1) / split) */
export function blockSize(rnumel: Expr, split: number): Expr {
  return floorDiv(add(rnumel, split - 1), split);
}

/** Whether the pieces cover the reduction exactly. */
export function needsMask(ctx: Lowering, rnumel: Expr, split: number): boolean {
  const n = intValue(rnumel);
  return n !== undefined ? n % split !== 0 : !ctx.sizevars.knownMultipleOf(rnumel, int(split));
}
