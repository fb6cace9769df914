// Inputs that are written down: what a comment says, and that it is taken as it stands.
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../../presets";
import { capture } from "../../capture";
import { parseComment } from "./written";

function assumed(text: string): readonly string[] {
  const { roots, diagnostics } = capture("p.py", {
    files: p => (p === "p.py" ? `import torch\nfrom torch import nn\n${text}` : undefined),
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 20e6,
  });
  return [...roots.flatMap(r => r.assumed), ...diagnostics.filter(d => d.code === "not-analysed").map(d => d.message)];
}

describe("a # fuselens: comment", () => {
  it("gives tensors, numbers, strings and None", () => {
    const written = parseComment('# fuselens: x=bf16[2, 3]@cuda:0, n=4, p=0.5, mode="sum", flag=True, m=None');
    expect([...(written ?? [])]).toEqual([
      ["x", { kind: "tensor", dtype: "bfloat16", dims: [2, 3], fixed: [0, 1] }],
      ["n", { kind: "number", value: 4, float: false }],
      ["p", { kind: "number", value: 0.5, float: true }],
      ["mode", { kind: "str", value: "sum" }],
      ["flag", { kind: "bool", value: true }],
      ["m", { kind: "none" }],
    ]);
    expect(parseComment("# x=f32[2]")).toBeUndefined();
  });

  it("gives a size that has a name the same number everywhere", () => {
    const written = parseComment("# fuselens: a=f32[rows, 7], b=f32[7, rows]");
    const dims = [...(written ?? new Map()).values()].map(c => (c.kind === "tensor" ? c.dims : []));
    expect(dims[0]?.[0]).toBe(dims[1]?.[1]);
  });

  it("fills parameters of the constructor too", () => {
    const said = assumed(`
# fuselens: x=f32[4,24], width=24
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, 8)
    def forward(self, x):
        return self.proj(x)
`);
    expect(said).toEqual(expect.arrayContaining(["shapes from a comment", "width is 24", "x is float32[4, 24]"]));
  });

  it("is taken as it stands: a size that does not fit is an error, a name's becomes another", () => {
    const net = (comment: string): string => `
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(48, 8)
    # fuselens: ${comment}
    def forward(self, x):
        return self.proj(x)
`;
    expect(assumed(net("x=f32[4,24]")).join()).toContain("Net was not analysed: RuntimeError: mat1 and mat2");
    expect(assumed(net("x=f32[4,wide]"))).toContain("x is float32[4, 48]");
  });
});

describe("a jaxtyping annotation", () => {
  it("says rank and dtype, and shares sizes by name", () => {
    const said = assumed(`
from jaxtyping import Float, Int
def pick(table: Float[torch.Tensor, "rows width"], rows: Int[torch.Tensor, "many"], bias: Float[torch.Tensor, "width"]):
    return torch.index_select(table, 0, rows) + bias
`);
    const dims = (name: string): string[] =>
      (/\[(.*)\]/.exec(said.find(s => s.startsWith(name)) ?? "")?.[1] ?? "").split(", ");
    expect(dims("table is float32")).toHaveLength(2);
    expect(dims("bias is float32")).toEqual(dims("table is float32").slice(1));
    expect(said.some(s => /^rows is int64\[\d+\]$/.test(s))).toBe(true);
  });
});
