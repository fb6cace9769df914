// Statements of the concrete tree to the typed one. In: RawNode of a statement or block. Out: Stmt[] and the problems
// found; a statement that has no reading becomes an Error statement, so its neighbours still stand.
import type * as ast from "./ast";
import { isOperator, toArguments, toCallArguments, toExpr } from "./convert_expressions";
import { toPattern } from "./convert_patterns";
import { need, only, type Source, textOf, Unreadable } from "./convert_source";
import { indentationProblem } from "./indentation";
import { field, fields, named, type RawNode } from "./raw";
import { refusedIn } from "./refused";

export interface Converted {
  readonly body: readonly ast.Stmt[];
  readonly problems: readonly ast.SyntaxProblem[];
}

/** `a as x`, and the last operand of `(a if p else b as x)`, whose name is the whole's in a with statement */
function lastAs(value: RawNode): RawNode | undefined {
  if (value.type === "as_pattern") return value;
  const last = /^(parenthesized|conditional)_expression$/.test(value.type) ? named(value).at(-1) : undefined;
  return last && lastAs(last);
}

/** a node with `x as name` in it replaced by x */
function without(value: RawNode, as: RawNode): RawNode {
  if (value === as) return only(as);
  return {
    ...value,
    children: value.children.map(c => (c === as || c === named(value).at(-1) ? without(c, as) : c)),
  };
}

export function convertStatement(src: Source, n: RawNode): Converted {
  const problems: ast.SyntaxProblem[] = [];
  const body = new StatementConverter(src, problems).statement(n);
  if (problems.length === 0) {
    for (const s of body) {
      const shallow = indentationProblem(src.text, s);
      if (shallow) problems.push(shallow);
      else problems.push(...refusedIn(src.text, s));
    }
  }
  return { body, problems };
}

class StatementConverter {
  constructor(
    private readonly src: Source,
    private readonly problems: ast.SyntaxProblem[],
  ) {}

  private expr(n: RawNode): ast.Expr {
    return toExpr(this.src, n);
  }
  private text(n: RawNode): string {
    return textOf(this.src, n);
  }

  /** a node may stand for several statements (`a = 1; b = 2` arrive separately, an ERROR may hold many) */
  statement(n: RawNode): ast.Stmt[] {
    try {
      return this.read(n);
    } catch (e) {
      if (!(e instanceof Unreadable)) throw e;
      return [this.problem(e.node, e.message, n)];
    }
  }

  private problem(at: RawNode, message: string, whole: RawNode): ast.Stmt {
    this.problems.push({ span: at.span, message });
    return { kind: "Error", span: whole.span, message };
  }

  private block(n: RawNode | undefined): ast.Stmt[] {
    if (!n) return [];
    const out: ast.Stmt[] = [];
    for (const c of n.type === "block" ? named(n) : [n]) out.push(...this.statement(c));
    return out;
  }

  /**
   * Where the grammar recovered inside a statement: the statement without what could not be read, which is reported; a
   * compound one keeps what there is of its body.
   */
  private withoutStray(n: RawNode): RawNode | null {
    if (n.type === "ERROR") return null;
    const stray = n.children.filter(c => c.type === "ERROR" || (c.missing && !c.named));
    for (const s of stray)
      this.problems.push({ span: s.span, message: s.missing ? `expected '${s.type}'` : "invalid syntax" });
    return stray.length > 0 ? { ...n, children: n.children.filter(c => !stray.includes(c)) } : null;
  }

  private read(n: RawNode): ast.Stmt[] {
    const span = n.span;
    const rest = this.withoutStray(n);
    if (rest) return COMPOUND.has(n.type) ? this.read(rest) : [{ kind: "Error", span, message: "invalid syntax" }];
    switch (n.type) {
      case "ERROR":
        return [this.problem(n, "invalid syntax", n)];
      case "expression_statement":
        return this.expressionStatement(n);
      case "pass_statement":
        return [{ kind: "Pass", span }];
      case "break_statement":
        return [{ kind: "Break", span }];
      case "continue_statement":
        return [{ kind: "Continue", span }];
      case "return_statement": {
        const value = named(n)[0];
        return [{ kind: "Return", span, value: value ? this.expr(value) : null }];
      }
      case "delete_statement": {
        const target = this.expr(only(n));
        const bare = only(n).type === "expression_list" && target.kind === "Tuple";
        return [{ kind: "Delete", span, targets: bare ? target.elts : [target] }];
      }
      case "raise_statement": {
        const cause = field(n, "cause");
        const exc = named(n).find(c => c !== cause);
        return [{ kind: "Raise", span, exc: exc ? this.expr(exc) : null, cause: cause ? this.expr(cause) : null }];
      }
      case "assert_statement": {
        const [test, msg] = named(n);
        if (!test) throw new Unreadable(n, "expected a condition");
        return [{ kind: "Assert", span, test: this.expr(test), msg: msg ? this.expr(msg) : null }];
      }
      case "global_statement":
        return [{ kind: "Global", span, names: named(n).map(c => this.text(c)) }];
      case "nonlocal_statement":
        return [{ kind: "Nonlocal", span, names: named(n).map(c => this.text(c)) }];
      case "import_statement":
        return [{ kind: "Import", span, names: this.aliases(n) }];
      case "future_import_statement":
        return [{ kind: "ImportFrom", span, module: "__future__", level: 0, names: this.aliases(n) }];
      case "import_from_statement": {
        const from = need(n, "module_name");
        let module = this.text(from);
        let level = 0;
        if (from.type === "relative_import") {
          level = (module.match(/^[.\s]*/)?.[0] ?? "").replace(/\s/g, "").length;
          module = module.replace(/^[.\s]*/, "");
        }
        const wildcard = n.children.find(c => c.type === "wildcard_import");
        const names = wildcard ? [{ name: "*", asname: null, span: wildcard.span }] : this.aliases(n);
        return [{ kind: "ImportFrom", span, module: module.replace(/\s/g, ""), level, names }];
      }
      case "type_alias_statement": {
        const left = need(n, "left");
        const name = this.text(left).replace(/\[[\s\S]*$/, "");
        return [{ kind: "TypeAlias", span, name, value: this.expr(need(n, "right")) }];
      }
      case "if_statement":
        return [this.ifStatement(n)];
      case "for_statement": {
        const orelse = field(n, "alternative");
        return [
          {
            kind: "For",
            span,
            target: this.expr(need(n, "left")),
            iter: this.expr(need(n, "right")),
            body: this.block(field(n, "body")),
            orelse: orelse ? this.block(field(orelse, "body")) : [],
            isAsync: n.children[0]?.type === "async",
          },
        ];
      }
      case "while_statement": {
        const orelse = field(n, "alternative");
        return [
          {
            kind: "While",
            span,
            test: this.expr(need(n, "condition")),
            body: this.block(field(n, "body")),
            orelse: orelse ? this.block(field(orelse, "body")) : [],
          },
        ];
      }
      case "with_statement":
        return [this.withStatement(n)];
      case "try_statement":
        return [this.tryStatement(n)];
      case "match_statement":
        return [this.matchStatement(n)];
      case "function_definition":
        return [this.functionDef(n, [])];
      case "class_definition":
        return [this.classDef(n, [])];
      case "decorated_definition": {
        const decorators = named(n)
          .filter(c => c.type === "decorator")
          .map(c => this.expr(only(c)));
        const written = need(n, "definition");
        const def = this.withoutStray(written) ?? written;
        return [def.type === "class_definition" ? this.classDef(def, decorators) : this.functionDef(def, decorators)];
      }
      case "print_statement": {
        // `print >>f, x` of Python 2 also matches `print (x)` written with a space in some positions
        const args = fields(n, "argument").map(c => this.expr(c));
        if (/^print[ \t]+[\p{L}\p{N}_"'{]/u.test(this.text(n)))
          this.problems.push({ span, message: "Missing parentheses in call to 'print'. Did you mean print(...)?" });
        const func: ast.Expr = { kind: "Name", span, id: "print" };
        return [{ kind: "Expr", span, value: { kind: "Call", span, func, args, keywords: [] } }];
      }
      default:
        return [{ kind: "Expr", span, value: this.expr(n) }];
    }
  }

  private aliases(n: RawNode): ast.Alias[] {
    return fields(n, "name").map(c => {
      if (c.type !== "aliased_import") return { name: this.text(c).replace(/\s/g, ""), asname: null, span: c.span };
      return {
        name: this.text(need(c, "name")).replace(/\s/g, ""),
        asname: this.text(need(c, "alias")),
        span: c.span,
      };
    });
  }

  private expressionStatement(n: RawNode): ast.Stmt[] {
    const parts = named(n);
    const first = parts[0];
    if (!first) throw new Unreadable(n, "invalid syntax");
    if (parts.length > 1 || n.children.some(c => c.type === ",")) {
      const value: ast.Expr = { kind: "Tuple", span: n.span, elts: parts.map(c => this.expr(c)) };
      return [{ kind: "Expr", span: n.span, value }];
    }
    if (first.type === "assignment") return [this.assignment(first)];
    if (first.type === "augmented_assignment") {
      const op = need(first, "operator").type.slice(0, -1);
      if (!isOperator(op)) throw new Unreadable(first, "unknown operator");
      return [
        {
          kind: "AugAssign",
          span: first.span,
          target: this.expr(need(first, "left")),
          op,
          value: this.expr(need(first, "right")),
        },
      ];
    }
    return [{ kind: "Expr", span: n.span, value: this.expr(first) }];
  }

  private assignment(n: RawNode): ast.Stmt {
    const type = field(n, "type");
    const left = this.expr(need(n, "left"));
    const right = field(n, "right");
    if (type) {
      const value = right ? this.expr(right) : null;
      return { kind: "AnnAssign", span: n.span, target: left, annotation: this.expr(type), value };
    }
    const targets = [left];
    let value = right;
    while (value?.type === "assignment") {
      targets.push(this.expr(need(value, "left")));
      value = field(value, "right");
    }
    if (!value) throw new Unreadable(n, "expected a value");
    return { kind: "Assign", span: n.span, targets, value: this.expr(value) };
  }

  private ifStatement(n: RawNode): ast.Stmt {
    const alternatives = n.children.filter(c => c.field === "alternative");
    let orelse: ast.Stmt[] = [];
    for (const a of [...alternatives].reverse()) {
      if (a.type === "else_clause") {
        orelse = this.block(field(a, "body"));
      } else {
        const test = this.expr(need(a, "condition"));
        orelse = [{ kind: "If", span: a.span, test, body: this.block(field(a, "consequence")), orelse }];
      }
    }
    const test = this.expr(need(n, "condition"));
    return { kind: "If", span: n.span, test, body: this.block(field(n, "consequence")), orelse };
  }

  private withStatement(n: RawNode): ast.Stmt {
    const clause = named(n).find(c => c.type === "with_clause");
    const items: ast.WithItem[] = [];
    for (const item of clause ? named(clause) : []) {
      const value = need(item, "value");
      const as = lastAs(value);
      if (as) {
        const target = field(as, "alias");
        const context = without(value, as);
        items.push({ context: this.expr(context), target: target ? this.expr(only(target)) : null });
      } else {
        items.push({ context: this.expr(value), target: null });
      }
    }
    return {
      kind: "With",
      span: n.span,
      items,
      body: this.block(field(n, "body")),
      isAsync: n.children[0]?.type === "async",
    };
  }

  private tryStatement(n: RawNode): ast.Stmt {
    const handlers: ast.ExceptHandler[] = [];
    let orelse: ast.Stmt[] = [];
    let finalbody: ast.Stmt[] = [];
    for (const c of named(n)) {
      if (c.type === "except_clause" || c.type === "except_group_clause") {
        const body = named(c).find(x => x.type === "block");
        let what = named(c).find(x => x !== body);
        if (what?.type === "list_splat") what = only(what); // except* X
        let name: string | null = null;
        if (what?.type === "as_pattern") {
          const alias = field(what, "alias");
          name = alias ? this.text(alias) : null;
          what = only(what);
        }
        handlers.push({
          kind: "ExceptHandler",
          span: c.span,
          type: what ? this.expr(what) : null,
          name,
          body: this.block(body),
        });
      } else if (c.type === "else_clause") {
        orelse = this.block(field(c, "body"));
      } else if (c.type === "finally_clause") {
        finalbody = this.block(named(c).find(x => x.type === "block"));
      }
    }
    return { kind: "Try", span: n.span, body: this.block(field(n, "body")), handlers, orelse, finalbody };
  }

  private matchStatement(n: RawNode): ast.Stmt {
    const subjects = fields(n, "subject").map(s => this.expr(s));
    const first = subjects[0];
    if (!first) throw new Unreadable(n, "expected a subject");
    const cases: ast.MatchCase[] = [];
    for (const c of named(need(n, "body"))) {
      if (c.type !== "case_clause") continue;
      const patterns = named(c).filter(p => p.type === "case_pattern");
      const guard = field(c, "guard");
      const one = patterns[0];
      if (!one) throw new Unreadable(c, "expected a pattern");
      const sequence = patterns.length > 1 || c.children.some(x => x.type === ",");
      cases.push({
        pattern: sequence
          ? { kind: "MatchSequence", span: one.span, patterns: patterns.map(p => toPattern(this.src, p)) }
          : toPattern(this.src, one),
        guard: guard ? this.expr(only(guard)) : null,
        body: this.block(field(c, "consequence")),
      });
    }
    const subject: ast.Expr = subjects.length === 1 ? first : { kind: "Tuple", span: n.span, elts: subjects };
    return { kind: "Match", span: n.span, subject, cases };
  }

  private functionDef(n: RawNode, decorators: readonly ast.Expr[]): ast.Stmt {
    const name = need(n, "name");
    const returns = field(n, "return_type");
    return {
      kind: "FunctionDef",
      span: n.span,
      name: this.text(name),
      nameSpan: name.span,
      args: toArguments(this.src, field(n, "parameters")),
      body: this.block(field(n, "body")),
      decorators,
      returns: returns ? this.expr(returns) : null,
      isAsync: n.children[0]?.type === "async",
    };
  }

  private classDef(n: RawNode, decorators: readonly ast.Expr[]): ast.Stmt {
    const name = need(n, "name");
    const superclasses = field(n, "superclasses");
    const { args, keywords } = superclasses ? toCallArguments(this.src, superclasses) : { args: [], keywords: [] };
    return {
      kind: "ClassDef",
      span: n.span,
      name: this.text(name),
      nameSpan: name.span,
      bases: args,
      keywords,
      body: this.block(field(n, "body")),
      decorators,
    };
  }
}

const COMPOUND = new Set([
  "if_statement",
  "for_statement",
  "while_statement",
  "with_statement",
  "try_statement",
  "match_statement",
  "function_definition",
  "class_definition",
  "decorated_definition",
]);
