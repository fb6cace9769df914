// Bytes that nodes move, as Inductor's count_bytes has them.
import { expect, test } from "vitest";
import { defaultSessionOptions, Session } from "../../index";

const bytesOf = (text: string): number[] => {
  const session = new Session(() => undefined, { ...defaultSessionOptions(), preset: "torch-2.11", target: "h200" });
  session.update("/m.py", text);
  return session.run("/m.py").report.graphs.map(g => g.bytes);
};

const PUSH = `import torch

@torch.compile
def push(buf, x):
    buf[:, :-1] = buf[:, 1:].clone()
    buf[:, -1] = x
    return buf.mean(1)

push(torch.randn(64, 16, 8, device="cuda"), torch.randn(64, 8, device="cuda"))
`;

test("a write in place that waits for a reader's result counts that result once more", () => {
  const [buf, x, mean] = [4 * 64 * 16 * 8, 4 * 64 * 8, 4 * 64 * 8];
  const means = buf + x + mean + mean + buf; // with the sums that they come from, and the new buffer
  const copy = buf + buf + buf + mean; // what is copied, the input before and after; it waits for the sums
  expect(bytesOf(PUSH)).toEqual([means + copy]);
}, 120_000);
