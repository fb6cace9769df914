// Programs that nobody would write: Python from a grammar, with torch in it. Most are valid and many compile; operators
// come from the compiler's own table, with arguments that fit now and then.
import type { Random } from "../random";

const NAMES = ["x", "y", "z", "w", "a", "b", "h", "out", "mask", "n", "i", "self", "_", "été", "名", "class_", "type"];
const DTYPES = ["float32", "float16", "bfloat16", "float64", "int64", "int32", "bool", "uint8", "complex64", "int8"];
const SIZES = ["1", "2", "3", "7", "8", "16", "64", "128", "1000", "0", "-1", "n", "x.shape[0]", "x.size(-1)"];
const NUMBERS = ["0", "1", "-1", "2", "3.5", "1e-5", "1e400", "float('nan')", "-float('inf')", "2**70", "0x7fffffff", "1j", "True", "10**30"]; // biome-ignore format: a table
const TEXTS = ["'a'", '"sum"', "'mean'", "'none'", "'ij,jk->ik'", "'cuda'", "b'x'", "f'{x}'", "''", "'...'", "r'\\d'"];

export interface Vocabulary {
  /** "torch.add", "Tensor.add", "torch.nn.functional.relu", ...: every spelling that the compiler knows */
  readonly spellings: readonly string[];
}

export function program(r: Random, words: Vocabulary): string {
  return new Writer(r, words).program();
}

class Writer {
  private depth = 0;

  constructor(
    private readonly r: Random,
    private readonly words: Vocabulary,
  ) {}

  program(): string {
    const { r } = this;
    const parts = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F"];
    if (r.chance(0.2)) parts.push(r.pick(["from __future__ import annotations", "import math, os, sys", "from .other import *", "import numpy as np"])); // biome-ignore format: one choice
    const kinds = r.many(1, 3, () => r.weighted([[5, () => this.compiled()], [3, () => this.module()], [1, () => this.statement(0)]])); // biome-ignore format: one choice
    return `${[...parts, ...kinds].join("\n")}\n`;
  }

  private compiled(): string {
    const { r } = this;
    const decorator = r.pick(["@torch.compile", "@torch.compile", "@torch.compile(dynamic=True)", "@torch.compile(fullgraph=True)", "@torch.no_grad()", "", "@torch.compile(mode='max-autotune')"]); // biome-ignore format: one choice
    const body = this.block(1, 1, 8);
    const call = `f(${this.tensor()}, ${this.tensor()}${r.chance(0.3) ? `, n=${r.pick(NUMBERS)}` : ""})`;
    const after = r.chance(0.25) ? `${call}.sum().backward()` : call;
    return `${decorator}\ndef f(x, y, n=3, *rest, **kw):\n${body}\n    return ${this.expression()}\n${after}`;
  }

  private module(): string {
    const { r } = this;
    const layers = r.many(1, 4, i => `        self.l${i} = ${this.layer()}`).join("\n");
    const uses = r.many(1, 4, i => `        x = self.l${i}(${r.chance(0.9) ? "x" : this.expression()})`).join("\n");
    const base = r.pick(["nn.Module", "nn.Module", "nn.Module", "nn.Sequential", "object", "nn.ModuleList"]);
    const end = r.pick(["", `\nM()(${this.tensor()})`, `\nm = torch.compile(M()).cuda()\nm(${this.tensor()}).sum().backward()`]); // biome-ignore format: one choice
    return `class M(${base}):\n    def __init__(self, d=${r.pick(SIZES)}):\n        super().__init__()\n${layers}\n    def forward(self, x, y=None):\n${uses}\n${this.block(2, 0, 3)}\n        return ${this.expression()}${end}`;
  }

  private layer(): string {
    const { r } = this;
    const n = () => r.pick(["8", "16", "64", "128", "3", "0", "d"]);
    return r.pick([
      `nn.Linear(${n()}, ${n()})`, `nn.Conv2d(${n()}, ${n()}, 3, padding=${n()})`, `nn.LayerNorm(${n()})`, `nn.BatchNorm2d(${n()})`, `nn.Embedding(${n()}, ${n()})`, `nn.GRU(${n()}, ${n()})`, "nn.GELU()", `nn.Dropout(${r.pick(NUMBERS)})`, `nn.ModuleList([nn.Linear(8, 8) for _ in range(${r.pick(SIZES)})])`, `nn.Parameter(${this.tensor()})`, `nn.MultiheadAttention(${n()}, ${n()})`, `nn.TransformerEncoderLayer(${n()}, 4)`, `nn.Sequential(nn.Linear(8, ${n()}), nn.ReLU())`,
    ]); // biome-ignore format: a table
  }

  private block(level: number, low: number, high: number): string {
    const lines = this.r.many(Math.max(1, low), Math.max(1, high), () => this.statement(level));
    return lines.join("\n");
  }

  private statement(level: number): string {
    const { r } = this;
    const pad = "    ".repeat(level);
    this.depth += 1;
    const deep = this.depth > 5;
    const e = () => this.expression();
    const name = r.pick(NAMES);
    const text = r.weighted<string>([
      [10, () => `${pad}${name} = ${e()}`],
      [3, () => `${pad}x = ${this.operator()}`],
      [2, () => `${pad}${name} ${r.pick(["+", "-", "*", "/", "//", "%", "@", "**", "|", "<<"])}= ${e()}`],
      [1, () => `${pad}${name}, *${r.pick(NAMES)} = ${e()}`],
      [1, () => `${pad}${name}[${this.subscript()}] = ${e()}`],
      [1, () => `${pad}print(${e()})`],
      [1, () => `${pad}${r.pick(["pass", "...", "global x", "nonlocal y", "del x", "assert x, 1", "raise ValueError(1)", "return", "yield x", "await x", "break", "continue", "import torch as x"])}`], // biome-ignore format: one choice
      [1, () => `${pad}torch._dynamo.graph_break()`],
      ...(deep ? [] : ([
        [2, () => `${pad}for ${name} in ${r.pick(["range(3)", "x", "range(10**9)", "zip(x, y)", "enumerate([x, y])", "iter(int, 1)", e()])}:\n${this.block(level + 1, 1, 3)}`],
        [2, () => `${pad}if ${e()}:\n${this.block(level + 1, 1, 3)}\n${pad}else:\n${this.block(level + 1, 1, 2)}`],
        [1, () => `${pad}while ${r.pick(["True", "x.sum() > 0", "n < 5", "i"])}:\n${this.block(level + 1, 1, 2)}${r.chance(0.6) ? `\n${pad}    break` : ""}`],
        [1, () => `${pad}with ${r.pick(["torch.no_grad()", "torch.autocast('cuda')", "open('f') as g", "x", "torch.profiler.profile()"])}:\n${this.block(level + 1, 1, 2)}`],
        [1, () => `${pad}try:\n${this.block(level + 1, 1, 2)}\n${pad}except ${r.pick(["Exception as e", "KeyError", "(TypeError, x)", "*ValueError", ""])}:\n${this.block(level + 1, 1, 2)}${r.chance(0.4) ? `\n${pad}finally:\n${this.block(level + 1, 1, 1)}` : ""}`],
        [1, () => `${pad}def ${r.pick(NAMES)}(x, *a, ${r.chance(0.5) ? "/, " : ""}k=${e()}, **kw):\n${this.block(level + 1, 1, 2)}\n${pad}    return ${e()}`],
        [1, () => `${pad}match ${e()}:\n${pad}    case ${r.pick(["[x, *_]", "{'a': y, **z}", "int(n)", "_", "1 | 2", "torch.Tensor(shape=s)"])}:\n${this.block(level + 2, 1, 1)}`],
        [1, () => `${pad}class ${r.pick(["A", "B(A)", "C(metaclass=type)", "D(torch.Tensor)", "E(E)"])}:\n${this.block(level + 1, 1, 2)}`],
      ] as [number, () => string][])),
    ]); // biome-ignore format: a grammar reads as a table
    this.depth -= 1;
    return text;
  }

  private expression(): string {
    const { r } = this;
    this.depth += 1;
    const leaf = this.depth > 6;
    const e = () => this.expression();
    const text = leaf
      ? r.pick(NAMES)
      : r.weighted<string>([
          [8, () => this.operator()],
          [6, () => r.pick(NAMES)],
          [2, () => r.pick(NUMBERS)],
          [1, () => r.pick(TEXTS)],
          [3, () => `(${e()} ${r.pick(["+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", ">>", "==", "<", ">=", "is", "in", "and", "or", "not in"])} ${e()})`],
          [1, () => `(${r.pick(["-", "~", "not ", "+"])}${e()})`],
          [2, () => `${e()}[${this.subscript()}]`],
          [2, () => `${r.pick(NAMES)}.${r.pick(["T", "mT", "shape", "dtype", "device", "grad", "real", "data", "ndim", "size()", "stride()", "item()", "tolist()", "numpy()", "is_cuda", "nope"])}`],
          [1, () => `[${e()} for ${r.pick(NAMES)} in ${r.pick(["range(3)", "x", e()])}${r.chance(0.3) ? ` if ${e()}` : ""}]`],
          [1, () => `(lambda ${r.pick(NAMES)}, *a: ${e()})(${e()})`],
          [1, () => `(${e()} if ${e()} else ${e()})`],
          [1, () => `{${e()}: ${e()}, **${r.pick(["kw", "{}", e()])}}`],
          [1, () => `(${r.pick(NAMES)} := ${e()})`],
          [1, () => `${r.pick(["len", "int", "float", "bool", "sum", "max", "list", "tuple", "abs", "sorted", "str", "repr", "type", "range", "map", "zip", "isinstance", "getattr", "super", "iter", "next", "hash", "eval", "__import__", "dir", "print", "complex", "divmod", "slice"])}(${r.many(0, 3, e).join(", ")})`],
          [1, () => `f"{${e()}!r:>{${e()}}}"`],
          [1, () => this.tensor()],
        ]); // biome-ignore format: a grammar reads as a table
    this.depth -= 1;
    return text;
  }

  /** a call of something that the table knows */
  private operator(): string {
    const { r } = this;
    const spelling = r.pick(this.words.spellings);
    const args = r.many(0, 4, () => this.argument());
    const named = r.chance(0.3) ? [`${r.pick(["dim", "keepdim", "dtype", "out", "size", "eps", "p", "reduction", "weight", "bias", "stride", "padding", "other", "input"])}=${this.argument()}`] : []; // biome-ignore format: one choice
    if (spelling.startsWith("Tensor.")) return `${r.pick(["x", "y", "x", this.tensor()])}.${spelling.slice(7)}(${[...args, ...named].join(", ")})`; // biome-ignore format: one line
    const first = r.chance(0.8) ? [r.pick(["x", "y"])] : [];
    return `${spelling}(${[...first, ...args, ...named].join(", ")})`;
  }

  private argument(): string {
    const { r } = this;
    return r.weighted<string>([
      [5, () => r.pick(["x", "y", "x.T", "x[0]", "x.float()", "x.long()", "x > 0"])],
      [5, () => r.pick(["0", "1", "-1", "2", "4", "n"])],
      [2, () => r.pick(NUMBERS)],
      [2, () => `(${r.many(0, 4, () => r.pick(SIZES)).join(", ")})`],
      [1, () => `[${r.many(0, 3, () => r.pick(["x", "y", "0", "-1", "None"])).join(", ")}]`],
      [1, () => `torch.${r.pick(DTYPES)}`],
      [1, () => r.pick(["None", "True", "False", "...", "slice(None)", "x.shape", "x.device", "torch.strided"])],
      [1, () => r.pick(TEXTS)],
      [1, () => (this.depth < 5 ? this.expression() : "x")],
    ]);
  }

  private subscript(): string {
    const { r } = this;
    const one = () => r.pick(["0", "-1", ":", "1:", "::2", "None", "...", "x", "x > 0", "::-1", "y", "[0, 1]", "n", "100", ":n"]); // biome-ignore format: one choice
    return r.many(1, 3, one).join(", ");
  }

  private tensor(): string {
    const { r } = this;
    const size = r.many(1, 4, () => r.pick(["1", "2", "3", "8", "16", "64", "128", "0", "5"])).join(", ");
    const dtype = r.chance(0.3) ? `, dtype=torch.${r.pick(DTYPES)}` : "";
    const grad = r.chance(0.2) ? ", requires_grad=True" : "";
    return r.weighted<string>([
      [6, () => `torch.randn(${size}${dtype}${grad}, device="cuda")`],
      [1, () => `torch.zeros(${size}${dtype}, device="cuda")`],
      [1, () => `torch.arange(${r.pick(SIZES)}, device="cuda")`],
      [1, () => `torch.randint(0, 5, (${size},), device="cuda")`],
      [1, () => `torch.tensor([[1.0, 2.0], [3.0, 4.0]])`],
      [1, () => `torch.randn(${size}, device="cuda").t()`],
    ]);
  }
}
