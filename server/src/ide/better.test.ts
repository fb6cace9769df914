import { describe, expect, it } from "vitest";
import { betterLines, betterSchedules, betterTitle } from "./better";
import { hoverAt } from "./hover";
import { compilation, entry, FILE, kernel, program } from "./testing";

const apart = [
  kernel({ name: "a", nodes: ["op0"], origins: ["sum_1"], bytes: 100_000, estimate_us: 10 }),
  kernel({ name: "b", nodes: ["op1"], origins: ["clone"], bytes: 200_000, estimate_us: 20 }),
  kernel({ name: "c", nodes: ["op2"], origins: ["mm"], bytes: 50_000, estimate_us: 5 }),
];
const together = [
  kernel({ name: "ab", nodes: ["op0", "op1"], origins: ["clone", "sum_1"], bytes: 200_000, estimate_us: 20 }),
  kernel({ name: "c", nodes: ["op2"], origins: ["mm"], bytes: 50_000, estimate_us: 5 }),
];
const graph = (kernels: typeof apart) => ({ name: "f", kind: "inference" as const, kernels });

describe("what preset fuselens would save", () => {
  const better = betterSchedules([graph(apart)], [graph(together)]);

  it("stands beside the user's own counts, bytes and time", () => {
    const mine = { kernels: 3, bytes: 350_000, estimateUs: 35 };
    expect(betterTitle(better, [0], mine)).toBe("possible: 2 kernels, 250 kB, est. 25.0 us");
    expect(betterTitle(undefined, [0], mine)).toBeNull();
    expect(betterTitle(betterSchedules([graph(apart)], [graph(apart)]), [0], mine)).toBeNull();
  });

  it("is told at the kernels that would change and at no others", () => {
    const at = (k: number): string[] => betterLines(better, [{ compilation: 0, kernel: k }]);
    expect(at(0)).toEqual(["**Possible** with preset `fuselens`: one kernel instead of two, saves 100 kB, est. 1.5x"]);
    expect(at(1)).toEqual(at(0));
    expect(at(2)).toEqual([]);
  });

  it("is not said of graphs that do not pair", () => {
    expect(betterSchedules([graph(apart)], [{ ...graph(together), name: "g" }])).toEqual([null]);
  });

  it("comes in the hover before the reasons", () => {
    const p = program({ compilations: [compilation({ kernels: apart })], source: [entry(1, 0, 5, { kernels: [1] })] });
    const text = hoverAt(p, FILE, { line: 1, column: 2 }, () => undefined, better)?.markdown;
    expect(text).toContain("**Possible** with preset `fuselens`: one kernel instead of two");
  });
});
