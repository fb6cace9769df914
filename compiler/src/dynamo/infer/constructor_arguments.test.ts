// What constructors are given where nobody calls them: sizes that fit each other, words and numbers of the project.
import { describe, expect, test } from "vitest";
import { ProjectConstants } from "./evidence/constants";
import { analysed, assumedOf, framesOf, operatorsOf } from "./testing/analysed";

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

describe("counts and tables", () => {
  test("what a loop counts to is a number of parts, whatever its name is", () => {
    const r = analysed(`
class Stack(nn.Module):
    def __init__(self, N, width=32):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(N)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
`);
    expect(operatorsOf(r, "Stack")).toHaveLength(2);
  });

  test("a constructor that computes a large table in Python comes to its end", () => {
    const r = analysed(`
import numpy as np

def table(n, d):
    return torch.FloatTensor(np.array([[p / np.power(10000, 2 * (j // 2) / d) for j in range(d)] for p in range(n)]))

class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(table(1024, 224))

    def forward(self, positions):
        return self.embed(positions)
`);
    expect(operatorsOf(r, "Positions")).toHaveLength(1);
  });

  test("a module that is called is none that has no forward", () => {
    const r = analysed(`
from torch.nn import Linear, Module

class Inner(Module):
    def forward(self, query, key, state):
        return query * key, state

class Outer(Module):
    def __init__(self, module):
        super().__init__()
        self.inner = module
        self.proj = Linear(16, 16)

    def forward(self, query, key, state=None):
        out, state = self.inner(self.proj(query), self.proj(key), state)
        return out
`);
    expect(operatorsOf(r, "Outer")).toContain("operator.mul");
  });
});

test("what is registered as a buffer is a tensor, and a module by a class's name is taken from other files", () => {
  const r = analysed(
    `
class Prompt(nn.Module):
    def __init__(self, embed):
        super().__init__()
        self.register_buffer("embed", embed)

    def forward(self, x):
        return x + self.embed.unsqueeze(0)

class Perceptual(nn.Module):
    def __init__(self, extractor):
        super().__init__()
        self.extractor = extractor

    def forward(self, image):
        return self.extractor(image)[1].mean()
`,
    {
      "pack/parts.py": `from torch import nn
class SmallExtractor(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)
    def forward(self, image):
        return [image, self.first(image)]
`,
    },
  );
  expect(operatorsOf(r, "Prompt").length).toBe(2);
  expect(assumedOf(r, "Perceptual")).toContain("extractor is a SmallExtractor");
});

describe("arguments that code hands to layers", () => {
  test("weights are tensors of the sizes of the layer that gets them, or of what takes its vectors", () => {
    const r = analysed(`
class Sentences(nn.Module):
    def __init__(self, vocab_size, embedding_length, weights):
        super().__init__()
        self.words = nn.Embedding(vocab_size, embedding_length)
        self.words.weight = nn.Parameter(weights, requires_grad=False)
        self.rnn = nn.Linear(embedding_length, 12)

    def forward(self, sentences):
        return self.rnn(self.words(sentences))

class Vectors(nn.Module):
    def __init__(self, pretrained):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(pretrained)
        self.proj = nn.Linear(100, 12)

    def forward(self, tokens):
        return self.proj(self.words(tokens))
`);
    expect(assumedOf(r, "Sentences")).toMatch(/embedding_length is (\d+); weights is float32\[\d+, \1\]/);
    expect(assumedOf(r, "Vectors")).toMatch(/pretrained is float32\[\d+, 100\]/);
  });

  test("a list holds objects of the class that has what is read of its items, as what is added to it does", () => {
    const r = analysed(
      `
class Model(nn.Module):
    def __init__(self, user_columns, item_columns):
        super().__init__()
        self.width = sum([c.table_width for c in user_columns])
        self.tables = nn.ModuleList([nn.Embedding(c.rows, c.table_width) for c in user_columns + item_columns])
        self.proj = nn.Linear(self.width, 4)

    def forward(self, ids):
        return self.proj(self.tables[0](ids))
`,
      {
        "pack/columns.py":
          "class Column:\n    def __init__(self, rows=50, table_width=6):\n        self.rows = rows\n        self.table_width = table_width\n",
      },
    );
    expect(operatorsOf(r, "Model")).toHaveLength(2);
    expect(assumedOf(r, "Model")).toContain("item_columns is [a Column (columns.py)]");
  });

  test("a module goes by the parameter's name, in files that nothing imports too", () => {
    const r = analysed(
      `
class Beam(nn.Module):
    def __init__(self, decoder_rnn, k=2):
        super().__init__()
        self.rnn, self.k = decoder_rnn, k

    def forward(self, x):
        return self.rnn(x).topk(self.k)[0] * self.rnn.scale
`,
      {
        "pack/decoder.py":
          "from torch import nn\n\nclass DecoderRNN(nn.Module):\n    def __init__(self, width=24):\n        super().__init__()\n        self.scale = 2.0\n        self.out = nn.Linear(width, width)\n\n    def forward(self, x):\n        return self.out(x)\n",
      },
    );
    expect(assumedOf(r, "Beam")).toContain("decoder_rnn is a DecoderRNN (decoder.py)");
  });
});

test("what is refused unless it is of a class is of that class, sizes that are set later are likely ones, and items have parts", () => {
  const r = analysed(
    `
class NetConfig:
    def __init__(self, vocab_size_or_file, width=16):
        self.vocab_size, self.width = vocab_size_or_file, width

    @classmethod
    def from_dict(cls, values):
        made = cls(vocab_size_or_file=-1)
        made.__dict__.update(values)
        return made

class Net(nn.Module):
    def __init__(self, config, *inputs):
        super().__init__()
        if not isinstance(config, NetConfig):
            raise ValueError("config should be an instance of class NetConfig")
        self.embed = nn.Embedding(config.vocab_size, config.width)

    def forward(self, tokens):
        return self.embed(tokens)

class Spectra(nn.Module):
    def __init__(self, resolutions):
        super().__init__()
        self.sizes = [(n_fft, hop) for n_fft, hop in resolutions]

    def forward(self, x):
        return [torch.stft(x, n, h, return_complex=True).abs() for n, h in self.sizes]
`,
  );
  expect(assumedOf(r, "Net")).toContain("config is a NetConfig");
  expect(assumedOf(r, "Spectra")).toContain("resolutions is [(1024, 256), (1024, 256)]");
});

test("the joined nodes of a graph are a square matrix where the module is built, a matrix is what has a shape", () => {
  const r = analysed(`
class Graph(nn.Module):
    def __init__(self, adj, hidden_dim):
        super().__init__()
        self.nodes = adj.shape[0]
        self.register_buffer("laplacian", torch.FloatTensor(adj) + torch.eye(adj.shape[0]))
        self.layer = nn.Linear(1, hidden_dim)

    def forward(self, x):
        batch, steps, nodes = x.shape
        assert nodes == self.nodes
        return self.layer(self.laplacian @ x.transpose(1, 2)[..., :1])

class Weighted(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.embed = nn.Embedding(table.shape[0], table.shape[1])

    def forward(self, tokens):
        return self.embed(tokens)
`);
  expect(assumedOf(r, "Graph")).toMatch(/adj is float32\[4, 4\].*x is float32\[8, \d+, 4\]/);
  expect(assumedOf(r, "Weighted")).toMatch(/table is float32\[64, 64\]/);
});

test("a text is one that parts are looked for in, and a number that does what tensors do is a tensor", () => {
  const r = analysed(`
class Encoder(nn.Module):
    def __init__(self, encoder_type: str):
        super().__init__()
        if "t5" in encoder_type:
            self.layer = nn.Linear(8, 8)
        elif "clip" in encoder_type:
            self.layer = nn.Linear(16, 16)
        else:
            raise ValueError(encoder_type)

    def forward(self, x):
        return self.layer(x)

class Schedule(nn.Module):
    def __init__(self, alphas_cumprod):
        super().__init__()
        self.register_buffer("log_sigmas", ((1 - alphas_cumprod) / alphas_cumprod).log())

    def forward(self, x):
        return x * self.log_sigmas.exp().mean()
`);
  expect(assumedOf(r, "Encoder")).toContain('encoder_type is "t5"');
  expect(assumedOf(r, "Schedule")).toContain("alphas_cumprod is float32[64]");
});

test("widths fit their groups, sizes that are indexed are lists, and what is entered is a context", () => {
  const r = analysed(`
class Norm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.GroupNorm(24, channels)

    def forward(self, x):
        return self.norm(x)

class Stem(nn.Module):
    def __init__(self, img_size=224):
        super().__init__()
        self.cells = (img_size[0] // 16) ** 2

    def forward(self, x):
        return x * self.cells

class Extractor(nn.Module):
    def __init__(self, model, autocast_ctx):
        super().__init__()
        self.model, self.autocast_ctx = model, autocast_ctx

    def forward(self, images):
        with self.autocast_ctx():
            return self.model(images) + 1
`);
  expect(assumedOf(r, "Norm")).toMatch(/channels is (24|48|72|96|192)\b/);
  expect(assumedOf(r, "Stem")).toContain("img_size is [224");
  expect(assumedOf(r, "Extractor")).toContain("autocast_ctx is torch.no_grad");
});

test("a flag that a part asserts is handed on to it by keyword", () => {
  const r = analysed(`
class Block(nn.Module):
    def __init__(self, dim, qk_norm=False):
        super().__init__()
        assert qk_norm
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        return self.proj(x)

class Net(nn.Module):
    def __init__(self, dim=32, **kwargs):
        super().__init__()
        self.block = Block(dim, **kwargs)

    def forward(self, x):
        return self.block(x)
`);
  expect(assumedOf(r, "Net")).toContain("qk_norm is True");
});

test("a function that only loads weights may fail, since none are read", () => {
  const r = analysed(`
def load_pretrained(model, path):
    weights = {k: v for k, v in torch.load(path).items() if k in ("never",)}
    model.lin.weight.data.copy_(weights["lin.weight"][0, 1, 2, "no index"])
    raise KeyError("lin.bias")

class Loaded(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, 8)
        load_pretrained(self, "weights.pth")

    def forward(self, x):
        return self.lin(x)
`);
  expect(assumedOf(r, "Loaded")).toContain("load_pretrained() loads no weights");
});

test("a part is built with the flag that an assertion wants an attribute of it to come of, and a text that a table knows", () => {
  const r = analysed(`
KINDS = {"silu": nn.SiLU}

class Net(nn.Module):
    def __init__(self, width, self_condition=True, learned=False, fourier=False):
        super().__init__()
        self.self_condition = self_condition
        self.conditioned = learned or fourier
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)

class Diffusion(nn.Module):
    def __init__(self, model: Net, config):
        super().__init__()
        assert model.conditioned
        assert not model.self_condition, "not supported"
        self.act = KINDS[config.hidden_act]()
        self.model = model

    def forward(self, x):
        return self.act(self.model(x))
`);
  expect(assumedOf(r, "Diffusion")).toContain("model is a Net with learned True, self_condition False");
  expect(assumedOf(r, "Diffusion")).toContain("config.hidden_act is 'silu'");
});

test("what sets weights up may not fail for a size that nobody knows", () => {
  const r = analysed(`
from nowhere import count

def _initialize_weight(weight, parts):
    weight.data[: weight.shape[0] // parts].zero_()
    weight.data[:parts].zero_()

class Parallel(nn.Module):
    def __init__(self, width=16, parts=None):
        super().__init__()
        if parts is None:
            parts = count()
        self.weight = nn.Parameter(torch.empty(width // parts, width))
        _initialize_weight(self.weight, parts)

    def forward(self, x):
        return F.linear(x, self.weight)
`);
  expect(operatorsOf(r, "Parallel")).toEqual(["torch._C._nn.linear"]);
});
