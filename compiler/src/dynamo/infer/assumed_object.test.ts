// What a configuration that nobody gives answers: parts, lists, strings, constants of the project's files.
import { describe, expect, test } from "vitest";
import { analysed, analysedProject, assumedOf, operatorsOf } from "./testing/analysed";

const module = (init: string, more = ""): string => `
import torch
from torch import nn
${more}
class Net(nn.Module):
    def __init__(self, ${init}
    def forward(self, x):
        return self.net(x).relu()
`;

const assumed = (files: Readonly<Record<string, string>>): readonly string[] =>
  analysedProject(files).roots.find(r => r.name === "Net")?.assumed ?? [];

describe("a configuration that nobody gives", () => {
  test("has parts where the code reads attributes and items of its attributes", () => {
    const notes = assumed({
      "pack/model.py": module(`cfg):
        super().__init__()
        self.net = nn.Linear(cfg.MODEL.HEAD.WIDTH, cfg["data"]["num_classes"])
`),
    });
    expect(notes.some(n => n.startsWith("cfg.MODEL.HEAD.WIDTH is "))).toBe(true);
    expect(notes).toContain("cfg.data.num_classes is 10");
  });

  test("has the parts that a YAML file gives, at any depth", () => {
    const notes = assumed({
      "pack/model.py": module(`config):
        super().__init__()
        self.net = nn.Linear(config.model.stem_width, config.model.head.final_width)
`),
      "configs/a.yaml": "model:\n  stem_width: 48\n  head:\n    final_width: 20\n",
    });
    expect(notes).toContain("config.model.stem_width is 48");
    expect(notes).toContain("config.model.head.final_width is 20");
  });

  test("has lists where the code goes through an attribute", () => {
    const notes = assumed({
      "pack/model.py": module(`cfg):
        super().__init__()
        sizes = [cfg.stem_dim]
        for w in cfg.branches:
            sizes.append(w * 8)
        self.net = nn.Linear(sizes[0], sum(sizes))
`),
    });
    expect(notes.some(n => n.startsWith("cfg.branches is ["))).toBe(true);
  });

  test("has strings where the code splits an attribute, by way of a function too", () => {
    const notes = assumed({
      "pack/model.py": module(
        `cfg):
        super().__init__()
        self.net = nn.Linear(widths(cfg.plan)[0], 4)
`,
        `
def widths(s):
    return [int(p) for p in s.split(",") if p] or [16]
`,
      ),
    });
    expect(notes).toContain('cfg is an object with plausible attributes, plan ""');
  });

  test("holds values of the enumeration that its error names", () => {
    const r = analysedProject({
      "pack/model.py": module(
        `cfg):
        super().__init__()
        kind = Kind(cfg.model.flavour)
        self.net = nn.Linear(8, 8 if kind is Kind.SWEET else 16)
`,
        `
from enum import Enum
class Kind(Enum):
    SWEET = "sweet-one"
    SALTY = "salty-one"
`,
      ),
    });
    expect(r.roots.find(x => x.name === "Net")).toBeDefined();
  });
});

test("a dictionary of a JSON file stands for what is unpacked into a call", () => {
  const r = analysedProject({
    "pack/model.py": `
import torch
from torch import nn

class Inner(nn.Module):
    def __init__(self, width, rank, gain):
        super().__init__()
        assert rank == 12 and gain == 3
        self.net = nn.Linear(width, rank)

class Net(nn.Module):
    def __init__(self, width, inner_config):
        super().__init__()
        self.inner = Inner(width, **inner_config)

    def forward(self, x):
        return self.inner.net(x).relu()
`,
    "config.json": '{"net_config": {"width": 24, "inner_config": {"rank": 12, "gain": 3}}}',
  });
  expect(r.roots.find(x => x.name === "Net")?.assumed).toContain('inner_config is {"rank": 12, "gain": 3}');
});

describe("parameters by annotation and name", () => {
  test("a class is found under the module that the annotation names it by", () => {
    const notes = assumed({
      "pack/model.py": module(
        `config: settings.Sizes):
        super().__init__()
        self.net = nn.Linear(config.get_width(), 8)
`,
        "from . import settings\n",
      ),
      "pack/settings.py":
        "import dataclasses\n@dataclasses.dataclass\nclass Sizes:\n    width: int = 40\n    def get_width(self):\n        return self.width\n",
    });
    expect(notes).toContain("config is a settings.Sizes");
  });

  test("a dtype is a dtype; a module whose bias is read has one", () => {
    const notes = assumed({
      "pack/model.py": module(`inner, target_dtype):
        super().__init__()
        self.net = inner
        self.shift = inner.bias.data
        self.register_buffer("table", torch.empty(4, 4, dtype=target_dtype))
`),
    });
    expect(notes).toContain("target_dtype is torch.float32");
    expect(notes).toContain("inner is a torch.nn.Linear");
  });

  test("a configuration of transformers that is read from the project's file", () => {
    const r = analysedProject({
      "pack/model.py": module(
        `path="configs/sizes.json"):
        super().__init__()
        config = BertConfig.from_json_file(path)
        self.net = nn.Linear(config.hidden_size, config.type_vocab_size)
`,
        "from transformers.models.bert.configuration_bert import BertConfig\n",
      ),
      "configs/sizes.json": '{"hidden_size": 96}',
    });
    expect(r.roots.find(x => x.name === "Net")?.assumed.some(n => /^x is .*, 96\]$/.test(n))).toBe(true);
  });
});

test("a module that lies elsewhere in the project is imported where sys.path is changed", () => {
  const files = {
    "pack/model.py": `
import sys
from torch import nn
sys.path.append("helpers")
from blocks_of_mine import Block

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)
`,
    "pack/helpers/blocks_of_mine.py":
      "from torch import nn\nclass Block(nn.Sequential):\n    def __init__(self):\n        super().__init__(nn.Linear(8, 8), nn.ReLU())\n",
  };
  expect(analysedProject(files).roots.map(r => r.name)).toEqual(["Net"]);
  const unchanged = { ...files, "pack/model.py": files["pack/model.py"].replace("sys.path.append", "str") };
  expect(analysedProject(unchanged).diagnostics.some(d => d.code === "unknown-module")).toBe(true);
});

test("an annotation that is a dictionary with attributes says nothing of what it holds", () => {
  const notes = assumed({
    "pack/model.py": module(
      `h: AttrDict):
        super().__init__()
        assert isinstance(h.stem_rank, int)
        self.net = nn.Linear(h.stem_width, h.stem_rank)
`,
      `
class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self
`,
    ),
    "config.json": '{"stem_width": 56, "stem_rank": 14}',
  });
  expect(notes).toContain("h.stem_width is 56");
});

test("items that the code sets are there", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self, h):
        super().__init__()
        h["width"] = 48
        self.linear = nn.Linear(h.width, h["width"])

    def forward(self, x):
        return self.linear(x)
`);
  expect(assumedOf(r, "Net")).toContain("x is float32[8, 128, 48]");
});

test("what code puts into a configuration is found there, by attribute and by item", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        cfg["width"] = 24
        cfg.depth = 3
        if "depth" in cfg and "nothing" not in cfg and ("width", 24) in cfg.items():
            self.linear = nn.Linear(cfg.get("width", 8), cfg["depth"] + cfg.get("nothing", 5))

    def forward(self, x):
        return self.linear(x).view(-1, 8)
`);
  expect(operatorsOf(r, "Net")).toHaveLength(2);
  expect(assumedOf(r, "Net")).toContain("x is float32[8, 128, 24]");
});

test("what code calls on an object that nobody gives is a method, whose result is found by its name", () => {
  const r = analysed(
    `
class Recommender(nn.Module):
    def __init__(self, config, dataset):
        super().__init__()
        self.users = nn.Embedding(dataset.num(config["USER_FIELD"] + "_id") + 1, config["width"])

    def forward(self, user):
        return self.users(user)
`,
    { "conf/all.yaml": "seed: 1\nUSER_FIELD: user\n", "conf/net.yaml": "width: 24\ndepth: 2\n" },
  );
  expect(operatorsOf(r, "Recommender")).toHaveLength(1);
  expect(assumedOf(r, "Recommender")).toContain('config is {"USER_FIELD": "user", "width": 24}');
});

test("values that a configuration works out of others are worked out", () => {
  const r = analysed(
    `
class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads, self.width = cfg.HEADS, cfg.HEAD_WIDTH
        self.proj = nn.Linear(cfg.TOTAL_WIDTH, cfg.TOTAL_WIDTH)

    def forward(self, x):
        return self.proj(x).view(x.shape[0], -1, self.heads, self.width)
`,
    {
      "cfgs/base.py": `class Base:
    def __init__(self):
        self.TOTAL_WIDTH = 96
        self.HEADS = 6
        self.HEAD_WIDTH = int(self.TOTAL_WIDTH / self.HEADS)
`,
    },
  );
  expect(assumedOf(r, "Attention")).toContain("cfg.HEAD_WIDTH is 16");
});

test("a dictionary of words has a length and numbers for its methods, under the name by which it is handed on", () => {
  const r = analysed(`
class Words(nn.Module):
    def __init__(self, dictionary):
        super().__init__()
        self.padding = dictionary.pad()
        self.embed = nn.Embedding(len(dictionary), 16, self.padding)

    def forward(self, tokens):
        return self.embed(tokens)

class Net(nn.Module):
    def __init__(self, mol_dictionary):
        super().__init__()
        self.words = Words(mol_dictionary)

    def forward(self, tokens):
        return self.words(tokens)
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch.nn.functional.embedding"]);
});

test("a configuration of a library that lacks what is read of a parameter is not meant by it", () => {
  const r = analysed(`
from transformers import RobertaConfig

class Clone(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.linear = nn.Linear(8, 8)

    def forward(self, source_ids=None):
        x = source_ids.view(-1, self.args.max_source_length).float()
        if self.args.model_type == "mean":
            x = x.mean(1)
        return self.linear(x.sum() * torch.ones(8, device=x.device))
`);
  expect(assumedOf(r, "Clone")).toMatch(/args is an object with plausible attributes/);
  expect(operatorsOf(r, "Clone")).toContain("torch._C._nn.linear");
});
