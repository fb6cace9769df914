// topk, sort, order statistics, searches, histograms, distinct values.
import { read, write } from "../dense";
import { numel, type TensorView } from "../tensors";
import { linesAlong, sortedOrder } from "./along";
import { argument, boolOf, numberOf, optionalTensor, stringOf, tensorAt, wrapDim } from "./arguments";
import { manyResults, oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

const optional = (ctx: ExternContext, t: TensorView | null | undefined, values: ArrayLike<number>): void => {
  if (t) write(ctx.buffer, t, values);
};

function dimOf(step: ExternStep, ctx: ExternContext, position: number, x: TensorView, otherwise = -1): number {
  return wrapDim(numberOf(ctx, argument(step, position, "dim"), otherwise), x.size.length);
}

/** for each line along a dim, the chosen positions of its elements, as values and indices */
function choose(
  ctx: ExternContext,
  x: TensorView,
  dim: number,
  outs: readonly (TensorView | null | undefined)[],
  pick: (line: Float64Array) => readonly number[],
): void {
  const values = read(ctx.buffer, x);
  const from = linesAlong(x.size, dim);
  let width = 0;
  const chosen: { value: number; index: number }[][] = [];
  const line = new Float64Array(from.length);
  for (let l = 0; l < from.count; l++) {
    for (let i = 0; i < from.length; i++) line[i] = values[from.at(l, i)] as number;
    const order = pick(line);
    width = order.length;
    chosen.push(order.map(i => ({ value: line[i] as number, index: i })));
  }
  const to = linesAlong(
    x.size.map((s, d) => (d === dim ? width : s)),
    dim,
  );
  const [v, k] = [new Float64Array(to.count * width), new Float64Array(to.count * width)];
  chosen.forEach((c, l) => {
    c.forEach(({ value, index }, i) => {
      v[to.at(l, i)] = value;
      k[to.at(l, i)] = index;
    });
  });
  optional(ctx, outs[0], v);
  optional(ctx, outs[1], k);
}

const topk: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, outs => {
    const x = tensorAt(step, ctx, 0);
    const k = numberOf(ctx, argument(step, 1, "k"), 1);
    const largest = boolOf(argument(step, 3, "largest"), true);
    choose(ctx, x, dimOf(step, ctx, 2, x), outs, line => sortedOrder(line, largest).slice(0, k));
  });

/** the keywords' positions differ by overload: sort(self, dim, descending), sort.stable(self, *, stable, dim, descending) */
const sort: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, outs => {
    const x = tensorAt(step, ctx, 0);
    const stable = step.op.endsWith(".stable");
    const descending = boolOf(argument(step, stable ? 3 : 2, "descending"), false);
    choose(ctx, x, dimOf(step, ctx, stable ? 2 : 1, x), outs, line => sortedOrder(line, descending));
  });

const argsort: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const x = tensorAt(step, ctx, 0);
    choose(ctx, x, dimOf(step, ctx, 1, x), [null, out], line =>
      sortedOrder(line, boolOf(argument(step, 2, "descending"), false)),
    );
  });

const kthvalue: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, outs => {
    const x = tensorAt(step, ctx, 0);
    const k = numberOf(ctx, argument(step, 1, "k"), 1);
    choose(ctx, x, dimOf(step, ctx, 2, x), outs, line => sortedOrder(line, false).slice(k - 1, k));
  });

/** the lower of two middle values; a NaN wins unless they are left out */
function middle(line: Float64Array, skipNaN: boolean): number {
  const order = sortedOrder(line, false);
  const nan = order.findIndex(i => Number.isNaN(line[i]));
  if (nan >= 0 && !skipNaN) return order[nan] as number;
  const count = nan >= 0 ? nan : order.length;
  return count === 0 ? (order[0] ?? 0) : (order[Math.floor((count - 1) / 2)] as number);
}

const medianOf =
  (skipNaN: boolean): ExternFunction =>
  (step, ctx) => {
    const x = tensorAt(step, ctx, 0);
    if (step.op.endsWith(".dim"))
      return manyResults(step, ctx, outs =>
        choose(ctx, x, dimOf(step, ctx, 1, x), outs, line => [middle(line, skipNaN)]),
      );
    return oneResult(step, ctx, out => {
      const flat = Float64Array.from(read(ctx.buffer, x));
      write(ctx.buffer, out, [flat.length ? (flat[middle(flat, skipNaN)] as number) : Number.NaN]);
    });
  };

/** the most frequent value, the smallest of several; index of its last occurrence */
const mode: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, outs => {
    const x = tensorAt(step, ctx, 0);
    choose(ctx, x, dimOf(step, ctx, 1, x), outs, line => {
      const order = sortedOrder(line, false);
      let best = order[0] ?? 0;
      let count = 0;
      for (let i = 0; i < order.length; ) {
        let j = i;
        while (j < order.length && line[order[j] as number] === line[order[i] as number]) j++;
        const run = Math.max(1, j - i);
        if (run > count) {
          count = run;
          best = order[i + run - 1] as number;
        }
        i += run;
      }
      return [best];
    });
  });

const cumulativeExtreme =
  (better: (x: number, best: number) => boolean): ExternFunction =>
  (step, ctx) =>
    manyResults(step, ctx, outs => {
      const x = tensorAt(step, ctx, 0);
      choose(ctx, x, dimOf(step, ctx, 1, x), outs, line => {
        let best = 0;
        return Array.from(line, (v, i) => {
          const b = line[best] as number;
          if (Number.isNaN(v) || (!Number.isNaN(b) && better(v, b))) best = i;
          return best;
        });
      });
    });

function search(
  ctx: ExternContext,
  sequence: TensorView,
  values: TensorView | number,
  out: TensorView,
  right: boolean,
  sorter: TensorView | null,
): void {
  const s = read(ctx.buffer, sequence);
  const order = sorter ? read(ctx.buffer, sorter) : null;
  const v = typeof values === "number" ? [values] : read(ctx.buffer, values);
  const n = sequence.size[sequence.size.length - 1] ?? 0;
  const width = typeof values === "number" ? 1 : (values.size[values.size.length - 1] ?? 1);
  const shared = sequence.size.length <= 1;
  const found = Array.from({ length: v.length }, (_, i) => {
    const row = shared ? 0 : Math.floor(i / width) * n;
    const x = v[i] as number;
    let lo = 0;
    let hi = n;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      const at = order ? row + (order[row + mid] as number) : row + mid;
      const y = s[at] as number;
      if (right ? !(y > x) : !(y >= x)) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  });
  write(ctx.buffer, out, found);
}

const searchsorted: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const value = step.op.endsWith(".Scalar") ? numberOf(ctx, step.args[1], 0) : tensorAt(step, ctx, 1);
    const none = Number.POSITIVE_INFINITY; // keyword-only
    const right =
      boolOf(argument(step, none, "right"), false) || stringOf(argument(step, none, "side"), "left") === "right";
    search(ctx, tensorAt(step, ctx, 0), value, out, right, optionalTensor(step, ctx, none, "sorter"));
  });

const bucketize: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const value = step.op.endsWith(".Scalar") ? numberOf(ctx, step.args[0], 0) : tensorAt(step, ctx, 0);
    search(
      ctx,
      tensorAt(step, ctx, 1),
      value,
      out,
      boolOf(argument(step, Number.POSITIVE_INFINITY, "right"), false),
      null,
    );
  });

const histc: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const x = read(ctx.buffer, tensorAt(step, ctx, 0));
    const bins = numberOf(ctx, argument(step, 1, "bins"), 100);
    let low = numberOf(ctx, argument(step, 2, "min"), 0);
    let high = numberOf(ctx, argument(step, 3, "max"), 0);
    if (low === high) {
      low = Number.POSITIVE_INFINITY;
      high = Number.NEGATIVE_INFINITY;
      for (const v of x) {
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    }
    if (low === high) [low, high] = [low - 1, high + 1];
    const counts = new Float64Array(bins);
    for (const v of x) {
      if (!(v >= low && v <= high)) continue;
      const b = Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins));
      counts[b] = (counts[b] as number) + 1;
    }
    write(ctx.buffer, out, counts);
  });

const bincount: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const weights = optionalTensor(step, ctx, 1, "weights");
    const w = weights ? read(ctx.buffer, weights) : null;
    const counts = new Float64Array(numel(out.size));
    read(ctx.buffer, tensorAt(step, ctx, 0)).forEach((v, i) => {
      counts[v] = (counts[v] ?? 0) + (w ? (w[i] as number) : 1);
    });
    write(ctx.buffer, out, counts);
  });

export const ordering: Readonly<Record<string, ExternFunction>> = {
  "aten.topk": topk,
  "aten.sort": sort,
  "aten.argsort": argsort,
  "aten.kthvalue": kthvalue,
  "aten.median": medianOf(false),
  "aten.nanmedian": medianOf(true),
  "aten.mode": mode,
  "aten.cummax": cumulativeExtreme((x, best) => x >= best),
  "aten.cummin": cumulativeExtreme((x, best) => x <= best),
  "aten.searchsorted": searchsorted,
  "aten.bucketize": bucketize,
  "aten.histc": histc,
  "aten.bincount": bincount,
};
