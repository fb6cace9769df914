// Finds inputs that a module or function accepts, and captures it with them. In: a candidate. Out: frames marked with
// what was assumed, or the reason why there are none. Inputs are, best first: those of a call in the file, shapes written
// down, shapes guessed and then corrected by torch's own error messages. Failed attempts leave no trace: each runs under
// an undo log.

import type { Candidate } from "../infer/candidates";
import type { Call } from "../infer/evidence/calls";
import { parseJaxtyping, type Spec } from "../infer/evidence/written";
import { NO_OPERATORS } from "../infer/search/failure";
import { Interrupted, PyError } from "../interp/api";
import type { Machine } from "../interp/machine";
import { Journal, setJournal } from "../objects/journal";
import { PyDict, PyFloat, PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import type { CompileApi } from "../torch/compile_api";
import type { Torch } from "../torch/context";
import { type CompileOptions, PyTensor } from "../torch/objects";
import type { FrameRunner } from "../trace/runner";
import { alternative, numberFor, parameterGuess, refine, type TensorGuess, tensorOfRank } from "./guess";
import { parametersOf } from "./tree";

export interface Search {
  readonly vm: Machine;
  readonly torch: Torch;
  readonly runner: FrameRunner;
  readonly api: CompileApi;
  /** forgets what was said since the mark that said() gave */
  readonly said: () => number;
  readonly unsay: (mark: number) => void;
  /** a module is called with grad and its backward runs, whatever the file's own call of it does */
  readonly training: boolean;
}

export interface Found {
  readonly frames: readonly number[];
  readonly assumed: readonly string[];
}

/** attempts per root: a file full of guesses must still answer while one types */
const ATTEMPTS = 24;

/** steps of one attempt: what takes more is taken to run without end */
export const ATTEMPT_STEPS = 4_000_000;
const ENDLESS = "it runs without end: an attempt took too many steps";

/** whether an attempt ended because it would not have ended: other sizes change nothing of that */
export const isEndless = (why: string): boolean => why === ENDLESS || /^maximum recursion depth/.test(why);

const PLAIN: CompileOptions = {
  fullgraph: false,
  dynamic: null,
  mode: null,
  backend: "inductor",
  options: new Map(),
  assumed: [],
};

/** runs without leaving steps in the program's replay */
export function quietly<T>(torch: Torch, f: () => T): T {
  const resume = torch.pauseSteps();
  try {
    return f();
  } finally {
    resume();
  }
}

/** the inputs of a call that the file makes; the reason where it cannot be captured */
export function searchCall(s: Search, c: Candidate, call: Call, assumed: readonly string[]): Found | string {
  const move = (device: boolean): Found | string => {
    const args = (): readonly Value[] => call.args.map(a => (device ? onCuda(s, a) : a));
    const kwargs = (): Map<string, Value> =>
      new Map([...call.kwargs].map(([k, v]) => [k, device ? onCuda(s, v) : v] as const));
    const prepare = (): void => {
      if (!(call.target instanceof PyInstance)) return;
      s.vm.call(s.vm.getattr(call.target, "train"), [call.training || s.training]);
      if (device) s.vm.call(s.vm.getattr(call.target, "cuda"), []);
    };
    const note = [...assumed, call.how, ...(device ? ["on cuda"] : [])];
    return attempt(s, c, call.target, prepare, args, kwargs, call.grad || s.training, note);
  };
  const onDevice = [...call.args, ...call.kwargs.values()].some(v => elsewhere(v));
  const first = move(onDevice);
  return typeof first === "string" && onDevice ? move(false) : first;
}

export function searchShapes(
  s: Search,
  c: Candidate,
  target: Value,
  assumed: readonly string[],
  written: ReadonlyMap<string, Spec> | undefined,
): Found | string {
  const { torch } = s;
  const guessed = firstGuess(s, c, target, written);
  const grad = c.cls ? s.training : torch.gradEnabled;
  let last = "no shapes were found that it accepts";
  for (let i = 0; i < ATTEMPTS; i++) {
    const values = new Map(guessed.args);
    const make = (): Map<string, Value> => {
      for (const [name, g] of guessed.tensors) values.set(name, makeTensor(torch, g, c.options === null));
      return values;
    };
    quietly(torch, make);
    const note = [...assumed, ...guessed.assumed, ...describeGuesses(guessed)];
    const found = attempt(
      s,
      c,
      target,
      () => undefined,
      () => positional(c, values),
      () => keywordOnly(c, values),
      grad,
      note,
    );
    if (typeof found !== "string" || found === NO_OPERATORS) return found;
    if (i === 0) last = found;
    if (isEndless(found)) return found;
    const guesses = [...guessed.tensors.values()];
    if (!refine(guesses, found) && !alternative(guesses)) return found;
  }
  return last;
}

function attempt(
  s: Search,
  c: Candidate,
  target: Value,
  prepare: () => void,
  args: () => readonly Value[],
  kwargs: () => ReadonlyMap<string, Value>,
  grad: boolean,
  assumed: readonly string[],
): Found | string {
  const { vm, torch, runner, api } = s;
  const frames: number[] = [];
  const options: CompileOptions = { ...PLAIN, ...(c.options ?? {}), assumed, backward: s.training };
  const journal = new Journal();
  const outer = setJournal(journal);
  const events = torch.events.length;
  const mark = s.said();
  const breaks = runner.said();
  const { logs, gradEnabled } = torch;
  torch.logs = new Set();
  torch.gradEnabled = grad;
  const resume = torch.pauseSteps();
  let failure: string | null = null;
  const limit = vm.stepLimit;
  vm.stepLimit = Math.min(vm.steps + ATTEMPT_STEPS, limit ?? Number.POSITIVE_INFINITY);
  const depth = vm.frames.length;
  try {
    prepare();
    runner.callCompiled(api.callable(target), args(), kwargs(), { options, frames });
  } catch (e) {
    const own = vm.stepLimit !== limit && vm.steps < vm.host.stepBudget && !vm.host.shouldStop();
    if (e instanceof Interrupted && own) {
      vm.frames.length = depth;
      torch.trace = null;
      vm.observer = null;
      failure = ENDLESS;
    } else if (e instanceof PyError) failure = (e.text ?? vm.str(e.value)) || e.value.cls.name;
    else throw e;
  } finally {
    vm.stepLimit = limit;
    resume();
    setJournal(outer);
    torch.logs = logs;
    torch.gradEnabled = gradEnabled;
  }
  if (failure === null && frames.length > 0) return { frames, assumed };
  journal.rollback();
  torch.events.length = events;
  s.unsay(mark);
  runner.forget(frames, breaks);
  return failure ?? NO_OPERATORS;
}

// ---- devices

/** holds a tensor that is not on the assumed device */
function elsewhere(v: Value): boolean {
  if (v instanceof PyTensor) return v.meta.device.type === "cpu";
  if (v instanceof PyTuple || v instanceof PyList) return v.items.some(elsewhere);
  if (v instanceof PyDict) return v.values().some(elsewhere);
  return false;
}

function onCuda(s: Search, v: Value): Value {
  const { vm } = s;
  if (v instanceof PyTensor) return v.meta.device.type === "cpu" ? vm.call(vm.getattr(v, "cuda"), []) : v;
  if (v instanceof PyTuple)
    return new PyTuple(
      v.cls,
      v.items.map(x => onCuda(s, x)),
    );
  if (v instanceof PyList) return vm.list(v.items.map(x => onCuda(s, x)));
  return v;
}

// ---- guesses

interface Guessed {
  readonly args: Map<string, Value>;
  readonly tensors: Map<string, TensorGuess>;
  readonly assumed: string[];
}

function describeGuesses(a: Guessed): string[] {
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
  const out: Value[] = [];
  for (const p of parametersOf(c.def, c.cls !== null)) {
    const v = p.keywordOnly ? undefined : values.get(p.arg.arg);
    if (v === undefined) break;
    out.push(v);
  }
  return out;
}
function keywordOnly(c: Candidate, values: ReadonlyMap<string, Value>): Map<string, Value> {
  const rest = parametersOf(c.def, c.cls !== null).slice(positional(c, values).length);
  return new Map(
    rest.flatMap(p => {
      const v = values.get(p.arg.arg);
      return v === undefined ? [] : [[p.arg.arg, v] as const];
    }),
  );
}

function firstGuess(s: Search, c: Candidate, target: Value, written: ReadonlyMap<string, Spec> | undefined): Guessed {
  const args = new Map<string, Value>();
  const tensors = new Map<string, TensorGuess>();
  const assumed: string[] = [];
  const named = new Map<string, number>();
  for (const { arg, required } of parametersOf(c.def, c.cls !== null)) {
    const spec = written?.get(arg.arg) ?? (arg.annotation ? parseJaxtyping(arg.annotation) : undefined);
    if (spec) {
      useSpec(arg.arg, spec, args, tensors, named);
      continue;
    }
    if (!required) continue;
    const guess = parameterGuess(arg, c.def.body);
    switch (guess.kind) {
      case "tensor":
        tensors.set(arg.arg, guess.guess);
        break;
      case "number":
        args.set(arg.arg, guess.float ? new PyFloat(guess.value) : guess.value);
        assumed.push(`${arg.arg} is ${guess.value}`);
        break;
      case "bool":
        args.set(arg.arg, guess.value);
        break;
      case "unknown":
        args.set(arg.arg, null);
        assumed.push(`${arg.arg} is None`);
        break;
      default:
        guess satisfies never;
    }
  }
  if (written) assumed.push("shapes from a comment");
  const first = [...tensors.values()].find(g => g.fixed.size === 0);
  if (first && target instanceof PyInstance) firstLayer(s, target, first);
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

const LAYERS =
  /^(Conv\dd|ConvTranspose\dd|Linear|Embedding|LayerNorm|RMSNorm|BatchNorm\dd|GroupNorm|LSTM|GRU|Rearrange)$/;

/** the first layer that a module holds says what it takes */
function firstLayer(s: Search, m: PyInstance, g: TensorGuess): void {
  const { vm } = s;
  const modules = quietly(s.torch, () => vm.toArray(vm.call(vm.getattr(m, "modules"), [])));
  const sizes = imageSize(s, m);
  for (const layer of modules) {
    const name = vm
      .typeOf(layer)
      .mro.map(c => c.name)
      .find(n => LAYERS.test(n));
    if (name === undefined) continue;
    const n = (attr: string): number | undefined => {
      const v = vm.getattrOrUndefined(layer, attr);
      return typeof v === "number" ? v : undefined;
    };
    const conv = /^Conv(?:Transpose)?(\d)d$|^BatchNorm(\d)d$/.exec(name);
    if (conv) {
      const rank = Number(conv[1] ?? conv[2]) + 2;
      const channels = n("in_channels") ?? n("num_features") ?? 3;
      const [h, w] = sizes ?? (channels <= 4 ? [224, 224] : [32, 32]);
      g.dims = rank === 4 ? [8, channels, h, w] : rank === 3 ? [8, channels, 512] : [2, channels, 16, 112, 112];
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
      if (rank === 4) g.dims = [8, 3, ...(sizes ?? [224, 224])];
      else if (rank !== g.dims.length && !left.includes("...")) g.dims = tensorOfRank(rank).dims;
    }
    return;
  }
}

/** the image size that a module keeps: img_size, image_size, patch_embed.img_size */
function imageSize(s: Search, m: PyInstance): [number, number] | undefined {
  const { vm } = s;
  const owners = [m, ...["patch_embed", "patch_embedding", "to_patch_embedding"].map(n => vm.getattrOrUndefined(m, n))];
  for (const o of owners) {
    if (!(o instanceof PyInstance)) continue;
    for (const name of ["img_size", "image_size", "input_resolution", "image_resolution"]) {
      const v = vm.getattrOrUndefined(o, name);
      if (typeof v === "number") return [v, v];
      if ((v instanceof PyTuple || v instanceof PyList) && v.items.length === 2) {
        const [h, w] = v.items;
        if (typeof h === "number" && typeof w === "number") return [h, w];
      }
    }
  }
  return undefined;
}
