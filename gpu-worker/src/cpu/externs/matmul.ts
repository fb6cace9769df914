// mm, addmm, bmm, baddbmm. Operands are packed row-major, products accumulate in the operands' float width.
import type { ExternFunction } from "../externs";
import { argument, numberOf, outTensor, tensorAt } from "./arguments";
import { dense, type Floats, store } from "./dense";

/** c[m,n] = a[m,k] @ b[k,n], blocked over k and n so that a block of b stays in cache */
export function product(a: Floats, b: Floats, m: number, k: number, n: number): Floats {
  const c: Floats =
    a instanceof Float64Array || b instanceof Float64Array ? new Float64Array(m * n) : new Float32Array(m * n);
  const KB = 64;
  const NB = 512;
  for (let k0 = 0; k0 < k; k0 += KB) {
    const k1 = Math.min(k, k0 + KB);
    for (let n0 = 0; n0 < n; n0 += NB) {
      const n1 = Math.min(n, n0 + NB);
      for (let i = 0; i < m; i++) {
        const row = i * n;
        for (let p = k0; p < k1; p++) {
          const x = a[i * k + p] as number;
          const from = p * n;
          for (let j = n0; j < n1; j++) c[row + j] = (c[row + j] as number) + x * (b[from + j] as number);
        }
      }
    }
  }
  return c;
}

const mm: ExternFunction = (step, ctx) => {
  const a = tensorAt(step, ctx, 0);
  const b = tensorAt(step, ctx, 1);
  const [m = 0, k = 0] = a.size;
  const n = b.size[1] ?? 0;
  store(outTensor(step, ctx), product(dense(a, ctx.buffer), dense(b, ctx.buffer), m, k, n), ctx.buffer);
  return [];
};

const addmm: ExternFunction = (step, ctx) => {
  const bias = tensorAt(step, ctx, 0);
  const a = tensorAt(step, ctx, 1);
  const b = tensorAt(step, ctx, 2);
  const alpha = numberOf(argument(step, 3, "alpha"), 1);
  const beta = numberOf(argument(step, 4, "beta"), 1);
  const [m = 0, k = 0] = a.size;
  const n = b.size[1] ?? 0;
  const c = product(dense(a, ctx.buffer), dense(b, ctx.buffer), m, k, n);
  scaleAndAdd(c, dense(broadcastTo(bias, [m, n]), ctx.buffer), alpha, beta);
  store(outTensor(step, ctx), c, ctx.buffer);
  return [];
};

function batched(a: Floats, b: Floats, batch: number, m: number, k: number, n: number): Floats {
  const c: Floats = a instanceof Float64Array ? new Float64Array(batch * m * n) : new Float32Array(batch * m * n);
  for (let i = 0; i < batch; i++) {
    c.set(product(a.subarray(i * m * k, (i + 1) * m * k), b.subarray(i * k * n, (i + 1) * k * n), m, k, n), i * m * n);
  }
  return c;
}

const bmm: ExternFunction = (step, ctx) => {
  const a = tensorAt(step, ctx, 0);
  const b = tensorAt(step, ctx, 1);
  const [batch = 0, m = 0, k = 0] = a.size;
  store(
    outTensor(step, ctx),
    batched(dense(a, ctx.buffer), dense(b, ctx.buffer), batch, m, k, b.size[2] ?? 0),
    ctx.buffer,
  );
  return [];
};

const baddbmm: ExternFunction = (step, ctx) => {
  const bias = tensorAt(step, ctx, 0);
  const a = tensorAt(step, ctx, 1);
  const b = tensorAt(step, ctx, 2);
  const alpha = numberOf(argument(step, 3, "alpha"), 1);
  const beta = numberOf(argument(step, 4, "beta"), 1);
  const [batch = 0, m = 0, k = 0] = a.size;
  const n = b.size[2] ?? 0;
  const c = batched(dense(a, ctx.buffer), dense(b, ctx.buffer), batch, m, k, n);
  scaleAndAdd(c, dense(broadcastTo(bias, [batch, m, n]), ctx.buffer), alpha, beta);
  store(outTensor(step, ctx), c, ctx.buffer);
  return [];
};

function scaleAndAdd(c: Floats, bias: Floats, alpha: number, beta: number): void {
  for (let i = 0; i < c.length; i++) c[i] = alpha * (c[i] as number) + beta * (bias[i] as number);
}

/** the view with leading and size-1 dims expanded by stride 0 */
function broadcastTo(t: ReturnType<typeof tensorAt>, size: readonly number[]): ReturnType<typeof tensorAt> {
  const lead = size.length - t.size.length;
  const stride = size.map((_, d) => (d < lead || t.size[d - lead] === 1 ? 0 : (t.stride[d - lead] ?? 0)));
  return { ...t, size, stride };
}

export const matmul: Readonly<Record<string, ExternFunction>> = {
  "aten.mm": mm,
  "aten.addmm": addmm,
  "aten.bmm": bmm,
  "aten.baddbmm": baddbmm,
};
