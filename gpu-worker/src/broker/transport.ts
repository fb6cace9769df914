// How the worker speaks with an executor child: Node's IPC channel, or JSON lines with a Python process. One message in,
// several out; what the child prints otherwise goes to stderr.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FromExecutor, ToExecutor } from "./executor_messages";
import { parseFromPython, toPython } from "./python_messages";

export interface Transport {
  readonly process: ChildProcess;
  send(message: ToExecutor, onError: (e: Error) => void): void;
  onMessage(receive: (m: FromExecutor) => void): void;
}

/** ms that a dead child's pipes may stay open, held by a process of its own */
const DRAIN_MS = 1_000;

/** Calls back once, when the child has ended and what it wrote last has been read. */
export function onceEnded(child: ChildProcess, ended: (how: string) => void): void {
  child.once("exit", (code, signal) => {
    let told = false;
    const tell = (): void => {
      if (told) return;
      told = true;
      clearTimeout(timer);
      ended(signal ?? `exit status ${code}`);
    };
    const timer = setTimeout(tell, DRAIN_MS);
    child.once("close", tell);
  });
}

export type StartTransport = (folder: string, env: NodeJS.ProcessEnv) => Transport;

/** a Node bundle that speaks over process.send */
export function nodeTransport(file: string, execArgv: readonly string[], device: string): StartTransport {
  return (folder, env) => {
    const child = fork(file, [`--executor=${device}`], {
      execArgv: [...execArgv],
      env,
      cwd: folder,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    return {
      process: child,
      send: (message, onError) => child.send(message, e => e && onError(e)),
      onMessage: receive => child.on("message", m => receive(m as FromExecutor)),
    };
  };
}

/** Whether files can be written there; makes the folder, this user's alone. */
function canHold(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** longest line that is taken from the child, in characters */
const MAX_LINE = 16 * 1024 * 1024;

/** Cuts text that comes in pieces into lines; each piece is searched once, however long the line is. */
function lineReader(limit: number, tooLong: () => void, line: (text: string) => void): (piece: string) => void {
  let parts: string[] = [];
  let length = 0;
  return piece => {
    let from = 0;
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", from)) {
      parts.push(piece.slice(from, end));
      line(parts.join(""));
      parts = [];
      length = 0;
      from = end + 1;
    }
    parts.push(piece.slice(from));
    length += piece.length - from;
    if (length > limit) {
      parts = [];
      length = 0;
      tooLong();
    }
  };
}

export interface PythonOptions {
  readonly python: string;
  /** where fuselens_worker and fuselens_runtime are */
  readonly packages: string;
  /** compiled kernels, kept for all executors and workers; null: they end with the executor */
  readonly kernels: string | null;
  /** kernels compiled at once; 0: each as it is launched. Default: as many as there are processors */
  readonly compileProcesses?: number | undefined;
}

/** a Python process that reads JSON lines on stdin and writes them on fd 3, one GPU visible to it */
export function pythonTransport(options: PythonOptions, gpu: number): StartTransport {
  const { python, packages, kernels, compileProcesses } = options;
  const flags = compileProcesses === undefined ? [] : ["--compile-processes", String(compileProcesses)];
  return (folder, env) => {
    const cache = kernels !== null && canHold(kernels) ? kernels : join(folder, "kernels");
    const child = spawn(python, ["-I", join(packages, "fuselens_worker", "main.py"), ...flags], {
      cwd: folder,
      env: { ...env, CUDA_VISIBLE_DEVICES: String(gpu), TRITON_CACHE_DIR: cache },
      stdio: ["pipe", "ignore", "inherit", "pipe"],
    });
    child.stdin?.on("error", () => undefined); // a child that died is reported by its exit
    return {
      process: child,
      send: (message, onError) => child.stdin?.write(`${JSON.stringify(toPython(message))}\n`, e => e && onError(e)),
      onMessage: receive => {
        const out = child.stdio[3];
        if (!out || !("setEncoding" in out)) throw new Error("the child has no output pipe");
        out.setEncoding("utf8");
        const end = () => {
          out.removeAllListeners("data"); // what follows garbage can't be told from it
          out.resume();
          child.kill("SIGKILL");
        };
        out.on(
          "data",
          lineReader(MAX_LINE, end, line => {
            const message = parseFromPython(line);
            if (message) receive(message);
            else end();
          }),
        );
      },
    };
  };
}
