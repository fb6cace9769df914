// Recurrent layers over plain arrays: what they compute and their gradients through time. In: [time, batch, width]. Gates lie side
// by side in a row: input, forget, cell, output; reset, update, new.

export type Values = Float64Array;
export type Mode = "relu" | "tanh" | "lstm" | "gru";

const GATES: Readonly<Record<Mode, number>> = { relu: 1, tanh: 1, lstm: 4, gru: 3 };

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const slope = (s: number): number => s * (1 - s);

export interface Weights {
  readonly input: Values;
  readonly hidden: Values;
  readonly inputBias: Values | null;
  readonly hiddenBias: Values | null;
  readonly projection: Values | null;
}

export interface Layer {
  readonly mode: Mode;
  readonly steps: number;
  readonly batch: number;
  readonly hidden: number;
  /** width of the output: less than `hidden` where it is projected */
  readonly real: number;
  readonly layers: number;
  readonly directions: number;
  readonly batchFirst: boolean;
  /** of layer and direction, in that order */
  readonly weights: readonly Weights[];
}

/** what one direction of one layer kept of a run, step by step in the order of the run */
export interface Kept {
  readonly x: Values;
  readonly width: number;
  readonly reverse: boolean;
  /** after the activation, [step][row * gates * hidden] */
  readonly gates: Values[];
  /** GRU: the hidden part of the new gate */
  readonly hiddenNew: Values[];
  /** hidden states before each step and after the last; cells likewise */
  readonly h: Values[];
  readonly c: Values[];
  /** before the projection */
  readonly full: Values[];
}

/** out[rows, n] += x[rows, k] @ w[n, k]^T */
function addProduct(out: Values, x: Values, from: number, w: Values, rows: number, n: number, k: number): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let l = 0; l < k; l++) sum += (x[from + i * k + l] ?? 0) * (w[j * k + l] ?? 0);
      out[i * n + j] = (out[i * n + j] ?? 0) + sum;
    }
  }
}

/** out[rows, k] += g[rows, n] @ w[n, k] */
function addBack(out: Values, from: number, g: Values, w: Values, rows: number, n: number, k: number): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < n; j++) {
      const f = g[i * n + j] ?? 0;
      if (f === 0) continue;
      for (let l = 0; l < k; l++) out[from + i * k + l] = (out[from + i * k + l] ?? 0) + f * (w[j * k + l] ?? 0);
    }
  }
}

/** dw[n, k] += g[rows, n]^T @ x[rows, k] */
function addOuter(dw: Values, g: Values, x: Values, from: number, rows: number, n: number, k: number): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < n; j++) {
      const f = g[i * n + j] ?? 0;
      for (let l = 0; l < k; l++) dw[j * k + l] = (dw[j * k + l] ?? 0) + f * (x[from + i * k + l] ?? 0);
    }
  }
}

function addRows(db: Values | null, g: Values, rows: number, n: number): void {
  if (!db) return;
  for (let i = 0; i < rows; i++) for (let j = 0; j < n; j++) db[j] = (db[j] ?? 0) + (g[i * n + j] ?? 0);
}

function biased(bias: Values | null, rows: number, n: number): Values {
  return Float64Array.from({ length: rows * n }, (_, i) => bias?.[i % n] ?? 0);
}

/** one step of a cell over its gates before the activation; what it gives to the next step goes to `kept` */
function cell(l: Layer, input: Values, own: Values, h: Values, c: Values, kept: Kept): { full: Values; c: Values } {
  const { hidden: H, batch } = l;
  const G = GATES[l.mode];
  const gates = new Float64Array(batch * G * H);
  const full = new Float64Array(batch * H);
  const next = new Float64Array(l.mode === "lstm" ? batch * H : 0);
  const hiddenNew = new Float64Array(l.mode === "gru" ? batch * H : 0);
  for (let i = 0; i < batch; i++) {
    for (let j = 0; j < H; j++) {
      const place = (g: number): number => i * G * H + g * H + j;
      const sum = (g: number): number => (input[place(g)] ?? 0) + (own[place(g)] ?? 0);
      const at = i * H + j;
      if (l.mode === "lstm") {
        const [ig, fg, cg, og] = [sigmoid(sum(0)), sigmoid(sum(1)), Math.tanh(sum(2)), sigmoid(sum(3))] as const;
        next[at] = fg * (c[at] ?? 0) + ig * cg;
        full[at] = og * Math.tanh(next[at] ?? 0);
        for (const [g, v] of [ig, fg, cg, og].entries()) gates[place(g)] = v;
      } else if (l.mode === "gru") {
        const [r, z] = [sigmoid(sum(0)), sigmoid(sum(1))];
        hiddenNew[at] = own[place(2)] ?? 0;
        const n = Math.tanh((input[place(2)] ?? 0) + r * (hiddenNew[at] ?? 0));
        full[at] = (1 - z) * n + z * (h[at] ?? 0);
        for (const [g, v] of [r, z, n].entries()) gates[place(g)] = v;
      } else {
        full[at] = l.mode === "tanh" ? Math.tanh(sum(0)) : Math.max(0, sum(0));
        gates[place(0)] = full[at] ?? 0;
      }
    }
  }
  kept.gates.push(gates);
  kept.hiddenNew.push(hiddenNew);
  kept.full.push(full);
  return { full, c: next };
}

/** one direction of one layer over all steps; its outputs go to `out`, a row of which is `stride` wide, from `offset` on */
function direction(
  l: Layer,
  w: Weights,
  x: Values,
  width: number,
  reverse: boolean,
  h0: Values,
  c0: Values,
  out: Values,
  stride: number,
  offset: number,
): Kept {
  const { batch, hidden: H, real: R } = l;
  const rows = GATES[l.mode] * H;
  const kept: Kept = { x, width, reverse, gates: [], hiddenNew: [], h: [h0], c: [c0], full: [] };
  let [h, c] = [h0, c0];
  for (let s = 0; s < l.steps; s++) {
    const t = reverse ? l.steps - 1 - s : s;
    const input = biased(w.inputBias, batch, rows);
    addProduct(input, x, t * batch * width, w.input, batch, rows, width);
    const own = biased(w.hiddenBias, batch, rows);
    addProduct(own, h, 0, w.hidden, batch, rows, R);
    const made = cell(l, input, own, h, c, kept);
    c = made.c;
    h = made.full;
    if (w.projection) {
      h = new Float64Array(batch * R);
      addProduct(h, made.full, 0, w.projection, batch, R, H);
    }
    kept.h.push(h);
    kept.c.push(c);
    for (let i = 0; i < batch; i++)
      for (let j = 0; j < R; j++) out[(t * batch + i) * stride + offset + j] = h[i * R + j] ?? 0;
  }
  return kept;
}

export interface Run {
  readonly out: Values;
  readonly kept: readonly Kept[];
}

export function part(all: Values | null, index: number, length: number): Values {
  return all ? all.slice(index * length, (index + 1) * length) : new Float64Array(length);
}

export function forward(l: Layer, x: Values, width: number, h0: Values, c0: Values | null): Run {
  const kept: Kept[] = [];
  let [now, wide] = [x, width];
  for (let layer = 0; layer < l.layers; layer++) {
    const stride = l.real * l.directions;
    const out = new Float64Array(l.steps * l.batch * stride);
    for (let d = 0; d < l.directions; d++) {
      const k = layer * l.directions + d;
      const [h, c] = [part(h0, k, l.batch * l.real), part(c0, k, l.batch * l.hidden)];
      kept.push(direction(l, l.weights[k] as Weights, now, wide, d === 1, h, c, out, stride, d * l.real));
    }
    [now, wide] = [out, stride];
  }
  return { out: now, kept };
}

type Gradients = { readonly [K in keyof Weights]: Weights[K] };

export interface Back {
  readonly x: Values;
  readonly h: Values;
  readonly c: Values;
  readonly weights: Gradients;
}

const zerosLike = (v: Values): Values => new Float64Array(v.length);
const orNull = (v: Values | null): Values | null => v && zerosLike(v);

/** gradients of one step's gates: those of its input part and of its hidden part, and what goes to the step before */
function cellBack(
  l: Layer,
  k: Kept,
  s: number,
  dFull: Values,
  dc: Values,
): { input: Values; own: Values; h: Values; c: Values } {
  const { hidden: H, batch } = l;
  const G = GATES[l.mode];
  const gates = k.gates[s] as Values;
  const input = new Float64Array(batch * G * H);
  const own = new Float64Array(batch * G * H);
  const direct = new Float64Array(l.mode === "gru" ? batch * H : 0);
  const cBefore = new Float64Array(dc.length);
  for (let i = 0; i < batch; i++) {
    for (let j = 0; j < H; j++) {
      const place = (g: number): number => i * G * H + g * H + j;
      const gate = (g: number): number => gates[place(g)] ?? 0;
      const at = i * H + j;
      const g = dFull[at] ?? 0;
      const set = (...both: readonly number[]): void => {
        for (const [n, v] of both.entries()) input[place(n)] = own[place(n)] = v;
      };
      if (l.mode === "lstm") {
        const [ig, fg, cg, og] = [gate(0), gate(1), gate(2), gate(3)];
        const tanh = Math.tanh(k.c[s + 1]?.[at] ?? 0);
        const whole = (dc[at] ?? 0) + g * og * (1 - tanh * tanh);
        cBefore[at] = whole * fg;
        const before = k.c[s]?.[at] ?? 0;
        set(whole * cg * slope(ig), whole * before * slope(fg), whole * ig * (1 - cg * cg), g * tanh * slope(og));
      } else if (l.mode === "gru") {
        const [r, z, n] = [gate(0), gate(1), gate(2)];
        const dn = g * (1 - z) * (1 - n * n);
        set(dn * (k.hiddenNew[s]?.[at] ?? 0) * slope(r), g * ((k.h[s]?.[at] ?? 0) - n) * slope(z), dn);
        own[place(2)] = dn * r;
        direct[at] = g * z;
      } else {
        const y = gate(0);
        set(l.mode === "tanh" ? g * (1 - y * y) : y > 0 ? g : 0);
      }
    }
  }
  return { input, own, h: direct, c: cBefore };
}

/** gradients through one direction; those of its input are added to `dx` */
export function directionBack(
  l: Layer,
  w: Weights,
  k: Kept,
  dOut: (t: number, row: number, j: number) => number,
  dhLast: Values,
  dcLast: Values,
  dx: Values,
): Back {
  const { batch, hidden: H, real: R } = l;
  const rows = GATES[l.mode] * H;
  const weights: Gradients = {
    input: zerosLike(w.input),
    hidden: zerosLike(w.hidden),
    inputBias: orNull(w.inputBias),
    hiddenBias: orNull(w.hiddenBias),
    projection: orNull(w.projection),
  };
  let [dh, dc]: [Values, Values] = [dhLast.slice(), dcLast.slice()];
  for (let s = l.steps - 1; s >= 0; s--) {
    const t = k.reverse ? l.steps - 1 - s : s;
    for (let i = 0; i < batch; i++) for (let j = 0; j < R; j++) dh[i * R + j] = (dh[i * R + j] ?? 0) + dOut(t, i, j);
    let dFull = dh;
    if (w.projection && weights.projection) {
      dFull = new Float64Array(batch * H);
      addBack(dFull, 0, dh, w.projection, batch, R, H);
      addOuter(weights.projection, dh, k.full[s] as Values, 0, batch, R, H);
    }
    const g = cellBack(l, k, s, dFull, dc);
    addOuter(weights.input, g.input, k.x, t * batch * k.width, batch, rows, k.width);
    addOuter(weights.hidden, g.own, k.h[s] as Values, 0, batch, rows, R);
    addRows(weights.inputBias, g.input, batch, rows);
    addRows(weights.hiddenBias, g.own, batch, rows);
    addBack(dx, t * batch * k.width, g.input, w.input, batch, rows, k.width);
    dh = new Float64Array(batch * R);
    for (const [i, v] of g.h.entries()) dh[i] = v;
    addBack(dh, 0, g.own, w.hidden, batch, rows, R);
    dc = g.c;
  }
  return { x: dx, h: dh, c: dc, weights };
}
