// Python's integers: a number of JavaScript's as long as that is exact, beyond that a bigint, so that equal integers are
// equal values.

export type Int = number | bigint;

export function normal(n: bigint): Int {
  return n >= -9007199254740991n && n <= 9007199254740991n ? Number(n) : n;
}

/** what fits ssize_t: lengths and positions */
const LARGEST_SIZE = 9223372036854775807n;

export function fitsSize(i: Int): boolean {
  return i >= -LARGEST_SIZE - 1n && i <= LARGEST_SIZE;
}
