// Graphs of single operators lowered to loops, held against torch 2.11's: kernels, layouts, indices and loop bodies.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ourLoops, recordedLoops } from "./testing/recorded_operators";

/** graphs whose loops differ, one a line: FIXME each; a line may go as soon as its loops agree */
const KNOWN = join(__dirname, "testing/operators_differ.txt");
const known = new Set(
  existsSync(KNOWN)
    ? readFileSync(KNOWN, "utf8")
        .split("\n")
        .filter(l => l && !l.startsWith("#"))
    : [],
);

/** FUSELENS_DIFFS=FILE: where the differing lines are written, to look at */
const report = process.env.FUSELENS_DIFFS;

for (const sizes of ["static", "dynamic"] as const) describeLoops(sizes);

function describeLoops(sizes: "static" | "dynamic"): void {
  const recorded = recordedLoops(sizes);
  describe.skipIf(recorded.length === 0)(`loops of recorded operators over ${sizes} sizes`, () => {
    for (const kind of ["inference", "forward", "backward"] as const) {
      it(`are torch's in ${kind} graphs, but for those known to differ`, () => {
        const differing: string[] = [];
        const shown: string[] = [];
        for (const r of recorded) {
          if (r.kind !== kind) continue;
          const ours = attempt(() => ourLoops(r));
          if (ours === r.loops) continue;
          const name = `${sizes === "dynamic" ? "dynamic " : ""}${kind} ${r.code.replace(/\n/g, "; ")} | ${r.inputs}`;
          differing.push(name);
          shown.push(`### ${name}`, ...difference(r.loops.split("\n"), ours.split("\n")));
        }
        if (report !== undefined) writeFileSync(`${report}.${sizes}.${kind}`, `${shown.join("\n")}\n`);
        expect(differing.filter(n => !known.has(n))).toEqual([]);
      }, 300_000);
    }
  });
}

function attempt(body: () => string): string {
  try {
    return body();
  } catch (e) {
    return `! ${e instanceof Error ? e.message : String(e)}`;
  }
}

/** the first lines that differ */
function difference(theirs: readonly string[], ours: readonly string[]): string[] {
  let first = 0;
  while (first < theirs.length && theirs[first] === ours[first]) first++;
  return [0, 1, 2, 3].flatMap(i => [`  - ${theirs[first + i] ?? ""}`, `  + ${ours[first + i] ?? ""}`]);
}
