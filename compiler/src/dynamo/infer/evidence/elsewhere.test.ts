// What other files of a project show of a class: how its examples are found, and that a root which guesses don't reach is
// analysed with what they give.
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../../presets";
import { capture } from "../../capture";
import { analysedProject } from "../testing/analysed";
import { ProjectConstants } from "./constants";
import { examplesOf } from "./elsewhere";

/** its constructor takes one word of a secret kind, and its input one size */
const PICKY = `
import torch
from torch import nn

class Picky(nn.Module):
    def __init__(self, plan):
        super().__init__()
        if not (isinstance(plan, dict) and plan["kind"] == "twofold" and plan["sizes"][1] == 24):
            raise ValueError("no such plan")
        self.proj = nn.Linear(plan["sizes"][1], 8)

    def forward(self, x):
        return self.proj(x).relu()
`;

describe("examples elsewhere in the project", () => {
  test("come from the README's Python blocks and from files that build the class, not from other languages", () => {
    const files: Record<string, string> = {
      "README.md": "```bash\npip install Net()\n```\nText\n```python\nfrom pack.model import Net\nNet(3)\n```\n",
      "train.py": "from pack.model import Net\nnet = Net(4)\n",
      "other.py": "x = 1\n",
      "pack/model.py": "class Net: pass\n",
    };
    const found = examplesOf("Net", "pack/model.py", Object.keys(files), p => files[p]);
    expect(found.map(e => e.shown)).toEqual(["README.md", "train.py"]);
    expect(found[0]?.text).toContain("Net(3)");
    expect(found[0]?.text).not.toContain("pip");
  });

  test("a function that builds the class from arguments leads to who calls it", () => {
    const files: Record<string, string> = {
      "factory.py": "from pack.model import Net\ndef make_net(width):\n    return Net(width)\n",
      "run.py": "from factory import make_net\nmake_net(7)\n",
      "pack/model.py": "class Net: pass\n",
    };
    const found = examplesOf("Net", "pack/model.py", Object.keys(files), p => files[p]);
    expect(found.map(e => e.shown)).toContain("run.py");
  });

  test("give the arguments and the inputs of a root that guesses don't reach", () => {
    const readme =
      '```python\nimport torch\nfrom pack.model import Picky\nnet = Picky({"kind": "twofold", "sizes": (3, 24)})\nnet(torch.randn(5, 24))\n```\n';
    const alone = analysedProject({ "pack/model.py": PICKY });
    expect(alone.roots.map(r => r.name)).not.toContain("Picky");
    const shown = analysedProject({ "pack/model.py": PICKY, "README.md": readme });
    const root = shown.roots.find(r => r.name === "Picky");
    expect(root?.assumed).toContain("as README.md calls it");
    const frame = shown.events.flatMap(e =>
      e.kind === "frame" && root?.frames.includes(e.frame.id) ? [e.frame] : [],
    )[0];
    const sizes = frame?.inputs.flatMap(i => (typeof i.value === "object" && i.value !== null ? [i.value.sizes] : []));
    expect(sizes).toContainEqual([5, 24]);
  });

  test("what the example prints and compiles is not the program's", () => {
    const readme =
      '```python\nfrom pack.model import Picky\nprint("loud")\nPicky({"kind": "twofold", "sizes": (3, 24)})\n```\n';
    const shown = analysedProject({ "pack/model.py": PICKY, "README.md": readme });
    expect(shown.events.some(e => e.kind === "print")).toBe(false);
  });
});

describe("sys.modules", () => {
  test("holds the program's own module and those that it imports, as decorators of classes look them up", () => {
    const decorated =
      "import sys\nimport torch\nfrom marks import mark\n@mark\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n";
    const marks =
      "import sys\ndef mark(cls):\n    assert cls.__module__ in sys.modules and __name__ in sys.modules\n    return cls\n";
    const result = analysedProject({ "pack/model.py": decorated, "pack/marks.py": marks });
    expect(result.roots.map(r => r.name)).toEqual(["M"]);
  });
});

describe("literals of a project", () => {
  const texts = [
    { path: "a.json", text: '{"rates": [8, 2], "width": 512, "drop": 0.5, "deep": {"kind": "wide"}}' },
    { path: "b.yaml", text: "model:\n  depth: 12   # blocks\n  heads: 6\n  sizes:\n    - 3\n    - 5\n  fast: true\n" },
    {
      path: "c.py",
      text: 'make(n_mels=80, layers=(1, 2), mode="sum")\nparser.add_argument("--lr-steps", default=-7)\n',
    },
  ];
  const about = (...names: string[]) => new ProjectConstants(() => texts).about(names);

  test("are read from JSON, YAML, calls and options", () => {
    const number = (value: number, float = false) => ({ kind: "number", value, float });
    expect(about("rates", "width")("rates")).toEqual({ kind: "seq", items: [number(8), number(2)], tuple: false });
    expect(about("drop", "kind")("drop")).toEqual(number(0.5, true));
    expect(about("drop", "kind")("kind")).toEqual({ kind: "str", value: "wide" });
    expect(about("depth", "heads")("depth")).toEqual(number(12));
    expect(about("sizes", "fast")("sizes")).toEqual({ kind: "seq", items: [number(3), number(5)], tuple: false });
    expect(about("n_mels", "layers")("layers")).toEqual({ kind: "seq", items: [number(1), number(2)], tuple: true });
    expect(about("lr_steps", "mode")("lr_steps")).toBeUndefined();
    expect(about("n_mels", "lr_steps", "mode")("mode")).toEqual({ kind: "str", value: "sum" });
  });

  test("a file that knows few of the names that belong together is not asked", () => {
    expect(about("depth", "one", "two", "three", "four", "five")("depth")).toBeUndefined();
  });
});

describe("budgets", () => {
  const ways: Readonly<Record<string, string>> = {
    "a loop at module level": "while True:\n    x = 1\n",
    "a recursion":
      "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError:\n    while True:\n        pass\n",
    "a loop in forward":
      "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        while True:\n            x = x + 1\n",
    "a loop in a constructor":
      "import torch\nclass M(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        while n != 0:\n            n = n + 1\n    def forward(self, x):\n        return x\n",
  };
  for (const [name, text] of Object.entries(ways)) {
    test(`${name} without end ends within the steps of two seconds, with a diagnostic`, () => {
      let polls = 0;
      const result = capture("pack/model.py", {
        files: p => (p === "pack/model.py" ? text : undefined),
        config: defaultConfig("torch-2.11"),
        behaviours: new Map(),
        // asked every 1,024 steps, so the polls count the steps
        shouldStop: () => ++polls > 40_000,
        stepBudget: 20_000_000,
      });
      expect(polls).toBeLessThan(10_000);
      expect(result.diagnostics.some(d => d.code === "stopped" || d.code === "not-analysed")).toBe(true);
    });
  }
});

describe("functions and tests of other files", () => {
  const model = { "pack/model.py": PICKY, "pack/__init__.py": "" };
  const rests = (files: Readonly<Record<string, string>>): string =>
    analysedProject({ ...model, ...files })
      .roots.find(r => r.name === "Picky")
      ?.assumed.join("; ") ?? "";
  // no literal that could be taken as it is
  const PLAN = 'dict([("kind", "twofold"), ("sizes", [1, 24])])';
  const HEAD = "import torch\nfrom pack.model import Picky\n";

  test("a main function goes on after a statement that fails", () => {
    const train = `${HEAD}
def main():
    data = open("nowhere.bin").read()
    rows = data.split()
    plan = ${PLAN}
    net = Picky(plan)
    for row in rows:
        net(row)
    return net

if __name__ == "__main__":
    main()
`;
    expect(rests({ "train.py": train })).toContain("as train.py builds it");
  });

  test("a test gets its first parameters", () => {
    const tests = `${HEAD}import pytest
@pytest.mark.parametrize("kind, sizes", [("twofold", [1, 24]), ("single", [1])])
@pytest.mark.parametrize("rows", [3])
def test_picky(kind, sizes, rows):
    assert Picky({"kind": kind, "sizes": sizes})(torch.randn(rows, 24)).shape == (rows, 8)
`;
    expect(rests({ "tests/test_model.py": tests })).toContain("as test_model.py calls it");
  });

  test("a test method gets what its setUp makes", () => {
    const tests = `${HEAD}import unittest
class ModelTest(unittest.TestCase):
    def setUp(self):
        self.plan = ${PLAN}

    def test_shapes(self):
        net = Picky(self.plan)
        y = net(torch.randn(5, 24))
        self.assertEqual(y.shape, (5, 8))
`;
    expect(rests({ "tests/test_model.py": tests })).toContain("as test_model.py calls it");
  });

  test("a factory of another file gets inferred arguments", () => {
    const factory = `${HEAD}
def picky_net(name):
    plans = {"plain": ${PLAN}}
    if name not in plans:
        raise KeyError("unknown name, should be one of: " + ", ".join(plans))
    return Picky(plans[name])
`;
    expect(rests({ "factory.py": factory })).toContain('built by picky_net(); name is "plain"');
  });
});

test("a script shows how a class is built although the data that it loads before are not there", () => {
  const script = `
from pack.model import Picky

def load(path):
    with open(path) as f:
        return f.read(), 3

def build(plan, words):
    return Picky(plan)

if __name__ == "__main__":
    sizes = [3]
    sizes.append(24)
    words, count = load("words.txt")
    net = build({"kind": "twofold", "sizes": sizes, "count": len(words) if words else count}, words)
`;
  const r = analysedProject({
    "pack/model.py": PICKY.replace('plan["kind"] ==', 'plan["count"] != 0 and plan["kind"] =='),
    "train.py": script,
  });
  expect(r.roots.map(x => x.name)).toContain("Picky");
});
