// Writes into parts of arrays, and reads and writes through index tensors. In: operations. Out: new arrays; the old ones
// stay as they were.
import { broadcastShape, type Dense, dense, expandTo, isDense, rounded, sizeOf, stridesOf } from "./arrays";
import type { Operand, Operation, Outcome } from "./types";

const num = (x: Operand | undefined): number | undefined =>
  typeof x === "number" ? x : typeof x === "boolean" ? Number(x) : undefined;

/** calls `f` with the flat place in `strides` of every position of `shape`, in order */
function places(
  shape: readonly number[],
  strides: readonly number[],
  offset: number,
  f: (p: number, i: number) => void,
): void {
  const n = sizeOf(shape);
  const at = new Array<number>(shape.length).fill(0);
  let p = offset;
  for (let i = 0; i < n; i++) {
    f(p, i);
    for (let d = shape.length - 1; d >= 0; d--) {
      at[d] = (at[d] ?? 0) + 1;
      p += strides[d] ?? 0;
      if ((at[d] ?? 0) < (shape[d] ?? 1)) break;
      p -= (strides[d] ?? 0) * (shape[d] ?? 1);
      at[d] = 0;
    }
  }
}

export function scatters(o: Operation, name: string, self: Operand | undefined): Outcome {
  if (!isDense(self)) return undefined;
  const rank = self.shape.length;
  const given = num(o.get("dim")) ?? 0;
  const dim = given < 0 ? given + rank : given;
  const strides = stridesOf(self.shape);
  switch (name) {
    case "select_scatter":
    case "slice_scatter": {
      const src = o.get("src");
      if (!isDense(src)) return undefined;
      const n = self.shape[dim] ?? 1;
      const clamp = (x: number): number => Math.min(n, Math.max(0, x < 0 ? x + n : x));
      const one = name === "select_scatter";
      const start = clamp(num(o.get(one ? "index" : "start")) ?? 0);
      const stop = one ? start + 1 : clamp(num(o.get("end")) ?? n);
      const step = one ? 1 : (num(o.get("step")) ?? 1);
      const shape = self.shape.map((s, d) => (d === dim ? Math.max(0, Math.ceil((stop - start) / step)) : s));
      const out = Float64Array.from(self.data);
      const from = one ? src.data : expandTo(src, shape).data;
      const moving = strides.map((s, d) => (d === dim ? s * step : s));
      places(shape, moving, start * (strides[dim] ?? 1), (p, i) => {
        out[p] = from[i] ?? 0;
      });
      return dense(self.shape, rounded(out, o.dtype), o.dtype);
    }
    case "scatter":
    case "scatter_add": {
      const index = o.get("index");
      const src = o.get("src") ?? o.get("value");
      if (!isDense(index)) return undefined;
      const out = Float64Array.from(self.data);
      const width = isDense(src) ? stridesOf(src.shape) : [];
      const at = index.shape.map(() => 0);
      for (let i = 0; i < index.data.length; i++) {
        let to = 0;
        let from = 0;
        for (let d = 0; d < rank; d++) {
          to += (d === dim ? (index.data[i] ?? 0) : (at[d] ?? 0)) * (strides[d] ?? 0);
          from += (at[d] ?? 0) * (width[d] ?? 0);
        }
        const v = isDense(src) ? (src.data[from] ?? 0) : (num(src) ?? 0);
        out[to] = name === "scatter" ? v : (out[to] ?? 0) + v;
        for (let d = rank - 1; d >= 0; d--) {
          at[d] = (at[d] ?? 0) + 1;
          if ((at[d] ?? 0) < (index.shape[d] ?? 1)) break;
          at[d] = 0;
        }
      }
      return dense(self.shape, rounded(out, o.dtype), o.dtype);
    }
    case "index":
    case "index_put":
      return indexed(o, self, strides, name === "index_put");
    default:
      return undefined;
  }
}

/** advanced indexing: index tensors broadcast together; their dims stand where the first of them stands, if adjacent */
function indexed(o: Operation, self: Dense, strides: readonly number[], put: boolean): Outcome {
  const list = o.get("indices");
  if (!Array.isArray(list)) return undefined;
  const indices = (list as readonly Operand[]).map(x => (isDense(x) ? x : null));
  if (indices.some(x => x?.dtype === "bool")) return undefined;
  const used = indices.flatMap((x, d) => (x ? [d] : []));
  const first = used[0] ?? 0;
  const adjacent = used.every((d, i) => d === first + i);
  const shared = broadcastShape(...used.map(d => indices[d]?.shape ?? []));
  const spread = used.map(d => expandTo(indices[d] as Dense, shared).data);
  const kept = self.shape.map((_, d) => d).filter(d => !used.includes(d));
  const lead = adjacent ? kept.filter(d => d < first) : [];
  const tail = kept.filter(d => !lead.includes(d));
  const sizes = (ds: readonly number[]): number[] => ds.map(d => self.shape[d] ?? 1);
  const steps = (ds: readonly number[]): number[] => ds.map(d => strides[d] ?? 0);
  const shape = [...sizes(lead), ...shared, ...sizes(tail)];
  const count = sizeOf(shared);
  const at = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let p = 0;
    used.forEach((d, k) => {
      const x = spread[k]?.[i] ?? 0;
      p += (x < 0 ? x + (self.shape[d] ?? 0) : x) * (strides[d] ?? 0);
    });
    at[i] = p;
  }
  const inner = sizeOf(sizes(tail));
  const visit = (f: (p: number, i: number) => void): void => {
    let i = 0;
    places(sizes(lead), steps(lead), 0, base => {
      for (let k = 0; k < count; k++) {
        places(sizes(tail), steps(tail), base + (at[k] ?? 0), p => f(p, i++));
      }
    });
  };
  o.budget.spend(sizeOf(sizes(lead)) * count * inner);
  if (!put) {
    const out = new Float64Array(sizeOf(shape));
    visit((p, i) => {
      out[i] = self.data[p] ?? 0;
    });
    return dense(shape, out, o.dtype);
  }
  const values = o.get("values");
  if (!isDense(values)) return undefined;
  const from = expandTo(values, shape).data;
  const out = Float64Array.from(self.data);
  const add = o.get("accumulate") === true;
  visit((p, i) => {
    out[p] = (add ? (out[p] ?? 0) : 0) + (from[i] ?? 0);
  });
  return dense(self.shape, rounded(out, o.dtype), o.dtype);
}
