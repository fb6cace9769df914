// Functions that JavaScript's Math lacks. In: numbers. Out: numbers, good to about 1e-7, which is float32's own precision.

/** the Taylor series near zero, the continued fraction of erfc beyond */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (a < 2) {
    // the Taylor series converges quickly here
    let term = a;
    let sum = a;
    for (let n = 1; n < 40; n++) {
      term *= (-a * a) / n;
      sum += term / (2 * n + 1);
    }
    return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * sum;
  }
  // the continued fraction of erfc
  let f = 0;
  for (let n = 40; n > 0; n--) f = n / 2 / (a + f);
  const erfc = Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + f);
  return Math.sign(x) * (1 - erfc);
}

export function roundHalfEven(x: number): number {
  const f = Math.floor(x);
  const d = x - f;
  return d < 0.5 || (d === 0.5 && f % 2 === 0) ? f : f + 1;
}
