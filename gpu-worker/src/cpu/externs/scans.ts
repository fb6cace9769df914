// Running sums, products and logarithms of summed exponentials along a dim.
import { read, write } from "../dense";
import { linesAlong } from "./along";
import { argument, numberOf, tensorAt, wrapDim } from "./arguments";
import { oneResult } from "./results";
import type { ExternFunction } from "./types";

const running =
  (step: (sum: number, x: number) => number): ExternFunction =>
  (call, ctx) =>
    oneResult(call, ctx, out => {
      const x = tensorAt(call, ctx, 0);
      const values = Float64Array.from(read(ctx.buffer, x));
      const lines = linesAlong(x.size, wrapDim(numberOf(ctx, argument(call, 1, "dim"), 0), x.size.length));
      for (let l = 0; l < lines.count; l++) {
        for (let i = 1; i < lines.length; i++) {
          const at = lines.at(l, i);
          values[at] = step(values[lines.at(l, i - 1)] as number, values[at] as number);
        }
      }
      write(ctx.buffer, out, values);
    });

function logAddExp(a: number, b: number): number {
  const max = Math.max(a, b);
  if (!Number.isFinite(max)) return max;
  return max + Math.log1p(Math.exp(Math.min(a, b) - max));
}

export const scans: Readonly<Record<string, ExternFunction>> = {
  "aten.cumsum": running((s, x) => s + x),
  "aten.cumprod": running((s, x) => s * x),
  "aten.logcumsumexp": running(logAddExp),
};
