// Runs loop bodies and emits what they do, four elements along one loop variable at a time. In: operations through
// BodyHandler. Out: text in the function under construction. Promises: the same values as the scalar handler's; what is
// the same for all four is worked out once, by the scalar handler; what has no vector form goes lane by lane.
import type { DType, OpName, ReductionType } from "../../../aten/types";
import type { ConstantValue, ScanCombine } from "../../ir/loop_body";
import type { BodyHandler } from "../../ir/run_body";
import {
  add,
  type Expr,
  freeSymbols,
  int,
  intValue,
  mul,
  type SymExpr,
  sub,
  substitute,
  sym,
} from "../../symbolic/expr";
import { reductionOutputs } from "./accesses";
import type { VectorAccumulator } from "./accumulators";
import { type HandlerScope, WatBodyHandler } from "./body_handler";
import { convertVector } from "./vector_convert";
import { loadColumn, loadVector, storeColumn, storeVector } from "./vector_memory";
import { vectorPointwise } from "./vector_pointwise";
import {
  constant4,
  fromLanes,
  isVector,
  keepVector,
  LANES,
  lane,
  NotVectorizable,
  type Value,
  type VecValue,
} from "./vector_types";
import { computeType, literal, type WatValue } from "./wat_types";

export interface VectorScope extends HandlerScope {
  /** the loop variable that the four elements lie along */
  readonly variable: SymExpr;
  /** the first element's value of it is a multiple of four */
  readonly aligned: boolean;
  /** makes the accumulator of the n-th reduction of the loop */
  accumulate(
    type: ReductionType,
    dtype: DType,
    srcDtype: DType,
    values: readonly Value[],
  ): {
    /** null: an earlier reduction does it */ readonly vector: VectorAccumulator | null;
    readonly results: readonly WatValue[];
  };
  /** exponentials of this member that an earlier loop of the row has kept, by the number of the exp operation */
  readonly powers?: { readonly uses: ReadonlySet<number>; load(): VecValue } | null;
}

export class VectorBodyHandler implements BodyHandler<Value> {
  private readonly scalar: WatBodyHandler;
  private mask: Value | null = null;
  /** exp operations so far */
  private exps = 0;
  /** indirect indices that differ by lane: the scalar symbol of each */
  private readonly lanesOf = new Map<SymExpr, readonly SymExpr[]>();

  constructor(private readonly s: VectorScope) {
    this.scalar = new WatBodyHandler(s);
  }

  constant(value: ConstantValue, dtype: DType): Value {
    return this.scalar.constant(value, dtype);
  }

  indexExpr(index0: Expr, dtype: DType): Value {
    const { f } = this.s;
    const index = this.s.simplify(index0);
    const stride = this.strideOf(index);
    if (stride === 0) return this.scalar.indexExpr(index, dtype);
    if (stride === null)
      return fromLanes(
        this.lanes(k => this.scalar.indexExpr(this.at(index, k), dtype)),
        dtype,
        f,
      );
    const steps = constant4(
      "i32x4",
      [0, 1, 2, 3].map(k => k * stride),
    );
    const first = this.scalar.indexExpr(index, "int32");
    const numbers = keepVector("i32x4", [`(i32x4.add (i32x4.splat ${first.code}) ${steps})`], "int32", f);
    return convertVector(numbers, dtype, f);
  }

  load(buffer: string, index0: Expr): Value {
    const { f, memory, written, segment, position } = this.s;
    const index = this.s.simplify(index0);
    const dtype = memory.dtype(buffer);
    const known = written.get(memory.storage(buffer));
    if (known && known.index === index) {
      const here = known.segment === segment || known.segment === null;
      if (here && known.vector) return known.vector;
      if (here && known.value) return known.value;
      if (known.column && this.s.columns) return loadColumn(known.column, this.s.columns.address(known.column), f);
    }
    const row = memory.scratchElement(buffer, position);
    if (row !== null) {
      const type = computeType(dtype);
      const code = (offset: number): string => `(v128.load ${offset ? `offset=${offset} ` : ""}${row})`;
      if (dtype === "bool") throw new NotVectorizable("booleans in scratch");
      return type.endsWith("64")
        ? keepVector(type === "f64" ? "f64x2" : "i64x2", [code(0), code(16)], dtype, f)
        : keepVector(type === "f32" ? "f32x4" : "i32x4", [code(0)], dtype, f);
    }
    const tile = this.mask === null ? this.s.tile(false, buffer, index) : null;
    if (tile !== null) return loadVector(tile, 0, dtype, f);
    const stride = this.strideOf(index);
    if (stride === 0) return this.scalar.load(buffer, index);
    if (stride !== 1)
      return fromLanes(
        this.lanes(k => this.scalar.load(buffer, this.at(index, k))),
        dtype,
        f,
      );
    const { address, offset } = this.scalar.place(buffer, index, dtype, this.s.variable);
    if (this.mask === null) return loadVector(address, offset, dtype, f);
    if (!isVector(this.mask)) return this.guarded(this.mask.code, () => loadVector(address, offset, dtype, f), dtype);
    // where all four are wanted they are loaded at once; where not, each on its own, since the rest may not exist
    const whole = f.keep(`(i32x4.all_true ${this.mask.codes[0]})`, "i32", "whole");
    return this.either(
      whole,
      () => loadVector(address, offset, dtype, f),
      () =>
        fromLanes(
          this.lanes(k => this.scalar.load(buffer, this.at(index, k))),
          dtype,
          f,
        ),
      dtype,
    );
  }

  /** a vector that is worked out where the condition holds, zero elsewhere */
  private guarded(condition: string, make: () => VecValue, dtype: DType): VecValue {
    return this.either(condition, make, null, dtype);
  }

  private either(condition: string, make: () => VecValue, otherwise: (() => VecValue) | null, dtype: DType): VecValue {
    const { f } = this.s;
    let shape: VecValue["shape"] = "f32x4";
    const names: string[] = [];
    const assign = (v: VecValue): void => {
      shape = v.shape;
      v.codes.forEach((c, i) => {
        names[i] ??= f.local("v128", "either");
        f.set(names[i] as string, c);
      });
    };
    f.lines.block(`(if ${condition} (then`, () => f.scope(() => assign(make())), ")");
    f.lines.block(
      "(else",
      () => {
        f.scope(() => {
          if (otherwise) assign(otherwise());
          else for (const n of names) f.set(n, "(v128.const i32x4 0 0 0 0)");
        });
      },
      "))",
    );
    return { shape, dtype, codes: names.map(n => `(local.get ${n})`) };
  }

  store(buffer: string, index0: Expr, value: Value, mode: "atomic_add" | null): void {
    const { f, memory, written, segment, stores, position } = this.s;
    if (mode !== null) throw new NotVectorizable("atomic stores");
    const index = this.s.simplify(index0);
    const dtype = memory.dtype(buffer);
    const vector = convertVector(value, dtype, f);
    const local = memory.isLocal(buffer);
    if (position === null && this.s.columns) {
      const column = this.s.columns.keep(buffer, dtype);
      written.set(memory.storage(buffer), { vector, index, segment, column });
      const lines = storeColumn(vector, this.s.columns.address(column), f);
      stores.push(() => {
        for (const l of lines) f.lines.add(l);
      });
    } else written.set(memory.storage(buffer), { vector, index, segment: position === null ? null : segment });
    const row = memory.scratchElement(buffer, position);
    if (row !== null) {
      if (dtype === "bool") throw new NotVectorizable("booleans in scratch");
      vector.codes.forEach((c, i) => {
        stores.push(() => f.lines.add(`(v128.store ${i ? "offset=16 " : ""}${row} ${c})`));
      });
    }
    if (!local) this.emitStore(buffer, index, vector, dtype);
  }

  /** stores four elements, with no memory of having done so */
  emitStore(buffer: string, index: Expr, vector: VecValue, dtype: DType): void {
    const { f, stores } = this.s;
    const tile = this.s.tile(true, buffer, index);
    if (tile !== null || this.strideOf(index) === 1) {
      const { address, offset } =
        tile !== null ? { address: tile, offset: 0 } : this.scalar.place(buffer, index, dtype, this.s.variable);
      const lines = storeVector(address, offset, vector, dtype, f);
      stores.push(() => {
        for (const l of lines) f.lines.add(l);
      });
      return;
    }
    for (let k = 0; k < LANES; k++) {
      const x = lane(vector, k);
      const kept = { ...x, code: f.keep(x.code, x.type) };
      this.scalar.storeOne(buffer, this.at(index, k), kept, dtype);
    }
  }

  storeReduction(buffer: string, index: Expr, value: Value): void {
    const { partial, position, stores, f } = this.s;
    if (partial !== null) {
      const v = convertVector(value, "float32", f);
      const address = f.keep(`(i32.add ${partial.row} (i32.shl ${position} (i32.const 2)))`, "i32", "p");
      const op = partial.product ? "mul" : "add";
      stores.push(() => f.lines.add(`(v128.store ${address} (f32x4.${op} (v128.load ${address}) ${v.codes[0]}))`));
      return;
    }
    if (isVector(value)) throw new NotVectorizable("a reduction's vector result");
    if (this.s.columns) return this.scalar.columnResult(buffer, this.s.simplify(index), value, this.s.columns);
    this.scalar.storeReduction(buffer, index, value);
  }

  toDtype(x: Value, dtype: DType): Value {
    return isVector(x) ? convertVector(x, dtype, this.s.f) : this.scalar.toDtype(x, dtype);
  }

  toDtypeBitcast(x: Value, dtype: DType, srcDtype: DType): Value {
    if (!isVector(x)) return this.scalar.toDtypeBitcast(x, dtype, srcDtype);
    const direct = (dtype === "float32" && srcDtype === "int32") || (dtype === "int32" && srcDtype === "float32");
    if (direct) return { ...x, shape: dtype === "float32" ? "f32x4" : "i32x4", dtype };
    return fromLanes(
      this.lanes(k => this.scalar.toDtypeBitcast(this.lane(x, k), dtype, srcDtype)),
      dtype,
      this.s.f,
    );
  }

  indirectIndexing(x: Value, size: Expr, check: boolean, wrapNeg: boolean, symbol: SymExpr): Expr {
    if (!isVector(x)) return this.scalar.indirectIndexing(x, size, check, wrapNeg);
    const symbols = [0, 1, 2, 3].map(
      k => this.underLane(k, () => this.scalar.indirectIndexing(this.lane(x, k), size, check, wrapNeg)) as SymExpr,
    );
    const all = sym(`lanes_${symbols.map(s => s.name).join("_")}`, { kind: "indirect" });
    this.lanesOf.set(all, symbols);
    void symbol;
    return all;
  }

  checkBounds(index0: Expr, size: Expr, lower: boolean, upper: boolean): void {
    const index = this.s.simplify(index0);
    if (this.strideOf(index) === 0) return this.scalar.checkBounds(index, size, lower, upper);
    for (let k = 0; k < LANES; k++)
      this.underLane(k, () => this.scalar.checkBounds(this.at(index, k), size, lower, upper));
  }

  masked(mask: Value, body: () => Value, other: number | boolean, _float: boolean): Value {
    const { f } = this.s;
    const outer = this.mask;
    const here: Value =
      outer === null
        ? isVector(mask)
          ? convertVector(mask, "bool", f)
          : this.scalar.toDtype(mask, "bool")
        : isVector(outer) || isVector(mask)
          ? keepVector(
              "mask",
              [`(v128.and ${convertVector(outer, "bool", f).codes[0]} ${convertVector(mask, "bool", f).codes[0]})`],
              "bool",
              f,
            )
          : {
              code: f.keep(`(i32.and ${outer.code} ${this.scalar.toDtype(mask, "bool").code})`, "i32"),
              type: "i32",
              dtype: "bool",
            };
    this.setMask(here);
    const value = body();
    this.setMask(outer);
    if (!isVector(here) && !isVector(value)) {
      const code = f.keep(`(select ${value.code} ${literal(Number(other), value.type)} ${here.code})`, value.type);
      return { ...value, code };
    }
    const type = computeType(value.dtype);
    return vectorPointwise("where", [here, value, { code: literal(Number(other), type), type, dtype: value.dtype }], f);
  }

  /** the scalar handler's own mask: whether any of the four is wanted */
  private setMask(mask: Value | null): void {
    this.mask = mask;
    this.scalar.mask =
      mask === null || !isVector(mask)
        ? mask
        : { code: this.s.f.keep(`(v128.any_true ${mask.codes[0]})`, "i32"), type: "i32", dtype: "bool" };
  }

  reduction(
    dtype: DType,
    srcDtype: DType,
    type: ReductionType,
    value: Value | readonly Value[],
  ): Value | readonly Value[] {
    const { position } = this.s;
    const values = Array.isArray(value) ? (value as readonly Value[]) : [value as Value];
    if (this.s.partial !== null) return values[0] as Value;
    const { vector, results } = this.s.accumulate(type, dtype, srcDtype, values);
    vector?.step(values, position ?? "(i32.const 0)");
    return reductionOutputs(type) === 1 ? (results[0] as WatValue) : results;
  }

  scan(_dtypes: readonly DType[], _combine: ScanCombine, _values: readonly Value[]): readonly Value[] {
    throw new NotVectorizable("a scan");
  }

  sort(): readonly Value[] {
    throw new NotVectorizable("a sort");
  }

  loadSeed(buffer: string, offset: number): Value {
    return this.scalar.loadSeed(buffer, offset);
  }

  random(kind: "rand" | "randn", seed: Value, offset: Value): Value {
    return fromLanes(
      this.lanes(k => this.scalar.random(kind, this.lane(seed, k), this.lane(offset, k))),
      "float32",
      this.s.f,
    );
  }

  randint64(seed: Value, offset: Value, lowest: Value, high: Value): Value {
    const one = (v: Value, k: number): WatValue => this.lane(v, k);
    return fromLanes(
      this.lanes(k => this.scalar.randint64(one(seed, k), one(offset, k), one(lowest, k), one(high, k))),
      "int64",
      this.s.f,
    );
  }

  call(fn: OpName, args: readonly Value[]): Value | readonly Value[] {
    if (fn === "exp" && this.s.powers?.uses.has(this.exps++)) return this.s.powers.load();
    if (!args.some(isVector)) return this.scalar.call(fn, args as readonly WatValue[]);
    if (fn !== "frexp") return vectorPointwise(fn, args, this.s.f);
    const lanes = [0, 1, 2, 3].map(k => this.scalar.call(fn, [this.lane(args[0] as Value, k)]) as readonly WatValue[]);
    return [0, 1].map(i => {
      const values = lanes.map(l => l[i] as WatValue);
      return fromLanes(values, values[0]?.dtype ?? "float32", this.s.f);
    });
  }

  private lane(v: Value, k: number): WatValue {
    if (!isVector(v)) return v;
    const x = lane(v, k);
    return { ...x, code: this.s.f.keep(x.code, x.type) };
  }

  private lanes(make: (k: number) => WatValue): WatValue[] {
    return [0, 1, 2, 3].map(k => this.underLane(k, () => make(k)));
  }

  /** runs `make` with the scalar handler's mask that of one lane */
  private underLane<T>(k: number, make: () => T): T {
    const before = this.scalar.mask;
    if (this.mask !== null && isVector(this.mask)) this.scalar.mask = this.lane(this.mask, k);
    const result = make();
    this.scalar.mask = before;
    return result;
  }

  /** the index of one lane */
  private at(index: Expr, k: number): Expr {
    const replace = new Map<SymExpr, Expr>();
    if (k) replace.set(this.s.variable, add(this.s.variable, int(k)));
    for (const [all, symbols] of this.lanesOf) replace.set(all, symbols[k] as SymExpr);
    return replace.size ? this.s.simplify(substitute(index, replace)) : index;
  }

  /** by how much the index grows from lane to lane; null if not by the same each time */
  private strideOf(index: Expr): number | null {
    for (const s of freeSymbols(index)) if (this.lanesOf.has(s)) return null;
    return laneStride(index, this.s.variable, this.s.aligned, this.s);
  }
}

const group = (): SymExpr => sym("lane_group", { kind: "loop" });
const within = (): SymExpr => sym("lane_in_group", { kind: "loop" });

/** by how much an index grows from one element to the next along a variable; null if that is no constant */
export function laneStride(
  index: Expr,
  variable: SymExpr,
  aligned: boolean,
  scope: {
    simplify(e: Expr): Expr;
    readonly ranges: ReadonlyMap<SymExpr, Expr>;
    simplifyWith(e: Expr, ranges: ReadonlyMap<SymExpr, Expr>): Expr;
  },
): number | null {
  if (!freeSymbols(index).has(variable)) return 0;
  const next = substitute(index, new Map([[variable, add(variable, int(1))]]));
  const direct = intValue(scope.simplify(sub(next, index)));
  if (direct !== undefined) return direct;
  const size = scope.ranges.get(variable);
  const count = size === undefined ? undefined : intValue(size);
  if (!aligned || count === undefined || count % LANES !== 0) return null;
  // within four that start at a multiple of four, quotients may stand still
  const [g, k] = [group(), within()];
  const ranges = new Map(scope.ranges);
  ranges.delete(variable);
  ranges.set(g, int(count / LANES));
  ranges.set(k, int(LANES));
  const split = scope.simplifyWith(substitute(index, new Map([[variable, add(mul(int(LANES), g), k)]])), ranges);
  if (!freeSymbols(split).has(k)) return 0;
  const step = scope.simplifyWith(sub(substitute(split, new Map([[k, add(k, int(1))]])), split), ranges);
  return intValue(step) ?? null;
}
