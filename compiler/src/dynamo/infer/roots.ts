// Code that a file defines and never runs compiled: its root modules (that no other class builds) and functions of
// tensors are analysed as if compiled. In: the program after it ran, and what its own calls showed. Out: captured frames
// marked with what was assumed, and the places where lenses go.
import type * as ast from "../../python/ast";
import type { PythonFile } from "../../python/file";
import { construct } from "../assume/construct";
import { ATTEMPT_STEPS, type Found, isEndless, quietly, type Search, searchCall, searchShapes } from "../assume/search";
import { withNestedDefinitions } from "../assume/tree";
import { Interrupted, PyError } from "../interp/api";
import type { Machine } from "../interp/machine";
import { PyClass, type PyDict, PyInstance, type PyModule, type Value } from "../objects/values";
import type { CompileApi } from "../torch/compile_api";
import type { Torch } from "../torch/context";
import type { FrameRunner } from "../trace/runner";
import type { CaptureResult, Diagnostic } from "../types";
import { type Candidate, findCandidates, namedCandidates, partsOf } from "./candidates";
import type { Evidence } from "./evidence/calls";
import type { ProjectConstants } from "./evidence/constants";
import { examplesOf } from "./evidence/elsewhere";
import { parseComment, type Spec } from "./evidence/written";
import { IN_EVAL, IN_TRAINING } from "./modes";
import { analyseInferred } from "./root";
import { NO_OPERATORS } from "./search/failure";

type Root = CaptureResult["roots"][number];

export interface Program {
  readonly vm: Machine;
  readonly torch: Torch;
  readonly runner: FrameRunner;
  readonly api: CompileApi;
  readonly main: PyModule;
  readonly parsed: PythonFile;
  readonly evidence: Evidence;
  readonly diagnostics: readonly Diagnostic[];
  readonly unsay: (mark: number) => void;
  /** modules of the user's files, that of the file's package first */
  readonly elsewhere: () => readonly PyModule[];
  readonly constants: ProjectConstants;
  /** paths of the project that the file is part of; empty: nobody knows */
  readonly project: () => readonly string[];
  readonly read: (path: string) => string | undefined;
  /** runs a text of the project as a script */
  readonly execute: (path: string, text: string) => PyDict;
  /** names to analyse instead of the roots that the file has */
  readonly only: readonly string[] | undefined;
  /** root modules to analyse in train() with grad where the file does not call them */
  readonly training: (root: string) => boolean;
}

/** steps per root, attempts included, where the whole analysis has as many left: less of them is left to others */
const STEPS_PER_ROOT = 30_000_000;
const SHARE_OF_REST = 0.7;
/** those that guesses may take, before other files are asked */
const GUESSING_STEPS = 20_000_000;

export function analyseRoots(p: Program): Root[] {
  const definitions = { ...p, module: withNestedDefinitions(p.parsed.module) };
  if (p.api.called.size === 0) {
    p.evidence.runDrivers(p.parsed, f => silently(p, f));
  }
  const roots: Root[] = [];
  const seen = new Set<string>();
  const queue = p.only ? namedCandidates(definitions, p.only) : findCandidates(definitions);
  for (let c = queue.shift(); c !== undefined; c = queue.shift()) {
    if (seen.has(c.name)) continue;
    seen.add(c.name);
    const root = analyse(p, c);
    if (root) roots.push(root);
    // what it is made of still has kernels to show
    else if (!p.only) queue.push(...partsOf(definitions, c).filter(x => !seen.has(x.name)));
  }
  return roots;
}

/** runs code that the program itself does not run: nothing of it is seen */
function silently(p: Program, f: () => void): void {
  const { torch } = p;
  const events = torch.events.length;
  const said = p.diagnostics.length;
  const { logs } = torch;
  torch.logs = new Set();
  quietly(torch, f);
  torch.logs = logs;
  torch.events.length = events;
  p.unsay(said);
}

function analyse(p: Program, c: Candidate): Root | undefined {
  const { vm, torch } = p;
  const assumed: string[] = c.options ? [] : ["analysed as if compiled"];
  vm.stepLimit = vm.steps + Math.min(STEPS_PER_ROOT, Math.floor((vm.host.stepBudget - vm.steps) * SHARE_OF_REST));
  try {
    let found = capture(p, c, assumed);
    // what only works on its input while it trains (augmentations, noise) does nothing in eval()
    if (typeof found === "string" && found.includes(NO_OPERATORS) && c.cls && !c.options && !p.training(c.name)) {
      const trained = capture({ ...p, training: () => true }, c, assumed);
      if (typeof trained !== "string") found = trained;
    }
    if (typeof found === "string") return skip(p, c, found);
    return { name: c.name, span: place(c.cls ?? c.def), frames: found.frames, assumed: found.assumed };
  } catch (e) {
    if (e instanceof Interrupted && vm.steps < vm.host.stepBudget && !vm.host.shouldStop())
      return skip(p, c, e.message);
    if (e instanceof PyError) return skip(p, c, `${e.value.cls.name}: ${vm.str(e.value)}`);
    throw e;
  } finally {
    vm.stepLimit = null;
    vm.frames.length = 0;
    torch.trace = null;
    vm.observer = null;
  }
}

function capture(p: Program, c: Candidate, assumed: string[]): Found | string {
  const { vm, torch, runner, api, unsay } = p;
  const training = c.cls !== null && p.training(c.name);
  const search: Search = { vm, torch, runner, api, unsay, training, said: () => p.diagnostics.length };
  const written = commentSpecs(p, c);
  if (c.call && !written) {
    const found = searchCall(search, c, c.call, assumed);
    if (typeof found !== "string") return found;
  }
  if (!c.cls) return shaped(search, p, c, c.value, assumed, written);
  // an instance that the program builds comes first, then one that is built for the analysis
  let why: string | undefined;
  if (c.value instanceof PyInstance) {
    const how = p.evidence.instances.get(c.value.cls)?.how;
    const notes = [...assumed, ...(how === undefined ? [] : [how]), ...settled(p, c, c.value)];
    const found = shaped(search, p, c, c.value, notes, written);
    if (typeof found !== "string" || c.options) return found;
    why = found;
  }
  const cls = c.value instanceof PyInstance ? c.value.cls : c.value;
  if (!(cls instanceof PyClass)) return why ?? "it is no class";
  const def = c.cls;
  const builder = { vm, torch, main: p.main, module: withNestedDefinitions(p.parsed.module), written };
  const notes = [...assumed];
  const made = limited(p, ATTEMPT_STEPS, () => quietly(torch, () => construct(builder, def, cls, notes)));
  let first: string | undefined;
  if (typeof made !== "string") {
    const found = shaped(search, p, c, made, [...notes, ...settled(p, c, made)], written);
    if (typeof found !== "string") return found;
    if (isEndless(found)) return found;
    first = found;
  }
  const found = limited(p, GUESSING_STEPS, () => inferred(p, c, cls, assumed));
  if (typeof found !== "string") return found;
  return shownElsewhere(search, p, c, cls, assumed, written) ?? why ?? first ?? found;
}

/** a part of a root's steps, so that some are left for what comes after it; more is an error like others */
function limited<T>(p: Program, steps: number, f: () => T | string): T | string {
  const { vm, torch } = p;
  const outer = vm.stepLimit;
  vm.stepLimit = Math.min(vm.steps + steps, outer ?? Number.POSITIVE_INFINITY);
  const depth = vm.frames.length;
  try {
    return f();
  } catch (e) {
    if (!(e instanceof Interrupted) || vm.steps >= vm.host.stepBudget || vm.host.shouldStop()) throw e;
    vm.frames.length = depth;
    torch.trace = null;
    vm.observer = null;
    return e.message;
  } finally {
    vm.stepLimit = outer;
  }
}

/** arguments and inputs that other files of the project give: READMEs, scripts, tests */
function shownElsewhere(
  search: Search,
  p: Program,
  c: Candidate,
  cls: PyClass,
  assumed: readonly string[],
  written: ReadonlyMap<string, Spec> | undefined,
): Found | undefined {
  const { evidence } = p;
  const own = String(p.main.dict.get("__file__"));
  const examples = examplesOf(cls.name, own, p.project(), p.read);
  if (examples.length === 0) return undefined;
  const before = evidence.instances.get(cls);
  evidence.runElsewhere(
    cls,
    examples,
    e => p.execute(e.path, e.text),
    f => silently(p, f),
  );
  const call = evidence.calls.get(cls);
  if (call && call !== c.call) {
    const found = searchCall(search, c, call, assumed);
    if (typeof found !== "string") return found;
  }
  const built = call?.target ?? evidence.instances.get(cls)?.value;
  if (!(built instanceof PyInstance) || built === before?.value) return undefined;
  const how = evidence.instances.get(cls)?.how ?? call?.how;
  const notes = [...assumed, ...(how === undefined ? [] : [how]), ...settled(p, c, built)];
  const found = shaped(search, p, c, built, notes, written);
  return typeof found === "string" ? undefined : found;
}

/** a root module that the file never calls is analysed in eval() without grad, or as `training` says */
function settled(p: Program, c: Candidate, target: Value): string[] {
  if (c.options) return [];
  const { vm } = p;
  const training = p.training(c.name);
  quietly(p.torch, () => {
    vm.call(vm.getattr(target, "cuda"), []);
    vm.call(vm.getattr(target, "train"), [training]);
  });
  return [modeOf(p, c)];
}

const modeOf = (p: Program, c: Candidate): string => (p.training(c.name) ? IN_TRAINING : IN_EVAL);

function shaped(
  search: Search,
  p: Program,
  c: Candidate,
  target: Value,
  assumed: readonly string[],
  written: ReadonlyMap<string, Spec> | undefined,
): Found | string {
  const found = searchShapes(search, c, target, assumed, written);
  return typeof found === "string" && !isEndless(found) ? inferred(p, c, target, assumed) : found;
}

/** what plain guesses don't reach: arguments found by search */
function inferred(p: Program, c: Candidate, root: Value, assumed: readonly string[]): Found | string {
  const { vm, torch, runner, api } = p;
  const mode = c.cls && !c.options ? [modeOf(p, c)] : [];
  const options = {
    fullgraph: false,
    dynamic: null,
    mode: null,
    backend: "inductor",
    options: new Map(),
    ...(c.options ?? {}),
    assumed: [...new Set([...assumed, ...mode])],
    backward: c.cls !== null && p.training(c.name),
  };
  const ctx = { vm, torch, building: [], assumed: [], elsewhere: p.elsewhere, constants: p.constants };
  const grad = c.cls ? p.training(c.name) : torch.gradEnabled;
  const mark = p.diagnostics.length;
  const found = analyseInferred({
    ctx,
    runner,
    api,
    root,
    globals: p.main.dict,
    options,
    grad,
    written: new Map(),
    unsay: () => p.unsay(mark),
  });
  return typeof found === "string" ? found : { frames: found.frames, assumed: [...new Set([...mode, ...found.notes])] };
}

function place(def: ast.FunctionDef | ast.ClassDef): Diagnostic["span"] {
  const { line, column, endLine, endColumn } = def.nameSpan;
  return { line, column, endLine, endColumn };
}

/** says at the definition why it has no kernels, and how to give it shapes */
function skip(p: Program, c: Candidate, why: string): undefined {
  const whole = (c.cls ?? c.def).span;
  // where the file's own call fails in it, the error says all there is to say
  if (p.diagnostics.some(d => d.severity === "error" && holds(whole, d.span.line))) return undefined;
  const reason = why.split("\n")[0] ?? why;
  const how = `a comment such as \`# fuselens: ${exampleOf(c.def)}\` above it gives it inputs`;
  p.vm.report("not-analysed", `${c.name} was not analysed: ${reason}; ${how}`, "hint", (c.cls ?? c.def).nameSpan);
  return undefined;
}

const holds = (span: { readonly line: number; readonly endLine: number }, line: number): boolean =>
  span.line <= line && line <= span.endLine;

/** example inputs for a function's own parameters, to be changed: "x=f32[8,128], y=f32[8,128]" */
function exampleOf(def: ast.FunctionDef): string {
  const { posonlyargs, args, defaults } = def.args;
  const names = [...posonlyargs, ...args].map(a => a.arg);
  const needed = names.slice(0, names.length - defaults.length).filter(n => n !== "self");
  return (needed.length ? needed : ["x"]).map(n => `${n}=f32[8,128]`).join(", ");
}

/** `# fuselens:` on the line of the def, above it, or first in its body */
function commentSpecs(p: Program, c: Candidate): Map<string, Spec> | undefined {
  const starts = [c.def, ...(c.cls ? [c.cls] : [])].map(d => d.decorators[0]?.span.line ?? d.span.line);
  const body = c.def.body[0]?.span.line ?? c.def.span.line;
  for (const comment of p.parsed.comments()) {
    const line = comment.span.line;
    const near = starts.some(s => line >= s - 1 && line <= s) || (line >= c.def.span.line && line <= body);
    const specs = near ? parseComment(comment.text) : undefined;
    if (specs) return specs;
  }
  return undefined;
}
