// Runs loop bodies and emits what they do. In: operations through BodyHandler. Out: text in the function under
// construction. Values stored earlier in the same kernel are used again without a trip through memory.
import type { DType, OpName, ReductionType } from "../../../aten/types";
import type { Block, ScanCombine } from "../../ir/loop_body";
import type { BodyHandler } from "../../ir/run_body";
import { type Expr, type SymExpr, sym } from "../../symbolic/expr";
import { type Accumulator, accumulator } from "./accumulators";
import { convert } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { indexCode } from "./index_code";
import { loadCode, storeCode } from "./memory_code";
import { pointwiseCode } from "./pointwise_code";
import { computeType, isFloat, itemSize, literal, UnsupportedOnCpu, type WatValue } from "./wat_types";

export interface KernelMemory {
  dtype(buffer: string): DType;
  /** i32 text of the buffer's address */
  address(buffer: string): string;
  /** lives only inside this kernel */
  isLocal(buffer: string): boolean;
  /** address text of the scratch element of a local buffer at the current reduction position */
  scratch(buffer: string): string;
}

export interface HandlerScope {
  readonly f: FunctionBuilder;
  readonly memory: KernelMemory;
  symbol(s: SymExpr): string;
  readonly ranges: ReadonlyMap<SymExpr, Expr>;
  /** flat reduction index as i32 text, null outside of a reduction loop */
  readonly position: string | null;
  /** values written in this kernel and still in a local: by buffer, with the index they were written at */
  readonly cache: Map<string, { readonly value: WatValue; readonly index: Expr; readonly loop: number }>;
  /** number of the reduction loop that is open, -1 outside */
  readonly loop: number;
  /** accumulators that the open loop feeds, started before it and finished after */
  readonly accumulators: Accumulator[];
  /** what stands after the loop */
  readonly after: (() => void)[];
  line(): number;
}

export class WatBodyHandler implements BodyHandler<WatValue> {
  private mask: WatValue | null = null;
  private indirect = 0;
  private readonly indirectCode = new Map<SymExpr, string>();

  constructor(private readonly s: HandlerScope) {}

  constant(value: number | boolean, dtype: DType): WatValue {
    const type = computeType(dtype);
    return { code: literal(Number(value), type), type, dtype };
  }

  indexExpr(index: Expr, dtype: DType): WatValue {
    const value: WatValue = { code: this.index(index), type: "i32", dtype: "int32" };
    const { code, type } = convert(value, dtype);
    return this.kept(code, type, dtype);
  }

  load(buffer: string, index: Expr): WatValue {
    const { f, memory, cache } = this.s;
    const dtype = memory.dtype(buffer);
    const known = cache.get(buffer);
    if (known && (known.loop === this.s.loop || known.loop === -1) && (known.index === index || memory.isLocal(buffer)))
      return known.value;
    if (known && memory.isLocal(buffer)) {
      const type = known.value.type;
      return this.kept(`(${type}.load ${memory.scratch(buffer)})`, type, known.value.dtype);
    }
    const address = this.address(buffer, index, dtype);
    const type = computeType(dtype);
    const code = loadCode(address, dtype, f);
    if (this.mask === null) return this.kept(code, type, dtype);
    // under a mask the index may lie outside of the buffer: the load happens only where the mask holds
    return this.kept(`(if (result ${type}) ${this.mask.code} (then ${code}) (else ${literal(0, type)}))`, type, dtype);
  }

  store(buffer: string, index: Expr, value: WatValue, mode: "atomic_add" | null): void {
    const { f, memory, cache, loop } = this.s;
    const dtype = memory.dtype(buffer);
    if (mode === "atomic_add") {
      const address = f.keep(this.address(buffer, index, dtype), "i32", "p");
      const type = computeType(dtype);
      f.lines.add(
        storeCode(address, `(${type}.add ${loadCode(address, dtype, f)} ${convert(value, dtype).code})`, dtype, f),
      );
      return;
    }
    cache.set(buffer, { value, index, loop });
    if (memory.isLocal(buffer)) {
      if (loop >= 0) f.lines.add(`(${value.type}.store ${memory.scratch(buffer)} ${value.code})`);
      return;
    }
    f.lines.add(storeCode(this.address(buffer, index, dtype), convert(value, dtype).code, dtype, f));
  }

  storeReduction(buffer: string, index: Expr, value: WatValue): void {
    const { memory, cache, after, f } = this.s;
    const dtype = memory.dtype(buffer);
    cache.set(buffer, { value, index, loop: -1 });
    if (memory.isLocal(buffer)) return;
    after.push(() => f.lines.add(storeCode(this.address(buffer, index, dtype), convert(value, dtype).code, dtype, f)));
  }

  toDtype(x: WatValue, dtype: DType): WatValue {
    const { code, type } = convert(x, dtype);
    return this.kept(code, type, dtype);
  }

  toDtypeBitcast(x: WatValue, dtype: DType, srcDtype: DType): WatValue {
    const from = computeType(srcDtype);
    const to = computeType(dtype);
    const width = { f32: 4, i32: 4, f64: 8, i64: 8 } as const;
    if (itemSize(dtype) !== width[to] || width[from] !== width[to])
      throw new UnsupportedOnCpu(`a bit cast from ${srcDtype} to ${dtype}`);
    return this.kept(from === to ? x.code : `(${to}.reinterpret_${from} ${x.code})`, to, dtype);
  }

  indirectIndexing(x: WatValue, size: Expr, check: boolean, wrapNeg: boolean): Expr {
    const { f } = this.s;
    const bound = `(i64.extend_i32_u ${this.index(size)})`;
    let index = f.keep(convert(x, "int64").code, "i64", "index");
    if (wrapNeg)
      index = f.keep(`(select (i64.add ${index} ${bound}) ${index} (i64.lt_s ${index} (i64.const 0)))`, "i64", "index");
    if (check) {
      const inside = `(i64.ge_u ${index} ${bound})`;
      const wrong = this.mask === null ? inside : `(i32.and ${inside} ${this.mask.code})`;
      f.lines.add(
        `(if ${wrong} (then (call ${f.use("out_of_bounds")} ${index} ${bound} (i32.const ${this.s.line()}))))`,
      );
    }
    const symbol = sym(`indirect_${this.s.loop + 1}_${this.indirect++}`, { kind: "indirect" });
    this.indirectCode.set(symbol, f.keep(`(i32.wrap_i64 ${index})`, "i32", "index"));
    return symbol;
  }

  checkBounds(index: Expr, size: Expr, lower: boolean, upper: boolean): void {
    const { f } = this.s;
    if (!lower && !upper) return;
    const code = f.keep(this.index(index), "i32", "index");
    const wrong = `(i32.ge_u ${code} ${this.index(size)})`;
    f.lines.add(
      `(if ${this.mask === null ? wrong : `(i32.and ${wrong} ${this.mask.code})`} (then (call ${f.use("out_of_bounds")} (i64.extend_i32_s ${code}) (i64.extend_i32_s ${this.index(size)}) (i32.const ${this.s.line()}))))`,
    );
  }

  masked(mask: WatValue, body: () => WatValue, other: number | boolean): WatValue {
    const outer = this.mask;
    const here = outer === null ? mask : this.kept(`(i32.and ${outer.code} ${mask.code})`, "i32", "bool");
    this.mask = here;
    const value = body();
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
    const { f, accumulators, after, position } = this.s;
    const values = Array.isArray(value) ? (value as readonly WatValue[]) : [value as WatValue];
    const acc = accumulator(type, dtype, srcDtype, f);
    accumulators.push(acc);
    acc.step(values, position ?? "(i32.const 0)");
    // results have locals of their own, set after the loop; bodies only hand them on to store_reduction
    const count = type.startsWith("welford") ? 3 : type === "online_softmax_reduce" ? 2 : 1;
    const resultDtype: DType = type.startsWith("arg")
      ? "int64"
      : isFloat(dtype) && dtype !== "float64"
        ? "float32"
        : dtype;
    const results = Array.from({ length: count }, (): WatValue => {
      const wasm = computeType(resultDtype);
      return { code: `(local.get ${f.local(wasm, "result")})`, type: wasm, dtype: resultDtype };
    });
    after.push(() => {
      acc.finish().forEach((r, i) => {
        const target = results[i];
        if (target)
          f.lines.add(`(local.set ${target.code.slice("(local.get ".length, -1)} ${convert(r, target.dtype).code})`);
      });
    });
    return count === 1 ? (results[0] as WatValue) : results;
  }

  scan(dtypes: readonly DType[], combine: ScanCombine, values: readonly WatValue[]): readonly WatValue[] {
    const { f, accumulators, position } = this.s;
    const state = dtypes.map(d => f.local(computeType(d), "scan"));
    accumulators.push({ start: () => undefined, step: () => undefined, finish: () => [] });
    const current = dtypes.map(
      (d, i): WatValue => ({ code: `(local.get ${state[i]})`, type: computeType(d), dtype: d }),
    );
    const incoming = dtypes.map((d, i): WatValue => {
      const v = values[i] as WatValue;
      const c = convert(v, d);
      return this.kept(c.code, c.type, d);
    });
    const combined = this.combine(combine, [...current, ...incoming]);
    dtypes.forEach((d, i) => {
      const next = convert(combined[i] as WatValue, d).code;
      f.lines.add(
        `(local.set ${state[i]} (if (result ${computeType(d)}) (i32.eqz ${position ?? "(i32.const 0)"}) (then ${incoming[i]?.code}) (else ${next})))`,
      );
    });
    return dtypes.map((d, i): WatValue => ({ code: `(local.get ${state[i]})`, type: computeType(d), dtype: d }));
  }

  /** a combine function over values: its parameters are the left then the right tuple */
  private combine(c: ScanCombine, args: readonly WatValue[]): WatValue[] {
    const known = new Map<unknown, WatValue>(c.parameters.map((p, i) => [p, args[i] as WatValue]));
    for (const n of c.nodes) {
      if (known.has(n)) continue;
      const value = (x: unknown): WatValue => {
        const v = known.get(x);
        if (!v) throw new UnsupportedOnCpu("a scan whose combine function reads outside of itself");
        return v;
      };
      if (n.op === "call") known.set(n, this.one(this.call(n.fn, n.args.map(value))));
      else if (n.op === "constant") known.set(n, this.constant(n.value, n.dtype));
      else if (n.op === "to_dtype") known.set(n, this.toDtype(value(n.x), n.dtype));
      else throw new UnsupportedOnCpu(`${n.op} in a scan's combine function`);
    }
    return c.results.map(r => known.get(r) as WatValue);
  }

  sort(): readonly WatValue[] {
    throw new UnsupportedOnCpu("a sort inside a kernel");
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
    if (kind === "randn") throw new UnsupportedOnCpu("normal random numbers");
    const word = f.keep(
      `(call ${f.use("philox")} ${convert(seed, "int64").code} ${convert(offset, "int32").code})`,
      "i32",
      "word",
    );
    // triton's uint_to_uniform_float: the sign bit folds down, then 24 bits of scale
    const positive = `(select (i32.sub (i32.xor ${word} (i32.const -1)) (i32.const 0)) ${word} (i32.lt_s ${word} (i32.const 0)))`;
    return this.kept(`(f32.mul (f32.convert_i32_s ${positive}) (f32.const 4.6566127342e-10))`, "f32", "float32");
  }

  randint64(): WatValue {
    throw new UnsupportedOnCpu("random integers");
  }

  call(fn: OpName, args: readonly WatValue[]): WatValue | readonly WatValue[] {
    const { code, dtype } = pointwiseCode(fn, args, this.s.f);
    return this.kept(code, computeType(dtype), dtype);
  }

  private one(v: WatValue | readonly WatValue[]): WatValue {
    return Array.isArray(v) ? (v[0] as WatValue) : (v as WatValue);
  }

  private kept(code: string, type: WatValue["type"], dtype: DType): WatValue {
    return { code: this.s.f.keep(code, type), type, dtype };
  }

  private index(e: Expr): string {
    return indexCode(e, {
      symbol: s => this.indirectCode.get(s) ?? this.s.symbol(s),
      ranges: this.s.ranges,
      use: h => this.s.f.use(h),
    });
  }

  private address(buffer: string, index: Expr, dtype: DType): string {
    const base = this.s.memory.address(buffer);
    if (index.kind === "int")
      return index.value === 0 ? base : `(i32.add ${base} (i32.const ${index.value * itemSize(dtype)}))`;
    const size = itemSize(dtype);
    const code = this.index(index);
    return `(i32.add ${base} ${size === 1 ? code : `(i32.shl ${code} (i32.const ${Math.log2(size)}))`})`;
  }
}

export type { Block };
