// The compiling child as the fuzzer sees it: one job at a time, judged by the CPU time that the process used, so that a
// busy machine makes nothing fail.
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import type { CompileAnswer, CompileJob } from "./compile_child";

/** ms of CPU time until a compile is asked to stop, and until it must have obeyed */
export const ANSWER_MS = 2_000;
export const OBEY_MS = 2_000;
/** ms of CPU time after which the process is ended */
const KILL_MS = 20_000;
/** what starting costs, and a clock that ticks in hundredths */
const POLL_MS = 50;
const TICK_MS = 10;

export type Verdict =
  | { readonly kind: "answer"; readonly answer: CompileAnswer; readonly asked: boolean; readonly obeyedMs: number }
  | { readonly kind: "crash"; readonly detail: string }
  | { readonly kind: "hang"; readonly detail: string };

export class CompilerProcess {
  private child: ChildProcess | null = null;
  private nextId = 1;

  constructor(private readonly file: string) {}

  async run(job: Omit<CompileJob, "id">): Promise<Verdict> {
    const child = this.started();
    const id = this.nextId++;
    const began = cpuMs(child.pid);
    let asked: number | null = null;
    return new Promise(resolve => {
      const finish = (v: Verdict): void => {
        clearInterval(timer);
        child.off("message", onMessage);
        child.off("exit", onExit);
        resolve(v);
      };
      const onMessage = (m: CompileAnswer | { crash: string }): void => {
        if ("crash" in m) {
          this.end();
          finish({ kind: "crash", detail: m.crash });
        } else if (m.id === id) {
          const spent = cpuMs(child.pid);
          finish({ kind: "answer", answer: m, asked: asked !== null, obeyedMs: asked === null ? 0 : spent - asked });
        }
      };
      const onExit = (code: number | null, signal: string | null): void => {
        this.child = null;
        finish({ kind: "crash", detail: `the process ended: ${signal ?? `exit status ${code}`}` });
      };
      const timer = setInterval(() => {
        const spent = cpuMs(child.pid) - began;
        if (spent > ANSWER_MS && asked === null) {
          asked = spent + began;
          child.send("stop");
        }
        if (spent > KILL_MS) {
          this.end();
          finish({ kind: "hang", detail: `${Math.round(spent)} ms of CPU time and no end, though asked to stop` });
        }
      }, POLL_MS);
      child.on("message", onMessage);
      child.on("exit", onExit);
      child.send({ ...job, id } satisfies CompileJob);
    });
  }

  end(): void {
    this.child?.removeAllListeners();
    this.child?.kill("SIGKILL");
    this.child = null;
  }

  private started(): ChildProcess {
    this.child ??= fork(this.file, [], {
      execArgv: ["--expose-gc"],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    return this.child;
  }
}

/** CPU time of a process with all its threads; 0 where the system does not tell */
export function cpuMs(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}
