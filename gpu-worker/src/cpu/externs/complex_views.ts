// Views of complex tensors, which a graph keeps as calls, and what moves their elements.
import { type Held, inParts, narrow, type TensorView } from "../tensors";
import { argument, isTensor, numberOf, numbersOf, tensorAt, wrapDim } from "./arguments";
import { type Box, COMPLEX, isComplex, moved, pairOf, readPairs, writePairs } from "./complex";
import { oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

type Layout = Partial<TensorView>;

/** the argument's memory, laid out anew, once for each result */
const views =
  (lay: (t: TensorView, step: ExternStep, ctx: ExternContext) => readonly Layout[]): ExternFunction =>
  (step, ctx) => {
    const [arg] = step.args;
    const from: Held = arg && isTensor(arg) ? ctx.held(arg) : ctx.fail("invalid-job", `${step.op} lacks its tensor`);
    return lay(from.view, step, ctx).map(layout => {
      ctx.machine.hold(from.base);
      return { base: from.base, view: { ...from.view, ...layout } };
    });
  };

const view = (lay: (t: TensorView, step: ExternStep, ctx: ExternContext) => Layout): ExternFunction =>
  views((t, step, ctx) => [lay(t, step, ctx)]);

const inserted = <T>(xs: readonly T[], at: number, x: T): T[] => [...xs.slice(0, at), x, ...xs.slice(at)];

const permute = view((t, step, ctx) => {
  const order = numbersOf(ctx, step.args[1]).map(d => wrapDim(d, t.size.length));
  return { ...t, size: order.map(d => t.size[d] ?? 1), stride: order.map(d => t.stride[d] ?? 0) };
});

const unsqueeze = view((t, step, ctx) => {
  const d = wrapDim(numberOf(ctx, step.args[1], 0), t.size.length + 1);
  const stride = (t.size[d] ?? 1) * (t.stride[d] ?? 1);
  return { ...t, size: inserted(t.size, d, 1), stride: inserted(t.stride, d, stride) };
});

const slice = view((t, step, ctx) => {
  const d = wrapDim(numberOf(ctx, step.args[1], 0), t.size.length);
  const size = t.size[d] ?? 1;
  const bound = (x: number): number => Math.min(size, Math.max(0, x < 0 ? x + size : x));
  const begin = bound(numberOf(ctx, step.args[2], 0));
  const end = Math.max(begin, bound(numberOf(ctx, step.args[3], size)));
  const by = numberOf(ctx, step.args[4], 1);
  return narrow(t, d, begin, Math.ceil((end - begin) / by), by);
});

/** one place of a dim, which goes */
function at(t: TensorView, d: number, i: number): Layout {
  const one = narrow(t, d, i < 0 ? i + (t.size[d] ?? 1) : i, 1);
  return { ...one, size: t.size.filter((_, k) => k !== d), stride: t.stride.filter((_, k) => k !== d) };
}

const select = view((t, step, ctx) =>
  at(t, wrapDim(numberOf(ctx, step.args[1], 0), t.size.length), numberOf(ctx, step.args[2], 0)),
);

const unbind = views((t, step, ctx) => {
  const d = wrapDim(numberOf(ctx, argument(step, 1, "dim"), 0), t.size.length);
  return Array.from({ length: t.size[d] ?? 0 }, (_, i) => at(t, d, i));
});

/** pieces of one size (the last of the rest), or of the sizes given */
const split = views((t, step, ctx) => {
  const d = wrapDim(numberOf(ctx, argument(step, 2, "dim"), 0), t.size.length);
  const size = t.size[d] ?? 0;
  const [first = size, ...more] = numbersOf(ctx, step.args[1]);
  const sizes = step.args[1]?.kind === "list" ? [first, ...more] : pieces(size, first);
  let begin = 0;
  return sizes.map(s => {
    begin += s;
    return narrow(t, d, begin - s, s);
  });
});

const pieces = (size: number, piece: number): number[] =>
  Array.from({ length: Math.max(1, Math.ceil(size / piece)) }, (_, i) => Math.min(piece, size - i * piece));

const diagonal = view((t, step, ctx) => {
  const rank = t.size.length;
  const offset = numberOf(ctx, argument(step, 1, "offset"), 0);
  const [a, b] = [argument(step, 2, "dim1"), argument(step, 3, "dim2")].map((d, i) =>
    wrapDim(numberOf(ctx, d, i), rank),
  ) as [number, number];
  const [down, right] = [Math.max(0, -offset), Math.max(0, offset)];
  const length = Math.max(0, Math.min((t.size[a] ?? 0) - down, (t.size[b] ?? 0) - right));
  const rest = <T>(xs: readonly T[], last: T): T[] => [...xs.filter((_, d) => d !== a && d !== b), last];
  const [row, column] = [t.stride[a] ?? 0, t.stride[b] ?? 0];
  return {
    size: rest(t.size, length),
    stride: rest(t.stride, row + column),
    address: t.address + (down * row + right * column) * t.itemSize,
  };
});

/** windows of a dim, their elements in a last one */
const unfold = view((t, step, ctx) => {
  const d = wrapDim(numberOf(ctx, step.args[1], 0), t.size.length);
  const [size, by] = [numberOf(ctx, step.args[2], 1), numberOf(ctx, step.args[3], 1)];
  const windows = narrow(t, d, 0, Math.floor(((t.size[d] ?? 1) - size) / by) + 1, by);
  return { ...windows, size: [...windows.size, size], stride: [...windows.stride, t.stride[d] ?? 1] };
});

/** an offset counts from the start of the memory, which a tensor that is a view of it does not know */
const asStrided = view((t, step, ctx) => ({
  size: numbersOf(ctx, step.args[1]),
  stride: numbersOf(ctx, step.args[2]),
  address: t.address + numberOf(ctx, argument(step, 3, "storage_offset"), 0) * t.itemSize,
}));

const expand = view((t, step, ctx) => {
  const wanted = numbersOf(ctx, step.args[1]);
  const more = wanted.length - t.size.length;
  const size = wanted.map((s, d) => (s === -1 ? (t.size[d - more] ?? 1) : s));
  return { ...t, size, stride: size.map((s, d) => (t.size[d - more] === s ? (t.stride[d - more] ?? 0) : 0)) };
});

const squeeze = view((t, step, ctx) => {
  const given = numbersOf(ctx, step.args[1]).map(d => wrapDim(d, t.size.length));
  const stays = t.size.map((s, d) => s !== 1 || (given.length > 0 && !given.includes(d)));
  return { ...t, size: t.size.filter((_, d) => stays[d]), stride: t.stride.filter((_, d) => stays[d]) };
});

const asReal = view((t, step, ctx) =>
  isComplex(t) ? inParts(t) : ctx.fail("invalid-job", `${step.op} of ${t.dtype}`),
);

const asComplex = view((t, step, ctx) => ({
  size: t.size.slice(0, -1),
  stride: t.stride.slice(0, -1).map(s => s / 2),
  dtype: COMPLEX[t.dtype] ?? ctx.fail("invalid-job", `${step.op} of ${t.dtype}`),
  itemSize: 2 * t.itemSize,
}));

/** always a copy: nothing is written through a graph's views */
const reshape: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const { re, im } = readPairs(ctx.buffer, tensorAt(step, ctx, 0));
    writePairs(ctx.buffer, out, re, im);
  });

const boxOf = (ctx: ExternContext, t: TensorView): Box => ({ size: [...t.size], ...readPairs(ctx.buffer, t) });

const repeat: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const t = tensorAt(step, ctx, 0);
    const more = out.size.length - t.size.length;
    const { re, im } = moved(boxOf(ctx, t), out.size, x => [t.size.map((s, d) => (x[d + more] ?? 0) % s), 1]);
    writePairs(ctx.buffer, out, re, im);
  });

/** (self, pad, value): what is added before and after each dim, from the last on; less than none takes away */
const pad: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const t = tensorAt(step, ctx, 0);
    const added = numbersOf(ctx, step.args[1]);
    const before = t.size.map((_, d) => added[2 * (t.size.length - 1 - d)] ?? 0);
    const from = (x: readonly number[]): number[] => x.map((i, d) => i - (before[d] ?? 0));
    const { re, im } = moved(
      boxOf(ctx, t),
      out.size,
      x => (from(x).every((i, d) => i >= 0 && i < (t.size[d] ?? 0)) ? [from(x), 1] : null),
      pairOf(ctx, argument(step, 2, "value"), [0, 0]),
    );
    writePairs(ctx.buffer, out, re, im);
  });

const reverse: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const t = tensorAt(step, ctx, 0);
    const dims = numbersOf(ctx, step.args[1]).map(d => wrapDim(d, t.size.length));
    const { re, im } = moved(boxOf(ctx, t), out.size, place => [
      place.map((x, d) => (dims.includes(d) ? (t.size[d] ?? 1) - 1 - x : x)),
      1,
    ]);
    writePairs(ctx.buffer, out, re, im);
  });

const concatenate: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const [list] = step.args;
    const parts =
      list?.kind === "list" ? list.items.map(i => ctx.tensor(i)).filter(t => t.size.length === out.size.length) : [];
    const d = wrapDim(numberOf(ctx, argument(step, 1, "dim"), 0), out.size.length);
    let before = 0;
    for (const t of parts) {
      const size = t.size[d] ?? 0;
      const { re, im } = readPairs(ctx.buffer, t);
      writePairs(ctx.buffer, narrow(out, d, before, size), re, im);
      before += size;
    }
  });

/** their results are their arguments' memory */
export const complexViews: Readonly<Record<string, ExternFunction>> = {
  "aten.permute": permute,
  "aten.unsqueeze": unsqueeze,
  "aten.slice": slice,
  "aten.expand": expand,
  "aten.squeeze": squeeze,
  "aten.select": select,
  "aten.unbind": unbind,
  "aten.split": split,
  "aten.split_with_sizes": split,
  "aten.diagonal": diagonal,
  "aten.unfold": unfold,
  "aten.as_strided": asStrided,
  "aten.alias": view(t => t),
  "aten.view_as_real": asReal,
  "aten.view_as_complex": asComplex,
};

export const complexCopies: Readonly<Record<string, ExternFunction>> = {
  "aten.reshape": reshape,
  "aten.repeat": repeat,
  "aten.constant_pad_nd": pad,
  "prims.rev": reverse,
  "aten.cat": concatenate,
};
