// What rests on values that nobody knows: sizes out of checkpoints, tokens of unknown tokenizers, dictionaries of any keys,
// arguments that nothing else can stand for.
import { expect, test } from "vitest";
import { analysed, assumedOf, framesOf, operatorsOf } from "./testing/analysed";

test("a part as deep as a checkpoint says gets a likely depth", () => {
  const r = analysed(`
from torch.utils import model_zoo
class Deep(nn.Module):
    def __init__(self, dim, num_layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(dim, dim) for _ in range(num_layers)])
class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        weights = model_zoo.load_url("https://example.org/net.pth")
        self.deep = Deep(dim, len(list(weights.keys())[-1]))
    def forward(self, x):
        for layer in self.deep.layers:
            x = layer(x)
        return x
`);
  expect(operatorsOf(r, "Net")).toEqual(["torch._C._nn.linear", "torch._C._nn.linear"]);
  expect(assumedOf(r, "Net")).toContain("num_layers taken as 2");
});

test("a dictionary that is gone through by its keys, also where a function hands it on", () => {
  const r = analysed(`
class Net(nn.Module):
    def __init__(self, heads, base):
        super().__init__()
        self.heads = heads
        self.scale = {"small": 1, "large": 2}[base]
        for head in self.heads:
            self.add_module(head, nn.Linear(16, self.heads[head]))
    def forward(self, x):
        return {head: getattr(self, head)(x) for head in self.heads}
def net_for(heads):
    return Net(heads, "large")
`);
  expect(assumedOf(r, "Net")).toMatch(/heads is \{"head": \d+\}/);
  expect(operatorsOf(r, "Net")).toHaveLength(1);
});

test("tokens that an unknown tokenizer makes of tokens stay what they are on the device, and masks of them are masks", () => {
  const r = analysed(`
from texts import Tokenizer
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokenizer = Tokenizer.from_pretrained("plain")
        self.embed = nn.Embedding(100, 16)
    def forward(self, text):
        text = self.tokenizer(text, return_tensors="pt").to("cuda")
        ids = text.input_ids.masked_fill(text.input_ids == self.tokenizer.pad_token_id, 0)
        return self.embed(ids)
`);
  const nodes = framesOf(r, "Reader").flatMap(f => f.graph.nodes);
  const opaque = nodes.flatMap(n => n.meta.opaque ?? []);
  expect(opaque).toHaveLength(2);
  expect(opaque[1]).toMatch(/pad_token_id is not known here/);
  expect(operatorsOf(r, "Reader").at(-1)).toMatch(/embedding/);
});

test("a model that nobody knows is an opaque node where it gets its tensors by name", () => {
  const r = analysed(`
from transformers import SomeModel
class Reader(nn.Module):
    def __init__(self, name="plain"):
        super().__init__()
        self.model = SomeModel.from_pretrained(name)
    def forward(self, input_ids=None, attention_mask=None):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).logits
`);
  const nodes = framesOf(r, "Reader").flatMap(f => f.graph.nodes);
  expect(nodes.flatMap(n => n.meta.opaque ?? [])).toEqual([
    "transformers.SomeModel.from_pretrained(...) is not known here",
  ]);
});

test("weights that start from samples of a library that nobody knows keep their sizes", () => {
  const r = analysed(`
import numpy as np
from samples import heavy_tailed
class Layer(nn.Linear):
    def __init__(self, width):
        super().__init__(width, width)
        start = np.reshape(heavy_tailed.rvs(size=width * width), (width, width))
        with torch.no_grad():
            self.weight.copy_(torch.tensor(start, device=self.weight.device))
`);
  expect(operatorsOf(r, "Layer")).toEqual(["torch._C._nn.linear"]);
});

test("what no other value of an argument mends is left unknown, and its calls are opaque", () => {
  const r = analysed(`
from distributions import Output
class Head(nn.Module):
    def __init__(self, width, output: Output):
        super().__init__()
        self.proj = nn.Linear(width, sum(output.args_dim.values()))
        self.map = output.domain_map
    def forward(self, x):
        loc, scale = self.map(self.proj(x)).parts()
        return loc + scale
`);
  const nodes = framesOf(r, "Head").flatMap(f => f.graph.nodes);
  expect(nodes.some(n => n.meta.opaque !== undefined)).toBe(true);
  expect(assumedOf(r, "Head")).toContain("output is what nobody knows");
});

test("an item of a dictionary under a number that nobody knows is one of its items", () => {
  const r = analysed(`
class Scales(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = {n: nn.Softmax(dim=-1) for n in (16, 32)}
    def forward(self, x):
        return self.parts[int(x.argmax())](x) + 1
`);
  expect(operatorsOf(r, "Scales").filter(t => /softmax/.test(t)).length).toBe(1);
});

test("a length that only a computed tensor knows is one all the same", () => {
  const r = analysed(`
class Upsampled(nn.Module):
    def forward(self, x):
        durations = (x * 3).round().long().sum(-1)
        return torch.arange(durations.max(), device=x.device)[None] < durations[:, None]
`);
  expect(operatorsOf(r, "Upsampled").length).toBeGreaterThan(3);
});
