// What constructors take out of **kwargs by key, or hand on to other classes by it.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf, printed } from "./testing/analysed";

test("keys that a constructor reads of its keywords are parameters, by what it does with them", () => {
  const r = analysed(`
class Pooled(nn.Module):
    def __init__(self, width, **kwargs):
        super().__init__()
        self.kind = kwargs["pooling_kind"]
        kwargs["extra"] = 3
        self.extra = kwargs["extra"]
        if "scale" in kwargs:
            self.scale = kwargs["scale"]
        self.out = nn.Linear(width, kwargs.pop("n_out"))

    def forward(self, x):
        if self.kind == "largest":
            x = x.amax(1)
        elif self.kind == "average":
            x = x.mean(1)
        else:
            raise ValueError("unknown pooling")
        return self.out(x)
`);
  const assumed = assumedOf(r, "Pooled");
  expect(assumed).toMatch(/pooling_kind is "(largest|average)"/);
  expect(assumed).toMatch(/n_out is \d+/);
  expect(assumed).not.toMatch(/extra|scale/);
});

test("keywords that are handed on get what the class behind them takes, one error after the other", () => {
  const r = analysed(`
from typing import Literal
import typing

Kind = Literal["plain", "gated"]

class Block(nn.Module):
    def __init__(self, *, width: int, kind: Kind, dropout: float):
        super().__init__()
        if kind not in typing.get_args(Kind):
            raise ValueError(f"kind must be one of {typing.get_args(Kind)}")
        self.up = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.up(x))

class Stack(nn.Module):
    def __init__(self, **block_kwargs):
        super().__init__()
        self.first = nn.Linear(8, block_kwargs["width"])
        self.block = Block(**block_kwargs)

    def forward(self, x):
        return self.block(self.first(x))

print(typing.get_args(Kind), Kind)
`);
  expect(printed(r)).toBe("('plain', 'gated') typing.Literal['plain', 'gated']\n");
  expect(assumedOf(r, "Stack")).toContain('kind is "plain"');
  expect(operatorsOf(r, "Stack")).toHaveLength(3);
});

test("flags under which forward binds a name, or the constructor an attribute, are set where nothing else binds it", () => {
  const r = analysed(`
class Sources(nn.Module):
    def __init__(self, opts, suffix):
        super().__init__()
        self.kind = suffix
        self.sound_only = opts.sound_only
        self.width = opts.width
        if "_fine" in self.kind:
            self.step = 0.1
        elif "_coarse" in self.kind:
            self.step = 1.0
        self.scale = 2 / self.step
        self.proj = nn.Linear(self.width, 16)

    def forward(self, x):
        if self.sound_only:
            last = self.proj(x)[:, -1]
        return last * self.scale
`);
  const assumed = assumedOf(r, "Sources");
  expect(assumed).toContain("sound_only True");
  expect(assumed).toContain('suffix is "_fine"');
});

test("what the constructor of a base takes out of its keywords is given to the class", () => {
  const r = analysed(`
class Base(nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        self.proj = nn.Linear(kwargs["in_width"], kwargs["out_width"])

class Derived(Base):
    def __init__(self, scale=2.0, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def forward(self, x):
        return self.proj(x) * self.scale
`);
  expect(operatorsOf(r, "Derived")).toHaveLength(2);
});

test("a key that is asserted to be among the keywords is given", () => {
  const r = analysed(`
class Base(nn.Module):
    def __init__(self, width=8, **kwargs):
        super().__init__()
        assert "out_width" in kwargs, "out_width is missing"
        self.layer = nn.Linear(width, kwargs["out_width"])

class Net(Base):
    def __init__(self, width=8, **kwargs):
        super().__init__(width, **kwargs)

    def forward(self, x):
        return self.layer(x)
`);
  expect(assumedOf(r, "Net")).toMatch(/out_width is \d+/);
});

test("a forward that reads its keywords by name gets them", () => {
  const r = analysed(`
class Matching(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 24)

    def forward(self, **kwargs):
        return self.words(kwargs["tokens"]) * self.words(kwargs["other_tokens"])
`);
  expect(assumedOf(r, "Matching")).toMatch(/tokens is int64\[.*other_tokens is int64\[/);
});

test("what forward hands on as keywords are parameters of its base's forward, or of a part's", () => {
  const r = analysed(`
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)
        self.lin = nn.Linear(8, 8)
    def forward(self, x, tokens=None):
        assert tokens is not None
        return self.lin(x) + self.emb(tokens)
class Net(Base):
    def forward(self, x, low, **kwargs):
        return super().forward(x * low, **kwargs)
class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Base()
        self.lin = nn.Linear(8, 8)
    def forward(self, x, **kwargs):
        return self.inner(self.lin(x), **kwargs)
`);
  for (const name of ["Net", "Around"]) {
    expect(operatorsOf(r, name).some(o => /embedding/.test(o))).toBe(true);
    expect(assumedOf(r, name)).toContain("tokens is int64");
  }
});

test("a key that the code asks for is left out where what it leads to fails", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x, y=None):
        if "target" in y.keys():
            x = x + self.embed_target(y["target"])
        return self.layer(x) * y["scale"].sigmoid()
`);
  expect(operatorsOf(r, "Net").length).toBeGreaterThan(2);
  expect(assumedOf(r, "Net")).toMatch(/y is \{"scale"/);
});

test("what a protocol says of an input's attributes is no class to build", () => {
  const r = analysed(`
from typing import Any, Protocol

class BatchLike(Protocol):
    obs: Any
    info: Any

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 4)

    def forward(self, batch: BatchLike):
        return self.net(batch.obs) + self.net(batch.info)
`);
  expect(operatorsOf(r, "Policy")).toHaveLength(3);
  expect(assumedOf(r, "Policy")).toMatch(/batch is an object with obs float32/);
});

test("dictionaries inside of a dictionary get their keys, and what a model is called with is one", () => {
  const r = analysed(`
class Criterion(nn.Module):
    def forward(self, model, sample):
        key = "target"
        output = model(**sample["net_input"])
        labels = sample[key]["labels"]
        return (output - labels).abs().mean() * sample[key]["weight"].mean()
`);
  expect(operatorsOf(r, "Criterion").length).toBeGreaterThan(4);
  expect(assumedOf(r, "Criterion")).toMatch(/"target": \{"labels": .*"weight": /);
});
