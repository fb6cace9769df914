// Views of complex tensors, which a graph keeps as calls, and what moves their elements.
import type { Held, TensorView } from "../tensors";
import { argument, isTensor, numberOf, numbersOf, tensorAt, wrapDim } from "./arguments";
import { type Box, moved, readPairs, writePairs } from "./complex";
import { oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

type Layout = Pick<TensorView, "size" | "stride" | "address">;

/** the argument's memory, laid out anew */
const view =
  (lay: (t: TensorView, step: ExternStep, ctx: ExternContext) => Layout): ExternFunction =>
  (step, ctx) => {
    const [arg] = step.args;
    const from: Held = arg && isTensor(arg) ? ctx.held(arg) : ctx.fail("invalid-job", `${step.op} lacks its tensor`);
    ctx.machine.hold(from.base);
    return [{ base: from.base, view: { ...from.view, ...lay(from.view, step, ctx) } }];
  };

const inserted = <T>(xs: readonly T[], at: number, x: T): T[] => [...xs.slice(0, at), x, ...xs.slice(at)];
const replaced = <T>(xs: readonly T[], at: number, x: T): T[] => xs.map((y, i) => (i === at ? x : y));

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
  const [size, stride] = [t.size[d] ?? 1, t.stride[d] ?? 0];
  const bound = (x: number): number => Math.min(size, Math.max(0, x < 0 ? x + size : x));
  const begin = bound(numberOf(ctx, step.args[2], 0));
  const end = Math.max(begin, bound(numberOf(ctx, step.args[3], size)));
  const by = numberOf(ctx, step.args[4], 1);
  return {
    size: replaced(t.size, d, Math.ceil((end - begin) / by)),
    stride: replaced(t.stride, d, stride * by),
    address: t.address + begin * stride * t.itemSize,
  };
});

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

/** always a copy: nothing is written through a graph's views */
const reshape: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const { re, im } = readPairs(ctx.buffer, tensorAt(step, ctx, 0));
    writePairs(ctx.buffer, out, re, im);
  });

const boxOf = (ctx: ExternContext, t: TensorView): Box => ({ size: [...t.size], ...readPairs(ctx.buffer, t) });

const reverse: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const t = tensorAt(step, ctx, 0);
    const dims = numbersOf(ctx, step.args[1]).map(d => wrapDim(d, t.size.length));
    const { re, im } = moved(boxOf(ctx, t), out.size, at => [
      at.map((x, d) => (dims.includes(d) ? (t.size[d] ?? 1) - 1 - x : x)),
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
      // a part of the result that lies where it is written
      const place = { ...out, size: t.size, address: out.address + before * (out.stride[d] ?? 0) * out.itemSize };
      const { re, im } = readPairs(ctx.buffer, t);
      writePairs(ctx.buffer, place, re, im);
      before += t.size[d] ?? 0;
    }
  });

export const complexViews: Readonly<Record<string, ExternFunction>> = {
  "aten.permute": permute,
  "aten.unsqueeze": unsqueeze,
  "aten.slice": slice,
  "aten.expand": expand,
  "aten.squeeze": squeeze,
  "aten.reshape": reshape,
  "prims.rev": reverse,
  "aten.cat": concatenate,
};
