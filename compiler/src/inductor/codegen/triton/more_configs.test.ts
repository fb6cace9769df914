import { describe, expect, it } from "vitest";
import { defaultSessionOptions, type PresetName, Session } from "../../../index";
import type { PlanKernel, TritonConfig } from "../../plan/types";

function kernelsOf(preset: PresetName, body: string, shapes: readonly string[]): readonly PlanKernel[] {
  const names = shapes.map((_, i) => `x${i}`).join(", ");
  const calls = shapes.map(s => `torch.randn(${s}, device="cuda")`).join(", ");
  const source = `import torch\n\n@torch.compile\ndef f(${names}):\n    ${body}\n\nf(${calls})\n`;
  const files = (p: string): string | undefined => (p === "f.py" ? source : undefined);
  const [c] = new Session(files, { ...defaultSessionOptions(), preset, target: "h200" }).run("f.py").compilations;
  return c?.plan.kernels ?? [];
}

/** the candidates of each kernel of a program */
const configsOf = (...program: Parameters<typeof kernelsOf>): readonly (readonly TritonConfig[])[] =>
  kernelsOf(...program).map(k => k.meta.configs);

const ROW_SUM = ["return (x0 * 2).sum(1)", ["8192, 16384"]] as const;

describe("configurations beyond Inductor's", () => {
  it("come after Inductor's own, which stays the only one elsewhere", () => {
    const [own] = configsOf("torch-2.11", ...ROW_SUM);
    const [more] = configsOf("fuselens", ...ROW_SUM);
    expect(own).toHaveLength(1);
    expect(more?.[0]).toEqual(own?.[0]);
    expect(more?.length).toBeGreaterThan(1);
  });

  it("are six at most, and no two alike", () => {
    for (const body of [
      "return x0.softmax(1)",
      "return x0.t() + 1 * x0",
      "return x0.sin()",
      "return x0.sum(0), x0.sum(1)",
    ]) {
      for (const list of configsOf("fuselens", body, ["4096, 4096"])) {
        expect(list.length).toBeLessThanOrEqual(6);
        expect(new Set(list.map(c => JSON.stringify(c))).size).toBe(list.length);
      }
    }
  });

  it("of tiles have blocks that divide what a program walks", () => {
    for (const rows of [4099, 12_345, 25_216]) {
      const [tiles] = kernelsOf("fuselens", "return x0.sum(0), x0.t().contiguous()", [`${rows}, 4096`]);
      const walked = Number(/rsplit_start = tl\.program_id\(1\) \* (\d+)/.exec(tiles?.triton ?? "")?.[1]);
      expect(walked).toBeGreaterThan(0);
      for (const c of tiles?.meta.configs ?? []) expect(walked % (c.kwargs.R0_BLOCK ?? 0)).toBe(0);
    }
  });
});
