// What the fuzzers found, each as the smallest program that showed it.
import { defaultSessionOptions, type Program, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";

function run(text: string, shouldStop = () => false): Program {
  return new Session(p => (p === "/m.py" ? text : undefined), defaultSessionOptions()).run("/m.py", { shouldStop });
}

const messages = (text: string): string[] => run(text).diagnostics.map(d => d.message);
const faults = (text: string): string[] => messages(text).filter(m => m.includes("failed here"));

describe("what does not fit raises MemoryError", () => {
  it.each([
    ["a list that doubles itself", "x = [1]\nfor i in range(64):\n    x = x + x\n"],
    ["a list that grows by itself", "x = [1]\nfor i in range(64):\n    x += x\n"],
    ["a tuple that doubles itself", "x = (1,)\nfor i in range(64):\n    x = x + x\n"],
    ["bytes that double themselves", "x = b'a'\nfor i in range(64):\n    x = x + x\n"],
    ["a string that doubles itself", "x = 'a'\nfor i in range(64):\n    x = x + x\n"],
    ["a number that squares itself", "x = 3\nfor i in range(64):\n    x = x * x\n"],
    ["a power of a large number", "x = (10**20000)**20000\n"],
    ["a format width", "x = f'{1:>1000000000000}'\n"],
    ["a printf width", "x = '%1000000000000d' % 1\n"],
    ["a justified string", "x = 'a'.ljust(10**12)\n"],
    ["a joined string", "x = ('a' * 10**6).join(['b'] * 10**6)\n"],
    ["a replaced string", "x = ('a' * 10**6).replace('a', 'b' * 10**6)\n"],
    ["a product of ranges", "import itertools\nx = itertools.product(range(1000), repeat=8)\n"],
  ])("%s", (_, text) => {
    expect(messages(text).join()).toContain("MemoryError");
  });

  it("and the rest of the program still stands", () => {
    const program = run("x = [0] * 10**12\n\n\nimport torch\n\n\n@torch.compile\ndef f(x):\n    return x + 1\n");
    expect(program.roots.map(r => r.name)).toContain("f");
  });
});

describe("patterns that backtrack without end", () => {
  it.each(["(a+)+$", "(a|a)*$", "(a|b|ab)*c", "a*a*a*a*a*a*a*b"])("are refused: %s", pattern => {
    expect(messages(`import re\nre.match(r'${pattern}', 'a' * 64 + 'b')\n`).join()).toMatch(/too complex/);
  });

  it("are told from patterns as models have them", () => {
    const text = "import re\nprint(re.sub(r'layers\\.(\\d+)\\.(\\w+)', r'h.\\1.\\2', 'layers.12.attn.weight'))\nprint(re.findall(r'(?:foo|bar)', 'foo bar'))\n"; // biome-ignore format: one program
    expect(messages(text)).toEqual([]);
  });
});

describe("syntax", () => {
  it.each([
    ["brackets", `x = ${"(".repeat(3000)}1${")".repeat(3000)}\n`],
    ["sums", `x = ${"1 + ".repeat(3000)}1\n`],
    ["calls", `x = f${"()".repeat(3000)}\n`],
    [
      "blocks",
      `${Array.from({ length: 1500 }, (_, i) => `${" ".repeat(i)}if x:`).join("\n")}\n${" ".repeat(1500)}pass\n`,
    ],
  ])("that is nested too deeply is a diagnostic, and the next statement stands: %s", (_, text) => {
    const program = run(`${text}print("after")\n`);
    expect(program.diagnostics.map(d => d.code)).toContain("syntax");
    expect(program.events.filter(e => e.kind === "print")).toHaveLength(1);
  });

  it("takes a bare CR for a line's end, as Python does", () => {
    const lines = ["import torch", "", "@torch.compile", "def f(x):", "    return x.sin() + 1", "", "f(torch.randn(8, device='cuda'))", ""]; // biome-ignore format: a program
    expect(run(lines.join("\r")).report.graphs).toEqual(run(lines.join("\n")).report.graphs);
  });

  it("costs no more for many decorators than for their number", () => {
    expect(messages(`${"@d\n".repeat(3000)}def f(): pass\n`)).toEqual(["NameError: name 'd' is not defined"]);
  });
});

describe("a run that was told to stop", () => {
  it.each([
    ["while it parses", "x = 1\u2028".repeat(20_000)],
    ["while it converts", "x = 1\n".repeat(50_000)],
    ["while it compiles", `import torch\n\n\n@torch.compile\ndef f(x):\n${"    x = x.sin() * 2\n".repeat(50)}    return x\n\n\nf(torch.randn(8, device='cuda'))\n`], // biome-ignore format: one program
  ])("gives up %s, and a later run of the session is whole", (_, text) => {
    let asked = 0;
    const session = new Session(p => (p === "/m.py" ? text : undefined), defaultSessionOptions());
    session.run("/m.py", { shouldStop: () => ++asked > 20 });
    expect(asked).toBeLessThan(5000);
    session.update("/m.py", "import torch\n\n\n@torch.compile\ndef g(x):\n    return x + 1\n\n\ng(torch.randn(8, device='cuda'))\n"); // biome-ignore format: one program
    expect(session.run("/m.py").report.graphs.map(g => g.name)).toEqual(["g"]);
  });
});

describe("no fault of ours", () => {
  it.each([
    ["a comprehension in a type alias", "type A = [x for x in (1, 2)]\n"],
    [
      "attention of one-dimensional tensors",
      "import torch\nimport torch.nn as nn\n\n\nclass M(nn.Sequential):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.TransformerEncoderLayer(16, 4)\n\n\ntorch.compile(M())(torch.arange(64, device='cuda'))\n",
    ],
    [
      "a graph break inside of autocast",
      "import torch\n\n\ndef f(x):\n    with torch.autocast(''):\n        torch._dynamo.graph_break()\n        return x + 1\n\n\ntorch.compile(f)(torch.randn(8, device='cuda'))\n",
    ],
  ])("%s", (_, text) => {
    expect(faults(text)).toEqual([]);
  });
});
