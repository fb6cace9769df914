// Kernels that are taken from known forms are those that would be generated anew.
import { expect, test } from "vitest";
import { defaultSessionOptions, type Program, Session } from "../../index";

const program = (layers: number, scale: string): string => `import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(4 * dim, dim)

    def forward(self, x):
        y = self.down(F.gelu(self.up(self.norm(x))) * ${scale})
        return x + F.softmax(y, dim=-1).transpose(0, 1).contiguous().transpose(0, 1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(64) for _ in range(${layers})])

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x.sum()


model = torch.compile(Model().cuda())
model(torch.randn(16, 32, 64, device="cuda", requires_grad=True)).backward()
`;

const session = (text: string): Session => {
  const s = new Session(() => undefined, { ...defaultSessionOptions(), artifacts: new Set() });
  s.update("/m.py", text);
  return s;
};

const essence = (p: Program): string =>
  JSON.stringify(p.compilations.map(c => [c.plan, c.outputCode.inductor, c.outputCode.standalone, c.graph]));

test("a session that has generated other programs' kernels generates the same as a new one", () => {
  const used = session(program(1, "1.5"));
  used.run("/m.py");
  used.update("/m.py", program(2, "2.5"));
  const again = essence(used.run("/m.py"));
  expect(again).toBe(essence(session(program(2, "2.5")).run("/m.py")));
}, 240_000);

test("equal layers share their kernels, and their launches name their own buffers", () => {
  const [forward] = session(program(3, "1.5")).run("/m.py").compilations;
  const launches = forward?.plan.steps.flatMap(s => (s.kind === "launch" ? [s] : [])) ?? [];
  expect(launches.length).toBeGreaterThan(forward?.plan.kernels.length ?? 0);
  const calls = launches.map(l => JSON.stringify([l.kernel, l.args]));
  expect(new Set(calls).size).toBe(calls.length);
}, 240_000);
