// Corners of the standard library and of layers that model code leans on.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("a copied object's bound methods belong to the copy", () => {
  const r = analysed(`
import copy
class Kept:
    def __init__(self, name):
        self.name = name
        self.say = self.said
    def said(self):
        return self.name
a = Kept("a")
b = copy.deepcopy(a)
b.name = "b"
print(a.say(), b.say())
`);
  expect(printed(r)).toBe("a b\n");
});

test("make_dataclass takes its arguments by name", () => {
  const r = analysed(`
from dataclasses import make_dataclass
Point = make_dataclass(cls_name="Point", fields=["x", ("y", int, 3)])
print(Point(1), Point(1, 2).y)
`);
  expect(printed(r)).toBe("Point(x=1, y=3) 2\n");
});

test("a file that the program refuses to go on without is taken to be there, others are not", () => {
  const r = analysed(`
import os
print(os.path.isfile("weights.bin"))
assert os.path.isfile("weights.bin"), "no weights"
if not os.path.exists("tokens.model"):
    raise FileNotFoundError("tokens.model")
print("on")
`);
  expect(printed(r)).toBe("False\non\n");
});

test("an unknown value is what an assert wants it to be", () => {
  const r = analysed(`
state = torch.load("weights.pth")
heads, size = state["heads"].shape
print(size == 64)
assert size == 64 and heads != 3
print("on")
`);
  expect(printed(r)).toBe("False\non\n");
});

test("timm's vision transformers and squeezes are there for what is derived from them", () => {
  const r = analysed(`
from timm.models.vision_transformer import VisionTransformer
from timm.models.efficientnet_blocks import SqueezeExcite
class Distilled(VisionTransformer):
    def __init__(self):
        super().__init__(img_size=32, embed_dim=48, depth=1, num_heads=3)
        self.squeeze = SqueezeExcite(8, rd_ratio=0.25)
        self.extra = nn.Linear(48, 10)
        self.extra.apply(self._init_weights)
    def forward(self, x):
        return self.extra(self.forward_features(x)[:, 0])
`);
  expect(operatorsOf(r, "Distilled")).toContain("torch._C._nn.linear");
});

test("what is cut at places that nobody knows is a sequence of parts all the same", () => {
  const r = analysed(`
import workers
class Split(nn.Module):
    def forward(self, x):
        parts = torch.split(x, workers.share(), dim=0)
        return torch.cat([p * 2 for p in parts], dim=0)
`);
  expect(operatorsOf(r, "Split")).toContain("torch.cat");
});

test("classes of the library attrs: fields, defaults, converters, and what runs after them", () => {
  const r = analysed(`
import attr
from attrs import define, field, Factory
@attr.s
class Point:
    x = attr.ib()
    y: int = attr.ib(default=2, converter=int)
    names = attr.ib(factory=list)
    def __attrs_post_init__(self):
        self.sum = self.x + self.y
@attr.s
class Deep(Point):
    z: int = attr.ib(default=5)
    note = "no field"
@define
class Pair:
    a: int
    b: list = Factory(list) if False else field(factory=list)
p = Deep(1, "3")
print(p.x, p.y, p.z, p.names, p.sum, Pair(1), attr.asdict(Pair(2)))
`);
  expect(printed(r)).toBe("1 3 5 [] 4 Pair(a=1, b=[]) {'a': 2, 'b': []}\n");
});

test("a module whose fields attrs makes is built with them", () => {
  const r = analysed(`
import attr
@attr.s(eq=False, repr=False)
class Net(nn.Module):
    n_in: int = attr.ib()
    n_out: int = attr.ib(default=4)
    size: int = attr.ib(init=False, default=32)
    def __attrs_post_init__(self):
        super().__init__()
        self.lin = nn.Linear(self.n_in, self.n_out)
    def forward(self, x):
        return self.lin(x)
`);
  expect(operatorsOf(r, "Net")).toHaveLength(1);
});

test("types that numpy had under Python's names", () => {
  const r = analysed(`
import numpy as np
print(np.ones([2], dtype=np.bool).dtype, np.float is float, np.zeros(2, dtype=np.int).dtype)
`);
  expect(printed(r)).toBe("bool True int64\n");

test("math refuses what no double holds, and what it has no value for", () => {
  const r = analysed(`
import math
def ask(f, *args):
    try:
        return f(*args)
    except (ValueError, OverflowError) as e:
        return type(e).__name__
print([ask(math.exp, 1000), ask(math.sin, math.inf), ask(math.acos, 2), ask(math.atanh, 1), ask(math.fmod, 1, 0)])
print([ask(math.pow, 0, -1), ask(math.gamma, 0), ask(math.factorial, -1), ask(math.comb, -1, 2), ask(math.log1p, -1)])
print(math.exp(-1000), math.fmod(math.inf, math.inf) if False else 0, math.isnan(math.acos(math.nan)))
print(math.comb(60, 30), math.comb(5, 7), math.perm(5, 2), math.factorial(20), round(math.lgamma(200), 6))
`);
  expect(printed(r)).toBe(
    [
      "['OverflowError', 'ValueError', 'ValueError', 'ValueError', 'ValueError']",
      "['ValueError', 'ValueError', 'ValueError', 'ValueError', 'ValueError']",
      "0.0 0 True",
      "118264581564861424 0 20 2432902008176640000 857.93367",
      "",
    ].join("\n"),
  );
});

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
