// The parameters that inference may have to fill. In: a function or a dataclass. Out: holes.
import type * as ast from "../../../python/ast";
import { walk } from "../../../python/walk";
import { PyFunction } from "../../interp/frame";
import {
  PyClass,
  PyDict,
  PyFloat,
  PyInstance,
  PyList,
  PyNamed,
  PyObject,
  PyTuple,
  type Value,
} from "../../objects/values";
import { functionOf, type InferContext, lookup, methodOf } from "../context";
import { documentedTypes } from "../evidence/documented";
import { writtenShapes } from "../evidence/shapes";
import { annotationText, stringOf } from "../syntax";
import type { Choice, Draft, Hole } from "../types";
import { followCalls } from "./followed";
import { addUsage, emptyUsage, entryOf, entryTest, storedAs, storedWhere, type Usage, valueTest } from "./usage";

export type ChoicesOf = (ctx: InferContext, h: Draft) => readonly Choice[];

/** attributes of self that hold something for each item of a parameter: `self.m = nn.ModuleList(conv(x) for x in ch)` */
function filledFrom(name: string, body: readonly ast.Stmt[]): ReadonlySet<string> {
  const out = new Set<string>();
  walk(body, n => {
    const target = n.kind === "Assign" ? n.targets[0] : undefined;
    if (n.kind !== "Assign" || target?.kind !== "Attribute") return;
    walk(n.value, e => {
      if (e.kind !== "ListComp" && e.kind !== "GeneratorExp") return;
      if (e.generators.some(g => g.iter.kind === "Name" && g.iter.id === name)) out.add(target.attr);
    });
  });
  return out;
}

/** parameters of `f` after the first `skip`; uses of what a constructor stores in self are read in `cls` too */
export function functionHoles(
  ctx: InferContext,
  f: PyFunction,
  cls: PyClass | null,
  skip: number,
  choices: ChoicesOf,
): Hole[] {
  const sig = f.code.signature;
  if (!sig) return [];
  const positional = [...sig.posonlyargs, ...sig.args];
  const firstDefault = positional.length - f.defaults.length;
  const out: Hole[] = [];
  const written = f.code.name === "__init__" ? undefined : writtenShapes(f.code, docstringOf(cls));
  const documented = documentedTypes([f.code.docstring, f.code.name === "__init__" ? docstringOf(cls) : null]);
  const add = (a: ast.Arg, keywordOnly: boolean, fallback: Value | undefined): void => {
    const body = f.code.body ?? [];
    const selves = f.code.name === "__init__" ? storedAs(a.arg, body) : new Set<string>();
    const usage = emptyUsage();
    addUsage(usage, body, valueTest(a.arg, selves));
    usage.written = written?.get(a.arg);
    if (selves.size > 0 && cls) addMethods(usage, cls, f, selves);
    if (f.code.name === "__init__" && cls) {
      followMethods(cls, usage);
      for (const init of handsOnTo(cls, f, usage, a.arg)) followInto(cls, init, usage, a.arg);
      followConstructors(ctx, f.globals, usage, [...usage.passed], 0);
    }
    if (f.code.name !== "__init__") {
      followCalls(ctx, f, cls, a.arg, usage);
      for (const name of usage.itemNames) if (usage.items) followCalls(ctx, f, cls, name, usage.items);
    }
    // a function that builds modules hands its parameters on to them
    if (cls === null) followConstructors(ctx, f.globals, usage, [...usage.passed], 0);
    const draft: Draft = {
      name: a.arg,
      annotation: annotationText(a.annotation) || saidOf(a.arg, documented.get(a.arg)),
      required: fallback === undefined,
      keywordOnly,
      usage,
      fallback,
      globals: f.globals,
      selves,
      ...(f.code.name === "__init__" && isEmptySequence({ fallback }) ? { fills: filledFrom(a.arg, body) } : {}),
    };
    out.push({ ...draft, choices: choices(ctx, draft) });
  };
  positional.slice(skip).forEach((a, i) => {
    const at = i + skip;
    add(a, false, at < firstDefault ? undefined : f.defaults[at - firstDefault]);
  });
  for (const a of sig.kwonlyargs) add(a, true, f.kwDefaults.get(a.arg));
  return out;
}

const SIZE = /(^|_)(features|channels|dims?|size|width|units)$/;

/** the type that a docstring gives a parameter, unless it takes a size for a text */
const saidOf = (name: string, type: string | undefined): string =>
  type === undefined || (type === "str" && SIZE.test(name)) ? "" : type;

function docstringOf(cls: PyClass | null): string | null {
  const text = cls?.dict.get("__doc__");
  return typeof text === "string" ? text : null;
}

/** what the constructor of `cls` takes out of its **kwargs by key, so that it has to be there; undefined: nothing by that key */
export function keywordHole(
  ctx: InferContext,
  f: PyFunction,
  cls: PyClass | null,
  key: string,
  choices: ChoicesOf,
): Hole | undefined {
  const mapping = f.code.signature?.kwarg?.arg;
  const body = f.code.body ?? [];
  if (mapping === undefined || !keysTaken(mapping, body).has(key)) return undefined;
  const selves = storedWhere(entryTest(mapping, key, new Set()), body);
  const usage = emptyUsage();
  addUsage(usage, body, entryTest(mapping, key, selves));
  if (selves.size > 0 && cls) addMethods(usage, cls, f, selves);
  const draft: Draft = { ...bareDraft(key, f.globals), keywordOnly: true, usage, selves };
  return { ...draft, choices: choices(ctx, draft) };
}

/** the keys that code reads of a mapping as if they were there, in order, but for those that it asks for or sets itself */
export function keysTaken(mapping: string, body: readonly ast.Stmt[]): Set<string> {
  const out = new Set<string>();
  const own = new Set<string>();
  const needed = new Set<string>();
  walk(body, n => {
    const key = entryOf(n, mapping);
    if (key !== undefined) out.add(key);
    for (const t of n.kind === "Assign" ? n.targets : []) {
      const set = entryOf(t, mapping);
      if (set !== undefined) own.add(set);
    }
    const asked =
      n.kind === "Assert" || n.kind === "Compare" ? keyAskedOf(n.kind === "Assert" ? n.test : n, mapping) : undefined;
    // without what is asserted the code does not go on
    if (asked !== undefined) (n.kind === "Assert" ? needed : own).add(asked);
  });
  return new Set([...needed, ...[...out].filter(k => !own.has(k))]);
}

/** the key of `"key" in mapping` */
function keyAskedOf(e: ast.Node, mapping: string): string | undefined {
  if (e.kind !== "Compare") return undefined;
  return e.comparators.some(c => c.kind === "Name" && c.id === mapping) ? stringOf(e.left) : undefined;
}

/** a parameter without a default that its annotation or its code lets be None */
export const mayBeNone = (h: Hole): boolean =>
  h.required && (h.usage.optional || /^Optional\[|\|None$|^None\|/.test(h.annotation));

/** a parameter that falls back to an empty list: nothing can be done with that where all others have it */
export const isEmptySequence = ({ fallback: v }: Pick<Hole, "fallback">): boolean =>
  (v instanceof PyTuple || v instanceof PyList) && v.items.length === 0;

/** a required parameter of which nothing is known but its name */
export const bareDraft = (name: string, globals: PyDict): Draft => ({
  name,
  annotation: "",
  required: true,
  keywordOnly: false,
  usage: emptyUsage(),
  fallback: undefined,
  globals,
  selves: new Set(),
});

/** what methods other than the constructor do with what it stored */
function addMethods(usage: Usage, cls: PyClass, init: PyFunction, selves: ReadonlySet<string>): void {
  const { called } = usage;
  usage.called = false;
  for (const other of methodBodies(cls, init)) addUsage(usage, other, valueTest("", selves));
  usage.calledLater ||= usage.called && !called;
  usage.called ||= called;
}

/** what methods that the constructor hands it on to do with it */
function followMethods(cls: PyClass, usage: Usage): void {
  for (const { func, position } of [...usage.passed]) {
    const method = /^self\.\w+$/.test(func) ? methodOf(cls, func.slice(5)) : undefined;
    const name = method && parameterAt(method, position);
    if (name !== undefined) addUsage(usage, method?.code.body ?? [], valueTest(name, new Set()));
  }
}

/** the parameter of a method that an argument of its call reaches */
function parameterAt(f: PyFunction, position: number | string): string | undefined {
  const s = f.code.signature;
  if (!s) return undefined;
  const named = [...s.posonlyargs, ...s.args, ...s.kwonlyargs];
  return typeof position === "string" ? named.find(a => a.arg === position)?.arg : named[position + 1]?.arg;
}

const DEEPEST_CONSTRUCTOR = 3;

/** what the classes that get a parameter handed on, as it is, do with it */
function followConstructors(
  ctx: InferContext,
  globals: PyDict,
  usage: Usage,
  passed: Usage["passed"],
  depth: number,
): void {
  if (depth >= DEEPEST_CONSTRUCTOR) return;
  for (const { func, position } of passed.slice(0, 12)) {
    const cls = /^[A-Za-z_][\w.]*$/.test(func) ? lookup(ctx, globals, func) : undefined;
    const init = cls instanceof PyClass && cls.place !== null ? functionOf(cls.lookup("__init__")) : undefined;
    if (!(cls instanceof PyClass) || !init || init.code.file.library !== "user") continue;
    const name = parameterAt(init, position);
    if (name === undefined) continue;
    const known = usage.passed.length;
    followInto(cls, init, usage, name);
    followConstructors(ctx, init.globals, usage, usage.passed.slice(known), depth + 1);
  }
}

/** constructors of bases that get a parameter under its own name */
function handsOnTo(cls: PyClass, f: PyFunction, usage: Usage, name: string): PyFunction[] {
  if (!usage.passed.some(p => p.func.endsWith("__init__") && (p.position === name || typeof p.position === "number")))
    return [];
  return cls.mro.flatMap(c => {
    const init = c.place === null ? undefined : c.dict.get("__init__");
    if (!(init instanceof PyFunction) || init === f) return [];
    const s = init.code.signature;
    return s && [...s.posonlyargs, ...s.args, ...s.kwonlyargs].some(a => a.arg === name) ? [init] : [];
  });
}

/** what a base's constructor and methods do with it counts as well */
function followInto(cls: PyClass, init: PyFunction, usage: Usage, name: string): void {
  const body = init.code.body ?? [];
  const selves = storedAs(name, body);
  addUsage(usage, body, valueTest(name, selves));
  if (selves.size > 0) addMethods(usage, cls, init, selves);
}

/** fields of a dataclass, which its generated __init__ takes */
export function fieldHoles(ctx: InferContext, cls: PyClass, globals: PyDict, choices: ChoicesOf): Hole[] {
  const fields = cls.lookup("__dataclass_fields__");
  if (!(fields instanceof PyDict)) return [];
  return fields.values().flatMap((field): Hole[] => {
    if (!(field instanceof PyInstance)) return [];
    const name = field.attrs?.get("name");
    if (typeof name !== "string" || field.attrs?.get("init") === false) return [];
    const missing = (key: string): boolean => {
      const v = field.attrs?.get(key);
      return v instanceof PyObject && v.cls.name === "_Missing";
    };
    const required = missing("default") && missing("default_factory");
    const usage = emptyUsage();
    for (const body of methodBodies(cls, null)) addUsage(usage, body, valueTest("", new Set([name])));
    const draft: Draft = {
      name,
      annotation: typeText(field.attrs?.get("type")),
      required,
      keywordOnly: true,
      usage,
      fallback: required ? undefined : plainDefault(field.attrs?.get("default")),
      globals,
      selves: new Set([name]),
    };
    return [{ ...draft, choices: choices(ctx, draft) }];
  });
}

/** a field's default where it is a plain value; else None stands for what is not known of it */
function plainDefault(v: Value | undefined): Value {
  return typeof v === "number" || typeof v === "boolean" || typeof v === "string" || v instanceof PyFloat ? v : null;
}

function typeText(v: Value | undefined): string {
  if (typeof v === "string") return v.replace(/\b\w+\./g, "").replace(/\s+/g, "");
  if (v instanceof PyClass) return v.name;
  return v instanceof PyNamed ? v.text.replace(/\b\w+\./g, "").replace(/\s+/g, "") : "";
}

/** bodies of the other methods of a class and of the user's classes that it derives from */
function methodBodies(cls: PyClass, except: PyFunction | null): (readonly ast.Stmt[])[] {
  const out: (readonly ast.Stmt[])[] = [];
  for (const c of cls.mro) {
    if (c.place === null) continue;
    for (const v of c.dict.values()) if (v instanceof PyFunction && v !== except && v.code.body) out.push(v.code.body);
  }
  return out;
}

/** holes that the user filled have that one choice */
export function withWritten(holes: readonly Hole[], written: ReadonlyMap<string, Choice>): Hole[] {
  return holes.map(h => {
    const c = written.get(h.name);
    return c ? { ...h, required: true, choices: [c], written: true } : h;
  });
}
