// Trials leave no trace: what a run that was only tried did to the module is gone when the run that counts begins.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("numbers of a buffer that a trial wrote into are known again afterwards", () => {
  const r = analysed(`
class Memory(nn.Module):
    def __init__(self, count=16):
        super().__init__()
        self.register_buffer("params", torch.tensor([count, 0.5, -1.0]))

    def forward(self, x):
        count = int(self.params[0].item())
        y = x.reshape(x.size(0), count + 1, 3)
        if self.params[2].item() < 0:
            self.params[2] = y.mean()
        return y * 2
`);
  expect(assumedOf(r, "Memory")).toMatch(/x is float32\[8, 51\]|x is float32\[8, (17, 3|3, 17)\]/);
});

test("what a trial that ends well sets on the module is not there when it runs for good", () => {
  const r = analysed(`
class Once(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x):
        y = x.reshape(x.size(0), 17, 3)
        if self.cache is None:
            self.cache = y
            return y.tanh()
        return y.sigmoid()
`);
  expect(operatorsOf(r, "Once")).toContain("tanh");
  expect(operatorsOf(r, "Once")).not.toContain("sigmoid");
});

test("the type of an operator's named results outlives a run that failed", () => {
  const r = analysed(`
class Highest(nn.Module):
    def forward(self, x, y):
        best = torch.max(x, dim=-1, keepdim=True).values
        if y.shape != (3, 5):
            raise ValueError("y must be 3 by 5")
        return x - best + y.sum()
`);
  expect(assumedOf(r, "Highest")).toMatch(/y is \w+\[3, 5\]/);
});

test("inputs that a search found with many steps are run with more", () => {
  const r = analysed(
    `
class Sampled(nn.Module):
    def forward(self, points, label):
        b, n, c = points.shape
        far = torch.zeros(b, dtype=torch.long, device=points.device)
        for i in range(1200):
            d = ((points - points[torch.arange(b), far].view(b, 1, 3)) ** 2).sum(-1)
            far = d.max(-1)[1]
        return points.mean(1) + label.view(b, 3)
`,
  );
  expect(operatorsOf(r, "Sampled").length).toBeGreaterThan(5000);
});
