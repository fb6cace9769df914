// A forward graph's report says per line what is kept for the backward.
import { describe, expect, it } from "vitest";
import { Session } from "../session";
import { defaultSessionOptions } from "../session_options";

const SOURCE = `import torch
@torch.compile
def f(x, w):
    y = torch.sin(x)
    z = y @ w
    return torch.exp(z)
x = torch.randn(8, 16, device="cuda", requires_grad=True)
w = torch.randn(16, 4, device="cuda", requires_grad=True)
f(x, w).sum().backward()
`;

describe("saved bytes", () => {
  const program = new Session(p => (p === "/a.py" ? SOURCE : undefined), defaultSessionOptions()).run("/a.py");
  const [forward, backward] = program.report.graphs;

  it("are told by the line that made the value", () => {
    // exp keeps its result; both operands of the product are kept as transposed views, w's by the product's own line
    expect(forward?.saved_bytes).toEqual([
      { line: 5, bytes: 4 * 16 * 8 + 4 * 16 * 4 },
      { line: 6, bytes: 4 * 8 * 4 },
    ]);
  });

  it("are empty for a backward graph", () => {
    expect(backward?.kind).toBe("backward");
    expect(backward?.saved_bytes).toEqual([]);
  });
});
