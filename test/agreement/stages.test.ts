// What every stage logs of programs under preset torch-2.11, line for line what torch 2.11 logged (its lines' digests:
// ../recorded/stages.json.gz).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { defaultSessionOptions, formatRecord, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { type Digests, firstDifference } from "./digests";
import { logStages, STAGES } from "./stages";

const here = join(__dirname, "..");
const recorded = JSON.parse(gunzipSync(readFileSync(join(here, "recorded", "stages.json.gz"))).toString()) as Record<
  string,
  Record<string, Digests>
>;

function ours(path: string): string {
  const options = {
    ...defaultSessionOptions(),
    preset: "torch-2.11" as const,
    target: "h200",
    artifacts: new Set(STAGES),
  };
  const program = new Session(p => (p === path ? readFileSync(p, "utf8") : undefined), options).run(path);
  return program.events.map(e => (e.kind === "log" ? `${formatRecord(e.record, program.logFormat)}\n` : "")).join("");
}

describe("every stage's log", () => {
  it("is recorded of each program", () => {
    const programs = readdirSync(join(here, "stages")).filter(f => f.endsWith(".py"));
    expect(Object.keys(recorded)).toEqual(programs.map(f => f.slice(0, -3)).sort());
  });

  it.each(Object.keys(recorded))("is torch's: %s", name => {
    const stages = logStages(ours(join(here, "stages", `${name}.py`)));
    for (const stage of STAGES)
      expect(firstDifference(stages[stage] ?? [], recorded[name]?.[stage] ?? ""), stage).toBeNull();
  });
});
