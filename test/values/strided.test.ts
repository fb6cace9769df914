// Programs whose kernels once read outside of their buffers or lost digits, on the CPU executor: fused as unfused.
import { describe, expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";

const run = cpuExecutor();

const PROGRAMS: readonly [string, string, string, number][] = [
  [
    "a flipped reduction of which every second column is read",
    "F.log_softmax(x.flip(1), dim=1)[:, :, :, ::2]",
    "8, 17, 2, 12",
    1e-5,
  ],
  ["exponentials and logarithms in float64", "torch.log(torch.exp(x.double()) + 1e-3)", "33, 130", 1e-13],
  ["variance of rows far from zero", "(x + 1000.0).var(1)", "33, 1030", 1e-2],
  ["variance in float64 of rows far from zero", "(x.double() + 1e6).var(1)", "33, 1030", 1e-8],
];

describe("strides and digits", () => {
  for (const preset of ["torch-2.11", "fuselens"] as const)
    it.each(PROGRAMS)(`%s, under ${preset}`, async (_name, expression, shape, tolerance) => {
      const source = `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef f(x):\n    return ${expression}\n\n\nf(torch.randn(${shape}, device="cuda"))\n`;
      const graph = (unfused: boolean) => {
        const [c] = runSource("/elsewhere/model.py", source, { wat: true, unfused, preset }).compilations;
        if (!c) throw new Error("nothing was compiled");
        expect(c.plan.blockers).toEqual([]);
        return loadable(c);
      };
      const result = await run({ kind: "verify", pairs: [{ fused: graph(false), unfused: graph(true) }] });
      const [output] = result.pairs.flatMap(p => p.outputs);
      expect(output?.maxRel).toBeLessThanOrEqual(tolerance);
    });
});
