// What errors and defaults say in so many words: shapes, numbers, weights that are not there, lists of lists.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("an input has the shape that the program's own message expects", () => {
  const r = analysed(`
class Flow(nn.Module):
    def __init__(self, channels=8, size=16):
        super().__init__()
        self.channels, self.size = channels, size

    def forward(self, x):
        wanted = [x.shape[0], self.channels, self.size, self.size, self.size]
        assert [*x.shape] == wanted, f"got {x.shape}, expected {wanted}"
        return x * 2
`);
  expect(assumedOf(r, "Flow")).toMatch(/x is float32\[\d+, 8, 16, 16, 16\]/);
});

test("a number that a message names beside another is that other one", () => {
  const r = analysed(`
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, n):
        found = [block(x) for i, block in enumerate(self.blocks) if i >= len(self.blocks) - n]
        assert len(found) == n, f"only {len(found)} of {n} blocks"
        return found

class Wrapped(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.n, self.backbone = n, Backbone()

    def forward(self, x):
        return torch.stack(self.backbone(x, self.n))
`);
  expect(assumedOf(r, "Wrapped")).toMatch(/n is 3;/);
});

test("a part that is None where weights are not there is built without them", () => {
  const r = analysed(`
def backbone(pretrained):
    made = nn.Conv2d(3, 8, 3)
    return None if pretrained else made

class Net(nn.Module):
    def __init__(self, bb_pretrained=True):
        super().__init__()
        self.bb = backbone(bb_pretrained)

    def forward(self, x):
        return self.bb(x)
`);
  expect(assumedOf(r, "Net")).toContain("bb_pretrained is False");
});

test("numbers of a list by default are lists where the code indexes them", () => {
  const r = analysed(`
class Encoder(nn.Module):
    def __init__(self, output_dim=[16]):
        super().__init__()
        self.outs = nn.ModuleList(nn.Conv2d(8, dims[2], 3) for dims in output_dim)

    def forward(self, x):
        return [out(x) for out in self.outs]
`);
  expect(assumedOf(r, "Encoder")).toContain("output_dim is [[16, 16, 16, 16]]");
});

test("a class of the program that is called a tensor is one of its own", () => {
  const r = analysed(`
class SparseTensor:
    def __init__(self, feats: torch.Tensor):
        self.feats = feats

    def replace(self, feats):
        return SparseTensor(feats)

class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(64, 8)

    def forward(self, x: SparseTensor):
        return x.replace(self.proj(x.feats)).feats
`);
  expect(assumedOf(r, "Sparse")).toContain("x is a SparseTensor");
});

test("a configuration has no private attributes that nobody put there", () => {
  const r = analysed(`
class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        dtype = self.config._quantized_dtype if hasattr(self.config, "_quantized_dtype") else torch.bfloat16
        return self.proj(x).to(dtype)
`);
  expect(operatorsOf(r, "Layer").length).toBe(2);
});

test("what a perceptual loss scales by three channels is an image, with all else that nothing is known of", () => {
  const r = analysed(`
class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.zeros(1, 3, 1, 1))
        self.net = nn.Conv2d(3, 8, 3)

    def forward(self, inputs, reconstructions):
        rec = (inputs - reconstructions).abs()
        return rec.mean() + (self.net(inputs - self.shift) - self.net(reconstructions - self.shift)).mean()
`);
  expect(assumedOf(r, "Perceptual")).toMatch(/inputs is (float32\[8, 3, 224, 224\]); reconstructions is \1/);
});
