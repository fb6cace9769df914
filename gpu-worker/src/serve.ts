// The worker proper: binds its endpoint, starts executors for the devices there are, serves until it is told to stop.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Broker } from "./broker/broker";
import { allowedClients, serverKeys, startAuthenticator } from "./broker/curve";
import { bindError, checkEndpoint } from "./broker/endpoint";
import type { ExecutorSpec } from "./broker/executor_spec";
import { ResultCache } from "./broker/result_cache";
import { RouterEndpoint } from "./broker/router";
import { nodeTransport, type PythonOptions, pythonTransport } from "./broker/transport";
import { executorFlags } from "./cpu/relaxed_simd";

/** a worker that was started on demand ends this long after its editor is gone */
const PARENT_POLL_MS = 2_000;
const JOB_TIMEOUT_MS = 10 * 60_000;

export async function serve(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      bind: { type: "string" },
      keys: { type: "string" },
      cache: { type: "string" },
      python: { type: "string" },
      gpus: { type: "string" },
      "compile-processes": { type: "string" },
      parent: { type: "string" },
      "no-cache": { type: "boolean" },
    },
  });
  const log = (message: string) => process.stderr.write(`fuselens worker: ${message}\n`);
  const endpoint = values.bind ?? "tcp://127.0.0.1:*";
  const keys = values.keys;
  const gpus = count("--gpus takes a number of GPUs", values.gpus ?? "1", 1, 64);
  const compilers = values["compile-processes"];
  const compileProcesses =
    compilers === undefined ? undefined : count("--compile-processes takes a number of processes", compilers, 0, 1024);
  const cache = values["no-cache"] ? null : (values.cache ?? defaultCache());
  process.umask(0o077); // sockets, caches and keys are this user's alone
  await checkEndpoint(endpoint, keys !== undefined);
  if (keys) await startAuthenticator(key => allowedClients(keys).has(key));
  const router = new RouterEndpoint(keys ? serverKeys(keys) : null, log);
  const broker = new Broker({
    executors: executors({ python: values.python, gpus, kernels: cache && join(cache, "kernels"), compileProcesses }),
    cache: new ResultCache(cache && join(cache, "results"), log),
    versions: { node: process.versions.node, v8: process.versions.v8 },
    name: "fuselens-worker",
    jobTimeoutMs: JOB_TIMEOUT_MS,
    send: (client, response) => router.send(client, response),
    log,
  });
  const bound = await router.bind(endpoint).catch(e => {
    throw bindError(endpoint, e);
  });
  process.stdout.write(`${JSON.stringify({ endpoint: bound, pid: process.pid })}\n`);
  const stop = () => {
    broker.shutdown();
    void router.close().finally(() => process.exit(0));
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  const parent = values.parent === undefined ? null : Number(values.parent);
  if (parent !== null) {
    setInterval(() => {
      if (!alive(parent)) stop();
    }, PARENT_POLL_MS).unref();
  }
  await router.serve(broker);
}

/** null where there is no home: then nothing is kept */
function defaultCache(): string | null {
  try {
    return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "fuselens");
  } catch {
    return null;
  }
}

function cpuExecutor(): ExecutorSpec {
  return {
    device: "cpu",
    start: nodeTransport(join(__dirname, "executor.cjs"), executorFlags(), "cpu"),
    accepts: () => true,
  };
}

function count(what: string, text: string, least: number, most: number): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < least || n > most) throw new Error(`${what}, not '${text}'`);
  return n;
}

interface ExecutorOptions extends Omit<PythonOptions, "python" | "packages"> {
  readonly python: string | undefined;
  readonly gpus: number;
}

/** GPUs come first, so that a benchmark takes one where there is one; values and verification stay on the CPU */
function executors({ python, gpus, ...options }: ExecutorOptions): ExecutorSpec[] {
  const packages = [join(__dirname, "python"), join(__dirname, "..", "python")].find(existsSync);
  if (!python || !packages) return [cpuExecutor()];
  const cuda = Array.from(
    { length: gpus },
    (_, i): ExecutorSpec => ({
      device: `cuda:${i}`,
      start: pythonTransport({ ...options, python, packages }, i),
      accepts: job => job.kind === "benchmark",
    }),
  );
  return [...cuda, cpuExecutor()];
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
