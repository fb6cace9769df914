import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CodeCache } from "./code_cache";
import { loadBundle } from "./load_bundle";

const BUILD = "0123456789abcdef";

describe("a bundle that is started from kept code", () => {
  let folder = "";
  let kept = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "fuselens-bundle-"));
    kept = join(folder, "kept");
    vi.stubEnv("FUSELENS_CODE_CACHE", kept);
    writeFileSync(join(folder, "sum.main.cjs"), `/*build ${BUILD}*/exports.sum = (a, b) => a + b;`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
  });
  const start = (): { sum: number; keep: () => void } => {
    const { exports, keep } = loadBundle(folder, "sum", "test");
    return { sum: (exports as { sum(a: number, b: number): number }).sum(1, 2), keep };
  };

  it("does the same with and without it", () => {
    const first = start();
    first.keep();
    expect(readdirSync(kept)).toHaveLength(1);
    expect([first.sum, start().sum]).toEqual([3, 3]);
  });

  it("runs where the code is another V8's, and keeps its own in its place", () => {
    const cache = new CodeCache(folder, "sum-test", BUILD);
    const foreign = Buffer.alloc(4096, 7);
    cache.write(foreign);
    const { sum, keep } = start();
    expect(sum).toBe(3);
    keep();
    expect(cache.read()?.equals(foreign)).toBe(false);
  });

  it("runs where nothing may be written", () => {
    vi.stubEnv("FUSELENS_CODE_CACHE", "");
    vi.stubEnv("XDG_CACHE_HOME", join(folder, "sum.main.cjs", "no folder"));
    vi.stubEnv("HOME", join(folder, "sum.main.cjs"));
    vi.stubEnv("LOCALAPPDATA", join(folder, "sum.main.cjs"));
    chmodSync(folder, 0o500);
    const { sum, keep } = start();
    expect(sum).toBe(3);
    expect(keep).not.toThrow();
    expect(readdirSync(folder)).toEqual(["sum.main.cjs"]);
  });

  it("reads code beside it in a folder that may not be written", () => {
    vi.stubEnv("FUSELENS_CODE_CACHE", join(folder, "code"));
    mkdirSync(join(folder, "code"));
    start().keep();
    vi.stubEnv("FUSELENS_CODE_CACHE", "");
    chmodSync(join(folder, "code"), 0o500);
    expect(new CodeCache(folder, "sum-test", BUILD).read()).toBeDefined();
    expect(start().sum).toBe(3);
    chmodSync(join(folder, "code"), 0o700);
  });
});
