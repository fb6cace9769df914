// Complex tensors and Fourier transforms on the CPU executor against their definitions: each program gives a difference
// that must vanish.
import { describe, expect, it } from "vitest";
import { valuesJob, valuesReport } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";

const run = cpuExecutor();

const DFT = (n: number): string =>
  `torch.arange(${n}, device="cuda").unsqueeze(1) * torch.arange(${n}, device="cuda") * (-2 * torch.pi / ${n})`;

const TURN = `(torch.arange(8, device="cuda") * 3 % 8).expand(4, 8)`;
const BACKWARDS = `torch.arange(3, -1, -1, device="cuda")`;

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
  [
    "matrix products are those of the parts",
    "(z @ w.T).real - (x @ y.T - y @ x.T), (z @ w.T).imag - (x @ x.T + y @ y.T)",
  ],
  [
    "batches of products, with something added",
    "torch.einsum('bij,kj->bik', z[None], w).abs() - (z @ w.T)[None].abs(), torch.baddbmm((z @ w.T)[None], z[None], w.T[None], beta=-1).abs(), torch.mv(z, w[0]).real - (x @ y[0] - y @ x[0])",
  ],
  [
    "views of views are what their own calls say",
    "z.unsqueeze(2).reshape(1, 4, 8).imag - y[None], torch.einsum('ij,ij->i', z, w).imag - (x * x + y * y).sum(1)",
  ],
  [
    "convolutions have the bias once",
    "torch.view_as_real(F.conv1d(z[None], w[:, :4, None], w[:, 0]) - (w[:, :4] @ z + w[:, :1])[None])",
  ],
  [
    "numbers with two parts",
    "(z * (2 + 3j)).real - (2 * x - 3 * y), (z.masked_fill(x > 0, 1 - 2j).imag + 2) * (x > 0)",
  ],
  [
    "elements are read by index",
    `z[${BACKWARDS}].imag - y.flip(0), torch.view_as_real(z.gather(1, ${TURN}) - torch.complex(x.gather(1, ${TURN}), y.gather(1, ${TURN})))`,
  ],
  [
    "elements are written by index",
    `torch.zeros_like(z).scatter(1, ${TURN}, z).imag - torch.zeros_like(y).scatter(1, ${TURN}, y), torch.index_put(z, (${BACKWARDS},), w).real - y.flip(0)`,
  ],
  [
    "rolled, padded, repeated",
    "torch.roll(z, 1, 1).imag - torch.roll(y, 1, 1), F.pad(z, (1, -2)).real - F.pad(x, (1, -2)), z.repeat(2, 1, 2).imag - y.repeat(2, 1, 2)",
  ],
  [
    "views of a part",
    "z[1].imag - y[1], z.split(3, 1)[2].real - x[:, 6:], z.unbind(1)[-1].imag - y[:, 7], z.diagonal(-1).imag - y.diagonal(-1), z.unfold(1, 3, 2).real - x.unfold(1, 3, 2)",
  ],
  [
    "variances add those of the parts",
    "z.var(1) - x.var(1) - y.var(1), z.var(0, correction=0) - x.var(0, correction=0) - y.var(0, correction=0)",
  ],
  [
    "functions and their inverses",
    "torch.view_as_real(z.asinh().sinh() - z), torch.view_as_real(z.acos().cos() - z), torch.view_as_real(z.atan().tan() - z), torch.view_as_real(torch.exp(torch.log1p(z)) - 1 - z), torch.view_as_real(torch.expm1(z) + 1 - torch.exp(z)), torch.view_as_real(torch.exp(torch.log2(z) * 0.6931471805599453) - z), torch.view_as_real(torch.exp(torch.log10(z) * 2.302585092994046) - z)",
  ],
  [
    "rotary embeddings",
    "torch.view_as_real(z * torch.polar(torch.ones_like(x), x)) - torch.stack([x * x.cos() - y * x.sin(), x * x.sin() + y * x.cos()], -1)",
  ],
  ["half a spectrum of odd length", "torch.fft.irfft(torch.fft.rfft(x[:, :7]), n=7) - x[:, :7]"],
];

describe("complex tensors", () => {
  it.each(PROGRAMS)("%s", async (_name, expression) => {
    const source = `import torch
import torch.nn.functional as F


@torch.compile
def f(x, y):
    z = torch.complex(x, y)
    w = torch.view_as_complex(torch.stack([y, x], -1))
    return ${expression}


f(torch.randn(4, 8, device="cuda"), torch.randn(4, 8, device="cuda"))
`;
    const program = runSource("/elsewhere/model.py", source, { wat: true, replay: true });
    expect(program.diagnostics.filter(d => d.severity === "error")).toEqual([]);
    const report = valuesReport(program, await run(valuesJob(program)));
    const outputs = report.calls.flatMap(c => c.outputs);
    expect(outputs.length).toBeGreaterThan(0);
    for (const o of outputs) expect(Number(o.abs_sum) / o.shape.reduce((a, b) => a * b, 1)).toBeLessThan(2e-6);
  });
});
