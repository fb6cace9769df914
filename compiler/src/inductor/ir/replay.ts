// Joins run_body and build_body: a LoopBody run through operations, so that it can be captured again over other loops.
// In: a body and BodyOps. Out: the same operations on those ops. Promises: nothing is folded here; the ops decide.

import type { Ops } from "../../aten/types";
import { PyFloat } from "../../aten/types";
import type { Expr, SymExpr } from "../symbolic/expr";
import type { BodyOps, CombineFn } from "./body_ops";
import { type BodySizes, buildBody } from "./build_body";
import type { BodyNode, LoopBody, ScanCombine } from "./loop_body";
import { type BodyHandler, runBody } from "./run_body";

/** a handler that forwards to ops */
export function opsHandler<V>(ops: BodyOps<V>): BodyHandler<V> {
  return {
    constant: (value, dtype) => ops.constant(value, dtype),
    indexExpr: (index, dtype) => ops.indexExpr(index, dtype),
    load: (buffer, index) => ops.load(buffer, index),
    store: (buffer, index, value, mode) => ops.store(buffer, index, value, mode),
    storeReduction: (buffer, index, value) => ops.storeReduction(buffer, index, value),
    toDtype: (x, dtype, srcDtype) => ops.toDtype(x, dtype, srcDtype ?? undefined),
    toDtypeBitcast: (x, dtype, srcDtype) => ops.toDtypeBitcast(x, dtype, srcDtype),
    indirectIndexing: (x, size, check, wrapNeg) => ops.indirectIndexing(x, size, { check, wrapNeg }) as Expr,
    // bounds that were checked are checked again where the index is built; see direct indices in build_body
    checkBounds: (index, size, lower, upper) => ops.checkBounds(index, size, lower, upper),
    masked: (mask, body, other, otherIsFloat) =>
      ops.masked(mask, body, otherIsFloat ? new PyFloat(Number(other)) : other),
    reduction: (dtype, srcDtype, type, value) => {
      const results = ops.reduction(dtype, srcDtype, type, value);
      return results.length === 1 ? (results[0] as V) : results;
    },
    scan: (dtypes, combine, values) => ops.scan(dtypes, combineFunction(combine), values),
    sort: (dtypes, values, stable, descending) => ops.sort(dtypes, values, stable, descending),
    loadSeed: (buffer, offset) => ops.loadSeed(buffer, offset),
    random: (kind, seed, offset) => ops.random(kind, seed, offset),
    randint64: (seed, offset, low, high) => ops.randint64(seed, offset, low, high),
    call: (fn, args) => ops.op(fn, ...args),
  };
}

/** a captured combine function as a function again */
function combineFunction(combine: ScanCombine): CombineFn {
  return <V>(ops: Ops<V>, a: V[], b: V[]): V[] => {
    const values = new Map<BodyNode, V>();
    for (const [i, p] of combine.parameters.entries()) values.set(p, [...a, ...b][i] as V);
    const get = (n: BodyNode): V => values.get(n) as V;
    for (const n of combine.nodes) {
      if (n.op === "constant") values.set(n, ops.constant(n.value, n.dtype));
      else if (n.op === "to_dtype") values.set(n, ops.toDtype(get(n.x), n.dtype, n.srcDtype ?? undefined));
      else if (n.op === "call") values.set(n, ops.op(n.fn, ...n.args.map(get)));
      else throw new Error(`a combine function has no ${n.op}`);
    }
    return combine.results.map(get);
  };
}

/** Captures a body anew over other loops; the values say what each old loop variable becomes. */
export function recapture(
  body: LoopBody,
  iterVars: readonly SymExpr[],
  iterSizes: readonly Expr[],
  reduceVars: readonly SymExpr[],
  reduceSizes: readonly Expr[],
  iterValues: readonly Expr[],
  reduceValues: readonly Expr[],
  sizes: BodySizes,
): LoopBody {
  return buildBody(iterVars, iterSizes, reduceVars, reduceSizes, sizes, ops =>
    runBody(body, opsHandler(ops), iterValues, reduceValues),
  );
}
