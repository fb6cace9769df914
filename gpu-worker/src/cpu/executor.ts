// The CPU executor child: one job after another over the worker's IPC channel. Generated kernels only, in threads over
// one shared memory that grows to what the job needs and is dropped with it. What the first job needs is got ready while
// it is on its way: built-in kernels and the assembler.
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import type { FromExecutor, ToExecutor } from "../broker/executor_messages";
import type { DeviceInfo, Job } from "../protocol";
import { warmAssembler } from "./assemble";
import { measureCopyBandwidth } from "./bandwidth";
import { runBenchmark } from "./benchmark";
import { BASE_BUILTINS, loadBuiltins } from "./builtins/index";
import { Machine } from "./machine";
import { JobFailure } from "./tensors";
import { ThreadPool } from "./threads";
import { runValues } from "./values";
import { runVerify } from "./verify";

const PAGE = 65536;
/** a 32-bit memory ends here */
const MAX_PAGES = 65536;

export async function runExecutor(): Promise<void> {
  const threads = Math.max(1, Math.min(16, availableParallelism()));
  const limit = Math.min(MAX_PAGES * PAGE - PAGE, Math.floor(totalmem() * 0.6));
  const send = (m: FromExecutor) => process.send?.(m);
  let bandwidth: number | null = null;
  const device = (): DeviceInfo => ({
    name: "cpu",
    kind: "cpu",
    title: "cpu, wasm",
    target: null,
    threads,
    memoryBytes: limit,
    copyBytesPerSecond: bandwidth,
  });
  const measure = (): void => {
    bandwidth ??= measureCopyBandwidth();
  };
  void warmAssembler();
  void loadBuiltins(BASE_BUILTINS).catch(() => undefined); // whoever needs them is told
  process.on("message", (m: ToExecutor) => {
    if (m.kind === "describe" || m.job.kind === "benchmark") measure();
    if (m.kind === "describe") return void send({ kind: "ready", device: device() });
    void runJob(m.job, threads, device(), limit, send);
  });
  process.once("disconnect", () => process.exit(0));
  send({ kind: "ready", device: device() });
}

async function runJob(
  job: Job,
  threads: number,
  device: DeviceInfo,
  limit: number,
  send: (m: FromExecutor) => void,
): Promise<void> {
  let pool: ThreadPool | null = null;
  try {
    const pages = Math.ceil(limit / PAGE);
    // The address space is reserved at once and touched as it is used, so a small job costs little.
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    pool = new ThreadPool(memory, threads, join(__dirname, "thread.cjs"));
    const machine = await Machine.start(memory, pool, limit);
    const progress = (done: number, total: number, text: string) => send({ kind: "progress", done, total, text });
    const result =
      job.kind === "benchmark"
        ? await runBenchmark(machine, job, device, progress)
        : job.kind === "values"
          ? await runValues(machine, job)
          : await runVerify(machine, job);
    send({ kind: "result", result });
  } catch (e) {
    if (e instanceof JobFailure)
      send({
        kind: "failed",
        code: e.code,
        message: e.message,
        ...(e.detail === undefined ? {} : { detail: e.detail }),
      });
    else if (e instanceof RangeError && /memory/i.test(e.message))
      send({ kind: "failed", code: "out-of-memory", message: e.message });
    else send({ kind: "failed", code: "internal", message: e instanceof Error ? (e.stack ?? e.message) : String(e) });
  } finally {
    await pool?.stop();
  }
}
