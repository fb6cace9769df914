// Padded, viewed and broadcast operands of matrix products on the CPU executor: every layout that a product may have computes
// what the unfused graph does.
import { describe, expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";
import { sourceOf } from "./sources";

const run = cpuExecutor();

interface Case {
  readonly body: string;
  readonly arguments: readonly string[];
  /** ways besides those with operands as given */
  readonly layouts: "padded" | "viewed";
}

const half = (shape: string): string => `torch.randn(${shape}, device="cuda", dtype=torch.float16)`;

const CASES: Readonly<Record<string, Case>> = {
  "odd sizes": { body: "a @ b", arguments: ["70, 33", "33, 45"].map(half), layouts: "padded" },
  "a computed operand, a bias and relu": {
    body: "F.relu(F.linear(a * 2, b, c))",
    arguments: ["70, 33", "45, 33", "45"].map(half),
    layouts: "padded",
  },
  "a transposed operand of an odd number of rows": {
    body: "torch.sigmoid(a.t() @ b)",
    arguments: ["40, 71", "40, 48"].map(half),
    layouts: "padded",
  },
  "an added matrix, scaled": {
    body: "torch.addmm(c, a, b, alpha=0.5, beta=2.0)",
    arguments: ["30, 19", "19, 21", "30, 21"].map(half),
    layouts: "padded",
  },
  "a batch of odd sizes": {
    body: "torch.bmm(a, b).relu()",
    arguments: ["3, 17, 21", "3, 21, 24"].map(half),
    layouts: "padded",
  },
  "a batch that shares one matrix of odd rows": {
    body: "(a.transpose(1, 2) @ b).relu()",
    arguments: ["3, 21, 16", "21, 24"].map(half),
    layouts: "padded",
  },
  "a slice that begins off alignment": {
    body: "a[:, 1:33] @ b",
    arguments: ["20, 40", "32, 24"].map(half),
    layouts: "padded",
  },
  "places of an image, bias and gelu": {
    body: "F.gelu(F.linear(a.permute(0, 2, 3, 1).reshape(-1, 24), b, c))",
    arguments: ["2, 24, 4, 8", "40, 24", "40"].map(half),
    layouts: "viewed",
  },
  "places of an image, their product read twice": {
    body: "(lambda y: (y.sum(0), y.t().relu()))(a.permute(0, 2, 3, 1).reshape(-1, 24) @ b)",
    arguments: ["3, 24, 2, 8", "24, 16"].map(half),
    layouts: "viewed",
  },
};

function compile(source: string, way: string | null, unfused = false) {
  const config = new Map<string, unknown>([
    ["max_autotune", !unfused],
    ...(way === null ? [] : [["triton.template_form", way] as const]),
  ]);
  const program = runSource("/elsewhere/model.py", source, { wat: true, unfused, preset: "fuselens", config });
  const [compiled] = program.compilations;
  if (!compiled) throw new Error("nothing was compiled");
  expect(compiled.plan.blockers).toEqual([]);
  return compiled;
}

/** the largest error of each output, relative to the unfused graph's */
async function errors(source: string, way: string): Promise<number[]> {
  const pairs = [{ fused: loadable(compile(source, way)), unfused: loadable(compile(source, null, true)) }];
  const result = await run({ kind: "verify", pairs });
  return result.pairs.flatMap(p => p.outputs.map(o => o.maxRel));
}

describe("layouts of operands", () => {
  it.each(Object.entries(CASES))("%s", async (_name, c) => {
    const source = sourceOf(c.body, c.arguments);
    const ways = (compile(source, null).graph.choice?.ways ?? []).filter(w => w.endsWith(`_${c.layouts}`));
    expect(ways).toContain(`library_${c.layouts}`);
    for (const way of ways) {
      expect(compile(source, way).graph.layouts?.length).toBeGreaterThan(0);
      for (const e of await errors(source, way)) expect([way, e <= 2e-3]).toEqual([way, true]);
    }
  });

  it("a padded product of what another, read as it lies, gives", async () => {
    const args = ["2, 24, 4, 8", "40, 24", "40, 45"].map(half);
    const source = sourceOf("F.linear(a.permute(0, 2, 3, 1).reshape(-1, 24), b) @ c", args);
    for (const way of ["library_viewed,library_padded", "pointers_viewed,pointers_padded"]) {
      const codes = compile(source, way).graph.layouts?.map(l => l.code) ?? [];
      expect(codes).toContain("read_as_it_lies");
      expect(codes.some(c => c.startsWith("padded_"))).toBe(true);
      for (const e of await errors(source, way)) expect([way, e <= 2e-3]).toEqual([way, true]);
    }
  });

  it("a tensor that is written between two products is copied for each", async () => {
    const source = sourceOf("(lambda x: (x @ b, x.index_put_((c,), x.new_ones(())) @ b))(a * 2)", [
      half("32, 33"),
      half("33, 40"),
      'torch.tensor([1, 5], device="cuda")',
    ]);
    const way = "pointers_padded";
    for (const e of await errors(source, way)) expect([way, e <= 2e-3]).toEqual([way, true]);
  });

  it.each([
    ["a @ a", "33, 33"],
    ["torch.addmm(a, a, a, beta=0.5)", "33, 33"],
    ["(lambda y: y @ y)(a.permute(0, 2, 3, 1).reshape(24, 24))", "2, 24, 3, 4"],
    ["(lambda y: torch.addmm(y, y, y))(a.permute(0, 2, 3, 1).reshape(28, 28))", "2, 28, 2, 7"],
  ])("a matrix that is multiplied by itself: %s", async (body, shape) => {
    const source = sourceOf(body, [half(shape)]);
    expect(compile(source, null).graph.choice?.ways).toContain("pointers");
    for (const way of ["library_padded", "pointers_padded", "pointers_viewed"])
      for (const e of await errors(source, way)) expect([way, e <= 2e-3]).toEqual([way, true]);
  });

  it("bits that are read as another dtype are no operand of a template, and not copied", async () => {
    const source = sourceOf("a.view(torch.bfloat16) @ b", [half("32, 33"), `${half("33, 40")}.to(torch.bfloat16)`]);
    expect(compile(source, null).graph.choice?.ways ?? []).toEqual([]);
    expect(compile(source, "pointers").graph.kernels.map(k => k.name)).toEqual(["extern_kernels.mm"]);
    for (const e of await errors(source, "pointers_padded")) expect(e).toBeLessThanOrEqual(2e-3);
  });
});
