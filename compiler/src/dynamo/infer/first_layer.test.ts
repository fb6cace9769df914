// First inputs by what a module's first layer takes, and inputs that belong together.
import { expect, test } from "vitest";
import { analysed, analysedProject, assumedOf } from "./testing/analysed";

test("a layer that unfolds patches takes images, of the size that the file's pretrained models have", () => {
  const r = analysed(`
class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = nn.Unfold(kernel_size=(7, 7), stride=(4, 4), padding=(2, 2))
        self.proj = nn.Linear(147, 64)
    def forward(self, x):
        return self.proj(self.cut(x).transpose(1, 2))
`);
  expect(assumedOf(r, "Tokens")).toContain("x is float32[8, 3, 224, 224]");
});

test("images are of the size that most descriptions of pretrained models in the file name", () => {
  const r = analysed(`
settings = {
    "a": {"input_size": [3, 331, 331], "mean": [0.5, 0.5, 0.5]},
    "b": {"input_size": [3, 331, 331]},
    "c": {"input_size": [3, 112, 112]},
}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=32)
        self.last = nn.Linear(4, 2)
    def forward(self, input):
        return self.last(F.avg_pool2d(self.conv(input), 11).flatten(1))
`);
  expect(assumedOf(r, "Net")).toContain("input is float32[8, 3, 331, 331]");
});

test("the second of a pair is what the first layer takes too", () => {
  const r = analysed(`
class Stereo(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Conv2d(3, 8, 3)
    def forward(self, left, right, scale=None):
        return (self.feat(left) * self.feat(right)).sum(1)
`);
  expect(assumedOf(r, "Stereo")).toMatch(/left is (float32\[8, 3, 224, 224\]); right is \1/);
});

test("a graph's adjacency is square, and its nodes have a row each", () => {
  const r = analysed(`
class Graph(nn.Module):
    def __init__(self, nfeat):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(nfeat, 8))
    def forward(self, x, adj):
        return adj @ (x @ self.w)
`);
  expect(assumedOf(r, "Graph")).toMatch(/x is float32\[(\d+), \d+\]; adj is float32\[\1, \1\]/);
});

test("inputs that are joined before a layer refuses their width get the right one together", () => {
  const r = analysedProject({
    "pack/model.py": `import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.values = nn.Linear(7, 16)
        self.marks = nn.Linear(4, 16)
    def forward(self, x_enc, x_mark_enc, x_dec, x_mark_dec):
        x = torch.cat([x_enc, x_dec[:, -16:, :]], dim=1)
        marks = torch.cat([x_mark_enc, x_mark_dec[:, -16:, :]], dim=1)
        return self.values(x) + self.marks(marks)
`,
  });
  expect(assumedOf(r, "Net")).toMatch(/x_mark_enc is float32\[8, \d+, 4\]; .*x_mark_dec is float32\[8, \d+, 4\]/);
});

test("a map that is to be one row is of an image of a line of text", () => {
  const r = analysed(`
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, (32, 4), stride=(32, 4))
        self.over = nn.Conv1d(16, 8, 24)
    def forward(self, images):
        x = self.conv(images).squeeze(2)
        b, c, w = x.shape
        return self.over(x.view(b, c, w))
`);
  expect(assumedOf(r, "Reader")).toContain("images is float32[8, 3, 32, 128]");
});
