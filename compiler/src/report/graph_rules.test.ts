// What torch 2.11 does with small programs that no recorded one resembles: graphs and copies, as it printed them.
import { describe, expect, it } from "vitest";
import { Session } from "../session";
import { defaultSessionOptions } from "../session_options";
import type { ReportGraph } from "./types";

function graphsOf(body: string): readonly ReportGraph[] {
  const text = `import torch\nimport torch.nn.functional as F\n${body}`;
  const options = { ...defaultSessionOptions(), preset: "torch-2.11" as const, target: "h200" };
  const { report } = new Session(p => (p === "p.py" ? text : undefined), options).run("p.py");
  return report.graphs;
}
const only = (body: string): ReportGraph => graphsOf(body)[0] as ReportGraph;
const nodes = (g: ReportGraph, target: string): readonly string[] =>
  g.aten.filter(n => n.target === target).map(n => `${n.shape?.join("x")} ${n.stride?.join(",")}`);

describe("masked_fill", () => {
  it("copies where its result would keep the strides of a transposed tensor", () => {
    const g = only(`
@torch.compile
def f(x, mask):
    return x.transpose(1, 2).masked_fill(mask, 0.0)
f(torch.randn(4, 60, 128, device="cuda"), torch.rand(4, 1, 60, device="cuda") > 0.5)
`);
    expect(nodes(g, "aten.clone.default")).toEqual(["4x128x60 7680,60,1"]);
  });
});

describe("cdist", () => {
  it("flattens the batch, and scales by a number", () => {
    const g = only(`
@torch.compile
def f(x):
    return torch.cdist(x, x)
f(torch.randn(2, 128, 3, device="cuda"))
`);
    expect(nodes(g, "aten.expand.default")).toContain("2x128x3 384,3,1");
    expect(nodes(g, "aten.mul.Tensor")).toEqual(["2x128x3 384,3,1"]);
    expect(nodes(g, "aten.mul.Scalar")).toEqual([]);
  });
});

describe("einsum", () => {
  it("multiplies so that the result's last dim is the product's", () => {
    const g = only(`
@torch.compile
def f(k, v):
    return torch.einsum("nlhd,nlhm->nhmd", k, v)
f(torch.randn(2, 40, 4, 32, device="cuda"), torch.randn(2, 40, 4, 16, device="cuda"))
`);
    expect(nodes(g, "aten.bmm.default")).toEqual(["8x16x32 512,32,1"]);
  });
});

describe("writes in place", () => {
  it("turn every write of a chain that ends in an input", () => {
    const g = only(`
@torch.compile
def f(buf, rows, x):
    buf.index_fill_(0, rows, 0.0)
    buf.index_copy_(0, rows, x)
    return buf.clone()
f(torch.randn(64, 32, device="cuda"), torch.tensor([3, 9, 27], device="cuda"), torch.randn(3, 32, device="cuda"))
`);
    expect(nodes(g, "aten.index_put_.default")).toHaveLength(2);
    expect(nodes(g, "aten.index_put.default")).toEqual([]);
  });
});

describe("an addition that becomes part of a product", () => {
  it("has the product's strides, and so has what follows", () => {
    const g = only(`
@torch.compile
def f(x, w):
    y = x.T * 2 + w @ x.T
    return y * 3, y @ x
f(torch.randn(512, 256, device="cuda"), torch.randn(256, 256, device="cuda"))
`);
    expect(nodes(g, "aten.addmm.default")).toEqual(["256x512 512,1"]);
    expect(nodes(g, "aten.mul.Tensor")[1]).toBe("256x512 512,1");
  });
});

describe("a method of a logger", () => {
  it("ends the graph", () => {
    const graphs = graphsOf(`
import logging
log = logging.getLogger(__name__)
@torch.compile
def f(x):
    y = x.relu()
    log.warning("shape %s", y.shape)
    return y.cos()
f(torch.randn(64, 64, device="cuda"))
`);
    expect(graphs.map(g => g.name)).toEqual(["f", "torch_dynamo_resume_in_f_at_9"]);
  });
});

describe("a call within an autocast region", () => {
  it("sums gradients of half precision in float32", () => {
    const graphs = graphsOf(`
layer = torch.compile(torch.nn.Linear(64, 32).cuda())
x = torch.randn(16, 64, device="cuda")
with torch.autocast("cuda", dtype=torch.bfloat16):
    out = layer(x)
out.float().sum().backward()
`);
    const sums = graphs.find(g => g.kind === "backward")?.aten.filter(n => n.target === "aten.sum.dim_IntList");
    expect(sums?.map(n => n.dtype)).toEqual(["torch.float32"]);
  });
});

describe("names of a graph with symbolic sizes", () => {
  it("leave those out that asking for contiguity takes", () => {
    const [, second] = graphsOf(`
@torch.compile
def f(x, w, b):
    h = F.linear(x, w, b).relu()
    return (h * h).sum()
w = torch.nn.Parameter(torch.randn(64, 64, device="cuda"))
b = torch.nn.Parameter(torch.randn(64, device="cuda"))
with torch.no_grad():
    for n in (8, 16):
        f(torch.randn(4, n, 64, device="cuda"), w, b)
`);
    expect(second?.aten.filter(n => n.target === "aten.mul.Tensor").map(n => n.name)).toEqual(["mul_17"]);
  });
});

describe("a concatenation of values that are not in memory", () => {
  it("is channels-last where one of them has a single channel, and copied for the caller", () => {
    const g = only(`
@torch.compile
def f(x):
    x = x * torch.rsqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-8)
    y = x.reshape(4, -1, 16, 16, 16)
    y = ((y - y.mean(dim=0)).square().mean(dim=0) + 1e-8).sqrt()
    y = y.mean(dim=[1, 2, 3], keepdim=True).repeat(4, 1, 16, 16)
    return torch.cat([x, y], dim=1)
f(torch.randn(8, 16, 16, 16, device="cuda"))
`);
    const launched = g.kernels.filter(k => k.type !== "NopKernelSchedulerNode");
    expect(launched.filter(k => k.origins.includes("cat"))).toHaveLength(1);
  });
});
