// Joint and inference graphs of single operators, held against what torch 2.11 made of them, statement by statement:
// node names, arguments, shapes, strides and dtypes.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compare, recordedOperators, withoutNames } from "./testing/recorded_operators";

/** snippets whose graph differs, one a line: FIXME each; a line may go as soon as its graph agrees */
const KNOWN = join(__dirname, "testing/differs.txt");
const known = new Set(
  existsSync(KNOWN)
    ? readFileSync(KNOWN, "utf8")
        .split("\n")
        .filter(l => l && !l.startsWith("#"))
    : [],
);

/** FUSELENS_DIFFS=FILE: the differing statements are written to FILE.static and FILE.dynamic, to look at */
const report = process.env.FUSELENS_DIFFS;

for (const sizes of ["static", "dynamic"] as const) {
  const operators = recordedOperators(sizes);
  // arithmetic on sizes takes names whether or not it leaves a node: names are compared for known sizes alone
  const compared = sizes === "static" ? (s: readonly string[]) => s : withoutNames;

  describe.skipIf(operators.length === 0)(`graphs of recorded operators over ${sizes} sizes`, () => {
    it("are torch's, but for those known to differ", () => {
      const differing: string[] = [];
      const shown: string[] = [];
      let total = 0;
      for (const r of operators) {
        for (const mode of ["joint", "infer"] as const) {
          const c = compare(r, mode);
          if (c === undefined) continue;
          total++;
          const [recorded, ours] = [compared(c.recorded), compared(c.ours)];
          if (c.error === undefined && recorded.join("\n") === ours.join("\n")) continue;
          const name = `${sizes === "dynamic" ? "dynamic " : ""}${mode} ${r.code.replace(/\n/g, "; ")} | ${r.inputs}`;
          differing.push(name);
          shown.push(`### ${name}`, ...difference(recorded, ours, c.error));
        }
      }
      if (report !== undefined)
        writeFileSync(`${report}.${sizes}`, `${total - differing.length} of ${total} agree\n${shown.join("\n")}\n`);
      expect(differing.filter(n => !known.has(n))).toEqual([]);
    }, 120_000);

    it.runIf(operators.some(r => r.jointOrigins))(
      "come from the operators that torch notes",
      () => {
        const differing: string[] = [];
        for (const r of operators) {
          for (const mode of ["joint", "infer"] as const) {
            const wanted = r[`${mode}Origins`]?.split(" ");
            const c = wanted === undefined ? undefined : compare(r, mode);
            if (wanted === undefined || c === undefined || c.error !== undefined) continue;
            // writes into inputs were recorded apart
            const ours = c.origins.filter((o, i) => o !== "aten.copy_" || wanted[i] === o);
            const at = ours.findIndex((o, i) => o !== wanted[i]);
            // the same calls are asked for above
            if (ours.length !== wanted.length || at < 0) continue;
            differing.push(`${mode} ${r.code} | ${r.inputs}: call ${at} comes from ${ours[at]}, not ${wanted[at]}`);
          }
        }
        expect(differing).toEqual([]);
      },
      120_000,
    );
  });
}

/** the first statements that differ */
function difference(recorded: readonly string[], ours: readonly string[], error: string | undefined): string[] {
  if (error !== undefined) return [`  ! ${error}`];
  const length = Math.max(recorded.length, ours.length);
  let first = 0;
  while (first < length && recorded[first] === ours[first]) first++;
  const lines: string[] = [];
  for (let i = first; i < Math.min(first + 4, length); i++)
    lines.push(`  - ${recorded[i] ?? ""}`, `  + ${ours[i] ?? ""}`);
  return lines;
}
