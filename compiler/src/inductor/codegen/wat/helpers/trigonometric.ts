// Trigonometric functions in f64: Cody-Waite reduction by quarter turns, Taylor sums on [-pi/4, pi/4]; arguments beyond
// 2**40 lose their fraction of a turn.
import { abs, add, c, div, factorials, get, type Helper, mul, polynomial, set, sub, unary } from "./dsl";

/** pi/2 in three parts of 33 bits, so that their products with 20-bit numbers are exact */
const HALF_PI = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];
const COARSE = 2 ** 20;

const reduced = (x: string, k: string): string => HALF_PI.reduce((rest, part) => sub(rest, mul(k, c(part))), x);

export const TRIGONOMETRIC = {
  sin_reduced: {
    text: unary("sin_reduced", mul(get("x"), polynomial(factorials(9, 1, 2, true), mul(get("x"), get("x"))))),
  },
  cos_reduced: { text: unary("cos_reduced", polynomial(factorials(10, 0, 2, true), mul(get("x"), get("x")))) },
  quarter_turns: {
    uses: ["sin_reduced", "cos_reduced"],
    text: `(func $quarter_turns (param $x f64) (param $turns i64) (result f64) (local $k f64) (local $n i64)
    (if (f64.gt ${abs(get("x"))} ${c(COARSE)}) (then
      (local.set $k (f64.mul ${c(COARSE)} (f64.nearest ${mul(get("x"), c(2 / Math.PI / COARSE))})))
      (local.set $x ${reduced(get("x"), get("k"))})))
    (local.set $k (f64.nearest ${mul(get("x"), c(2 / Math.PI))}))
    (local.set $n (i64.add (i64.trunc_sat_f64_s ${get("k")}) ${get("turns")}))
    (local.set $x ${reduced(get("x"), get("k"))})
    (local.set $x (if (result f64) (i32.wrap_i64 (i64.and ${get("n")} (i64.const 1))) (then (call $cos_reduced ${get("x")})) (else (call $sin_reduced ${get("x")}))))
    (select (f64.neg ${get("x")}) ${get("x")} (i32.wrap_i64 (i64.and ${get("n")} (i64.const 2)))))`,
  },
  sin: { uses: ["quarter_turns"], text: unary("sin", `(call $quarter_turns ${get("x")} (i64.const 0))`) },
  cos: { uses: ["quarter_turns"], text: unary("cos", `(call $quarter_turns ${get("x")} (i64.const 1))`) },
  tan: { uses: ["sin", "cos"], text: unary("tan", div(`(call $sin ${get("x")})`, `(call $cos ${get("x")})`)) },
  atan: {
    text: unary(
      "atan",
      `${set("a", abs(get("x")))}
    (if (f64.gt ${get("a")} ${c(1)}) (then ${set("a", div(c(1), get("a")))} (local.set $flip (i32.const 1))))
    (if (f64.gt ${get("a")} ${c(Math.tan(Math.PI / 12))})
      (then ${set("a", div(sub(mul(get("a"), c(Math.sqrt(3))), c(1)), add(get("a"), c(Math.sqrt(3)))))} ${set("shift", c(Math.PI / 6))}))
    ${set(
      "a",
      add(
        get("shift"),
        mul(
          get("a"),
          polynomial(
            Array.from({ length: 15 }, (_, i) => (i % 2 ? -1 : 1) / (2 * i + 1)),
            mul(get("a"), get("a")),
          ),
        ),
      ),
    )}
    (f64.copysign (select ${sub(c(Math.PI / 2), get("a"))} ${get("a")} ${get("flip")}) ${get("x")})`,
      "(local $a f64) (local $shift f64) (local $flip i32)",
    ),
  },
  atan2: {
    uses: ["atan"],
    text: `(func $atan2 (param $y f64) (param $x f64) (result f64) (local $r f64)
    (if (i32.and (f64.eq ${get("x")} ${c(0)}) (f64.eq ${get("y")} ${c(0)}))
      (then (return (select (f64.copysign ${c(Math.PI)} ${get("y")}) ${get("y")} (i64.lt_s (i64.reinterpret_f64 ${get("x")}) (i64.const 0))))))
    (if (i32.and (f64.eq ${abs(get("x"))} (f64.const inf)) (f64.eq ${abs(get("y"))} (f64.const inf)))
      (then (return (f64.copysign (select ${c(Math.PI / 4)} ${c((3 * Math.PI) / 4)} (f64.gt ${get("x")} ${c(0)})) ${get("y")}))))
    (local.set $r (call $atan ${div(get("y"), get("x"))}))
    (if (i64.lt_s (i64.reinterpret_f64 ${get("x")}) (i64.const 0)) (then (local.set $r ${add(get("r"), `(f64.copysign ${c(Math.PI)} ${get("y")})`)})))
    ${get("r")})`,
  },
  asin: {
    uses: ["atan"],
    text: unary("asin", `(call $atan ${div(get("x"), `(f64.sqrt ${mul(sub(c(1), get("x")), add(c(1), get("x")))})`)})`),
  },
  acos: {
    uses: ["atan"],
    // 2 atan(sqrt((1-x)/(1+x))), which keeps its precision next to 1
    text: unary("acos", mul(c(2), `(call $atan (f64.sqrt ${div(sub(c(1), get("x")), add(c(1), get("x")))}))`)),
  },
} as const satisfies Record<string, Helper>;
