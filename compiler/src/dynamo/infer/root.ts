// A root (module class, module or function of tensors) analysed with inferred arguments. In: the root, what is written of
// its inputs. Out: captured frames and what they rest on, or the reason why there are none. Trials leave no trace.
import { PyError } from "../interp/api";
import { PyFunction } from "../interp/frame";
import { type Kwargs, PyClass, type PyDict, PyInstance, type Value } from "../objects/values";
import type { CompileApi } from "../torch/compile_api";
import { type CompileOptions, PyTensor } from "../torch/objects";
import type { FrameRunner } from "../trace/runner";
import { distinct } from "./choices/choices";
import { functionHoles } from "./choices/holes";
import { inputKind, isCachePosition } from "./choices/names";
import { emptyUsage } from "./choices/usage";
import { guarded, make, rebuild } from "./construct";
import { functionOf, type InferContext, methodOf } from "./context";
import { inferInputs, inputChoices, valuesOf } from "./inputs";
import { callArguments } from "./make";
import { buildersOf, constructorOf, type Maker } from "./makers";
import { prepare } from "./prepare";
import { messageOf, NO_OPERATORS, whyOf } from "./search/failure";
import { ABSENT, type Choice, choiceText, type Failure, type Hole, type State, stateKey, tensor } from "./types";

export interface RootRequest {
  readonly ctx: InferContext;
  readonly runner: FrameRunner;
  readonly api: CompileApi;
  /** a module class, a module, a function */
  readonly root: Value;
  readonly globals: PyDict;
  readonly options: CompileOptions;
  /** with grad, and a class's module in train(); else without, and in eval() */
  readonly grad: boolean;
  /** choices for parameters of forward that the user wrote down */
  readonly written: ReadonlyMap<string, Choice>;
  /** forgets the diagnostics of trials */
  readonly unsay: () => void;
}

export interface RootFound {
  readonly frames: readonly number[];
  readonly notes: readonly string[];
}

/** other constructor arguments that are tried where forward's errors blame them, and trials of inputs for each */
const REBUILDS = 8;
const TRIALS_AFTER_REBUILD = 24;

export function analyseInferred(r: RootRequest): RootFound | string {
  const { ctx, root } = r;
  if (!(root instanceof PyClass)) {
    const found = withInputs(r, root, []);
    return "frames" in found ? found : found.why;
  }
  const direct = analyseMade(r, root, constructorOf(ctx, root, r.globals));
  if (typeof direct !== "string") return direct;
  for (const m of buildersOf(ctx, root, r.globals)) {
    const found = analyseMade(r, root, m);
    if (typeof found !== "string") return found;
  }
  return direct;
}

/** the analysis of an object that is made in one way, and made anew where forward's errors blame its arguments */
function analyseMade(r: RootRequest, root: PyClass, maker: Maker): RootFound | string {
  const { ctx, grad } = r;
  ctx.assumed.length = 0;
  const built = make(ctx, root, maker, r.globals);
  if (built.kind === "failed") return `it can't be built: ${built.why}`;
  const seen = new Set([stateKey(built.state)]);
  let now = built;
  let first: string | undefined;
  for (let i = 0; i <= REBUILDS; i++) {
    const { vm } = ctx;
    const { value } = now;
    const moved = guarded(ctx, 2_000_000, () =>
      vm.call(vm.getattr(vm.call(vm.getattr(value, "cuda"), []), "train"), [grad]),
    );
    if ("error" in moved) return first ?? `${moved.error.value.cls.name} while it is moved to the device`;
    const trials = i === 0 && maker.name === null ? undefined : TRIALS_AFTER_REBUILD;
    let found = withInputs(r, value, [...now.notes, ...ctx.assumed], trials);
    if (!("frames" in found) && ELSEWHERE.test(found.why) && attributesToCuda(ctx, value))
      found = withInputs(
        r,
        value,
        [...now.notes, ...ctx.assumed, "tensors it keeps in attributes are on cuda"],
        trials,
      );
    if (!("frames" in found)) found = prepared(r, value, found, [...now.notes, ...ctx.assumed]) ?? found;
    if ("frames" in found) return found;
    first ??= found.why;
    const next = found.failure && rebuild(ctx, root, now, found.failure, seen);
    if (!next) break;
    now = next;
  }
  return first ?? "nothing to try";
}

/** the analysis once more, where a method that gives the module what it lacks could be called before */
function prepared(r: RootRequest, target: Value, found: Refused, notes: readonly string[]): RootFound | undefined {
  const { ctx } = r;
  const how = target instanceof PyInstance && found.failure ? prepare(ctx, target, found.failure) : undefined;
  if (how === undefined) return undefined;
  const moved = guarded(ctx, 2_000_000, () => ctx.vm.call(ctx.vm.getattr(target, "cuda"), []));
  if ("error" in moved) return undefined;
  attributesToCuda(ctx, target);
  const again = withInputs(r, target, [...notes, how], TRIALS_AFTER_REBUILD);
  return "frames" in again ? again : undefined;
}

const ELSEWHERE = /to be on the same device/;

/** tensors that modules keep in plain attributes, which cuda() leaves where they are; whether there were any */
function attributesToCuda(ctx: InferContext, target: Value): boolean {
  const { vm } = ctx;
  const outcome = guarded(ctx, 1_000_000, () => {
    let moved = false;
    for (const m of vm.toArray(vm.call(vm.getattr(target, "modules"), []))) {
      if (!(m instanceof PyInstance) || !m.attrs) continue;
      for (const [k, v] of m.attrs.entries()) {
        if (!(v instanceof PyTensor) || v.meta.device.type !== "cpu") continue;
        m.attrs.set(String(k), vm.call(vm.getattr(v, "cuda"), []));
        moved = true;
      }
    }
    return moved;
  });
  return "ok" in outcome && outcome.ok;
}

interface Refused {
  readonly why: string;
  readonly failure: Failure | null;
}

function withInputs(r: RootRequest, target: Value, built: readonly string[], trials?: number): RootFound | Refused {
  const { ctx } = r;
  const notes = [...built];
  const holes = inputHoles(r, target);
  if (holes === undefined) return { why: "it has no forward method", failure: null };
  const taken = takenBy(r, target);
  const at = holes.findIndex(h => h.required || h.fallback === null);
  const lead = holes[at];
  const plain = lead?.choices[0];
  if (taken && lead && plain?.kind === "tensor" && lead.usage.rank === undefined && inputKind(lead.name) === "other")
    holes[at] = { ...lead, choices: distinct([taken, ...lead.choices]) };
  const first: State = new Map(holes.map(h => [h.name, firstChoice(r, h, holes)]));
  r.unsay();
  const found = inferInputs(ctx, {
    holes,
    first,
    known: undefined,
    run: (args, kwargs) => trialRun(r, target, args, kwargs),
    ...(trials === undefined ? {} : { trials }),
  });
  if (found.kind === "failed") {
    const f = found.failure;
    return { why: f ? whyOf(f) : "no inputs were found that it accepts", failure: f };
  }
  r.unsay();
  notes.push(...holes.flatMap(h => describe(h, found.state.get(h.name) ?? ABSENT)));
  const final = finalRun(r, target, holes, found.state, notes);
  return typeof final === "string" ? { why: final, failure: null } : final;
}

const BESIDE =
  /(^|[._])(t|time|temb|timesteps?|label|class|cls|cond|context|ctx|pos|position|sigma|noise|snr|text|txt)([._]|$|_?emb|_?proj|_?mlp)/i;
const LAYERS = /^(Conv[123]d|Linear|Embedding|LSTM|GRU|RNN)$/;

/** the tensor that the first layer of a module takes, layers of times and labels aside */
function takenBy(r: RootRequest, target: Value): Choice | undefined {
  const { vm, torch } = r.ctx;
  if (!(target instanceof PyInstance) || !torch.isModule(target)) return undefined;
  const outcome = guarded(r.ctx, 1_000_000, () => {
    for (const pair of vm.toArray(vm.call(vm.getattr(target, "named_modules"), []))) {
      const [path, layer] = vm.toArray(pair);
      if (!(layer instanceof PyInstance) || BESIDE.test(String(path))) continue;
      const kind = layer.cls.mro.map(c => c.name).find(n => LAYERS.test(n));
      if (kind === undefined) continue;
      const size = (name: string): number => {
        const v = vm.getattrOrUndefined(layer, name);
        return typeof v === "number" && v > 0 ? v : 64;
      };
      if (kind === "Embedding") return tensor("int64", [2, 64]);
      if (kind === "Conv1d") return tensor("float32", [2, size("in_channels"), 128]);
      if (kind === "Conv2d") return tensor("float32", [2, size("in_channels"), 64, 64]);
      if (kind === "Conv3d") return tensor("float32", [2, size("in_channels"), 8, 64, 64]);
      return tensor("float32", [2, 64, size(kind === "Linear" ? "in_features" : "input_size")]);
    }
    return undefined;
  });
  return "ok" in outcome ? outcome.ok : undefined;
}

function describe(h: Hole, c: Choice): string[] {
  return c.kind === "absent" ? [] : [`${h.name} is ${choiceText(c)}`];
}

/** parameters of the function that runs: forward of a module, __call__ of an object, the function itself */
function inputHoles(r: RootRequest, target: Value): Hole[] | undefined {
  const { ctx } = r;
  const isInstance = target instanceof PyInstance;
  const f = isInstance ? methodOf(target.cls, "forward") : functionOf(target);
  if (!(f instanceof PyFunction)) return undefined;
  const holes = functionHoles(ctx, f, isInstance ? target.cls : null, isInstance ? 1 : 0, inputChoices);
  // forward(*inputs): one tensor, as most are called
  const rest = f.code.signature?.vararg;
  if (!rest || holes.some(h => h.required)) return holes;
  const usage = emptyUsage();
  const draft = {
    name: rest.arg,
    annotation: "",
    required: true,
    keywordOnly: false,
    usage,
    fallback: undefined,
    globals: f.globals,
    selves: new Set<string>(),
  };
  return [{ ...draft, choices: inputChoices(ctx, { ...draft, name: "x" }) }, ...holes];
}

/** required parameters get their first choice; a forward whose parameters all have defaults gets its first one */
function firstChoice(r: RootRequest, h: Hole, all: readonly Hole[]): Choice {
  const written = r.written.get(h.name);
  if (written) return written;
  if (h.required || isCachePosition(h.name)) return h.choices[0] ?? ABSENT;
  const none = all.every(x => !x.required);
  if (none && h === all[0] && h.fallback === null) return h.choices[0] ?? ABSENT;
  return ABSENT;
}

function trialRun(r: RootRequest, target: Value, args: readonly Value[], kwargs: Kwargs): { readonly frames: number } {
  const { ctx, runner, api } = r;
  const { torch } = ctx;
  const frames: number[] = [];
  const { logs, gradEnabled } = torch;
  torch.logs = new Set();
  torch.gradEnabled = r.grad;
  try {
    runner.isolated(() => runner.callCompiled(api.callable(target), args, kwargs, { options: r.options, frames }));
    return { frames: frames.length };
  } finally {
    torch.logs = logs;
    torch.gradEnabled = gradEnabled;
  }
}

/** the run that counts: sizes that nothing fixed stay symbolic, where the code goes on with them */
function finalRun(
  r: RootRequest,
  target: Value,
  holes: readonly Hole[],
  state: State,
  notes: readonly string[],
): RootFound | string {
  let last = "";
  for (const symbolic of [true, false]) {
    const found = captureOnce(r, target, holes, state, notes, symbolic);
    if (typeof found !== "string") return found;
    last = found;
  }
  return last;
}

function captureOnce(
  r: RootRequest,
  target: Value,
  holes: readonly Hole[],
  state: State,
  notes: readonly string[],
  symbolic: boolean,
): RootFound | string {
  const { ctx, runner, api } = r;
  const { torch } = ctx;
  const frames: number[] = [];
  const { logs, gradEnabled } = torch;
  const events = torch.events.length;
  const said = runner.said();
  torch.logs = new Set();
  torch.gradEnabled = r.grad;
  const assumed = [...r.options.assumed, ...notes];
  try {
    const resume = torch.pauseSteps();
    try {
      const values = valuesOf(ctx, holes, state);
      if (symbolic) for (const v of values.values()) markBatch(v);
      const { args, kwargs } = callArguments(holes, values);
      runner.callCompiled(api.callable(target), args, kwargs, { options: { ...r.options, assumed }, frames });
    } finally {
      resume();
    }
    if (frames.length > 0) return { frames, notes: assumed };
    return NO_OPERATORS;
  } catch (e) {
    if (!(e instanceof PyError)) throw e;
    runner.forget(frames, said);
    torch.events.length = events;
    return `${e.value.cls.name}: ${messageOf(ctx, e)}`;
  } finally {
    torch.logs = logs;
    torch.gradEnabled = gradEnabled;
  }
}

function markBatch(v: Value): void {
  if (v instanceof PyTensor && v.meta.shape.length > 1) v.marks = new Map([[0, "dynamic"]]);
}
