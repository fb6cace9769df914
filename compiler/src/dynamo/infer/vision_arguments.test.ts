// What constructors and forward of networks for images are given: presets, files, layers by name, maps of the image's size.
import { expect, test } from "vitest";
import { analysed, analysedProject, assumedOf, operatorsOf } from "./testing/analysed";

const HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n";

test("a configuration is the preset of the module that has most of what is read", () => {
  const r = analysed(`
class Options:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)

PRESETS = {
    "plain": Options(width=8, patch=4),
    "mixed": Options(width=16, patch=4, stem=24),
}

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.stem % 24 == 0
        self.stem = nn.Conv2d(3, config.stem, config.patch, config.patch)
        self.out = nn.Conv2d(config.stem, config.width, 1)

    def forward(self, img):
        return self.out(self.stem(img))
`);
  expect(assumedOf(r, "Net")).toContain("config is PRESETS['mixed']");
  expect(operatorsOf(r, "Net").length).toBe(2);
});

test("a file that is opened is one that the program names", () => {
  const r = analysedProject({
    "pack/nets/small.cfg": "[conv]\nfilters=12\n[conv]\nfilters=24\n",
    "pack/train.py":
      'import argparse\np = argparse.ArgumentParser()\np.add_argument("--net", default="nets/small.cfg")\n',
    "pack/model.py": `${HEAD}
def read(path):
    with open(path, "r") as f:
        return [int(l.split("=")[1]) for l in f.read().split("\\n") if "=" in l]

class Built(nn.Module):
    def __init__(self, definition_path):
        super().__init__()
        widths = [3] + read(definition_path)
        self.layers = nn.ModuleList(nn.Conv2d(i, o, 3) for i, o in zip(widths[:-1], widths[1:]))

    def forward(self, img):
        for layer in self.layers:
            img = layer(img)
        return img
`,
  });
  expect(assumedOf(r, "Built")).toContain('definition_path is "nets/small.cfg"');
});

test("weights that no file of the project holds are no reason to do without the module", () => {
  const r = analysed(`
class Pretrained(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layer = nn.Linear(width, width)
        with open("weights.bin", "rb") as f:
            self.layer.load_state_dict(torch.load(f))

    def forward(self, x):
        return self.layer(x)
`);
  expect(operatorsOf(r, "Pretrained")).toEqual(["torch._C._nn.linear"]);
});

test("a name is one of those that its lower-case text is compared with", () => {
  const r = analysed(`
class Loss(nn.Module):
    def __init__(self, loss_type):
        super().__init__()
        self.loss_type = loss_type.lower()
        if self.loss_type == "hinge":
            self.loss = nn.ReLU()
        elif self.loss_type == "square":
            self.loss = nn.MSELoss()
        else:
            raise NotImplementedError("{:s} is not known".format(self.loss_type))

    def forward(self, x):
        return self.loss(x)
`);
  expect(assumedOf(r, "Loss")).toContain('loss_type is "hinge"');
});

test("classes in a dictionary are layers by their keys, their keyword arguments are none", () => {
  const r = analysed(`
class Block(nn.Module):
    def __init__(self, width, props):
        super().__init__()
        self.conv = props["conv_op"](width, width, 3, padding=1, **props["conv_op_kwargs"])
        self.norm = props["norm_op"](width, **props["norm_op_kwargs"])
        self.act = props["nonlin"](**props["nonlin_kwargs"])

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))
`);
  expect(operatorsOf(r, "Block").length).toBe(3);
});

test("flow and depth are maps of the image's size; inputs without names of their own are what they are unpacked into", () => {
  const r = analysed(`
class Refine(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(6, 2, 3, padding=1)

    def forward(self, img0, flow, depth):
        return flow + self.layer(torch.cat([img0, flow, depth], 1))

class Mixed(nn.Module):
    def forward(self, *inputs):
        image, mask = tuple(inputs)
        return image * mask.float()[:, None, None].mean()
`);
  expect(assumedOf(r, "Refine")).toMatch(/flow is float32\[8, 2, 224, 224\].*depth is float32\[8, 1, 224, 224\]/);
  expect(assumedOf(r, "Mixed")).toMatch(/image is float32\[8, 3, 224, 224\].*mask is bool/);
});

test("a size by default that leaves no patch of another one is given up", () => {
  const r = analysed(`
class Patches(nn.Module):
    def __init__(self, grid=16, img_size=224):
        super().__init__()
        patch = img_size // 16 // grid
        self.layer = nn.Conv2d(3, 8, patch, patch)
        self.count = img_size // (patch * 16)

    def forward(self, img):
        return self.layer(img) * self.count
`);
  expect(assumedOf(r, "Patches")).toMatch(/img_size is 256|grid is \d/);
});

test("several widths that a dictionary holds are a list", () => {
  const r = analysed(`
class Stages(nn.Module):
    def __init__(self, config):
        super().__init__()
        first, dims = config["first_dim"], config["block_dims"]
        self.stem = nn.Conv2d(3, first, 3)
        self.out = nn.Conv2d(first, dims[1], 1)

    def forward(self, img):
        return self.out(self.stem(img))
`);
  expect(operatorsOf(r, "Stages").length).toBe(2);
});

test("weights that are set through state_dict() or by ranges of an array's indices", () => {
  const r = analysed(`
import numpy as np

class Upsampling(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        weight = np.zeros((width, width, 4, 4))
        weight[range(width), range(width), :, :] = np.ones((4, 4))
        self.layer = nn.ConvTranspose2d(width, width, 4, stride=2)
        self.layer.weight.data.copy_(torch.from_numpy(weight).float())
        for key in self.state_dict():
            self.state_dict()[key][...] = 0

    def forward(self, x):
        return self.layer(x)
`);
  expect(operatorsOf(r, "Upsampling").length).toBe(1);
});

test("a mode that torch refuses gives way to those that its message names, and num_class is a number", () => {
  const r = analysed(`
class Enlarge(nn.Module):
    def __init__(self, scale, mode, num_class):
        super().__init__()
        self.scale, self.mode = scale, mode
        self.last = torch.zeros(num_class)

    def forward(self, x):
        return F.interpolate(x, scale_factor=self.scale, mode=self.mode, align_corners=False)
`);
  expect(assumedOf(r, "Enlarge")).toContain('mode is "linear"; num_class is 10');
});

test("a list of modules holds none of the class that takes it", () => {
  const r = analysed(`
from typing import List

class Steps(nn.Module):
    def __init__(self, steps: List[nn.Module]):
        super().__init__()
        self.steps = nn.ModuleList(steps)

    def forward(self, x):
        for step in self.steps:
            x = torch.cat([x, step(x)], dim=1)
        return x
`);
  expect(operatorsOf(r, "Steps")).toEqual(["torch.cat", "torch.cat"]);
});
