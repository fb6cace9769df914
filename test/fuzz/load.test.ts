// Short forms of `npm run load`.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { load } from "./load";

const root = join(__dirname, "..", "..");

describe("a worker under load", () => {
  it("lets no client wait over twice its share", { timeout: 300_000 }, async () => {
    const report = await load({ root, seed: 1, clients: 4, jobs: 80, kills: 0 });
    expect(report.faults).toEqual([]);
    expect(report.results).toBe(80);
  });

  it("gives each job one terminal answer, whatever is killed", { timeout: 300_000 }, async () => {
    const report = await load({ root, seed: 2, clients: 4, jobs: 80, kills: 8 });
    expect(report.faults).toEqual([]);
    expect(report.results + Object.values(report.errors).reduce((a, b) => a + b, 0)).toBe(80);
  });
});
