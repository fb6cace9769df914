// What integer and bool inputs hold where no program gives them, and that kernels over them agree fused and unfused.
import { describe, expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";

const run = cpuExecutor();

const ints = (shape: string): string => `torch.zeros(${shape}, dtype=torch.int64, device="cuda")`;
const floats = (shape: string): string => `torch.randn(${shape}, device="cuda")`;

/** what it shows, expression of a (and b), their values, the bounds of those that are integers or bools */
const PROGRAMS: readonly [string, string, readonly string[], readonly (number | undefined)[]][] = [
  ["arithmetic", "(a * 3 + 1) ^ b", [ints("5, 7"), ints("5, 7")], [4, 4]],
  ["a mask", "torch.where(a, b, -b)", [`${ints("5, 7")} == 0`, floats("5, 7")], [2]],
  ["rows of a table", "F.embedding(a, b) * 2", [ints("4, 9"), floats("11, 8")], [11]],
  [
    "an index through views, casts and clamps",
    "b[a.int().t().clamp(0, 10).long()] + 1",
    [ints("4, 9"), floats("11, 8")],
    [11],
  ],
  ["the smaller of two dimensions", "b[a, :].sum() + b[:, a]", [ints("6"), floats("5, 3")], [3]],
  ["gather", "torch.gather(b, 1, a) + 1", [ints("4, 9"), floats("4, 6")], [6]],
  ["classes of a loss", "F.cross_entropy(b, a)", [ints("12"), floats("12, 10")], [10]],
  ["sums at an index", "torch.zeros_like(b).scatter_add(0, a, b)", [ints("7"), floats("7")], [7]],
  [
    "an added index_put",
    "torch.zeros(5, 3, device='cuda').index_put((a,), b, accumulate=True)",
    [ints("9"), floats("9, 3")],
    [5],
  ],
  ["the last of a mask", "b[a.sum() - 1] * 2", [`${ints("9")} == 0`, floats("9, 3")], [undefined]],
  ["an index of one dimension and a number", "b[a] * a", [ints("9"), floats("7")], [7]],
  ["an index that is computed", "b[a // 2 + 5] + 1", [ints("9"), floats("7")], [undefined]],
  ["an index through floats", "b[(a.float() * 1.5).long()] + 1", [ints("9"), floats("7")], [undefined]],
  ["elements that are overwritten", "b.scatter(0, a, b + 1)", [ints("7"), floats("7")], [undefined]],
];

describe("integers of no program", () => {
  for (const preset of ["torch-2.11", "fuselens"] as const)
    it.each(PROGRAMS)(`%s, under ${preset}`, async (_name, expression, values, below) => {
      const source = `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef f(a, b):\n    return ${expression}\n\n\nf(${values.join(", ")})\n`;
      const graph = (unfused: boolean) => {
        const c = runSource("/elsewhere/model.py", source, { wat: true, unfused, preset }).compilations.at(-1);
        if (!c) throw new Error("nothing was compiled");
        expect(c.plan.blockers).toEqual([]);
        return loadable(c);
      };
      const fused = graph(false);
      const inputs = fused.plan.inputs.flatMap(i => ("dtype" in i && /^(int|bool)/.test(i.dtype) ? [i.below] : []));
      expect(inputs).toEqual(below);
      const result = await run({ kind: "verify", pairs: [{ fused, unfused: graph(true) }] });
      for (const output of result.pairs.flatMap(p => p.outputs)) expect(output.maxRel).toBeLessThanOrEqual(1e-5);
    });
});
