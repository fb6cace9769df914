// Runs loop bodies and emits what they do, one element at a time. In: operations through BodyHandler. Out: text in the
// function under construction. Promises: all loads of a loop's turn come before its stores, so that a result may take an
// input's place; values stored earlier in the same kernel are used again without a trip through memory.
import type { DType, OpName, ReductionType } from "../../../aten/types";
import type { ConstantValue, ScanCombine } from "../../ir/loop_body";
import type { BodyHandler } from "../../ir/run_body";
import { addTerms, type Expr, freeSymbols, isNonnegative, type SymExpr, sum, sym } from "../../symbolic/expr";
import type { Accumulator } from "./accumulators";
import { convert, rounded } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { fractionalCode, type IndexContext, indexCode, isFractional } from "./index_code";
import type { KernelMemory } from "./kernel_memory";
import { LINE_NUMBER } from "./lines";
import { bitcast, loadCode, storeCode } from "./memory_code";
import { frexp, pointwiseCode } from "./pointwise_code";
import type { SortScratch } from "./sort_code";
import type { VecValue } from "./vector_types";
import { computeType, itemSize, literal, UnsupportedOnCpu, type WatValue } from "./wat_types";

/** a value written in this kernel and still in a local: of one element, or of four */
export interface Written {
  readonly value?: WatValue;
  readonly vector?: VecValue;
  /** columns side by side: where each has its own */
  readonly column?: ColumnRef;
  readonly index: Expr;
  /** the segment that wrote it; null: written outside of reduction loops, good for all later segments */
  readonly segment: number | null;
}

/** one number per column in a thread's scratch, in the dtype's compute form (booleans as 0 and 1) */
export interface ColumnRef {
  readonly offset: Expr;
  readonly dtype: DType;
}

/** columns that are worked on side by side */
export interface Columns {
  /** address text of the current column's number */
  address(ref: ColumnRef): string;
  /** where to keep what stands outside of reduction loops */
  keep(buffer: string, dtype: DType): ColumnRef;
  /** what a reduction's result stands for */
  resultOf(value: WatValue): ColumnRef;
  /** a result to be stored after the loop */
  finished(buffer: string, index: Expr, ref: ColumnRef): void;
}

export interface HandlerScope {
  readonly f: FunctionBuilder;
  readonly memory: KernelMemory;
  /** text of a loop variable's or size symbol's value */
  symbol(s: SymExpr): string;
  readonly ranges: ReadonlyMap<SymExpr, Expr>;
  simplify(e: Expr): Expr;
  simplifyWith(e: Expr, ranges: ReadonlyMap<SymExpr, Expr>): Expr;
  /** flat reduction index as i32 text, null outside of a reduction loop */
  readonly position: string | null;
  readonly written: Map<string, Written>;
  readonly segment: number;
  /** the next reduction of the open loop: what it feeds, and where its results will be after the loop */
  reduce(
    type: ReductionType,
    dtype: DType,
    srcDtype: DType,
    values: readonly WatValue[],
  ): {
    /** null: an earlier reduction does it */ readonly scalar: Accumulator | null;
    readonly results: readonly WatValue[];
  };
  /** what stands at the end of the loop's turn */
  readonly stores: (() => void)[];
  /** what stands after the loop */
  readonly after: (() => void)[];
  readonly columns: Columns | null;
  /** address text of the current element in a tile that the access was turned over into; null: it goes to memory */
  tile(store: boolean, buffer: string, index: Expr): string | null;
  /** the member's reduction is added up in memory, column by column: its row's address, and whether it multiplies */
  readonly partial: { readonly row: string; readonly product: boolean } | null;
  readonly sort: { readonly pass: "collect" | "use"; readonly scratch: SortScratch } | null;
}

export class WatBodyHandler implements BodyHandler<WatValue> {
  /** loads happen only where it holds */
  mask: WatValue | null = null;
  private readonly indirectCode = new Map<SymExpr, string>();

  constructor(private readonly s: HandlerScope) {}

  constant(value: ConstantValue, dtype: DType): WatValue {
    const type = computeType(dtype);
    return { code: literal(Number(value), type), type, dtype };
  }

  indexExpr(index: Expr, dtype: DType): WatValue {
    const value = this.s.simplify(index);
    const given: WatValue = isFractional(value)
      ? { code: fractionalCode(value, this.indices()), type: "f64", dtype: "float64" }
      : { code: indexCode(value, this.indices()), type: "i32", dtype: "int32" };
    return this.converted(given, dtype);
  }

  load(buffer: string, index0: Expr): WatValue {
    const { f, memory, written, segment } = this.s;
    const index = this.s.simplify(index0);
    const dtype = memory.dtype(buffer);
    const known = written.get(memory.storage(buffer));
    if (known && known.index === index) {
      if (known.value && (known.segment === segment || known.segment === null)) return known.value;
      if (known.column && this.s.columns) return this.column(known.column, this.s.columns);
    }
    const type = computeType(dtype);
    const row = memory.scratchElement(buffer, this.s.position);
    if (row !== null) return this.kept(`(${type}.load ${row})`, type, dtype);
    const tile = this.mask === null ? this.s.tile(false, buffer, index) : null;
    if (tile !== null) return this.kept(loadCode(tile, dtype, f), type, dtype);
    const code = loadCode(this.address(buffer, index, dtype), dtype, f);
    if (this.mask === null) return this.kept(code, type, dtype);
    // under a mask the index may lie outside of the buffer: the load happens only where the mask holds
    return this.kept(`(if (result ${type}) ${this.mask.code} (then ${code}) (else ${literal(0, type)}))`, type, dtype);
  }

  store(buffer: string, index0: Expr, value: WatValue, mode: "atomic_add" | null): void {
    const { f, memory, written, segment, stores, position } = this.s;
    if (this.s.sort?.pass === "collect") return;
    const index = this.s.simplify(index0);
    const dtype = memory.dtype(buffer);
    const stored = this.converted(value, dtype);
    const { code, type } = stored;
    if (mode === "atomic_add") {
      const address = f.keep(this.address(buffer, index, dtype), "i32", "p");
      // kernels that add run in one thread, so that sums do not depend on chance
      const before = loadCode(address, dtype, f);
      stores.push(() => {
        const sum = pointwiseCode(
          "add",
          [
            { code: before, type, dtype },
            { code, type, dtype },
          ],
          f,
        );
        f.lines.add(storeCode(address, convert({ ...sum, type: computeType(sum.dtype) }, dtype).code, dtype, f));
      });
      return;
    }
    if (position === null && this.s.columns) {
      const column = this.s.columns.keep(buffer, dtype);
      const at = this.s.columns.address(column);
      written.set(memory.storage(buffer), { value: stored, index, segment, column });
      stores.push(() => f.lines.add(`(${type}.store ${at} ${code})`));
    } else written.set(memory.storage(buffer), { value: stored, index, segment: position === null ? null : segment });
    const row = memory.scratchElement(buffer, position);
    if (row !== null) stores.push(() => f.lines.add(`(${type}.store ${row} ${code})`));
    if (memory.isLocal(buffer)) return;
    const address = this.s.tile(true, buffer, index) ?? this.address(buffer, index, dtype);
    stores.push(() => f.lines.add(storeCode(address, code, dtype, f)));
  }

  storeReduction(buffer: string, index0: Expr, value: WatValue): void {
    const { memory, written, after, f, partial, position, stores } = this.s;
    if (partial !== null) {
      const address = f.keep(`(i32.add ${partial.row} (i32.shl ${position} (i32.const 2)))`, "i32", "p");
      const op = partial.product ? "mul" : "add";
      stores.push(() => f.lines.add(`(f32.store ${address} (f32.${op} (f32.load ${address}) ${value.code}))`));
      return;
    }
    const index = this.s.simplify(index0);
    const dtype = memory.dtype(buffer);
    if (this.s.columns) return this.columnResult(buffer, index, value, this.s.columns);
    written.set(memory.storage(buffer), { value, index, segment: null });
    if (memory.isLocal(buffer)) return;
    after.push(() => f.lines.add(storeCode(this.address(buffer, index, dtype), convert(value, dtype).code, dtype, f)));
  }

  columnResult(buffer: string, index: Expr, value: WatValue, columns: Columns): void {
    const column = columns.resultOf(value);
    this.s.written.set(this.s.memory.storage(buffer), { column, index, segment: null });
    if (!this.s.memory.isLocal(buffer)) columns.finished(buffer, index, column);
  }

  private column(ref: ColumnRef, columns: Columns): WatValue {
    const type = computeType(ref.dtype);
    return this.kept(`(${type}.load ${columns.address(ref)})`, type, ref.dtype);
  }

  toDtype(x: WatValue, dtype: DType): WatValue {
    return this.converted(x, dtype);
  }

  /** the value as a dtype holds it, rounded to halves and float8 */
  private converted(x: WatValue, dtype: DType): WatValue {
    const { code, type } = convert(x, dtype);
    if (x.dtype === dtype) return this.kept(code, type, dtype);
    if (!dtype.startsWith("float8")) return this.kept(rounded(code, dtype, this.s.f), type, dtype);
    // float8 is no compute type on the GPU either: the conversion rounds
    const bits = bitcast({ code: this.s.f.keep(code, type), type, dtype }, "uint8", dtype, this.s.f);
    return this.kept(bitcast({ ...bits, dtype: "uint8" }, dtype, "uint8", this.s.f).code, type, dtype);
  }

  toDtypeBitcast(x: WatValue, dtype: DType, srcDtype: DType): WatValue {
    const { code, type } = bitcast(x, dtype, srcDtype, this.s.f);
    return this.kept(code, type, dtype);
  }

  indirectIndexing(x: WatValue, size: Expr, check: boolean, wrapNeg: boolean): Expr {
    const { f } = this.s;
    const bound = `(i64.extend_i32_u ${this.index(size)})`;
    let index = f.keep(convert(x, "int64").code, "i64", "index");
    if (wrapNeg)
      index = f.keep(`(select (i64.add ${index} ${bound}) ${index} (i64.lt_s ${index} (i64.const 0)))`, "i64", "index");
    if (check) this.fault(`(i64.ge_u ${index} ${bound})`, index, bound);
    const code = f.keep(`(i32.wrap_i64 ${index})`, "i32", "index");
    // named by its local, so that equal indices make equal expressions, and different ones never do
    const symbol = sym(`indirect_${code.slice("(local.get $".length, -1)}`, { kind: "indirect" });
    this.indirectCode.set(symbol, code);
    return symbol;
  }

  checkBounds(index: Expr, size: Expr, lower: boolean, upper: boolean): void {
    if (!lower && !upper) return;
    const code = this.s.f.keep(this.index(index), "i32", "index");
    const bound = this.index(size);
    const wrong =
      lower && upper
        ? `(i32.ge_u ${code} ${bound})`
        : lower
          ? `(i32.lt_s ${code} (i32.const 0))`
          : `(i32.ge_s ${code} ${bound})`;
    this.fault(wrong, `(i64.extend_i32_s ${code})`, `(i64.extend_i32_s ${bound})`);
  }

  private fault(wrong: string, index: string, bound: string): void {
    const { f } = this.s;
    const condition = this.mask === null ? wrong : `(i32.and ${wrong} ${this.mask.code})`;
    f.lines.add(`(if ${condition} (then (call ${f.use("out_of_bounds")} ${index} ${bound} ${LINE_NUMBER})))`);
  }

  masked(mask: WatValue, body: () => WatValue, other: number | boolean): WatValue {
    const outer = this.mask;
    const condition = convert(mask, "bool").code;
    this.mask = this.kept(outer === null ? condition : `(i32.and ${outer.code} ${condition})`, "i32", "bool");
    const value = body();
    const here = this.mask;
    this.mask = outer;
    return this.kept(
      `(select ${value.code} ${literal(Number(other), value.type)} ${here.code})`,
      value.type,
      value.dtype,
    );
  }

  reduction(
    dtype: DType,
    srcDtype: DType,
    type: ReductionType,
    value: WatValue | readonly WatValue[],
  ): WatValue | readonly WatValue[] {
    const { position } = this.s;
    const values = Array.isArray(value) ? (value as readonly WatValue[]) : [value as WatValue];
    if (this.s.partial !== null) return this.converted(values[0] as WatValue, "float32");
    const { scalar, results } = this.s.reduce(type, dtype, srcDtype, values);
    scalar?.step(values, position ?? "(i32.const 0)");
    return results.length === 1 ? (results[0] as WatValue) : results;
  }

  scan(dtypes: readonly DType[], combine: ScanCombine, values: readonly WatValue[]): readonly WatValue[] {
    const { f, position } = this.s;
    if (combine.results.length === 0) throw new UnsupportedOnCpu("a scan without its combine function");
    const first = `(i32.eqz ${position ?? "(i32.const 0)"})`;
    const state = dtypes.map(d => ({ name: f.local(computeType(d), "scan"), type: computeType(d), dtype: d }));
    const current = state.map((s): WatValue => ({ code: `(local.get ${s.name})`, type: s.type, dtype: s.dtype }));
    const incoming = dtypes.map((d, i): WatValue => {
      const { code, type } = convert(values[i] as WatValue, d);
      return this.kept(code, type, d);
    });
    const combined = this.combine(combine, [...current, ...incoming]);
    const next = state.map((s, i) => {
      const joined = convert(combined[i] as WatValue, s.dtype).code;
      return f.keep(`(select ${incoming[i]?.code} ${joined} ${first})`, s.type);
    });
    state.forEach((s, i) => {
      f.set(s.name, next[i] as string);
    });
    return state.map((s, i): WatValue => this.kept(rounded(next[i] as string, s.dtype, f), s.type, s.dtype));
  }

  /** a combine function over values: its parameters are the left then the right tuple */
  private combine(c: ScanCombine, args: readonly WatValue[]): WatValue[] {
    const known = new Map<unknown, WatValue>(c.parameters.map((p, i) => [p, args[i] as WatValue]));
    const value = (x: unknown): WatValue => {
      const v = known.get(x);
      if (!v) throw new UnsupportedOnCpu("a scan whose combine function reads outside of itself");
      return v;
    };
    for (const n of c.nodes) {
      if (known.has(n)) continue;
      if (n.op === "call") known.set(n, this.call(n.fn, n.args.map(value)) as WatValue);
      else if (n.op === "constant") known.set(n, this.constant(n.value, n.dtype));
      else if (n.op === "to_dtype") known.set(n, this.toDtype(value(n.x), n.dtype));
      else throw new UnsupportedOnCpu(`${n.op} in a scan's combine function`);
    }
    return c.results.map(value);
  }

  sort(
    dtypes: readonly DType[],
    values: readonly WatValue[],
    _stable: boolean,
    descending: boolean,
  ): readonly WatValue[] {
    const { f, sort, position } = this.s;
    // a row of one element is sorted
    if (position === null) return values;
    if (sort === null) throw new UnsupportedOnCpu("a sort outside of a reduction loop");
    if (sort.pass === "collect") {
      sort.scratch.collect(dtypes, values, descending, position, f);
      return values;
    }
    return sort.scratch.sorted(dtypes, position, f);
  }

  loadSeed(buffer: string, offset: number): WatValue {
    const { f, memory } = this.s;
    return this.kept(
      loadCode(`(i32.add ${memory.address(buffer)} (i32.const ${offset * 8}))`, "int64", f),
      "i64",
      "int64",
    );
  }

  random(kind: "rand" | "randn", seed: WatValue, offset: WatValue): WatValue {
    const { f } = this.s;
    const words = this.words(seed, offset);
    return kind === "randn"
      ? this.kept(`(call ${f.use("normal")} ${words})`, "f32", "float32")
      : this.kept(`(call ${f.use("uniform")} (i32.wrap_i64 ${words}))`, "f32", "float32");
  }

  randint64(seed: WatValue, offset: WatValue, low: WatValue, high: WatValue): WatValue {
    const { f } = this.s;
    const words = this.words(seed, offset);
    const from = convert(low, "int64").code;
    const size = f.keep(`(i64.sub ${convert(high, "int64").code} ${from})`, "i64");
    // a range of nothing would trap
    const rest = `(if (result i64) (i64.eqz ${size}) (then (i64.const 0)) (else (i64.rem_u ${words} ${size})))`;
    return this.kept(`(i64.add ${rest} ${from})`, "i64", "int64");
  }

  private words(seed: WatValue, offset: WatValue): string {
    const { f } = this.s;
    return f.keep(
      `(call ${f.use("philox")} ${convert(seed, "int64").code} ${convert(offset, "int32").code})`,
      "i64",
      "words",
    );
  }

  call(fn: OpName, args: readonly WatValue[]): WatValue | readonly WatValue[] {
    const [x] = args;
    if (fn === "frexp" && x)
      return frexp(x, this.s.f).map(({ code, dtype }) => this.kept(code, computeType(dtype), dtype));
    const { code, dtype } = pointwiseCode(fn, args, this.s.f);
    return this.kept(code, computeType(dtype), dtype);
  }

  private kept(code: string, type: WatValue["type"], dtype: DType): WatValue {
    return { code: this.s.f.keep(code, type), type, dtype };
  }

  private index(e: Expr): string {
    return indexCode(this.s.simplify(e), this.indices());
  }

  private indices(): IndexContext {
    return {
      symbol: s => this.indirectCode.get(s) ?? this.s.symbol(s),
      ranges: this.s.ranges,
      use: h => this.s.f.use(h),
    };
  }

  /** stores one element, with no memory of having done so */
  storeOne(buffer: string, index: Expr, value: WatValue, dtype: DType): void {
    const { f, stores } = this.s;
    const address = this.address(buffer, index, dtype);
    stores.push(() => f.lines.add(storeCode(address, value.code, dtype, f)));
  }

  /** address text and constant offset of an element; what does not depend on `inner` stands together, to be hoisted */
  place(
    buffer: string,
    index: Expr,
    dtype: DType,
    inner: SymExpr,
  ): { readonly address: string; readonly offset: number } {
    const { f } = this.s;
    const size = itemSize(dtype);
    const [moving, still]: Expr[][] = [[], []];
    let constant = 0;
    for (const term of addTerms(index)) {
      if (term.kind === "int") constant += term.value;
      else (freeSymbols(term).has(inner) ? moving : still)?.push(term);
    }
    const scaled = (e: Expr): string =>
      size === 1 ? this.index(e) : `(i32.shl ${this.index(e)} (i32.const ${Math.log2(size)}))`;
    let address = this.s.memory.address(buffer);
    if (still?.length) address = `(i32.add ${address} ${f.keep(scaled(sum(still)), "i32", "row")})`;
    // what an instruction's offset is added to must be an address itself
    const apart = constant > 0 && [...(moving ?? []), ...(still ?? [])].every(isNonnegative);
    if (constant !== 0 && !apart) address = `(i32.add ${address} (i32.const ${constant * size}))`;
    if (moving?.length) address = `(i32.add ${address} ${f.keep(scaled(sum(moving)), "i32", "at")})`;
    return { address, offset: apart ? constant * size : 0 };
  }

  private address(buffer: string, index: Expr, dtype: DType): string {
    const base = this.s.memory.address(buffer);
    const size = itemSize(dtype);
    if (index.kind === "int") return index.value === 0 ? base : `(i32.add ${base} (i32.const ${index.value * size}))`;
    const code = this.index(index);
    return `(i32.add ${base} ${size === 1 ? code : `(i32.shl ${code} (i32.const ${Math.log2(size)}))`})`;
  }
}
