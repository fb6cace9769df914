// Templates of matrix products and attention on the CPU executor, which runs them as products and the rest: fused as
// unfused, at sizes that are no multiple of any tile.
import { describe, expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";
import { sourceOf } from "./sources";

const run = cpuExecutor();

interface Case {
  readonly body: string;
  readonly arguments: readonly string[];
  /** generated kernels that hold a template */
  readonly templates: number;
  readonly tolerance: number;
}

const randn = (shape: string, dtype = "float32"): string =>
  `torch.randn(${shape}, device="cuda", dtype=torch.${dtype})`;

const CASES: Readonly<Record<string, Case>> = {
  "a linear layer and GELU": {
    body: "F.gelu(F.linear(a, b, c))",
    arguments: [randn("70, 33"), randn("45, 33"), randn("45")],
    templates: 1,
    tolerance: 1e-6,
  },
  "two products of one input and their gate": {
    body: "F.silu(a @ b.t()) * (a @ c.t())",
    arguments: ["70, 48", "56, 48", "56, 48"].map(s => randn(s, "bfloat16")),
    templates: 1,
    tolerance: 0,
  },
  "a batch with bias, alpha and beta": {
    body: "torch.relu(torch.baddbmm(c, a, b.transpose(1, 2), alpha=0.5, beta=2.0)) + 1",
    arguments: [randn("3, 17, 40"), randn("3, 21, 40"), randn("3, 1, 21")],
    templates: 1,
    tolerance: 1e-6,
  },
  "a residual, and statistics of the rows": {
    body: "(a @ b + c, (a @ b + c).pow(2).mean(-1))",
    arguments: [randn("64, 64"), randn("64, 96"), randn("64, 96")],
    templates: 2,
    tolerance: 1e-6,
  },
  "a product alone, and one that is cast": {
    body: "(torch.mm(a, b), (torch.mm(a, c) * 2).half())",
    arguments: [randn("30, 64"), randn("64, 96"), randn("64, 50")],
    templates: 2,
    tolerance: 0,
  },
  "a 1x1 convolution of channels-last images, bias and relu": {
    body: "F.relu(F.conv2d(a.to(memory_format=torch.channels_last), b, c))",
    arguments: ["2, 24, 5, 7", "40, 24, 1, 1", "40"].map(s => randn(s, "float16")),
    templates: 1,
    tolerance: 2e-3,
  },
  "attention with a bias": {
    body: "F.scaled_dot_product_attention(a, b, b, attn_mask=c)",
    arguments: [randn("2, 3, 40, 32", "float16"), randn("2, 3, 56, 32", "float16"), randn("40, 56", "float16")],
    templates: 1,
    tolerance: 0,
  },
  "causal attention with shared heads": {
    body: "F.scaled_dot_product_attention(a, b, c, is_causal=True, enable_gqa=True)",
    arguments: ["2, 4, 24, 16", "2, 2, 24, 16", "2, 2, 24, 16"].map(s => randn(s, "float16")),
    templates: 1,
    tolerance: 0,
  },
  "attention of bits that are read as another dtype, which a template would load as what they hold": {
    body: "F.scaled_dot_product_attention(a.view(torch.bfloat16), b, b, attn_mask=c)",
    arguments: [
      `${randn("2, 3, 40, 32", "bfloat16")}.view(torch.float16)`,
      randn("2, 3, 56, 32", "bfloat16"),
      randn("40, 56", "bfloat16"),
    ],
    templates: 0,
    tolerance: 0,
  },
};

/** few tiles and a long sum, in pieces of 512 */
const SPLIT: typeof CASES = {
  "a linear layer and GELU": {
    body: "F.gelu(F.linear(a, b, c))",
    arguments: [randn("17, 2000", "float16"), randn("45, 2000", "float16"), randn("45", "float16")],
    templates: 1,
    tolerance: 2e-3,
  },
  "alpha, beta and a residual, and statistics of the rows": {
    body: "(lambda h: (h, h.pow(2).mean(-1)))(torch.addmm(c, a, b, alpha=0.5, beta=2.0))",
    arguments: [randn("1, 2048"), randn("2048, 33"), randn("1, 33")],
    templates: 1,
    tolerance: 1e-6,
  },
  "fp8 scaled by row and column": {
    body: "torch._scaled_mm(a, b.t(), torch.full((16, 1), 0.5, device='cuda'), torch.full((1, 48), 0.25, device='cuda'), out_dtype=torch.bfloat16)",
    arguments: ["16, 2048", "48, 2048"].map(s => `${randn(s)}.to(torch.float8_e4m3fn)`),
    templates: 1,
    tolerance: 1e-2,
  },
};

/** operands that are computed on the way in */
const COMPUTED: typeof CASES = {
  "int8 weights with a scale per row, and relu": {
    body: "F.relu(F.linear(a, b.to(torch.float16) * c[:, None]))",
    arguments: [randn("17, 2000", "float16"), `(${randn("45, 2000")} * 9).to(torch.int8)`, randn("45", "float16")],
    templates: 1,
    tolerance: 2e-3,
  },
  "a gate, and a projection": {
    body: "(F.silu(a) * b) @ c",
    arguments: ["33, 2000", "33, 2000", "2000, 40"].map(s => randn(s, "bfloat16")),
    templates: 1,
    tolerance: 1e-2,
  },
  "both of a batch, turned, and what follows": {
    body: "torch.bmm(a.relu().transpose(1, 2), b.transpose(1, 2) * 2).sigmoid()",
    arguments: [randn("3, 50, 33"), randn("3, 40, 50")],
    templates: 1,
    tolerance: 1e-6,
  },
  "padding, of products one after another": {
    body: "F.pad(F.pad(a, (3, 2)) @ b, (1, 1)) @ c",
    arguments: [randn("33, 45"), randn("50, 40"), randn("42, 24")],
    templates: 2,
    tolerance: 1e-6,
  },
};

describe("templates", () => {
  for (const [form, cases] of [
    ["flattened", CASES],
    ["pointers", CASES],
    ["split_8", SPLIT],
    ["pointers_prologue", COMPUTED],
  ] as const)
    it.each(Object.entries(cases))(`%s (${form})`, async (_name, c) => {
      const source = sourceOf(c.body, c.arguments);
      const graph = (unfused: boolean) => {
        const config = new Map<string, unknown>(
          unfused
            ? []
            : [
                ["max_autotune", true],
                ["triton.template_form", form],
              ],
        );
        const program = runSource("/elsewhere/model.py", source, { wat: true, unfused, preset: "fuselens", config });
        const [compiled] = program.compilations;
        if (!compiled) throw new Error("nothing was compiled");
        expect(compiled.plan.blockers).toEqual([]);
        const templates = compiled.plan.kernels.filter(k => k.heuristic === "template").length;
        expect(templates).toBe(unfused ? 0 : c.templates);
        return loadable(compiled);
      };
      const result = await run({ kind: "verify", pairs: [{ fused: graph(false), unfused: graph(true) }] });
      for (const o of result.pairs.flatMap(p => p.outputs)) expect(o.maxRel).toBeLessThanOrEqual(c.tolerance);
    });
});
