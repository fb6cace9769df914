// Attribute access: the descriptor protocol over classes, instances, modules, functions and super(). In: object and name.
// Out: value, or undefined where Python raises AttributeError (machine.ts words the error).

import { unrecorded } from "../objects/journal";
import {
  PyBuiltin,
  PyClass,
  PyClassMethod,
  PyDict,
  PyInstance,
  PyMethod,
  PyModule,
  PyObject,
  PyProperty,
  PyStaticMethod,
  PySuper,
  PyUnknown,
  type Value,
} from "../objects/values";
import { type Interp, PyError } from "./api";
import { PyFunction } from "./frame";
import { method } from "./native_method";
import { protocolMethod } from "./protocols";
import { sharedName } from "./shared_names";
import { starName } from "./star_imports";

/** the method of stand-ins that answers getattr() with a default */
export const GET_OR = "__getattr_or__";

/** undefined: there is none; where the program's own code says so, `missing` is told in which words */
export function getAttribute(vm: Interp, o: Value, name: string, missing?: (e: PyError) => void): Value | undefined {
  for (const g of vm.guests) {
    const v = g.getattr?.(o, name);
    if (v !== undefined) return v;
  }
  if (o instanceof PyModule) return moduleAttribute(vm, o, name);
  if (o instanceof PyUnknown)
    return o.attrs?.get(name) ?? (/^__(?!(init|call|dict)__$)/.test(name) ? undefined : unknownPart(vm, o, name));
  if (o instanceof PySuper) return superAttribute(vm, o, name);
  if (o instanceof PyClass) return classAttribute(vm, o, name);
  const cls = vm.typeOf(o);
  const found = cls.lookup(name);
  if (found instanceof PyProperty) return propertyValue(vm, found, o, name, missing);
  if (found instanceof PyInstance && found.cls.lookup("__set__") !== undefined) return bind(vm, found, o, cls);
  const own = o instanceof PyObject ? o.attrs?.get(name) : undefined;
  if (own !== undefined) return own;
  if (found !== undefined) return bind(vm, found, o, cls);
  const special = specialAttribute(vm, o, cls, name);
  if (special !== undefined) return special;
  const operator = name.startsWith("__") ? protocolMethod(vm, o, name) : undefined;
  if (operator !== undefined) return operator;
  const fallback = cls.lookup("__getattr__");
  if (fallback !== undefined) return catchMissing(vm, () => vm.call(bind(vm, fallback, o, cls), [name]), missing);
  return inherited(vm, name, o, cls);
}

/** libraries whose module nn is not torch's */
const OTHER_FRAMEWORKS = /^(paddle|mindspore|mlx|flax|haiku|equinox|tensorflow|keras|jittor|tinygrad|oneflow)\b/;

function unknownPart(vm: Interp, o: PyUnknown, name: string): Value {
  // layers that a library built on torch exports under torch's own names
  if (/^\w+(\.\w+)*\.nn$/.test(o.what) && !OTHER_FRAMEWORKS.test(o.what) && !/^Module\w+$/.test(name)) {
    const layer = vm.getattrOrUndefined(vm.importModule("torch.nn", null), name);
    if (layer instanceof PyClass) return name === "Sequential" ? lenientSequence(vm, layer, o.what) : layer;
  }
  const shared = sharedName(vm, name);
  if (shared !== undefined) return shared;
  const part = vm.unknown(`${o.what}.${name}`);
  // modules of a package are as new as it is
  const version = o.attrs?.get("__version__");
  if (version !== undefined) part.attrs = vm.dict([["__version__", version]]);
  return part;
}

/** a library's own Sequential takes None for a layer that is left out, which torch's refuses */
function lenientSequence(vm: Interp, sequential: PyClass, library: string): Value {
  const cls = vm.klass("Sequential", [sequential], library);
  const init = sequential.lookup("__init__");
  method(vm, cls, "__init__", args => {
    const layers = args.filter(a => a !== null);
    return init === undefined ? null : vm.call(init, layers);
  });
  return cls;
}

function inherited(vm: Interp, name: string, o: Value, cls: PyClass): Value | undefined {
  if (!name.startsWith("__")) return undefined;
  const found = vm.objectAttribute(name);
  return found === undefined ? undefined : bind(vm, found, o, cls);
}

/** a property or __getattr__ that raises AttributeError means: no such attribute */
function catchMissing(vm: Interp, f: () => Value, missing?: (e: PyError) => void): Value | undefined {
  try {
    return f();
  } catch (e) {
    if (!(e instanceof PyError) || !e.value.cls.isSubclassOf(vm.exceptionClass("AttributeError"))) throw e;
    missing?.(e);
    return undefined;
  }
}

function propertyValue(
  vm: Interp,
  p: PyProperty,
  o: Value,
  name: string,
  missing?: (e: PyError) => void,
): Value | undefined {
  if (p.fget === null) vm.raise("AttributeError", `property '${name}' has no getter`);
  // a library property that raises AttributeError still lets __getattr__ answer
  const fallback = vm.typeOf(o).lookup("__getattr__");
  if (fallback === undefined) return vm.call(p.fget, [o]);
  // null is None here, an answer like others
  const value = catchMissing(vm, () => vm.call(p.fget, [o]));
  if (value !== undefined) return value;
  return catchMissing(vm, () => vm.call(bind(vm, fallback, o, vm.typeOf(o)), [name]), missing);
}

/** what a class attribute becomes when it is read through an instance */
export function bind(vm: Interp, found: Value, self: Value, cls: PyClass): Value {
  if (found instanceof PyFunction) return new PyMethod(vm.types.method, found, self);
  if (found instanceof PyBuiltin) return found.method ? new PyMethod(vm.types.method, found, self) : found;
  if (found instanceof PyStaticMethod) return found.func;
  if (found instanceof PyClassMethod) return new PyMethod(vm.types.method, found.func, cls);
  if (found instanceof PyProperty) return vm.call(found.fget, [self]);
  if (found instanceof PyObject && !(found instanceof PyClass)) {
    const get = found.cls.lookup("__get__");
    if (get !== undefined) return vm.call(bind(vm, get, found, found.cls), [self, cls]);
  }
  return found;
}

/** modules that make their names when they are asked for, by the dictionaries that were handed out */
const modules = new WeakMap<PyDict, PyModule>();

/** torch.__dict__["relu"]: a name that the module has not made yet */
export function itemOfModule(vm: Interp, dict: PyDict, name: string): Value | undefined {
  const m = modules.get(dict);
  return m === undefined ? undefined : moduleAttribute(vm, m, name);
}

function moduleAttribute(vm: Interp, m: PyModule, name: string): Value | undefined {
  const own = m.dict.get(name);
  if (own !== undefined) return own;
  const lazy = unrecorded(() => {
    const v = m.lazy?.(name);
    if (v !== undefined) m.dict.set(name, v);
    return v;
  });
  if (lazy !== undefined) return lazy;
  if (name === "__dict__") {
    if (m.lazy) modules.set(m.dict, m);
    return m.dict;
  }
  if (name === "__name__") return m.name;
  if (name === "__file__") return m.file ?? `${m.name}.py`;
  if (name === "__class__") return vm.types.module;
  const fallback = m.dict.get("__getattr__");
  const starred = fallback === undefined ? starName(vm, m.dict, name, true) : undefined;
  if (starred !== undefined) return starred;
  return fallback === undefined ? undefined : vm.call(fallback, [name]);
}

function superAttribute(vm: Interp, s: PySuper, name: string): Value | undefined {
  if (name === "__class__") return vm.types.super;
  const found = s.selfClass.lookupAfter(s.after, name);
  if (found === undefined) {
    const ofObject = inherited(vm, name, s.self, s.selfClass);
    if (ofObject !== undefined) return ofObject;
    const fallback = s.self instanceof PyClass ? undefined : s.selfClass.lookupAfter(s.after, "__getattr__");
    return fallback === undefined ? undefined : vm.call(bind(vm, fallback, s.self, s.selfClass), [name]);
  }
  // a class that stands for itself, not as an object of its metaclass
  if (s.self instanceof PyClass && s.self === s.selfClass) return bindToClass(vm, found, s.self);
  return bind(vm, found, s.self, s.selfClass);
}

function bindToClass(vm: Interp, found: Value, cls: PyClass): Value {
  if (found instanceof PyStaticMethod) return found.func;
  if (found instanceof PyClassMethod) return new PyMethod(vm.types.method, found.func, cls);
  if (found instanceof PyInstance) {
    const get = found.cls.lookup("__get__");
    if (get !== undefined) return vm.call(bind(vm, get, found, found.cls), [null, cls]);
  }
  return found;
}

function classAttribute(vm: Interp, c: PyClass, name: string): Value | undefined {
  const meta = c.cls === c ? undefined : c.cls.lookup(name);
  if (meta instanceof PyProperty) return vm.call(meta.fget, [c]);
  switch (name) {
    case "__name__":
      return c.name;
    case "__qualname__":
      return c.qualname;
    case "__mro__":
      return vm.tuple(c.mro);
    case "__bases__":
      return vm.tuple(c.bases);
    case "__base__":
      return c.bases[0] ?? null;
    case "__class__":
      return c.cls;
    case "__dict__":
      return c.dict;
    case "__module__":
      return c.dict.get("__module__") ?? c.module;
    case "__doc__":
      return c.dict.get("__doc__") ?? null;
    case "__annotations__": {
      const own = c.dict.get("__annotations__");
      if (own !== undefined) return own;
      return vm.dict();
    }
    default:
  }
  const found = c.lookup(name);
  if (found !== undefined) return bindToClass(vm, found, c);
  const own = name.startsWith("__") ? vm.objectAttribute(name) : undefined;
  if (own !== undefined) return own;
  if (meta !== undefined) return bind(vm, meta, c, c.cls);
  if (name === "mro") return vm.builtin("mro", () => vm.list(c.mro));
  if (name === "__subclasses__") return vm.builtin("__subclasses__", () => vm.list([]));
  const fallback = c.cls === c ? undefined : c.cls.lookup("__getattr__");
  if (fallback !== undefined) return vm.call(bind(vm, fallback, c, c.cls), [name]);
  return undefined;
}

function specialAttribute(vm: Interp, o: Value, cls: PyClass, name: string): Value | undefined {
  if (name === "__class__") return cls;
  if (name === "__dict__" && o instanceof PyInstance) {
    o.attrs ??= vm.dict();
    return o.attrs;
  }
  // values of built-in types have none; functions have their own
  if (name === "__module__" && cls.module !== "builtins") return cls.dict.get("__module__") ?? cls.module;
  if (name === "__doc__") return cls.lookup("__doc__") ?? null;
  if (o instanceof PyFunction) return functionAttribute(vm, o, name);
  if (o instanceof PyMethod) {
    if (name === "__self__") return o.self;
    if (name === "__func__") return o.func;
    return getAttribute(vm, o.func, name);
  }
  if (o instanceof PyBuiltin) {
    if (name === "__name__" || name === "__qualname__") return o.name;
    if (name === "__module__") return o.module ?? "builtins";
    if (name === "__self__" || name === "__wrapped__") return undefined;
  }
  if (o instanceof PyProperty) {
    if (name === "fget") return o.fget;
    if (name === "fset") return o.fset;
    if (name === "setter") return vm.builtin("setter", ([f]) => new PyProperty(o.cls, o.fget, f ?? null, o.fdel));
    if (name === "getter") return vm.builtin("getter", ([f]) => new PyProperty(o.cls, f ?? null, o.fset, o.fdel));
    if (name === "deleter") return vm.builtin("deleter", ([f]) => new PyProperty(o.cls, o.fget, o.fset, f ?? null));
  }
  if ((o instanceof PyStaticMethod || o instanceof PyClassMethod) && name === "__func__") return o.func;
  return undefined;
}

function functionAttribute(vm: Interp, f: PyFunction, name: string): Value | undefined {
  switch (name) {
    case "__name__":
      return f.name;
    case "__qualname__":
      return f.qualname;
    case "__module__":
      return f.module?.name ?? "__main__";
    case "__doc__":
      return f.code.docstring;
    case "__defaults__":
      return f.defaults.length > 0 ? vm.tuple(f.defaults) : null;
    case "__kwdefaults__":
      return f.kwDefaults.size > 0 ? vm.dict([...f.kwDefaults]) : null;
    case "__globals__":
      return f.globals;
    case "__closure__":
      return f.closure.length > 0 ? vm.tuple(f.closure) : null;
    case "__dict__":
      f.attrs ??= vm.dict();
      return f.attrs;
    case "__annotations__": {
      const out = vm.dict();
      const sig = f.code.signature;
      for (const a of [...(sig?.posonlyargs ?? []), ...(sig?.args ?? []), ...(sig?.kwonlyargs ?? [])]) {
        if (a.annotation) out.set(a.arg, "");
      }
      return out;
    }
    case "__code__": {
      const code = new PyInstance(vm.types.code);
      code.attrs = vm.dict([
        ["co_name", f.code.name],
        ["co_argcount", f.code.argCount],
        ["co_varnames", vm.tuple(f.code.varnames)],
        ["co_filename", f.code.file.name],
        ["co_firstlineno", f.code.firstLine],
      ]);
      return code;
    }
    case "__get__":
      return vm.builtin("__get__", ([self, cls]) =>
        self === null || self === undefined ? f : bind(vm, f, self, cls instanceof PyClass ? cls : vm.typeOf(self)),
      );
    default:
      return undefined;
  }
}

export function setAttribute(vm: Interp, o: Value, name: string, v: Value): void {
  for (const g of vm.guests) if (g.setattr?.(o, name, v)) return;
  if (o instanceof PyModule) {
    o.dict.set(name, v);
    return;
  }
  if (o instanceof PyClass) {
    const meta = o.cls === o ? undefined : o.cls.lookup("__setattr__");
    if (meta instanceof PyFunction) {
      vm.call(bind(vm, meta, o, o.cls), [name, v]);
      return;
    }
    if (name === "__name__" && typeof v === "string") o.name = v;
    else if (name === "__qualname__" && typeof v === "string") o.qualname = v;
    else o.dict.set(name, v);
    return;
  }
  if (o instanceof PyUnknown) return;
  const cls = vm.typeOf(o);
  const setter = cls.lookup("__setattr__");
  if (setter !== undefined) {
    vm.call(bind(vm, setter, o, cls), [name, v]);
    return;
  }
  plainSetAttribute(vm, o, name, v);
}

/** object.__setattr__ */
export function plainSetAttribute(vm: Interp, o: Value, name: string, v: Value): void {
  const cls = vm.typeOf(o);
  const found = cls.lookup(name);
  if (found instanceof PyProperty) {
    if (found.fset === null) {
      vm.raise("AttributeError", `property '${name}' of '${cls.name}' object has no setter`);
    }
    vm.call(found.fset, [o, v]);
    return;
  }
  if (found instanceof PyInstance) {
    const set = found.cls.lookup("__set__");
    if (set !== undefined) {
      vm.call(bind(vm, set, found, found.cls), [o, v]);
      return;
    }
  }
  if (o instanceof PyFunction && typeof v === "string") {
    if (name === "__name__") o.name = v;
    if (name === "__qualname__") o.qualname = v;
  }
  if (!(o instanceof PyObject) || o instanceof PyBuiltin) {
    vm.raise("AttributeError", `'${cls.name}' object has no attribute '${name}'`);
  }
  if (o instanceof PyClass) {
    o.dict.set(name, v);
    return;
  }
  if (name === "__class__" && v instanceof PyClass) {
    o.cls = v;
    return;
  }
  if (name === "__dict__" && v instanceof PyDict) {
    o.attrs = v;
    return;
  }
  o.attrs ??= vm.dict();
  o.attrs.set(name, v);
}

export function deleteAttribute(vm: Interp, o: Value, name: string): void {
  if (o instanceof PyUnknown) return;
  if (o instanceof PyClass) {
    if (!o.dict.deleteKey(name)) vm.raise("AttributeError", `type object '${o.name}' has no attribute '${name}'`);
    return;
  }
  const cls = vm.typeOf(o);
  const custom = cls.lookup("__delattr__");
  if (custom !== undefined) {
    vm.call(bind(vm, custom, o, cls), [name]);
    return;
  }
  plainDeleteAttribute(vm, o, name);
}

export function plainDeleteAttribute(vm: Interp, o: Value, name: string): void {
  const found = vm.typeOf(o).lookup(name);
  if (found instanceof PyProperty && found.fdel !== null) {
    vm.call(found.fdel, [o]);
    return;
  }
  if (!(o instanceof PyObject && o.attrs?.deleteKey(name))) {
    vm.raise("AttributeError", `'${vm.typeOf(o).name}' object has no attribute '${name}'`);
  }
}
