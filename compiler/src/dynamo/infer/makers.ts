// The ways to an object of a class: its constructor, then what the program builds it with (from_name(), build_model(...)).
// In: a class. Out: callables with the parameters that inference has to fill.
import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import { PyClass, PyClassMethod, PyDict, PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import { constructorChoices } from "./choices/constructor";
import { bareDraft, fieldHoles, functionHoles, isEmptySequence, keysTaken, keywordHole } from "./choices/holes";
import { numberFor } from "./choices/names";
import { withWeights } from "./choices/weights";
import { functionOf, type InferContext, lookup, sameClass, subclassesOf } from "./context";
import { missingArguments, quotedNames } from "./search/failure";
import { dotted } from "./syntax";
import { bool, type Choice, distinct, type Failure, type Hole } from "./types";

export interface Maker {
  readonly callable: Value;
  readonly holes: readonly Hole[];
  /** "from_name", for the notes; null: the constructor */
  readonly name: string | null;
  /** it is called for what it does to an object that is there, whatever it returns */
  readonly changes?: true;
}

// ---- constructors

export function constructorOf(ctx: InferContext, cls: PyClass, around: PyDict): Maker {
  // its parts are none of its own kind
  ctx.building.push(cls.qualname);
  try {
    return { callable: cls, holes: constructorHoles(ctx, cls, around), name: null };
  } finally {
    ctx.building.pop();
  }
}

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
  const body = f.code.body ?? [];
  const holes = functionHoles(ctx, f, cls, 1, constructorChoices);
  if (!f.code.varkw) return [...withWeights(withConstants(ctx, holes, cls), body)];
  const more = [...holes, ...handedOn(ctx, cls, f, holes)];
  for (const key of keysTaken(f.code.signature?.kwarg?.arg ?? "", body)) {
    const taken = more.some(h => h.name === key) ? undefined : keywordHole(ctx, f, cls, key, constructorChoices);
    if (taken) more.push(taken);
  }
  return [...withWeights(withConstants(ctx, more, cls), body)];
}

/** what the project's files give to parameters of these names stands beside the guesses, what calls of `cls` give before */
function withConstants(ctx: InferContext, holes: readonly Hole[], cls?: PyClass): Hole[] {
  const needed = holes.filter(h => h.required || isEmptySequence(h)).map(h => h.name);
  const named = ctx.constants.about(needed);
  const positional = holes.flatMap(h => (h.keywordOnly ? [] : [h.name]));
  const given = cls && needed.length > 0 ? ctx.constants.givenTo(cls.name, positional) : undefined;
  const about = (name: string): Choice | undefined => given?.get(name) ?? named(name);
  const told = needed.filter(n => about(n) !== undefined).length;
  // a file that speaks of most of them speaks of this class
  const trusted = told >= 3 && told >= needed.length * 0.6;
  const shown = given !== undefined && needed.filter(n => given.has(n)).length >= needed.length / 2;
  return holes.map(h => {
    const c = h.required || isEmptySequence(h) ? about(h.name) : undefined;
    // 0 and -1 stand for a size that is set later
    if (c?.kind === "number" && c.value <= 0 && (numberFor(h.name) ?? 0) > 1) return h;
    const described = c?.kind === "instance";
    if (c === undefined || (h.usage.called && !described) || (h.annotation !== "" && !fitsType(h.annotation, c)))
      return h;
    const [first, ...rest] = h.choices;
    const other =
      first !== undefined &&
      ((c.kind === "seq" && first.kind !== "seq" && h.usage.sequence) ||
        (c.kind === "dict" && (h.usage.mapping || h.usage.keys.size > 0)));
    return {
      ...h,
      choices: distinct(
        trusted || (shown && given?.has(h.name)) || other || !first ? [c, ...h.choices] : [first, c, ...rest],
      ),
    };
  });
}

function fitsType(annotation: string, c: Choice): boolean {
  if (c.kind === "instance") return !/^(int|float|bool|str)$/.test(annotation);
  if (c.kind === "number") return /int|float|number/i.test(annotation);
  if (c.kind === "seq") return /list|tuple|seq|iter/i.test(annotation);
  if (c.kind === "str") return /str|Literal/.test(annotation);
  if (c.kind === "dict") return /dict|Mapping|Any\b|config/i.test(annotation);
  return c.kind === "bool" && /bool/.test(annotation);
}

/** with the parameters that an error says are missing where **kwargs hands everything on; undefined: it names none */
export function withMissing(ctx: InferContext, m: Maker, f: Failure): Maker | undefined {
  const func = m.callable instanceof PyClass ? functionOf(m.callable.lookup("__init__")) : functionOf(m.callable);
  if (!func?.code.varkw) return undefined;
  const wanted = f.type === "AssertionError" ? /^assert\s+(\w+)\s*(?:,|$)/.exec(f.line)?.[1] : undefined;
  if (wanted !== undefined && !m.holes.some(h => h.name === wanted)) {
    const draft = { ...bareDraft(wanted, func.globals), keywordOnly: true };
    return { ...m, holes: [...m.holes, { ...draft, choices: [bool(true)] }] };
  }
  const missing = f.type === "KeyError" ? quotedNames(f.message) : missingArguments(f);
  const asked = f.type === "KeyError" ? [] : holesOfCallee(ctx, func, f);
  const cls = m.callable instanceof PyClass ? m.callable : null;
  const more = missing.flatMap(name => {
    if (m.holes.some(h => h.name === name)) return [];
    const draft = { ...bareDraft(name, func.globals), keywordOnly: true };
    const known = keywordHole(ctx, func, cls, name, constructorChoices) ?? asked.find(h => h.name === name);
    return [known ? { ...known, keywordOnly: true } : { ...draft, choices: constructorChoices(ctx, draft) }];
  });
  return more.length === 0 ? undefined : { ...m, holes: [...m.holes, ...more] };
}

/** "Block.__init__() missing ...": the parameters of the class that the code hands its keywords on to */
function holesOfCallee(ctx: InferContext, f: PyFunction, failure: Failure): Hole[] {
  const name = /^(\w+)(?:\.__init__)?\(\) missing/.exec(failure.message)?.[1];
  const cls = name === undefined ? undefined : lookup(ctx, f.globals, name);
  const init = cls instanceof PyClass ? functionOf(cls.lookup("__init__")) : undefined;
  return cls instanceof PyClass && init ? functionHoles(ctx, init, cls, 1, constructorChoices) : [];
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
    const keys = [...keysTaken(init.code.signature?.kwarg?.arg ?? "", init.code.body ?? [])];
    const byKey = keys.flatMap(key => keywordHole(ctx, init, base, key, constructorChoices) ?? []);
    for (const h of [...functionHoles(ctx, init, base, 1, constructorChoices), ...byKey]) {
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

/**
 * Constructors of classes that inherit the forward of `cls` as it is: they say what a base is built with. `everywhere`: files
 * of the project that nothing imports count too, where no imported one derives from it.
 */
export function heirsOf(ctx: InferContext, cls: PyClass, around: PyDict, everywhere: boolean): Maker[] {
  const place = (c: PyClass): string => {
    const code = functionOf(c.lookup("forward"))?.code;
    return `${code?.file.name}:${code?.firstLine}`;
  };
  return subclassesOf(ctx, cls, around, everywhere).flatMap(({ cls: c, globals }) =>
    place(c) === place(cls) ? [{ ...constructorOf(ctx, c, globals), name: c.name }] : [],
  );
}

// ---- builders

const MOST_BUILDERS = 8;
/** these run a whole program, or say nothing of what they make */
const NO_BUILDER = /^(main|train|test|eval|evaluate|run|demo|benchmark|forward|__\w+__)$/;

/** functions and classmethods that return an object of `cls`, those that need the fewest arguments first */
export function buildersOf(ctx: InferContext, cls: PyClass, around: PyDict): Maker[] {
  const made: Maker[] = [];
  for (const [key, v] of cls.mro.flatMap(c => (c.place === null ? [] : c.dict.entries()))) {
    const name = String(key);
    if (!(v instanceof PyClassMethod) || NO_BUILDER.test(name) || made.some(m => m.name === name)) continue;
    const f = functionOf(v.func);
    if (f && name === "from_config" && !calls(f, n => n === "cls")) made.push(explained(ctx, cls, f, name));
    if (f && calls(f, n => n === "cls" || n === cls.name || n.startsWith("cls.")))
      made.push(makerOf(ctx, ctx.vm.getattr(cls, name), f, 1, name));
  }
  const own = globalsOf(cls);
  const modules = [...new Set([...(own ? [own] : []), around, ...ctx.elsewhere().map(m => m.dict)])];
  return fewestFirst([...made, ...functionMakers(ctx, cls, modules)]);
}

/** a classmethod that works out the constructor's keywords from a configuration */
function explained(ctx: InferContext, cls: PyClass, f: PyFunction, name: string): Maker {
  const { vm } = ctx;
  const by = vm.getattr(cls, name);
  const callable = vm.builtin(name, (args, kwargs) => {
    const worked = vm.call(by, args, kwargs);
    if (!(worked instanceof PyDict)) return worked;
    return vm.call(cls, [], new Map(worked.entries().map(([k, v]) => [String(k), v] as const)));
  });
  return makerOf(ctx, callable, f, 1, name);
}

/** functions of these modules that return an object of `cls` */
export function buildersAmong(ctx: InferContext, cls: PyClass, modules: readonly PyDict[]): Maker[] {
  return fewestFirst(functionMakers(ctx, cls, modules));
}

function functionMakers(ctx: InferContext, cls: PyClass, modules: readonly PyDict[]): Maker[] {
  const made: Maker[] = [];
  for (const globals of modules) {
    for (const f of functionsBuilding(ctx, globals, cls)) made.push(makerOf(ctx, f, f, 0, f.code.name));
    if (made.length >= MOST_BUILDERS) break;
  }
  return made;
}

function fewestFirst(made: Maker[]): Maker[] {
  const needed = (m: Maker): number => m.holes.filter(h => h.required).length;
  return made.sort((a, b) => needed(a) - needed(b)).slice(0, MOST_BUILDERS);
}

/** a call of one function with inferred arguments */
function makerOf(ctx: InferContext, callable: Value, f: PyFunction, skip: number, name: string): Maker {
  return { callable, holes: withConstants(ctx, functionHoles(ctx, f, null, skip, constructorChoices)), name };
}

/** a function called with inferred arguments for what it does */
export const functionMaker = (ctx: InferContext, f: PyFunction, name: string): Maker => ({
  ...makerOf(ctx, f, f, 0, name),
  changes: true,
});

/** a method of an object that is there, called with inferred arguments for what it does to it */
export function methodMaker(ctx: InferContext, target: PyInstance, f: PyFunction, name: string): Maker {
  return { ...makerOf(ctx, ctx.vm.getattr(target, name), f, 1, name), changes: true };
}

/** functions of a module that build the class, directly or through others of the module, and return something */
function functionsBuilding(ctx: InferContext, globals: PyDict, cls: PyClass): PyFunction[] {
  const functions = globals.values().filter((v): v is PyFunction => v instanceof PyFunction && v.globals === globals);
  const building = new Set<Value>();
  for (let grew = true; grew; ) {
    grew = false;
    for (const f of functions) {
      if (building.has(f) || NO_BUILDER.test(f.code.name) || f.code.file.library !== "user") continue;
      const leads = calls(f, n => {
        const v = lookup(ctx, globals, n);
        return v !== undefined && (sameClass(v, cls) || building.has(v));
      });
      if (!leads) continue;
      building.add(f);
      grew = true;
    }
  }
  return functions.filter(f => building.has(f) && returns(f));
}

function calls(f: PyFunction, is: (name: string) => boolean): boolean {
  let found = false;
  walk(f.code.body ?? [], n => {
    const name = !found && n.kind === "Call" ? dotted(n.func) : undefined;
    if (name !== undefined && is(name)) found = true;
    return !found;
  });
  return found;
}

function returns(f: PyFunction): boolean {
  let found = false;
  walk(f.code.body ?? [], n => {
    if (n.kind === "FunctionDef" || n.kind === "ClassDef" || n.kind === "Lambda") return false;
    if (n.kind === "Return" && n.value !== null) found = true;
    return !found;
  });
  return found;
}

/** the object of `cls` in what a builder gave back: itself, or one of several things */
export function objectIn(v: Value, cls: PyClass): Value | undefined {
  if (v instanceof PyInstance && v.cls.mro.some(c => sameClass(c, cls))) return v;
  if (v instanceof PyTuple || v instanceof PyList) return v.items.find(x => objectIn(x, cls) === x);
  return undefined;
}
