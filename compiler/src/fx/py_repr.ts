// Python's repr of constants, as graph prints show them. In: constants of graph arguments. Out: Python text.

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** repr(float); infinities and nan bare, as graph prints name them */
export function floatRepr(x: number): string {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (Object.is(x, -0)) return "-0.0";
  // The shortest digits that read back are the same in both languages; only the switch to exponents differs.
  const [mantissa = "", exponentText = "0"] = x.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, "0");
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
  }
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** repr(complex) */
export function complexRepr(re: number, im: number): string {
  const part = (x: number): string => floatRepr(x).replace(/\.0$/, "");
  if (re === 0 && !Object.is(re, -0)) return `${part(im)}j`;
  return `(${part(re)}${im >= 0 || Number.isNaN(im) ? "+" : ""}${part(im)}j)`;
}

/** repr(str) */
export function stringRepr(s: string): string {
  const quote = s.includes("'") && !s.includes('"') ? '"' : "'";
  let out = quote;
  for (const c of s) {
    const code = c.codePointAt(0) ?? 0;
    if (c === quote) out += `\\${c}`;
    else if (c in ESCAPES) out += ESCAPES[c];
    else if (code < 0x20 || (code >= 0x7f && code < 0xa1)) out += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code === 0x2028 || code === 0x2029) out += `\\u${code.toString(16)}`;
    else out += c;
  }
  return out + quote;
}

/** text from the user inside a Python comment: one line, no characters that Python takes for a line's end */
export function commentText(s: string): string {
  if (!breaksLine(s)) return s;
  let out = "";
  for (const c of s) {
    const code = c.codePointAt(0) ?? 0;
    out += endsLine(code) ? `\\x${code.toString(16).padStart(2, "0")}` : c;
  }
  return out;
}

const endsLine = (code: number): boolean =>
  (code < 0x20 && code !== 0x09) || code === 0x85 || code === 0x2028 || code === 0x2029;

function breaksLine(s: string): boolean {
  for (let i = 0; i < s.length; i++) if (endsLine(s.charCodeAt(i))) return true;
  return false;
}
