// What is linear in its complex arguments, done by the operators of real tensors on the parts: once for each part where
// one argument is complex, as four products where two are.
import type { PlanArg } from "@fuselens/compiler/plan";
import { read } from "../dense";
import { PART_OF } from "../dtypes";
import { type Held, inParts, numel, type TensorView } from "../tensors";
import { argument, isTensor, tensorAt } from "./arguments";
import { each, isComplex, orReal, type Pair, pairOf, readPairs, realOf, times, writePairs } from "./complex";
import { convolution } from "./convolution";
import { dataDependent } from "./data_dependent";
import { elementwise } from "./elementwise";
import { indexing } from "./indexing";
import { broadcastTo, matmul } from "./matmul";
import { oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

type Part = 0 | 1;

/** one part of a complex tensor as a real tensor in the same memory; a real tensor as it is */
function partOf(t: TensorView, part: Part): TensorView {
  if (!isComplex(t)) return t;
  const parts = inParts(t);
  return {
    ...parts,
    size: t.size,
    stride: parts.stride.slice(0, -1),
    address: t.address + part * parts.itemSize,
  };
}

/** numbers among the arguments that stand for values, as that part of them */
function withValues(step: ExternStep, ctx: ExternContext, values: readonly number[], part: Part): ExternStep {
  const args = step.args.map((a, i): PlanArg => {
    if (!values.includes(i) || isTensor(a)) return a;
    return { kind: "number", value: pairOf(ctx, a, [0, 0])[part], float: true };
  });
  return { ...step, args };
}

/** the operator once for each part; `values`: positions of arguments that may be numbers to be stored */
function byParts(real: ExternFunction, values: readonly number[] = []): ExternFunction {
  const form: ExternFunction = (step, ctx) => {
    let made: Held | null = null;
    for (const part of [0, 1] as const) {
      real(withValues(step, ctx, values, part), {
        ...ctx,
        tensor: a => partOf(ctx.tensor(a), part),
        named: name => partOf(ctx.named(name), part),
        create: t => {
          made ??= ctx.create(t);
          return { base: made.base, view: partOf(made.view, part) };
        },
      });
    }
    return made ? [made] : written(step, ctx);
  };
  return orReal(form, real);
}

/** what an operator that writes its first argument gives: that argument, where a result is asked for */
function written(step: ExternStep, ctx: ExternContext): readonly Held[] {
  const [self] = step.args;
  if (!self || step.results.length === 0) return [];
  const held = ctx.held(self);
  ctx.machine.hold(held.base);
  return [held];
}

/** what an operator of two real tensors gives for the parts of its first two arguments, as numbers */
function productOf(
  real: ExternFunction,
  step: ExternStep,
  ctx: ExternContext,
  out: TensorView,
): { re: Float64Array; im: Float64Array } {
  const [first, second] = step.args;
  const once = (x: Part, y: Part): ArrayLike<number> => {
    const held = ctx.machine.create(out.size, out.stride, PART_OF[out.dtype] ?? out.dtype);
    try {
      real(
        { ...step, call: "out" },
        {
          ...ctx,
          tensor: arg => partOf(ctx.tensor(arg), arg === first ? x : arg === second ? y : 0),
          named: () => held.view,
        },
      );
      return read(ctx.buffer, held.view);
    } finally {
      ctx.machine.release(held.base);
    }
  };
  const none = new Float64Array(numel(out.size));
  const [left, right] = [first, second].map(arg => isTensor(arg) && isComplex(ctx.tensor(arg)));
  const [rr, ii] = [once(0, 0), left && right ? once(1, 1) : none];
  const [ri, ir] = [right ? once(0, 1) : none, left ? once(1, 0) : none];
  return {
    re: none.map((_, i) => (rr[i] as number) - (ii[i] as number)),
    im: none.map((_, i) => (ri[i] as number) + (ir[i] as number)),
  };
}

/** a product of arguments 0 and 1 */
function product(real: ExternFunction): ExternFunction {
  const form: ExternFunction = (step, ctx) =>
    oneResult(step, ctx, out => {
      const { re, im } = productOf(real, step, ctx, out);
      writePairs(ctx.buffer, out, re, im);
    });
  return orReal(form, real);
}

/** (input, a, b, beta, alpha): beta * input + alpha * product(a, b) */
function addedProduct(real: ExternFunction, plain: ExternFunction): ExternFunction {
  const form: ExternFunction = (step, ctx) =>
    oneResult(step, ctx, out => {
      const { re, im } = productOf(plain, { ...step, args: step.args.slice(1, 3), kwargs: [] }, ctx, out);
      const [beta, alpha] = [
        pairOf(ctx, argument(step, 3, "beta"), [1, 0]),
        pairOf(ctx, argument(step, 4, "alpha"), [1, 0]),
      ];
      const unread = beta[0] === 0 && beta[1] === 0;
      const input = unread ? null : readPairs(ctx.buffer, broadcastTo(tensorAt(step, ctx, 0), out.size));
      for (let i = 0; i < re.length; i++) {
        const [x, y] = times(alpha, [re[i] as number, im[i] as number]);
        const [u, v]: Pair = input ? times(beta, [input.re[i] as number, input.im[i] as number]) : [0, 0];
        [re[i], im[i]] = [x + u, y + v];
      }
      writePairs(ctx.buffer, out, re, im);
    });
  return orReal(form, real);
}

/** (input, weight, bias?, ...): the bias is added to the products of the parts, channel by channel */
function convolved(real: ExternFunction): ExternFunction {
  const form: ExternFunction = (step, ctx) =>
    oneResult(step, ctx, out => {
      const bias = step.args[2];
      const args = step.args.map((a, i): PlanArg => (i === 2 ? { kind: "none" } : a));
      const { re, im } = productOf(real, { ...step, args }, ctx, out);
      if (isTensor(bias)) {
        const channels = readPairs(ctx.buffer, ctx.tensor(bias));
        const inner = numel(out.size.slice(2));
        for (let i = 0; i < re.length; i++) {
          const c = Math.floor(i / inner) % channels.re.length;
          re[i] = (re[i] as number) + (channels.re[c] as number);
          im[i] = (im[i] as number) + (channels.im[c] as number);
        }
      }
      writePairs(ctx.buffer, out, re, im);
    });
  return orReal(form, real);
}

/** of the mask of what is not zero */
function ofMask(real: ExternFunction): ExternFunction {
  const form: ExternFunction = (step, ctx) => {
    const t = tensorAt(step, ctx, 0);
    const mask = ctx.machine.create(t.size, t.stride, "bool");
    try {
      const { re, im } = readPairs(ctx.buffer, t);
      writePairs(
        ctx.buffer,
        mask.view,
        re.map((x, i) => Number(x !== 0 || im[i] !== 0)),
        im,
      );
      return real(step, { ...ctx, tensor: () => mask.view });
    } finally {
      ctx.machine.release(mask.base);
    }
  };
  return orReal(form, real);
}

/** the source spread over the target; a real one's imaginary parts are zero */
const copyInto: ExternFunction = (step, ctx) => {
  if (step.results.length > 0) return each(1, x => x)(step, ctx); // copy_(source, non_blocking), to another device
  const [target, source] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1)];
  const { re, im } = readPairs(ctx.buffer, broadcastTo(source, target.size));
  writePairs(ctx.buffer, target, re, im);
  return [];
};

const [mm, bmm] = [realOf(matmul, "aten.mm"), realOf(matmul, "aten.bmm")];

/** argument 3 of the scatters is a tensor or a number */
const linear = (names: readonly string[], values: readonly number[] = []): Record<string, ExternFunction> =>
  Object.fromEntries(names.map(name => [name, byParts(realOf(indexing, name), values)]));

export const complexParts: Readonly<Record<string, ExternFunction>> = {
  ...linear(["aten.index", "aten._unsafe_index", "aten.gather"]),
  ...linear(["aten.index_put", "aten.index_put_", "aten._unsafe_index_put"]),
  ...linear(["aten.index_add", "aten.index_add_", "aten.index_copy", "aten.index_copy_"]),
  ...linear(["aten.scatter", "aten.scatter_add", "aten.scatter_", "aten.scatter_add_"], [3]),
  "aten.mm": product(mm),
  "aten.bmm": product(bmm),
  "aten.dot": product(realOf(matmul, "aten.dot")),
  "aten.mv": product(realOf(matmul, "aten.mv")),
  "aten.addmm": addedProduct(realOf(matmul, "aten.addmm"), mm),
  "aten.baddbmm": addedProduct(realOf(matmul, "aten.baddbmm"), bmm),
  "aten.convolution": convolved(realOf(convolution, "aten.convolution")),
  "aten.nonzero": ofMask(realOf(dataDependent, "aten.nonzero")),
  "aten.clone": orReal(
    each(1, x => x),
    realOf(elementwise, "aten.clone"),
  ),
  "aten.copy_": orReal(copyInto, realOf(elementwise, "aten.copy_")),
};
