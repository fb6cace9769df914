// The walkthrough's kinds of program with other shapes, dtypes, names and orders: every statement of their logs must hold
// for the program at hand. What the logs say is parsed and held against the program's own sizes and against itself.
import { describe, expect, it } from "vitest";
import { dumpedNodes, memoryDeps, outputs, runSource } from "./logs";

interface Variant {
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

function variants(): Variant[] {
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

const product = (xs: readonly number[]): number => xs.reduce((a, b) => a * b, 1);

/** largest value of a linear index over its ranges */
function largest(index: string, ranges: ReadonlyMap<string, string>): number {
  const names = [...ranges.keys()];
  const values = names.map(n => Number(ranges.get(n)) - 1);
  return Number(new Function(...names, `return ${index}`)(...values));
}

describe("logs of the walkthrough's kinds of program", () => {
  for (const v of variants()) {
    const log = outputs(runSource("/elsewhere/model.py", v.source)).get(1) ?? "";
    const messages = log.split(/^(?=\[(?:DEBUG|INFO|WARNING)\]:)/m);
    const message = (head: string): string => messages.find(m => m.replace(/^\[\w+\]:/, "").startsWith(head)) ?? "";

    it(`${v.name}: dumps state the program's sizes and agree with themselves`, () => {
      for (const head of ["BEFORE FUSION", "AFTER FUSION"]) {
        const nodes = dumpedNodes(message(head));
        expect(nodes.length, head).toBeGreaterThan(0);
        const written = new Set(nodes.flatMap(n => memoryDeps(n.fields.get("writes") ?? "").map(d => d.buffer)));
        for (const n of nodes) {
          const reads = [
            ...memoryDeps(n.fields.get("unmet_dependencies") ?? ""),
            ...memoryDeps(n.fields.get("met_dependencies") ?? ""),
          ];
          for (const d of memoryDeps(n.fields.get("unmet_dependencies") ?? ""))
            expect(written, `${n.name} waits for ${d.buffer}`).toContain(d.buffer);
          for (const d of memoryDeps(n.fields.get("met_dependencies") ?? ""))
            expect(d.buffer, n.name).toMatch(/^arg\d+_1$/);
          for (const d of reads) {
            const input = /^arg(\d+)_1$/.exec(d.buffer);
            if (!input) continue;
            const { shape } = v.inputs[Number(input[1])] ?? { shape: [] };
            expect(largest(d.index, d.ranges), `${n.name} reads ${d.buffer} at ${d.index}`).toBe(product(shape) - 1);
          }
          for (const [key, text] of n.fields) {
            const layout = /^arg(\d+)_1_layout$/.exec(key);
            if (!layout) continue;
            const input = v.inputs[Number(layout[1])];
            expect(text).toBe(
              `FixedLayout('cuda:0', torch.${input?.dtype}, size=[${input?.shape.join(", ")}], stride=[${strides(input?.shape ?? []).join(", ")}])`,
            );
          }
          const users = [...(n.fields.get("outputs") ?? "").matchAll(/name='(op\d+)'/g)].map(m => m[1] ?? "");
          const members = new Set(nodes.flatMap(x => x.name.split("_")));
          for (const u of users) expect(members, `${n.name} is used by ${u}`).toContain(u);
        }
      }
    });

    it(`${v.name}: the fusion log ends with as many nodes as are launched`, () => {
      const launches = messages.filter(m => /^\[DEBUG\]:Schedule:/.test(m)).length;
      const code = message("Output code:");
      const calls = [...code.matchAll(/^\s+(triton_\w+)\.run\(/gm)].map(m => m[1] ?? "");
      expect(calls.length).toBe(v.kernels);
      if (launches) expect(launches).toBeGreaterThanOrEqual(1);
      for (const name of calls) expect(code).toMatch(new RegExp(`^def ${name}\\(`, "m"));
      const totals = [...log.matchAll(/fused (\d+) nodes into (\d+) nodes/g)].map(
        m => [Number(m[1]), Number(m[2])] as const,
      );
      for (const [i, [before]] of totals.entries()) if (i > 0) expect(before).toBe(totals[i - 1]?.[1]);
      const fused = [...log.matchAll(/:fusing (\S+) with (\S+)$/gm)];
      const known = new Set(dumpedNodes(message("BEFORE FUSION")).map(n => n.name));
      for (const m of fused)
        for (const side of [m[1] ?? "", m[2] ?? ""]) for (const op of side.split("_")) expect(known).toContain(op);
    });

    it(`${v.name}: numels and strides of the kernels are the program's`, () => {
      const code = message("Output code:");
      const asserts = [...code.matchAll(/assert_size_stride(?:_grouped)?\((.*)\)$/gm)].map(m => m[1] ?? "").join(" ");
      for (const input of v.inputs) {
        const text = input.shape.length === 1 ? `(${input.shape[0]}, )` : `(${input.shape.join(", ")})`;
        expect(asserts).toContain(text);
      }
      for (const m of code.matchAll(/^ {4}(x|y|r0_)numel = (\d+)$/gm)) {
        const n = Number(m[2]);
        const divides = v.inputs.some(i => product(i.shape) % n === 0);
        expect(divides, `${m[1]}numel = ${n}`).toBe(true);
      }
    });
  }
});

function strides(shape: readonly number[]): number[] {
  return shape.map((_, i) => product(shape.slice(i + 1)));
}
