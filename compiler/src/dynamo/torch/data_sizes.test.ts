// Graphs that rest on a size taken for granted say so; the others of the program do not.
import { describe, expect, it } from "vitest";
import { presets } from "../../presets";
import { capture } from "../capture";

const HEAD = "import torch\nkeep = lambda x: x[x > 0]\nx = torch.randn(64, 64, device='cuda')\n";

const COMPILED: Readonly<Record<string, string>> = {
  double: "def double(x):\n    return x * 2\n",
  pair: "def pair(x, y):\n    return x + 1, y.sin()\n",
  like: "def like(x, y):\n    return y[: x.shape[0]] + 1\n",
};

const ALL = "indexing by a mask keeps every element";

/** whether each frame of the program, in order, says that a mask keeps every element */
function marked(body: string): boolean[] {
  const called = Object.keys(COMPILED).filter(name => body.includes(`${name}(`));
  const defined = called.map(name => `@torch.compile\n${COMPILED[name]}`).join("");
  const result = capture("/a.py", {
    files: p => (p === "/a.py" ? HEAD + defined + body : undefined),
    config: new Map(),
    behaviours: new Map(Object.entries(presets["nightly-2026-11"].behaviours)),
    shouldStop: () => false,
    stepBudget: 20_000_000,
  });
  expect(result.diagnostics.filter(d => d.severity === "error")).toEqual([]);
  return result.events.flatMap(e => (e.kind === "frame" ? [e.frame.assumed.includes(ALL)] : []));
}

describe("a size that only the data decides", () => {
  it("is assumed in graphs that take the tensor, or what eager operators and other graphs make of it", () => {
    expect(marked("y = keep(x)\ndouble(y)\n")).toEqual([true]);
    expect(marked("y = keep(x).view(32, 128).relu()\ndouble(y)\n")).toEqual([true]);
    expect(marked("y = double(keep(x))\npair(torch.ones(4096, device='cuda'), y)\n")).toEqual([true, true]);
  });

  it("is nothing to graphs that take other tensors", () => {
    expect(marked("y = keep(x)\ndouble(x)\n")).toEqual([false]);
    expect(marked("keep(x)\nz = double(x)\npair(z, z)\n")).toEqual([false, false]);
  });

  it("is assumed in a frame that reads the size alone, and wherever a number may have come of it", () => {
    expect(marked("like(keep(x), x)\ndouble(x)\n")).toEqual([true, false]);
    expect(marked("n = len(keep(x))\ndouble(torch.ones(n, device='cuda'))\n")).toEqual([true]);
  });

  it("is that of the operator that assumed it, not of one after an operator that failed", () => {
    const failed = "i = torch.tensor([0, 1, 2]).cuda()\ntry:\n    x[x[0] > 0, i]\nexcept IndexError:\n    pass\n";
    expect(marked(`${failed}y = x + 1\ndouble(y)\n`)).toEqual([false]);
  });
});
