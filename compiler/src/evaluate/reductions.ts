// Reductions and running sums of dense arrays. In: an operator's name and its arguments by name. Out: its result; undefined
// where it is none of them.
import type { DType } from "../aten/types";
import { type Dense, dense, forReduction, isDense, rounded, stridesOf } from "./arrays";
import { number, numbers, wrap } from "./operands";
import type { Operand, Operation, Outcome } from "./types";

type Fold = (row: Float64Array) => number;

const sumOf: Fold = row => {
  let s = 0;
  for (let i = 0; i < row.length; i++) s += row[i] ?? 0;
  return s;
};
const extreme =
  (better: (a: number, b: number) => boolean): Fold =>
  row => {
    let at = 0;
    for (let i = 1; i < row.length; i++) if (better(row[i] ?? 0, row[at] ?? 0)) at = i;
    return at;
  };
const argmax = extreme((a, b) => a > b || Number.isNaN(a));
const argmin = extreme((a, b) => a < b || Number.isNaN(a));
const pick =
  (f: Fold): Fold =>
  row =>
    row[f(row)] ?? 0;
const variance =
  (correction: number): Fold =>
  row => {
    const mean = sumOf(row) / row.length;
    let s = 0;
    for (let i = 0; i < row.length; i++) s += ((row[i] ?? 0) - mean) ** 2;
    return s / Math.max(0, row.length - correction);
  };

const FOLDS: Readonly<Record<string, Fold>> = {
  sum: sumOf,
  mean: row => sumOf(row) / row.length,
  amax: pick(argmax),
  amin: pick(argmin),
  argmax,
  argmin,
  any: row => (row.some(x => x !== 0) ? 1 : 0),
  all: row => (row.every(x => x !== 0) ? 1 : 0),
  prod: row => row.reduce((a, b) => a * b, 1),
};

/** `self`: what is reduced */
export function reduced(o: Operation, name: string, self: Operand | undefined): Outcome {
  if (!isDense(self)) return undefined;
  const rank = self.shape.length;
  const given = numbers(o.get("dim") ?? o.get("dims"));
  const dims = (given.length > 0 ? given : self.shape.map((_, d) => d)).map(d => wrap(d, rank));
  const keep = o.get("keepdim") === true;
  const fold = (f: Fold, dtype: DType): Dense => {
    o.budget.spend(self.data.length);
    const r = forReduction(self, dims, keep);
    const out = new Float64Array(r.outer);
    for (let i = 0; i < r.outer; i++) out[i] = f(r.data.subarray(i * r.length, (i + 1) * r.length));
    return dense(r.shape, rounded(out, dtype), dtype);
  };
  if (name === "cumsum" || name === "cumprod") {
    const dim = wrap(number(o.get("dim")) ?? 0, rank);
    const stride = stridesOf(self.shape)[dim] ?? 1;
    const n = self.shape[dim] ?? 1;
    const out = Float64Array.from(self.data);
    for (let i = 0; i < out.length; i++) {
      if (Math.floor(i / stride) % n === 0) continue;
      const before = out[i - stride] ?? 0;
      out[i] = name === "cumsum" ? before + (self.data[i] ?? 0) : before * (self.data[i] ?? 0);
    }
    return dense(self.shape, rounded(out, o.dtype), o.dtype);
  }
  if ((name === "max" || name === "min") && o.get("other") === undefined) {
    const at = name === "max" ? argmax : argmin;
    const values = fold(pick(at), self.dtype);
    return given.length > 0 ? [values, fold(at, "int64")] : values;
  }
  if (name === "var" || name === "std" || name === "var_mean") {
    const c = number(o.get("correction")) ?? (o.get("unbiased") === false ? 0 : 1);
    const v = variance(c);
    if (name === "var_mean") return [fold(v, o.dtype), fold(FOLDS.mean ?? sumOf, o.dtype)];
    return fold(name === "var" ? v : row => Math.sqrt(v(row)), o.dtype);
  }
  const f = Object.hasOwn(FOLDS, name) ? FOLDS[name] : undefined;
  return f ? fold(f, o.dtype) : undefined;
}
