// Pieces of the executor's own kernels: loops, and elements of each dtype read into f64 or f32 and written back.

export const get = (name: string): string => `(local.get $${name})`;
export const set = (name: string, value: string): string => `(local.set $${name} ${value})`;

export interface BuiltinModule {
  readonly text: string;
  /** functions of (i32 arguments..., begin, end) */
  readonly exports: readonly string[];
}

export function builtinModule(
  functions: readonly { readonly name: string; readonly text: string }[],
  helpers = "",
): BuiltinModule {
  const body = functions.map(f => f.text).join("\n");
  return {
    text: `(module\n(import "env" "memory" (memory 1 65536 shared))\n${helpers}\n${body}\n)\n`,
    exports: functions.map(f => f.name),
  };
}

/** an exported function with i32 parameters, the slice last */
export function exported(
  name: string,
  parameters: readonly string[],
  locals: string,
  body: string,
): { readonly name: string; readonly text: string } {
  const params = [...parameters, "begin", "end"].map(p => `(param $${p} i32)`).join(" ");
  return { name, text: `(func (export "${name}") ${params} ${locals}\n${body})` };
}

let labels = 0;

/** for ($variable = from; $variable < to; $variable += step), unsigned */
export function loop(variable: string, from: string, to: string, body: string, step = "(i32.const 1)"): string {
  const label = `${variable}_${labels++}`;
  return `${set(variable, from)}
(block $done_${label} (loop $next_${label}
  (br_if $done_${label} (i32.ge_u ${get(variable)} ${to}))
  ${body}
  ${set(variable, `(i32.add ${get(variable)} ${step})`)}
  (br $next_${label})))`;
}

export const add = (a: string, b: string): string => `(i32.add ${a} ${b})`;
export const mul = (a: string, b: string): string => `(i32.mul ${a} ${b})`;
export const i32 = (n: number): string => `(i32.const ${n})`;

/** conversions between half bits and f32, to nearest, ties to even */
export const HALF_HELPERS = `(func $from_f16 (param $h i32) (result f32) (local $m i32)
  (local.set $m (i32.shl (i32.and (local.get $h) (i32.const 0x7fff)) (i32.const 13)))
  (f32.copysign
    (if (result f32) (i32.ge_u (local.get $m) (i32.const 0x0f800000))
      (then (f32.reinterpret_i32 (i32.add (local.get $m) (i32.const 0x70000000))))
      (else (f32.mul (f32.reinterpret_i32 (local.get $m)) (f32.const 0x1p112))))
    (f32.reinterpret_i32 (i32.shl (local.get $h) (i32.const 16)))))
(func $to_f16 (param $v f32) (result i32) (local $b i32) (local $s i32)
  (local.set $b (i32.reinterpret_f32 (local.get $v)))
  (local.set $s (i32.and (i32.shr_u (local.get $b) (i32.const 16)) (i32.const 0x8000)))
  (local.set $b (i32.and (local.get $b) (i32.const 0x7fffffff)))
  (i32.or (local.get $s)
    (if (result i32) (i32.gt_u (local.get $b) (i32.const 0x7f800000)) (then (i32.const 0x7e00))
    (else (if (result i32) (i32.ge_u (local.get $b) (i32.const 0x477ff000)) (then (i32.const 0x7c00))
    (else (if (result i32) (i32.lt_u (local.get $b) (i32.const 0x38800000))
      (then (i32.sub (i32.reinterpret_f32 (f32.add (f32.reinterpret_i32 (local.get $b)) (f32.const 0.5))) (i32.const 0x3f000000)))
      (else (i32.shr_u (i32.add (i32.sub (local.get $b) (i32.const 0x38000000)) (i32.add (i32.const 0xfff) (i32.and (i32.shr_u (local.get $b) (i32.const 13)) (i32.const 1)))) (i32.const 13))))))))))
(func $to_bf16 (param $v f32) (result i32) (local $b i32)
  (local.set $b (i32.reinterpret_f32 (local.get $v)))
  (if (result i32) (f32.ne (local.get $v) (local.get $v))
    (then (i32.or (i32.shr_u (local.get $b) (i32.const 16)) (i32.const 0x40)))
    (else (i32.shr_u (i32.add (local.get $b) (i32.add (i32.const 0x7fff) (i32.and (i32.shr_u (local.get $b) (i32.const 16)) (i32.const 1)))) (i32.const 16)))))`;

export interface Element {
  readonly dtype: string;
  readonly bytes: number;
  /** the element at an address, as f64 and as f32 */
  readonly f64: (address: string) => string;
  readonly f32: (address: string) => string;
  readonly store64: (address: string, value: string) => string;
  readonly store32: (address: string, value: string) => string;
}

const fromF32 = (
  dtype: string,
  bytes: number,
  load: (p: string) => string,
  store: (p: string, v: string) => string,
): Element => ({
  dtype,
  bytes,
  f64: p => `(f64.promote_f32 ${load(p)})`,
  f32: load,
  store64: (p, v) => store(p, `(f32.demote_f64 ${v})`),
  store32: store,
});

const integer = (dtype: string, bytes: number, load: string, signed: boolean, store: string): Element => {
  const t = bytes === 8 ? "i64" : "i32";
  const s = signed ? "s" : "u";
  return {
    dtype,
    bytes,
    f64: p => `(f64.convert_${t}_${s} (${load} ${p}))`,
    f32: p => `(f32.convert_${t}_${s} (${load} ${p}))`,
    store64: (p, v) =>
      `(${store} ${p} ${bytes === 8 ? `(i64.trunc_sat_f64_s ${v})` : `(i32.wrap_i64 (i64.trunc_sat_f64_s ${v}))`})`,
    store32: (p, v) =>
      `(${store} ${p} ${bytes === 8 ? `(i64.trunc_sat_f32_s ${v})` : `(i32.wrap_i64 (i64.trunc_sat_f32_s ${v}))`})`,
  };
};

/** dtypes that the executor's own kernels read and write; others go through JavaScript */
export const ELEMENTS: readonly Element[] = [
  fromF32(
    "float32",
    4,
    p => `(f32.load ${p})`,
    (p, v) => `(f32.store ${p} ${v})`,
  ),
  {
    dtype: "float64",
    bytes: 8,
    f64: p => `(f64.load ${p})`,
    f32: p => `(f32.demote_f64 (f64.load ${p}))`,
    store64: (p, v) => `(f64.store ${p} ${v})`,
    store32: (p, v) => `(f64.store ${p} (f64.promote_f32 ${v}))`,
  },
  fromF32(
    "float16",
    2,
    p => `(call $from_f16 (i32.load16_u ${p}))`,
    (p, v) => `(i32.store16 ${p} (call $to_f16 ${v}))`,
  ),
  fromF32(
    "bfloat16",
    2,
    p => `(f32.reinterpret_i32 (i32.shl (i32.load16_u ${p}) (i32.const 16)))`,
    (p, v) => `(i32.store16 ${p} (call $to_bf16 ${v}))`,
  ),
  integer("int64", 8, "i64.load", true, "i64.store"),
  integer("int32", 4, "i32.load", true, "i32.store"),
  integer("int16", 2, "i32.load16_s", true, "i32.store16"),
  integer("int8", 1, "i32.load8_s", true, "i32.store8"),
  integer("uint8", 1, "i32.load8_u", false, "i32.store8"),
  {
    ...integer("bool", 1, "i32.load8_u", false, "i32.store8"),
    store64: (p, v) => `(i32.store8 ${p} (f64.ne ${v} (f64.const 0)))`,
    store32: (p, v) => `(i32.store8 ${p} (f32.ne ${v} (f32.const 0)))`,
  },
];
