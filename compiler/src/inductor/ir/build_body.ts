// Captures a loop nest as a LoopBody (torch/_inductor/loop_body.py, LoopBodyBlock). In: ranges and the function that
// runs the nest once. Out: numbered index expressions and named operations, in the order they ran.
// Promises: operations are named as torch.fx names them; index expressions are simplified under the loops' ranges;
// constants and index arithmetic are folded (index_propagation.ts) and emitted right before each use.
import { FloatParameter } from "../../aten/float_parameter";
import { type DType, type OpName, type Ops, PyFloat, type ReductionType } from "../../aten/types";
import { Namespace } from "../../fx/namespace";
import { add, type Expr, int, relation, type SymExpr, sub, sym, where } from "../symbolic/expr";
import { type BodyOps, type CombineFn, reductionOutputs } from "./body_ops";
import { convertKnown, foldKnown, type Known, knownExpr, typedConstant } from "./index_propagation";
import type { Block, BodyNode, ConstantValue, LoopBody, ScanCombine } from "./loop_body";

/** what capturing asks of the size variables */
export interface BodySizes {
  simplifyWithRanges(e: Expr, ranges: ReadonlyMap<SymExpr, Expr>): Expr;
  /** whether a relation holds for all values of the loop variables; what isn't known is false */
  staticallyTrue(relation: Expr, ranges: ReadonlyMap<SymExpr, Expr>): boolean;
}

type Value = { readonly known: Known } | { readonly node: BodyNode };

/** The body under construction, shared by its blocks. */
class BodyState {
  readonly indexing = new Map<string, Expr>();
  private readonly names = new Map<Expr, string>();
  readonly subblocks = new Map<string, Block>();
  readonly indirect: SymExpr[] = [];
  readonly ranges: Map<SymExpr, Expr>;
  /** get_index, masked blocks, set_indirects and scans are numbered by one count */
  submodules = 1;

  constructor(
    readonly loopRanges: ReadonlyMap<SymExpr, Expr>,
    readonly sizes: BodySizes,
  ) {
    this.ranges = new Map(loopRanges);
  }

  indexName(e: Expr): string {
    let name = this.names.get(e);
    if (name === undefined) {
      name = `index${this.indexing.size}`;
      this.names.set(e, name);
      this.indexing.set(name, e);
    }
    return name;
  }
}

class CapturingOps implements BodyOps<Value> {
  readonly nodes: BodyNode[] = [];
  private readonly namespace = new Namespace();

  constructor(private readonly state: BodyState) {
    this.namespace.create("ops");
  }

  private push<N extends BodyNode>(candidate: string, make: (name: string) => N): N {
    const node = make(this.namespace.create(candidate));
    this.nodes.push(node);
    return node;
  }

  private emit(candidate: string, make: (name: string) => BodyNode): Value {
    return { node: this.push(candidate, make) };
  }

  private simplify(e: Expr): Expr {
    return this.state.sizes.simplifyWithRanges(e, this.state.loopRanges);
  }

  private getIndex(e: Expr): BodyNode {
    const index = this.state.indexName(e);
    return this.push("get_index", name => ({ name, op: "get_index", index }));
  }

  /** the operation behind a value; a known value is emitted anew at every use */
  materialize(v: Value): BodyNode {
    if ("node" in v) return v.node;
    const { known } = v;
    if (known.kind === "constant") return this.emitConstant(known.value, known.dtype);
    const e = this.simplify(known.expr);
    if (e.kind === "int") return this.emitConstant(e.value, known.dtype);
    const at = this.getIndex(e);
    return this.push("index_expr", name => ({ name, op: "index_expr", at, dtype: known.dtype }));
  }

  private emitConstant(value: ConstantValue, dtype: DType): BodyNode {
    return this.push("constant", name => ({ name, op: "constant", value, dtype }));
  }

  constant(value: number | boolean | PyFloat, dtype: DType): Value {
    return {
      known: typedConstant(value instanceof PyFloat && !(value instanceof FloatParameter) ? value.value : value, dtype),
    };
  }
  indexExpr(e: Expr, dtype: DType): Value {
    return { known: knownExpr(e, dtype) };
  }
  load(buffer: string, index: Expr): Value {
    const at = this.getIndex(this.simplify(index));
    return this.emit("load", name => ({ name, op: "load", buffer, at }));
  }
  store(buffer: string, index: Expr, value: Value, mode: "atomic_add" | null): void {
    const v = this.materialize(value);
    const at = this.getIndex(this.simplify(index));
    this.push("store", name => ({ name, op: "store", buffer, at, value: v, mode }));
  }
  storeReduction(buffer: string, index: Expr, value: Value): void {
    const v = this.materialize(value);
    const at = this.getIndex(this.simplify(index));
    this.push("store_reduction", name => ({ name, op: "store_reduction", buffer, at, value: v }));
  }
  toDtype(x: Value, dtype: DType, srcDtype?: DType): Value {
    if ("known" in x) return { known: convertKnown(x.known, dtype) };
    return this.emit("to_dtype", name => ({ name, op: "to_dtype", x: x.node, dtype, srcDtype: srcDtype ?? null }));
  }
  toDtypeBitcast(x: Value, dtype: DType, srcDtype: DType): Value {
    const v = this.materialize(x);
    return this.emit("to_dtype_bitcast", name => ({ name, op: "to_dtype_bitcast", x: v, dtype, srcDtype }));
  }

  indirectIndexing(x: Value, size: Expr, opts: { check?: boolean; wrapNeg?: boolean } = {}): Expr {
    const check = opts.check ?? true;
    const wrapNeg = opts.wrapNeg ?? true;
    if ("known" in x) return this.directIndex(x.known, size, check, wrapNeg);
    const symbol = sym(`indirect${this.state.indirect.length}`, { kind: "indirect" });
    this.state.indirect.push(symbol);
    this.state.ranges.set(symbol, size);
    this.state.submodules += 1;
    this.push(`set_${symbol.name}`, name => ({ name, op: "set_indirect", symbol, x: x.node, size, check, wrapNeg }));
    return symbol;
  }

  /** an index that is itself an index expression: substituted, with what is left of its bounds check */
  private directIndex(known: Known, size: Expr, check: boolean, wrapNeg: boolean): Expr {
    let e = known.kind === "expr" ? known.expr : int(Number(known.value));
    const holds = (r: Expr): boolean => this.state.sizes.staticallyTrue(r, this.state.ranges);
    const nonnegative = holds(relation("le", 0, e));
    const lower = nonnegative || holds(relation("le", sub(0, size), e));
    const upper = holds(relation("lt", e, size));
    if (wrapNeg && !nonnegative) {
      e = holds(relation("lt", e, 0)) ? add(e, size) : where(relation("lt", e, 0), add(e, size), e);
    }
    if (check) this.checkBounds(e, size, !lower, !upper);
    return e;
  }

  checkBounds(index: Expr, size: Expr, lower: boolean, upper: boolean): void {
    const at = this.getIndex(this.simplify(index));
    const limit = this.getIndex(size);
    this.push("check_bounds", name => ({ name, op: "check_bounds", at, size: limit, lower, upper }));
  }

  masked(mask: Value, body: () => Value, other: number | boolean | PyFloat): Value {
    throw new Error(`masked needs a block of its own (${String(mask)}, ${String(body)}, ${String(other)})`);
  }

  /** runs `body` in a block of its own, whose operations come from `run` */
  maskedBlock(mask: Value, other: number | boolean | PyFloat, run: (inner: CapturingOps) => Value): Value {
    const m = this.materialize(mask);
    const subblock = `masked_subblock${this.state.submodules}`;
    this.state.submodules += 1;
    // the name is given before the body is captured, so that blocks are numbered from the outside, but listed from the inside
    const inner = new CapturingOps(this.state);
    const result = inner.materialize(run(inner));
    this.state.subblocks.set(subblock, { nodes: inner.nodes, result });
    const isFloat = other instanceof PyFloat;
    const fill = isFloat ? other.value : other;
    return this.emit(subblock, name => ({ name, op: "masked", mask: m, subblock, other: fill, otherIsFloat: isFloat }));
  }

  op(fn: OpName, ...args: Value[]): Value {
    const known = args.map(a => ("known" in a ? a.known : undefined));
    if (known.every(k => k !== undefined)) {
      const folded = foldKnown(fn, known as Known[]);
      if (folded !== undefined) return { known: folded };
    }
    const inputs = args.map(a => this.materialize(a));
    return this.emit(fn, name => ({ name, op: "call", fn, args: inputs }));
  }

  reduction(dtype: DType, srcDtype: DType, type: ReductionType, value: Value | readonly Value[]): readonly Value[] {
    const inputs = Array.isArray(value)
      ? (value as readonly Value[]).map(v => this.materialize(v))
      : this.materialize(value as Value);
    const node = this.push("reduction", name => ({ name, op: "reduction", dtype, srcDtype, type, value: inputs }));
    const count = reductionOutputs(type);
    return count === 1 ? [{ node }] : this.items(node, count);
  }

  private items(x: BodyNode, count: number): Value[] {
    return Array.from({ length: count }, (_, item) => this.emit("getitem", name => ({ name, op: "getitem", x, item })));
  }

  scan(dtypes: readonly DType[], combine: CombineFn, values: readonly Value[]): readonly Value[] {
    const inputs = values.map(v => this.materialize(v));
    const captured = captureCombine(dtypes, combine);
    const candidate = `scan${this.state.submodules}`;
    this.state.submodules += 1;
    const node = this.push(candidate, name => ({ name, op: "scan", dtypes, combine: captured, values: inputs }));
    return this.items(node, values.length);
  }
  sort(dtypes: readonly DType[], values: readonly Value[], stable: boolean, descending: boolean): readonly Value[] {
    const inputs = values.map(v => this.materialize(v));
    const node = this.push("sort", name => ({ name, op: "sort", dtypes, values: inputs, stable, descending }));
    return this.items(node, values.length);
  }

  loadSeed(buffer: string, offset: number): Value {
    this.state.indexName(int(offset));
    return this.emit("load_seed", name => ({ name, op: "load_seed", buffer, offset }));
  }
  random(kind: "rand" | "randn", seed: Value, offset: Value): Value {
    const s = this.materialize(seed);
    const o = this.materialize(offset);
    return this.emit(kind, name => ({ name, op: "random", kind, seed: s, offset: o }));
  }
  randint64(seed: Value, offset: Value, low: Value, high: Value): Value {
    const [s, o, l, h] = [seed, offset, low, high].map(v => this.materialize(v)) as [
      BodyNode,
      BodyNode,
      BodyNode,
      BodyNode,
    ];
    return this.emit("randint64", name => ({ name, op: "randint64", seed: s, offset: o, low: l, high: h }));
  }
}

/**
 * Operations that always go to the block that runs now: a masked body is a closure over the ops it was given, so the
 * handler itself must not change while blocks nest.
 */
class BlockSwitch implements BodyOps<Value> {
  constructor(private block: CapturingOps) {}

  constant(value: number | boolean | PyFloat, dtype: DType): Value {
    return this.block.constant(value, dtype);
  }
  indexExpr(e: Expr, dtype: DType): Value {
    return this.block.indexExpr(e, dtype);
  }
  load(buffer: string, index: Expr): Value {
    return this.block.load(buffer, index);
  }
  store(buffer: string, index: Expr, value: Value, mode: "atomic_add" | null): void {
    this.block.store(buffer, index, value, mode);
  }
  storeReduction(buffer: string, index: Expr, value: Value): void {
    this.block.storeReduction(buffer, index, value);
  }
  toDtype(x: Value, dtype: DType, srcDtype?: DType): Value {
    return this.block.toDtype(x, dtype, srcDtype);
  }
  toDtypeBitcast(x: Value, dtype: DType, srcDtype: DType): Value {
    return this.block.toDtypeBitcast(x, dtype, srcDtype);
  }
  indirectIndexing(x: Value, size: Expr, opts?: { check?: boolean; wrapNeg?: boolean }): Expr {
    return this.block.indirectIndexing(x, size, opts);
  }
  checkBounds(index: Expr, size: Expr, lower: boolean, upper: boolean): void {
    this.block.checkBounds(index, size, lower, upper);
  }
  masked(mask: Value, body: () => Value, other: number | boolean | PyFloat): Value {
    const outer = this.block;
    return outer.maskedBlock(mask, other, inner => {
      this.block = inner;
      try {
        return body();
      } finally {
        this.block = outer;
      }
    });
  }
  op(fn: OpName, ...args: Value[]): Value {
    return this.block.op(fn, ...args);
  }
  reduction(dtype: DType, srcDtype: DType, type: ReductionType, value: Value | readonly Value[]): readonly Value[] {
    return this.block.reduction(dtype, srcDtype, type, value);
  }
  scan(dtypes: readonly DType[], combine: CombineFn, values: readonly Value[]): readonly Value[] {
    return this.block.scan(dtypes, combine, values);
  }
  sort(dtypes: readonly DType[], values: readonly Value[], stable: boolean, descending: boolean): readonly Value[] {
    return this.block.sort(dtypes, values, stable, descending);
  }
  loadSeed(buffer: string, offset: number): Value {
    return this.block.loadSeed(buffer, offset);
  }
  random(kind: "rand" | "randn", seed: Value, offset: Value): Value {
    return this.block.random(kind, seed, offset);
  }
  randint64(seed: Value, offset: Value, low: Value, high: Value): Value {
    return this.block.randint64(seed, offset, low, high);
  }
}

/** a scan's combine function over fresh parameters */
function captureCombine(dtypes: readonly DType[], combine: CombineFn): ScanCombine {
  const state = new BodyState(new Map(), { simplifyWithRanges: e => e, staticallyTrue: () => false });
  const block = new CapturingOps(state);
  const parameter = (side: number, i: number): Value => ({
    node: { name: `arg${side}_${i}`, op: "constant", value: 0, dtype: dtypes[i] as DType },
  });
  const left = dtypes.map((_, i) => parameter(0, i));
  const right = dtypes.map((_, i) => parameter(1, i));
  const results = combine(new BlockSwitch(block) as Ops<Value>, left, right).map(v => block.materialize(v));
  const opNames = block.nodes.map(n => (n.op === "call" ? n.fn : n.op));
  return { nodes: block.nodes, parameters: [...left, ...right].map(v => block.materialize(v)), results, opNames };
}

/**
 * Captures `run` over the given loops. `iterVars` and `reduceVars` name the loops in order; `run` gets the handler and
 * is expected to store what it computes.
 */
export function buildBody(
  iterVars: readonly SymExpr[],
  iterSizes: readonly Expr[],
  reduceVars: readonly SymExpr[],
  reduceSizes: readonly Expr[],
  sizes: BodySizes,
  run: (ops: BodyOps<Value>) => void,
): LoopBody {
  const ranges = new Map<SymExpr, Expr>();
  for (const [i, v] of iterVars.entries()) ranges.set(v, iterSizes[i] as Expr);
  for (const [i, v] of reduceVars.entries()) ranges.set(v, reduceSizes[i] as Expr);
  const state = new BodyState(ranges, sizes);
  const root = new CapturingOps(state);
  run(new BlockSwitch(root));
  return {
    iterVars,
    reduceVars,
    iterSizes,
    reduceSizes,
    indexing: state.indexing,
    block: { nodes: root.nodes, result: null },
    subblocks: state.subblocks,
    indirect: state.indirect,
  };
}
