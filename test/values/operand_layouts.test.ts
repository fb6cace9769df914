// Padded, viewed and broadcast operands of matrix products on the CPU executor: every layout that a product may have computes
// what the unfused graph does.
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { WorkerPool } from "../../server/src/worker/pool";
import { runSource } from "../walkthrough/logs";

const pool = new WorkerPool({
  workerFile: join(__dirname, "..", "..", "gpu-worker", "dist", "main.cjs"),
  log: () => undefined,
});
afterAll(() => pool.dispose());

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

describe("layouts of operands", () => {
  it.each(Object.entries(CASES))("%s", async (_name, c) => {
    const names = ["a", "b", "c"].slice(0, c.arguments.length);
    const source = `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef f(${names.join(", ")}):\n    return ${c.body}\n\n\nwith torch.no_grad():\n    f(${c.arguments.join(", ")})\n`;
    const compile = (way: string | null, unfused = false) => {
      const config = new Map<string, unknown>([
        ["max_autotune", !unfused],
        ...(way === null ? [] : [["triton.template_form", way] as const]),
      ]);
      const program = runSource("/elsewhere/model.py", source, { wat: true, unfused, preset: "fuselens", config });
      const [compiled] = program.compilations;
      if (!compiled) throw new Error("nothing was compiled");
      expect(compiled.plan.blockers).toEqual([]);
      return compiled;
    };
    const graphOf = ({ plan, wat }: ReturnType<typeof compile>) => ({ plan, wat: [...wat], standalone: "" });
    const ways = (compile(null).graph.choice?.ways ?? []).filter(w => w.endsWith(`_${c.layouts}`));
    expect(ways).toContain(`library_${c.layouts}`);
    const unfused = graphOf(compile(null, true));
    for (const way of ways) {
      const compiled = compile(way);
      expect(compiled.graph.layouts?.length).toBeGreaterThan(0);
      const { result } = await pool.submit(
        { kind: "verify", pairs: [{ fused: graphOf(compiled), unfused }] },
        { fresh: true },
      );
      if (result.kind !== "verify") throw new Error("another answer");
      for (const o of result.pairs.flatMap(p => p.outputs)) expect([way, o.maxRel <= 2e-3]).toEqual([way, true]);
    }
  });
});
