// Gradients of v * (g / ||v||), the norm over all dimensions but one (ATen's _weight_norm_interface_backward).
import { read, write } from "../dense";
import { numberOf, tensorAt } from "./arguments";
import { manyResults } from "./results";
import type { ExternFunction } from "./types";

/** (grad_w, saved_v, saved_g, saved_norms, dim) */
const backward: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([dv, dg]) => {
    const { size } = tensorAt(step, ctx, 1);
    const [w, v, g, norms] = [0, 1, 2, 3].map(i => Float64Array.from(read(ctx.buffer, tensorAt(step, ctx, i)))) as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const dim = numberOf(ctx, step.args[4], 0);
    const inner = size.slice(dim + 1).reduce((a, b) => a * b, 1);
    const row = (i: number): number => Math.floor(i / inner) % (size[dim] ?? 1);
    const products = new Float64Array(g.length);
    for (let i = 0; i < v.length; i++) products[row(i)] = (products[row(i)] ?? 0) + (w[i] ?? 0) * (v[i] ?? 0);
    const norm = (r: number): number => norms[r] ?? 0;
    if (dg)
      write(
        ctx.buffer,
        dg,
        products.map((p, r) => p / norm(r)),
      );
    if (!dv) return;
    const own = v.map((x, i) => {
      const r = row(i);
      return ((g[r] ?? 0) / norm(r)) * ((w[i] ?? 0) - (x * (products[r] ?? 0)) / (norm(r) * norm(r)));
    });
    write(ctx.buffer, dv, own);
  });

export const weightNorm: Readonly<Record<string, ExternFunction>> = {
  "aten._weight_norm_interface_backward": backward,
};
