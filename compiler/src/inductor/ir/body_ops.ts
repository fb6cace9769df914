// The operations that loops are written in, beyond the pointwise ones that operator records know: stores, reductions,
// scans and sorts. In: nothing; every walk over a loop nest (count, trace, capture) implements BodyOps.
import type { DType, Ops, ReductionType } from "../../aten/types";
import type { Expr } from "../symbolic/expr";

/** combine function of a scan: results from a left and a right tuple */
export type CombineFn = <V>(ops: Ops<V>, a: V[], b: V[]) => V[];

export interface BodyOps<V> extends Ops<V> {
  checkBounds(index: Expr, size: Expr, lower: boolean, upper: boolean): void;
  store(buffer: string, index: Expr, value: V, mode: "atomic_add" | null): void;
  storeReduction(buffer: string, index: Expr, value: V): void;
  /** several results (in the order of reductionOutputs) for Welford, online softmax, and value-with-index types */
  reduction(dtype: DType, srcDtype: DType, type: ReductionType, value: V | readonly V[]): readonly V[];
  scan(dtypes: readonly DType[], combine: CombineFn, values: readonly V[]): readonly V[];
  sort(dtypes: readonly DType[], values: readonly V[], stable: boolean, descending: boolean): readonly V[];
}

/** how many values one reduction yields */
export function reductionOutputs(type: ReductionType): number {
  if (type === "welford_reduce" || type === "welford_combine") return 3;
  return type === "online_softmax_reduce" ? 2 : 1;
}

/**
 * A loop nest's value: loops run over `index`, `rindex` holds the reduction's variables. Several values stand for
 * welford_combine (mean, m2, weight) and for arg reductions that carry their own index.
 */
export type InnerFn = <V>(ops: Ops<V>, index: readonly Expr[], rindex: readonly Expr[]) => V | readonly V[];

/** What a node writes, run once per iteration of its loops. */
export type StoreFn = <V>(ops: BodyOps<V>, index: readonly Expr[], rindex: readonly Expr[]) => void;

export function single<V>(x: V | readonly V[]): V {
  if (Array.isArray(x)) throw new Error("a single value was expected of this loop");
  return x as V;
}
