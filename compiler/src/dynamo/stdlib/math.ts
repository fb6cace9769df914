// The module math. In: the machine. Out: its module object.

import { func, native } from "../builtins/define";
import { toFloat, toInt } from "../builtins/numbers";
import { exp, log, log2, pow } from "../interp/exact_math";
import type { Machine } from "../interp/machine";
import { asFloat, asInt, type Int, normal } from "../interp/numbers";
import { plain } from "../interp/operators";
import { PyFloat, type PyModule, PyUnknown, type Value } from "../objects/values";

function toNumber(vm: Machine, v: Value | undefined): number {
  const p = plain(v ?? null);
  if (p instanceof PyFloat) return p.value;
  const r = toFloat(vm, p);
  return asFloat(r) ?? 0;
}

const DOMAIN = "math domain error";

export function mathModule(vm: Machine): PyModule {
  const m = vm.newModule("math");
  const constants = { pi: Math.PI, e: Math.E, tau: 2 * Math.PI, inf: Infinity, nan: Number.NaN };
  for (const [k, v] of Object.entries(constants)) m.dict.set(k, new PyFloat(v));
  /** a result that no double holds, of operands that are finite, is an error */
  const ranged = (r: number, ...of: readonly number[]): PyFloat => {
    if (!Number.isFinite(r) && of.every(Number.isFinite))
      vm.raise(Number.isNaN(r) ? "ValueError" : "OverflowError", Number.isNaN(r) ? DOMAIN : "math range error");
    return new PyFloat(r);
  };
  const one = (name: string, fn: (x: number) => number, domain?: (x: number) => boolean): void => {
    func(vm, m, name, ([v]) => {
      if (v instanceof PyUnknown) return vm.unknown(`math.${name}(${v.what})`);
      const x = toNumber(vm, v);
      if (domain && !domain(x)) vm.raise("ValueError", DOMAIN);
      return ranged(fn(x), x);
    });
  };
  one("sqrt", Math.sqrt, x => !(x < 0));
  const within = (x: number): boolean => !(Math.abs(x) > 1);
  const notInfinite = (x: number): boolean => Math.abs(x) !== Infinity;
  one("exp", exp);
  one("expm1", Math.expm1);
  one("log1p", Math.log1p, x => !(x <= -1));
  for (const name of ["atan", "sinh", "cosh", "tanh", "asinh", "cbrt"] as const) one(name, Math[name]);
  for (const name of ["sin", "cos", "tan"] as const) one(name, Math[name], notInfinite);
  for (const name of ["asin", "acos"] as const) one(name, Math[name], within);
  one("acosh", Math.acosh, x => !(x < 1));
  one("atanh", Math.atanh, x => !(Math.abs(x) >= 1));
  one("fabs", Math.abs);
  one("degrees", x => (x * 180) / Math.PI);
  one("radians", x => (x * Math.PI) / 180);
  one("erf", erf);
  one("erfc", x => 1 - erf(x));
  one("gamma", gamma, x => !(x <= 0 && Number.isInteger(x)) && x !== -Infinity);
  one("lgamma", logGamma, x => !(x <= 0 && Number.isInteger(x)));
  // of integers that no float holds too
  const logarithm = (v: Value | undefined, log: (x: number) => number): number => {
    const i = asInt(plain(v ?? null));
    if (typeof i === "bigint" && i > 0n) {
      const digits = i.toString(16).length - 16;
      return digits <= 0 ? log(Number(i)) : log(Number(i >> BigInt(4 * digits))) + digits * log(16);
    }
    const x = toNumber(vm, v);
    if (!(x > 0)) vm.raise("ValueError", DOMAIN);
    return log(x);
  };
  for (const [name, fn] of [
    ["log2", log2],
    ["log10", Math.log10],
  ] as const)
    func(vm, m, name, ([v]) => {
      if (v instanceof PyUnknown) return vm.unknown(`math.${name}(${v.what})`);
      return new PyFloat(logarithm(v, fn));
    });
  func(vm, m, "log", ([v, base]) => {
    const x = logarithm(v, log);
    return new PyFloat(base === undefined ? x : x / logarithm(base, log));
  });
  func(vm, m, "pow", ([a, b]) => {
    const [x, y] = [toNumber(vm, a), toNumber(vm, b)];
    if (x === 0 && y < 0) vm.raise("ValueError", DOMAIN);
    return ranged(pow(x, y), x, y);
  });
  func(vm, m, "fmod", ([a, b]) => {
    const [x, y] = [toNumber(vm, a), toNumber(vm, b)];
    return ranged(x % y, x, y);
  });
  func(vm, m, "atan2", ([a, b]) => new PyFloat(Math.atan2(toNumber(vm, a), toNumber(vm, b))));
  func(vm, m, "hypot", args => new PyFloat(Math.hypot(...args.map(a => toNumber(vm, a)))));
  func(vm, m, "copysign", ([a, b]) => {
    const y = toNumber(vm, b);
    const negative = y < 0 || Object.is(y, -0);
    return new PyFloat((negative ? -1 : 1) * Math.abs(toNumber(vm, a)));
  });
  const whole = (name: string, fn: (x: number) => number): void => {
    func(vm, m, name, ([v]) => {
      const p = plain(v ?? null);
      const own = p instanceof PyFloat || asInt(p) !== undefined ? undefined : vm.getattrOrUndefined(p, `__${name}__`);
      if (own !== undefined) return vm.call(own, []);
      if (asInt(p) !== undefined) return p;
      return toInt(vm, new PyFloat(fn(toNumber(vm, p))));
    });
  };
  whole("floor", Math.floor);
  whole("ceil", Math.ceil);
  whole("trunc", Math.trunc);
  func(vm, m, "isqrt", ([v]) => normal(squareRoot(vm, BigInt(vm.integer(v ?? 0)))));
  func(vm, m, "isnan", ([v]) => Number.isNaN(toNumber(vm, v)));
  func(vm, m, "isinf", ([v]) => Math.abs(toNumber(vm, v)) === Infinity);
  func(vm, m, "isfinite", ([v]) => Number.isFinite(toNumber(vm, v)));
  m.dict.set(
    "isclose",
    native(vm, "isclose", ["a", "b", "*", "rel_tol?", "abs_tol?"], a => {
      const [x, y] = [toNumber(vm, a.need("a")), toNumber(vm, a.need("b"))];
      const rel = toNumber(vm, a.get("rel_tol") ?? new PyFloat(1e-9));
      const abs = toNumber(vm, a.get("abs_tol") ?? new PyFloat(0));
      return x === y || Math.abs(x - y) <= Math.max(rel * Math.max(Math.abs(x), Math.abs(y)), abs);
    }),
  );
  func(vm, m, "prod", ([v], kw) => vm.toArray(v ?? null).reduce((a, x) => vm.binary("*", a, x), kw.get("start") ?? 1));
  func(vm, m, "fsum", ([v]) => new PyFloat(vm.toArray(v ?? null).reduce<number>((a, x) => a + toNumber(vm, x), 0)));
  const counted = (name: string, v: Value | undefined): number => {
    const n = vm.index(v ?? 0);
    return n < 0 ? vm.raise("ValueError", `${name} must be a non-negative integer`) : n;
  };
  /** n (n - 1) ... of so many factors; `divided`: by as many, from 1 */
  const falling = (n: number, factors: number, divided = false): Int => {
    let r = 1n;
    let bits = 0;
    for (let i = 1; i <= factors; i++) {
      // a product takes longer the more digits it has
      vm.charge(1 + Math.floor(bits / 64));
      const top = divided ? n - factors + i : n + 1 - i;
      bits += Math.log2(top) - (divided ? Math.log2(i) : 0);
      r *= BigInt(top);
      if (divided) r /= BigInt(i);
    }
    return normal(r);
  };
  const magnitude = (a: bigint): bigint => (a < 0n ? -a : a);
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? magnitude(a) : gcd(b, a % b));
  const exact = (v: Value): bigint => BigInt(vm.integer(v));
  func(vm, m, "gcd", args => normal(args.reduce<bigint>((a, x) => gcd(a, exact(x)), 0n)));
  func(vm, m, "lcm", args =>
    normal(
      args.reduce<bigint>((a, x) => {
        const n = exact(x);
        return a === 0n || n === 0n ? 0n : magnitude(a * n) / gcd(a, n);
      }, 1n),
    ),
  );
  func(vm, m, "factorial", ([v]) => {
    const n = vm.index(v ?? 0);
    if (n < 0) vm.raise("ValueError", "factorial() not defined for negative values");
    return falling(n, n);
  });
  func(vm, m, "comb", ([n, k]) => {
    const [a, b] = [counted("n", n), counted("k", k)];
    return b > a ? 0 : falling(a, Math.min(b, a - b), true);
  });
  func(vm, m, "perm", ([n, k]) => {
    const a = counted("n", n);
    const b = k === undefined || k === null ? a : counted("k", k);
    return b > a ? 0 : falling(a, b);
  });
  func(vm, m, "modf", ([v]) => {
    const x = toNumber(vm, v);
    return vm.tuple([new PyFloat(x - Math.trunc(x)), new PyFloat(Math.trunc(x))]);
  });
  func(vm, m, "frexp", ([v]) => {
    const x = toNumber(vm, v);
    if (x === 0 || !Number.isFinite(x)) return vm.tuple([new PyFloat(x), 0]);
    const e = Math.floor(Math.log2(Math.abs(x))) + 1;
    return vm.tuple([new PyFloat(x / 2 ** e), e]);
  });
  func(vm, m, "ldexp", ([x, e]) => new PyFloat(toNumber(vm, x) * 2 ** vm.index(e ?? 0)));
  return m;
}

/** the largest integer whose square is not larger */
function squareRoot(vm: Machine, n: bigint): bigint {
  if (n < 0n) vm.raise("ValueError", "isqrt() argument must be nonnegative");
  if (n < 2n) return n;
  // Newton's steps from above end at it
  let x = 1n << BigInt(2 * n.toString(16).length + 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

/** Abramowitz and Stegun 7.1.26 refined by one Newton step on the series near 0; good to double rounding noise */
function erf(x: number): number {
  const a = Math.abs(x);
  if (a < 2.5) {
    // Maclaurin series
    let term = a;
    let sum = a;
    for (let n = 1; n < 60; n++) {
      term *= (-a * a) / n;
      sum += term / (2 * n + 1);
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  // continued fraction of erfc
  let f = 0;
  for (let k = 60; k > 0; k--) f = k / 2 / (a + f);
  return Math.sign(x) * (1 - Math.exp(-a * a) / (Math.sqrt(Math.PI) * (a + f)));
}

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

const lanczosSum = (x: number): number => LANCZOS.reduce((s, c, i) => (i === 0 ? c : s + c / (x - 1 + i)), 0);

function gamma(x: number): number {
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x));
  const t = x + 6.5;
  return Math.sqrt(2 * Math.PI) * t ** (x - 0.5) * Math.exp(-t) * lanczosSum(x);
}

/** ln |gamma(x)|, where gamma itself has no double too */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - logGamma(1 - x);
  if (x === Infinity) return x;
  const t = x + 6.5;
  return Math.log(2 * Math.PI) / 2 + (x - 0.5) * Math.log(t) - t + Math.log(lanczosSum(x));
}
