// On a GPU machine: `node faults.cjs WORKER.cjs [PYTHON]`. A worker with the Triton executor, and a client that sends it a
// good job between faulty ones over ZeroMQ. Prints a line a case: what was expected, what came, how long it took. Exit status
// 1 where a case did not go as expected.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSessionOptions, Session } from "@fuselens/compiler";
import type { Job } from "@fuselens/gpu-worker/protocol";
import { benchmarkJob } from "../../server/src/worker/benchmark";
import type { SubmitOptions } from "../../server/src/worker/connection";
import { WorkerPool } from "../../server/src/worker/pool";

const SOURCE = `import torch


@torch.compile
def f(x):
    return x * 2 + 1


f(torch.randn(1 << 20, device="cuda"))
`;
const STORE = /^( +)tl\.store\(out_ptr0 \+ \(x0\), (\w+), /m;
const settings = { seconds: 0.05, minRuns: 5, against: [], fresh: true };

const [workerFile, python = "python3"] = process.argv.slice(2);
if (!workerFile) throw new Error("usage: faults.cjs WORKER.cjs [PYTHON]");

const folder = mkdtempSync(join(tmpdir(), "fuselens-faults-"));
const endpoint = `ipc://${join(folder, "worker.sock")}`;
const pool = new WorkerPool({ workerFile: "", log: () => undefined });
let worker: ChildProcess | undefined;
let wrong = 0;

/** a worker process, once it serves */
function start(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [workerFile as string, "--bind", endpoint, "--no-cache", "--python", python], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.stdout.once("data", () => resolve(child));
    child.once("exit", code => reject(new Error(`the worker ended with status ${code}`)));
  });
}

function goodJob(): Extract<Job, { kind: "benchmark" }> {
  const options = { ...defaultSessionOptions(), preset: "fuselens" as const, target: "h200" };
  const { compilations } = new Session(p => (p === "f.py" ? SOURCE : undefined), options).run("f.py");
  const [c] = compilations;
  const job = c && benchmarkJob(c, settings);
  if (job?.kind !== "benchmark" || !STORE.test(job.graph.standalone))
    throw new Error("the good job is not as expected");
  return job;
}

const good = goodJob();
let sent = 0;
/** the good job with its generated code changed; each differs from the last, so that no answer is remembered */
const changed = (change: (code: string) => string): Job => ({
  ...good,
  graph: { ...good.graph, standalone: `${change(good.graph.standalone)}# ${sent++}\n` },
});

const FAULTS = {
  illegalAddress: (code: string) => code.replace(STORE, "$1tl.store(out_ptr0 + (x0.to(tl.int64) + (1 << 40)), $2, "),
  endlessLoop: (code: string) =>
    code.replace(
      STORE,
      "$1turn = tl.load(in_ptr0)\n$1while turn == turn:\n$1    turn = tl.load(in_ptr0, volatile=True)\n$&",
    ),
  memory: (code: string) =>
    code.replace(/^( +)args\.clear\(\)$/m, "$&\n$1too_much = torch.empty(200 << 30, dtype=torch.uint8, device='cuda')"),
  slowStart: (code: string) => `import time; time.sleep(5)\n${code}`,
  compileError: (code: string) => code.replace(STORE, "$1tl.store(out_ptr0 + (undefined_name), $2, "),
};

/** the first line, and the last, which says what is wrong where the lines between show the code */
function shortened(message: string): string {
  const lines = message.split("\n").filter(l => l.trim());
  return lines.length < 3 ? lines.join(" | ") : `${lines[0]} ... ${lines[lines.length - 1]}`;
}

async function outcome(job: Job, options: SubmitOptions = {}): Promise<string> {
  return pool.submit(job, { fresh: true, ...options }).then(
    a => (a.result.kind === "benchmark" ? `${a.result.graph.medianUs.toFixed(1)} us on ${a.device}` : a.result.kind),
    (e: { code?: string; message: string }) => `${e.code}: ${shortened(e.message)}`,
  );
}

async function expect(what: string, wanted: RegExp, run: () => Promise<string>): Promise<void> {
  const begun = Date.now();
  const got = await run();
  const right = wanted.test(got);
  if (!right) wrong++;
  console.log(
    `${right ? "ok   " : "WRONG"} ${what}: ${got.slice(0, 300)} (${((Date.now() - begun) / 1000).toFixed(1)} s)`,
  );
}

const works = (): Promise<void> => expect("  the next job", /us on cuda:0$/, () => outcome(changed(c => c)));
const later = (seconds: number, f: () => void): void => void setTimeout(f, seconds * 1000);

/** processes that `parent` started, by /proc */
function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter(d => /^\d+$/.test(d))
    .flatMap(d => {
      try {
        const stat = readFileSync(`/proc/${d}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent ? [Number(d)] : [];
      } catch {
        return [];
      }
    });
}

function killChild(): void {
  for (const pid of childrenOf(worker?.pid ?? -1)) {
    if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("fuselens_worker")) process.kill(pid, "SIGKILL");
  }
}

async function killWorker(): Promise<void> {
  const python = childrenOf(worker?.pid ?? -1);
  worker?.kill("SIGKILL");
  for (const pid of python) process.kill(pid, "SIGKILL");
  rmSync(join(folder, "worker.sock"), { force: true });
  worker = await start();
}

async function main(): Promise<void> {
  worker = await start();
  pool.configure({ endpoint, trusted: true });
  await expect("a good job", /us on cuda:0$/, () => outcome(changed(c => c)));
  await expect("an illegal address", /^kernel-fault: .*illegal memory access/i, () =>
    outcome(changed(FAULTS.illegalAddress)),
  );
  await works();
  await expect("200 GB of memory", /^out-of-memory: .*200\.00 GiB/, () => outcome(changed(FAULTS.memory)));
  await works();
  await expect("a kernel that does not compile", /^compile-failed: .*undefined_name/, () =>
    outcome(changed(FAULTS.compileError)),
  );
  await works();
  let asked = 0;
  await expect("an endless loop, cancelled after 12 s", /^cancelled/, () =>
    outcome(changed(FAULTS.endlessLoop), {
      onCancel: cancel =>
        later(12, () => {
          asked = Date.now();
          cancel();
        }),
    }),
  );
  console.log(`      ${Date.now() - asked} ms from the cancel to its answer`);
  await works();
  await expect("SIGKILL of the child in mid-job, twice", /^executor-lost: .*died twice.*SIGKILL/, () =>
    outcome(changed(FAULTS.endlessLoop), { onProgress: () => later(3, killChild) }),
  );
  await works();
  let begun = false;
  await expect("SIGKILL of the worker in mid-job, another in its place", /us on cuda:0$/, () =>
    outcome(changed(FAULTS.slowStart), {
      onProgress: () => {
        if (!begun) later(1, () => void killWorker());
        begun = true;
      },
    }),
  );
  await works();
  process.exitCode = wrong ? 1 : 0;
}

void main().finally(async () => {
  await pool.dispose();
  worker?.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});
