// Inputs that are lists of feature maps, vectors that are joined, and arguments that the code asserts the type of.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("sequences of a list become maps together, and a pyramid where levels are added up", () => {
  const r = analysed(`
class Neck(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_channels = [16, 32, 64]
        self.lateral = nn.ModuleList([nn.Conv2d(c, 8, 1) for c in self.in_channels])

    def forward(self, inputs):
        assert len(inputs) == len(self.in_channels)
        maps = [conv(x) for conv, x in zip(self.lateral, inputs)]
        for i in (2, 1):
            maps[i - 1] = maps[i - 1] + F.interpolate(maps[i], scale_factor=2)
        return maps
`);
  expect(assumedOf(r, "Neck")).toMatch(
    /inputs is \[float32\[\d+, 16, 64, 64\], float32\[\d+, 32, 32, 32\], float32\[\d+, 64, 16, 16\]\]/,
  );
});

test("sequences that are joined where only vectors fit are vectors together, as many as are indexed", () => {
  const r = analysed(`
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(40, 24)
        self.layers = nn.ModuleList([nn.Linear(48, 16) for _ in range(12)])

    def forward(self, noise, label):
        condition = torch.cat((noise, self.embed(label)), dim=1)
        print("mixing")
        return sum(layer(condition[i].unsqueeze(0)) for i, layer in enumerate(self.layers))
`);
  expect(operatorsOf(r, "Generator")).toContain("torch.cat");
  expect(assumedOf(r, "Generator")).toMatch(
    /noise is float32\[(1[2-9]|\d{2,}), 24\]; label is float32\[(1[2-9]|\d{2,}), 40\]/,
  );
});

test("an argument is of the type that the code asserts it to be of", () => {
  const r = analysed(`
class Head(nn.Module):
    def __init__(self, in_channels, transform=None):
        super().__init__()
        if transform is not None:
            assert isinstance(in_channels, (list, tuple))
            self.width = sum(in_channels)
        else:
            assert isinstance(in_channels, int)
            self.width = in_channels
        for c in in_channels if transform else [in_channels]:
            self.last = nn.Linear(c, 8)

    def forward(self, x):
        return self.last(x)
`);
  expect(assumedOf(r, "Head")).toMatch(/in_channels is \d+/);
});

test("two lists are as long as the code asserts, and a number by default becomes one where a list is asserted", () => {
  const r = analysed(`
class Select(nn.Module):
    def __init__(self, in_channels, in_index=-1):
        super().__init__()
        assert isinstance(in_channels, (list, tuple))
        assert isinstance(in_index, (list, tuple))
        assert len(in_channels) == len(in_index)
        self.in_index = in_index
        self.convs = nn.ModuleList([nn.Conv2d(c, 8, 1) for c in in_channels])

    def forward(self, inputs):
        return sum(conv(inputs[i]) for conv, i in zip(self.convs, self.in_index))
`);
  const [channels, index] = ["in_channels", "in_index"].map(n =>
    r.roots[0]?.assumed.find(a => a.startsWith(`${n} is [`))?.split(", "),
  );
  expect(channels?.length).toBeGreaterThan(0);
  expect(index?.length).toBe(channels?.length);
});

test("k beside q and v is a tensor", () => {
  const r = analysed(`
class Attend(nn.Module):
    def forward(self, q, k, v):
        return F.softmax(q @ k.transpose(-2, -1), -1) @ v
`);
  expect(assumedOf(r, "Attend")).toMatch(/k is float32/);
});

test("what is taken out of an input whatever it is, is taken out of a list", () => {
  const r = analysed(`
class Slow(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 8, 3)

    def forward(self, x):
        x = x[0]
        n, c, t, h, w = self.conv(x).shape
        return x.mean() * t
`);
  expect(assumedOf(r, "Slow")).toMatch(/x is \[float32\[\d+, 3, \d+, \d+, \d+\]\]/);
});

test("an empty list by default is filled where the code needs its items, and its numbers become lists where it goes through them", () => {
  const r = analysed(`
class Anchored(nn.Module):
    def __init__(self, width=8, anchors=()):
        super().__init__()
        self.count = len(anchors[0]) // 2
        self.register_buffer("anchors", torch.tensor(anchors).float().view(len(anchors), -1, 2))
        self.first = nn.Conv2d(3, width * self.count, 1)

    def forward(self, x):
        return self.first(x), self.anchors * 2

class Scales(nn.Module):
    def __init__(self, scales=()):
        super().__init__()
        self.layers = nn.ModuleDict({str(s): nn.Conv2d(3, 8, 1) for s in scales})

    def forward(self, x):
        return {k: layer(x) for k, layer in self.layers.items()}
`);
  expect(assumedOf(r, "Anchored")).toContain("anchors is [[2, 2");
  expect(operatorsOf(r, "Scales")).toContain("torch.conv2d");
});

test("a list is a tuple where one is joined with it", () => {
  const r = analysed(`
class Joined(nn.Module):
    def __init__(self, hidden_dims):
        super().__init__()
        dims = (16,) + hidden_dims
        self.layers = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(dims, dims[1:])])

    def forward(self, x):
        return self.layers(x)
`);
  expect(assumedOf(r, "Joined")).toMatch(/hidden_dims is \(\d/);
});

test("a list that a dictionary holds is as long as the failing line needs, and no channels are a size that is set later", () => {
  const r = analysed(
    `
class Pyramid(nn.Module):
    def __init__(self, config):
        super().__init__()
        dims = config["block_dims"]
        self.first = nn.Conv2d(config["in_dim"], dims[4], 1)

    def forward(self, x):
        return self.first(x)

class Normed(nn.Module):
    def __init__(self, num_channels):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(num_channels))

    def forward(self, x):
        return x * self.weight[:, None]
`,
    {
      "pack/config.py": 'config = {"in_dim": 4, "block_dims": [8, 16, 32]}\nnum_channels = 0\n',
      "pack/use.py": "from model import Normed\nnet = Normed(num_channels=0)\n",
    },
  );
  expect(assumedOf(r, "Pyramid")).toMatch(/"block_dims": \[\d+(, \d+){4}\]/);
  expect(assumedOf(r, "Normed")).toMatch(/num_channels is [1-9]/);
});

test("what goes item by item to layers of its own is a list, as long as an assertion wants it", () => {
  const r = analysed(`
class Head(nn.Module):
    def __init__(self, levels=3):
        super().__init__()
        self.levels = levels
        self.boxes = nn.ModuleList(nn.Conv2d(16, 4, 1) for _ in range(levels))

    def forward(self, x):
        for i in range(self.levels):
            x[i] = torch.cat((self.boxes[i](x[i]), x[i]), 1)
        return x

class Decoder(nn.Module):
    def __init__(self, levels=3):
        super().__init__()
        self.levels = levels
        self.project = nn.ModuleList(nn.Conv2d(16, 8, 1) for _ in range(levels))

    def forward(self, x):
        assert len(x) == self.levels
        return [layer(x[i]) for i, layer in enumerate(self.project)]
`);
  expect(assumedOf(r, "Head")).toMatch(/x is \[(float32\[\d+, 16, \d+, \d+\])(, \1){2,3}\]/);
  expect(assumedOf(r, "Decoder")).toMatch(/x is \[(float32\[\d+, 16, \d+, \d+\])(, \1){2}\]/);
});

test("items that the code takes apart are several tensors each, and functions that it goes through are called", () => {
  const r = analysed(`
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(32, 4)

    def forward(self, tokens_list):
        return self.last(torch.cat([cls for _, cls in tokens_list[-2:]], dim=-1))

class Compose(nn.Module):
    def __init__(self, transforms):
        super().__init__()
        self.transforms = transforms

    def forward(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img * 2
`);
  expect(assumedOf(r, "Classifier")).toMatch(/tokens_list is \[\(float32\[[\d, ]+\], float32\[[\d, ]+\]\)/);
  expect(operatorsOf(r, "Compose")).toEqual(["operator.mul"]);
});

test("the dictionaries of a list hold an image each, and nothing is traced by torchvision's exporter", () => {
  const r = analysed(`
import torchvision

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, batched_inputs):
        images = [x["image"] for x in batched_inputs]
        if torchvision._is_tracing():
            raise RuntimeError("not exported here")
        assert images[0].ndim == 3
        return self.conv(torch.stack(images))
`);
  expect(assumedOf(r, "Detector")).toMatch(/batched_inputs is \[\{"image": float32\[3, 224, 224\]\}/);
});

test("levels of which there must be more than one are more, and what is refused for its rank is like another input", () => {
  const r = analysed(`
class Quantized(nn.Module):
    def __init__(self, levels: list[int]):
        super().__init__()
        levels_tensor = torch.tensor(levels)
        assert (levels_tensor > 1).all()
        self.register_buffer("steps", levels_tensor)

    def forward(self, x):
        return x * self.steps[0]

class Compared(nn.Module):
    def forward(self, x, y):
        B, C, T = y.shape
        return (nn.functional.pad(x, (400, 400), mode="reflect") - nn.functional.pad(y, (400, 400), mode="reflect")).abs()
`);
  expect(assumedOf(r, "Quantized")).toContain("levels is [8, 8, 8, 8]");
  const [, x, y] = /x is (\S+ \d+, \d+\]); y is (\S+ \d+, \d+\])/.exec(assumedOf(r, "Compared")) ?? [];
  expect(x).toBeDefined();
  expect(y).toBe(x);
});

test("a list that is empty by default and has a layer for each item is filled where forward lacks the layers", () => {
  const r = analysed(`
class Heads(nn.Module):
    def __init__(self, classes=4, ch=()):
        super().__init__()
        self.m = nn.ModuleList(nn.Conv2d(c, classes, 1) for c in ch)

    def forward(self, x):
        return self.m[0](x)
`);
  expect(assumedOf(r, "Heads")).toMatch(/ch is \[(\d+)(, \d+)*\]; .*x is float32\[\d+, \1, /);
});

test("columns that a loss reads are asked for where sizes are symbols", () => {
  const r = analysed(`
class Boxes(nn.Module):
    def forward(self, truths):
        n, c = truths.shape
        boxes = truths[:, :-1]
        corners = torch.max(boxes[:, :2], boxes[:, 2:])
        return corners.sum(1) * (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
`);
  expect(assumedOf(r, "Boxes")).toMatch(/truths is float32\[\d+, 5\]/);
});

test("what a slice leaves out of an unpacking stands before what it takes", () => {
  const r = analysed(`
class Loss(nn.Module):
    def forward(self, inputs, predictions):
        (
            mel_targets,
            durations,
        ) = inputs[2:]
        mel, log_durations = predictions
        return (mel - mel_targets).abs().mean() + (log_durations - torch.log(durations.float() + 1)).pow(2).mean()
`);
  expect(assumedOf(r, "Loss")).toMatch(/inputs is \((\w+\[[\d, ]+\](, )?){4}\)/);
});

test("the length of the longest sequence is a number, as long as the sequences are", () => {
  const r = analysed(`
class Encoder(nn.Module):
    def forward(self, x, src_lens, max_src_len):
        mask = torch.arange(0, max_src_len, device=x.device)[None] < src_lens[:, None]
        return x * mask[..., None]
`);
  expect(assumedOf(r, "Encoder")).toMatch(/x is float32\[8, 128, \d+\].*max_src_len is 128/);
});

test("an empty list by default that is used as a tensor is one", () => {
  const r = analysed(`
class Grouping(nn.Module):
    def __init__(self, width, sizes, group_matrix):
        super().__init__()
        self.linear = nn.Linear(width, 4)
        self.groups = group_matrix.to(group_matrix.device)

class Table(nn.Module):
    def __init__(self, width, sizes=[], group_weight_matrix=[]):
        super().__init__()
        self.grouping = Grouping(width, sizes, group_weight_matrix)

    def forward(self, x):
        return self.grouping.linear(x)
`);
  expect(assumedOf(r, "Table")).toMatch(/group_weight_matrix is float32/);
});

test("a number that a line takes for a list is one, whatever lists other parameters fall back to", () => {
  const r = analysed(`
class Stages(nn.Module):
    def __init__(self, heads, taken=(0, 1)):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 16 * heads[i]) for i in range(2)])
        self.kept = [self.layers[i] for i in taken]

    def forward(self, x):
        return self.layers[0](x), self.layers[1](x)
`);
  expect(operatorsOf(r, "Stages")).toEqual(["torch._C._nn.linear", "torch._C._nn.linear"]);
});

test("items have the rank that a loop asks of them, or of what it goes through with them, and lists are as long as what they meet", () => {
  const r = analysed(`
class Levels(nn.Module):
    def __init__(self, width=32, levels=3):
        super().__init__()
        self.proj = nn.Linear(width, 4)
        self.scale = nn.Parameter(torch.ones(1, levels, 1))
    def forward(self, srcs, masks, pos_embeds):
        flat, valid = [], []
        for i, (src, mask, pos) in enumerate(zip(srcs, masks, pos_embeds)):
            b, c, h, w = src.shape
            flat.append(self.proj(src.flatten(2).transpose(1, 2) + pos.flatten(2).transpose(1, 2)))
            valid.append(self.ratio(mask))
        return torch.cat(flat, 1), torch.stack(valid, 1) * self.scale
    def ratio(self, mask):
        _, H, W = mask.shape
        return torch.stack([(~mask[:, :, 0]).sum(1) / H, (~mask[:, 0, :]).sum(1) / W], -1)
`);
  const assumed = assumedOf(r, "Levels");
  expect(assumed).toMatch(/srcs is \[(float32\[8, 32, \d+, \d+\](, )?){3}\]/);
  expect(assumed).toMatch(/masks is \[(bool\[8, \d+, \d+\](, )?){3}\]/);
  expect(assumed).toMatch(/pos_embeds is \[(float32\[8, 32, \d+, \d+\](, )?){3}\]/);
});
