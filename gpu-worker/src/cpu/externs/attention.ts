// Scaled dot product attention and its gradients under the names of PyTorch's kernels (memory-efficient, flash, cuDNN).
// Scores of one head at a time: softmax(scale * Q K^T + bias) V. Dropout is not done: its random stream is the GPU's own.
import { denseView, intoDense, read, scatter, write } from "../dense";
import { gemm } from "../gemm";
import { numel, type TensorView } from "../tensors";
import { argument, boolOf, numberOf, optionalTensor, tensorAt } from "./arguments";
import { broadcastTo } from "./matmul";
import { manyResults } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

interface Problem {
  readonly q: TensorView;
  readonly k: TensorView;
  readonly v: TensorView;
  readonly bias: TensorView | null;
  readonly causal: boolean;
  readonly scale: number;
}

/** one head of a [batch, heads, length, width] tensor as a matrix; fewer heads are shared by equal groups */
function head(t: TensorView, batch: number, h: number, heads: number): TensorView {
  const [, own = 1, length = 0, width = 0] = t.size;
  const [sb = 0, sh = 0, sl = 0, sw = 0] = t.stride;
  const at = Math.floor((h * own) / heads);
  return { ...t, size: [length, width], stride: [sl, sw], address: t.address + (batch * sb + at * sh) * t.itemSize };
}

interface HeadScores {
  readonly batch: number;
  readonly h: number;
  /** address of the dense [rows, columns] probabilities */
  readonly weights: number;
  /** logarithm of each row's sum of exponentials */
  readonly logSums: Float64Array;
}

/** calls `f` with each head's probabilities */
function forEachHead(ctx: ExternContext, p: Problem, f: (s: HeadScores) => void): void {
  const { machine } = ctx;
  const [batches = 0, heads = 0, rows = 0] = p.q.size;
  const columns = p.k.size[2] ?? 0;
  const bias = p.bias && broadcastTo(p.bias, [batches, heads, rows, columns]);
  machine.borrow(4 * rows * columns, weights => {
    for (let batch = 0; batch < batches; batch++) {
      for (let h = 0; h < heads; h++) {
        const k = head(p.k, batch, h, heads);
        const turned = { ...k, size: [...k.size].reverse(), stride: [...k.stride].reverse() };
        gemm(machine, head(p.q, batch, h, heads), turned, weights, columns, false);
        const added = bias ? read(ctx.buffer, head(bias, batch, h, heads)) : null;
        const logSums = softmaxRows(new Float32Array(ctx.buffer, weights, rows * columns), rows, columns, added, p);
        f({ batch, h, weights, logSums });
      }
    }
  });
}

/** scores to probabilities, row by row, in place; a row that sees nothing is all zeros */
function softmaxRows(
  s: Float32Array,
  rows: number,
  columns: number,
  bias: ArrayLike<number> | null,
  p: Problem,
): Float64Array {
  const logSums = new Float64Array(rows);
  for (let r = 0; r < rows; r++) {
    const from = r * columns;
    const seen = p.causal ? Math.min(columns, r + 1) : columns;
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < seen; i++) {
      const x = (s[from + i] as number) * p.scale + (bias ? (bias[from + i] as number) : 0);
      s[from + i] = x;
      if (x > max) max = x;
    }
    let sum = 0;
    const shift = max === Number.NEGATIVE_INFINITY ? 0 : max;
    for (let i = 0; i < seen; i++) {
      const e = Math.exp((s[from + i] as number) - shift);
      s[from + i] = e;
      sum += e;
    }
    const scale = sum > 0 ? 1 / sum : 0;
    for (let i = 0; i < seen; i++) s[from + i] = (s[from + i] as number) * scale;
    s.fill(0, from + seen, from + columns);
    logSums[r] = sum > 0 ? shift + Math.log(sum) : Number.POSITIVE_INFINITY;
  }
  return logSums;
}

function forward(ctx: ExternContext, p: Problem, outs: readonly (TensorView | null)[]): void {
  const { machine } = ctx;
  const [out, logsumexp] = outs;
  for (const t of outs.slice(1)) if (t) write(ctx.buffer, t, new Float64Array(numel(t.size)));
  const [, heads = 0, rows = 0] = p.q.size;
  const columns = p.k.size[2] ?? 0;
  forEachHead(ctx, p, s => {
    if (out) {
      const target = head(out, s.batch, s.h, heads);
      machine.borrow(4 * numel(target.size), c => {
        gemm(
          machine,
          denseView(s.weights, [rows, columns]),
          head(p.v, s.batch, s.h, heads),
          c,
          target.size[1] ?? 0,
          false,
        );
        scatter(machine, target, c);
      });
    }
    if (logsumexp && numel(logsumexp.size) > 0) {
      // [batch, heads, length], the length padded; cuDNN's has a last dim of one
      const [sb = 0, sh = 0, sl = 0] = logsumexp.stride;
      const row = {
        ...logsumexp,
        size: [rows],
        stride: [sl],
        address: logsumexp.address + 4 * (s.batch * sb + s.h * sh),
      };
      write(ctx.buffer, row, s.logSums);
    }
  });
}

interface Gradients {
  readonly q: TensorView | null;
  readonly k: TensorView | null;
  readonly v: TensorView | null;
  readonly bias: TensorView | null;
}

function backward(ctx: ExternContext, p: Problem, grad: TensorView, out: TensorView, into: Gradients): void {
  const { machine } = ctx;
  const [, heads = 0, rows = 0, width = 0] = p.q.size;
  const columns = p.k.size[2] ?? 0;
  const valueWidth = p.v.size[3] ?? 0;
  // key and value heads may be shared: their gradients add up in float32 before they are stored
  const collected = (
    t: TensorView | null,
    f: (at: ((batch: number, h: number) => TensorView) | null) => void,
  ): void => {
    if (!t) return f(null);
    intoDense(machine, t, address => {
      new Float32Array(ctx.buffer, address, numel(t.size)).fill(0);
      const dense = denseView(address, t.size);
      f((batch, h) => head(dense, batch, h, heads));
    });
  };
  const biasGradient = into.bias ? new Float64Array(numel(into.bias.size)) : null;
  collected(into.q, dq =>
    collected(into.k, dk =>
      collected(into.v, dv =>
        machine.borrow(4 * rows * columns, ds => {
          forEachHead(ctx, p, s => {
            const g = head(grad, s.batch, s.h, heads);
            const weights = denseView(s.weights, [rows, columns]);
            const turn = (t: TensorView): TensorView => ({
              ...t,
              size: [...t.size].reverse(),
              stride: [...t.stride].reverse(),
            });
            if (dv) gemm(machine, turn(weights), g, dv(s.batch, s.h).address, valueWidth, true);
            gemm(machine, g, turn(head(p.v, s.batch, s.h, heads)), ds, columns, false);
            const gs = read(ctx.buffer, g);
            const os = read(ctx.buffer, head(out, s.batch, s.h, heads));
            const w = new Float32Array(ctx.buffer, s.weights, rows * columns);
            const d = new Float32Array(ctx.buffer, ds, rows * columns);
            for (let r = 0; r < rows; r++) {
              let dot = 0;
              for (let i = r * valueWidth; i < (r + 1) * valueWidth; i++) dot += (gs[i] as number) * (os[i] as number);
              for (let i = r * columns; i < (r + 1) * columns; i++) d[i] = (w[i] as number) * ((d[i] as number) - dot);
            }
            if (biasGradient && into.bias) addBroadcast(biasGradient, into.bias, d, [s.batch, s.h], rows, columns);
            for (let i = 0; i < d.length; i++) d[i] = (d[i] as number) * p.scale;
            const scores = denseView(ds, [rows, columns]);
            if (dq) gemm(machine, scores, head(p.k, s.batch, s.h, heads), dq(s.batch, s.h).address, width, true);
            if (dk) gemm(machine, turn(scores), head(p.q, s.batch, s.h, heads), dk(s.batch, s.h).address, width, true);
          });
        }),
      ),
    ),
  );
  if (biasGradient && into.bias) write(ctx.buffer, into.bias, biasGradient);
}

/** sums a head's gradient into a bias of [batch or 1, heads or 1, rows or 1, columns] */
function addBroadcast(
  to: Float64Array,
  t: TensorView,
  d: Float32Array,
  at: readonly number[],
  rows: number,
  columns: number,
): void {
  const [b = 1, h = 1, r = 1, c = 1] = t.size;
  const base = ((b === 1 ? 0 : (at[0] ?? 0)) * h + (h === 1 ? 0 : (at[1] ?? 0))) * r * c;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const k = base + (r === 1 ? 0 : i) * c + (c === 1 ? 0 : j);
      to[k] = (to[k] as number) + (d[i * columns + j] as number);
    }
  }
}

function problem(step: ExternStep, ctx: ExternContext, first: number, bias: number | null, causal: number): Problem {
  const q = tensorAt(step, ctx, first);
  return {
    q,
    k: tensorAt(step, ctx, first + 1),
    v: tensorAt(step, ctx, first + 2),
    bias: bias === null ? null : optionalTensor(step, ctx, bias, "attn_bias"),
    causal: boolOf(argument(step, causal, "is_causal"), false),
    scale: numberOf(ctx, argument(step, Number.POSITIVE_INFINITY, "scale"), 1 / Math.sqrt(q.size[3] ?? 1)),
  };
}

function refuseDropout(step: ExternStep, ctx: ExternContext, at: number): void {
  if (numberOf(ctx, argument(step, at, "dropout_p"), 0) > 0) ctx.fail("unsupported", `${step.op} with dropout`);
}

/** positions of attn_bias, dropout_p and is_causal after query, key, value */
const forwardCall =
  (bias: number | null, dropout: number, causal: number): ExternFunction =>
  (step, ctx) => {
    refuseDropout(step, ctx, dropout);
    return manyResults(step, ctx, outs => forward(ctx, problem(step, ctx, 0, bias, causal), outs));
  };

/** (grad_out, query, key, value, ...): where attn_bias, out, dropout_p and is_causal stand */
const backwardCall =
  (bias: number | null, out: number, dropout: number, causal: number): ExternFunction =>
  (step, ctx) => {
    refuseDropout(step, ctx, dropout);
    return manyResults(step, ctx, ([q = null, k = null, v = null, b = null]) =>
      backward(ctx, problem(step, ctx, 1, bias, causal), tensorAt(step, ctx, 0), tensorAt(step, ctx, out), {
        q,
        k,
        v,
        bias: b,
      }),
    );
  };

export const attention: Readonly<Record<string, ExternFunction>> = {
  "aten._scaled_dot_product_efficient_attention": forwardCall(3, 5, 6),
  "aten._scaled_dot_product_cudnn_attention": forwardCall(3, 5, 6),
  "aten._scaled_dot_product_flash_attention": forwardCall(null, 3, 4),
  "aten._scaled_dot_product_efficient_attention_backward": backwardCall(4, 5, 9, 11),
  "aten._scaled_dot_product_cudnn_attention_backward": backwardCall(8, 4, 13, 14),
  "aten._scaled_dot_product_flash_attention_backward": backwardCall(null, 4, 10, 11),
};
