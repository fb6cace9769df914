// Which operands of products may be computed on the way in, and what the kernel becomes.
import { describe, expect, it } from "vitest";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";
import { verifyPlan } from "../plan/verify";

interface Options {
  readonly preset?: "fuselens" | "torch-2.11";
  readonly way?: string;
  readonly choices?: ReadonlyMap<string, { readonly microseconds: Record<string, number>; readonly where: string }>;
}

const half = (shape: string): string => `torch.randn(${shape}, device="cuda", dtype=torch.float16)`;

function compile(body: string, args: readonly string[], { preset = "fuselens", way, choices }: Options = {}) {
  const params = ["a", "b", "c"].slice(0, args.length).join(", ");
  const source = `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef f(${params}):\n    return ${body}\n\n\nwith torch.no_grad():\n    f(${args.join(", ")})\n`;
  const session = new Session(p => (p === "/m.py" ? source : undefined), {
    ...defaultSessionOptions(),
    preset,
    target: "h200",
    config: new Map<string, unknown>([
      ["max_autotune", true],
      ...(way === undefined ? [] : [["triton.template_form", way] as const]),
    ]),
    ...(choices ? { choices } : {}),
  });
  const [c] = session.run("/m.py").compilations;
  if (!c) throw new Error("nothing was compiled");
  expect(verifyPlan(c.plan)).toEqual([]);
  return c;
}

type Compiled = ReturnType<typeof compile>;
const kinds = (c: Compiled): string[] =>
  c.graph.kernels.map(k => /^triton_(tem|poi|red|per)|^extern_kernels/.exec(k.name)?.[0] ?? k.name);
const computing = (c: Compiled): string[] => (c.graph.choice?.ways ?? []).filter(w => w.endsWith("_prologue"));

const DEQUANTISED = "F.linear(a, b.to(torch.float16) * c[:, None])";
const weights = (rows: number, n = 4096, k = 4096): string[] => [
  half(`${rows}, ${k}`),
  `torch.randint(-9, 9, (${n}, ${k}), device="cuda", dtype=torch.int8)`,
  half(`${n}`),
];
const fused: Options = { way: "pointers_prologue" };

describe("operands computed on the way into a product", () => {
  it("are offered where pointwise operations compute them for that product alone", () => {
    expect(computing(compile(DEQUANTISED, weights(2048)))).toEqual(["pointers_prologue"]);
    expect(computing(compile(DEQUANTISED, weights(16)))).toContain("split_8_prologue");
    const matrices = ["512, 512", "512, 512"].map(half);
    expect(computing(compile("a @ b", matrices))).toEqual([]);
    expect(computing(compile("(lambda h: (h, h @ b))(a.relu())", matrices))).toEqual([]);
    expect(computing(compile("a.relu()[:256] @ b", matrices))).toEqual([]);
  });

  it("are one kernel with the product and what follows", () => {
    const c = compile(`F.relu(${DEQUANTISED})`, weights(64), fused);
    expect(kinds(c)).toEqual(["triton_tem"]);
    const text = c.plan.kernels[0]?.triton ?? "";
    // what no step changes is loaded before the loop: the scales
    const [before, inside = ""] = text.split("for koffset in ");
    expect(before).toMatch(/tmp\d+ = tl\.load\(in_ptr\d \+ \(y\d\), None/);
    expect(inside).toMatch(/b = tl\.trans\(tmp\d+\.to\(tl\.float16\)\)/);
    expect(c.graph.kernels[0]?.bytes).toBe(64 * 4096 * 2 + 4096 * 4096 + 4096 * 2 + 64 * 4096 * 2);
  });

  it("are rounded as their buffers would be, and zero beyond the depth", () => {
    const text = compile("(F.silu(a) * b) @ c", ["70, 500", "70, 500", "500, 40"].map(half), fused).plan.kernels[0]
      ?.triton;
    expect(text).toMatch(/a = tl\.where\(a_mask, tmp\d+, 0\.0\)\.to\(tl\.float16\)/);
    expect(text).toContain("a_mask = a_inner < knumel");
  });

  it("may be both, of a batch, with padded rows, turned and masked", () => {
    const shapes = ["3, 50, 33", "3, 40, 50"].map(s => `torch.randn(${s}, device="cuda")`);
    expect(kinds(compile("torch.bmm(a.relu().transpose(1, 2), b.transpose(1, 2) * 2)", shapes, fused))).toEqual([
      "triton_tem",
    ]);
    expect(kinds(compile("F.pad(a, (3, 2)) @ b", ["33, 1095", "1100, 40"].map(half), fused))).toEqual(["triton_tem"]);
  });

  it("join a sum in pieces", () => {
    const c = compile(DEQUANTISED, weights(16), { way: "split_4_prologue" });
    expect(kinds(c)).toEqual(["triton_tem", "triton_poi"]);
  });

  it("stay kernels of their own where many tiles would compute them, with the reason and the bytes", () => {
    const c = compile(DEQUANTISED, weights(2048));
    expect(kinds(c)).toEqual(["triton_poi", "extern_kernels"]);
    const refusal = c.graph.refusals.find(r => r.code === "cost_model");
    expect(refusal?.detail).toMatch(
      /^2048 rows would have it computed again by every tile: [\d.]+ us in one kernel, [\d.]+ us in two \(estimate\)$/,
    );
    expect(refusal?.bytesLost).toBe(2 * 4096 * 4096 * 2);
  });

  it("are chosen by the cost model where the product is bound by their bytes, and said to be an estimate", () => {
    const { graph } = compile(DEQUANTISED, weights(16));
    expect(graph.choice?.chosen).toMatch(/^split_\d+_prologue$/);
    expect(graph.choice?.measured).toBeNull();
    const [us] = graph.choice?.estimates ?? [];
    expect(us?.[graph.choice?.chosen ?? ""]).toBeLessThan(us?.library ?? 0);
  });

  it("are estimated alike for the choice and for the kernel", () => {
    for (const [body, args] of [
      [DEQUANTISED, weights(64)],
      ["F.linear(F.gelu(a), b)", ["8, 32", "16, 32"].map(s => `torch.randn(${s}, device="cuda")`)],
      ["a.relu() @ b", ["512, 4096", "4096, 512"].map(s => `torch.randn(${s}, device="cuda")`)],
    ] as const) {
      const { graph } = compile(body, args, fused);
      expect(graph.kernels).toHaveLength(1);
      expect(graph.kernels[0]?.estimate_us).toBeCloseTo(graph.choice?.estimates[0]?.pointers_prologue ?? 0, 2);
    }
  });

  it("leave tiny float32 products to the library, which needs no pipeline to fill", () => {
    const c = compile(
      "F.linear(F.gelu(a), b)",
      ["8, 32", "16, 32"].map(s => `torch.randn(${s}, device="cuda")`),
    );
    expect(kinds(c)).toEqual(["triton_poi", "extern_kernels"]);
    const [us] = c.graph.choice?.estimates ?? [];
    expect(us?.library).toBeLessThan(us?.pointers_prologue ?? 0);
    const listed = c.graph.kernels.reduce((t, k) => t + k.estimate_us, 0);
    expect(listed).toBeCloseTo(us?.library ?? 0, 2);
  });

  it("follow what was measured", () => {
    const { choice } = compile(DEQUANTISED, weights(2048)).graph;
    const taken = (microseconds: Record<string, number>): Compiled =>
      compile(DEQUANTISED, weights(2048), {
        choices: new Map([[choice?.key ?? "", { microseconds, where: "a test" }]]),
      });
    expect(kinds(taken({ library: 2, pointers_prologue: 1 }))).toEqual(["triton_tem"]);
    const apart = taken({ library: 1, pointers_prologue: 2 });
    expect(kinds(apart)).toEqual(["triton_poi", "extern_kernels"]);
    expect(apart.graph.refusals.map(r => r.detail)).toContain("library reads its operands from memory");
  });

  it("are as PyTorch has them in its own presets: never taken unmeasured, logged by its rules where they are tried", () => {
    const own = compile(DEQUANTISED, weights(16), { preset: "torch-2.11" });
    expect(computing(own)).toEqual([]);
    expect(kinds(own)[0]).toBe("triton_poi");
    expect(kinds(compile(DEQUANTISED, weights(16), { preset: "torch-2.11", ...fused }))[0]).toBe("triton_poi");
    const upcast = own.graph.refusals.filter(r => r.code === "template_prologue").map(r => r.detail);
    expect(new Set(upcast)).toEqual(
      new Set(["prologue fusion that must be upcast to fp32 not profitable for low precision templates"]),
    );
    const sum = compile("(a + b) @ c", ["64, 64", "64, 64", "64, 64"].map(half), { preset: "torch-2.11" });
    expect(sum.graph.refusals.map(r => r.detail)).toContain(
      "prologue fusion will not increase amount of bytes read in kernel",
    );
  });
});
