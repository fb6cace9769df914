// Objects whose constructors guesses don't reach are made as the program makes them.
import { describe, expect, test } from "vitest";
import type { CaptureResult } from "../types";
import { analysedProject } from "./testing/analysed";

const one = (text: string): CaptureResult => analysedProject({ "pack/model.py": text });

/** stages are objects of a class that guesses don't make */
const STAGED = `
import torch
from torch import nn

class Stage:
    def __init__(self, text):
        kind, width = text.split("x")
        self.kind, self.width = kind, int(width)

class Net(nn.Module):
    def __init__(self, stages):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, s.width) for s in stages if s.kind == "fc"])

    def forward(self, x):
        return torch.cat([l(x) for l in self.layers], dim=-1).relu()
`;

describe("a root that its constructor's arguments are not found for", () => {
  test("is built by a classmethod, whose argument its error offers", () => {
    const r = one(`${STAGED}
    @classmethod
    def from_name(cls, name):
        plans = {"tiny": "fcx16", "large": "fcx32 fcx64"}
        if name not in plans:
            raise ValueError("name should be one of: " + ", ".join(plans))
        return cls([Stage(t) for t in plans[name].split()])
`);
    const net = r.roots.find(x => x.name === "Net");
    expect(net?.assumed).toContain("built by from_name()");
    expect(net?.assumed).toContain('name is "tiny"');
  });

  test("is built by a function of the file that returns it among other things", () => {
    const r = one(`${STAGED}
def create(width, verbose):
    net = Net([Stage("fcx%d" % width)])
    return net, {"width": width}
`);
    expect(r.roots.find(x => x.name === "Net")?.assumed).toContain("built by create()");
  });

  test("is not built by a function that gives back something else", () => {
    const r = one(`${STAGED}
def width_of(name):
    return len(Net(name).layers)
`);
    expect(r.roots.find(x => x.name === "Net")).toBeUndefined();
  });
});

test("an argument that is an object of a class is built like that too", () => {
  const r = one(`${STAGED}
def default_net(kind):
    return Net([Stage("fcx24")])

class Wrapper(nn.Module):
    def __init__(self, net: Net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x) * 2
`);
  expect(r.roots.find(x => x.name === "Wrapper")?.assumed).toContain("net is a Net");
});

describe("classes of files that nothing imports", () => {
  test("stand for a module by the members that are read of it", () => {
    const r = analysedProject({
      "pack/model.py": `
import copy
import torch
from torch import nn

class Cleaner(nn.Module):
    def __init__(self, vocoder):
        super().__init__()
        self.vocoder = copy.deepcopy(vocoder).eval()

    def forward(self, x):
        return self.vocoder.render(x, self.vocoder.gain_of_render)
`,
      "pack/voice.py": `
import torch
from torch import nn

class Unrelated(nn.Module):
    def render(self, x, gain):
        return x

class SmallVocoder(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.gain_of_render = 3
        self.net = nn.Linear(channels, 8)

    def render(self, x, gain):
        return self.net(x) * gain
`,
    });
    expect(r.roots.find(x => x.name === "Cleaner")?.assumed).toContain("vocoder is a SmallVocoder (voice.py)");
  });

  test("stand for a configuration by the fields that are read of it", () => {
    const r = analysedProject({
      "pack/model.py": `
from torch import nn

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.rank * 3 == config.width and config.check() == "right"
        self.net = nn.Linear(config.width, config.classes_of_it)

    def forward(self, x):
        return self.net(x)
`,
      "pack/settings.py": `
from dataclasses import dataclass

@dataclass
class NetConfig:
    width: int = 36
    rank: int = 12
    classes_of_it: int = 5

    def check(self):
        return "right"
`,
    });
    expect(r.roots.find(x => x.name === "Net")?.assumed).toContain("config is a NetConfig (settings.py)");
  });
});

describe("a root whose usual sizes take too long", () => {
  const deep = (init: string, depth: string): string => `
from dataclasses import dataclass
import torch
from torch import nn

@dataclass
class Sizes:
    num_layers: int = 60
    width: int = 16

class Net(nn.Module):
    def __init__(self, ${init}):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(${depth}):
            self.layers.append(nn.Linear(16, 16))
            total = 0
            for i in range(40000):
                total += i

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
`;

  test("is built with few layers, and that is said", () => {
    const r = one(deep("width, depth=60", "depth"));
    expect(r.roots.find(x => x.name === "Net")?.assumed).toContain("depth is 2");
  });

  test("so is its configuration", () => {
    const r = one(deep("sizes: Sizes", "sizes.num_layers"));
    expect(r.roots.find(x => x.name === "Net")).toBeDefined();
  });

  test("but not where nothing that can be cut down is the reason", () => {
    const r = one(deep("width, rounds=60", "rounds"));
    expect(r.roots.find(x => x.name === "Net")).toBeUndefined();
  });
});

test("a constructor that runs a module which it is handed on the device gets it there", () => {
  const r = one(`
import torch
from torch import nn

class Tone(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    def forward(self, x):
        return self.net(x)

class Cleaner(nn.Module):
    def __init__(self, tone: Tone):
        super().__init__()
        self.register_buffer("noise", tone(torch.zeros(1, 8).cuda()))

    def forward(self, x):
        return x - self.noise
`);
  expect(r.roots.find(x => x.name === "Cleaner")).toBeDefined();
});

describe("arguments that an error refuses", () => {
  test("a configuration is one of the program's presets", () => {
    const r = one(`
from dataclasses import dataclass
from torch import nn

@dataclass
class Sizes:
    width: int = 16
    kind: str = "plain"

def sizes_for_gated(dropout=0.0):
    return Sizes(width=24, kind="gated")

class Net(nn.Module):
    def __init__(self, sizes: Sizes):
        super().__init__()
        if sizes.kind not in SUPPORTED:
            raise ValueError("this kind can't be built")
        self.net = nn.Linear(sizes.width, 8)

    def forward(self, x):
        return self.net(x)

SUPPORTED = ("ga" + "ted",)
`);
    expect(r.roots.find(x => x.name === "Net")?.assumed).toContain("sizes is a Sizes of sizes_for_gated()");
  });

  test("parameters with defaults are given as the project's file has them", () => {
    const r = analysedProject({
      "pack/model.py": `
from torch import nn

class Net(nn.Module):
    def __init__(self, model_width, n_groups_of=1, gate_rank=2):
        super().__init__()
        rank = model_width // n_groups_of
        assert rank in (24, 48) and gate_rank * 8 == rank, "only ranks of 24 and 48"
        self.net = nn.Linear(model_width, rank)

    def forward(self, x):
        return self.net(x)
`,
      "train.yaml": "model:\n  model_width: 96\n  n_groups_of: 4\n  gate_rank: 3\n",
    });
    expect(r.roots.find(x => x.name === "Net")?.assumed).toContain("n_groups_of is 4");
  });

  test("a sequence that has to rise rises", () => {
    const r = one(`
from torch import nn

class Net(nn.Module):
    def __init__(self, cutoffs):
        super().__init__()
        cutoffs = list(cutoffs)
        if cutoffs != sorted(set(cutoffs)):
            raise ValueError("cutoffs should be unique and increasing")
        self.net = nn.Linear(8, cutoffs[-1])

    def forward(self, x):
        return self.net(x)
`);
    expect(r.roots.find(x => x.name === "Net")?.assumed.some(n => n.startsWith("cutoffs is "))).toBe(true);
  });
});
