// One root analysed as if compiled. In: a candidate. Out: captured frames and what they rest on, or the reason why there are
// none. Arguments and inputs are, best first: those of a call, those written down, those of an instance that the file
// builds, inferred ones, those that other files of the project show.
import { Interrupted } from "../interp/api";
import { PyClass, PyDict, PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import { type CompileOptions, PyTensor } from "../torch/objects";
import { attempt, type Found, isFound, type Refused } from "./attempt";
import type { Candidate } from "./candidates";
import { withWritten } from "./choices/holes";
import { make, rebuild } from "./construct";
import { moduleMethod } from "./context";
import type { Call } from "./evidence/calls";
import { examplesOf } from "./evidence/elsewhere";
import type { Written } from "./evidence/written";
import { guarded, LOOPS, quietly } from "./guarded";
import { imageSizeOf } from "./image_size";
import { buildersAmong, buildersOf, constructorOf, heirsOf, type Maker } from "./makers";
import { IN_EVAL, IN_EVAL_WITH_GRAD, IN_TRAINING } from "./modes";
import type { Program } from "./program";
import { type RootRequest, TRIALS_AGAIN, withInputs } from "./root_inputs";
import { endless } from "./search/failure";
import { stateKey } from "./types";

/** steps that guesses may take, before other files are asked */
const GUESSING_STEPS = 20_000_000;
/** and its constructor's arguments of them, before what the program builds it with is asked */
const OWN_STEPS = 13_000_000;
/** ways of the program's own to build a root that are tried */
const BUILDERS = 4;
/** classes derived from a root that stand for it where it can't be analysed itself */
const HEIRS = 3;
/** what classes lack that only others complete */
const ABSTRACT = /NotImplementedError|has no attribute|[Aa]bstract/;
/** what inputs that were found late are run with */
const LAST_STEPS = 12_000_000;
const SMALL_STEPS = 12_000_000;
const OPAQUE_STEPS = 8_000_000;
const PATIENT_STEPS = 20_000_000;
const SETTLING_STEPS = 2_000_000;
/** other constructor arguments that are tried where forward's errors blame them */
const REBUILDS = 8;

const PLAIN: CompileOptions = {
  fullgraph: false,
  dynamic: null,
  mode: null,
  backend: "inductor",
  options: new Map(),
  assumed: [],
};

interface Root {
  readonly p: Program;
  readonly c: Candidate;
  readonly training: boolean;
  readonly request: RootRequest;
}

/**
 * How a module is analysed: in eval(), with grad where its own code takes gradients; or called with grad in train() with
 * its backward, whatever the file's own call does.
 */
export type Mode = "eval" | "eval with grad" | "training";

export function captureRoot(p: Program, c: Candidate, written: Written | undefined, mode: Mode): Found | Refused {
  p.assumed.length = 0;
  const training = mode === "training";
  const assumed = [...(c.options ? [] : ["analysed as if compiled"]), ...(written ? ["shapes from a comment"] : [])];
  const request: RootRequest = {
    p,
    options: { ...PLAIN, ...(c.options ?? {}), assumed, backward: training },
    grad: c.cls ? mode !== "eval" : p.torch.gradEnabled,
    symbolic: c.options === null,
    written: written ?? new Map(),
    last: { run: null },
  };
  const r: Root = { p, c, training, request };
  if (c.call && !written) {
    const found = called(r, c.call);
    if (isFound(found)) return found;
  }
  if (!c.cls) return withInputs(request, c.value, []);
  let own: Refused | undefined;
  if (c.value instanceof PyInstance) {
    const found = builtBy(r, c.value, p.evidence.instances.get(c.value.cls)?.how);
    if (isFound(found) || c.options) return found;
    if (found.failure && endless(found.failure)) {
      const small = asSmall(r, c.value.cls, found.why);
      return isFound(small) ? small : found;
    }
    own = found;
  }
  const cls = c.value instanceof PyInstance ? c.value.cls : c.value;
  if (!(cls instanceof PyClass)) return own ?? { why: "it is no class", failure: null };
  let found = limited(p, GUESSING_STEPS, () => inferred(r, cls));
  if (!isFound(found) && TOO_LONG.test(found.why)) {
    const small = asSmall(r, cls, found.why);
    const other = isFound(small) || found.why.includes(LOOPS) ? small : asPatient(r, cls);
    if (isFound(other)) found = other;
  }
  if (isFound(found) || (found.failure && endless(found.failure))) return found;
  return shownElsewhere(r, cls) ?? asOpaque(r, cls) ?? own ?? found;
}

/** the inputs of a call, on the device if they can be there */
function called({ p, training, request }: Root, call: Call): Found | Refused {
  const { vm } = p;
  const run = (device: boolean): Found | Refused => {
    const moved = (v: Value): Value => (device ? onCuda(p, v) : v);
    const inputs = () => {
      if (call.target instanceof PyInstance) {
        moduleMethod(vm, call.target, "train", [call.training || training]);
        if (device) moduleMethod(vm, call.target, "cuda");
      }
      const kwargs = new Map([...call.kwargs].map(([k, v]) => [k, moved(v)] as const));
      return { args: call.args.map(moved), kwargs };
    };
    const { assumed } = request.options;
    const options = { ...request.options, assumed: [...assumed, call.how, ...(device ? ["on cuda"] : [])] };
    return attempt(p, { target: call.target, options, grad: call.grad || training, inputs });
  };
  const elsewhere = [...call.args, ...call.kwargs.values()].some(v => holdsCpu(v));
  const first = run(elsewhere);
  return !isFound(first) && elsewhere ? run(false) : first;
}

/** holds a tensor that is not on the assumed device */
function holdsCpu(v: Value): boolean {
  if (v instanceof PyTensor) return v.meta.device.type === "cpu";
  if (v instanceof PyTuple || v instanceof PyList) return v.items.some(holdsCpu);
  return v instanceof PyDict && v.values().some(holdsCpu);
}

function onCuda(p: Program, v: Value): Value {
  const { vm } = p;
  const moved = (items: readonly Value[]): Value[] => items.map(x => onCuda(p, x));
  if (v instanceof PyTensor) return v.meta.device.type === "cpu" ? vm.call(vm.getattr(v, "cuda"), []) : v;
  if (v instanceof PyTuple) return new PyTuple(v.cls, moved(v.items));
  return v instanceof PyList ? vm.list(moved(v.items)) : v;
}

/** a module that the program, or an example, built */
function builtBy(r: Root, target: PyInstance, how: string | undefined): Found | Refused {
  const mode = settled(r, target);
  return "why" in mode ? mode : withInputs(r.request, target, [...(how === undefined ? [] : [how]), ...mode]);
}

/** on the device, in eval() or train(): how that is said */
function settled({ p, c, training, request }: Root, target: Value): readonly string[] | Refused {
  const { vm } = p;
  if (c.options) return [];
  const moved = guarded(p, SETTLING_STEPS, () => {
    moduleMethod(vm, target, "cuda");
    moduleMethod(vm, target, "train", [training]);
  });
  if ("ok" in moved) return [training ? IN_TRAINING : request.grad ? IN_EVAL_WITH_GRAD : IN_EVAL];
  return { why: `${moved.error.value.cls.name} while it is moved to the device`, failure: null };
}

/** a module built for the analysis: by its constructor, else by what the program builds such modules with */
function inferred(r: Root, cls: PyClass): Found | Refused {
  const { p } = r;
  const direct = searchedFor(r, cls, OWN_STEPS);
  if (isFound(direct) || (direct.failure && endless(direct.failure))) return direct;
  for (const m of buildersOf(p, cls, p.main.dict).slice(0, BUILDERS)) {
    const found = madeBy(r, cls, m);
    if (isFound(found)) return found;
  }
  const abstract = ABSTRACT.test(direct.why) || /^_?(Abstract|Base)[A-Z]|[a-z](Base|Mixin)$/.test(cls.name);
  for (const m of heirsOf(p, cls, p.main.dict, abstract).slice(0, HEIRS)) {
    const found = madeBy(r, cls, m);
    if (isFound(found)) return found;
  }
  return direct;
}

/** by its constructor; where the search took the steps that it has, what it found is run all the same, with more steps */
function searchedFor(r: Root, cls: PyClass, steps: number): Found | Refused {
  const { p, request } = r;
  const found = limited(p, steps, () => madeBy(r, cls, constructorOf(p, cls, p.main.dict)));
  const { run } = request.last;
  if (isFound(found) || run === null || !TOO_LONG.test(found.why)) return found;
  request.last.run = null;
  return patiently(p, () => limited(p, LAST_STEPS, run));
}

function patiently<T>(p: Program, run: () => T): T {
  p.patient = true;
  try {
    return run();
  } finally {
    p.patient = false;
  }
}

const TOO_LONG = /too (long|many steps)/;

/** built once more with small depths, counts and lengths, where the usual ones take too long */
function asSmall(r: Root, cls: PyClass, why: string): Found | Refused {
  const { p } = r;
  p.small = true;
  p.looped = why.includes(LOOPS);
  try {
    return searchedFor(r, cls, SMALL_STEPS);
  } finally {
    p.small = false;
    p.looped = false;
  }
}

/** built once more with many more steps: constructors that compute large tables in Python come to their end */
function asPatient(r: Root, cls: PyClass): Found | Refused {
  const { p } = r;
  return patiently(p, () => limited(p, PATIENT_STEPS, () => madeBy(r, cls, constructorOf(p, cls, p.main.dict))));
}

/** with what no other value mends left unknown: its calls are opaque operators */
function asOpaque(r: Root, cls: PyClass): Found | undefined {
  const { p } = r;
  p.opaque = true;
  try {
    const found = limited(p, OPAQUE_STEPS, () => madeBy(r, cls, constructorOf(p, cls, p.main.dict)));
    return isFound(found) ? found : undefined;
  } finally {
    p.opaque = false;
  }
}

/** made in one way, and made anew where errors of its forward blame its arguments */
function madeBy(r: Root, cls: PyClass, by: Maker): Found | Refused {
  const { p, request } = r;
  p.assumed.length = 0;
  // a tensor that is written down is meant for forward
  const written = new Map([...request.written].filter(([, c]) => c.kind !== "tensor"));
  const built = make(p, cls, { ...by, holes: withWritten(by.holes, written) });
  if (built.kind === "failed") {
    const tooLong = built.failure && endless(built.failure) ? built.failure : null;
    return { why: `it can't be built: ${built.why}`, failure: tooLong };
  }
  const seen = new Set([stateKey(built.state)]);
  let first: Refused | undefined;
  let now: typeof built | undefined = built;
  for (let i = 0; now && i <= REBUILDS; i++) {
    const mode = settled(r, now.value);
    const trials = i === 0 && by.name === null ? undefined : TRIALS_AGAIN;
    const found: Found | Refused =
      "why" in mode
        ? mode
        : withInputs(
            { ...request, image: imageSizeOf(now.maker.holes, now.state) },
            now.value,
            [...now.notes, ...p.assumed, ...mode],
            trials,
          );
    if (isFound(found)) return found;
    first ??= found;
    now = found.failure ? rebuild(p, cls, now, found.failure, seen) : undefined;
  }
  return first ?? { why: "nothing to try", failure: null };
}

/** arguments and inputs that other files of the project give: READMEs, scripts, tests */
function shownElsewhere(r: Root, cls: PyClass): Found | undefined {
  const { p, c } = r;
  const { evidence } = p;
  const examples = examplesOf(cls.name, String(p.main.dict.get("__file__")), p.project(), p.read);
  if (examples.length === 0) return undefined;
  const before = evidence.instances.get(cls)?.value;
  // an earlier look, for another mode, may have found one
  const globals =
    before === undefined || before === c.value
      ? evidence.runElsewhere(
          cls,
          examples,
          e => p.execute(e.path, e.text),
          f => silently(p, f),
        )
      : [];
  const call = evidence.calls.get(cls);
  if (call && call !== c.call) {
    const found = called(r, call);
    if (isFound(found)) return found;
  }
  const built = call?.target ?? evidence.instances.get(cls)?.value;
  if (built instanceof PyInstance && built !== c.value) {
    const found = builtBy(r, built, evidence.instances.get(cls)?.how ?? call?.how);
    return isFound(found) ? found : undefined;
  }
  for (const m of buildersAmong(p, cls, globals).slice(0, BUILDERS)) {
    const found = madeBy(r, cls, m);
    if (isFound(found)) return found;
  }
  return undefined;
}

/** runs code that the program itself does not run: nothing of it is seen */
export function silently(p: Program, f: () => void): void {
  const { torch } = p;
  const events = torch.events.length;
  const said = p.diagnostics.length;
  const { logs } = torch;
  torch.logs = new Set();
  quietly(p, f);
  torch.logs = logs;
  torch.events.length = events;
  p.unsay(said);
}

/** a part of a root's steps, so that some are left for what comes after it; more is a failure like others */
function limited(p: Program, steps: number, f: () => Found | Refused): Found | Refused {
  const { vm, torch } = p;
  const depth = vm.frames.length;
  try {
    return vm.withSteps(steps, f);
  } catch (e) {
    if (!(e instanceof Interrupted) || vm.steps >= vm.host.stepBudget || vm.host.shouldStop()) throw e;
    vm.frames.length = depth;
    torch.trace = null;
    vm.observer = null;
    return { why: e.message, failure: null };
  }
}
