// int, float, complex, bool: construction and methods. In: the machine. Out: methods on the classes.
import type { Machine } from "../interp/machine";
import { asFloat, asInt, type Int, normal, toDouble } from "../interp/numbers";
import { plain, special } from "../interp/operators";
import { MOST_DIGITS } from "../interp/text";
import {
  PyBytes,
  type PyClass,
  PyComplex,
  PyFloat,
  PyInstance,
  PyObject,
  PyUnknown,
  type Value,
} from "../objects/values";
import { defineNew, method, property } from "./define";
import { parseFloatText } from "./strings";

/** tensors answer through their attributes, not through their class */
const isGuestObject = (v: Value): boolean => v instanceof PyObject && !(v instanceof PyInstance);

export function toInt(vm: Machine, v: Value, base?: Value): Value {
  const p = plain(v);
  if (typeof p === "string" || p instanceof PyBytes) {
    const text = typeof p === "string" ? p : new TextDecoder().decode(p.data);
    return parseInteger(vm, text, base === undefined ? 10 : vm.index(base));
  }
  const i = asInt(p);
  if (i !== undefined) return i;
  if (p instanceof PyFloat) {
    if (Number.isNaN(p.value)) vm.raise("ValueError", "cannot convert float NaN to integer");
    if (!Number.isFinite(p.value)) vm.raise("OverflowError", "cannot convert float infinity to integer");
    const t = Math.trunc(p.value);
    return Number.isSafeInteger(t) ? (t === 0 ? 0 : t) : normal(BigInt(t));
  }
  if (v instanceof PyUnknown) return vm.unknown(`int(${v.what})`);
  // a symbolic size is an int already
  if (vm.typeOf(v) === vm.types.int) return v;
  for (const name of ["__int__", "__index__", "__trunc__"]) {
    const m = special(vm, v, name) ?? (isGuestObject(v) ? vm.getattrOrUndefined(v, name) : undefined);
    if (m !== undefined) return vm.call(m, []);
  }
  return vm.raise(
    "TypeError",
    `int() argument must be a string, a bytes-like object or a real number, not '${vm.typeOf(v).name}'`,
  );
}

function parseInteger(vm: Machine, text: string, base: number): Value {
  const t = text.trim().replace(/_/g, "").toLowerCase();
  const m = /^([+-]?)(0x|0o|0b)?([0-9a-z]+)$/.exec(t);
  const radix =
    m?.[2] && (base === 0 || base === { "0x": 16, "0o": 8, "0b": 2 }[m[2]])
      ? { "0x": 16, "0o": 8, "0b": 2 }[m[2]]
      : base === 0
        ? 10
        : base;
  const digits = m ? (m[2] && radix === base && ![16, 8, 2].includes(base) ? m[2] + m[3] : (m[3] ?? "")) : "";
  if (digits.length > MOST_DIGITS && ![2, 4, 8, 16, 32].includes(radix ?? 10))
    vm.raise(
      "ValueError",
      `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion: value has ${digits.length} digits; use sys.set_int_max_str_digits() to increase the limit`,
    );
  vm.charge(digits.length >> 2);
  let n = 0n;
  for (const c of digits) {
    const d = Number.parseInt(c, 36);
    if (Number.isNaN(d) || d >= (radix ?? 10)) {
      return vm.raise("ValueError", `invalid literal for int() with base ${base}: ${vm.repr(text)}`);
    }
    n = n * BigInt(radix ?? 10) + BigInt(d);
  }
  if (!m) return vm.raise("ValueError", `invalid literal for int() with base ${base}: ${vm.repr(text)}`);
  return normal(m[1] === "-" ? -n : n);
}

export function toFloat(vm: Machine, v: Value): Value {
  const p = plain(v);
  if (typeof p === "string") return new PyFloat(parseFloatText(vm, p));
  const i = asInt(p);
  if (i !== undefined) return new PyFloat(toDouble(vm, i));
  if (p instanceof PyFloat) return new PyFloat(p.value);
  if (v instanceof PyUnknown) return vm.unknown(`float(${v.what})`);
  for (const name of ["__float__", "__index__"]) {
    const m = special(vm, v, name) ?? (isGuestObject(v) ? vm.getattrOrUndefined(v, name) : undefined);
    if (m !== undefined) return vm.call(m, []);
  }
  return vm.raise("TypeError", `float() argument must be a string or a real number, not '${vm.typeOf(v).name}'`);
}

/** instances of user classes that derive from a number keep the number inside */
function wrap(cls: PyClass, base: PyClass, v: Value): Value {
  if (cls === base) return v;
  const o = new PyInstance(cls);
  o.payload = v;
  return o;
}

export function installNumbers(vm: Machine): void {
  const { int, float, bool, complex } = vm.types;
  defineNew(vm, int, (c, args, kw) => wrap(c, int, toInt(vm, args[0] ?? 0, args[1] ?? kw.get("base"))));
  defineNew(vm, bool, (_c, [v]) => vm.truthy(v ?? false));
  defineNew(vm, float, (c, [v]) => wrap(c, float, v === undefined ? new PyFloat(0) : toFloat(vm, v)));
  defineNew(vm, complex, (_c, [a, b]) => {
    if (typeof a === "string") {
      const m = /^\s*([+-]?[\d.e]+)?(?:([+-]?[\d.e]*)j)?\s*$/i.exec(a);
      return new PyComplex(
        Number(m?.[1] ?? 0),
        m?.[2] === undefined ? 0 : Number(`${m[2]}${/\d/.test(m[2]) ? "" : "1"}`),
      );
    }
    const part = (v: Value): PyComplex => {
      if (v instanceof PyComplex) return v;
      const i = asInt(v);
      return new PyComplex(i === undefined ? (asFloat(v) ?? 0) : toDouble(vm, i), 0);
    };
    const [x, y] = [part(a ?? 0), part(b ?? 0)];
    return new PyComplex(x.re - y.im, x.im + y.re);
  });
  const value = (v: Value): number => asFloat(plain(v)) ?? 0;
  const bits = (v: Value | undefined): string =>
    BigInt(asInt(plain(v ?? 0)) ?? 0)
      .toString(2)
      .replace("-", "");
  method(vm, int, "bit_length", ([v]) => (bits(v) === "0" ? 0 : bits(v).length));
  method(vm, int, "bit_count", ([v]) => bits(v).replace(/0/g, "").length);
  method(vm, int, "is_integer", () => true);
  for (const name of ["__index__", "__int__", "__trunc__", "__floor__", "__ceil__"])
    method(vm, int, name, ([v]) => asInt(plain(v ?? 0)) ?? 0);
  method(vm, int, "as_integer_ratio", ([v]) => vm.tuple([v ?? 0, 1]));
  method(vm, int, "conjugate", ([v]) => v ?? 0);
  method(vm, int, "to_bytes", ([v, n]) => {
    const size = vm.index(n ?? 1);
    vm.room(size);
    const big = BigInt(asInt(plain(v ?? 0)) ?? 0);
    return vm.bytes(Uint8Array.from({ length: size }, (_, i) => Number((big >> BigInt(8 * (size - 1 - i))) & 255n)));
  });
  method(vm, float, "is_integer", ([v]) => Number.isInteger(value(v ?? 0)));
  method(vm, float, "hex", ([v]) => String(value(v ?? 0)));
  method(vm, float, "as_integer_ratio", ([v]) => {
    let [x, d] = [value(v ?? 0), 1];
    while (!Number.isInteger(x) && d < 2 ** 60) {
      x *= 2;
      d *= 2;
    }
    return vm.tuple([x, d]);
  });
  for (const cls of [int, float]) {
    // numpy's scalars are plain numbers here
    method(vm, cls, "item", ([v]) => v ?? 0);
    method(vm, cls, "astype", ([v, d], kw) => {
      const array = vm.call(vm.getattr(vm.importModule("numpy", null), "array"), [v ?? 0]);
      return vm.call(vm.getattr(vm.call(vm.getattr(array, "astype"), [d ?? kw.get("dtype") ?? null]), "item"), []);
    });
    property(vm, cls, "real", v => v);
    property(vm, cls, "imag", v => (v instanceof PyFloat ? new PyFloat(0) : 0));
  }
  property(vm, int, "numerator", v => v);
  property(vm, int, "denominator", () => 1);
  property(vm, complex, "real", v => new PyFloat(v instanceof PyComplex ? v.re : 0));
  property(vm, complex, "imag", v => new PyFloat(v instanceof PyComplex ? v.im : 0));
  method(vm, complex, "conjugate", ([v]) => (v instanceof PyComplex ? new PyComplex(v.re, -v.im) : (v ?? 0)));
  int.dict.set(
    "from_bytes",
    vm.builtin("from_bytes", ([b, order]) => {
      const data = b instanceof PyBytes ? [...b.data] : [];
      if (order === "little") data.reverse();
      return normal(data.reduce((acc, x) => acc * 256n + BigInt(x), 0n));
    }),
  );
}

/** pow(x, y, z): x^y, reduced by z at every step; of a negative y the inverse */
export function modularPower(vm: Machine, x: Int, y: Int, z: Int): Int {
  const mod = BigInt(z);
  if (mod === 0n) vm.raise("ValueError", "pow() 3rd argument cannot be 0");
  const size = mod < 0n ? -mod : mod;
  const reduced = (v: bigint): bigint => ((v % size) + size) % size;
  let [base, e] = [reduced(BigInt(x)), BigInt(y)];
  if (e < 0n) {
    const inverse = inverseOf(base, size);
    if (inverse === undefined) return vm.raise("ValueError", "base is not invertible for the given modulus");
    [base, e] = [inverse, -e];
  }
  // a product takes longer the more digits there are
  const steps = 1 + (size.toString(16).length >> 4) ** 2;
  let r = reduced(1n);
  for (; e > 0n; e >>= 1n, base = (base * base) % size) {
    vm.charge(steps);
    if (e & 1n) r = (r * base) % size;
  }
  return normal(mod < 0n && r !== 0n ? r + mod : r);
}

/** the number with which v is 1 modulo m; undefined: they have a divisor in common */
function inverseOf(v: bigint, m: bigint): bigint | undefined {
  let [a, b] = [v, m];
  let [p, q] = [1n, 0n];
  while (b !== 0n) {
    const n = a / b;
    [a, b] = [b, a - n * b];
    [p, q] = [q, p - n * q];
  }
  return a === 1n || m === 1n ? ((p % m) + m) % m : undefined;
}
