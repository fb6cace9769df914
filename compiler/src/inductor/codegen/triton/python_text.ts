// Python literals. In: numbers, names, source text. Out: text that cannot end the literal that it stands in. Comments and
// strings go through fx/py_repr, the one place where the user's text is escaped for Python.
import { commentText, floatRepr, stringRepr } from "../../../fx/py_repr";

export const pythonComment = commentText;
export const pythonFloat = floatRepr;
export const pythonString = stringRepr;

/** Text of a source that is put between ''' and '''. */
export function insideTripleQuotes(text: string): string {
  return text
    .replace(/\\/g, "\\\\")
    .replace(/'''|'(?='?$)/g, quotes => quotes.replace(/'/g, "\\'"))
    .replace(/\r/g, "\\r")
    .replace(/\0/g, "\\x00");
}

/** repr() of an int that may lie beyond 2**53 (the ends of int64 are exact). */
export function pythonInt(v: number): string {
  if (v >= 2 ** 63 && v < 2 ** 63 + 2048) return "9223372036854775807";
  return Number.isSafeInteger(v) ? String(v === 0 ? 0 : v) : BigInt(Math.trunc(v)).toString();
}

/** a float where no name for infinities and nan is in scope */
export function floatText(v: number): string {
  if (Number.isNaN(v)) return "float('nan')";
  if (!Number.isFinite(v)) return v > 0 ? "float('inf')" : "float('-inf')";
  return pythonFloat(v);
}

/** a tuple's text: (a, ), (a, b) */
export function pythonTuple(items: readonly string[]): string {
  return items.length === 1 ? `(${items[0]}, )` : `(${items.join(", ")})`;
}
