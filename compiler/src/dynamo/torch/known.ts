// Values of small tensors that a program computes from numbers it states, outside of compiled frames: drop rates by
// torch.linspace, cumulative lengths, masks. In: an operator of the table with its bound arguments. Out: the result's
// values in row-major order, or nothing. Only what is cheap and certain; the replay computes everything else.
import { isExpr } from "../../aten/dim_math";
import { type ArgValue, type DType, PyFloat, type TensorMeta } from "../../aten/types";
import { intValue } from "../../inductor/symbolic/expr";

export interface KnownArray {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

/** larger results are not computed here */
const LIMIT = 16384;

type Arg = ArgValue<TensorMeta> | undefined;

export interface KnownCall {
  readonly name: string;
  readonly args: ReadonlyMap<string, Arg>;
  /** the values of a tensor argument */
  readonly valuesOf: (m: TensorMeta) => readonly (number | boolean)[] | null;
  /** of the result */
  readonly shape: readonly number[];
  readonly dtype: DType;
}

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

export function store(dtype: DType, v: number): number | boolean {
  if (dtype === "bool") return v !== 0;
  if (dtype === "float64") return v;
  return dtype.startsWith("float") || dtype === "bfloat16" ? Math.fround(v) : Math.trunc(v);
}

// ---- arrays

const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

function positions(shape: readonly number[]): number[][] {
  const out: number[][] = [];
  const at = shape.map(() => 0);
  for (let i = 0; i < size(shape); i++) {
    out.push([...at]);
    for (let d = shape.length - 1; d >= 0; d--) {
      at[d] = (at[d] ?? 0) + 1;
      if ((at[d] ?? 0) < (shape[d] ?? 0)) break;
      at[d] = 0;
    }
  }
  return out;
}

function flat(shape: readonly number[], at: readonly number[]): number {
  let i = 0;
  shape.forEach((s, d) => {
    i = i * s + (at[d] ?? 0);
  });
  return i;
}

/** reads an array as if it had a larger shape */
function spread(a: KnownArray, shape: readonly number[]): number[] {
  if (a.data.length === 1) return new Array<number>(size(shape)).fill(a.data[0] ?? 0);
  if (a.shape.length === shape.length && a.shape.every((s, d) => s === shape[d])) return [...a.data];
  const lead = shape.length - a.shape.length;
  return positions(shape).map(
    p =>
      a.data[
        flat(
          a.shape,
          a.shape.map((s, d) => (s === 1 ? 0 : (p[d + lead] ?? 0))),
        )
      ] ?? 0,
  );
}

function select(a: KnownArray, dim: number, index: number): KnownArray {
  const shape = a.shape.filter((_, d) => d !== dim);
  const data = positions(shape).map(p => a.data[flat(a.shape, [...p.slice(0, dim), index, ...p.slice(dim)])] ?? 0);
  return { shape, data };
}

export function slice(a: KnownArray, dim: number, start: number, stop: number, step: number): KnownArray {
  const n = Math.max(0, Math.ceil((stop - start) / step));
  const shape = a.shape.map((s, d) => (d === dim ? n : s));
  const data = positions(shape).map(
    p =>
      a.data[
        flat(
          a.shape,
          p.map((x, d) => (d === dim ? start + x * step : x)),
        )
      ] ?? 0,
  );
  return { shape, data };
}

function permute(a: KnownArray, order: readonly number[]): number[] {
  const shape = order.map(d => a.shape[d] ?? 1);
  return positions(shape).map(p => {
    const from = a.shape.map(() => 0);
    order.forEach((d, i) => {
      from[d] = p[i] ?? 0;
    });
    return a.data[flat(a.shape, from)] ?? 0;
  });
}

// ---- arguments

const packet = (name: string): string => name.replace(/^\w+\./, "").replace(/\.\w+$/, "");
const wrap = (d: number, rank: number): number => (d < 0 ? d + rank : d);

function number(v: Arg): number | undefined {
  if (typeof v === "number") return v;
  if (typeof v === "boolean") return v ? 1 : 0;
  if (v instanceof PyFloat) return v.value;
  if (isExpr(v)) return intValue(v);
  return undefined;
}

const isMeta = (v: Arg): v is TensorMeta => typeof v === "object" && v !== null && "shape" in v && "stride" in v;

function array(c: KnownCall, v: Arg): KnownArray | undefined {
  const n = number(v);
  if (n !== undefined) return { shape: [], data: [n] };
  if (!isMeta(v)) return undefined;
  const values = c.valuesOf(v);
  const shape = v.shape.map(d => (isExpr(d) ? intValue(d) : undefined));
  if (values === null || shape.some(s => s === undefined)) return undefined;
  return { shape: shape.map(s => s ?? 0), data: values.map(Number) };
}
const tensor = (c: KnownCall, name: string): KnownArray | undefined => array(c, c.args.get(name));

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
  const binary = Object.hasOwn(BINARY, name) ? BINARY[name] : undefined;
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
    case "expand":
    case "expand_as":
    case "broadcast_to": {
      const t = tensor(c, "self");
      return t && spread(t, c.shape);
    }
    default:
      return made(c, name, get) ?? moved(c, name, get) ?? folded(c, name, get);
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

/** elements moved, none computed */
function moved(c: KnownCall, name: string, get: (n: string) => number | undefined): number[] | undefined {
  if (name === "cat" || name === "stack" || name === "concat") {
    const list = c.args.get("tensors");
    if (!Array.isArray(list)) return undefined;
    const arrays = list.map(m => array(c, m as Arg));
    if (arrays.some(a => a === undefined)) return undefined;
    const dim = wrap(get("dim") ?? 0, c.shape.length);
    const wide = arrays.map(a => a as KnownArray);
    const parts = wide.map(a =>
      name === "stack" ? { shape: c.shape.map((s, d) => (d === dim ? 1 : s)), data: a.data } : a,
    );
    return positions(c.shape).map(p => {
      let at = p[dim] ?? 0;
      const part = parts.find(x => {
        const n = x.shape[dim] ?? 0;
        if (at < n) return true;
        at -= n;
        return false;
      });
      return (
        part?.data[
          flat(
            part.shape,
            p.map((x, d) => (d === dim ? at : x)),
          )
        ] ?? 0
      );
    });
  }
  const t = tensor(c, "self");
  if (!t) return undefined;
  const rank = t.shape.length;
  switch (name) {
    case "permute": {
      const dims = c.args.get("dims");
      return Array.isArray(dims)
        ? permute(
            t,
            dims.map(d => wrap(number(d as Arg) ?? 0, rank)),
          )
        : undefined;
    }
    case "transpose": {
      const order = t.shape.map((_, d) => d);
      const [a, b] = [wrap(get("dim0") ?? 0, rank), wrap(get("dim1") ?? 0, rank)];
      [order[a], order[b]] = [b, a];
      return permute(t, order);
    }
    case "t":
    case "numpy_T":
      return permute(
        t,
        t.shape.map((_, d) => rank - 1 - d),
      );
    case "flip": {
      const dims = c.args.get("dims");
      const which = Array.isArray(dims) ? dims.map(d => wrap(number(d as Arg) ?? 0, rank)) : [];
      return positions(t.shape).map(
        p =>
          t.data[
            flat(
              t.shape,
              p.map((x, d) => (which.includes(d) ? (t.shape[d] ?? 1) - 1 - x : x)),
            )
          ] ?? 0,
      );
    }
    case "select": {
      const dim = wrap(get("dim") ?? 0, rank);
      return [...select(t, dim, wrap(get("index") ?? 0, t.shape[dim] ?? 1)).data];
    }
    case "slice": {
      const dim = wrap(get("dim") ?? 0, rank);
      const n = t.shape[dim] ?? 0;
      const start = Math.min(wrap(get("start") ?? 0, n), n);
      return [...slice(t, dim, start, Math.min(wrap(get("end") ?? n, n), n), get("step") ?? 1).data];
    }
    case "repeat":
      return positions(c.shape).map(p => {
        const lead = c.shape.length - rank;
        return (
          t.data[
            flat(
              t.shape,
              t.shape.map((s, d) => (p[d + lead] ?? 0) % s),
            )
          ] ?? 0
        );
      });
    case "tril":
    case "triu": {
      const k = get("diagonal") ?? 0;
      const keep = (p: readonly number[]): boolean => {
        const [row, col] = [p[rank - 2] ?? 0, p[rank - 1] ?? 0];
        return name === "tril" ? col - row <= k : col - row >= k;
      };
      return positions(t.shape).map((p, i) => (keep(p) ? (t.data[i] ?? 0) : 0));
    }
    case "outer": {
      const other = tensor(c, "vec2") ?? tensor(c, "other");
      return other && t.data.flatMap(a => other.data.map(b => a * b));
    }
    default:
      return undefined;
  }
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
