// Complex tensors and Fourier transforms on the CPU executor against their definitions: each program gives a difference
// that must vanish.
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { WorkerPool } from "../../server/src/worker/pool";
import { valuesJob, valuesReport } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";

const pool = new WorkerPool({
  workerFile: join(__dirname, "..", "..", "gpu-worker", "dist", "main.cjs"),
  log: () => undefined,
});
afterAll(() => pool.dispose());

const DFT = (n: number): string =>
  `torch.arange(${n}, device="cuda").unsqueeze(1) * torch.arange(${n}, device="cuda") * (-2 * torch.pi / ${n})`;

const PROGRAMS: readonly [string, string][] = [
  ["products are those of pairs", "(z * w).real - (x * y - y * x), (z * w).imag - (x * x + y * y)"],
  ["quotients undo products", "torch.view_as_real(z * w / w - z), (z - 2 * z + z).abs()"],
  [
    "absolute values, angles and conjugates",
    "z.abs() - (x * x + y * y).sqrt(), (z * z.conj()).imag, z.angle() - torch.atan2(y, x)",
  ],
  ["polar numbers", "torch.view_as_real(torch.polar(z.abs(), z.angle()) - z)"],
  [
    "a transform is the sum of its definition",
    `torch.fft.rfft(x).real - x @ torch.cos(${DFT(8)})[:, :5], torch.fft.rfft(x).imag - x @ torch.sin(${DFT(8)})[:, :5]`,
  ],
  ["odd lengths", `torch.fft.fft(x[:, :7]).imag - x[:, :7] @ torch.sin(${DFT(7)})`],
  [
    "back and forth",
    "torch.fft.irfft(torch.fft.rfft(x)) - x, torch.fft.irfft2(torch.fft.rfft2(x)) - x, torch.view_as_real(torch.fft.ifft2(torch.fft.fft2(z)) - z)",
  ],
  ["half a spectrum of odd length", "torch.fft.irfft(torch.fft.rfft(x[:, :7]), n=7) - x[:, :7]"],
];

describe("complex tensors", () => {
  it.each(PROGRAMS)("%s", async (_name, expression) => {
    const source = `import torch


@torch.compile
def f(x, y):
    z = torch.complex(x, y)
    w = torch.view_as_complex(torch.stack([y, x], -1))
    return ${expression}


f(torch.randn(4, 8, device="cuda"), torch.randn(4, 8, device="cuda"))
`;
    const program = runSource("/elsewhere/model.py", source, { wat: true, replay: true });
    expect(program.diagnostics.filter(d => d.severity === "error")).toEqual([]);
    const { result } = await pool.submit(valuesJob(program), { fresh: true });
    if (result.kind !== "values") throw new Error("another answer");
    const report = valuesReport(program, result);
    const outputs = report.calls.flatMap(c => c.outputs);
    expect(outputs.length).toBeGreaterThan(0);
    for (const o of outputs) expect(Number(o.abs_sum) / o.shape.reduce((a, b) => a * b, 1)).toBeLessThan(2e-6);
  });
});
