import { describe, expect, it } from "vitest";
import { actionsAt } from "./actions";
import { compare } from "./comparison";
import { definitionOf, exampleComment, knownInputs, parametersOf } from "./example_inputs";
import { extentOf } from "./extent";
import { generatedCode, kernelAtLine, linesFromSource } from "./generated";
import { graphBreakHint } from "./graph_breaks";
import { spansOf } from "./highlight";
import { inlaysFor } from "./inlay";
import { kernelLinesOf } from "./kernel_map";
import { numberOf } from "./lookup";
import { Measurements } from "./measurements";
import { problemsFor } from "./problems";
import { outputTokens } from "./semantic";
import { bytesOf, parseTensor } from "./tensor_text";
import { compilation, entry, FILE, kernel, program, refusal } from "./testing";

const root = (compilations: readonly number[], line = 1, endLine = 3) => ({
  name: "f",
  span: { line, column: 0, endLine, endColumn: 0 },
  compilations,
  assumed: [],
  inputs: [],
});

describe("types of expressions", () => {
  it("are read with sizes that hold commas", () => {
    expect(parseTensor("bf16[Max(1, s0), 8][8, 1]cuda:0")).toEqual({
      dtype: "bf16",
      shape: ["Max(1, s0)", "8"],
      stride: ["8", "1"],
      device: "cuda:0",
    });
    expect(parseTensor("Sym(s0)")).toBeNull();
  });

  it("are counted in bytes, symbols at their example values", () => {
    const t = parseTensor("f16[s0, 2*s0, 3][1, 1, 1]cuda:0");
    expect(t && bytesOf(t, [{ name: "s0", value: 4, source: "x" }])).toBe(4 * 8 * 3 * 2);
    const unknown = parseTensor("f16[u0][1]cuda:0");
    expect(unknown && bytesOf(unknown, [])).toBeNull();
  });
});

describe("inlay hints", () => {
  const all = { shapes: true, kernels: true };
  const range = { first: 1, last: 9 };

  it("show no shape where calls of one layer give different ones, and the last of several operators where it is one call", () => {
    const p = program({
      compilations: [compilation({ kernels: [] })],
      source: [
        entry(1, 8, 13, { target: "aten.mean.dim", type: "f32[8, 64][64, 1]cuda:0" }),
        entry(1, 8, 13, { target: "aten.mean.dim", type: "f32[8, 128][128, 1]cuda:0" }),
        entry(2, 8, 13, { target: "aten.reshape.default", type: "f32[32, 4][4, 1]cuda:0" }),
        entry(2, 8, 13, { target: "aten.mm.default", type: "f32[32, 6][6, 1]cuda:0" }),
        entry(2, 8, 13, { target: "aten.reshape.default", type: "f32[8, 4, 6][24, 6, 1]cuda:0" }),
      ],
    });
    const found = inlaysFor(p, FILE, ["    y = f(x)", "    z = g(x)"], range, all);
    expect(found.filter(h => h.kind === "shape").map(h => [h.line, h.label])).toEqual([[2, ": f32[8, 4, 6]"]]);
  });

  it("show no mask that a forward graph keeps for its backward, and no shape of a value that nobody takes", () => {
    const p = program({
      compilations: [compilation({ kind: "forward", kernels: [] })],
      source: [
        entry(1, 8, 13, { target: "aten.relu.default", type: "f32[8, 4][4, 1]cuda:0" }),
        entry(1, 8, 13, { target: "aten.le.Scalar", type: "b8[8, 4][4, 1]cuda:0" }),
        entry(2, 4, 14, { target: "aten.mul.Tensor", type: "f32[10][1]cuda:0" }),
      ],
    });
    const found = inlaysFor(p, FILE, ["    y = f(x)", "    opt.step()"], range, all);
    expect(found.filter(h => h.kind === "shape").map(h => [h.line, h.label])).toEqual([[1, ": f32[8, 4]"]]);
  });

  it("put a shape after the name that is assigned, and at the end of any other expression", () => {
    const p = program({
      compilations: [compilation({ kernels: [kernel({})] })],
      source: [entry(1, 8, 13), entry(2, 11, 16)],
    });
    const found = inlaysFor(p, FILE, ["    y = x + 1", "    return x + 2"], range, all);
    expect(found.map(h => [h.line, h.column, h.label])).toEqual([
      [1, 5, ": f32[8, 4]"],
      [1, 13, "  ◆ K1"],
      [2, 16, " → f32[8, 4]"],
      [2, 16, "  ◆ K1"],
    ]);
  });

  it("show no shape where two calls of a helper have different ones", () => {
    const p = program({
      compilations: [compilation({ kernels: [kernel({})] })],
      source: [entry(1, 8, 13, { callers: [7] }), entry(1, 8, 13, { callers: [8], type: "f32[2][1]cuda:0" })],
    });
    expect(inlaysFor(p, FILE, ["    y = x + 1"], range, { shapes: true, kernels: false })).toEqual([]);
  });
});

describe("kernel numbers", () => {
  it("run over all graphs of the file and leave out what is only allocated", () => {
    const p = program({
      compilations: [
        compilation({ kernels: [kernel({}), kernel({ type: "NopKernelSchedulerNode" }), kernel({})] }),
        compilation({ kernels: [kernel({})] }),
      ],
    });
    expect(numberOf(p, { compilation: 0, kernel: 2 })).toBe(2);
    expect(numberOf(p, { compilation: 1, kernel: 0 })).toBe(3);
    const lines = kernelLinesOf(p, undefined, new Measurements());
    expect(lines.kernels.map(k => k.number)).toEqual([1, 2, 3]);
    expect(lines.kernels.reduce((t, k) => t + k.share, 0)).toBeCloseTo(1);
  });
});

describe("highlights", () => {
  it("leave out what a larger highlighted expression holds", () => {
    const p = program({
      compilations: [compilation({ kernels: [kernel({})] })],
      source: [entry(1, 0, 20), entry(1, 4, 8), entry(3, 0, 4)],
    });
    expect(spansOf(p, FILE, [{ compilation: 0, kernel: 0 }]).map(s => [s.line, s.endColumn])).toEqual([
      [1, 20],
      [3, 4],
    ]);
  });
});

describe("problems", () => {
  const settings = { missedFusionBytes: 400, graphBreaks: true, assumed: true };

  it("hold missed fusions from the threshold on, with the other side", () => {
    const p = program({
      compilations: [compilation({ refusals: [refusal({}), refusal({ bytesLost: 399, at: [[3], [4]] })] })],
    });
    const found = problemsFor(p, FILE, ["a", "    b"], settings);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      severity: "hint",
      code: "no_shared_data",
      span: { line: 2, column: 4, endColumn: 5 },
    });
    expect(found[0]?.related[0]?.span.line).toBe(1);
    expect(problemsFor(p, FILE, ["a", "b"], { ...settings, missedFusionBytes: null })).toEqual([]);
  });

  it("tell opaque operators and guesses", () => {
    const p = program({
      compilations: [compilation({}, { opaque: [{ kernel: "my.op", reason: "unknown", at: [2] }] })],
      roots: [{ ...root([0]), assumed: ["x is f32[2, 128]"] }],
    });
    expect(problemsFor(p, FILE, ["a", "b"], settings).map(x => x.code)).toEqual(["opaque-operator", "assumed"]);
  });

  it("have a hint for what breaks graphs most often", () => {
    expect(graphBreakHint("Unsupported Tensor.item() call with capture_scalar_outputs=False")).toContain(
      "capture_scalar_outputs",
    );
    expect(graphBreakHint("Data-dependent branching")).toContain("torch.where");
  });
});

describe("actions", () => {
  const lines = ["@torch.compile", "def f(x: Tensor, *, mask=None,", "      scale: float = 1.0):", "    return x + 1"];
  const input = { name: "arg0_1", shape: ["8", "4"], stride: ["4", "1"], dtype: "torch.bfloat16", saved: false };
  const p = program({
    compilations: [
      compilation({
        inputs: [input],
        kernels: [kernel({ at: [4] }), kernel({})],
        refusals: [refusal({ code: "tiling_prevents_reduction_fusion" })],
      }),
    ],
    roots: [root([0], 1, 4)],
    source: [entry(4, 11, 16)],
  });

  it("read parameters over several lines", () => {
    expect(parametersOf(lines, 1)?.parameters).toEqual(["x", "mask", "scale"]);
  });

  it("write example inputs above the decorator, or over the comment that is there", () => {
    const f = p.roots[0];
    if (!f) throw new Error("no root");
    expect(exampleComment(f, lines, "x=f32[8]@cuda")?.edit).toEqual({
      line: 1,
      column: 0,
      endColumn: 0,
      text: "# fuselens: x=f32[8]@cuda\n",
    });
    const commented = ["  # fuselens: x=f32[2]", "  @torch.compile", "  def f(x):", "    return x"];
    const moved = { ...f, span: { ...f.span, line: 2 } };
    expect(exampleComment(moved, commented, "x=f32[8]@cuda")).toMatchObject({
      replaces: true,
      edit: { line: 1, column: 2 },
    });
  });

  it("write a module's example inputs above its forward, and name the tensors that this takes", () => {
    const module = [
      "class Net(nn.Module):",
      "    def __init__(self, dim):",
      "        self.fc = nn.Linear(dim, dim)",
      "",
      "    def forward(self, x, mask=None):",
      "        return self.fc(x)",
    ];
    const found = definitionOf(module, { line: 1, endLine: 6 });
    expect(found).toMatchObject({ name: "forward", parameters: ["x", "mask"], line: 5 });
    const net = {
      ...root([0], 1, 6),
      inputs: [{ name: "x", shape: [4, 16], dtype: "torch.bfloat16", device: "cuda" }],
    };
    expect(knownInputs(net, found?.parameters ?? [])).toBe("x=bf16[4, 16]@cuda");
    expect(exampleComment(net, module)?.edit).toMatchObject({ line: 5, text: "    # fuselens: x=bf16[4, 16]@cuda\n" });
  });

  it("offer the option that keeps a pair apart, the other way", () => {
    const titles = actionsAt(p, FILE, lines, { first: 4, last: 4 }, { config: {} }).map(a => a.title);
    expect(titles).toContain("Compare with triton.tiling_prevents_reduction_fusion off");
    expect(titles).toContain("Show why it is not fused");
    const set = actionsAt(
      p,
      FILE,
      lines,
      { first: 4, last: 4 },
      { config: { "triton.tiling_prevents_reduction_fusion": false } },
    );
    expect(set.map(a => a.title)).not.toContain("Compare with triton.tiling_prevents_reduction_fusion off");
  });

  it("keep the arguments that a decorator has when it becomes dynamic", () => {
    const text = ["@torch.compile(fullgraph=True)", ...lines.slice(1)];
    const edit = actionsAt(p, FILE, text, { first: 4, last: 4 }, { config: {} }).find(a =>
      a.title.includes("dynamic=True"),
    )?.edits?.[0];
    expect(edit?.text).toBe("@torch.compile(fullgraph=True, dynamic=True)");
  });
});

describe("generated code", () => {
  const standalone =
    "import triton\n\n@triton.jit\ndef triton_a(p):\n    x = 1\n\n    y = 2\n\ndef call(args):\n    triton_a.run(buf0)\n    return buf0";
  const code = { inductor: "", standalone, eager: null, lines: [[], [], [], [], [5], [], [6], [], [], [5, 6], []] };
  const p = program({ compilations: [compilation({ kernels: [kernel({ name: "triton_a", at: [5, 6] })] })] });

  it("knows a kernel's definition and launches, and the source of each line", () => {
    const g = generatedCode(p, undefined, [code]);
    expect(g.kernels[0]).toMatchObject({ definition: [2, 6], launches: [9] });
    expect(kernelAtLine(g, 4)?.name).toBe("triton_a");
    expect(kernelAtLine(g, 8)).toBeUndefined();
    expect(linesFromSource(g, new Set([6]))).toEqual([6, 9]);
  });

  it("puts several graphs one after another with their lines moved", () => {
    const two = program({ compilations: [p.compilations[0] as never, p.compilations[0] as never] });
    const g = generatedCode(two, undefined, [code, code]);
    expect(g.kernels.map(k => k.definition)).toEqual([
      [2, 6],
      [15, 19],
    ]);
    expect(g.toSource).toHaveLength(g.lines.length);
  });

  it("has tokens for names, none in strings and comments", () => {
    const tokens = outputTokens(["def triton_a(in_ptr0):  # buf0", "    s = '''buf1", "buf2''' + tl.load(in_ptr0)"]);
    const lines = ["def triton_a(in_ptr0):  # buf0", "    s = '''buf1", "buf2''' + tl.load(in_ptr0)"];
    expect(tokens.map(t => lines[t.line]?.slice(t.column, t.column + t.length))).toEqual([
      "triton_a",
      "in_ptr0",
      "tl",
      "load",
      "in_ptr0",
    ]);
  });
});

describe("comparison", () => {
  it("counts both sides and names the kernels that only one has", () => {
    const side = (title: string, kernels: ReturnType<typeof kernel>[]) => ({
      title,
      root: "f",
      program: program({ compilations: [compilation({ kernels, bytes: 1000 * kernels.length })], roots: [root([0])] }),
    });
    const c = compare(side("a", [kernel({})]), side("b", [kernel({}), kernel({ name: "extra", origins: ["sum"] })]));
    expect(c.summary).toContain("1 → 2 kernels, 1.00 kB → 2.00 kB");
    expect(c.markdown).toContain("only right: `extra`");
    expect(c.markdown).not.toContain("only left");
  });
});

describe("recompiles", () => {
  const input = (size: string) => ({
    name: "arg0_1",
    shape: [size],
    stride: ["1"],
    dtype: "torch.float32",
    saved: false,
  });
  const told = (first: number, second: number): string[] => {
    const compilations = [first, second].map((line, i) =>
      compilation({ name: "forward", inputs: [input(String(8 + i))], kernels: [kernel({ at: [line] })] }),
    );
    const p = program({ compilations, roots: [root([0, 1])] });
    return problemsFor(p, FILE, ["def f(x):"], { missedFusionBytes: null, graphBreaks: true, assumed: true }).map(
      x => x.code,
    );
  };

  it("are told where one function is compiled for two shapes", () => {
    expect(told(2, 2)).toEqual(["recompile"]);
  });

  it("do not speak of sizes where it is the number of inputs that changes", () => {
    const compilations = [1, 2].map(n =>
      compilation({ inputs: Array.from({ length: n }, () => input("8")), kernels: [kernel({ at: [2] })] }),
    );
    const p = program({ compilations, roots: [root([0, 1])] });
    const [found] = problemsFor(p, FILE, ["def f(x):"], { missedFusionBytes: null, graphBreaks: true, assumed: true });
    expect(found?.message).toMatch(/^f is compiled again: it took 1 inputs and then 2/);
  });

  it("are not seen in two functions of one name", () => {
    expect(told(2, 9)).toEqual([]);
  });
});

describe("extents", () => {
  it("reach to the last line of the body, decorators and brackets included", () => {
    const lines = ["@decorated", "def f(", "    x,", "):", "    y = (", "1)", "", "    return y", "", "z = 1"];
    expect(extentOf(lines, 1)).toMatchObject({ line: 1, endLine: 8 });
  });
});
