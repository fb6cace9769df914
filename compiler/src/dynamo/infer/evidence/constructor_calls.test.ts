// Arguments that calls of a class show without being run, and those that its assertions want.
import { expect, test } from "vitest";
import { analysed, analysedProject, assumedOf, operatorsOf } from "../testing/analysed";

const MODEL = `
from torch import nn

class Net(nn.Module):
    def __init__(self, features, factors, symbols, drop):
        super().__init__()
        if len(factors) != 3:
            raise RuntimeError("three factors")
        self.embed = nn.Embedding(symbols, features)
        self.layers = nn.ModuleList(nn.Linear(features, features * f) for f in factors)
        self.drop = nn.Dropout(drop)

    def forward(self, tokens):
        return [l(self.drop(self.embed(tokens))) for l in self.layers]
`;
const SETTINGS = "net_width = 48\nnet_scales = (1, 2, 5)\nother_width = 7\nnet_drop = 0.25\n";

test("a class gets what its call in a script hands over, by the names that another file gives values to", () => {
  const script = `
from settings import settings as hp
from model import Net

def main(args):
    net = Net(features=hp.net_width, factors=hp.net_scales, symbols=len(args.table), drop=hp["net_drop"])
`;
  const r = analysedProject({ "pack/model.py": MODEL, "pack/train.py": script, "pack/settings.py": SETTINGS });
  expect(operatorsOf(r, "Net")).toContain("torch._C._nn.linear");
  expect(assumedOf(r, "Net")).toMatch(/features is 48; factors is \(1, 2, 5\); .*drop is 0.25/);
});

test("arguments that are handed over by position count, those behind a star do not", () => {
  const script = `
def main(hp, args):
    return model.Net(hp.net_width * 2, hp.net_scales, *args.more, hp.other_width)
`;
  const r = analysedProject({ "pack/model.py": MODEL, "pack/train.py": script, "pack/settings.py": SETTINGS });
  expect(assumedOf(r, "Net")).toMatch(/features is 96; factors is \(1, 2, 5\)/);
  expect(assumedOf(r, "Net")).not.toMatch(/is 7\b/);
});

test("a class gets what a configuration that names it says, but what it leaves open or describes as an object", () => {
  const yaml = `
symbols: 11
wide: 48
model:
  _target_: pack.model.Net
  features: \${wide}
  factors: [1, 2, 5]
  symbols: ???
  drop: 0.25
`;
  const r = analysedProject({ "pack/model.py": MODEL, "conf/net.yaml": yaml });
  expect(assumedOf(r, "Net")).toMatch(/features is 48; factors is \[1, 2, 5\]; symbols is \d+; drop is 0.25/);
});

test("arguments that stand in a part of their own beside the class's name are taken from there", () => {
  const json = `{"arch": {"type": "Net", "args": {"features": 24, "factors": [1, 1, 3], "symbols": 7, "drop": 0.5}}}`;
  const r = analysedProject({ "pack/model.py": MODEL, "config.json": json });
  expect(assumedOf(r, "Net")).toMatch(/features is 24; factors is \[1, 1, 3\]; symbols is 7; drop is 0.5/);
});

test("an option that takes several numbers falls back to those that its text lists", () => {
  const model = `
from torch import nn

class Pools(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(int(8 * k), int(8 * k)) for k in args.keep_shares)

    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x
`;
  const script = `
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("-keep_shares", nargs="+", type=float, default="0.5 0.5 0.5")
`;
  const r = analysedProject({ "pack/model.py": model, "pack/train.py": script });
  expect(assumedOf(r, "Pools")).toContain("args.keep_shares is [0.5, 0.5, 0.5]");
});

test("a call of another class that has the name elsewhere gives nothing", () => {
  const r = analysed(
    `
from .inner import Net as Model

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.model = Model(0.25, depth)
        self.first = nn.Linear(width, width)

    def forward(self, x):
        return self.model(self.first(x))
`,
    {
      "pack/__init__.py": "",
      "pack/inner.py": `from torch import nn
class Net(nn.Module):
    def __init__(self, rate, depth):
        super().__init__()
        self.drop = nn.Dropout(rate)
    def forward(self, x):
        return self.drop(x)
`,
    },
  );
  expect(assumedOf(r, "Net")).toMatch(/width is [1-9]\d*;/);
});
