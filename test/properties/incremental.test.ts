// A session that follows the typing says what a session that sees the text for the first time says, byte for byte: over
// random edits of programs, undone now and then, with other files that are imported and edited too.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSessionOptions, type Program, Session } from "@fuselens/compiler";
import { describe, it } from "vitest";
import { edit, generator } from "./edits";
import { same } from "./same_program";

const PROGRAMS = [
  "../examples/mlp_block.py",
  "../examples/rms_norm.py",
  "programs/graphbreak_item_branch.py",
  "programs/graphbreak_print_middle.py",
  "programs/dynamic_mark_dynamic_cat.py",
  "programs/block_swiglu_mlp.py",
  "programs/mutate_inplace_chain.py",
  "programs/norm_batch_norm_train_stats.py",
  "programs/pointwise_polynomial_loop.py",
];
const EDITS = Number(process.env["FUSELENS_EDITS"] ?? 12);
const SEED = Number(process.env["FUSELENS_SEED"] ?? 20261130);

const options = { ...defaultSessionOptions(), artifacts: new Set<never>() };
const path = "/project/model.py";

function fresh(files: ReadonlyMap<string, string>): Program {
  return new Session(p => files.get(p), options).run(path);
}

describe("a session over many edits", { timeout: 300_000 }, () => {
  it.each(PROGRAMS)("reports of %s what a fresh session reports", name => {
    const random = generator(SEED + PROGRAMS.indexOf(name));
    const files = new Map([[path, readFileSync(join(__dirname, "..", name), "utf8")]]);
    const session = new Session(p => files.get(p), { ...options, memory: 50_000_000 });
    const past: string[] = [];
    const trail: string[] = [];
    for (let i = 0; i <= EDITS; i++) {
      const text = files.get(path) ?? "";
      same(session.run(path), fresh(files), `${trail.join(", ")}\n${text}`);
      past.push(text);
      const undone = random() < 0.2 ? past[Math.floor(random() * past.length)] : undefined;
      const next = undone === undefined ? edit(text, random) : { text: undone, what: "undo" };
      trail.push(next.what);
      files.set(path, next.text);
    }
  });
});
