// Agreement with torch 2.11 on the recorded programs and counts cases, under preset torch-2.11. The floors are what is
// reached; they only go up. A program that changes sides shows in the list of those that differ.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSessionOptions, type ExplainReport, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { type Columns, compareGraphs, isSame, mean, type RecordedGraph } from "./score";

type Recorded = Record<string, { readonly graphs: readonly RecordedGraph[]; readonly error?: string }>;

const here = join(__dirname, "..");
const recorded = (name: string): Recorded =>
  JSON.parse(readFileSync(join(here, "recorded", `${name}.json`), "utf8")) as Recorded;

function explain(path: string): ExplainReport {
  const options = { ...defaultSessionOptions(), preset: "torch-2.11" as const, target: "h200" };
  return new Session(p => (p === path ? readFileSync(p, "utf8") : undefined), options).run(path).report;
}

function reports(folder: string): Map<string, ExplainReport> {
  const files = readdirSync(join(here, folder)).filter(f => f.endsWith(".py"));
  return new Map(files.map(f => [f.slice(0, -3), explain(join(here, folder, f))]));
}

const percent = (c: Columns): Record<string, number> =>
  Object.fromEntries(Object.entries(c).map(([k, v]) => [k, Math.floor(1000 * (v as number)) / 10]));

describe("agreement with torch 2.11", () => {
  const programs = recorded("programs");
  const byProgram = reports("programs");

  it("gives a report for every program", () => {
    const missing = Object.keys(programs).filter(n => !byProgram.get(n)?.graphs.length);
    expect(missing).toEqual([]);
  });

  it("decides as torch on the programs", () => {
    const rows = Object.entries(programs)
      .filter(([, r]) => r.graphs.length && !r.error)
      .map(([name, r]) => ({ name, columns: mean(compareGraphs(r.graphs, byProgram.get(name)?.graphs ?? [])) }));
    const differ = rows.filter(r => !isSame(r.columns)).map(r => r.name);
    const total = percent(mean(rows.map(r => r.columns)));
    console.log(
      `programs: ${rows.length - differ.length}/${rows.length} the same, ${JSON.stringify(total)}; differ: ${differ.join(", ")}`,
    );
    expect(rows.length - differ.length).toBeGreaterThanOrEqual(FLOOR.programs.same);
    for (const [column, floor] of Object.entries(FLOOR.programs.means))
      expect(total[column], column).toBeGreaterThanOrEqual(floor);
  });

  it("decides as torch on the programs recorded without a GPU", () => {
    const byName = reports("unseen");
    const rows = Object.entries(recorded("unseen")).map(([name, r]) => ({
      name,
      columns: mean(compareGraphs(r.graphs, byName.get(name)?.graphs ?? [])),
    }));
    expect(rows.map(r => r.name)).toEqual([...byName.keys()].sort());
    const whole = (c: Columns): boolean => Object.values(c).every(v => v === 1 || v === null);
    expect(rows.filter(r => !whole(r.columns)).map(r => r.name)).toEqual([]);
  });

  it("decides as torch on the counts cases, graph by graph", () => {
    const byCase = reports("counts");
    const rows = Object.entries(recorded("counts"))
      .filter(([, r]) => r.graphs.length && !r.error)
      .flatMap(([name, r]) => compareGraphs(r.graphs, byCase.get(name)?.graphs ?? []));
    const same = rows.filter(isSame).length;
    const total = percent(mean(rows));
    console.log(`counts: ${same}/${rows.length} graphs the same, ${JSON.stringify(total)}`);
    expect(same).toBeGreaterThanOrEqual(FLOOR.counts.same);
    for (const [column, floor] of Object.entries(FLOOR.counts.means))
      expect(total[column], column).toBeGreaterThanOrEqual(floor);
  });
});

/** means in percent */
const FLOOR = {
  programs: {
    same: 98,
    means: { graphs: 100, kernels: 100, origins: 100, extern: 100, aten: 100, inputs: 100, bytes: 100 },
  },
  counts: {
    same: 154,
    means: { graphs: 100, kernels: 98.5, origins: 98.5, extern: 98.7, aten: 99.8, inputs: 100, bytes: 98.7 },
  },
} as const;
