// Powers, exponentials and logarithms of doubles, rounded correctly, as the C library's are but for one in a hundred
// powers; JavaScript's own differ in the last digit often enough to show in graphs (not so log10, which is as C's). In: doubles. Out: doubles.
// Promises: special values as JavaScript has them; pure. Works on integers that stand for multiples of 2^-BITS.

const BITS = 192n;
const ONE = 1n << BITS;

const bitLength = (v: bigint): number => {
  const digits = v.toString(16);
  return 4 * digits.length + 28 - Math.clz32(Number.parseInt(digits.charAt(0), 16));
};

/** x = mantissa * 2^exponent, for finite x > 0 */
function parts(x: number): readonly [mantissa: bigint, exponent: number] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const raw = view.getBigUint64(0) & ((1n << 63n) - 1n);
  const biased = Number(raw >> 52n);
  const fraction = raw & ((1n << 52n) - 1n);
  return biased === 0 ? [fraction, -1074] : [fraction | (1n << 52n), biased - 1075];
}

/** v * 2^exponent, v > 0, rounded to the nearest double */
function rounded(v: bigint, exponent: number): number {
  const spare = Math.max(0, bitLength(v) - 256);
  // of the digits that go, it only matters whether there are any
  const kept = v >> BigInt(spare);
  const lost = spare > 0 && kept << BigInt(spare) !== v;
  let [r, e] = [Number(lost ? kept | 1n : kept), exponent + spare];
  for (; e > 500; e -= 500) r *= 2 ** 500;
  for (; e < -500; e += 500) r *= 2 ** -500;
  return r * 2 ** e;
}

/** ln((1 + z) / (1 - z)) for z from 0 to 1/3, all in multiples of 2^-BITS */
function series(z: bigint): bigint {
  const square = (z * z) >> BITS;
  let sum = 0n;
  let power = z;
  for (let n = 1n; power !== 0n; n += 2n) {
    sum += power / n;
    power = (power * square) >> BITS;
  }
  return 2n * sum;
}

const LN2 = series(ONE / 3n);

/** ln x in multiples of 2^-BITS */
function naturalLog(x: number): bigint {
  const [mantissa, exponent] = parts(x);
  const length = bitLength(mantissa) - 1;
  const m = mantissa << (BITS - BigInt(length)); // from 1 to 2
  return series(((m - ONE) << BITS) / (m + ONE)) + BigInt(exponent + length) * LN2;
}

/** e^t, t in multiples of 2^-BITS */
function exponential(t: bigint): number {
  let k = t / LN2;
  if (t < 0n) k -= 1n;
  const HALVINGS = 8n;
  const r = (t - k * LN2) >> HALVINGS;
  let sum = ONE;
  let term = ONE;
  for (let n = 1n; term !== 0n; n++) {
    term = ((term * r) >> BITS) / n;
    sum += term;
  }
  for (let i = 0n; i < HALVINGS; i++) sum = (sum * sum) >> BITS;
  return rounded(sum, Number(k - BITS));
}

const positive = (x: number): boolean => x > 0 && Number.isFinite(x);

/** e^x */
export function exp(x: number): number {
  if (!Number.isFinite(x) || Math.abs(x) > 746 || Math.abs(x) < 2 ** -60) return Math.exp(x);
  return exponential(toFixed(x));
}

function toFixed(x: number): bigint {
  const [m, e] = parts(Math.abs(x));
  const shift = BigInt(e) + BITS;
  const v = shift >= 0n ? m << shift : m >> -shift;
  return x < 0 ? -v : v;
}

/** ln x */
export function log(x: number): number {
  return positive(x) && x !== 1 ? rounded(naturalLog(x), -Number(BITS)) : Math.log(x);
}

export function log2(x: number): number {
  return positive(x) ? rounded((naturalLog(x) << BITS) / LN2, -Number(BITS)) : Math.log2(x);
}

/** x^y */
export function pow(x: number, y: number): number {
  const near = x ** y;
  if (!Number.isFinite(near) || near === 0 || x === 0 || Math.abs(x) === 1 || y === 0) return near;
  if (!Number.isFinite(x) || !Number.isFinite(y)) return near;
  const size = Math.abs(x);
  const sign = x < 0 && y % 2 !== 0 ? -1 : 1;
  if (Number.isInteger(y) && Math.abs(y) <= 64) return sign * wholePower(size, y);
  const [m, e] = parts(Math.abs(y));
  const scaled = naturalLog(size) * (y < 0 ? -m : m);
  return sign * exponential(e >= 0 ? scaled << BigInt(e) : scaled >> BigInt(-e));
}

/** of an integer exponent: exact up to the one rounding */
function wholePower(x: number, y: number): number {
  const [m, e] = parts(x);
  const n = Math.abs(y);
  const power = m ** BigInt(n);
  if (y > 0) return rounded(power, e * n);
  const shift = BigInt(bitLength(power) + 64);
  const inverse = (1n << shift) / power;
  // what is left over only decides ties
  return rounded(2n * inverse + 1n, -Number(shift) - 1 - e * n);
}
