// What a compile thread does with a request. In: CompileRequest. Out: ThreadAnswer through `post`. The Session follows
// the typing and keeps what each stage made; side jobs get a Session of their own, as their options differ.
import { type Program, Session, type SessionOptions } from "@fuselens/compiler";
import { bugReport } from "../bug_report";
import { editorProgram } from "../ide/model";
import { emitText } from "../render/emit_text";
import { projectFiles, workspaceReader } from "../source_files";
import { withExamples } from "./examples";
import type { CompileRequest, SideJob, SideResult, ThreadAnswer, ThreadOptions, ThreadStart } from "./messages";

/** what the session that follows the typing may keep of earlier runs, by its own estimate */
const REMEMBERED_BYTES = 64_000_000;

export class ThreadMain {
  private readonly generation: Int32Array;
  /** null until the first configure */
  private configured: { readonly options: ThreadOptions; readonly session: Session } | null = null;
  private readonly programs = new Map<string, { readonly version: number; readonly program: Program }>();
  /** texts as the editor holds them */
  private readonly overlay = new Map<string, string>();
  /** the path whose text the Session itself holds; all others are read, so that the read is seen */
  private current: string | null = null;
  private reading: Set<string> | null = null;
  /** what the document that is compiled may read */
  private disk: (path: string) => string | undefined = () => undefined;
  /** files that each path has read, over all its compiles: a Session that remembers a module does not read it again */
  private readonly dependencies = new Map<string, Set<string>>();

  constructor(
    start: ThreadStart,
    private readonly post: (answer: ThreadAnswer) => void,
    private readonly end: () => void,
  ) {
    this.generation = new Int32Array(start.generation);
  }

  receive(request: CompileRequest): void {
    switch (request.kind) {
      case "configure":
        this.configured = { options: request.options, session: this.newSession(request.options) };
        this.current = null;
        this.programs.clear();
        return;
      case "overlay":
        this.overlay.set(request.path, request.text);
        return;
      case "close":
        this.overlay.delete(request.path);
        this.configured?.session.update(request.path, undefined);
        this.programs.delete(request.path);
        this.dependencies.delete(request.path);
        return;
      case "compile":
        this.compile(request);
        return;
      case "codes": {
        const kept = this.programs.get(request.path);
        const codes = kept?.version === request.version ? kept.program.compilations.map(c => c.outputCode) : null;
        this.post({ kind: "codes", id: request.id, codes });
        return;
      }
      case "side":
        this.side(request);
        return;
      case "end":
        this.end();
        return;
      default: {
        const never: never = request;
        throw new Error(`unhandled request ${JSON.stringify(never)}`);
      }
    }
  }

  private compile(request: Extract<CompileRequest, { kind: "compile" }>): void {
    const began = performance.now();
    if (!this.configured) throw new Error("a compile before configure");
    const { options, session } = this.configured;
    const stale = this.staleness(request.generation);
    const overtaken = (): void =>
      this.post({
        kind: "compiled",
        id: request.id,
        version: request.version,
        program: null,
        files: [],
        milliseconds: 0,
      });
    this.overlay.set(request.path, request.text);
    if (stale()) return overtaken();
    if (this.current !== null && this.current !== request.path) session.update(this.current, undefined);
    this.current = request.path;
    this.disk = workspaceReader(options.folders, request.path);
    session.update(request.path, withExamples(request.text, request.path, options.examples));
    this.reading = this.dependencies.get(request.path) ?? new Set();
    this.dependencies.set(request.path, this.reading);
    const program = session.run(request.path, { shouldStop: stale });
    const files = [...this.reading];
    this.reading = null;
    if (stale()) return overtaken();
    this.programs.set(request.path, { version: request.version, program });
    const { id, version } = request;
    this.post({
      kind: "compiled",
      id,
      version,
      program: editorProgram(program, request.text, request.keyed),
      files,
      milliseconds: performance.now() - began,
    });
  }

  private side(request: Extract<CompileRequest, { kind: "side" }>): void {
    const { id, job, options, path } = request;
    const stale = this.staleness(request.generation);
    const read = workspaceReader(options.folders, path);
    const session = new Session(read, sideOptions(options, job));
    for (const [file, text] of request.overlay) session.update(file, withExamples(text, file, options.examples));
    const text = request.overlay.find(([file]) => file === path)?.[1] ?? read(path);
    if (job.want === "report") {
      const report = bugReport(text ?? "", sessionOptions(options), job.editor, stale);
      this.post({ kind: "side", id, result: stale() ? null : { want: "report", text: report } });
      return;
    }
    const program = session.run(path, { shouldStop: stale });
    this.post({ kind: "side", id, result: stale() ? null : sideResult(program, job, text) });
  }

  /** whether a request has been overtaken or given up */
  private staleness(generation: number): () => boolean {
    return () => Atomics.load(this.generation, 0) !== generation;
  }

  private newSession(options: ThreadOptions): Session {
    const read = (path: string): string | undefined => {
      this.reading?.add(path);
      const text = this.overlay.get(path) ?? this.disk(path);
      return text === undefined ? undefined : withExamples(text, path, options.examples);
    };
    return new Session(read, { ...sessionOptions(options), memory: REMEMBERED_BYTES });
  }
}

function sessionOptions(o: ThreadOptions): SessionOptions {
  const { preset, target, stepBudget } = o;
  return {
    preset,
    target,
    stepBudget,
    config: new Map(o.config),
    choices: new Map(o.choices ?? []),
    environment: new Map(o.environment ?? []),
    imports: o.imports ?? "plain",
    training: (root, path) => (o.training ?? []).some(t => t.root === root && t.path === path),
    project: projectFiles,
    artifacts: new Set(),
    wat: false,
    unfused: false,
    replay: false,
  };
}

type CompiledJob = Exclude<SideJob, { want: "report" }>;

function sideOptions(o: ThreadOptions, job: SideJob): SessionOptions {
  const plain = sessionOptions(o);
  switch (job.want) {
    case "stage":
      return { ...plain, artifacts: new Set([job.stage]) };
    case "graphs":
      return { ...plain, artifacts: new Set(["scheduler_graph"]) };
    case "benchmark":
      return { ...plain, wat: true };
    case "program":
    case "schedules":
    case "report":
      return plain;
    default: {
      const never: never = job;
      return never;
    }
  }
}

function sideResult(program: Program, job: CompiledJob, text: string | undefined): SideResult {
  switch (job.want) {
    case "stage":
      return { want: "stage", text: emitText(program, job.stage) };
    case "schedules":
      return {
        want: "schedules",
        graphs: program.report.graphs.map(({ name, kind, kernels }) => ({ name, kind, kernels })),
      };
    case "graphs":
      return { want: "graphs", graphs: program.compilations.map(c => c.schedulerGraph) };
    case "benchmark":
      return { want: "benchmark", compilations: program.compilations };
    case "program":
      return {
        want: "program",
        program: editorProgram(program, text),
        codes: program.compilations.map(c => c.outputCode),
      };
    default: {
      const never: never = job;
      return never;
    }
  }
}
