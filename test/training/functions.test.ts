// What training code does beside calling operators: gradients of the user's own (autograd.Function), regions that are
// computed again (checkpoint), gradients through statistics. Checked on the graphs and, where numbers say more, on them.
import type { ExplainReport } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { runSource } from "../walkthrough/logs";

const HEAD = `import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
`;

function report(source: string): ExplainReport {
  const program = runSource("/training/model.py", HEAD + source, { preset: "torch-2.11" });
  expect(program.diagnostics.filter(d => d.severity === "error")).toEqual([]);
  return program.report;
}

const graph = (r: ExplainReport, kind: string) => r.graphs.find(g => g.kind === kind);
const targets = (r: ExplainReport, kind: string): string[] =>
  (graph(r, kind)?.aten ?? []).map(n => n.target.replace(/^aten\.|\.\w+$/g, ""));
const saved = (r: ExplainReport): string[] =>
  (graph(r, "backward")?.inputs ?? []).filter(i => i.saved).map(i => i.name);

describe("autograd.Function", () => {
  const CLIP = `
class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low):
        ctx.save_for_backward(x)
        ctx.low = low
        return torch.clamp(x, min=low)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.sigmoid(x - ctx.low), None

@torch.compile
def f(x):
    return (Clip.apply(x.sin(), 0.1) * 3).sum()

x = torch.randn(20, 8, device="cuda", requires_grad=True)
f(x).backward()
`;
  it("has the gradient that its backward gives, at its lines", () => {
    const r = report(CLIP);
    expect(targets(r, "forward")).toEqual(["sin", "clamp_min", "mul", "sum"]);
    expect(targets(r, "backward")).toEqual(["expand", "mul", "sin", "sub", "sigmoid", "mul", "cos", "mul"]);
    const line = (HEAD + CLIP).split("\n").findIndex(l => l.includes("torch.sigmoid")) + 1;
    expect(graph(r, "backward")?.aten.find(n => n.target.includes("sigmoid"))?.at).toEqual([line]);
  });

  it("runs forward alone where nothing needs a gradient", () => {
    const r = report(CLIP.replace(", requires_grad=True", "").replace(".backward()\n", "\n"));
    expect(r.graphs.map(g => g.kind)).toEqual(["inference"]);
    expect(targets(r, "inference")).not.toContain("sigmoid");
  });

  it("takes setup_context, several results, and results without a gradient", () => {
    const r = report(`
class Split(torch.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x * w, x + w, x > w

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w = inputs
        ctx.mark_non_differentiable(output[2])
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx, product, total, mask):
        assert mask is None and ctx.needs_input_grad == (True, False)
        x, w = ctx.saved_tensors
        return product.exp() + total, None

@torch.compile
def f(x, w):
    a, b, m = Split.apply(x, w)
    return torch.where(m, a, b).sum()

x = torch.randn(20, 8, device="cuda", requires_grad=True)
f(x, torch.randn(20, 8, device="cuda")).backward()
`);
    expect(targets(r, "backward")).toEqual(expect.arrayContaining(["exp", "where"]));
    expect(saved(r)).toHaveLength(1);
  });

  it("takes zeros for a result that nothing used", () => {
    const r = report(`
class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, a, b):
        return a.exp() + b.tanh()

@torch.compile
def f(x):
    return Two.apply(x)[0].sum()

x = torch.randn(20, 8, device="cuda", requires_grad=True)
f(x).backward()
`);
    expect(targets(r, "forward")).toEqual(["sin", "sum"]);
    expect(targets(r, "backward")).toEqual(expect.arrayContaining(["exp"]));
  });

  it("has that gradient outside of compiled functions too", () => {
    const source = `${HEAD}
class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 3

x = torch.randn(4, device="cuda", requires_grad=True)
y = Triple.apply(x.exp())
y.sum().backward()
`;
    const program = runSource("/training/model.py", source, { wat: true, replay: true });
    expect(program.diagnostics).toEqual([]);
    const constants = program.values.graphs.flatMap(g =>
      g.wat.flatMap(w => [...w.text.matchAll(/const 0x1\.8p\+1|const 3(?=\D)/g)]),
    );
    expect(constants.length).toBeGreaterThan(0);
  });

  it("is told when its backward gives too few gradients", () => {
    const source = HEAD + CLIP.replace("x - ctx.low), None", "x - ctx.low)");
    const [first] = runSource("/training/model.py", source).diagnostics.filter(d => d.severity === "error");
    expect(first?.message).toBe(
      "RuntimeError: function ClipBackward returned an incorrect number of gradients (expected 2, got 1)",
    );
  });
});

describe("checkpoint", () => {
  const block = (call: string): string => `
def block(x, w):
    return F.gelu(x @ w).sin() @ w.t()

@torch.compile
def f(x, w):
    y = ${call}
    return y.sum()

x = torch.randn(64, 32, device="cuda", requires_grad=True)
w = torch.randn(32, 128, device="cuda", requires_grad=True)
f(x, w).backward()
`;
  const matmuls = (r: ExplainReport, kind: string): number => targets(r, kind).filter(t => t === "mm").length;

  it("computes its region again, matrix products too, and keeps its inputs alone", () => {
    const plain = report(block("block(x, w)"));
    const again = report(block("checkpoint(block, x, w, use_reentrant=False)"));
    expect(saved(plain)).toContain("mm");
    expect(saved(again)).not.toContain("mm");
    expect(matmuls(again, "backward")).toBe(matmuls(plain, "backward") + 1);
    expect(matmuls(again, "forward")).toBe(matmuls(plain, "forward"));
  });

  it("keeps what one region hands to the next", () => {
    const once = "checkpoint(block, x, w, use_reentrant=False)";
    const r = report(block(`checkpoint(block, ${once}, w, use_reentrant=False)`));
    expect(saved(r).filter(n => n.startsWith("mm"))).toEqual(["mm_1"]);
    const names = graph(r, "backward")?.aten.map(n => n.name);
    expect(names).toEqual(expect.arrayContaining(["mm", "mm_2"]));
    expect(names).not.toContain("mm_1");
  });

  it("draws no other random numbers when it computes again", () => {
    const r = report(`
def block(x):
    return F.dropout(x.sin(), 0.3, True).exp()

@torch.compile
def f(x):
    return checkpoint(block, x, use_reentrant=False).sum()

x = torch.randn(64, 32, device="cuda", requires_grad=True)
f(x).backward()
`);
    expect(saved(r).every(n => /^(primals|inductor_seeds)/.test(n))).toBe(true);
    expect(targets(r, "backward").join()).toMatch(/inductor_random/);
    expect(targets(r, "backward").join()).not.toMatch(/inductor_seeds/);
  });

  it("cuts a sequence into segments, of which the last is plain", () => {
    const r = report(`
net = nn.Sequential(*[nn.Sequential(nn.Linear(32, 32), nn.ReLU()) for _ in range(4)]).cuda()

@torch.compile
def f(x):
    return checkpoint_sequential(net, 2, x, use_reentrant=False).sum()

f(torch.randn(64, 32, device="cuda", requires_grad=True)).backward()
`);
    const products = targets(r, "backward").filter(t => t === "addmm" || t === "mm").length;
    expect(products).toBe(8 + 2);
  });
});
