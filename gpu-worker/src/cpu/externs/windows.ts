// Sliding windows over up to three spatial dims. In: sizes of a convolution. Out: columns (one row per element of a
// window, one column per place of the output) from an image, and the image summed up from columns again.
import type { Floats } from "../dense";

export interface Geometry {
  readonly channels: number;
  /** of the image that the windows slide over; always three dims, leading ones 1 */
  readonly input: readonly number[];
  readonly output: readonly number[];
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
}

/** to three dims: leading ones of no effect */
export const threeDims = (xs: readonly number[], otherwise: number): number[] => [
  ...new Array<number>(3 - xs.length).fill(otherwise),
  ...xs,
];

export const volume = (xs: readonly number[]): number => xs.reduce((a, b) => a * b, 1);

/** the window is one element and moves by one: columns are the image itself */
export function isPointwise(g: Geometry): boolean {
  return volume(g.kernel) === 1 && g.stride.every(s => s === 1) && g.padding.every(p => p === 0);
}

/**
 * Calls f for each run of outputs along the last dim that a window element sees inside the image: column row, first
 * output place, how many, first image element; image elements lie `stride` apart.
 */
function forEachRun(g: Geometry, f: (row: number, place: number, count: number, from: number) => void): void {
  const [id = 1, ih = 1, iw = 1] = g.input;
  const [od = 1, oh = 1, ow = 1] = g.output;
  const [kd = 1, kh = 1, kw = 1] = g.kernel;
  const [sd = 1, sh = 1, sw = 1] = g.stride;
  const [pd = 0, ph = 0, pw = 0] = g.padding;
  const [dd = 1, dh = 1, dw = 1] = g.dilation;
  let row = 0;
  for (let c = 0; c < g.channels; c++) {
    for (let a = 0; a < kd; a++) {
      for (let b = 0; b < kh; b++) {
        for (let e = 0; e < kw; e++, row++) {
          // output places whose image column lies in [0, iw)
          const shift = e * dw - pw;
          const lo = Math.max(0, Math.ceil(-shift / sw));
          const hi = Math.min(ow, Math.floor((iw - 1 - shift) / sw) + 1);
          if (hi <= lo) continue;
          for (let z = 0; z < od; z++) {
            const y0 = z * sd - pd + a * dd;
            if (y0 < 0 || y0 >= id) continue;
            for (let y = 0; y < oh; y++) {
              const y1 = y * sh - ph + b * dh;
              if (y1 < 0 || y1 >= ih) continue;
              f(row, (z * oh + y) * ow + lo, hi - lo, ((c * id + y0) * ih + y1) * iw + lo * sw + shift);
            }
          }
        }
      }
    }
  }
}

/** columns[row * places + place] from image (channels x input); what lies outside is 0 */
export function toColumns(g: Geometry, image: Floats, columns: Floats): void {
  const places = volume(g.output);
  const step = g.stride[2] ?? 1;
  columns.fill(0);
  forEachRun(g, (row, place, count, from) => {
    const at = row * places + place;
    if (step === 1) columns.set(image.subarray(from, from + count), at);
    else for (let i = 0; i < count; i++) columns[at + i] = image[from + i * step] as number;
  });
}

/** adds columns into the image that they came from */
export function fromColumns(g: Geometry, columns: Floats, image: Floats): void {
  const places = volume(g.output);
  const step = g.stride[2] ?? 1;
  forEachRun(g, (row, place, count, from) => {
    const at = row * places + place;
    for (let i = 0; i < count; i++)
      image[from + i * step] = (image[from + i * step] as number) + (columns[at + i] as number);
  });
}
