// Ten traps that model code in the wild sets a front end (counted over public projects), each as a small program of our own.
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../presets";
import { capture } from "./capture";
import type { CapturedFrame, CaptureResult } from "./types";

function run(files: Readonly<Record<string, string>> | string, stepBudget = 2e7): CaptureResult {
  const all: Readonly<Record<string, string>> = typeof files === "string" ? { "p.py": files } : files;
  return capture("p.py", {
    files: p => all[p],
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget,
  });
}
const frames = (r: CaptureResult): CapturedFrame[] => r.events.flatMap(e => (e.kind === "frame" ? [e.frame] : []));
const operators = (r: CaptureResult): string[] =>
  frames(r).flatMap(f => f.graph.nodes.filter(n => n.op.startsWith("call")).map(n => n.target.split(".").pop() ?? ""));
const count = (r: CaptureResult, name: string): number => operators(r).filter(t => t === name).length;
const errors = (r: CaptureResult): string[] => r.diagnostics.filter(d => d.severity === "error").map(d => d.message);
const opaque = (r: CaptureResult): number =>
  frames(r).flatMap(f => f.graph.nodes.filter(n => n.meta.opaque !== undefined)).length;

describe("traps of real model code", () => {
  it("1: of methods defined several times under one name the last counts, and a ModuleDict is iterated in order", () => {
    const r = run(`
import torch, torch.nn as nn
class Grow(nn.ModuleDict):
    def __init__(self, layers, width, rate):
        super().__init__()
        for i in range(layers):
            self.add_module("step%d" % (i + 1), nn.Linear(width + i * rate, rate))
    @torch.jit._overload_method
    def forward(self, x):
        pass
    @torch.jit._overload_method
    def forward(self, x):
        pass
    def forward(self, x):
        seen = [x] if isinstance(x, torch.Tensor) else list(x)
        for name, layer in self.items():
            seen.append(layer(torch.cat(seen, 1)).relu())
        return torch.cat(seen, 1)
m = torch.compile(Grow(3, 8, 4).cuda())
print(m(torch.randn(2, 8, device="cuda")).shape)
`);
    expect(errors(r)).toEqual([]);
    expect(count(r, "linear")).toBe(3);
    expect(count(r, "cat")).toBe(4);
    expect(r.events.find(e => e.kind === "print")).toMatchObject({ text: "torch.Size([2, 20])\n" });
  });

  it("2: a Sequential that hands other arguments to some of its items, and bare modules as namespaces", () => {
    const r = run(`
import torch, torch.nn as nn
from abc import abstractmethod
class Timed(nn.Module):
    @abstractmethod
    def forward(self, x, emb): ...
class Shift(Timed):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, d)
    def forward(self, x, emb):
        return x + self.proj(emb)
class Chain(nn.Sequential, Timed):
    def forward(self, x, emb):
        for layer in self:
            x = layer(x, emb) if isinstance(layer, Timed) else layer(x)
        return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mid = nn.Module()
        self.mid.block = Chain(nn.Linear(8, 8), Shift(8), nn.ReLU())
    def forward(self, x, emb):
        return self.mid.block(x, emb)
m = torch.compile(Net().cuda())
m(torch.randn(2, 8, device="cuda"), torch.randn(2, 8, device="cuda"))
`);
    expect(errors(r)).toEqual([]);
    expect(operators(r).filter(o => /linear|add|relu/.test(o))).toEqual(["linear", "linear", "add", "relu"]);
  });

  it("3: hooks of library layers that subclasses override, and a cache keyed by modules", () => {
    const r = run(`
import torch, torch.nn as nn, torch.nn.functional as F
class Conv(nn.Conv1d):
    def _conv_forward(self, x, weight, bias):
        return super()._conv_forward(x, weight.to(x.dtype), None if bias is None else bias.to(x.dtype))
class Norm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)
class Net(nn.Module):
    fast = True
    def __init__(self):
        super().__init__()
        self.conv, self.norm = Conv(4, 4, 3, padding=1), Norm(16)
    def forward(self, x, cache=None):
        y = self.norm(self.conv(x))
        if cache is not None:
            cache[self.conv] = y
            y = y + next(iter(cache.values())).shape[0]
        return y if not Net.fast else y * 2
m = torch.compile(Net().cuda())
m(torch.randn(2, 4, 16, device="cuda", dtype=torch.float16), {})
`);
    expect(errors(r)).toEqual([]);
    expect(count(r, "to")).toBe(2);
    expect(count(r, "conv1d")).toBe(1);
    expect(count(r, "type") + count(r, "float")).toBe(2);
    expect(frames(r)[0]?.graph.nodes.filter(n => n.meta.opaque).length).toBe(0);
  });

  it("4: the environment and guarded imports decide what exists; plain PyTorch is what is left", () => {
    const r = run(`
import os, torch, torch.nn as nn
Base, method = nn.Module, lambda f: f
if os.environ.get("USE_JIT") == "1":
    Base, method = torch.jit.ScriptModule, torch.jit.script_method
try:
    from fast_kernels import scan
except ImportError:
    scan = None
try:
    import must_be_there
except ImportError as e:
    raise e
LEVEL = os.environ["LEVEL_OF_LOGS"]
class Net(Base):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)
    @method
    def forward(self, x):
        if scan is None:
            return self.proj(x).cumsum(0)
        return scan(self.proj(x))
`);
    expect(frames(r)).toHaveLength(1);
    expect(operators(r)).toEqual(["linear", "cumsum"]);
    expect(r.diagnostics.filter(d => d.code === "unknown-module").map(d => d.message)).toEqual([
      "the module 'must_be_there' is not known here; what comes from it is unknown",
    ]);
  });

  it("5: values of tensors that drive control end in graph breaks or both ways, not in an error", () => {
    const r = run(`
import torch, torch.nn as nn
class Route(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
    def forward(self, x):
        scores, picked = self.gate(x).softmax(-1).topk(2, -1)
        counts = torch.bincount(picked.flatten(), minlength=4).tolist()
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            if counts[i] == 0:
                continue
            rows, slot = torch.where(picked == i)
            y[rows] += expert(x[rows]) * scores[rows, slot, None]
        return y
m = torch.compile(Route().cuda())
m(torch.randn(6, 8, device="cuda"))
@torch.compile
def decode(x):
    while True:
        x = x * 0.5
        if x.sum().sigmoid() > 0.5:
            return x
decode(torch.randn(4, device="cuda"))
print("end")
`);
    expect(r.diagnostics.filter(d => d.code === "internal" || d.code === "stopped")).toEqual([]);
    expect(r.events.some(e => e.kind === "graph_break")).toBe(true);
    expect(r.events.some(e => e.kind === "print")).toBe(true);
  });

  it("6: constructors run tensor programs whose results forward uses", () => {
    const r = run(`
import torch, torch.nn as nn
class Window(nn.Module):
    def __init__(self, size=8, window=4, shift=2):
        super().__init__()
        marks = torch.zeros((1, size, size, 1))
        parts = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
        n = 0
        for h in parts:
            for w in parts:
                marks[:, h, w, :] = n
                n += 1
        tiles = marks.view(1, size // window, window, size // window, window, 1).permute(0, 1, 3, 2, 4, 5)
        flat = tiles.reshape(-1, window * window)
        apart = flat.unsqueeze(1) - flat.unsqueeze(2)
        self.register_buffer("mask", apart.masked_fill(apart != 0, -100.0).masked_fill(apart == 0, 0.0))
        self.register_buffer("extra", None)
        grid = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        between = (grid[:, :, None] - grid[:, None, :]).permute(1, 2, 0).contiguous()
        between[:, :, 0] += window - 1
        between[:, :, 0] *= 2 * window - 1
        self.register_buffer("index", between.sum(-1))
        self.table = nn.Parameter(torch.zeros((2 * window - 1) ** 2, 2))
        print(self.mask.dtype, tuple(self.mask.shape), tuple(self.index.shape))
    def forward(self, scores):
        bias = self.table[self.index.view(-1)].view(16, 16, -1)
        scores = scores + bias.permute(2, 0, 1)[:1]
        return scores + self.mask if self.extra is None else scores
m = torch.compile(Window().cuda())
m(torch.randn(4, 16, 16, device="cuda"))
`);
    expect(errors(r)).toEqual([]);
    expect(r.events.find(e => e.kind === "print")).toMatchObject({ text: "torch.float32 (4, 16, 16) (16, 16)\n" });
    expect(count(r, "add")).toBe(2);
  });

  it("7: classes, partials and strings are values", () => {
    const r = run(`
import functools, torch, torch.nn as nn
ACTIVATIONS = {"gelu": nn.GELU, "relu": functools.partial(nn.ReLU, inplace=True)}
def attend(module, q, k):
    return torch.softmax(q @ k.transpose(-1, -2) * module.scale, -1)
ATTENTION = {"eager": attend}
class Block(nn.Module):
    default_act = nn.SiLU()
    def __init__(self, norm=functools.partial(nn.InstanceNorm2d, affine=False), act="gelu", kind="eval"):
        super().__init__()
        use_bias = norm.func == nn.InstanceNorm2d if type(norm) is functools.partial else norm == nn.InstanceNorm2d
        layer = eval("nn.Conv2d")
        self.conv = layer(4, 4, 3, padding=1, bias=use_bias)
        self.norm, self.act, self.scale = norm(4), ACTIVATIONS[act](), 0.5
    def forward(self, x):
        y = self.act(self.norm(self.conv(x)))
        return ATTENTION["eager"](self, y, self.default_act(x))
Block.default_act = nn.ReLU()
b = Block()
print(b.conv.bias is not None)
torch.compile(b.cuda())(torch.randn(2, 4, 8, 8, device="cuda"))
`);
    expect(errors(r)).toEqual([]);
    expect(r.events.find(e => e.kind === "print")).toMatchObject({ text: "True\n" });
    expect(operators(r).filter(o => /gelu|relu|silu|softmax/.test(o))).toEqual(["gelu", "relu", "softmax"]);
  });

  it("8: caches that are neither parameters nor buffers, complex tables", () => {
    const r = run(`
import torch, torch.nn as nn
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(16, 16)
        self.keys = torch.zeros(2, 32, 16).cuda()
        angles = torch.outer(torch.arange(32), 1.0 / 10000 ** (torch.arange(0, 16, 2) / 16))
        self.turns = torch.polar(torch.ones_like(angles), angles)
        self.late = None
    def setup(self):
        self.late = torch.zeros(1)
    def forward(self, x, start: int):
        n = x.shape[1]
        z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        turns = self.turns[start : start + n].to(z.device)
        x = torch.view_as_real(z * turns).flatten(2)
        self.keys = self.keys.to(x)
        self.keys[: x.shape[0], start : start + n] = self.proj(x)
        return x @ self.keys[: x.shape[0], : start + n].transpose(1, 2)
m = Attend().cuda()
assert m.late is None
y = torch.compile(m)(torch.randn(2, 4, 16, device="cuda"), 3)
print(y.shape, m.turns.dtype)
`);
    expect(errors(r)).toEqual([]);
    expect(r.events.find(e => e.kind === "print")).toMatchObject({
      text: "torch.Size([2, 4, 7]) torch.complex64\n",
    });
    expect(operators(r)).toContain("view_as_complex");
    expect(operators(r)).toContain("setitem");
  });

  it("9: configurations that are code", () => {
    const r = run({
      "base.py": `
from dataclasses import dataclass
class Part:
    @dataclass(kw_only=True, slots=True)
    class Config:
        def build(self, **more):
            return self.owner(self, **more)
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.Config.owner = cls
`,
      "p.py": `
import torch, torch.nn as nn
from dataclasses import dataclass, field
from base import Part
class Feed(nn.Module, Part):
    @dataclass(kw_only=True)
    class Config(Part.Config):
        width: int = 8
        layers: tuple = ("a", "f", None)
    def __init__(self, config, *, scale=1.0):
        super().__init__()
        self.scale = scale
        self.layers = nn.ModuleList([
            nn.ModuleList([nn.Linear(config.width, config.width), nn.GELU() if kind == "f" else None])
            for kind in config.layers])
    def forward(self, x, offsets):
        offsets = iter(offsets)
        for linear, act in self.layers:
            x = linear(x) * self.scale + next(offsets)
            if act is not None:
                x = act(x)
        return x
def split(prefix, options):
    inside = {k[len(prefix):]: v for k, v in options.items() if k.startswith(prefix)}
    return inside, {k: v for k, v in options.items() if not k.startswith(prefix)}
def make(**options):
    feed, rest = split("feed_", options)
    assert rest == {"depth": 1}
    return Feed.Config(**feed).build(scale=2.0)
m = torch.compile(make(feed_width=16, depth=1).cuda())
m(torch.randn(2, 16, device="cuda"), [1.0, 2.0, 3.0])
`,
    });
    expect(errors(r)).toEqual([]);
    expect(count(r, "linear")).toBe(3);
    expect(count(r, "gelu")).toBe(1);
  });

  it("10: attributes with made names, and decorators that change what forward returns", () => {
    const r = run(`
import functools, torch, torch.nn as nn
def persistent(cls):
    class Kept(cls):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.made_with = (args, kwargs)
    Kept.__name__ = cls.__name__
    return Kept
def to_tuple(forward):
    @functools.wraps(forward)
    def wrapper(self, *args, return_dict=None, **kwargs):
        kwargs.setdefault("scale", self.scale)
        out = forward(self, *args, **kwargs)
        return out if return_dict else tuple(out.values())
    return wrapper
@persistent
class Pyramid(nn.Module):
    def __init__(self, sizes=(4, 8)):
        super().__init__()
        self.sizes, self.scale = sizes, 3.0
        for s in sizes:
            setattr(self, f"level{s}", nn.Linear(4, s))
    @to_tuple
    def forward(self, x, scale=1.0):
        return {f"out{s}": getattr(self, f"level{s}")(x) * scale for s in self.sizes}
m = Pyramid(sizes=(4, 8, 16))
out = torch.compile(m.cuda())(torch.randn(2, 4, device="cuda"))
print(type(out).__name__, len(out), m.made_with)
`);
    expect(errors(r)).toEqual([]);
    expect(count(r, "linear")).toBe(3);
    expect(r.events.find(e => e.kind === "print")).toMatchObject({ text: "tuple 3 ((), {'sizes': (4, 8, 16)})\n" });
  });
});

describe("what is not known", () => {
  it("as a base class or decorator leaves the module a module", () => {
    const r = run(`
import torch, torch.nn as nn
from some_framework import Backbone, registry
@registry.register("net")
class Net(Backbone):
    def __init__(self):
        super().__init__(name="net")
        self.proj = nn.Linear(8, 8)
    def forward(self, x):
        return self.proj(x)
`);
    expect(operators(r)).toEqual(["linear"]);
    expect(r.diagnostics.filter(d => d.code === "unknown-base")).toHaveLength(1);
  });

  it("as a base class that super() names is passed over", () => {
    const r = run(`
import torch, torch.nn as nn
from some_framework import BackboneModel
class Mixin:
    pass
class Net(BackboneModel, Mixin):
    def __init__(self):
        super(BackboneModel, self).__init__()
        self.proj = nn.Linear(8, 8)
    def forward(self, x):
        return self.proj(x)
`);
    expect(operators(r)).toEqual(["linear"]);
  });

  it("in an import that fails half-way costs what fails, not what follows", () => {
    const r = run({
      "util.py": `
import os
RANK = int(os.environ["RANK"])
def double(x):
    return x * 2
`,
      "p.py": `
import torch, torch.nn as nn
from util import double
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)
    def forward(self, x):
        return double(self.proj(x))
`,
    });
    expect(operators(r)).toEqual(["linear", "mul"]);
  });

  it("about a script's data keeps the modules that it builds", () => {
    const r = run(`
import argparse, torch, torch.nn as nn
from vocabulary import load
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=24)
opt = parser.parse_args()
class Net(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.emb, self.out = nn.Embedding(vocab_size, width), nn.Linear(width, 5)
    def forward(self, x):
        return self.out(self.emb(x))
if __name__ == "__main__":
    net = Net(len(load("words.txt")), opt.width)
    for batch in load("train"):
        net(batch)
`);
    const linear = frames(r)[0]?.graph.nodes.find(n => n.target.endsWith("linear"));
    expect(opaque(r)).toBe(0);
    const sizes = (linear?.inputs ?? []).map(i => {
      const { val } = i.meta;
      return typeof val === "object" && val !== null && "shape" in val
        ? val.shape.map(d => ("value" in d ? d.value : "s")).join("x")
        : "";
    });
    expect(sizes).toContain("5x24");
  });
});

describe("weight norm", () => {
  it("computes the weight from its direction and length, and is undone where it is removed", () => {
    const r = run(`
import torch, torch.nn as nn
from torch.nn.utils import weight_norm, remove_weight_norm
m = nn.Sequential(weight_norm(nn.Linear(8, 4)), remove_weight_norm(weight_norm(nn.Linear(4, 4))))
print([n for n, _ in m.named_parameters()])
torch.compile(m.cuda())(torch.randn(2, 8, device="cuda"))
`);
    expect(errors(r)).toEqual([]);
    expect(r.events.find(e => e.kind === "print")).toMatchObject({
      text: "['0.bias', '0.weight_g', '0.weight_v', '1.bias', '1.weight']\n",
    });
    expect(operators(r)).toEqual(["_weight_norm", "linear", "linear"]);
  });
});

describe("budgets", () => {
  it("count operators, so that a loop of them ends", () => {
    const r = run(
      `
import torch
x = torch.zeros(4)
while True:
    x = x + 1
`,
      2e5,
    );
    expect(r.diagnostics.map(d => d.code)).toEqual(["stopped"]);
    expect(r.events.length).toBeLessThan(1000);
  });
});

describe("the environment and guarded imports", () => {
  it("follow what the options say", () => {
    const text = `
import os
try:
    import fast_kernels
except ImportError:
    fast_kernels = None
print(os.environ.get("MODE"), fast_kernels is None)
`;
    const said = (more: object): unknown =>
      capture("p.py", {
        files: p => (p === "p.py" ? text : undefined),
        config: defaultConfig("torch-2.11"),
        behaviours: new Map(),
        shouldStop: () => false,
        stepBudget: 1e5,
        ...more,
      }).events;
    expect(said({})).toMatchObject([{ text: "None True\n" }]);
    expect(said({ environment: new Map([["MODE", "fast"]]), imports: "present" })).toMatchObject([
      { text: "fast False\n" },
    ]);
  });
});

describe("a star before a call", () => {
  it("unpacks what the call gives, in lists, sets and tuples", () => {
    const r = run(`
xs = [1, 2]
print([*map(str, xs)], {*map(int, xs)}, (*map(str, xs), 3), [*xs.copy(), *reversed(xs)])
`);
    expect(errors(r)).toEqual([]);
    expect(r.events).toMatchObject([{ text: "['1', '2'] {1, 2} ('1', '2', 3) [1, 2, 2, 1]\n" }]);
  });
});

describe("a global that is None", () => {
  it("is found from inside a function", () => {
    const r = run(`
scale = None
def get():
    return scale
print(get())
`);
    expect(errors(r)).toEqual([]);
    expect(r.events).toMatchObject([{ kind: "print", text: "None\n" }]);
  });
});
