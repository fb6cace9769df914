// Integer division as Python's (floor) and C's (truncated), extremes, and remainders of floats. A zero divisor gives 0
// where a GPU gives anything: the instruction itself would trap.
import { abs, add, c, get, give, type Helper, mul, set, sub } from "./dsl";

type Int = "i32" | "i64";

const floorDiv = (
  t: Int,
): string => `(func $floor_div_${t} (param $a ${t}) (param $b ${t}) (result ${t}) (local $q ${t})
    ${give(`(${t}.eqz ${get("b")})`, `(${t}.const 0)`)}
    ${give(`(${t}.eq ${get("b")} (${t}.const -1))`, `(${t}.sub (${t}.const 0) ${get("a")})`)}
    (local.set $q (${t}.div_s ${get("a")} ${get("b")}))
    (select (${t}.sub ${get("q")} (${t}.const 1)) ${get("q")}
      (i32.and (${t}.ne (${t}.mul ${get("q")} ${get("b")}) ${get("a")}) (${t}.lt_s (${t}.xor ${get("a")} ${get("b")}) (${t}.const 0)))))`;
const floorMod = (
  t: Int,
): string => `(func $floor_mod_${t} (param $a ${t}) (param $b ${t}) (result ${t}) (local $r ${t})
    ${give(`(${t}.eqz ${get("b")})`, `(${t}.const 0)`)}
    (local.set $r (${t}.rem_s ${get("a")} ${get("b")}))
    (select (${t}.add ${get("r")} ${get("b")}) ${get("r")}
      (i32.and (${t}.ne ${get("r")} (${t}.const 0)) (${t}.lt_s (${t}.xor ${get("r")} ${get("b")}) (${t}.const 0)))))`;
const truncDiv = (t: Int): string => `(func $trunc_div_${t} (param $a ${t}) (param $b ${t}) (result ${t})
    ${give(`(${t}.eqz ${get("b")})`, `(${t}.const 0)`)}
    ${give(`(${t}.eq ${get("b")} (${t}.const -1))`, `(${t}.sub (${t}.const 0) ${get("a")})`)}
    (${t}.div_s ${get("a")} ${get("b")}))`;
const truncMod = (t: Int): string => `(func $trunc_mod_${t} (param $a ${t}) (param $b ${t}) (result ${t})
    ${give(`(${t}.eqz ${get("b")})`, `(${t}.const 0)`)}
    (${t}.rem_s ${get("a")} ${get("b")}))`;
const pick = (t: Int, name: string, op: string): string =>
  `(func $${name}_${t} (param $a ${t}) (param $b ${t}) (result ${t}) (select ${get("a")} ${get("b")} (${t}.${op} ${get("a")} ${get("b")})))`;

/** the neighbour of x towards y, by counting bit patterns */
const nextAfter = (
  f: "f32" | "f64",
  i: Int,
): string => `(func $nextafter_${f} (param $x ${f}) (param $y ${f}) (result ${f}) (local $b ${i})
    ${give(`(i32.or (${f}.ne ${get("x")} ${get("x")}) (${f}.ne ${get("y")} ${get("y")}))`, `(${f}.add ${get("x")} ${get("y")})`)}
    ${give(`(${f}.eq ${get("x")} ${get("y")})`, get("y"))}
    ${give(`(${f}.eq ${get("x")} (${f}.const 0))`, `(${f}.copysign (${f}.reinterpret_${i} (${i}.const 1)) ${get("y")})`)}
    (local.set $b (${i}.reinterpret_${f} ${get("x")}))
    (${f}.reinterpret_${i} (select (${i}.add ${get("b")} (${i}.const 1)) (${i}.sub ${get("b")} (${i}.const 1))
      (i32.eq (${f}.lt ${get("x")} ${get("y")}) (${f}.gt ${get("x")} (${f}.const 0))))))`;

export const INTEGERS = {
  floor_div_i32: { text: floorDiv("i32") },
  floor_div_i64: { text: floorDiv("i64") },
  floor_mod_i32: { text: floorMod("i32") },
  floor_mod_i64: { text: floorMod("i64") },
  trunc_div_i32: { text: truncDiv("i32") },
  trunc_div_i64: { text: truncDiv("i64") },
  trunc_mod_i32: { text: truncMod("i32") },
  trunc_mod_i64: { text: truncMod("i64") },
  min_i32: { text: pick("i32", "min", "lt_s") },
  max_i32: { text: pick("i32", "max", "gt_s") },
  min_i64: { text: pick("i64", "min", "lt_s") },
  max_i64: { text: pick("i64", "max", "gt_s") },
  min_u32: { text: pick("i32", "min_u", "lt_u").replaceAll("min_u_i32", "min_u32") },
  max_u32: { text: pick("i32", "max_u", "gt_u").replaceAll("max_u_i32", "max_u32") },
  min_u64: { text: pick("i64", "min_u", "lt_u").replaceAll("min_u_i64", "min_u64") },
  max_u64: { text: pick("i64", "max_u", "gt_u").replaceAll("max_u_i64", "max_u64") },
  nextafter_f32: { text: nextAfter("f32", "i32") },
  nextafter_f64: { text: nextAfter("f64", "i64") },
  fmod: {
    // exact: doubled divisors are subtracted, largest first
    text: `(func $fmod (param $x f64) (param $y f64) (result f64) (local $a f64) (local $b f64) (local $s f64)
    ${set("a", abs(get("x")))}
    ${set("b", abs(get("y")))}
    (if (i32.or (i32.eqz (f64.lt ${get("a")} (f64.const inf))) (i32.eqz (f64.gt ${get("b")} ${c(0)}))) (then (return (f64.const nan))))
    ${give(`(f64.lt ${get("a")} ${get("b")})`, get("x"))}
    ${set("s", get("b"))}
    (block $top (loop $up
      (br_if $top (f64.gt ${add(get("s"), get("s"))} ${get("a")}))
      ${set("s", add(get("s"), get("s")))}
      (br $up)))
    (block $done (loop $down
      (br_if $done (f64.lt ${get("s")} ${get("b")}))
      (if (f64.ge ${get("a")} ${get("s")}) (then ${set("a", sub(get("a"), get("s")))}))
      ${set("s", mul(get("s"), c(0.5)))}
      (br $down)))
    (f64.copysign ${get("a")} ${get("x")}))`,
  },
  remainder: {
    uses: ["fmod"],
    text: `(func $remainder (param $x f64) (param $y f64) (result f64) (local $r f64)
    (local.set $r (call $fmod ${get("x")} ${get("y")}))
    (if (i32.and (f64.ne ${get("r")} ${c(0)}) (i32.ne (f64.lt ${get("r")} ${c(0)}) (f64.lt ${get("y")} ${c(0)}))) (then (local.set $r ${add(get("r"), get("y"))})))
    ${get("r")})`,
  },
} as const satisfies Record<string, Helper>;
