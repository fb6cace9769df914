// Objects of classes whose constructors' arguments nobody gave. In: a class. Out: an object, and what it rests on; or the
// failure that got farthest.
import type { PyClass, PyDict, Value } from "../objects/values";
import { alternativeChoices, isUsedAsTensor, offered } from "./choices/alternatives";
import { computing } from "./choices/computing";
import { isEmptySequence, withWritten } from "./choices/holes";
import { plainChoice } from "./choices/plain";
import { smaller } from "./choices/smaller";
import { avoiding, conditional } from "./conditions";
import type { InferContext } from "./context";
import { guarded } from "./guarded";
import { withoutLoading } from "./loading";
import { callArguments, makeValue } from "./make";
import { buildersOf, constructorOf, type Maker, objectIn, withMissing } from "./makers";
import { importRegistered } from "./registered";
import {
  agreeing,
  assertedAsLong,
  assertedDivisible,
  assertedEqual,
  assertedLarger,
  assertedParts,
  grouped,
  nestedDefaults,
  summedLists,
  toldNumbers,
  unsetSizes,
} from "./search/agree";
import {
  assertedKind,
  blamed,
  endless,
  failureOf,
  missingKey,
  NO_OPERATORS,
  needsAnotherWay,
  onTwoDevices,
  whyOf,
} from "./search/failure";
import { type Found, search } from "./search/search";
import { startedUp } from "./started";
import {
  ABSENT,
  bool,
  type Choice,
  choiceText,
  described,
  type Failure,
  type Hole,
  type State,
  stateKey,
  withChoice,
} from "./types";
import { withLikelySizes } from "./unknown_numbers";

const TRIALS = 60;
const NESTED_TRIALS = 12;
const BUILDER_TRIALS = 24;
const NESTED_BUILDERS = 4;
const DEEPEST = 3;
/** how often a constructor that hands on its keywords gets those that an error says are missing */
const MISSING = 4;
/** functions that start up what a constructor needs */
const STARTS = 2;
/** steps that one construction may take: a guess that makes a loop run for ever is given up */
const STEPS = 3_000_000;
const SMALL_STEPS = 10_000_000;
const LOOPED_STEPS = 7_000_000;
const PATIENT_STEPS = 18_000_000;

export type Built =
  | {
      readonly kind: "built";
      readonly value: Value;
      readonly state: State;
      readonly notes: readonly string[];
      readonly maker: Maker;
    }
  | { readonly kind: "failed"; readonly failure: Failure | null; readonly why: string };

/** how an object of a class was made the last time, or why it was not: arguments of arguments are made again and again */
const knownOf = {
  usual: new WeakMap<InferContext, Map<PyClass, Built>>(),
  small: new WeakMap<InferContext, Map<PyClass, Built>>(),
};

/** builds an object of `cls`: by the builder `by`; else by its constructor or whatever the program builds them with */
export function construct(ctx: InferContext, cls: PyClass, around: PyDict, by?: string): Built {
  if (by !== undefined) {
    const maker = buildersOf(ctx, cls, around).find(m => m.name === by);
    return maker ? make(ctx, cls, maker) : { kind: "failed", failure: null, why: `${by}() is not there` };
  }
  const known = ctx.small ? knownOf.small : knownOf.usual;
  const before = known.get(ctx)?.get(cls);
  if (before?.kind === "failed") return before;
  if (before) {
    const again = remade(ctx, cls, before);
    if (again) return again;
  }
  const built = searched(ctx, cls, around);
  if (built.kind === "built" || (built.failure && !endless(built.failure))) {
    if (!known.has(ctx)) known.set(ctx, new Map());
    known.get(ctx)?.set(cls, built);
  }
  return built;
}

/** by its constructor, some of whose arguments are told */
function fixedly(
  ctx: InferContext,
  cls: PyClass,
  around: PyDict,
  fixed: readonly (readonly [string, Choice])[],
): Built {
  const maker = constructorOf(ctx, cls, around);
  return make(ctx, cls, { ...maker, holes: withWritten(maker.holes, new Map(fixed)) });
}

function remade(ctx: InferContext, cls: PyClass, b: Extract<Built, { readonly kind: "built" }>): Built | undefined {
  ctx.building.push(cls.qualname);
  try {
    const outcome = trial(ctx, cls, b.maker, b.state);
    return "ok" in outcome ? { ...b, value: outcome.ok } : undefined;
  } finally {
    ctx.building.pop();
  }
}

function searched(ctx: InferContext, cls: PyClass, around: PyDict): Built {
  const direct = make(ctx, cls, constructorOf(ctx, cls, around));
  if (direct.kind === "built" || direct.failure === null || endless(direct.failure)) return direct;
  for (const m of buildersOf(ctx, cls, around).slice(0, NESTED_BUILDERS)) {
    const built = make(ctx, cls, m);
    if (built.kind === "built") return built;
  }
  return direct;
}

/** searches arguments for one way to an object of `cls` */
export function make(ctx: InferContext, cls: PyClass, maker: Maker): Built {
  if (ctx.building.includes(cls.qualname)) return { kind: "failed", failure: null, why: `${cls.name} needs itself` };
  if (ctx.building.length >= DEEPEST) return { kind: "failed", failure: null, why: `${cls.name} is nested too deeply` };
  ctx.building.push(cls.qualname);
  try {
    const limit = ctx.building.length > 1 ? NESTED_TRIALS : maker.name === null ? TRIALS : BUILDER_TRIALS;
    const attempt = (m: Maker): Found<Value> => {
      const first = firstState(ctx, m.holes);
      return search(
        first,
        s => {
          const outcome = trial(ctx, cls, m, s);
          // once more: how far it got is measured in steps, and those that read a library are only taken the first time
          const again = s === first && "failed" in outcome && !endless(outcome.failed);
          return again ? trial(ctx, cls, m, s) : outcome;
        },
        // once: beside every later repair it would take the trials that repairs need
        (s, f) => [
          ...(m.name === null ? conditional(cls, m.holes, s, f) : []),
          ...(m.name === null && needsAnotherWay(f) ? avoiding(cls, m.holes, s, f) : []),
          ...repairs(ctx, m.holes, s, f),
          ...(m.name === null ? avoiding(cls, m.holes, s, f) : []),
          ...(s === first ? asConfigured(ctx, m.holes, s, f) : []),
        ],
        limit,
      );
    };
    let by = maker;
    let found = attempt(by);
    for (let i = 0; i < MISSING && found.kind === "failed" && found.failure; i++) {
      const more = withMissing(ctx, by, found.failure);
      if (!more) break;
      by = more;
      found = attempt(by);
    }
    if (found.kind === "failed") {
      const f = found.failure;
      return { kind: "failed", failure: f, why: f ? whyOf(f) : "nothing to try" };
    }
    return { kind: "built", value: found.result, state: found.state, notes: notesOf(by, found.state), maker: by };
  } finally {
    ctx.building.pop();
  }
}

function firstState(ctx: InferContext, holes: readonly Hole[]): State {
  const first = (h: Hole): Choice => {
    const c = h.required ? (h.choices[0] ?? ABSENT) : ABSENT;
    if (!ctx.small) return c;
    const cut = smaller(h.name, h.required ? c : (defaultOf(h) ?? ABSENT));
    return cut ?? c;
  };
  return new Map(holes.map(h => [h.name, first(h)]));
}

/** the next object that differs from `built` where `f`, an error of its forward, blames its arguments */
export function rebuild(
  ctx: InferContext,
  cls: PyClass,
  { maker, state }: Extract<Built, { readonly kind: "built" }>,
  f: Failure,
  seen: Set<string>,
): Extract<Built, { readonly kind: "built" }> | undefined {
  const { holes } = maker;
  const idle = f.message === NO_OPERATORS;
  const told = maker.name === null ? conditional(cls, holes, state, f) : [];
  const candidates = [
    ...told,
    ...withoutWeights(holes, state, f),
    ...agreeing(holes, state, f),
    ...(idle ? computing(holes, state) : []),
    ...(!idle && blamed(holes, f).length > 0 ? repairs(ctx, holes, state, f).slice(0, 12) : []),
    ...(!idle && maker.name === null ? avoiding(cls, holes, state, f) : []),
  ];
  ctx.building.push(cls.qualname);
  try {
    for (const s of candidates) {
      const key = stateKey(s);
      if (seen.has(key)) continue;
      seen.add(key);
      // what is asked for by name may need more that goes with it
      const limit = told.includes(s) ? NESTED_TRIALS : 1;
      const run = (x: State): Outcome => trial(ctx, cls, maker, x);
      const made = search(s, run, (x, e) => repairs(ctx, holes, x, e), limit);
      if (made.kind === "found")
        return { kind: "built", value: made.result, state: made.state, notes: notesOf(maker, made.state), maker };
    }
    return undefined;
  } finally {
    ctx.building.pop();
  }
}

function notesOf({ holes, name, changes }: Maker, s: State): string[] {
  const given = described(holes, s);
  return name === null || changes ? given : [`built by ${name}()`, ...given];
}

type Outcome = { readonly ok: Value } | { readonly failed: Failure };

const UNKNOWN_SIZE = /^'unknown' object cannot be interpreted|'unknown' and 'int'|'int' and 'unknown'/;

function trial(ctx: InferContext, cls: PyClass, maker: Maker, s: State): Outcome {
  const first = trialOn(ctx, cls, maker, s, false);
  const unsized = "failed" in first && UNKNOWN_SIZE.test(first.failed.message);
  let outcome = unsized ? withLikelySizes(ctx, () => trialOn(ctx, cls, maker, s, false)) : first;
  while ("failed" in outcome && importRegistered(ctx, outcome.failed)) outcome = trialOn(ctx, cls, maker, s, false);
  for (let i = 0; i < STARTS && "failed" in outcome && startedUp(ctx, outcome.failed, make); i++)
    outcome = trialOn(ctx, cls, maker, s, false);
  // a constructor that runs what it is handed, with tensors on the device
  const moves = "failed" in outcome && onTwoDevices(outcome.failed);
  const movable = [...s.values()].some(c => c.kind === "instance" || c.kind === "tensor");
  return moves && movable ? trialOn(ctx, cls, maker, s, true) : outcome;
}

function trialOn(ctx: InferContext, cls: PyClass, maker: Maker, s: State, device: boolean): Outcome {
  const { callable, holes, name, changes } = maker;
  const before = ctx.vm.steps;
  const assumed = ctx.assumed.length;
  const small = ctx.looped ? LOOPED_STEPS : SMALL_STEPS;
  const outcome = guarded(ctx, ctx.patient ? PATIENT_STEPS : ctx.small ? small : STEPS, () => {
    const values = new Map<string, Value>();
    for (const h of holes) {
      const c = s.get(h.name) ?? ABSENT;
      const v = placed(ctx, device, c, () =>
        makeValue(ctx, h, c, (nested, by, fixed) => {
          const built = fixed ? fixedly(ctx, nested, h.globals, fixed) : construct(ctx, nested, h.globals, by);
          if (built.kind === "failed") return undefined;
          const there = device && ctx.torch.isModuleClass(nested);
          return there ? ctx.vm.call(ctx.vm.getattr(built.value, "cuda"), []) : built.value;
        }),
      );
      if (v !== undefined) values.set(h.name, v);
      else if (c.kind !== "absent") return ctx.vm.raise("TypeError", `${choiceText(c)} can't be made for ${h.name}`);
    }
    const { args, kwargs } = callArguments(holes, values);
    const made = withoutLoading(ctx, () => ctx.vm.call(callable, args, kwargs));
    if (name === null || changes) return made;
    return objectIn(made, cls) ?? ctx.vm.raise("TypeError", `${name}() makes no ${cls.name}`);
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

/** a tensor that a constructor is handed is where the module is built, on the CPU, unless what it meets is on the device */
function placed<T>(ctx: InferContext, device: boolean, c: Choice, make: () => T): T {
  const before = ctx.device;
  if (c.kind === "tensor" && !device) ctx.device = "cpu";
  try {
    return make();
  } finally {
    ctx.device = before;
  }
}

/** kwargs["pretrained"] of a constructor that takes **kwargs: what the parameter falls back to, said out loud */
function spelledOut(holes: readonly Hole[], s: State, f: Failure): State[] {
  const key = missingKey(f);
  const h = holes.find(x => x.name === key && (s.get(x.name) ?? ABSENT).kind === "absent");
  if (!h) return [];
  const own = defaultOf(h);
  return [...(own ? [own] : []), ...h.choices.slice(0, 3)].map(c => withChoice(s, h.name, c));
}

function defaultOf(h: Hole): Choice | undefined {
  return plainChoice(h.fallback);
}

function repairs(ctx: InferContext, holes: readonly Hole[], s: State, f: Failure): State[] {
  const twice = /got multiple values for (?:keyword )?argument '(\w+)'/.exec(f.message)?.[1];
  // what **kwargs hands on is given by the constructor itself
  if (twice !== undefined && holes.some(h => h.name === twice && h.keywordOnly)) return [withChoice(s, twice, ABSENT)];
  const spelled = spelledOut(holes, s, f);
  if (spelled.length > 0) return spelled;
  const unloaded = withoutWeights(holes, s, f);
  if (unloaded.length > 0 && !/^'NoneType'/.test(f.message)) return unloaded;
  const [name, wanted] = f.asserted ?? [];
  const asserted = holes.filter(
    h =>
      !h.written &&
      (h.name === name || h.selves.has(name ?? "")) &&
      wanted &&
      choiceText(s.get(h.name) ?? ABSENT) !== choiceText(wanted),
  );
  if (wanted && asserted.length > 0) return asserted.map(h => withChoice(s, h.name, wanted));
  const parts = assertedParts(ctx, holes, s, f);
  if (parts.length > 0) return parts;
  const equal = [
    ...assertedEqual(holes, s, f),
    ...assertedDivisible(holes, s, f),
    ...assertedAsLong(holes, s, f),
    ...assertedLarger(holes, s, f),
    ...summedLists(holes, s, f),
    ...grouped(holes, s, f),
    ...unsetSizes(holes, s, f),
    ...toldNumbers(holes, s, f),
    ...nestedDefaults(holes, s, f),
  ];
  if (equal.length > 0) return equal;
  const all = blamed(holes, f);
  // texts that the message offers are for a parameter that holds another one
  const texts = offered(f.message).length > 0 ? all.filter(n => s.get(n)?.kind === "str") : [];
  const names = texts.length > 0 ? texts : all;
  const suspects = (names.length > 0 ? names : holes.filter(h => h.required).map(h => h.name))
    // an empty list that is a tensor stands behind what its call gives before it
    .sort((a, b) => Number(isTensorList(holes, b, f)) - Number(isTensorList(holes, a, f)))
    .slice(0, 5);
  const beside = [...new Set(holes.flatMap(h => (typeof h.fallback === "number" ? [h.fallback] : [])))];
  const perHole = suspects.map(name => {
    const h = holes.find(x => x.name === name) as Hole;
    const given = s.get(name) ?? ABSENT;
    // a size by default that leaves nothing of another one
    const spelled = given.kind === "absent" && divided(h, f) ? defaultOf(h) : undefined;
    const now = spelled ?? given;
    if (h.written || (now.kind === "absent" && !mayReplaceDefault(h, f))) return [];
    return alternativeChoices(ctx, h, now, f, spelled ? [] : beside)
      .filter(c => !spelled || choiceText(c) !== choiceText(spelled))
      .slice(0, 14)
      .map(c => withChoice(s, name, c));
  });
  return roundRobin(perHole);
}

function isTensorList(holes: readonly Hole[], name: string, f: Failure): boolean {
  const h = holes.find(x => x.name === name);
  return h !== undefined && isEmptySequence(h) && isUsedAsTensor(h, f);
}

/** weights that are loaded by default lie in no file of the project */
function withoutWeights(holes: readonly Hole[], s: State, f: Failure): State[] {
  const absent = /^(FileNotFoundError|OSError|IsADirectoryError|URLError|ConnectionError)$/.test(f.type);
  // what is made of weights that are not there may be None
  if (!absent && !/^'NoneType' object/.test(f.message)) return [];
  const loads = (h: Hole): boolean => {
    const c = s.get(h.name) ?? ABSENT;
    const on = c.kind === "absent" ? h.fallback === true : c.kind === "bool" && c.value;
    return on && !h.written && /pretrain|download|load|weights|ckpt|checkpoint|imagenet/.test(h.name);
  };
  const all = holes.filter(loads);
  return all.length > 0 ? [all.reduce((made, h) => withChoice(made, h.name, bool(false)), s)] : [];
}

/** arguments that were refused: all, those with defaults too, as the project's file that knows most of them has them */
function asConfigured(ctx: InferContext, holes: readonly Hole[], s: State, f: Failure): State[] {
  if (!/^(AssertionError|ValueError|NotImplementedError|RuntimeError)$/.test(f.type)) return [];
  const about = ctx.constants.about(holes.map(h => h.name));
  const told = holes.flatMap(h => {
    const c = h.written || h.usage.called ? undefined : about(h.name);
    return c === undefined || c.kind === "none" || c.kind === "dict" ? [] : [[h.name, c] as const];
  });
  return told.length >= 3 && told.length >= holes.length * 0.4 ? [new Map([...s, ...told])] : [];
}

const divided = (h: Hole, f: Failure): boolean =>
  f.type === "ZeroDivisionError" && f.lines.slice(0, 3).some(words => words.has(h.name));

/** a default is only given up where the error is about its absence */
function mayReplaceDefault(h: Hole, f: Failure): boolean {
  if (isEmptySequence(h) && /^(IndexError|StopIteration|ZeroDivisionError|ValueError)$/.test(f.type)) return true;
  // an empty list by default that is used as a tensor
  if (isEmptySequence(h) && isUsedAsTensor(h, f)) return true;
  // a size by default that is used as a list
  if (
    /^'(int|float)' object is not (subscriptable|iterable)|^object of type '(int|float)' has no len/.test(f.message) &&
    f.lines[1]?.has(h.name)
  )
    return true;
  const refused = /^(AssertionError|ValueError|NotImplementedError)$/.test(f.type);
  if (refused && (f.lines[0]?.has(h.name) || assertedKind(f)?.[0] === h.name || typeof h.fallback === "boolean"))
    return true;
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
