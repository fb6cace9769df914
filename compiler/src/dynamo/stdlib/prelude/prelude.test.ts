// The standard library that is written in Python.
import { expect, test } from "vitest";
import { analysed, printed } from "../../infer/testing/analysed";

test("counters are added and taken from each other, and a cache says how often it was asked", () => {
  const r = analysed(`
from collections import Counter
from functools import lru_cache
a, b = Counter("aab"), Counter("abc")
print(dict(a + b), dict(a - b), dict(a & b), dict(a | b), a.total())
@lru_cache(maxsize=None)
def twice(x):
    return 2 * x
print(twice(1), twice(1), twice(2), twice.cache_info().hits, twice.cache_info().misses)
`);
  expect(printed(r)).toBe("{'a': 3, 'b': 2, 'c': 1} {'a': 1} {'a': 1, 'b': 1} {'a': 2, 'b': 1, 'c': 1} 3\n2 2 4 1 2\n");
});

test.each(["__lt__", "__le__", "__gt__", "__ge__"])("the other comparisons follow from equality and %s", name => {
  const op = { __lt__: "<", __le__: "<=", __gt__: ">", __ge__: ">=" }[name];
  const r = analysed(`
from functools import total_ordering
@total_ordering
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def ${name}(self, other): return self.n ${op} other.n
a, b = V(1), V(2)
print(a < b, b < a, a <= a, b <= a, b > a, a > a, a >= b, a >= a)
`);
  expect(printed(r)).toBe("True False True False True False False True\n");
});

test("a dataclass refuses defaults that its objects would share, and arguments without one behind those with one", () => {
  const r = analysed(`
from dataclasses import dataclass, field
def refusal(make):
    try:
        make()
    except (ValueError, TypeError) as e:
        return str(e)
def shared():
    @dataclass
    class A:
        sizes: list = []
def behind():
    @dataclass
    class A:
        x: int = 1
        y: int
@dataclass
class Fine:
    x: int = 1
    y: int = field(kw_only=True)
    sizes: list = field(default_factory=list)
print(refusal(shared))
print(refusal(behind))
print(Fine(y=2))
`);
  expect(printed(r)).toBe(
    [
      "mutable default <class 'list'> for field sizes is not allowed: use default_factory",
      "non-default argument 'y' follows default argument",
      "Fine(x=1, y=2, sizes=[])",
      "",
    ].join("\n"),
  );
});

test("auto() counts on from the last number, whatever stands between", () => {
  const r = analysed(`
from enum import Enum, Flag, auto
class Mode(Enum):
    A = 5
    B = "word"
    C = auto()
class Bits(Flag):
    X = auto()
    Y = auto()
print(Mode.C.value, Bits.Y.value)
`);
  expect(printed(r)).toBe("6 2\n");
});

test("each dropwhile drops for itself", () => {
  const r = analysed(`
from itertools import dropwhile
a = dropwhile(lambda x: x < 2, [1, 2, 1])
first = next(a)
b = dropwhile(lambda x: x < 2, [1, 1, 3])
print(first, list(b), list(a))
`);
  expect(printed(r)).toBe("2 [3] [1]\n");
});

test("fields of named tuples have defaults that are set later", () => {
  const r = analysed(`
from collections import namedtuple
P = namedtuple("P", "a b c")
P.__new__.__defaults__ = (None, 2)
print(P(1), P(a=3, c=4), namedtuple("Q", ["x", "y"], defaults=[5])(1))
`);
  expect(printed(r)).toBe("P(a=1, b=None, c=2) P(a=3, b=None, c=4) Q(x=1, y=5)\n");
});
