// The worker with a Python child that speaks the real protocol (stand_in_python runs the real main.py) and has no GPU.
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "@fuselens/gpu-worker/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { WorkerPool } from "../../server/src/worker/pool";
import { addOne, benchmarkJob, valuesJob } from "./fixtures";
import { type StartedWorker, startWorker } from "./process";

const STAND_IN = join(__dirname, "stand_in_python");
let worker: StartedWorker | undefined;
let pool: WorkerPool | undefined;

afterEach(async () => {
  await pool?.dispose();
  await worker?.stop();
});

async function open(python = STAND_IN, cache: readonly string[] = ["--no-cache"]): Promise<WorkerPool> {
  worker = await startWorker([...cache, "--python", python]);
  pool = new WorkerPool({ workerFile: "", log: () => undefined });
  pool.configure({ endpoint: worker.endpoint, trusted: true });
  return pool;
}

let jobs = 0;
export function told(what: string): Job {
  const job = benchmarkJob(addOne(8));
  if (job.kind !== "benchmark") return job;
  return { ...job, graph: { ...job.graph, standalone: `# do: ${what}\n# ${jobs++}\n` } };
}

const outcome = async (p: WorkerPool, job: Job): Promise<string> =>
  p.submit(job, { fresh: true }).then(
    a => a.device,
    (e: { code?: string; message: string }) => `${e.code}: ${e.message}`,
  );

describe("a Python executor", () => {
  it("runs benchmarks, while values stay with the CPU executor", async () => {
    const p = await open();
    expect(await outcome(p, told("result"))).toBe("cuda:0");
    expect(await outcome(p, valuesJob(addOne(8)))).toBe("cpu");
  });

  it("tells each fault by its code, and takes the next job", async () => {
    const p = await open();
    expect(await outcome(p, told("fault"))).toMatch(/^kernel-fault: .*illegal memory access/);
    expect(await outcome(p, told("memory"))).toMatch(/^out-of-memory: .*200\.00 GiB/);
    expect(await outcome(p, told("compile"))).toMatch(/^compile-failed: .*at 7:11/);
    expect(await outcome(p, told("print"))).toBe("cuda:0");
    expect(await outcome(p, told("result"))).toBe("cuda:0");
  });

  it("is lost twice over a job that kills it, and takes the next job", async () => {
    const p = await open();
    const job = told("kill");
    expect(await outcome(p, job)).toBe(
      "executor-lost: the executor died twice over this job (SIGKILL); it is not tried again",
    );
    expect(await outcome(p, job)).toMatch(/^executor-lost: this job has cost two executors/);
    expect(await outcome(p, told("exit 139"))).toMatch(/^executor-lost: .*exit status 139/);
    expect(await outcome(p, told("result"))).toBe("cuda:0");
  });

  it("that speaks garbage, or without end, is ended and takes the next job", async () => {
    const p = await open();
    expect(await outcome(p, told("garbage"))).toMatch(/^executor-lost/);
    expect(await outcome(p, told("flood"))).toMatch(/^executor-lost/);
    expect(await outcome(p, told("result"))).toBe("cuda:0");
  });

  it("in an endless loop is ended by a cancel", async () => {
    const p = await open();
    const answered = p.submit(told("loop"), {
      fresh: true,
      onCancel: cancel => setTimeout(cancel, 500),
    });
    await expect(answered).rejects.toMatchObject({ code: "cancelled" });
    expect(await outcome(p, told("result"))).toBe("cuda:0");
  });
});

describe("compiled kernels", () => {
  const where = async (p: WorkerPool): Promise<string> => {
    const { result } = await p.submit(told("where"), { fresh: true });
    return result.kind === "benchmark" ? result.where : "";
  };
  const lost = async (p: WorkerPool): Promise<void> => expect(await outcome(p, told("kill"))).toMatch(/^executor-lost/);

  it("are kept in the cache folder from one executor to the next, this user's alone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fuselens-test-"));
    const p = await open(STAND_IN, ["--cache", folder]);
    expect(await where(p)).toBe(join(folder, "kernels"));
    expect(statSync(join(folder, "kernels")).mode & 0o777).toBe(0o700);
    await lost(p);
    expect(await where(p)).toBe(join(folder, "kernels"));
  });

  it("end with their executor where nothing is to be kept, or the folder can't be written", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "fuselens-test-")), "file");
    writeFileSync(file, "");
    for (const cache of [["--no-cache"], ["--cache", join(file, "cache")]]) {
      const p = await open(STAND_IN, cache);
      const first = await where(p);
      expect(first).toMatch(/fuselens-executor-\w+\/kernels$/);
      await lost(p);
      expect(await where(p)).not.toBe(first);
      expect(existsSync(first)).toBe(false);
      await pool?.dispose();
      await worker?.stop();
    }
  });
});

describe("a Python that can't serve a GPU", () => {
  const folder = mkdtempSync(join(tmpdir(), "fuselens-test-"));
  const named = (name: string): string => {
    const link = join(folder, name);
    rmSync(link, { force: true });
    symlinkSync(STAND_IN, link);
    return link;
  };

  it.each([
    [
      "no-torch",
      /^executor-unavailable: the Triton executor can't start: .* has no working torch .*pip install torch triton/,
    ],
    ["no-triton", /^executor-unavailable: .* has no working triton .*pip install torch triton/],
    ["old-torch", /^executor-unavailable: .* has torch 1\.13\.1; 2\.4 or newer is needed: run .*pip install -U/],
    ["no-gpu", /^executor-unavailable: .* torch 2\.11\.0 .* sees no GPU: nvidia-smi shows/],
  ])("says what is wrong and how to mend it: %s", async (name, message) => {
    const p = await open(named(name));
    expect(await outcome(p, told("result"))).toMatch(message);
    expect(await outcome(p, valuesJob(addOne(8)))).toBe("cpu");
    const described = await p.describeAll();
    expect(described.devices.map(d => d.name)).toEqual(["cpu"]);
    expect(described.problems.join()).toContain("the Triton executor can't start");
  });

  it("says that there is no such program", async () => {
    const p = await open("/nonexistent/python3");
    expect(await outcome(p, told("result"))).toMatch(
      /^executor-unavailable: the executor of cuda:0 can't be started: spawn \/nonexistent\/python3 ENOENT/,
    );
    expect(await outcome(p, valuesJob(addOne(8)))).toBe("cpu");
  });
});
