// mm, addmm, bmm, baddbmm, dot. Products accumulate in float32, float64's and the integers' in float64.
import { gather, intoDense, read, write } from "../dense";
import { gemm } from "../gemm";
import { narrow, numel, type TensorView } from "../tensors";
import { argument, numberOf, tensorAt } from "./arguments";
import { oneResult } from "./results";
import type { ExternContext, ExternFunction } from "./types";

const isWide = (t: TensorView): boolean => t.dtype === "float64" || /int|bool/.test(t.dtype);

/** the view of one matrix in a batch */
export function matrix(t: TensorView, i: number): TensorView {
  const [, rows = 0, columns = 0] = t.size;
  const [batch = 0, row = 0, column = 0] = t.stride;
  const at = t.size[0] === 1 ? 0 : i;
  return { ...t, size: [rows, columns], stride: [row, column], address: t.address + at * batch * t.itemSize };
}

const batched = (t: TensorView): TensorView => ({ ...t, size: [1, ...t.size], stride: [0, ...t.stride] });

/** the view with leading and size-1 dims expanded by stride 0 */
export function broadcastTo(t: TensorView, size: readonly number[]): TensorView {
  const lead = size.length - t.size.length;
  const stride = size.map((_, d) => (d < lead || t.size[d - lead] === 1 ? 0 : (t.stride[d - lead] ?? 0)));
  return { ...t, size, stride };
}

interface Product {
  readonly a: TensorView;
  readonly b: TensorView;
  /** beta * input is added to alpha * (a @ b) */
  readonly input: TensorView | null;
  readonly alpha: number;
  readonly beta: number;
}

/** out = beta * input + alpha * (a @ b), batch by batch */
function multiply(ctx: ExternContext, out: TensorView, p: Product): void {
  const { machine } = ctx;
  if (isWide(p.a)) return multiplyWide(ctx, out, p);
  const [batch = 0, m = 0, n = 0] = out.size;
  const added = p.input !== null && p.beta !== 0;
  intoDense(machine, out, c => {
    // plain addition starts from the input, everything else is worked out after the product
    const starts = added && p.alpha === 1 && p.beta === 1 && p.input !== null;
    if (starts && p.input) gather(machine, broadcastTo(p.input, out.size), c);
    for (let i = 0; i < batch; i++) gemm(machine, matrix(p.a, i), matrix(p.b, i), c + 4 * i * m * n, n, starts);
    if (starts || (p.alpha === 1 && !added)) return;
    const product = new Float32Array(machine.buffer, c, numel(out.size));
    const input = added && p.input ? read(machine.buffer, broadcastTo(p.input, out.size)) : null;
    for (let i = 0; i < product.length; i++)
      product[i] = p.alpha * (product[i] as number) + (input ? p.beta * (input[i] as number) : 0);
  });
}

function multiplyWide(ctx: ExternContext, out: TensorView, p: Product): void {
  const [batch = 0, m = 0, n = 0] = out.size;
  const k = p.a.size[2] ?? 0;
  const a = read(ctx.buffer, broadcastTo(p.a, [batch, m, k]));
  const b = read(ctx.buffer, broadcastTo(p.b, [batch, k, n]));
  const input = p.input && p.beta !== 0 ? read(ctx.buffer, broadcastTo(p.input, out.size)) : null;
  const c = new Float64Array(batch * m * n);
  for (let i = 0; i < batch * m; i++) {
    const bAt = Math.floor(i / m) * k * n;
    for (let q = 0; q < k; q++) {
      const x = a[i * k + q] as number;
      for (let j = 0; j < n; j++) c[i * n + j] = (c[i * n + j] as number) + x * (b[bAt + q * n + j] as number);
    }
  }
  for (let i = 0; i < c.length; i++) c[i] = p.alpha * (c[i] as number) + (input ? p.beta * (input[i] as number) : 0);
  write(ctx.buffer, out, c);
}

const mm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out =>
    multiply(ctx, batched(out), {
      a: batched(tensorAt(step, ctx, 0)),
      b: batched(tensorAt(step, ctx, 1)),
      input: null,
      alpha: 1,
      beta: 0,
    }),
  );

const addmm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out =>
    multiply(ctx, batched(out), {
      input: tensorAt(step, ctx, 0),
      a: batched(tensorAt(step, ctx, 1)),
      b: batched(tensorAt(step, ctx, 2)),
      beta: numberOf(ctx, argument(step, 3, "beta"), 1),
      alpha: numberOf(ctx, argument(step, 4, "alpha"), 1),
    }),
  );

const bmm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out =>
    multiply(ctx, out, { a: tensorAt(step, ctx, 0), b: tensorAt(step, ctx, 1), input: null, alpha: 1, beta: 0 }),
  );

const baddbmm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out =>
    multiply(ctx, out, {
      input: tensorAt(step, ctx, 0),
      a: tensorAt(step, ctx, 1),
      b: tensorAt(step, ctx, 2),
      beta: numberOf(ctx, argument(step, 3, "beta"), 1),
      alpha: numberOf(ctx, argument(step, 4, "alpha"), 1),
    }),
  );

const dot: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const a = read(ctx.buffer, tensorAt(step, ctx, 0));
    const b = read(ctx.buffer, tensorAt(step, ctx, 1));
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
    write(ctx.buffer, out, [sum]);
  });

const mv: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const v = tensorAt(step, ctx, 1);
    const column: TensorView = { ...v, size: [v.size[0] ?? 0, 1], stride: [v.stride[0] ?? 1, 1] };
    const wide: TensorView = { ...out, size: [out.size[0] ?? 0, 1], stride: [out.stride[0] ?? 1, 1] };
    multiply(ctx, batched(wide), {
      a: batched(tensorAt(step, ctx, 0)),
      b: batched(column),
      input: null,
      alpha: 1,
      beta: 0,
    });
  });

/** fuselens.split_mm(a, b, pieces, depth): each piece's products of `depth` columns of a and rows of b, the last one's of the rest */
const splitMm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const [a, b] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1)];
    const depth = numberOf(ctx, argument(step, 3, "depth"), 0);
    const k = a.size[1] ?? 0;
    for (let p = 0; p < (out.size[0] ?? 0); p++) {
      const first = p * depth;
      const size = Math.min(depth, k - first);
      multiply(ctx, batched(matrix(out, p)), {
        a: batched(narrow(a, 1, first, size)),
        b: batched(narrow(b, 0, first, size)),
        input: null,
        alpha: 1,
        beta: 0,
      });
    }
  });

/** _scaled_mm(self, mat2, scale_a, scale_b, bias): (self * scale_a) @ (mat2 * scale_b) + bias, scales of one or of each row and column */
const scaledMm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const [a, b] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1)];
    const [m = 0, n = 0] = out.size;
    const k = a.size[1] ?? 0;
    const [x, y] = [read(ctx.buffer, a), read(ctx.buffer, b)];
    const scales = (i: number): ArrayLike<number> => {
      const t = tensorAt(step, ctx, i);
      return read(ctx.buffer, t.size.length === 2 ? broadcastTo(t, i === 2 ? [m, 1] : [1, n]) : t);
    };
    const [rows, columns] = [scales(2), scales(3)];
    const bias = step.args.length > 4 ? read(ctx.buffer, tensorAt(step, ctx, 4)) : null;
    const c = new Float64Array(m * n);
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let q = 0; q < k; q++) sum += (x[i * k + q] as number) * (y[q * n + j] as number);
        const scale = (rows[rows.length > 1 ? i : 0] as number) * (columns[columns.length > 1 ? j : 0] as number);
        c[i * n + j] = scale * sum + (bias ? (bias[j] as number) : 0);
      }
    write(ctx.buffer, out, c);
  });

export const matmul: Readonly<Record<string, ExternFunction>> = {
  "aten.mm": mm,
  "aten.addmm": addmm,
  "aten.bmm": bmm,
  "aten.baddbmm": baddbmm,
  "aten.dot": dot,
  "aten.mv": mv,
  "aten._int_mm": mm,
  "aten._scaled_mm": scaledMm,
  "fuselens.split_mm": splitMm,
};
