// Complex tensors, which Inductor leaves to ATen: pairs of floats in memory, worked on in float64. Fourier transforms are
// sums over roots of unity by definition, split by factors of two.
import type { PlanArg } from "@fuselens/compiler/plan";
import { accessor, PART_OF } from "../dtypes";
import { contiguousStride, forEachElement, numel, type TensorView } from "../tensors";
import { argument, isTensor, numberOf, numbersOf, tensorAt } from "./arguments";
import { broadcastTo } from "./matmul";
import { oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

export type Pair = readonly [number, number];

/** the complex dtype with parts of a dtype */
export const COMPLEX: Readonly<Record<string, string>> = { float32: "complex64", float64: "complex128" };

/** real parts, then imaginary ones, row-major; a real tensor's imaginary parts are zero */
export function readPairs(buffer: ArrayBufferLike, t: TensorView): { re: Float64Array; im: Float64Array } {
  const [re, im] = [new Float64Array(numel(t.size)), new Float64Array(numel(t.size))];
  const part = PART_OF[t.dtype];
  const element = accessor(buffer, part ?? t.dtype);
  const half = t.itemSize / 2;
  forEachElement(t, (flat, address) => {
    re[flat] = element.get(address);
    if (part) im[flat] = element.get(address + half);
  });
  return { re, im };
}

/** into a complex tensor, or the real parts into a real one */
export function writePairs(buffer: ArrayBufferLike, t: TensorView, re: ArrayLike<number>, im: ArrayLike<number>): void {
  const part = PART_OF[t.dtype];
  const element = accessor(buffer, part ?? t.dtype);
  const half = t.itemSize / 2;
  forEachElement(t, (flat, address) => {
    element.set(address, re[flat] ?? 0);
    if (part) element.set(address + half, im[flat] ?? 0);
  });
}

/** a part as a plan writes it: "1.5", "float('-inf')" */
const partOfText = (text: string): number => Number(text.replace(/^float\('(.*)'\)$/, "$1").replace("inf", "Infinity"));

/** a number that is an argument; complex ones are the text of Python's constructor */
export function pairOf(ctx: ExternContext, arg: PlanArg | undefined, otherwise: Pair): Pair {
  const written = arg?.kind === "literal" ? /^complex\((.*), (.*)\)$/.exec(arg.value) : null;
  if (written) return [partOfText(written[1] ?? ""), partOfText(written[2] ?? "")];
  return [numberOf(ctx, arg, otherwise[0]), arg === undefined ? otherwise[1] : 0];
}

/** the operand spread over the result's size; a number stands for itself everywhere */
function operand(step: ExternStep, ctx: ExternContext, at: number, size: readonly number[]): (i: number) => Pair {
  const arg = step.args[at];
  if (!isTensor(arg)) {
    const x = pairOf(ctx, arg, [0, 0]);
    return () => x;
  }
  const { re, im } = readPairs(ctx.buffer, broadcastTo(ctx.tensor(arg), [...size]));
  return i => [re[i] ?? 0, im[i] ?? 0];
}

/** elementwise over `count` operands, the first of which is argument `first` */
export const each =
  (count: number, f: (...xs: Pair[]) => Pair, first = 0): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const operands = Array.from({ length: count }, (_, i) => operand(step, ctx, first + i, out.size));
      const n = numel(out.size);
      const [re, im] = [new Float64Array(n), new Float64Array(n)];
      for (let i = 0; i < n; i++) [re[i], im[i]] = f(...operands.map(o => o(i))) as [number, number];
      writePairs(ctx.buffer, out, re, im);
    });

export const times = ([a, b]: Pair, [c, d]: Pair): Pair => [a * c - b * d, a * d + b * c];
const over = (x: Pair, [c, d]: Pair): Pair => {
  const [re, im] = times(x, [c, -d]);
  return [re / (c * c + d * d), im / (c * c + d * d)];
};

export const isComplex = (t: TensorView): boolean => PART_OF[t.dtype] !== undefined;

/** the complex form where an argument is complex, else that for real ones */
export const orReal =
  (form: ExternFunction, real: ExternFunction): ExternFunction =>
  (step, ctx) =>
    (step.args.some(a => isTensor(a) && isComplex(ctx.tensor(a))) ? form : real)(step, ctx);

/** what a family has for real tensors */
export function realOf(family: Readonly<Record<string, ExternFunction>>, name: string): ExternFunction {
  const real = family[name];
  if (!real) throw new Error(`no ${name} of real tensors`);
  return real;
}

/** transforms one line in place; sign -1 forward, 1 backward */
function transformLine(re: Float64Array, im: Float64Array, sign: number): void {
  const n = re.length;
  if (n === 1) return;
  const half = n / 2;
  if (Number.isInteger(half)) {
    const part = (odd: number): [Float64Array, Float64Array] => [
      Float64Array.from({ length: half }, (_, i) => re[2 * i + odd] as number),
      Float64Array.from({ length: half }, (_, i) => im[2 * i + odd] as number),
    ];
    const [even, odd] = [part(0), part(1)];
    transformLine(...even, sign);
    transformLine(...odd, sign);
    for (let k = 0; k < half; k++) {
      const angle = (sign * 2 * Math.PI * k) / n;
      const [x, y] = times([odd[0][k] as number, odd[1][k] as number], [Math.cos(angle), Math.sin(angle)]);
      const [a, b] = [even[0][k] as number, even[1][k] as number];
      [re[k], im[k], re[k + half], im[k + half]] = [a + x, b + y, a - x, b - y];
    }
    return;
  }
  const [from, fromIm] = [re.slice(), im.slice()];
  for (let k = 0; k < n; k++) {
    let [x, y] = [0, 0];
    for (let j = 0; j < n; j++) {
      const angle = (sign * 2 * Math.PI * ((j * k) % n)) / n;
      const [a, b] = times([from[j] as number, fromIm[j] as number], [Math.cos(angle), Math.sin(angle)]);
      x += a;
      y += b;
    }
    [re[k], im[k]] = [x, y];
  }
}

export interface Box {
  readonly size: readonly number[];
  readonly re: Float64Array;
  readonly im: Float64Array;
}

function transform({ size, re, im }: Box, dims: readonly number[], sign: number): void {
  const strides = contiguousStride(size);
  for (const dim of dims) {
    const [n, step] = [size[dim] ?? 1, strides[dim] ?? 1];
    for (let i = 0; i < re.length; i++) {
      if (Math.floor(i / step) % n !== 0) continue;
      const line = (x: Float64Array) => Float64Array.from({ length: n }, (_, k) => x[i + k * step] as number);
      const [a, b] = [line(re), line(im)];
      transformLine(a, b, sign);
      for (let k = 0; k < n; k++) [re[i + k * step], im[i + k * step]] = [a[k] as number, b[k] as number];
    }
  }
}

/** normalization as ATen numbers it: none, by the root of n, by n */
const factor = (normalization: number, n: number): number =>
  normalization === 0 ? 1 : normalization === 1 ? 1 / Math.sqrt(n) : 1 / n;

/** the elements of `from` at the places of a box of another size, which `place` finds (null: outside, where `fill` stands) */
export function moved(
  from: Box,
  size: readonly number[],
  place: (at: number[]) => [number[], number] | null,
  fill: Pair = [0, 0],
): Box {
  const strides = contiguousStride(from.size);
  const out: Box = { size, re: new Float64Array(numel(size)), im: new Float64Array(numel(size)) };
  const at = size.map(() => 0);
  for (let flat = 0; flat < out.re.length; flat++) {
    const found = place(at);
    if (found) {
      const i = found[0].reduce((n, x, d) => n + x * (strides[d] ?? 0), 0);
      [out.re[flat], out.im[flat]] = [from.re[i] as number, found[1] * (from.im[i] as number)];
    } else [out.re[flat], out.im[flat]] = fill;
    for (let d = size.length - 1; d >= 0; d--) {
      at[d] = (at[d] as number) + 1;
      if ((at[d] as number) < (size[d] as number)) break;
      at[d] = 0;
    }
  }
  return out;
}

function fourier(kind: "c2c" | "r2c" | "c2r"): ExternFunction {
  return (step, ctx) =>
    oneResult(step, ctx, out => {
      const t = tensorAt(step, ctx, 0);
      const dims = numbersOf(ctx, step.args[1]).map(d => (d < 0 ? d + t.size.length : d));
      const normalization = numberOf(ctx, step.args[2], 0);
      const last = dims[dims.length - 1] ?? t.size.length - 1;
      const backward = kind === "c2r" || (kind === "c2c" && numberOf(ctx, step.args[3], 1) === 0);
      let box: Box = { size: [...t.size], ...readPairs(ctx.buffer, t) };
      // the half that real signals leave out is the conjugate of the other
      if (kind === "c2r") {
        const n = numberOf(ctx, step.args[3], 1);
        const half = box;
        box = moved(half, out.size, at => {
          const k = at[last] as number;
          if (k <= n >> 1) return [at, 1];
          return [
            at.map((x, d) =>
              d === last ? n - k : dims.includes(d) ? ((t.size[d] as number) - x) % (t.size[d] as number) : x,
            ),
            -1,
          ];
        });
      }
      transform(box, dims, backward ? 1 : -1);
      const scale = factor(
        normalization,
        dims.reduce((n, d) => n * (box.size[d] ?? 1), 1),
      );
      const kept = moved(box, out.size, at => [at, 1]);
      writePairs(
        ctx.buffer,
        out,
        kept.re.map(x => x * scale),
        kept.im.map(x => x * scale),
      );
    });
}

/** a + sign * alpha * b */
const sum =
  (sign: number): ExternFunction =>
  (step, ctx) => {
    const alpha = pairOf(ctx, argument(step, 2, "alpha"), [1, 0]);
    return each(2, ([a, b], x) => {
      const [c, d] = times(alpha, x);
      return [a + sign * c, b + sign * d];
    })(step, ctx);
  };

export const complex: Readonly<Record<string, ExternFunction>> = {
  "aten.complex": each(2, ([a], [b]) => [a, b]),
  "aten.polar": each(2, ([r], [phi]) => [r * Math.cos(phi), r * Math.sin(phi)]),
  "aten._conj": each(1, ([a, b]) => [a, -b]),
  "aten.angle": each(1, ([a, b]) => [Math.atan2(b, a), 0]),
  "aten.abs": each(1, ([a, b]) => [Math.hypot(a, b), 0]),
  "aten.neg": each(1, ([a, b]) => [-a, -b]),
  "aten.reciprocal": each(1, x => over([1, 0], x)),
  "aten.sgn": each(1, x => (x[0] === 0 && x[1] === 0 ? [0, 0] : over(x, [Math.hypot(...x), 0]))),
  "aten.add": sum(1),
  "aten.sub": sum(-1),
  "aten.mul": each(2, times),
  "aten.div": each(2, over),
  "aten.full": each(1, x => x, 1),
  "aten.scalar_tensor": each(1, x => x),
  "aten._fft_c2c": fourier("c2c"),
  "aten._fft_r2c": fourier("r2c"),
  "aten._fft_c2r": fourier("c2r"),
};
