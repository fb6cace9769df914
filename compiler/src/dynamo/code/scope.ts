// Which names a block binds, and where every other name it reads is found. In: the tree of a module. Out: a Scope per
// module, function, lambda, class, generator expression and inlined comprehension.
import type * as ast from "../../python/ast";

export type ScopeKind = "module" | "function" | "class" | "comprehension";

export class Scope {
  readonly bound = new Set<string>();
  readonly globals = new Set<string>();
  readonly nonlocals = new Set<string>();
  /** names bound here that an inner function reads */
  readonly captured = new Set<string>();
  /** names of outer functions that this function or one inside it reads */
  readonly free = new Set<string>();
  isGenerator = false;

  constructor(
    readonly kind: ScopeKind,
    readonly parent: Scope | null,
  ) {}

  /** the function, class or module that runs this scope's code */
  get home(): Scope {
    let s: Scope = this;
    while (s.kind === "comprehension" && s.parent) s = s.parent;
    return s;
  }
}

export type ScopeOwner =
  | ast.Module
  | ast.FunctionDef
  | ast.ClassDef
  | ast.Lambda
  | ast.GeneratorExp
  | ast.ListComp
  | ast.SetComp
  | ast.DictComp;

export type Scopes = ReadonlyMap<ScopeOwner, Scope>;

export function analyse(module: ast.Module): Scopes {
  const scopes = new Map<ScopeOwner, Scope>();
  const builder = new ScopeBuilder(scopes);
  const root = new Scope("module", null);
  scopes.set(module, root);
  builder.statements(module.body, root);
  builder.resolve();
  return scopes;
}

class ScopeBuilder {
  private readonly reads: { scope: Scope; name: string }[] = [];

  constructor(private readonly scopes: Map<ScopeOwner, Scope>) {}

  /** after all bindings are known: marks captured and free names */
  resolve(): void {
    for (const { scope, name } of this.reads) this.resolveRead(scope, name);
    for (const scope of this.scopes.values()) for (const name of scope.nonlocals) this.resolveRead(scope, name);
  }

  private resolveRead(from: Scope, name: string): void {
    const crossed: Scope[] = [];
    let s: Scope | null = from;
    let first = true;
    while (s) {
      if (s.globals.has(name)) return;
      const classSkipped = s.kind === "class" && !first && name !== "__class__";
      if (s.bound.has(name) && !s.nonlocals.has(name) && !classSkipped) {
        if (crossed.length === 0 || s.kind === "module") return;
        if (s.home.kind === "module" && s.kind !== "comprehension") return;
        s.captured.add(name);
        for (const c of crossed) c.free.add(name);
        return;
      }
      if (s.kind === "function" || s.kind === "class") crossed.push(s);
      if (s.kind !== "comprehension") first = false;
      s = s.parent;
    }
  }

  private bind(scope: Scope, name: string): void {
    if (scope.globals.has(name) || scope.nonlocals.has(name)) return;
    scope.bound.add(name);
  }

  private read(scope: Scope, name: string): void {
    this.reads.push({ scope, name });
  }

  statements(body: readonly ast.Stmt[], s: Scope): void {
    // declarations first: `global` may stand after a use in code that Python would refuse
    for (const st of body) this.statement(st, s);
  }

  private statement(st: ast.Stmt, s: Scope): void {
    switch (st.kind) {
      case "FunctionDef": {
        for (const d of st.decorators) this.expr(d, s);
        this.bind(s, st.name);
        this.functionScope(st, st.args, s, inner => this.statements(st.body, inner));
        return;
      }
      case "ClassDef": {
        for (const d of st.decorators) this.expr(d, s);
        for (const b of st.bases) this.expr(b, s);
        for (const k of st.keywords) this.expr(k.value, s);
        this.bind(s, st.name);
        const inner = new Scope("class", s);
        this.scopes.set(st, inner);
        // methods find their class under this name for zero-argument super()
        inner.bound.add("__class__");
        this.statements(st.body, inner);
        return;
      }
      case "Return":
        if (st.value) this.expr(st.value, s);
        return;
      case "Delete":
        for (const t of st.targets) this.target(t, s);
        return;
      case "Assign":
        this.expr(st.value, s);
        for (const t of st.targets) this.target(t, s);
        return;
      case "AugAssign":
        this.expr(st.value, s);
        this.expr(st.target, s);
        this.target(st.target, s);
        return;
      case "AnnAssign":
        if (st.value) this.expr(st.value, s);
        this.target(st.target, s);
        return;
      case "For":
        this.expr(st.iter, s);
        this.target(st.target, s);
        this.statements(st.body, s);
        this.statements(st.orelse, s);
        return;
      case "While":
      case "If":
        this.expr(st.test, s);
        this.statements(st.body, s);
        this.statements(st.orelse, s);
        return;
      case "With":
        for (const item of st.items) {
          this.expr(item.context, s);
          if (item.target) this.target(item.target, s);
        }
        this.statements(st.body, s);
        return;
      case "Match":
        this.expr(st.subject, s);
        for (const c of st.cases) {
          this.pattern(c.pattern, s);
          if (c.guard) this.expr(c.guard, s);
          this.statements(c.body, s);
        }
        return;
      case "Raise":
        if (st.exc) this.expr(st.exc, s);
        if (st.cause) this.expr(st.cause, s);
        return;
      case "Try":
        this.statements(st.body, s);
        for (const h of st.handlers) {
          if (h.type) this.expr(h.type, s);
          if (h.name) this.bind(s, h.name);
          this.statements(h.body, s);
        }
        this.statements(st.orelse, s);
        this.statements(st.finalbody, s);
        return;
      case "Assert":
        this.expr(st.test, s);
        if (st.msg) this.expr(st.msg, s);
        return;
      case "Import":
        for (const a of st.names) this.bind(s, a.asname ?? a.name.split(".")[0] ?? a.name);
        return;
      case "ImportFrom":
        for (const a of st.names) if (a.name !== "*") this.bind(s, a.asname ?? a.name);
        return;
      case "Global":
        for (const n of st.names) {
          s.globals.add(n);
          s.bound.delete(n);
        }
        return;
      case "Nonlocal":
        for (const n of st.names) {
          s.nonlocals.add(n);
          s.bound.delete(n);
        }
        return;
      case "Expr":
        this.expr(st.value, s);
        return;
      case "TypeAlias":
        this.expr(st.value, s);
        this.bind(s, st.name);
        return;
      case "Pass":
      case "Break":
      case "Continue":
      case "Error":
        return;
      default:
        st satisfies never;
    }
  }

  private functionScope(
    owner: ast.FunctionDef | ast.Lambda | ast.GeneratorExp,
    args: ast.Arguments | null,
    s: Scope,
    body: (inner: Scope) => void,
  ): void {
    const inner = new Scope("function", s);
    this.scopes.set(owner, inner);
    if (args) {
      for (const d of args.defaults) this.expr(d, s);
      for (const d of args.kwDefaults) if (d) this.expr(d, s);
      const all = [...args.posonlyargs, ...args.args, ...args.kwonlyargs, args.vararg, args.kwarg];
      for (const a of all) if (a) inner.bound.add(a.arg);
    }
    body(inner);
  }

  private pattern(p: ast.Pattern, s: Scope): void {
    switch (p.kind) {
      case "MatchValue":
        this.expr(p.value, s);
        return;
      case "MatchSingleton":
        return;
      case "MatchSequence":
      case "MatchOr":
        for (const q of p.patterns) this.pattern(q, s);
        return;
      case "MatchMapping":
        for (const k of p.keys) this.expr(k, s);
        for (const q of p.patterns) this.pattern(q, s);
        if (p.rest) this.bind(s, p.rest);
        return;
      case "MatchClass":
        this.expr(p.cls, s);
        for (const q of [...p.patterns, ...p.kwdPatterns]) this.pattern(q, s);
        return;
      case "MatchStar":
        if (p.name) this.bind(s, p.name);
        return;
      case "MatchAs":
        if (p.pattern) this.pattern(p.pattern, s);
        if (p.name) this.bind(s, p.name);
        return;
      default:
        p satisfies never;
    }
  }

  private target(t: ast.Expr, s: Scope): void {
    if (t.kind === "Name") this.bind(s, t.id);
    else if (t.kind === "Tuple" || t.kind === "List") for (const e of t.elts) this.target(e, s);
    else if (t.kind === "Starred") this.target(t.value, s);
    else this.expr(t, s);
  }

  private comprehension(
    owner: ast.ListComp | ast.SetComp | ast.DictComp,
    elements: readonly ast.Expr[],
    s: Scope,
  ): void {
    const inner = new Scope("comprehension", s);
    this.scopes.set(owner, inner);
    this.generators(owner.generators, s, inner);
    for (const e of elements) this.expr(e, inner);
  }

  private generators(generators: readonly ast.Comprehension[], outer: Scope, inner: Scope): void {
    generators.forEach((g, i) => {
      this.expr(g.iter, i === 0 ? outer : inner);
      this.target(g.target, inner);
      for (const test of g.ifs) this.expr(test, inner);
    });
  }

  private expr(e: ast.Expr, s: Scope): void {
    switch (e.kind) {
      case "Name":
        this.read(s, e.id);
        if (e.id === "super") this.read(s, "__class__");
        return;
      case "NamedExpr": {
        // binds in the enclosing function, also from inside a comprehension
        this.bind(s.home, e.target.id);
        this.expr(e.value, s);
        return;
      }
      case "Lambda":
        this.functionScope(e, e.args, s, inner => this.expr(e.body, inner));
        return;
      case "GeneratorExp": {
        const first = e.generators[0];
        if (first) this.expr(first.iter, s);
        this.functionScope(e, null, s, inner => {
          inner.isGenerator = true;
          e.generators.forEach((g, i) => {
            if (i > 0) this.expr(g.iter, inner);
            this.target(g.target, inner);
            for (const test of g.ifs) this.expr(test, inner);
          });
          this.expr(e.elt, inner);
        });
        return;
      }
      case "ListComp":
      case "SetComp":
        this.comprehension(e, [e.elt], s);
        return;
      case "DictComp":
        this.comprehension(e, [e.key, e.value], s);
        return;
      case "Yield":
      case "YieldFrom":
        s.home.isGenerator = true;
        if (e.value) this.expr(e.value, s);
        return;
      case "BoolOp":
        for (const v of e.values) this.expr(v, s);
        return;
      case "BinOp":
        this.expr(e.left, s);
        this.expr(e.right, s);
        return;
      case "UnaryOp":
        this.expr(e.operand, s);
        return;
      case "IfExp":
        this.expr(e.test, s);
        this.expr(e.body, s);
        this.expr(e.orelse, s);
        return;
      case "Dict":
        for (const k of e.keys) if (k) this.expr(k, s);
        for (const v of e.values) this.expr(v, s);
        return;
      case "Set":
      case "List":
      case "Tuple":
        for (const v of e.elts) this.expr(v, s);
        return;
      case "Await":
      case "Starred":
        this.expr(e.value, s);
        return;
      case "Compare":
        this.expr(e.left, s);
        for (const c of e.comparators) this.expr(c, s);
        return;
      case "Call":
        this.expr(e.func, s);
        for (const a of e.args) this.expr(a, s);
        for (const k of e.keywords) this.expr(k.value, s);
        return;
      case "FormattedValue":
        this.expr(e.value, s);
        if (e.formatSpec) this.expr(e.formatSpec, s);
        return;
      case "JoinedStr":
        for (const v of e.values) this.expr(v, s);
        return;
      case "Attribute":
        this.expr(e.value, s);
        return;
      case "Subscript":
        this.expr(e.value, s);
        this.expr(e.slice, s);
        return;
      case "Slice":
        for (const p of [e.lower, e.upper, e.step]) if (p) this.expr(p, s);
        return;
      case "Constant":
        return;
      default:
        e satisfies never;
    }
  }
}
