import { describe, expect, it } from "vitest";
import { Session } from "../../../session";
import { defaultSessionOptions } from "../../../session_options";

const program = (body: string): string =>
  [
    "import torch",
    "",
    "@torch.compile",
    "def f(x, y):",
    `    return ${body}`,
    "",
    'f(torch.randn(64, 128, device="cuda"), torch.randn(64, 128, device="cuda"))',
    "",
  ].join("\n");

function code(body: string, preset: "fuselens" | "torch-2.11" = "fuselens"): string {
  const files = (path: string): string | undefined => (path === "f.py" ? program(body) : undefined);
  const p = new Session(files, { ...defaultSessionOptions(), preset }).run("f.py");
  return p.compilations.map(c => c.outputCode.standalone).join("\n");
}

describe("kernels over concatenations", () => {
  it("compute each costly piece for its own elements", () => {
    const text = code("torch.cat([x.sin(), y.cos()], 1).tanh()");
    expect(text.match(/noinline=True/g)).toHaveLength(2);
    expect(text.match(/tl_math\.sin/g)).toHaveLength(1);
    expect(text).not.toContain("tl.where");
  });
  it("stay whole where the pieces are cheap", () => {
    expect(code("torch.cat([x, y], 1) * 2")).not.toContain("noinline");
  });
  it("stay whole under Inductor's presets", () => {
    expect(code("torch.cat([x.sin(), y.cos()], 1).tanh()", "torch-2.11")).not.toContain("noinline");
  });
});

describe("wide rows", () => {
  const softmax = (width: number): string => `x.reshape(-1, ${width}).softmax(-1)`;
  it("are held in one block under preset fuselens, and looped over elsewhere", () => {
    expect(code(softmax(4096))).toContain("R0_BLOCK: tl.constexpr = 4096");
    expect(code(softmax(4096), "torch-2.11")).toContain("for r0_offset in");
  });
});
