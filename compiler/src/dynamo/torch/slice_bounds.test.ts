// Tensors of one number where Python takes numbers: bounds of slices, as code for TorchScript has them, and sizes.
import { expect, test } from "vitest";
import { analysed, framesOf, printed } from "../infer/testing/analysed";

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

test("sizes that the program puts into a tensor are numbers again where an operator takes numbers", () => {
  const r = analysed(`
class Points(nn.Module):
    def grid(self, sizes, device):
        out = []
        for h, w in sizes:
            y = torch.linspace(0.5, h - 0.5, h, device=device)
            x = torch.linspace(0.5, w - 0.5, w, device=device)
            out.append((y[:, None] * x).reshape(-1) / h)
        return torch.cat(out)

    def forward(self, srcs):
        sizes, flat = [], []
        for s in srcs:
            b, c, h, w = s.shape
            sizes.append((h, w))
            flat.append(s.flatten(2))
        sizes = torch.as_tensor(sizes, dtype=torch.long, device=srcs[0].device)
        f = torch.cat(flat, 2)
        return (f * self.grid(sizes, f.device)).relu()
`);
  const targets = framesOf(r, "Points").flatMap(f => f.graph.nodes.map(n => n.target));
  expect(targets).toContain("relu");
});

test("a slice from a place that nobody knows, and so much further, is that long", () => {
  const r = analysed(`
def segments(x, starts, length):
    out = torch.zeros_like(x[:, :, :length])
    for i in range(x.size(0)):
        at = starts[i]
        end = at + length
        out[i] = x[i, :, at:end]
    return out

class Cut(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Conv1d(6, 8, 1)

    def forward(self, x):
        b, c, t = x.size()
        starts = (torch.rand([b], device=x.device) * (t - 4)).to(dtype=torch.long)
        return self.up(segments(x, starts, 4)).relu()
`);
  const made = framesOf(r, "Cut").flatMap(f => f.graph.nodes.flatMap(n => (n.target === "relu" ? [n] : [])));
  expect(made).toHaveLength(1);
});

test("a bound that is a tensor of several elements is refused outside of a graph as well", () => {
  const r = analysed(`
try:
    torch.randn(4, 4)[:torch.tensor([1, 2])]
except TypeError as e:
    print(e)
`);
  expect(printed(r)).toBe("only integer tensors of a single element can be converted to an index\n");
});
