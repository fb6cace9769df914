// Slices whose bounds are tensors of one number, as code for TorchScript has them.
import { expect, test } from "vitest";
import { analysed, framesOf } from "../infer/testing/analysed";

test("a bound that the program wrote down is read after the break that it makes", () => {
  const r = analysed(`
@torch.jit.script
def gated(a, b, n):
    width = n[0]
    s = a + b
    return torch.tanh(s[:, :width, :]) * torch.sigmoid(s[:, width:, :])

class Net(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.up = nn.Conv1d(hidden, 2 * hidden, 1)
        self.out = nn.Conv1d(hidden, hidden, 1)

    def forward(self, x):
        n = torch.IntTensor([self.hidden])
        return self.out(gated(self.up(x), x.repeat(1, 2, 1), n))
`);
  const frames = framesOf(r, "Net");
  expect(frames.length).toBeGreaterThan(1);
  expect(frames[frames.length - 1]?.graph.nodes.map(n => n.target)).toContain("torch.conv1d");
});
