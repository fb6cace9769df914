// Products that are neither a matrix product nor a batch of them, and tensors made from a number.
import { read, write } from "../dense";
import { numel, type TensorView } from "../tensors";
import { argument, numberOf, numbersOf, tensorAt } from "./arguments";
import { broadcastTo } from "./matmul";
import { oneResult } from "./results";
import type { ExternFunction } from "./types";

/** beta * input + alpha * (the sum of a batch of products) */
const addbmm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const [a, b] = [tensorAt(step, ctx, 1), tensorAt(step, ctx, 2)];
    const [beta, alpha] = [numberOf(ctx, argument(step, 3, "beta"), 1), numberOf(ctx, argument(step, 4, "alpha"), 1)];
    const [batches = 0, rows = 0, inner = 0] = a.size;
    const columns = b.size[2] ?? 0;
    const [x, y] = [read(ctx.buffer, a), read(ctx.buffer, b)];
    const result = new Float64Array(rows * columns);
    if (beta !== 0) {
      const input = read(ctx.buffer, broadcastTo(tensorAt(step, ctx, 0), out.size));
      for (let i = 0; i < result.length; i++) result[i] = beta * (input[i] ?? 0);
    }
    for (let n = 0; n < batches; n++)
      for (let i = 0; i < rows; i++)
        for (let j = 0; j < columns; j++) {
          let s = 0;
          for (let k = 0; k < inner; k++)
            s += (x[(n * rows + i) * inner + k] ?? 0) * (y[(n * inner + k) * columns + j] ?? 0);
          result[i * columns + j] = (result[i * columns + j] ?? 0) + alpha * s;
        }
    write(ctx.buffer, out, result);
  });

/** (i1, i2, i3, expand1, expand2, expand3, sumdim): the factors get dims of size 1, are multiplied, and summed over dims */
const trilinear: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const rank = tensorAt(step, ctx, 0).size.length + numbersOf(ctx, step.args[3]).length;
    const factors = [0, 1, 2].map((i): TensorView => {
      const t = tensorAt(step, ctx, i);
      const added = numbersOf(ctx, step.args[3 + i]).map(d => (d < 0 ? d + rank : d));
      const [size, stride] = [[...t.size], [...t.stride]];
      for (let d = 0; d < rank; d++) {
        if (!added.includes(d)) continue;
        size.splice(d, 0, 1);
        stride.splice(d, 0, 0);
      }
      return { ...t, size, stride };
    });
    const whole = Array.from({ length: rank }, (_, d) => Math.max(...factors.map(f => f.size[d] ?? 1)));
    const values = factors.map(f => read(ctx.buffer, broadcastTo(f, whole)));
    const summed = numbersOf(ctx, step.args[6]).map(d => (d < 0 ? d + rank : d));
    const result = new Float64Array(numel(out.size));
    for (let flat = 0; flat < numel(whole); flat++) {
      let [rest, at, step1] = [flat, 0, 1];
      for (let d = rank - 1; d >= 0; d--) {
        const n = whole[d] ?? 1;
        if (!summed.includes(d)) {
          at += (rest % n) * step1;
          step1 *= n;
        }
        rest = Math.floor(rest / n);
      }
      result[at] = (result[at] ?? 0) + values.reduce((p, v) => p * (v[flat] ?? 0), 1);
    }
    write(ctx.buffer, out, result);
  });

export const products: Readonly<Record<string, ExternFunction>> = {
  "aten.addbmm": addbmm,
  "aten._trilinear": trilinear,
  "aten._efficientzerotensor": (step, ctx) =>
    oneResult(step, ctx, out => write(ctx.buffer, out, new Float64Array(numel(out.size)))),
  "prims.scalar_tensor": (step, ctx) =>
    oneResult(step, ctx, out => {
      const arg = step.args[0];
      write(ctx.buffer, out, [numberOf(ctx, arg, 0)]);
    }),
};
