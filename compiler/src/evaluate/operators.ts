// ATen's core operators on dense arrays, one by one and without fusion. In: an operator's name and its arguments by
// name. Out: its results; undefined where it is not modelled. What decompositions leave over is enough here.
import type { DType } from "../aten/types";
import {
  broadcastShape,
  concatenated,
  type Dense,
  dense,
  expandTo,
  forReduction,
  gatherStrided,
  isDense,
  permuted,
  rounded,
  sizeOf,
  sliced,
  stridesOf,
} from "./arrays";
import { attention, convolution2d, matrixProducts } from "./contractions";
import { number, numbers, wrap } from "./operands";
import { reduced } from "./reductions";
import { scatters } from "./scatter";
import { erf, roundHalfEven } from "./special";
import type { Operand, Operation, Outcome } from "./types";

type Unary = (x: number) => number;
type Binary = (a: number, b: number) => number;

const UNARY: Readonly<Record<string, Unary>> = {
  neg: x => -x,
  abs: Math.abs,
  sqrt: Math.sqrt,
  rsqrt: x => 1 / Math.sqrt(x),
  reciprocal: x => 1 / x,
  exp: Math.exp,
  exp2: x => 2 ** x,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  atan: Math.atan,
  asin: Math.asin,
  acos: Math.acos,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  sigmoid: x => 1 / (1 + Math.exp(-x)),
  erf,
  relu: x => Math.max(x, 0),
  floor: Math.floor,
  ceil: Math.ceil,
  round: roundHalfEven,
  trunc: Math.trunc,
  sign: Math.sign,
  logical_not: x => (x === 0 ? 1 : 0),
  isnan: x => (Number.isNaN(x) ? 1 : 0),
  isinf: x => (Math.abs(x) === Number.POSITIVE_INFINITY ? 1 : 0),
  clone: x => x,
  alias: x => x,
  detach: x => x,
  lift_fresh_copy: x => x,
  _to_copy: x => x,
  convert_element_type: x => x,
  device_put: x => x,
};

const BINARY: Readonly<Record<string, Binary>> = {
  mul: (a, b) => a * b,
  remainder: (a, b) => a - b * Math.floor(a / b),
  fmod: (a, b) => a % b,
  pow: (a, b) => a ** b,
  maximum: Math.max,
  minimum: Math.min,
  atan2: Math.atan2,
  eq: (a, b) => (a === b ? 1 : 0),
  ne: (a, b) => (a !== b ? 1 : 0),
  lt: (a, b) => (a < b ? 1 : 0),
  le: (a, b) => (a <= b ? 1 : 0),
  gt: (a, b) => (a > b ? 1 : 0),
  ge: (a, b) => (a >= b ? 1 : 0),
  logical_and: (a, b) => (a !== 0 && b !== 0 ? 1 : 0),
  logical_or: (a, b) => (a !== 0 || b !== 0 ? 1 : 0),
  logical_xor: (a, b) => ((a !== 0) !== (b !== 0) ? 1 : 0),
  bitwise_and: (a, b) => a & b,
  bitwise_or: (a, b) => a | b,
  bitwise_xor: (a, b) => a ^ b,
};

const RESHAPES = new Set(["view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "flatten"]);

export function operate(o: Operation): Outcome {
  const name = o.packet.replace(/^\w+\./, "");
  const self = o.get("self") ?? o.get("a") ?? o.get("input");
  if (RESHAPES.has(name)) return isDense(self) ? dense(o.shape, self.data, o.dtype) : undefined;
  const unary = Object.hasOwn(UNARY, name) ? UNARY[name] : undefined;
  if (unary) return isDense(self) ? map(o, self, unary) : undefined;
  if (name === "bitwise_not") {
    return isDense(self) ? map(o, self, self.dtype === "bool" ? x => (x === 0 ? 1 : 0) : x => ~x) : undefined;
  }
  const binary = Object.hasOwn(BINARY, name) ? BINARY[name] : arithmetic(o, name);
  if (binary) return zip(o, binary);
  return (
    made(o, name) ??
    moved(o, name, self) ??
    chosen(o, name, self) ??
    reduced(o, name, self) ??
    scatters(o, name, self) ??
    matrixProducts(o, name, self) ??
    (name === "convolution" ? convolution2d(o) : undefined) ??
    (name.startsWith("_scaled_dot_product") || name === "scaled_dot_product_attention" ? attention(o) : undefined)
  );
}

function arithmetic(o: Operation, name: string): Binary | undefined {
  if (name === "add" || name === "sub") {
    const alpha = number(o.get("alpha")) ?? 1;
    return name === "add" ? (a, b) => a + alpha * b : (a, b) => a - alpha * b;
  }
  if (name !== "div") return undefined;
  const mode = o.get("rounding_mode");
  if (mode === "floor") return (a, b) => Math.floor(a / b);
  return mode === "trunc" ? (a, b) => Math.trunc(a / b) : (a, b) => a / b;
}

function asDense(x: Operand | undefined, dtype: DType): Dense | undefined {
  if (isDense(x)) return x;
  const n = number(x);
  return n === undefined ? undefined : dense([], Float64Array.of(n), dtype);
}

function map(o: Operation, a: Dense, f: Unary): Dense {
  o.budget.spend(a.data.length);
  const out = new Float64Array(a.data.length);
  for (let i = 0; i < out.length; i++) out[i] = f(a.data[i] ?? 0);
  return dense(o.shape, rounded(out, o.dtype), o.dtype);
}

function zip(o: Operation, f: Binary): Dense | undefined {
  const a = asDense(o.get("self") ?? o.get("a"), o.dtype);
  const b = asDense(o.get("other") ?? o.get("exponent") ?? o.get("b"), o.dtype);
  if (!a || !b) return undefined;
  const n = sizeOf(o.shape);
  o.budget.spend(n);
  const out = new Float64Array(n);
  if (b.data.length === 1) {
    const y = b.data[0] ?? 0;
    const x = expandTo(a, o.shape).data;
    for (let i = 0; i < n; i++) out[i] = f(x[i] ?? 0, y);
  } else {
    const x = expandTo(a, o.shape).data;
    const y = expandTo(b, o.shape).data;
    for (let i = 0; i < n; i++) out[i] = f(x[i] ?? 0, y[i] ?? 0);
  }
  return dense(o.shape, rounded(out, o.dtype), o.dtype);
}

function made(o: Operation, name: string): Dense | undefined {
  const n = sizeOf(o.shape);
  const fill = (v: number): Dense => dense(o.shape, rounded(new Float64Array(n).fill(v), o.dtype), o.dtype);
  switch (name) {
    case "full":
    case "full_like":
    case "new_full":
    case "scalar_tensor":
      return fill(number(o.get("fill_value")) ?? number(o.get("s")) ?? 0);
    case "zeros":
    case "zeros_like":
    case "empty":
    case "empty_like":
    case "new_zeros":
      return fill(0);
    case "ones":
    case "ones_like":
    case "new_ones":
      return fill(1);
    case "iota":
    case "arange": {
      const start = number(o.get("start")) ?? 0;
      const step = number(o.get("step")) ?? 1;
      return dense(
        o.shape,
        Float64Array.from({ length: n }, (_, i) => start + i * step),
        o.dtype,
      );
    }
    default:
      return undefined;
  }
}

/** elements moved, none computed */
function moved(o: Operation, name: string, self: Operand | undefined): Outcome {
  if (name === "cat" || name === "stack") {
    const list = o.get("tensors");
    const parts = Array.isArray(list) ? (list as readonly Operand[]).filter(isDense) : [];
    const dim = wrap(number(o.get("dim")) ?? 0, o.shape.length);
    const wide = name === "stack" ? parts.map(p => unsqueezed(p, dim)) : parts.filter(p => sizeOf(p.shape) > 0);
    return concatenated(wide, dim, o.dtype);
  }
  if (!isDense(self)) return undefined;
  const rank = self.shape.length;
  const dim = wrap(number(o.get("dim")) ?? 0, rank);
  switch (name) {
    case "permute":
      return permuted(
        self,
        numbers(o.get("dims")).map(d => wrap(d, rank)),
      );
    case "transpose":
    case "t": {
      const order = self.shape.map((_, d) => d);
      const [a, b] = [wrap(number(o.get("dim0")) ?? 0, rank), wrap(number(o.get("dim1")) ?? 1, rank)];
      if (rank > 1) [order[a], order[b]] = [b, a];
      return permuted(self, order);
    }
    case "expand":
      return expandTo(self, o.shape);
    case "slice": {
      const n = self.shape[dim] ?? 0;
      const clamp = (x: number): number => Math.min(n, Math.max(0, x < 0 ? x + n : x));
      return sliced(
        self,
        dim,
        clamp(number(o.get("start")) ?? 0),
        clamp(number(o.get("end")) ?? n),
        number(o.get("step")) ?? 1,
      );
    }
    case "select": {
      const at = wrap(number(o.get("index")) ?? 0, self.shape[dim] ?? 1);
      return dense(o.shape, sliced(self, dim, at, at + 1, 1).data, o.dtype);
    }
    case "unbind":
      return Array.from({ length: self.shape[dim] ?? 0 }, (_, i) => {
        const part = sliced(self, dim, i, i + 1, 1);
        return dense(
          self.shape.filter((_s, d) => d !== dim),
          part.data,
          self.dtype,
        );
      });
    case "split":
    case "split_with_sizes": {
      const total = self.shape[dim] ?? 0;
      const given = o.get("split_sizes") ?? o.get("split_size");
      const each = number(given);
      const sizes =
        each === undefined
          ? numbers(given)
          : Array.from({ length: Math.ceil(total / each) }, (_, i) => Math.min(each, total - i * each));
      let at = 0;
      return sizes.map(s => {
        at += s;
        return sliced(self, dim, at - s, at, 1);
      });
    }
    case "repeat":
      return repeated(self, o.shape);
    case "flip":
    case "rev": {
      const own = stridesOf(self.shape);
      const dims = new Set(numbers(o.get("dims")).map(d => wrap(d, rank)));
      const offset = [...dims].reduce((n, d) => n + ((self.shape[d] ?? 1) - 1) * (own[d] ?? 0), 0);
      const strides = own.map((s, d) => (dims.has(d) ? -s : s));
      return dense(self.shape, gatherStrided(self.data, self.shape, strides, offset), o.dtype);
    }
    case "copy":
      return expandTo(asDense(o.get("src"), o.dtype) ?? self, self.shape);
    case "constant_pad_nd":
      return padded(o, self);
    default:
      return undefined;
  }
}

const unsqueezed = (a: Dense, dim: number): Dense =>
  dense([...a.shape.slice(0, dim), 1, ...a.shape.slice(dim)], a.data, a.dtype);

function repeated(a: Dense, shape: readonly number[]): Dense {
  const lead = shape.length - a.shape.length;
  const strides = stridesOf(a.shape);
  const out = new Float64Array(sizeOf(shape));
  const at = new Array<number>(shape.length).fill(0);
  for (let i = 0; i < out.length; i++) {
    let from = 0;
    for (let d = lead; d < shape.length; d++)
      from += ((at[d] ?? 0) % (a.shape[d - lead] ?? 1)) * (strides[d - lead] ?? 0);
    out[i] = a.data[from] ?? 0;
    for (let d = shape.length - 1; d >= 0; d--) {
      at[d] = (at[d] ?? 0) + 1;
      if ((at[d] ?? 0) < (shape[d] ?? 1)) break;
      at[d] = 0;
    }
  }
  return dense(shape, out, a.dtype);
}

function padded(o: Operation, a: Dense): Dense {
  const pads = numbers(o.get("pad"));
  const value = number(o.get("value")) ?? 0;
  const rank = a.shape.length;
  const before = a.shape.map((_, d) => pads[2 * (rank - 1 - d)] ?? 0);
  const out = new Float64Array(sizeOf(o.shape)).fill(value);
  const to = stridesOf(o.shape);
  const at = new Array<number>(rank).fill(0);
  for (const v of a.data) {
    let place = 0;
    let inside = true;
    for (let d = 0; d < rank; d++) {
      const p = (at[d] ?? 0) + (before[d] ?? 0);
      if (p < 0 || p >= (o.shape[d] ?? 0)) inside = false;
      place += p * (to[d] ?? 0);
    }
    if (inside) out[place] = v;
    for (let d = rank - 1; d >= 0; d--) {
      at[d] = (at[d] ?? 0) + 1;
      if ((at[d] ?? 0) < (a.shape[d] ?? 1)) break;
      at[d] = 0;
    }
  }
  return dense(o.shape, out, o.dtype);
}

/** elements chosen by other elements */
function chosen(o: Operation, name: string, self: Operand | undefined): Outcome {
  switch (name) {
    case "where": {
      const c = asDense(o.get("condition"), "bool");
      const [a, b] = [asDense(self, o.dtype), asDense(o.get("other"), o.dtype)];
      if (!c || !a || !b) return undefined;
      const [cs, as, bs] = [c, a, b].map(x => expandTo(x, o.shape).data);
      const out = new Float64Array(sizeOf(o.shape));
      o.budget.spend(out.length);
      for (let i = 0; i < out.length; i++) out[i] = (cs?.[i] ?? 0) !== 0 ? (as?.[i] ?? 0) : (bs?.[i] ?? 0);
      return dense(o.shape, rounded(out, o.dtype), o.dtype);
    }
    case "clamp":
    case "clamp_min":
    case "clamp_max": {
      const low = asDense(o.get("min"), o.dtype);
      const high = asDense(o.get("max"), o.dtype);
      if (!isDense(self)) return undefined;
      const shape = broadcastShape(self.shape, low?.shape ?? [], high?.shape ?? []);
      const out = Float64Array.from(expandTo(self, shape).data);
      const [ls, hs] = [low && expandTo(low, shape).data, high && expandTo(high, shape).data];
      for (let i = 0; i < out.length; i++) {
        if (ls) out[i] = Math.max(out[i] ?? 0, ls[i] ?? 0);
        if (hs) out[i] = Math.min(out[i] ?? 0, hs[i] ?? 0);
      }
      return dense(shape, rounded(out, o.dtype), o.dtype);
    }
    case "embedding": {
      const [w, ix] = [o.get("weight"), o.get("indices")];
      if (!isDense(w) || !isDense(ix)) return undefined;
      const width = w.shape[1] ?? 1;
      const out = new Float64Array(sizeOf(o.shape));
      ix.data.forEach((r, i) => {
        out.set(w.data.subarray(r * width, (r + 1) * width), i * width);
      });
      return dense(o.shape, out, o.dtype);
    }
    case "gather": {
      const ix = o.get("index");
      if (!isDense(self) || !isDense(ix)) return undefined;
      const dim = wrap(number(o.get("dim")) ?? 0, self.shape.length);
      const strides = stridesOf(self.shape);
      const out = new Float64Array(ix.data.length);
      const at = new Array<number>(ix.shape.length).fill(0);
      for (let i = 0; i < out.length; i++) {
        let p = 0;
        for (let d = 0; d < at.length; d++) p += (d === dim ? (ix.data[i] ?? 0) : (at[d] ?? 0)) * (strides[d] ?? 0);
        out[i] = self.data[p] ?? 0;
        for (let d = at.length - 1; d >= 0; d--) {
          at[d] = (at[d] ?? 0) + 1;
          if ((at[d] ?? 0) < (ix.shape[d] ?? 1)) break;
          at[d] = 0;
        }
      }
      return dense(ix.shape, out, o.dtype);
    }
    case "topk":
    case "sort":
      return isDense(self) ? sorted(o, self) : undefined;
    default:
      return undefined;
  }
}

function sorted(o: Operation, a: Dense): readonly Dense[] {
  const dim = wrap(number(o.get("dim")) ?? -1, a.shape.length);
  const k = number(o.get("k")) ?? a.shape[dim] ?? 1;
  const down = o.packet.endsWith("topk") ? o.get("largest") !== false : o.get("descending") === true;
  const r = forReduction(a, [dim], true);
  o.budget.spend(a.data.length * 8);
  const values = new Float64Array(r.outer * k);
  const indices = new Float64Array(r.outer * k);
  for (let row = 0; row < r.outer; row++) {
    const part = r.data.subarray(row * r.length, (row + 1) * r.length);
    const order = Array.from({ length: r.length }, (_, i) => i).sort((x, y) =>
      down ? (part[y] ?? 0) - (part[x] ?? 0) : (part[x] ?? 0) - (part[y] ?? 0),
    );
    for (let i = 0; i < k; i++) {
      indices[row * k + i] = order[i] ?? 0;
      values[row * k + i] = part[order[i] ?? 0] ?? 0;
    }
  }
  const kept = a.shape.map((_, d) => d).filter(d => d !== dim);
  const last = [...kept.map(d => a.shape[d] ?? 1), k];
  const back = a.shape.map((_, d) => (d === dim ? last.length - 1 : kept.indexOf(d)));
  return [permuted(dense(last, values, a.dtype), back), permuted(dense(last, indices, "int64"), back)];
}
