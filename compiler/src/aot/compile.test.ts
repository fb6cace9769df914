import { describe, expect, it } from "vitest";
import type { FxGraph } from "../fx/graph";
import { FxNode } from "../fx/graph";
import { argumentText, targetText } from "../fx/print";
import { itemsOf } from "../passes/edit";
import { postGrad } from "../passes/post_grad";
import { aotCompile } from "./compile";
import { type Program, programFrame } from "./testing/program";
import type { InferenceResult, TrainResult } from "./types";

const f32 = "f32[8, 4][4, 1]cuda:0";

/** "mul = aten.mul.Tensor(arg0_1, 2)" per call */
function calls(g: FxGraph): string[] {
  return g.nodes
    .filter(n => n.op === "call_function")
    .map(
      n =>
        `${n.name} = ${targetText(n.target).replace(/^torch\.ops\./, "")}(${[...n.args.map(argumentText), ...[...n.kwargs].map(([k, v]) => `${k}=${argumentText(v)}`)].join(", ")})`,
    );
}
const targets = (g: FxGraph): string[] =>
  g.nodes.filter(n => n.op === "call_function").map(n => n.target.replace(/^aten\./, ""));
const outputs = (g: FxGraph): string[] => itemsOf(g.output.args[0]).map(a => (a instanceof FxNode ? a.name : "None"));

function inference(p: Program): InferenceResult & { readonly graph: FxGraph } {
  const r = aotCompile(programFrame(p), { keepTraced: true });
  if (r.kind !== "inference" || !r.graph) throw new Error(`${r.kind}: ${r.diagnostics.map(d => d.message).join()}`);
  return { ...r, graph: r.graph };
}
function train(p: Program): TrainResult & { readonly joint: FxGraph } {
  const r = aotCompile(programFrame(p), { keepTraced: true });
  if (r.kind !== "train" || !r.joint) throw new Error(`${r.kind}: ${r.diagnostics.map(d => d.message).join()}`);
  return { ...r, joint: r.joint };
}

describe("functionalization", () => {
  it("writes a mutated view back into its base and takes later views anew", () => {
    const r = inference({
      inputs: { x: f32 },
      body: "y = x.clone()\ntop = y[slice(None, 2, None)]\nadd_ = top.add_(1.0)\nreturn (y,)",
    });
    expect(calls(r.graph)).toEqual([
      "clone = aten.clone.default(arg0_1)",
      "slice_1 = aten.slice.Tensor(clone, 0, 0, 2)",
      "add = aten.add.Tensor(slice_1, 1.0)",
      "slice_scatter = aten.slice_scatter.default(clone, add, 0, 0, 2)",
    ]);
  });

  it("copies a written input back at the end, once", () => {
    const r = inference({ inputs: { x: f32, y: f32 }, body: "add_ = x.add_(y)\nmul_ = x.mul_(2.0)\nreturn (y,)" });
    expect(calls(r.graph).slice(-1)).toEqual(["copy_ = aten.copy_.default(arg0_1, mul)"]);
    expect(r.compiled.mutatedInputs).toEqual(["arg0_1"]);
  });

  it("goes on as a view of what it was after an in-place change of its sizes", () => {
    const r = inference({ inputs: { x: f32 }, body: "y = x * 2\nt_ = y.t_()\nadd_ = y.add_(1.0)\nreturn (y,)" });
    expect(calls(r.graph).slice(1)).toEqual([
      "permute = aten.permute.default(mul, [1, 0])",
      "add = aten.add.Tensor(permute, 1.0)",
      "permute_1 = aten.permute.default(add, [1, 0])",
      "permute_2 = aten.permute.default(permute_1, [1, 0])",
    ]);
  });

  it("writes into a reshaped copy through the copy", () => {
    const r = inference({
      inputs: { x: f32 },
      body: "t = x.t()\ny = t.reshape(-1)\nmul_ = y.mul_(2)\nreturn (y,)",
    });
    expect(targets(r.graph).slice(2)).toEqual(["view.default", "mul.Tensor", "view.default", "view.default"]);
  });

  it("shows the line of a view that is computed anew, and none where the graph returns it", () => {
    const body =
      "top = x[slice(None, 2, None)]\nadd_ = x.add_(1.0)\ns = top.sin()\nmul_ = x.mul_(2.0)\nreturn (s, top)";
    const { graph } = inference({ inputs: { x: f32 }, body });
    const lines = graph.nodes.filter(n => n.target === "aten.slice.Tensor").map(n => n.meta.stack.length > 0);
    expect(lines).toEqual([true, false]);
  });

  it("joins writes through views of views into one scatter chain", () => {
    const r = inference({
      inputs: { x: f32, v: "f32[][]cuda:0" },
      body: "y = x + 1\ny[(0, 1)] = v;  setitem = y\nreturn (y,)",
    });
    const { graph } = r.compiled;
    postGrad(graph, {
      info: r.compiled,
      shapeEnv: programFrame({ inputs: { x: f32 }, body: "return (x,)" }).shapeEnv,
      config: new Map(),
    });
    expect(targets(graph).filter(t => t.includes("scatter"))).toEqual([
      "select_scatter.default",
      "select_scatter.default",
    ]);
  });
});

describe("symbolic sizes", () => {
  it("take names for their arithmetic in the forward pass alone", () => {
    const inputs = { s0: "Sym(s0)", x: "f32[s0, 4][4, 1]cuda:0" };
    const frame = programFrame({ inputs, grad: ["x"], body: "a = x.sin()\nb = a * 2.0\nc = b * b\nreturn (c,)" });
    const r = aotCompile(frame, { keepTraced: true, behaviours: new Map([["symbolic_name_gaps", true]]) });
    if (r.kind !== "train" || !r.joint) throw new Error(r.kind);
    const names = r.joint.nodes.map(n => n.name).filter(n => n.startsWith("mul"));
    expect(names).toEqual(["mul_2", "mul_5", "mul_8", "mul_9", "mul_10", "mul_11"]);
  });
});

describe("autograd", () => {
  it("sums the gradients of a value used twice", () => {
    const r = train({ inputs: { x: f32 }, grad: ["x"], body: "a = x.sin()\nb = a * 2\nc = a + b\nreturn (c,)" });
    expect(targets(r.joint).slice(3)).toEqual(["mul.Tensor", "add.Tensor", "cos.default", "mul.Tensor"]);
  });

  it("reduces gradients of broadcast operands to their shape", () => {
    const r = train({ inputs: { x: f32, b: "f32[4][1]cuda:0" }, grad: ["b"], body: "y = x + b\nreturn (y,)" });
    expect(targets(r.joint)).toEqual(["add.Tensor", "sum.dim_IntList", "view.default"]);
    expect(r.gradients).toEqual([null, 1]);
  });

  it("makes a transposed gradient contiguous before it is read as complex numbers", () => {
    const r = train({
      inputs: { x: "f32[3, 4, 2][8, 2, 1]cuda:0" },
      grad: ["x"],
      body: "z = torch.view_as_complex(x)\nr = torch.view_as_real(z)\nt = r.transpose(0, 2)\ny = t.clone(memory_format=torch.contiguous_format)\nreturn (y,)",
    });
    expect(targets(r.joint).slice(4)).toEqual([
      "permute.default",
      "clone.default",
      "view_as_complex.default",
      "view_as_real.default",
    ]);
  });

  it("follows a write through a view of a tracked value", () => {
    const r = train({
      inputs: { x: f32, w: "f32[2, 4][4, 1]cuda:0" },
      grad: ["x", "w"],
      body: "y = x * 2\nv = y[slice(0, 2, None)]\nmul_ = v.mul_(w)\nz = y.sin()\nreturn (z,)",
    });
    expect(targets(r.joint)).toContain("slice_scatter.default");
    expect(outputs(r.joint)).toHaveLength(3);
    expect(outputs(r.joint)).not.toContain("None");
  });

  it("leaves out what no_grad covers", () => {
    const r = train({
      inputs: { x: f32 },
      grad: ["x"],
      body: "_set_grad_enabled = torch._C._set_grad_enabled(False)\na = x.exp()\n_set_grad_enabled_1 = torch._C._set_grad_enabled(True)\nb = a * x\nreturn (b,)",
    });
    expect(targets(r.joint)).toEqual(["exp.default", "mul.Tensor", "mul.Tensor"]);
  });

  it("traces for inference when nothing that needs a gradient comes out", () => {
    expect(inference({ inputs: { x: f32 }, grad: ["x"], body: "a = x.argmax()\nreturn (a,)" }).kind).toBe("inference");
  });
});

describe("the partitioner", () => {
  it("saves a mask instead of the value it is made of, and recomputes what is cheap", () => {
    const r = train({ inputs: { x: f32 }, grad: ["x"], body: "a = x.sin()\nb = a.relu()\nreturn (b,)" });
    expect(r.backward.inputs).toEqual(["primals_1", "le", "tangents_1"]);
    expect(targets(r.backward.graph)).toContain("cos.default");
  });

  it("tells which saved values the backward may write over", () => {
    const r = train({
      inputs: { x: f32, w: "f32[4, 4][4, 1]cuda:0" },
      grad: ["x", "w"],
      body: "a = x @ w\nb = a.exp()\nc = b @ w\nreturn (c,)",
    });
    expect(r.backward.donated.map(i => r.backward.inputs[i])).not.toContain("primals_1");
    expect(r.backward.donated.length).toBeGreaterThan(0);
  });
});

describe("hand-written attention", () => {
  const qkv = "f16[2, 8, 128, 64][65536, 8192, 64, 1]cuda:0";
  const inputs = { q: qkv, k: qkv, v: qkv };
  const body = (scale: string): string => `t = k.transpose(-2, -1)
    s = q @ t
    d = s ${scale}
    w = d.softmax(dim = -1)
    y = w @ v
    return (y,)`;
  it("becomes scaled_dot_product_attention for inference", () => {
    const r = inference({ inputs, body: body("/ 8.0") });
    expect(targets(r.compiled.graph)).toEqual(["_scaled_dot_product_cudnn_attention.default", "operator.getitem"]);
  });
  it("and for training, with the attention's own backward", () => {
    const r = train({ inputs, grad: ["q", "k", "v"], body: body("* 0.125") });
    expect(targets(r.backward.graph)[0]).toBe("_scaled_dot_product_cudnn_attention_backward.default");
  });
  it("stays as it is when the weights are used elsewhere", () => {
    const r = inference({ inputs, body: body("/ 8.0").replace("return (y,)", "return (y, w)") });
    expect(targets(r.compiled.graph)).toContain("bmm.default");
  });
});

describe("errors of the program", () => {
  it("are diagnostics at the line, in PyTorch's words", () => {
    const r = aotCompile(
      programFrame({ inputs: { x: f32, y: "f32[8, 5][5, 1]cuda:0" }, body: "a = x + 1\nb = a + y\nreturn (b,)" }),
    );
    expect(r.kind).toBe("error");
    expect(r.diagnostics[0]?.message).toBe(
      "RuntimeError: The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1",
    );
    expect(r.diagnostics[0]?.span.line).toBe(2);
  });

  it.each([
    ["src", "i64[8, 4][4, 1]cuda:0", "f32[8, 4, 3][12, 3, 1]cuda:0"],
    ["self", "i64[8][1]cuda:0", "f32[8][1]cuda:0"],
  ])("say that an index has other dimensions than %s", (what, i, s) => {
    const inputs = { x: f32, i, s };
    const r = aotCompile(programFrame({ inputs, body: "b = x.scatter_add(0, i, s)\nreturn (b,)" }));
    expect(r.diagnostics[0]?.message).toBe(
      `RuntimeError: Index tensor must have the same number of dimensions as ${what} tensor`,
    );
  });
});
