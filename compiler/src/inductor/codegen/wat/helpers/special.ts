// Error functions (the rational approximations of fdlibm), gamma and Bessel functions in f64.
import { abs, add, c, div, get, give, type Helper, mul, polynomial, set, sub, unary } from "./dsl";

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

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327149311616e-7,
];
const HALF_LOG_TWO_PI = 0.9189385332046727;
/** psi(x) ~ ln x - 1/(2x) - sum of these / x^(2k) */
const DIGAMMA = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12];
const BESSEL_TERMS = 90;
const BESSEL_LARGE = 40;

/** modified Bessel function of order 0 or 1: power series, and for large arguments the asymptotic one times exp(x) */
function bessel(name: string, order: 0 | 1): string {
  const series = `(local.set $q ${mul(c(0.25), mul(get("a"), get("a")))})
    (local.set $t ${order ? mul(c(0.5), get("a")) : c(1)})
    (local.set $s ${get("t")})
    (local.set $k ${c(1)})
    (loop $next
      (local.set $t ${mul(get("t"), div(get("q"), mul(get("k"), add(get("k"), c(order)))))})
      (local.set $s ${add(get("s"), get("t"))})
      (local.set $k ${add(get("k"), c(1))})
      (br_if $next (f64.lt ${get("k")} ${c(BESSEL_TERMS)})))
    (return ${order ? `(f64.copysign ${get("s")} ${get("x")})` : get("s")})`;
  let term = 1;
  const mu = 4 * order * order;
  const asymptotic = [1];
  for (let k = 1; k < 16; k++) {
    term *= -(mu - (2 * k - 1) ** 2) / (k * 8);
    asymptotic.push(term);
  }
  const large = mul(
    `(call $exp ${get("a")})`,
    div(polynomial(asymptotic, div(c(1), get("a"))), `(f64.sqrt ${mul(c(2 * Math.PI), get("a"))})`),
  );
  return unary(
    name,
    `${set("a", abs(get("x")))}
    (if (f64.le ${get("a")} ${c(BESSEL_LARGE)}) (then
    ${series}))
    ${order ? `(f64.copysign ${large} ${get("x")})` : large}`,
    "(local $a f64) (local $q f64) (local $t f64) (local $s f64) (local $k f64)",
  );
}

export const SPECIAL = {
  erfc_positive: { uses: ["exp"], text: ERFC_POSITIVE },
  erf: {
    uses: ["erfc_positive"],
    text: unary(
      "erf",
      `${set("a", abs(get("x")))}
    (if (f64.lt ${get("a")} ${c(0.84375)})
      (then ${set("z", mul(get("x"), get("x")))}
        (return ${add(get("x"), mul(get("x"), div(polynomial(ERF_SMALL_P, get("z")), polynomial(ERF_SMALL_Q, get("z")))))})))
    ${give(`(f64.gt ${get("a")} ${c(6)})`, `(f64.copysign ${c(1)} ${get("x")})`)}
    (f64.copysign ${sub(c(1), `(call $erfc_positive ${get("a")})`)} ${get("x")})`,
      "(local $a f64) (local $z f64)",
    ),
  },
  erfc: {
    uses: ["erf", "erfc_positive"],
    text: unary(
      "erfc",
      `${give(`(f64.lt ${get("x")} ${c(0.84375)})`, sub(c(1), `(call $erf ${get("x")})`))}
    ${give(`(f64.gt ${get("x")} ${c(27)})`, c(0))}
    (call $erfc_positive ${get("x")})`,
    ),
  },
  erfcx: {
    uses: ["exp", "erfc"],
    text: unary(
      "erfcx",
      `${give(`(f64.lt ${get("x")} ${c(25)})`, mul(`(call $exp ${mul(get("x"), get("x"))})`, `(call $erfc ${get("x")})`))}
    ${set("z", div(c(0.5), mul(get("x"), get("x"))))}
    ${div(polynomial([1, -1, 3, -15, 105], get("z")), mul(get("x"), c(Math.sqrt(Math.PI))))}`,
      "(local $z f64)",
    ),
  },
  erfinv: {
    uses: ["log", "exp", "erf", "erfc"],
    // Winitzki's first guess, then Newton's method on the tail that loses no digits
    text: unary(
      "erfinv",
      `${give(`(f64.eq ${get("x")} ${c(0)})`, get("x"))}
    ${give(`(f64.eq ${abs(get("x"))} ${c(1)})`, `(f64.copysign (f64.const inf) ${get("x")})`)}
    ${give(`(i32.eqz (f64.lt ${abs(get("x"))} ${c(1)}))`, "(f64.const nan)")}
    ${set("a", abs(get("x")))}
    ${set("l", `(call $log ${mul(sub(c(1), get("a")), add(c(1), get("a")))})`)}
    ${set("t", add(c(2 / (Math.PI * 0.147)), mul(c(0.5), get("l"))))}
    ${set("y", `(f64.sqrt ${sub(`(f64.sqrt ${sub(mul(get("t"), get("t")), div(get("l"), c(0.147)))})`, get("t"))})`)}
    (loop $next
      ${set("y", add(get("y"), mul(c(Math.sqrt(Math.PI) / 2), mul(`(call $exp ${mul(get("y"), get("y"))})`, `(if (result f64) (f64.lt ${get("a")} ${c(0.5)}) (then ${sub(get("a"), `(call $erf ${get("y")})`)}) (else ${sub(`(call $erfc ${get("y")})`, sub(c(1), get("a")))}))`))))}
      (br_if $next (i32.lt_s (local.tee $i (i32.add ${get("i")} (i32.const 1))) (i32.const 4))))
    (f64.copysign ${get("y")} ${get("x")})`,
      "(local $a f64) (local $l f64) (local $t f64) (local $y f64) (local $i i32)",
    ),
  },
  lgamma: {
    uses: ["log", "sin"],
    text: unary(
      "lgamma",
      `${give(`(f64.eq ${abs(get("x"))} (f64.const inf))`, "(f64.const inf)")}
    ${give(`(i32.or (f64.eq ${get("x")} ${c(1)}) (f64.eq ${get("x")} ${c(2)}))`, c(0))}
    (if (f64.lt ${get("x")} ${c(0.5)}) (then
      ${give(`(f64.eq (f64.floor ${get("x")}) ${get("x")})`, "(f64.const inf)")}
      (return ${sub(c(Math.log(Math.PI)), add(`(call $log ${abs(`(call $sin ${mul(c(Math.PI), sub(get("x"), `(f64.nearest ${get("x")})`))})`)})`, `(call $lgamma ${sub(c(1), get("x"))})`))})))
    ${set("x", sub(get("x"), c(1)))}
    ${set(
      "a",
      LANCZOS.reduce((s, g, i) => add(s, div(c(g), add(get("x"), c(i + 1)))), c(0.9999999999998099)),
    )}
    ${set("t", add(get("x"), c(7.5)))}
    ${add(sub(add(c(HALF_LOG_TWO_PI), mul(add(get("x"), c(0.5)), `(call $log ${get("t")})`)), get("t")), `(call $log ${get("a")})`)}`,
      "(local $a f64) (local $t f64)",
    ),
  },
  digamma: {
    uses: ["log", "tan"],
    text: unary(
      "digamma",
      `${give(`(f64.eq ${get("x")} ${c(0)})`, `(f64.copysign (f64.const inf) (f64.neg ${get("x")}))`)}
    ${give(`(f64.eq ${get("x")} (f64.const inf))`, get("x"))}
    (if (f64.lt ${get("x")} ${c(0)}) (then
      ${give(`(f64.eq (f64.floor ${get("x")}) ${get("x")})`, "(f64.const nan)")}
      (return ${sub(`(call $digamma ${sub(c(1), get("x"))})`, div(c(Math.PI), `(call $tan ${mul(c(Math.PI), sub(get("x"), `(f64.nearest ${get("x")})`))})`))})))
    (block $done (loop $next
      (br_if $done (f64.ge ${get("x")} ${c(12)}))
      ${set("s", sub(get("s"), div(c(1), get("x"))))}
      ${set("x", add(get("x"), c(1)))}
      (br $next)))
    ${set("z", div(c(1), mul(get("x"), get("x"))))}
    ${add(get("s"), sub(sub(`(call $log ${get("x")})`, div(c(0.5), get("x"))), mul(get("z"), polynomial(DIGAMMA, get("z")))))}`,
      "(local $s f64) (local $z f64)",
    ),
  },
  i0: { uses: ["exp"], text: bessel("i0", 0) },
  i1: { uses: ["exp"], text: bessel("i1", 1) },
} as const satisfies Record<string, Helper>;
