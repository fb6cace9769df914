// Reads the type texts of source entries ("f32[8, s0][s0, 1]cuda:0") back into their parts, and counts bytes.
import type { SizeSymbol } from "./model";

export interface TensorText {
  readonly dtype: string;
  readonly shape: readonly string[];
  readonly stride: readonly string[];
  readonly device: string;
}

export function parseTensor(text: string): TensorText | null {
  const match = /^([a-z]\w*)\[(.*)\]\[(.*)\](\w*(?::\d+)?)$/.exec(text);
  if (!match) return null;
  const [, dtype = "", shape = "", stride = "", device = ""] = match;
  return { dtype, shape: items(shape), stride: items(stride), device };
}

/** split at commas that no bracket holds: a size may be Max(1, s0) */
function items(text: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "(" || c === "[") depth++;
    else if (c === ")" || c === "]") depth--;
    else if (c === "," && depth === 0) {
      out.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  const last = text.slice(start).trim();
  return last ? [...out, last] : out;
}

/** "f32[8, 128]": what a hint has room for */
export function shortType(t: TensorText): string {
  return `${t.dtype}[${t.shape.join(", ")}]`;
}

const BITS: Readonly<Record<string, number>> = {
  f64: 64,
  f32: 32,
  f16: 16,
  bf16: 16,
  f8e4m3fn: 8,
  f8e5m2: 8,
  i64: 64,
  i32: 32,
  i16: 16,
  i8: 8,
  u8: 8,
  u16: 16,
  u32: 32,
  u64: 64,
  b8: 8,
  c64: 64,
  c128: 128,
};

/** bytes of a tensor, symbols at their example values; null where a size is no plain number or symbol */
export function bytesOf(t: TensorText, symbols: readonly SizeSymbol[]): number | null {
  const bits = BITS[t.dtype];
  if (bits === undefined) return null;
  return elements(t.shape, symbols, bits / 8);
}

const TORCH_BYTES: Readonly<Record<string, number>> = {
  "torch.float64": 8,
  "torch.float32": 4,
  "torch.float16": 2,
  "torch.bfloat16": 2,
  "torch.int64": 8,
  "torch.int32": 4,
  "torch.int16": 2,
  "torch.uint16": 2,
  "torch.uint32": 4,
  "torch.uint64": 8,
  "torch.complex64": 8,
  "torch.complex128": 16,
};

/** bytes of an input as the report has it ("torch.float32"; one-byte types are the rest) */
export function reportBytes(
  t: { readonly shape: readonly string[]; readonly dtype: string | null },
  symbols: readonly SizeSymbol[],
): number | null {
  return t.dtype === null ? null : elements(t.shape, symbols, TORCH_BYTES[t.dtype] ?? 1);
}

function elements(shape: readonly string[], symbols: readonly SizeSymbol[], size: number): number | null {
  let n = size;
  for (const s of shape) {
    const value = evaluate(s, symbols);
    if (value === null) return null;
    n *= value;
  }
  return n;
}

/** products and sums of numbers and symbols; anything else is null */
function evaluate(text: string, symbols: readonly SizeSymbol[]): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const symbol = symbols.find(s => s.name === text);
  if (symbol) return symbol.value;
  for (const [sign, combine] of [
    [" + ", (a: number, b: number) => a + b],
    ["*", (a: number, b: number) => a * b],
  ] as const) {
    if (!text.includes(sign) || /[()]/.test(text)) continue;
    const parts = text.split(sign).map(p => evaluate(p.trim(), symbols));
    if (parts.every(p => p !== null)) return (parts as number[]).reduce(combine);
  }
  return null;
}
