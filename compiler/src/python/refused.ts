// What the grammar takes and Python refuses although each part of it is well formed: statements in places where they
// mean nothing, arguments out of order, targets that can't be assigned to. In: a statement of the file and its text.
// Out: problems, in CPython's words. Such a statement keeps its reading, so the analysis goes on with it.
import type * as ast from "./ast";
import { walk } from "./walk";

export function refusedIn(text: string, statement: ast.Stmt): ast.SyntaxProblem[] {
  const checks = new Refusals(text);
  checks.within([statement], "module");
  return checks.problems;
}

/** what a statement or expression stands in directly */
type Scope = "module" | "class" | "def" | "async def";

class Refusals {
  readonly problems: ast.SyntaxProblem[] = [];

  constructor(private readonly text: string) {}

  private say(span: ast.Span, message: string): void {
    this.problems.push({ span, message });
  }

  within(root: unknown, scope: Scope): void {
    walk(root, n => {
      switch (n.kind) {
        case "FunctionDef":
          this.within([n.decorators, n.args, n.returns], scope);
          this.parameters(n.args);
          this.within(n.body, n.isAsync ? "async def" : "def");
          return false;
        case "Lambda":
          this.parameters(n.args);
          this.within(n.args, scope);
          this.within(n.body, scope === "async def" ? "def" : scope);
          return false;
        case "ClassDef":
          this.arguments(n.bases, n.keywords);
          this.within([n.decorators, n.bases, n.keywords.map(k => k.value)], scope);
          this.within(n.body, "class");
          return false;
        default:
          this.one(n, scope);
          return true;
      }
    });
  }

  private one(n: ast.Node, scope: Scope): void {
    switch (n.kind) {
      case "Return":
        if (scope === "module" || scope === "class") this.say(n.span, "'return' outside function");
        return;
      case "Await":
        // cells of notebooks await where no function is
        if (scope === "def") this.say(n.span, "'await' outside async function");
        return;
      case "With":
        if (n.isAsync && scope === "def") this.say(n.span, "'async with' outside async function");
        for (const i of n.items) if (i.target) this.target(i.target);
        return;
      case "For":
        if (n.isAsync && scope === "def") this.say(n.span, "'async for' outside async function");
        return;
      case "YieldFrom":
        if (scope === "async def") this.say(n.span, "'yield from' inside async function");
        return;
      case "Nonlocal":
        if (scope === "module") this.say(n.span, "nonlocal declaration not allowed at module level");
        return;
      case "Call":
        this.arguments(n.args, n.keywords);
        return;
      case "Expr":
        if (n.value.kind === "NamedExpr" && this.text[n.span.start] !== "(") this.say(n.span, "invalid syntax");
        this.plain(n.value);
        return;
      case "Assign":
        for (const t of n.targets) {
          if (t.kind === "Starred") this.say(t.span, "starred assignment target must be in a list or tuple");
          this.target(t);
        }
        this.plain(n.value);
        return;
      case "AnnAssign":
        if (n.target.kind === "Tuple" || n.target.kind === "List")
          this.say(n.target.span, `only single target (not ${n.target.kind.toLowerCase()}) can be annotated`);
        return;
      case "AugAssign":
        if (!PLACES.has(n.target.kind))
          this.say(n.target.span, `'${naming(n.target)}' is an illegal expression for augmented assignment`);
        return;
      case "Delete":
        for (const t of n.targets) this.deleted(t);
        return;
      case "Try":
        n.handlers.slice(0, -1).forEach(h => {
          if (!h.type) this.say(h.span, "default 'except:' must be last");
        });
        return;
      case "Raise":
        if (n.exc?.kind === "Tuple" && this.text[n.exc.span.start] !== "(") this.say(n.exc.span, "invalid syntax");
        return;
      case "ImportFrom":
        if (n.module === "__future__")
          for (const a of n.names)
            if (!FEATURES.has(a.name)) this.say(a.span, `future feature ${a.name} is not defined`);
        return;
      case "Match":
        n.cases.slice(0, -1).forEach(c => {
          if (!c.guard) this.unreachable(c.pattern);
        });
        return;
      case "MatchOr":
        for (const p of n.patterns.slice(0, -1)) this.unreachable(p);
        return;
      default:
        return;
    }
  }

  private parameters(a: ast.Arguments): void {
    const all = [...a.posonlyargs, ...a.args, ...a.kwonlyargs, a.vararg, a.kwarg].filter(x => x !== null);
    const seen = new Set<string>();
    for (const p of all) {
      if (seen.has(p.arg)) this.say(p.span, `duplicate argument '${p.arg}' in function definition`);
      seen.add(p.arg);
    }
    // defaults belong to the last parameters; one that is written before its parameter is another one's
    const positional = [...a.posonlyargs, ...a.args];
    const from = positional.length - a.defaults.length;
    a.defaults.forEach((d, i) => {
      const p = positional[from + i];
      if (p && d.span.start < p.span.start) this.say(p.span, "non-default argument follows default argument");
    });
  }

  private arguments(args: readonly ast.Expr[], keywords: readonly ast.Keyword[]): void {
    const first = (test: (k: ast.Keyword) => boolean): number => keywords.find(test)?.span.start ?? Infinity;
    const named = first(k => k.arg !== null);
    const unpacked = first(k => k.arg === null);
    for (const a of args) {
      const at = a.span.start;
      if (a.kind === "Starred" && at > unpacked)
        this.say(a.span, "iterable argument unpacking follows keyword argument unpacking");
      else if (a.kind !== "Starred" && at > unpacked)
        this.say(a.span, "positional argument follows keyword argument unpacking");
      else if (a.kind !== "Starred" && at > named) this.say(a.span, "positional argument follows keyword argument");
    }
    const seen = new Set<string>();
    for (const k of keywords) {
      if (k.arg === null) continue;
      if (seen.has(k.arg)) this.say(k.span, `keyword argument repeated: ${k.arg}`);
      seen.add(k.arg);
    }
  }

  /** a value that stands alone */
  private plain(value: ast.Expr): void {
    if (value.kind === "Starred") this.say(value.span, "can't use starred expression here");
  }

  /** literals as targets are refused where they are compiled; stars are counted here */
  private target(t: ast.Expr): void {
    if (t.kind === "Constant") this.say(t.span, "cannot assign to literal");
    if (t.kind !== "Tuple" && t.kind !== "List") return;
    if (t.elts.filter(e => e.kind === "Starred").length > 1)
      this.say(t.span, "multiple starred expressions in assignment");
  }

  private deleted(t: ast.Expr): void {
    if (t.kind === "Tuple" || t.kind === "List") for (const e of t.elts) this.deleted(e);
    else if (!PLACES.has(t.kind)) this.say(t.span, `cannot delete ${naming(t)}`);
  }

  private unreachable(p: ast.Pattern): void {
    if (p.kind !== "MatchAs" || p.pattern) return;
    const what = p.name ? `name capture '${p.name}'` : "wildcard";
    this.say(p.span, `${what} makes remaining patterns unreachable`);
  }
}

const PLACES = new Set(["Name", "Attribute", "Subscript"]);

const FEATURES = new Set([
  "nested_scopes",
  "generators",
  "division",
  "absolute_import",
  "with_statement",
  "print_function",
  "unicode_literals",
  "barry_as_FLUFL",
  "generator_stop",
  "annotations",
]);

/** CPython's name for a kind of expression */
function naming(e: ast.Expr): string {
  if (e.kind === "Call") return "function call";
  if (e.kind === "Constant") {
    const c = e.value;
    return c.type === "bool" ? (c.value ? "True" : "False") : c.type === "None" ? "None" : "literal";
  }
  if (e.kind === "Tuple" || e.kind === "List") return e.kind.toLowerCase();
  return "expression";
}
