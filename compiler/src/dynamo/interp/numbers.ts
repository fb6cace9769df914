// Arithmetic of Python numbers: ints of any size, floats, complex, bool as int. In: two plain numbers and an operator.
// Out: the number, undefined if the operands are no numbers; raises ZeroDivisionError and the like.

import { fitsSize, type Int, normal } from "../objects/integers";
import { PyComplex, PyFloat, type Value } from "../objects/values";
import type { BinaryOperator, Interp } from "./api";
import { pow } from "./exact_math";

export { fitsSize, type Int, normal };

export function asInt(v: Value): Int | undefined {
  if (typeof v === "number" || typeof v === "bigint") return v;
  if (typeof v === "boolean") return v ? 1 : 0;
  return undefined;
}

export function asFloat(v: Value): number | undefined {
  if (v instanceof PyFloat) return v.value;
  const i = asInt(v);
  return i === undefined ? undefined : Number(i);
}

export function isNumber(v: Value): boolean {
  return v instanceof PyFloat || v instanceof PyComplex || asInt(v) !== undefined;
}

function intOp(vm: Interp, op: BinaryOperator, a: Int, b: Int): Value | undefined {
  if (typeof a === "number" && typeof b === "number") {
    switch (op) {
      case "+":
      case "-":
      case "*": {
        const r = op === "+" ? a + b : op === "-" ? a - b : a * b;
        if (Number.isSafeInteger(r)) return r === 0 ? 0 : r;
        break;
      }
      case "/":
        if (b === 0) vm.raise("ZeroDivisionError", "division by zero");
        return new PyFloat(a / b);
      case "//":
        if (b === 0) vm.raise("ZeroDivisionError", "integer division or modulo by zero");
        return floorDivide(a, b);
      case "%":
        if (b === 0) vm.raise("ZeroDivisionError", "integer modulo by zero");
        return a - floorDivide(a, b) * b;
      case "**": {
        if (b < 0) {
          if (a === 0) vm.raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
          return new PyFloat(pow(a, b));
        }
        const r = a ** b;
        if (Number.isSafeInteger(r)) return r;
        break;
      }
      case "&":
      case "|":
      case "^":
        if (Math.abs(a) < 2 ** 31 && Math.abs(b) < 2 ** 31) return op === "&" ? a & b : op === "|" ? a | b : a ^ b;
        break;
      case ">>":
        if (b < 0) vm.raise("ValueError", "negative shift count");
        return b > 1000 ? (a < 0 ? -1 : 0) : Math.floor(a / 2 ** b);
      default:
    }
  }
  return bigOp(vm, op, BigInt(a), BigInt(b));
}

function floorDivide(a: number, b: number): number {
  const q = Math.floor(a / b);
  // the quotient of large ints may round; exact where it matters
  if (Math.abs(a) < 2 ** 52) return q === 0 ? 0 : q;
  return Number(bigFloor(BigInt(a), BigInt(b)));
}

function bigFloor(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q;
}

/** raises OverflowError where it is larger than any float */
export function toDouble(vm: Interp, i: Int): number {
  const x = Number(i);
  if (!Number.isFinite(x)) vm.raise("OverflowError", "int too large to convert to float");
  return x;
}

/** rounded once, whatever the sizes of both: 66 bits of the quotient or more, and its exponent */
function quotient(vm: Interp, a: bigint, b: bigint): number {
  const shift = Math.max(0, 130 + bits(b) - bits(a));
  const q = Number((a << BigInt(shift)) / b);
  if (!Number.isFinite(q)) vm.raise("OverflowError", "integer division result too large for a float");
  return q * 2 ** -shift;
}

/** of one integer; a product of two such takes some milliseconds */
const MAX_BITS = 1_000_000;

function bits(n: bigint): number {
  if (n < 18446744073709551616n && n > -18446744073709551616n) return 64;
  return 4 * n.toString(16).length;
}

function bigOp(vm: Interp, op: BinaryOperator, a: bigint, b: bigint): Value | undefined {
  switch (op) {
    case "+":
      return normal(a + b);
    case "-":
      return normal(a - b);
    case "*":
      if (bits(a) + bits(b) > MAX_BITS) vm.raise("MemoryError", "an integer of more digits than the analysis makes");
      return normal(a * b);
    case "/":
      if (b === 0n) vm.raise("ZeroDivisionError", "division by zero");
      return new PyFloat(quotient(vm, a, b));
    case "//":
      if (b === 0n) vm.raise("ZeroDivisionError", "integer division or modulo by zero");
      return normal(bigFloor(a, b));
    case "%":
      if (b === 0n) vm.raise("ZeroDivisionError", "integer modulo by zero");
      return normal(a - bigFloor(a, b) * b);
    case "**":
      if (b < 0n) return new PyFloat(pow(toDouble(vm, a), toDouble(vm, b)));
      if (a !== 0n && a !== 1n && a !== -1n && BigInt(bits(a)) * b > BigInt(MAX_BITS))
        vm.raise("MemoryError", "an integer of more digits than the analysis makes");
      return normal(a ** b);
    case "<<":
      if (b < 0n) vm.raise("ValueError", "negative shift count");
      if (a === 0n) return 0;
      if (!fitsSize(b)) vm.raise("OverflowError", "too many digits in integer");
      if (BigInt(bits(a)) + b > BigInt(MAX_BITS))
        vm.raise("MemoryError", "an integer of more digits than the analysis makes");
      return normal(a << b);
    case ">>":
      if (b < 0n) vm.raise("ValueError", "negative shift count");
      return b > BigInt(MAX_BITS) ? (a < 0n ? -1 : 0) : normal(a >> b);
    case "&":
      return normal(a & b);
    case "|":
      return normal(a | b);
    case "^":
      return normal(a ^ b);
    default:
      return undefined;
  }
}

/** Python's modulo: the sign of the divisor */
function floatMod(a: number, b: number): number {
  const r = a % b;
  return r !== 0 && r < 0 !== b < 0 ? r + b : r;
}

function floatOp(vm: Interp, op: BinaryOperator, a: number, b: number): Value | undefined {
  switch (op) {
    case "+":
      return new PyFloat(a + b);
    case "-":
      return new PyFloat(a - b);
    case "*":
      return new PyFloat(a * b);
    case "/":
      if (b === 0) vm.raise("ZeroDivisionError", "float division by zero");
      return new PyFloat(a / b);
    case "//":
      if (b === 0) vm.raise("ZeroDivisionError", "float floor division by zero");
      return new PyFloat(Math.floor(a / b));
    case "%":
      if (b === 0) vm.raise("ZeroDivisionError", "float modulo");
      return new PyFloat(floatMod(a, b));
    case "**": {
      if (a === 0 && b < 0) vm.raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
      if (a < 0 && !Number.isInteger(b)) {
        const r = (-a) ** b;
        return new PyComplex(r * Math.cos(Math.PI * b), r * Math.sin(Math.PI * b));
      }
      const r = a === 1 || b === 0 ? 1 : pow(a, b);
      if (!Number.isFinite(r) && Number.isFinite(a) && Number.isFinite(b))
        vm.raise("OverflowError", "(34, 'Numerical result out of range')");
      return new PyFloat(r);
    }
    default:
      return undefined;
  }
}

function complexOp(vm: Interp, op: BinaryOperator, a: PyComplex, b: PyComplex): Value | undefined {
  switch (op) {
    case "+":
      return new PyComplex(a.re + b.re, a.im + b.im);
    case "-":
      return new PyComplex(a.re - b.re, a.im - b.im);
    case "*":
      return new PyComplex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    case "/": {
      const d = b.re * b.re + b.im * b.im;
      if (d === 0) vm.raise("ZeroDivisionError", "complex division by zero");
      return new PyComplex((a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d);
    }
    case "**": {
      const r = Math.hypot(a.re, a.im);
      if (r === 0) return new PyComplex(0, 0);
      const t = Math.atan2(a.im, a.re);
      const scale = r ** b.re * Math.exp(-b.im * t);
      const angle = b.re * t + b.im * Math.log(r);
      return new PyComplex(scale * Math.cos(angle), scale * Math.sin(angle));
    }
    default:
      return undefined;
  }
}

const toComplex = (v: Value): PyComplex | undefined => {
  if (v instanceof PyComplex) return v;
  const f = asFloat(v);
  return f === undefined ? undefined : new PyComplex(f, 0);
};

/** round half to even to `digits` places before the point */
export function roundInteger(i: Int, digits: number): Int {
  const scale = 10n ** BigInt(digits);
  const n = BigInt(i);
  const down = bigFloor(n, scale);
  const twice = 2n * (n - down * scale);
  const up = twice > scale || (twice === scale && down % 2n !== 0n);
  return normal((up ? down + 1n : down) * scale);
}

export function numberOp(vm: Interp, op: BinaryOperator, a: Value, b: Value): Value | undefined {
  if (typeof a === "boolean" && typeof b === "boolean") {
    if (op === "&") return a && b;
    if (op === "|") return a || b;
    if (op === "^") return a !== b;
  }
  const [ia, ib] = [asInt(a), asInt(b)];
  if (ia !== undefined && ib !== undefined) return intOp(vm, op, ia, ib);
  const [fa, fb] = [asFloat(a), asFloat(b)];
  if (fa !== undefined && fb !== undefined) {
    for (const i of [ia, ib]) if (i !== undefined) toDouble(vm, i);
    return floatOp(vm, op, fa, fb);
  }
  const [ca, cb] = [toComplex(a), toComplex(b)];
  if (ca && cb) return complexOp(vm, op, ca, cb);
  return undefined;
}

const real = (v: Value): Int | undefined => (v instanceof PyFloat ? v.value : asInt(v));

/** negative, zero or positive; undefined for NaN or operands without order */
export function compareNumbers(a: Value, b: Value): number | undefined {
  // a bigint and a number are compared exactly, as Python compares an int and a float
  const [x, y] = [real(a), real(b)];
  if (x === undefined || y === undefined || Number.isNaN(x) || Number.isNaN(y)) return undefined;
  return x < y ? -1 : x > y ? 1 : 0;
}

/** round half to even, to `digits` decimal places */
export function roundHalfEven(x: number, digits: number): number {
  if (!Number.isFinite(x)) return x;
  if (digits > 15) return x;
  if (digits <= 0) {
    const scale = 10 ** -digits;
    const q = x / scale;
    const f = Math.floor(q);
    const d = q - f;
    const r = d < 0.5 ? f : d > 0.5 ? f + 1 : f % 2 === 0 ? f : f + 1;
    return r * scale;
  }
  const places = Math.min(digits, 15);
  return Math.sign(x) * (halfTie(Math.abs(x), places) ?? Number(Math.abs(x).toFixed(places)));
}

/** exact ties of binary fractions: toFixed rounds them up, Python to even; toFixed writes a double's exact digits */
function halfTie(a: number, places: number): number | undefined {
  if (a >= 2 ** 52) return a;
  const exact = a.toFixed(Math.min(100, places + 60));
  const dot = exact.indexOf(".") + 1 + places;
  if (!/^50*$/.test(exact.slice(dot))) return undefined;
  const kept = exact.slice(0, dot);
  const even = Number(kept[kept.length - 1] === "." ? kept[kept.length - 2] : kept[kept.length - 1]) % 2 === 0;
  return even ? Number(kept) : Number(a.toFixed(places));
}
