// A machine on which things are missing: each has a message that says what to do, and analysis goes on.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WorkerPool } from "../../server/src/worker/pool";
import { addOne, benchmarkJob, valuesJob } from "./fixtures";
import { startWorker } from "./process";

const root = join(__dirname, "..", "..");
const program = join(root, "server", "bin", "fuselens.cjs");
const model = join(root, "examples", "center.py");
const BARE = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  TMPDIR: "/nonexistent",
  XDG_CACHE_HOME: "/nonexistent",
};

function fuselens(
  args: readonly string[],
  env: NodeJS.ProcessEnv = BARE,
): { status: number | null; out: string; err: string } {
  const r = spawnSync(process.execPath, [program, ...args], { env, encoding: "utf8" });
  return { status: r.status, out: r.stdout, err: r.stderr };
}

describe("without a home and a temporary folder", () => {
  it("analysis goes on", () => {
    const { status, out } = fuselens(["explain", model, "--json"]);
    expect(status).toBe(0);
    expect(JSON.parse(out).graphs).toHaveLength(1);
  });

  it("a benchmark says in one line what it needs", () => {
    const { status, err } = fuselens(["bench", model]);
    expect(status).toBe(2);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).toMatch(/needs a temporary folder .* let TMPDIR name one that may be written/);
  });

  it("doctor names both, and how to mend them", () => {
    const { status, out } = fuselens(["doctor"], { ...BARE, TMPDIR: "/dev/null/x", XDG_CACHE_HOME: "/dev/null/y" });
    expect(status).toBe(1);
    expect(out).toMatch(/missing {2}temporary folder: .*let TMPDIR name a folder/);
    expect(out).toMatch(/missing {2}result cache: .*let XDG_CACHE_HOME name one/);
    expect(out).toMatch(/ok {7}torch: none in this folder's environment/);
  });

  it("a worker says why its executor can't start, and serves on", async () => {
    const worker = await startWorker([], { env: BARE });
    const pool = new WorkerPool({ workerFile: "", log: () => undefined });
    pool.configure({ endpoint: worker.endpoint, trusted: true });
    await expect(pool.submit(valuesJob(addOne(8)))).rejects.toThrow(
      /can't be started: .* temporary folder that may be written, which TMPDIR names/,
    );
    expect((await pool.describeAll()).problems.join()).toMatch(/TMPDIR/);
    await pool.dispose();
    await worker.stop();
  });
});

describe("with a cache that can't be written", () => {
  it("jobs run, and the worker says once that results are not kept", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "fuselens-test-")), "file");
    writeFileSync(file, "");
    const worker = await startWorker(["--cache", join(file, "cache")]);
    const pool = new WorkerPool({ workerFile: "", log: () => undefined });
    pool.configure({ endpoint: worker.endpoint, trusted: true });
    for (const n of [8, 16]) await pool.submit(benchmarkJob(addOne(n)), { fresh: true });
    expect(worker.said().match(/results are not cached/g)).toHaveLength(1);
    await pool.dispose();
    await worker.stop();
  });
});

describe("a bug report", () => {
  it("holds versions and the input, and nothing from the environment", () => {
    const secret = { ...process.env, FUSELENS_SECRET: "hunter2", USER: "somebody" };
    const { status, out } = fuselens(["report", model], secret);
    expect(status).toBe(0);
    expect(out).toContain(`Node ${process.versions.node}`);
    expect(out).toContain(readFileSync(model, "utf8"));
    for (const value of ["hunter2", "somebody", root, process.env["HOME"] ?? "/root"]) expect(out).not.toContain(value);
  });
});
