// Programs whose tensors are on the CPU are compiled as the same programs on the GPU, and say so.
import { describe, expect, it } from "vitest";
import { Session } from "../session";
import { defaultSessionOptions } from "../session_options";

const SAID = "tensors on the CPU are shown as on the target GPU";

const HEAD = "import torch\nimport torch.nn.functional as F\n";

function compile(body: string) {
  const program = new Session(p => (p === "/a.py" ? HEAD + body : undefined), defaultSessionOptions()).run("/a.py");
  expect(program.diagnostics.filter(d => d.severity === "error")).toEqual([]);
  const graphs = program.report.graphs.map(g => ({
    kernels: g.kernels.map(k => `${k.name} ${k.bytes}`),
    outputs: g.aten.map(n => `${n.name} ${n.dtype}`),
  }));
  const assumed = program.report.graphs.flatMap(g => g.kernels.flatMap(k => k.assumed));
  return { graphs, assumed: [...new Set(assumed)] };
}

/** the program with DEVICE as each of them */
const onEach = (body: string) => ({
  cpu: compile(body.replaceAll("DEVICE", "cpu")),
  gpu: compile(body.replaceAll("DEVICE", "cuda")),
});

describe("a program whose tensors are on the CPU", () => {
  for (const [what, body] of [
    [
      "attention in an autocast region of its device, with the backward",
      `
class A(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q = torch.nn.Linear(64, 64)
    def forward(self, x):
        q = self.q(x)
        return F.scaled_dot_product_attention(q, q, q) * torch.arange(64, device="DEVICE")
m = torch.compile(A().to("DEVICE"))
with torch.autocast("DEVICE", dtype=torch.bfloat16):
    y = m(torch.randn(2, 4, 16, 64, device="DEVICE"))
y.sum().backward()
`,
    ],
    [
      "an online softmax, and a concatenation of what is computed",
      `
@torch.compile
def f(x):
    return torch.cat([x.softmax(-1), x.sin() * 2], -1).to(device=torch.device("DEVICE"))
f(torch.randn(512, 4096, device="DEVICE"))
`,
    ],
  ] as const) {
    it(`has the kernels of the same program on the GPU, and says so: ${what}`, () => {
      const { cpu, gpu } = onEach(body);
      expect(cpu.graphs.length).toBeGreaterThan(0);
      expect(cpu.graphs).toEqual(gpu.graphs);
      expect(cpu.assumed).toEqual([SAID]);
      expect(gpu.assumed).toEqual([]);
    });
  }

  it("may name the CPU, make tensors that name no device, and hold literals", () => {
    const { graphs, assumed } = compile(`
@torch.compile
def f(x):
    return x.to("cpu") + torch.zeros(16) + torch.tensor([1.0, 2.0] * 8).cpu() + torch.ones(16, device="cpu")
f(torch.randn(8, 16))
`);
    expect(graphs.map(g => g.kernels.length)).toEqual([1]);
    expect(assumed).toEqual([SAID]);
  });

  it("is cast by a region for the GPU no more than on the CPU", () => {
    const { graphs } = compile(`
@torch.compile
def f(x, w):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return x @ w
f(torch.randn(64, 64), torch.randn(64, 64))
`);
    expect(graphs.flatMap(g => g.outputs)).toEqual(["mm torch.float32"]);
  });

  it("is another one than a function whose inputs are guessed: those are on the GPU", () => {
    const { graphs, assumed } = compile("def f(x):\n    return torch.relu(x) + 1\n");
    expect(graphs).toHaveLength(1);
    expect(assumed).not.toContain(SAID);
  });
});
