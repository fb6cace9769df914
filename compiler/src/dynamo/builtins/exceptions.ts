// The exception classes of builtins. In: the machine. Out: classes registered by name.
import type { Machine } from "../interp/machine";
import { PyInstance, PyObject, PyTuple, type Value } from "../objects/values";
import { defineNew, method, property } from "./define";

const TREE: readonly (readonly [string, string])[] = [
  ["Exception", "BaseException"],
  ["SystemExit", "BaseException"],
  ["KeyboardInterrupt", "BaseException"],
  ["GeneratorExit", "BaseException"],
  ["StopIteration", "Exception"],
  ["StopAsyncIteration", "Exception"],
  ["ArithmeticError", "Exception"],
  ["ZeroDivisionError", "ArithmeticError"],
  ["OverflowError", "ArithmeticError"],
  ["FloatingPointError", "ArithmeticError"],
  ["AssertionError", "Exception"],
  ["AttributeError", "Exception"],
  ["BufferError", "Exception"],
  ["EOFError", "Exception"],
  ["ImportError", "Exception"],
  ["ModuleNotFoundError", "ImportError"],
  ["LookupError", "Exception"],
  ["IndexError", "LookupError"],
  ["KeyError", "LookupError"],
  ["MemoryError", "Exception"],
  ["NameError", "Exception"],
  ["UnboundLocalError", "NameError"],
  ["OSError", "Exception"],
  ["FileNotFoundError", "OSError"],
  ["FileExistsError", "OSError"],
  ["PermissionError", "OSError"],
  ["TimeoutError", "OSError"],
  ["ReferenceError", "Exception"],
  ["RuntimeError", "Exception"],
  ["NotImplementedError", "RuntimeError"],
  ["RecursionError", "RuntimeError"],
  ["SyntaxError", "Exception"],
  ["SystemError", "Exception"],
  ["TypeError", "Exception"],
  ["ValueError", "Exception"],
  ["UnicodeError", "ValueError"],
  ["UnicodeDecodeError", "UnicodeError"],
  ["UnicodeEncodeError", "UnicodeError"],
  ["Warning", "Exception"],
  ["DeprecationWarning", "Warning"],
  ["FutureWarning", "Warning"],
  ["UserWarning", "Warning"],
  ["RuntimeWarning", "Warning"],
  ["ImportWarning", "Warning"],
];

export function installExceptions(vm: Machine): void {
  const base = vm.types.exception;
  defineNew(vm, base, (cls, args) => {
    const e = new PyInstance(cls);
    e.attrs = vm.dict([["args", vm.tuple(args)]]);
    return e;
  });
  method(vm, base, "__init__", ([self, ...args]) => {
    if (self instanceof PyObject) {
      self.attrs ??= vm.dict();
      self.attrs.set("args", vm.tuple(args));
    }
    return null;
  });
  method(vm, base, "with_traceback", ([self]) => self ?? null);
  method(vm, base, "add_note", () => null);
  for (const name of ["__cause__", "__context__", "__traceback__"]) base.dict.set(name, null);
  vm.registerException(base);
  vm.builtins.set("BaseException", base);
  for (const [name, parent] of TREE) {
    const c = vm.klass(name, [parent === "BaseException" ? base : vm.exceptionClass(parent)]);
    vm.registerException(c);
    vm.builtins.set(name, c);
  }
  vm.builtins.set("IOError", vm.exceptionClass("OSError"));
  vm.builtins.set("EnvironmentError", vm.exceptionClass("OSError"));
  property(vm, vm.exceptionClass("StopIteration"), "value", self => {
    const args = self instanceof PyObject ? self.attrs?.get("args") : undefined;
    return args instanceof PyTuple ? (args.items[0] ?? null) : null;
  });
  const message = (self: Value): Value => vm.str(self);
  property(vm, vm.exceptionClass("ImportError"), "msg", message);
}
