// The walkthrough's kinds of program with other shapes, dtypes, names and orders, and what is expected of each.
export interface Variant {
  readonly kind: string;
  readonly name: string;
  readonly source: string;
  /** name, shape and dtype of the graph's tensor inputs in order of use */
  readonly inputs: readonly { readonly shape: readonly number[]; readonly dtype: string }[];
  /** launches expected after fusion */
  readonly kernels: number;
}

const HEADER = `import torch
from torch import nn
torch._logging.set_logs(ir_pre_fusion=True, fusion=True, ir_post_fusion=True, schedule=True, output_code=True)
`;
const tensor = (name: string, shape: readonly number[], dtype: string): string =>
  `${name} = torch.randn(${shape.join(", ")}, device="cuda", dtype=torch.${dtype})\n`;

function program(
  args: readonly (readonly [string, readonly number[], string])[],
  body: string,
  decorator = "@torch.compile",
  patch = "",
): string {
  const names = args.map(a => a[0]).join(", ");
  const call = patch ? `with torch._inductor.config.patch({${patch}}):\n    fn(${names})\n` : `fn(${names})\n`;
  return `${HEADER}\n${decorator}\ndef fn(${names}):\n${body
    .split("\n")
    .map(l => `    ${l}`)
    .join("\n")}\n\n${args.map(a => tensor(...a)).join("")}${call}`;
}

export function variants(): Variant[] {
  const out: Variant[] = [];
  const add = (
    kind: string,
    args: readonly (readonly [string, readonly number[], string])[],
    body: string,
    kernels: number,
    patch = "",
  ): void => {
    out.push({
      kind,
      name: `${kind} ${args.map(a => `${a[2]}[${a[1].join(",")}]`).join(" ")}`,
      source: program(args, body, "@torch.compile", patch),
      inputs: args.map(a => ({ shape: a[1], dtype: a[2] })),
      kernels,
    });
  };
  for (const [shape, dtype, name] of [
    [[32, 48], "float32", "x"],
    [[7, 9, 11], "float32", "inp"],
    [[256], "float64", "a"],
    [[64, 64], "float16", "t"],
    [[5, 1024], "bfloat16", "z"],
  ] as const) {
    add(
      "gelu",
      [[name, shape, dtype]],
      `half = ${name} * 0.5\ninner = torch.erf(${name} * 0.7071067811865476) + 1\nreturn half * inner`,
      1,
    );
  }
  for (const [rows, a, b, dtype] of [
    [16, 100, 120, "float32"],
    [64, 2000, 300, "float32"],
    [10, 60, 60, "float32"],
    [33, 1500, 1500, "float16"],
    [128, 64, 4096, "float32"],
  ] as const) {
    add(
      "sums",
      [
        ["p", [rows, a], dtype],
        ["q", [rows, b], dtype],
      ],
      "return p.sum(dim=1) + (q + 3).sum(dim=1)",
      a === b ? 1 : 2,
    );
  }
  for (const [rows, cols, dtype] of [
    [512, 64, "float32"],
    [1024, 512, "float32"],
    [300, 700, "float32"],
    [2048, 96, "bfloat16"],
    [640, 1000, "float16"],
  ] as const) {
    add(
      "independent",
      [
        ["u", [rows, cols], dtype],
        ["v", [rows, cols * 2], dtype],
      ],
      "return u.amax(dim=-1), v.sum(dim=-1)",
      1,
      '"combo_kernels": True, "combo_kernel_per_subkernel_blocks": True',
    );
  }
  for (const [rows, cols, dtype] of [
    [256, 512, "float32"],
    [512, 256, "float32"],
    [192, 384, "float16"],
    [1024, 128, "float32"],
    [100, 300, "float32"],
  ] as const) {
    add("reorder", [["m", [rows, cols], dtype]], "return m.t().contiguous(), m.sum(dim=-1)", 1);
  }
  for (const [rows, cols, dtype] of [
    [32768, 512, "float32"],
    [65536, 256, "float32"],
    [32768, 768, "bfloat16"],
    [16384, 1024, "float32"],
    [49152, 640, "float32"],
  ] as const) {
    add("mix_order", [["w", [rows, cols], dtype]], "return w.sum(dim=1), w.sum(dim=0)", 1, '"split_reductions": False');
  }
  for (const [rows, cols, group] of [
    [64, 4096, 16],
    [128, 8192, 32],
    [256, 2048, 8],
    [32, 16384, 16],
    [128, 4096, 64],
  ] as const) {
    // few long rows: the row sum is cut in two stages, and what is cut is not nested
    add(
      "nested",
      [["k", [rows, cols], "float32"]],
      `rms = torch.sqrt(torch.mean(k * k, dim=-1, keepdim=True) + 1e-6)\nreturn (k / rms).reshape(${rows}, ${cols / group}, ${group}).abs().amax(dim=-1)`,
      rows < 264 && cols > 8192 ? 3 : 1,
    );
  }
  return out;
}
