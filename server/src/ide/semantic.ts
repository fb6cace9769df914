// Semantic tokens of output code: kernels, buffers, inputs, block sizes and Triton's own operations, so that any editor
// colours them alike. In: lines of text. Out: tokens in order, UTF-16 columns. Comments and strings have none.
export const TOKEN_TYPES = ["function", "variable", "parameter", "property", "namespace", "number"] as const;
export const TOKEN_MODIFIERS = ["declaration", "readonly", "defaultLibrary"] as const;

export interface Token {
  /** 0-based */
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly type: (typeof TOKEN_TYPES)[number];
  readonly modifiers: readonly (typeof TOKEN_MODIFIERS)[number][];
}

type Kind = Pick<Token, "type" | "modifiers">;

const RULES: readonly (readonly [RegExp, Kind])[] = [
  [/^(triton_|extern_kernels$)/, { type: "function", modifiers: [] }],
  [/^(buf|tmp)\d+$/, { type: "variable", modifiers: [] }],
  [/^(arg\d+_\d+|primals_\d+|tangents_\d+)$/, { type: "parameter", modifiers: ["readonly"] }],
  [/^(in_ptr|out_ptr|in_out_ptr|ws_ptr|seed_offset|load_seed_offset)\d*$/, { type: "parameter", modifiers: [] }],
  [/^([xyzr]\d*_?numel|ks\d+|s\d+|[XYZR]\d*_?BLOCK)$/, { type: "parameter", modifiers: ["readonly"] }],
  [/^([xyzr]\d*_?(index|mask|offset|base)|[xr]\d+(_\d+)?)$/, { type: "variable", modifiers: ["readonly"] }],
];

const LIBRARY = new Set(["tl", "libdevice", "triton", "triton_helpers", "tl_math", "aten", "torch"]);

export function outputTokens(lines: readonly string[]): Token[] {
  const tokens: Token[] = [];
  let quote: string | null = null;
  lines.forEach((text, line) => {
    let at = 0;
    if (quote !== null) {
      const end = text.indexOf(quote);
      if (end < 0) return;
      at = end + quote.length;
      quote = null;
    }
    while (at < text.length) {
      const rest = text.slice(at);
      if (rest.startsWith("#")) break;
      const string = /^[rbf]*('''|"""|'|")/i.exec(rest);
      if (string) {
        const mark = string[1] ?? "'";
        const end = closing(text, at + string[0].length, mark);
        if (end < 0) {
          if (mark.length === 3) quote = mark;
          break;
        }
        at = end + mark.length;
        continue;
      }
      const word = /^[A-Za-z_]\w*/.exec(rest)?.[0];
      if (word === undefined) {
        // a number's letters (0x1f, 1e5) are no names
        at += /^\d[\w.]*/.exec(rest)?.[0].length ?? 1;
        continue;
      }
      const kind = kindOf(text, at, word);
      if (kind) tokens.push({ line, column: at, length: word.length, ...kind });
      at += word.length;
    }
  });
  return tokens;
}

function closing(text: string, from: number, mark: string): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text.startsWith(mark, i)) return i;
  }
  return -1;
}

function kindOf(text: string, at: number, word: string): Kind | null {
  if (/\bdef\s+$/.test(text.slice(0, at))) return { type: "function", modifiers: ["declaration"] };
  const owner = /(\w+)\.$/.exec(text.slice(0, at))?.[1];
  if (owner !== undefined && LIBRARY.has(owner)) return { type: "function", modifiers: ["defaultLibrary"] };
  if (owner !== undefined) return null;
  if (LIBRARY.has(word)) return { type: "namespace", modifiers: ["defaultLibrary"] };
  return RULES.find(([pattern]) => pattern.test(word))?.[1] ?? null;
}
