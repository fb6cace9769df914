// Which products may have their sums in pieces, and what becomes of them.
import { describe, expect, it } from "vitest";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";
import { verifyPlan } from "../plan/verify";

interface Options {
  readonly preset?: "fuselens" | "torch-2.11";
  readonly way?: string;
  readonly dtype?: string;
}

function compile(body: string, shapes: readonly string[], { preset = "fuselens", way, dtype }: Options = {}) {
  const args = shapes.map(s => `torch.randn(${s}, device="cuda", dtype=torch.${dtype ?? "float16"})`).join(", ");
  const params = ["a", "b", "c"].slice(0, shapes.length).join(", ");
  const source = `import torch\n\n\n@torch.compile\ndef f(${params}):\n    return ${body}\n\n\nwith torch.no_grad():\n    f(${args})\n`;
  const session = new Session(p => (p === "/m.py" ? source : undefined), {
    ...defaultSessionOptions(),
    preset,
    target: "h200",
    config: new Map<string, unknown>([
      ["max_autotune", true],
      ...(way === undefined ? [] : [["triton.template_form", way] as const]),
    ]),
  });
  const [c] = session.run("/m.py").compilations;
  if (!c) throw new Error("nothing was compiled");
  expect(verifyPlan(c.plan)).toEqual([]);
  return c;
}

const splits = (ways: readonly string[] | undefined): string[] => (ways ?? []).filter(w => w.startsWith("split_"));
const offered = (m: number, n: number, k: number, o: Options = {}): string[] =>
  splits(compile("(a @ b).relu()", [`${m}, ${k}`, `${k}, ${n}`], o).graph.choice?.ways);

describe("products in pieces of the sum", () => {
  it("are offered where tiles are fewer than multiprocessors and the sum is long", () => {
    expect(offered(16, 4096, 16384)).toEqual(["split_2", "split_4", "split_8", "split_16"]);
    expect(offered(64, 1024, 32768)).toEqual(["split_8", "split_16", "split_32"]);
    // too few tiles for all multiprocessors however many pieces there are
    expect(offered(16, 64, 4096)).toEqual(["split_16"]);
    expect(offered(4096, 4096, 16384)).toEqual([]);
    expect(offered(16, 4096, 256)).toEqual([]);
  });

  it("are nothing that PyTorch's presets know", () => {
    expect(offered(16, 4096, 16384, { preset: "torch-2.11" })).toEqual([]);
    const kernels = compile("(a @ b).relu()", ["16, 16384", "16384, 4096"], { preset: "torch-2.11", way: "split_4" });
    expect(kernels.graph.kernels.map(k => k.name)).toEqual(
      compile("(a @ b).relu()", ["16, 16384", "16384, 4096"], { preset: "torch-2.11" }).graph.kernels.map(k => k.name),
    );
  });

  it("are two kernels, the second with the sum of the pieces and what follows", () => {
    const { plan, graph } = compile("torch.addmm(c, a, b, alpha=0.5).relu()", ["16, 16384", "16384, 4096", "4096"], {
      way: "split_8",
    });
    expect(graph.kernels.map(k => k.name.replace(/_fused_.*/, ""))).toEqual(["triton_tem", "triton_poi"]);
    const [parts, sum] = plan.kernels.map(k => k.triton);
    expect(parts).toContain("for koffset in tl.range(kfirst, min(kfirst + 2048, knumel), KBLOCK):");
    expect(sum?.match(/tl\.load\(/g)).toHaveLength(8 + 1);
    expect(sum).toContain("tl.maximum");
    expect(parts).not.toContain("atomic");
    const workspace = plan.steps.flatMap(s => (s.kind === "allocate" ? [s.tensor] : []))[0];
    expect(workspace).toMatchObject({ size: [8, 16, 4096], dtype: "float32" });
  });

  it("mask the depth where it is no multiple of a tile, and only there", () => {
    const text = (k: number): string =>
      compile("(a @ b).relu()", [`16, ${k}`, `${k}, 512`], { way: "split_16" }).plan.kernels[0]?.triton ?? "";
    expect(text(16384)).not.toContain("knumel - koffset");
    expect(text(16300)).toContain("knumel - koffset");
  });

  it("leave a product to the cost model that does not have so many", () => {
    const names = (way?: string) =>
      compile("(a @ b).relu()", ["512, 256", "256, 512"], way === undefined ? {} : { way }).graph.kernels.map(
        k => k.name,
      );
    expect(names("split_4")).toEqual(names());
  });
});
