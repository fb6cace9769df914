// Functions of four f32 at a time, within two units in the last place: polynomials fitted for least relative error on
// the reduced ranges, after Cephes' way of reducing. Arguments that a polynomial does not reach go lane by lane.
import type { Helper } from "./dsl";

const get = (name: string): string => `(local.get $${name})`;
const set = (name: string, x: string): string => `(local.set $${name} ${x})`;
const all = (x: number): string => {
  const t = Number.isNaN(x) ? "nan" : Number.isFinite(x) ? String(x) : x > 0 ? "inf" : "-inf";
  return `(v128.const f32x4 ${t} ${t} ${t} ${t})`;
};
const ints = (x: number): string => `(v128.const i32x4 ${x} ${x} ${x} ${x})`;
const f = (op: string, ...xs: string[]): string => `(f32x4.${op} ${xs.join(" ")})`;
const i = (op: string, ...xs: string[]): string => `(i32x4.${op} ${xs.join(" ")})`;
const mul = (a: string, b: string): string => f("mul", a, b);
const add = (a: string, b: string): string => f("add", a, b);
const sub = (a: string, b: string): string => f("sub", a, b);
const or = (a: string, b: string): string => `(v128.or ${a} ${b})`;
const and = (a: string, b: string): string => `(v128.and ${a} ${b})`;
/** a where the mask holds, else b */
const pick = (mask: string, a: string, b: string): string => `(v128.bitselect ${a} ${b} ${mask})`;
/** at most, at least; NaN stays */
const most = (x: string, limit: number): string => f("pmin", x, all(limit));
const least = (x: string, limit: number): string => f("pmax", x, all(limit));
const poly = (cs: readonly number[], x: string): string =>
  cs.reduceRight((s, c) => (s === "" ? all(c) : add(all(c), mul(x, s))), "");

const LOG2E = Math.LOG2E;
const LN2_HIGH = 0.693359375;
const LN2_LOW = -2.12194440054690583e-4;
const EXP = [0.5, 1.666651815e-1, 4.166620597e-2, 8.368954062e-3, 1.395059982e-3];
const EXPM1 = [0.5, 1.666666716e-1, 4.166635498e-2, 8.333274163e-3, 1.394111663e-3, 1.991370664e-4];
const LOG = [
  3.333331048e-1, -2.499998659e-1, 2.000222653e-1, -1.666925102e-1, 1.421865821e-1, -1.238434836e-1, 1.187297627e-1,
  -1.178980768e-1, 6.91536814e-2,
];
const SIN = [-1.666666716e-1, 8.333329111e-3, -1.983932743e-4, 2.718237283e-6];
const COS = [4.166666791e-2, -1.38888834e-3, 2.479951218e-5, -2.720954626e-7];
const TANH = [-3.333328366e-1, 1.333149076e-1, -5.374349654e-2, 2.065057866e-2, -5.71703678e-3];
const TWO_OVER_ROOT_PI = 2 / Math.sqrt(Math.PI);
const ERF_SMALL = [-3.761263192e-1, 1.128363013e-1, -2.685548365e-2, 5.191291682e-3, -8.035031497e-4, 7.933108282e-5];
const LOG_ERFC = [
  1.880381897e-4, -1.129578471, -6.332198977e-1, -1.084185615e-1, 2.520824969e-2, -4.20455914e-3, 4.413358984e-4,
  -2.168681567e-5,
];
const HALF_PI = [1.5703125, 4.837512969970703e-4, 7.54978995489188216e-8];
/** beyond it the reduction by quarter turns loses digits */
const FAR = 8192;

const SIGN = ints(-2147483648);
const copySign = (x: string, sign: string): string => or(and(x, ints(0x7fffffff)), and(sign, SIGN));
const power2 = (n: string): string => i("shl", i("add", n, ints(127)), "(i32.const 23)");

const fn = (name: string, locals: string, body: string): string =>
  `(func $${name} (param $x v128) (result v128) ${locals
    .split(" ")
    .filter(l => l !== "")
    .map(l => `(local $${l} v128)`)
    .join(" ")}\n    ${body})`;

/** x = n ln 2 + r */
const reduced = `${set("n", f("nearest", mul(get("x"), all(LOG2E))))}
    ${set("r", sub(sub(get("x"), mul(get("n"), all(LN2_HIGH))), mul(get("n"), all(LN2_LOW))))}`;

function quarterTurns(name: "v_sin" | "v_cos", scalar: "sin" | "cos"): Helper {
  const lanes = [0, 1, 2, 3].reduce(
    (v, lane) =>
      `(f32x4.replace_lane ${lane} ${v} (f32.demote_f64 (call $${scalar} (f64.promote_f32 (f32x4.extract_lane ${lane} ${get("x")})))))`,
    get("x"),
  );
  return {
    uses: [scalar],
    text: fn(
      name,
      "n r z q s c",
      `(if (v128.any_true ${f("gt", f("abs", get("x")), all(FAR))}) (then (return ${lanes})))
    ${set("n", f("nearest", mul(get("x"), all(2 / Math.PI))))}
    ${set(
      "r",
      HALF_PI.reduce((r, part) => sub(r, mul(get("n"), all(part))), get("x")),
    )}
    ${set("z", mul(get("r"), get("r")))}
    ${set("q", i("add", i("trunc_sat_f32x4_s", get("n")), ints(scalar === "cos" ? 1 : 0)))}
    ${set("s", add(get("r"), mul(mul(get("r"), get("z")), poly(SIN, get("z")))))}
    ${set("c", add(sub(all(1), mul(all(0.5), get("z"))), mul(mul(get("z"), get("z")), poly(COS, get("z")))))}
    (v128.xor ${pick(i("eq", and(get("q"), ints(1)), ints(0)), get("s"), get("c"))} ${i("shl", and(get("q"), ints(2)), "(i32.const 30)")})`,
    ),
  };
}

export const VECTOR_MATH = {
  v_exp: {
    text: fn(
      "v_exp",
      "n r k h",
      `${set("x", least(most(get("x"), 89), -105))}
    ${reduced}
    ${set("k", i("trunc_sat_f32x4_s", get("n")))}
    ${set("h", i("shr_s", get("k"), "(i32.const 1)"))}
    ${mul(
      mul(add(all(1), add(get("r"), mul(mul(get("r"), get("r")), poly(EXP, get("r"))))), power2(get("h"))),
      power2(i("sub", get("k"), get("h"))),
    )}`,
    ),
  },
  v_expm1: {
    // (2^n)(e^r - 1) + (2^n - 1), at half the size so that 2^n fits
    text: fn(
      "v_expm1",
      "n r s",
      `${set("x", least(most(get("x"), 89), -30))}
    ${reduced}
    ${set("s", power2(i("sub", i("trunc_sat_f32x4_s", get("n")), ints(1))))}
    ${set("r", add(get("r"), mul(mul(get("r"), get("r")), poly(EXPM1, get("r")))))}
    ${mul(all(2), add(mul(get("r"), get("s")), sub(get("s"), all(0.5))))}`,
    ),
  },
  v_log: {
    text: fn(
      "v_log",
      "a b e m z y t",
      `${set("a", get("x"))}
    ${set("t", f("lt", get("x"), all(1.17549435e-38)))}
    ${set("x", pick(get("t"), mul(get("x"), all(8388608)), get("x")))}
    ${set("b", get("x"))}
    ${set("e", sub(f("convert_i32x4_s", i("sub", i("shr_u", get("b"), "(i32.const 23)"), ints(127))), and(get("t"), all(23))))}
    ${set("m", or(and(get("b"), ints(0x7fffff)), ints(0x3f800000)))}
    ${set("t", f("gt", get("m"), all(Math.SQRT2)))}
    ${set("m", sub(pick(get("t"), mul(get("m"), all(0.5)), get("m")), all(1)))}
    ${set("e", add(get("e"), and(get("t"), all(1))))}
    ${set("z", mul(get("m"), get("m")))}
    ${set("y", mul(mul(get("m"), get("z")), poly(LOG, get("m"))))}
    ${set("y", sub(add(get("y"), mul(get("e"), all(LN2_LOW))), mul(all(0.5), get("z"))))}
    ${set("y", add(add(get("m"), get("y")), mul(get("e"), all(LN2_HIGH))))}
    ${set("y", pick(f("eq", get("a"), all(Number.POSITIVE_INFINITY)), get("a"), get("y")))}
    ${set("y", pick(f("eq", get("a"), all(0)), all(Number.NEGATIVE_INFINITY), get("y")))}
    ${pick(f("ge", get("a"), all(0)), get("y"), all(Number.NaN))}`,
    ),
  },
  v_log1p: {
    uses: ["v_log"],
    text: fn(
      "v_log1p",
      "u r",
      `${set("u", add(all(1), get("x")))}
    ${set("r", sub(`(call $v_log ${get("u")})`, f("div", sub(sub(get("u"), all(1)), get("x")), get("u"))))}
    ${set("r", pick(f("eq", get("u"), all(0)), all(Number.NEGATIVE_INFINITY), get("r")))}
    ${pick(f("eq", get("u"), all(Number.POSITIVE_INFINITY)), get("u"), get("r"))}`,
    ),
  },
  v_sigmoid: {
    uses: ["v_exp"],
    text: fn("v_sigmoid", "", f("div", all(1), add(all(1), `(call $v_exp ${f("neg", get("x"))})`))),
  },
  v_tanh: {
    uses: ["v_exp"],
    text: fn(
      "v_tanh",
      "a z s",
      `${set("a", f("abs", get("x")))}
    ${set("z", mul(get("x"), get("x")))}
    ${set("s", add(get("x"), mul(mul(get("x"), get("z")), poly(TANH, get("z")))))}
    ${set("z", sub(all(1), f("div", all(2), add(`(call $v_exp ${mul(all(2), get("a"))})`, all(1)))))}
    ${pick(f("lt", get("a"), all(0.625)), get("s"), copySign(get("z"), get("x")))}`,
    ),
  },
  v_erf: {
    uses: ["v_exp"],
    text: fn(
      "v_erf",
      "a z s",
      `${set("a", most(f("abs", get("x")), 4.1))}
    ${set("z", mul(get("x"), get("x")))}
    ${set("s", mul(get("x"), add(all(TWO_OVER_ROOT_PI), mul(get("z"), poly(ERF_SMALL, get("z"))))))}
    ${set("z", sub(all(1), `(call $v_exp ${poly(LOG_ERFC, get("a"))})`))}
    ${pick(f("lt", get("a"), all(1)), get("s"), copySign(get("z"), get("x")))}`,
    ),
  },
  v_sin: quarterTurns("v_sin", "sin"),
  v_cos: quarterTurns("v_cos", "cos"),
  v_from_f16: {
    // four half patterns, zero-extended
    text: fn(
      "v_from_f16",
      "m",
      `${set("m", i("shl", and(get("x"), ints(0x7fff)), "(i32.const 13)"))}
    ${or(
      pick(i("ge_u", get("m"), ints(0x0f800000)), i("add", get("m"), ints(0x70000000)), mul(get("m"), all(2 ** 112))),
      i("shl", and(get("x"), ints(0x8000)), "(i32.const 16)"),
    )}`,
    ),
  },
  v_to_f16: {
    text: fn(
      "v_to_f16",
      "b r",
      `${set("b", and(get("x"), ints(0x7fffffff)))}
    ${set("r", i("shr_u", i("add", i("sub", get("b"), ints(0x38000000)), i("add", ints(0xfff), and(i("shr_u", get("b"), "(i32.const 13)"), ints(1)))), "(i32.const 13)"))}
    ${set("r", pick(i("lt_u", get("b"), ints(0x38800000)), i("sub", add(get("b"), all(0.5)), ints(0x3f000000)), get("r")))}
    ${set("r", pick(i("ge_u", get("b"), ints(0x477ff000)), ints(0x7c00), get("r")))}
    ${set("r", pick(i("gt_u", get("b"), ints(0x7f800000)), ints(0x7e00), get("r")))}
    ${or(get("r"), and(i("shr_u", get("x"), "(i32.const 16)"), ints(0x8000)))}`,
    ),
  },
  v_to_bf16: {
    text: fn(
      "v_to_bf16",
      "",
      pick(
        f("eq", get("x"), get("x")),
        i(
          "shr_u",
          i("add", get("x"), i("add", ints(0x7fff), and(i("shr_u", get("x"), "(i32.const 16)"), ints(1)))),
          "(i32.const 16)",
        ),
        or(i("shr_u", get("x"), "(i32.const 16)"), ints(0x40)),
      ),
    ),
  },
  v_round_f16: {
    uses: ["v_from_f16", "v_to_f16"],
    text: fn("v_round_f16", "", `(call $v_from_f16 (call $v_to_f16 ${get("x")}))`),
  },
  v_round_bf16: {
    text: fn(
      "v_round_bf16",
      "",
      pick(
        f("eq", get("x"), get("x")),
        and(
          i("add", get("x"), i("add", ints(0x7fff), and(i("shr_u", get("x"), "(i32.const 16)"), ints(1)))),
          ints(-65536),
        ),
        get("x"),
      ),
    ),
  },
} as const satisfies Record<string, Helper>;
