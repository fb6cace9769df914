// Functions that a kernel's text may call; only those used are written into it. Transcendental functions compute in f64
// and round once, which keeps f32 results within one ulp; sources are the classical ones: range reduction with Taylor
// sums for exp, sin and cos, the atanh series for log, the rational approximations of fdlibm for erf.
export type HelperName = keyof typeof HELPERS;

interface Helper {
  readonly text: string;
  readonly uses?: readonly string[];
}

const c = (x: number): string => `(f64.const ${x})`;
const mul = (a: string, b: string): string => `(f64.mul ${a} ${b})`;
const add = (a: string, b: string): string => `(f64.add ${a} ${b})`;
const sub = (a: string, b: string): string => `(f64.sub ${a} ${b})`;
const div = (a: string, b: string): string => `(f64.div ${a} ${b})`;
const get = (name: string): string => `(local.get $${name})`;

/** Horner form, lowest coefficient first */
function polynomial(coefficients: readonly number[], x: string): string {
  return coefficients.reduceRight((sum, a) => (sum === "" ? c(a) : add(c(a), mul(x, sum))), "");
}

function factorials(count: number, from: number, step: number, alternate: boolean): number[] {
  const out: number[] = [];
  let f = 1;
  for (let i = 2; i <= from; i++) f *= i;
  for (let k = 0, n = from; k < count; k++) {
    out.push((alternate && k % 2 ? -1 : 1) / f);
    for (let s = 1; s <= step; s++) f *= n + s;
    n += step;
  }
  return out;
}

const unary = (name: string, body: string, locals = ""): string =>
  `(func $${name} (param $x f64) (result f64) ${locals}\n    ${body})`;

const ERF_SMALL_P = [
  1.28379167095512558561e-1, -3.2504210724700149937e-1, -2.84817495755985104766e-2, -5.77027029648944159157e-3,
  -2.37630166566501626084e-5,
];
const ERF_SMALL_Q = [
  1, 3.97917223959155352819e-1, 6.50222499887672944485e-2, 5.08130628187576562776e-3, 1.32494738004321644526e-4,
  -3.9602282787753681232e-6,
];
const ERF_MID_P = [
  -2.36211856075265944077e-3, 4.14856118683748331666e-1, -3.72207876035701323847e-1, 3.18346619901161753674e-1,
  -1.10894694282396677476e-1, 3.54783043256182359371e-2, -2.166375594868790843e-3,
];
const ERF_MID_Q = [
  1, 1.06420880400844228286e-1, 5.40397917702171048937e-1, 7.18286544141962662868e-2, 1.26171219808761642112e-1,
  1.36370839120290507362e-2, 1.1984499846799107417e-2,
];
const ERF_HIGH_P = [
  -9.86494403484714822705e-3, -6.93858572707181764372e-1, -1.05586262253232909814e1, -6.23753324503260060396e1,
  -1.62396669462573470355e2, -1.84605092906711035994e2, -8.12874355063065934246e1, -9.81432934416914548592,
];
const ERF_HIGH_Q = [
  1, 1.96512716674392571292e1, 1.376577541435190426e2, 4.34565877475229228821e2, 6.45387271733267880336e2,
  4.29008140027567833386e2, 1.08635005541779435134e2, 6.57024977031928170135, -6.04244152148580987438e-2,
];
const ERF_TAIL_P = [
  -9.86494292470009928597e-3, -7.99283237680523006574e-1, -1.77579549177547519889e1, -1.60636384855821916062e2,
  -6.37566443368389627722e2, -1.02509513161107724954e3, -4.83519191608651397019e2,
];
const ERF_TAIL_Q = [
  1, 3.03380607434824582924e1, 3.25792512996573918826e2, 1.53672958608443695994e3, 3.19985821950859553908e3,
  2.55305040643316442583e3, 4.74528541206955367215e2, -2.24409524465858183362e1,
];
const ERX = 8.45062911510467529297e-1;

/** 1 - erf(x) for x >= 0.84375, f64 */
const ERFC_POSITIVE = `(func $erfc_positive (param $x f64) (result f64) (local $s f64)
    (if (result f64) (f64.lt ${get("x")} ${c(1.25)})
      (then (local.set $s ${sub(get("x"), c(1))})
        ${sub(c(1 - ERX), div(polynomial(ERF_MID_P, get("s")), polynomial(ERF_MID_Q, get("s"))))})
      (else (local.set $s ${div(c(1), mul(get("x"), get("x")))})
        ${div(
          `(call $exp (f64.add (f64.sub (f64.mul (f64.neg ${get("x")}) ${get("x")}) ${c(0.5625)})
          (if (result f64) (f64.lt ${get("x")} ${c(1 / 0.35)})
            (then ${div(polynomial(ERF_HIGH_P, get("s")), polynomial(ERF_HIGH_Q, get("s")))})
            (else ${div(polynomial(ERF_TAIL_P, get("s")), polynomial(ERF_TAIL_Q, get("s")))}))))`,
          get("x"),
        )})))`;

const floorDiv = (
  t: "i32" | "i64",
): string => `(func $floor_div_${t} (param $a ${t}) (param $b ${t}) (result ${t}) (local $q ${t})
    (local.set $q (${t}.div_s ${get("a")} ${get("b")}))
    (select (${t}.sub ${get("q")} (${t}.const 1)) ${get("q")}
      (i32.and (${t}.ne (${t}.mul ${get("q")} ${get("b")}) ${get("a")}) (${t}.lt_s (${t}.xor ${get("a")} ${get("b")}) (${t}.const 0)))))`;
const floorMod = (
  t: "i32" | "i64",
): string => `(func $floor_mod_${t} (param $a ${t}) (param $b ${t}) (result ${t}) (local $r ${t})
    (local.set $r (${t}.rem_s ${get("a")} ${get("b")}))
    (select (${t}.add ${get("r")} ${get("b")}) ${get("r")}
      (i32.and (${t}.ne ${get("r")} (${t}.const 0)) (${t}.lt_s (${t}.xor ${get("r")} ${get("b")}) (${t}.const 0)))))`;
const pick = (t: "i32" | "i64", name: "min" | "max", op: "lt_s" | "gt_s"): string =>
  `(func $${name}_${t} (param $a ${t}) (param $b ${t}) (result ${t}) (select ${get("a")} ${get("b")} (${t}.${op} ${get("a")} ${get("b")})))`;
/** maximum and minimum that give NaN if either is one; wasm's own do */
const HALF_PI = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];

export const HELPERS = {
  exp: {
    text: unary(
      "exp",
      `(if (f64.ne ${get("x")} ${get("x")}) (then (return ${get("x")})))
    (if (f64.gt ${get("x")} ${c(709.782712893384)}) (then (return (f64.const inf))))
    (if (f64.lt ${get("x")} ${c(-745.2)}) (then (return ${c(0)})))
    (local.set $k (f64.nearest ${mul(get("x"), c(Math.LOG2E))}))
    (local.set $r ${sub(sub(get("x"), mul(get("k"), c(0.6931471803691238))), mul(get("k"), c(1.9082149292705877e-10)))})
    (local.set $n (i64.trunc_sat_f64_s ${get("k")}))
    (local.set $h (i64.shr_s ${get("n")} (i64.const 1)))
    (f64.mul (f64.mul ${polynomial(factorials(14, 0, 1, false), get("r"))}
      (f64.reinterpret_i64 (i64.shl (i64.add ${get("h")} (i64.const 1023)) (i64.const 52))))
      (f64.reinterpret_i64 (i64.shl (i64.add (i64.sub ${get("n")} ${get("h")}) (i64.const 1023)) (i64.const 52))))`,
      "(local $k f64) (local $r f64) (local $n i64) (local $h i64)",
    ),
  },
  log: {
    text: unary(
      "log",
      `(if (f64.eq ${get("x")} ${c(0)}) (then (return (f64.const -inf))))
    (if (i32.or (f64.lt ${get("x")} ${c(0)}) (f64.ne ${get("x")} ${get("x")})) (then (return (f64.const nan))))
    (if (f64.eq ${get("x")} (f64.const inf)) (then (return ${get("x")})))
    (if (f64.lt ${get("x")} ${c(2.2250738585072014e-308)}) (then (local.set $x ${mul(get("x"), c(2 ** 54))}) (local.set $k ${c(-54)})))
    (local.set $b (i64.reinterpret_f64 ${get("x")}))
    (local.set $k ${add(get("k"), `(f64.convert_i64_s (i64.sub (i64.shr_u ${get("b")} (i64.const 52)) (i64.const 1023)))`)})
    (local.set $x (f64.reinterpret_i64 (i64.or (i64.and ${get("b")} (i64.const 0xfffffffffffff)) (i64.const 0x3ff0000000000000))))
    (if (f64.gt ${get("x")} ${c(Math.SQRT2)}) (then (local.set $x ${mul(get("x"), c(0.5))}) (local.set $k ${add(get("k"), c(1))})))
    (local.set $s ${div(sub(get("x"), c(1)), add(get("x"), c(1)))})
    ${add(
      mul(get("k"), c(Math.LN2)),
      mul(
        mul(c(2), get("s")),
        polynomial(
          Array.from({ length: 12 }, (_, i) => 1 / (2 * i + 1)),
          mul(get("s"), get("s")),
        ),
      ),
    )}`,
      "(local $k f64) (local $s f64) (local $b i64)",
    ),
  },
  log1p: {
    uses: ["log"],
    text: unary(
      "log1p",
      `(local.set $u ${add(c(1), get("x"))})
    (if (i32.or (f64.eq ${get("u")} (f64.const inf)) (f64.le ${get("u")} ${c(0)})) (then (return (call $log ${get("u")}))))
    ${sub(`(call $log ${get("u")})`, div(sub(sub(get("u"), c(1)), get("x")), get("u")))}`,
      "(local $u f64)",
    ),
  },
  expm1: {
    uses: ["exp"],
    text: unary(
      "expm1",
      `(if (result f64) (f64.lt (f64.abs ${get("x")}) ${c(0.35)})
      (then ${mul(get("x"), polynomial(factorials(14, 1, 1, false), get("x")))})
      (else ${sub(`(call $exp ${get("x")})`, c(1))}))`,
    ),
  },
  tanh: {
    uses: ["expm1"],
    text: unary(
      "tanh",
      `(if (f64.gt (f64.abs ${get("x")}) ${c(22)}) (then (return (f64.copysign ${c(1)} ${get("x")}))))
    (local.set $t (call $expm1 ${mul(c(2), `(f64.abs ${get("x")})`)}))
    (f64.copysign ${div(get("t"), add(get("t"), c(2)))} ${get("x")})`,
      "(local $t f64)",
    ),
  },
  sigmoid: { uses: ["exp"], text: unary("sigmoid", div(c(1), add(c(1), `(call $exp (f64.neg ${get("x")}))`))) },
  erfc_positive: { uses: ["exp"], text: ERFC_POSITIVE },
  erf: {
    uses: ["erfc_positive"],
    text: unary(
      "erf",
      `(local.set $a (f64.abs ${get("x")}))
    (if (f64.lt ${get("a")} ${c(0.84375)})
      (then (local.set $z ${mul(get("x"), get("x"))})
        (return ${add(get("x"), mul(get("x"), div(polynomial(ERF_SMALL_P, get("z")), polynomial(ERF_SMALL_Q, get("z")))))})))
    (if (f64.gt ${get("a")} ${c(6)}) (then (return (f64.copysign ${c(1)} ${get("x")}))))
    (f64.copysign ${sub(c(1), `(call $erfc_positive ${get("a")})`)} ${get("x")})`,
      "(local $a f64) (local $z f64)",
    ),
  },
  erfc: {
    uses: ["erf", "erfc_positive"],
    text: unary(
      "erfc",
      `(if (f64.lt ${get("x")} ${c(0.84375)}) (then (return ${sub(c(1), `(call $erf ${get("x")})`)})))
    (if (f64.gt ${get("x")} ${c(27)}) (then (return ${c(0)})))
    (call $erfc_positive ${get("x")})`,
    ),
  },
  sin_reduced: {
    text: unary("sin_reduced", mul(get("x"), polynomial(factorials(9, 1, 2, true), mul(get("x"), get("x"))))),
  },
  cos_reduced: { text: unary("cos_reduced", polynomial(factorials(10, 0, 2, true), mul(get("x"), get("x")))) },
  quarter_turns: {
    uses: ["sin_reduced", "cos_reduced"],
    text: `(func $quarter_turns (param $x f64) (param $turns i64) (result f64) (local $k f64) (local $n i64)
    (local.set $k (f64.nearest ${mul(get("x"), c(2 / Math.PI))}))
    (local.set $n (i64.add (i64.trunc_sat_f64_s ${get("k")}) ${get("turns")}))
    (local.set $x ${HALF_PI.reduce((x, part) => sub(x, mul(get("k"), c(part))), get("x"))})
    (local.set $x (if (result f64) (i32.wrap_i64 (i64.and ${get("n")} (i64.const 1))) (then (call $cos_reduced ${get("x")})) (else (call $sin_reduced ${get("x")}))))
    (select (f64.neg ${get("x")}) ${get("x")} (i32.wrap_i64 (i64.and ${get("n")} (i64.const 2)))))`,
  },
  sin: { uses: ["quarter_turns"], text: unary("sin", `(call $quarter_turns ${get("x")} (i64.const 0))`) },
  cos: { uses: ["quarter_turns"], text: unary("cos", `(call $quarter_turns ${get("x")} (i64.const 1))`) },
  tan: { uses: ["sin", "cos"], text: unary("tan", div(`(call $sin ${get("x")})`, `(call $cos ${get("x")})`)) },
  sinh: {
    uses: ["expm1", "exp"],
    text: unary(
      "sinh",
      `(local.set $e (call $expm1 (f64.abs ${get("x")}))) (f64.copysign (f64.mul ${c(0.5)} ${add(get("e"), div(get("e"), add(get("e"), c(1))))}) ${get("x")})`,
      "(local $e f64)",
    ),
  },
  cosh: {
    uses: ["exp"],
    text: unary(
      "cosh",
      `(local.set $e (call $exp (f64.abs ${get("x")}))) (f64.mul ${c(0.5)} ${add(get("e"), div(c(1), get("e")))})`,
      "(local $e f64)",
    ),
  },
  atan: {
    text: unary(
      "atan",
      `(local.set $a (f64.abs ${get("x")}))
    (if (f64.gt ${get("a")} ${c(1)}) (then (local.set $a ${div(c(1), get("a"))}) (local.set $flip (i32.const 1))))
    (if (f64.gt ${get("a")} ${c(Math.tan(Math.PI / 12))})
      (then (local.set $a ${div(sub(mul(get("a"), c(Math.sqrt(3))), c(1)), add(get("a"), c(Math.sqrt(3))))}) (local.set $shift ${c(Math.PI / 6)})))
    (local.set $a ${add(
      get("shift"),
      mul(
        get("a"),
        polynomial(
          Array.from({ length: 15 }, (_, i) => (i % 2 ? -1 : 1) / (2 * i + 1)),
          mul(get("a"), get("a")),
        ),
      ),
    )})
    (f64.copysign (select ${sub(c(Math.PI / 2), get("a"))} ${get("a")} ${get("flip")}) ${get("x")})`,
      "(local $a f64) (local $shift f64) (local $flip i32)",
    ),
  },
  atan2: {
    uses: ["atan"],
    text: `(func $atan2 (param $y f64) (param $x f64) (result f64) (local $r f64)
    (if (i32.and (f64.eq ${get("x")} ${c(0)}) (f64.eq ${get("y")} ${c(0)}))
      (then (return (select (f64.copysign ${c(Math.PI)} ${get("y")}) ${get("y")} (i64.lt_s (i64.reinterpret_f64 ${get("x")}) (i64.const 0))))))
    (local.set $r (call $atan ${div(get("y"), get("x"))}))
    (if (f64.lt ${get("x")} ${c(0)}) (then (local.set $r ${add(get("r"), `(f64.copysign ${c(Math.PI)} ${get("y")})`)})))
    ${get("r")})`,
  },
  asin: {
    uses: ["atan"],
    text: unary("asin", `(call $atan ${div(get("x"), `(f64.sqrt ${mul(sub(c(1), get("x")), add(c(1), get("x")))})`)})`),
  },
  acos: { uses: ["asin"], text: unary("acos", sub(c(Math.PI / 2), `(call $asin ${get("x")})`)) },
  asinh: {
    uses: ["log1p"],
    text: unary(
      "asinh",
      `(local.set $a (f64.abs ${get("x")}))
    (f64.copysign (call $log1p ${add(get("a"), div(mul(get("a"), get("a")), add(c(1), `(f64.sqrt ${add(c(1), mul(get("a"), get("a")))})`)))}) ${get("x")})`,
      "(local $a f64)",
    ),
  },
  acosh: {
    uses: ["log"],
    text: unary("acosh", `(call $log ${add(get("x"), `(f64.sqrt ${mul(sub(get("x"), c(1)), add(get("x"), c(1)))})`)})`),
  },
  atanh: {
    uses: ["log1p"],
    text: unary("atanh", mul(c(0.5), `(call $log1p ${div(mul(c(2), get("x")), sub(c(1), get("x")))})`)),
  },
  pow: {
    uses: ["exp", "log"],
    text: `(func $pow (param $x f64) (param $y f64) (result f64) (local $r f64)
    (if (i32.or (f64.eq ${get("y")} ${c(0)}) (f64.eq ${get("x")} ${c(1)})) (then (return ${c(1)})))
    (local.set $r (call $exp ${mul(get("y"), `(call $log (f64.abs ${get("x")}))`)}))
    (if (f64.eq ${get("x")} ${c(0)}) (then (local.set $r (select (f64.const inf) ${c(0)} (f64.lt ${get("y")} ${c(0)})))))
    (if (f64.lt ${get("x")} ${c(0)}) (then
      (if (f64.ne (f64.trunc ${get("y")}) ${get("y")}) (then (return (f64.const nan))))
      (if (f64.ne (f64.trunc ${mul(get("y"), c(0.5))}) ${mul(get("y"), c(0.5))}) (then (local.set $r (f64.neg ${get("r")}))))))
    ${get("r")})`,
  },
  lgamma: {
    uses: ["log", "sin"],
    text: unary(
      "lgamma",
      `(if (f64.lt ${get("x")} ${c(0.5)}) (then (return ${sub(c(Math.log(Math.PI)), add(`(call $log (f64.abs (call $sin ${mul(c(Math.PI), get("x"))})))`, `(call $lgamma ${sub(c(1), get("x"))})`))})))
    (local.set $x ${sub(get("x"), c(1))})
    (local.set $a ${[676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7].reduce((s, g, i) => add(s, div(c(g), add(get("x"), c(i + 1)))), c(0.9999999999998099))})
    (local.set $t ${add(get("x"), c(7.5))})
    ${add(sub(add(c(0.9189385332046727), mul(add(get("x"), c(0.5)), `(call $log ${get("t")})`)), get("t")), `(call $log ${get("a")})`)}`,
      "(local $a f64) (local $t f64)",
    ),
  },
  fmod: {
    text: `(func $fmod (param $x f64) (param $y f64) (result f64) (local $q f64)
    (local.set $q (f64.trunc ${div(get("x"), get("y"))}))
    (f64.copysign (f64.abs ${sub(get("x"), mul(get("q"), get("y")))}) ${get("x")}))`,
  },
  remainder: {
    uses: ["fmod"],
    text: `(func $remainder (param $x f64) (param $y f64) (result f64) (local $r f64)
    (local.set $r (call $fmod ${get("x")} ${get("y")}))
    (if (i32.and (f64.ne ${get("r")} ${c(0)}) (i32.ne (f64.lt ${get("r")} ${c(0)}) (f64.lt ${get("y")} ${c(0)}))) (then (local.set $r ${add(get("r"), get("y"))})))
    ${get("r")})`,
  },
  floor_div_i32: { text: floorDiv("i32") },
  floor_div_i64: { text: floorDiv("i64") },
  floor_mod_i32: { text: floorMod("i32") },
  floor_mod_i64: { text: floorMod("i64") },
  min_i32: { text: pick("i32", "min", "lt_s") },
  max_i32: { text: pick("i32", "max", "gt_s") },
  min_i64: { text: pick("i64", "min", "lt_s") },
  max_i64: { text: pick("i64", "max", "gt_s") },
  load_f16: {
    text: `(func $load_f16 (param $p i32) (result f32) (local $h i32) (local $e i32) (local $m i32)
    (local.set $h (i32.load16_u ${get("p")}))
    (local.set $m (i32.shl (i32.and ${get("h")} (i32.const 0x7fff)) (i32.const 13)))
    (local.set $e (i32.and ${get("m")} (i32.const 0x0f800000)))
    (f32.copysign
      (if (result f32) (i32.eq ${get("e")} (i32.const 0x0f800000))
        (then (f32.reinterpret_i32 (i32.add ${get("m")} (i32.const 0x70000000))))
        (else (f32.mul (f32.reinterpret_i32 ${get("m")}) (f32.const 0x1p112))))
      (f32.reinterpret_i32 (i32.shl ${get("h")} (i32.const 16)))))`,
  },
  store_f16: {
    text: `(func $store_f16 (param $p i32) (param $v f32) (local $b i32) (local $s i32) (local $r i32)
    (local.set $b (i32.reinterpret_f32 ${get("v")}))
    (local.set $s (i32.and (i32.shr_u ${get("b")} (i32.const 16)) (i32.const 0x8000)))
    (local.set $b (i32.and ${get("b")} (i32.const 0x7fffffff)))
    (if (i32.gt_u ${get("b")} (i32.const 0x7f800000)) (then (local.set $r (i32.const 0x7e00)))
    (else (if (i32.ge_u ${get("b")} (i32.const 0x477ff000)) (then (local.set $r (i32.const 0x7c00)))
    (else (if (i32.lt_u ${get("b")} (i32.const 0x38800000))
      (then (local.set $r (i32.sub (i32.reinterpret_f32 (f32.add (f32.reinterpret_i32 ${get("b")}) (f32.const 0.5))) (i32.const 0x3f000000))))
      (else (local.set $r (i32.shr_u (i32.add (i32.sub ${get("b")} (i32.const 0x38000000)) (i32.add (i32.const 0xfff) (i32.and (i32.shr_u ${get("b")} (i32.const 13)) (i32.const 1)))) (i32.const 13)))))))))
    (i32.store16 ${get("p")} (i32.or ${get("s")} ${get("r")})))`,
  },
  store_bf16: {
    text: `(func $store_bf16 (param $p i32) (param $v f32) (local $b i32)
    (local.set $b (i32.reinterpret_f32 ${get("v")}))
    (i32.store16 ${get("p")} (if (result i32) (f32.ne ${get("v")} ${get("v")})
      (then (i32.or (i32.shr_u ${get("b")} (i32.const 16)) (i32.const 0x40)))
      (else (i32.shr_u (i32.add ${get("b")} (i32.add (i32.const 0x7fff) (i32.and (i32.shr_u ${get("b")} (i32.const 16)) (i32.const 1)))) (i32.const 16))))))`,
  },
  load_f8: {
    text: `(func $load_f8 (param $p i32) (param $mantissa i32) (param $bias f32) (param $finite i32) (result f32) (local $b i32) (local $e i32) (local $f i32) (local $top i32) (local $r f32)
    (local.set $b (i32.load8_u ${get("p")}))
    (local.set $e (i32.shr_u (i32.and ${get("b")} (i32.const 0x7f)) ${get("mantissa")}))
    (local.set $f (i32.and ${get("b")} (i32.sub (i32.shl (i32.const 1) ${get("mantissa")}) (i32.const 1))))
    (local.set $top (i32.sub (i32.shl (i32.const 1) (i32.sub (i32.const 7) ${get("mantissa")})) (i32.const 1)))
    (local.set $r (f32.mul ${get("bias")} (f32.reinterpret_i32 (i32.add (i32.shl (i32.and ${get("b")} (i32.const 0x7f)) (i32.sub (i32.const 23) ${get("mantissa")})) (i32.const 0)))))
    (if (i32.eq ${get("e")} ${get("top")}) (then
      (if ${get("finite")}
        (then (if (i32.eq ${get("f")} (i32.sub (i32.shl (i32.const 1) ${get("mantissa")}) (i32.const 1))) (then (local.set $r (f32.const nan)))))
        (else (local.set $r (select (f32.const nan) (f32.const inf) ${get("f")}))))))
    (f32.copysign ${get("r")} (f32.reinterpret_i32 (i32.shl ${get("b")} (i32.const 24)))))`,
  },
  store_f8: {
    // scaled so that the format's exponent range becomes f32's lowest, then rounded by adding half of a last place
    text: `(func $store_f8 (param $p i32) (param $v f32) (param $mantissa i32) (param $scale f32) (param $limit i32) (param $over i32) (param $nan i32) (local $b i32) (local $s i32) (local $shift i32) (local $r i32)
    (local.set $s (i32.and (i32.shr_u (i32.reinterpret_f32 ${get("v")}) (i32.const 24)) (i32.const 0x80)))
    (local.set $shift (i32.sub (i32.const 23) ${get("mantissa")}))
    (local.set $b (i32.reinterpret_f32 (f32.mul (f32.abs ${get("v")}) ${get("scale")})))
    (local.set $r (i32.shr_u (i32.add ${get("b")} (i32.add (i32.sub (i32.shl (i32.const 1) (i32.sub ${get("shift")} (i32.const 1))) (i32.const 1)) (i32.and (i32.shr_u ${get("b")} ${get("shift")}) (i32.const 1)))) ${get("shift")}))
    (local.set $r (select ${get("over")} ${get("r")} (i32.gt_u ${get("r")} ${get("limit")})))
    (local.set $r (select ${get("nan")} ${get("r")} (f32.ne ${get("v")} ${get("v")})))
    (i32.store8 ${get("p")} (i32.or ${get("s")} ${get("r")})))`,
  },
  out_of_bounds: {
    text: `(func $out_of_bounds (param $index i64) (param $size i64) (param $line i32)
    (i64.store (i32.const 72) ${get("index")})
    (i64.store (i32.const 80) ${get("size")})
    (i32.store (i32.const 88) ${get("line")})
    (i32.store (i32.const 64) (i32.const 1))
    unreachable)`,
  },
  philox: {
    // Philox 4x32, ten rounds, as triton.language.random; gives the first of the four words
    text: `(func $philox (param $seed i64) (param $c0 i32) (result i32) (local $c1 i32) (local $c2 i32) (local $c3 i32) (local $k0 i32) (local $k1 i32) (local $i i32) (local $p i64) (local $q i64)
    (local.set $k0 (i32.wrap_i64 ${get("seed")}))
    (local.set $k1 (i32.wrap_i64 (i64.shr_u ${get("seed")} (i64.const 32))))
    (loop $round
      (local.set $p (i64.mul (i64.extend_i32_u ${get("c0")}) (i64.const 0xD2511F53)))
      (local.set $q (i64.mul (i64.extend_i32_u ${get("c2")}) (i64.const 0xCD9E8D57)))
      (local.set $c0 (i32.xor (i32.xor (i32.wrap_i64 (i64.shr_u ${get("q")} (i64.const 32))) ${get("c1")}) ${get("k0")}))
      (local.set $c2 (i32.xor (i32.xor (i32.wrap_i64 (i64.shr_u ${get("p")} (i64.const 32))) ${get("c3")}) ${get("k1")}))
      (local.set $c1 (i32.wrap_i64 ${get("q")}))
      (local.set $c3 (i32.wrap_i64 ${get("p")}))
      (local.set $k0 (i32.add ${get("k0")} (i32.const 0x9E3779B9)))
      (local.set $k1 (i32.add ${get("k1")} (i32.const 0xBB67AE85)))
      (br_if $round (i32.lt_u (local.tee $i (i32.add ${get("i")} (i32.const 1))) (i32.const 10))))
    ${get("c0")})`,
  },
} as const satisfies Record<string, Helper>;

/** The texts of the named helpers and of what they call, each once, callees first. */
export function helperTexts(names: Iterable<HelperName>): string[] {
  const out: string[] = [];
  const done = new Set<string>();
  const visit = (name: HelperName): void => {
    if (done.has(name)) return;
    done.add(name);
    const helper: Helper = HELPERS[name];
    for (const u of helper.uses ?? []) visit(u as HelperName);
    out.push(helper.text);
  };
  for (const n of names) visit(n);
  return out;
}
