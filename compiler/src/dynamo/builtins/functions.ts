// The functions of builtins (len, range's friends, isinstance, super, print ...). In: the machine. Out: its builtins dict.
import { NativeArgs, spread } from "../interp/arguments";
import { bind, GET_OR, plainDeleteAttribute, plainSetAttribute } from "../interp/attributes";
import { makeClassFromArgs } from "../interp/classes";
import { PyFunction, PyGenerator } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { asFloat, asInt, normal, numberOp, roundHalfEven, roundInteger } from "../interp/numbers";
import { plain, special } from "../interp/operators";
import { isPrepared } from "../interp/prepared";
import { runningFile } from "../interp/running_file";
import {
  identity,
  type Kwargs,
  keyOf,
  PyBuiltin,
  PyClass,
  PyClassMethod,
  PyComplex,
  PyDict,
  PyFloat,
  PyInstance,
  PyIterator,
  type PyList,
  PyMethod,
  PyModule,
  PyNamed,
  PyObject,
  PyProperty,
  PyRange,
  PyStaticMethod,
  PySuper,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import { installContainers, sortValues } from "./containers";
import { defineNew, func, method, property } from "./define";
import { evaluate, execute } from "./evaluate";
import { installExceptions } from "./exceptions";
import { installGenerators } from "./generators";
import { installNumbers, modularPower, toInt } from "./numbers";
import { installStrings } from "./strings";

export function installBuiltins(vm: Machine): void {
  const t = vm.types;
  for (const c of [
    t.object,
    t.type,
    t.bool,
    t.int,
    t.float,
    t.complex,
    t.str,
    t.bytes,
    t.list,
    t.tuple,
    t.dict,
    t.set,
  ]) {
    vm.builtins.set(c.name, c);
  }
  for (const c of [t.frozenset, t.range, t.slice, t.property, t.staticmethod, t.classmethod, t.super]) {
    vm.builtins.set(c.name, c);
  }
  vm.builtins.set("bytearray", t.bytes);
  vm.builtins.set("memoryview", t.bytes);
  vm.builtins.set("Ellipsis", vm.ellipsis);
  vm.builtins.set("NotImplemented", vm.notImplemented);
  vm.builtins.set("__debug__", true);
  installExceptions(vm);
  installNumbers(vm);
  installStrings(vm);
  installContainers(vm);
  installObject(vm);
  installDescriptors(vm);
  installGenerators(vm);
  installFunctions(vm);
  vm.objectAttribute = name => objectFallback(vm, name);
}

function installObject(vm: Machine): void {
  const { object, type } = vm.types;
  defineNew(vm, object, c => new PyInstance(c));
  object.dict.set(
    "__init__",
    vm.builtin("__init__", () => null),
  );
  method(vm, object, "__init__", () => null);
  method(vm, object, "__setattr__", ([o, name, v]) => {
    plainSetAttribute(vm, o ?? null, String(name), v ?? null);
    return null;
  });
  method(vm, object, "__delattr__", ([o, name]) => {
    plainDeleteAttribute(vm, o ?? null, String(name));
    return null;
  });
  // the plain paths of the machine are these; found on object they would only cost time
  object.dict.deleteKey("__setattr__");
  object.dict.deleteKey("__delattr__");
  object.dict.deleteKey("__init__");
  object.dict.deleteKey("__new__");
  defineNew(vm, type, (meta, args, kw) => {
    if (args.length === 1) return vm.typeOf(args[0] ?? null);
    return makeClassFromArgs(vm, meta, args, kw);
  });
  method(vm, type, "__init__", () => null);
  method(vm, type, "__call__", ([c, ...args], kw) => (c instanceof PyClass ? vm.construct(c, args, kw) : null));
}

/** attributes of object that user code names explicitly: object.__setattr__(self, ...), super().__init__() */
function objectFallback(vm: Machine, name: string): Value | undefined {
  const m = (f: (args: readonly Value[], kw: Kwargs) => Value): Value => {
    const b = new PyBuiltin(vm.types.builtin, name, f);
    b.method = true;
    return b;
  };
  switch (name) {
    case "__init__":
    case "__init_subclass__":
    case "__post_init__":
      return name === "__post_init__" ? undefined : m(() => null);
    case "__new__":
      return vm.builtin("__new__", ([c]) => (c instanceof PyClass ? newObject(vm, c) : null));
    case "__setattr__":
      return m(([o, n, v]) => {
        plainSetAttribute(vm, o ?? null, String(n), v ?? null);
        return null;
      });
    case "__delattr__":
      return m(([o, n]) => {
        plainDeleteAttribute(vm, o ?? null, String(n));
        return null;
      });
    case "__getattribute__":
      return m(([o, n]) => vm.getattr(o ?? null, String(n)));
    case "__repr__":
    case "__str__":
      return m(([o]) => `<${vm.typeOf(o ?? null).name} object>`);
    case "__eq__":
      return m(([a, b]) => (a === b ? true : vm.notImplemented));
    case "__ne__":
      return m(([a, b]) => (a === b ? false : vm.notImplemented));
    case "__hash__":
      return m(([o]) => (o instanceof PyObject ? identity(o) : 0));
    case "__format__":
      return m(([o, s]) => vm.format(o ?? null, String(s ?? "")));
    case "__getstate__":
      return m(([o]) => stateOf(vm, o ?? null));
    case "__reduce__":
    case "__reduce_ex__":
      // how a copy is made: the class, no arguments, the state
      return m(([o]) => vm.tuple([vm.typeOf(o ?? null), vm.tuple([]), stateOf(vm, o ?? null)]));
    case "__dir__":
      return m(([o]) => dir(vm, o ?? null));
    case "__sizeof__":
      return m(() => 56);
    default:
      return undefined;
  }
}

function stateOf(vm: Machine, o: Value): Value {
  return o instanceof PyInstance && o.attrs
    ? vm.dict(o.attrs.entries().map(([k, v]) => [String(k), v] as const))
    : null;
}

function newObject(vm: Machine, c: PyClass): Value {
  for (const base of c.mro) {
    const make = base.dict.get("__new__");
    if (make instanceof PyStaticMethod && make.func instanceof PyBuiltin) return vm.call(make.func, [c]);
  }
  return new PyInstance(c);
}

function installDescriptors(vm: Machine): void {
  const t = vm.types;
  defineNew(vm, t.property, (c, args, kw) => {
    const a = new NativeArgs(vm, "property", ["fget?", "fset?", "fdel?", "doc?"], args, kw);
    return new PyProperty(c, a.get("fget") ?? null, a.get("fset") ?? null, a.get("fdel") ?? null);
  });
  defineNew(vm, t.staticmethod, (c, [f]) => new PyStaticMethod(c, f ?? null));
  defineNew(vm, t.classmethod, (c, [f]) => new PyClassMethod(c, f ?? null));
  defineNew(vm, t.super, (c, [named, self]) => {
    const cls = named instanceof PyUnknown && self !== undefined ? standingFor(vm, named, self) : named;
    if (!(cls instanceof PyClass)) return vm.raise("RuntimeError", "super(): no arguments");
    // bound to no object, it only has what every object has: `super(Net).__init__()` does nothing
    if (self === undefined) return new PyInstance(vm.types.object);
    const selfClass = self instanceof PyClass && self.isSubclassOf(cls) ? self : vm.typeOf(self);
    return new PySuper(c, cls, self, selfClass);
  });
  defineNew(vm, t.method, (c, [f, self]) => new PyMethod(c, f ?? null, self ?? null));
}

/** the class that stands in a class's order for a base that nobody knows; without one, its last but object */
function standingFor(vm: Machine, base: PyUnknown, self: Value): PyClass | undefined {
  const { mro } = self instanceof PyClass ? self : vm.typeOf(self);
  const name = base.what.split(".").pop();
  return mro.find(k => k.module === "unknown" && k.name === name) ?? mro.at(-2);
}

export function dir(vm: Machine, o: Value): PyList {
  const names = new Set<string>();
  if (o instanceof PyObject && o.attrs) for (const k of o.attrs.keys()) names.add(String(k));
  const cls = o instanceof PyClass ? o : vm.typeOf(o);
  for (const c of cls.mro) for (const k of c.dict.keys()) names.add(String(k));
  return vm.list([...names].sort());
}

function installFunctions(vm: Machine): void {
  const b = vm.builtins;
  const f = (name: string, fn: (args: readonly Value[], kw: Kwargs) => Value): void => {
    func(vm, b, name, fn);
  };
  f("len", ([v]) => vm.length(v ?? null));
  f("print", (args, kw) => {
    const a = new NativeArgs(vm, "print", ["*", "sep?", "end?", "file?", "flush?"], [], kw);
    const sep = a.get("sep");
    const end = a.get("end");
    const file = a.get("file");
    const text = args.map(v => vm.str(v)).join(typeof sep === "string" ? sep : " ");
    if (file === undefined || file === null) vm.print(text + (typeof end === "string" ? end : "\n"));
    return null;
  });
  f("repr", ([v]) => vm.repr(v ?? null));
  f("ascii", ([v]) => vm.repr(v ?? null));
  f("format", ([v, s]) => vm.format(v ?? null, String(s ?? "")));
  f("id", ([v]) => (v instanceof PyObject ? 140000000000000 + 16 * identity(v) : 0));
  f("hash", ([v]) => {
    const k = v === undefined ? 0 : vm.hash(v);
    if (typeof k === "number") return Math.trunc(k);
    if (typeof k === "bigint") return k;
    if (typeof k === "object") return identity(k);
    let h = 0;
    for (const c of k) h = (h * 31 + c.charCodeAt(0)) % 2147483647;
    return h;
  });
  f("callable", ([v]) => isCallable(vm, v ?? null));
  f("isinstance", ([v, c]) => vm.isInstance(v ?? null, c ?? null));
  f("issubclass", ([c, d]) => {
    const one = (x: Value): boolean =>
      x instanceof PyTuple ? x.items.some(one) : c instanceof PyClass && x instanceof PyClass && c.isSubclassOf(x);
    if (!(c instanceof PyClass) && !(c instanceof PyUnknown))
      vm.raise("TypeError", "issubclass() arg 1 must be a class");
    return one(d ?? null);
  });
  f("getattr", ([o, name, other]) => {
    const stands = other !== undefined && other !== null && o instanceof PyInstance ? o.cls.lookup(GET_OR) : undefined;
    if (stands !== undefined) return vm.call(stands, [o ?? null, name ?? null, other ?? null]);
    const v = vm.getattrOrUndefined(o ?? null, String(name));
    if (v !== undefined) return v;
    return other === undefined ? vm.getattr(o ?? null, String(name)) : other;
  });
  f("hasattr", ([o, name]) => vm.getattrOrUndefined(o ?? null, String(name)) !== undefined);
  f("setattr", ([o, name, v]) => {
    vm.setattr(o ?? null, String(plain(name ?? null)), v ?? null);
    return null;
  });
  f("delattr", ([o, name]) => {
    vm.delattr(o ?? null, String(name));
    return null;
  });
  f("vars", ([o]) => (o === undefined ? locals(vm) : vm.getattr(o, "__dict__")));
  f("dir", ([o]) => dir(vm, o ?? null));
  f("globals", () => vm.frames[vm.frames.length - 1]?.globals ?? vm.dict());
  f("locals", () => locals(vm));
  f("iter", ([v, sentinel]) => {
    if (sentinel === undefined) {
      const it = v ?? null;
      if (it instanceof PyGenerator) return it;
      if (it instanceof PyInstance && special(vm, it, "__iter__") !== undefined) {
        return vm.call(special(vm, it, "__iter__") as Value, []);
      }
      return vm.iterate(it);
    }
    return vm.iterator(() => {
      const x = vm.call(v ?? null, []);
      return vm.equal(x, sentinel) ? undefined : x;
    });
  });
  f("next", ([it, other]) => {
    const v = vm.next(it ?? null);
    if (v !== undefined) return v;
    if (other !== undefined) return other;
    throw vm.makeError("StopIteration", it instanceof PyGenerator && it.returned !== null ? [it.returned] : []);
  });
  f("enumerate", (args, kw) => {
    const a = new NativeArgs(vm, "enumerate", ["iterable", "start?"], args, kw);
    const it = vm.iterate(a.need("iterable"));
    const start = BigInt(vm.integer(a.get("start") ?? 0));
    let i = 0;
    return vm.iterator(() => {
      const v = it.next();
      if (v === undefined) return undefined;
      vm.observer?.stored?.("x", v, null);
      return vm.tuple([normal(start + BigInt(i++)), v]);
    }, "enumerate");
  });
  f("zip", (args, kw) => {
    const its = args.map(x => vm.iterate(x));
    const strict = vm.truthy(kw.get("strict") ?? false);
    return vm.iterator(() => {
      const row: Value[] = [];
      for (const [k, it] of its.entries()) {
        const v = it.next();
        if (v === undefined) {
          if (strict && k > 0) vm.raise("ValueError", `zip() argument ${k + 1} is shorter than argument ${k}`);
          return undefined;
        }
        row.push(v);
      }
      return its.length === 0 ? undefined : vm.tuple(row);
    }, "zip");
  });
  f("map", ([fn, ...rest]) => {
    const its = rest.map(x => vm.iterate(x));
    return vm.iterator(() => {
      const row: Value[] = [];
      for (const it of its) {
        const v = it.next();
        if (v === undefined) return undefined;
        row.push(v);
      }
      return vm.call(fn ?? null, row);
    }, "map");
  });
  f("filter", ([fn, xs]) => {
    const it = vm.iterate(xs ?? null);
    return vm.iterator(() => {
      for (let v = it.next(); v !== undefined; v = it.next()) {
        vm.tick();
        if (fn === null || fn === undefined ? vm.truthy(v) : vm.truthy(vm.call(fn, [v]))) return v;
      }
      return undefined;
    }, "filter");
  });
  f("reversed", ([v]) => {
    const own = special(vm, v ?? null, "__reversed__");
    if (own !== undefined) return vm.call(own, []);
    if (v instanceof PyRange) {
      const back = normal(-BigInt(v.step));
      return vm.iterate(new PyRange(v.cls, v.at(normal(BigInt(v.count) - 1n)), v.at(-1), back));
    }
    const items = v instanceof PyDict ? v.keys() : vm.toArray(v ?? null);
    return vm.iterate(vm.tuple(items.reverse()));
  });
  f("sorted", ([v], kw) => vm.list(sortValues(vm, vm.toArray(v ?? null), kw)));
  f("sum", (args, kw) => {
    const a = new NativeArgs(vm, "sum", ["iterable", "start?"], args, kw);
    let acc: Value = a.get("start") ?? 0;
    const it = vm.iterate(a.need("iterable"));
    for (let v = it.next(); v !== undefined; v = it.next()) {
      vm.tick();
      vm.observer?.stored?.("element", v, null);
      acc = vm.binary("+", acc, v);
      vm.observer?.stored?.("value", acc, null);
    }
    return acc;
  });
  f("any", ([v]) => {
    const it = vm.iterate(v ?? null);
    for (let x = it.next(); x !== undefined; x = it.next()) if (vm.truthy(x)) return true;
    return false;
  });
  f("all", ([v]) => {
    const it = vm.iterate(v ?? null);
    for (let x = it.next(); x !== undefined; x = it.next()) if (!vm.truthy(x)) return false;
    return true;
  });
  const extreme = (name: "min" | "max"): void =>
    f(name, (args, kw) => {
      const a = new NativeArgs(vm, name, ["*", "key?", "default?"], [], kw);
      const key = a.get("key") ?? null;
      const items = args.length === 1 ? vm.toArray(args[0] ?? null) : [...args];
      if (items.length === 0) {
        const other = a.get("default");
        return other ?? vm.raise("ValueError", `${name}() iterable argument is empty`);
      }
      let best = items[0] as Value;
      let bestKey = key === null ? best : vm.call(key, [best]);
      for (const v of items.slice(1)) {
        const k = key === null ? v : vm.call(key, [v]);
        if (vm.truthy(vm.compare(name === "min" ? "<" : ">", k, bestKey))) [best, bestKey] = [v, k];
      }
      return best;
    });
  extreme("min");
  extreme("max");
  f("abs", ([v]) => {
    const x = plain(v ?? null);
    const i = asInt(x);
    if (i !== undefined) return i < 0 ? -i : i;
    if (x instanceof PyFloat) return new PyFloat(Math.abs(x.value));
    if (x instanceof PyComplex) return new PyFloat(Math.hypot(x.re, x.im));
    const own = special(vm, x, "__abs__");
    if (own !== undefined) return vm.call(own, []);
    if (x instanceof PyUnknown) return x;
    return vm.call(vm.getattr(x, "__abs__"), []);
  });
  f("round", ([v, digits]) => {
    const x = plain(v ?? null);
    const own = special(vm, x, "__round__");
    if (own !== undefined) return vm.call(own, digits === undefined ? [] : [digits]);
    if (asInt(x) !== undefined) {
      if (digits === undefined || digits === null || vm.index(digits) >= 0) return x;
      return roundInteger(asInt(x) ?? 0, -vm.index(digits));
    }
    const n = asFloat(x);
    if (n === undefined) return x instanceof PyUnknown ? x : vm.call(vm.getattr(x, "__round__"), []);
    if (digits === undefined || digits === null) return toInt(vm, new PyFloat(roundHalfEven(n, 0)));
    return new PyFloat(roundHalfEven(n, vm.index(digits)));
  });
  f("divmod", ([a, c]) => vm.tuple([vm.binary("//", a ?? 0, c ?? 0), vm.binary("%", a ?? 0, c ?? 0)]));
  f("pow", ([x, y, m]) => {
    if (m === undefined || m === null) return vm.binary("**", x ?? 0, y ?? 0);
    return modularPower(vm, vm.integer(x ?? 0), vm.integer(y ?? 0), vm.integer(m));
  });
  f("ord", ([c]) => String(c).codePointAt(0) ?? 0);
  f("chr", ([n]) => String.fromCodePoint(vm.index(n ?? 0)));
  f("bin", ([n]) => radix(vm, n, 2, "0b"));
  f("oct", ([n]) => radix(vm, n, 8, "0o"));
  f("hex", ([n]) => radix(vm, n, 16, "0x"));
  f("input", () => "");
  f("exit", () => {
    throw vm.makeError("SystemExit", []);
  });
  f("quit", () => {
    throw vm.makeError("SystemExit", []);
  });
  f("open", ([name, mode], kw) => {
    // what is written goes nowhere
    const how = mode ?? kw.get("mode");
    if (typeof how === "string" && /[wax]/.test(how)) return sink(vm);
    const text = vm.host.texts?.read(vm.str(name ?? null));
    if (text !== undefined) return vm.call(vm.getattr(vm.importModule("io", null), "StringIO"), [text]);
    vm.report("no-files", `open(${vm.repr(name ?? null)}): there is no such text in the project`, "information");
    // data that the program expects to be there: what it holds is not known
    if (typeof how === "string" && how.includes("b") && !isPrepared(vm)) return vm.unknown("open(...)");
    throw vm.makeError("FileNotFoundError", [2, "No such file or directory"]);
  });
  f("__import__", ([name, , , given], kw) => {
    const names = given ?? kw.get("fromlist") ?? null;
    const whole = vm.importModule(String(name), runningFile(vm));
    return vm.truthy(names) ? whole : vm.importModule(String(name).split(".")[0] ?? "", runningFile(vm));
  });
  f("compile", () => vm.unknown("compile(...)"));
  f("exec", ([text, globals, names]) => execute(vm, text ?? null, globals, names));
  f("eval", ([text, globals, names]) => evaluate(vm, text ?? null, globals, names));
  property(vm, vm.types.func, "__type_params__", () => vm.tuple([]));
}

function radix(vm: Machine, n: Value | undefined, base: number, prefix: string): string {
  const i = BigInt(vm.integer(n ?? 0));
  return `${i < 0n ? "-" : ""}${prefix}${(i < 0n ? -i : i).toString(base)}`;
}

function locals(vm: Machine): PyDict {
  const frame = vm.frames[vm.frames.length - 1];
  if (!frame) return vm.dict();
  if (frame.names) return frame.names;
  const d = vm.dict();
  frame.code.varnames.forEach((name, i) => {
    const v = frame.locals[i];
    if (v !== undefined && !name.startsWith(".")) d.set(name, v);
  });
  // names of enclosing functions that this one reads come last, `__class__` of a method that calls super() among them
  [...frame.code.cellNames, ...frame.code.freeNames].forEach((name, i) => {
    const v = frame.cells[i]?.value;
    if (v !== undefined) d.set(name, v);
  });
  return d;
}

export function isCallable(vm: Machine, v: Value): boolean {
  if (v instanceof PyFunction || v instanceof PyBuiltin || v instanceof PyClass || v instanceof PyMethod) return true;
  if (v instanceof PyUnknown) return true;
  return special(vm, v, "__call__") !== undefined;
}

export { bind, keyOf, numberOp, PyIterator, PyModule, PyNamed, spread };

/** a file that takes what is written */
function sink(vm: Machine): Value {
  const stream = vm.getattr(vm.importModule("sys", null), "stdout");
  return stream instanceof PyInstance ? new PyInstance(stream.cls) : stream;
}
