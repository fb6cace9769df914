// What preset fuselens writes differently in kernels and around them: where it does, where it refuses, and that no other
// preset does.
import { describe, expect, it } from "vitest";
import { defaultSessionOptions, type PresetName, Session } from "../../../index";

interface Program {
  readonly body: string;
  readonly inputs: readonly string[];
  readonly before?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** standalone code of all graphs of a program, and its templates */
function compiled(preset: PresetName, p: Program): { readonly code: string; readonly templates: number } {
  const names = p.inputs.map((_, i) => `x${i}`).join(", ");
  const source = [
    "import torch",
    p.before ?? "",
    "@torch.compile",
    `def f(${names}):`,
    `    ${p.body}`,
    "",
    `f(${p.inputs.join(", ")})`,
  ].join("\n");
  const files = (path: string): string | undefined => (path === "f.py" ? source : undefined);
  const config = new Map(Object.entries(p.config ?? {}));
  const all = new Session(files, { ...defaultSessionOptions(), preset, target: "h200", config }).run(
    "f.py",
  ).compilations;
  return {
    code: all.map(c => c.outputCode.standalone).join("\n"),
    templates: all.flatMap(c => c.plan.kernels).filter(k => k.heuristic === "template").length,
  };
}

const normal = (shape: string, more = ""): string => `torch.randn(${shape}, device="cuda"${more})`;
const OTHERS = ["torch-2.11", "nightly-2026-11"] as const;

describe("sums along both axes", () => {
  const both = (shape: string): string =>
    compiled("fuselens", { body: "return x0.amax(0), x0.sum(1).sum()", inputs: [normal(shape)] }).code;

  it("leave a piece per tile of columns, and the rows' results themselves where one tile has all columns", () => {
    expect(both("4096, 4096")).toMatch(/tl\.store\(out_ptr\d \+ \(.* \+ \d*\*?tl\.program_id\(0\)\)/);
    const narrow = both("37, 41");
    expect(narrow).toMatch(/tl\.store\(out_ptr1 \+ \(r0_1\), tmp\d+, r0_mask\)/);
    expect(narrow).not.toMatch(/tl\.store\(.*program_id\(0\)/);
  });
});

describe("orders of programs", () => {
  const flipped: Program = { body: "return x0 - x0.flip(0)", inputs: [normal("8192, 4096")] };
  const symmetric: Program = { body: "return x0 + x0.t()", inputs: [normal("8192, 8192")] };

  it("meet in the middle of a tensor that is read both ways", () => {
    expect(compiled("fuselens", flipped).code).toContain("mirrored(tl.program_id(0), tl.cdiv(xnumel, XBLOCK))");
  });

  it("pair the tiles of a matrix and its transpose, which are square", () => {
    const { code } = compiled("fuselens", symmetric);
    expect(code).toContain("x_tile, y_tile = paired_tiles(");
    expect(code).toContain("grid='PairedTilesGrid'");
    const tiles = [...code.matchAll(/'XBLOCK': (\d+), 'YBLOCK': (\d+)/g)];
    expect(tiles.length).toBeGreaterThan(0);
    for (const [, x, y] of tiles) expect(x).toBe(y);
  });

  it("let parts of a launch take turns only where all read the same whole tensor", () => {
    const body = (second: string): Program => ({
      body: `return x0.roll(1, 1) * 2, ${second}`,
      inputs: [normal("8192, 4096")],
    });
    expect(compiled("fuselens", body("torch.relu(x0[:, 0::2] + x0[:, 1::2])")).code).toContain("turn = pid // 3");
    expect(compiled("fuselens", body("torch.relu(x0[:, :1024] + 1)")).code).not.toContain("turn = pid");
  });

  it("are left alone where the tensor fits the L2, and in other presets", () => {
    const small = { ...symmetric, inputs: [normal("1024, 1024")] };
    expect(compiled("fuselens", small).code).not.toContain("paired_tiles");
    for (const p of OTHERS)
      for (const q of [flipped, symmetric]) expect(compiled(p, q).code).not.toMatch(/mirrored|paired_tiles|turn = pid/);
  });
});

describe("additions into rows", () => {
  const table: Program = {
    body: "return x0.index_put((x1,), x2, accumulate=True)",
    inputs: [normal("20000, 256"), 'torch.randint(0, 20000, (65536,), device="cuda")', normal("65536, 256")],
  };

  it("sum the lines of a tile that go to one row first", () => {
    const { code } = compiled("fuselens", table);
    expect(code).toMatch(/add_rows\(out_ptr\d, tmp\d+, .*, TOGETHER\)/);
    // the first run decides whether that pays for the rows that are named
    for (const together of [0, 1]) expect(code).toContain(`'TOGETHER': ${together}}, num_warps`);
    for (const p of OTHERS) expect(compiled(p, table).code).toContain("tl.atomic_add(");
  });

  it("are the library's where every run must give the same bits, and nothing is tuned", () => {
    for (const preset of ["fuselens", "torch-2.11"] as const) {
      for (const p of [
        { ...table, config: { deterministic: true } },
        { ...table, before: "torch.use_deterministic_algorithms(True)" },
      ]) {
        const { code } = compiled(preset, p);
        expect(code).not.toMatch(/tl\.atomic_add|add_rows/);
        expect(code).toContain("aten.index_put_(");
        expect(code).toContain("call = repeatable(runner.call)");
        const lists = [...code.matchAll(/configs=\[\n([\s\S]*?)\n {4}\]/g)];
        expect(lists.length).toBeGreaterThan(0);
        for (const [, configs] of lists) expect(configs?.split("\n")).toHaveLength(1);
      }
    }
  });
});

describe("partial sums", () => {
  it("of rows and columns are added up by one launch", () => {
    const both: Program = {
      body: "return x0.sum(1), (x0 * x0).sum(0), x0.exp().sum(0)",
      inputs: [normal("32768, 1024")],
    };
    expect(compiled("fuselens", both).code.match(/sum_partials\(/g) ?? []).toHaveLength(1);
    for (const p of OTHERS) expect(compiled(p, both).code).not.toContain("sum_partials");
  });
});

describe("float32 products", () => {
  const product = (m: number, n: number, k: number): Program => ({
    body: "return x0 @ x1",
    inputs: [normal(`${m}, ${k}`), normal(`${k}, ${n}`)],
  });
  const large = product(4096, 8192, 1024);

  it("are computed in parts unasked where tiles fill the multiprocessors", () => {
    expect(compiled("fuselens", large).templates).toBe(1);
    expect(compiled("fuselens", product(256, 1024, 2048)).templates).toBe(0);
    for (const p of OTHERS) expect(compiled(p, large).templates).toBe(0);
  });

  it("stay the library's where TF32 is allowed", () => {
    for (const before of ['torch.set_float32_matmul_precision("high")', "torch.backends.cuda.matmul.allow_tf32 = True"])
      expect(compiled("fuselens", { ...large, before }).templates).toBe(0);
  });
});

describe("cheap functions", () => {
  const gelu = (x: string): Program => ({ body: "return torch.nn.functional.gelu(x0)", inputs: [x] });

  it("stand where their last bits are lost", () => {
    expect(compiled("fuselens", gelu(normal("4096, 4096"))).code).not.toContain("libdevice.erf");
    const softmax: Program = { body: "return x0.softmax(1)", inputs: [normal("4096, 1024", ", dtype=torch.bfloat16")] };
    expect(compiled("fuselens", softmax).code).not.toContain("libdevice.exp(");
  });

  it("leave exact what is stored as float32", () => {
    const { code } = compiled("fuselens", {
      body: "return torch.erf(x0), torch.exp(x0), torch.tanh(x0)",
      inputs: [normal("4096, 4096")],
    });
    for (const fn of ["erf", "exp", "tanh"]) expect(code).toContain(`libdevice.${fn}(`);
    for (const p of OTHERS) expect(compiled(p, gelu(normal("4096, 4096"))).code).toContain("libdevice.erf");
  });
});

describe("launches of several bodies", () => {
  it("have programs for all three dimensions of a tile", () => {
    const { code } = compiled("fuselens", {
      body: 'return torch.einsum("bikc,bjkc->bijc", x0 * x1[..., None], x2 * x1[..., None])',
      inputs: [normal("2, 18, 18, 16"), 'torch.rand(2, 18, 18, device="cuda") > 0.5', normal("2, 18, 18, 16")],
    });
    expect(code).toContain("num_blocks_0 = x_blocks_0 * y_blocks_0 * z_blocks_0");
    expect(code).toMatch(
      /x_pid_offset = local_pid % x_blocks_0\n +y_pid_offset = local_pid \/\/ x_blocks_0 % y_blocks_0\n +z_pid_offset = local_pid \/\/ \(x_blocks_0 \* y_blocks_0\)/,
    );
    expect(code).toMatch(/_body_0_\w+\(.*x_pid_offset, y_pid_offset, z_pid_offset, XBLOCK_0, YBLOCK_0, ZBLOCK_0\)/);
  });
});
