// What Inductor notes beside a kernel for its launcher.
import { expect, test } from "vitest";
import { defaultSessionOptions, Session } from "../../../index";

function outputCode(text: string): string {
  const session = new Session(() => undefined, { ...defaultSessionOptions(), preset: "torch-2.11", target: "h200" });
  session.update("/m.py", text);
  return session.run("/m.py").compilations[0]?.outputCode.inductor ?? "";
}

/** entries of inductor_meta of the kernels with this name */
const entries = (code: string, kernel: RegExp, key: string): string[] =>
  [...code.matchAll(/inductor_meta=(\{.*\})/g)]
    .map(m => m[1] ?? "")
    .filter(meta => kernel.test(meta))
    .map(meta => new RegExp(`'${key}': ([^{},]+|\\{[^}]*\\})`).exec(meta)?.[1] ?? "");

const PERSISTENT = `import torch
import torch.nn as nn

conv = nn.Conv2d(6, 16, 1).cuda()

@torch.compile
def f(x, y):
    return conv(x).relu().max(dim=-1)[0], y.softmax(-1)

with torch.no_grad():
    f(torch.randn(2, 6, 100, 8, device="cuda"), torch.randn(50, 64, device="cuda"))
`;

test("a persistent reduction in two tiles has a number of x blocks, one in one tile has no answer", () => {
  const code = outputCode(PERSISTENT);
  expect(entries(code, /'Grid2D'.*triton_per_/, "no_x_dim")).toEqual(["False"]);
  expect(entries(code, /'Grid1D'.*triton_per_/, "no_x_dim")).toEqual(["None"]);
});

const RESIDUAL = `import torch

@torch.compile
def f(p, q):
    r = (p - q).clamp(min=0)
    return r, r.sum(-1, keepdim=True)

f(torch.randn(4, 5, 32000, device="cuda"), torch.randn(4, 5, 32000, device="cuda"))
`;

test("a sum in parts of what its kernel writes counts that as read, too", () => {
  const bytes = 4 * 20 * 32000;
  const scores = entries(outputCode(RESIDUAL), /triton_red_/, "tiling_scores");
  // two inputs, the written difference (which counts twice), and its rows
  expect(scores).toEqual([expect.stringContaining(`'r0_': ${5 * bytes}`)]);
});

const DISTANCES = `import torch

@torch.compile
def f(x, y):
    return torch.cdist(x, y, p=1) * 2

f(torch.randn(30, 4, device="cuda"), torch.randn(9, 4, device="cuda"))
`;

test("a fallback's call names what has no default, though it be None", () => {
  expect(outputCode(DISTANCES)).toContain("torch.ops.aten._cdist_forward.default(arg0_1, arg1_1, 1.0, None)");
});

const INDICES = `import torch

@torch.compile
def f(x):
    return x.max(-1).values[:, None] + x.softmax(-1)

f(torch.randn(40, 2000, device="cuda"))
`;

test("names of results that nobody reads stay taken", () => {
  const code = outputCode(INDICES);
  expect(code).toContain("%getitem : ");
  expect(code).toContain("%getitem_2 : ");
  expect(code).not.toContain("%getitem_1 : ");
});
