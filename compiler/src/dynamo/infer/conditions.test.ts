// Constructor arguments that make a constructor set what forward reads.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

const net = (parameter: string, condition: string): string => `
class Net(nn.Module):
    def __init__(self, ${parameter}):
        super().__init__()
        if ${condition}:
            self.gate = nn.Linear(8, 8)

    def forward(self, x):
        return self.gate(x)
`;

test.each([
  ["mode=False", "mode is True", "mode is True"],
  ["mode=True", "mode is not True", "mode is False"],
  ["depth=1", "depth >= 4", "depth is 5"],
  ["depth=9", "depth < 4", "depth is 3"],
  ['kind="plain"', 'kind in ("gated", "plainer")', 'kind is "gated"'],
  ["gate=None", "gate is not None", "gate is "],
])("%s, where %s is asked", (parameter, condition, note) => {
  const r = analysed(net(parameter, condition));
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear"]);
  expect(assumedOf(r, "Net")).toContain(note);
});

test.each([
  ["load=False", "if not load:\n            for i in xrange(3): self.last = i", "return self.first(x)", "load is True"],
  [
    "old=True",
    "self.old = old",
    "if self.old:\n            x = x.sum(unknown_name)\n        return self.first(x)",
    "old is False",
  ],
])("a statement that fails under a condition is gone past: %s", (parameter, more, forward, note) => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self, ${parameter}):
        super().__init__()
        self.first = nn.Linear(8, 8)
        ${more}

    def forward(self, x):
        ${forward}
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear"]);
  expect(assumedOf(r, "Net")).toContain(note);
});

test("an input that is a condition of what fails is changed", () => {
  const r = analysed(`
class Net(nn.Module):
    def forward(self, x, both=True):
        if both:
            return missing(x)
        return x.relu()
`);
  expect(assumedOf(r, "Net")).toContain("both is False");
});

test("a configuration names another kind where what its kind needs is not there", () => {
  const r = analysed(`
from nowhere import coefficients

class Wavelet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("table", torch.zeros(coefficients(width)[0], [1][coefficients(width)]))

    def forward(self, x):
        return x * self.table

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Linear(config.width, 8)
        if config.version == "wavelets":
            self.mix = Wavelet(config.width)
        else:
            self.mix = nn.Linear(8, 8)

    def forward(self, x):
        return self.mix(self.embed(x))
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear", "torch._C._nn.linear"]);
});
