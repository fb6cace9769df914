import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CodeCache } from "./code_cache";

describe("the code cache", () => {
  let folder = "";
  const file = (): string => join(folder, readdirSync(folder)[0] ?? "");
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "fuselens-code-"));
    vi.stubEnv("FUSELENS_CODE_CACHE", folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it("gives back what was written for the same build, and nothing for another", () => {
    new CodeCache("/none", "cli", "0123").write(Buffer.from("code"));
    expect(new CodeCache("/none", "cli", "0123").read()?.toString()).toBe("code");
    expect(new CodeCache("/none", "cli", "4567").read()).toBeUndefined();
  });

  it("does not give bytes of which a part is missing or zero", () => {
    const cache = new CodeCache("/none", "cli", "0123");
    cache.write(Buffer.alloc(50_000, 7));
    const bytes = readFileSync(file());
    writeFileSync(file(), Buffer.concat([bytes.subarray(0, 20_000), Buffer.alloc(4096), bytes.subarray(24_096)]));
    expect(cache.read()).toBeUndefined();
    writeFileSync(file(), bytes.subarray(0, 30_000));
    expect(cache.read()).toBeUndefined();
    writeFileSync(file(), bytes);
    expect(cache.read()?.length).toBe(50_000);
  });

  it.skipIf(process.platform === "win32")("does not read what others may have written", () => {
    const cache = new CodeCache("/none", "cli", "0123");
    cache.write(Buffer.from("code"));
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    chmodSync(file(), 0o666);
    expect(cache.read()).toBeUndefined();
  });

  it("is off where that is asked for", () => {
    const cache = new CodeCache(folder, "cli", "0123");
    vi.stubEnv("FUSELENS_CODE_CACHE", "off");
    cache.write(Buffer.from("code"));
    expect(readdirSync(folder)).toEqual([]);
    expect(cache.read()).toBeUndefined();
  });
});
