// Reductions of many columns side by side. Each column's running numbers lie in the thread's scratch; a turn over four
// columns (or one) takes them into locals, adds its rows, and puts them back.
import type { DType, ReductionType } from "../../../aten/types";
import { type Accumulator, combineScalars, type VectorAccumulator } from "./accumulators";
import type { ColumnRef } from "./body_handler";
import { convert, rounded } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import { accumulatesIn, combineVectors, neutral } from "./vector_accumulators";
import { convertVector, widened } from "./vector_convert";
import { loadColumn, storeColumn } from "./vector_memory";
import { constant4, NotVectorizable, shapeOf, splat, type VecValue } from "./vector_types";
import { computeType, type WatValue } from "./wat_types";

export interface ColumnScratch {
  reserve(dtype: DType): ColumnRef;
  address(ref: ColumnRef): string;
  /** f32 text: one over the number of rows that the turn's n-th row makes */
  reciprocal(row: number): string;
  /** f32 text: rows seen, after the loop */
  readonly rows: string;
}

export interface ColumnReduction {
  /** what bodies hand on, in place of results; and where those are after the loop */
  readonly results: readonly WatValue[];
  readonly refs: readonly ColumnRef[];
  /** emits, for four columns or one, the state before the loop */
  start(four: boolean): void;
  /** a turn's accumulators; `row`: which row of an unrolled turn it takes next */
  vectorTurn(): { readonly accumulator: VectorAccumulator; end(): void };
  scalarTurn(): { readonly accumulator: Accumulator; end(): void };
  /** emits, for four columns or one, the results */
  finish(four: boolean): void;
}

let markers = 0;

/** a value that stands for a column's result until the loop is over; no code ever contains it */
function marker(dtype: DType): WatValue {
  return { code: `(column.result ${markers++})`, type: computeType(dtype), dtype };
}

export function columnReduction(
  type: ReductionType,
  dtype: DType,
  srcDtype: DType,
  scratch: ColumnScratch,
  f: FunctionBuilder,
): ColumnReduction {
  switch (type) {
    case "sum":
    case "prod":
    case "xor_sum":
    case "any":
    case "max":
    case "min":
      return simple(type, dtype, srcDtype, scratch, f);
    case "welford_reduce":
      return welford(dtype, scratch, f);
    case "argmax":
    case "argmin":
    case "welford_combine":
    case "online_softmax_reduce":
    case "dot":
      throw new NotVectorizable(`${type} of columns`);
    default: {
      const never: never = type;
      return never;
    }
  }
}

const NOTHING = { start: () => undefined, merge: () => undefined, finish: () => [], flush: () => undefined };

function storeLines(f: FunctionBuilder, lines: readonly string[]): void {
  for (const l of lines) f.lines.add(l);
}

function simple(
  kind: "sum" | "prod" | "xor_sum" | "any" | "max" | "min",
  dtype: DType,
  srcDtype: DType,
  scratch: ColumnScratch,
  f: FunctionBuilder,
): ColumnReduction {
  const own = accumulatesIn(kind, srcDtype);
  const shape = shapeOf(own);
  const type = computeType(own);
  const state = scratch.reserve(own);
  const result = own === dtype ? state : scratch.reserve(dtype);
  const start = neutral(kind, own);
  return {
    results: [marker(dtype)],
    refs: [result],
    start: four => {
      const at = scratch.address(state);
      if (!four) return f.lines.add(`(${type}.store ${at} ${start})`);
      storeLines(f, storeColumn({ shape, dtype: own, codes: splat({ code: start, type, dtype: own }, shape) }, at, f));
    },
    vectorTurn: () => {
      let names: string[] | null = null;
      const current = (): VecValue => ({ shape, dtype: own, codes: (names ?? []).map(n => `(local.get ${n})`) });
      return {
        accumulator: {
          ...NOTHING,
          step: ([v]) => {
            if (!v) return;
            if (names === null) {
              const before = loadColumn(state, scratch.address(state), f);
              names = before.codes.map(c => {
                const name = f.local("v128", kind);
                f.set(name, c);
                return name;
              });
            }
            const x = widened(convertVector(v, own, f), f);
            names.forEach((n, i) => {
              f.set(n, combineVectors(kind, shape, own, `(local.get ${n})`, x.codes[i] ?? ""));
            });
          },
        },
        end: () => {
          if (names) storeLines(f, storeColumn(current(), scratch.address(state), f));
        },
      };
    },
    scalarTurn: () => {
      let name: string | null = null;
      return {
        accumulator: {
          ...NOTHING,
          step: ([v]) => {
            if (!v) return;
            if (name === null) {
              name = f.local(type, kind);
              f.set(name, `(${type}.load ${scratch.address(state)})`);
            }
            f.set(name, combineScalars(kind, type, own, `(local.get ${name})`, convert(v, own).code, f));
          },
        },
        end: () => {
          if (name) f.lines.add(`(${type}.store ${scratch.address(state)} (local.get ${name}))`);
        },
      };
    },
    finish: four => {
      if (result === state) return;
      const [from, to] = [scratch.address(state), scratch.address(result)];
      if (four) return storeLines(f, storeColumn(convertVector(loadColumn(state, from, f), dtype, f), to, f));
      const { code, type: wasm } = convert({ code: f.keep(`(${type}.load ${from})`, type), type, dtype: own }, dtype);
      f.lines.add(`(${wasm}.store ${to} ${rounded(code, dtype, f)})`);
    },
  };
}

/** mean and m2 per column; every column has seen as many rows */
function welford(dtype: DType, scratch: ColumnScratch, f: FunctionBuilder): ColumnReduction {
  if (dtype !== "float32") throw new NotVectorizable(`variance of ${dtype}`);
  const refs = [0, 1, 2].map(() => scratch.reserve("float32"));
  const [mean, m2, weight] = refs as [ColumnRef, ColumnRef, ColumnRef];
  const turn = (
    wasm: "f32" | "v128",
    load: (ref: ColumnRef) => string,
    store: (ref: ColumnRef, code: string) => void,
    value: (v: unknown) => string,
    once: (code: string) => string,
  ) => {
    const op = wasm === "v128" ? "f32x4" : "f32";
    let names: [string, string] | null = null;
    let row = 0;
    const take = (v: unknown): void => {
      if (names === null) {
        names = [f.local(wasm, "mean"), f.local(wasm, "m2")];
        f.set(names[0], load(mean));
        f.set(names[1], load(m2));
      }
      const x = value(v);
      const [a, b] = names;
      const delta = f.local(wasm, "delta");
      f.set(delta, `(${op}.sub ${x} (local.get ${a}))`);
      f.set(a, `(${op}.add (local.get ${a}) (${op}.mul (local.get ${delta}) ${once(scratch.reciprocal(row))}))`);
      f.set(b, `(${op}.add (local.get ${b}) (${op}.mul (local.get ${delta}) (${op}.sub ${x} (local.get ${a}))))`);
      row += 1;
    };
    const end = (): void => {
      if (!names) return;
      store(mean, `(local.get ${names[0]})`);
      store(m2, `(local.get ${names[1]})`);
    };
    return { take, end };
  };
  return {
    results: refs.map(() => marker("float32")),
    refs,
    start: four => {
      for (const ref of [mean, m2]) {
        const at = scratch.address(ref);
        f.lines.add(
          four ? `(v128.store ${at} ${constant4("f32x4", [0, 0, 0, 0])})` : `(f32.store ${at} (f32.const 0))`,
        );
      }
    },
    vectorTurn: () => {
      const { take, end } = turn(
        "v128",
        ref => `(v128.load ${scratch.address(ref)})`,
        (ref, code) => f.lines.add(`(v128.store ${scratch.address(ref)} ${code})`),
        v => convertVector(v as VecValue, "float32", f).codes[0] ?? "",
        code => f.keep(`(f32x4.splat ${code})`, "v128", "share"),
      );
      return { accumulator: { ...NOTHING, step: ([v]) => (v ? take(v) : undefined) }, end };
    },
    scalarTurn: () => {
      const { take, end } = turn(
        "f32",
        ref => `(f32.load ${scratch.address(ref)})`,
        (ref, code) => f.lines.add(`(f32.store ${scratch.address(ref)} ${code})`),
        v => convert(v as WatValue, "float32").code,
        code => code,
      );
      return { accumulator: { ...NOTHING, step: ([v]) => (v ? take(v) : undefined) }, end };
    },
    finish: four => {
      const at = scratch.address(weight);
      f.lines.add(four ? `(v128.store ${at} (f32x4.splat ${scratch.rows}))` : `(f32.store ${at} ${scratch.rows})`);
    },
  };
}
