// Values of small tensors that a program computes from numbers it states, outside of compiled frames: drop rates by
// torch.linspace, cumulative lengths, masks. In: an operator of the table with its bound arguments. Out: the result's
// values in row-major order, or nothing. Only what is cheap and certain; the replay computes everything else.
import type { DType } from "../../aten/types";
import { isMeta } from "./convert";
import { flat, type KnownArray, positions, select, size, slice, sortOrder, spread } from "./known_arrays";
import { type Arg, array, type KnownCall, number, packet, tensor, wrap } from "./known_call";
import { moved } from "./known_moves";

/** larger results are not computed here */
const LIMIT = 16384;

export function knownResult(c: KnownCall): (number | boolean)[] | undefined {
  if (size(c.shape) > LIMIT) return undefined;
  const data = compute(c);
  if (data === undefined || data.length !== size(c.shape)) return undefined;
  return data.map(v => store(c.dtype, v));
}

/** several results: unbind, split, chunk, meshgrid, max with indices are not worth more than these */
export function knownParts(
  c: Omit<KnownCall, "shape" | "dtype">,
  shapes: readonly (readonly number[])[],
): KnownArray[] | undefined {
  const call = { ...c, shape: [], dtype: "float64" as const };
  const t = tensor(call, "self");
  switch (packet(c.name)) {
    case "unbind": {
      if (!t) return undefined;
      const dim = wrap(number(c.args.get("dim")) ?? 0, t.shape.length);
      return shapes.map((_, i) => select(t, dim, i));
    }
    case "split":
    case "split_with_sizes":
    case "chunk": {
      if (!t) return undefined;
      const dim = wrap(number(c.args.get("dim")) ?? 0, t.shape.length);
      let start = 0;
      return shapes.map(s => {
        const part = slice(t, dim, start, start + (s[dim] ?? 0), 1);
        start += s[dim] ?? 0;
        return part;
      });
    }
    case "sort": {
      if (!t) return undefined;
      const dim = wrap(number(c.args.get("dim")) ?? -1, t.shape.length);
      const order = sortOrder(t, dim, c.args.get("descending") === true);
      const at = positions(t.shape);
      const data = order.map(
        (from, i) =>
          t.data[
            flat(
              t.shape,
              (at[i] ?? []).map((x, d) => (d === dim ? from : x)),
            )
          ] ?? 0,
      );
      return [data, order].map(values => ({ shape: t.shape, data: values }));
    }
    case "unique":
    case "unique_consecutive":
      return distinctRuns(call, packet(c.name) === "unique", shapes.length);
    case "meshgrid": {
      const list = c.args.get("tensors");
      const arrays = Array.isArray(list) ? list.map(m => array(call, m as Arg)) : [];
      const shape = shapes[0];
      if (!shape || size(shape) > LIMIT || arrays.some(a => a === undefined)) return undefined;
      const swapped = c.args.get("indexing") === "xy";
      return arrays.map((a, i) => {
        const axis = swapped && i < 2 ? 1 - i : i;
        return { shape, data: positions(shape).map(p => a?.data[p[axis] ?? 0] ?? 0) };
      });
    }
    default:
      return undefined;
  }
}

/** torch.unique and unique_consecutive of a list of numbers: the values, then which of them each is, then how often each is there */
function distinctRuns(c: KnownCall, sorted: boolean, results: number): KnownArray[] | undefined {
  const t = tensor(c, "input");
  const flags = ["return_inverse", "return_counts"].map(n => c.args.get(n) === true);
  if (t?.shape.length !== 1 || (c.args.get("dim") ?? null) !== null) return undefined;
  const { values, inverse, counts } = runsOf(t.data, sorted);
  const wanted = [values, ...(flags[0] ? [inverse] : []), ...(flags[1] ? [counts] : [])];
  return wanted.length === results ? wanted.map(data => ({ shape: [data.length], data })) : undefined;
}

/** runs of equal numbers, or with `sorted` all that are equal, the smallest first */
export function runsOf(
  data: readonly number[],
  sorted: boolean,
): Readonly<Record<"values" | "inverse" | "counts", number[]>> {
  if (sorted) {
    const values = [...new Set(data)].sort((a, b) => a - b);
    const counts = values.map(v => data.filter(x => x === v).length);
    return { values, inverse: data.map(v => values.indexOf(v)), counts };
  }
  const values: number[] = [];
  const counts: number[] = [];
  const inverse = data.map(v => {
    if (values.length === 0 || values[values.length - 1] !== v) {
      values.push(v);
      counts.push(0);
    }
    counts[counts.length - 1] = (counts[counts.length - 1] ?? 0) + 1;
    return values.length - 1;
  });
  return { values, inverse, counts };
}

export function store(dtype: DType, v: number): number | boolean {
  if (dtype === "bool") return v !== 0;
  if (dtype === "float64") return v;
  return dtype.startsWith("float") || dtype === "bfloat16" ? Math.fround(v) : Math.trunc(v);
}

// ---- operators

type Unary = (x: number) => number;
type Binary = (a: number, b: number) => number;

const half = (x: number): number => {
  const f = Math.floor(x);
  const d = x - f;
  return d < 0.5 || (d === 0.5 && f % 2 === 0) ? f : f + 1;
};

const UNARY: Readonly<Record<string, Unary>> = {
  neg: x => -x,
  abs: Math.abs,
  sqrt: Math.sqrt,
  rsqrt: x => 1 / Math.sqrt(x),
  reciprocal: x => 1 / x,
  exp: Math.exp,
  log: Math.log,
  log2: Math.log2,
  sin: Math.sin,
  cos: Math.cos,
  floor: Math.floor,
  ceil: Math.ceil,
  round: half,
  trunc: Math.trunc,
  sign: Math.sign,
  logical_not: x => (x === 0 ? 1 : 0),
  square: x => x * x,
  exp2: x => 2 ** x,
  expm1: Math.expm1,
  log10: Math.log10,
  log1p: Math.log1p,
  tan: Math.tan,
  tanh: Math.tanh,
  atan: Math.atan,
  asin: Math.asin,
  acos: Math.acos,
  sigmoid: x => 1 / (1 + Math.exp(-x)),
  relu: x => Math.max(x, 0),
  isnan: x => Number(Number.isNaN(x)),
  isinf: x => Number(Math.abs(x) === Number.POSITIVE_INFINITY),
  bitwise_not: x => ~x,
  deg2rad: x => (x * Math.PI) / 180,
};
for (const same of [
  "clone",
  "contiguous",
  "detach",
  "to",
  "_to_copy",
  "view",
  "reshape",
  "unsqueeze",
  "squeeze",
  "flatten",
  "float",
  "long",
  "int",
  "bool",
  "double",
  "alias",
  "ravel",
  "unflatten",
  "_unsafe_view",
  "lift_fresh",
])
  Object.assign(UNARY, { [same]: (x: number) => x });

const BINARY: Readonly<Record<string, Binary>> = {
  mul: (a, b) => a * b,
  multiply: (a, b) => a * b,
  floor_divide: (a, b) => Math.floor(a / b),
  remainder: (a, b) => a - b * Math.floor(a / b),
  fmod: (a, b) => a % b,
  pow: (a, b) => a ** b,
  minimum: Math.min,
  maximum: Math.max,
  eq: (a, b) => Number(a === b),
  ne: (a, b) => Number(a !== b),
  lt: (a, b) => Number(a < b),
  le: (a, b) => Number(a <= b),
  gt: (a, b) => Number(a > b),
  ge: (a, b) => Number(a >= b),
  logical_and: (a, b) => Number(a !== 0 && b !== 0),
  logical_or: (a, b) => Number(a !== 0 || b !== 0),
  bitwise_and: (a, b) => a & b,
  bitwise_or: (a, b) => a | b,
};

function compute(c: KnownCall): number[] | undefined {
  const name = packet(c.name);
  const get = (n: string): number | undefined => number(c.args.get(n));
  const unary = Object.hasOwn(UNARY, name) ? UNARY[name] : undefined;
  if (unary) return tensor(c, "self")?.data.map(unary);
  // torch.min(a, b)
  const packetName = c.args.has("other") && /^(min|max)$/.test(name) ? `${name}imum` : name;
  const binary = Object.hasOwn(BINARY, packetName) ? BINARY[packetName] : undefined;
  if (binary) return pair(c, binary, "self", c.args.has("exponent") ? "exponent" : "other");
  switch (name) {
    case "add":
    case "sub":
    case "subtract":
    case "rsub": {
      const alpha = (get("alpha") ?? 1) * (name === "add" ? 1 : -1);
      if (name === "rsub") return pair(c, (a, b) => b + alpha * a, "self", "other");
      return pair(c, (a, b) => a + alpha * b, "self", "other");
    }
    case "div":
    case "true_divide": {
      const mode = c.args.get("rounding_mode");
      const round: Unary = mode === "floor" ? Math.floor : mode === "trunc" ? Math.trunc : x => x;
      return pair(c, (a, b) => round(a / b), "self", "other");
    }
    case "where": {
      const [k, a, b] = [tensor(c, "condition"), tensor(c, "self"), tensor(c, "other")];
      if (!k || !a || !b) return undefined;
      const [ks, as, bs] = [k, a, b].map(x => spread(x, c.shape));
      return ks?.map((v, i) => (v !== 0 ? (as?.[i] ?? 0) : (bs?.[i] ?? 0)));
    }
    case "masked_fill": {
      const [t, m, v] = [tensor(c, "self"), tensor(c, "mask"), array(c, c.args.get("value"))];
      if (!t || !m || !v) return undefined;
      const masks = spread(m, c.shape);
      return spread(t, c.shape).map((x, i) => (masks[i] !== 0 ? (v.data[0] ?? 0) : x));
    }
    case "clamp":
    case "clamp_min":
    case "clamp_max": {
      const low = get("min") ?? Number.NEGATIVE_INFINITY;
      const high = get("max") ?? Number.POSITIVE_INFINITY;
      if ([c.args.get("min"), c.args.get("max")].some(isMeta)) return undefined;
      return tensor(c, "self")?.data.map(x => Math.min(Math.max(x, low), high));
    }
    case "unique":
    case "unique_consecutive":
      return distinctRuns(c, name === "unique", 1)?.[0]?.data.slice();
    case "copy": {
      const from = tensor(c, "src");
      return from && spread(from, c.shape);
    }
    case "expand":
    case "expand_as":
    case "broadcast_to": {
      const t = tensor(c, "self");
      return t && spread(t, c.shape);
    }
    default:
      return made(c, name, get) ?? moved(c, name, get) ?? folded(c, name, get) ?? multiplied(c, name, get);
  }
}

function pair(c: KnownCall, f: Binary, left: string, right: string): number[] | undefined {
  const [a, b] = [tensor(c, left), array(c, c.args.get(right))];
  if (!a || !b) return undefined;
  const [as, bs] = [spread(a, c.shape), spread(b, c.shape)];
  return as.map((x, i) => f(x, bs[i] ?? 0));
}

/** tensors from numbers */
function made(c: KnownCall, name: string, get: (n: string) => number | undefined): number[] | undefined {
  const n = size(c.shape);
  switch (name) {
    case "arange": {
      const step = get("step") ?? 1;
      const start = get("start") ?? 0;
      return Array.from({ length: n }, (_, i) => start + i * step);
    }
    case "linspace": {
      const [a, b] = [get("start"), get("end")];
      if (a === undefined || b === undefined) return undefined;
      const step = n > 1 ? (b - a) / (n - 1) : 0;
      return Array.from({ length: n }, (_, i) => (i < n / 2 ? a + i * step : b - (n - 1 - i) * step));
    }
    case "full":
    case "full_like":
    case "scalar_tensor":
    case "new_full": {
      const v = get("fill_value") ?? get("s");
      return v === undefined ? undefined : new Array<number>(n).fill(v);
    }
    case "fill": {
      const v = array(c, c.args.get("value"))?.data[0];
      return v === undefined ? undefined : new Array<number>(n).fill(v);
    }
    case "zero":
    case "zeros":
    case "zeros_like":
    case "new_zeros":
      return new Array<number>(n).fill(0);
    case "ones":
    case "ones_like":
    case "new_ones":
      return new Array<number>(n).fill(1);
    case "eye":
      return positions(c.shape).map(p => Number(p[0] === p[1]));
    default:
      return undefined;
  }
}

/** products of small matrices and vectors, and the place of the greatest or least element */
function multiplied(c: KnownCall, name: string, get: (n: string) => number | undefined): number[] | undefined {
  const t = tensor(c, "self");
  if (!t) return undefined;
  if ((name === "argmax" || name === "argmin") && get("dim") === undefined) {
    const best = t.data.reduce((a, b) => (name === "argmax" ? Math.max(a, b) : Math.min(a, b)), t.data[0] ?? 0);
    return [t.data.indexOf(best)];
  }
  if (!/^(matmul|mm|mv|dot)$/.test(name)) return undefined;
  const other = ["other", "mat2", "vec", "tensor"].map(n => tensor(c, n)).find(x => x !== undefined);
  if (!other || t.shape.length > 2 || other.shape.length > 2) return undefined;
  const inner = t.shape[t.shape.length - 1] ?? 1;
  const columns = other.shape.length === 2 ? (other.shape[1] ?? 1) : 1;
  if (size(c.shape) * inner > LIMIT) return undefined;
  return Array.from({ length: size(c.shape) }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    let sum = 0;
    for (let k = 0; k < inner; k++) sum += (t.data[row * inner + k] ?? 0) * (other.data[k * columns + column] ?? 0);
    return sum;
  });
}

/** reductions and running sums; floats are added in order, which is what small tensors do */
function folded(c: KnownCall, name: string, get: (n: string) => number | undefined): number[] | undefined {
  const t = tensor(c, "self");
  if (!t) return undefined;
  const rank = t.shape.length;
  if (name === "cumsum" || name === "cumprod") {
    const dim = wrap(get("dim") ?? 0, rank);
    const out = [...t.data];
    positions(t.shape).forEach((p, i) => {
      if ((p[dim] ?? 0) === 0) return;
      const before =
        out[
          flat(
            t.shape,
            p.map((x, d) => (d === dim ? x - 1 : x)),
          )
        ] ?? 0;
      out[i] = name === "cumsum" ? before + (t.data[i] ?? 0) : before * (t.data[i] ?? 0);
    });
    return out;
  }
  const folds: Readonly<Record<string, readonly [number, Binary]>> = {
    sum: [0, (a, b) => a + b],
    prod: [1, (a, b) => a * b],
    amax: [Number.NEGATIVE_INFINITY, Math.max],
    max: [Number.NEGATIVE_INFINITY, Math.max],
    amin: [Number.POSITIVE_INFINITY, Math.min],
    min: [Number.POSITIVE_INFINITY, Math.min],
    any: [0, (a, b) => Number(a !== 0 || b !== 0)],
    all: [1, (a, b) => Number(a !== 0 && b !== 0)],
    mean: [0, (a, b) => a + b],
    numel: [0, a => a + 1],
  };
  const fold = Object.hasOwn(folds, name) ? folds[name] : undefined;
  if (!fold || c.args.get("other") !== undefined) return undefined;
  const dims = c.args.get("dim");
  const list = Array.isArray(dims)
    ? dims.map(d => number(d as Arg) ?? 0)
    : dims === undefined || dims === null
      ? []
      : [get("dim") ?? 0];
  const gone = new Set((list.length > 0 ? list : t.shape.map((_, d) => d)).map(d => wrap(d, rank)));
  const kept = t.shape.map((s, d) => (gone.has(d) ? 1 : s));
  const out = new Array<number>(size(kept)).fill(fold[0]);
  positions(t.shape).forEach((p, i) => {
    const at = flat(
      kept,
      p.map((x, d) => (gone.has(d) ? 0 : x)),
    );
    out[at] = fold[1](out[at] ?? 0, t.data[i] ?? 0);
  });
  const n = t.data.length / Math.max(1, out.length);
  return name === "mean" ? out.map(x => x / n) : out;
}
