import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../presets";
import { capture } from "../capture";
import type { CapturedFrame } from "../types";

function framesOf(text: string): CapturedFrame[] {
  const result = capture("p.py", {
    files: p => (p === "p.py" ? text : undefined),
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 2e6,
  });
  return result.events.flatMap(e => (e.kind === "frame" ? [e.frame] : []));
}

describe("a break inside a called function", () => {
  it("leaves the rest of the caller to a resumed frame", () => {
    const frames = framesOf(`
import torch
def helper(x):
    x = x * 2
    print("between")
    return x.relu()
@torch.compile
def f(x):
    y = helper(x + 1)
    return y.sum(-1)
f(torch.randn(8, 8, device="cuda"))
`);
    expect(frames.map(f => f.name)).toEqual([
      "f",
      "helper",
      "torch_dynamo_resume_in_helper_at_5",
      "torch_dynamo_resume_in_f_at_9",
    ]);
  });
});

describe("a float argument that changed", () => {
  it("is an input of the next graph", () => {
    const frames = framesOf(`
import torch
@torch.compile
def f(x, s):
    return x * s
for s in (0.5, 0.7):
    f(torch.randn(8, device="cuda"), s)
`);
    expect(frames.map(f => f.inputs.map(i => i.kind).sort())).toEqual([["tensor"], ["symfloat", "tensor"]]);
  });
});
