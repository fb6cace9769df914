// What stands behind an opaque operator whose result's shape is a guess.
import { expect, test } from "vitest";
import type { FakeTensor } from "../../fx/types";
import { intValue } from "../../inductor/symbolic/expr";
import { analysed, framesOf } from "../infer/testing/analysed";

const nodesOf = (text: string) => framesOf(analysed(text), "Net").flatMap(f => f.graph.nodes);
/** of each operator that went beyond a guess its result's sizes behind the batch */
const shapesOf = (text: string): string[] =>
  nodesOf(text).flatMap(n => {
    const val = n.meta.val as FakeTensor | undefined;
    const sizes = val?.shape?.slice(1).map(d => intValue(d));
    return n.meta.opaque?.startsWith("the shape of") && sizes ? [sizes.join()] : [];
  });

test("layers that refuse a guessed shape give what their weights say, and the trace goes on", () => {
  const text = `
from strange import correlate
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.conv = nn.Conv2d(81, 32, 3, padding=1)
        self.norm = nn.LayerNorm(48)
        self.last = nn.Linear(48, 10)
    def forward(self, x):
        y = self.conv(correlate(self.first(x)))
        return self.last(self.norm(y.flatten(2)))
`;
  expect(shapesOf(text)).toEqual(["32,224,224", "32,48"]);
});

test("an operator that refuses it beside another tensor gives that one's shape, and its parts can be asked for", () => {
  const text = `
from strange import pack
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
    def forward(self, x):
        y = pack(x)
        z = self.conv(x) * (y + 1)
        a, b = (z + 1).parts
        return a + b
`;
  expect(shapesOf(text)).toEqual(["16,224,224"]);
});

test("an empty tensor that an unknown function is handed is what it writes", () => {
  const text = `
import correlation_cuda
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.next = nn.Conv2d(81, 8, 1)
    def forward(self, x):
        y = self.conv(x)
        out = y.new()
        correlation_cuda.forward(y, out)
        return self.next(out)
`;
  expect(shapesOf(text)).toEqual(["8,224,224"]);
});

test("what nothing was guessed of is refused as ever", () => {
  const text = `
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.next = nn.Conv2d(81, 8, 1)
    def forward(self, x):
        return self.next(self.conv(x))
`;
  expect(nodesOf(text)).toEqual([]);
});

test("einops goes beyond it as its pattern says, and methods that want other arguments than a tensor's give the same object", () => {
  const text = `
from einops import rearrange
from strange import Signal
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 1)
        self.conv = nn.Conv2d(2, 8, 3, padding=1)
    def forward(self, x):
        y = torch.view_as_real(Signal(self.first(x)).stft())
        return self.conv(rearrange(y, "b 1 f t c -> (b 1) c t f", c=2))
`;
  expect(shapesOf(text).length).toBeGreaterThan(1);
  expect(nodesOf(text).filter(n => n.target === "torch.conv2d").length).toBe(2);
});

test("an item of what an unknown function gave is one of several results, shaped like its tensor", () => {
  const text = `
import pooling
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
    def forward(self, x):
        return self.conv(pooling.forward(x)[0])
`;
  expect(nodesOf(text).map(n => n.target)).not.toContain("operator.getitem");
  expect(shapesOf(text)).toEqual([]);
});

test("what a guess was made of is known in the frames behind a graph break as well", () => {
  const text = `
from strange import attend
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.out = nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x):
        b, n, c = x.shape
        y = self.out(attend(self.value(x).view(b, n, 8, 8), x))
        torch._dynamo.graph_break()
        return x + y
`;
  expect(nodesOf(text).flatMap(n => (n.meta.opaque?.includes("operator.add") ? [n.target] : []))).toHaveLength(1);
});
