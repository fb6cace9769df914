// How values are written: repr, str, and format specifications. In: plain values. Out: the text CPython gives.
import {
  PyBytes,
  PyClass,
  PyComplex,
  PyDict,
  PyFloat,
  PyInstance,
  PyList,
  PyRange,
  PySet,
  PySlice,
  PyTuple,
  type Value,
} from "../objects/values";
import type { Interp } from "./api";
import { asFloat, asInt, roundHalfEven, toDouble } from "./numbers";

/** repr of a float: the shortest digits, an exponent outside 1e-4 .. 1e16 */
export function floatText(x: number): string {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (Object.is(x, -0)) return "-0.0";
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-4 || a >= 1e16)) {
    const [m = "", e = "0"] = x.toExponential().split("e");
    const exp = Number(e);
    return `${m}e${exp < 0 ? "-" : "+"}${String(Math.abs(exp)).padStart(2, "0")}`;
  }
  const s = a >= 1e16 ? BigInt(x).toString() : String(x);
  if (s.includes("e")) return Number(x).toFixed(20).replace(/0+$/, "");
  return s.includes(".") ? s : `${s}.0`;
}

function complexText(c: PyComplex): string {
  const part = (x: number): string => floatText(x).replace(/\.0$/, "");
  const im = `${part(c.im)}j`;
  if (c.re === 0 && !Object.is(c.re, -0)) return im;
  return `(${part(c.re)}${c.im < 0 || Object.is(c.im, -0) ? "" : "+"}${im})`;
}

export function stringRepr(s: string): string {
  const quote = s.includes("'") && !s.includes('"') ? '"' : "'";
  let out = quote;
  for (const c of s) {
    if (c === quote || c === "\\") out += `\\${c}`;
    else if (c === "\n") out += "\\n";
    else if (c === "\r") out += "\\r";
    else if (c === "\t") out += "\\t";
    else if (c < " " || c === "\x7f") out += `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
    else out += c;
  }
  return out + quote;
}

function bytesRepr(data: Uint8Array): string {
  let body = "";
  for (const b of data) {
    if (b === 0x5c || b === 0x27) body += `\\${String.fromCharCode(b)}`;
    else if (b === 10) body += "\\n";
    else if (b === 13) body += "\\r";
    else if (b === 9) body += "\\t";
    else if (b < 32 || b > 126) body += `\\x${b.toString(16).padStart(2, "0")}`;
    else body += String.fromCharCode(b);
  }
  return `b'${body}'`;
}

/** decimal digits that Python turns numbers into texts with, and back; more take long */
export const MOST_DIGITS = 4300;

export function digitsOf(vm: Interp, i: bigint): string {
  if (i > BIGGEST || i < -BIGGEST)
    vm.raise(
      "ValueError",
      `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit`,
    );
  return String(i);
}

const BIGGEST = 10n ** BigInt(MOST_DIGITS) - 1n;

/** containers whose text is being made: one that holds itself is written as dots there */
const open = new Set<Value>();

function within(v: Value, dots: string, text: () => string): string {
  if (open.has(v)) return dots;
  open.add(v);
  try {
    return text();
  } finally {
    open.delete(v);
  }
}

/** plain values and containers; undefined for what has a __repr__ of its own to be asked */
export function plainRepr(vm: Interp, v: Value): string | undefined {
  vm.tick();
  if (v === null) return "None";
  if (typeof v === "string") return stringRepr(v);
  if (typeof v === "boolean") return v ? "True" : "False";
  if (typeof v === "number") return String(v);
  if (typeof v === "bigint") return digitsOf(vm, v);
  if (v instanceof PyFloat) return floatText(v.value);
  if (v instanceof PyComplex) return complexText(v);
  if (v instanceof PyTuple) {
    const inner = v.items.map(x => vm.repr(x));
    return `(${inner.join(", ")}${inner.length === 1 ? "," : ""})`;
  }
  if (v instanceof PyList) return within(v, "[...]", () => `[${v.items.map(x => vm.repr(x)).join(", ")}]`);
  if (v instanceof PyDict) {
    const pairs = (): string[] => v.entries().map(([k, x]) => `${vm.repr(k)}: ${vm.repr(x)}`);
    return within(v, "{...}", () => `{${pairs().join(", ")}}`);
  }
  if (v instanceof PySet) {
    const inner = [...v.entries.values()].map(x => vm.repr(x)).join(", ");
    if (v.frozen) return inner ? `frozenset({${inner}})` : "frozenset()";
    return inner ? `{${inner}}` : "set()";
  }
  if (v instanceof PyRange)
    return v.step === 1 ? `range(${v.start}, ${v.stop})` : `range(${v.start}, ${v.stop}, ${v.step})`;
  if (v instanceof PySlice) return `slice(${vm.repr(v.start)}, ${vm.repr(v.stop)}, ${vm.repr(v.step)})`;
  if (v instanceof PyBytes) return bytesRepr(v.data);
  if (v instanceof PyClass) {
    return `<class '${v.module === "builtins" ? "" : `${v.module}.`}${v.qualname}'>`;
  }
  if (v instanceof PyInstance && v.payload !== undefined) return plainRepr(vm, v.payload);
  return undefined;
}

// ---- format specifications

/** what JavaScript's own number formatting takes */
const MAX_PRECISION = 100;

interface Spec {
  fill: string;
  align: string;
  sign: string;
  alt: boolean;
  width: number;
  comma: string;
  precision: number | null;
  type: string;
}

function parseSpec(vm: Interp, text: string): Spec {
  const m = /^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/su.exec(text);
  if (!m) return vm.raise("ValueError", `Invalid format specifier '${text}'`);
  const zero = m[5] !== undefined;
  vm.room(Number(m[6] ?? 0));
  if (Number(m[8] ?? 0) > MAX_PRECISION) vm.raise("ValueError", "Too many decimal digits in format string");
  return {
    fill: m[1] ?? (zero && !m[2] ? "0" : " "),
    align: m[2] ?? (zero ? "=" : ""),
    sign: m[3] ?? "-",
    alt: m[4] !== undefined,
    width: Number(m[6] ?? 0),
    comma: m[7] ?? "",
    precision: m[8] === undefined ? null : Number(m[8]),
    type: m[9] ?? "",
  };
}

function pad(body: string, sign: string, spec: Spec, defaultAlign: string): string {
  const align = spec.align || defaultAlign;
  const missing = spec.width - [...body].length - sign.length;
  if (missing <= 0) return sign + body;
  if (align === "=") return sign + spec.fill.repeat(missing) + body;
  if (align === "<") return sign + body + spec.fill.repeat(missing);
  if (align === "^") {
    const left = Math.floor(missing / 2);
    return spec.fill.repeat(left) + sign + body + spec.fill.repeat(missing - left);
  }
  return spec.fill.repeat(missing) + sign + body;
}

const group = (digits: string, separator: string): string =>
  separator ? digits.replace(/\B(?=(\d{3})+(?!\d))/g, separator) : digits;

export function formatValue(vm: Interp, v: Value, text: string): string | undefined {
  if (typeof v === "string") {
    const spec = parseSpec(vm, text);
    const body = spec.precision === null ? v : [...v].slice(0, spec.precision).join("");
    return pad(body, "", spec, "<");
  }
  if (text === "") return undefined;
  const i = asInt(v);
  if (i !== undefined && (typeof v !== "boolean" || /[bcdeEfFgGnoxX%]$/.test(text))) {
    return formatInt(vm, i, parseSpec(vm, text));
  }
  const f = asFloat(v);
  if (f !== undefined && typeof v !== "boolean") return formatFloat(f, parseSpec(vm, text));
  return undefined;
}

function formatInt(vm: Interp, i: number | bigint, spec: Spec): string {
  if (/[eEfFgG%]/.test(spec.type)) return formatFloat(toDouble(vm, i), spec);
  if (spec.type === "c") return pad(String.fromCodePoint(Number(i)), "", spec, "<");
  if (spec.type === "s") return vm.raise("ValueError", "Unknown format code 's' for object of type 'int'");
  const radix = { b: 2, o: 8, x: 16, X: 16 }[spec.type] ?? 10;
  const magnitude = i < 0 ? -i : i;
  let digits = magnitude.toString(radix);
  if (spec.type === "X") digits = digits.toUpperCase();
  if (radix === 10) digits = group(digits, spec.comma);
  const prefix = spec.alt && radix !== 10 ? `0${spec.type}` : "";
  return pad(digits, signOf(i < 0, spec) + prefix, spec, ">");
}

function signOf(negative: boolean, spec: Spec): string {
  return negative ? "-" : spec.sign === "+" ? "+" : spec.sign === " " ? " " : "";
}

function formatFloat(x: number, spec: Spec): string {
  const negative = x < 0 || Object.is(x, -0);
  const a = Math.abs(x);
  const sign = signOf(negative, spec);
  if (!Number.isFinite(a)) return pad(Number.isNaN(a) ? "nan" : "inf", Number.isNaN(a) ? "" : sign, spec, ">");
  let body: string;
  const exponent = (s: string): string => s.replace(/e([+-])(\d)$/, "e$10$2");
  switch (spec.type.toLowerCase()) {
    case "e":
      body = exponent(a.toExponential(spec.precision ?? 6));
      break;
    case "f":
      body = fixed(a, spec.precision ?? 6);
      break;
    case "%":
      body = `${fixed(a * 100, spec.precision ?? 6)}%`;
      break;
    case "g":
    case "n":
      body = general(a, spec.precision ?? 6, spec.alt);
      break;
    default:
      body = spec.precision === null ? floatText(a) : general(a, spec.precision, false, true);
  }
  if (spec.type === "E" || spec.type === "G") body = body.toUpperCase();
  if (spec.comma) {
    const [whole = "", ...rest] = body.split(/(?=[.e%])/);
    body = group(whole, spec.comma) + rest.join("");
  }
  return pad(body, sign, spec, ">");
}

function fixed(a: number, digits: number): string {
  if (a >= 1e21) return `${BigInt(Math.round(a))}${digits ? `.${"0".repeat(digits)}` : ""}`;
  const rounded = roundHalfEven(a, digits);
  return rounded.toFixed(digits);
}

/** %g; `repr` keeps a trailing ".0" as an empty type code with a precision does */
function general(a: number, precision: number, alt: boolean, repr = false): string {
  const p = precision === 0 ? 1 : precision;
  if (a === 0) return repr ? "0.0" : "0";
  const exp = Number(a.toExponential(p - 1).split("e")[1]);
  if (exp < -4 || exp >= p) {
    let [m = "", e = ""] = a.toExponential(p - 1).split("e");
    if (!alt) m = m.includes(".") ? m.replace(/\.?0+$/, "") : m;
    const n = Number(e);
    e = `${n < 0 ? "-" : "+"}${String(Math.abs(n)).padStart(2, "0")}`;
    return `${m}e${e}`;
  }
  let s = a.toFixed(Math.max(p - 1 - exp, 0));
  if (!alt && s.includes(".")) s = s.replace(/\.?0+$/, "");
  return repr && !s.includes(".") ? `${s}.0` : s;
}

/** "..." % values */
export function percentFormat(vm: Interp, format: string, values: Value): string {
  const args = values instanceof PyTuple ? [...values.items] : [values];
  let next = 0;
  const take = (): Value => {
    const v = args[next++];
    return v === undefined ? vm.raise("TypeError", "not enough arguments for format string") : v;
  };
  const pattern = /%(?:\((\w+)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?[hlL]?([diouxXeEfFgGcrsa%])/g;
  return format.replace(pattern, (_, key, flags, width, precision, type) => {
    if (type === "%") return "%";
    const w = width === "*" ? vm.index(take()) : Number(width ?? 0);
    const p = precision === "*" ? vm.index(take()) : precision === undefined ? null : Number(precision);
    vm.room(w);
    if (p !== null && p > MAX_PRECISION && !"sra".includes(type))
      vm.raise("ValueError", "Too many decimal digits in format string");
    const v = key !== undefined ? vm.getitem(values, key) : take();
    const left = flags.includes("-");
    if (type === "s" || type === "r" || type === "a") {
      let s = type === "s" ? vm.str(v) : vm.repr(v);
      if (p !== null) s = s.slice(0, p);
      return left ? s.padEnd(w) : s.padStart(w);
    }
    if (type === "c") return typeof v === "string" ? v : String.fromCodePoint(vm.index(v));
    const sign = flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
    const zero = flags.includes("0") && !left ? "0" : "";
    const align = left ? "<" : "";
    const integer = "diouxX".includes(type);
    const code = integer ? (type === "i" || type === "u" ? "d" : type) : type;
    const dot = !integer && p !== null ? `.${p}` : "";
    const number = integer && v instanceof PyFloat ? Math.trunc(v.value) : v;
    const spec = `${align}${sign}${flags.includes("#") ? "#" : ""}${zero}${w || ""}${dot}${code}`;
    return vm.format(number, spec);
  });
}
