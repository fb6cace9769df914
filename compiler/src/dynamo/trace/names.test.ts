// What a captured graph's nodes are called, and in which order its inputs come.
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../presets";
import { capture } from "../capture";

/** the nodes' names of the only graph that `f`, defined in `text`, leaves */
function namesOf(text: string, op: "placeholder" | "call"): string[] {
  const result = capture("p.py", {
    files: p => (p === "p.py" ? `import torch\n${text}` : undefined),
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 2e6,
  });
  const frames = result.events.flatMap(e => (e.kind === "frame" ? [e.frame] : []));
  expect(frames).toHaveLength(1);
  return (frames[0]?.graph.nodes ?? []).filter(n => n.op.startsWith(op)).map(n => n.name);
}

describe("a captured graph", () => {
  it("names what sum() and enumerate() go through as their Python texts do", () => {
    const text = `
@torch.compile
def f(x):
    total = sum(x + i for i in range(2))
    for i, _ in enumerate([x.sin(), x.cos()]):
        total = total * (i + 1)
    return total
f(torch.randn(4, device="cuda"))
`;
    expect(namesOf(text, "call")).toEqual(["element", "value", "element_1", "value_1", "x", "x_1", "total", "total_1"]);
  });

  it("does not name a dataclass's values after anything", () => {
    const text = `
from dataclasses import dataclass
@dataclass
class Out:
    a: object
    b: object = None
@torch.compile
def f(x):
    o = Out(x.sin(), b=x.cos())
    return o.a * o.b
f(torch.randn(4, device="cuda"))
`;
    expect(namesOf(text, "call")).toEqual(["sin", "cos", "mul"]);
  });

  it("takes in the tensors inside of a call's tuples behind its other ones", () => {
    const text = `
@torch.compile
def f(x, i, v):
    return x.index_put((i,), v)
f(torch.randn(4, device="cuda"), torch.arange(2, device="cuda"), torch.randn(2, device="cuda"))
`;
    expect(namesOf(text, "placeholder")).toEqual(["l_x_", "l_v_", "l_i_"]);
  });

  it("reaches for an assigned value before the indices in a tuple, and for a checkpoint's arguments before its weights", () => {
    const text = `
from torch.utils.checkpoint import checkpoint
layer = torch.nn.Linear(4, 4, device="cuda")
@torch.compile
def f(cache, pos, x):
    cache[:, pos] = x
    return checkpoint(layer, cache, use_reentrant=False)
f(torch.randn(2, 4, device="cuda"), torch.tensor([1], device="cuda"), torch.randn(2, 1, device="cuda"))
`;
    const names = namesOf(text, "placeholder");
    expect(names.slice(0, 3)).toEqual(["l_cache_", "l_x_", "l_pos_"]);
    expect(names).toHaveLength(5);
  });

  it("asks a tensor of symbolic size how many elements it has", () => {
    const text = `
@torch.compile(dynamic=True)
def f(x):
    return x.sum() / x.numel()
f(torch.randn(4, 5, device="cuda"))
`;
    expect(namesOf(text, "call")).toEqual(["sum_1", "numel", "truediv"]);
  });
});
