// Modules whose layers are made by a method of their own, which whoever builds them calls before they run.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("a method that builds the layers is called with arguments that its errors ask for", () => {
  const r = analysed(`
class Base(nn.Module):
    def initialize(self, opt):
        self.opt = opt
        self.train_now = opt.is_train

class Net(Base):
    def initialize(self, opt, kind):
        Base.initialize(self, opt)
        if kind not in ("wide", "narrow"):
            raise ValueError("unknown kind")
        self.body = nn.Linear(opt.input_nc, 32 if kind == "wide" else 8)

    def forward(self, x):
        return self.body(x) if self.opt.input_nc else x
`);
  expect(operatorsOf(r, "Net")).toHaveLength(1);
  expect(assumedOf(r, "Net")).toMatch(/initialize\(\) was called before; opt is .*; kind is "wide"/);
});

test("one that has others build them is called rather than those", () => {
  const r = analysed(`
class Detector(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.classes = classes

    def _init_modules(self):
        self.base = nn.Conv2d(3, 16, 3)
        self.score = nn.Linear(16, self.classes)

    def _init_weights(self):
        nn.init.normal_(self.base.weight)

    def create_architecture(self):
        self._init_modules()
        self._init_weights()

    def forward(self, image):
        return self.score(self.base(image).mean((2, 3)))
`);
  expect(operatorsOf(r, "Detector")).toHaveLength(3);
  expect(assumedOf(r, "Detector")).toContain("create_architecture() was called before");
});

test("methods that all call each other are looked through once", () => {
  const names = Array.from({ length: 24 }, (_, i) => `step${i}`);
  const calls = names.map(n => `self.${n}()`).join("; ");
  const r = analysed(`
class Net(nn.Module):
${names.map(n => `    def ${n}(self): ${calls}`).join("\n")}
    def forward(self, x):
        return self.body(x)
`);
  expect(operatorsOf(r, "Net")).toEqual([]);
}, 20_000);

test("an item that a dictionary of the module lacks is set by the method that sets it", () => {
  const r = analysed(`
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = {}

    def init_state(self, width: int = 4):
        self.state["previous"] = torch.ones(width, device="cuda")

    def forward(self, x):
        return x * self.state["previous"].sum()
`);
  expect(operatorsOf(r, "Decoder")).toContain("operator.mul");
  expect(assumedOf(r, "Decoder")).toContain("init_state() was called before");
});

test("a method that begins a sequence is called where the state that it makes is missing, not one that clears it", () => {
  const r = analysed(`
class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(24, 48)
        self.h, self.c = None, None

    def clear(self):
        self.h, self.c = None, None

    def reset(self, count):
        self.h, self.c = torch.zeros(8, 48), torch.zeros(8, 48)

    def forward(self, x):
        self.h, self.c = self.cell(x, (self.h, self.c))
        return self.h
`);
  expect(assumedOf(r, "Player")).toContain("reset() was called before");
});

test("a method that an error's own words name is called before", () => {
  const r = analysed(`
class Diffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.ready = False
    def push_schedule(self, steps=4):
        self.ready = True
        self.register_buffer("betas", torch.linspace(0.1, 0.2, steps))
    def forward(self, x):
        if not self.ready:
            raise RuntimeError("No schedule: use push_schedule(...).")
        return x * self.betas[0]
`);
  expect(assumedOf(r, "Diffusion")).toContain("push_schedule() was called before");
});
