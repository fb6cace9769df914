// Functions of lists of tensors (torch._foreach_*) that Inductor leaves to ATen: one tensor after the other.
import { read, write } from "../dense";
import { numel, type TensorView } from "../tensors";
import { argument, isTensor, numberOf } from "./arguments";
import { broadcastTo } from "./matmul";
import { manyResults } from "./results";
import { erf, erfc, logGamma } from "./special";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** half to even */
function rounded(x: number): number {
  const r = Math.round(x);
  return Math.abs(x % 1) === 0.5 && r % 2 !== 0 ? r - 1 : r;
}

const UNARY: Readonly<Record<string, (x: number) => number>> = {
  abs: Math.abs,
  acos: Math.acos,
  asin: Math.asin,
  atan: Math.atan,
  ceil: Math.ceil,
  cos: Math.cos,
  cosh: Math.cosh,
  erf,
  erfc,
  exp: Math.exp,
  expm1: Math.expm1,
  floor: Math.floor,
  frac: x => x - Math.trunc(x),
  lgamma: logGamma,
  log: Math.log,
  log10: Math.log10,
  log1p: Math.log1p,
  log2: Math.log2,
  neg: x => -x,
  reciprocal: x => 1 / x,
  round: rounded,
  rsqrt: x => 1 / Math.sqrt(x),
  sigmoid,
  sign: Math.sign,
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  tan: Math.tan,
  tanh: Math.tanh,
  trunc: Math.trunc,
};

const larger = (a: number, b: number): number => (a > b || Number.isNaN(a) ? a : b);
const smaller = (a: number, b: number): number => (a < b || Number.isNaN(a) ? a : b);

const BINARY: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  maximum: larger,
  minimum: smaller,
  clamp_min: larger,
  clamp_max: smaller,
  pow: (a, b) => a ** b,
};

const MORE: Readonly<Record<string, (...x: number[]) => number>> = {
  addcmul: (a = 0, b = 0, c = 0, s = 1) => a + s * b * c,
  addcdiv: (a = 0, b = 0, c = 0, s = 1) => a + (s * b) / c,
  lerp: (a = 0, b = 0, w = 0) => a + w * (b - a),
};

/** the values that operand `position` has for tensor `i` of the lists, in the shape of its result */
function operand(
  step: ExternStep,
  ctx: ExternContext,
  position: number,
  i: number,
  out: TensorView,
): (at: number) => number {
  const given = argument(step, position);
  const arg = given?.kind === "list" ? given.items[i] : given;
  if (!isTensor(arg)) {
    const x = numberOf(ctx, arg, 1);
    return () => x;
  }
  const values = read(ctx.buffer, broadcastTo(ctx.tensor(arg), out.size));
  return at => values[at] as number;
}

const elementwise =
  (f: (...x: number[]) => number): ExternFunction =>
  (step, ctx) =>
    manyResults(step, ctx, outs => {
      for (const [i, out] of outs.entries()) {
        if (!out) continue;
        const operands = step.args.map((_, position) => operand(step, ctx, position, i, out));
        write(
          ctx.buffer,
          out,
          Float64Array.from({ length: numel(out.size) }, (_, at) => f(...operands.map(o => o(at)))),
        );
      }
    });

const norm: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, outs => {
    const ord = numberOf(ctx, argument(step, 1, "ord"), 2);
    const list = argument(step, 0);
    for (const [i, out] of outs.entries()) {
      const arg = list?.kind === "list" ? list.items[i] : undefined;
      if (!out || arg === undefined) continue;
      let total = 0;
      for (const x of read(ctx.buffer, ctx.tensor(arg))) {
        if (ord === Number.POSITIVE_INFINITY) total = Math.max(total, Math.abs(x));
        else total += ord === 0 ? Number(x !== 0) : Math.abs(x) ** ord;
      }
      write(ctx.buffer, out, [ord === 0 || !Number.isFinite(ord) ? total : total ** (1 / ord)]);
    }
  });

export const lists: Readonly<Record<string, ExternFunction>> = Object.fromEntries([
  ...[...Object.entries(UNARY), ...Object.entries(BINARY), ...Object.entries(MORE)].map(
    ([name, f]): [string, ExternFunction] => [`aten._foreach_${name}`, elementwise(f as (...x: number[]) => number)],
  ),
  ["aten._foreach_norm", norm],
]);
