// The example models compile, forward and backward, into the number of kernels that stands here. A number that changes is
// a change of what the user sees: look at it, then write the new one down.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSessionOptions, type Program, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";

const folder = join(__dirname, "..", "..", "examples");

/** per graph in order: launches of Triton kernels + calls of libraries */
const KERNELS: Readonly<Record<string, readonly string[]>> = {
  "center.py": ["inference 1 + 0"],
  "dit.py": ["forward 15 + 18", "backward 47 + 30"],
  "gpt.py": ["forward 21 + 13", "backward 44 + 26"],
  "llama.py": ["forward 13 + 17", "backward 18 + 32"],
  "mamba.py": ["forward 13 + 27", "backward 26 + 52"],
  "mlp_block.py": ["inference 3 + 2"],
  "resnet.py": ["forward 18 + 10", "backward 8 + 11"],
  "rms_norm.py": ["inference 2 + 0"],
  "transpose_sum.py": ["inference 3 + 0"],
  "unet.py": ["forward 62 + 38", "backward 101 + 48"],
  "vit.py": ["forward 21 + 15", "backward 57 + 27"],
  "whisper.py": ["forward 47 + 47", "backward 75 + 92"],
};

function run(file: string): Program {
  const path = join(folder, file);
  const options = { ...defaultSessionOptions(), preset: "torch-2.11" as const };
  return new Session(p => (p === path ? readFileSync(p, "utf8") : undefined), options).run(path);
}

describe("examples", () => {
  for (const file of readdirSync(folder).filter(f => f.endsWith(".py"))) {
    it(`${file} compiles into the kernels that are written down`, () => {
      const program = run(file);
      expect(program.diagnostics.filter(d => d.severity === "error")).toEqual([]);
      const counts = program.report.graphs.map(g => {
        const launched = g.kernels.filter(k => k.type !== "NopKernelSchedulerNode");
        const triton = launched.filter(k => k.name.startsWith("triton_")).length;
        return `${g.kind} ${triton} + ${launched.length - triton}`;
      });
      expect(counts).toEqual(KERNELS[file]);
    });
  }
});
