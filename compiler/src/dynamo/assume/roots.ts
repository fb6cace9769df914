// Code that a file defines and never runs compiled: its root modules (that no other class builds) and functions of
// tensors are analysed as if compiled. In: the program after it ran. Out: captured frames marked with what was assumed,
// and the places where lenses go. Failed attempts leave no trace: each runs under an undo log.
import type * as ast from "../../python/ast";
import type { PythonFile } from "../../python/file";
import { Interrupted, PyError } from "../interp/api";
import { PyFunction } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { Journal, setJournal } from "../objects/journal";
import { PyClass, PyFloat, PyInstance, type PyModule, PyUnknown, type Value } from "../objects/values";
import type { CompileApi } from "../torch/compile_api";
import type { Torch } from "../torch/context";
import { type CompileOptions, PyCompiled, type PyTensor } from "../torch/objects";
import type { FrameRunner } from "../trace/runner";
import type { CaptureResult, Diagnostic } from "../types";
import { numberFor, parameterGuess, refine, type TensorGuess, tensorOfRank } from "./guess";
import { parseComment, parseJaxtyping, type Spec } from "./specs";

type Root = CaptureResult["roots"][number];

export interface Program {
  readonly vm: Machine;
  readonly torch: Torch;
  readonly runner: FrameRunner;
  readonly api: CompileApi;
  readonly file: string;
  readonly main: PyModule;
  readonly parsed: PythonFile;
  readonly diagnostics: readonly Diagnostic[];
  readonly unsay: (mark: number) => void;
}

/** attempts per root, and steps per attempt: a file full of guesses must still answer while one types */
const ATTEMPTS = 24;
const STEPS_PER_ROOT = 8_000_000;

interface Candidate {
  readonly name: string;
  readonly def: ast.FunctionDef;
  readonly cls: ast.ClassDef | null;
  readonly value: Value;
  /** what torch.compile was given, where the file says it but never calls it */
  readonly options: CompileOptions | null;
}

export function analyseRoots(p: Program): Root[] {
  const roots: Root[] = [];
  const candidates = findCandidates(p);
  for (const c of candidates) {
    const root = analyse(p, c);
    if (root) roots.push(root);
  }
  return roots;
}

// ---- which

function findCandidates(p: Program): Candidate[] {
  const { body } = p.parsed.module;
  const classes = body.filter(s => s.kind === "ClassDef");
  const functions = body.filter(s => s.kind === "FunctionDef");
  const compiledSomething = p.api.created.length > 0;
  const out: Candidate[] = [];
  for (const f of functions) {
    const v = p.main.dict.get(f.name);
    if (v instanceof PyCompiled && !p.api.called.has(v) && v.target instanceof PyFunction) {
      out.push({ name: f.name, def: f, cls: null, value: v.target, options: v.options });
    }
  }
  if (compiledSomething) return out;
  const built = namesUsedInside(classes, functions);
  for (const c of classes) {
    const v = p.main.dict.get(c.name);
    if (!(v instanceof PyClass) || !p.torch.moduleClass || !v.isSubclassOf(p.torch.moduleClass)) continue;
    if (built.has(c.name) || p.torch.calledClasses.has(v)) continue;
    const forward = c.body.filter(s => s.kind === "FunctionDef" && s.name === "forward").pop();
    const inherited = forward ?? inheritedForward(v, classes);
    if (inherited?.kind === "FunctionDef") out.push({ name: c.name, def: inherited, cls: c, value: v, options: null });
  }
  const used = functionsUsed(p.parsed.module, functions);
  for (const f of functions) {
    const v = p.main.dict.get(f.name);
    if (!(v instanceof PyFunction) || used.has(f.name) || !looksLikeTensorCode(f)) continue;
    out.push({ name: f.name, def: f, cls: null, value: v, options: null });
  }
  return out;
}

function inheritedForward(v: PyClass, classes: readonly ast.ClassDef[]): ast.FunctionDef | undefined {
  for (const base of v.mro.slice(1)) {
    const def = classes.find(c => c.name === base.name);
    const forward = def?.body.filter(s => s.kind === "FunctionDef" && s.name === "forward").pop();
    if (forward?.kind === "FunctionDef") return forward;
  }
  return undefined;
}

/** class names that other classes mention: those that they build, or derive from */
function namesUsedInside(classes: readonly ast.ClassDef[], functions: readonly ast.FunctionDef[]): Set<string> {
  const used = new Set<string>();
  const note = (n: ast.Node, own: string): void => {
    if (n.kind === "Name" && n.id !== own) used.add(n.id);
  };
  for (const c of classes) {
    for (const b of c.bases) walk(b, n => note(n, c.name));
    for (const s of c.body) walk(s, n => note(n, c.name));
  }
  void functions;
  return used;
}

function functionsUsed(module: ast.Module, functions: readonly ast.FunctionDef[]): Set<string> {
  const used = new Set<string>();
  const names = new Set(functions.map(f => f.name));
  for (const s of module.body) {
    const own = s.kind === "FunctionDef" ? s.name : "";
    walk(s, n => {
      if (n.kind === "Name" && names.has(n.id) && n.id !== own) used.add(n.id);
    });
  }
  return used;
}

/** computes on tensors: uses torch or F, and builds no models, reads no files */
function looksLikeTensorCode(f: ast.FunctionDef): boolean {
  const params = [...f.args.posonlyargs, ...f.args.args];
  if (params.length === 0 || f.isAsync) return false;
  let torchUse = 0;
  let other = 0;
  for (const s of f.body) {
    walk(s, n => {
      if (n.kind === "Attribute" && n.value.kind === "Name") {
        if (/^(F|torch)$/.test(n.value.id)) torchUse++;
        if (/^(nn|os|json|argparse|plt|np|logging|time|dist)$/.test(n.value.id)) other++;
      }
      if (
        n.kind === "Attribute" &&
        /^(backward|zero_grad|load_state_dict|named_parameters|parameters|step)$/.test(n.attr)
      )
        other++;
      if (n.kind === "Call" && n.func.kind === "Name" && /^(open|print|input)$/.test(n.func.id)) other++;
      if (n.kind === "Yield" || n.kind === "YieldFrom") other++;
    });
  }
  const annotated = params.some(a =>
    a.annotation?.kind === "Name"
      ? a.annotation.id === "Tensor"
      : a.annotation?.kind === "Attribute" && a.annotation.attr === "Tensor",
  );
  return (torchUse > 0 || annotated) && other === 0;
}

function walk(root: unknown, f: (n: ast.Node) => void): void {
  if (Array.isArray(root)) {
    for (const x of root) walk(x, f);
    return;
  }
  if (root === null || typeof root !== "object" || root instanceof Uint8Array) return;
  if ("kind" in root) f(root as ast.Node);
  for (const [k, v] of Object.entries(root)) if (k !== "span" && typeof v === "object" && v !== null) walk(v, f);
}

// ---- how

interface Attempt {
  readonly args: Map<string, Value>;
  readonly tensors: Map<string, TensorGuess>;
  readonly assumed: string[];
}

function analyse(p: Program, c: Candidate): Root | undefined {
  const { vm, torch } = p;
  const assumed: string[] = c.options ? [] : ["analysed as if compiled"];
  const limit = vm.steps + STEPS_PER_ROOT;
  vm.stepLimit = limit;
  try {
    let target: Value = c.value;
    if (c.cls && c.value instanceof PyClass) {
      const made = construct(p, c.cls, c.value, assumed);
      if (typeof made === "string") return skip(p, c, made);
      target = made;
      // a root module that the file never calls is analysed in eval() without grad
      quietly(p, () => vm.call(vm.getattr(target, "eval"), []));
      assumed.push("in eval() without grad");
    }
    return search(p, c, target, assumed);
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

/** runs without leaving steps in the program's replay */
function quietly<T>(p: Program, f: () => T): T {
  const resume = p.torch.pauseSteps();
  try {
    return f();
  } finally {
    resume();
  }
}

function place(def: ast.FunctionDef | ast.ClassDef): Diagnostic["span"] {
  const { line, column, endLine, endColumn } = def.nameSpan;
  return { line, column, endLine, endColumn };
}

function search(p: Program, c: Candidate, target: Value, assumed: string[]): Root | undefined {
  const { vm, torch, runner, api } = p;
  const attempt = firstAttempt(p, c, target);
  if (typeof attempt === "string") return skip(p, c, attempt);
  const gradBefore = torch.gradEnabled;
  for (let i = 0; i < ATTEMPTS; i++) {
    const values = new Map(attempt.args);
    quietly(p, () => {
      for (const [name, g] of attempt.tensors) values.set(name, makeTensor(torch, g, c.options === null));
    });
    const note = [...assumed, ...attempt.assumed, ...describeGuesses(attempt)];
    const frames: number[] = [];
    const options: CompileOptions = {
      fullgraph: false,
      dynamic: null,
      mode: null,
      backend: "inductor",
      options: new Map(),
      ...(c.options ?? {}),
      assumed: note,
    };
    const journal = new Journal();
    const outer = setJournal(journal);
    const events = torch.events.length;
    const said = p.diagnostics.length;
    const logs = torch.logs;
    torch.logs = new Set();
    torch.gradEnabled = c.cls ? false : gradBefore;
    let failure: string | null = null;
    const resume = torch.pauseSteps();
    try {
      runner.callCompiled(api.callable(target), positional(c, values), keywordOnly(c, values), { options, frames });
    } catch (e) {
      if (!(e instanceof PyError)) throw e;
      failure = vm.str(e.value);
    } finally {
      resume();
      setJournal(outer);
      torch.logs = logs;
      torch.gradEnabled = gradBefore;
    }
    if (failure === null && frames.length > 0) {
      return { name: c.name, span: place(c.cls ?? c.def), frames, assumed: note };
    }
    journal.rollback();
    torch.events.length = events;
    p.unsay(said);
    runner.forget(frames);
    if (failure === null) return skip(p, c, "it runs no tensor operators");
    if (!refine([...attempt.tensors.values()], failure)) return skip(p, c, failure);
  }
  return skip(p, c, "no shapes were found that it accepts");
}

/** says at the definition why it has no kernels, and how to give it shapes */
function skip(p: Program, c: Candidate, why: string): undefined {
  const reason = why.split("\n")[0] ?? why;
  const how = "`# fuselens: x=f32[8,128]` above it gives it inputs";
  p.vm.report("not-analysed", `${c.name} was not analysed: ${reason}; ${how}`, "hint", (c.cls ?? c.def).nameSpan);
  return undefined;
}

function describeGuesses(a: Attempt): string[] {
  return [...a.tensors].map(([name, g]) => `${name} is ${g.dtype}[${g.dims.join(", ")}]`);
}

function makeTensor(torch: Torch, g: TensorGuess, symbolic: boolean): PyTensor {
  const device = { type: "cuda", index: 0 } as const;
  const meta = torch.metaStatic.tensor(g.dims, { dtype: g.dtype, device });
  const t = torch.newTensor(meta as PyTensor["meta"]);
  if (symbolic) {
    // the batch, and the length of a sequence, may be anything
    const free = [0, ...(g.dims.length === 3 || (g.dims.length === 2 && g.dtype === "int64") ? [1] : [])];
    t.marks = new Map(free.filter(i => i < g.dims.length && !g.fixed.has(i)).map(i => [i, "dynamic"] as const));
  }
  return t;
}

function positional(c: Candidate, values: ReadonlyMap<string, Value>): Value[] {
  const names = [...c.def.args.posonlyargs, ...c.def.args.args].map(a => a.arg).slice(c.cls ? 1 : 0);
  const out: Value[] = [];
  for (const n of names) {
    const v = values.get(n);
    if (v === undefined) break;
    out.push(v);
  }
  return out;
}
function keywordOnly(c: Candidate, values: ReadonlyMap<string, Value>): Map<string, Value> {
  const given = positional(c, values).length;
  const names = [...c.def.args.posonlyargs, ...c.def.args.args].map(a => a.arg).slice((c.cls ? 1 : 0) + given);
  const all = [...names, ...c.def.args.kwonlyargs.map(a => a.arg)];
  return new Map(
    all.flatMap(n => {
      const v = values.get(n);
      return v === undefined ? [] : [[n, v] as const];
    }),
  );
}

function firstAttempt(p: Program, c: Candidate, target: Value): Attempt | string {
  const args = new Map<string, Value>();
  const tensors = new Map<string, TensorGuess>();
  const assumed: string[] = [];
  const written = commentSpecs(p, c);
  const named = new Map<string, number>();
  const params = [...c.def.args.posonlyargs, ...c.def.args.args].slice(c.cls ? 1 : 0);
  const firstDefault = params.length - c.def.args.defaults.length;
  const all = [
    ...params.map((a, i) => ({ a, required: i < firstDefault })),
    ...c.def.args.kwonlyargs.map((a, i) => ({ a, required: c.def.args.kwDefaults[i] === null })),
  ];
  for (const { a, required } of all) {
    const spec = written?.get(a.arg) ?? (a.annotation ? parseJaxtyping(a.annotation) : undefined);
    if (spec) {
      useSpec(a.arg, spec, args, tensors, named);
      continue;
    }
    if (!required) continue;
    const guess = parameterGuess(a, c.def.body);
    if (guess.kind === "tensor") tensors.set(a.arg, guess.guess);
    else if (guess.kind === "number") args.set(a.arg, guess.float ? new PyFloat(guess.value) : guess.value);
    else if (guess.kind === "bool") args.set(a.arg, guess.value);
    else return `nothing is known of its parameter '${a.arg}'`;
  }
  if (written) assumed.push("shapes from a comment");
  const first = [...tensors.values()].find(g => g.fixed.size === 0);
  if (first && target instanceof PyInstance) firstLayer(p, target, first);
  return { args, tensors, assumed };
}

function useSpec(
  name: string,
  spec: Spec,
  args: Map<string, Value>,
  tensors: Map<string, TensorGuess>,
  named: Map<string, number>,
): void {
  switch (spec.kind) {
    case "number":
      args.set(name, spec.float ? new PyFloat(spec.value) : spec.value);
      return;
    case "bool":
    case "str":
      args.set(name, spec.value);
      return;
    case "none":
      args.set(name, null);
      return;
    case "tensor": {
      const fixed = new Set<number>();
      const dims = spec.dims.map((d, i) => {
        if (typeof d === "number") {
          fixed.add(i);
          return d;
        }
        const known = named.get(d) ?? numberFor(d) ?? [8, 512, 768, 64][named.size % 4] ?? 8;
        named.set(d, known);
        return known;
      });
      tensors.set(name, { dtype: spec.dtype, dims, fixed });
      return;
    }
    default:
      spec satisfies never;
  }
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

/** the first layer that a module holds says what it takes */
function firstLayer(p: Program, m: PyInstance, g: TensorGuess): void {
  const { vm } = p;
  const modules = quietly(p, () => vm.toArray(vm.call(vm.getattr(m, "modules"), [])));
  for (const layer of modules) {
    const name = vm
      .typeOf(layer)
      .mro.map(c => c.name)
      .find(n =>
        /^(Conv\dd|ConvTranspose\dd|Linear|Embedding|LayerNorm|RMSNorm|BatchNorm\dd|GroupNorm|LSTM|GRU|Rearrange)$/.test(
          n,
        ),
      );
    if (name === undefined) continue;
    const n = (attr: string): number | undefined => {
      const v = vm.getattrOrUndefined(layer, attr);
      return typeof v === "number" ? v : undefined;
    };
    const conv = /^Conv(?:Transpose)?(\d)d$|^BatchNorm(\d)d$/.exec(name);
    if (conv) {
      const rank = Number(conv[1] ?? conv[2]) + 2;
      const channels = n("in_channels") ?? n("num_features") ?? 3;
      g.dims = rank === 4 ? [8, channels, 224, 224] : rank === 3 ? [8, channels, 512] : [2, channels, 16, 112, 112];
      g.dtype = "float32";
    } else if (name === "Embedding") {
      g.dtype = "int64";
      if (g.dims.length !== 2 && g.dims.length !== 1) g.dims = [8, 512];
    } else if (name === "Linear" && g.dims.length < 4) {
      const want = n("in_features");
      if (want !== undefined && g.dims.length > 0) g.dims[g.dims.length - 1] = want;
    } else if (name === "Rearrange") {
      const pattern = vm.getattrOrUndefined(layer, "pattern");
      const left = typeof pattern === "string" ? (pattern.split("->")[0] ?? "") : "";
      const rank = left
        .replace(/\([^)]*\)/g, "g")
        .trim()
        .split(/\s+/).length;
      if (rank === 4) g.dims = [8, 3, 224, 224];
      else if (rank !== g.dims.length && !left.includes("...")) g.dims = tensorOfRank(rank).dims;
    }
    return;
  }
}

// ---- building a module

function construct(p: Program, def: ast.ClassDef, cls: PyClass, assumed: string[]): PyInstance | string {
  const { vm } = p;
  const init = def.body.filter(s => s.kind === "FunctionDef" && s.name === "__init__").pop();
  const args: Value[] = [];
  const kwargs = new Map<string, Value>();
  const missing: string[] = [];
  if (init?.kind === "FunctionDef") {
    const params = [...init.args.posonlyargs, ...init.args.args].slice(1);
    const required = params.slice(0, params.length - init.args.defaults.length);
    for (const a of required) {
      const v = constructorArgument(p, a, assumed);
      if (v === undefined) return `nothing is known of its constructor's parameter '${a.arg}'`;
      args.push(v);
    }
    init.args.kwonlyargs.forEach((a, i) => {
      if (init.args.kwDefaults[i] !== null) return;
      const v = constructorArgument(p, a, assumed);
      if (v !== undefined) kwargs.set(a.arg, v);
      else missing.push(a.arg);
    });
    if (missing.length > 0) return `nothing is known of its constructor's parameter '${missing[0] ?? ""}'`;
  }
  return quietly(p, () => {
    const made = vm.call(vm.getattr(vm.call(cls, args, kwargs), "cuda"), []);
    return made instanceof PyInstance ? made : "its constructor makes no module";
  });
}

/** a config object of the file that needs no arguments, or a number by the parameter's name */
function constructorArgument(p: Program, a: ast.Arg, assumed: string[]): Value | undefined {
  const { vm, main } = p;
  const annotation =
    a.annotation?.kind === "Name"
      ? a.annotation.id
      : a.annotation?.kind === "Constant" && a.annotation.value.type === "str"
        ? a.annotation.value.value
        : "";
  const configs =
    annotation !== ""
      ? [annotation]
      : /^(config|cfg|args|params|conf|hparams|model_args)$/.test(a.arg)
        ? configNames(p)
        : [];
  for (const name of configs) {
    const c = main.dict.get(name);
    if (c instanceof PyInstance) return c;
    if (!(c instanceof PyClass) || (p.torch.moduleClass && c.isSubclassOf(p.torch.moduleClass))) continue;
    try {
      const made = quietly(p, () => vm.call(c, []));
      assumed.push(`${a.arg} is ${name}()`);
      return made;
    } catch (e) {
      if (!(e instanceof PyError)) throw e;
    }
  }
  if (annotation === "bool") return false;
  if (annotation === "str") return undefined;
  const n = numberFor(a.arg);
  if (n === undefined) return undefined;
  assumed.push(`${a.arg} is ${n}`);
  return Number.isInteger(n) ? n : new PyFloat(n);
}

function configNames(p: Program): string[] {
  return p.parsed.module.body.flatMap(s =>
    s.kind === "ClassDef" && /(Config|Args|Cfg|Params|Arguments)$/i.test(s.name) ? [s.name] : [],
  );
}

export { PyUnknown };
