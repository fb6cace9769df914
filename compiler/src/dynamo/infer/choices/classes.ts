// Classes, modules and configurations that could stand in a parameter. In: its name and use. Out: choices, those that have what
// the code asks of them first.
import { PyClass, PyDict, PyInstance, type Value } from "../../objects/values";
import {
  assignedAttributes,
  classesElsewhere,
  type InferContext,
  lookup,
  methodOf,
  subclassesOf,
  userClasses,
} from "../context";
import { type Choice, type Draft, IDENTITY, instance, MODULE, named, OBJECT } from "../types";
import * as names from "./names";

/** what a forward calls: an activation, a layer, a module of the project */
export function calledModules(ctx: InferContext, h: Draft): Choice[] {
  const n = h.name.toLowerCase();
  const out: Choice[] = [];
  if (/(^|_)act|activ|nonlin|relu|gate/.test(n)) out.push(instance("torch.nn.ReLU"), named("torch.nn.functional.relu"));
  if (/drop/.test(n)) out.push(instance("torch.nn.Dropout"));
  out.push(...modules(ctx, h).slice(0, 3));
  return out;
}

/** config objects: classes of the file that are named so, instances that stand in the module, anything that answers */
export function configs(ctx: InferContext, h: Draft): Choice[] {
  const out: Choice[] = [];
  const wanted = [...h.usage.attributes];
  const fits = (v: Value): number =>
    wanted.filter(a => ctx.vm.getattrOrUndefined(v, a) !== undefined || annotated(v, a)).length;
  const found = userClasses(h.globals)
    .filter(
      ({ name, cls }) =>
        /(config|cfg|args|params|hparams|arguments|options|settings)$/i.test(name) && !ctx.torch.isModuleClass(cls),
    )
    .map(c => ({ ...c, fit: fits(c.cls) }))
    .sort((a, b) => b.fit - a.fit);
  // a library's configuration has what is read of it, or another object is meant
  const enough = ({ cls, fit }: (typeof found)[number]): boolean =>
    ofLibrary(cls) ? fit === wanted.length : fit > 0 || wanted.length === 0;
  for (const c of found) if (enough(c)) out.push(instance(c.name));
  const plain = wanted.filter(a => !/^(get|items|keys|values|pop|update|to_dict|copy)$/.test(a) && !a.startsWith("_"));
  if (out.length === 0 && plain.length > 2) {
    const like = /(config|cfg|args|params|hparams|arguments|options|settings)$/i;
    for (const { name, cls } of classesOfOtherFiles(ctx, plain, like))
      if (like.test(cls.name) && !ctx.torch.isModuleClass(cls)) out.push(instance(name));
  }
  for (const [name, v] of h.globals.entries()) {
    if (typeof name !== "string" || !/^(config|cfg|args|hparams|opt|params)$/i.test(name)) continue;
    if (!(v instanceof PyClass) && wanted.every(a => ctx.vm.getattrOrUndefined(v, a) !== undefined))
      out.push(named(name));
  }
  out.push(...parsedOptions(ctx, wanted), ...presets(ctx, h).some, OBJECT);
  return out;
}

const ofLibrary = ({ place }: PyClass): boolean => place === null || place.file.startsWith("framework:");

/** options that a file of the project has parsed, with all that is read of them: `args = parser.parse_args()` */
function parsedOptions(ctx: InferContext, wanted: readonly string[]): Choice[] {
  const plain = wanted.filter(a => !a.startsWith("_"));
  if (plain.length < 2) return [];
  const has = (path: string): boolean => {
    const v = lookup(ctx, ctx.vm.dict(), path);
    return v instanceof PyInstance && plain.every(a => ctx.vm.getattrOrUndefined(v, a) !== undefined);
  };
  const found = ctx.constants.parsedOptions(plain).find(has);
  return found === undefined ? [] : [named(found)];
}

const MOST_PRESETS = 4;

/** configurations that a dictionary of the module keeps under names: those with all that is read, and those with most of it */
export function presets(ctx: InferContext, h: Draft): { readonly whole: Choice[]; readonly some: Choice[] } {
  const wanted = [...h.usage.attributes].filter(a => !a.startsWith("_"));
  if (wanted.length === 0) return { whole: [], some: [] };
  const found: { readonly path: string; readonly fit: number }[] = [];
  for (const [name, d] of h.globals.entries()) {
    if (typeof name !== "string" || !(d instanceof PyDict)) continue;
    for (const [key, v] of d.entries()) {
      if (!(v instanceof PyInstance || v instanceof PyDict) || ctx.torch.isModuleClass(v.cls)) continue;
      const fit = wanted.filter(a => ctx.vm.getattrOrUndefined(v, a) !== undefined).length;
      if (fit * 2 < wanted.length) continue;
      if (typeof key === "number") found.push({ path: `${name}[${key}]`, fit });
      else if (typeof key === "string" && !key.includes("'")) found.push({ path: `${name}['${key}']`, fit });
    }
  }
  const best = found.sort((a, b) => b.fit - a.fit).slice(0, MOST_PRESETS);
  const those = (whole: boolean): Choice[] =>
    best.filter(p => (p.fit === wanted.length) === whole).map(p => named(p.path));
  return { whole: those(true), some: those(false) };
}

/** a dataclass field without default is only an annotation of its class */
function annotated(v: Value, name: string): boolean {
  if (!(v instanceof PyClass)) return false;
  return v.mro.some(c => {
    const a = c.dict.get("__annotations__");
    return a instanceof PyDict && a.get(name) !== undefined;
  });
}

/** a module that fits: a class that has what is asked of it and is named like it, else one that changes nothing */
export function modules(ctx: InferContext, h: Draft): Choice[] {
  const wanted = [...h.usage.attributes].filter(
    a => ctx.torch.moduleClass?.lookup(a) === undefined && !MODULE_STATE.test(a),
  );
  let whole = false;
  // few modules take more than one thing
  const several = h.usage.calls.some(c => c.positional + c.keywords.length > 1);
  const rank = (list: readonly { readonly name: string; readonly cls: PyClass }[]): string[] =>
    list
      .filter(({ cls }) => runs(ctx, cls) && !ctx.building.includes(cls.qualname) && !wraps(cls, h.name))
      .map(({ name, cls }) => {
        const has = wanted.filter(a => cls.lookup(a) !== undefined || assignedAttributes(cls).has(a)).length;
        whole ||= has === wanted.length;
        const score = similarity(h.name, cls.name) + has * 3 - (wanted.length - has) * 2;
        return { name, score: score + (several && takesCalls(cls, h) ? 1 : 0) };
      })
      .filter(c => c.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 4)
      .map(c => c.name);
  const fitting = (list: readonly Known[]): readonly Known[] => {
    const callable = list.filter(c => takesCalls(c.cls, h));
    return callable.length > 0 ? callable : list;
  };
  const near = rank(fitting(userClasses(h.globals)));
  const far = near.length < 2 ? rank(fitting(classesElsewhere(ctx, h.globals))) : [];
  const unmet = wanted.length > 0 && !whole && !names.isConfigName(h.name);
  const distant = unmet
    ? classesOfOtherFiles(ctx, wanted, new RegExp(h.name.length > 2 ? h.name.replace(/\W|_/g, "") : "$^", "i"))
        .filter(c => ctx.torch.isModuleClass(c.cls) && !ctx.building.includes(c.cls.qualname))
        .map(c => c.name)
    : [];
  // none that is known goes by the name: one of the project's does
  const like = new RegExp(`${h.name.replace(/\W|_/g, "")}$`, "i");
  const alike = near.length + far.length + distant.length === 0 && !unmet && h.name.length > LEAST_TELLING;
  if (alike)
    distant.push(
      ...classesOfOtherFiles(ctx, wanted, like)
        .filter(c => like.test(c.cls.name) && ctx.torch.isModuleClass(c.cls) && takesCalls(c.cls, h))
        .filter(c => !ctx.building.includes(c.cls.qualname))
        .map(c => c.name),
    );
  const weighted = h.usage.attributes.has("weight") || h.usage.attributes.has("bias") ? ["torch.nn.Linear"] : [];
  // torch's layers take one tensor
  const one = h.usage.calls.every(c => c.positional + c.keywords.length < 2);
  const found = [...(one ? layersWith(h) : []), ...distant, ...near, ...far, ...(one ? weighted : [])].map(instance);
  if (wanted.length > 0) return [...found, MODULE];
  const unchanged = [instance("torch.nn.Identity"), MODULE];
  return [...found, ...(one ? unchanged : unchanged.reverse())];
}

const MOST_DERIVED = 2;

/** classes that stand for one that only says what they have in common: a module without forward */
export function derived(ctx: InferContext, h: Draft, cls: PyClass): Choice[] {
  if (!ctx.torch.isModuleClass(cls) || cls === ctx.torch.moduleClass || runs(ctx, cls)) return [];
  return subclassesOf(ctx, cls, h.globals, true)
    .filter(s => runs(ctx, s.cls) && !ctx.building.includes(s.cls.qualname))
    .slice(0, MOST_DERIVED)
    .map(({ cls: c, globals }) =>
      instance(globals === h.globals ? c.name : `${String(globals.get("__file__"))}::${c.name}`),
    );
}

/** a module class of the project that goes by the parameter's name, in files that nothing imports too */
export function namesake(ctx: InferContext, h: Draft): Choice[] {
  if (h.name.length < 4) return [];
  const fits = (c: Known): boolean =>
    runs(ctx, c.cls) && !ctx.building.includes(c.cls.qualname) && takesCalls(c.cls, h);
  const same = (c: Known): boolean => similarity(h.name, c.cls.name) === SAME_NAME && fits(c);
  const known = [...userClasses(h.globals), ...classesElsewhere(ctx, h.globals)].find(same);
  const found = known ?? atPaths(ctx, ctx.constants.classesNamed(h.name), fits)[0];
  return found === undefined ? [] : [instance(found.name)];
}

/** a class under the path by which lookup() finds it */
interface Known {
  readonly name: string;
  readonly cls: PyClass;
}

/** whether its constructor needs something of this name itself: another one that lies around such a thing, and is none */
function wraps(cls: PyClass, name: string): boolean {
  const init = methodOf(cls, "__init__");
  const own = init?.code.signature?.args ?? [];
  return own.slice(0, own.length - (init?.defaults.length ?? 0)).some(a => a.arg === name);
}

/** whether it is a module with a forward of its own, or of a base other than torch's Module */
const runs = (ctx: InferContext, cls: PyClass): boolean =>
  ctx.torch.isModuleClass(cls) && cls.lookup("forward") !== ctx.torch.moduleClass?.lookup("forward");

/** a shorter name is in many classes' names */
const LEAST_TELLING = 5;

/** whether its forward takes what the code gives to the parameter when it calls it */
function takesCalls(cls: PyClass, h: Draft): boolean {
  const f = methodOf(cls, "forward");
  const s = f?.code.signature;
  if (!f || !s) return true;
  const positional = [...s.posonlyargs, ...s.args].slice(1).map(a => a.arg);
  const required = positional.length - f.defaults.length;
  const known = new Set([...positional, ...s.kwonlyargs.map(a => a.arg)]);
  return h.usage.calls.every(
    c =>
      (s.vararg !== null || c.positional <= positional.length) &&
      (s.kwarg !== null || c.keywords.every(k => known.has(k))) &&
      c.positional + c.keywords.length >= required,
  );
}

const MOST_OF_OTHER_FILES = 2;

/** classes of files that are not imported, by their members */
function classesOfOtherFiles(
  ctx: InferContext,
  members: readonly string[],
  like: RegExp,
  fits?: (c: Known) => boolean,
): Known[] {
  return atPaths(ctx, ctx.constants.classesWith(members, like), fits);
}

const MOST_LOADED = 8;

/** the first of the classes that stand in files of the project and fit, under paths that lookup() takes */
function atPaths(
  ctx: InferContext,
  found: readonly { readonly path: string; readonly name: string }[],
  fits: (c: Known) => boolean = () => true,
): Known[] {
  const out: Known[] = [];
  for (const c of found.slice(0, MOST_LOADED)) {
    const name = `${c.path}::${c.name}`;
    const cls = lookup(ctx, ctx.vm.dict(), name);
    if (cls instanceof PyClass && fits({ name, cls })) out.push({ name, cls });
    if (out.length === MOST_OF_OTHER_FILES) break;
  }
  return out;
}

/** objects that the items of a list may be, whose attributes the code reads: of a class that has all of them, where there is none ones that answer */
export function itemObjects(ctx: InferContext, h: Draft, attributes: readonly string[]): Choice[] {
  const has = (c: Known): boolean =>
    attributes.every(a => c.cls.lookup(a) !== undefined || assignedAttributes(c.cls).has(a)) &&
    !ctx.torch.isModuleClass(c.cls);
  const near = userClasses(h.globals).filter(has);
  const like = new RegExp(h.name.replace(/\W|_|s$/g, ""), "i");
  const found = near.length > 0 ? near : classesOfOtherFiles(ctx, attributes, like, has);
  return found.length > 0 ? found.slice(0, 2).map(c => instance(c.name)) : [OBJECT];
}

/** torch's own layers that have the attributes that are read */
function layersWith(h: Draft): string[] {
  const read = h.usage.attributes;
  const any = (...names: readonly string[]): boolean => names.some(n => read.has(n));
  const out: string[] = [];
  if (any("in_features", "out_features")) out.push("torch.nn.Linear");
  if (any("in_channels", "out_channels", "kernel_size", "groups")) out.push("torch.nn.Conv2d");
  if (any("num_features", "running_mean", "running_var")) out.push("torch.nn.BatchNorm2d");
  if (any("num_embeddings", "embedding_dim")) out.push("torch.nn.Embedding");
  if (any("normalized_shape")) out.push("torch.nn.LayerNorm");
  return out;
}

const MOST_OBJECTS = 2;

/** what is no module and no configuration: classes of the program, then of other files, that have all that is read of it */
export function objects(ctx: InferContext, h: Draft): Choice[] {
  const wanted = [...h.usage.attributes].filter(a => !a.startsWith("__"));
  if (wanted.length < 2) return [];
  const members = h.usage.passed.some(p => p.func === "len") ? [...wanted, "__len__"] : wanted;
  const fitting = <T extends { readonly cls: PyClass }>(list: readonly T[]): T[] =>
    list.filter(
      ({ cls }) =>
        !ctx.building.includes(cls.qualname) &&
        members.every(a => cls.lookup(a) !== undefined || assignedAttributes(cls).has(a)) &&
        !ctx.torch.isModuleClass(cls),
    );
  const near = fitting([...userClasses(h.globals), ...classesElsewhere(ctx, h.globals)]);
  const found = near.length > 0 ? near : fitting(classesOfOtherFiles(ctx, members, /$^/));
  return found.slice(0, MOST_OBJECTS).map(c => instance(c.name));
}

const MODULE_STATE = /^(training|weight|bias|shape|size|dim|ndim|device|dtype)$/;

const SAME_NAME = 10;

/** common words of a parameter's and a class's name */
function similarity(parameter: string, cls: string): number {
  const a = parameter.toLowerCase().replace(/_/g, "");
  const b = cls.toLowerCase().replace(/_/g, "");
  if (a === b) return SAME_NAME;
  if (b.endsWith(a)) return 6;
  if (b.startsWith(a)) return 5;
  if (b.includes(a) || (a.includes(b) && b.length > 3)) return 4;
  const words = parameter
    .toLowerCase()
    .split("_")
    .filter(w => w.length > 2);
  return words.filter(w => b.includes(w)).length;
}

/** layers of torch that a name stands for */
export function layersNamed(name: string): Choice[] {
  const n = name.toLowerCase();
  const out: Choice[] = [];
  if (/norm/.test(n)) out.push(named("torch.nn.LayerNorm"), named("torch.nn.BatchNorm2d"));
  if (/act|nonlin|gate/.test(n))
    out.push(named("torch.nn.GELU"), named("torch.nn.ReLU"), named("torch.nn.functional.gelu"));
  if (/conv/.test(n)) out.push(named("torch.nn.Conv2d"));
  if (/pool/.test(n)) out.push(named("torch.nn.MaxPool2d"));
  if (/linear|proj|fc/.test(n)) out.push(named("torch.nn.Linear"));
  if (/drop/.test(n)) out.push(named("torch.nn.Dropout"));
  return out;
}

/** classes handed over as values: layers by the name, classes of the file that have what is asked of them */
export function classes(ctx: InferContext, h: Draft): Choice[] {
  const n = h.name.toLowerCase();
  const out: Choice[] = [];
  const wanted = [...h.usage.attributes].filter(a => !a.startsWith("__"));
  const own = userClasses(h.globals).filter(({ cls }) => ctx.torch.isModuleClass(cls));
  if (wanted.length > 0)
    for (const { name, cls } of own) if (wanted.every(a => cls.lookup(a) !== undefined)) out.push(named(name));
  const alike = own
    .map(c => ({ ...c, score: similarity(n.replace(/_?(cls|class|type|layer|fn|func)$/, "") || n, c.name) }))
    .filter(c => c.score > 1)
    .sort((a, b) => b.score - a.score);
  for (const c of alike.slice(0, 3)) out.push(named(c.name));
  out.push(...layersNamed(n));
  if (/loss|criterion|fcn/.test(n)) out.push(named("torch.nn.functional.mse_loss"));
  out.push(named("torch.nn.Identity"), IDENTITY);
  return out;
}
