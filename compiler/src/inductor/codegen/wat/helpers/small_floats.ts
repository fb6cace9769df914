// Half types and float8 between their bits and f32, rounded to nearest, ties to even.
import { get, type Helper } from "./dsl";

export const SMALL_FLOATS = {
  from_f16: {
    text: `(func $from_f16 (param $h i32) (result f32) (local $m i32)
    (local.set $m (i32.shl (i32.and ${get("h")} (i32.const 0x7fff)) (i32.const 13)))
    (f32.copysign
      (if (result f32) (i32.ge_u ${get("m")} (i32.const 0x0f800000))
        (then (f32.reinterpret_i32 (i32.add ${get("m")} (i32.const 0x70000000))))
        (else (f32.mul (f32.reinterpret_i32 ${get("m")}) (f32.const 0x1p112))))
      (f32.reinterpret_i32 (i32.shl ${get("h")} (i32.const 16)))))`,
  },
  to_f16: {
    // below the normal range, adding 0.5 rounds to the format's last place
    text: `(func $to_f16 (param $v f32) (result i32) (local $b i32) (local $s i32) (local $r i32)
    (local.set $b (i32.reinterpret_f32 ${get("v")}))
    (local.set $s (i32.and (i32.shr_u ${get("b")} (i32.const 16)) (i32.const 0x8000)))
    (local.set $b (i32.and ${get("b")} (i32.const 0x7fffffff)))
    (if (i32.gt_u ${get("b")} (i32.const 0x7f800000)) (then (local.set $r (i32.const 0x7e00)))
    (else (if (i32.ge_u ${get("b")} (i32.const 0x477ff000)) (then (local.set $r (i32.const 0x7c00)))
    (else (if (i32.lt_u ${get("b")} (i32.const 0x38800000))
      (then (local.set $r (i32.sub (i32.reinterpret_f32 (f32.add (f32.reinterpret_i32 ${get("b")}) (f32.const 0.5))) (i32.const 0x3f000000))))
      (else (local.set $r (i32.shr_u (i32.add (i32.sub ${get("b")} (i32.const 0x38000000)) (i32.add (i32.const 0xfff) (i32.and (i32.shr_u ${get("b")} (i32.const 13)) (i32.const 1)))) (i32.const 13)))))))))
    (i32.or ${get("s")} ${get("r")}))`,
  },
  to_bf16: {
    text: `(func $to_bf16 (param $v f32) (result i32) (local $b i32)
    (local.set $b (i32.reinterpret_f32 ${get("v")}))
    (if (result i32) (f32.ne ${get("v")} ${get("v")})
      (then (i32.or (i32.shr_u ${get("b")} (i32.const 16)) (i32.const 0x40)))
      (else (i32.shr_u (i32.add ${get("b")} (i32.add (i32.const 0x7fff) (i32.and (i32.shr_u ${get("b")} (i32.const 16)) (i32.const 1)))) (i32.const 16)))))`,
  },
  round_f16: {
    uses: ["from_f16", "to_f16"],
    text: `(func $round_f16 (param $v f32) (result f32) (call $from_f16 (call $to_f16 ${get("v")})))`,
  },
  round_bf16: {
    text: `(func $round_bf16 (param $v f32) (result f32) (local $b i32)
    (local.set $b (i32.reinterpret_f32 ${get("v")}))
    (select ${get("v")}
      (f32.reinterpret_i32 (i32.and (i32.add ${get("b")} (i32.add (i32.const 0x7fff) (i32.and (i32.shr_u ${get("b")} (i32.const 16)) (i32.const 1)))) (i32.const 0xffff0000)))
      (f32.ne ${get("v")} ${get("v")})))`,
  },
  from_f8: {
    // scale is 2**(127 - bias); `finite`: the top exponent holds numbers, and NaN in its last pattern alone
    text: `(func $from_f8 (param $b i32) (param $mantissa i32) (param $scale f32) (param $finite i32) (result f32) (local $f i32) (local $r f32)
    (local.set $f (i32.and ${get("b")} (i32.sub (i32.shl (i32.const 1) ${get("mantissa")}) (i32.const 1))))
    (local.set $r (f32.mul ${get("scale")} (f32.reinterpret_i32 (i32.shl (i32.and ${get("b")} (i32.const 0x7f)) (i32.sub (i32.const 23) ${get("mantissa")})))))
    (if ${get("finite")}
      (then (if (i32.eq (i32.and ${get("b")} (i32.const 0x7f)) (i32.const 0x7f)) (then (local.set $r (f32.const nan)))))
      (else (if (i32.ge_u (i32.and ${get("b")} (i32.const 0x7f)) (i32.const 0x7c)) (then (local.set $r (select (f32.const nan) (f32.const inf) ${get("f")}))))))
    (f32.copysign ${get("r")} (f32.reinterpret_i32 (i32.shl ${get("b")} (i32.const 24)))))`,
  },
  to_f8: {
    // normal: bits of the least normal number; magic: a number whose last place is the format's least; rebias: what the
    // exponents differ by; limit: the largest finite pattern, beyond which stands `over`
    text: `(func $to_f8 (param $v f32) (param $mantissa i32) (param $normal i32) (param $magic f32) (param $rebias i32) (param $limit i32) (param $over i32) (result i32) (local $b i32) (local $s i32) (local $shift i32) (local $r i32)
    (local.set $b (i32.reinterpret_f32 ${get("v")}))
    (local.set $s (i32.and (i32.shr_u ${get("b")} (i32.const 24)) (i32.const 0x80)))
    (local.set $b (i32.and ${get("b")} (i32.const 0x7fffffff)))
    (local.set $shift (i32.sub (i32.const 23) ${get("mantissa")}))
    (if (i32.gt_u ${get("b")} (i32.const 0x7f800000)) (then (return (i32.or ${get("s")} (i32.const 0x7f)))))
    (if (i32.lt_u ${get("b")} ${get("normal")})
      (then (local.set $r (i32.sub (i32.reinterpret_f32 (f32.add (f32.reinterpret_i32 ${get("b")}) ${get("magic")})) (i32.reinterpret_f32 ${get("magic")}))))
      (else (local.set $r (i32.shr_u (i32.add (i32.sub ${get("b")} ${get("rebias")})
        (i32.add (i32.sub (i32.shl (i32.const 1) (i32.sub ${get("shift")} (i32.const 1))) (i32.const 1)) (i32.and (i32.shr_u ${get("b")} ${get("shift")}) (i32.const 1)))) ${get("shift")}))))
    (i32.or ${get("s")} (select ${get("over")} ${get("r")} (i32.gt_u ${get("r")} ${get("limit")}))))`,
  },
} as const satisfies Record<string, Helper>;
