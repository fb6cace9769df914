import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../presets";
import { capture } from "../capture";
import type { CaptureResult } from "../types";

const captured = (text: string): CaptureResult =>
  capture("p.py", {
    files: p => (p === "p.py" ? text : undefined),
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 2e6,
  });

const messages = (text: string): string[] =>
  captured(text).diagnostics.map(d => `${d.severity} ${d.code}: ${d.message}`);

const LAYER = `
import torch
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(64, 8)
    def forward(self, tokens):
        return self.second(self.first(tokens))
`;

describe("a root that can't be analysed", () => {
  it("is told how to be given inputs, under the names of its parameters", () => {
    expect(messages(LAYER)).toContainEqual(
      expect.stringMatching(/^hint not-analysed: Net was not analysed: .*`# fuselens: tokens=f32\[8,128\]`/),
    );
  });

  it("is not told so where the file's own call fails in it: there are inputs", () => {
    const said = messages(`${LAYER}\nNet()(torch.randn(4, 16))\n`);
    expect(said).toContainEqual(expect.stringMatching(/^error python-error: RuntimeError: mat1 and mat2/));
    expect(said.filter(m => m.includes("not-analysed"))).toEqual([]);
  });
});

describe("a graph break", () => {
  it("is told although attempts that failed before met it too", () => {
    // Outer fails behind the break, so that Inner is analysed on its own
    const { events } = captured(`
import torch
import torch.nn as nn
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)
    def forward(self, x):
        y = self.fc(x)
        print("max", y.max().item())
        return y + 1
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.head = nn.Linear(32, 8)
    def forward(self, x):
        return self.head(self.inner(x))
Outer()(torch.randn(4, 64))
`);
    const lines = events.flatMap(e => (e.kind === "graph_break" ? [e.break.line] : []));
    expect(lines).toContain(10);
  });
});

describe("a size that depends on the input", () => {
  it("goes on as a number where Python's math asks for one, and that is noted", () => {
    const said = messages(`
import math
import torch
@torch.compile
def f(x):
    return x / math.sqrt(x.shape[-1] // 8)
f(torch.randn(2, 64, device="cuda"))
f(torch.randn(2, 128, device="cuda"))
`);
    expect(said).toEqual([]);
  });
});
