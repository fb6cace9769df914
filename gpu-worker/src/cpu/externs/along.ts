// Tensors as lines along one dim. In: a tensor's values, row-major. Out: each line as positions in them.
import { volume } from "./windows";

export interface Lines {
  readonly count: number;
  readonly length: number;
  /** flat index of element i of line l */
  at(l: number, i: number): number;
}

export function linesAlong(size: readonly number[], dim: number): Lines {
  if (size.length === 0) return { count: 1, length: 1, at: () => 0 };
  const length = size[dim] ?? 1;
  const inner = volume(size.slice(dim + 1));
  return {
    count: volume(size.slice(0, dim)) * inner,
    length,
    at: (l, i) => (Math.floor(l / inner) * length + i) * inner + (l % inner),
  };
}

/** ascending, NaN last; ties and descending order keep the original order */
export function sortedOrder(values: ArrayLike<number>, descending: boolean): number[] {
  const order = Array.from({ length: values.length }, (_, i) => i);
  const sign = descending ? -1 : 1;
  return order.sort((i, j) => {
    const [a, b] = [values[i] as number, values[j] as number];
    if (Number.isNaN(a) || Number.isNaN(b)) return sign * (Number(Number.isNaN(a)) - Number(Number.isNaN(b))) || i - j;
    return a < b ? -sign : a > b ? sign : i - j;
  });
}
