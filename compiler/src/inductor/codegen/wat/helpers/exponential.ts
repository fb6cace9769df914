// exp, log and what is made of them, in f64: range reduction with a Taylor sum for exp, the atanh series for log.
import { abs, add, c, div, factorials, get, give, type Helper, mul, polynomial, set, sub, unary } from "./dsl";

const ATANH_TERMS = 12;

export const EXPONENTIAL = {
  exp: {
    text: unary(
      "exp",
      `${give(`(f64.ne ${get("x")} ${get("x")})`, get("x"))}
    ${give(`(f64.gt ${get("x")} ${c(709.782712893384)})`, "(f64.const inf)")}
    ${give(`(f64.lt ${get("x")} ${c(-745.2)})`, c(0))}
    ${set("k", `(f64.nearest ${mul(get("x"), c(Math.LOG2E))})`)}
    ${set("r", sub(sub(get("x"), mul(get("k"), c(0.6931471803691238))), mul(get("k"), c(1.9082149292705877e-10))))}
    ${set("n", `(i64.trunc_sat_f64_s ${get("k")})`)}
    ${set("h", `(i64.shr_s ${get("n")} (i64.const 1))`)}
    (f64.mul (f64.mul ${polynomial(factorials(14, 0, 1, false), get("r"))}
      (f64.reinterpret_i64 (i64.shl (i64.add ${get("h")} (i64.const 1023)) (i64.const 52))))
      (f64.reinterpret_i64 (i64.shl (i64.add (i64.sub ${get("n")} ${get("h")}) (i64.const 1023)) (i64.const 52))))`,
      "(local $k f64) (local $r f64) (local $n i64) (local $h i64)",
    ),
  },
  log: {
    text: unary(
      "log",
      `${give(`(f64.eq ${get("x")} ${c(0)})`, "(f64.const -inf)")}
    ${give(`(i32.or (f64.lt ${get("x")} ${c(0)}) (f64.ne ${get("x")} ${get("x")}))`, "(f64.const nan)")}
    ${give(`(f64.eq ${get("x")} (f64.const inf))`, get("x"))}
    (if (f64.lt ${get("x")} ${c(2.2250738585072014e-308)}) (then ${set("x", mul(get("x"), c(2 ** 54)))} ${set("k", c(-54))}))
    ${set("b", `(i64.reinterpret_f64 ${get("x")})`)}
    ${set("k", add(get("k"), `(f64.convert_i64_s (i64.sub (i64.shr_u ${get("b")} (i64.const 52)) (i64.const 1023)))`))}
    ${set("x", `(f64.reinterpret_i64 (i64.or (i64.and ${get("b")} (i64.const 0xfffffffffffff)) (i64.const 0x3ff0000000000000)))`)}
    (if (f64.gt ${get("x")} ${c(Math.SQRT2)}) (then ${set("x", mul(get("x"), c(0.5)))} ${set("k", add(get("k"), c(1)))}))
    ${set("s", div(sub(get("x"), c(1)), add(get("x"), c(1))))}
    ${add(
      mul(get("k"), c(Math.LN2)),
      mul(
        mul(c(2), get("s")),
        polynomial(
          Array.from({ length: ATANH_TERMS }, (_, i) => 1 / (2 * i + 1)),
          mul(get("s"), get("s")),
        ),
      ),
    )}`,
      "(local $k f64) (local $s f64) (local $b i64)",
    ),
  },
  log1p: {
    uses: ["log"],
    // the rounding of 1 + x is made good to first order; a tiny x is its own logarithm
    text: unary(
      "log1p",
      `${set("u", add(c(1), get("x")))}
    ${give(`(i32.or (f64.eq ${get("u")} (f64.const inf)) (i32.eqz (f64.gt ${get("u")} ${c(0)})))`, `(call $log ${get("u")})`)}
    ${give(`(f64.lt ${abs(get("x"))} ${c(1e-18)})`, get("x"))}
    ${sub(`(call $log ${get("u")})`, div(sub(sub(get("u"), c(1)), get("x")), get("u")))}`,
      "(local $u f64)",
    ),
  },
  expm1: {
    uses: ["exp"],
    text: unary(
      "expm1",
      `(if (result f64) (f64.lt ${abs(get("x"))} ${c(0.35)})
      (then ${mul(get("x"), polynomial(factorials(14, 1, 1, false), get("x")))})
      (else ${sub(`(call $exp ${get("x")})`, c(1))}))`,
    ),
  },
  tanh: {
    uses: ["expm1"],
    text: unary(
      "tanh",
      `${give(`(f64.gt ${abs(get("x"))} ${c(22)})`, `(f64.copysign ${c(1)} ${get("x")})`)}
    ${set("t", `(call $expm1 ${mul(c(2), abs(get("x")))})`)}
    (f64.copysign ${div(get("t"), add(get("t"), c(2)))} ${get("x")})`,
      "(local $t f64)",
    ),
  },
  sigmoid: { uses: ["exp"], text: unary("sigmoid", div(c(1), add(c(1), `(call $exp (f64.neg ${get("x")}))`))) },
  sinh: {
    uses: ["expm1"],
    text: unary(
      "sinh",
      `${give(`(f64.gt ${abs(get("x"))} ${c(711)})`, `(f64.copysign (f64.const inf) ${get("x")})`)}
    ${set("e", `(call $expm1 ${abs(get("x"))})`)}
    (f64.copysign (f64.mul ${c(0.5)} ${add(get("e"), div(get("e"), add(get("e"), c(1))))}) ${get("x")})`,
      "(local $e f64)",
    ),
  },
  cosh: {
    uses: ["exp"],
    text: unary(
      "cosh",
      `${set("e", `(call $exp ${abs(get("x"))})`)} ${mul(c(0.5), add(get("e"), div(c(1), get("e"))))}`,
      "(local $e f64)",
    ),
  },
  asinh: {
    uses: ["log1p"],
    text: unary(
      "asinh",
      `${set("a", abs(get("x")))}
    (if (f64.gt ${get("a")} ${c(1e100)}) (then (return (f64.copysign ${add(`(call $log1p ${get("a")})`, c(Math.LN2))} ${get("x")}))))
    (f64.copysign (call $log1p ${add(get("a"), div(mul(get("a"), get("a")), add(c(1), `(f64.sqrt ${add(c(1), mul(get("a"), get("a")))})`)))}) ${get("x")})`,
      "(local $a f64)",
    ),
  },
  acosh: {
    uses: ["log1p"],
    text: unary(
      "acosh",
      `(if (f64.gt ${get("x")} ${c(1e100)}) (then (return ${add(`(call $log1p ${get("x")})`, c(Math.LN2))})))
    ${set("t", sub(get("x"), c(1)))}
    (call $log1p ${add(get("t"), `(f64.sqrt ${mul(get("t"), add(get("x"), c(1)))})`)})`,
      "(local $t f64)",
    ),
  },
  atanh: {
    uses: ["log1p"],
    text: unary("atanh", mul(c(0.5), `(call $log1p ${div(mul(c(2), get("x")), sub(c(1), get("x")))})`)),
  },
  pow: {
    uses: ["exp", "log"],
    text: `(func $pow (param $x f64) (param $y f64) (result f64) (local $r f64)
    (if (i32.or (f64.eq ${get("y")} ${c(0)}) (f64.eq ${get("x")} ${c(1)})) (then (return ${c(1)})))
    (if (i32.and (f64.eq ${abs(get("y"))} (f64.const inf)) (f64.eq ${abs(get("x"))} ${c(1)})) (then (return ${c(1)})))
    (if (f64.ne ${get("y")} ${get("y")}) (then (return ${get("y")})))
    ${set("r", `(call $exp ${mul(get("y"), `(call $log ${abs(get("x"))})`)})`)}
    (if (f64.eq ${get("x")} ${c(0)}) (then ${set("r", `(select (f64.const inf) ${c(0)} (f64.lt ${get("y")} ${c(0)}))`)}))
    (if (i64.lt_s (i64.reinterpret_f64 ${get("x")}) (i64.const 0)) (then
      (if (f64.ne (f64.trunc ${get("y")}) ${get("y")}) (then
        (return (select ${get("r")} (f64.const nan) (i32.or (f64.eq ${get("x")} ${c(0)}) (f64.eq ${abs(get("x"))} (f64.const inf)))))))
      (if (f64.ne (f64.trunc ${mul(get("y"), c(0.5))}) ${mul(get("y"), c(0.5))}) (then ${set("r", `(f64.neg ${get("r")})`)}))))
    ${get("r")})`,
  },
  pow_i64: {
    // by squaring; a negative exponent truncates to 0 but for 1 and -1
    text: `(func $pow_i64 (param $x i64) (param $y i64) (result i64) (local $r i64)
    (if (i64.lt_s ${get("y")} (i64.const 0)) (then
      (if (i64.eq ${get("x")} (i64.const 1)) (then (return (i64.const 1))))
      (if (i64.eq ${get("x")} (i64.const -1)) (then
        (return (select (i64.const -1) (i64.const 1) (i32.wrap_i64 (i64.and ${get("y")} (i64.const 1)))))))
      (return (i64.const 0))))
    (local.set $r (i64.const 1))
    (block $done (loop $next
      (br_if $done (i64.eqz ${get("y")}))
      (if (i32.wrap_i64 (i64.and ${get("y")} (i64.const 1))) (then (local.set $r (i64.mul ${get("r")} ${get("x")}))))
      (local.set $x (i64.mul ${get("x")} ${get("x")}))
      (local.set $y (i64.shr_u ${get("y")} (i64.const 1)))
      (br $next)))
    ${get("r")})`,
  },
  ldexp: {
    text: `(func $ldexp (param $x f64) (param $n f64) (result f64) (local $k i64) (local $h i64)
    (local.set $k (i64.trunc_sat_f64_s (f64.max (f64.const -2100) (f64.min (f64.const 2100) ${get("n")}))))
    (local.set $h (i64.div_s ${get("k")} (i64.const 3)))
    (local.set $k (i64.sub ${get("k")} (i64.mul ${get("h")} (i64.const 2))))
    (local.set $n (f64.reinterpret_i64 (i64.shl (i64.add ${get("h")} (i64.const 1023)) (i64.const 52))))
    (f64.mul (f64.mul (f64.mul ${get("x")} ${get("n")}) ${get("n")})
      (f64.reinterpret_i64 (i64.shl (i64.add ${get("k")} (i64.const 1023)) (i64.const 52)))))`,
  },
} as const satisfies Record<string, Helper>;
