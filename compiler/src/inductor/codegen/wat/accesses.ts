// What a loop body touches. In: a body and its loop variables in terms of a kernel's loops. Out: its loads and stores
// with their index expressions, in order. Indirect indices stand as symbols of kind "indirect".
import type { LoopBody } from "../../ir/loop_body";
import { type BodyHandler, runBody } from "../../ir/run_body";
import { type Expr, freeSymbols, type SymExpr } from "../../symbolic/expr";

export interface Access {
  readonly buffer: string;
  readonly index: Expr;
  readonly kind: "load" | "store" | "store_reduction" | "atomic_add";
  /** under a mask, which may keep the index inside the buffer */
  readonly masked: boolean;
}

/** how many results a reduction has */
export function reductionOutputs(type: string): number {
  return type.startsWith("welford") ? 3 : type === "online_softmax_reduce" ? 2 : 1;
}

export function accessesOf(
  body: LoopBody,
  iter: readonly Expr[],
  reduce: readonly Expr[],
  simplify: (e: Expr) => Expr,
): Access[] {
  const out: Access[] = [];
  let masks = 0;
  const add = (buffer: string, index: Expr, kind: Access["kind"]): void => {
    out.push({ buffer, index: simplify(index), kind, masked: masks > 0 });
  };
  const several = (n: number): readonly null[] => new Array<null>(n).fill(null);
  const handler: BodyHandler<null> = {
    constant: () => null,
    indexExpr: () => null,
    load: (buffer, index) => {
      add(buffer, index, "load");
      return null;
    },
    store: (buffer, index, _value, mode) => add(buffer, index, mode === "atomic_add" ? "atomic_add" : "store"),
    storeReduction: (buffer, index) => add(buffer, index, "store_reduction"),
    toDtype: () => null,
    toDtypeBitcast: () => null,
    indirectIndexing: (_x, _size, _check, _wrap, symbol) => symbol,
    checkBounds: () => undefined,
    masked: (_mask, run) => {
      masks += 1;
      run();
      masks -= 1;
      return null;
    },
    reduction: (_d, _s, type) => (reductionOutputs(type) === 1 ? null : several(reductionOutputs(type))),
    scan: dtypes => several(dtypes.length),
    sort: dtypes => several(dtypes.length),
    loadSeed: () => null,
    random: () => null,
    randint64: () => null,
    call: fn => (fn === "frexp" ? several(2) : null),
  };
  runBody(body, handler, iter, reduce);
  return out;
}

export function isIndirect(index: Expr): boolean {
  for (const s of freeSymbols(index)) if ((s as SymExpr).symKind === "indirect") return true;
  return false;
}
