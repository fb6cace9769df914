// The walkthrough's notebook as given prints what the notebook shows. Needs its text: the folder named by
// FUSELENS_TRUTH (or ../shared/truth); elsewhere the test says that it did not run.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outputs, runSource } from "./logs";

const truth = process.env.FUSELENS_TRUTH ?? join(__dirname, "..", "..", "..", "shared", "truth");
const notebook = join(truth, "notebook", "walkthrough.ipynb");

/** what can't be the same anywhere: cache paths, hashes, measured times, the autotuning rows */
function normal(text: string): string[] {
  return text
    .split("\n")
    .map(l =>
      l
        .trimEnd()
        .replace(/^# kernel path: .*/, "# kernel path: PATH")
        .replace(/os\.path\.join\(cache_dir\(\), '[^']*', '[^']*'\)/, "PATH")
        .replace(/'backend_hash': '[0-9A-F]+'/, "'backend_hash': HASH")
        .replace(/(Output code written to:) .*/, "$1 PATH")
        .replace(/\b\d+\.\d+ ?ms\b/g, "T ms")
        .replace(/\b\d+\.\d+%/g, "P%")
        .replace(/\b\d+\.\d+x speedup/, "Sx speedup")
        .replace(/takes [\d.]+ seconds and [\d.]+ seconds precompiling/, "takes T seconds and T seconds precompiling"),
    )
    .filter(l => !/^( {2}(mm|triton_mm_\d+) |\{"num_choices")/.test(l))
    .join("\n")
    .trim()
    .split("\n");
}

describe("the walkthrough", () => {
  if (!existsSync(notebook)) {
    it("was not replayed: its text is not here", () => {
      console.log(`no walkthrough at ${truth}: it was not replayed`);
    });
    return;
  }
  const cells = outputs(runSource("/elsewhere/walkthrough.ipynb", readFileSync(notebook, "utf8")));
  for (let cell = 1; cell <= 10; cell++) {
    it(`prints cell ${cell} line for line`, () => {
      const expected = readFileSync(join(truth, "notebook", "cells", `out${cell}.txt`), "utf8");
      expect(normal(cells.get(cell) ?? "")).toEqual(normal(expected));
    });
  }
});
