// Functions of four f32 at a time, written into the kernel where they are used: V8 keeps their constants in registers
// or on the stack only if they stand in the loop's own function, and a call costs as much as the arithmetic. In: the
// text of a local. Out: the text of a local that holds the result, within two units in the last place: polynomials
// fitted for least relative error on the reduced ranges, after Cephes' way of reducing. Arguments that a polynomial does
// not reach are worked out again by a helper. Products with sums are relaxed (fused where the machine can).
import type { Helper } from "./dsl";

type FallBack = "v_exp_any" | "v_log_any" | "v_sin_any" | "v_cos_any";

/** what these functions need of the function under construction */
export interface VectorEmitter {
  local(type: "v128", hint: string): string;
  set(local: string, text: string): void;
  /** the text of a local that holds the constant throughout the function */
  constant(text: string): string;
  branch(condition: string, body: () => void): void;
  use(helper: FallBack): string;
  /** the factors of a local that was set to a product with a constant, which is the same in all lanes; else null */
  scaled(x: string): { readonly of: string; readonly by: number } | null;
}

type Fn = (e: VectorEmitter, x: string) => string;

const keep = (e: VectorEmitter, hint: string, code: string): string => {
  const name = e.local("v128", hint);
  e.set(name, code);
  return `(local.get ${name})`;
};
const num = (e: VectorEmitter, x: number): string => {
  const t = Number.isNaN(x) ? "nan" : Number.isFinite(x) ? String(x) : x > 0 ? "inf" : "-inf";
  return e.constant(`(v128.const f32x4 ${t} ${t} ${t} ${t})`);
};
const bits = (e: VectorEmitter, x: number): string => e.constant(`(v128.const i32x4 ${x} ${x} ${x} ${x})`);

const f = (op: string, ...xs: string[]): string => `(f32x4.${op} ${xs.join(" ")})`;
const i = (op: string, ...xs: string[]): string => `(i32x4.${op} ${xs.join(" ")})`;
const mul = (a: string, b: string): string => f("mul", a, b);
const add = (a: string, b: string): string => f("add", a, b);
const sub = (a: string, b: string): string => f("sub", a, b);
/** a b + c */
const madd = (a: string, b: string, c: string): string => f("relaxed_madd", a, b, c);
/** c - a b */
const nmadd = (a: string, b: string, c: string): string => f("relaxed_nmadd", a, b, c);
const or = (a: string, b: string): string => `(v128.or ${a} ${b})`;
const and = (a: string, b: string): string => `(v128.and ${a} ${b})`;
/** a where the mask holds, else b */
const pick = (mask: string, a: string, b: string): string => `(v128.bitselect ${a} ${b} ${mask})`;
const shift = (op: "shl" | "shr_s" | "shr_u", x: string, by: number): string => i(op, x, `(i32.const ${by})`);
/** NaN stays */
const clamp = (e: VectorEmitter, x: string, low: number, high: number): string =>
  f("pmax", f("pmin", x, num(e, high)), num(e, low));
const horner = (e: VectorEmitter, cs: readonly number[], x: string): string =>
  cs.reduceRight((s, c) => (s === "" ? num(e, c) : madd(s, x, num(e, c))), "");
/**
 * By pairs, pairs of pairs, ... (Estrin): a few products more than Horner's form, and half its chain of steps to wait for.
 * The last three terms are Horner's, where another power would cost more than a step.
 */
function poly(e: VectorEmitter, cs: readonly number[], x: string): string {
  let power = x;
  let terms = cs.map(c => num(e, c));
  while (terms.length > 1) {
    const [a = "", b = "", c = ""] = terms;
    if (terms.length === 3) return madd(madd(c, power, b), power, a);
    const pairs: string[] = [];
    for (let k = 0; k < terms.length; k += 2) {
      const [low = "", high] = terms.slice(k);
      pairs.push(high === undefined ? low : madd(high, power, low));
    }
    terms = pairs;
    if (terms.length > 1) power = keep(e, "w", mul(power, power));
  }
  return terms.join("");
}

const LN2_HIGH = 0.693359375;
const LN2_LOW = -2.12194440054690583e-4;
/** e^r = 1 + r + r^2 times this */
const EXP = [0.5, 1.666651815e-1, 4.166620597e-2, 8.368954062e-3, 1.395059982e-3];
const EXPM1 = [0.5, 1.666666716e-1, 4.166635498e-2, 8.333274163e-3, 1.394111663e-3, 1.991370664e-4];
const LOG = [
  3.333331048e-1, -2.499998659e-1, 2.000222653e-1, -1.666925102e-1, 1.421865821e-1, -1.238434836e-1, 1.187297627e-1,
  -1.178980768e-1, 6.91536814e-2,
];
const SIN = [-1.666666716e-1, 8.333329111e-3, -1.983932743e-4, 2.718237283e-6];
const COS = [4.166666791e-2, -1.38888834e-3, 2.479951218e-5, -2.720954626e-7];
const TANH = [-3.333328366e-1, 1.333149076e-1, -5.374349654e-2, 2.065057866e-2, -5.71703678e-3];
/** erf(x) / x - 1/4 = numerator / denominator in x^2, up to |x| = ERF_END, beyond which erf rounds to 1 */
const ERF_NUMERATOR = [
  1.42736614, 9.85807702e-2, 4.17730026e-2, -3.88505578e-5, 8.0797472e-5, -1.76433277e-5, -1.99189536e-8,
];
const ERF_DENOMINATOR = [1.625, 8.08063626e-1, 1.84822991e-1, 2.49975361e-2, 2.10133521e-3, 9.98871765e-5];
const ERF_END = 3.84;
const HALF_PI = [1.5703125, 4.837512969970703e-4, 7.54978995489188216e-8];
/** beyond it the reduction by quarter turns loses digits */
const FAR = 8192;

const ONE_BITS = 0x3f800000;
const SIGN = -2147483648;
/** added to a number below 2^22 it leaves the nearest integer in the lower bits */
const TO_INTEGER = 12582912;
/** bits of the square root of a half */
const ROOT_HALF_BITS = 0x3f3504f3;
const LEAST_NORMAL = 2 ** -126;

/** n, with the same number in the lower bits of `t`, and x - n of `step`, for n = x / step rounded */
function reduced(
  e: VectorEmitter,
  x: string,
  perStep: number,
  step: readonly number[],
): { readonly t: string; readonly r: string } {
  const t = keep(e, "t", madd(x, num(e, perStep), num(e, TO_INTEGER)));
  const n = keep(e, "n", sub(t, num(e, TO_INTEGER)));
  const r = keep(
    e,
    "r",
    step.reduce((rest, part) => madd(n, num(e, -part), rest), x),
  );
  return { t, r };
}

/** 2^n for the integer in t's lower bits, -127 < n < 128 */
const powerOf2 = (e: VectorEmitter, t: string, plus = 0): string =>
  i("add", shift("shl", t, 23), bits(e, ONE_BITS + plus * 2 ** 23));

/** e^r or e^-r; the sum with 1 comes last, so that it alone is rounded at 1's place */
function expReduced(e: VectorEmitter, r: string, sign: 1 | -1): string {
  const square = keep(e, "rr", mul(r, r));
  if (sign === 1) return add(madd(square, poly(e, EXP, r), r), num(e, 1));
  const alternating = EXP.map((c, k) => c * (-1) ** k);
  return sub(num(e, 1), nmadd(square, poly(e, alternating, r), r));
}

/** e^y as a product of two, for |y| < 87 */
function expSmall(e: VectorEmitter, y: string): readonly [string, string] {
  const { t, r } = reduced(e, y, Math.LOG2E, [LN2_HIGH, LN2_LOW]);
  return [keep(e, "p", expReduced(e, r, 1)), keep(e, "s", powerOf2(e, t))];
}

/** e^x (or e^-x): the power of two goes straight into the exponent, where that leaves a normal number */
function exp(e: VectorEmitter, x: string, sign: 1 | -1 = 1): string {
  const { t, r } = reduced(e, x, sign * Math.LOG2E, [sign * LN2_HIGH, sign * LN2_LOW]);
  const y = keep(e, "exp", i("add", expReduced(e, r, sign), shift("shl", t, 23)));
  e.branch(`(i32.eqz (i32x4.all_true ${f("le", f("abs", x), num(e, 87))}))`, () =>
    e.set(y.slice("(local.get ".length, -1), `(call ${e.use("v_exp_any")} ${sign === 1 ? x : f("neg", x)})`),
  );
  return y;
}

/** for all numbers; the power of two is a product of two, since one may lie beyond what a float holds */
function expAny(e: VectorEmitter, x: string): string {
  const inside = keep(e, "x", clamp(e, x, -104, 89));
  const { t, r } = reduced(e, inside, Math.LOG2E, [LN2_HIGH, LN2_LOW]);
  const half = keep(e, "half", shift("shr_s", t, 1));
  const p = mul(expReduced(e, r, 1), powerOf2(e, half));
  return keep(e, "exp", mul(p, powerOf2(e, i("sub", t, half))));
}

/**
 * e^x of several vectors at once, x below 88: what leaves the normal numbers, or is none, is looked for in all of them
 * together, and then all are worked out again.
 */
export function expBelow(e: VectorEmitter, xs: readonly string[]): string[] {
  const ys = xs.map(x => {
    const { t, r } = reduced(e, x, Math.LOG2E, [LN2_HIGH, LN2_LOW]);
    return keep(e, "exp", i("add", expReduced(e, r, 1), shift("shl", t, 23)));
  });
  const normal = xs.map(x => f("ge", x, num(e, -87))).reduce(and);
  e.branch(`(i32.eqz (i32x4.all_true ${normal}))`, () =>
    ys.forEach((y, k) => {
      e.set(y.slice("(local.get ".length, -1), `(call ${e.use("v_exp_any")} ${xs[k]})`);
    }),
  );
  return ys;
}

function expm1(e: VectorEmitter, x: string): string {
  // (2^n)(e^r - 1) + (2^n - 1), at half the size so that 2^n fits
  const inside = keep(e, "x", clamp(e, x, -30, 89));
  const { t, r } = reduced(e, inside, Math.LOG2E, [LN2_HIGH, LN2_LOW]);
  const s = keep(e, "s", powerOf2(e, t, -1));
  const p = keep(e, "p", madd(mul(r, r), poly(e, EXPM1, r), r));
  return keep(e, "expm1", mul(num(e, 2), madd(p, s, sub(s, num(e, 0.5)))));
}

/** for normal numbers; `minus` is taken from the exponent */
function logNormal(e: VectorEmitter, x: string, minus: string | null): string {
  const b = keep(e, "b", i("sub", x, bits(e, ROOT_HALF_BITS)));
  const whole = f("convert_i32x4_s", shift("shr_s", b, 23));
  const n = keep(e, "n", minus ? sub(whole, minus) : whole);
  const m = keep(e, "m", sub(i("add", and(b, bits(e, 0x7fffff)), bits(e, ROOT_HALF_BITS)), num(e, 1)));
  const z = keep(e, "z", mul(m, m));
  const y = keep(e, "y", madd(n, num(e, LN2_LOW), mul(mul(m, z), poly(e, LOG, m))));
  return keep(e, "log", madd(n, num(e, LN2_HIGH), add(m, madd(num(e, -0.5), z, y))));
}

function log(e: VectorEmitter, x: string): string {
  const y = logNormal(e, x, null);
  const plain = and(f("ge", x, num(e, LEAST_NORMAL)), f("lt", x, num(e, Number.POSITIVE_INFINITY)));
  e.branch(`(i32.eqz (i32x4.all_true ${plain}))`, () =>
    e.set(y.slice("(local.get ".length, -1), `(call ${e.use("v_log_any")} ${x})`),
  );
  return y;
}

function logAny(e: VectorEmitter, x: string): string {
  const small = keep(e, "small", f("lt", x, num(e, LEAST_NORMAL)));
  const normal = keep(e, "normal", pick(small, mul(x, num(e, 2 ** 23)), x));
  const y = logNormal(e, normal, and(small, num(e, 23)));
  const high = pick(f("eq", x, num(e, Number.POSITIVE_INFINITY)), x, y);
  const low = pick(f("eq", x, num(e, 0)), num(e, Number.NEGATIVE_INFINITY), high);
  return keep(e, "log", pick(f("ge", x, num(e, 0)), low, num(e, Number.NaN)));
}

function log1p(e: VectorEmitter, x: string): string {
  const u = keep(e, "u", add(num(e, 1), x));
  const lost = f("div", sub(sub(u, num(e, 1)), x), u);
  const r = keep(e, "r", sub(log(e, u), lost));
  const low = pick(f("eq", u, num(e, 0)), num(e, Number.NEGATIVE_INFINITY), r);
  return keep(e, "log1p", pick(f("eq", u, num(e, Number.POSITIVE_INFINITY)), u, low));
}

function tanh(e: VectorEmitter, x: string): string {
  const a = keep(e, "a", and(x, bits(e, 0x7fffffff)));
  const z = keep(e, "z", mul(x, x));
  const small = keep(e, "small", madd(mul(x, z), poly(e, TANH, z), x));
  const within = keep(e, "y", f("pmin", a, num(e, 10)));
  const [p, s] = expSmall(e, keep(e, "y", add(within, within)));
  const large = keep(e, "large", sub(num(e, 1), f("div", num(e, 2), madd(p, s, num(e, 1)))));
  return keep(e, "tanh", pick(f("lt", a, num(e, 0.625)), small, or(large, and(x, bits(e, SIGN)))));
}

/** a constant factor goes into erf's coefficients if it leaves them normal numbers */
const FACTOR_LIMIT = 64;

/** a quarter of x is exact, so what the quotient is rounded by counts less than it would in a product of all */
function erf(e: VectorEmitter, x: string): string {
  const factors = e.scaled(x);
  const within = factors && Math.abs(factors.by) < FACTOR_LIMIT && Math.abs(factors.by) > 1 / FACTOR_LIMIT;
  const { of, by } = within ? factors : { of: x, by: 1 };
  const end = ERF_END / Math.abs(by);
  const a = keep(e, "a", clamp(e, of, -end, end));
  const z = keep(e, "z", mul(a, a));
  const numerator = ERF_NUMERATOR.map((c, k) => c * by ** (2 * k + 1));
  const denominator = ERF_DENOMINATOR.map((c, k) => c * by ** (2 * k));
  const ratio = f("div", horner(e, numerator, z), horner(e, denominator, z));
  return keep(e, "erf", madd(a, ratio, mul(num(e, 0.25 * by), a)));
}

/** sine, or cosine as the sine of a quarter turn more */
function quarterTurns(e: VectorEmitter, x: string, name: "sin" | "cos"): string {
  const { t, r } = reduced(e, x, 2 / Math.PI, HALF_PI);
  const q = name === "cos" ? keep(e, "q", i("add", t, bits(e, 1))) : t;
  const z = keep(e, "z", mul(r, r));
  const s = keep(e, "s", madd(mul(r, z), poly(e, SIN, z), r));
  const c = keep(e, "c", madd(mul(z, z), poly(e, COS, z), nmadd(num(e, 0.5), z, num(e, 1))));
  const even = i("eq", and(q, bits(e, 1)), bits(e, 0));
  const y = keep(e, name, `(v128.xor ${pick(even, s, c)} ${shift("shl", and(q, bits(e, 2)), 30)})`);
  e.branch(`(v128.any_true ${f("gt", f("abs", x), num(e, FAR))})`, () =>
    e.set(y.slice("(local.get ".length, -1), `(call ${e.use(name === "sin" ? "v_sin_any" : "v_cos_any")} ${x})`),
  );
  return y;
}

/** four half patterns, zero-extended, as f32 */
function fromHalf(e: VectorEmitter, x: string): string {
  const m = keep(e, "m", shift("shl", and(x, bits(e, 0x7fff)), 13));
  const special = i("ge_u", m, bits(e, 0x0f800000));
  const number = pick(special, i("add", m, bits(e, 0x70000000)), mul(m, num(e, 2 ** 112)));
  return keep(e, "half", or(number, shift("shl", and(x, bits(e, 0x8000)), 16)));
}

/** bits of f32 rounded to nearest even at the 13th or 16th place, ties by the bit above */
function toHalf(e: VectorEmitter, x: string): string {
  const b = keep(e, "b", and(x, bits(e, 0x7fffffff)));
  const tie = i("add", bits(e, 0xfff), and(shift("shr_u", b, 13), bits(e, 1)));
  const normal = shift("shr_u", i("add", i("sub", b, bits(e, 0x38000000)), tie), 13);
  const small = i("sub", add(b, num(e, 0.5)), bits(e, 0x3f000000));
  const finite = pick(i("lt_u", b, bits(e, 0x38800000)), small, normal);
  const bounded = pick(i("ge_u", b, bits(e, 0x477ff000)), bits(e, 0x7c00), finite);
  const all = pick(i("gt_u", b, bits(e, 0x7f800000)), bits(e, 0x7e00), bounded);
  return keep(e, "half", or(all, and(shift("shr_u", x, 16), bits(e, 0x8000))));
}

const upToNext = (e: VectorEmitter, x: string): string =>
  i("add", x, i("add", bits(e, 0x7fff), and(shift("shr_u", x, 16), bits(e, 1))));

export const VECTOR_FUNCTIONS = {
  exp: (e, x) => exp(e, x),
  expm1,
  log,
  log1p,
  tanh,
  erf,
  sigmoid: (e, x) => keep(e, "sigmoid", f("div", num(e, 1), add(num(e, 1), exp(e, x, -1)))),
  sin: (e, x) => quarterTurns(e, x, "sin"),
  cos: (e, x) => quarterTurns(e, x, "cos"),
  from_f16: fromHalf,
  to_f16: toHalf,
  to_bf16: (e, x) =>
    keep(e, "half", pick(f("eq", x, x), shift("shr_u", upToNext(e, x), 16), or(shift("shr_u", x, 16), bits(e, 0x40)))),
  round_f16: (e, x) => fromHalf(e, toHalf(e, x)),
  round_bf16: (e, x) => keep(e, "half", pick(f("eq", x, x), and(upToNext(e, x), bits(e, -65536)), x)),
} as const satisfies Record<string, Fn>;

export type VectorFunction = keyof typeof VECTOR_FUNCTIONS;

/** the function as one that is called */
function asHelper(name: string, fn: Fn): Helper {
  const locals: string[] = [];
  const lines: string[] = [];
  const e: VectorEmitter = {
    local: (_type, hint) => {
      const local = `$${hint}${locals.length}`;
      locals.push(`(local ${local} v128)`);
      return local;
    },
    set: (local, text) => lines.push(`(local.set ${local} ${text})`),
    constant: text => text,
    branch: () => {
      throw new Error("a fallback has no fallback");
    },
    use: helper => `$${helper}`,
    scaled: () => null,
  };
  const result = fn(e, "(local.get $x)");
  return {
    text: `(func $${name} (param $x v128) (result v128) ${locals.join(" ")}\n    ${[...lines, result].join("\n    ")})`,
  };
}

function byLanes(name: string, scalar: "sin" | "cos"): Helper {
  const lanes = [0, 1, 2, 3].reduce(
    (v, lane) =>
      `(f32x4.replace_lane ${lane} ${v} (f32.demote_f64 (call $${scalar} (f64.promote_f32 (f32x4.extract_lane ${lane} (local.get $x))))))`,
    "(local.get $x)",
  );
  return { uses: [scalar], text: `(func $${name} (param $x v128) (result v128)\n    ${lanes})` };
}

export const VECTOR_FALLBACKS = {
  v_exp_any: asHelper("v_exp_any", expAny),
  v_log_any: asHelper("v_log_any", logAny),
  v_sin_any: byLanes("v_sin_any", "sin"),
  v_cos_any: byLanes("v_cos_any", "cos"),
} as const satisfies Record<FallBack, Helper>;
