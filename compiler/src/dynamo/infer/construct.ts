// Objects of classes whose constructors' arguments nobody gave. In: a class. Out: an object, and what it rests on; or the
// failure that got farthest.
import { Interrupted, PyError } from "../interp/api";
import { PyFunction } from "../interp/frame";
import { Journal, setJournal } from "../objects/journal";
import { type PyClass, type PyDict, PyFloat, type Value } from "../objects/values";
import { alternativeChoices } from "./choices/alternatives";
import { constructorChoices, distinct } from "./choices/choices";
import { fieldHoles, functionHoles } from "./choices/holes";
import { emptyUsage } from "./choices/usage";
import { functionOf, type InferContext, lookup } from "./context";
import { callArguments, makeValue } from "./make";
import { blamed, failureOf, messageOf, NO_OPERATORS, whyOf } from "./search/failure";
import { type Found, search } from "./search/search";
import {
  ABSENT,
  type Choice,
  choiceText,
  type Failure,
  type Hole,
  NONE,
  number,
  type State,
  stateKey,
  withChoice,
} from "./types";

const TRIALS = 60;
const NESTED_TRIALS = 12;
const DEEPEST = 3;
/** steps that one construction may take: a guess that makes a loop run for ever is given up */
const STEPS = 3_000_000;

export type Built =
  | { readonly kind: "built"; readonly value: Value; readonly state: State; readonly notes: readonly string[] }
  | { readonly kind: "failed"; readonly failure: Failure | null; readonly why: string };

function constructorHoles(ctx: InferContext, cls: PyClass, around: PyDict): Hole[] {
  const init = cls.lookup("__init__");
  if (
    cls.lookup("__dataclass_fields__") !== undefined &&
    init instanceof PyFunction &&
    init.code.file.library !== "user"
  )
    return fieldHoles(ctx, cls, globalsOf(cls) ?? around, constructorChoices);
  const f = functionOf(init) ?? functionOf(cls.lookup("__new__"));
  if (!f || f.code.file.library === "hidden") return [];
  const holes = functionHoles(ctx, f, cls, 1, constructorChoices);
  return withConstants(ctx, f.code.varkw ? [...holes, ...handedOn(ctx, cls, f, holes)] : holes);
}

/** what the project's files give to parameters of these names stands beside the guesses */
function withConstants(ctx: InferContext, holes: readonly Hole[]): Hole[] {
  const needed = holes.filter(h => h.required).map(h => h.name);
  const about = ctx.constants.about(needed);
  const told = needed.filter(n => about(n) !== undefined).length;
  // a file that speaks of most of them speaks of this class
  const trusted = told >= 3 && told >= needed.length * 0.6;
  return holes.map(h => {
    const c = h.required ? about(h.name) : undefined;
    if (c === undefined || h.usage.called || (h.annotation !== "" && !fitsType(h.annotation, c))) return h;
    const [first, ...rest] = h.choices;
    const other = first !== undefined && c.kind === "seq" && first.kind !== "seq" && h.usage.sequence;
    return { ...h, choices: distinct(trusted || other || !first ? [c, ...h.choices] : [first, c, ...rest]) };
  });
}

function fitsType(annotation: string, c: Choice): boolean {
  if (c.kind === "number") return /int|float|number/i.test(annotation);
  if (c.kind === "seq") return /list|tuple|seq|iter/i.test(annotation);
  if (c.kind === "str") return /str|Literal/.test(annotation);
  return c.kind === "bool" && /bool/.test(annotation);
}

/** parameters that an error says are missing where **kwargs hands everything on */
function missingHoles(ctx: InferContext, cls: PyClass, around: PyDict, holes: readonly Hole[], f: Failure): Hole[] {
  const init = functionOf(cls.lookup("__init__"));
  const missing =
    f.type === "KeyError"
      ? f.message
      : /missing \d+ required (?:positional|keyword-only) arguments?: (.*)$/.exec(f.message)?.[1];
  if (!init?.code.varkw || missing === undefined) return [];
  return [...missing.matchAll(/'(\w+)'/g)].flatMap(m => {
    const name = m[1] ?? "";
    if (holes.some(h => h.name === name)) return [];
    const draft = {
      name,
      annotation: "",
      required: true,
      keywordOnly: true,
      usage: emptyUsage(),
      fallback: undefined,
      globals: init.globals ?? around,
      selves: new Set<string>(),
    };
    return [{ ...draft, choices: constructorChoices(ctx, draft) }];
  });
}

/** parameters that **kwargs hands on to the constructors of bases */
function handedOn(ctx: InferContext, cls: PyClass, f: PyFunction, own: readonly Hole[]): Hole[] {
  const out: Hole[] = [];
  const taken = new Set(own.map(h => h.name));
  const at = cls.mro.findIndex(c => c.dict.values().includes(f));
  for (const base of cls.mro.slice(at + 1)) {
    const init = functionOf(base.dict.get("__init__"));
    if (!init) continue;
    if (init.code.file.library === "hidden") break;
    for (const h of functionHoles(ctx, init, base, 1, constructorChoices)) {
      if (taken.has(h.name)) continue;
      taken.add(h.name);
      out.push({ ...h, keywordOnly: true });
    }
    if (!init.code.varkw) break;
  }
  return out;
}

function globalsOf(cls: PyClass): PyDict | undefined {
  for (const v of cls.dict.values()) if (v instanceof PyFunction && v.code.file.library === "user") return v.globals;
  return undefined;
}

/** builds an object of `cls`; `known` choices (kept from an earlier analysis, or written by the user) are tried first */
export function construct(ctx: InferContext, cls: PyClass, around: PyDict, known?: State): Built {
  if (ctx.building.includes(cls.qualname)) return { kind: "failed", failure: null, why: `${cls.name} needs itself` };
  if (ctx.building.length >= DEEPEST) return { kind: "failed", failure: null, why: `${cls.name} is nested too deeply` };
  ctx.building.push(cls.qualname);
  try {
    const attempt = (holes: readonly Hole[]): Found<Value> => {
      const first = firstState(holes);
      const starts =
        known && [...known.keys()].every(k => first.has(k)) ? [new Map([...first, ...known]), first] : [first];
      return search(
        starts,
        s => trial(ctx, cls, holes, s),
        (s, f) => repairs(ctx, holes, s, f),
        ctx.building.length > 1 ? NESTED_TRIALS : TRIALS,
      );
    };
    let holes = constructorHoles(ctx, cls, around);
    let found = attempt(holes);
    const more = found.kind === "failed" && found.failure ? missingHoles(ctx, cls, around, holes, found.failure) : [];
    if (more.length > 0) {
      holes = [...holes, ...more];
      found = attempt(holes);
    }
    if (found.kind === "failed") {
      const f = found.failure;
      return { kind: "failed", failure: f, why: f ? whyOf(f) : "nothing to try" };
    }
    return { kind: "built", value: found.result, state: found.state, notes: notesOf(holes, found.state) };
  } finally {
    ctx.building.pop();
  }
}

const firstState = (holes: readonly Hole[]): State =>
  new Map(holes.map(h => [h.name, h.required ? (h.choices[0] ?? ABSENT) : ABSENT]));

/** the next object that differs from `state` where `f`, an error of its forward, blames its constructor's arguments */
export function rebuild(
  ctx: InferContext,
  cls: PyClass,
  around: PyDict,
  state: State,
  f: Failure,
  seen: Set<string>,
): Extract<Built, { readonly kind: "built" }> | undefined {
  const holes = constructorHoles(ctx, cls, around);
  const idle = f.message === NO_OPERATORS;
  if (!idle && blamed(holes, f).length === 0) return undefined;
  ctx.building.push(cls.qualname);
  try {
    for (const s of idle ? computing(holes, state) : repairs(ctx, holes, state, f).slice(0, 12)) {
      const key = stateKey(s);
      if (seen.has(key)) continue;
      seen.add(key);
      const outcome = trial(ctx, cls, holes, s);
      if ("ok" in outcome) return { kind: "built", value: outcome.ok, state: s, notes: notesOf(holes, s) };
    }
    return undefined;
  } finally {
    ctx.building.pop();
  }
}

/** where a wrapper runs nothing since what it wraps changes nothing: something inside that computes */
function computing(holes: readonly Hole[], state: State): State[] {
  const changesNothing = (c: Choice): boolean =>
    c.kind === "module" ||
    c.kind === "identity" ||
    ((c.kind === "named" || c.kind === "instance") && IDENTITY.test(c.path));
  const made = new Map(state);
  for (const h of holes) {
    const c = state.get(h.name) ?? ABSENT;
    if (changesNothing(c)) made.set(h.name, SCALE);
    else if (c.kind === "seq" && c.items.length > 0 && c.items.every(changesNothing))
      made.set(h.name, { ...c, items: c.items.map(() => SCALE) });
  }
  return [made];
}

const IDENTITY = /^torch\.nn\.Identity$/;
const SCALE: Choice = { kind: "scale" };

function notesOf(holes: readonly Hole[], s: State): string[] {
  return holes.flatMap(h => {
    const c = s.get(h.name);
    return c && c.kind !== "absent" ? [`${h.name} is ${choiceText(c)}`] : [];
  });
}

function trial(ctx: InferContext, cls: PyClass, holes: readonly Hole[], s: State): { ok: Value } | { failed: Failure } {
  const before = ctx.vm.steps;
  const assumed = ctx.assumed.length;
  const outcome = guarded(ctx, STEPS, () => {
    const values = new Map<string, Value>();
    for (const h of holes) {
      const c = s.get(h.name) ?? ABSENT;
      const v = makeValue(ctx, h, c, nested => {
        const built = construct(ctx, nested, h.globals);
        return built.kind === "built" ? built.value : undefined;
      });
      if (v !== undefined) values.set(h.name, v);
      else if (c.kind !== "absent") return ctx.vm.raise("TypeError", `${choiceText(c)} can't be made for ${h.name}`);
    }
    const { args, kwargs } = callArguments(holes, values);
    return ctx.vm.call(cls, args, kwargs);
  });
  if ("ok" in outcome) return outcome;
  ctx.assumed.length = assumed;
  const f = failureOf(outcome.error, outcome.message, {
    steps: ctx.vm.steps - before,
    operators: 0,
    decisions: [],
    touched: [],
  });
  return { failed: f };
}

/** runs user code with a limit of its own and no trace of it in the program's replay; undone when it fails */
export function guarded<T>(
  ctx: InferContext,
  steps: number,
  run: () => T,
): { ok: T } | { error: PyError; message: string } {
  const { vm, torch } = ctx;
  const outer = vm.stepLimit;
  const limit = Math.min(vm.steps + steps, outer ?? Number.POSITIVE_INFINITY);
  vm.stepLimit = limit;
  const resume = torch.pauseSteps();
  const journal = new Journal();
  const outerJournal = setJournal(journal);
  const depth = vm.frames.length;
  const events = torch.events.length;
  let failed = true;
  try {
    const ok = run();
    failed = false;
    return { ok };
  } catch (e) {
    vm.frames.length = depth;
    // read before what the run did is undone: that takes the exception's arguments with it
    if (e instanceof PyError) return { error: e, message: messageOf(ctx, e) };
    if (e instanceof Interrupted && limit !== outer && vm.steps <= vm.host.stepBudget && !vm.host.shouldStop())
      return { error: vm.makeError("TimeoutError", []), message: "it ran too long" };
    throw e;
  } finally {
    setJournal(outerJournal);
    vm.stepLimit = outer;
    resume();
    if (failed) journal.rollback();
    torch.events.length = Math.min(torch.events.length, events);
  }
}

/** kwargs["pretrained"] of a constructor that takes **kwargs: what the parameter falls back to, said out loud */
function spelledOut(holes: readonly Hole[], s: State, f: Failure): State[] {
  const key = f.type === "KeyError" ? /^'(\w+)'$/.exec(f.message)?.[1] : undefined;
  const h = holes.find(x => x.name === key && (s.get(x.name) ?? ABSENT).kind === "absent");
  if (!h) return [];
  const own = defaultOf(h);
  return [...(own ? [own] : []), ...h.choices.slice(0, 3)].map(c => withChoice(s, h.name, c));
}

function defaultOf(h: Hole): Choice | undefined {
  const v = h.fallback;
  if (v === null) return NONE;
  if (typeof v === "boolean") return { kind: "bool", value: v };
  if (typeof v === "number") return number(v);
  if (v instanceof PyFloat) return number(v.value, true);
  return typeof v === "string" ? { kind: "str", value: v } : undefined;
}

function repairs(ctx: InferContext, holes: readonly Hole[], s: State, f: Failure): State[] {
  const spelled = spelledOut(holes, s, f);
  if (spelled.length > 0) return spelled;
  const [name, wanted] = f.asserted ?? [];
  const asserted = holes.filter(
    h =>
      (h.name === name || h.selves.has(name ?? "")) &&
      wanted &&
      choiceText(s.get(h.name) ?? ABSENT) !== choiceText(wanted),
  );
  if (wanted && asserted.length > 0) return asserted.map(h => withChoice(s, h.name, wanted));
  const names = blamed(holes, f);
  const suspects = (names.length > 0 ? names : holes.filter(h => h.required).map(h => h.name)).slice(0, 5);
  const beside = [...new Set(holes.flatMap(h => (typeof h.fallback === "number" ? [h.fallback] : [])))];
  const perHole = suspects.map(name => {
    const h = holes.find(x => x.name === name) as Hole;
    const now = s.get(name) ?? ABSENT;
    if (now.kind === "absent" && !mayReplaceDefault(h, f)) return [];
    return alternativeChoices(ctx, h, now, f, beside)
      .slice(0, 14)
      .map(c => withChoice(s, name, c));
  });
  return roundRobin(perHole);
}

/** a default is only given up where the error is about its absence */
function mayReplaceDefault(h: Hole, f: Failure): boolean {
  const refused = /^(AssertionError|ValueError|NotImplementedError)$/.test(f.type);
  if (refused && (f.lines[0]?.has(h.name) || typeof h.fallback === "boolean")) return true;
  return (
    (h.fallback === null || h.fallback === undefined) &&
    /NoneType|None|must be|required|AssertionError|specified|provide/.test(`${f.type} ${f.message}`)
  );
}

/** the first of each list, then the second of each */
export function roundRobin<T>(lists: readonly (readonly T[])[]): T[] {
  const out: T[] = [];
  const longest = Math.max(0, ...lists.map(l => l.length));
  for (let i = 0; i < longest; i++) for (const l of lists) if (i < l.length) out.push(l[i] as T);
  return out;
}

export { type Choice, lookup };
