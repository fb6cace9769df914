// Parts of configurations: folders that they are put together of, what code falls back to, keywords that are handed on.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("a part of a configuration is read from the folder that is called like it, the file that the defaults name first", () => {
  const r = analysed(
    `
def noise_of(config):
    if config.noise.type == "linear":
        return nn.Linear(config.noise.width, config.noise.width)
    raise ValueError(f"{config.noise.type} is no noise")
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.noise = noise_of(config)
    def forward(self, x):
        return self.noise(x)
`,
    {
      "README.md": "",
      "configs/config.yaml": "defaults:\n  - /model: small\n  - /noise: linear\n",
      "configs/model/small.yaml": "type: ddit\nwidth: 96\n",
      "configs/noise/cosine.yaml": "type: cosine\nwidth: 16\n",
      "configs/noise/linear.yaml": "type: linear\nwidth: 40\n",
    },
  );
  expect(assumedOf(r, "Net")).toContain("config.noise.type is 'linear'");
  expect(assumedOf(r, "Net")).toContain("config.noise.width is 40");
});

test("an attribute that code falls back for is what it falls back to, and texts that conditions ask for are found", () => {
  const r = analysed(`
def build_tower(cfg):
    vision_tower = getattr(cfg, "mm_vision_tower", None)
    if vision_tower.startswith("plain"):
        return nn.Linear(cfg.width, cfg.width)
    raise ValueError(f"unknown tower {vision_tower}")
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tower = build_tower(cfg)
        self.scale = getattr(cfg, "tower_scale", 0.25)
    def forward(self, x):
        return self.tower(x) * self.scale
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear", "operator.mul"]);
  expect(assumedOf(r, "Net")).not.toContain("tower_scale");
});

test("a part of a configuration that is handed on as keywords gets those that the call lacks", () => {
  const r = analysed(`
from dataclasses import dataclass
@dataclass
class Patching:
    patch_size: int
    stride: int
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        config.patching["stride"] = config.patching.get("stride", 2)
        self.patching = Patching(**config.patching)
        self.proj = nn.Linear(self.patching.patch_size, config.width)
    def forward(self, x):
        return self.proj(x)
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear"]);
});

test("a stand-in for a configuration is an instance of the classes that libraries have for them, and lists what was set", () => {
  const r = analysed(`
from omegaconf import DictConfig
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        if not isinstance(cfg, DictConfig) or isinstance(cfg, list):
            raise TypeError("no configuration")
        if "alternate" not in cfg._get_kwargs():
            cfg.alternate = False
        self.alternate = cfg.alternate
    def forward(self, x):
        return x.sin() if self.alternate else x.cos()
`);
  expect(operatorsOf(r, "Net")).toEqual(["cos"]);
});
