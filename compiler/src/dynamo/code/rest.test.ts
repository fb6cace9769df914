import { describe, expect, it } from "vitest";
import { defaultSessionOptions, Session } from "../../index";
import { PythonFile } from "../../python/file";
import { allAfter, independentAfter } from "./rest";

function after(text: string, line: number): { rest: number[]; missing: string[] } {
  const { rest, missing } = independentAfter(new PythonFile(text).module.body, line);
  return { rest: rest.map(s => s.span.line), missing: [...missing].sort() };
}

describe("what goes on after a statement that failed", () => {
  it("leaves out what needs it, directly or not, until the name is bound anew", () => {
    const text = ["a = f()", "b = a + 1", "c = 2", "g(b)", "g(c)", "a = 3", "g(a)"].join("\n");
    expect(after(text, 1)).toEqual({ rest: [3, 5, 6, 7], missing: ["b"] });
  });

  it("keeps what needs it where what it would have made counts as unknown", () => {
    const text = ["a, b = f()", "c = a + 1", "if c:", "    d = g()", "    h(d)"].join("\n");
    const { rest, missing } = allAfter(new PythonFile(text).module.body, 1);
    expect([rest.map(s => s.span.line), [...missing].sort()]).toEqual([
      [2, 3],
      ["a", "b"],
    ]);
    expect(allAfter(new PythonFile(text).module.body, 4).rest.map(s => s.span.line)).toEqual([5]);
  });

  it("keeps what a decorator refused, without its decorators", () => {
    const text = ["@register('a')", "class A(Base):", "    x = 1", "a = A()"].join("\n");
    expect(after(text, 1)).toEqual({ rest: [2, 4], missing: [] });
    expect(after(text, 3)).toEqual({ rest: [], missing: ["A", "a"] });
  });

  it("keeps functions and classes", () => {
    const text = ["Base = f()", "def g():", "    return Base", "class A(Base):", "    pass", "a = Base()"];
    expect(after(text.join("\n"), 1)).toEqual({ rest: [2, 4], missing: ["Base", "a"] });
  });

  it("goes on inside of the branch that failed", () => {
    const text = ['if __name__ == "__main__":', "    x = f()", "    y = 1", "    g(y)", "else:", "    g(2)", "h()"];
    expect(after(text.join("\n"), 2)).toEqual({ rest: [3, 4, 7], missing: ["x"] });
    expect(after(text.join("\n"), 6)).toEqual({ rest: [7], missing: [] });
    expect(after(text.join("\n"), 99)).toEqual({ rest: [], missing: [] });
  });

  it("counts loops, with statements and unpacking as binding", () => {
    const text = [
      "for i in f():",
      "    pass",
      "with f(i) as (u, v):",
      "    pass",
      "print(u)",
      "p, q = 1, 2",
      "print(q)",
    ];
    expect(after(text.join("\n"), 1)).toEqual({ rest: [6, 7], missing: ["i", "u", "v"] });
  });

  it("counts assignment expressions as binding", () => {
    const text = ["a = (n := f())", "print(n)", "print(1)", "n = 2", "print(n)"];
    expect(after(text.join("\n"), 1)).toEqual({ rest: [3, 4, 5], missing: ["a"] });
  });

  it("shows a file's other functions with the shapes of their calls", () => {
    const text = [
      "import torch",
      "@torch.compile",
      "def bad(x):",
      "    return x @ torch.randn(3, 5, device=x.device)",
      "@torch.compile",
      "def good(x):",
      "    return x.relu() + 1",
      'x = torch.randn(64, 128, device="cuda")',
      "y = bad(x)",
      "good(y)",
      "good(x[:8])",
    ].join("\n");
    const { report } = new Session(p => (p === "/m.py" ? text : undefined), defaultSessionOptions()).run("/m.py");
    expect(report.diagnostics.map(d => d.code)).toEqual(["python-error"]);
    expect(report.graphs.map(g => g.bytes)).toEqual([2 * 8 * 128 * 4]);
  });
});
