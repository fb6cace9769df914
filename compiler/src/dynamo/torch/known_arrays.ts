// Small arrays of known values, row by row: positions, selections, broadcasts. In: shapes and data. Out: data.

export interface KnownArray {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

export const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

export function positions(shape: readonly number[]): number[][] {
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

export function flat(shape: readonly number[], at: readonly number[]): number {
  let i = 0;
  shape.forEach((s, d) => {
    i = i * s + (at[d] ?? 0);
  });
  return i;
}

/** reads an array as if it had a larger shape */
export function spread(a: KnownArray, shape: readonly number[]): number[] {
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

export function select(a: KnownArray, dim: number, index: number): KnownArray {
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

export function permute(a: KnownArray, order: readonly number[]): number[] {
  const shape = order.map(d => a.shape[d] ?? 1);
  return positions(shape).map(p => {
    const from = a.shape.map(() => 0);
    order.forEach((d, i) => {
      from[d] = p[i] ?? 0;
    });
    return a.data[flat(a.shape, from)] ?? 0;
  });
}

/** `read` gives, for each position of a result, the position that its element comes from */
export function gathered(
  a: KnownArray,
  shape: readonly number[],
  read: (p: readonly number[]) => readonly number[],
): number[] {
  return positions(shape).map(p => a.data[flat(a.shape, read(p))] ?? 0);
}

/** the order that sorts each row along a dimension; equal elements keep theirs */
export function sortOrder(a: KnownArray, dim: number, descending: boolean): number[] {
  const out = new Array<number>(a.data.length).fill(0);
  const n = a.shape[dim] ?? 1;
  for (const p of positions(a.shape.map((s, d) => (d === dim ? 1 : s)))) {
    const at = (i: number): number =>
      flat(
        a.shape,
        p.map((x, d) => (d === dim ? i : x)),
      );
    const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => {
      const c = (a.data[at(i)] ?? 0) - (a.data[at(j)] ?? 0);
      return (descending ? -c : c) || i - j;
    });
    order.forEach((from, i) => {
      out[at(i)] = from;
    });
  }
  return out;
}
