// String literals, joined ones and f-strings. In: the nodes of a string's parts. Out: a constant or a joined string; throws
// Unreadable as convert_expressions.ts does.
import type * as ast from "./ast";
import { need, type Source, textOf, Unreadable } from "./convert_source";
import { decodeEscapes, stringPrefix, toBytes } from "./literals";
import { field, joinSpans, type RawNode } from "./raw";

/** converts an expression that stands within a string */
type Convert = (src: Source, n: RawNode) => ast.Expr;

/** the literals that stand side by side as one */
export function strings(src: Source, parts: readonly RawNode[], span: ast.Span, toExpr: Convert): ast.Expr {
  const values: (ast.Constant | ast.FormattedValue)[] = [];
  let anyFormat = false;
  let bytes = false;
  const literal = (value: string, at: ast.Span): void => {
    const last = values[values.length - 1];
    if (last?.kind === "Constant" && last.value.type === "str") {
      const joined = last.value.value + value;
      values[values.length - 1] = {
        kind: "Constant",
        span: joinSpans(last.span, at),
        value: { type: "str", value: joined },
      };
    } else if (value !== "") {
      values.push({ kind: "Constant", span: at, value: { type: "str", value } });
    }
  };
  for (const part of parts) {
    if (part.type !== "string") throw new Unreadable(part, "invalid string");
    const start = part.children[0];
    const opening = start ? textOf(src, start) : '"';
    // Python 2's ur"" and backquotes are strings to the grammar
    if (!/^(?:[bu]|[fr]|rb|br|rf|fr)?["']/i.test(opening)) throw new Unreadable(part, "invalid syntax");
    const prefix = stringPrefix(opening);
    anyFormat ||= prefix.format;
    bytes ||= prefix.bytes;
    for (const c of part.children) {
      if (c.type === "string_content") {
        const raw = textOf(src, c).replace(/\r\n?/g, "\n");
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
        if (prefix.bytes && /[^\x00-\x7f]/.test(raw))
          throw new Unreadable(c, "bytes can only contain ASCII literal characters");
        const braces = prefix.format ? raw.replace(/\{\{/g, "{").replace(/\}\}/g, "}") : raw;
        literal(prefix.raw ? braces : decodeEscapes(braces, prefix.bytes), c.span);
      } else if (c.type === "interpolation") {
        formatted(src, c, toExpr, literal, v => values.push(v));
      } else if (c.type !== "string_start" && c.type !== "string_end") {
        throw new Unreadable(c, "invalid string");
      }
    }
  }
  if (anyFormat) return { kind: "JoinedStr", span, values };
  const whole = values[0];
  const text = whole?.kind === "Constant" && whole.value.type === "str" ? whole.value.value : "";
  if (bytes) return { kind: "Constant", span, value: { type: "bytes", value: toBytes(text) } };
  return { kind: "Constant", span, value: { type: "str", value: text } };
}

function formatted(
  src: Source,
  n: RawNode,
  toExpr: Convert,
  literal: (value: string, at: ast.Span) => void,
  push: (v: ast.FormattedValue) => void,
): void {
  const inner = need(n, "expression");
  const value = toExpr(src, inner);
  const conversionNode = field(n, "type_conversion");
  const specNode = field(n, "format_specifier");
  const letter = conversionNode ? textOf(src, conversionNode).slice(1) : null;
  let conversion: ast.FormattedValue["conversion"] = letter === "r" || letter === "s" || letter === "a" ? letter : null;
  // f"{x=}" writes the expression's text, then its repr
  const equals = n.children.find(c => c.type === "=");
  if (equals) {
    literal(src.text.slice(inner.span.start + src.base, equals.span.end + src.base), inner.span);
    if (!conversion && !specNode) conversion = "r";
  }
  push({
    kind: "FormattedValue",
    span: n.span,
    value,
    conversion,
    formatSpec: specNode ? formatSpec(src, specNode, toExpr) : null,
  });
}

function formatSpec(src: Source, n: RawNode, toExpr: Convert): ast.JoinedStr {
  const values: (ast.Constant | ast.FormattedValue)[] = [];
  let at = n.span.start + 1; // after the colon
  const literal = (to: number): void => {
    if (to > at) {
      const value = src.text.slice(at + src.base, to + src.base);
      values.push({ kind: "Constant", span: n.span, value: { type: "str", value } });
    }
  };
  for (const c of n.children) {
    if (c.type !== "format_expression" && c.type !== "interpolation") continue;
    literal(c.span.start);
    formatted(
      src,
      c,
      toExpr,
      () => {},
      v => values.push(v),
    );
    at = c.span.end;
  }
  literal(n.span.end);
  return { kind: "JoinedStr", span: n.span, values };
}
