// Kernels of the walkthrough's kinds of program compute what their unfused nodes compute, on the CPU executor.
import { describe, expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { cpuExecutor } from "../worker/executor";
import { runSource } from "./logs";
import { variants } from "./variant_programs";

const run = cpuExecutor();

/** relative to the mean magnitude; halves round once more where they are not fused */
const TOLERANCE = { float64: 1e-12, float32: 1e-4, float16: 2e-2, bfloat16: 1e-1 } as Record<string, number>;
/** larger tensors would only test the machine's patience */
const MAX_ELEMENTS = 5_000_000;

describe("values of the walkthrough's kinds of program", () => {
  for (const v of variants()) {
    const elements = v.inputs.reduce((n, i) => n + i.shape.reduce((a, b) => a * b, 1), 0);
    if (elements > MAX_ELEMENTS) continue;
    it(`${v.name}: fused equals unfused`, async () => {
      const graph = (unfused: boolean) => {
        const program = runSource("/elsewhere/model.py", v.source, { wat: true, unfused });
        const [c] = program.compilations;
        if (!c) throw new Error("nothing was compiled");
        expect(c.plan.blockers).toEqual([]);
        return loadable(c);
      };
      const result = await run({ kind: "verify", pairs: [{ fused: graph(false), unfused: graph(true) }] });
      const outputs = result.pairs.flatMap(p => p.outputs);
      expect(outputs.length).toBeGreaterThan(0);
      for (const o of outputs) expect(o.maxRel).toBeLessThanOrEqual(TOLERANCE[v.inputs[0]?.dtype ?? ""] ?? 0);
    });
  }
});
