// Special functions in float64, for operators that Inductor leaves to ATen.

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327149311616e-7,
];

export function logGamma(x: number): number {
  if (x < 0.5) {
    if (Number.isInteger(x)) return Number.POSITIVE_INFINITY;
    return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - logGamma(1 - x);
  }
  const z = x - 1;
  const a = LANCZOS.reduce((s, g, i) => s + g / (z + i + 1), 0.9999999999998099);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(a);
}

export function digamma(x: number): number {
  if (x === 0) return Object.is(x, -0) ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  if (x < 0) return Number.isInteger(x) ? Number.NaN : digamma(1 - x) - Math.PI / Math.tan(Math.PI * x);
  let s = 0;
  let y = x;
  for (; y < 12; y++) s -= 1 / y;
  const z = 1 / (y * y);
  const series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132)))));
  return s + Math.log(y) - 0.5 / y - series;
}

/** the n-th derivative of digamma, by Hurwitz's zeta function (Euler and Maclaurin's sum) */
export function polygamma(n: number, x: number): number {
  if (n === 0) return digamma(x);
  let factorial = 1;
  for (let i = 2; i <= n; i++) factorial *= i;
  return (n % 2 ? 1 : -1) * factorial * zeta(n + 1, x);
}

const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730];

function zeta(s: number, q: number): number {
  if (q <= 0 && Number.isInteger(q)) return Number.POSITIVE_INFINITY;
  const N = 16;
  let sum = 0;
  for (let k = 0; k < N; k++) sum += (q + k) ** -s;
  const a = q + N;
  sum += a ** (1 - s) / (s - 1) + 0.5 * a ** -s;
  let term = (s * a ** (-s - 1)) / 2;
  BERNOULLI.forEach((b, i) => {
    sum += b * term;
    const j = 2 * (i + 1);
    term *= ((s + j - 1) * (s + j)) / ((j + 1) * (j + 2)) / (a * a);
  });
  return sum;
}

/** exp(-|x|) times the modified Bessel function of order 0 or 1 */
function besselScaled(order: 0 | 1, x: number): number {
  const a = Math.abs(x);
  if (a <= 40) {
    let term = order ? a / 2 : 1;
    let sum = term;
    for (let k = 1; k < 120; k++) {
      term *= (a * a) / 4 / (k * (k + order));
      sum += term;
    }
    return sum * Math.exp(-a);
  }
  let term = 1;
  let sum = 1;
  for (let k = 1; k < 16; k++) {
    term *= -(4 * order * order - (2 * k - 1) ** 2) / (k * 8 * a);
    sum += term;
  }
  return sum / Math.sqrt(2 * Math.PI * a);
}

export const i0e = (x: number): number => besselScaled(0, x);
export const i1e = (x: number): number => Math.sign(x) * besselScaled(1, x);

/** erf by its series, 1 - erfc beyond 2 */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (a > 2) return Math.sign(x) * (1 - erfcTail(a));
  let term = x;
  let total = x;
  for (let n = 1; n < 80 && Math.abs(term) > 1e-18 * Math.abs(total); n++) {
    term *= -(x * x) / n;
    total += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}

export function erfc(x: number): number {
  return x > 2 ? erfcTail(x) : 1 - erf(x);
}

/** continued fraction of erfc for x above 2 (Abramowitz and Stegun 7.1.14) */
function erfcTail(x: number): number {
  let f = 0;
  for (let k = 80; k > 0; k--) f = k / 2 / (x + f);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + f);
}
