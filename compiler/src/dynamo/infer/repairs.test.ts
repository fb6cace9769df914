// What a failure asks for: inputs and constructor arguments that other words of torch, or the code around, lead to.
import { describe, expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

describe("inputs", () => {
  test("that a layer takes apart are a tuple of what it calls the parts", () => {
    const r = analysed(`
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 8)

    def forward(self, data):
        in_features, edge_index = data  # unpacked
        return self.linear(in_features)[edge_index[0]]

class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(Layer())

    def forward(self, data):
        return self.net(data)
`);
    expect(assumedOf(r, "Graph")).toMatch(/data is \(float32\[\d+, 24\], int64\[2, \d+\]\)/);
  });

  test("have the rank and the sizes that the program's own words ask for", () => {
    const r = analysed(`
class Strict(nn.Module):
    def forward(self, z, c):
        for t in (z, c):
            if t.ndim != 2:
                raise AssertionError(f"Wrong number of dimensions: got {t.ndim}, expected 2")
            if t.shape[1] != 24:
                raise AssertionError(f"Wrong size for dimension 1: got {t.shape[1]}, expected 24")
        return z @ c.mT
`);
    expect(assumedOf(r, "Strict")).toMatch(/z is float32\[\d+, 24\].*c is float32\[\d+, 24\]/);
  });

  test("are on the CPU where a kernel that is not there has another shape than its first input", () => {
    const r = analysed(`
import own_kernels

class Halved(nn.Module):
    def forward(self, x):
        if x.is_cuda:
            y = own_kernels.halve(x)
        else:
            y = x[..., ::2]
        assert y.shape[-1] * 2 == x.shape[-1], "the shapes do not fit"
        return y * 2
`);
    expect(assumedOf(r, "Halved")).toContain("on the CPU, where it needs no kernels of its own");
  });

  test("are those of train() where forward has a way of its own in eval() that can't be followed", () => {
    const r = analysed(`
class Searching(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 8)

    def forward(self, x):
        y = self.lin(x)
        if self.training:
            return y.mean()
        return torch.nowhere_to_be_found.search(y)[1, 2, 3, 4, 5, 6, 7].beam.undefined + missing_name
`);
    expect(assumedOf(r, "Searching")).toContain("in train() with grad");
  });

  test("whose parts an assertion counts are a list of as many", () => {
    const r = analysed(`
class Ways(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 2
        self.a, self.b = nn.Linear(24, 8), nn.Linear(24, 8)

    def forward(self, x):
        assert (
            len(x) == self.count
        ), "the input does not have {} ways".format(self.count)
        return self.a(x[0]) + self.b(x[1])
`);
    expect(assumedOf(r, "Ways")).toMatch(/x is \[float32\[[\d, ]*24\], float32\[[\d, ]*24\]\]/);
  });

  test("of a layer are as wide as it is, floats although their name says labels, a row an item", () => {
    const r = analysed(`
class Conditioned(nn.Module):
    def __init__(self):
        super().__init__()
        self.vector_in = nn.Linear(768, 64)
        self.text_in = nn.Linear(96, 64)

    def forward(self, text, y):
        return self.text_in(text) + self.vector_in(y)[:, None]
`);
    expect(assumedOf(r, "Conditioned")).toMatch(/text is float32\[8, \d+, 96\].*y is float32\[8, 768\]/);
  });

  test("have the rank that the code checks, in an assert or before it raises", () => {
    const r = analysed(`
class Checked(nn.Module):
    def forward(self, img, ctx):
        if img.ndim != 3 or len(ctx.shape) != 2:
            raise ValueError("shapes do not fit")
        return img.sum() + ctx.sum()

class Said(nn.Module):
    def check(self, z):
        if z.dim() != 2:
            raise ValueError("the input must have 2 dimensions")

    def forward(self, x):
        self.check(x)
        return x * 2
`);
    expect(assumedOf(r, "Checked")).toMatch(/img is float32\[\d+, \d+, \d+\].*ctx is float32\[\d+, \d+\]/);
    expect(assumedOf(r, "Said")).toMatch(/x is float32\[\d+, \d+\]$/);
  });

  test("are of the type that the parameters have", () => {
    const r = analysed(`
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(32, 16, dtype=torch.bfloat16)

    def forward(self, x, y):
        return self.a(x) * y
`);
    expect(assumedOf(r, "Half")).toMatch(/x is bfloat16\[.*, 32\]/);
  });

  test("masks share the channels of what they are multiplied with", () => {
    const r = analysed(`
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Conv1d(6, 24, 3, padding=1)
        self.down = nn.Conv1d(24, 6, 3, padding=1)

    def forward(self, x, x_mask):
        h = self.up(x * x_mask).relu()
        return self.down(h * x_mask) * x_mask
`);
    expect(assumedOf(r, "Masked")).toMatch(/x is float32\[8, 6, (\d+)\]; x_mask is \w+\[8, 1, \1\]/);
  });

  test("have as many columns as a list of the module has items, those that are joined together", () => {
    const r = analysed(`
class Axes(nn.Module):
    def __init__(self):
        super().__init__()
        self.dims = [16, 56, 56]

    def forward(self, a_ids, b_ids):
        ids = torch.cat((a_ids, b_ids), dim=0)
        return torch.cat([ids[..., i].float()[..., None].repeat(1, self.dims[i]) for i in range(ids.shape[-1])], -1)
`);
    expect(assumedOf(r, "Axes")).toMatch(/a_ids is int64\[8, 3\].*b_ids is int64\[8, 3\]/);
  });

  test("that a graph's nodes and edges carry are a row each", () => {
    const r = analysed(`
class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 8)

    def forward(self, x, edge_index):
        h = self.lin(x)
        return torch.zeros_like(h).index_add_(0, edge_index[1], h[edge_index[0]])
`);
    expect(assumedOf(r, "Conv")).toMatch(/x is float32\[\d+, 16\]; edge_index is int64\[2, \d+\]/);
  });

  test("that may be left out are given where the module does nothing without them, or its error names them", () => {
    const r = analysed(`
class Resize(nn.Module):
    def forward(self, x, scale_factor=1.0):
        if scale_factor == 1.0:
            return x
        return F.interpolate(x, scale_factor=scale_factor)

class Guided(nn.Module):
    def forward(self, x, guidance=None):
        if guidance is None:
            raise ValueError("Didn't get guidance strength")
        return x * guidance[:, None, None]
`);
    expect(operatorsOf(r, "Resize")).not.toEqual([]);
    expect(assumedOf(r, "Resize")).toContain("scale_factor is 2");
    expect(assumedOf(r, "Guided")).toContain("guidance is float32[8]");
  });
});

describe("constructor arguments", () => {
  test("of a base that the constructor gives itself are not given twice", () => {
    const r = analysed(`
class Base(nn.Module):
    def __init__(self, head, width=16):
        super().__init__()
        self.lin = nn.Linear(8, width)
        self.head = head

    def forward(self, x):
        return self.head(self.lin(x))

class Derived(Base):
    def __init__(self, path=None, **kwargs):
        super().__init__(nn.Linear(16, 2), **kwargs)
`);
    expect(operatorsOf(r, "Derived")).toHaveLength(2);
  });

  test("make the constructor set what forward reads", () => {
    const r = analysed(`
class Net(nn.Module):
    def __init__(self, config, depth=1, gated=False):
        super().__init__()
        self.gated = gated
        if depth > 2:
            self.embed = nn.Linear(8, 16)
        if self.gated and config.width > 3:
            self.gate = nn.Linear(16, 16)

    def forward(self, x):
        h = self.embed(x)
        return h * self.gate(h)
`);
    expect(operatorsOf(r, "Net")).toContain("operator.mul");
    expect(assumedOf(r, "Net")).toMatch(/width 4; depth is 3; gated is True/);
  });

  test("of a base are those that a class derived from it hands over", () => {
    const r = analysed(`
class Parts:
    def __init__(self, net):
        self.net = net

class Base(nn.Module):
    def __init__(self, parts):
        super().__init__()
        if type(parts).__name__ != "Parts" or not isinstance(parts.net, nn.Sequential):
            raise TypeError("no parts")
        self.net = parts.net

    def forward(self, x):
        return self.net(x)

class Derived(Base):
    def __init__(self, width):
        super().__init__(Parts(nn.Sequential(nn.Linear(width, 4))))
`);
    expect(assumedOf(r, "Derived") || assumedOf(r, "Base")).toContain("width is");
  });
});

describe("objects that inputs are", () => {
  test("hold items that stay alike", () => {
    const r = analysed(`
class Levels(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.ModuleList([nn.Conv2d(24, 8, 1), nn.Conv2d(24, 8, 1)])

    def forward(self, feats):
        out = []
        for p, f in zip(self.proj, feats):
            b, c, h, w = f.shape
            out.append(p(f).view(b, 8, h * w))
        return torch.cat(out, dim=-1)
`);
    expect(assumedOf(r, "Levels")).toMatch(/feats is \[(float32\[8, 24, \d+, \d+\]), \1\]/);
  });

  test("get the keys that only a loop over several lists reads, sizes as pairs", () => {
    const r = analysed(`
class Batched(nn.Module):
    def forward(self, records):
        out = []
        images = torch.stack([r["image"] for r in records])
        for record, image in zip(records, images):
            h, w = record["original_size"]
            out.append(image[..., :h, :w] * 2)
        return out
`);
    expect(assumedOf(r, "Batched")).toMatch(/records is \[\{"image": float32.*"original_size": \(32, 32\)\}\]/);
  });

  test("are height and width where they are unpacked as such", () => {
    const r = analysed(`
class Merging(nn.Module):
    def forward(self, x, input_size):
        B, L, C = x.shape
        H, W = input_size
        assert L == H * W
        return x.view(B, H, W, C).permute(0, 3, 1, 2)
`);
    expect(assumedOf(r, "Merging")).toMatch(/x is float32\[8, 1024, 512\]; input_size is \(32, 32\)/);
  });

  test("have as many columns as they are cut into", () => {
    const r = analysed(`
def corners(boxes):
    x, y, w, h = boxes.unbind(-1)
    return torch.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], dim=-1)

class Boxes(nn.Module):
    def forward(self, outputs):
        return corners(outputs["pred_boxes"] * 1.0)
`);
    expect(assumedOf(r, "Boxes")).toMatch(/"pred_boxes": float32\[.*, 4\]/);
  });
});

describe("a network that is handed over", () => {
  test("has parameters where they are asked for, and layers where one is taken by its place", () => {
    const r = analysed(`
class Placed(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.device = next(net.parameters()).device

    def forward(self, x):
        return self.net(x) * 2

class Hooked(nn.Module):
    def __init__(self, net, layer=-2):
        super().__init__()
        self.body = nn.Sequential(*list(net.children())[: len(list(net.children())) + layer + 1])
        self.taken = list(net.children())[layer]

    def forward(self, x):
        return self.body(x)
`);
    expect(operatorsOf(r, "Placed")).not.toEqual([]);
    expect(assumedOf(r, "Hooked")).toContain("net is a torchvision.models.resnet18");
  });

  test("and one of an assert's lists is taken for a list", () => {
    const r = analysed(`
class Levels(nn.Module):
    def __init__(self, levels):
        super().__init__()
        assert levels in [[0, 1, 2], [1, 2]]
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in levels])

    def forward(self, x):
        return sum(l(x) for l in self.layers)
`);
    expect(assumedOf(r, "Levels")).toContain("levels is [0, 1, 2]");
  });
});

test("a module that the file itself builds too large to be followed is built small", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self, n_layers=400):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(n_layers)])

    def after(self, x, i):
        return x if i == len(self.layers) else self.after(self.layers[i](x), i + 1)

    def forward(self, x):
        return self.after(x, 0).relu()

net = Net()
`);
  expect(assumedOf(r, "Net")).toContain("n_layers is 2");
});

describe("what an operator says of sizes", () => {
  test("is followed: vectors of three numbers, the rank of an equation, what is missing of a size that is cut", () => {
    const r = analysed(`
class Normals(nn.Module):
    def forward(self, points):
        a, b = points[:, :, 1, :] - points[:, :, 0, :], points[:, :, 2, :] - points[:, :, 1, :]
        return torch.cross(a, b, dim=-1)

class Basis(nn.Module):
    def __init__(self):
        super().__init__()
        self.basis = nn.Parameter(torch.zeros(5, 24))

    def forward(self, theta):
        return torch.einsum("bp,pt->bt", theta[:, 5:], self.basis)
`);
    expect(assumedOf(r, "Normals")).toMatch(/points is float32\[\d+, \d+, \d+, 3\]/);
    expect(assumedOf(r, "Basis")).toMatch(/theta is float32\[8, 10\]/);
  });
});

test("a list that becomes the layers of a Sequential holds layers", () => {
  const r = analysed(`
class Judge(nn.Module):
    def __init__(self, side, layers):
        super().__init__()
        info = len(layers) - 1
        self.seq = nn.Sequential(*layers)
        self.info = nn.Sequential(*layers[:info])

    def forward(self, x):
        return self.seq(x), self.info(x)
`);
  expect(operatorsOf(r, "Judge")).toContain("torch._C._nn.linear");
});

test("an argument that is measured and read is an object of the class that has all of it, not one that has most", () => {
  const r = analysed(`
class Head(nn.Module):
    def __init__(self, pad_index, mask_index):
        super().__init__()
        self.pad_index, self.mask_index = pad_index, mask_index

    def forward(self, x):
        return x

class Letters:
    def __init__(self, letters=("a", "c", "g", "t")):
        self.letters = letters
        self.pad_index, self.mask_index = 0, 1

    def __len__(self):
        return len(self.letters) + 2

class Reader(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.head = Head(letters.pad_index, letters.mask_index)
        self.embed = nn.Embedding(len(letters), 32, padding_idx=letters.pad_index)

    def forward(self, tokens):
        return self.head(self.embed(tokens)).masked_fill(tokens.eq(self.head.mask_index).unsqueeze(-1), 0.0)
`);
  expect(assumedOf(r, "Reader")).toContain("letters is a Letters");
});

describe("shapes that messages tell", () => {
  test("a normalisation behind a permutation, an expansion and a concatenation of embedded tokens", () => {
    const r = analysed(`
class Last(nn.LayerNorm):
    def __init__(self):
        super().__init__(1)

    def forward(self, x):
        return super().forward(x.transpose(1, 2))

class Expanded(nn.Module):
    def forward(self, scores, current):
        n = current.size(0)
        return torch.gather(scores.view(n, 512, 512), 1, current.expand(n, 1, 512))

class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 24)
        self.linear = nn.Linear(24 + 40, 8)

    def forward(self, y, context):
        return self.linear(torch.cat((context, self.embed(y)), 1))
`);
    expect(assumedOf(r, "Last")).toMatch(/x is float32\[\d+, 1, \d+\]$/);
    expect(assumedOf(r, "Expanded")).toMatch(/current is int64\[\d+, 1, \d+\]$/);
    expect(assumedOf(r, "Joined")).toMatch(/y is int64\[(\d+)\]; context is float32\[\1, 40\]$/);
  });
});

test("a shape that is unpacked is a tuple of numbers, and a mask may be drawn with a generator of its own", () => {
  const r = analysed(`
class Masks(nn.Module):
    def forward(self, shape, seed=None):
        b, t, d = shape
        generator = torch.Generator(device="cuda")
        if seed is not None:
            generator = generator.manual_seed(seed)
        drawn = torch.rand(size=(b, t), generator=generator, device="cuda")
        return torch.zeros(size=shape, device="cuda") + drawn.unsqueeze(-1)
`);
  expect(assumedOf(r, "Masks")).toMatch(/shape is \(8, 128, 512\)/);
});

test("what is gone through by its keys may be an empty dictionary", () => {
  const r = analysed(`
def fixed(x, conditions):
    for at, value in conditions.items():
        x[:, at] = value
    return x

class Guided(nn.Module):
    def forward(self, x, cond):
        return fixed(x * 2, cond)
`);
  expect(operatorsOf(r, "Guided")).toContain("operator.mul");
});

test("widths of blocks whose items are indexed are lists of lists", () => {
  const r = analysed(`
class Blocks(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(blocks[i][-1], blocks[i + 1][0]) for i in range(len(blocks) - 1))

    def forward(self, x):
        return [l(x) for l in self.layers]
`);
  expect(assumedOf(r, "Blocks")).toMatch(/blocks is \[\[\d+, \d+\]/);
});

test("items that are unpacked are tuples, an argument that is asserted to be of a class is one of it", () => {
  const r = analysed(`
class Sizes:
    def __init__(self):
        self.pairs = [(12, 4), (12, 4)]

class Critics(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        assert isinstance(sizes, Sizes)
        self.layers = nn.ModuleList(nn.Linear(s + a, 8) for s, a in sizes.pairs)

    def forward(self, inputs):
        return [l(torch.cat((s, a), dim=1)) for l, (s, a) in zip(self.layers, [(s, a) for s, a in inputs])]

class Widths(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in widths)

    def forward(self, x):
        return [l(x) for l in self.layers]
`);
  expect(assumedOf(r, "Critics")).toMatch(/sizes is a Sizes.*inputs is \[\(float32/);
  expect(assumedOf(r, "Widths")).toMatch(/widths is \[\(\d+, \d+\), /);
});

test("what is taken for a size is a number, and what is expanded has no more dimensions than that", () => {
  const r = analysed(`
class Extended(nn.Module):
    def forward(self, scores, vsize):
        b, n = scores.size()
        return torch.cat([scores, torch.zeros(b, vsize, device=scores.device)], dim=1)

class Spread(nn.Module):
    def forward(self, scores, source):
        b, n = scores.size()
        return scores + source.expand(b, n)
`);
  expect(assumedOf(r, "Extended")).toMatch(/vsize is \d+$/);
  expect(assumedOf(r, "Spread")).toMatch(/source is float32\[\d+, \d+\]$/);
});

test("what got a dimension on the way to a layer that refuses it has one less", () => {
  const r = analysed(`
class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 8, 1)
        self.table = nn.Embedding(50, 8)
        self.out = nn.Conv1d(8, 1, 1)

    def forward(self, audio, diffusion_step):
        x = self.first(audio.unsqueeze(1))
        return self.out(x + self.table(diffusion_step).unsqueeze(-1))
`);
  expect(assumedOf(r, "Noise")).toMatch(/diffusion_step is int64\[(8|1)\]$/);
});
