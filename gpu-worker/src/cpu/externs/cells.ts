// One step of an LSTM or a GRU with its gates in one kernel, and the gradients (ATen's _thnn_fused_* cells). Gates lie side
// by side in a row: input, forget, cell, output; reset, update, new.
import { read, write } from "../dense";
import { numel, type TensorView } from "../tensors";
import { boolOf, optionalTensor, tensorAt } from "./arguments";
import { manyResults } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const slope = (s: number): number => s * (1 - s);

type Reader = (row: number, column: number) => number;

function rows(ctx: ExternContext, t: TensorView | null): Reader {
  if (!t) return () => 0;
  const values = read(ctx.buffer, t);
  const width = t.size[t.size.length - 1] ?? 0;
  return t.size.length === 1 ? (_, j) => values[j] ?? 0 : (i, j) => values[i * width + j] ?? 0;
}

/** a result filled cell by cell, stored at the end */
class Sheet {
  private readonly values: Float64Array;
  private readonly width: number;

  constructor(private readonly out: TensorView | null | undefined) {
    this.values = new Float64Array(out ? numel(out.size) : 0);
    this.width = out?.size[out.size.length - 1] ?? 0;
  }
  set(row: number, column: number, x: number): void {
    if (this.out) this.values[row * this.width + column] = x;
  }
  store(ctx: ExternContext): void {
    if (this.out) write(ctx.buffer, this.out, this.values);
  }
}

/** sums of a result's rows, for the gradient of a bias */
function columnSums(ctx: ExternContext, out: TensorView | null | undefined, batch: number, of: Reader): void {
  if (!out) return;
  const sums = Float64Array.from({ length: numel(out.size) }, (_, j) => {
    let s = 0;
    for (let i = 0; i < batch; i++) s += of(i, j);
    return s;
  });
  write(ctx.buffer, out, sums);
}

function shapeOf(t: TensorView): { batch: number; hidden: number } {
  const [batch = 1, hidden = 1] = t.size;
  return { batch, hidden };
}

const optional = (step: ExternStep, ctx: ExternContext, at: number): Reader => rows(ctx, optionalTensor(step, ctx, at));

const lstm: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([hy, cy, workspace]) => {
    const { batch, hidden } = shapeOf(tensorAt(step, ctx, 2));
    const parts = [0, 1, 3, 4].map(k => optional(step, ctx, k));
    const c = rows(ctx, tensorAt(step, ctx, 2));
    const sheets = [hy, cy, workspace].map(t => new Sheet(t)) as [Sheet, Sheet, Sheet];
    for (let i = 0; i < batch; i++) {
      for (let j = 0; j < hidden; j++) {
        const gate = (g: number): number => parts.reduce((s, p) => s + p(i, g * hidden + j), 0);
        const gates = [sigmoid(gate(0)), sigmoid(gate(1)), Math.tanh(gate(2)), sigmoid(gate(3))] as const;
        const next = gates[1] * c(i, j) + gates[0] * gates[2];
        sheets[0].set(i, j, gates[3] * Math.tanh(next));
        sheets[1].set(i, j, next);
        for (const [g, x] of gates.entries()) sheets[2].set(i, g * hidden + j, x);
      }
    }
    for (const s of sheets) s.store(ctx);
  });

/** (grad_hy?, grad_cy?, cx, cy, workspace, has_bias) */
const lstmBackward: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([gates, gradCell, bias]) => {
    const { batch, hidden } = shapeOf(tensorAt(step, ctx, 2));
    const [gh, gc] = [optional(step, ctx, 0), optional(step, ctx, 1)];
    const [cx, cy, w] = [2, 3, 4].map(k => rows(ctx, tensorAt(step, ctx, k))) as [Reader, Reader, Reader];
    const whole = new Map<number, number>();
    const sheet = new Sheet(gates);
    const cell = new Sheet(gradCell);
    for (let i = 0; i < batch; i++) {
      for (let j = 0; j < hidden; j++) {
        const [ig, fg, cg, og] = [0, 1, 2, 3].map(g => w(i, g * hidden + j)) as [number, number, number, number];
        const t = Math.tanh(cy(i, j));
        const dc = gh(i, j) * og * (1 - t * t) + gc(i, j);
        const d = [dc * cg * slope(ig), dc * cx(i, j) * slope(fg), dc * ig * (1 - cg * cg), gh(i, j) * t * slope(og)];
        for (const [g, x] of d.entries()) {
          sheet.set(i, g * hidden + j, x);
          whole.set(i * 4 * hidden + g * hidden + j, x);
        }
        cell.set(i, j, dc * fg);
      }
    }
    sheet.store(ctx);
    cell.store(ctx);
    if (boolOf(step.args[5], true)) columnSums(ctx, bias, batch, (i, j) => whole.get(i * 4 * hidden + j) ?? 0);
  });

/** the workspace holds reset, update, new, hx and the hidden part of new */
const gru: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([hy, workspace]) => {
    const { batch, hidden } = shapeOf(tensorAt(step, ctx, 2));
    const [x, h, hx] = [0, 1, 2].map(k => rows(ctx, tensorAt(step, ctx, k))) as [Reader, Reader, Reader];
    const [bx, bh] = [optional(step, ctx, 3), optional(step, ctx, 4)];
    const sheets = [new Sheet(hy), new Sheet(workspace)] as const;
    for (let i = 0; i < batch; i++) {
      for (let j = 0; j < hidden; j++) {
        const input = (g: number): number => x(i, g * hidden + j) + bx(i, g * hidden + j);
        const own = (g: number): number => h(i, g * hidden + j) + bh(i, g * hidden + j);
        const [r, z] = [sigmoid(input(0) + own(0)), sigmoid(input(1) + own(1))];
        const n = Math.tanh(input(2) + r * own(2));
        sheets[0].set(i, j, n + z * (hx(i, j) - n));
        for (const [g, v] of [r, z, n, hx(i, j), own(2)].entries()) sheets[1].set(i, g * hidden + j, v);
      }
    }
    for (const s of sheets) s.store(ctx);
  });

/** (grad_hy, workspace, has_bias) */
const gruBackward: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([gi, gh, ghx, bi, bh]) => {
    const { batch, hidden } = shapeOf(tensorAt(step, ctx, 0));
    const [g, w] = [0, 1].map(k => rows(ctx, tensorAt(step, ctx, k))) as [Reader, Reader];
    const [input, own, previous] = [new Sheet(gi), new Sheet(gh), new Sheet(ghx)];
    const all: [number, number][] = [];
    for (let i = 0; i < batch; i++) {
      for (let j = 0; j < hidden; j++) {
        const [r, z, n, hx, hn] = [0, 1, 2, 3, 4].map(k => w(i, k * hidden + j)) as [
          number,
          number,
          number,
          number,
          number,
        ];
        const dn = g(i, j) * (1 - z) * (1 - n * n);
        const [dr, dz] = [dn * hn * slope(r), g(i, j) * (hx - n) * slope(z)];
        for (const [k, v] of [dr, dz, dn].entries()) input.set(i, k * hidden + j, v);
        for (const [k, v] of [dr, dz, dn * r].entries()) {
          own.set(i, k * hidden + j, v);
          all[i * 3 * hidden + k * hidden + j] = [k === 2 ? dn : v, v];
        }
        previous.set(i, j, g(i, j) * z);
      }
    }
    for (const s of [input, own, previous]) s.store(ctx);
    if (!boolOf(step.args[2], true)) return;
    columnSums(ctx, bi, batch, (i, j) => all[i * 3 * hidden + j]?.[0] ?? 0);
    columnSums(ctx, bh, batch, (i, j) => all[i * 3 * hidden + j]?.[1] ?? 0);
  });

export const cells: Readonly<Record<string, ExternFunction>> = {
  "aten._thnn_fused_lstm_cell": lstm,
  "aten._thnn_fused_lstm_cell_backward_impl": lstmBackward,
  "aten._thnn_fused_gru_cell": gru,
  "aten._thnn_fused_gru_cell_backward": gruBackward,
};
