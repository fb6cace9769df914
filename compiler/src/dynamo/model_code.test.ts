// Kinds of code that public models are made of, each as a small program of our own: the standard library, numpy, files of
// the project, distributions.
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../presets";
import { capture } from "./capture";
import type { CaptureResult } from "./types";

function run(text: string, files: Readonly<Record<string, string>> = {}): CaptureResult {
  const all: Readonly<Record<string, string>> = { "/p/models/m.py": text, ...files };
  return capture("/p/models/m.py", {
    files: p => all[p],
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 2e7,
    project: () => Object.keys(all).filter(p => p.startsWith("/p/")),
  });
}
const printed = (r: CaptureResult): string[] =>
  r.events
    .flatMap(e => (e.kind === "print" ? [e.text] : []))
    .join("")
    .trimEnd()
    .split("\n");
const errors = (r: CaptureResult): string[] => r.diagnostics.filter(d => d.severity === "error").map(d => d.message);
const opaque = (r: CaptureResult): string[] =>
  r.events.flatMap(e => (e.kind === "frame" ? e.frame.graph.nodes.flatMap(n => n.meta.opaque ?? []) : []));

describe("files that a program opens", () => {
  const FILES = {
    "/p/configs/net.yaml": "net:\n  width: 16\n  rates: [0.5, 1]\n",
    "/p/models/net.json": '{"depth": 2, "scale": 1.0}',
    "/etc/secret.json": "{}",
  };

  it("are read from the main file's folder and above it, and found by their name in the project", () => {
    const r = run(
      `
import json, os, yaml
from pathlib import Path
from omegaconf import OmegaConf
print(yaml.safe_load(open("net.yaml")), OmegaConf.load("configs/net.yaml").net.width)
with open(Path(__file__).parent / "net.json") as f:
    print(json.load(f))
print(os.path.exists("net.json"), Path("nothing.json").exists(), [l.strip() for l in open("configs/net.yaml")][0])
`,
      FILES,
    );
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual([
      "{'net': {'width': 16, 'rates': [0.5, 1]}} 16",
      "{'depth': 2, 'scale': 1.0}",
      "True False net:",
    ]);
  });

  it("are listed and found by patterns, Python files left out", () => {
    const r = run(
      `
import glob, os
from pathlib import Path
here = Path(__file__).parent
print(os.listdir(os.path.dirname(__file__)), sorted(os.listdir("..")), os.path.isdir("configs"), (here / "none").is_dir())
print([p.stem for p in here.glob("*.json")], glob.glob("../configs/*.y?ml"), [p.name for p in here.parent.rglob("*.json")])
print([p.name for p in (here / "../configs").iterdir()], os.listdir("/etc"))
`,
      FILES,
    );
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual([
      "['net.json'] ['configs', 'models'] True False",
      "['net'] ['/p/configs/net.yaml'] ['net.json']",
      "['net.yaml'] []",
    ]);
  });

  it("are not read outside of the project", () => {
    const r = run(
      `
import os
for name in ["/etc/secret.json", "../../etc/secret.json"]:
    try:
        open(name)
        print("read")
    except FileNotFoundError:
        print("missing", os.path.exists(name))
`,
      { "/etc/secret.json": "{}" },
    );
    expect(printed(r).filter(l => l.startsWith("missing"))).toHaveLength(2);
  });
});

describe("Python", () => {
  it("goes on with an iterator that is its own, and with what eval and exec are given", () => {
    const r = run(`
class Countdown:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n
print(list(Countdown(3)), [x for x in Countdown(2)])
def width(k):
    base = 4
    return eval("base * k + 1"), eval("[None, (1, 'a')]")
print(width(2))
space = {}
exec("def double(a):\\n    return a * 2", space)
print(space["double"](4))
class Kept:
    def __reduce__(self):
        return super().__reduce__()
k = Kept()
k.a = 1
print(k.__reduce__()[2])
import colorsys
try:
    import lzma
    print("there")
except ImportError:
    print("absent")
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["[2, 1, 0] [1, 0]", "(9, [None, (1, 'a')])", "8", "{'a': 1}", "there"]);
  });
});

describe("torchvision", () => {
  it("gives blocks of Inception to classes that change their forward", () => {
    const r = run(`
import torch, torch.nn.functional as F, torchvision
from torchvision.models.inception import InceptionA
class Other(InceptionA):
    def forward(self, x):
        pooled = F.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False)
        return torch.cat([self.branch1x1(x), self.branch_pool(pooled)], 1)
print(torch.compile(Other(192, 32).cuda().eval())(torch.randn(1, 192, 8, 8, device="cuda")).shape)
print(torchvision.models.densenet121().classifier.in_features, torchvision.models.mobilenet_v2().last_channel)
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["torch.Size([1, 96, 8, 8])", "1024 1280"]);
  });
});

describe("numpy", () => {
  it("computes what constructors use it for", () => {
    const r = run(`
import numpy as np
print(np.pad(np.ones((2, 3)), ((0, 0), (1, 1)), "constant").shape, np.unique([3, 1, 1]), np.mgrid[0:2, 0:3].shape)
print(np.hamming(5)[2], np.roll(np.arange(4), 1).shape, np.interp([0.5], [0, 1], [0, 10]).shape, np.diag([1, 2]).shape)
print(np.fft.rfft(np.ones(8)).real.shape, np.linalg.pinv(np.ones((3, 2))).shape, np.kaiser(5, 8.6).shape, np.r_[0:3, 5])
print(np.ceil(np.log(10)).astype("int").item(), np.sinc(0), np.vectorize(lambda v: v + 1)(np.arange(3)))
a = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]])
print(np.nansum(a), np.nanmean(a, axis=1), np.nanmax(a), np.nanmin(a))
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual([
      "(2, 5) array([1, 3]) (2, 2, 3)",
      "1.0 (4,) (1,) (2, 2)",
      "(5,) (2, 3) (5,) array([0, 1, 2, 5])",
      "3 1.0 array([1, 2, 3])",
      "13.0 array([2.0, 4.5]) 5.0 1.0",
    ]);
  });

  it("compares as functions, and knows older names", () => {
    const r = run(`
import numpy as np
print(np.less(1, 2), np.equal(np.arange(3), 1).tolist(), np.cumproduct((5, 5, 11))[-1], list(np.ndindex(2, 2))[-1], np.tri(2).tolist())
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["True [False, True, False] 275 (1, 1) [[1.0, 0.0], [1.0, 1.0]]"]);
  });

  it("takes arguments by numpy's own names", () => {
    const r = run(`
import numpy as np
grid = np.repeat(np.expand_dims(np.arange(3.0), axis=0), repeats=2, axis=0)
print(grid.shape, np.tile(A=[1, 2], reps=3).shape, np.clip(np.arange(4), a_min=1, a_max=2), np.clip(5, a_min=None, a_max=3))
print(np.full((2,), fill_value=7), np.split(ary=np.arange(4), indices_or_sections=2)[1].shape, np.triu(m=np.ones((2, 2)), k=1))
print(np.eye(2, 3, k=1), np.linspace(0, 1, 5, retstep=True)[1], np.pad(array=[1], pad_width=1), np.diag(v=[1, 2]).shape)
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual([
      "(2, 3) (6,) array([1, 1, 2, 2]) 3",
      "array([7, 7]) (2,) array([[0.0, 1.0], [0.0, 0.0]])",
      "array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) 0.25 array([0, 1, 0]) (2, 2)",
    ]);
  });

  it("gives a layer's offsets to the device of its input", () => {
    const r = run(`
import numpy as np, torch
class Offset(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.offsets = np.array((0, *np.cumsum([3, 4])[:-1]), dtype=np.int64)
    def forward(self, x):
        return x + x.new_tensor(self.offsets).unsqueeze(0)
print(torch.compile(Offset())(torch.zeros(2, 2, dtype=torch.long, device="cuda")).device)
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["cuda:0"]);
  });
});

describe("a model on transformers' base class", () => {
  it("is loaded without its weights, with what is given for its configuration", () => {
    const r = run(`
import torch
from transformers import BertConfig
from transformers.modeling_utils import PreTrainedModel, apply_chunking_to_forward
class Body(PreTrainedModel):
    config_class = BertConfig
    def __init__(self, config, pooled=True):
        super().__init__(config)
        self.pooled, self.proj = pooled, torch.nn.Linear(config.hidden_size, 4)
    def forward(self, x):
        return apply_chunking_to_forward(self.proj, self.config.chunk_size_feed_forward, 1, x)
own = Body.from_pretrained("name", config=BertConfig(hidden_size=16, chunk_size_feed_forward=2), pooled=False)
print(own.pooled, Body.from_pretrained("name", cache_dir="x", num_labels=5).config.num_labels)
print(torch.compile(own.cuda())(torch.randn(2, 6, 16, device="cuda")).shape)
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["False 5", "torch.Size([2, 6, 4])"]);
  });
});

describe("torch beside layers", () => {
  it("counts hits of a binomial distribution", () => {
    const r = run(`
import torch
from torch.distributions.binomial import Binomial
d = Binomial(10, logits=torch.zeros(3, device="cuda"))
print(d.mean.shape, torch.compile(d.log_prob)(torch.ones(2, 3, device="cuda")).shape, Binomial(probs=0.5).probs.shape)
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["torch.Size([3]) torch.Size([2, 3]) torch.Size([])"]);
  });

  it("follows distributions into the operators that they are made of", () => {
    const r = run(`
import torch, torch.nn as nn
from torch.distributions import Categorical, Independent, Normal, TanhTransform, TransformedDistribution, kl_divergence
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pi = nn.Linear(8, 6), nn.Linear(8, 4)
    def forward(self, x):
        mean, log_std = self.body(x).chunk(2, -1)
        d = Normal(mean, log_std.exp())
        squashed = TransformedDistribution(d, TanhTransform())
        choice = Categorical(logits=self.pi(x))
        return squashed.log_prob(squashed.rsample()), kl_divergence(Independent(d, 1), Independent(d, 1)), choice.log_prob(choice.sample())
print([tuple(t.shape) for t in torch.compile(Policy().cuda())(torch.randn(5, 8, device="cuda"))])
`);
    expect(errors(r)).toEqual([]);
    expect(opaque(r)).toEqual([]);
    expect(printed(r)).toEqual(["[(5, 3), (5,), (5,)]"]);
  });

  it("follows a transform of the program's own, which names the sets that it maps between", () => {
    const r = run(`
import torch
from torch import distributions as pyd
class Squash(pyd.transforms.Transform):
    domain, codomain = pyd.constraints.real, pyd.constraints.interval(-1.0, 1.0)
    def _call(self, x):
        return x.tanh()
    def _inverse(self, y):
        return torch.atanh(y)
    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (x - torch.nn.functional.softplus(-2.0 * x))
class Squashed(pyd.transformed_distribution.TransformedDistribution):
    support = pyd.constraints.positive
    def __init__(self, loc):
        super().__init__(pyd.Normal(loc, 1.0), [Squash(cache_size=1)])
f = torch.compile(lambda x: Squashed(x).log_prob(Squashed(x).rsample()))
print(f(torch.zeros(3, 2, device="cuda")).shape)
`);
    expect(errors(r)).toEqual([]);
    expect(opaque(r)).toEqual([]);
    expect(printed(r)).toEqual(["torch.Size([3, 2])"]);
  });

  it("knows distributions of positive numbers, shares and counts", () => {
    const r = run(`
import torch
from torch.distributions import *
def f(a, b):
    made = [Beta(a, b), Gamma(a, b), StudentT(a, b), Cauchy(a, b), HalfNormal(a), Poisson(a), NegativeBinomial(a, logits=b)]
    scores = [d.log_prob(torch.full_like(a, 0.5)) for d in made] + [d.entropy() for d in made[:2]]
    shares = [Dirichlet(a).log_prob(torch.full_like(a, 0.25)), Dirichlet(a).entropy()]
    apart = [kl_divergence(kind(a, b), kind(b, a)) for kind in (Beta, Gamma)] + [kl_divergence(Poisson(a), Poisson(b))]
    means = [d.mean for d in made if not isinstance(d, Cauchy)] + [d.variance for d in (made[0], made[1], made[2], made[6])]
    return scores + means + apart + [Cauchy(a, b).rsample(), Poisson(a).sample(), made[0].mode], shares
a, b = torch.ones(5, 4, device="cuda"), torch.ones(5, 4, device="cuda")
one, shares = torch.compile(f)(a, b)
print({tuple(t.shape) for t in one}, {tuple(t.shape) for t in shares})
`);
    expect(errors(r)).toEqual([]);
    expect(opaque(r)).toEqual([]);
    expect(printed(r)).toEqual(["{(5, 4)} {(5,)}"]);
  });

  it("lists members by what a subclass asks modules for", () => {
    const r = run(`
import torch.nn as nn
class Meta(nn.Module):
    def meta_named_parameters(self, prefix="", recurse=True):
        gen = self._named_members(
            lambda m: m._parameters.items() if isinstance(m, Meta) else [], prefix=prefix, recurse=recurse)
        for pair in gen:
            yield pair
class Outer(Meta):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(nn.Linear(2, 2).weight)
        self.plain = nn.Linear(2, 2)
print([n for n, _ in Outer().meta_named_parameters()], [n for n, _ in Outer().named_parameters()])
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["['scale'] ['scale', 'plain.weight', 'plain.bias']"]);
  });

  it("finds the device that torch.accelerator names, and one process", () => {
    const r = run(`
import torch, torch.distributed as dist
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu"
x = torch.zeros(2, device=device)
parts = [torch.empty(2, device=device) for _ in range(dist.get_world_size())]
dist.all_gather(parts, x)
print(x.device.type, len(parts), dist.get_rank())
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["cuda 1 0"]);
  });

  it("reads the greatest of the lengths that it is given, and makes masks of that size", () => {
    const r = run(`
import torch, torch.nn as nn
def sequence_mask(lengths):
    ids = torch.arange(lengths.max(), device=lengths.device)
    return ids.unsqueeze(0) < lengths.unsqueeze(1)
class Encoder(nn.Module):
    def __init__(self, vocab=50, width=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
    def forward(self, text, text_lengths):
        return self.embedding(text) * sequence_mask(text_lengths).unsqueeze(-1)
`);
    expect(errors(r)).toEqual([]);
    const encoder = r.roots.find(root => root.name === "Encoder");
    expect(encoder?.assumed).toContain("text_lengths is int64[8] of 128");
  });

  it("takes a library to be there where its code refuses to go on without it", () => {
    const r = run(`
import torch, torch.nn as nn
try:
    import fast_scan
except ImportError:
    fast_scan = None
class Scan(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.project = nn.Linear(width, width)
    def forward(self, x):
        if fast_scan is None:
            raise RuntimeError("fast_scan is not installed")
        return fast_scan.scan(self.project(x))
`);
    expect(r.roots.map(root => root.name)).toEqual(["Scan"]);
    expect(r.diagnostics.map(d => d.code)).toContain("imports");
    expect(opaque(r)).toEqual(["fast_scan.scan is not known here"]);
  });

  it("writes results where out= says, and compares tensors as wholes", () => {
    const r = run(`
import torch
ids = torch.arange(0, 5, out=torch.cuda.LongTensor(5))
sums = torch.add(torch.ones(3), 1, out=torch.empty(3))
print(ids.device, sums.shape, torch.equal(torch.zeros(2), torch.zeros(3)), torch.equal(torch.ones(2), torch.ones(2)))
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["cuda:0 torch.Size([3]) False True"]);
  });
});

describe("modules that are not called anywhere", () => {
  const roots = (text: string): Record<string, readonly string[]> => {
    const r = run(text);
    expect(errors(r)).toEqual([]);
    return Object.fromEntries(r.roots.map(root => [root.name, root.assumed]));
  };

  it("get what their constructors read from **kwargs", () => {
    const found = roots(`
import torch.nn as nn
class Base(nn.Module):
    def __init__(self, width=16, pretrained=None):
        super().__init__()
        self.layer = nn.Linear(width, width)
    def forward(self, x):
        return self.layer(x)
class Tiny(Base):
    def __init__(self, **kwargs):
        super().__init__(width=8, pretrained=kwargs["pretrained"])
`);
    expect(found.Tiny).toContain("pretrained is None");
  });

  it("get the numbers that their constructors assert", () => {
    const found = roots(`
import torch.nn as nn
class Headless(nn.Module):
    def __init__(self, width=16, num_classes=1000, head_dim=8):
        super().__init__()
        self.num_classes = num_classes
        assert self.num_classes == 0
        assert head_dim in (32, 64)
        self.layer = nn.Linear(width, width)
    def forward(self, x):
        return self.layer(x)
`);
    expect(found.Headless).toContain("num_classes is 0");
    expect(found.Headless).toContain("head_dim is 32");
  });

  it("get a tensor where an operator met None, with the channels that are joined", () => {
    const found = roots(`
import torch, torch.nn as nn, torch.nn.functional as F
class Above(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 8, 3, padding=1)
    def forward(self, x, low_res=None):
        up = F.interpolate(low_res, x.shape[2:], mode="bilinear")
        return self.conv(torch.cat([x, up], 1))
`);
    expect(found.Above?.filter(a => / is float32\[\d+, 3, /.test(a))).toHaveLength(2);
  });

  it("have the method called that sets up their caches", () => {
    const found = roots(`
import torch, torch.nn as nn
class Cached(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.cache = None
    def setup_caches(self, max_batch_size, max_seq_length):
        self.cache = torch.zeros(max_batch_size, max_seq_length)
    def forward(self, x):
        assert self.cache is not None, "caches must be set up first"
        return self.layer(x) * self.cache.sum()
`);
    expect(found.Cached).toContain("setup_caches() was called before");
  });
});

describe("what is not modelled of a module that is", () => {
  it("is unknown in the standard library, and timm's layers are the same wherever they are imported from", () => {
    const r = run(`
import importlib
from timm.models.layers.helpers import to_2tuple
from timm.models.layers.weight_init import trunc_normal_
importlib.invalidate_caches()
print(to_2tuple(3), callable(trunc_normal_))
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toEqual(["(3, 3) True"]);
  });

  it("says of autocast what it is", () => {
    const r = run(`
import torch
print(torch.is_autocast_cache_enabled(), torch.get_autocast_cpu_dtype(), torch.clear_autocast_cache())
`);
    expect(errors(r)).toEqual([]);
    expect(printed(r)).toHaveLength(1);
  });
});
