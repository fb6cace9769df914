// Real programs made wrong: cut, doubled, spliced, nested, with the characters and line ends that text editors, tools and
// attackers leave in files.
import type { Random } from "../random";

export const ODD = ["\r", "\f", "\v", "\0", "\u2028", "\u2029", "\u0085", "\ufeff", "\x1b[31m", "\ud800", "\udfff", "😀", "e\u0301", "\u202e", "\t", "\\\n", "\\", "'", '"', "'''", '"""', "`", "#", ";;", "{", "}", "(", ")", "[", "]", ":", ":=", "->", "@", "**", "*", "%", "$", "?", "!", "\u00a0", "\u3000", "\x7f"]; // biome-ignore format: a table

type Mutation = (text: string, r: Random, others: readonly string[]) => string;

const lines = (text: string): string[] => text.split("\n");
const place = (text: string, r: Random): number => r.below(text.length + 1);

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  truncate: (t, r) => t.slice(0, place(t, r)),
  insertOdd: (t, r) => splice(t, place(t, r), 0, r.pick(ODD).repeat(r.pick([1, 1, 1, 2, 50]))),
  deleteRange: (t, r) => splice(t, place(t, r), r.between(1, 40), ""),
  duplicateLine: (t, r) => editLine(t, r, l => `${l}\n${l}`),
  deleteLine: (t, r) => editLine(t, r, () => ""),
  swapLines: (t, r) => {
    const all = lines(t);
    const [i, j] = [r.below(all.length), r.below(all.length)];
    [all[i], all[j]] = [all[j] ?? "", all[i] ?? ""];
    return all.join("\n");
  },
  indent: (t, r) => editLine(t, r, l => r.pick(["    ", "\t", " ", "        "]) + l),
  dedent: (t, r) => editLine(t, r, l => l.replace(/^\s{1,4}/, "")),
  number: (t, r) => replaceOne(t, r, /\d+/g, () => r.pick(["0", "1", "-1", "2", "999999999999", "7", "1e9", "2**62", "None"])),
  identifier: (t, r) => replaceOne(t, r, /\b[a-z_]\w*\b/gi, () => r.pick(t.match(/\b[a-z_]\w*\b/gi) ?? ["x"])),
  operator: (t, r) => replaceOne(t, r, /[-+*/@%<>=]/g, () => r.pick(["+", "-", "*", "/", "@", "**", "==", "<", "%", "//"])),
  string: (t, r) => replaceOne(t, r, /(["'])[^"'\n]*\1/g, () => r.pick(["''", '"cpu"', "'meta'", "'float16'", "b''", "None"])),
  crlf: t => t.replace(/\n/g, "\r\n"),
  cr: t => t.replace(/\n/g, "\r"),
  mixedEnds: (t, r) => t.replace(/\n/g, () => r.pick(["\n", "\r\n", "\r", "\f\n", "\u2028"])),
  bom: t => `\ufeff${t}`,
  splice: (t, r, others) => {
    const other = r.pick(others);
    return t.slice(0, place(t, r)) + other.slice(place(other, r));
  },
  nestBrackets: (t, r) => splice(t, place(t, r), 0, r.pick(["(", "[", "{", "((((", "lambda: ", "not ", "-", "x("]).repeat(r.pick([5, 100, 2000]))),
  nestBlocks: (t, r) => {
    const depth = r.pick([10, 60, 150]);
    const head = Array.from({ length: depth }, (_, i) => `${" ".repeat(i)}${r.pick(["if x:", "for q in x:", "while q:", "def g():", "class G:", "with x:", "try:"])}`); // biome-ignore format: one choice
    return `${t}\n${head.join("\n")}\n${" ".repeat(depth)}pass\n`;
  },
  longLine: (t, r) => editLine(t, r, l => `${l}  # ${"x".repeat(r.pick([1000, 100_000]))}`),
  longExpression: (t, r) => editLine(t, r, l => (/^\s+\w+ = /.test(l) ? `${l}${" + x".repeat(r.pick([50, 1000]))}` : l)),
  manyArguments: (t, r) => `${t}\nprint(${Array.from({ length: r.pick([100, 5000]) }, (_, i) => `a${i}`).join(", ")})\n`,
  repeatFile: (t, r) => t.repeat(r.pick([2, 10])),
}; // biome-ignore format: a table

export const MUTATION_NAMES = Object.keys(MUTATIONS);

export function mutate(text: string, r: Random, others: readonly string[]): string {
  let out = text;
  for (let i = r.between(1, 4); i > 0; i--) {
    const name = r.pick(MUTATION_NAMES);
    out = (MUTATIONS[name] as Mutation)(out, r, others);
    if (out.length > 400_000) return out.slice(0, 400_000);
  }
  return out;
}

/** Texts of an extreme size or shape, one for each index. */
export const EXTREMES: readonly (readonly [name: string, make: () => string])[] = [
  ["a line of 1 MB in a comment", () => `# ${"x".repeat(1 << 20)}\n`],
  ["a line of 1 MB in a string", () => `s = "${"x".repeat(1 << 20)}"\n`],
  ["a line of 1 MB of sums", () => `import torch\n\n\ndef f(x):\n    return ${"x + ".repeat(1 << 18)}x\n`],
  ["a name of 1 MB", () => `${"x".repeat(1 << 20)} = 1\n`],
  ["a number of 100 kB", () => `x = ${"9".repeat(100_000)}\n`],
  ["a file of 1 MB of assignments", () => "x = 1\n".repeat(1 << 18).slice(0, 1 << 20)],
  ["a file of 1 MB of functions", () => Array.from({ length: 20_000 }, (_, i) => `def f${i}(x):\n    return x + ${i}\n`).join("\n")],
  ["a list of 200,000 elements", () => `x = [${"1, ".repeat(200_000)}]\n`],
  ["100,000 open brackets", () => "(".repeat(100_000)],
  ["100,000 brackets, closed", () => `x = ${"(".repeat(100_000)}1${")".repeat(100_000)}\n`],
  ["a lambda in a lambda, 20,000 deep", () => `x = ${"lambda: ".repeat(20_000)}1\n`],
  ["100,000 minus signs", () => `x = ${"-".repeat(100_000)}1\n`],
  ["a chain of 50,000 attributes", () => `x = a${".b".repeat(50_000)}\n`],
  ["a chain of 50,000 calls", () => `x = f${"()".repeat(50_000)}\n`],
  ["5,000 nested blocks", () => `${Array.from({ length: 5_000 }, (_, i) => `${" ".repeat(i)}if x:`).join("\n")}\n${" ".repeat(5_000)}pass\n`],
  ["10,000 elifs", () => `if x:\n    pass\n${"elif x:\n    pass\n".repeat(10_000)}`],
  ["50,000 decorators", () => `${"@d\n".repeat(50_000)}def f(): pass\n`],
  ["an f-string in an f-string, 500 deep", () => `x = ${'f"{'.repeat(500)}1${'}"'.repeat(500)}\n`],
  ["only form feeds", () => "\f".repeat(100_000)],
  ["only NUL", () => "\0".repeat(100_000)],
  ["only bare CR", () => "x = 1\r".repeat(100_000)],
  ["only U+2028", () => "x = 1\u2028".repeat(100_000)],
  ["only lone surrogates", () => "\ud800".repeat(100_000)],
  ["only backslashes and line ends", () => "\\\n".repeat(100_000)],
  ["only spaces", () => " ".repeat(1 << 20)],
  ["an endless loop", () => "while True:\n    pass\n"],
  ["an endless loop in a compiled function", () => "import torch\n\n\n@torch.compile\ndef f(x):\n    while True:\n        x = x + 1\n    return x\n\n\nf(torch.randn(4, device='cuda'))\n"],
  ["endless recursion", () => "def f(x):\n    return f(x)\n\n\nf(1)\n"],
  ["a list that doubles itself", () => "x = [1]\nfor i in range(64):\n    x = x + x\n"],
  ["a string that doubles itself", () => "x = 'a'\nfor i in range(64):\n    x = x + x\n"],
  ["a number that squares itself", () => "x = 3\nfor i in range(64):\n    x = x * x\n"],
  ["a power of powers", () => "x = 9**9**9**9\n"],
  ["a shift by 2**40", () => "x = 1 << 2**40\n"],
  ["a repetition of 10**12", () => "x = [0] * 10**12\ny = 'a' * 10**12\n"],
  ["a range of 10**12 as a list", () => "x = list(range(10**12))\n"],
  ["a format width of 10**12", () => "x = f'{1:>1000000000000}'\ny = '%1000000000000d' % 1\nz = 'a'.ljust(10**12)\n"],
  ["a product of 8 ranges", () => "import itertools\nx = list(itertools.product(range(1000), repeat=8))\n"],
  ["a tensor of 2**62 elements", () => "import torch\n\n\n@torch.compile\ndef f(x):\n    return x + 1\n\n\nf(torch.empty(2**31, 2**31, device='cuda'))\n"],
  ["a nested comprehension that never ends", () => "x = [a for a in iter(int, 1)]\n"],
  ["a regular expression that backtracks", () => "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')\n"],
  ["a class that is its own base", () => "class A(A):\n    pass\n\n\nA()\n"],
  ["a cycle of modules", () => "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = self\n\n    def forward(self, x):\n        return self.m(x)\n\n\nM()\n"],
  ["a unique graph of 3,000 operators", () => `import torch\n\n\n@torch.compile\ndef f(x):\n${"    x = x.sin() * 2\n".repeat(1500)}    return x\n\n\nf(torch.randn(64, 64, device='cuda'))\n`],
]; // biome-ignore format: a table

/** Bytes that are no UTF-8, or say so. */
export const ENCODINGS: readonly (readonly [name: string, make: (text: string) => Buffer])[] = [
  ["UTF-8 with BOM", t => Buffer.from(`\ufeff${t}`, "utf8")],
  ["UTF-16 little endian with BOM", t => Buffer.from(`\ufeff${t}`, "utf16le")],
  ["UTF-16 big endian with BOM", t => Buffer.from(`\ufeff${t}`, "utf16le").swap16()],
  ["Latin-1 with a cookie", t => Buffer.from(`# -*- coding: latin-1 -*-\n# \xe9\xff\n${t}`, "latin1")],
  ["a cookie that lies", t => Buffer.from(`# -*- coding: utf-7 -*-\n${t}`, "utf8")],
  ["bytes that are no UTF-8", t => Buffer.concat([Buffer.from(t), Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x80, 0x0a])])],
  ["an overlong encoding", t => Buffer.concat([Buffer.from([0x23, 0xc0, 0x80, 0x0a]), Buffer.from(t)])],
  ["half a character at the end", t => Buffer.concat([Buffer.from(`${t}# `), Buffer.from([0xe2, 0x82])])],
  ["CRLF", t => Buffer.from(t.replace(/\n/g, "\r\n"))],
  ["bare CR", t => Buffer.from(t.replace(/\n/g, "\r"))],
  ["NUL between the lines", t => Buffer.from(t.replace(/\n/g, "\0\n"))],
  ["a form feed before each line", t => Buffer.from(t.replace(/^/gm, "\f"))],
  ["bytes at random", t => Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 167 + t.length * 31) & 255))],
  ["nothing", () => Buffer.alloc(0)],
]; // biome-ignore format: a table

function splice(text: string, at: number, remove: number, insert: string): string {
  return text.slice(0, at) + insert + text.slice(at + remove);
}

function editLine(text: string, r: Random, edit: (line: string) => string): string {
  const all = lines(text);
  const i = r.below(all.length);
  all[i] = edit(all[i] ?? "");
  return all.join("\n");
}

function replaceOne(text: string, r: Random, what: RegExp, by: () => string): string {
  const found = [...text.matchAll(what)];
  if (!found.length) return text;
  const m = r.pick(found);
  return splice(text, m.index, m[0].length, by());
}
