// Test only. The meaning of loop bodies, element by element in float64. In: a body and buffers as arrays of numbers.
// Out: the arrays, written. Integers are numbers too, so they are exact below 2**53.
import type { DType, ReductionType } from "../../../../aten/types";
import type { BodyNode, LoopBody, ScanCombine } from "../../../ir/loop_body";
import { type BodyHandler, runBody } from "../../../ir/run_body";
import { floorDivNumber, modNumber } from "../../../symbolic/divide";
import { type Expr, type SymExpr, sym } from "../../../symbolic/expr";
import { bitcast, held, isInt, wrapInteger } from "./numbers";
import { call, resultDtype } from "./operators";

/** a value is worked out anew for each element; memo by turn. One of a half dtype is rounded to it, as in eager PyTorch. */
interface Value {
  readonly get: Number_;
  readonly dtype: DType;
}
type Number_ = () => number;
type Step = () => void;

export interface Buffers {
  get(name: string): Float64Array;
  dtype(name: string): DType;
}

class OutOfBounds extends Error {}

export function interpretBody(body: LoopBody, buffers: Buffers, sizeOf: (s: SymExpr) => number | undefined): void {
  new Interpreter(body, buffers, sizeOf).run();
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
      case "truediv": {
        const [a, b] = args() as [Number_, Number_];
        return () => a() / b();
      }
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
