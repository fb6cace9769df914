// Kinds of root modules that public code is full of: each is followed to its end although nobody gives it arguments.
import { describe, expect, test } from "vitest";
import { analysed, assumedOf, framesOf, operatorsOf } from "./testing/analysed";

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

test("a size that a docstring takes for a text is a number where a layer refuses the text", () => {
  const r = analysed(`
class Quantized(nn.Linear):
    def __init__(self, input_features, output_features, bias=True):
        """
        Args:
            input_features (\`str\`): Number of input features.
            output_features (\`str\`): Number of output features.
        """
        super().__init__(input_features, output_features, bias)
`);
  expect(operatorsOf(r, "Quantized")).toEqual(["torch._C._nn.linear"]);
});

test("a module that one width makes no layer for gets several", () => {
  const r = analysed(`
class Stack(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = []
        self.width = width
        self.depth = len(width) - 1
        for i in range(self.depth):
            layers.append(nn.Linear(width[i], width[i + 1]))
        self.layers = nn.ModuleList(layers)
    def forward(self, x):
        for i in range(self.depth):
            scale = torch.std(x, dim=0)
            x = self.layers[i](x) + (scale[None, :] * self.layers[i].weight).sum()
        return x
`);
  expect(operatorsOf(r, "Stack").filter(o => o.endsWith("linear")).length).toBeGreaterThan(1);
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

test("a class derived from one without forward stands for it, and what is called is no configuration", () => {
  const r = analysed(`
class Backbone(nn.Module):
    def output_width(self):
        return 8

class Plain(Backbone):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.first(x)

class Detector(nn.Module):
    def __init__(self, backbone: Backbone):
        super().__init__()
        self.backbone = backbone

    def forward(self, images):
        return self.backbone(images).relu()

class Export(nn.Module):
    def __init__(self, model, limit=0.5):
        super().__init__()
        self.model, self.nc = model, model.nc

    def forward(self, x):
        return self.model(x) * self.nc
`);
  expect(operatorsOf(r, "Detector")).toEqual(["torch.conv2d", "relu"]);
  expect(assumedOf(r, "Export")).toContain("model is a module that changes nothing");
});

test("what lies around such a module itself is not what a parameter of its name takes", () => {
  const r = analysed(
    `
class Frames(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.embed_dim = model, model.embed_dim
    def forward(self, x):
        return self.model(x)[:, 0]
class Clips(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.embed_dim = model, model.embed_dim
    def forward(self, x):
        return self.model(x).sum(1)
`,
    {
      "pack/encoder.py": `
import torch.nn as nn
class Pooler(nn.Module):
    def __init__(
        self,
        embed_dim=32,
    ):
        super().__init__()
        self.proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x):
        return self.proj(x)
class Encoder(nn.Module):
    def __init__(self, embed_dim=32):
        super().__init__()
        self.embed_dim = embed_dim
        self.norm = nn.LayerNorm(embed_dim)
    def forward(self, x):
        return self.norm(x)
`,
    },
  );
  for (const root of ["Frames", "Clips"]) expect(operatorsOf(r, root)[0]).toContain("layer_norm");
});
