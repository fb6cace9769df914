// A short form of `npm run load`, which also kills executors, workers and clients at random (`--kills N`).
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
});
