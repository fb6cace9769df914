// What one operation of a kernel writes in place another one of the same kernel reads: fused as unfused.
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { WorkerPool } from "../../server/src/worker/pool";
import { runSource } from "../walkthrough/logs";

const pool = new WorkerPool({
  workerFile: join(__dirname, "..", "..", "gpu-worker", "dist", "main.cjs"),
  log: () => undefined,
});
afterAll(() => pool.dispose());

const SOURCE = `import torch


@torch.compile
def step(params, means, grads):
    torch._foreach_lerp_(means, grads, 0.1)
    torch._foreach_addcdiv_(params, means, [g.abs() + 1 for g in grads], -0.5)


step(*[[torch.randn(33, 5, device="cuda") for _ in range(3)] for _ in range(3)])
`;

it.each(["torch-2.11", "nightly-2026-11", "fuselens"] as const)(
  "a mean that is moved in place is read as it was written, under %s",
  async preset => {
    const graph = (unfused: boolean) => {
      const [c] = runSource("/elsewhere/model.py", SOURCE, { wat: true, unfused, preset }).compilations;
      if (!c) throw new Error("nothing was compiled");
      return { plan: c.plan, wat: [...c.wat], standalone: "" };
    };
    const [fused, unfused] = [graph(false), graph(true)];
    expect(fused.wat.length).toBeLessThan(unfused.wat.length);
    const { result } = await pool.submit({ kind: "verify", pairs: [{ fused, unfused }] }, { fresh: true });
    if (result.kind !== "verify") throw new Error("another answer");
    const outputs = result.pairs.flatMap(p => p.outputs);
    expect(outputs.length).toBeGreaterThanOrEqual(6);
    for (const o of outputs) expect(o.maxRel).toBeLessThanOrEqual(1e-6);
  },
);
