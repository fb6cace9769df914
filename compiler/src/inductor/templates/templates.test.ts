// Which forms a product's template has, and what is measured of equal products.
import { describe, expect, it } from "vitest";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";
import { verifyPlan } from "../plan/verify";

interface Options {
  readonly target?: string;
  readonly config?: readonly (readonly [string, unknown])[];
  readonly choices?: ReadonlyMap<string, { readonly microseconds: Record<string, number>; readonly where: string }>;
}

function compile(body: string, shapes: readonly string[], o: Options = {}, name = "f") {
  const args = shapes.map(s => `torch.randn(${s}, device="cuda", dtype=torch.bfloat16)`).join(", ");
  const params = ["a", "b", "c"].slice(0, shapes.length).join(", ");
  const source = `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef ${name}(${params}):\n    return ${body}\n\n\n${name}(${args})\n`;
  const session = new Session(p => (p === "/m.py" ? source : undefined), {
    ...defaultSessionOptions(),
    preset: "fuselens",
    target: o.target ?? "h200",
    config: new Map<string, unknown>([["max_autotune", true], ...(o.config ?? [])]),
    ...(o.choices ? { choices: o.choices } : {}),
  });
  const [c] = session.run("/m.py").compilations;
  if (!c) throw new Error("nothing was compiled");
  expect(verifyPlan(c.plan)).toEqual([]);
  return c;
}

const RELU: readonly [string, readonly string[]] = ["(a @ b).relu()", ["512, 256", "256, 512"]];
const STORE = /out_tiles\d*\.store\(/;
const forced = (form: string): Options => ({ config: [["triton.template_form", form]] });

describe("templates of matrix products", () => {
  it("fetch tiles through descriptors where the GPU can and rows are aligned", () => {
    expect(compile(...RELU).graph.choice?.ways).toEqual([
      "library",
      "flattened",
      "flattened_stores",
      "persistent",
      "persistent_stores",
      "pointers",
    ]);
    expect(compile(...RELU, { target: "a100" }).graph.choice?.ways).toEqual(["library", "pointers"]);
    const odd = compile("(a @ b).relu()", ["512, 255", "255, 512"]).graph.choice?.ways;
    expect(odd?.slice(0, 3)).toEqual(["library", "pointers", "library_padded"]);
    expect(odd).toContain("flattened_padded");
  });

  it("are among the backends that products may have, as the library is", () => {
    // so small that the library is estimated to be the faster one
    const names = (backends: string): string[] => {
      const { graph } = compile("a @ b", ["8, 32", "32, 16"], { config: [["max_autotune_gemm_backends", backends]] });
      expect(graph.choice?.ways.includes("library") ?? true).toBe(backends.includes("ATEN"));
      return graph.kernels.map(k => k.name.replace(/_fused_.*/, ""));
    };
    expect(names("ATEN,TRITON,CPP")).toEqual(["extern_kernels.mm"]);
    expect(names("TRITON")).toEqual(["triton_tem"]);
    expect(names("ATEN")).toEqual(["extern_kernels.mm"]);
    const fused = compile(...RELU, { config: [["max_autotune_gemm_backends", "aten"]] }).graph;
    expect(fused.kernels.map(k => k.name)).toEqual(["extern_kernels.mm", "triton_poi_fused_relu_0"]);
  });

  it("may store their results through descriptors", () => {
    const text = (way: string): string => compile(...RELU, forced(way)).plan.kernels[0]?.triton ?? "";
    for (const form of ["flattened", "persistent"]) {
      expect(text(form)).not.toMatch(STORE);
      expect(text(`${form}_stores`)).toMatch(STORE);
    }
  });

  it("hold what follows in one kernel, or leave it to a kernel of its own where the library is asked for", () => {
    const one = compile(...RELU, forced("flattened")).graph.kernels.map(k => k.name);
    expect(one).toEqual(["triton_tem_fused_mm_relu_0"]);
    const two = compile(...RELU, forced("library")).graph.kernels.map(k => k.name);
    expect(two).toEqual(["extern_kernels.mm", "triton_poi_fused_relu_0"]);
  });

  it("compute two products of one input in one kernel, not two of different inputs", () => {
    const shapes = ["256, 128", "512, 128", "512, 128"];
    const pair = compile("F.silu(a @ b.t()) * (a @ c.t())", shapes, forced("persistent"));
    expect(pair.graph.kernels).toHaveLength(1);
    expect(pair.plan.kernels[0]?.triton).toContain("acc1 = tl.dot(a, b, acc1)");
    const other = compile("F.silu(a @ b.t()) * (b @ a.t()).t()", shapes.slice(0, 2), forced("persistent"));
    expect(other.graph.kernels.length).toBeGreaterThan(1);
  });

  it("mask what is no multiple of a tile, and only that", () => {
    const text = (rows: string): string =>
      compile("(a @ b).relu()", [`${rows}, 256`, "256, 512"], forced("pointers")).plan.kernels[0]?.triton ?? "";
    expect(text("512")).not.toContain("mask");
    expect(text("500")).toContain("ymask = yindex < ynumel");
    expect(text("500")).not.toContain("xmask");
  });

  it("are none of products without a single result", () => {
    for (const shapes of [
      ["0, 5, 64", "0, 64, 5"],
      ["3, 0, 64", "3, 64, 5"],
      ["3, 5, 64", "3, 64, 0"],
    ])
      for (const way of ["flattened", "pointers", "split_2"])
        expect(compile("torch.bmm(a, b)", shapes, forced(way)).plan.kernels).toEqual([]);
  });

  it("are known by sizes, strides, dtypes and what follows, not by names", () => {
    const key = (...[body, shapes, o, name]: Parameters<typeof compile>) =>
      compile(body, shapes, o, name).graph.choice?.key;
    const own = key(...RELU);
    expect(key(RELU[0], RELU[1], {}, "another")).toBe(own);
    expect(key(RELU[0], ["512, 256", "256, 1024"])).not.toBe(own);
    expect(key("(a @ b).sigmoid()", RELU[1])).not.toBe(own);
    expect(key(RELU[0], RELU[1], { target: "h100" })).not.toBe(own);
  });

  it("take the way that was the fastest where it was measured", () => {
    const key = compile(...RELU).graph.choice?.key ?? "";
    for (const [microseconds, chosen] of [
      [{ library: 5, pointers: 4, flattened: 6 }, "pointers"],
      [{ library: 3, pointers: 4, flattened: 6 }, "library"],
    ] as const) {
      const c = compile(...RELU, { choices: new Map([[key, { microseconds, where: "a test" }]]) });
      expect(c.graph.choice).toMatchObject({ chosen, measured: microseconds, where: "a test" });
      expect(c.plan.kernels.some(k => k.heuristic === "template")).toBe(chosen !== "library");
    }
  });

  it("take a way each where the measured one names several", () => {
    const [body, shapes] = ["((a @ b).relu() @ c).sigmoid()", ["512, 256", "256, 512", "512, 768"]] as const;
    const { choice } = compile(body, shapes).graph;
    expect(choice?.products).toHaveLength(2);
    const taken = (way: string) => {
      const microseconds = { [way]: 1, library: 2 };
      return compile(body, shapes, { choices: new Map([[choice?.key ?? "", { microseconds, where: "a test" }]]) })
        .graph;
    };
    const kinds = (graph: ReturnType<typeof taken>): string[] =>
      graph.kernels.map(k => /^triton_(tem|poi)|^extern_kernels/.exec(k.name)?.[0] ?? k.name);
    expect(kinds(taken("flattened,pointers"))).toEqual(["triton_tem", "triton_tem"]);
    expect(kinds(taken("flattened,library"))).toEqual(["triton_tem", "extern_kernels", "triton_poi"]);
    expect(kinds(taken("library,pointers"))).toEqual(["extern_kernels", "triton_poi", "triton_tem"]);
    expect(taken("library,pointers").choice?.chosen).toBe("library,pointers");
    // what names another number of products, or ways that there are not, is not taken
    for (const wrong of ["flattened,library,library", "flattened,sideways"])
      expect(kinds(taken(wrong))).toEqual(kinds(compile(body, shapes).graph));
  });

  it("are one product where they are equal", () => {
    const count = (body: string): number | undefined =>
      compile(body, ["512, 512", "512, 512", "512, 512"]).graph.choice?.products.length;
    expect(count("(a @ b).relu(), (c @ b).relu()")).toBe(1);
    // the second one's first operand may be computed on the way in
    expect(count("((a @ b).relu() @ c).relu()")).toBe(2);
  });
});
