// The real worker process over real ZeroMQ, driven through the server's client.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "@fuselens/gpu-worker/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { WorkerConnection } from "../../server/src/worker/connection";
import { WorkerLost } from "../../server/src/worker/job";
import { WorkerPool } from "../../server/src/worker/pool";
import { spawnWorker } from "../../server/src/worker/spawn";
import { addOne, benchmarkJob, endless, valuesJob } from "./fixtures";

const workerFile = join(__dirname, "..", "..", "gpu-worker", "dist", "main.cjs");
let pool: WorkerPool;
const open = (): WorkerPool => {
  pool = new WorkerPool({ workerFile, log: () => undefined });
  return pool;
};
afterEach(() => pool?.dispose());

/** processes started by this test that run the worker's bundle */
function descendants(match: string): number[] {
  const rows = execFileSync("ps", ["-eo", "pid,ppid,args"], { encoding: "utf8" })
    .split("\n")
    .map(l => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(l));
  const children = new Map<number, number[]>();
  const commands = new Map<number, string>();
  for (const r of rows) {
    if (!r) continue;
    const [pid, parent] = [Number(r[1]), Number(r[2])];
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    commands.set(pid, r[3] ?? "");
  }
  const mine: number[] = [];
  const walk = (pid: number): void => {
    for (const c of children.get(pid) ?? []) {
      mine.push(c);
      walk(c);
    }
  };
  walk(process.pid);
  return mine.filter(
    p => /(main|executor)\.cjs/.test(commands.get(p) ?? "") && (commands.get(p) ?? "").includes(match),
  );
}

function parentOf(pid: number): number {
  return Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));
}

function longBenchmark(): Job {
  const job = benchmarkJob(addOne(1000));
  return job.kind === "benchmark" ? { ...job, seconds: 2 } : job;
}

const soon = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

async function until(found: () => number | undefined): Promise<number> {
  for (let i = 0; i < 1000; i++) {
    const value = found();
    if (value !== undefined) return value;
    await soon(50);
  }
  throw new Error("it did not happen in time");
}

describe("worker", () => {
  it("benchmarks a plan and says what ran where", async () => {
    const { result, cached } = await open().submit(benchmarkJob(addOne(100_000)), { fresh: true });
    expect(cached).toBe(false);
    expect(result).toMatchObject({ kind: "benchmark", where: "cpu, wasm" });
    if (result.kind !== "benchmark") return;
    expect(result.graph.count).toBeGreaterThanOrEqual(5);
    expect(result.graph.medianUs).toBeGreaterThan(0);
    expect(result.graph.bytesPerSecond).toBeGreaterThan(0);
    expect(result.kernels.map(k => k.name)).toEqual(["triton_poi_fused_add_0"]);
  });

  it("computes values", async () => {
    const { result } = await open().submit(valuesJob(addOne(1000)), { fresh: true });
    expect(result).toMatchObject({
      kind: "values",
      rows: [{ slot: "out", row: { shape: [1000], dtype: "torch.float32", sum: 3000 } }],
    });
  });

  it("describes its device with a measured bandwidth", async () => {
    const [device] = await open().describe();
    expect(device).toMatchObject({ name: "cpu", title: "cpu, wasm" });
    expect(device?.copyBytesPerSecond).toBeGreaterThan(1e8);
  });

  it("answers once with executor-lost when the executor is killed twice, and then works on", async () => {
    open();
    const failed = pool.submit(benchmarkJob(endless()), { fresh: true }).then(
      () => "result",
      (e: { code?: string }) => e.code,
    );
    let first = 0;
    for (let kill = 0; kill < 2; kill++) {
      const pid = await until(() => descendants("--executor=cpu").find(p => p !== first));
      await soon(400);
      process.kill(pid, "SIGKILL");
      first = pid;
    }
    expect(await failed).toBe("executor-lost");
    const { result } = await pool.submit(benchmarkJob(addOne(1000)), { fresh: true });
    expect(result.kind).toBe("benchmark");
  });

  it("does a job again on a new worker when its worker is killed in mid-job", async () => {
    open();
    const answer = pool.submit(longBenchmark(), { fresh: true });
    await until(() => descendants("--executor=cpu")[0]);
    await soon(300);
    process.kill(await until(() => descendants("--bind")[0]), "SIGKILL");
    expect((await answer).result.kind).toBe("benchmark");
  });

  it("gives one clear error when two workers are killed over a job, and the next job starts a new worker", async () => {
    open();
    const failed = pool.submit(benchmarkJob(endless()), { fresh: true }).then(
      () => "result",
      (e: Error) => e.message,
    );
    const executors = new Set<number>();
    for (let i = 0; i < 2; i++) {
      const executor = await until(() => descendants("--executor=cpu").find(p => !executors.has(p)));
      executors.add(executor);
      process.kill(parentOf(executor), "SIGKILL");
    }
    expect(await failed).toMatch(/the worker (ended|was ended) .*(before the job|while it started)/);
    const { result } = await pool.submit(benchmarkJob(addOne(1000)), { fresh: true });
    expect(result.kind).toBe("benchmark");
  });

  it("knows that a worker ended before its endpoint was read, and sends nothing to it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fuselens-test-"));
    const endpoint = JSON.stringify({ endpoint: `ipc://${join(folder, "nobody.sock")}` });
    const short = join(folder, "short.cjs");
    writeFileSync(
      short,
      `process.stdout.write(${JSON.stringify(`${endpoint}\n`)}, () => process.kill(process.pid, 9));`,
    );
    const worker = await spawnWorker(short, () => undefined);
    await soon(500);
    expect(await worker.ended).toBe("SIGKILL");
    const connection = new WorkerConnection(worker.endpoint, worker.curve, () => undefined);
    connection.close();
    await expect(connection.submit(benchmarkJob(addOne(10)))).rejects.toThrow(WorkerLost);
    worker.dispose();
  });

  it("cancels a running job", async () => {
    open();
    let cancel: () => void = () => undefined;
    const failed = pool
      .submit(benchmarkJob(endless()), {
        fresh: true,
        onCancel: c => {
          cancel = c;
        },
      })
      .then(
        () => "result",
        (e: { code?: string }) => e.code,
      );
    await until(() => descendants("--executor=cpu")[0]);
    await soon(300);
    cancel();
    expect(await failed).toBe("cancelled");
  });

  it("shares nothing with the server but the protocol and the plan's types", () => {
    const files = execFileSync("git", ["ls-files", "server/src"], {
      cwd: join(__dirname, "..", ".."),
      encoding: "utf8",
    })
      .trim()
      .split("\n");
    for (const f of files) {
      const imports = [
        ...readFileSync(join(__dirname, "..", "..", f), "utf8").matchAll(
          /from "(@fuselens\/gpu-worker[^"]*|[^"]*gpu-worker\/src[^"]*)"/g,
        ),
      ].map(m => m[1]);
      expect(
        imports.filter(i => i !== "@fuselens/gpu-worker/protocol"),
        f,
      ).toEqual([]);
    }
  });
});
