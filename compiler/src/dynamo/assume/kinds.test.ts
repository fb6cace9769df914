// Kinds of root modules that public code is full of: each is followed to its end although nobody gives it arguments.
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../presets";
import { capture } from "../capture";
import type { CapturedFrame, CaptureResult } from "../types";

const HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n";

function analysed(text: string, others: Readonly<Record<string, string>> = {}): CaptureResult {
  const files: Record<string, string> = { ...others, "pack/model.py": HEAD + text };
  return capture("pack/model.py", {
    files: p => files[p],
    project: () => Object.keys(files),
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 40_000_000,
  });
}

function framesOf(r: CaptureResult, name: string): CapturedFrame[] {
  const root = r.roots.find(x => x.name === name);
  return r.events.flatMap(e => (e.kind === "frame" && root?.frames.includes(e.frame.id) ? [e.frame] : []));
}

/** targets of the root's operators, in order */
function operators(r: CaptureResult, name: string): string[] {
  return framesOf(r, name).flatMap(f => f.graph.nodes.flatMap(n => (n.op.startsWith("call") ? [n.target] : [])));
}

const assumed = (r: CaptureResult, name: string): string =>
  r.roots.find(x => x.name === name)?.assumed.join("; ") ?? "";

describe("a module that does nothing by itself", () => {
  test("is analysed in train() where eval() leaves its input alone", () => {
    const r = analysed(`
class Jitter(nn.Module):
    def forward(self, x):
        if self.training:
            x = x * torch.rand(x.size(0), 1, 1, device=x.device)
        return x
`);
    expect(operators(r, "Jitter")).toContain("operator.mul");
    expect(assumed(r, "Jitter")).toContain("in train() with grad");
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
    expect(operators(r, "Tagged")).toEqual(["operator.mul"]);
    expect(assumed(r, "Tagged")).toContain("a module that scales its input");
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
    expect(operators(r, "Net")).toHaveLength(2);
  });

  test("is that of all its cells where it is marked with # %%", () => {
    const r = analysed(
      "# %%\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n# %%\nprint('done')\n",
    );
    expect(operators(r, "Net")).toEqual(["relu"]);
  });
});

describe("idioms of older code", () => {
  test("casts by tensor types, on the device that they name", () => {
    const r = analysed(`
class Net(nn.Module):
    def forward(self, x):
        mask = torch.tril(torch.ones(x.size(-1), x.size(-1))).type(torch.ByteTensor)
        return x * mask.type(torch.cuda.FloatTensor).to(x.device), torch.cuda.FloatTensor(2, 3).to(x.device)
`);
    const values = framesOf(r, "Net").flatMap(f => f.graph.nodes.map(n => n.meta.val));
    const dtypes = values.flatMap(v => (typeof v === "object" && v !== null && "dtype" in v ? [v.dtype] : []));
    expect(dtypes).toContain("uint8");
  });

  test("an assertion about a tensor's values leaves what stands behind it its variables", () => {
    const r = analysed(`
class Net(nn.Module):
    def forward(self, x):
        out = F.pad(x, (1, 1))
        assert (out[..., 1:-1] == x).all()
        return out * 2
`);
    expect(operators(r, "Net")).toContain("operator.mul");
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
    expect(operators(r, "Boxes")).toContain("operator.add");
  });
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
