import { describe, expect, it } from "vitest";
import { PythonFile } from "./file";

const problems = (text: string): string[] =>
  new PythonFile(text).problems.map(p => `${p.span.line}:${p.span.column} ${p.message}`);

describe("what Python refuses although the grammar takes it", () => {
  it.each([
    ["return 1\n", "1:0 'return' outside function"],
    ["class A:\n    return 1\n", "2:4 'return' outside function"],
    ["def f(a, a): pass\n", "1:9 duplicate argument 'a' in function definition"],
    ["def f(a=1, b): pass\n", "1:11 non-default argument follows default argument"],
    ["f(a=1, 2)\n", "1:7 positional argument follows keyword argument"],
    ["f(**k, *a)\n", "1:7 iterable argument unpacking follows keyword argument unpacking"],
    ["f(a=1, a=2)\n", "1:7 keyword argument repeated: a"],
    ["def f():\n    await x\n", "2:4 'await' outside async function"],
    ["async def f():\n    yield from x\n", "2:4 'yield from' inside async function"],
    ["nonlocal z\n", "1:0 nonlocal declaration not allowed at module level"],
    ["[a, b] += 1\n", "1:0 'list' is an illegal expression for augmented assignment"],
    ["del f()\n", "1:4 cannot delete function call"],
    ["*a, *b = c\n", "1:0 multiple starred expressions in assignment"],
    ["(a, b): int = 3\n", "1:0 only single target (not tuple) can be annotated"],
    ["try:\n    a\nexcept:\n    b\nexcept E:\n    c\n", "3:0 default 'except:' must be last"],
    ["match x:\n    case a: pass\n    case 1: pass\n", "2:9 name capture 'a' makes remaining patterns unreachable"],
    ["from __future__ import nope\n", "1:23 future feature nope is not defined"],
    ["raise A, B\n", "1:6 invalid syntax"],
    ["x := 3\n", "1:0 invalid syntax"],
    ['print "hi"\n', "1:0 Missing parentheses in call to 'print'. Did you mean print(...)?"],
    ["x <> y\n", "1:0 invalid comparison"],
    ["x = `a`\n", "1:4 invalid syntax"],
    ["else: pass\n", "1:0 invalid syntax"],
    ['b"\u00e9"\n', "1:2 bytes can only contain ASCII literal characters"],
  ])("%j", (text, expected) => {
    expect(problems(text)).toContain(expected);
  });

  it.each(["x = 5 6\n", "x = 08\n", "x = 1__0\n", "x..y\n", "not = 3\n", "a = b = 3 += 4\n"])(
    "%j does not pass in silence",
    text => {
      expect(problems(text)).not.toEqual([]);
    },
  );

  it("takes what only looks alike", () => {
    const text = `
print (1), 2
print -1
async def f():
    await g(*a, k=1, *b, **c, d=2)
    return [x async for x in y]
async def h():
    yield await z
lambda x, *, y=1: x
a, (b, *c), *d = e
match x:
    case a if a > 1: pass
    case [1, *_] | {"k": 2}: pass
    case _: pass
0 + 00 + 0_0 + 1_0j + 0xFF
`;
    expect(problems(text)).toEqual([]);
  });
});

describe("indentation", () => {
  it.each([
    ["  x = 1\n", "1:2 unexpected indent"],
    ["def f():\n    y = x\n      z = y\n", "3:6 unexpected indent"],
    ["if x: y = 1\n    z = 2\n", "2:4 unexpected indent"],
    ["def f():\n    if x:\n        y\n   z\n", "4:3 unindent does not match any outer indentation level"],
    ["class A:\ndef m(): pass\n", "1:0 expected an indented block after class definition"],
    ["if x:\n        y = 1\n\tz = 2\n", "3:1 inconsistent use of tabs and spaces in indentation"],
  ])("%j", (text, expected) => {
    expect(problems(text)).toContain(expected);
  });

  it("takes blocks in one line, continued lines, elif chains, tabs alone and cases", () => {
    const text = `
if x: a = 1; b = 2
elif y:
  c = 1; d = 2
  e = 3
elif z: pass
else:
      f = 4
def g():
\tif x:
\t\treturn (1 +
\t\t2,
3)
\ttry: h()
\texcept A: pass
\tfinally:
\t\ti()
class B: x = 1; \\
  y = 2
match m:
  case 1:
     j = 1
  case (2 |
        3):
     k = 1
@dec
class C:
    @dec
    def d(self): pass

    # a comment
  # of another depth
    e = 1
`;
    expect(problems(text)).toEqual([]);
  });

  it("says the same of an edited file as of the same text read anew", () => {
    const before = "def f():\n    y = 1\n    z = 2\nw = 3\n";
    const after = "def f():\n    y = 1\n      z = 2\n w = 3\n";
    const file = new PythonFile(before);
    file.update(after);
    expect(file.problems).toEqual(new PythonFile(after).problems);
    expect(file.problems.length).toBe(2);
    file.update(before);
    expect(file.problems).toEqual([]);
  });
});

it("reads keyword patterns with a minus, an alternative and a name", () => {
  const { module, problems: found } = new PythonFile("match x:\n    case A(v=-1, w=B() as t, u=1 | 2): pass\n");
  expect(found).toEqual([]);
  const [match] = module.body;
  const pattern = match?.kind === "Match" ? match.cases[0]?.pattern : undefined;
  if (pattern?.kind !== "MatchClass") throw new Error(pattern?.kind);
  expect(pattern.kwdAttrs).toEqual(["v", "w", "u"]);
  const [v, w, u] = pattern.kwdPatterns;
  expect(v?.kind === "MatchValue" && v.value.kind).toBe("UnaryOp");
  expect(w?.kind === "MatchAs" && [w.name, w.pattern?.kind]).toEqual(["t", "MatchClass"]);
  expect(u?.kind).toBe("MatchOr");
});
