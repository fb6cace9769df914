import { describe, expect, it } from "vitest";
import type { Expr, Stmt } from "./ast";
import { PythonFile } from "./file";

const first = (text: string): Stmt => {
  const s = new PythonFile(text).module.body[0];
  if (!s) throw new Error("no statement");
  return s;
};
const expr = (text: string): Expr => {
  const s = first(text);
  if (s.kind !== "Expr") throw new Error(s.kind);
  return s.value;
};

describe("PythonFile", () => {
  it("reads parameters of every kind", () => {
    const f = first("def f(a, b: int = 1, /, c=2, *rest, d, e=3, **kw): pass");
    if (f.kind !== "FunctionDef") throw new Error(f.kind);
    expect(f.args.posonlyargs.map(a => a.arg)).toEqual(["a", "b"]);
    expect(f.args.args.map(a => a.arg)).toEqual(["c"]);
    expect(f.args.defaults).toHaveLength(2);
    expect(f.args.vararg?.arg).toBe("rest");
    expect(f.args.kwonlyargs.map(a => a.arg)).toEqual(["d", "e"]);
    expect(f.args.kwDefaults.map(d => d !== null)).toEqual([false, true]);
    expect(f.args.kwarg?.arg).toBe("kw");
  });

  it("reads strings with prefixes, escapes and concatenation", () => {
    const s = expr(String.raw`"a\n" 'b\x41' r"\n"`);
    expect(s.kind === "Constant" && s.value).toEqual({ type: "str", value: "a\nbA\\n" });
    const f = expr('f"x{y!r:>{w}}{{z}}"');
    if (f.kind !== "JoinedStr") throw new Error(f.kind);
    expect(f.values.map(v => v.kind)).toEqual(["Constant", "FormattedValue", "Constant"]);
    const v = f.values[1];
    expect(v?.kind === "FormattedValue" && v.formatSpec?.values.length).toBe(2);
    const last = f.values[2];
    expect(last?.kind === "Constant" && last.value).toEqual({ type: "str", value: "{z}" });
  });

  it("gives operators their own place inside the expression", () => {
    const e = expr("(y + 3).sum(dim=1)");
    if (e.kind !== "Call" || e.func.kind !== "Attribute" || e.func.value.kind !== "BinOp") throw new Error(e.kind);
    const b = e.func.value;
    expect([b.span.column, b.span.endColumn, b.opSpan.column]).toEqual([1, 6, 3]);
    expect([e.span.column, e.span.endColumn]).toEqual([0, 18]);
  });

  it("reads subscripts, slices and comparisons", () => {
    const e = expr("x[..., :-1, None]");
    if (e.kind !== "Subscript" || e.slice.kind !== "Tuple") throw new Error(e.kind);
    expect(e.slice.elts.map(x => x.kind)).toEqual(["Constant", "Slice", "Constant"]);
    const c = expr("a < b <= c is not d not in e");
    expect(c.kind === "Compare" && c.ops).toEqual(["<", "<=", "is not", "not in"]);
  });

  it("keeps the other statements when one has a syntax error", () => {
    const file = new PythonFile("import torch\ndef broken(x):\n    return x +\n\ndef good(x):\n    return x * 2\n");
    expect(file.problems.length).toBeGreaterThan(0);
    expect(file.problems[0]?.span.line).toBe(3);
    expect(file.module.body.some(s => s.kind === "FunctionDef" && s.name === "good")).toBe(true);
  });

  it("keeps later functions when a bracket is never closed", () => {
    const file = new PythonFile("def a(x):\n    return foo(x, [1\n\ndef b(y):\n    return y\n\nz = b(1)\n");
    expect(file.problems.length).toBeGreaterThan(0);
    expect(file.module.body.some(s => s.kind === "FunctionDef" && s.name === "b")).toBe(true);
    const last = file.module.body[file.module.body.length - 1];
    expect(last?.kind).toBe("Assign");
    expect(last?.span.line).toBe(7);
  });

  it("converts an edited file as if it were new", () => {
    const before = "a = 1\ndef f(x):\n    return x + 1\n\ndef g(y):\n    return f(y) * 2\n";
    const after = before.replace("a = 1", "a = 1\n\nb = '\u{1F600}'").replace("x + 1", "x - 10");
    const file = new PythonFile(before);
    file.update(after);
    expect(file.module).toEqual(new PythonFile(after).module);
    file.update(before);
    expect(file.module).toEqual(new PythonFile(before).module);
  });

  it("reads the name behind a choice in brackets as the whole choice's", () => {
    const [s] = new PythonFile("with (\n    a if p else b as f\n):\n    pass\n").module.body;
    const item = s?.kind === "With" ? s.items[0] : undefined;
    expect([item?.context.kind, item?.target?.kind]).toEqual(["IfExp", "Name"]);
  });

  it("reads a star before a whole expression without brackets", () => {
    const a = first("x = *t.shape[1:], t.device");
    if (a.kind !== "Assign" || a.value.kind !== "Tuple") throw new Error(a.kind);
    const star = a.value.elts[0];
    expect(star?.kind === "Starred" && star.value.kind).toBe("Subscript");
  });

  it("lists comments with their places", () => {
    const file = new PythonFile("# fuselens: x=f32[8]\ndef f(x):  # two\n    pass\n");
    expect(file.comments().map(c => [c.span.line, c.text])).toEqual([
      [1, "# fuselens: x=f32[8]"],
      [2, "# two"],
    ]);
  });

  it("takes a target in parentheses for the target alone, one before a comma for a tuple", () => {
    const targets = (text: string): string[] => {
      const s = first(text);
      return s.kind === "Assign" ? s.targets.map(t => t.kind) : s.kind === "For" ? [s.target.kind] : [];
    };
    expect(targets("a.b = (\n    c.d\n) = e")).toEqual(["Attribute", "Attribute"]);
    expect(targets("(a,) = (b, c) = e")).toEqual(["Tuple", "Tuple"]);
    expect(targets("for (x) in y: pass")).toEqual(["Name"]);
  });

  it("reads match statements", () => {
    const m = first(
      "match x:\n    case [a, *_]: pass\n    case {'k': 1, **r}: pass\n    case P(x=1) | None: pass\n    case _: pass\n",
    );
    if (m.kind !== "Match") throw new Error(m.kind);
    expect(m.cases.map(c => c.pattern.kind)).toEqual(["MatchSequence", "MatchMapping", "MatchOr", "MatchAs"]);
  });

  it("reports a bracket that a decorated function leaves open, and reads what follows the function", () => {
    const text = "@deco\ndef f(x):\n    a = x.sum(dim=\n    b = 1\n    return a\n\n\nf(1)\n";
    const file = new PythonFile(text);
    expect(file.problems.map(p => p.span.line)).toEqual([3]);
    expect(file.module.body.map(s => s.kind)).toEqual(["FunctionDef", "Expr"]);
  });

  it("says where a text is none that Python reads", () => {
    const file = new PythonFile("x = 1\ny = \0\0\n");
    expect(file.problems).toMatchObject([
      { span: { line: 2, column: 4 }, message: "source code cannot contain null bytes (Python reads files as UTF-8)" },
    ]);
    file.update("x = 1\ny = 2\n");
    expect([file.problems.length, file.module.body.length]).toEqual([0, 2]);
  });

  it("reads a text that is broken and mended as if it were read for the first time", () => {
    const text = "@deco\ndef f(x):\n    a = g(x)\n    return a\n\n\ndef h(y):\n    return [y, 1]\n";
    const file = new PythonFile(text);
    for (let i = 0; i < text.length; i++) {
      for (const next of [text.slice(0, i) + text.slice(i + 1), text]) {
        file.update(next);
        const anew = new PythonFile(next);
        expect(file.module, next).toEqual(anew.module);
        expect(file.problems, next).toEqual(anew.problems);
      }
    }
  });
});
