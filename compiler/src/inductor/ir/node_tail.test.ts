// Whether and how a node's value is put in memory once it is lowered.
import { expect, test } from "vitest";
import { defaultSessionOptions, Session } from "../../index";

function outputCode(text: string): string {
  const session = new Session(() => undefined, { ...defaultSessionOptions(), preset: "torch-2.11", target: "h200" });
  session.update("/m.py", text);
  return session.run("/m.py").compilations.map(c => c.outputCode.inductor)[0] ?? "";
}

const SKIP = `import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.down, self.last = nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.Conv2d(32, 4, 3, padding=1)

    def forward(self, x):
        a = F.relu(self.norm(self.first(x)))
        b = F.interpolate(self.down(F.max_pool2d(a, 3, 1, 1)), scale_factor=2.0)
        return self.last(torch.cat([a, b], 1))

net = torch.compile(Net().cuda().eval())
with torch.no_grad():
    net(torch.randn(2, 3, 16, 16, device="cuda"))
`;

test("a value between convolutions that several use has its channels last, and so has what it is concatenated into", () => {
  const text = outputCode(SKIP);
  expect(text).toContain('%relu : Tensor "f32[2, 16, 16, 16][4096, 1, 256, 16]cuda:0" = PlaceHolder');
  expect(text).not.toMatch(/empty_strided_cuda\(\(2, 32, 16, 16\), \(8192, 256, 16, 1\)/);
}, 120_000);
