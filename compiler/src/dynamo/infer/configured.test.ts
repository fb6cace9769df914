// Configurations and arguments that the project's files speak of: options, aliases, presets, names of its functions.
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../presets";
import { capture } from "../capture";
import { analysed, analysedProject, assumedOf, framesOf, operatorsOf } from "./testing/analysed";

const HEAD = "import torch\nfrom torch import nn\n";

describe("options", () => {
  const options = `
def add(parser):
    parser.add_argument("--norm_kind", type=str, default="spectralplain", help="...")
    parser.add_argument("--unrelated", type=int, default=1)
`;

  test("a name that one file declares as an option has its default", () => {
    const r = analysedProject({
      "pack/model.py": `${HEAD}
class Net(nn.Module):
    def __init__(self, opt):
        super().__init__()
        kind = opt.norm_kind
        if not kind.startswith("spectral"):
            raise ValueError("not known: " + kind)
        self.lin = nn.Linear(opt.wide, opt.wide)
        self.bias = nn.Parameter(torch.zeros(opt.wide))
        self.alone = opt.other_thing
    def forward(self, x):
        return self.lin(x) + self.bias
`,
      "pack/options.py": options,
    });
    expect(assumedOf(r, "Net")).toContain("opt.norm_kind is 'spectralplain'");
  });

  test("a text that an error quotes gives way to others that the project gives to its name", () => {
    const r = analysedProject({
      "pack/model.py": `${HEAD}
def layer_for(kind):
    def wrap(layer):
        rest = kind[len("spectral"):]
        if rest != "plain":
            raise ValueError("layer %s is not recognized" % rest)
        return layer
    return wrap

class Net(nn.Module):
    @staticmethod
    def change(parser):
        parser.set_defaults(norm_kind="spectralstrange", deep=2)
    def __init__(self, opt):
        super().__init__()
        wrap = layer_for(opt.norm_kind)
        self.lin = nn.Sequential(*[wrap(nn.Linear(16, 16)) for _ in range(opt.deep)])
    def forward(self, x):
        return self.lin(x)
`,
      "pack/options.py": options,
    });
    expect(assumedOf(r, "Net")).toContain("opt.norm_kind is 'spectralplain'");
    expect(operatorsOf(r, "Net").filter(t => t === "torch._C._nn.linear")).toHaveLength(2);
  });
});

test("of objects of one class that the same attributes are assigned to, the first one counts", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
class Wide(nn.Module):
    def __init__(self, hps):
        super().__init__()
        self.lin = nn.Linear(hps.wide, hps.deep)
        self.named = hps.extra_names
    def forward(self, x):
        return self.lin(x)
`,
    "pack/presets.py": `
small = Params()
small.wide = 24
small.deep = 3
large = Params()
large.update(small)
large.wide = 48
large.extra_names = "a,b"
`,
    "pack/options.py": 'parser.add_argument("--extra_names", type=str, default="")\n',
  });
  expect(assumedOf(r, "Wide")).toMatch(/hps\.wide is 24.*hps\.extra_names is ''/);
});

test("a name that no configuration has is what code sets it to on an object that it was handed", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
class Sized(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.lin = nn.Linear(opt.odd_size, 8)
    def forward(self, x):
        return self.lin(x)
`,
    "pack/data.py": 'def prepare(opt, kind):\n    if kind == "small":\n        opt.odd_size = 27\n',
  });
  expect(assumedOf(r, "Sized")).toContain("opt.odd_size is 27");
});

describe("configurations with sections", () => {
  const defaults = `
_C = Node()
_C.TEST = Node()
_C.TEST.ENABLE = True
_C.TEST.WIDTH = 7
_C.POOL = Node()
_C.POOL.ENABLE = False
_C.POOL.WIDTH = 24
`;
  const model = `${HEAD}
class Pooled(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        if cfg.POOL.ENABLE:
            raise RuntimeError("needs a kernel of its own")
        self.lin = nn.Linear(cfg.POOL.WIDTH, 8)
    def forward(self, x):
        return self.lin(x)
`;

  test("a name that several sections have is that of the section that is read", () => {
    const r = analysedProject({ "pack/model.py": model, "pack/config/defaults.py": defaults });
    expect(assumedOf(r, "Pooled")).toContain("cfg.POOL.ENABLE is False");
    expect(assumedOf(r, "Pooled")).toContain("cfg.POOL.WIDTH is 24");
  });

  test("a data file that names the class comes first", () => {
    const r = analysedProject({
      "pack/model.py": model,
      "pack/config/defaults.py": defaults,
      "configs/other.yaml": "MODEL:\n  NAME: Other\nPOOL:\n  WIDTH: 40\n",
      "configs/pooled.yaml": "MODEL:\n  NAME: Pooled\nPOOL:\n  WIDTH: 48\n",
    });
    expect(assumedOf(r, "Pooled")).toContain("cfg.POOL.WIDTH is 48");
  });
});

test("a text that an assertion wants to begin in another way gives way to one that does", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
class Styled(nn.Module):
    def __init__(self, opt):
        super().__init__()
        assert opt.norm_kind.startswith("styled")
        self.lin = nn.Linear(opt.wide, 8)
    def forward(self, x):
        return self.lin(x)
`,
    "pack/options.py": `
def change(parser):
    parser.set_defaults(norm_kind="styledbatch")
parser.add_argument("--norm_kind", type=str, default="plain", help="...")
parser.add_argument("--wide", type=int, default=12)
`,
  });
  expect(assumedOf(r, "Styled")).toContain("opt.norm_kind is 'styledbatch'");
});

test("what scripts give to a class under the name that they import it by", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
class Matcher(nn.Module):
    def __init__(self, maxdisp):
        super().__init__()
        self.maxdisp = maxdisp
        self.conv = nn.Conv2d(3, maxdisp // 4, 3)
    def forward(self, x):
        return self.conv(x)
`,
    "pack/__init__.py": "from .model import Matcher as stacked\n",
    "main.py": `
import argparse
from pack import *
parser = argparse.ArgumentParser()
parser.add_argument("--maxdisp", type=int, default=192)
args = parser.parse_args(load())
net = stacked(args.maxdisp)
`,
  });
  expect(assumedOf(r, "Matcher")).toContain("maxdisp is 192");
});

test("a number that a lookup does not know gives way to those that the module has names for", () => {
  const r = analysed(`
def net34(wide):
    return nn.Linear(wide, 34)
def net50(wide):
    return nn.Linear(wide, 50)
SPEC = {18: 8, 101: 16}
class ByName(nn.Module):
    def __init__(self, num_layers):
        super().__init__()
        self.lin = globals()["net{}".format(num_layers)](8)
    def forward(self, x):
        return self.lin(x)
class ByKey(nn.Module):
    def __init__(self, num_layers):
        super().__init__()
        self.lin = nn.Linear(8, SPEC[num_layers])
    def forward(self, x):
        return self.lin(x)
`);
  expect(assumedOf(r, "ByName")).toContain("num_layers is 34");
  expect(assumedOf(r, "ByKey")).toContain("num_layers is 18");
});

test("a root that is asked for and only defined where a library is there", () => {
  const text = `${HEAD}
try:
    from far.models import REGISTRY
    has_far = True
except ImportError:
    has_far = False
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
    def forward(self, x):
        return self.lin(x)
if has_far:
    @REGISTRY.register_module()
    class Dense(Plain):
        pass
`;
  const r = capture("pack/model.py", {
    files: p => (p === "pack/model.py" ? text : undefined),
    project: () => ["pack/model.py"],
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 20_000_000,
    roots: ["Dense"],
  });
  expect(framesOf(r, "Dense")).toHaveLength(1);
  expect(r.diagnostics.some(d => d.code === "imports")).toBe(true);
});

test("options that a file parses when it is imported stand for the configuration that has all of them", () => {
  const r = analysed(
    `
class Net(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.first = nn.Conv2d(args.colors, args.width, {2: 3, 4: 5}[args.scale[0]])

    def forward(self, x):
        return self.first(x)
`,
    {
      "pack/option.py": `import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--scale", type=str, default="4+2")
parser.add_argument("--colors", type=int, default=3)
parser.add_argument("--width", type=int, default=12)
args = parser.parse_args()
args.scale = [int(s) for s in args.scale.split("+")]
`,
    },
  );
  expect(assumedOf(r, "Net")).toContain("option.py");
  expect(operatorsOf(r, "Net")).toEqual(["torch.conv2d"]);
});

test("a JSON file with remarks gives a dictionary that is handed on to a class that it names in a list", () => {
  const r = analysed(
    `
class Inner(nn.Module):
    def __init__(self, channels, width, levels):
        super().__init__()
        self.first = nn.Conv2d(channels, width * len(levels), 1)

    def forward(self, x):
        return self.first(x)

class Network(nn.Module):
    def __init__(self, unet, schedule):
        super().__init__()
        self.inner = Inner(**unet)
        self.steps = schedule["train"]["steps"]

    def forward(self, x):
        return self.inner(x) * self.steps
`,
    {
      "pack/config/base.json": `{ // what is trained
  "nets": [{"name": ["model", "Network"], "args": {
    "unet": {"channels": 5, "width": 12, /* of maps */ "levels": [1, 2],},
    "schedule": {"train": {"steps": 40}}
  }}]
}`,
    },
  );
  expect(assumedOf(r, "Network")).toContain("x is float32[8, 5, 32, 32]");
  expect(operatorsOf(r, "Network")).toEqual(["torch.conv2d", "operator.mul"]);
});

test("hyperparameters that Lightning keeps of a configuration answer as it does", () => {
  const r = analysed(`
import pytorch_lightning as pl

class Net(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.save_hyperparameters(hparams)
        self.net = nn.Linear(self.hparams.in_dim, self.hparams["hidden_dim"])
        self.out = nn.Linear(self.hparams.get("hidden_dim", 4), self.hparams.num_classes)

    def forward(self, x):
        return self.out(self.net(x))
`);
  expect(assumedOf(r, "Net")).toMatch(/hparams.in_dim is \d+; hparams.hidden_dim is (\d+)/);
});

test("objects that a configuration describes are built with what stands beside their names", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
class Net(nn.Module):
    def __init__(self, width, block, count):
        super().__init__()
        self.blocks = nn.ModuleList([block for _ in range(count)])
        self.head = nn.Linear(width, 4)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.head(x)
`,
    "pack/parts.py": `${HEAD}
class Scaled(nn.Module):
    def __init__(self, width, inner, scale):
        super().__init__()
        assert scale < 1
        self.inner = inner
        self.gain = nn.Parameter(scale * torch.ones(width))
    def forward(self, x):
        return self.gain * self.inner(x)
`,
    "conf/net.yaml": `
model:
  _target_: pack.model.Net
  width: 24
  count: 2
  block:
    _target_: pack.parts.Scaled
    width: 24
    scale: 1e-6
    inner: {_target_: torch.nn.Linear, in_features: 24, out_features: 24}
`,
  });
  expect(operatorsOf(r, "Net").filter(o => /linear/.test(o)).length).toBe(3);
  expect(assumedOf(r, "Net")).toContain("block is a Scaled as configured");
});

test("what a registry has not got is in a file of the project that registers it", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
from pack.registry import LOSSES
class Net(nn.Module):
    def __init__(self, width=8, loss=dict(type="Smooth")):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.loss = LOSSES[loss["type"]]()
    def forward(self, x):
        return self.loss(self.lin(x))
`,
    "pack/registry.py": "LOSSES = {}\ndef register(cls):\n    LOSSES[cls.__name__] = cls\n    return cls\n",
    "pack/losses.py": `${HEAD}
from pack.registry import register
@register
class Smooth(nn.Module):
    def forward(self, x):
        return x.abs().mean()
`,
  });
  expect(operatorsOf(r, "Net")).toContain("mean");
});

test("a size that stands for none is given where an assertion wants one that goes by a like name", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.head_dim = width // heads
        assert self.head_dim in [16, 32, 64], "not one of them"
        self.lin = nn.Linear(width, width)
class Net(nn.Module):
    def __init__(self, width=256, num_heads=1, num_head_channels=-1):
        super().__init__()
        heads = num_heads if num_head_channels == -1 else width // num_head_channels
        self.attn = Attention(
            width, num_heads if num_head_channels == -1 else width // num_head_channels)
    def forward(self, x):
        return self.attn.lin(x)
`,
  });
  expect(assumedOf(r, "Net")).toContain("num_head_channels is 16");
});

test("the configuration that chooses a class by the name that it is registered under comes first", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
from pack.registry import register
@register(name="slim_net")
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.lin = nn.Linear(config.model.nf, config.model.nf)
    def forward(self, x):
        return self.lin(x)
`,
    "pack/registry.py": "def register(name):\n    return lambda cls: cls\n",
    "pack/a_wide.py": "def get(config):\n    model = config.model\n    model.name = 'wide_net'\n    model.nf = 96\n",
    "pack/b_slim.py": "def get(config):\n    model = config.model\n    model.name = 'slim_net'\n    model.nf = 24\n",
  });
  expect(assumedOf(r, "Net")).toContain("config.model.nf is 24");
});

test("an assertion over several lines tells what it wants of a part of a configuration", () => {
  const r = analysedProject({
    "pack/model.py": `${HEAD}
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        assert cfg.MODEL.ARCH in [
            "plain",
            "slow",
        ], f"unsupported: {cfg.MODEL.ARCH}"
        self.lin = nn.Linear(8, cfg.MODEL.OUT)
    def forward(self, x):
        return self.lin(x)
`,
    "conf/net.yaml": "MODEL:\n  ARCH: fast\n  OUT: 4\n",
  });
  expect(assumedOf(r, "Net")).toContain("cfg.MODEL.ARCH is 'plain'");
});
