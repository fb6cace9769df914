// Edits that change a graph: an operator put in another's place, or one more behind an expression. A session that keeps
// what earlier versions made (traced calls, loops, kernels of one form) says what a session says that knows nothing, byte
// for byte.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSessionOptions, type Program, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { generator, operatorEdit } from "./edits";
import { same } from "./same_program";

const PROGRAMS = ["gpt", "llama", "mlp_block", "rms_norm", "transpose_sum"];
const EDITS = Number(process.env["FUSELENS_EDITS"] ?? 4);
const SEED = Number(process.env["FUSELENS_SEED"] ?? 20261130);

const options = { ...defaultSessionOptions(), artifacts: new Set<never>() };
const path = "/project/model.py";

const kernelsOf = (p: Program): string =>
  JSON.stringify(p.compilations.map(c => [c.graph.aten, c.plan.kernels.map(k => k.triton)]));

describe("a session over edits of operators", { timeout: 300_000 }, () => {
  it.each(PROGRAMS)("reports of examples/%s.py what a fresh session reports", name => {
    const random = generator(SEED + PROGRAMS.indexOf(name));
    let text = "";
    let next = readFileSync(join(__dirname, "..", "..", "examples", `${name}.py`), "utf8");
    const session = new Session(() => text, { ...options, memory: 64_000_000 });
    const trail: string[] = [];
    const seen = new Set<string>();
    for (let i = 0; i <= EDITS; i++) {
      const before = text;
      text = next;
      const program = session.run(path);
      same(program, new Session(() => text, options).run(path), `${trail.join("\n")}\n${text}`);
      seen.add(kernelsOf(program));
      // an edit that nothing compiles with is undone
      const edited = operatorEdit(program.compilations.length > 0 ? text : before, random);
      trail.push(edited.what);
      next = edited.text;
    }
    expect(seen.size).toBeGreaterThan(1);
  });
});
