// Reading images between their pixels: grid_sample with its gradients in two and three dims, and resizing with
// antialiasing. Each output point is a sum over few pixels per dim (taps), so a gradient is the same sum turned round.
import { read, write } from "../dense";
import { numel, type TensorView } from "../tensors";
import { argument, boolOf, numberOf, tensorAt } from "./arguments";
import { manyResults, oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";
import { volume } from "./windows";

interface Tap {
  /** pixel along a dim; outside of the image it counts as zero */
  readonly at: number;
  readonly weight: number;
  /** derivative of the weight by the grid's coordinate */
  readonly slope: number;
}

interface Sampling {
  readonly mode: "bilinear" | "nearest" | "bicubic";
  readonly padding: "zeros" | "border" | "reflection";
  readonly aligned: boolean;
}

const MODES = ["bilinear", "nearest", "bicubic"] as const;
const PADDINGS = ["zeros", "border", "reflection"] as const;

/** a coordinate reflected between the edges, with the derivative */
function reflected(x: number, low: number, high: number): [number, number] {
  if (low === high) return [0, 0];
  const [min, span] = [low / 2, (high - low) / 2];
  const over = Math.abs(x - min);
  const sign = x < min ? -1 : 1;
  const extra = over % span;
  return Math.floor(over / span) % 2 === 0 ? [extra + min, sign] : [span - extra + min, -sign];
}

/** where padding puts a coordinate, with the derivative */
function padded(x: number, size: number, s: Sampling): [number, number] {
  if (s.padding === "zeros") return [x, 1];
  let [y, d] = [x, 1];
  if (s.padding === "reflection") [y, d] = s.aligned ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1);
  return y <= 0 ? [0, 0] : y >= size - 1 ? [size - 1, 0] : [y, d];
}

function halfToEven(x: number): number {
  const r = Math.round(x);
  return Math.abs(x % 1) === 0.5 && r % 2 !== 0 ? r - 1 : r;
}

const CUBIC = -0.75;
/** the cubic convolution kernel and its derivative at distance d */
function cubic(d: number): [number, number] {
  const [x, sign] = [Math.abs(d), Math.sign(d)];
  const a = CUBIC;
  if (x <= 1) return [((a + 2) * x - (a + 3)) * x * x + 1, sign * (3 * (a + 2) * x - 2 * (a + 3)) * x];
  if (x < 2) return [((a * x - 5 * a) * x + 8 * a) * x - 4 * a, sign * ((3 * a * x - 10 * a) * x + 8 * a)];
  return [0, 0];
}

function tapsOf(coordinate: number, size: number, s: Sampling): Tap[] {
  const unit = s.aligned ? (size - 1) / 2 : size / 2;
  const x = s.aligned ? (coordinate + 1) * unit : (coordinate + 1) * unit - 0.5;
  if (s.mode === "bicubic") {
    const first = Math.floor(x) - 1;
    return [0, 1, 2, 3].map(k => {
      const [weight, slope] = cubic(x - (first + k));
      return { at: Math.trunc(padded(first + k, size, s)[0]), weight, slope: slope * unit };
    });
  }
  const [y, d] = padded(x, size, s);
  if (s.mode === "nearest") return [{ at: halfToEven(y), weight: 1, slope: 0 }];
  const low = Math.floor(y);
  return [
    { at: low, weight: low + 1 - y, slope: -d * unit },
    { at: low + 1, weight: y - low, slope: d * unit },
  ];
}

/**
 * Calls f for each pixel that an output point reads: the point, the pixel, its weight and the weight's derivatives by the
 * grid's coordinates (x first).
 */
function forEachTap(
  ctx: ExternContext,
  grid: TensorView,
  spatial: readonly number[],
  s: Sampling,
  f: (batch: number, point: number, pixel: number, weight: number, slopes: readonly number[]) => void,
): void {
  const dims = spatial.length;
  const g = read(ctx.buffer, grid);
  const batches = grid.size[0] ?? 0;
  const points = volume(grid.size.slice(1, -1));
  for (let b = 0; b < batches; b++) {
    for (let p = 0; p < points; p++) {
      // the grid names the last dim first
      const taps = spatial.map((size, d) => tapsOf(g[(b * points + p) * dims + dims - 1 - d] ?? 0, size, s));
      const visit = (d: number, pixel: number, chosen: readonly Tap[]): void => {
        if (d < dims) {
          for (const t of taps[d] ?? [])
            if (t.at >= 0 && t.at < (spatial[d] ?? 0)) visit(d + 1, pixel * (spatial[d] ?? 0) + t.at, [...chosen, t]);
          return;
        }
        const without = (k: number): number => chosen.reduce((w, t, i) => (i === k ? w : w * t.weight), 1);
        const slopes = chosen.map((t, k) => t.slope * without(k)).reverse();
        f(b, p, pixel, without(-1), slopes);
      };
      visit(0, 0, []);
    }
  }
}

function samplingOf(step: ExternStep, ctx: ExternContext, from: number | null): Sampling {
  if (from === null) return { mode: "bilinear", padding: "zeros", aligned: true };
  const n = (k: number): number => numberOf(ctx, step.args[from + k], 0);
  return { mode: MODES[n(0)] ?? "bilinear", padding: PADDINGS[n(1)] ?? "zeros", aligned: n(2) !== 0 };
}

/** (input, grid, mode, padding, aligned); `fixed`: cuDNN's, which knows one way */
const sample =
  (fixed: boolean): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const [x, grid] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1)];
      const [, channels = 0, ...spatial] = x.size;
      const [values, pixels, points] = [read(ctx.buffer, x), volume(spatial), volume(grid.size.slice(1, -1))];
      const result = new Float64Array(numel(out.size));
      forEachTap(ctx, grid, spatial, samplingOf(step, ctx, fixed ? null : 2), (b, p, pixel, weight) => {
        for (let c = b * channels; c < (b + 1) * channels; c++)
          result[c * points + p] = (result[c * points + p] ?? 0) + weight * (values[c * pixels + pixel] ?? 0);
      });
      write(ctx.buffer, out, result);
    });

/** positions of input, grid and the output's gradient, and of the first of mode, padding, aligned */
const sampleBackward =
  (x0: number, grid0: number, grad0: number, from: number | null): ExternFunction =>
  (step, ctx) =>
    manyResults(step, ctx, ([dx, dgrid]) => {
      const [x, grid, grad] = [x0, grid0, grad0].map(k => tensorAt(step, ctx, k)) as [
        TensorView,
        TensorView,
        TensorView,
      ];
      const [, channels = 0, ...spatial] = x.size;
      const dims = spatial.length;
      const [pixels, points] = [volume(spatial), volume(grid.size.slice(1, -1))];
      const [values, g] = [read(ctx.buffer, x), read(ctx.buffer, grad)];
      const image = new Float64Array(numel(x.size));
      const moved = new Float64Array(numel(grid.size));
      forEachTap(ctx, grid, spatial, samplingOf(step, ctx, from), (b, p, pixel, weight, slopes) => {
        let dot = 0;
        for (let c = b * channels; c < (b + 1) * channels; c++) {
          const up = g[c * points + p] ?? 0;
          image[c * pixels + pixel] = (image[c * pixels + pixel] ?? 0) + weight * up;
          dot += up * (values[c * pixels + pixel] ?? 0);
        }
        for (const [d, slope] of slopes.entries()) {
          const at = (b * points + p) * dims + d;
          moved[at] = (moved[at] ?? 0) + slope * dot;
        }
      });
      if (dx) write(ctx.buffer, dx, image);
      if (dgrid) write(ctx.buffer, dgrid, moved);
    });

/** weights of a resized line's pixels, row by row (separable_upsample of ATen: a filter as wide as the step) */
function lineWeights(from: number, to: number, aligned: boolean, given: number | null, wide: boolean): Tap[][] {
  const scale = aligned ? (to > 1 ? (from - 1) / (to - 1) : 0) : given !== null && given > 0 ? 1 / given : from / to;
  const support = (wide ? 2 : 1) * Math.max(scale, 1);
  const squeeze = scale >= 1 ? 1 / scale : 1;
  return Array.from({ length: to }, (_, i) => {
    const center = scale * (i + 0.5);
    const first = Math.max(Math.trunc(center - support + 0.5), 0);
    const end = Math.min(Math.trunc(center + support + 0.5), from);
    const taps = Array.from({ length: Math.max(end - first, 0) }, (_u, k) => {
      const d = (k + first - center + 0.5) * squeeze;
      return { at: first + k, weight: wide ? keys(d) : Math.max(0, 1 - Math.abs(d)), slope: 0 };
    });
    const total = taps.reduce((s, t) => s + t.weight, 0) || 1;
    return taps.map(t => ({ ...t, weight: t.weight / total }));
  });
}

/** Keys' cubic with a = -0.5, as Pillow resizes */
function keys(d: number): number {
  const x = Math.abs(d);
  const a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

/** (x, output size, aligned, scales) or (grad, output size, input size, aligned, scales) */
const resize =
  (wide: boolean, backward: boolean): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const x = tensorAt(step, ctx, 0);
      const [small, large] = backward ? [out, x] : [x, out];
      const at = backward ? 3 : 2;
      const aligned = boolOf(argument(step, at, "align_corners"), false);
      const scale = (k: number, name: string): number | null => {
        const s = argument(step, at + k, name);
        return s === undefined || s.kind === "none" ? null : numberOf(ctx, s, 0);
      };
      const [hIn = 0, wIn = 0] = small.size.slice(2);
      const [hOut = 0, wOut = 0] = large.size.slice(2);
      const rows = lineWeights(hIn, hOut, aligned, scale(1, "scales_h"), wide);
      const columns = lineWeights(wIn, wOut, aligned, scale(2, "scales_w"), wide);
      const values = read(ctx.buffer, x);
      const result = new Float64Array(numel(out.size));
      const images = volume(x.size.slice(0, 2));
      for (let c = 0; c < images; c++)
        for (const [i, row] of rows.entries())
          for (const [j, column] of columns.entries())
            for (const r of row)
              for (const k of column) {
                const [pixel, point] = [(c * hIn + r.at) * wIn + k.at, (c * hOut + i) * wOut + j];
                const [to, of] = backward ? [pixel, point] : [point, pixel];
                result[to] = (result[to] ?? 0) + r.weight * k.weight * (values[of] ?? 0);
              }
      write(ctx.buffer, out, result);
    });

export const sampling: Readonly<Record<string, ExternFunction>> = {
  "aten.grid_sampler_2d": sample(false),
  "aten.grid_sampler_3d": sample(false),
  "aten.cudnn_grid_sampler": sample(true),
  "aten.grid_sampler_2d_backward": sampleBackward(1, 2, 0, 3),
  "aten.grid_sampler_3d_backward": sampleBackward(1, 2, 0, 3),
  "aten.cudnn_grid_sampler_backward": sampleBackward(0, 1, 2, null),
  "aten._upsample_bilinear2d_aa": resize(false, false),
  "aten._upsample_bicubic2d_aa": resize(true, false),
  "aten._upsample_bilinear2d_aa_backward": resize(false, true),
  "aten._upsample_bicubic2d_aa_backward": resize(true, true),
};
