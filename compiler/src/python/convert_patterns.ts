// Patterns of `match` to the typed tree. In: the grammar's pattern nodes. Out: Pattern.
import type * as ast from "./ast";
import { toExpr } from "./convert_expressions";
import { only, type Source, textOf, Unreadable } from "./convert_source";
import { fields, named, type RawNode } from "./raw";

export function toPattern(src: Source, n: RawNode): ast.Pattern {
  const span = n.span;
  switch (n.type) {
    case "case_pattern": {
      const inner = named(n)[0];
      if (inner) {
        return negated(n, toPattern(src, inner));
      }
      return { kind: "MatchAs", span, pattern: null, name: null }; // `_`
    }
    case "dotted_name": {
      const parts = named(n);
      const first = parts[0];
      if (!first) throw new Unreadable(n, "invalid pattern");
      const text = textOf(src, n);
      if (parts.length === 1) return { kind: "MatchAs", span, pattern: null, name: text === "_" ? null : text };
      return { kind: "MatchValue", span, value: dotted(src, parts) };
    }
    case "none":
      return { kind: "MatchSingleton", span, value: null };
    case "true":
      return { kind: "MatchSingleton", span, value: true };
    case "false":
      return { kind: "MatchSingleton", span, value: false };
    case "integer":
    case "float":
    case "string":
    case "concatenated_string":
      return { kind: "MatchValue", span, value: toExpr(src, n) };
    case "list_pattern":
      return { kind: "MatchSequence", span, patterns: named(n).map(c => toPattern(src, c)) };
    case "tuple_pattern": {
      const parts = named(n);
      const first = parts[0];
      // (p) is p; (p,) is a sequence
      if (parts.length === 1 && first && !n.children.some(c => c.type === ",")) return toPattern(src, first);
      return { kind: "MatchSequence", span, patterns: parts.map(c => toPattern(src, c)) };
    }
    case "splat_pattern": {
      const name = named(n)[0];
      const text = name ? textOf(src, name) : "_";
      return { kind: "MatchStar", span, name: text === "_" ? null : text };
    }
    case "union_pattern": {
      // `_` among the alternatives is an anonymous child
      const parts = n.children.filter(c => c.type !== "|");
      return {
        kind: "MatchOr",
        span,
        patterns: parts.map(c =>
          c.type === "_" ? { kind: "MatchAs", span: c.span, pattern: null, name: null } : toPattern(src, c),
        ),
      };
    }
    case "as_pattern": {
      const [pattern, name] = named(n);
      if (!pattern || !name) throw new Unreadable(n, "invalid pattern");
      return { kind: "MatchAs", span, pattern: toPattern(src, pattern), name: textOf(src, name) };
    }
    case "class_pattern": {
      const [cls, ...rest] = named(n);
      if (!cls) throw new Unreadable(n, "invalid pattern");
      const patterns: ast.Pattern[] = [];
      const kwdAttrs: string[] = [];
      const kwdPatterns: ast.Pattern[] = [];
      for (const r of rest) {
        // `attr=pattern as name`: the grammar hangs `as` above the keyword
        const inner = r.type === "case_pattern" ? named(r)[0] : r;
        const bound = inner?.type === "as_pattern" ? named(inner) : null;
        const keyword = bound ? caseContent(bound[0]) : inner;
        if (keyword?.type === "keyword_pattern") {
          const [name, value] = named(keyword);
          if (!name) throw new Unreadable(keyword, "invalid pattern");
          kwdAttrs.push(textOf(src, name));
          const pattern = value ? negated(keyword, toPattern(src, value)) : null;
          const as = bound?.[1];
          if (as) kwdPatterns.push({ kind: "MatchAs", span: r.span, pattern, name: textOf(src, as) });
          else kwdPatterns.push(pattern ?? { kind: "MatchAs", span: keyword.span, pattern: null, name: null });
        } else {
          patterns.push(toPattern(src, r));
        }
      }
      return { kind: "MatchClass", span, cls: dotted(src, named(cls)), patterns, kwdAttrs, kwdPatterns };
    }
    case "dict_pattern": {
      const keys = fields(n, "key").map(k => {
        if (k.type === "dotted_name") return dotted(src, named(k));
        return toExpr(src, k);
      });
      const patterns = n.children.filter(c => c.field === "value").map(v => toPattern(src, v));
      const splat = n.children.find(c => c.type === "splat_pattern");
      const rest = splat ? textOf(src, only(splat)) : null;
      return { kind: "MatchMapping", span, keys, patterns, rest };
    }
    case "complex_pattern": {
      // 1 + 2j
      const [re, im] = named(n);
      if (!re || !im) throw new Unreadable(n, "invalid pattern");
      const op = n.children.some(c => c.type === "-") ? "-" : "+";
      return {
        kind: "MatchValue",
        span,
        value: { kind: "BinOp", span, left: toExpr(src, re), op, opSpan: span, right: toExpr(src, im) },
      };
    }
    default:
      throw new Unreadable(n, "invalid pattern");
  }
}

const caseContent = (n: RawNode | undefined): RawNode | undefined => (n?.type === "case_pattern" ? named(n)[0] : n);

/** a minus before a number is a child of what holds the number */
function negated(holder: RawNode, p: ast.Pattern): ast.Pattern {
  if (p.kind !== "MatchValue" || !holder.children.some(c => c.type === "-")) return p;
  const { span } = holder;
  return { kind: "MatchValue", span, value: { kind: "UnaryOp", span, op: "-", operand: p.value } };
}

function dotted(src: Source, parts: readonly RawNode[]): ast.Expr {
  const [first, ...rest] = parts;
  if (!first) throw new Error("a dotted name has a first part");
  return rest.reduce<ast.Expr>(
    (value, p) => ({
      kind: "Attribute",
      span: { ...value.span, endLine: p.span.endLine, endColumn: p.span.endColumn, end: p.span.end },
      value,
      attr: textOf(src, p),
      attrSpan: p.span,
    }),
    { kind: "Name", span: first.span, id: textOf(src, first) },
  );
}
