import { describe, expect, it } from "vitest";
import { defaultSessionOptions, Session } from "../index";

function eagerOf(source: string): string | null {
  const files = (p: string): string | undefined => (p === "f.py" ? source : undefined);
  const [c] = new Session(files, defaultSessionOptions()).run("f.py").compilations;
  return c?.outputCode.eager ?? null;
}

describe("eager code", () => {
  it("takes the compiled graph's inputs in order", () => {
    const text = eagerOf(`import torch

@torch.compile
def f(x, y):
    return x * y + 1

f(torch.randn(8, device="cuda"), torch.randn(8, device="cuda"))
`);
    expect(text).toContain("def forward(L_x_, L_y_):");
    expect(text).toContain("prims = torch.ops.prims");
  });

  it("holds a float that an operator fixed as a constant, which is no input of the compiled graph", () => {
    const text = eagerOf(`import torch

@torch.compile(dynamic=True)
def f(x, eps):
    return torch.nn.functional.layer_norm(x, (64,), eps=eps)

f(torch.randn(8, 64, device="cuda"), 1e-3)
`);
    expect(text).toContain("def forward(s77, L_x_):");
    expect(text).toMatch(/^ {4}L_eps_ = torch\.tensor\(0\.001, dtype=torch\.float64\)$/m);
  });
});
