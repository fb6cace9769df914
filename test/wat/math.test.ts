// The kernels' own functions against V8's, or against series in float64, as float32 results.
import { setFlagsFromString } from "node:v8";
import { FunctionBuilder, ModuleBuilder } from "@fuselens/compiler/inductor/codegen/wat/function_builder";
import { type HelperName, helperTexts } from "@fuselens/compiler/inductor/codegen/wat/helpers/index";
import type { VectorFunction } from "@fuselens/compiler/inductor/codegen/wat/helpers/vector_functions";
import { erf, erfcLarge } from "@fuselens/compiler/inductor/codegen/wat/testing/operators";
import { describe, expect, it } from "vitest";
import { compileWat } from "./check_kernel";

type F32 = (...xs: number[]) => number;

/** the helper called with f32 arguments, its result rounded once */
function f32(name: HelperName, arity = 1): F32 {
  const params = Array.from({ length: arity }, () => "(param f32)").join(" ");
  const args = Array.from({ length: arity }, (_, i) => `(f64.promote_f32 (local.get ${i}))`).join(" ");
  const text = `(module (import "env" "memory" (memory 1 65536 shared)) ${helperTexts([name]).join("\n")}
    (func (export "f") ${params} (result f32) (f32.demote_f64 (call $${name} ${args}))))`;
  return instance(text);
}

function instance(text: string): F32 {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  return new WebAssembly.Instance(compileWat(text), { env: { memory } }).exports["f"] as F32;
}

/** distance in units of the last place of the wanted float32 */
function ulps(got: number, want: number): number {
  const w = Math.fround(want);
  if (Object.is(got, w) || got === w || (Number.isNaN(got) && Number.isNaN(w))) return 0;
  const place = Math.max(2 ** -149, 2 ** (Math.floor(Math.log2(Math.abs(w))) - 23));
  return Math.abs(got - w) / place;
}

function samples(low: number, high: number): number[] {
  const out = [0, -0, 1, -1, 0.5, -0.5, 2, -2, 1e-8, -1e-8, 1e-30, 3.4e38, -3.4e38, Infinity, -Infinity, NaN];
  for (let i = 0; i <= 400; i++) out.push(low + ((high - low) * i) / 400);
  for (let e = -40; e <= 40; e++) for (const s of [1, -1]) out.push(s * 1.37 * 2 ** e);
  return out.filter(x => !(x < low) && !(x > high)).map(Math.fround);
}

function series(term0: number, next: (k: number) => number, terms = 400): number {
  let [term, sum] = [term0, term0];
  for (let k = 1; k < terms; k++) {
    term *= next(k);
    sum += term;
  }
  return sum;
}

/** Stirling's series after moving the argument up */
function lgamma(x: number): number {
  if (x <= 0 && Number.isInteger(x)) return Infinity;
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - lgamma(1 - x);
  let [y, shift] = [x, 0];
  for (; y < 20; y++) shift += Math.log(y);
  const z = 1 / (y * y);
  const tail = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680))) / y;
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + tail - shift;
}

const erfc = (x: number): number => (x > 2.5 ? erfcLarge(x) : 1 - erf(x));

const FUNCTIONS: readonly [HelperName, (x: number) => number, number, number][] = [
  ["exp", Math.exp, -110, 95],
  ["log", Math.log, -1, 3.4e38],
  ["log1p", Math.log1p, -1.5, 1e6],
  ["expm1", Math.expm1, -60, 80],
  ["tanh", Math.tanh, -30, 30],
  ["sigmoid", x => 1 / (1 + Math.exp(-x)), -80, 80],
  ["sin", Math.sin, -1000, 1000],
  ["cos", Math.cos, -1000, 1000],
  ["tan", Math.tan, -100, 100],
  ["sinh", Math.sinh, -80, 80],
  ["cosh", Math.cosh, -80, 80],
  ["asinh", Math.asinh, -1e6, 1e6],
  ["acosh", Math.acosh, 0.5, 1e6],
  ["atanh", Math.atanh, -1.1, 1.1],
  ["asin", Math.asin, -1.1, 1.1],
  ["acos", Math.acos, -1.1, 1.1],
  ["atan", Math.atan, -1e6, 1e6],
  ["erf", erf, -7, 7],
  ["erfc", erfc, -7, 9],
  ["lgamma", lgamma, -20, 60],
  ["i0", x => series(1, k => (x * x) / 4 / (k * k)), -80, 80],
  ["i1", x => series(x / 2, k => (x * x) / 4 / (k * (k + 1))), -80, 80],
];

describe("functions of one number", () => {
  it.each(FUNCTIONS)("%s is within one unit in the last place of float32", (name, want, low, high) => {
    const f = f32(name);
    for (const x of samples(low, high)) {
      if (name === "lgamma" && Number.isInteger(x) && x <= 0) continue;
      if ((name === "lgamma" || name === "i0" || name === "i1") && !Number.isFinite(x)) continue;
      expect(ulps(f(x), want(x)), `${name}(${x}) = ${f(x)}, not ${want(x)}`).toBeLessThanOrEqual(1);
    }
  });

  it("keeps sin and cos right for large arguments", () => {
    const [sin, cos] = [f32("sin"), f32("cos")];
    for (const x of [1e5, 1234567, 7.5e6, 1e8, 1e9].map(Math.fround)) {
      expect(sin(x)).toBeCloseTo(Math.sin(x), 6);
      expect(cos(x)).toBeCloseTo(Math.cos(x), 6);
    }
  });

  it("inverts erf, and scales erfc", () => {
    const [inverse, scaled] = [f32("erfinv"), f32("erfcx")];
    for (let i = -199; i < 200; i++) {
      const x = Math.fround(i / 200);
      expect(erf(inverse(x))).toBeCloseTo(x, 6);
    }
    expect(inverse(1)).toBe(Infinity);
    expect(inverse(1.5)).toBeNaN();
    for (const x of [-2, -0.5, 0, 0.5, 2, 5, 10, 24, 26, 100].map(Math.fround)) {
      const want = x < 3 ? Math.exp(x * x) * erfc(x) : Math.exp(x * x + Math.log(erfcLarge(Math.min(x, 26))));
      if (x <= 24) expect(scaled(x) / want).toBeCloseTo(1, 6);
      else expect(scaled(x) * x * Math.sqrt(Math.PI)).toBeCloseTo(1 - 0.5 / x ** 2 + 0.75 / x ** 4, 6);
    }
  });

  it("gives the derivative of lgamma as digamma", () => {
    const f = f32("digamma");
    for (const x of [-3.7, -0.3, 0.2, 1, 2.5, 9, 40]) {
      const h = 1e-5;
      expect(f(x)).toBeCloseTo((lgamma(Math.fround(x) + h) - lgamma(Math.fround(x) - h)) / (2 * h), 4);
    }
    expect(f(1)).toBeCloseTo(-0.5772156649, 6);
  });
});

describe("functions of two numbers", () => {
  const pairs: [number, number][] = [];
  const interesting = [0, -0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5, 7, 1e-20, 1e20, Infinity, -Infinity, NaN];
  for (const a of interesting) for (const b of interesting) pairs.push([Math.fround(a), Math.fround(b)]);
  for (let i = 1; i < 60; i++)
    for (let j = -20; j < 20; j++) pairs.push([Math.fround(i * 0.37), Math.fround(j * 0.71)]);

  it("raises to powers as IEEE does", () => {
    const f = f32("pow", 2);
    for (const [a, b] of pairs) {
      // JavaScript gives NaN for 1 ** NaN and (-1) ** Infinity, C and PyTorch give 1
      const want = a === 1 || (Math.abs(a) === 1 && Math.abs(b) === Infinity) ? 1 : a ** b;
      expect(ulps(f(a, b), want), `${a} ** ${b} = ${f(a, b)}, not ${want}`).toBeLessThanOrEqual(1);
    }
  });

  it("finds angles in all quadrants", () => {
    const f = f32("atan2", 2);
    for (const [a, b] of pairs) expect(ulps(f(a, b), Math.atan2(a, b)), `atan2(${a}, ${b})`).toBeLessThanOrEqual(1);
  });

  it("takes remainders exactly", () => {
    const [fmod, remainder] = [f32("fmod", 2), f32("remainder", 2)];
    for (const [a, b] of [...pairs, [1e30, 7], [16777216, 0.1], [-1e10, 3]] as [number, number][]) {
      const [x, y] = [Math.fround(a), Math.fround(b)];
      expect(fmod(x, y), `fmod(${x}, ${y})`).toBe(Math.fround(x % y));
      const r = x % y;
      const want = r !== 0 && r < 0 !== y < 0 ? r + y : r;
      if (Number.isFinite(y)) expect(remainder(x, y), `remainder(${x}, ${y})`).toBe(Math.fround(want));
    }
  });

  it("divides integers as Python does, and never traps", () => {
    const text = (
      name: HelperName,
    ): string => `(module (import "env" "memory" (memory 1 65536 shared)) ${helperTexts([name]).join("\n")}
      (func (export "f") (param i32 i32) (result i32) (call $${name} (local.get 0) (local.get 1))))`;
    const [div, mod] = [instance(text("floor_div_i32")), instance(text("floor_mod_i32"))];
    for (let a = -9; a <= 9; a++) {
      for (let b = -4; b <= 4; b++) {
        if (b === 0) continue;
        expect(div(a, b)).toBe(Math.floor(a / b) + 0);
        expect(mod(a, b) + 0).toBe(a - b * Math.floor(a / b) + 0);
      }
    }
    expect(div(5, 0)).toBe(0);
    expect(div(-2147483648, -1)).toBe(-2147483648);
    expect(mod(-2147483648, -1)).toBe(0);
  });
});

describe("small floats", () => {
  const bits = (
    to: HelperName,
    from: HelperName,
    extra: readonly [string, string] = ["", ""],
  ): { to: F32; from: F32 } => ({
    to: instance(
      `(module ${helperTexts([to]).join("\n")} (func (export "f") (param f32) (result i32) (call $${to} (local.get 0) ${extra[0]})))`,
    ),
    from: instance(
      `(module ${helperTexts([from]).join("\n")} (func (export "f") (param i32) (result f32) (call $${from} (local.get 0) ${extra[1]})))`,
    ),
  });

  it("takes every half back to its own bits", () => {
    const h = bits("to_f16", "from_f16");
    for (let b = 0; b < 65536; b++) {
      const x = h.from(b);
      if (!Number.isNaN(x)) expect(h.to(x)).toBe(b);
    }
    expect(h.from(0x3c01)).toBe(1 + 2 ** -10);
    expect(h.from(0x0001)).toBe(2 ** -24);
  });

  it("rounds to the nearest half, ties to even", () => {
    const h = bits("to_f16", "from_f16");
    const round = (x: number): number => h.from(h.to(x));
    expect(round(1 + 2 ** -11)).toBe(1);
    expect(round(1 + 3 * 2 ** -11)).toBe(1 + 2 ** -9);
    expect(round(65519)).toBe(65504);
    expect(round(65520)).toBe(Infinity);
    expect(round(1.5 * 2 ** -24)).toBe(2 ** -23);
    expect(h.from(h.to(NaN))).toBeNaN();
  });

  it("takes every float8 back to its own bits", () => {
    const e4m3 = bits("to_f8", "from_f8", [
      "(i32.const 3) (i32.const 0x3c800000) (f32.const 0x1p14) (i32.const 0x3c000000) (i32.const 0x7e) (i32.const 0x7f)",
      "(i32.const 3) (f32.const 0x1p120) (i32.const 1)",
    ]);
    const e5m2 = bits("to_f8", "from_f8", [
      "(i32.const 2) (i32.const 0x38800000) (f32.const 0x1p7) (i32.const 0x38000000) (i32.const 0x7b) (i32.const 0x7c)",
      "(i32.const 2) (f32.const 0x1p112) (i32.const 0)",
    ]);
    for (const f of [e4m3, e5m2]) {
      for (let b = 0; b < 256; b++) {
        const x = f.from(b);
        if (!Number.isNaN(x)) expect(f.to(x)).toBe(b);
      }
    }
    expect(e4m3.from(0x7e)).toBe(448);
    expect(e4m3.from(e4m3.to(464))).toBe(448);
    expect(e4m3.from(e4m3.to(465))).toBeNaN();
    expect(e5m2.from(0x7b)).toBe(57344);
    expect(e5m2.from(e5m2.to(1e9))).toBe(Infinity);
  });
});

describe.each([false, true])("functions of four numbers, relaxed SIMD: %s", relaxed => {
  if (relaxed) setFlagsFromString("--experimental-wasm-relaxed-simd");

  /** the function over many numbers (or, of `by` times each), whose bits are of `from` and `to` */
  function many(name: VectorFunction, by = 1): (xs: Float32Array | Int32Array) => ArrayBuffer {
    const module = new ModuleBuilder();
    const f = new FunctionBuilder(module);
    const [x, at] = [f.local("v128", "x"), f.local("i32", "at")];
    f.loop(
      at,
      "(i32.const 0)",
      "(local.get $bytes)",
      () => {
        f.set(x, `(v128.load (i32.add (local.get $from) (local.get ${at})))`);
        const factor = f.keep(`(v128.const f32x4 ${by} ${by} ${by} ${by})`, "v128");
        const argument = by === 1 ? `(local.get ${x})` : f.keep(`(f32x4.mul (local.get ${x}) ${factor})`, "v128");
        const y = f.vectorFunction(name, argument);
        f.lines.add(`(v128.store (i32.add (local.get $to) (local.get ${at})) ${y})`);
      },
      16,
    );
    module.define("run", ["$from", "$to", "$bytes"], f);
    const memory = new WebAssembly.Memory({ initial: 64, maximum: 65536, shared: true });
    const compiled = compileWat(module.finish(name).text, relaxed);
    const { run } = new WebAssembly.Instance(compiled, { env: { memory } }).exports as { run: F32 };
    return xs => {
      const bytes = 16 * Math.ceil(xs.length / 4);
      const from = xs instanceof Float32Array ? new Float32Array(memory.buffer) : new Int32Array(memory.buffer);
      from.set(xs);
      run(0, bytes, bytes);
      return memory.buffer.slice(bytes, bytes + 4 * xs.length) as unknown as ArrayBuffer;
    };
  }

  const VECTORS: readonly [VectorFunction, (x: number) => number, number, number][] = [
    ["exp", Math.exp, -110, 95],
    ["expm1", Math.expm1, -60, 95],
    ["log", Math.log, -1, 3.4e38],
    ["log1p", Math.log1p, -1.5, 1e6],
    ["tanh", Math.tanh, -30, 30],
    ["sigmoid", x => 1 / (1 + Math.exp(-x)), -88, 110],
    ["erf", erf, -7, 7],
    ["sin", Math.sin, -10000, 10000],
    ["cos", Math.cos, -10000, 10000],
  ];
  /** numbers of every magnitude in the range, and evenly spaced ones */
  function dense(low: number, high: number): number[] {
    const out = [...samples(low, high), ...samples(-2, 2), 2 ** -149, -(2 ** -149), 2 ** -126, 1 - 2 ** -24];
    for (let k = 0; k < 60000; k++) {
      out.push(low + ((high - low) * k) / 60000, -2 + k / 15000);
      const pattern = new Float32Array(new Int32Array([Math.imul(k, 71583)]).buffer);
      out.push(pattern[0] as number);
    }
    return out.map(Math.fround).filter(x => !(x < low) && !(x > high));
  }

  it.each(VECTORS)("%s is within two units in the last place", (name, want, low, high) => {
    const xs = Float32Array.from(dense(low, high));
    const ys = new Float32Array(many(name)(xs));
    let worst = { u: 0, text: "" };
    xs.forEach((x, i) => {
      const [got, w] = [ys[i] as number, want(x)];
      // next to a zero of sine the reduced argument's own rounding shows
      const near = /sin|cos/.test(name) && Math.abs(w) < 1e-2 && Math.abs(x) > 1;
      const u = near ? Math.abs(got - w) / 1e-8 / Math.max(1, Math.abs(x) / 100) : ulps(got, w);
      if (!(u <= worst.u)) worst = { u, text: `${name}(${x}) = ${got}, not ${w}: ${u}` };
    });
    // products and sums that round apart cost erf's quotient one unit more
    expect(worst.u, worst.text).toBeLessThanOrEqual(name === "erf" && !relaxed ? 3 : 2);
  });

  it.each([Math.SQRT1_2, -0.3, 1.7, 5, 0.02, 100])(
    "erf of %s times a number is as near to that of the whole product",
    by => {
      const factor = Math.fround(by);
      const xs = Float32Array.from(dense(-7 / Math.abs(by), 7 / Math.abs(by)));
      const ys = new Float32Array(many("erf", by)(xs));
      let worst = { u: 0, text: "" };
      xs.forEach((x, i) => {
        const want = erf(factor * x);
        // far from normal numbers neither a product nor a coefficient keeps its digits
        const u = Math.abs(want) < 1e-36 ? 0 : ulps(ys[i] as number, want);
        if (!(u <= worst.u)) worst = { u, text: `erf(${factor} * ${x}) = ${ys[i]}, not ${want}: ${u}` };
      });
      // 100 is beyond what goes into the coefficients: the product is rounded first
      expect(worst.u, worst.text).toBeLessThanOrEqual(relaxed ? 2 : 3);
    },
  );

  it("keeps NaN whatever its bits are", () => {
    const patterns = Int32Array.from([0x7fc00000, 0x7fc00001, 0x7fffffff, -1, 0x7f800001 | 0x400000, -4194303]);
    for (const [name] of VECTORS) for (const y of new Float32Array(many(name)(patterns))) expect(y, name).toBeNaN();
  });

  it("round to halves as the functions of one number do", () => {
    const pairs: [VectorFunction, HelperName][] = [
      ["to_f16", "to_f16"],
      ["to_bf16", "to_bf16"],
      ["round_f16", "round_f16"],
      ["round_bf16", "round_bf16"],
    ];
    const ties = [65519, 65520, 1 + 2 ** -11, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 5e-8, 3e-8, 6.1e-5];
    const xs = Float32Array.from([...samples(-3.4e38, 3.4e38), ...ties, ...dense(-70000, 70000)]);
    for (const [vector, one] of pairs) {
      const result = one.startsWith("to") ? "i32" : "f32";
      const g = instance(
        `(module ${helperTexts([one]).join("\n")} (func (export "f") (param f32) (result ${result}) (call $${one} (local.get 0))))`,
      );
      const out = many(vector)(xs);
      const got = result === "i32" ? new Int32Array(out) : new Float32Array(out);
      const wrong = [...xs].flatMap((x, i) =>
        Object.is(got[i], g(x)) ? [] : [`${vector}(${x}) = ${got[i]}, not ${g(x)}`],
      );
      expect(wrong.slice(0, 3)).toEqual([]);
    }
  });
});
