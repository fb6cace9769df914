// The walkthrough's kinds of program with other shapes, dtypes, names and orders: every statement of their logs must hold
// for the program at hand. What the logs say is parsed and held against the program's own sizes and against itself.
import { describe, expect, it } from "vitest";
import { dumpedNodes, memoryDeps, outputs, runSource } from "./logs";
import { variants } from "./variant_programs";

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
