// Elements moved: joins, permutations, selections, orders; and what is made of pairs of them (diff, outer). In: a call. Out: the
// result's data, undefined for another operator or where an argument is not known.
import { flat, gathered, type KnownArray, permute, positions, select, size, slice, sortOrder } from "./known_arrays";
import { type Arg, array, type KnownCall, number, tensor, wrap } from "./known_call";

export function moved(c: KnownCall, name: string, get: (n: string) => number | undefined): number[] | undefined {
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
    case "roll": {
      const [shifts, dims] = [c.args.get("shifts"), c.args.get("dims")].map(v =>
        Array.isArray(v) ? v.map(x => number(x as Arg) ?? 0) : [],
      );
      if (dims?.length === 0) {
        const n = t.data.length;
        return t.data.map((_, i) => t.data[(((i - (shifts?.[0] ?? 0)) % n) + n) % n] ?? 0);
      }
      return gathered(t, t.shape, p =>
        p.map((x, d) => {
          const at = dims?.findIndex(k => wrap(k, rank) === d) ?? -1;
          const n = t.shape[d] ?? 1;
          return at < 0 ? x : (((x - (shifts?.[at] ?? 0)) % n) + n) % n;
        }),
      );
    }
    case "repeat_interleave": {
      const times = get("repeats");
      if (times === undefined) return undefined;
      if (c.args.get("dim") === undefined || c.args.get("dim") === null)
        return t.data.flatMap(x => new Array<number>(times).fill(x));
      const dim = wrap(get("dim") ?? 0, rank);
      return gathered(t, c.shape, p => p.map((x, d) => (d === dim ? Math.floor(x / times) : x)));
    }
    case "index_select": {
      const [at, dim] = [tensor(c, "index"), wrap(get("dim") ?? 0, rank)];
      return at && gathered(t, c.shape, p => p.map((x, d) => (d === dim ? (at.data[x] ?? 0) : x)));
    }
    case "index": {
      // one list of positions of the first dimension; others are rare where values matter
      const list = c.args.get("indices");
      const [only, ...rest] = Array.isArray(list) ? list.map(m => (m === null ? undefined : array(c, m as Arg))) : [];
      if (!only || rest.length > 0 || only.data.length !== size(c.shape.slice(0, only.shape.length))) return undefined;
      const deep = only.shape.length;
      const n = t.shape[0] ?? 1;
      if (c.shape.length !== deep + rank - 1) return undefined;
      return gathered(t, c.shape, p => [wrap(only.data[flat(only.shape, p.slice(0, deep))] ?? 0, n), ...p.slice(deep)]);
    }
    case "argsort":
      return sortOrder(t, wrap(get("dim") ?? -1, rank), c.args.get("descending") === true);
    case "diff": {
      const dim = wrap(get("dim") ?? -1, rank);
      if ((get("n") ?? 1) !== 1) return undefined;
      const at = (by: number): number[] => gathered(t, c.shape, p => p.map((x, d) => (d === dim ? x + by : x)));
      const before = at(0);
      return at(1).map((x, i) => x - (before[i] ?? 0));
    }
    case "outer": {
      const other = tensor(c, "vec2") ?? tensor(c, "other");
      return other && t.data.flatMap(a => other.data.map(b => a * b));
    }
    default:
      return undefined;
  }
}
