// Shapes and kinds of inputs that a module takes, by what its code does with them and by what its errors say.
import { describe, expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

describe("inputs", () => {
  test("that meet get another width together", () => {
    const r = analysed(`
class Distance(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Parameter(torch.zeros(1, 48))

    def forward(self, student, teacher):
        teacher = F.softmax(teacher - self.center, -1)
        return -(teacher * F.log_softmax(student, -1)).sum(-1)
`);
    expect(assumedOf(r, "Distance")).toMatch(/student is float32\[.*48\].*teacher is float32\[.*48\]/);
  });

  test("that meet get the shape of one of them", () => {
    const r = analysed(`
class Positioned(nn.Module):
    def forward(self, features, extra):
        b, c, h, w = features.shape
        return features.flatten(2).permute(0, 2, 1) + extra.flatten(2).permute(0, 2, 1)
`);
    const [features, extra] = ["features", "extra"].map(n =>
      r.roots[0]?.assumed.find(a => a.startsWith(n))?.replace(/^\w+ /, ""),
    );
    expect(features).toMatch(/^is float32\[\d+, \d+, \d+, \d+\]$/);
    expect(extra).toBe(features);
  });

  test("that met before get another rank together", () => {
    const r = analysed(`
class Sum(nn.Module):
    def forward(self, left, right):
        both = left + right
        b, c, h, w = both.shape
        return both.reshape(b, c, h * w)
`);
    expect(operatorsOf(r, "Sum")).toContain("reshape");
    expect(assumedOf(r, "Sum")).toMatch(/left is float32\[(\d+, \d+, \d+, \d+)\]; right is float32\[\1\]/);
  });

  test("are what a module's first layer takes, at the size that the module keeps", () => {
    const r = analysed(`
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.img_size = 96
        self.patches = nn.Conv2d(5, 16, 8, stride=8)
        self.position = nn.Parameter(torch.zeros(1, 16, 12, 12))

    def forward(self, x):
        return self.patches(x) + self.position
`);
    expect(assumedOf(r, "Net")).toMatch(/x is float32\[\d+, 5, 96, 96\]/);
  });

  test("have the size that the part of a module keeps in which the first layer lies", () => {
    const r = analysed(`
class Patches(nn.Module):
    def __init__(self, img_size):
        super().__init__()
        self.img_size, self.proj = (img_size, img_size), nn.Conv2d(3, 16, 8, stride=8)
        self.position = nn.Parameter(torch.zeros(1, 16, img_size // 8, img_size // 8))

    def forward(self, x):
        return self.proj(x) + self.position


class Encoder(nn.Module):
    def __init__(self, size=72):
        super().__init__()
        self.body = nn.ModuleDict({"visual": nn.Sequential(Patches(size))})

    def forward(self, image):
        return self.body["visual"](image)
`);
    expect(assumedOf(r, "Encoder")).toMatch(/image is float32\[\d+, 3, 72, 72\]/);
  });

  test("get another rank where one had a dimension added before they met", () => {
    const r = analysed(`
class Join(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(9, 4)

    def forward(self, x, mels):
        return self.proj(torch.cat((x.unsqueeze(-1), mels), 2))
`);
    expect(operatorsOf(r, "Join")).toContain("torch._C._nn.linear");
  });

  test("of a speaker are one number a sample, and what is output has a size", () => {
    const r = analysed(`
class Voice(nn.Module):
    def __init__(self, output_size):
        super().__init__()
        self.embed, self.proj = nn.Embedding(10, 32), nn.Linear(64, output_size)

    def forward(self, x, speaker_ids):
        e = self.embed(speaker_ids)
        return self.proj(torch.cat((x, e.unsqueeze(1).expand(-1, x.size(1), -1)), 2))
`);
    expect(assumedOf(r, "Voice")).toMatch(/output_size is \d.*speaker_ids is int64\[\d+\]/);
  });

  test("that are concatenated share a layer's channels", () => {
    const r = analysed(`
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(10, 8, 3)

    def forward(self, a, b):
        return self.conv(torch.cat((a, b), 1))
`);
    expect(operatorsOf(r, "Pair")).toContain("torch.conv2d");
  });
});

test("what bounds a slice or a range is a number", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x, depth_idx, code_idx):
        for i in range(depth_idx):
            x = self.layers[i](x)
        return x[:, : code_idx + 1].sum(1)
`);
  expect(assumedOf(r, "Net")).toMatch(/depth_idx is \d+; code_idx is \d+$/);
});

test("an index of einsum that differs between its operands gets one size", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.empty(4, 48, 96))

    def forward(self, x, expert_indices):
        return torch.einsum("ti,taoi->tao", x, self.w[expert_indices])
`);
  expect(assumedOf(r, "Net")).toContain("x is float32[8, 96]");
});

test("a mask over the cells of a grid has as many as the image has tokens", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 16, 16)

    def forward(self, image, mask):
        assert image.shape[-1] == 224
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = x * mask.flatten(1).unsqueeze(-1)
        cells = mask.repeat_interleave(16, 1).repeat_interleave(16, 2)
        return x.sum((1, 2)) + (image * cells[:, None]).sum((1, 2, 3))
`);
  expect(assumedOf(r, "Net")).toMatch(/mask is (bool|float32)\[8, 14, 14\]/);
});

test("modules of a list are called as the loop over them calls them", () => {
  const r = analysed(`
from typing import List

class One(nn.Module):
    def forward(self, x):
        return x.sin()

class Two(nn.Module):
    def forward(self, x, y):
        return x.sin() + y

class All(nn.Module):
    def __init__(self, heads: List[nn.Module]):
        super().__init__()
        self.heads = nn.ModuleList(heads)

    def forward(self, x, y):
        return sum(head(x, y) for head in self.heads)
`);
  expect(assumedOf(r, "All")).toContain("heads is [a Two, a Two]");
});

test("sizes of a docstring may be sums", () => {
  const r = analysed(`
class Step(nn.Module):
    def forward(self, x, hidden):
        """
        Args:
            x: ([1, batch_size, 1+covariates]): what is there so far
            hidden ([layers, batch_size, 40]): of the step before
        """
        return x * 2, hidden * 2
`);
  expect(assumedOf(r, "Step")).toMatch(/x is float32\[1, 8, \d+\]; hidden is float32\[\d+, 8, 40\]/);
});

test("positions that all samples share have no batch, and caches in half precision get halves", () => {
  const r = analysed(`
class Decoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed, self.proj = nn.Embedding(100, width), nn.Linear(width, width)
        self.register_buffer("table", torch.randn(1000, width))
        self.cache = torch.zeros(16, 512, width, dtype=torch.float16, device="cuda")
    def forward(self, input_ids: torch.Tensor, positions: torch.Tensor):
        h = self.proj(self.embed(input_ids))
        where = self.table[positions]
        assert where.shape == (h.shape[1], h.shape[-1]), where.shape
        index = positions[None, :, None].repeat(h.shape[0], 1, h.shape[-1])
        self.cache[: h.shape[0]].scatter_(1, index, h + where)
        return h
`);
  expect(assumedOf(r, "Decoder")).toContain("in float16");
  expect(assumedOf(r, "Decoder")).toContain("positions is int64[128]");
});

test("the sizes of what is computed without a change of rank say an input's rank", () => {
  const r = analysed(`
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(4, 32)
        self.up = nn.Conv2d(32, 16, 1)
    def forward(self, embeddings, pe, prompts):
        return self.predict(embeddings, pe, prompts)
    def predict(self, embeddings, pe, prompts):
        src = torch.repeat_interleave(embeddings, 2, dim=0)
        src = src + pe
        b, c, h, w = src.shape
        return self.up(src.flatten(2).transpose(1, 2).transpose(1, 2).view(b, c, h, w)), prompts @ self.tokens.weight.t()
`);
  expect(assumedOf(r, "Decoder")).toMatch(/embeddings is float32\[\d+, 32, \d+, \d+\]/);
});
