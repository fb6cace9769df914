// A process that compiles what it is told, in a thread as the language server does: a crash, an endless loop or a memory
// that fills up costs this process and nothing else. In: CompileJob over IPC. Out: CompileAnswer.
import { createHash } from "node:crypto";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { defaultSessionOptions, type PresetName, type Program, Session } from "@fuselens/compiler";

export interface CompileJob {
  readonly id: number;
  readonly path: string;
  readonly text: string;
  /** the text before, whose Session this one is an edit of */
  readonly before?: string;
  readonly preset?: PresetName;
  readonly wat: boolean;
  /** texts of the generated Python come back */
  readonly wantCode: boolean;
}

export interface CompileAnswer {
  readonly id: number;
  /** what is wrong with the answer, most telling first; the stack of an exception */
  readonly wrong: readonly { readonly kind: string; readonly detail: string }[];
  readonly graphs: number;
  readonly diagnostics: number;
  readonly cancelled: boolean;
  readonly cpuMs: number;
  readonly codes: readonly string[];
  /** after a collection, now and then; else 0 */
  readonly heapMb: number;
}

const OPTIONS = { resourceLimits: { stackSizeMb: 16, maxOldGenerationSizeMb: 1500 } };
/** a collection costs some 50 ms */
const COLLECT_EVERY = 25;

if (isMainThread) main();
else thread();

function main(): void {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(__filename, { ...OPTIONS, workerData: flag.buffer });
  worker.on("message", (a: CompileAnswer) => process.send?.(a));
  worker.on("error", e => {
    process.send?.({ crash: e.stack ?? String(e) }, undefined, undefined, () => process.exit(70));
  });
  process.on("message", (m: CompileJob | "stop") => {
    Atomics.store(flag, 0, m === "stop" ? 1 : 0);
    if (m !== "stop") worker.postMessage(m);
  });
  process.once("disconnect", () => process.exit(0));
}

function thread(): void {
  const flag = new Int32Array(workerData as SharedArrayBuffer);
  let done = 0;
  parentPort?.on("message", (job: CompileJob) => {
    const before = process.cpuUsage();
    const answer = compile(job, () => Atomics.load(flag, 0) === 1);
    const used = process.cpuUsage(before);
    done += 1;
    const collect = done % COLLECT_EVERY === 0;
    if (collect) (globalThis as { gc?: () => void }).gc?.();
    const heapMb = collect ? process.memoryUsage().heapUsed / 1e6 : 0;
    parentPort?.postMessage({ ...answer, id: job.id, cpuMs: (used.user + used.system) / 1000, heapMb });
  });
}

function compile(job: CompileJob, shouldStop: () => boolean): Omit<CompileAnswer, "id" | "cpuMs" | "heapMb"> {
  const wrong: { kind: string; detail: string }[] = [];
  const nothing = { wrong, graphs: 0, diagnostics: 0, cancelled: false, codes: [] };
  const options = () => ({
    ...defaultSessionOptions(),
    wat: job.wat,
    ...(job.preset === undefined ? {} : { preset: job.preset }),
  });
  const read = (path: string): string | undefined => (path === job.path ? job.text : undefined);
  let program: Program;
  try {
    program = new Session(read, options()).run(job.path, { shouldStop });
  } catch (e) {
    wrong.push({ kind: "crash", detail: textOf(e) });
    return nothing;
  }
  const cancelled = shouldStop();
  wrong.push(...judge(program, job.text));
  if (job.before !== undefined && !cancelled) {
    try {
      const session = new Session(read, options());
      session.update(job.path, job.before);
      session.run(job.path, { shouldStop });
      session.update(job.path, job.text);
      const edited = session.run(job.path, { shouldStop });
      if (!shouldStop() && digest(edited) !== digest(program))
        wrong.push({ kind: "wrong-version", detail: `after an edit the answer is another than that of a fresh session: ${difference(edited, program)}` }); // biome-ignore format: one message
    } catch (e) {
      wrong.push({ kind: "crash", detail: textOf(e) });
    }
  }
  const codes = job.wantCode
    ? program.compilations.flatMap(c => [c.outputCode.inductor, c.outputCode.standalone, c.outputCode.eager ?? ""])
    : [];
  return {
    wrong,
    graphs: program.compilations.length,
    diagnostics: program.diagnostics.length,
    cancelled,
    codes,
  };
}

/** what must hold of any answer */
function judge(program: Program, text: string): { kind: string; detail: string }[] {
  const wrong: { kind: string; detail: string }[] = [];
  try {
    structuredClone(program);
  } catch (e) {
    wrong.push({ kind: "not-plain-data", detail: textOf(e) });
  }
  const lines = text.split(/\r\n|\r|\n/).length + 1;
  for (const d of program.diagnostics) {
    if (d.code === "internal" || d.message.includes("the analysis failed here:"))
      wrong.push({ kind: "internal", detail: d.message });
    const { line, column, endLine, endColumn } = d.span;
    const ordered = endLine > line || (endLine === line && endColumn >= column);
    if (line < 1 || column < 0 || endLine > lines || !ordered)
      wrong.push({ kind: "place", detail: `a diagnostic outside the text, ${d.code}: ${line}:${column}-${endLine}:${endColumn} of ${lines} lines` }); // biome-ignore format: one message
    if (!d.message.trim()) wrong.push({ kind: "place", detail: `an empty diagnostic ${d.code}` });
  }
  return wrong;
}

function digest(p: Program): string {
  return createHash("sha1").update(JSON.stringify(p)).digest("hex");
}

function difference(a: Program, b: Program): string {
  const [x, y] = [JSON.stringify(a), JSON.stringify(b)];
  let at = 0;
  while (at < x.length && x[at] === y[at]) at++;
  return `...${x.slice(Math.max(0, at - 80), at + 80)}... against ...${y.slice(Math.max(0, at - 80), at + 80)}...`;
}

function textOf(e: unknown): string {
  return e instanceof Error ? (e.stack ?? e.message) : String(e);
}
