// Small libraries around models, as model files use them.
import { expect, test } from "vitest";
import { analysed, analysedProject, assumedOf, framesOf, operatorsOf, printed } from "../infer/testing/analysed";

test("yacs' configurations are copied, merged with files of the project and lists, and asked", () => {
  const r = analysedProject({
    "pack/net.yaml": "MODEL:\n  WIDTH: 32\n",
    "pack/model.py": `
from yacs.config import CfgNode as CN

_C = CN()
_C.MODEL = CN(new_allowed=True)
_C.MODEL.WIDTH = 16
_C.MODEL.RATES = [1, 2]
cfg = _C.clone()
cfg.merge_from_file("net.yaml")
cfg.merge_from_list(["MODEL.DEPTH", 3])
cfg.freeze()
print(_C.MODEL.WIDTH, cfg.MODEL.WIDTH, cfg.MODEL.DEPTH, cfg.MODEL.RATES)
`,
  });
  expect(printed(r)).toBe("16 32 3 [1, 2]\n");
});

test("einops_exts checks shapes and rearranges several tensors", () => {
  const r = analysed(`
from einops_exts import check_shape, rearrange_many
from einops_exts.torch import EinopsToAndFrom

class Maps(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(5, 32, 3)
        self.mix = EinopsToAndFrom("b c h w", "b (h w) c", nn.Linear(32, 32))

    def forward(self, x):
        x = self.mix(check_shape(self.conv(x), "b c h w", c=32))
        left, right = rearrange_many(x.chunk(2, 1), "b c h w -> b (h w) c")
        return left * right
`);
  expect(operatorsOf(r, "Maps")).toContain("operator.mul");
});

test("a module that the program imports by a name at run time is looked for from its file", () => {
  const r = analysedProject({
    "pack/parts/layers.py": "WIDTH = 12\n",
    "pack/parts/__init__.py": "",
    "pack/model.py": `
import importlib
print(importlib.import_module("parts.layers").WIDTH, __import__("parts.layers").layers.WIDTH)
`,
  });
  expect(printed(r)).toBe("12 12\n");
});

test("clips have the frames that a module keeps, and a number of frames is a number", () => {
  const r = analysed(`
class Clip(nn.Module):
    def __init__(self, net, num_frames=6, image_size=48):
        super().__init__()
        self.net, self.num_frames, self.image_size = nn.Conv3d(3, 8, 1), num_frames, image_size

    def forward(self, x):
        assert x.shape[2:] == (self.num_frames, self.image_size, self.image_size)
        return self.net(x)

class Steps(nn.Module):
    def forward(self, x, timesteps):
        return x + torch.arange(timesteps, device=x.device).sum()
`);
  expect(assumedOf(r, "Clip")).toMatch(/x is float32\[\d+, 3, 6, 48, 48\]/);
  expect(assumedOf(r, "Steps")).toMatch(/timesteps is \d+/);
});

test("backends are switched around operators and have versions", () => {
  const r = analysed(`
from torch.backends.cuda import SDPBackend, sdp_kernel
CHOSEN = {SDPBackend.MATH: {"enable_math": True}, None: {"enable_flash": False}}

class Attend(nn.Module):
    def forward(self, x):
        with sdp_kernel(**CHOSEN[None]), torch.backends.cudnn.flags(enabled=False):
            return F.scaled_dot_product_attention(x, x, x) if torch.backends.cudnn.version() > 8000 else x
`);
  expect(operatorsOf(r, "Attend")).toHaveLength(1);
});

test("torchvision's transforms of tensors and timm's pools by name are torch's operators", () => {
  const r = analysed(`
import torchvision.transforms as T
from timm.layers import ConvNormAct, SelectAdaptivePool2d, create_classifier

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = T.Compose([T.Resize(64), T.CenterCrop(56), T.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2))])
        self.conv = ConvNormAct(3, 8, 3)
        self.pool, self.fc = create_classifier(8, 10, pool_type="catavgmax")
        self.other = SelectAdaptivePool2d(flatten=True)

    def forward(self, image):
        x = self.pre(image)
        assert x.shape[-2:] == (56, 56)
        x = self.conv(x)
        return self.fc(self.pool(x)), self.other(x)
`);
  expect(framesOf(r, "Net").flatMap(f => f.graph.nodes.flatMap(n => n.meta.opaque ?? []))).toEqual([]);
  expect(operatorsOf(r, "Net")).toContain("torch.cat");
});

test("shapes of detectron2's backbones are those of four stages", () => {
  const r = analysed(`
from typing import Dict
from detectron2.layers import ShapeSpec

class Head(nn.Module):
    def __init__(self, input_shape: Dict[str, ShapeSpec]):
        super().__init__()
        shapes = sorted(input_shape.items(), key=lambda x: x[1].stride)
        self.names = [k for k, v in shapes]
        self.lateral = nn.ModuleList([nn.Conv2d(v.channels, 8, 1) for k, v in shapes])

    def forward(self, features):
        return [conv(features[name]) for conv, name in zip(self.lateral, self.names)]
`);
  expect(operatorsOf(r, "Head")).toHaveLength(4);
  expect(assumedOf(r, "Head")).toMatch(/"res5": float32\[\d+, 2048, /);
});

test("a dataclass of transformers' outputs holds its fields as items and attributes, and a graph gives them back", () => {
  const r = analysed(`
from dataclasses import dataclass
from typing import Optional
from transformers.utils import ModelOutput

@dataclass
class Output(ModelOutput):
    loss: Optional[torch.Tensor] = None
    logits: torch.Tensor = None

@torch.compile
def f(x):
    return Output(logits=x.sin())

out = f(torch.randn(3, 4))
print(out.logits.shape == out["logits"].shape == out[0].shape, "loss" in out, out.loss, len(out.to_tuple()))
`);
  expect(printed(r)).toBe("True False None 1\n");
  expect(operatorsOf(r, "f")).toEqual(["sin"]);
});

test("attributes of subclasses of containers are what a graph returns too", () => {
  const r = analysed(`
class Row(dict):
    pass

class Rows(list):
    pass

@torch.compile
def f(x):
    row, rows = Row(a=1), Rows([2])
    row.extra, rows.extra = x.cos(), x.tan()
    return row, rows

f(torch.randn(3, 4))
`);
  expect(operatorsOf(r, "f")).toEqual(["cos", "tan"]);
});

test("rotary_embedding_torch turns pairs of features, and einops of what nobody knows is not known", () => {
  const r = analysed(`
from rotary_embedding_torch import RotaryEmbedding, broadcat
from einops import rearrange
from nowhere import thing

class Rotated(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = RotaryEmbedding(dim=32)

    def forward(self, q, k):
        return self.rotary.rotate_queries_or_keys(q) @ self.rotary.rotate_queries_or_keys(k).mT

axial = RotaryEmbedding(dim=16, freqs_for="pixel")
print(axial.get_axial_freqs(8, 4).shape, broadcat((torch.ones(1, 4, 2), torch.ones(3, 1, 5))).shape)
print(rearrange(thing(), "a b -> b a"))
m = torch.compile(Rotated().cuda())
print(m(torch.randn(2, 4, 16, 64, device="cuda"), torch.randn(2, 4, 16, 64, device="cuda")).shape)
`);
  expect(printed(r)).toBe(
    "torch.Size([8, 4, 32]) torch.Size([3, 4, 7])\n<unknown einops.rearrange(...)>\ntorch.Size([2, 4, 16, 16])\n",
  );
});

test("opt_einsum's contractions are einsum", () => {
  const r = analysed(`
from opt_einsum import contract, contract_expression

class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 16))
        self.summed = contract_expression("ch,bch->b", self.weight, (8, 4, 16), constants=[0])

    def forward(self, x):
        return self.summed(contract("bl,ch->bch", x, self.weight, backend="torch"))
`);
  expect(operatorsOf(r, "Mixed")).toEqual(["torch.functional.einsum", "torch.functional.einsum"]);
});

test("a folder without __init__ is a package of the files in it", () => {
  const r = analysedProject({
    "pack/nets/parts/act.py": "import torch\n\ndef twice(x):\n    return torch.relu(x) * 2\n",
    "pack/nets/model.py": "",
    "pack/model.py": `
import torch
from nets import parts
from nets.parts import act
print(parts.act is act, act.twice(torch.tensor([1.5])).tolist())
`,
  });
  expect(r.diagnostics.filter(d => d.code.startsWith("unknown"))).toEqual([]);
  expect(printed(r)).toBe("True [3.0]\n");
});

test("an option that has to be given is the first of what may be given", () => {
  const r = analysed(`
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("mode", choices=["train", "test"])
parser.add_argument("--dataset", required=True, help="cifar10 | lsun | mnist")
parser.add_argument("--depth", type=int, required=True, choices=(18, 34))
parser.add_argument("--root", required=False, help="a | b")
parser.add_argument("paths", nargs="*")
a = parser.parse_args()
print(a.mode, a.dataset, a.depth, a.root, a.paths)
`);
  expect(printed(r)).toBe("train cifar10 18 None None\n");
});

test("helpers that layers of all libraries share are timm's where the library is not there", () => {
  const r = analysed(`
from strange.utils.ops import make_divisible
from mmcv.utils import to_2tuple

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, make_divisible(30 * 0.5, 8), to_2tuple(3))
    def forward(self, x):
        return self.conv(x)

print(torch.compile(Net())(torch.randn(2, 3, 8, 8)).shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 16, 6, 6])\n");
});

test("six is Python 3, and a module has the text that it begins with", () => {
  const r = analysed(
    `
import six
from pack.notes import __doc__ as notes
from six.moves import range, zip_longest
class Meta(type):
    def __new__(cls, name, bases, names):
        return super().__new__(cls, name, bases, {**names, "made": True})
class Base(six.with_metaclass(Meta, object)):
    pass
@six.add_metaclass(Meta)
class Other(object):
    pass
sizes = {"a": 2, "b": 3}
print(sum(v for _, v in six.iteritems(sizes)), isinstance("x", six.string_types), six.moves.xrange(3)[1])
print(Base.made, Other.made, six.callable(print), list(range(2)), notes, __doc__)
`,
    { "pack/notes.py": '"""What is said."""\n' },
  );
  expect(printed(r)).toBe("5 True 1\nTrue True True [0, 1] What is said. None\n");
});

test("fastcore stores the arguments of the constructor that asks for it", () => {
  const r = analysed(`
from fastcore.basics import store_attr
class Net(nn.Module):
    def __init__(self, width=8, depth=2, rate=None):
        super().__init__()
        store_attr("width,depth")
        self.layers = nn.ModuleList([nn.Linear(self.width, self.width) for _ in range(self.depth)])
        store_attr(but="rate")
        self.kept = not hasattr(self, "rate")
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x if self.kept else x.relu()
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear", "torch._C._nn.linear"]);
});

test("torch_einops_utils pads by the dimension, joins masks and packs what it unpacks again", () => {
  const r = analysed(`
from torch_einops_utils import and_masks, lens_to_mask, maybe, pack_with_inverse, pad_right_at_dim, pad_left_at_dim_to
from torch_einops_utils.nn import Sequential

x = torch.zeros(2, 3, 4)
packed, back = pack_with_inverse(x, "* d")
print(pad_right_at_dim(x, 2, dim=1).shape, pad_left_at_dim_to(x, 6).shape, packed.shape, back(packed).shape)
print(lens_to_mask(torch.tensor([1, 3]), 4).tolist(), and_masks([None]), maybe(torch.relu)(None), len(Sequential(nn.ReLU(), None)))
`);
  expect(printed(r)).toBe(
    "torch.Size([2, 5, 4]) torch.Size([2, 3, 6]) torch.Size([6, 4]) torch.Size([2, 3, 4])\n" +
      "[[True, False, False, False], [True, True, True, False]] None None 1\n",
  );
});

test("timm's pooling by learned queries is attention", () => {
  const r = analysed(`
from timm.layers import AttentionPoolLatent

class Pooled(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.pool = AttentionPoolLatent(dim, num_heads=4)

    def forward(self, tokens):
        return self.pool(tokens)
`);
  expect(operatorsOf(r, "Pooled")).toContain("torch._C._nn.scaled_dot_product_attention");
});

test("torch_einops_utils averages under masks, shifts, joins what is there and picks by batch", () => {
  const r = analysed(`
from torch_einops_utils import batched_index_select, mask_after, masked_mean, pad_sequence, safe_cat, shift, slice_right_at_dim

x = torch.arange(6.0).reshape(2, 3)
print(masked_mean(x, torch.tensor([[True, True, False], [False, False, True]]), dim=1).tolist(), masked_mean(x).item())
print(shift(x).shape, safe_cat([None, x]).shape, safe_cat([None]), slice_right_at_dim(x, 1).shape)
print(mask_after(torch.tensor([[1, 7, 2]]), 7).dtype, batched_index_select(x, torch.tensor([[0, 2], [1, 1]])).shape)
print(pad_sequence([torch.ones(2), torch.ones(4)], return_lens=True)[0].shape)
`);
  expect(printed(r)).toBe(
    "[0.5, 5.0] 2.5\ntorch.Size([2, 3]) torch.Size([2, 3]) None torch.Size([2, 1])\n" +
      "torch.bool torch.Size([2, 2])\ntorch.Size([2, 4])\n",
  );
});

test("an average of a model's weights is a copy of the model that keeps no gradients", () => {
  const r = analysed(`
from ema_pytorch import EMA

class Distilled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)
        self.teacher = EMA(self.net, beta=0.9, include_online_model=False)
        self.kept = [p.requires_grad for p in self.teacher.ema_model.parameters()], len(list(self.teacher.parameters()))

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x)
        return F.mse_loss(self.net(x), target)

print(Distilled().kept)
`);
  expect(printed(r)).toBe("([False, False], 2)\n");
  expect(operatorsOf(r, "Distilled").filter(t => t.endsWith("linear"))).toHaveLength(2);
});

test("torchmetrics' metrics keep states, accelerate gives back what it prepares, an average of weights runs", () => {
  const r = analysed(`
from torchmetrics import MeanSquaredError, Metric, MetricCollection
from accelerate import Accelerator
from ema_pytorch import EMA

class Total(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("total", default=torch.tensor(0.0), dist_reduce_fx="sum")

    def update(self, x, y):
        self.total += (x - y).abs().sum()

    def compute(self):
        return self.total

class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.accelerator = Accelerator(mixed_precision="no")
        self.net = self.accelerator.prepare(nn.Linear(4, 4))
        self.average = EMA(self.net, beta=0.99)
        self.total = Total()
        self.errors = MetricCollection([MeanSquaredError()], prefix="val_")

    def forward(self, x):
        with self.accelerator.autocast():
            y, z = self.net(x), self.average(x)
        return self.total(y, z) + self.errors(y, z)["val_MeanSquaredError"]

step = Step().cuda()
print(torch.compile(step)(torch.randn(2, 4, device="cuda")).shape, Accelerator().is_main_process)
print(list(step.state_dict()))
`);
  expect(printed(r)).toBe(
    "torch.Size([]) True\n['net.weight', 'net.bias', 'average.initted', 'average.step', 'average.online_model.weight', " +
      "'average.online_model.bias', 'average.ema_model.weight', 'average.ema_model.bias']\n",
  );
});

test("Lightning's hyperparameters are what all constructors of a module were given", () => {
  const r = analysed(`
import inspect
from lightning.pytorch import LightningModule
from lightning.pytorch.utilities.parsing import get_init_args

class Base(LightningModule):
    def __init__(self, rate=0.1, steps=None, **rest):
        super().__init__()
        given = get_init_args(inspect.currentframe())
        self.save_hyperparameters({k: v for k, v in given.items() if k not in self.hparams})

class Net(Base):
    def __init__(self, width=8, **rest):
        self.save_hyperparameters()
        super().__init__(rate=0.5, **rest)
        self.layer = nn.Linear(self.hparams.width, self.hparams.classes)

    def forward(self, x):
        return self.layer(x)

print(sorted(Net(classes=3).hparams.items()))
`);
  expect(printed(r)).toBe("[('classes', 3), ('rate', 0.5), ('steps', None), ('width', 8)]\n");
});

test("what an object inherits of a base that nobody knows is unknown, where the base is no module", () => {
  const r = analysed(`
from nowhere import Counter

class Errors(Counter):
    def add(self):
        return self.total

print(Errors().add(), hasattr(Errors(), "_private"))
`);
  expect(printed(r)).toBe("<unknown nowhere.Counter.total> False\n");
});

test("distributions that are not modelled are unknown, and a transformer of tables is no module", () => {
  const r = analysed(`
from sklearn.base import TransformerMixin

class Scaler(TransformerMixin):
    pass

print(torch.distributions.LowRankMultivariateNormal, isinstance(Scaler(), nn.Module))
`);
  expect(printed(r)).toBe("<unknown torch.distributions.LowRankMultivariateNormal> False\n");
});

test("Lightning's counters are properties that a module may have in its own way", () => {
  const r = analysed(`
import pytorch_lightning as pl
class Own(pl.LightningModule):
    @property
    def global_step(self):
        return 7
print(pl.LightningModule().global_step, Own().global_step)
`);
  expect(printed(r)).toBe("0 7\n");
});

test("numpy counts between arrays, and pairs all items of two", () => {
  const r = analysed(`
import numpy as np
print(np.linspace(np.float64(0), np.asarray(4.0), 5).shape, np.linspace(np.zeros(2), np.ones(2), 3).shape)
print(np.subtract.outer(np.arange(3), np.arange(2)).tolist())
`);
  expect(printed(r)).toBe("(5,) (3, 2)\n[[0, -1], [1, 0], [2, 1]]\n");
});

test("positions by axes are sums of one vector for each, or those vectors joined", () => {
  const r = analysed(`
from axial_positional_embedding import AxialPositionalEmbedding
import torch.distributed as dist

print(AxialPositionalEmbedding(8, (4, 6))(torch.zeros(2, 20, 8)).shape, AxialPositionalEmbedding(8, (4, 6), (5, 3))(torch.zeros(2, 24, 8)).shape)
print(AxialPositionalEmbedding(8, (4, 6), (5, 3)).weights[1].shape, dist.ReduceOp)
`);
  expect(printed(r)).toBe(
    "torch.Size([2, 20, 8]) torch.Size([2, 24, 8])\ntorch.Size([1, 1, 6, 3]) <unknown torch.distributed.ReduceOp>\n",
  );
});
