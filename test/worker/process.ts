// A worker process of a test's own, at an ipc socket in a private folder or at TCP.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WORKER = join(__dirname, "..", "..", "gpu-worker", "dist", "main.cjs");

export interface StartedWorker {
  readonly endpoint: string;
  readonly child: ChildProcess;
  /** what it has written to stderr so far */
  said(): string;
  stop(): Promise<void>;
}

export interface WorkerOptions {
  /** default: ipc in a folder of its own */
  readonly bind?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly file?: string;
}

/** Resolves when it serves; rejects with what it said where it does not. */
export async function startWorker(args: readonly string[], options: WorkerOptions = {}): Promise<StartedWorker> {
  const folder = mkdtempSync(join(tmpdir(), "fuselens-test-"));
  const bind = options.bind ?? `ipc://${join(folder, "worker.sock")}`;
  const child = spawn(
    process.execPath,
    [options.file ?? WORKER, "--bind", bind, "--parent", String(process.pid), ...args],
    { stdio: ["ignore", "pipe", "pipe"], env: options.env ?? process.env },
  );
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise<void>(resolve => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const endpoint = await new Promise<string>((resolve, reject) => {
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      const end = out.indexOf("\n");
      if (end >= 0) resolve((JSON.parse(out.slice(0, end)) as { endpoint: string }).endpoint);
    });
    void ended.then(() => reject(new Error(said.trim())));
  }).catch(async e => {
    await stop();
    throw e;
  });
  return { endpoint, child, said: () => said, stop };
}
