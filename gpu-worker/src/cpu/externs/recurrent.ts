// Calls of whole recurrent layers and their gradients (ATen's _cudnn_rnn). In: [time, batch, width], or batch first; weights by
// layer and direction: w_ih, w_hh, b_ih, b_hh, the projection's w_hr. Nothing is dropped out between layers: what is drawn there
// differs from run to run.
import { read, write } from "../dense";
import type { TensorView } from "../tensors";
import { boolOf, isTensor, numberOf, optionalTensor, tensorAt } from "./arguments";
import {
  type Back,
  directionBack,
  forward,
  type Kept,
  type Layer,
  type Mode,
  part,
  type Run,
  type Values,
  type Weights,
} from "./recurrent_math";
import { manyResults } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

/** by cuDNN's numbers */
const MODES: readonly Mode[] = ["relu", "tanh", "lstm", "gru"];

/** where a layer's own arguments begin: after its operands, and for the gradients after the results */
const FORWARD = 6;
const BACKWARD = 10;

function layerOf(step: ExternStep, ctx: ExternContext, from: number): Layer {
  const x = tensorAt(step, ctx, 0);
  const number = (i: number): number => numberOf(ctx, step.args[from + i], 0);
  const batchFirst = boolOf(step.args[from + 4], false);
  const [first = 1, second = 1] = x.size;
  const [hidden, projected] = [number(1), number(2)];
  const perLayer = numberOf(ctx, step.args[2], 4);
  const list = step.args[1];
  const tensors = list?.kind === "list" ? list.items.map(i => read(ctx.buffer, ctx.tensor(i))) : [];
  const directions = boolOf(step.args[from + 7], false) ? 2 : 1;
  const layers = number(3);
  const bias = perLayer >= 4;
  const weights = Array.from({ length: layers * directions }, (_, k): Weights => {
    const own = (i: number): Values => Float64Array.from(tensors[k * perLayer + i] ?? []);
    return {
      input: own(0),
      hidden: own(1),
      inputBias: bias ? own(2) : null,
      hiddenBias: bias ? own(3) : null,
      projection: projected > 0 ? own(bias ? 4 : 2) : null,
    };
  });
  const mode = MODES[number(0)] ?? ctx.fail("invalid-job", `${step.op} has no mode ${number(0)}`);
  return {
    mode,
    steps: batchFirst ? second : first,
    batch: batchFirst ? first : second,
    hidden,
    real: projected > 0 ? projected : hidden,
    layers,
    directions,
    batchFirst,
    weights,
  };
}

/** [batch, time, width] as [time, batch, width], or back: the same swap of the two leading sizes */
function swapped(values: ArrayLike<number>, outer: number, inner: number, width: number): Values {
  const out = new Float64Array(values.length);
  for (let i = 0; i < outer; i++)
    for (let j = 0; j < inner; j++)
      for (let k = 0; k < width; k++) out[(j * outer + i) * width + k] = values[(i * inner + j) * width + k] ?? 0;
  return out;
}

const widthOf = (t: TensorView): number => t.size[t.size.length - 1] ?? 1;

function timeFirst(ctx: ExternContext, l: Layer, t: TensorView): Values {
  const values = read(ctx.buffer, t);
  return l.batchFirst ? swapped(values, l.batch, l.steps, widthOf(t)) : Float64Array.from(values);
}

const inOrder = (l: Layer, v: Values, width: number): Values =>
  l.batchFirst ? swapped(v, l.steps, l.batch, width) : v;

function optionalValues(step: ExternStep, ctx: ExternContext, at: number): Values | null {
  const t = optionalTensor(step, ctx, at);
  return t && Float64Array.from(read(ctx.buffer, t));
}

function joined(parts: readonly Values[]): Values {
  const out = new Float64Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

function ran(step: ExternStep, ctx: ExternContext, l: Layer): Run {
  const x = tensorAt(step, ctx, 0);
  const h0 = Float64Array.from(read(ctx.buffer, tensorAt(step, ctx, 4)));
  return forward(l, timeFirst(ctx, l, x), widthOf(x), h0, optionalValues(step, ctx, 5));
}

/** (input, weight, weight_stride0, weight_buf, hx, cx, mode, ...) */
const run: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([out, hy, cy]) => {
    const l = layerOf(step, ctx, FORWARD);
    const made = ran(step, ctx, l);
    const last = (states: (k: Kept) => readonly Values[]): Values =>
      joined(made.kept.map(k => states(k)[l.steps] ?? new Float64Array(0)));
    if (out) write(ctx.buffer, out, inOrder(l, made.out, l.real * l.directions));
    if (hy)
      write(
        ctx.buffer,
        hy,
        last(k => k.h),
      );
    if (cy && l.mode === "lstm")
      write(
        ctx.buffer,
        cy,
        last(k => k.c),
      );
  });

/** (input, weight, weight_stride0, weight_buf, hx, cx, output, grad_output, grad_hy, grad_cy, mode, ...) */
const runBack: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([dInput, dHx, dCx, ...dWeights]) => {
    const l = layerOf(step, ctx, BACKWARD);
    const { kept } = ran(step, ctx, l);
    const given = optionalTensor(step, ctx, 7);
    let above = given ? timeFirst(ctx, l, given) : null;
    const [dhy, dcy] = [optionalValues(step, ctx, 8), optionalValues(step, ctx, 9)];
    const back: Back[] = [];
    const stride = l.real * l.directions;
    for (let layer = l.layers - 1; layer >= 0; layer--) {
      const first = kept[layer * l.directions] as Kept;
      const dx = new Float64Array(l.steps * l.batch * first.width);
      const from: Values | null = above;
      for (let d = 0; d < l.directions; d++) {
        const k = layer * l.directions + d;
        const dOut = (t: number, row: number, j: number): number =>
          from?.[(t * l.batch + row) * stride + d * l.real + j] ?? 0;
        const [dh, dc] = [part(dhy, k, l.batch * l.real), part(dcy, k, l.batch * l.hidden)];
        back[k] = directionBack(l, l.weights[k] as Weights, kept[k] as Kept, dOut, dh, dc, dx);
      }
      above = dx;
    }
    const store = (to: TensorView | null | undefined, v: Values | null): void => {
      if (to && v) write(ctx.buffer, to, v);
    };
    store(dInput, above && inOrder(l, above, kept[0]?.width ?? 1));
    store(dHx, joined(back.map(b => b.h)));
    if (isTensor(step.args[5])) store(dCx, joined(back.map(b => b.c)));
    const inWeights = back.flatMap(({ weights: w }) => [w.input, w.hidden, w.inputBias, w.hiddenBias, w.projection]);
    for (const [i, v] of inWeights.filter(v => v !== null).entries()) store(dWeights[i], v);
  });

export const recurrent: Readonly<Record<string, ExternFunction>> = {
  "aten._cudnn_rnn": run,
  "aten._cudnn_rnn_backward": runBack,
};
