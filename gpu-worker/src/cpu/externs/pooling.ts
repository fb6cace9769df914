// Pooling and resampling over the last one to three dims, with their gradients. Every result element is a weighted sum
// (or the maximum) of input elements, so each kind is a list of (input place, weight) per output place.
import { read, write } from "../dense";
import { numel, type TensorView } from "../tensors";
import { argument, boolOf, numberOf, numbersOf, tensorAt } from "./arguments";
import { manyResults, oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";
import { volume } from "./windows";

/** per output coordinate of one dim, the input coordinates that it reads and their weights */
type Taps = readonly (readonly (readonly [place: number, weight: number])[])[];

interface Resample {
  readonly input: readonly number[];
  readonly output: readonly number[];
  readonly taps: readonly Taps[];
  /** weight of an output place besides its taps' */
  readonly scale: (output: readonly number[]) => number;
}

const all = (xs: readonly number[], dims: number, otherwise: readonly number[] | number): number[] => {
  if (xs.length === dims) return [...xs];
  if (xs.length === 1) return new Array<number>(dims).fill(xs[0] as number);
  return typeof otherwise === "number" ? new Array<number>(dims).fill(otherwise) : [...otherwise];
};

/** calls f(output place, input place, weight) for one channel */
function forEachTap(r: Resample, f: (out: number, at: number, weight: number) => void): void {
  const dims = r.input.length;
  const walk = (d: number, out: number, at: number, weight: number, coordinates: number[]): void => {
    if (d === dims) return f(out, at, weight * r.scale(coordinates));
    const taps = r.taps[d]?.[coordinates[d] as number] ?? [];
    for (const [place, w] of taps) walk(d + 1, out, at * (r.input[d] ?? 1) + place, weight * w, coordinates);
  };
  const total = volume(r.output);
  for (let out = 0; out < total; out++) {
    const coordinates: number[] = [];
    let rest = out;
    for (let d = dims - 1; d >= 0; d--) {
      const size = r.output[d] ?? 1;
      coordinates.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    walk(0, out, 0, 1, coordinates);
  }
}

interface TapTable {
  readonly out: Int32Array;
  readonly at: Int32Array;
  readonly weight: Float64Array;
}

function tableOf(r: Resample): TapTable {
  const out: number[] = [];
  const at: number[] = [];
  const weight: number[] = [];
  forEachTap(r, (o, a, w) => {
    out.push(o);
    at.push(a);
    weight.push(w);
  });
  return { out: Int32Array.from(out), at: Int32Array.from(at), weight: Float64Array.from(weight) };
}

function resample(ctx: ExternContext, x: TensorView, out: TensorView, r: Resample): void {
  const values = read(ctx.buffer, x);
  const result = new Float64Array(numel(out.size));
  const t = tableOf(r);
  const [inner, outer] = [volume(r.input), volume(r.output)];
  for (let c = 0; c * outer < result.length; c++) {
    for (let i = 0; i < t.out.length; i++) {
      const o = c * outer + (t.out[i] as number);
      result[o] = (result[o] as number) + (t.weight[i] as number) * (values[c * inner + (t.at[i] as number)] as number);
    }
  }
  write(ctx.buffer, out, result);
}

/** the transposed sum: gradients of the output spread over the input */
function spread(ctx: ExternContext, grad: TensorView, out: TensorView, r: Resample): void {
  const values = read(ctx.buffer, grad);
  const result = new Float64Array(numel(out.size));
  const t = tableOf(r);
  const [inner, outer] = [volume(r.input), volume(r.output)];
  for (let c = 0; c * outer < values.length; c++) {
    for (let i = 0; i < t.out.length; i++) {
      const a = c * inner + (t.at[i] as number);
      result[a] =
        (result[a] as number) + (t.weight[i] as number) * (values[c * outer + (t.out[i] as number)] as number);
    }
  }
  write(ctx.buffer, out, result);
}

// --- average pooling ---

interface PoolOptions {
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
}

const dimsOf = (op: string): number => Number(/(\d)d/.exec(op)?.[1] ?? 2);

function poolOptions(step: ExternStep, ctx: ExternContext, at: number, dilated: boolean): PoolOptions {
  const dims = dimsOf(step.op);
  const kernel = all(numbersOf(ctx, argument(step, at, "kernel_size")), dims, 1);
  return {
    kernel,
    stride: all(numbersOf(ctx, argument(step, at + 1, "stride")), dims, kernel),
    padding: all(numbersOf(ctx, argument(step, at + 2, "padding")), dims, 0),
    dilation: dilated
      ? all(numbersOf(ctx, argument(step, at + 3, "dilation")), dims, 1)
      : new Array<number>(dims).fill(1),
  };
}

function averaging(
  input: readonly number[],
  output: readonly number[],
  o: PoolOptions,
  countPadding: boolean,
  divisor: number | null,
): Resample {
  const ends = (d: number, i: number): [number, number, number] => {
    const start = i * (o.stride[d] ?? 1) - (o.padding[d] ?? 0);
    const end = Math.min(start + (o.kernel[d] ?? 1), (input[d] ?? 0) + (o.padding[d] ?? 0));
    return [Math.max(start, 0), Math.min(end, input[d] ?? 0), end - start];
  };
  return {
    input,
    output,
    taps: output.map((n, d) =>
      Array.from({ length: n }, (_, i) => {
        const [from, to] = ends(d, i);
        return Array.from({ length: Math.max(0, to - from) }, (_x, j) => [from + j, 1] as const);
      }),
    ),
    scale: at => {
      if (divisor !== null) return 1 / divisor;
      const counts = at.map((i, d) => {
        const [from, to, padded] = ends(d, i);
        return countPadding ? padded : to - from;
      });
      return 1 / volume(counts);
    },
  };
}

/** avg_pool(self, kernel, stride, padding, ceil_mode, count_include_pad, divisor); its gradient has grad_output in front */
const averagePool =
  (backward: boolean): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const at = backward ? 2 : 1;
      const dims = dimsOf(step.op);
      const x = tensorAt(step, ctx, at - 1);
      const places = backward ? tensorAt(step, ctx, 0) : out;
      const given = argument(step, at + 5, "divisor_override");
      const divisor = given && given.kind !== "none" ? numberOf(ctx, given, 1) : null;
      const r = averaging(
        x.size.slice(-dims),
        places.size.slice(-dims),
        poolOptions(step, ctx, at, false),
        boolOf(argument(step, at + 4, "count_include_pad"), true),
        divisor,
      );
      if (backward) spread(ctx, places, out, r);
      else resample(ctx, x, out, r);
    });

/** windows of adaptive pooling: from floor(i * n / m) to ceil((i + 1) * n / m) */
function adaptiveEnds(n: number, m: number, i: number): [number, number] {
  return [Math.floor((i * n) / m), Math.ceil(((i + 1) * n) / m)];
}

function adaptive(input: readonly number[], output: readonly number[]): Resample {
  const ends = (d: number, i: number): [number, number] => adaptiveEnds(input[d] ?? 1, output[d] ?? 1, i);
  return {
    input,
    output,
    taps: output.map((m, d) =>
      Array.from({ length: m }, (_, i) => {
        const [from, to] = ends(d, i);
        return Array.from({ length: to - from }, (_x, j) => [from + j, 1 / (to - from)] as const);
      }),
    ),
    scale: () => 1,
  };
}

const adaptiveAverage =
  (backward: boolean): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const dims = dimsOf(step.op);
      const x = tensorAt(step, ctx, backward ? 1 : 0);
      const places = backward ? tensorAt(step, ctx, 0) : out;
      const r = adaptive(x.size.slice(-dims), places.size.slice(-dims));
      if (backward) spread(ctx, places, out, r);
      else resample(ctx, x, out, r);
    });

// --- maximum pooling ---

function maximum(
  ctx: ExternContext,
  x: TensorView,
  r: Resample,
  outs: readonly (TensorView | null | undefined)[],
): void {
  const values = read(ctx.buffer, x);
  const t = tableOf(r);
  const [inner, outer] = [volume(r.input), volume(r.output)];
  const channels = values.length / Math.max(1, inner);
  const best = new Float64Array(channels * outer).fill(Number.NEGATIVE_INFINITY);
  const place = new Float64Array(channels * outer).fill(-1);
  for (let c = 0; c < channels; c++) {
    for (let i = 0; i < t.out.length; i++) {
      const o = c * outer + (t.out[i] as number);
      const at = t.at[i] as number;
      const v = values[c * inner + at] as number;
      if ((place[o] as number) < 0 || v > (best[o] as number) || Number.isNaN(v)) {
        best[o] = v;
        place[o] = at;
      }
    }
  }
  const [value, index] = outs;
  if (value) write(ctx.buffer, value, best);
  if (index) write(ctx.buffer, index, place);
}

function windowTaps(input: readonly number[], output: readonly number[], o: PoolOptions): Resample {
  return {
    input,
    output,
    taps: output.map((n, d) =>
      Array.from({ length: n }, (_, i) =>
        Array.from(
          { length: o.kernel[d] ?? 1 },
          (_x, j) => i * (o.stride[d] ?? 1) - (o.padding[d] ?? 0) + j * (o.dilation[d] ?? 1),
        )
          .filter(p => p >= 0 && p < (input[d] ?? 0))
          .map(p => [p, 1] as const),
      ),
    ),
    scale: () => 1,
  };
}

/** max_pool_with_indices(self, kernel, stride, padding, dilation, ceil_mode) */
const maxPool: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, outs => {
    const dims = dimsOf(step.op);
    const x = tensorAt(step, ctx, 0);
    const output = (outs[0] ?? outs[1])?.size.slice(-dims) ?? [];
    maximum(ctx, x, windowTaps(x.size.slice(-dims), output, poolOptions(step, ctx, 1, true)), outs);
  });

const adaptiveMax: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, outs => {
    const dims = dimsOf(step.op);
    const x = tensorAt(step, ctx, 0);
    maximum(ctx, x, adaptive(x.size.slice(-dims), (outs[0] ?? outs[1])?.size.slice(-dims) ?? []), outs);
  });

/** gradients go to the places that the indices name */
const maxPoolBackward: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const dims = dimsOf(step.op);
    const grad = read(ctx.buffer, tensorAt(step, ctx, 0));
    const indices = tensorAt(step, ctx, step.op.includes("adaptive") ? 2 : 7);
    const places = read(ctx.buffer, indices);
    const [inner, outer] = [volume(out.size.slice(-dims)), volume(indices.size.slice(-dims))];
    const result = new Float64Array(numel(out.size));
    for (let i = 0; i < grad.length; i++) {
      const at = Math.floor(i / outer) * inner + (places[i] as number);
      result[at] = (result[at] as number) + (grad[i] as number);
    }
    write(ctx.buffer, out, result);
  });

// --- interpolation ---

function sourceScale(input: number, output: number, alignCorners: boolean, scale: number | null): number {
  if (alignCorners) return output > 1 ? (input - 1) / (output - 1) : 0;
  return scale !== null && scale > 0 ? 1 / scale : input / output;
}

function linearTaps(input: number, output: number, alignCorners: boolean, scale: number | null): Taps {
  const s = sourceScale(input, output, alignCorners, scale);
  return Array.from({ length: output }, (_, i) => {
    const x = alignCorners ? i * s : Math.max(0, (i + 0.5) * s - 0.5);
    const low = Math.min(Math.floor(x), input - 1);
    const high = Math.min(low + 1, input - 1);
    const t = Math.min(1, Math.max(0, x - low));
    return [[low, 1 - t] as const, [high, t] as const];
  });
}

function cubicTaps(input: number, output: number, alignCorners: boolean, scale: number | null): Taps {
  const A = -0.75;
  const near = (t: number): number => ((A + 2) * t - (A + 3)) * t * t + 1;
  const far = (t: number): number => ((A * t - 5 * A) * t + 8 * A) * t - 4 * A;
  const s = sourceScale(input, output, alignCorners, scale);
  return Array.from({ length: output }, (_, i) => {
    const x = alignCorners ? i * s : (i + 0.5) * s - 0.5;
    const low = Math.floor(x);
    const t = x - low;
    return [far(t + 1), near(t), near(1 - t), far(2 - t)].map(
      (w, j) => [Math.min(input - 1, Math.max(0, low - 1 + j)), w] as const,
    );
  });
}

function nearestTaps(input: number, output: number, exact: boolean, scale: number | null): Taps {
  const s = scale !== null && scale > 0 ? 1 / scale : input / output;
  return Array.from({ length: output }, (_, i) => {
    const x = exact ? Math.floor((i + 0.5) * s) : Math.floor(i * s);
    return [[Math.min(x, input - 1), 1] as const];
  });
}

/** upsample(self, output_size, align_corners?, scales...); the gradient (grad, output_size, input_size, ...) */
const upsample =
  (kind: "linear" | "cubic" | "nearest" | "nearest_exact", dims: number, backward: boolean): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const x = tensorAt(step, ctx, 0);
      const corners = kind === "linear" || kind === "cubic";
      const after = backward ? 3 : 2;
      const align = corners && boolOf(argument(step, after, "align_corners"), false);
      const input = (backward ? out : x).size.slice(-dims);
      const output = (backward ? x : out).size.slice(-dims);
      const taps = output.map((n, d) => {
        const given = argument(step, after + (corners ? 1 : 0) + d);
        const scale = given && given.kind !== "none" ? numberOf(ctx, given, 0) : null;
        const size = input[d] ?? 1;
        if (kind === "linear") return linearTaps(size, n, align, scale);
        if (kind === "cubic") return cubicTaps(size, n, align, scale);
        return nearestTaps(size, n, kind === "nearest_exact", scale);
      });
      const r: Resample = { input, output, taps, scale: () => 1 };
      if (backward) spread(ctx, x, out, r);
      else resample(ctx, x, out, r);
    });

/** replication_pad_backward(grad, self, padding): what was copied outwards comes back to the edge */
const replicationBackward: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const dims = dimsOf(step.op);
    const grad = tensorAt(step, ctx, 0);
    const padding = numbersOf(ctx, argument(step, 2, "padding"));
    const input = out.size.slice(-dims);
    const output = grad.size.slice(-dims);
    const taps = output.map((n, d) => {
      const before = padding[2 * (dims - 1 - d)] ?? 0;
      return Array.from({ length: n }, (_, i) => [
        [Math.min((input[d] ?? 1) - 1, Math.max(0, i - before)), 1] as const,
      ]);
    });
    spread(ctx, grad, out, { input, output, taps, scale: () => 1 });
  });

const upsampling = (["linear", "cubic", "nearest", "nearest_exact"] as const).flatMap(kind => {
  const names: Readonly<Record<typeof kind, readonly (string | null)[]>> = {
    linear: ["upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"],
    cubic: [null, "upsample_bicubic2d", null],
    nearest: ["upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"],
    nearest_exact: ["_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"],
  };
  return names[kind].flatMap((name, i): [string, ExternFunction][] =>
    name === null
      ? []
      : [
          [`aten.${name}`, upsample(kind, i + 1, false)],
          [`aten.${name}_backward`, upsample(kind, i + 1, true)],
        ],
  );
});

export const pooling: Readonly<Record<string, ExternFunction>> = {
  ...Object.fromEntries(upsampling),
  ...Object.fromEntries(
    [1, 2, 3].flatMap((d): [string, ExternFunction][] => [
      [`aten.avg_pool${d}d`, averagePool(false)],
      [`aten.avg_pool${d}d_backward`, averagePool(true)],
      [`aten._adaptive_avg_pool${d}d`, adaptiveAverage(false)],
      [`aten._adaptive_avg_pool${d}d_backward`, adaptiveAverage(true)],
      [`aten.max_pool${d}d_with_indices`, maxPool],
      [`aten.max_pool${d}d_with_indices_backward`, maxPoolBackward],
      [`aten.adaptive_max_pool${d}d`, adaptiveMax],
      [`aten.adaptive_max_pool${d}d_backward`, maxPoolBackward],
      [`aten.replication_pad${d}d_backward`, replicationBackward],
    ]),
  ),
};
