// Corners of the standard library and of layers that model code leans on.
import { expect, test } from "vitest";
import { analysed, analysedProject, operatorsOf, printed } from "../infer/testing/analysed";

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

test("data that a program reads are not known, those that it can do without are not there", () => {
  const r = analysed(`
import hashlib, os
def checksum(path):
    with open(path, "rb") as f:
        return hashlib.md5(f.read()).hexdigest()
if not os.path.exists("weights.pth"):
    with open("weights.pth", "wb") as f:
        f.write(b"x")
    assert checksum("weights.pth") == "0123", "damaged"
try:
    open("cache.pkl", "rb")
except FileNotFoundError:
    print("no cache")
print("on")
`);
  expect(printed(r)).toBe("no cache\non\n");
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

test("an unknown value in a list is what the refusal behind the question wants", () => {
  const r = analysed(`
state = torch.load("weights.pth")
size, heads = state["heads"].shape
assert size in (32, 64)
if size not in (32, 64):
    raise ValueError("size")
if heads in [3]:
    raise ValueError("heads")
if [size, 1] != [64, 1]:
    raise ValueError("both")
print("on", size in (32, 64))
`);
  expect(printed(r)).toBe("on False\n");
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
});

test("a module imported under another name is the function that its package has in its place", () => {
  const r = analysed(`
import torch.nn.utils.spectral_norm as spectral_norm
import torch.nn.functional as functional
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = spectral_norm(nn.Conv2d(3, 4, 3))
    def forward(self, x):
        return functional.relu(self.conv(x))
`);
  expect(operatorsOf(r, "Net").at(-1)).toMatch(/relu/);
});

test("a parameter that falls back to None has a default, and diffusers' configurations hold it", () => {
  const r = analysed(`
import inspect
from typing import Optional
from diffusers.configuration_utils import ConfigMixin, register_to_config

class Settings(ConfigMixin):
    @register_to_config
    def __init__(self, width: int = 3, kind: Optional[str] = None):
        self.width = width

p = inspect.signature(lambda a, b=None: a).parameters
print(p["a"].default is inspect.Parameter.empty, p["b"].default, Settings(5).config)
`);
  expect(printed(r)).toBe("True None {'width': 5, 'kind': None}\n");
});

test("adapters of loggers are loggers, and texts that nobody knows join to one", () => {
  const r = analysed(`
import logging
from texts import words
class Tagged(logging.LoggerAdapter):
    pass
log = Tagged(logging.getLogger("a"), extra={})
log.fatal("x")
print(log.logger.name, " ".join([words.first, "b"]) is None)
`);
  expect(printed(r)).toBe("a False\n");
});

test("libraries are looked for as they are imported, and have versions where code is not prepared to miss them", () => {
  const r = analysed(`
import importlib.util
from importlib.metadata import PackageNotFoundError, version
def tried(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None
print(importlib.util.find_spec("torch") is not None, importlib.util.find_spec("fast_kernels"), tried("fast_kernels"), version("pack"))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if importlib.util.find_spec("fast_kernels") is None:
            raise ImportError("please install fast_kernels")
        self.proj = nn.Linear(4, 4)
    def forward(self, x):
        return self.proj(x)
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear"]);
  expect(printed(r)).toMatch(/^True <unknown .*> 9.9.9 9.9.9\n$/);
});

test("ast.literal_eval takes literals and refuses names, and texts are asked whether they can be printed", () => {
  const r = analysed(`
import ast, contextlib
args = ["None", "nearest", "(1, -2.5)", "{'a': [True]}"]
for i, a in enumerate(args):
    with contextlib.suppress(ValueError):
        args[i] = ast.literal_eval(a)
print(args, "a b".isprintable(), "a\\n".isprintable())
`);
  expect(printed(r)).toBe("[None, 'nearest', (1, -2.5), {'a': [True]}] True False\n");
});

test("a module's version can be set, a file that imports its own name means the library, and paths have more functions", () => {
  const r = analysed(`
import model
import os
print(model.Layer, os.path.commonprefix(["a"]) is None)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self._version = "2"
        self.proj = nn.Linear(4, 4)
    def forward(self, x):
        return self.proj(x)
`);
  expect(printed(r)).toBe("<unknown model.Layer> False\n");
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear"]);
});

test("versions have their numbers, and frames say which module and function called", () => {
  const r = analysed(
    `
from packaging.version import parse
from pack.registry import Registry
import sys
print(parse("1.13.1").release, parse("2.0") > parse("1.13.1"), parse("1.9") < parse("1.10"))
print(Registry().scope, Registry().caller)
def named():
    return sys._getframe(0).f_code.co_name
print(named())
`,
    {
      "pack/registry.py": `
import inspect
def infer():
    return inspect.getmodule(inspect.stack()[2][0]).__name__
class Registry:
    def __init__(self):
        self.scope = infer()
        self.caller = inspect.currentframe().f_back.f_globals["__name__"]
`,
    },
  );
  expect(printed(r)).toBe("(1, 13, 1) True True\n__main__ __main__\nnamed\n");
});

test("folders that a program has made are there", () => {
  const r = analysed(`
import os
from pathlib import Path
print(Path("out").is_dir(), os.path.exists("logs"))
Path("out").mkdir(exist_ok=True, parents=True)
os.makedirs("logs/", exist_ok=True)
print(Path("out").is_dir(), os.path.exists("logs"), os.path.isfile("logs"))
`);
  expect(printed(r)).toBe("False False\nTrue True False\n");
});

test("locals and a frame's locals hold None, the class of super() and what inner functions read", () => {
  const r = analysed(`
import inspect
class Base:
    pass
class Net(Base):
    def __init__(self, a, b=None, **rest):
        super().__init__()
        kept = locals()
        del kept["__class__"]
        print(sorted(kept), sorted(inspect.currentframe().f_locals))
def outer(x):
    def inner():
        y = x
        return sorted(locals())
    return inner()
Net(1)
print(outer(2))
`);
  expect(printed(r)).toBe("['a', 'b', 'rest', 'self'] ['__class__', 'a', 'b', 'kept', 'rest', 'self']\n['x', 'y']\n");
});

test("configparser reads sections and their defaults, shlex takes lines apart, string holds its sets of characters", () => {
  const r = analysedProject({
    "pack/model.py": `
import configparser, shlex, string
c = configparser.ConfigParser()
print(c.read(["nowhere.ini", "net.ini"]), c.sections(), "net" in c)
print(c.getint("net", "width"), c["net"].getfloat("rate"), c["net"]["names"].split(), c.getboolean("net", "flag"))
print(c.get("net", "none", fallback=3), list(c["net"]), c.has_option("net", "FLAG"))
try:
    c.get("other", "x")
except configparser.NoSectionError as e:
    print(e)
print(shlex.split("a 'b c' d\\\\ e"), repr(string.whitespace))
lex = shlex.shlex("1, 3", posix=True)
lex.whitespace, lex.whitespace_split = ",", True
print([int(s.strip(string.whitespace)) for s in lex])
`,
    "pack/net.ini": "[DEFAULT]\nrate = 0.1\n[net]\n# width\nWidth: 64\nnames = a\n  b\nflag = yes\n",
  });
  expect(printed(r)).toBe(
    "['net.ini'] ['net'] True\n64 0.1 ['a', 'b'] True\n3 ['width', 'names', 'flag', 'rate'] True\nNo section: 'other'\n" +
      "['a', 'b c', 'd e'] ' \\t\\n\\r\\x0b\\x0c'\n[1, 3]\n",
  );
});

test("values of built-in types have the methods behind operators under their names", () => {
  const r = analysed(`
class Sizes(list):
    pass
class Open(dict):
    def __getattr__(self, key):
        raise AttributeError(key)
print([hasattr(v, "__iter__") for v in ([1], (1,), {1: 2}, "a", {1}, range(2), Sizes(), Open(), 3, None)])
print([hasattr(v, "__getitem__") for v in ([1], "a", {1}, 3)], hasattr(len, "__call__"), hasattr(3, "__call__"))
print([hasattr(v, "__len__") for v in ((1,), range(3), 1.5)], hasattr(1.5, "__float__"), hasattr("a", "__float__"))
print([1, 2].__getitem__(1), (1).__add__(2), (lambda x: x + 1).__call__(2), list(map([5, 6].__getitem__, [1, 0])))
print((lambda: 1).__module__, hasattr(3, "__module__"), Sizes().__module__)
`);
  expect(printed(r)).toBe(
    "[True, True, True, True, True, True, True, True, False, False]\n[True, True, False, False] True False\n" +
      "[True, True, False] True False\n2 3 3 [6, 5]\n__main__ False __main__\n",
  );
});
