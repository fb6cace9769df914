import { describe, expect, it } from "vitest";
import { defaultSessionOptions, Session } from "../../index";

function said(line: string): string[] {
  const text = `import torch\nimport torch.nn as nn\n${line}\n`;
  const { report } = new Session(p => (p === "/m.py" ? text : undefined), defaultSessionOptions()).run("/m.py");
  return report.diagnostics.map(d => d.message);
}

describe("sizes of new tensors", () => {
  it.each([
    ["torch.zeros(3, -1)", "Trying to create tensor with negative dimension -1: [3, -1]"],
    ["torch.empty(-2)", "Trying to create tensor with negative dimension -2: [-2]"],
    ["torch.randint(0, 9, (-4,))", "Trying to create tensor with negative dimension -4: [-4]"],
    ["nn.BatchNorm2d(-1)", "Trying to create tensor with negative dimension -1: [-1]"],
    ["torch.randn(32, 2**62)", "Storage size calculation overflowed with sizes=[32, 4611686018427387904]"],
  ])("%s", (line, message) => {
    expect(said(line)).toEqual([`RuntimeError: ${message}`]);
  });

  it("may be none", () => expect(said("torch.zeros(0, 5).sum()")).toEqual([]));
});
