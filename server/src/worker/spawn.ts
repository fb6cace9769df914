// Starts a worker on demand: ipc in a 0700 folder of its own, or loopback TCP with ephemeral CURVE keys where ipc is
// missing. The worker ends when this process does.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capability, curveKeyPair } from "zeromq";
import { type CurveClient, NoWorker, WorkerLost } from "./job";

/** sun_path holds 108 bytes on Linux, 104 on macOS */
const MAX_SOCKET_PATH = 100;
const START_TIMEOUT_MS = 15_000;

export interface SpawnedWorker {
  readonly endpoint: string;
  readonly curve: CurveClient | null;
  /** how it ended; awaited at any time, also after the end */
  readonly ended: Promise<string>;
  readonly dispose: () => void;
}

export async function spawnWorker(workerFile: string, log: (message: string) => void): Promise<SpawnedWorker> {
  const folder = privateFolder();
  const socket = join(folder, "worker.sock");
  const ipc = capability.ipc === true && socket.length <= MAX_SOCKET_PATH;
  const args = ["--parent", String(process.pid)];
  let curve: CurveClient | null = null;
  if (ipc) args.push("--bind", `ipc://${socket}`);
  else {
    const keys = join(folder, "keys");
    curve = ephemeralKeys(keys);
    args.push("--bind", "tcp://127.0.0.1:*", "--keys", keys);
  }
  const child = spawn(process.execPath, [workerFile, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" },
  });
  // heard from the first: a worker may end before its endpoint, which it had already told, is read
  const ended = new Promise<string>(resolve => {
    child.once("exit", (code, signal) => resolve(signal ?? `exit status ${code}`));
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-2000);
    log(text.trimEnd());
  });
  const dispose = () => {
    child.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { endpoint: await firstEndpoint(child, () => said), curve, ended, dispose };
  } catch (e) {
    dispose();
    throw e;
  }
}

function privateFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "fuselens-")); // mkdtemp makes it 0700
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e);
    throw new NoWorker(`the worker needs a temporary folder (${why}); let TMPDIR name one that may be written`);
  }
}

function firstEndpoint(child: ChildProcess, said: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoWorker("the worker did not start in time")), START_TIMEOUT_MS);
    let seen = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      seen += text;
      const end = seen.indexOf("\n");
      if (end < 0) return;
      clearTimeout(timer);
      try {
        resolve((JSON.parse(seen.slice(0, end)) as { endpoint: string }).endpoint);
      } catch {
        reject(new NoWorker("the worker's first line is not what it should be"));
      }
    });
    child.once("error", e => {
      clearTimeout(timer);
      reject(new NoWorker(`the worker can't be started: ${e.message}`));
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (signal) reject(new WorkerLost(`the worker was ended by ${signal} while it started`));
      const last = said().trim().split("\n").at(-1);
      reject(new NoWorker(`the worker ended at once (exit status ${code})${last ? `: ${last}` : ""}`));
    });
  });
}

/** the files that `--keys` reads, with one client on the list */
function ephemeralKeys(folder: string): CurveClient {
  const server = curveKeyPair();
  const client = curveKeyPair();
  mkdirSync(join(folder, "clients"), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "server.key"), server.secretKey, { mode: 0o600 });
  writeFileSync(join(folder, "server.pub"), server.publicKey);
  writeFileSync(join(folder, "clients", "editor.pub"), client.publicKey);
  return { serverKey: server.publicKey, publicKey: client.publicKey, secretKey: client.secretKey };
}
