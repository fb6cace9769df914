// forward(h, *x): what comes behind the named inputs, and how inputs that are joined share what a layer takes.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

const CELL = `
class Cell(nn.Module):
    def __init__(self, hidden=32, inputs=96):
        super().__init__()
        self.gate = nn.Conv2d(hidden + inputs, hidden, 3, padding=1)

    def forward(self, h, *x):
        x = torch.cat(x, dim=1)
        z = torch.sigmoid(self.gate(torch.cat([h, x], dim=1)))
        return (1 - z) * h
`;

const SPARES = `
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(16, 16)

    def forward(self, x, *spare):
        return self.w(x)
`;

test("further arguments are given where the code joins them, and fit the layer beside a state of its own size", () => {
  const r = analysed(CELL);
  expect(operatorsOf(r, "Cell").filter(t => /cat$|conv2d$/.test(t)).length).toBeGreaterThan(1);
  expect(assumedOf(r, "Cell")).toMatch(/h is float32\[8, 32, 32, 32\].*x is float32\[8, 96, 32, 32\]/);
});

test("they are left out where the code does without", () => {
  const r = analysed(SPARES);
  expect(operatorsOf(r, "Scaled").length).toBeGreaterThan(0);
  expect(assumedOf(r, "Scaled")).not.toContain("spare");
});

test("a forward that hands all of its arguments on takes those of the method that gets them", () => {
  const r = analysed(`
class Captions(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 24)
        self.visual = nn.Linear(48, 24)

    def forward(self, *args, **kwargs):
        return getattr(self, "_" + kwargs.pop("mode", "forward"))(*args, **kwargs)

    def _forward(self, features, tokens, masks=None):
        return self.visual(features).unsqueeze(1) + self.embed(tokens)
`);
  expect(operatorsOf(r, "Captions")).toHaveLength(4);
  expect(assumedOf(r, "Captions")).toMatch(/features is float32\[.*48\].*tokens is int64/);
});

test("*args stay empty where what they are handed on to has a name for each", () => {
  const r = analysed(`
class Inner(nn.Module):
    def forward(self, past, future):
        return past + future
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, *args, **kwargs):
        past, future = kwargs["past"], kwargs["future"]
        return self.inner(*args, past=past, future=future)
`);
  expect(operatorsOf(r, "Outer")).toEqual(["operator.add"]);
});
