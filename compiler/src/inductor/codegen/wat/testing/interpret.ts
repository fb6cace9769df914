// Test only. The meaning of loop bodies, element by element in float64. In: a body and buffers as arrays of numbers.
// Out: the arrays, written. Integers are numbers too, so they are exact below 2**53.
import type { DType, OpName, ReductionType } from "../../../../aten/types";
import type { BodyNode, LoopBody, ScanCombine } from "../../../ir/loop_body";
import { type BodyHandler, runBody } from "../../../ir/run_body";
import { floorDivNumber, modNumber } from "../../../symbolic/divide";
import { type Expr, type SymExpr, sym } from "../../../symbolic/expr";

/** a value is worked out anew for each element; memo by turn. One of a half dtype is rounded to it, as in eager PyTorch. */
interface Value {
  readonly get: Number_;
  readonly dtype: DType;
}
type Number_ = () => number;
type Step = () => void;

const WIDTH: readonly DType[] = [
  "bool",
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "uint64",
  "int64",
  "float8_e4m3fn",
  "float8_e5m2",
  "float16",
  "bfloat16",
  "float32",
  "float64",
];
const widest = (ds: readonly DType[]): DType => ds.reduce((a, b) => (WIDTH.indexOf(b) > WIDTH.indexOf(a) ? b : a));

export interface Buffers {
  get(name: string): Float64Array;
  dtype(name: string): DType;
}

export class OutOfBounds extends Error {}

const isInt = (d: DType): boolean => /int|bool/.test(d);
const isHalf = (d: DType): boolean => d === "float16" || d === "bfloat16" || d.startsWith("float8");

export function wrapInteger(x: number, d: DType): number {
  switch (d) {
    case "bool":
      return x !== 0 || Number.isNaN(x) ? 1 : 0;
    case "uint8":
      return Math.trunc(x) & 255;
    case "int8":
      return (Math.trunc(x) << 24) >> 24;
    case "int16":
      return (Math.trunc(x) << 16) >> 16;
    case "int32":
      return Math.trunc(x) | 0;
    case "uint16":
      return Math.trunc(x) & 65535;
    case "uint32":
      return Math.trunc(x) >>> 0;
    case "int64":
    case "uint64":
      return Number.isFinite(x) ? Math.trunc(x) : 0;
    default:
      return x;
  }
}

export function interpretBody(body: LoopBody, buffers: Buffers, sizeOf: (s: SymExpr) => number | undefined): void {
  new Interpreter(body, buffers, sizeOf).run();
}

/** a number as the dtype holds it; floats of 32 bits and more stay as they are */
function held(x: number, d: DType): number {
  return isInt(d) ? wrapInteger(x, d) : isHalf(d) ? roundTo(x, d) : x;
}

class Interpreter {
  /** values of loop variables and indirect indices, by number */
  private readonly slots: number[] = [];
  private readonly slotOf = new Map<SymExpr, number>();
  private turn = 0;
  private readonly steps: Step[] = [];
  private readonly starts: Step[] = [];
  private readonly afterRow: Step[] = [];
  private mask: Value | null = null;
  private position = 0;
  private sortPass = 0;

  constructor(
    private readonly body: LoopBody,
    private readonly buffers: Buffers,
    private readonly sizeOf: (s: SymExpr) => number | undefined,
  ) {}

  run(): void {
    const variable = (name: string): SymExpr => {
      const s = sym(name, { kind: "loop" });
      this.slot(s);
      return s;
    };
    const iterVars = this.body.iterVars.map((_, i) => variable(`it${i}`));
    const reduceVars = this.body.reduceVars.map((_, i) => variable(`re${i}`));
    runBody(this.body, this.handler(), iterVars, reduceVars);
    const sorts = this.body.block.nodes.some(n => n.op === "sort");
    const iterSizes = this.body.iterSizes.map(e => this.index(e)());
    const reduceSizes = this.body.reduceSizes.map(e => this.index(e)());
    nest(iterSizes, values => {
      for (let i = 0; i < values.length; i++) this.slots[i] = values[i] as number;
      for (const s of this.starts) s();
      for (let pass = sorts ? 0 : 1; pass < 2; pass++) {
        this.sortPass = pass;
        this.position = 0;
        nest(reduceSizes, inner => {
          for (let i = 0; i < inner.length; i++) this.slots[values.length + i] = inner[i] as number;
          this.turn += 1;
          for (const s of this.steps) s();
          this.position += 1;
        });
      }
      this.turn += 1;
      for (const s of this.afterRow) s();
    });
  }

  private slot(s: SymExpr): number {
    let at = this.slotOf.get(s);
    if (at === undefined) {
      at = this.slots.push(0) - 1;
      this.slotOf.set(s, at);
    }
    return at;
  }

  /** an index expression as a function of the slots */
  private index(e: Expr): Number_ {
    const { slots } = this;
    const args = (): Number_[] => e.args.map(a => this.index(a));
    switch (e.kind) {
      case "int":
      case "float":
        return () => e.value;
      case "sym": {
        const size = this.slotOf.has(e) ? undefined : this.sizeOf(e);
        if (size !== undefined) return () => size;
        const at = this.slot(e);
        return () => slots[at] as number;
      }
      case "add":
        return args().reduce((a, b) => () => a() + b());
      case "mul":
        return args().reduce((a, b) => () => a() * b());
      case "min":
        return args().reduce((a, b) => () => Math.min(a(), b()));
      case "max":
        return args().reduce((a, b) => () => Math.max(a(), b()));
      case "identity":
        return this.index(e.args[0]);
      case "floordiv": {
        const [a, b] = args() as [Number_, Number_];
        return () => floorDivNumber(a(), b());
      }
      case "modular": {
        const [a, b, c] = args() as [Number_, Number_, Number_];
        return () => modNumber(floorDivNumber(a(), b()), c());
      }
      case "mod": {
        const [a, b] = args() as [Number_, Number_];
        return () => modNumber(a(), b());
      }
      case "relation": {
        const [a, b] = args() as [Number_, Number_];
        return () => call(e.op, [a(), b()]);
      }
      case "abs": {
        const [a] = args() as [Number_];
        return () => Math.abs(a());
      }
      case "where": {
        const [c, a, b] = args() as [Number_, Number_, Number_];
        return () => (c() ? a() : b());
      }
      case "and":
        return args().reduce((a, b) => () => (a() && b() ? 1 : 0));
      case "or":
        return args().reduce((a, b) => () => (a() || b() ? 1 : 0));
      default:
        throw new Error(`${e.kind} in an index`);
    }
  }

  private once(f: Number_, dtype: DType): Value {
    let at = -1;
    let value = 0;
    const get = (): number => {
      if (at !== this.turn) {
        at = this.turn;
        value = held(f(), dtype);
      }
      return value;
    };
    return { get, dtype };
  }

  private handler(): BodyHandler<Value> {
    const masked = (): Value | null => this.mask;
    const read = (buffer: string, at: number): number => {
      const data = this.buffers.get(buffer);
      if (at < 0 || at >= data.length) throw new OutOfBounds(`${buffer}[${at}] of ${data.length}`);
      return data[at] as number;
    };
    return {
      constant: (value, dtype) => {
        const v = isInt(dtype) ? wrapInteger(Number(value), dtype) : Number(value);
        return { get: () => v, dtype };
      },
      indexExpr: (index, dtype) => this.once(this.index(index), dtype),
      load: (buffer, index) => {
        const mask = masked();
        const at = this.index(index);
        return this.once(() => (mask && !mask.get() ? 0 : read(buffer, at())), this.buffers.dtype(buffer));
      },
      store: (buffer, index, value, mode) => {
        const where = this.index(index);
        this.steps.push(() => {
          if (this.sortPass === 0) return;
          const data = this.buffers.get(buffer);
          const at = where();
          if (at < 0 || at >= data.length) throw new OutOfBounds(`${buffer}[${at}] of ${data.length}`);
          const x = mode === "atomic_add" ? (data[at] as number) + value.get() : value.get();
          data[at] = held(x, this.buffers.dtype(buffer));
        });
      },
      storeReduction: (buffer, index, value) => {
        const at = this.index(index);
        this.afterRow.push(() => {
          this.buffers.get(buffer)[at()] = held(value.get(), this.buffers.dtype(buffer));
        });
      },
      toDtype: (x, dtype) => this.once(x.get, dtype),
      toDtypeBitcast: (x, dtype, srcDtype) => this.once(() => bitcast(x.get(), dtype, srcDtype), dtype),
      indirectIndexing: (x, size, check, wrapNeg, symbol) => {
        const own = this.slot(symbol);
        const mask = masked();
        const bound = this.index(size);
        this.steps.push(() => {
          let v = x.get();
          const n = bound();
          if (wrapNeg && v < 0) v += n;
          if (check && (!mask || mask.get()) && (v < 0 || v >= n)) throw new OutOfBounds(`index ${v} of ${n}`);
          this.slots[own] = v;
        });
        return symbol;
      },
      checkBounds: (index, size, lower, upper) => {
        const mask = masked();
        const at = this.index(index);
        const bound = this.index(size);
        this.steps.push(() => {
          const v = at();
          if (mask && !mask.get()) return;
          if ((lower && v < 0) || (upper && v >= bound())) throw new OutOfBounds(`index ${v}`);
        });
      },
      masked: (mask, run, other) => {
        const outer = this.mask;
        const both = outer ? this.once(() => (outer.get() && mask.get() ? 1 : 0), "bool") : mask;
        this.mask = both;
        const value = run();
        this.mask = outer;
        return this.once(() => (both.get() ? value.get() : Number(other)), value.dtype);
      },
      reduction: (dtype, srcDtype, type, value) => this.reduction(dtype, type, srcDtype, value),
      scan: (dtypes, combine, values) => this.scan(dtypes, combine, values),
      sort: (dtypes, values, _stable, descending) => this.sort(dtypes, values, descending),
      loadSeed: (buffer, offset) => ({ get: () => read(buffer, offset), dtype: "int64" }),
      random: () => {
        throw new Error("random numbers are not interpreted");
      },
      randint64: () => {
        throw new Error("random numbers are not interpreted");
      },
      call: (fn, args) => {
        const dtype = resultDtype(
          fn,
          args.map(a => a.dtype),
        );
        return this.once(
          () =>
            call(
              fn,
              args.map(a => a.get()),
            ),
          dtype,
        );
      },
    };
  }

  private reduction(
    dtype: DType,
    type: ReductionType,
    srcDtype: DType,
    value: Value | readonly Value[],
  ): Value | readonly Value[] {
    const [a, b, c] = Array.isArray(value) ? (value as Value[]) : [value as Value];
    if (!a) throw new Error("a reduction of nothing");
    const rows: number[][] = [];
    this.starts.push(() => {
      rows.length = 0;
    });
    this.steps.push(() => {
      if (this.sortPass === 1) rows.push([a.get(), b?.get() ?? 0, c?.get() ?? 0]);
    });
    const column = (): number[] => rows.map(r => r[0] as number);
    const once = (f: Number_): Value => this.once(f, type.startsWith("arg") ? "int64" : dtype);
    const fold = (f: (x: number, y: number) => number, from: number): Value => once(() => column().reduce(f, from));
    switch (type) {
      case "sum":
        return fold((x, y) => x + y, 0);
      case "dot":
        return once(() => rows.reduce((s, r) => s + (r[0] as number) * (r[1] as number), 0));
      case "prod":
        return fold((x, y) => x * y, 1);
      case "xor_sum":
        return fold((x, y) => x ^ y, 0);
      case "any":
        return fold((x, y) => (x !== 0 || y !== 0 ? 1 : 0), 0);
      case "max":
        return once(() => column().reduce((x, y) => Math.max(x, y)));
      case "min":
        return once(() => column().reduce((x, y) => Math.min(x, y)));
      case "argmax":
      case "argmin":
        return once(() => {
          let best = 0;
          const better = (x: number, y: number): boolean => (type === "argmax" ? x > y : x < y);
          rows.forEach(([x = 0, at = 0], i) => {
            const [y = 0, atBest = 0] = rows[best] as number[];
            if (better(x, y) || (Number.isNaN(x) && !Number.isNaN(y)) || (b && Object.is(x, y) && at < atBest))
              best = i;
          });
          return b ? (rows[best]?.[1] as number) : best;
        });
      case "welford_reduce":
      case "welford_combine": {
        const parts = (): number[][] => (type === "welford_reduce" ? rows.map(([x = 0]) => [x, 0, 1]) : rows);
        const total = (): number => parts().reduce((s, r) => s + (r[2] as number), 0);
        const mean = (): number => parts().reduce((s, r) => s + (r[0] as number) * (r[2] as number), 0) / total();
        const m2 = (): number => {
          const m = mean();
          return parts().reduce((s, r) => s + (r[1] as number) + (r[2] as number) * ((r[0] as number) - m) ** 2, 0);
        };
        return [once(mean), once(m2), once(total)];
      }
      case "online_softmax_reduce": {
        const max = (): number => Math.max(...column());
        return [
          once(max),
          once(() => {
            const m = max();
            return column().reduce((s, x) => s + Math.exp(x - m), 0);
          }),
        ];
      }
      default: {
        const never: never = type;
        throw new Error(`${String(never)} over ${srcDtype}`);
      }
    }
  }

  private scan(dtypes: readonly DType[], combine: ScanCombine, values: readonly Value[]): readonly Value[] {
    let state: number[] = [];
    this.steps.push(() => {
      const incoming = values.map(v => v.get());
      if (this.position === 0) state = incoming;
      else {
        const known = new Map<BodyNode, number>();
        combine.parameters.forEach((p, i) => {
          known.set(p, [...state, ...incoming][i] as number);
        });
        for (const n of combine.nodes) {
          if (n.op === "call")
            known.set(
              n,
              call(
                n.fn,
                n.args.map(x => known.get(x) as number),
              ),
            );
          else if (n.op === "constant") known.set(n, Number(n.value));
          else if (n.op === "to_dtype") known.set(n, wrapInteger(known.get(n.x) as number, n.dtype));
        }
        state = combine.results.map(r => known.get(r) as number);
      }
    });
    return values.map((_, i) => ({
      get: () => held(state[i] as number, dtypes[i] as DType),
      dtype: dtypes[i] as DType,
    }));
  }

  private sort(dtypes: readonly DType[], values: readonly Value[], descending: boolean): readonly Value[] {
    let rows: number[][] = [];
    let sorted: number[][] = [];
    this.steps.push(() => {
      if (this.sortPass === 0) {
        if (this.position === 0) rows = [];
        rows.push(values.map(v => v.get()));
      } else if (this.position === 0) {
        sorted = [...rows].sort((x, y) => {
          const [a = 0, b = 0] = [x[0], y[0]];
          const nan = Number(Number.isNaN(a)) - Number(Number.isNaN(b));
          const order = nan || (a < b ? -1 : a > b ? 1 : 0);
          return descending ? -order : order;
        });
      }
    });
    return values.map((_, i) => ({ get: () => sorted[this.position]?.[i] ?? 0, dtype: dtypes[i] as DType }));
  }
}

const BOOLEAN: ReadonlySet<OpName> = new Set([
  "eq",
  "ne",
  "lt",
  "le",
  "gt",
  "ge",
  "logical_not",
  "logical_and",
  "logical_or",
  "logical_xor",
  "isnan",
  "isinf",
  "signbit",
]);

function resultDtype(fn: OpName, args: readonly DType[]): DType {
  if (BOOLEAN.has(fn)) return "bool";
  const d = widest(fn === "where" ? args.slice(1) : args);
  const integral = isInt(d);
  return integral && INT_TO_FLOAT.has(fn) ? "float32" : d;
}

const INT_TO_FLOAT: ReadonlySet<OpName> = new Set([
  "truediv",
  "sqrt",
  "rsqrt",
  "exp",
  "log",
  "reciprocal",
  "sigmoid",
  "tanh",
  "sin",
  "cos",
  "erf",
  "log1p",
  "expm1",
  "log2",
  "log10",
  "exp2",
]);

function nest(sizes: readonly number[], f: (values: readonly number[]) => void): void {
  const values = sizes.map(() => 0);
  const at = (d: number): void => {
    if (d === sizes.length) return f(values);
    for (let i = 0; i < (sizes[d] as number); i++) {
      values[d] = i;
      at(d + 1);
    }
  };
  at(0);
}

/** nearest value of a small float format, ties to even */
export function roundTo(x: number, d: DType): number {
  const format = {
    float16: [10, -14, 65504],
    bfloat16: [7, -126, 3.3895313892515355e38],
    float8_e4m3fn: [3, -6, 448],
    float8_e5m2: [2, -14, 57344],
  }[d as string];
  if (!format || !Number.isFinite(x) || x === 0) return x;
  const [mantissa = 0, least = 0, largest = 0] = format;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), least);
  const unit = 2 ** (exponent - mantissa);
  const q = x / unit;
  const low = Math.floor(q);
  const rounded = (q - low > 0.5 || (q - low === 0.5 && low % 2 !== 0) ? low + 1 : low) * unit;
  if (Math.abs(rounded) > largest) return d === "float8_e4m3fn" ? Number.NaN : Math.sign(x) * Number.POSITIVE_INFINITY;
  return rounded;
}

function bitcast(x: number, dtype: DType, srcDtype: DType): number {
  const view = new DataView(new ArrayBuffer(8));
  const put: Partial<Record<DType, () => void>> = {
    float32: () => view.setFloat32(0, x, true),
    float64: () => view.setFloat64(0, x, true),
    int64: () => view.setBigInt64(0, BigInt(x), true),
    bfloat16: () => {
      view.setFloat32(4, roundTo(x, "bfloat16"), true);
      view.setUint16(0, view.getUint16(6, true), true);
    },
    float16: () => view.setUint16(0, halfBits(x), true),
  };
  (put[srcDtype] ?? (() => view.setInt32(0, x | 0, true)))();
  switch (dtype) {
    case "float32":
      return view.getFloat32(0, true);
    case "float64":
      return view.getFloat64(0, true);
    case "int64":
      return Number(view.getBigInt64(0, true));
    case "int32":
      return view.getInt32(0, true);
    case "int16":
      return view.getInt16(0, true);
    case "uint16":
      return view.getUint16(0, true);
    case "int8":
      return view.getInt8(0);
    case "uint8":
      return view.getUint8(0);
    case "bfloat16": {
      const bits = view.getUint16(0, true);
      view.setUint32(4, bits << 16, true);
      return view.getFloat32(4, true);
    }
    case "float16":
      return fromHalfBits(view.getUint16(0, true));
    default:
      throw new Error(`no bit cast to ${dtype}`);
  }
}

function halfBits(x: number): number {
  for (let bits = 0; bits < 0x7c00; bits++)
    if (fromHalfBits(bits) === roundTo(Math.abs(x), "float16")) return bits | (x < 0 ? 0x8000 : 0);
  return 0x7c00 | (x < 0 ? 0x8000 : 0);
}

function fromHalfBits(bits: number): number {
  const e = (bits >> 10) & 31;
  const m = bits & 1023;
  const v =
    e === 0 ? m * 2 ** -24 : e === 31 ? (m ? Number.NaN : Number.POSITIVE_INFINITY) : (1 + m / 1024) * 2 ** (e - 15);
  return bits & 0x8000 ? -v : v;
}

function call(fn: OpName, args: readonly number[]): number {
  const [a = 0, b = 0, c = 0] = args;
  const bool = (x: boolean): number => (x ? 1 : 0);
  switch (fn) {
    case "add":
      return a + b;
    case "sub":
      return a - b;
    case "mul":
      return a * b;
    case "truediv":
      return a / b;
    case "fma":
      return a * b + c;
    case "neg":
      return -a;
    case "abs":
      return Math.abs(a);
    case "exp":
      return Math.exp(a);
    case "exp2":
      return 2 ** a;
    case "expm1":
      return Math.expm1(a);
    case "log":
      return Math.log(a);
    case "log2":
      return Math.log2(a);
    case "log10":
      return Math.log10(a);
    case "log1p":
      return Math.log1p(a);
    case "sqrt":
      return Math.sqrt(a);
    case "rsqrt":
      return 1 / Math.sqrt(a);
    case "reciprocal":
      return 1 / a;
    case "square":
      return a * a;
    case "relu":
      return Math.max(a, 0);
    case "maximum":
      return Math.max(a, b);
    case "minimum":
      return Math.min(a, b);
    case "tanh":
      return Math.tanh(a);
    case "sigmoid":
      return 1 / (1 + Math.exp(-a));
    case "sin":
      return Math.sin(a);
    case "cos":
      return Math.cos(a);
    case "tan":
      return Math.tan(a);
    case "sinh":
      return Math.sinh(a);
    case "cosh":
      return Math.cosh(a);
    case "asin":
      return Math.asin(a);
    case "acos":
      return Math.acos(a);
    case "atan":
      return Math.atan(a);
    case "atan2":
      return Math.atan2(a, b);
    case "asinh":
      return Math.asinh(a);
    case "acosh":
      return Math.acosh(a);
    case "atanh":
      return Math.atanh(a);
    case "hypot":
      return Math.hypot(a, b);
    case "pow":
      return a ** b;
    case "erf":
      return erf(a);
    case "floor":
      return Math.floor(a);
    case "ceil":
      return Math.ceil(a);
    case "trunc":
      return Math.trunc(a);
    case "round":
      return roundEven(a);
    case "sign":
      return Number.isNaN(a) ? 0 : Math.sign(a);
    case "signbit":
      return bool(a < 0 || Object.is(a, -0));
    case "copysign":
      return b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a);
    case "isnan":
      return bool(Number.isNaN(a));
    case "isinf":
      return bool(Math.abs(a) === Number.POSITIVE_INFINITY);
    case "eq":
      return bool(a === b);
    case "ne":
      return bool(a !== b);
    case "lt":
      return bool(a < b);
    case "le":
      return bool(a <= b);
    case "gt":
      return bool(a > b);
    case "ge":
      return bool(a >= b);
    case "where":
      return a ? b : c;
    case "logical_not":
      return bool(a === 0);
    case "and_":
    case "logical_and":
      return bool(a !== 0 && b !== 0);
    case "logical_or":
      return bool(a !== 0 || b !== 0);
    case "logical_xor":
      return bool((a !== 0) !== (b !== 0));
    case "bitwise_and":
      return Number(BigInt(a) & BigInt(b));
    case "bitwise_or":
      return Number(BigInt(a) | BigInt(b));
    case "bitwise_xor":
      return Number(BigInt(a) ^ BigInt(b));
    case "bitwise_not":
      return -a - 1;
    case "bitwise_left_shift":
      return a * 2 ** b;
    case "bitwise_right_shift":
      return Math.floor(a / 2 ** b);
    case "remainder": {
      const r = a % b;
      return r !== 0 && r < 0 !== b < 0 ? r + b : r;
    }
    case "fmod":
    case "mod":
      return a % b;
    case "floordiv":
      return Math.floor(a / b);
    case "truncdiv":
      return Math.trunc(a / b);
    default:
      throw new Error(`${fn} is not interpreted`);
  }
}

function roundEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

/** by its power series, and for large arguments by the continued fraction of erfc */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (Number.isNaN(x)) return x;
  if (a > 6) return Math.sign(x);
  if (a < 2.5) {
    let term = x;
    let sum = x;
    for (let k = 1; k < 200 && Math.abs(term) > 1e-20 * Math.abs(sum); k++) {
      term *= (-x * x) / k;
      sum += term / (2 * k + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  return Math.sign(x) * (1 - erfcLarge(a));
}

export function erfcLarge(x: number): number {
  let f = 0;
  for (let k = 120; k > 0; k--) f = k / 2 / (x + f);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + f);
}
