import { describe, expect, it } from "vitest";
import { defaultSessionOptions, Session } from "../index";

/** what the compiled functions of a program call below autograd, and what is said about the file */
function run(lines: readonly string[]): { readonly called: readonly (readonly string[])[]; readonly said: string } {
  const text = ["import torch", "@torch.compile", "def f(x, y):", ...lines.map(l => `    ${l}`), ...CALL].join("\n");
  const result = new Session(p => (p === "/m.py" ? text : undefined), defaultSessionOptions()).run("/m.py");
  return {
    called: result.report.graphs.map(g => g.aten.map(a => a.target.replace(/^aten\./, ""))),
    said: result.report.diagnostics.map(d => d.message).join("\n"),
  };
}
const CALL = ['x = torch.randn(8, 8, device="cuda")', 'f(x, torch.zeros(8, 8, device="cuda"))'];

describe("out=", () => {
  it("replaces the value of a tensor made inside", () => {
    const { called, said } = run(["z = torch.empty_like(x)", "torch.mul(x, y, out=z)", "return z + 1"]);
    expect(said).toBe("");
    expect(called).toEqual([["mul.Tensor", "add.Tensor"]]);
  });

  it("copies into an input, and into a part of one", () => {
    expect(run(["torch.add(x, 1, out=y)", "return y.sum()"]).called[0]).toContain("copy_.default");
    const part = run(["torch.sum(x, 0, out=y[1])", "return x"]).called[0];
    expect(part?.[0]).toBe("sum.dim_IntList");
    expect(part).toContain("copy_.default");
  });

  it("casts to the given tensor's dtype, and makes what a factory makes where it goes", () => {
    const half = ["z = torch.empty(8, 8, dtype=torch.half, device=x.device)", "return torch.exp(x, out=z)"];
    expect(run(half).called).toEqual([["exp.default", "prims.convert_element_type.default"]]);
    const made = ["z = torch.empty(8, device=x.device)", "torch.arange(8, out=z)", "return x + z"];
    expect(run(made).said).toBe("");
  });

  it("runs composed operators", () => {
    const { called, said } = run(["z = torch.empty_like(x)", "torch.matmul(x, y, out=z)", "return z.relu()"]);
    expect(said).toBe("");
    expect(called).toEqual([["mm.default", "relu.default"]]);
  });

  it("is refused where PyTorch refuses it, and ends the graph where the tensor would be resized", () => {
    expect(run(["return torch.exp(x.requires_grad_(), out=y)"]).said).toMatch(
      /don't support automatic differentiation/,
    );
    expect(run(["return torch.sum(x, out=y)"])).toEqual({ called: [], said: "" });
    const whole = ["return torch.exp(x, out=torch.empty(8, 8, dtype=torch.int32, device=x.device))"];
    expect(run(whole).said).toMatch(/can't be cast to the desired output type Int/);
  });
});
