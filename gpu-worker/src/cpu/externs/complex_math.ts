// Functions, comparisons and reductions of complex numbers, in float64.
import { contiguousStride, numel } from "../tensors";
import { linesAlong } from "./along";
import { argument, numberOf, numbersOf, tensorAt, wrapDim } from "./arguments";
import { each, orReal, type Pair, readPairs, realOf, times, writePairs } from "./complex";
import { elementwise } from "./elementwise";
import { oneResult } from "./results";
import { scans } from "./scans";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

const exp = ([a, b]: Pair): Pair => [Math.exp(a) * Math.cos(b), Math.exp(a) * Math.sin(b)];
const log = ([a, b]: Pair): Pair => [Math.log(Math.hypot(a, b)), Math.atan2(b, a)];
const scaled = ([a, b]: Pair, by: number): Pair => [a * by, b * by];
const plus = ([a, b]: Pair, [c, d]: Pair): Pair => [a + c, b + d];
const inverse = ([a, b]: Pair): Pair => scaled([a, -b], 1 / (a * a + b * b));
/** i times the number */
const turned = ([a, b]: Pair): Pair => [-b, a];

/** the root whose real part is not negative; the imaginary part keeps its sign */
function sqrt([a, b]: Pair): Pair {
  const size = Math.hypot(a, b);
  if (size === 0) return [0, b];
  const large = Math.sqrt((size + Math.abs(a)) / 2);
  const small = Math.abs(b) / (2 * large);
  const sign = b < 0 || Object.is(b, -0) ? -1 : 1;
  return a >= 0 ? [large, sign * small] : [small, sign * large];
}

const sinh = ([a, b]: Pair): Pair => [Math.sinh(a) * Math.cos(b), Math.cosh(a) * Math.sin(b)];
const cosh = ([a, b]: Pair): Pair => [Math.cosh(a) * Math.cos(b), Math.sinh(a) * Math.sin(b)];
/** by way of e^-2|a|, which is no infinity */
function tanh([a, b]: Pair): Pair {
  const e = Math.exp(-2 * Math.abs(a));
  const low = 1 + 2 * e * Math.cos(2 * b) + e * e;
  return [(Math.sign(a) * (1 - e * e)) / low, (2 * e * Math.sin(2 * b)) / low];
}
/** sin z = -i sinh(i z) */
const sin = (z: Pair): Pair => scaled(turned(sinh(turned(z))), -1);
const cos = (z: Pair): Pair => cosh(turned(z));
const tan = (z: Pair): Pair => scaled(turned(tanh(turned(z))), -1);

function pow(z: Pair, w: Pair): Pair {
  if (w[0] === 0 && w[1] === 0) return [1, 0];
  if (z[0] === 0 && z[1] === 0) return [0, 0];
  if (w[1] === 0 && Number.isInteger(w[0]) && Math.abs(w[0]) <= 16) {
    let power = z;
    for (let k = 1; k < Math.abs(w[0]); k++) power = times(power, z);
    return w[0] < 0 ? inverse(power) : power;
  }
  return exp(times(w, log(z)));
}

/** log(1 + z), exact next to zero */
const log1p = ([a, b]: Pair): Pair => [Math.log1p(a * (2 + a) + b * b) / 2, Math.atan2(b, 1 + a)];
/** exp(z) - 1, exact next to zero */
const expm1 = ([a, b]: Pair): Pair => [
  Math.expm1(a) * Math.cos(b) - 2 * Math.sin(b / 2) ** 2,
  Math.exp(a) * Math.sin(b),
];

/** log(z + sqrt(z^2 + 1)) of the half plane where that loses nothing; the function is odd */
function asinh(z: Pair): Pair {
  if (z[0] < 0) return scaled(asinh(scaled(z, -1)), -1);
  return log(plus(z, sqrt(plus(times(z, z), [1, 0]))));
}
const asin = (z: Pair): Pair => scaled(turned(asinh(turned(z))), -1);
const acos = (z: Pair): Pair => plus([Math.PI / 2, 0], scaled(asin(z), -1));
const acosh = (z: Pair): Pair => log(plus(z, times(sqrt(plus(z, [1, 0])), sqrt(plus(z, [-1, 0])))));
const atanh = (z: Pair): Pair => scaled(plus(log1p(z), scaled(log1p(scaled(z, -1)), -1)), 0.5);
const atan = (z: Pair): Pair => scaled(turned(atanh(turned(z))), -1);

const isEqual = (a: Pair, b: Pair): boolean => a[0] === b[0] && a[1] === b[1];

/** dims of a reduction's argument, all of them where none are given */
function dimsOf(step: ExternStep, ctx: ExternContext, rank: number): number[] {
  const given = numbersOf(ctx, argument(step, 1, "dim")).map(d => wrapDim(d, rank));
  return given.length ? given : Array.from({ length: rank }, (_, d) => d);
}

/** over the dims that argument 1 names: each result of the numbers that it is made of */
const reducedBy =
  (reduce: (numbers: readonly Pair[], step: ExternStep, ctx: ExternContext) => Pair): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const t = tensorAt(step, ctx, 0);
      const dims = dimsOf(step, ctx, t.size.length);
      const kept = t.size.map((s, d) => (dims.includes(d) ? 1 : s));
      const [from, to] = [contiguousStride(t.size), contiguousStride(kept)];
      const { re, im } = readPairs(ctx.buffer, t);
      const groups: Pair[][] = Array.from({ length: numel(kept) }, () => []);
      for (let flat = 0; flat < re.length; flat++) {
        let at = 0;
        t.size.forEach((s, d) => {
          if (!dims.includes(d)) at += (Math.floor(flat / (from[d] ?? 1)) % s) * (to[d] ?? 0);
        });
        groups[at]?.push([re[flat] as number, im[flat] as number]);
      }
      const ends = groups.map(g => reduce(g, step, ctx));
      writePairs(
        ctx.buffer,
        out,
        ends.map(x => x[0]),
        ends.map(x => x[1]),
      );
    });

const total = (xs: readonly Pair[]): Pair => xs.reduce(plus, [0, 0]);
const mean = (xs: readonly Pair[]): Pair => scaled(total(xs), 1 / xs.length);

/** of the squared distances from the mean, a real number */
const variance = reducedBy((xs, step, ctx) => {
  const [re, im] = mean(xs);
  const squares = xs.reduce((s, [a, b]) => s + (a - re) ** 2 + (b - im) ** 2, 0);
  return [squares / Math.max(0, xs.length - numberOf(ctx, argument(step, 2, "correction"), 1)), 0];
});

const isTrue = ([a, b]: Pair): boolean => a !== 0 || b !== 0;
const isInfinite = (x: number): boolean => x === Number.POSITIVE_INFINITY || x === Number.NEGATIVE_INFINITY;

const running =
  (join: (a: Pair, b: Pair) => Pair): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const t = tensorAt(step, ctx, 0);
      const { re, im } = readPairs(ctx.buffer, t);
      const lines = linesAlong(t.size, wrapDim(numberOf(ctx, argument(step, 1, "dim"), 0), t.size.length));
      for (let l = 0; l < lines.count; l++)
        for (let i = 1; i < lines.length; i++) {
          const [before, at] = [lines.at(l, i - 1), lines.at(l, i)];
          const sum = join([re[before] as number, im[before] as number], [re[at] as number, im[at] as number]);
          [re[at], im[at]] = sum;
        }
      writePairs(ctx.buffer, out, re, im);
    });

export const complexMath: Readonly<Record<string, ExternFunction>> = {
  "aten.exp": each(1, exp),
  "aten.log": each(1, log),
  "aten.log1p": each(1, log1p),
  "aten.log2": each(1, z => scaled(log(z), Math.LOG2E)),
  "aten.log10": each(1, z => scaled(log(z), Math.LOG10E)),
  "aten.exp2": each(1, z => exp(scaled(z, Math.LN2))),
  "aten.expm1": each(1, expm1),
  "aten.sqrt": each(1, sqrt),
  "aten.rsqrt": each(1, z => inverse(sqrt(z))),
  "aten.sin": each(1, sin),
  "aten.cos": each(1, cos),
  "aten.tan": each(1, tan),
  "aten.sinh": each(1, sinh),
  "aten.cosh": each(1, cosh),
  "aten.tanh": each(1, tanh),
  "aten.asin": each(1, asin),
  "aten.acos": each(1, acos),
  "aten.atan": each(1, atan),
  "aten.asinh": each(1, asinh),
  "aten.acosh": each(1, acosh),
  "aten.atanh": each(1, atanh),
  "aten.sigmoid": each(1, z => inverse(plus([1, 0], exp(scaled(z, -1))))),
  "aten.pow": orReal(each(2, pow), realOf(elementwise, "aten.pow")),
  "aten.eq": each(2, (a, b) => [Number(isEqual(a, b)), 0]),
  "aten.ne": each(2, (a, b) => [Number(!isEqual(a, b)), 0]),
  "aten.isnan": each(1, ([a, b]) => [Number(Number.isNaN(a) || Number.isNaN(b)), 0]),
  "aten.where": each(3, ([c], a, b) => (c ? a : b)),
  "prims.convert_element_type": each(1, x => x),
  "aten.isinf": each(1, ([a, b]) => [Number(isInfinite(a) || isInfinite(b)), 0]),
  "aten.logical_not": each(1, z => [Number(!isTrue(z)), 0]),
  "aten.sum": reducedBy(total),
  "aten.mean": reducedBy(mean),
  "aten.prod": reducedBy(xs => xs.reduce(times, [1, 0])),
  "aten.var": variance,
  "aten.any": reducedBy(xs => [Number(xs.some(isTrue)), 0]),
  "aten.all": reducedBy(xs => [Number(xs.every(isTrue)), 0]),
  "aten.cumsum": orReal(running(plus), realOf(scans, "aten.cumsum")),
  "aten.cumprod": orReal(running(times), realOf(scans, "aten.cumprod")),
};
