// State of a process that a start-up function makes, found missing by a constructor.
import { expect, test } from "vitest";
import { analysed, analysedProject, assumedOf, operatorsOf } from "./testing/analysed";

test("a function that sets what a module's functions look for is called before", () => {
  const r = analysedProject({
    "pack/settings.py": `
_SETTINGS = None

def settings():
    assert _SETTINGS is not None, "settings are not there yet"
    return _SETTINGS

def set_settings(args):
    global _SETTINGS
    _SETTINGS = args

def clear_settings():
    global _SETTINGS
    _SETTINGS = None
`,
    "pack/model.py": `
import torch.nn as nn
from .settings import settings

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(settings().hidden_size, 4)

    def forward(self, x):
        return self.layer(x)
`,
  });
  expect(operatorsOf(r, "Net")).toHaveLength(1);
  expect(assumedOf(r, "Net")).toContain("set_settings() was called before");
});

test("so is the method of an object that a module keeps, which parses what it reads", () => {
  const r = analysedProject({
    "pack/config.py": `
class Config:
    def __init__(self):
        self.known = None

    def load(self, path):
        self.known = {"width": 24}

    def use_defaults(self):
        self.load(None)

    def __call__(self, name, default):
        if self.known is None:
            raise ValueError("no configuration loaded")
        return self.known.get(name, default)

config = Config()
`,
    "pack/model.py": `
import torch.nn as nn
from .config import config

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(config("width", 8), config("classes", 3))

    def forward(self, x):
        return self.layer(x)
`,
  });
  expect(operatorsOf(r, "Net")).toHaveLength(1);
  expect(assumedOf(r, "Net")).toContain("use_defaults() was called before");
});

test("an error that has nothing to do with it calls nothing", () => {
  const r = analysed(`
STATE = None

def start(n):
    global STATE
    STATE = n

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        if width % 48 != 0:
            raise ValueError("width must be divisible by 48")
        self.layer = nn.Linear(width, 4)

    def forward(self, x):
        return self.layer(x)
`);
  expect(operatorsOf(r, "Net")).toHaveLength(1);
  expect(assumedOf(r, "Net")).not.toContain("was called before");
});
