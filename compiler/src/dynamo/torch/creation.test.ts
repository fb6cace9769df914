// Tensors made to be differentiated, indices that are ranges, and layers by the module that defines them.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("factories take requires_grad=True outside of a graph, and end one", () => {
  const r = analysed(`
print([t.requires_grad for t in (torch.zeros(3, requires_grad=True), torch.arange(3.0, requires_grad=True))])

class Sums(nn.Module):
    def forward(self, x):
        total = torch.zeros_like(x * 2, requires_grad=True)
        return total + x
`);
  expect(printed(r)).toBe("[True, True]\n");
  expect(operatorsOf(r, "Sums")).toEqual(["operator.mul", "operator.add"]);
  const breaks = r.events.flatMap(e => (e.kind === "graph_break" ? [e.break.reason] : []));
  expect(breaks).toContain("Attempted to use tensor creation function with requires_grad=True");
});

test("a range indexes as the list of its numbers does", () => {
  const r = analysed(`
class Diagonal(nn.Module):
    def forward(self, x):
        x = x.view(8, -1)[:, :8].clone()
        x[range(8), range(0, 8)] = x[range(0, 4)].mean()
        return x
`);
  expect(operatorsOf(r, "Diagonal").slice(-3)).toEqual(["operator.getitem", "mean", "operator.setitem"]);
});

test("weight_norm comes of its own module too", () => {
  const r = analysed(`
from torch.nn.utils.weight_norm import weight_norm

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = weight_norm(nn.Linear(8, 4), dim=None)

    def forward(self, x):
        return self.linear(x)

print(sorted(n for n, _ in Scaled().named_parameters()), callable(torch.nn.utils.weight_norm))
`);
  expect(printed(r)).toBe("['linear.bias', 'linear.weight_g', 'linear.weight_v'] True\n");
  expect(operatorsOf(r, "Scaled").at(-1)).toMatch(/linear$/);
});

test("arrays in lists are stacked", () => {
  const r = analysed(`
import numpy as np
one_hot = np.eye(5)[[0, 3]]
print(torch.FloatTensor([one_hot]).shape, torch.tensor([np.zeros(3), np.ones(3)]).tolist())
print(torch.tensor([np.random.rand(2, 3), np.zeros((2, 3))]).shape)
`);
  expect(printed(r)).toBe("torch.Size([1, 2, 5]) [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]\ntorch.Size([2, 2, 3])\n");
});

test("out= is resized outside of a graph and ends one, and tensors of one number are sizes in tuples too", () => {
  const r = analysed(`
places = torch.empty(0, dtype=torch.int64)
torch.arange(3, 8, out=places)
print(places.shape, torch.zeros((torch.tensor(2), 3)).shape)

class Placed(nn.Module):
    def forward(self, x):
        places = x.new_empty(0)
        torch.arange(x.shape[1], out=places)
        return x + places[:, None]
`);
  expect(printed(r)).toBe("torch.Size([5]) torch.Size([2, 3])\n");
  expect(operatorsOf(r, "Placed").length).toBeGreaterThan(0);
  const breaks = r.events.flatMap(e => (e.kind === "graph_break" ? [e.break.reason] : []));
  expect(breaks).toContain("Shape mismatch with out= tensor variant");
});

test("classes are values of an enumeration", () => {
  const r = analysed(`
from enum import Enum
from functools import partial
class Cell(Enum):
    lstm = nn.LSTM
    act = partial(F.leaky_relu, negative_slope=0.1)
    def make(self):
        return self.value
print([c.name for c in Cell], Cell.lstm.value is nn.LSTM, Cell.lstm.make() is nn.LSTM)
`);
  expect(printed(r)).toBe("['lstm', 'act'] True True\n");
});
