// Instructions that call, make functions and classes, import, and end a frame's run.
import type { CallSpec } from "../../code/compile_expressions";
import type { FunctionSpec, OpName } from "../../code/instructions";
import { type PyCell, type PyDict, PyList, PyModule, PyTuple, PyUnknown, type Value } from "../../objects/values";
import { PyError } from "../api";
import { spread, spreadKeywords } from "../arguments";
import { buildClass } from "../classes";
import { type Frame, PyFunction, PyGenerator } from "../frame";
import { noteStar } from "../star_imports";
import { type Handler, nameOf, peek, pop, popN, push } from "./stack";

function moduleOf(f: Frame): PyModule | null {
  if (f.func?.module) return f.func.module;
  const m = f.globals.get("__module_object__");
  return m instanceof PyModule ? m : null;
}

export const CALLS = {
  CALL: (vm, f, i) => {
    const spec = i.data as CallSpec;
    const n = i.arg;
    const base = f.stack.length - n;
    const args = f.stack.slice(base, f.stack.length - spec.kwnames.length);
    let kwargs = vm.emptyKwargs;
    if (spec.kwnames.length > 0) {
      const map = new Map<string, Value>();
      const from = f.stack.length - spec.kwnames.length;
      spec.kwnames.forEach((name, k) => {
        if (map.has(name)) vm.raise("SyntaxError", `keyword argument repeated: ${name}`);
        map.set(name, f.stack[from + k] as Value);
      });
      kwargs = map;
    }
    const func = f.stack[base - 1] as Value;
    const r = vm.call(func, args, kwargs);
    f.stack.length = base - 1;
    // an unknown decorator most likely registers or wraps: what it decorates stands for the result
    const undecorated = spec.decorator === true && r instanceof PyUnknown && func instanceof PyUnknown;
    return push(f, undecorated ? (args[0] ?? r) : r);
  },
  CALL_EX: (vm, f, i) => {
    const kwargs = i.arg === 1 ? spreadKeywords(vm, peek(f, 1)) : vm.emptyKwargs;
    const at = i.arg === 1 ? 2 : 1;
    const r = vm.call(peek(f, at + 1), spread(vm, peek(f, at)), kwargs);
    f.stack.length -= at + 1;
    return push(f, r);
  },
  RETURN_VALUE: (_vm, f) => ({ kind: "return", value: pop(f) }),
  YIELD_VALUE: (_vm, f) => ({ kind: "yield", value: pop(f) }),
  YIELD_FROM: (vm, f) => {
    const sent = pop(f);
    const source = peek(f, 1);
    const v = source instanceof PyGenerator ? vm.resume(source, sent) : vm.next(source);
    if (v === undefined) {
      f.stack.length--;
      return push(f, source instanceof PyGenerator ? source.returned : null);
    }
    f.pc--; // comes back here with what is sent
    return { kind: "yield", value: v };
  },
  MAKE_FUNCTION: (vm, f, i) => {
    const spec = i.data as FunctionSpec;
    const closure = spec.closure ? (pop(f) as PyTuple).items.map(c => c as PyCell) : [];
    const kwValues = popN(f, spec.kwDefaults.length);
    const kwDefaults = new Map(spec.kwDefaults.map((n, k) => [n, kwValues[k] as Value]));
    const defaults = spec.defaults ? (pop(f) as PyTuple).items : [];
    const module = moduleOf(f);
    return push(f, new PyFunction(vm.types.func, spec.code, f.globals, module, defaults, kwDefaults, closure));
  },
  BUILD_CLASS: (vm, f, i) => {
    const [body, bases, kw] = popN(f, 3) as [PyFunction, PyTuple, PyDict];
    return push(f, buildClass(vm, nameOf(i), body, bases.items, spreadKeywords(vm, kw), i.at));
  },
  IMPORT_NAME: (vm, f, i) => {
    const spec = i.data as { module: string; level: number; names: string[] | null; whole: boolean };
    const fromFile = f.globals.get("__file__");
    const path = typeof fromFile === "string" ? fromFile : null;
    const name = ".".repeat(spec.level) + spec.module;
    const m = vm.importModule(name, path);
    // `import a.b.c as d` reads c off a.b, which may have a function where a module of that name lies
    const parent = spec.module.split(".").slice(0, -1).join(".");
    if (spec.whole && spec.names === null && parent !== "") {
      const own = vm.getattrOrUndefined(vm.importModule(parent, path), spec.module.slice(parent.length + 1));
      return push(f, own instanceof PyFunction ? own : m);
    }
    if (spec.whole || !spec.module.includes(".")) return push(f, m);
    return push(f, vm.importModule(spec.module.split(".")[0] ?? spec.module, path));
  },
  IMPORT_FROM: (vm, f, i) => {
    const m = peek(f, 1);
    const v = vm.getattrOrUndefined(m, nameOf(i));
    if (v !== undefined) return push(f, v);
    const from = m instanceof PyModule ? m.name : "?";
    const fromFile = f.globals.get("__file__");
    try {
      return push(f, vm.importModule(`${from}.${nameOf(i)}`, typeof fromFile === "string" ? fromFile : null));
    } catch (e) {
      if (!(e instanceof PyError)) throw e;
      return vm.raise("ImportError", `cannot import name '${nameOf(i)}' from '${from}'`);
    }
  },
  IMPORT_STAR: (vm, f) => {
    const m = pop(f);
    const into = f.names ?? f.globals;
    if (m instanceof PyUnknown) noteStar(into, m);
    if (!(m instanceof PyModule)) return undefined;
    const listed = m.dict.get("__all__") ?? m.lazy?.("__all__");
    const all = listed instanceof PyList || listed instanceof PyTuple ? listed : undefined;
    const names = all !== undefined ? vm.toArray(all).map(String) : m.dict.keys().map(String);
    for (const n of names) {
      const v = m.dict.get(n) ?? (all === undefined ? undefined : m.lazy?.(n));
      if (v !== undefined && (all !== undefined || !n.startsWith("_"))) into.set(n, v);
    }
    // what it makes when it is asked for, or has from another module in this way
    if (all === undefined) noteStar(into, m);
    return undefined;
  },
} satisfies Partial<Record<OpName, Handler>>;
