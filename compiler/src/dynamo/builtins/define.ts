// How native methods and functions are put on classes and modules.
import type { Interp } from "../interp/api";
import { NativeArgs } from "../interp/arguments";
import { method, type Native } from "../interp/native_method";
import {
  type Kwargs,
  PyBuiltin,
  type PyClass,
  type PyDict,
  type PyModule,
  PyProperty,
  PyStaticMethod,
  type Value,
} from "../objects/values";

export { method };

/** methods of a receiver of known kind; `self` is checked by the caller of the method found on the class */
export function methods<T extends Value>(
  vm: Interp,
  cls: PyClass,
  self: (v: Value) => T,
  table: Readonly<Record<string, (self: T, args: readonly Value[], kwargs: Kwargs) => Value>>,
): void {
  for (const [name, fn] of Object.entries(table)) {
    method(vm, cls, name, (args, kwargs) => fn(self(args[0] ?? null), args.slice(1), kwargs));
  }
}

export function property(vm: Interp, cls: PyClass, name: string, get: (self: Value) => Value): void {
  const fget = new PyBuiltin(vm.types.builtin, name, ([self]) => get(self ?? null));
  cls.dict.set(name, new PyProperty(vm.types.property, fget, null, null));
}

/** `__new__` of a class whose instances are made natively */
export function defineNew(
  vm: Interp,
  cls: PyClass,
  make: (cls: PyClass, args: readonly Value[], kwargs: Kwargs) => Value,
): void {
  const fn = new PyBuiltin(vm.types.builtin, "__new__", ([c, ...rest], kwargs) => make(c as PyClass, rest, kwargs));
  cls.dict.set("__new__", new PyStaticMethod(vm.types.staticmethod, fn));
  if (cls.dict.get("__init__") === undefined) method(vm, cls, "__init__", () => null);
}

/** isinstance(value, cls) is what `test` says of the value, whatever the value's class */
export function defineInstances(vm: Interp, cls: PyClass, test: (v: Value) => boolean): void {
  const check = new PyBuiltin(vm.types.builtin, "__instancecheck__", ([v]) => test(v ?? null));
  cls.dict.set("__instancecheck__", new PyStaticMethod(vm.types.staticmethod, check));
}

/** a function with named parameters; see NativeArgs for the form of `names` */
export function native(vm: Interp, name: string, names: readonly string[], fn: (a: NativeArgs) => Value): PyBuiltin {
  return new PyBuiltin(vm.types.builtin, name, (args, kwargs) => fn(new NativeArgs(vm, name, names, args, kwargs)));
}

export function func(vm: Interp, home: PyDict | PyModule, name: string, fn: Native): PyBuiltin {
  const b = new PyBuiltin(vm.types.builtin, name, fn);
  const dict = "dict" in home ? home.dict : home;
  dict.set(name, b);
  return b;
}
