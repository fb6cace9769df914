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
