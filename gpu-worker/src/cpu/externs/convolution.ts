// Convolutions of one to three spatial dims, plain and transposed, and their gradients, as products over columns.
import { denseView, gather, intoDense, read, withDense, write } from "../dense";
import { gemm } from "../gemm";
import { numel, type TensorView } from "../tensors";
import { argument, boolOf, numberOf, numbersOf, optionalTensor, tensorAt } from "./arguments";
import { wideForward, wideInputGradient, wideWeightGradient } from "./convolution_wide";
import { manyResults, oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";
import { fromColumns, type Geometry, isPointwise, threeDims, toColumns, volume } from "./windows";

interface Convolution {
  readonly batch: number;
  readonly groups: number;
  readonly transposed: boolean;
  /** channels of x and of the result, all groups */
  readonly inChannels: number;
  readonly outChannels: number;
  readonly inPlaces: number;
  readonly outPlaces: number;
  /**
   * windows of one group: over x for a plain convolution (columns of x times weights), over the result for a transposed
   * one (weights times x gives columns of the result)
   */
  readonly windows: Geometry;
}

interface Options {
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
  readonly transposed: boolean;
  readonly groups: number;
}

function describe(x: readonly number[], w: readonly number[], y: readonly number[], o: Options): Convolution {
  const dims = x.length - 2;
  const all = (xs: readonly number[], otherwise: number): number[] =>
    threeDims(xs.length === dims ? xs : new Array<number>(dims).fill(xs[0] ?? otherwise), otherwise);
  const image = o.transposed ? y : x;
  const places = o.transposed ? x : y;
  return {
    batch: x[0] ?? 0,
    groups: o.groups,
    transposed: o.transposed,
    inChannels: x[1] ?? 0,
    outChannels: y[1] ?? 0,
    inPlaces: volume(x.slice(2)),
    outPlaces: volume(y.slice(2)),
    windows: {
      channels: (image[1] ?? 0) / o.groups,
      input: threeDims(image.slice(2), 1),
      output: threeDims(places.slice(2), 1),
      kernel: threeDims(w.slice(2), 1),
      stride: all(o.stride, 1),
      padding: threeDims(o.padding.length === dims ? o.padding : new Array<number>(dims).fill(o.padding[0] ?? 0), 0),
      dilation: all(o.dilation, 1),
    },
  };
}

const matrixAt = (address: number, rows: number, columns: number): TensorView => denseView(address, [rows, columns]);
const turned = (t: TensorView): TensorView => ({ ...t, size: [...t.size].reverse(), stride: [...t.stride].reverse() });
const floats = (ctx: ExternContext, address: number, count: number): Float32Array =>
  new Float32Array(ctx.buffer, address, count);

/** runs `f` with the columns of an image at `address` */
function withColumns(ctx: ExternContext, g: Geometry, address: number, f: (columns: number) => void): void {
  if (isPointwise(g)) return f(address);
  const rows = g.channels * volume(g.kernel);
  const places = volume(g.output);
  ctx.machine.borrow(4 * rows * places, columns => {
    toColumns(g, floats(ctx, address, g.channels * volume(g.input)), floats(ctx, columns, rows * places));
    f(columns);
  });
}

/** runs `f` with room for columns, which are then summed up into the image at `address`, cleared before */
function throughColumns(ctx: ExternContext, g: Geometry, address: number, f: (columns: number) => void): void {
  if (isPointwise(g)) return f(address);
  const rows = g.channels * volume(g.kernel);
  const places = volume(g.output);
  const image = floats(ctx, address, g.channels * volume(g.input)).fill(0);
  ctx.machine.borrow(4 * rows * places, columns => {
    f(columns);
    fromColumns(g, floats(ctx, columns, rows * places), image);
  });
}

/** y = the convolution of x with w, dense float32 all; w as [rows of x's or y's columns] matrices by group */
function forward(ctx: ExternContext, c: Convolution, x: number, w: number, y: number): void {
  const { windows: g, groups } = c;
  const rows = g.channels * volume(g.kernel);
  const other = (c.transposed ? c.inChannels : c.outChannels) / groups; // the channels that weights mix into
  for (let n = 0; n < c.batch; n++) {
    for (let k = 0; k < groups; k++) {
      const xAt = x + 4 * ((n * c.inChannels + (k * c.inChannels) / groups) * c.inPlaces);
      const yAt = y + 4 * ((n * c.outChannels + (k * c.outChannels) / groups) * c.outPlaces);
      const weights = matrixAt(w + 4 * k * other * rows, other, rows);
      if (c.transposed)
        throughColumns(ctx, g, yAt, columns =>
          gemm(ctx.machine, turned(weights), matrixAt(xAt, other, c.inPlaces), columns, c.inPlaces, false),
        );
      else
        withColumns(ctx, g, xAt, columns =>
          gemm(ctx.machine, weights, matrixAt(columns, rows, c.outPlaces), yAt, c.outPlaces, false),
        );
    }
  }
}

function inputGradient(ctx: ExternContext, c: Convolution, dy: number, w: number, dx: number): void {
  const { windows: g, groups } = c;
  const rows = g.channels * volume(g.kernel);
  const other = (c.transposed ? c.inChannels : c.outChannels) / groups;
  for (let n = 0; n < c.batch; n++) {
    for (let k = 0; k < groups; k++) {
      const dxAt = dx + 4 * ((n * c.inChannels + (k * c.inChannels) / groups) * c.inPlaces);
      const dyAt = dy + 4 * ((n * c.outChannels + (k * c.outChannels) / groups) * c.outPlaces);
      const weights = matrixAt(w + 4 * k * other * rows, other, rows);
      if (c.transposed)
        withColumns(ctx, g, dyAt, columns =>
          gemm(ctx.machine, weights, matrixAt(columns, rows, c.inPlaces), dxAt, c.inPlaces, false),
        );
      else
        throughColumns(ctx, g, dxAt, columns =>
          gemm(ctx.machine, turned(weights), matrixAt(dyAt, other, c.outPlaces), columns, c.outPlaces, false),
        );
    }
  }
}

function weightGradient(ctx: ExternContext, c: Convolution, dy: number, x: number, dw: number): void {
  const { windows: g, groups } = c;
  const rows = g.channels * volume(g.kernel);
  const other = (c.transposed ? c.inChannels : c.outChannels) / groups;
  floats(ctx, dw, groups * other * rows).fill(0);
  for (let n = 0; n < c.batch; n++) {
    for (let k = 0; k < groups; k++) {
      const xAt = x + 4 * ((n * c.inChannels + (k * c.inChannels) / groups) * c.inPlaces);
      const dyAt = dy + 4 * ((n * c.outChannels + (k * c.outChannels) / groups) * c.outPlaces);
      const at = dw + 4 * k * other * rows;
      const places = c.transposed ? c.inPlaces : c.outPlaces;
      const plain = matrixAt(c.transposed ? xAt : dyAt, other, places);
      withColumns(ctx, g, c.transposed ? dyAt : xAt, columns =>
        gemm(ctx.machine, plain, turned(matrixAt(columns, rows, places)), at, rows, true),
      );
    }
  }
}

const wide = (ctx: ExternContext, t: TensorView): Float64Array => Float64Array.from(read(ctx.buffer, t));

/** stride, padding, dilation, transposed, (output_padding), groups from position `at` on */
function optionsAt(step: ExternStep, ctx: ExternContext, at: number): Options {
  return {
    stride: numbersOf(ctx, argument(step, at, "stride")),
    padding: numbersOf(ctx, argument(step, at + 1, "padding")),
    dilation: numbersOf(ctx, argument(step, at + 2, "dilation")),
    transposed: boolOf(argument(step, at + 3, "transposed"), false),
    groups: numberOf(ctx, argument(step, at + 5, "groups"), 1),
  };
}

/** convolution(x, weight, bias?, stride, padding, dilation, transposed, output_padding, groups), sizes as keywords */
const convolve: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, y => {
    const { machine } = ctx;
    const x = tensorAt(step, ctx, 0);
    const w = tensorAt(step, ctx, 1);
    const bias = optionalTensor(step, ctx, 2, "bias");
    const c = describe(x.size, w.size, y.size, optionsAt(step, ctx, 3));
    if (x.dtype === "float64") {
      const out = wideForward(c, wide(ctx, x), wide(ctx, w));
      if (bias) {
        const values = read(ctx.buffer, bias);
        for (let i = 0; i < out.length; i++)
          out[i] = (out[i] as number) + (values[Math.floor(i / c.outPlaces) % c.outChannels] as number);
      }
      write(ctx.buffer, y, out);
      return;
    }
    withDense(machine, x, dx =>
      withDense(machine, w, dw =>
        intoDense(machine, y, dy => {
          forward(ctx, c, dx, dw, dy);
          if (!bias) return;
          machine.borrow(4 * c.outChannels, b => {
            gather(machine, bias, b);
            const values = floats(ctx, b, c.outChannels);
            const out = floats(ctx, dy, numel(y.size));
            for (let i = 0; i < c.batch * c.outChannels; i++) {
              const v = values[i % c.outChannels] as number;
              for (let p = i * c.outPlaces; p < (i + 1) * c.outPlaces; p++) out[p] = (out[p] as number) + v;
            }
          });
        }),
      ),
    );
  });

/** convolution_backward(grad_output, input, weight, bias_sizes, stride, ..., groups, output_mask) */
const convolveBackward: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([dx, dw, db]) => {
    const { machine } = ctx;
    const [dy, x, w] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1), tensorAt(step, ctx, 2)];
    const c = describe(x.size, w.size, dy.size, optionsAt(step, ctx, 4));
    if (x.dtype === "float64") {
      const grad = wide(ctx, dy);
      if (dx) write(ctx.buffer, dx, wideInputGradient(c, grad, wide(ctx, w)));
      if (dw) write(ctx.buffer, dw, wideWeightGradient(c, grad, wide(ctx, x), numel(w.size)));
      if (db) {
        const sums = new Float64Array(c.outChannels);
        grad.forEach((v, i) => {
          const channel = Math.floor(i / c.outPlaces) % c.outChannels;
          sums[channel] = (sums[channel] as number) + v;
        });
        write(ctx.buffer, db, sums);
      }
      return;
    }
    withDense(machine, dy, g => {
      if (dx) withDense(machine, w, dense => intoDense(machine, dx, to => inputGradient(ctx, c, g, dense, to)));
      if (dw) withDense(machine, x, dense => intoDense(machine, dw, to => weightGradient(ctx, c, g, dense, to)));
      if (db)
        intoDense(machine, db, to => {
          const grad = floats(ctx, g, numel(dy.size));
          const sums = new Float64Array(c.outChannels);
          for (let i = 0; i < c.batch * c.outChannels; i++) {
            let s = 0;
            for (let p = i * c.outPlaces; p < (i + 1) * c.outPlaces; p++) s += grad[p] as number;
            sums[i % c.outChannels] = (sums[i % c.outChannels] as number) + s;
          }
          floats(ctx, to, c.outChannels).set(sums);
        });
    });
  });

export const convolution: Readonly<Record<string, ExternFunction>> = {
  "aten.convolution": convolve,
  "aten.convolution_backward": convolveBackward,
};
