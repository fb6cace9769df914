// Where PyTorch's stack traces hold no line, `at` says which one it is all the same; `lines` and the generated code stay as
// PyTorch has them.
import { describe, expect, it } from "vitest";
import { Session } from "../session";
import { defaultSessionOptions } from "../session_options";

const HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n";

function compile(body: string, artifacts: "output_code" | "pre_grad_graphs" = "output_code") {
  const options = { ...defaultSessionOptions(), artifacts: new Set([artifacts]) };
  const program = new Session(p => (p === "/a.py" ? HEAD + body : undefined), options).run("/a.py");
  const log = program.events.map(e => (e.kind === "log" ? e.record.message : "")).join("\n");
  return { program, kernels: program.report.graphs.flatMap(g => g.kernels), log };
}

describe("the line of a kernel", () => {
  it("of a compiled library layer is its call's, in forward and backward", () => {
    const { kernels, program } = compile(`layer = torch.compile(nn.Sequential(nn.Linear(64, 64), nn.GELU()).cuda())
x = torch.randn(32, 64, device="cuda")
y = layer(x)
y.sum().backward()
`);
    expect(program.report.graphs.map(g => g.kind)).toEqual(["forward", "backward"]);
    expect(kernels.length).toBeGreaterThan(3);
    for (const k of kernels) expect([k.lines, k.at]).toEqual([[], [6]]);
    expect(program.source.map(s => s.span.line)).toContain(6);
  });

  it("of a compiled library layer called in a user's module is that of the user's code alone where there is some", () => {
    const { kernels } = compile(`class M(nn.Module):
    def forward(self, x):
        return x.sin() + 1
layer = torch.compile(nn.Sequential(M()))
layer(torch.randn(8, device="cuda"))
`);
    expect(kernels.map(k => [k.lines, k.at])).toEqual([[[6], [6]]]);
  });

  it("of an addmm that a pass made is that of the product and of the sum", () => {
    const { kernels, log } = compile(`@torch.compile
def f(x, a, b):
    h = x @ a
    return h + b
f(torch.randn(64, 128, device="cuda"), torch.randn(128, 64, device="cuda"), torch.randn(64, device="cuda"))
`);
    expect(kernels.map(k => [k.name, k.lines, k.at])).toEqual([["extern_kernels.addmm", [], [6, 7]]]);
    expect(log).not.toContain("/a.py:6");
  });

  it("leaves the graphs' comments as PyTorch writes them", () => {
    const { log } = compile("torch.compile(nn.Linear(64, 64))(torch.randn(32, 64))\n", "pre_grad_graphs");
    expect(log).toContain("No stacktrace found for following nodes");
    expect(log).not.toContain("/a.py");
  });
});
