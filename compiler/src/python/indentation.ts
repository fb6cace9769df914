// Indentation that Python refuses and the grammar lets pass: it takes a line of another depth into the block above it.
// In: text and the statements read from it. Out: problems with places. Depths are counted as CPython's tokenizer does it.
import type * as ast from "./ast";

/** how far a line is indented: with tabs to every eighth column, and with tabs of one */
interface Depth {
  readonly column: number;
  readonly narrow: number;
}

function depthOf(prefix: string): Depth {
  let column = 0;
  let narrow = 0;
  for (const c of prefix) {
    if (c === "\f") column = narrow = 0;
    else {
      column = c === "\t" ? (Math.floor(column / 8) + 1) * 8 : column + 1;
      narrow++;
    }
  }
  return { column, narrow };
}

/** the white space before a place, or null where something else stands there in its (logical) line */
function prefixBefore(text: string, at: number): string | null {
  const from = text.lastIndexOf("\n", at - 1) + 1;
  const prefix = text.slice(from, at);
  if (!/^[ \t\f\ufeff]*$/.test(prefix)) return null;
  return from > 0 && /\\\r?$/.test(text.slice(Math.max(0, from - 3), from - 1)) ? null : prefix.replace("\ufeff", "");
}

const lineDepth = (text: string, at: number): Depth => {
  const from = text.lastIndexOf("\n", at - 1) + 1;
  return depthOf(/^[ \t\f]*/.exec(text.slice(from, at))?.[0] ?? "");
};

const INCONSISTENT = "inconsistent use of tabs and spaces in indentation";

/** a statement of the file itself that does not begin its line in column 0 */
export function topLevelProblem(text: string, span: ast.Span): ast.SyntaxProblem | null {
  const prefix = prefixBefore(text, span.start);
  if (prefix === null || depthOf(prefix).column === 0) return null;
  const before = text.slice(0, span.start - prefix.length).trimEnd();
  const above = lineDepth(before, before.length).column;
  const dedent = above > depthOf(prefix).column;
  return { span, message: dedent ? "unindent does not match any outer indentation level" : "unexpected indent" };
}

const HEADERS: Partial<Record<ast.Stmt["kind"], string>> = {
  FunctionDef: "function definition",
  ClassDef: "class definition",
  If: "'if' statement",
  For: "'for' statement",
  While: "'while' statement",
  With: "'with' statement",
  Try: "'try' statement",
};

/** problems of the blocks of one statement; the first one found ends the search, as what follows may come of it */
export function indentationProblem(text: string, statement: ast.Stmt): ast.SyntaxProblem | null {
  return new Blocks(text).below(statement);
}

class Blocks {
  constructor(private readonly text: string) {}

  below(s: ast.Stmt): ast.SyntaxProblem | null {
    const outer = lineDepth(this.text, s.span.start);
    const what = HEADERS[s.kind];
    if (what && "body" in s && s.body.length === 0) return missing(s.span, what);
    switch (s.kind) {
      case "FunctionDef":
      case "ClassDef":
      case "With":
        return this.block(s.body, outer);
      case "For":
      case "While":
        return this.block(s.body, outer) ?? this.block(s.orelse, outer);
      case "If": {
        const [next] = s.orelse;
        const chained = s.orelse.length === 1 && next?.kind === "If" && this.text.startsWith("elif", next.span.start);
        return this.block(s.body, outer) ?? (chained ? this.below(next) : this.block(s.orelse, outer));
      }
      case "Try": {
        let found = this.block(s.body, outer);
        for (const h of s.handlers) {
          found ??= h.body.length === 0 ? missing(h.span, "'except' statement") : this.block(h.body, outer);
        }
        return found ?? this.block(s.orelse, outer) ?? this.block(s.finalbody, outer);
      }
      case "Match": {
        for (const c of s.cases) {
          if (c.body.length === 0) return missing(c.pattern.span, "'case' statement");
          const found = this.block(c.body, lineDepth(this.text, c.pattern.span.start));
          if (found) return found;
        }
        return null;
      }
      default:
        return null;
    }
  }

  private block(body: readonly ast.Stmt[], outer: Depth): ast.SyntaxProblem | null {
    const [first] = body;
    if (!first) return null;
    let inner: Depth | null = null;
    for (const s of body) {
      const found = this.placed(s, s === first, outer, inner) ?? this.below(s);
      if (found) return found;
      const prefix = inner ? null : prefixBefore(this.text, s.span.start);
      if (prefix !== null) inner = depthOf(prefix);
    }
    return null;
  }

  /** `inner`: of the block's first line, null while none of its statements has begun a line */
  private placed(s: ast.Stmt, first: boolean, outer: Depth, inner: Depth | null): ast.SyntaxProblem | null {
    const prefix = prefixBefore(this.text, s.span.start);
    if (prefix === null) return null;
    const own = depthOf(prefix);
    if (first) {
      if (own.column > outer.column && own.narrow > outer.narrow) return null;
      const tabs = own.column > outer.column || own.narrow > outer.narrow;
      return { span: s.span, message: tabs ? INCONSISTENT : "expected an indented block" };
    }
    // a block that began beside its header has one line
    if (!inner) return { span: s.span, message: "unexpected indent" };
    if (own.column === inner.column && own.narrow === inner.narrow) return null;
    if (own.column === inner.column || own.narrow === inner.narrow) return { span: s.span, message: INCONSISTENT };
    const deeper = own.column > inner.column;
    return {
      span: s.span,
      message: deeper ? "unexpected indent" : "unindent does not match any outer indentation level",
    };
  }
}

function missing(span: ast.Span, header: string): ast.SyntaxProblem {
  return { span, message: `expected an indented block after ${header}` };
}
