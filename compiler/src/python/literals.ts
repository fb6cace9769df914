// Literal text of numbers and strings to their values. In: source text of one token. Out: values; never throws: text
// that Python would refuse yields undefined.
import type { ConstantValue } from "./ast";

export function parseNumber(text: string): ConstantValue | undefined {
  const t = text.replace(/_/g, "").toLowerCase();
  if (/^0\d*[1-9]\d*$/.test(t) || /__|_$/.test(text)) return undefined; // 08; 1__0
  if (/^0[xob]/.test(t) || /^\d+$/.test(t)) {
    const digits = /^0\d/.test(t) ? t.replace(/^0+(?=\d)/, "") : t;
    if (!/^(0x[0-9a-f]+|0o[0-7]+|0b[01]+|\d+)$/.test(digits)) return undefined;
    const big = BigInt(digits);
    const value = big <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(big) : big;
    return { type: "int", value };
  }
  if (t.endsWith("j")) {
    const value = Number(t.slice(0, -1));
    return Number.isNaN(value) ? undefined : { type: "imaginary", value };
  }
  const value = Number(t);
  return Number.isNaN(value) ? undefined : { type: "float", value };
}

export interface StringPrefix {
  readonly raw: boolean;
  readonly bytes: boolean;
  readonly format: boolean;
}

/** of a string_start token: `rb"`, `f'''` */
export function stringPrefix(start: string): StringPrefix {
  const letters = start.replace(/["']+$/, "").toLowerCase();
  return { raw: letters.includes("r"), bytes: letters.includes("b"), format: letters.includes("f") };
}

const SIMPLE: Readonly<Record<string, string>> = {
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const NAMED: Readonly<Record<string, string>> = {
  BULLET: "\u2022",
  "RIGHTWARDS ARROW": "\u2192",
  "EM DASH": "\u2014",
  "EN DASH": "\u2013",
  "GREEK SMALL LETTER MU": "\u03bc",
  "DEGREE SIGN": "\u00b0",
  "MULTIPLICATION SIGN": "\u00d7",
};

/** replaces backslash escapes; unknown ones stay as written, as Python leaves them */
export function decodeEscapes(text: string, bytes: boolean): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(\r\n|\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[\s\S])/g,
    (whole: string, e: string) => {
      if (e === "\n" || e === "\r\n") return "";
      if (/^[0-7]/.test(e)) return String.fromCharCode(Number.parseInt(e, 8));
      if (e[0] === "x" && e.length === 3) return String.fromCharCode(Number.parseInt(e.slice(1), 16));
      if (!bytes && e[0] === "u" && e.length === 5) return String.fromCharCode(Number.parseInt(e.slice(1), 16));
      if (!bytes && e[0] === "U" && e.length === 9) {
        const code = Number.parseInt(e.slice(1), 16);
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      }
      if (!bytes && e[0] === "N" && e.length > 1) return NAMED[e.slice(2, -1)] ?? whole;
      return SIMPLE[e] ?? whole;
    },
  );
}

export function toBytes(text: string): Uint8Array {
  return Uint8Array.from(text, c => c.charCodeAt(0) & 0xff);
}
