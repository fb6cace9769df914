// Kinds of root modules that public code is full of: each is followed to its end although nobody gives it arguments.
import { describe, expect, test } from "vitest";
import type { CaptureResult } from "../types";
import { ProjectConstants } from "./evidence/constants";
import { analysedProject, assumedOf, framesOf, operatorsOf } from "./testing/analysed";

const HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n";

const analysed = (text: string, others: Readonly<Record<string, string>> = {}): CaptureResult =>
  analysedProject({ ...others, "pack/model.py": HEAD + text }, 40_000_000);

describe("a module that does nothing by itself", () => {
  test("is analysed in train() where eval() leaves its input alone", () => {
    const r = analysed(`
class Jitter(nn.Module):
    def forward(self, x):
        if self.training:
            x = x * torch.rand(x.size(0), 1, 1, device=x.device)
        return x
`);
    expect(operatorsOf(r, "Jitter")).toContain("operator.mul");
    expect(assumedOf(r, "Jitter")).toContain("in train() with grad");
  });

  test("is given something inside that computes where it only wraps", () => {
    const r = analysed(`
class Tagged(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x):
        return {"features": self.encoder(x)}
`);
    expect(operatorsOf(r, "Tagged")).toEqual(["operator.mul"]);
    expect(assumedOf(r, "Tagged")).toContain("a module that scales its input");
  });
});

describe("a module with defaults that its code refuses or that do nothing", () => {
  test("has the two arguments equal that an assertion wants to be", () => {
    const r = analysed(`
class Residual(nn.Module):
    def __init__(self, d_input=48, d_model=64):
        super().__init__()
        assert d_input == d_model
        self.proj = nn.Linear(d_input, d_model)

    def forward(self, x):
        return x + self.proj(x)
`);
    expect(operatorsOf(r, "Residual")).toContain("torch._C._nn.linear");
    expect(assumedOf(r, "Residual")).toMatch(/d_input is 64|d_model is 48/);
  });

  test("has a width that its heads divide", () => {
    const r = analysed(`
class Heads(nn.Module):
    def __init__(self, model_dim=500, head_count=71):
        super().__init__()
        assert model_dim % head_count == 0, "must be divisible"
        self.proj = nn.Linear(model_dim, model_dim)

    def forward(self, x):
        return self.proj(x)
`);
    expect(assumedOf(r, "Heads")).toContain("model_dim is 497");
  });

  test("has factors of two where those of one leave its input as it is", () => {
    const r = analysed(`
class Down(nn.Module):
    def __init__(self, stride=1):
        super().__init__()
        self.stride = stride

    def forward(self, x):
        return x[..., :: self.stride] if self.stride > 1 else x
`);
    expect(assumedOf(r, "Down")).toContain("stride is 2");
  });
});

describe("what a file shows of a class", () => {
  test("is no instance whose constructor failed half-way", () => {
    const r = analysed(`
class Net(nn.Module):
    def __init__(self, width, table):
        super().__init__()
        self.width = width
        self.table = nn.Embedding(len(table), width)
        self.out = nn.Linear(width, 4)

    def forward(self, tokens):
        return self.out(self.table(tokens))

if __name__ == "__main__":
    Net(8, None)
`);
    expect(operatorsOf(r, "Net")).toHaveLength(2);
  });

  test("holds for classes under conditions and try as well", () => {
    const r = analysed(`
try:
    import nowhere
except ImportError:
    class Net(nn.Module):
        def forward(self, x):
            return x.relu()

if __name__ == "__main__":
    class Mock(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.proj = nn.Linear(width, 4)

        def forward(self, x):
            return self.proj(x)
`);
    expect(operatorsOf(r, "Net")).toEqual(["relu"]);
    expect(operatorsOf(r, "Mock")).toHaveLength(1);
  });

  test("is that of all its cells where it is marked with # %%", () => {
    const r = analysed(
      "# %%\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n# %%\nprint('done')\n",
    );
    expect(operatorsOf(r, "Net")).toEqual(["relu"]);
  });
});

describe("idioms of older code", () => {
  test("casts by tensor types, and makes tensors of them on the device that they name", () => {
    const r = analysed(`
class Net(nn.Module):
    def forward(self, x):
        mask = torch.tril(torch.ones(x.size(-1), x.size(-1))).type(torch.ByteTensor)
        return x * mask.type(torch.cuda.FloatTensor).to(x.device), torch.cuda.FloatTensor(2, 3).to(x.device)
`);
    const made = framesOf(r, "Net").flatMap(f =>
      f.graph.nodes.flatMap(({ target, meta: { val } }) =>
        typeof val === "object" && val !== null && "dtype" in val ? [`${target} ${val.dtype} ${val.device.type}`] : [],
      ),
    );
    expect(made.filter(m => /^(type|to) /.test(m))).toEqual([
      "type uint8 cpu",
      "to float32 cuda",
      "to float32 cuda",
      "to float32 cuda",
    ]);
    expect(made).toContain("torch.empty float32 cuda");
  });

  test("an assertion about a tensor's values leaves what stands behind it its variables", () => {
    const r = analysed(`
class Net(nn.Module):
    def forward(self, x):
        out = F.pad(x, (1, 1))
        assert (out[..., 1:-1] == x).all()
        return out * 2
`);
    expect(operatorsOf(r, "Net")).toContain("operator.mul");
  });

  test("lists that grow item by item cost what they grow by", () => {
    const r = analysed(`
class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        boxes = []
        for i in range(9000):
            boxes += [i, i, 1, 1]
        self.register_buffer("boxes", torch.tensor(boxes).view(-1, 4).float())

    def forward(self, x):
        return x[..., None] + self.boxes[0]
`);
    expect(operatorsOf(r, "Boxes")).toContain("operator.add");
  });
});

describe("arguments of constructors", () => {
  test("are what the classes that they are handed to do with them", () => {
    const r = analysed(`
class Unit(nn.Module):
    def __init__(self, width, post):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.post = post

    def forward(self, x):
        return self.post(self.conv(x))

class Fusion(nn.Module):
    def __init__(self, width, post):
        super().__init__()
        self.unit = Unit(width, post)
        self.sums = nn.quantized.FloatFunctional()

    def forward(self, x):
        return self.sums.add(x, self.unit(x))
`);
    expect(operatorsOf(r, "Fusion")).toContain("torch.add");
  });

  test("have the sizes that their neighbours' defaults ask for", () => {
    const r = analysed(`
class Encode(nn.Module):
    def __init__(self, inside, embed=736):
        super().__init__()
        if inside % embed != 0:
            raise ValueError("inside must be divisible by embed")
        self.proj = nn.Linear(inside, embed)

    def forward(self, x):
        return self.proj(x)
`);
    expect(assumedOf(r, "Encode")).toContain("inside is 736");
  });

  test("agree where the sizes of what a block adds up do not", () => {
    const r = analysed(`
class Block(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.narrow = nn.Conv2d(inplanes, planes, 1, stride)
        self.wide = nn.Conv2d(planes, planes * 4, 1)

    def forward(self, x):
        out = self.wide(F.relu(self.narrow(x)))
        out += x
        return out
`);
    expect(assumedOf(r, "Block")).toMatch(/inplanes is 256; planes is 64;.*x is float32\[\d+, 256,/);
  });

  test("give up a flag's default where the code refuses it", () => {
    const r = analysed(`
class Deep(nn.Module):
    def __init__(self, width, keep_all=False):
        super().__init__()
        assert keep_all, "only with all of them"
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)
`);
    expect(assumedOf(r, "Deep")).toContain("keep_all is True");
  });

  test("answer in a config with the words that the code compares them with", () => {
    const r = analysed(`
class Net(nn.Module):
    def __init__(self, opt):
        super().__init__()
        if opt.stage == "gated":
            self.stage = nn.GLU(1)
        elif opt.stage == "plain":
            self.stage = nn.ReLU()
        else:
            raise Exception("no stage")

    def forward(self, x):
        return self.stage(x)
`);
    expect(operatorsOf(r, "Net")).toHaveLength(1);
  });

  test("are words that any file compares them with, the analysed one's before others'", () => {
    const texts = [
      { path: "other.py", text: 'if cfg["stage"] == "far": pass\n' },
      { path: "own.py", text: 'if opt.stage in ("near", "far") or opt.depth == 3: pass\n' },
    ];
    const constants = new ProjectConstants(() => texts, "own.py");
    expect(constants.comparedWith("stage")).toEqual({ kind: "str", value: "near" });
    expect(constants.comparedWith("depth")).toEqual({ kind: "number", value: 3, float: false });
    expect(constants.comparedWith("width")).toBeUndefined();
  });

  test("a word that is looked for in an option makes no list of it, a loop over it does", () => {
    const text = 'if "CTC" in opt.kind: pass\nfor i, n in enumerate(opt.depths): pass\nfor w in opt.widths: pass\n';
    const constants = new ProjectConstants(() => [{ path: "own.py", text }], "own.py");
    expect(["kind", "depths", "widths"].map(n => constants.usedAs(["opt"], n))).toEqual([undefined, "list", "list"]);
  });

  test("come from the nearest file of options, constants of other files included", () => {
    const options = (steps: string): string =>
      `import argparse\np = argparse.ArgumentParser()\np.add_argument("--steps", default=${steps})\n` +
      'p.add_argument("--widths", default=[WIDTH, 2 * WIDTH])\np.add_argument("--kinds", default=3)\n';
    const r = analysed(
      `
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        if cfg.steps != 24 or cfg.kinds != 3:
            raise ValueError("other options")
        self.proj = nn.Linear(cfg.widths[0], cfg.widths[1])

    def forward(self, x):
        return self.proj(x)
`,
      { "other/far/run.py": options("[24]"), "pack/run.py": options("24"), "constants.py": "WIDTH = 40\n" },
    );
    expect(framesOf(r, "Net").flatMap(f => f.graph.nodes.map(n => n.target))).toContain("torch._C._nn.linear");
    expect(assumedOf(r, "Net")).toContain("cfg.widths is [40, 80]");
  });
});

test("a vocabulary is no configuration, whatever words it holds", () => {
  const words = Array.from({ length: 1200 }, (_, i) => `w${i}`);
  const ids = Object.fromEntries(["heads", "width", "depth", ...words].map((w, i) => [w, i + 71]));
  const about = (data: unknown): unknown =>
    new ProjectConstants(() => [{ path: "a.json", text: JSON.stringify(data) }]).about(["heads", "width"])("heads");
  expect(about(ids)).toBeUndefined();
  expect(about({ heads: 71, width: 72 })).toEqual({ kind: "number", value: 71, float: false });
});

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

describe("libraries that are not there", () => {
  test("lend layers under torch's own names, but nothing else", () => {
    const r = analysed(`
from some_extras.nn import Linear, Gadget
from transformers.models.qwen2.modeling_qwen2 import Qwen2RMSNorm

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Qwen2RMSNorm(32)
        self.proj = Linear(32, 8)

    def forward(self, x):
        return self.proj(self.norm(x))

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.gadget = Gadget(32)

    def forward(self, x):
        return self.gadget(x)
`);
    expect(operatorsOf(r, "Net")).toContain("torch._C._nn.linear");
    expect(operatorsOf(r, "Net")).toContain("torch.rsqrt");
    expect(framesOf(r, "Other").flatMap(f => f.graph.nodes.map(n => n.meta.opaque ?? ""))).toContainEqual(
      expect.stringContaining("some_extras.nn.Gadget"),
    );
  });
});

test("a module's property may be None", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self, segment=None):
        super().__init__()
        self.segment = segment

    @property
    def length(self):
        return None if self.segment is None else 2 * self.segment

    def forward(self, x):
        return x.relu() if self.length is None else x[..., :self.length]
`);
  expect(operatorsOf(r, "Net")).toEqual(["relu"]);
});

test("a recursion without end is given up at its first depth", () => {
  const r = analysed(`
class Net(nn.Module):
    def forward(self, x):
        return self.again(x)

    def again(self, x):
        return self.again(x + 1)
`);
  const why = r.diagnostics.find(d => d.code === "not-analysed");
  expect(why?.message).toContain("maximum recursion depth exceeded");
});

test("a module that is called with two arguments is one whose forward takes two", () => {
  const r = analysed(`
class PlainEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_features = 64
        self.proj = nn.Linear(32, 64)

    def forward(self, x):
        return self.proj(x)

class MaskedEncoder(PlainEncoder):
    def forward(self, x, mask):
        return self.proj(x) * mask.unsqueeze(-1)

class Net(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.num_features, 10)

    def forward(self, x, mask):
        return self.head(self.encoder(x, mask).mean(1))
`);
  expect(assumedOf(r, "Net")).toContain("encoder is a MaskedEncoder");
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
  expect(assumedOf(r, "Net")).toContain("mask is bool[8, 14, 14]");
});

test("a class that only its subclasses complete runs as one of them, wherever that is", () => {
  const base = `
class Loss(nn.Module):
    def distance(self, x, y):
        raise NotImplementedError

    def forward(self, x, y):
        return self.distance(x, y).mean()
`;
  const derived =
    "from pack.model import Loss\n\nclass Absolute(Loss):\n    def distance(self, x, y):\n        return (x - y).abs()\n";
  const apart = analysed(base, { "pack/losses.py": derived });
  expect(assumedOf(apart, "Loss")).toContain("built by Absolute()");
  expect(operatorsOf(apart, "Loss")).toEqual(["operator.sub", "abs", "mean"]);
});

test("a word that must be one of the module's constants is one of them", () => {
  const r = analysed(`
SUM_MODE = "all together"
MEAN_MODE = "on average"

class Loss(nn.Module):
    def __init__(self, mode):
        super().__init__()
        assert mode in {SUM_MODE, MEAN_MODE}
        self.mode = mode

    def forward(self, x):
        return x.sum() if self.mode == SUM_MODE else x.mean()
`);
  expect(assumedOf(r, "Loss")).toContain('mode is "all together"');
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
