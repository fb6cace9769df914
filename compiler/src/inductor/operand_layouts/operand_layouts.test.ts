// How operands of products and convolutions are laid out, and what is said of it.
import { describe, expect, it } from "vitest";
import type { PresetName } from "../../presets";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";
import { verifyPlan } from "../plan/verify";

interface Options {
  readonly preset?: PresetName;
  readonly target?: string;
  readonly config?: readonly (readonly [string, unknown])[];
  readonly choices?: ReadonlyMap<string, { readonly microseconds: Record<string, number>; readonly where: string }>;
  readonly dtype?: string;
}

const TUNED = [["max_autotune", true]] as const;

function compile(body: string, shapes: readonly string[], o: Options = {}) {
  const dtype = o.dtype ?? "float16";
  const args = shapes.map(s => `torch.randn(${s}, device="cuda", dtype=torch.${dtype})`).join(", ");
  const params = ["a", "b", "c"].slice(0, shapes.length).join(", ");
  const lines = body.split("\n").map(l => `    ${l}\n`);
  const source = `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef f(${params}):\n${lines.join("")}\n\nwith torch.no_grad():\n    f(${args})\n`;
  const session = new Session(p => (p === "/m.py" ? source : undefined), {
    ...defaultSessionOptions(),
    preset: o.preset ?? "fuselens",
    target: o.target ?? "h200",
    config: new Map<string, unknown>(o.config ?? []),
    ...(o.choices ? { choices: o.choices } : {}),
  });
  const [c] = session.run("/m.py").compilations;
  if (!c) throw new Error("nothing was compiled");
  expect(verifyPlan(c.plan)).toEqual([]);
  return c.graph;
}

const codes = (g: ReturnType<typeof compile>): string[] => (g.layouts ?? []).map(l => l.code);
const kinds = (g: ReturnType<typeof compile>): string[] =>
  g.kernels.map(k => /^triton_(tem|poi|red|per)|^extern_kernels\.\w+/.exec(k.name)?.[0] ?? k.name);

const ODD: readonly [string, readonly string[]] = ["return a @ b", ["2048, 4093", "4093, 4095"]];

describe("products of odd sizes", () => {
  it("are templates on padded rows where the library is slow, asked or not", () => {
    for (const config of [[], TUNED]) {
      const g = compile(...ODD, { config });
      expect(kinds(g)).toEqual(["triton_poi", "triton_tem"]);
      expect(g.layouts).toMatchObject([
        { code: "padded_rows", operand: "arg0_1", stride: ["4096", "1"], other_stride: ["4093", "1"], written_by: 0 },
        { code: "padded_rows", operand: "arg1_1", stride: ["4096", "1"], other_stride: ["4095", "1"], written_by: 0 },
      ]);
      for (const l of g.layouts ?? []) expect(l.estimate_us?.taken).toBeLessThan(l.estimate_us?.other ?? 0);
      expect(g.layouts?.map(l => l.bytes)).toEqual([2 * 2048 * 4093 * 2, 2 * 4093 * 4095 * 2]);
    }
  });

  it("are padded by the kernel that computes the operand, in no pass of its own", () => {
    const g = compile("return (a * 2 + 1) @ b", ["16384, 1021", "1021, 2048"]);
    expect(kinds(g)).toEqual(["triton_poi", "triton_tem"]);
    expect(g.layouts).toMatchObject([{ code: "padded_rows", bytes: 0, written_by: 0 }]);
  });

  it("need no padding where only the result's rows are off", () => {
    const g = compile("return a @ b.t()", ["512, 768", "50257, 768"]);
    expect(kinds(g)).toEqual(["triton_tem"]);
    expect(g.layouts).toMatchObject([{ code: "off_alignment", bytes: 0, written_by: null }]);
  });

  it("have padded shapes where there are no templates to cut at the edges", () => {
    const g = compile(...ODD, { target: "a100" });
    expect(kinds(g)).toEqual(["triton_poi", "extern_kernels.mm", "triton_poi"]);
    expect(codes(g)).toEqual(["padded_shape", "padded_shape"]);
    expect(g.layouts?.[0]).toMatchObject({ shape: ["2048", "4096"], other_shape: ["2048", "4093"] });
  });

  it("stay as they are where copies cost more than they save, and that is said", () => {
    const g = compile("return a @ b", ["16, 4093", "4093, 65"]);
    expect(kinds(g)).toEqual(["extern_kernels.mm"]);
    expect(new Set(codes(g))).toEqual(new Set(["off_alignment"]));
  });

  it("share what is copied for two of them", () => {
    const g = compile("return (a @ b).relu() + torch.sigmoid(a @ c)", ["2048, 4093", "4093, 4096", "4093, 4096"]);
    const [x, y] = (g.layouts ?? []).filter(l => l.operand === "arg0_1");
    expect(x?.written_by).toBe(y?.written_by);
  });

  it.each([{ preset: "torch-2.11" as const }, { config: [["shape_padding", false]] as const }, { dtype: "float32" }])(
    "are left alone under %j",
    o => {
      const g = compile(...ODD, o);
      expect(g.layouts).toBeUndefined();
      expect(kinds(g).filter(k => k !== "triton_tem")).toEqual(o.dtype === undefined ? ["extern_kernels.mm"] : []);
    },
  );

  it("offer each layout as a way, and take the one that was measured fastest", () => {
    const { choice } = compile(...ODD, { config: TUNED });
    expect(choice?.ways).toEqual([
      "library",
      "pointers",
      "library_padded",
      "flattened_padded",
      "flattened_stores_padded",
      "persistent_padded",
      "persistent_stores_padded",
      "pointers_padded",
    ]);
    const taken = (microseconds: Record<string, number>) =>
      compile(...ODD, { config: TUNED, choices: new Map([[choice?.key ?? "", { microseconds, where: "a test" }]]) });
    const shape = taken({ library: 9, pointers: 8, library_padded: 3, flattened_padded: 4 });
    expect(codes(shape)).toEqual(["padded_shape", "padded_shape"]);
    expect(shape.layouts?.[0]?.measured_us).toEqual({ taken: 3, other: 8 });
    const given = taken({ library: 2, pointers: 8, library_padded: 3 });
    expect(kinds(given)).toEqual(["extern_kernels.mm"]);
    expect(given.layouts?.[0]).toMatchObject({ code: "off_alignment", measured_us: { taken: 2, other: 3 } });
  });
});

describe("copies that lowering makes of permuted operands", () => {
  const PLACES = "return F.gelu(F.linear(a.permute(0, 2, 3, 1).reshape(-1, 256), b))";

  it("are left out where a batched product reads the operand as it lies", () => {
    const g = compile(PLACES, ["16, 256, 32, 32", "1024, 256"], { config: TUNED });
    expect(kinds(g)).toEqual(["triton_tem"]);
    expect(g.layouts).toMatchObject([
      {
        code: "read_as_it_lies",
        operand: "arg0_1",
        shape: ["16", "1024", "256"],
        stride: ["262144", "1", "1024"],
        other_shape: ["16384", "256"],
        bytes: -2 * 16384 * 256 * 2,
      },
    ]);
  });

  it.each([
    ["rows begin off alignment", "return a.permute(0, 2, 3, 1).reshape(-1, 256) @ b", ["16, 256, 7, 7", "256, 64"]],
    [
      "the copy is read elsewhere",
      "y = a.permute(0, 2, 3, 1).reshape(-1, 256)\nreturn y @ b, y",
      ["16, 256, 32, 32", "256, 1024"],
    ],
    [
      "the source is written over",
      "y = a.permute(0, 2, 3, 1).reshape(-1, 256)\na.zero_()\nreturn y @ b",
      ["16, 256, 32, 32", "256, 1024"],
    ],
    ["depth has two steps", "return a.transpose(1, 2).reshape(-1, 512) @ b", ["4, 8, 128, 64", "512, 1024"]],
  ] as const)("stay where %s", (_why, body, shapes) => {
    expect(codes(compile(body, shapes, { config: TUNED }))).not.toContain("read_as_it_lies");
  });

  it("stay where tiles would be mostly empty, and that is said", () => {
    const g = compile("return a.permute(0, 2, 3, 1).reshape(-1, 64) @ b", ["4096, 64, 4, 4", "64, 1024"], {
      config: TUNED,
    });
    expect(g.layouts).toMatchObject([{ code: "copied_to_rows", other_shape: ["4096", "16", "64"] }]);
  });
});

it("a batch that shares a matrix has its tiles fetched through descriptors", () => {
  const g = compile("return F.gelu(F.linear(a.transpose(1, 2), b, c))", ["16, 1024, 512", "2048, 1024", "2048"], {
    config: TUNED,
  });
  expect(g.choice?.ways).toContain("flattened_stores");
});

describe("results", () => {
  const turned = "return F.relu(a @ b.t()).t().contiguous()";

  it("are written as they are read by the product's template", () => {
    const g = compile(turned, ["4096, 1024", "2048, 1024"], { config: TUNED });
    expect(kinds(g)).toEqual(["triton_tem"]);
    expect(g.layouts).toMatchObject([
      { code: "written_as_read", stride: ["1", "4096"], other_stride: ["2048", "1"], bytes: -2 * 4096 * 2048 * 2 },
    ]);
    const heads = "return F.gelu(a @ b.t()).view(16, 256, 16, 128).transpose(1, 2).contiguous()";
    expect(codes(compile(heads, ["4096, 1024", "2048, 1024"], { config: TUNED }))).toEqual(["written_as_read"]);
  });

  it("are turned by a kernel of their own where PyTorch has it so", () => {
    const g = compile(turned, ["4096, 1024", "2048, 1024"], { config: TUNED, preset: "torch-2.11" });
    expect(kinds(g)).toEqual(["extern_kernels.mm", "triton_poi"]);
    expect(g.layouts).toBeUndefined();
  });
});

describe("convolutions", () => {
  const CONV = "return F.relu(F.conv2d(a, b, padding=1))";
  const SHAPES = ["8, 128, 28, 28", "128, 128, 3, 3"];

  it("say what channels-last costs", () => {
    for (const preset of ["fuselens", "torch-2.11"] as const) {
      const g = compile(CONV, SHAPES, { preset });
      expect(g.layouts).toMatchObject([
        { code: "channels_last", operand: expect.any(String), stride: ["100352", "1", "3584", "128"] },
        { code: "channels_last", other_stride: ["1152", "9", "3", "1"] },
      ]);
      expect(g.layouts?.map(l => l.bytes)).toEqual([2 * 8 * 128 * 28 * 28 * 2, 2 * 128 * 128 * 9 * 2]);
    }
    expect(compile(CONV, SHAPES, { config: [["layout_optimization", false]] }).layouts).toBeUndefined();
  });

  it("of one element and float32 stay convolutions where these may use TF32 and products may not", () => {
    const [body, shapes] = [
      "return F.conv2d(a.to(memory_format=torch.channels_last), b)",
      ["2, 64, 8, 8", "64, 64, 1, 1"],
    ];
    const kernels = (config: Options["config"], preset?: PresetName) =>
      kinds(compile(body, shapes, { dtype: "float32", config: config ?? [], ...(preset ? { preset } : {}) }));
    expect(kernels(TUNED)).toContain("extern_kernels.convolution");
    expect(kernels([...TUNED, ["float32_matmul_precision", "high"]])).toContain("extern_kernels.mm");
    expect(kernels([...TUNED, ["conv_1x1_as_mm", true]])).toContain("extern_kernels.mm");
    expect(kernels(TUNED, "torch-2.11")).toContain("extern_kernels.mm");
  });
});
