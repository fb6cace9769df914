// Random operators that stay calls. The GPU's generators are its own; these draw from the hash of fill.ts, so that a run
// is the same every time.
import { read, write } from "../dense";
import { accessor } from "../dtypes";
import { uniform } from "../fill";
import { forEachElement, numel } from "../tensors";
import { argument, boolOf, numberOf, tensorAt } from "./arguments";
import { oneResult } from "./results";
import type { ExternFunction, ExternStep } from "./types";

/** a stream of its own per call in the plan */
function streamOf(step: ExternStep): number {
  let h = 7;
  for (const c of step.output) h = (Math.imul(h, 31) + c.charCodeAt(0)) | 0;
  return h & 0xffff;
}

const draw =
  (
    value: (
      u: number,
      v: number,
      step: ExternStep,
      number: (position: number, name: string, otherwise: number) => number,
    ) => number,
  ): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out => {
      const k = streamOf(step);
      const number = (position: number, name: string, otherwise: number): number =>
        numberOf(ctx, argument(step, position, name), otherwise);
      const n = numel(out.size);
      write(
        ctx.buffer,
        out,
        Float64Array.from({ length: n }, (_, i) => value(uniform(i, k), uniform(i, k + 1), step, number)),
      );
    });

const normal = (u: number, v: number): number =>
  Math.sqrt(-2 * Math.log(Math.max(u, 1e-7))) * Math.cos(2 * Math.PI * v);

/** 64 random bits each */
const seeds: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const k = streamOf(step);
    const words = new BigInt64Array(ctx.buffer, out.address, numel(out.size));
    for (let i = 0; i < words.length; i++)
      words[i] = BigInt.asIntN(
        64,
        (BigInt(Math.floor(uniform(2 * i, k) * 2 ** 32)) << 32n) | BigInt(Math.floor(uniform(2 * i + 1, k) * 2 ** 32)),
      );
  });

const randperm: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const n = numel(out.size);
    const k = streamOf(step);
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = Math.floor(uniform(i, k) * (i + 1));
      [order[i], order[j]] = [order[j] as number, order[i] as number];
    }
    write(ctx.buffer, out, order);
  });

const multinomial: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const weights = tensorAt(step, ctx, 0);
    const w = Float64Array.from(read(ctx.buffer, weights));
    const width = weights.size[weights.size.length - 1] ?? 0;
    const samples = out.size[out.size.length - 1] ?? 0;
    const replacement = boolOf(argument(step, 2, "replacement"), false);
    const k = streamOf(step);
    const result: number[] = [];
    for (let row = 0; row * width < w.length; row++) {
      const left = w.slice(row * width, (row + 1) * width);
      for (let s = 0; s < samples; s++) {
        let target = uniform(result.length, k) * left.reduce((a, b) => a + b, 0);
        let pick = left.findIndex(x => {
          target -= x;
          return target < 0;
        });
        if (pick < 0) pick = left.length - 1;
        result.push(pick);
        if (!replacement) left[pick] = 0;
      }
    }
    write(ctx.buffer, out, result);
  });

const poisson: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const rates = read(ctx.buffer, tensorAt(step, ctx, 0));
    const element = accessor(ctx.buffer, out.dtype);
    const k = streamOf(step);
    forEachElement(out, (flat, address) => {
      const limit = Math.exp(-(rates[flat] as number));
      let count = 0;
      for (let p = uniform(flat, k); p > limit && count < 10_000; count++) p *= uniform(flat, k + 1 + count);
      element.set(address, count);
    });
  });

export const random: Readonly<Record<string, ExternFunction>> = {
  "aten.randint.low_out": seeds,
  "aten.randint.low": draw((u, _v, _s, n) => n(0, "low", 0) + Math.floor(u * (n(1, "high", 1) - n(0, "low", 0)))),
  "aten.randint.default": draw((u, _v, _s, n) => Math.floor(u * n(0, "high", 1))),
  "aten.rand": draw(u => u),
  "aten.randn": draw(normal),
  "prims.normal": draw(
    (u, v, _s, n) => n(Number.POSITIVE_INFINITY, "mean", 0) + n(Number.POSITIVE_INFINITY, "std", 1) * normal(u, v),
  ),
  "aten.normal_functional": draw((u, v, _s, n) => n(1, "mean", 0) + n(2, "std", 1) * normal(u, v)),
  "aten.uniform": draw((u, _v, _s, n) => n(1, "from", 0) + u * (n(2, "to", 1) - n(1, "from", 0))),
  // float16 has fewer whole numbers than any integer type that is filled
  "aten.random.default": draw(u => Math.floor(u * 2 ** 11)),
  "aten.random.from": draw((u, _v, _s, n) => {
    const from = n(1, "from", 0);
    return from + Math.floor(u * (n(2, "to", from + 2 ** 11) - from));
  }),
  "aten.random.to": draw((u, _v, _s, n) => Math.floor(u * n(1, "to", 1))),
  "aten.randperm": randperm,
  "aten.multinomial": multinomial,
  "aten.poisson": poisson,
};
