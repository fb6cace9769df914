import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import type { BenchmarkResult } from "../protocol";
import { ResultCache } from "./result_cache";

const ID = "a".repeat(64);
const OTHER = "b".repeat(64);
const timing = { medianUs: 1, p20Us: 1, p80Us: 1, count: 1, bytesPerSecond: 1 };
const result: BenchmarkResult = { kind: "benchmark", where: "here", graph: timing, overheadUs: 0, kernels: [], shareOfCopy: null, maxError: null, against: {} }; // biome-ignore format: one record

function fresh(): { folder: string; cache: ResultCache; said: string[] } {
  const folder = join(mkdtempSync(join(tmpdir(), "fuselens-cache-")), "results");
  const said: string[] = [];
  return { folder, said, cache: new ResultCache(folder, m => said.push(m)) };
}

describe("the result cache", () => {
  it("gives back what was put under an id and a device, and nothing under another", () => {
    const { cache } = fresh();
    cache.put(ID, "cuda:0", result);
    expect(cache.get(ID, "cuda:0")?.result).toEqual(result);
    expect(cache.get(ID, "cpu")).toBeNull();
    expect(cache.get(OTHER, "cuda:0")).toBeNull();
  });

  it.each([
    ["empty", Buffer.alloc(0)],
    ["cut", encode({ format: 2, id: ID, device: "cpu", result }).slice(0, 40)],
    ["no MessagePack", Buffer.from("hello")],
    ["another version's", encode({ format: 1, result })],
    ["a later version's", encode({ format: 3, id: ID, device: "cpu", result })],
    ["of another shape", encode({ format: 2, id: ID, device: "cpu", result: { ...result, graph: null } })],
    ["another job's", encode({ format: 2, id: OTHER, device: "cpu", result })],
  ])("takes a file that is %s for none, and writes over it", (_, bytes) => {
    const { folder, cache } = fresh();
    cache.put(ID, "cpu", result);
    writeFileSync(join(folder, `${ID}-cpu`), bytes);
    expect(cache.get(ID, "cpu")).toBeNull();
    cache.put(ID, "cpu", result);
    expect(cache.get(ID, "cpu")?.result).toEqual(result);
  });

  it("takes a renamed file for none", () => {
    const { folder, cache } = fresh();
    cache.put(ID, "cpu", result);
    renameSync(join(folder, `${ID}-cpu`), join(folder, `${OTHER}-cpu`));
    expect(cache.get(OTHER, "cpu")).toBeNull();
  });

  it("calls no result older than nothing when the clock was put back", () => {
    const { folder, cache } = fresh();
    cache.put(ID, "cpu", result);
    const later = new Date(Date.now() + 86_400_000);
    utimesSync(join(folder, `${ID}-cpu`), later, later);
    expect(cache.get(ID, "cpu")?.ageSeconds).toBe(0);
  });

  it("on a full disk says so once, with what to do, and leaves no draft", () => {
    const { folder, cache, said } = fresh();
    mkdirSync(folder, { recursive: true });
    symlinkSync("/dev/full", join(folder, `${ID}-cpu.${process.pid}.draft`));
    cache.put(ID, "cpu", result);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^results are not cached \(ENOSPC.*\); free space in .*, or name a folder with --cache$/);
    expect(readdirSync(folder)).toEqual([]);
    symlinkSync("/dev/full", join(folder, `${ID}-cpu.${process.pid}.draft`));
    cache.put(ID, "cpu", result);
    expect(said).toHaveLength(1);
  });

  it("in a folder that can't be made keeps nothing and says so once", () => {
    const { folder, said } = fresh();
    writeFileSync(folder, "a file is in the way");
    const cache = new ResultCache(join(folder, "x"), m => said.push(m));
    for (const id of [ID, OTHER]) cache.put(id, "cpu", result);
    expect(cache.get(ID, "cpu")).toBeNull();
    expect(said).toHaveLength(1);
    rmSync(folder);
  });
});
