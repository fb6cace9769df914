import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../presets";
import { capture } from "../capture";
import { analysed, printed } from "../infer/testing/analysed";
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

describe("symbolic sizes that leave a frame", () => {
  it("are numbers in the cells and defaults of a function that the frame made", () => {
    const r = analysed(`
def packed(t):
    ps = t.shape[1:3]
    def unpack(x, more=t.shape[1] * t.shape[2]):
        return x.reshape(x.shape[0], *ps), more
    return t.flatten(1, 2), unpack
def f(x):
    flat, unpack = packed(x.flatten(2).mT.unsqueeze(0))
    torch._dynamo.graph_break()
    return unpack(flat[..., 0] * 2)
g = torch.compile(f)
for n in (1, 2, 4):
    y, more = g(torch.randn(8, 5, n, n, device="cuda"))
    print(list(y.shape), more)
`);
    expect(printed(r)).toBe("[1, 8, 1] 8\n[1, 8, 4] 32\n[1, 8, 16] 128\n");
  });
});
