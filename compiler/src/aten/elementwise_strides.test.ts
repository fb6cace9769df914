// Strides of results that are computed element by element, as tensors without data get them.
import { expect, test } from "vitest";
import { defaultSessionOptions, Session } from "../index";

function preGrad(text: string): string {
  const options = {
    ...defaultSessionOptions(),
    preset: "torch-2.11" as const,
    artifacts: new Set(["pre_grad_graphs" as const]),
  };
  const session = new Session(() => undefined, options);
  session.update("/m.py", text);
  return session
    .run("/m.py")
    .events.flatMap(e => (e.kind === "log" ? [e.record.message] : []))
    .join("\n");
}

const UNARY = `import torch

@torch.compile
def f(a, b, c):
    return a.sigmoid(), b.tanh(), c.exp(), a + c

f(
    torch.empty_strided((2, 8, 1, 1), (8, 1, 8, 8), device="cuda"),
    torch.empty_strided((3, 1, 5), (5, 77, 1), device="cuda"),
    torch.empty_strided((2, 8, 1, 1), (8, 1, 1, 1), device="cuda"),
)
`;

test("what is contiguous in both formats keeps the order of its strides", () => {
  const text = preGrad(UNARY);
  expect(text).toContain('sigmoid: "f32[2, 8, 1, 1][8, 1, 8, 8]cuda:0"');
  expect(text).toContain('tanh: "f32[3, 1, 5][5, 5, 1]cuda:0"');
  expect(text).toContain('exp: "f32[2, 8, 1, 1][8, 1, 1, 1]cuda:0"');
  expect(text).toContain('add: "f32[2, 8, 1, 1][8, 1, 8, 8]cuda:0"');
}, 120_000);
