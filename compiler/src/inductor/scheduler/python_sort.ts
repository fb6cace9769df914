// In: a list and "is a less than b". Out: the list as CPython's list.sort orders it.
// Promises: the same sequence of runs, insertions and merges as timsort, so the result is Python's even where "less" is
// not transitive (short lists exactly; long ones without galloping, which only matters for such orders).

export type Less<T> = (a: T, b: T) => boolean;

/** sorted(items, reverse=True): descending, equal items in their original order. */
export function sortDescending<T>(items: readonly T[], less: Less<T>): T[] {
  return sortAscending([...items].reverse(), less).reverse();
}

export function sortAscending<T>(items: readonly T[], less: Less<T>): T[] {
  const a = [...items];
  const n = a.length;
  if (n < 2) return a;
  const minimum = minRun(n);
  const runs: [start: number, length: number][] = [];
  let low = 0;
  while (low < n) {
    let length = countRun(a, low, n, less);
    if (length < minimum) {
      const forced = Math.min(minimum, n - low);
      insertionSort(a, low, low + forced, low + length, less);
      length = forced;
    }
    runs.push([low, length]);
    low += length;
    collapse(a, runs, less, false);
  }
  collapse(a, runs, less, true);
  return a;
}

function minRun(n: number): number {
  let bits = 0;
  let k = n;
  while (k >= 64) {
    bits |= k & 1;
    k >>= 1;
  }
  return k + bits;
}

/** Length of the run at `low`; a strictly descending run is reversed in place. */
function countRun<T>(a: T[], low: number, high: number, less: Less<T>): number {
  let i = low + 1;
  if (i === high) return 1;
  const descending = less(a[i] as T, a[low] as T);
  for (i++; i < high; i++) if (less(a[i] as T, a[i - 1] as T) !== descending) break;
  if (descending) a.splice(low, i - low, ...a.slice(low, i).reverse());
  return i - low;
}

function insertionSort<T>(a: T[], low: number, high: number, start: number, less: Less<T>): void {
  for (let i = start; i < high; i++) {
    const pivot = a[i] as T;
    let left = low;
    let right = i;
    while (left < right) {
      const middle = (left + right) >> 1;
      if (less(pivot, a[middle] as T)) right = middle;
      else left = middle + 1;
    }
    a.splice(i, 1);
    a.splice(left, 0, pivot);
  }
}

function collapse<T>(a: T[], runs: [number, number][], less: Less<T>, all: boolean): void {
  const length = (i: number): number => runs[i]?.[1] ?? 0;
  while (runs.length > 1) {
    let n = runs.length - 2;
    const unbalanced =
      (n > 0 && length(n - 1) <= length(n) + length(n + 1)) || (n > 1 && length(n - 2) <= length(n - 1) + length(n));
    if (unbalanced || all) {
      if (n > 0 && length(n - 1) < length(n + 1)) n--;
    } else if (length(n) > length(n + 1)) return;
    mergeAt(a, runs, n, less);
  }
}

function mergeAt<T>(a: T[], runs: [number, number][], at: number, less: Less<T>): void {
  const [startA, lengthA] = runs[at] as [number, number];
  const [startB, lengthB] = runs[at + 1] as [number, number];
  const left = a.slice(startA, startA + lengthA);
  const right = a.slice(startB, startB + lengthB);
  let i = 0;
  let j = 0;
  let to = startA;
  while (i < left.length && j < right.length) {
    a[to++] = less(right[j] as T, left[i] as T) ? (right[j++] as T) : (left[i++] as T);
  }
  while (i < left.length) a[to++] = left[i++] as T;
  while (j < right.length) a[to++] = right[j++] as T;
  runs.splice(at, 2, [startA, lengthA + lengthB]);
}
