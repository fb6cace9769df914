import { describe, expect, it } from "vitest";
import { capture } from "../dynamo/capture";
import type { CaptureResult, RuntimeStep, RuntimeTensor } from "../dynamo/types";
import { defaultConfig } from "../presets";
import { eagerFrame } from "./eager_frame";
import { Evaluator } from "./replay";

const config = defaultConfig("torch-2.11");

function run(text: string, budget = 1e7): CaptureResult {
  const evaluator = new Evaluator();
  return capture("p.py", {
    files: p => (p === "p.py" ? text : undefined),
    config,
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 1e6,
    evaluate: (steps: readonly RuntimeStep[], t: RuntimeTensor) =>
      evaluator.evaluate(steps, t, { frameOf: s => eagerFrame(s, "p.py", config), behaviours: new Map(), budget }),
  });
}

const prints = (r: CaptureResult): string => r.events.flatMap(e => (e.kind === "print" ? [e.text] : [])).join("");
const targets = (r: CaptureResult): string[] =>
  r.events.flatMap(e => (e.kind === "frame" ? e.frame.graph.nodes.map(n => n.target) : []));

const BRANCH = `
import torch
@torch.compile
def f(x, low):
    h = x.tanh() * 2
    if h.abs().mean().item() > low:
        return h.softmax(dim=-1)
    return h.cumsum(0)
x = torch.randn(64, 32, device="cuda")
f(x, LOW)
`;

describe("values that control flow asks for", () => {
  it("take the branch that the inputs take", () => {
    expect(targets(run(BRANCH.replace("LOW", "0.5")))).toContain("softmax");
    const other = run(BRANCH.replace("LOW", "1.9"));
    expect(targets(other)).toContain("cumsum");
    expect(targets(other)).not.toContain("softmax");
    expect(other.diagnostics).toEqual([]);
  });

  it("follow eager operators, writes and compiled calls", () => {
    const r = run(`
import torch
x = torch.rand(8, 8) + 1
x[0] = 5
x.mul_(2)
@torch.compile
def g(a, b):
    a.add_(1)
    return (a @ b).sum()
s = g(x, torch.eye(8))
for i in range(int((x[0, 0] - 8).item())):
    print(i)
if s > 100:
    print("large")
if x.max().item() == 11.0 and bool((x > 2.9).all()):
    print("written")
`);
    expect(prints(r)).toBe("0\n1\n2\nlarge\nwritten\n");
  });

  it("follow slices with bounds of any size", () => {
    const r = run(`
import torch
@torch.compile
def f(x, n):
    y = x[1:n].abs()
    if y.sum().item() > 0:
        return y.cumsum(0)
    return y.tanh()
f(torch.randn(8, device="cuda"), 10 ** 30)
`);
    expect(r.diagnostics).toEqual([]);
    expect(targets(r)).toContain("cumsum");
  });

  it("stay unknown where they cost too much", () => {
    const r = run(BRANCH.replace("LOW", "1.9"), 100);
    expect(r.diagnostics.map(d => d.code)).toContain("assumed-branch");
  });

  it("follow layers, attention and convolutions", () => {
    const r = run(`
import torch, torch.nn as nn, torch.nn.functional as F
m = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 64, 16), nn.LayerNorm(16))
y = m(torch.randn(2, 3, 8, 8))
q = torch.randn(2, 2, 4, 8)
o = F.scaled_dot_product_attention(q, q, q, is_causal=True)
if y.mean().abs() < 0.2 and y.shape[0] == 2:
    print("normalised")
if torch.allclose(o[:, :, 0], q[:, :, 0]) if False else (o[:, :, 0] - q[:, :, 0]).abs().max() < 1e-5:
    print("causal")
`);
    expect(prints(r)).toBe("normalised\ncausal\n");
  });
});
