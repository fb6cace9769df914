import { describe, expect, it } from "vitest";
import { PythonFile } from "../../python/file";
import { installBuiltins } from "../builtins/functions";
import { compileModule } from "../code/compiler";
import { Modules } from "../stdlib/modules";
import { Interrupted, PyError } from "./api";
import { Machine } from "./machine";

function run(text: string, budget = 2_000_000): string {
  let out = "";
  const vm: Machine = new Machine({
    stepBudget: budget,
    shouldStop: () => false,
    print: t => {
      out += t;
    },
    report: () => {},
    importModule: (name, from) => modules.import(name, from),
  });
  installBuiltins(vm);
  const modules = new Modules(vm, () => undefined);
  const m = vm.newModule("__main__");
  m.dict.set("__module_object__", m);
  const file = new PythonFile(text);
  try {
    modules.run(compileModule(file.module, { name: "t.py", lines: text.split("\n"), library: "user" }, text), m);
  } catch (e) {
    if (!(e instanceof PyError)) throw e;
    const t = e.trace[e.trace.length - 1];
    out += `${e.value.cls.name}: ${vm.str(e.value)} at ${t?.file.name}:${t?.span.line}\n`;
  }
  return out.trimEnd();
}

describe("the interpreter", () => {
  it("computes with ints, floats and strings as Python does", () => {
    expect(run("print(7 // -2, 7 % -2, -7 // 2, 2 ** 100, 7 / 2, 1e16, 1e-5, 0.1 + 0.2, 3.0, 2 ** -1)")).toBe(
      "-4 -1 -4 1267650600228229401496703205376 3.5 1e+16 1e-05 0.30000000000000004 3.0 0.5",
    );
    expect(run("print(f'{3.14159:.2f} {5:03d} {\"a\":>4}|{1234567:,} {0.5:%} {True} {None!r:>6}')")).toBe(
      "3.14 005    a|1,234,567 50.000000%  True   None".replace("  True", " True"),
    );
    expect(
      run("print(round(2.5), round(3.5), round(2.675, 2), int('12') + int(3.9), divmod(7, 2), '%d-%s' % (1, 'x'))"),
    ).toBe("2 4 2.67 15 (3, 1) 1-x");
  });

  it("divides ints of any size and refuses floats that none can be", () => {
    expect(
      run(
        "h = 10 ** 400\nprint(h / (h - 1), h / 10 ** 398, 1 / h, -(2 ** 1100) / 2 ** 100 / 2.0 ** 1000, 2 ** 60 / 3)",
      ),
    ).toBe("1.0 100.0 0.0 -1.0 3.843071682022823e+17");
    for (const text of ["float(h)", "h * 1.5", "h / 3", "h ** 0.5", "2.0 ** 5000"])
      expect(run(`h = 10 ** 400\ntry:\n    ${text}\nexcept OverflowError:\n    print('overflow')`), text).toBe(
        "overflow",
      );
  });

  it("compares ints of any size with floats exactly, as keys too", () => {
    const text = `
h = 10 ** 400
print(h > 1.5, h < float('inf'), -h < float('-inf'), h == float('nan'), 2 ** 53 + 1 == 2.0 ** 53, 2 ** 53 + 1 > 2.0 ** 53)
print(sorted([h, 1.0, -h])[1], {2 ** 53: 'key'}[2.0 ** 53], h // 3 % 1000, round(h + 149, -2) == h + 100)
`;
    expect(run(text)).toBe("True True False False False True\n1.0 key 333 True");
  });

  it("takes ints of any size for bounds, and walks ranges of them", () => {
    const text = `
h = 10 ** 400
x = [1, 2, 3]
print(x[:h], x[-h:], x[h:], x[::h], x[::-h], 'abc'[:h], range(5)[:h])
print(range(h)[-1] == h - 1, h in range(h), 5 in range(-h, h), list(range(h, h + 2)) == [h, h + 1], next(iter(range(h))))
print(next(reversed(range(h))) == h - 1, list(reversed(range(0, 10, 3))), next(enumerate('a', h))[0] == h)
`;
    expect(run(text)).toBe(
      "[1, 2, 3] [1, 2, 3] [] [1] [3] abc range(0, 5)\nTrue False True True 0\nTrue [9, 6, 3, 0] True",
    );
  });

  it.each([
    ["list(range(h))", "OverflowError: Python int too large to convert to C ssize_t"],
    ["len(range(h))", "OverflowError: Python int too large to convert to C ssize_t"],
    ["list(range(10 ** 15))", "MemoryError: more elements than the analysis makes"],
    ["[0] * h", "OverflowError: cannot fit 'int' into an index-sized integer"],
    ["[1][h]", "IndexError: cannot fit 'int' into an index-sized integer"],
    ["range(5)[h]", "IndexError: range object index out of range"],
    ["1 << h", "OverflowError: too many digits in integer"],
    ["f'{h:.2f}'", "OverflowError: int too large to convert to float"],
    ["round(float('inf'))", "OverflowError: cannot convert float infinity to integer"],
  ])("refuses what no memory holds, at its line: %s", (text, error) => {
    expect(run(`h = 10 ** 400\n${text}\n`)).toBe(`${error} at t.py:2`);
  });

  it("takes roots, divisors and logarithms of ints of any size", () => {
    const text = `
import math
h = 10 ** 400
print(math.isqrt(h) == 10 ** 200, math.gcd(h, 15), math.lcm(h, 3) == 3 * h, math.log10(h), math.log(h, 10), pow(3, h, 7))
`;
    expect(run(text)).toBe("True 5 True 400.0 399.99999999999994 4");
  });

  it("cuts ranges of ints of any size", () => {
    const text = `
h = 10 ** 400
print(range(h)[1:] == range(1, h), range(h)[::-1][0] == h - 1, range(h)[:5], range(10)[8:2:-2], range(10)[::-1])
`;
    expect(run(text)).toBe("True True range(0, 5) range(8, 2, -2) range(9, -1, -1)");
  });

  it("adds objects of classes that derive from containers as those say", () => {
    const text = `
class V(tuple):
    def __add__(self, o): return V(a + b for a, b in zip(self, o))
    def __rmul__(self, n): return V(n * a for a in self)
class L(list): pass
print(V((1, 2)) + V((3, 4)), 2 * V((1, 2)), L([1]) + [2])
`;
    expect(run(text)).toBe("(4, 6) (2, 4) [1, 2]");
  });

  it("turns no more than 4300 digits into a number and back, but in bases of two", () => {
    const text = `
def refusal(f, x):
    try:
        f(x)
    except ValueError as e:
        return str(e)[:31]
print(refusal(int, '9' * 4301), refusal(str, 10 ** 4300), len(str(10 ** 4299)), int('f' * 5000, 16) > 0)
`;
    expect(run(text)).toBe("Exceeds the limit (4300 digits) Exceeds the limit (4300 digits) 4300 True");
  });

  it("counts letters, not halves of them", () => {
    expect(run("s = 'a\u{1f600}b'\nprint(len(s), s[2], s[-1], s[::-1][0], s[1:] == s[1] + 'b', 'abc'[-1])")).toBe(
      "3 b b b True c",
    );
  });

  it("expands tabs up to the next column", () => {
    expect(run("print('a\\tb\\n\\tc'.expandtabs(4), 'ab\\tc'.expandtabs())")).toBe("a   b\n    c ab      c");
  });

  it("repeats bytes, and writes what holds itself as dots", () => {
    expect(run("x = [1]\nx.append(x)\nd = {'d': x}\nd['e'] = d\nprint(b'ab' * 2, x, d)")).toBe(
      "b'abab' [1, [...]] {'d': [1, [...]], 'e': {...}}",
    );
  });

  it("takes powers modulo a number, of negative exponents too", () => {
    expect(run("print(pow(7, -1, 13), pow(-3, 3, 5), pow(3, 3, -5), pow(2, 0, 1), pow(5, 3, 7))")).toBe("2 3 -3 0 6");
    expect(run("pow(2, -1, 4)")).toBe("ValueError: base is not invertible for the given modulus at t.py:1");
  });

  it("lets a metaclass ask type to make the object", () => {
    const text = `
class Once(type):
    made = {}
    def __call__(cls, *args):
        if cls not in cls.made:
            cls.made[cls] = super().__call__(*args)
        return cls.made[cls]
class A(metaclass=Once):
    def __init__(self, x): self.x = x
print(A(1).x, A(2).x, A(3) is A(4))
`;
    expect(run(text)).toBe("1 1 True");
  });

  it("ends a generator that is closed as its finally wants", () => {
    const text = `
def g(stubborn):
    try:
        yield 1
    finally:
        print('done')
        if stubborn: yield 2
i = g(False); next(i); i.close(); print(list(i))
i = g(False); i.close()
i = g(True); next(i); i.close()
`;
    expect(run(text)).toBe("done\n[]\ndone\nRuntimeError: generator ignored GeneratorExit at t.py:10");
  });

  it.each([
    "import math\nmath.factorial(10 ** 9)",
    "import math\nmath.comb(10 ** 9, 5 * 10 ** 8)",
    "x = list(range(10 ** 5))\nfor i in range(10 ** 4): -1 in x",
    "x = list(range(10 ** 5))\nfor i in range(10 ** 4): sum(x)",
    "x = [0] * 10 ** 5\nfor i in range(10 ** 4): x.count(1)",
    "import itertools\n-1 in itertools.count()",
  ])("counts the steps of what is one call: %s", text => {
    expect(() => run(text, 1_000_000)).toThrow(Interrupted);
  });

  it.each(["bytes(10 ** 12)", "(5).to_bytes(10 ** 12, 'big')"])("refuses bytes that no memory holds: %s", text => {
    expect(run(text)).toBe("MemoryError: more elements than the analysis makes at t.py:1");
  });

  it("binds arguments of every kind", () => {
    expect(
      run(`
def f(a, b=2, *args, c, d=4, **kw):
    return a, b, args, c, d, kw
print(f(1, c=3), f(1, 5, 6, 7, c=8, e=9))
try:
    f(1)
except TypeError as e:
    print(e)
`),
    ).toBe("(1, 2, (), 3, 4, {}) (1, 5, (6, 7), 8, 4, {'e': 9})\nf() missing 1 required keyword-only argument: 'c'");
  });

  it("keeps closures, nonlocal and comprehension scopes apart", () => {
    expect(
      run(`
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    return step
a, b = counter(), counter()
print(a(), a(), b())
fs = [lambda: i for i in range(3)]
print([g() for g in fs], [x * y for x in range(3) for y in range(x) if y])
x = 10
print([x for x in range(2)], x, {k: v for k, v in zip('ab', (1, 2))})
class A:
    n = 3
    m = [n for _ in range(2)]
print(A.m, (y := 5), y)
`),
    ).toBe("1 2 1\n[2, 2, 2] [2]\n[0, 1] 10 {'a': 1, 'b': 2}\n[3, 3] 5 5");
  });

  it("makes a super() of a class alone that does nothing when it is initialised", () => {
    expect(run("class A:\n  def __init__(self):\n    super(A).__init__()\n    self.n = 1\nprint(A().n)")).toBe("1");
  });

  it("follows the method resolution order, super and properties", () => {
    expect(
      run(`
class A:
    def who(self): return ['A']
class B(A):
    def who(self): return ['B'] + super().who()
class C(A):
    def who(self): return ['C'] + super().who()
class D(B, C):
    def __init__(self, v): self._v = v
    def who(self): return ['D'] + super(D, self).who()
    @property
    def v(self): return self._v
    @v.setter
    def v(self, x): self._v = x * 2
    @classmethod
    def make(cls): return cls(1)
    @staticmethod
    def s(x): return x
    def __getattr__(self, name): return name.upper()
d = D.make()
d.v = 4
print(d.who(), d.v, d.s(3), d.zzz, isinstance(d, A), D.__mro__[1].__name__)
`),
    ).toBe("['D', 'B', 'C', 'A'] 8 3 ZZZ True B");
  });

  it("says of a missing attribute what the program's own __getattr__ says", () => {
    const text = `
class A:
    @property
    def early(self): raise AttributeError('too early')
    def __getattr__(self, name): raise AttributeError(f'nothing called {name} here')
def said(f):
    try:
        return f()
    except AttributeError as e:
        return str(e)
a = A()
print(said(lambda: a.foo), said(lambda: a.early), said(lambda: getattr(a, 'x', 1)), hasattr(a, 'y'), said(lambda: (1).z))
`;
    expect(run(text)).toBe(
      "nothing called foo here nothing called early here 1 False 'int' object has no attribute 'z'",
    );
  });

  it("names the line that raised, where a finally or a handler raises it again", () => {
    const text = (end: string): string => `
def f():
    try:
        x = 1
        return x / 0
    ${end}
        x = 2

        x = 3
        raise_again = True
    RAISE
def g():
    f()
g()
`;
    expect(run(text("finally:").replace("    RAISE\n", ""))).toBe("ZeroDivisionError: division by zero at t.py:5");
    const handler = text("except ZeroDivisionError:").replace("    RAISE", "        raise");
    expect(run(handler)).toBe("ZeroDivisionError: division by zero at t.py:5");
    expect(run(text("except ValueError:").replace("    RAISE\n", ""))).toBe(
      "ZeroDivisionError: division by zero at t.py:5",
    );
  });

  it("runs try, finally, with and return through them", () => {
    expect(
      run(`
log = []
class M:
    def __enter__(self): log.append('in'); return 7
    def __exit__(self, t, v, tb): log.append('out'); return t is ValueError
def f(x):
    try:
        with M() as m:
            if x == 0: return m
            if x == 1: raise ValueError('a')
            if x == 2: raise KeyError('k')
        return 'end'
    except KeyError as e:
        return repr(e)
    finally:
        log.append('fin')
print(f(0), f(1), f(2), log)
def g():
    for i in range(5):
        try:
            if i == 1: continue
            if i == 3: break
        finally:
            log.append(i)
    else:
        log.append('else')
log.clear(); g(); print(log)
try:
    try: 1 / 0
    except ZeroDivisionError as e: raise RuntimeError('x') from e
except RuntimeError as e: print(type(e.__cause__).__name__, e)
`),
    ).toBe(
      "7 end KeyError('k') ['in', 'out', 'fin', 'in', 'out', 'fin', 'in', 'out', 'fin']\n[0, 1, 2, 3]\nZeroDivisionError x",
    );
  });

  it("runs generators with send, yield from and early ends", () => {
    expect(
      run(`
def g():
    x = yield 1
    y = yield x + 1
    return y
def h():
    r = yield from g()
    yield ('r', r)
it = h()
print(next(it), it.send(10), it.send(5), list(it))
print(sum(i * i for i in range(4)), list(map(lambda a, b: a + b, [1, 2], [3, 4])), max((3, 'a'), (1, 'b')))
a, *b, c = range(5)
print(a, b, c, list(zip([1, 2], 'ab')), sorted([3, 1, 2], reverse=True), [*range(2), *(5,)])
`),
    ).toBe("1 11 ('r', 5) []\n14 [4, 6] (3, 'a')\n0 [1, 2, 3] 4 [(1, 'a'), (2, 'b')] [3, 2, 1] [0, 1, 5]");
  });

  it("makes dataclasses, enums and named tuples", () => {
    expect(
      run(`
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum, auto
from typing import NamedTuple, Optional
from collections import namedtuple, defaultdict, OrderedDict
@dataclass
class Cfg:
    dim: int = 4
    names: list = field(default_factory=list)
    eps: Optional[float] = None
    def __post_init__(self): self.half = self.dim // 2
c = Cfg(8)
print(c, c.half, replace(c, dim=2), c == Cfg(8))
class Color(Enum):
    RED = 1
    BLUE = auto()
class N(IntEnum):
    A = 3
print(Color.RED, Color.BLUE.value, Color(1) is Color.RED, N.A + 1, [m.name for m in Color])
class P(NamedTuple):
    x: int
    y: int = 2
p = P(1)
print(p, p.x, p._replace(y=5), namedtuple('Q', 'a b')(1, 2))
d = defaultdict(list); d['k'].append(1); print(d['k'], OrderedDict(a=1))
`),
    ).toBe(
      "Cfg(dim=8, names=[], eps=None) 4 Cfg(dim=2, names=[], eps=None) True\nColor.RED 2 True 4 ['RED', 'BLUE']\nP(x=1, y=2) 1 P(x=1, y=5) Q(a=1, b=2)\n[1] {'a': 1}",
    );
  });

  it("uses functools, contextlib and itertools", () => {
    expect(
      run(`
import functools, itertools, contextlib, math, os
@contextlib.contextmanager
def tag(n):
    print('<' + n)
    try:
        yield n
    finally:
        print('>')
with tag('a') as t: print(t)
def deco(f):
    @functools.wraps(f)
    def w(*a, **k): return f(*a, **k) + 1
    return w
@deco
def f(x): return x
print(f(1), f.__name__, functools.partial(pow, 2)(3), functools.reduce(lambda a, b: a * b, [1, 2, 3]))
print(list(itertools.chain([1], (2,))), list(itertools.product('ab', [1])), math.prod((2, 3)), os.environ.get('X'), math.sqrt(2))
match [1, 2, 3]:
    case [a, *r] if a == 1: print('m', a, r)
match {'k': 2}:
    case {'k': 3}: print('no')
    case {'k': v}: print('k', v)
`),
    ).toBe("<a\na\n>\n2 f 8 6\n[1, 2] [('a', 1), ('b', 1)] 6 None 1.4142135623730951\nm 1 [2, 3]\nk 2");
  });

  it("reports errors with their line", () => {
    expect(run("x = 1\ny = x + 'a'\n")).toBe("TypeError: unsupported operand type(s) for +: 'int' and 'str' at t.py:2");
    expect(run("def f():\n    return q\nf()\n")).toBe("NameError: name 'q' is not defined at t.py:2");
  });

  it("stops at the step budget", () => {
    expect(() => run("while True:\n    pass\n", 10_000)).toThrow(Interrupted);
  });
});
