// What a kernel needs besides arithmetic: its fault report, random words, sorting of a row in scratch memory.
import { get, type Helper } from "./dsl";

/** merge sort's first runs */
const RUN = 8;

export const RUNTIME = {
  out_of_bounds: {
    // the runner reads these addresses (gpu-worker/src/cpu/kernel_abi.ts); the first thread to fail reports
    text: `(func $out_of_bounds (param $index i64) (param $size i64) (param $line i32)
    (if (i32.eqz (i32.atomic.rmw.cmpxchg (i32.const 64) (i32.const 0) (i32.const 1))) (then
      (i64.store (i32.const 72) ${get("index")})
      (i64.store (i32.const 80) ${get("size")})
      (i32.store (i32.const 88) ${get("line")})))
    unreachable)`,
  },
  philox: {
    // Philox 4x32, ten rounds, as triton.language.random; the first two of the four words, low word first
    text: `(func $philox (param $seed i64) (param $c0 i32) (result i64) (local $c1 i32) (local $c2 i32) (local $c3 i32) (local $k0 i32) (local $k1 i32) (local $i i32) (local $p i64) (local $q i64)
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
    (i64.or (i64.extend_i32_u ${get("c0")}) (i64.shl (i64.extend_i32_u ${get("c1")}) (i64.const 32))))`,
  },
  uniform: {
    // triton's uint_to_uniform_float: a negative word folds onto its complement
    text: `(func $uniform (param $w i32) (result f32)
    (f32.mul (f32.convert_i32_s (i32.xor ${get("w")} (i32.shr_s ${get("w")} (i32.const 31)))) (f32.const 4.6566127342e-10)))`,
  },
  normal: {
    // Box and Muller's transform of two words, as triton's pair_uniform_to_normal
    uses: ["uniform", "log", "cos"],
    text: `(func $normal (param $w i64) (result f32)
    (f32.demote_f64 (f64.mul
      (f64.sqrt (f64.mul (f64.const -2) (call $log (f64.max (f64.const 1e-7) (f64.promote_f32 (call $uniform (i32.wrap_i64 ${get("w")})))))))
      (call $cos (f64.mul (f64.const ${2 * Math.PI}) (f64.promote_f32 (call $uniform (i32.wrap_i64 (i64.shr_u ${get("w")} (i64.const 32))))))))))`,
  },
  sort_order: {
    // Sorts $order (i32 positions) by i64 keys, stable: insertion in short runs, then merges by way of $spare.
    text: `(func $sort_order (param $keys i32) (param $order i32) (param $spare i32) (param $n i32) (local $i i32) (local $j i32) (local $w i32) (local $lo i32) (local $mid i32) (local $hi i32) (local $at i32) (local $x i32) (local $k i64)
    (block $filled (loop $fill
      (br_if $filled (i32.ge_u ${get("i")} ${get("n")}))
      (i32.store (i32.add ${get("order")} (i32.shl ${get("i")} (i32.const 2))) ${get("i")})
      (local.set $i (i32.add ${get("i")} (i32.const 1)))
      (br $fill)))
    (local.set $i (i32.const 1))
    (block $inserted (loop $insert
      (br_if $inserted (i32.ge_u ${get("i")} ${get("n")}))
      (local.set $k (i64.load (i32.add ${get("keys")} (i32.shl ${get("i")} (i32.const 3)))))
      (local.set $lo (i32.and ${get("i")} (i32.const -${RUN})))
      (local.set $j ${get("i")})
      (block $placed (loop $shift
        (br_if $placed (i32.le_u ${get("j")} ${get("lo")}))
        (local.set $at (i32.add ${get("order")} (i32.shl (i32.sub ${get("j")} (i32.const 1)) (i32.const 2))))
        (local.set $x (i32.load ${get("at")}))
        (br_if $placed (i64.le_s (i64.load (i32.add ${get("keys")} (i32.shl ${get("x")} (i32.const 3)))) ${get("k")}))
        (i32.store offset=4 ${get("at")} ${get("x")})
        (local.set $j (i32.sub ${get("j")} (i32.const 1)))
        (br $shift)))
      (i32.store (i32.add ${get("order")} (i32.shl ${get("j")} (i32.const 2))) ${get("i")})
      (local.set $i (i32.add ${get("i")} (i32.const 1)))
      (br $insert)))
    (local.set $w (i32.const ${RUN}))
    (block $sorted (loop $double
      (br_if $sorted (i32.ge_u ${get("w")} ${get("n")}))
      (local.set $lo (i32.const 0))
      (block $passed (loop $merge
        (br_if $passed (i32.ge_u ${get("lo")} ${get("n")}))
        (local.set $mid (i32.add ${get("lo")} ${get("w")}))
        (local.set $mid (select ${get("mid")} ${get("n")} (i32.lt_u ${get("mid")} ${get("n")})))
        (local.set $hi (i32.add ${get("mid")} ${get("w")}))
        (local.set $hi (select ${get("hi")} ${get("n")} (i32.lt_u ${get("hi")} ${get("n")})))
        (local.set $i ${get("lo")})
        (local.set $j ${get("mid")})
        (local.set $at ${get("lo")})
        (block $merged (loop $take
          (br_if $merged (i32.ge_u ${get("at")} ${get("hi")}))
          (if (if (result i32) (i32.ge_u ${get("i")} ${get("mid")}) (then (i32.const 0))
            (else (if (result i32) (i32.ge_u ${get("j")} ${get("hi")}) (then (i32.const 1))
              (else (i64.le_s
                (i64.load (i32.add ${get("keys")} (i32.shl (i32.load (i32.add ${get("order")} (i32.shl ${get("i")} (i32.const 2)))) (i32.const 3))))
                (i64.load (i32.add ${get("keys")} (i32.shl (i32.load (i32.add ${get("order")} (i32.shl ${get("j")} (i32.const 2)))) (i32.const 3)))))))))
            (then (local.set $x ${get("i")}) (local.set $i (i32.add ${get("i")} (i32.const 1))))
            (else (local.set $x ${get("j")}) (local.set $j (i32.add ${get("j")} (i32.const 1)))))
          (i32.store (i32.add ${get("spare")} (i32.shl ${get("at")} (i32.const 2))) (i32.load (i32.add ${get("order")} (i32.shl ${get("x")} (i32.const 2)))))
          (local.set $at (i32.add ${get("at")} (i32.const 1)))
          (br $take)))
        (local.set $lo ${get("hi")})
        (br $merge)))
      (memory.copy ${get("order")} ${get("spare")} (i32.shl ${get("n")} (i32.const 2)))
      (local.set $w (i32.shl ${get("w")} (i32.const 1)))
      (br $double))))`,
  },
} as const satisfies Record<string, Helper>;
