// What a whole program shows of the CPU executor: an index out of bounds is told with its source line, halves are summed
// in float32 and rounded once.
import { describe, expect, it } from "vitest";
import { type ValuesReport, valuesJob, valuesReport } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";

const run = cpuExecutor();

async function values(source: string): Promise<ValuesReport> {
  const program = runSource("/elsewhere/model.py", source, { wat: true, replay: true, preset: "torch-2.11" });
  return valuesReport(program, await run(valuesJob(program)));
}

const program = (body: string, call: string): string =>
  `import torch\n\n\n@torch.compile\ndef f(x, i):\n    y = x + 1\n    return ${body}\n\n\n${call}\n`;

describe("an index out of bounds", () => {
  const call = (at: number): string =>
    `f(torch.ones(10, 4, device="cuda"), torch.full((6, 4), ${at}, device="cuda", dtype=torch.int64))`;

  it.each(["torch.gather(y, 0, i)", "y[i]", "y.scatter(0, i, 2.0)", "y.scatter_add(0, i, y[:6])"])(
    "of %s is told with its size and line",
    async body => {
      await expect(values(program(body, call(9)))).resolves.toBeTruthy();
      await expect(values(program(body, call(12)))).rejects.toThrow(
        /index 12 is out of bounds for a dimension of size 10 \(line (6, )?7\)/,
      );
    },
  );
});

describe("halves", () => {
  it.each(["bfloat16", "float16"])("of %s are summed in float32 and rounded once", async dtype => {
    const call = `f(torch.full((3, 4096), 0.25, device="cuda", dtype=torch.${dtype}), 0)`;
    const got = await values(program("y.sum(1), y.mean(1), y.cumsum(1)[:, -1]", call));
    // 1.25 each; sums of halves would stop growing at 2 to the power of their digits
    const [sum, mean] = got.calls[0]?.outputs ?? [];
    expect(sum?.sum).toBe(3 * 5120);
    expect(mean?.sum).toBe(3 * 1.25);
  });
});
