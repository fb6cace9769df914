// Load: many clients with many jobs on one worker whose executors and worker are killed at random, and clients that vanish
// in the middle. In: options. Out: counts; a fault where an accepted job got no terminal answer or two, or where a client
// waited over twice its share.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "@fuselens/gpu-worker/protocol";
import { WorkerConnection } from "../../server/src/worker/connection";
import { addOne, benchmarkJob, valuesJob } from "../worker/fixtures";
import { type StartedWorker, startWorker } from "../worker/process";
import { Random } from "./random";

export interface LoadOptions {
  readonly root: string;
  readonly seed: number;
  readonly clients: number;
  readonly jobs: number;
  readonly kills: number;
}

export interface LoadReport {
  readonly jobs: number;
  readonly results: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly executorKills: number;
  readonly workerKills: number;
  readonly clientKills: number;
  /** the longest of a client's runs of foreign answers between two of its own, over the number of clients */
  readonly worstWait: number;
  readonly faults: readonly string[];
}

/** a job for the stand-in executor: no GPU, and no time but the broker's own */
function standInJob(n: number, what = "result"): Job {
  const job = benchmarkJob(addOne(8));
  return job.kind === "benchmark" ? { ...job, graph: { ...job.graph, standalone: `# do: ${what}\n# ${n}\n` } } : job;
}

export async function load(options: LoadOptions): Promise<LoadReport> {
  const r = new Random(options.seed);
  const folder = mkdtempSync(join(tmpdir(), "fuselens-load-"));
  const file = join(options.root, "gpu-worker", "dist", "main.cjs");
  const bind = `ipc://${join(folder, "w.sock")}`;
  const args = ["--no-cache", "--python", join(options.root, "test", "worker", "stand_in_python")];
  let worker: StartedWorker = await startWorker(args, { file, bind });
  const connect = (): WorkerConnection => new WorkerConnection(bind, null, () => undefined);
  const clients = Array.from({ length: options.clients }, connect);
  const answers = new Map<number, number>();
  const errors: Record<string, number> = {};
  const order: number[] = [];
  const faults: string[] = [];
  const kills = { executor: 0, worker: 0, client: 0 };
  let results = 0;
  let done = 0;
  const each = Math.ceil(options.jobs / options.clients);
  const submit = async (client: number, n: number): Promise<void> => {
    const job = n % 50 === 49 ? valuesJob(addOne(8 + n)) : standInJob(n);
    // one whose client vanished asks again by the job's content, as an editor does that was started anew
    for (;;) {
      const connection = clients[client] as WorkerConnection;
      try {
        const { result } = await connection.submit(job, { fresh: true });
        results += 1;
        // in which order the executor took them, as it says itself: answers come in bursts
        if (result.kind === "benchmark") order[Number(result.where.split(" ")[1])] = client;
      } catch (e) {
        if (clients[client] !== connection) continue;
        const { code = "?", message } = e as { code?: string; message: string };
        const said = `${code}: ${message.replace(/\S*\.sock/, "ENDPOINT")}`;
        errors[said] = (errors[said] ?? 0) + 1;
      }
      break;
    }
    answers.set(n, (answers.get(n) ?? 0) + 1);
    done += 1;
  };
  const release = options.kills === 0 ? await hold(connect()) : null;
  const all = Promise.all(Array.from({ length: options.clients * each }, (_, i) => submit(Math.floor(i / each), i)));
  const total = options.clients * each;
  await release?.(total - Math.floor(total / 50));
  const step = total / (options.kills + 1);
  for (let k = 1; k <= options.kills && done < total; k++) {
    // spread over the work: the k-th kill comes when its share of the jobs is done
    while (done < Math.min(k * step, total - 1)) await new Promise(resolve => setTimeout(resolve, 2));
    const which = r.below(10);
    if (which < 7) {
      // an executor that was just killed takes a moment to come back
      let killed = 0;
      for (let i = 0; i < 200 && killed === 0 && done < total; i++) {
        killed = killOne(childrenOf(worker.child.pid), r);
        if (killed === 0) await new Promise(resolve => setTimeout(resolve, 10));
      }
      kills.executor += killed;
    } else if (which < 9) {
      kills.worker += 1;
      await worker.stop();
      worker = await startWorker(args, { file, bind });
    } else {
      kills.client += 1;
      const i = r.below(options.clients);
      const old = clients[i] as WorkerConnection;
      clients[i] = connect();
      old.close();
    }
  }
  await all;
  for (const [n, count] of answers) if (count !== 1) faults.push(`job ${n} got ${count} terminal answers`);
  if (answers.size !== total) faults.push(`${total - answers.size} jobs got no terminal answer`);
  const worstWait = longestWait(
    order.filter(c => c !== undefined),
    options.clients,
  );
  if (options.kills === 0 && worstWait > 2) faults.push(`a client waited ${worstWait} times its share`);
  for (const c of clients) c.close();
  await worker.stop();
  rmSync(folder, { recursive: true, force: true });
  return { jobs: total, results, errors, executorKills: kills.executor, workerKills: kills.worker, clientKills: kills.client, worstWait, faults }; // biome-ignore format: one record
}

/** keeps the executor busy until so many jobs wait, so that who waits how long is the queue's doing alone */
async function hold(connection: WorkerConnection): Promise<(waiting: number) => Promise<void>> {
  let cancel = (): void => undefined;
  const ended = connection
    .submit(standInJob(-1, "loop"), { fresh: true, onCancel: c => { cancel = c; } })
    .catch(() => undefined); // biome-ignore format: one call
  return async waiting => {
    while ((await connection.describe()).queued < waiting) await new Promise(resolve => setTimeout(resolve, 50));
    cancel();
    await ended;
    connection.close();
  };
}

/** while all clients still wait: others' answers between two of one's own, over the number of clients */
function longestWait(order: readonly number[], clients: number): number {
  const left = Array.from({ length: clients }, (_, c) => order.filter(x => x === c).length);
  const last = Array.from({ length: clients }, () => -1);
  let worst = 0;
  for (const [at, c] of order.entries()) {
    if (left.some(n => n === 0)) break;
    left[c] = (left[c] ?? 0) - 1;
    worst = Math.max(worst, (at - (last[c] ?? -1)) / clients);
    last[c] = at;
  }
  return Math.round(worst * 100) / 100;
}

function childrenOf(pid: number | undefined): number[] {
  try {
    return execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" }).split(/\s+/).filter(Boolean).map(Number); // biome-ignore format: one chain
  } catch {
    return [];
  }
}

function killOne(pids: readonly number[], r: Random): number {
  if (!pids.length) return 0;
  try {
    process.kill(r.pick(pids), "SIGKILL");
    return 1;
  } catch {
    return 0;
  }
}
