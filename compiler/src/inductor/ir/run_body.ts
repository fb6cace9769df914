// Runs a LoopBody through any handler (LoopBody.__call__). In: a body, a handler, expressions for the loop variables.
// Out: the handler's effects. Promises: operations run in the body's order, a masked block where its operation stands;
// every index expression the handler sees has loop variables and indirect symbols already replaced.
import type { DType, OpName, ReductionType } from "../../aten/types";
import { type Expr, type SymExpr, substitute } from "../symbolic/expr";
import type { Block, BodyNode, ConstantValue, LoopBody, ScanCombine } from "./loop_body";

export interface BodyHandler<V> {
  constant(value: ConstantValue, dtype: DType): V;
  indexExpr(index: Expr, dtype: DType): V;
  load(buffer: string, index: Expr): V;
  store(buffer: string, index: Expr, value: V, mode: "atomic_add" | null): void;
  storeReduction(buffer: string, index: Expr, value: V): void;
  toDtype(x: V, dtype: DType, srcDtype: DType | null, node: BodyNode): V;
  toDtypeBitcast(x: V, dtype: DType, srcDtype: DType): V;
  /** the expression that stands for the loaded index from here on */
  indirectIndexing(x: V, size: Expr, check: boolean, wrapNeg: boolean, symbol: SymExpr): Expr;
  checkBounds(index: Expr, size: Expr, lower: boolean, upper: boolean): void;
  /** `otherIsFloat`: the fill value prints as a Python float; `block` is what `body` runs */
  masked(mask: V, body: () => V, other: number | boolean, otherIsFloat: boolean, block: Block): V;
  /** one result, or as many as reductionOutputs(type) says */
  reduction(dtype: DType, srcDtype: DType, type: ReductionType, value: V | readonly V[]): V | readonly V[];
  scan(dtypes: readonly DType[], combine: ScanCombine, values: readonly V[]): readonly V[];
  sort(dtypes: readonly DType[], values: readonly V[], stable: boolean, descending: boolean): readonly V[];
  loadSeed(buffer: string, offset: number): V;
  random(kind: "rand" | "randn", seed: V, offset: V): V;
  randint64(seed: V, offset: V, low: V, high: V): V;
  /** frexp yields two values, everything else one */
  call(fn: OpName, args: readonly V[], node: BodyNode): V | readonly V[];
}

/** @throws Error if the number of values is not that of the body's loops (a bug of the caller) */
export function runBody<V>(
  body: LoopBody,
  handler: BodyHandler<V>,
  iterValues: readonly Expr[],
  reduceValues: readonly Expr[],
): void {
  if (iterValues.length !== body.iterVars.length || reduceValues.length !== body.reduceVars.length) {
    throw new Error(
      `body has ${body.iterVars.length}+${body.reduceVars.length} loops, got ${iterValues.length}+${reduceValues.length} values`,
    );
  }
  const replace = new Map<SymExpr, Expr>();
  for (const [i, v] of body.iterVars.entries()) replace.set(v, iterValues[i] as Expr);
  for (const [i, v] of body.reduceVars.entries()) replace.set(v, reduceValues[i] as Expr);
  new Runner(body, handler, replace).run(body.block);
}

class Runner<V> {
  private readonly values = new Map<BodyNode, V | readonly V[]>();

  constructor(
    private readonly body: LoopBody,
    private readonly h: BodyHandler<V>,
    private readonly replace: Map<SymExpr, Expr>,
  ) {}

  run(block: Block): V | undefined {
    for (const node of block.nodes) this.step(node);
    return block.result === null ? undefined : this.one(block.result);
  }

  private one(n: BodyNode): V {
    const v = this.values.get(n);
    if (v === undefined || Array.isArray(v)) throw new Error(`${n.name} is not one value`);
    return v as V;
  }
  private several(n: BodyNode): readonly V[] {
    const v = this.values.get(n);
    if (!Array.isArray(v)) throw new Error(`${n.name} is not several values`);
    return v;
  }
  private index(n: BodyNode): Expr {
    if (n.op !== "get_index") throw new Error(`${n.name} is not an index`);
    const e = this.body.indexing.get(n.index);
    if (e === undefined) throw new Error(`no ${n.index} in this body`);
    return substitute(e, this.replace);
  }

  private step(n: BodyNode): void {
    const { h } = this;
    const set = (v: V | readonly V[]): void => {
      this.values.set(n, v);
    };
    switch (n.op) {
      case "get_index":
        return; // read where it is used
      case "load":
        return set(h.load(n.buffer, this.index(n.at)));
      case "store":
        return h.store(n.buffer, this.index(n.at), this.one(n.value), n.mode);
      case "store_reduction":
        return h.storeReduction(n.buffer, this.index(n.at), this.one(n.value));
      case "constant":
        return set(h.constant(n.value, n.dtype));
      case "index_expr":
        return set(h.indexExpr(this.index(n.at), n.dtype));
      case "to_dtype":
        return set(h.toDtype(this.one(n.x), n.dtype, n.srcDtype, n));
      case "to_dtype_bitcast":
        return set(h.toDtypeBitcast(this.one(n.x), n.dtype, n.srcDtype));
      case "set_indirect": {
        const size = substitute(n.size, this.replace);
        this.replace.set(n.symbol, h.indirectIndexing(this.one(n.x), size, n.check, n.wrapNeg, n.symbol));
        return;
      }
      case "check_bounds":
        return h.checkBounds(this.index(n.at), this.index(n.size), n.lower, n.upper);
      case "masked":
        return set(
          h.masked(
            this.one(n.mask),
            () => this.subblock(n.subblock),
            n.other,
            n.otherIsFloat,
            this.blockOf(n.subblock),
          ),
        );
      case "reduction": {
        const value = Array.isArray(n.value)
          ? (n.value as readonly BodyNode[]).map(v => this.one(v))
          : this.one(n.value as BodyNode);
        return set(h.reduction(n.dtype, n.srcDtype, n.type, value));
      }
      case "scan":
        return set(
          h.scan(
            n.dtypes,
            n.combine,
            n.values.map(v => this.one(v)),
          ),
        );
      case "sort":
        return set(
          h.sort(
            n.dtypes,
            n.values.map(v => this.one(v)),
            n.stable,
            n.descending,
          ),
        );
      case "getitem": {
        const v = this.several(n.x)[n.item];
        if (v === undefined) throw new Error(`${n.x.name} has no item ${n.item}`);
        return set(v);
      }
      case "load_seed":
        return set(h.loadSeed(n.buffer, n.offset));
      case "random":
        return set(h.random(n.kind, this.one(n.seed), this.one(n.offset)));
      case "randint64":
        return set(h.randint64(this.one(n.seed), this.one(n.offset), this.one(n.low), this.one(n.high)));
      case "call":
        return set(
          h.call(
            n.fn,
            n.args.map(a => this.one(a)),
            n,
          ),
        );
      default: {
        const never: never = n;
        return never;
      }
    }
  }

  private blockOf(name: string): Block {
    const block = this.body.subblocks.get(name);
    if (block === undefined) throw new Error(`no ${name} in this body`);
    return block;
  }

  private subblock(name: string): V {
    const result = this.run(this.blockOf(name));
    if (result === undefined) throw new Error(`${name} yields no value`);
    return result;
  }
}
