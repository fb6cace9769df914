// Inputs of forward that nobody gives: by what is written of them, and by what the operators say that refuse them.
import { describe, expect, test } from "vitest";
import { PythonFile } from "../../python/file";
import { compileModule } from "../code/compiler";
import type { FunctionSpec } from "../code/instructions";
import { writtenShapes } from "./evidence/shapes";
import { analysed, assumedOf, framesOf, operatorsOf } from "./testing/analysed";

function written(text: string): Readonly<Record<string, readonly string[]>> {
  const file = { name: "m.py", lines: text.split("\n"), library: "user" as const };
  const code = compileModule(new PythonFile(text).module, file, text);
  const made = code.instructions.find(i => i.op === "MAKE_FUNCTION");
  if (made === undefined) throw new Error("no function");
  return Object.fromEntries(writtenShapes((made.data as FunctionSpec).code));
}

describe("shapes that are written beside a function", () => {
  test("docstrings of all styles", () => {
    const text = `
def forward(self, xyz, feats, image, mask, wave, ids):
    """
    xyz: positions of the points, [B, N, 3]
    :param feats: what they carry, (batch, channels, points)
    Args:
        image (torch.Tensor): image to attend to. Should be of shape
            B x embed_dim x h x w for any h and w
        mask (Tensor, optional): (0/-inf) mask of shape (windows, Wh*Ww, Wh*Ww) or None
    - wave: BxT
    Ids: tokens <B, L>
    """
`;
    expect(written(text)).toEqual({
      xyz: ["B", "N", "3"],
      feats: ["batch", "channels", "points"],
      image: ["B", "embed_dim", "h", "w"],
      mask: ["windows", "Wh*Ww", "Wh*Ww"],
      wave: ["B", "T"],
      ids: ["B", "L"],
    });
  });

  test("comments of the signature and before the first statement, no later ones", () => {
    const text = `
def forward(self, x,  # (B, 12, N)
            y,
            z):
    # y: B, C, H, W
    x = x + 1
    # z: [B, 4]
    return x, y, z
`;
    expect(written(text)).toEqual({ x: ["B", "12", "N"], y: ["B", "C", "H", "W"] });
  });

  test("a remark in brackets is no shape, and an open rank none that is fixed", () => {
    const text = `
def forward(self, x, t, cond, src):
    """
    x: the images [N x C x ...]
    t (int, optional): how far (see above)
    cond: (Tensor) what it hangs on (e.g., classes)
    src: the sequence (required).
    """
`;
    expect(written(text)).toEqual({});
  });

  test("they give inputs their ranks and sizes", () => {
    const r = analysed(`
class Grouping(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.lin = nn.Linear(3, config.width)

    def forward(self, points, index):
        """
        points: positions of the points, [B, N, 3]
        index (LongTensor): where they are, shape B x S
        """
        near = torch.gather(points, 1, index.unsqueeze(-1).expand(-1, -1, points.size(2)))
        return self.lin(near)
`);
    expect(operatorsOf(r, "Grouping")).toContain("torch.gather");
    expect(assumedOf(r, "Grouping")).toMatch(/points is float32\[\d+, \d+, 3\]; index is int64\[\d+, \d+\]/);
  });
});

describe("inputs that must fit each other", () => {
  test("one that is added to another gets all of its sizes", () => {
    const r = analysed(`
class Placed(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = nn.LayerNorm(config.width * 3)

    def forward(self, feature, place):
        b, c, h, w = feature.shape
        both = feature.flatten(2).permute(0, 2, 1) + place.flatten(2).permute(0, 2, 1)
        return self.norm(both)
`);
    expect(operatorsOf(r, "Placed")).toHaveLength(6);
  });

  test("a rank that is refused changes and the width that fitted stays; joined inputs make up the width together", () => {
    const r = analysed(`
class Cell(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width = 40
        self.recur = nn.Linear(40, 120, bias=False)
        self.joined = nn.Linear(3, 40)
        self.alone = nn.Linear(2, 40)

    def forward(self, last, hidden, coarse):
        u, r, e = torch.split(self.recur(hidden), self.width, dim=1)
        alone = self.alone(last)
        both = self.joined(torch.cat([last, coarse], dim=1))
        return u * r * e + both + alone
`);
    expect(assumedOf(r, "Cell")).toMatch(
      /last is float32\[\d+, 2\]; hidden is float32\[\d+, 40\]; coarse is float32\[\d+, 1\]/,
    );
  });

  test("two that are joined before a layer get sizes together, whichever of their dimensions meet", () => {
    const r = analysed(`
class Refine(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.conv = nn.Conv2d(34, 8, 3)

    def forward(self, score, feature):
        return self.conv(torch.cat([score.permute(0, 3, 1, 2), feature], dim=1))
`);
    expect(operatorsOf(r, "Refine")).toEqual(["permute", "torch.cat", "torch.conv2d"]);
  });

  test("one that is written into another tensor is known to be behind it", () => {
    const r = analysed(`
class Edges(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(7, 8, 3)

    def forward(self, scene, parts):
        edges = torch.zeros(parts.size(), device=parts.device)
        edges[:, :, 1:, :] = (parts[:, :, 1:, :] - parts[:, :, :-1, :]).abs()
        maps = scene.new_zeros(scene.size(0), 6, scene.size(2), scene.size(3))
        return self.conv(torch.cat((maps, edges), dim=1))
`);
    expect(assumedOf(r, "Edges")).toMatch(/parts is float32\[\d+, 1, /);
  });

  test("of a module whose code makes tensors without a device are on the CPU as it is", () => {
    const r = analysed(`
class Placed(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(40, 24)
        self.scale = torch.ones(24)

    def forward(self, x):
        place = torch.arange(x.size(1)).float()
        return self.embed(x) * self.scale + place[None, :, None]
`);
    expect(framesOf(r, "Placed").map(f => f.onCpu)).toEqual([true]);
    expect(assumedOf(r, "Placed")).toContain("on the CPU, where its code makes tensors");
  });

  test("that are spectrograms have their bands before the time, or behind it", () => {
    const r = analysed(`
class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(80, 8, 3)

    def forward(self, mel):
        return self.conv(mel)


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(80, 8)

    def forward(self, mels):
        return self.proj(mels)
`);
    expect(assumedOf(r, "Conv")).toMatch(/mel is float32\[\d+, 80, 128\]/);
    expect(assumedOf(r, "Linear")).toMatch(/mels is float32\[\d+, 128, 80\]/);
  });

  test("whose sizes are symbols say how long lists are", () => {
    const r = analysed(`
class Order(nn.Module):
    def forward(self, x):
        places, ones = [0] * x.size(1), x.size(1) * (1,)
        for i in range(x.size(1)):
            places[i] = i
        return x[:, places] + len(ones)
`);
    expect(operatorsOf(r, "Order")).toContain("operator.add");
  });

  test("clips that strides leave nothing of are larger", () => {
    const r = analysed(`
class Clip(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.down = nn.Sequential(*[nn.Conv3d(3, 3, 3, stride=2, padding=1) for _ in range(4)])
        self.pool = nn.AvgPool3d((2, 7, 7))

    def forward(self, x):
        return self.pool(self.down(x))
`);
    expect(operatorsOf(r, "Clip")).toHaveLength(5);
  });

  test("what may be None is None where nothing else fits", () => {
    const r = analysed(`
from typing import Optional

class Prompts(nn.Module):
    def forward(self, points: torch.Tensor, boxes: Optional[torch.Tensor]):
        if boxes is not None:
            raise ValueError("boxes come later")
        return points + 0.5
`);
    expect(assumedOf(r, "Prompts")).toContain("boxes is None");
  });
});

describe("kinds of inputs", () => {
  test("a pair that only training takes apart is one tensor in eval()", () => {
    const r = analysed(`
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, inputs):
        if self.training:
            images, boxes = inputs
        else:
            images = inputs
        return self.conv(images)
`);
    expect(operatorsOf(r, "Detector")).toHaveLength(1);
  });

  test("an attribute named like a method of modules does not stand in the way", () => {
    const r = analysed(`
class Mean(nn.Module):
    def __init__(self, cuda=False):
        super().__init__()
        self.cuda = cuda
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x)
`);
    expect(operatorsOf(r, "Mean")).toHaveLength(1);
  });

  test("a graph or a sample is an object that holds tensors under its attributes", () => {
    const r = analysed(`
class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 8)

    def forward(self, data):
        h = self.lin(data.x)
        src, dst = data.edge_index
        return torch.zeros_like(h).index_add_(0, dst, h[src]) * data.edge_weight.mean()
`);
    expect(assumedOf(r, "Graph")).toMatch(/data is an object with x float32\[\d+, 16\], edge_index int64\[2, \d+\]/);
  });

  test("attributes and keys that only a method asks for are found one by one", () => {
    const r = analysed(`
class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 8)

    def inner(self, given):
        return self.net(given["coords"].clone()) + self.net(given["other"])

    def forward(self, model_input):
        return self.inner(model_input)

class Audio(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(100, 8)

    def prepared(self, signal):
        return signal.audio_data + signal.noise

    def forward(self, x):
        return self.lin(self.prepared(x))
`);
    expect(assumedOf(r, "Nested")).toMatch(/model_input is \{"coords": float32\[.*, 2\], "other": float32\[.*, 2\]\}/);
    expect(assumedOf(r, "Audio")).toMatch(
      /x is an object with audio_data float32\[.*, 100\], noise float32\[.*, 100\]/,
    );
  });
});

describe("a base class that nobody knows", () => {
  test("gives what a module inherits of it: parts and forward are opaque, and so is what they give", () => {
    const r = analysed(`
from somewhere import Encoder, Language

class Wrapped(Encoder):
    def __init__(self, width):
        super().__init__(width)
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        features, rest = self.blocks(self.embed(x))
        return self.head(features)

class Custom(Language):
    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs).last_hidden_state.relu()
`);
    const opaque = (name: string): string[] =>
      framesOf(r, name).flatMap(f => f.graph.nodes.flatMap(n => (n.meta.opaque === undefined ? [] : [n.target])));
    expect(opaque("Wrapped")).toEqual(["somewhere.Encoder.embed", "somewhere.Encoder.blocks"]);
    expect(opaque("Custom")).toEqual(["somewhere.Language.forward"]);
    expect(operatorsOf(r, "Custom")).toContain("relu");
  });
});

test("keys that a dictionary is asked for and may lack are left out, and matrices in batches fit", () => {
  const r = analysed(`
class Encoded(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(48, 16)
        self.w = nn.Parameter(torch.randn(8, 2, 5))

    def forward(self, batch):
        if batch.get("embedding", None) is None:
            e = self.net(torch.cat((batch["a"], batch["b"]), dim=-1))
        else:
            e = batch["embedding"]
        return torch.bmm(batch["coords"], self.w), e
`);
  expect(assumedOf(r, "Encoded")).toMatch(/batch is \{"a": .* 24\], "b": .* 24\], "coords": float32\[8, \d+, 2\]\}/);
});

describe("inputs that are no plain tensors", () => {
  test("what is read of an object of a library that is not there is an opaque operator", () => {
    const r = analysed(`
from soundtools import Signal
class Loss(nn.Module):
    def forward(self, x: Signal, y: Signal):
        return (x.magnitude.clamp(1e-5).log10() - y.magnitude.clamp(1e-5).log10()).abs().mean()
`);
    expect(assumedOf(r, "Loss")).toContain("x is an object of soundtools.Signal like float32");
    expect(operatorsOf(r, "Loss")).toContain("soundtools.Signal.magnitude");
  });

  test("a function that forward calls gives back what it gets, by name too", () => {
    const r = analysed(`
from typing import Callable
class Step(nn.Module):
    def forward(self, noise, fn: Callable, sigma: float):
        return noise - fn(noise, sigma=sigma) * sigma + fn(x=noise)
`);
    expect(assumedOf(r, "Step")).toContain("fn is a function that gives back its argument");
    expect(operatorsOf(r, "Step")).toContain("operator.sub");
  });

  test("labels that a constructor keeps are whole numbers", () => {
    const r = analysed(`
class Neighbours(nn.Module):
    def __init__(self, train_features, train_labels):
        super().__init__()
        self.register_buffer("keys", train_features.t())
        self.register_buffer("labels", train_labels.reshape(1, -1))
    def forward(self, x):
        near = (x @ self.keys).topk(3).indices
        return F.one_hot(self.labels.expand(x.shape[0], -1).gather(1, near), num_classes=10)
`);
    expect(assumedOf(r, "Neighbours")).toContain("train_labels is int64[64]");
  });
});

test("a class's docstring says the shapes of its inputs in the part that is about them", () => {
  const r = analysed(`
class Net(nn.Module):
    """
    Args:
        width: of the first layer (3, 3, 3)

    Input:
        src: (B, 3, H, W) the image
        bgr: (B, 3, H, W) what is behind it

    Output:
        src: (B, 1)
    """
    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(6, width, 3)
    def forward(self, src, bgr):
        return self.conv(torch.cat([src, bgr], dim=1)) + src.mean()
`);
  expect(assumedOf(r, "Net")).toMatch(/src is float32\[8, 3, \d+, \d+\]; bgr is float32\[8, 3, /);
});

test("a state is what the module's own method makes for the batch, which may lie behind the steps", () => {
  const r = analysed(`
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.layers = nn.ModuleList([nn.LSTM(16, 24), nn.LSTM(24, 16)])

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return [(weight.new_zeros(1, bsz, n), weight.new_zeros(1, bsz, n)) for n in (24, 16)]

    def forward(self, input, hidden):
        x = self.embed(input)
        for layer, state in zip(self.layers, hidden):
            x, _ = layer(x, state)
        return x
`);
  expect(assumedOf(r, "Words")).toMatch(
    /input is int64\[8, 128\]; hidden is \[\(float32\[1, 128, 24\], float32\[1, 128, 24\]\), \(float32\[1, 128, 16\]/,
  );
});
