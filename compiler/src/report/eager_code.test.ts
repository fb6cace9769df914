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

  it("enters autocast in with blocks", () => {
    const text = eagerOf(`import torch

@torch.compile
def f(x, w):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = x @ w
        with torch.autocast("cuda", enabled=False):
            z = x @ w
        y = y.relu()
    return y + z

f(torch.randn(8, 8, device="cuda"), torch.randn(8, 8, device="cuda"))
`);
    const lines = (text ?? "").replace(/: "[^"]*"|; {2}.*/g, "").split("\n");
    expect(lines.slice(lines.findIndex(l => /autocast/.test(l)))).toEqual([
      "    with torch.autocast('cuda', dtype=torch.bfloat16, enabled=True, cache_enabled=None):",
      "        y = l_x_ @ l_w_",
      "        with torch.autocast('cuda', dtype=None, enabled=False, cache_enabled=None):",
      "            z = l_x_ @ l_w_",
      "            pass",
      "        y_1 = y.relu()",
      "        pass",
      "    add = y_1 + z",
      "    return (add,)",
      "",
    ]);
  });

  it("gives the results of an autograd.Function the gradients that its backward makes", () => {
    const text = eagerOf(`import torch

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return 2 * g * y, None

@torch.compile
def f(x, y):
    return Double.apply(x, y).sin()

f(torch.randn(8, device="cuda", requires_grad=True), torch.randn(8, device="cuda")).sum().backward()
`);
    const lines = (text ?? "").replace(/: "[^"]*"/g, "").split("\n");
    expect(lines.slice(lines.findIndex(l => /def autograd_function_begin/.test(l)))).toEqual([
      "    def autograd_function_begin(*inputs):",
      "        (l_x_, l_y_) = inputs",
      "        fwd_body_0__outs = l_x_ * l_y_",
      "        def backward(*gradients):",
      "            autograd_function_grad = gradients[0]",
      "            bwd_body_0__mul = 2 * autograd_function_grad",
      "            bwd_body_0__mul_1 = bwd_body_0__mul * l_y_",
      "            return (bwd_body_0__mul_1, None)",
      "        return (fwd_body_0__outs,), backward",
      "    autograd_function_apply = WithGradient.apply(autograd_function_begin, l_x_, l_y_)",
      "    getitem = autograd_function_apply[0]",
      "    sin = getitem.sin()",
      "    return (sin,)",
      "",
    ]);
    expect(text).toContain("class WithGradient(torch.autograd.Function):");
  });
});
