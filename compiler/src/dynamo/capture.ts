// The stage's door: a file or notebook to the events of running it. In: path and options. Out: CaptureResult. Promises:
// never throws on user code, stops at the step budget or when asked, executes no user code.
import { OpError } from "../aten/types";
import { Stopped } from "../interrupt";
import type { Module, Stmt } from "../python/ast";
import type { PythonFile } from "../python/file";
import { walk } from "../python/walk";
import { installBuiltins } from "./builtins/functions";
import { compileModule } from "./code/compiler";
import type { SourceFile } from "./code/instructions";
import { truthThatGoesOn } from "./code/raising_branch";
import { definitionsAfter, importedAt, independentAfter } from "./code/rest";
import { Evidence } from "./infer/evidence/calls";
import { ProjectConstants, type ProjectText } from "./infer/evidence/constants";
import { analyseRoots } from "./infer/roots";
import { Interrupted, PyError } from "./interp/api";
import { PyFunction } from "./interp/frame";
import { Machine } from "./interp/machine";
import { notebookFault, splitCells } from "./notebook";
import { PyClass, type PyDict, PyInstance, PyModule, type Value } from "./objects/values";
import { librariesFactory } from "./stdlib/libraries";
import { Modules } from "./stdlib/modules";
import { DETECTRON_DEFAULTS } from "./stdlib/prelude_detectron_backbones";
import { ProjectFiles } from "./stdlib/project_files";
import { Torch } from "./torch/context";
import { TorchNamespace } from "./torch/namespace";
import { Unsupported } from "./torch/sink";
import { tritonFactory } from "./torch/triton";
import { FrameRunner } from "./trace/runner";
import type { CaptureOptions, CaptureResult, Diagnostic } from "./types";

interface Run {
  readonly vm: Machine;
  readonly torch: Torch;
  readonly runner: FrameRunner;
  readonly modules: Modules;
  readonly namespace: TorchNamespace;
  readonly diagnostics: Diagnostic[];
  /** forgets what was said after the mark */
  readonly unsay: (mark: number) => void;
}

type Root = CaptureResult["roots"][number];

const START = { line: 1, column: 0, endLine: 1, endColumn: 0 };

export function capture(path: string, options: CaptureOptions): CaptureResult {
  const alone = captureOnce(path, options, false);
  // modules that import each other in a circle come to their end in the order that their package begins with
  const inPackage = alone.circular && !options.shouldStop() ? captureOnce(path, options, true) : alone;
  const plain = inPackage.roots.length >= alone.roots.length ? inPackage : alone;
  const { missed } = plain;
  // a root that is asked for and not there is defined where its libraries are
  const wanted = options.roots !== undefined || plain.diagnostics.some(d => d.code === "not-analysed");
  const failed = plain.roots.length === 0 && wanted;
  if (!failed || missed.length === 0 || options.imports === "present" || options.shouldStop()) return plain;
  // without its libraries nothing here can be followed: some code refuses to go on in plain PyTorch
  const present = captureOnce(path, { ...options, imports: "present" }, plain !== alone);
  if (present.roots.length === 0) return plain;
  const message = `nothing here can be analysed without ${missed.join(", ")}: taken to be there, with unknown results`;
  return { ...present, diagnostics: [...present.diagnostics, problem(path, START, "information", "imports", message)] };
}

interface Captured extends CaptureResult {
  /** libraries that guarded imports did not find */
  readonly missed: readonly string[];
  /** an import asked for what a module was only about to define */
  readonly circular: boolean;
}

/** `packaged`: the packages that the file lies in are imported first, as they are where it is no script */
function captureOnce(path: string, options: CaptureOptions, packaged: boolean): Captured {
  const text = options.files(path);
  if (text === undefined) {
    const message = `cannot read ${path}`;
    const diagnostics = [problem(path, START, "error", "no-file", message)];
    return { events: [], diagnostics, logFormat: null, roots: [], missed: [], circular: false };
  }
  const run = prepare(path, options);
  const fault = notebookFault(path, text);
  if (fault !== null) run.diagnostics.push(problem(path, START, "error", "notebook", fault));
  const cells = splitCells(path, text);
  const main = run.vm.newModule("__main__");
  main.dict.set("__module_object__", main);
  main.dict.set("__file__", path);
  main.dict.set("__builtins__", run.modules.import("builtins", null));
  run.modules.loaded.set("__main__", main);
  run.modules.sysModules.set("__main__", main);
  if (packaged) importPackages(run, path, options);
  const evidence = new Evidence(run.vm, run.torch, main);
  const compiles = cells.some(c => mentionsCompile(run.modules.parseFile(c.name, c.text)));
  let alive = true;
  // a script that compiles nothing is run for what it shows of its models, not to its end
  const shown = run.vm.steps + Math.min(SHOWN_STEPS, options.stepBudget / 2);
  for (const cell of cells) {
    if (cell.index !== null) run.torch.emit({ kind: "cell", index: cell.index });
    if (!compiles) run.vm.stepLimit = Math.max(shown, run.vm.steps + LEAST_STEPS);
    const run1 = (): boolean => runCell(run, main, path, cell.text, cell.name);
    alive = compiles ? run1() : evidence.watching(run1);
    run.vm.stepLimit = null;
    if (!alive) break;
  }
  const last = cells[cells.length - 1];
  const roots = compiledRoots(run, path);
  if (last && alive) {
    // cells of a marked script share its lines: their definitions are those of one file
    const parsed = run.modules.parseFile(last.name, last.name === path ? text : last.text);
    const { vm, torch, runner, namespace, diagnostics, unsay } = run;
    roots.push(
      ...guarded(run, path, () =>
        analyseRoots({
          vm,
          torch,
          runner,
          api: namespace.api,
          main,
          parsed,
          evidence,
          diagnostics,
          unsay,
          only: options.roots,
          training: options.training ?? (() => false),
          elsewhere: elsewhereOf(run, path),
          load: file => loaded(run, file),
          project: () => options.project?.(path) ?? [],
          constants: new ProjectConstants(() => projectTexts(path, options), path),
          building: [],
          assumed: [],
          asked: new Map(),
          small: false,
          looped: false,
          patient: false,
          opaque: false,
          half: null,
          wantsGrad: null,
          inputGrad: false,
          device: "cuda",
          read: options.files,
          execute: (file, code) => executeScript(run, file, code),
        }),
      ),
    );
  }
  const format = run.modules.environment.get("TORCH_LOGS_FORMAT");
  return {
    events: run.torch.events,
    diagnostics: eachOnce(run.diagnostics),
    logFormat: typeof format === "string" ? format : null,
    roots,
    missed: [...run.modules.missed],
    circular: run.modules.circular.size > 0,
  };
}

/** about a second, for all cells together; a cell after that still gets some, since it may only define things */
const SHOWN_STEPS = 8_000_000;
const LEAST_STEPS = 100_000;

/** a file that compiles something itself shows what it means to compile */
function mentionsCompile(parsed: PythonFile): boolean {
  let found = false;
  walk(parsed.module.body, n => {
    if (n.kind === "Attribute" && n.attr === "compile" && n.value.kind === "Name" && n.value.id !== "re") found = true;
    if (n.kind === "Name" && n.id === "compile") found = true;
    return !found;
  });
  return found;
}

/** what the program itself compiled, at the definitions of its functions and classes */
function compiledRoots(run: Run, path: string): Root[] {
  const out: Root[] = [];
  for (const [c, frames] of run.namespace.api.frames) {
    const at = c.target instanceof PyFunction ? c.target.code : undefined;
    if (at && at.file.name === path && frames.length > 0) {
      const span = { line: at.firstLine, column: 0, endLine: at.firstLine, endColumn: 0 };
      out.push({ name: at.name, span, frames, assumed: [] });
      continue;
    }
    const cls = c.target instanceof PyInstance ? c.target.cls : undefined;
    const place = cls?.place;
    if (cls && place && place.file === path && frames.length > 0) {
      const span = { line: place.line, column: 0, endLine: place.line, endColumn: 0 };
      out.push({ name: cls.name, span, frames, assumed: [] });
    }
  }
  return out;
}

/** files whose literals may stand for what a root is not given */
const MOST_TEXTS = 800;

function projectTexts(path: string, options: CaptureOptions): ProjectText[] {
  const paths = [path, ...(options.project?.(path) ?? []).filter(p => p !== path)];
  const texts = paths
    .filter(p => /\.(py|json|ya?ml|sh|md)$/i.test(p))
    .slice(0, MOST_TEXTS)
    .flatMap(p => {
      const text = options.files(p);
      return text === undefined ? [] : [{ path: p, text }];
    });
  return [...texts, ...libraryDefaults(texts)];
}

/** options as a library sets them that the project builds its own on */
function libraryDefaults(texts: readonly ProjectText[]): ProjectText[] {
  const used = texts.some(f => f.text.includes("detectron2.") && f.path.endsWith(".py"));
  return used ? [{ path: "detectron2/config/defaults.py", text: DETECTRON_DEFAULTS }] : [];
}

/** runs a text as a script of its own; after an error, what follows is gone on with: what the failed statement would have made is unknown */
function executeScript(run: Run, path: string, text: string): PyDict {
  const m = run.vm.newModule("__main__");
  m.dict.set("__builtins__", run.modules.import("builtins", null));
  m.file = path;
  run.modules.execute(m, path, text, "all");
  return m.dict;
}

/** modules of the user's files that are loaded, the file's package made first: its __init__ names what belongs together */
function elsewhereOf(run: Run, path: string): () => PyModule[] {
  let asked = false;
  return () => {
    if (!asked) loadPackage(run, path);
    asked = true;
    const all = [...run.modules.loaded.values()];
    return all.filter((m): m is PyModule => m instanceof PyModule && m.file !== null && m.file !== path);
  };
}

function loadPackage(run: Run, path: string): void {
  const packageOf = path.replace(/\/?[^/]*$/, "/__init__.py");
  if (packageOf !== path) limited(run, () => run.modules.import(".", path));
}

/** the packages that a file lies in, the outermost first */
function importPackages(run: Run, path: string, { files }: CaptureOptions): void {
  const folders = path.split("/").slice(0, -1);
  let outermost = folders.length;
  while (outermost > 0 && files([...folders.slice(0, outermost), "__init__.py"].join("/")) !== undefined) outermost--;
  for (let depth = outermost + 1; depth <= folders.length; depth++)
    limited(run, () => run.modules.import(folders.slice(outermost, depth).join("."), path), PACKAGE_STEPS);
}

const PACKAGE_STEPS = 6_000_000;

/** the module of a project's file that nothing has imported so far */
function loaded(run: Run, path: string): PyModule | undefined {
  return limited(run, () => run.modules.importFile(path));
}

/** what an import gives, with a part of the steps; what can't be loaded has nothing to offer */
function limited<T>(run: Run, load: () => T, steps = 2_000_000): T | undefined {
  const { vm, torch } = run;
  const resume = torch.pauseSteps();
  const depth = vm.frames.length;
  try {
    return vm.withSteps(steps, load);
  } catch (e) {
    vm.frames.length = depth;
    if (!(e instanceof PyError) && !(e instanceof Interrupted && !vm.host.shouldStop())) throw e;
    return undefined;
  } finally {
    resume();
  }
}

/** the boundary that turns bugs into diagnostics */
function guarded(run: Run, path: string, f: () => Root[]): Root[] {
  try {
    return f();
  } catch (e) {
    run.vm.frames.length = 0;
    run.torch.trace = null;
    run.vm.observer = null;
    if (e instanceof Stopped) throw e;
    if (e instanceof Interrupted) run.diagnostics.push(problem(path, START, "warning", "stopped", e.message));
    else {
      run.diagnostics.push(
        problem(
          path,
          START,
          "error",
          "internal",
          `the analysis failed here: ${e instanceof Error ? e.message : String(e)}`,
        ),
      );
    }
    return [];
  }
}

function problem(
  file: string,
  span: Diagnostic["span"],
  severity: Diagnostic["severity"],
  code: string,
  message: string,
): Diagnostic {
  const { line, column, endLine, endColumn } = span;
  return { file, span: { line, column, endLine, endColumn }, severity, code, message };
}

/** a statement that can't be read is reported when it is read and again when it would run */
function eachOnce(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(d => {
    const key = JSON.stringify([d.file, d.span.line, d.span.column, d.severity, d.code, d.message]);
    return !seen.has(key) && seen.add(key);
  });
}

function prepare(path: string, options: CaptureOptions): Run {
  const diagnostics: Diagnostic[] = [];
  const said = new Set<string>();
  const keyOf = (d: Diagnostic): string => `${d.file}:${d.span.line}:${d.code}:${d.message}`;
  const say = (d: Diagnostic): void => {
    const key = keyOf(d);
    if (said.has(key)) return;
    said.add(key);
    diagnostics.push(d);
  };
  const unsay = (mark: number): void => {
    for (const d of diagnostics.splice(mark)) said.delete(keyOf(d));
  };
  const vm: Machine = new Machine({
    stepBudget: options.stepBudget,
    shouldStop: options.shouldStop,
    print: text => torch.emit({ kind: "print", text }),
    report: (code, message, severity, at) => {
      const place = userPlace(vm);
      const span = at ?? place?.span ?? START;
      say(problem(place?.file ?? path, span, severity, code, message));
    },
    importModule: (name, from) => modules.import(name, from),
    texts: new ProjectFiles(options.files, path, () => options.project?.(path) ?? []),
    translate: e => translated(vm, e),
  });
  installBuiltins(vm);
  const modules = new Modules(vm, options.files);
  for (const [name, value] of options.environment ?? []) modules.environment.set(name, value);
  modules.guardedFail = options.imports !== "present";
  if (options.parse) modules.parseFile = options.parse;
  const torch = new Torch(vm, options);
  const runner = new FrameRunner(torch, vm);
  const namespace = new TorchNamespace(vm, torch, runner);
  modules.register(namespace.factory);
  vm.moduleBase = () => {
    // made when it is first asked for
    const module = vm.getattr(vm.importModule("torch.nn", null), "Module");
    return module instanceof PyClass ? module : null;
  };
  modules.register(librariesFactory(vm));
  modules.register(tritonFactory(torch));
  modules.onFailure = e => {
    const user = [...e.trace].reverse().find(t => t.file.library === "user");
    const message = `the import goes on after this: ${e.value.cls.name}: ${safely(vm, e.value)}`;
    say(problem(user?.file.name ?? path, user?.span ?? START, "information", "python-error", message));
  };
  modules.onProblems = (file, parsed) => {
    for (const p of parsed.problems) say(problem(file, p.span, "error", "syntax", p.message));
  };
  torch.decideUnknown = what => {
    const place = userPlace(vm);
    const line = place?.span.line ?? 0;
    const running = vm.frames[vm.frames.length - 1];
    const wanted = running && truthThatGoesOn(running.code, running.pc - 1);
    const answer = wanted ?? torch.decisions.ask(`${place?.file ?? path}:${line}:${place?.span.column ?? 0}`);
    const taken = `the branch is taken as if it were ${answer}`;
    const ways = torch.compiling && wanted === undefined ? "both ways are compiled" : taken;
    const message = `${what} is not known here; ${ways}`;
    say(problem(place?.file ?? path, place?.span ?? START, "information", "assumed-branch", message));
    torch.assumeLater(`${what} at line ${line} taken as ${answer}`);
    return answer;
  };
  return { vm, torch, runner, modules, namespace, diagnostics, unsay };
}

/** torch's own errors, and what goes wrong in this stage itself, as exceptions that the program's code can meet */
function translated(vm: Machine, e: unknown): PyError | undefined {
  if (e instanceof OpError) return vm.makeError(e.pythonType, [e.message]);
  if (e instanceof RangeError && /call stack/.test(e.message))
    return vm.makeError("RecursionError", ["maximum recursion depth exceeded"]);
  if (e instanceof TypeError || e instanceof RangeError)
    return vm.makeError("RuntimeError", [`the analysis failed here: ${e.message}`]);
  return undefined;
}

/** the innermost line of the user's own code */
function userPlace(vm: Machine): { file: string; span: Diagnostic["span"] } | undefined {
  for (const f of [...vm.frames].reverse()) {
    if (f.code.file.library !== "user") continue;
    const at = f.code.instructions[Math.max(0, f.pc - 1)]?.at.span;
    if (at) return { file: f.code.file.name, span: at };
  }
  return undefined;
}

/** false: nothing after it can run (the budget is spent) */
function runCell(run: Run, main: PyModule, path: string, text: string, shown: string): boolean {
  const parsed: PythonFile = run.modules.parseFile(shown, text);
  const file: SourceFile = { name: shown, lines: text.split(/\r?\n/), library: "user" };
  for (const p of parsed.problems) run.diagnostics.push(problem(path, p.span, "error", "syntax", p.message));
  return statements(run, main, parsed.module, file, text);
}

function statements(run: Run, main: PyModule, module: Module, file: SourceFile, text: string): boolean {
  const { vm, diagnostics } = run;
  try {
    run.modules.run(compileModule(module, file, text), main);
    return true;
  } catch (e) {
    vm.frames.length = 0;
    run.torch.trace = null;
    vm.observer = null;
    if (e instanceof Stopped) throw e;
    if (e instanceof PyError) {
      const line = e.trace.find(t => t.file === file)?.span.line ?? Number.POSITIVE_INFINITY;
      const goOn = (rest: readonly Stmt[]): boolean =>
        rest.length === 0 ? true : statements(run, main, { kind: "Module", body: rest }, file, text);
      // the program ends here; what it defines further down is still worth a look
      if (e.value.cls.name === "SystemExit") return goOn(definitionsAfter(module.body, line));
      const user = [...e.trace].reverse().find(t => t.file.library === "user");
      const raised = `${e.value.cls.name}: ${e.text ?? safely(vm, e.value)}`;
      // an error that follows from what is not known here is no error of the program's
      const certain = !diagnostics.some(d => GUESSES.has(d.code));
      const message = certain ? raised : `the analysis stopped here: ${raised}`;
      const severity = certain ? "error" : "information";
      diagnostics.push(problem(user?.file.name ?? file.name, user?.span ?? START, severity, "python-error", message));
      // so is all that does not need what failed: the rest of a file shows what it did while one line is being written
      const { rest, missing } = independentAfter(module.body, line);
      const unbound = [...importedAt(module.body, line), ...[...missing].map(name => ({ name, from: name }))];
      for (const { name, from } of unbound) {
        if (main.dict.get(name) === undefined) main.dict.set(name, vm.unknown(from));
      }
      return goOn(rest);
    }
    if (e instanceof Interrupted) {
      diagnostics.push(problem(file.name, START, "warning", "stopped", e.message));
      if (vm.stepLimit === null || vm.steps >= vm.host.stepBudget || vm.host.shouldStop()) return false;
      const at = vm.faultFrames?.find(f => f.code.file === file && f.code.kind === "module");
      const line = at?.code.instructions[Math.max(0, at.pc - 1)]?.at.span.line ?? Number.POSITIVE_INFINITY;
      const rest = definitionsAfter(module.body, line);
      vm.stepLimit += SHOWN_STEPS / 8;
      return rest.length === 0 ? true : statements(run, main, { kind: "Module", body: rest }, file, text);
    }
    // what is left is a bug of this stage, or a graph break that escaped: say so and keep what there is
    const what = e instanceof Unsupported || e instanceof OpError || e instanceof Error ? e.message : String(e);
    diagnostics.push(problem(file.name, START, "error", "internal", `the analysis failed here: ${what}`));
    return true;
  }
}

/** diagnostics that say that something was guessed */
const GUESSES = new Set(["unknown-module", "unknown-call", "assumed-branch", "data-dependent", "opaque-operator"]);

function safely(vm: Machine, v: Value): string {
  try {
    return vm.str(v);
  } catch {
    return "";
  }
}
