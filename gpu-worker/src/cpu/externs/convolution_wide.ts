// Convolutions of float64 tensors, which the float32 products would round. In: what a convolution does, row-major values.
// Out: row-major values, accumulated in float64. Plain loops: nobody trains in float64, but gradients are checked in it.
import { fromColumns, type Geometry, toColumns, volume } from "./windows";

/** what both directions need; see Convolution */
export interface WideConvolution {
  readonly batch: number;
  readonly groups: number;
  readonly transposed: boolean;
  readonly inChannels: number;
  readonly outChannels: number;
  readonly inPlaces: number;
  readonly outPlaces: number;
  readonly windows: Geometry;
}

interface Part {
  /** one group of one image: over x and over y */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** [other, rows] of the group */
  readonly w: Float64Array;
  readonly rows: number;
  readonly other: number;
  readonly places: number;
}

function forEachPart(
  c: WideConvolution,
  x: Float64Array,
  w: Float64Array,
  y: Float64Array,
  f: (p: Part) => void,
): void {
  const rows = c.windows.channels * volume(c.windows.kernel);
  const other = (c.transposed ? c.inChannels : c.outChannels) / c.groups;
  const [ins, outs] = [(c.inChannels / c.groups) * c.inPlaces, (c.outChannels / c.groups) * c.outPlaces];
  for (let n = 0; n < c.batch; n++) {
    for (let k = 0; k < c.groups; k++) {
      const at = n * c.groups + k;
      f({
        x: x.subarray(at * ins, (at + 1) * ins),
        y: y.subarray(at * outs, (at + 1) * outs),
        w: w.subarray(k * other * rows, (k + 1) * other * rows),
        rows,
        other,
        places: volume(c.windows.output),
      });
    }
  }
}

/** out[o, p] += sum over r of w[o, r] * columns[r, p] */
function fromRows({ w, rows, other, places }: Part, columns: Float64Array, out: Float64Array): void {
  for (let o = 0; o < other; o++)
    for (let r = 0; r < rows; r++) {
      const factor = w[o * rows + r] as number;
      for (let p = 0; p < places; p++)
        out[o * places + p] = (out[o * places + p] as number) + factor * (columns[r * places + p] as number);
    }
}

/** image += the columns that sum over o of w[o, r] * plain[o, p] */
function intoImage(g: Geometry, { w, rows, other, places }: Part, plain: Float64Array, image: Float64Array): void {
  const columns = new Float64Array(rows * places);
  for (let o = 0; o < other; o++)
    for (let r = 0; r < rows; r++) {
      const factor = w[o * rows + r] as number;
      for (let p = 0; p < places; p++)
        columns[r * places + p] = (columns[r * places + p] as number) + factor * (plain[o * places + p] as number);
    }
  fromColumns(g, columns, image);
}

function columnsOf(g: Geometry, { rows, places }: Part, image: Float64Array): Float64Array {
  const columns = new Float64Array(rows * places);
  toColumns(g, image, columns);
  return columns;
}

export function wideForward(c: WideConvolution, x: Float64Array, w: Float64Array): Float64Array {
  const y = new Float64Array(c.batch * c.outChannels * c.outPlaces);
  forEachPart(c, x, w, y, p => {
    if (c.transposed) intoImage(c.windows, p, p.x, p.y);
    else fromRows(p, columnsOf(c.windows, p, p.x), p.y);
  });
  return y;
}

export function wideInputGradient(c: WideConvolution, dy: Float64Array, w: Float64Array): Float64Array {
  const dx = new Float64Array(c.batch * c.inChannels * c.inPlaces);
  forEachPart(c, dx, w, dy, p => {
    if (c.transposed) fromRows(p, columnsOf(c.windows, p, p.y), p.x);
    else intoImage(c.windows, p, p.y, p.x);
  });
  return dx;
}

export function wideWeightGradient(c: WideConvolution, dy: Float64Array, x: Float64Array, count: number): Float64Array {
  const dw = new Float64Array(count);
  forEachPart(c, x, dw, dy, p => {
    const columns = columnsOf(c.windows, p, c.transposed ? p.y : p.x);
    const plain = c.transposed ? p.x : p.y;
    for (let o = 0; o < p.other; o++)
      for (let r = 0; r < p.rows; r++) {
        let sum = 0;
        for (let q = 0; q < p.places; q++)
          sum += (plain[o * p.places + q] as number) * (columns[r * p.places + q] as number);
        p.w[o * p.rows + r] = (p.w[o * p.rows + r] as number) + sum;
      }
  });
  return dw;
}
