// What one operation of a kernel writes in place another one of the same kernel reads: fused as unfused.
import { expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";

const run = cpuExecutor();

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
      return loadable(c);
    };
    const [fused, unfused] = [graph(false), graph(true)];
    expect(fused.wat.length).toBeLessThan(unfused.wat.length);
    const result = await run({ kind: "verify", pairs: [{ fused, unfused }] });
    const outputs = result.pairs.flatMap(p => p.outputs);
    expect(outputs.length).toBeGreaterThanOrEqual(6);
    for (const o of outputs) expect(o.maxRel).toBeLessThanOrEqual(1e-6);
  },
);
