// Modules of a project: packages that import in circles, folders that are packages without saying so.
import { expect, test } from "vitest";
import { analysed, analysedProject, operatorsOf, printed } from "../infer/testing/analysed";

test("modules that import each other are there where their package begins with the right one", () => {
  const r = analysedProject({
    "pack/__init__.py": "import pack.base\n",
    "pack/base.py": `
import torch

class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

import pack.extra
`,
    "pack/extra.py": "from pack.base import Base\nNAME = Base.__name__\n",
    "pack/model.py": `
from pack.extra import NAME
from pack.base import Base

class Net(Base):
    def forward(self, x):
        return self.inner(x)
`,
  });
  expect(r.diagnostics.filter(d => d.code === "unknown-module")).toEqual([]);
  expect(operatorsOf(r, "Net")).toContain("torch._C._nn.linear");
});

test("folders without __init__ are parts of what an import of their modules binds", () => {
  const r = analysedProject({
    "pack/model.py": "import src.nets.block\nimport src.nets\nprint(src.nets.block.WIDTH)\n",
    "src/nets/block.py": "WIDTH = 7\n",
  });
  expect(printed(r)).toBe("7\n");
});

test("torch's modules give what is asked of their dictionaries, and unknown bases of modules load what nobody knows", () => {
  const r = analysed(`
from somewhere import LlamaModel as Base

class Model(Base):
    def forward(self, x):
        return x + 1

print(torch.__dict__["hann_window"](4).shape, F.__dict__["relu"](torch.ones(2)).shape, callable(Model.from_pretrained))
`);
  expect(printed(r)).toBe("torch.Size([4]) torch.Size([2]) True\n");
});

test("a library that is modelled is its own files in its own repository", () => {
  const files = {
    "repo/timm/layers/__init__.py": "WIDTH = 7\n",
    "repo/timm/__init__.py": "",
    "repo/timm/models/net.py": "from timm.layers import WIDTH\n",
    "pack/model.py": "from repo.timm.models.net import WIDTH\nprint(WIDTH)\n",
  };
  expect(printed(analysedProject({ ...files, "repo/setup.py": "" }))).toBe("7\n");
  expect(printed(analysedProject({ ...files, "repo/README.md": "" }))).toBe("7\n");
  expect(printed(analysedProject(files))).toMatch(/unknown/);
});

test("names that a library's star import may bring are unknown where the library is, and stay so in other files", () => {
  const r = analysed(
    `
from helpers import *
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = FastBlock(8)
    def forward(self, x):
        return self.block(x) + 1
`,
    { "pack/helpers.py": "from fastblocks.layers import *\n" },
  );
  expect(operatorsOf(r, "Net")[0]).toContain("fastblocks.layers.FastBlock");
});

test("a star brings names that a module makes when it is asked for, to those who import the importing file too", () => {
  const r = analysedProject({
    "pack/model.py": `
from torch.nn import *
from torch.nn.init import *
from pack.net import *
from nowhere.layers import *
import pack.net as net

class Block(Module):
    def __init__(self):
        super().__init__()
        self.linear = Linear(4, 4)
        xavier_uniform_(self.linear.weight)

    def forward(self, x):
        return self.linear(x)

print(sum([1, 2]), hasattr(net, "all_reduce"), net.own, own, Block().linear.in_features)
try:
    unicode
except NameError:
    print("three")
print(Sharded)
`,
    "pack/net.py": "from torch.distributed import *\nown = 7\n",
    "pack/__init__.py": "",
  });
  expect(printed(r)).toMatch(/^3 True 7 7 4\nthree\n<unknown .*Sharded>\n$/);
  expect(operatorsOf(r, "Block")).toEqual(["torch._C._nn.linear"]);
});

test("a package that has a file of its own name is the package in its files", () => {
  const r = analysedProject({
    "metric/__init__.py":
      "from metric.train import *\nfrom metric.metric import *\n\ndef scale(x):\n    return x * 3\n",
    "metric/train.py": "import metric\n",
    "metric/metric.py": "import metric\n\nclass Loss:\n    def of(self, x):\n        return metric.scale(x)\n",
    "pack/model.py": "import metric\n\nprint(metric.Loss().of(2))\n",
  });
  expect(printed(r)).toBe("6\n");
});
