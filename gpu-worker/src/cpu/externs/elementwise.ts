// Elementwise functions that Inductor leaves to ATen, copies and reinterpretations, distances.
import { copyTensor, read, write } from "../dense";
import { numel, type TensorView } from "../tensors";
import { argument, isTensor, numberOf, tensorAt } from "./arguments";
import { broadcastTo } from "./matmul";
import { manyResults, oneResult } from "./results";
import { digamma, i0e, i1e, logGamma, polygamma } from "./special";
import type { ExternFunction } from "./types";

const unary =
  (f: (x: number) => number): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => write(ctx.buffer, out, Float64Array.from(read(ctx.buffer, tensorAt(step, ctx, 0)), f)));

/** either operand may be a number */
const binary =
  (f: (a: number, b: number) => number): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const operand = (i: number): ((at: number) => number) => {
        const arg = step.args[i];
        if (!isTensor(arg)) {
          const x = numberOf(ctx, arg, 0);
          return () => x;
        }
        const values = read(ctx.buffer, broadcastTo(ctx.tensor(arg), out.size));
        return at => values[at] as number;
      };
      const [a, b] = [operand(0), operand(1)];
      write(
        ctx.buffer,
        out,
        Float64Array.from({ length: numel(out.size) }, (_, i) => f(a(i), b(i))),
      );
    });

function gcd(a: number, b: number): number {
  let [x, y] = [Math.abs(a), Math.abs(b)];
  while (y) [x, y] = [y, x % y];
  return x;
}

const copy: ExternFunction = (step, ctx) => {
  // copy_(target, source), or a copy to another device: copy_(source, non_blocking) with a result
  if (step.results.length === 0) {
    const target = tensorAt(step, ctx, 0);
    copyTensor(ctx.machine, broadcastTo(tensorAt(step, ctx, 1), target.size), target);
    return [];
  }
  return oneResult(step, ctx, out => copyTensor(ctx.machine, tensorAt(step, ctx, 0), out));
};

const clone: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => copyTensor(ctx.machine, tensorAt(step, ctx, 0), out));

/** the same bytes under another dtype */
const viewDtype: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const x = tensorAt(step, ctx, 0);
    const bytes = numel(x.size) * x.itemSize;
    new Uint8Array(ctx.buffer, out.address, bytes).set(new Uint8Array(ctx.buffer, x.address, bytes));
  });

const frexp: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([mantissa, exponent]) => {
    const parts = [...read(ctx.buffer, tensorAt(step, ctx, 0))].map(x => {
      if (x === 0 || !Number.isFinite(x)) return [x, 0] as const;
      let e = Math.floor(Math.log2(Math.abs(x))) + 1;
      let m = x / 2 ** e;
      if (Math.abs(m) >= 1) [m, e] = [m / 2, e + 1];
      else if (Math.abs(m) < 0.5) [m, e] = [m * 2, e - 1];
      return [m, e] as const;
    });
    if (mantissa)
      write(
        ctx.buffer,
        mantissa,
        parts.map(p => p[0]),
      );
    if (exponent)
      write(
        ctx.buffer,
        exponent,
        parts.map(p => p[1]),
      );
  });

/** rows of two batches of vectors */
interface Pairs {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  readonly width: number;
}

function pairsOf(buffer: ArrayBufferLike, x: TensorView, y: TensorView, lead: readonly number[]): Pairs {
  const [rows = 0, width = 0] = x.size.slice(-2);
  const columns = y.size[y.size.length - 2] ?? 0;
  return {
    x: read(buffer, broadcastTo(x, [...lead, rows, width])),
    y: read(buffer, broadcastTo(y, [...lead, columns, width])),
    batch: numel(lead),
    rows,
    columns,
    width,
  };
}

/** calls f(flat pair, index of the x vector, index of the y vector) */
function forEachPair(p: Pairs, f: (pair: number, x: number, y: number) => void): void {
  for (let b = 0; b < p.batch; b++)
    for (let i = 0; i < p.rows; i++)
      for (let j = 0; j < p.columns; j++)
        f((b * p.rows + i) * p.columns + j, (b * p.rows + i) * p.width, (b * p.columns + j) * p.width);
}

const cdist: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const p = numberOf(ctx, argument(step, 2, "p"), 2);
    const pairs = pairsOf(ctx.buffer, tensorAt(step, ctx, 0), tensorAt(step, ctx, 1), out.size.slice(0, -2));
    const result = new Float64Array(numel(out.size));
    forEachPair(pairs, (at, x, y) => {
      let total = 0;
      for (let k = 0; k < pairs.width; k++) {
        const d = Math.abs((pairs.x[x + k] as number) - (pairs.y[y + k] as number));
        total = p === Number.POSITIVE_INFINITY ? Math.max(total, d) : total + (p === 0 ? Number(d !== 0) : d ** p);
      }
      result[at] = p === 0 || p === Number.POSITIVE_INFINITY ? total : total ** (1 / p);
    });
    write(ctx.buffer, out, result);
  });

const cdistBackward: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const grad = tensorAt(step, ctx, 0);
    const p = numberOf(ctx, argument(step, 3, "p"), 2);
    const pairs = pairsOf(ctx.buffer, tensorAt(step, ctx, 1), tensorAt(step, ctx, 2), out.size.slice(0, -2));
    const g = read(ctx.buffer, grad);
    const d = read(ctx.buffer, tensorAt(step, ctx, 4));
    const result = new Float64Array(numel(out.size));
    forEachPair(pairs, (at, x, y) => {
      const dist = d[at] as number;
      for (let k = 0; k < pairs.width; k++) {
        const diff = (pairs.x[x + k] as number) - (pairs.y[y + k] as number);
        const slope =
          p === 0 || dist === 0
            ? 0
            : p === 1
              ? Math.sign(diff)
              : p === Number.POSITIVE_INFINITY
                ? Math.sign(diff) * Number(Math.abs(diff) === dist)
                : Math.sign(diff) * (Math.abs(diff) / dist) ** (p - 1);
        result[x + k] = (result[x + k] as number) + (g[at] as number) * slope;
      }
    });
    write(ctx.buffer, out, result);
  });

/** what torch.kaiser_window takes where none is given */
const KAISER_BETA = 12;

/** windows of signal processing: their values at phases of 0 to 2 pi, by what a call adds after `periodic` */
const window =
  (f: (phase: number, parameter: number | null) => number, parameter: number | null = null): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const n = out.size[0] ?? 0;
      const periodic = step.op.endsWith(".default") || numberOf(ctx, step.args[1], 1) !== 0;
      const length = periodic ? n : n - 1;
      const given = parameter === null ? null : numberOf(ctx, step.args[2], parameter);
      write(
        ctx.buffer,
        out,
        Float64Array.from({ length: n }, (_, i) => (n === 1 ? 1 : f((2 * Math.PI * i) / length, given))),
      );
    });

/** I0(beta sqrt(1 - x^2)) / I0(beta) with x from -1 to 1; of scaled functions, which don't overflow */
const kaiser = (phase: number, beta: number | null): number => {
  const [x, scale] = [phase / Math.PI - 1, beta ?? KAISER_BETA];
  const inner = scale * Math.sqrt(Math.max(1 - x * x, 0));
  return (i0e(inner) / i0e(scale)) * Math.exp(Math.abs(inner) - Math.abs(scale));
};

/** fft_fftfreq(n, d) and fft_rfftfreq(n, d): i / (n d), the upper half counted from below 0 unless the transform is real */
const frequencies =
  (real: boolean): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const [n, d] = [numberOf(ctx, step.args[0], 0), numberOf(ctx, step.args[1], 1)];
      const at = (i: number): number => (real || i < Math.ceil(n / 2) ? i : i - n);
      write(
        ctx.buffer,
        out,
        Float64Array.from({ length: out.size[0] ?? 0 }, (_, i) => at(i) / (n * d)),
      );
    });

export const elementwise: Readonly<Record<string, ExternFunction>> = {
  "aten.gcd": binary(gcd),
  "aten.lcm": binary((a, b) => (a && b ? Math.abs(a / gcd(a, b)) * Math.abs(b) : 0)),
  "aten.pow": binary((a, b) => (b < 0 && Number.isInteger(a) && Number.isInteger(b) ? Math.trunc(a ** b) : a ** b)),
  "aten.digamma": unary(digamma),
  "aten.lgamma": unary(logGamma),
  "aten.polygamma": (step, ctx) =>
    oneResult(step, ctx, out => {
      const n = numberOf(ctx, step.args[0], 0);
      write(
        ctx.buffer,
        out,
        Float64Array.from(read(ctx.buffer, tensorAt(step, ctx, 1)), x => polygamma(n, x)),
      );
    }),
  "aten.special_i0e": unary(i0e),
  "aten.special_i1e": unary(i1e),
  "aten.frexp": frexp,
  "aten.copy_": copy,
  "aten.copy": clone,
  "aten.clone": clone,
  "aten._lazy_clone": clone,
  "aten.contiguous": clone,
  "aten._to_copy": clone,
  "aten.view.dtype": viewDtype,
  "aten._cdist_forward": cdist,
  "aten._cdist_backward": cdistBackward,
  "aten.fft_fftfreq": frequencies(false),
  "aten.fft_rfftfreq": frequencies(true),
  "aten.bartlett_window": window(t => 1 - Math.abs(1 - t / Math.PI)),
  "aten.kaiser_window": window(kaiser, KAISER_BETA),
  "aten.hann_window": window(t => 0.5 - 0.5 * Math.cos(t)),
  "aten.hamming_window": window(t => 0.54 - 0.46 * Math.cos(t)),
  "aten.blackman_window": window(t => 0.42 - 0.5 * Math.cos(t) + 0.08 * Math.cos(2 * t)),
};
