// Arithmetic on Python floats where JavaScript's own functions are not exact to the last bit.

const BITS = 160n;

/** atanh(p / q) as a fixed-point number, for 0 <= p < q */
function atanh(p: bigint, q: bigint): bigint {
  const x = (p << BITS) / q;
  const square = (x * x) >> BITS;
  let [term, sum] = [x, 0n];
  for (let k = 1n; term !== 0n; k += 2n) {
    sum += term / k;
    term = (term * square) >> BITS;
  }
  return sum;
}

/** The natural logarithm of a positive number, correctly rounded (as C's is in practice). */
export function naturalLog(x: number): number {
  if (!(x > 0) || x === Infinity || x === 1) return Math.log(x);
  let exponent = Math.floor(Math.log2(x));
  let mantissa = x / 2 ** exponent;
  if (mantissa >= Math.SQRT2) {
    mantissa /= 2;
    exponent++;
  }
  // ln m = 2 atanh((m - 1) / (m + 1)); the mantissa is an exact fraction over 2**53
  const m = BigInt(mantissa * 2 ** 53);
  const unit = 1n << 53n;
  const sign = m < unit ? -1n : 1n;
  const ln = sign * 2n * atanh(sign * (m - unit), m + unit) + BigInt(exponent) * 2n * atanh(1n, 3n);
  // Number() rounds to the nearest double, and the scale is a power of two
  return Number(ln) / 2 ** Number(BITS);
}
