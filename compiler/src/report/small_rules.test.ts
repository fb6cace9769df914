// Rules of torch 2.11 that no recorded program shows: each was read off its decisions for a program like the one here.
import { describe, expect, it } from "vitest";
import { Session } from "../session";
import { defaultSessionOptions } from "../session_options";

const HEAD = "import torch\nimport torch.nn.functional as F\n";

function compile(body: string) {
  const options = { ...defaultSessionOptions(), preset: "torch-2.11" as const };
  const program = new Session(p => (p === "/a.py" ? HEAD + body : undefined), options).run("/a.py");
  const [first] = program.compilations;
  if (first === undefined) throw new Error(program.diagnostics.map(d => d.message).join("; "));
  return { graph: first.graph, code: first.outputCode.inductor };
}

describe("rules of torch 2.11", () => {
  it("a size that is an input is reported as one, without a dtype", () => {
    const { graph } = compile(`
@torch.compile(dynamic=True)
def f(x):
    return x.view(x.shape[0] * x.shape[1]) * 2
f(torch.randn(6, 7, device="cuda"))
`);
    expect(graph.inputs.map(i => i.dtype)).toEqual([null, null, "torch.float32"]);
    expect(graph.aten.map(n => n.target)).toContain("<built-in function mul>");
  });

  it("a sum over all of a tensor of symbolic shape is split", () => {
    const { graph } = compile(`
@torch.compile(dynamic=True)
def f(x):
    return x.sum()
f(torch.randn(5000, 333, device="cuda"))
`);
    expect(graph.kernels.map(k => k.name)).toEqual(["triton_red_fused_sum_0", "triton_per_fused_sum_1"]);
  });

  it("a product of batches is dense whatever reads it", () => {
    const { code } = compile(`
@torch.compile
def f(a, b):
    return (a @ b).view(3, 4, 60, 60).softmax(-1)
f(torch.randn(12, 60, 32, device="cuda"), torch.randn(12, 32, 60, device="cuda"))
`);
    expect(code).toContain("empty_strided_cuda((12, 60, 60), (3600, 60, 1), torch.float32)");
  });

  it("a scan along rows that are not contiguous is hinted as an outer one", () => {
    const { code } = compile(`
@torch.compile
def f(x):
    return x.cumsum(0)
f(torch.randn(50, 70, device="cuda"))
`);
    expect(code).toContain("reduction_hint=ReductionHint.OUTER");
  });

  it("roots of doubles come from libdevice", () => {
    const { code } = compile(`
@torch.compile
def f(x):
    return x.sqrt()
f(torch.rand(50, device="cuda", dtype=torch.float64))
`);
    expect(code).toContain("libdevice.sqrt(");
  });

  it("the fraction of half floats is worked out in single precision", () => {
    const { graph } = compile(`
@torch.compile
def f(x):
    return x.frac()
f(torch.rand(50, device="cuda", dtype=torch.float16))
`);
    expect(graph.aten.find(n => n.target === "aten.floor.default")?.dtype).toBe("torch.float32");
  });

  it("no Triton header stands above code without kernels", () => {
    const { code } = compile(`
@torch.compile
def f(a, b):
    return a @ b
f(torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"))
`);
    expect(code).not.toContain("import triton\n");
  });
});

describe("a graph's name", () => {
  it("is its function's where no node of it stems from a line", () => {
    const { graph } = compile(`
@torch.compile
def f(x, w, b):
    return x @ w + b
f(*(torch.randn(64, 64, device="cuda") for _ in range(3)))
`);
    expect(graph.kernels.map(k => k.name)).toEqual(["extern_kernels.addmm"]);
    expect(graph.name).toBe("f");
  });
});
