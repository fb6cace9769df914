// Numbers that are no sizes: torch's own errors, not the analysis's.
import { describe, expect, it } from "vitest";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";

function messageOf(expression: string): string {
  const source = `import torch\nh = 10 ** 400\n${expression}\n`;
  const { diagnostics } = new Session(() => source, defaultSessionOptions()).run("/m.py");
  return diagnostics
    .filter(d => d.severity === "error")
    .map(d => d.message)
    .join("\n");
}

describe("sizes that no tensor has", () => {
  it.each(["torch.empty(h)", "torch.zeros(4).view(h, 4)", "torch.zeros(4, 4).sum(h)", "torch.zeros(4).roll(2 ** 64)"])(
    "%s overflows an int64",
    expression => {
      expect(messageOf(expression)).toBe("RuntimeError: Overflow when unpacking long");
    },
  );

  it("pieces of size 0 are of empty dims alone", () => {
    expect(messageOf("torch.zeros(3).split(0)")).toContain("split_size can only be 0 if dimension size is 0");
    expect(messageOf("torch.zeros(0).split(0)")).toBe("");
    expect(messageOf("torch.zeros(3)[:2 ** 63 - 1]")).toBe("");
  });
});
