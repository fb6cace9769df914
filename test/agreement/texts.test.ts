// Output code of programs under preset torch-2.11, line for line what torch 2.11 wrote (its lines' digests:
// ../recorded/texts.json.gz).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { defaultSessionOptions, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { codeLines, type Digests, firstDifference } from "./digests";

const here = join(__dirname, "..");
const recorded = JSON.parse(gunzipSync(readFileSync(join(here, "recorded", "texts.json.gz"))).toString()) as Record<
  string,
  readonly Digests[]
>;

/** programs whose text is not torch's yet. FIXME: each */
const KNOWN: ReadonlyMap<string, string> = new Map([
  ["masked_scatter_ops", "bucketize and searchsorted are loops there"],
  ["math_special", "ndtri is a chain of loops there"],
]);

function outputCode(path: string): string[][] {
  const options = {
    ...defaultSessionOptions(),
    preset: "torch-2.11" as const,
    target: "h200",
    config: new Map<string, unknown>([["force_disable_caches", true]]),
  };
  const program = new Session(p => (p === path ? readFileSync(p, "utf8") : undefined), options).run(path);
  return program.compilations.map(c => codeLines(c.outputCode.inductor));
}

describe("output code of programs", () => {
  it("is recorded of each", () => {
    const programs = readdirSync(join(here, "texts")).filter(f => f.endsWith(".py"));
    expect(Object.keys(recorded)).toEqual(programs.map(f => f.slice(0, -3)).sort());
  });

  it.each(Object.keys(recorded))("is torch's: %s", name => {
    const ours = outputCode(join(here, "texts", `${name}.py`));
    const theirs = recorded[name] ?? [];
    const differences = ours.map((lines, i) => firstDifference(lines, theirs[i] ?? ""));
    const equal = differences.map(() => null);
    if (KNOWN.has(name)) expect(differences).not.toEqual(equal);
    else expect(differences).toEqual(equal);
    expect(ours.length).toBe(theirs.length);
  });
});
