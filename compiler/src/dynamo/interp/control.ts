// with and raise. In: the context manager or exception as written. Out: what the statement leaves on the stack, or the
// raised error.
import { PyClass, PyInstance, PyUnknown, type Value } from "../objects/values";
import { type Interp, PyError, raisedAgain } from "./api";
import type { Frame } from "./frame";
import { special } from "./operators";

export function enterContext(vm: Interp, manager: Value): { exit: Value; entered: Value } {
  if (manager instanceof PyUnknown) {
    return { exit: vm.builtin("__exit__", () => null), entered: vm.unknown(`${manager.what} as ...`) };
  }
  const enter = special(vm, manager, "__enter__");
  const exit = special(vm, manager, "__exit__");
  if (enter === undefined || exit === undefined) {
    return vm.raise("TypeError", `'${vm.typeOf(manager).name}' object does not support the context manager protocol`);
  }
  return { exit, entered: vm.call(enter, []) };
}

export function exitContext(vm: Interp, exit: Value, exc: Value): boolean {
  const args: Value[] = exc === null ? [null, null, null] : [vm.typeOf(exc), exc, null];
  const r = vm.call(exit, args);
  return exc !== null && vm.truthy(r);
}

export function raiseStatement(vm: Interp, f: Frame, parts: readonly Value[]): never {
  const [exc, cause] = parts;
  if (exc === undefined) {
    for (let k = vm.frames.length - 1; k >= 0; k--) {
      const handled = vm.frames[k]?.handling;
      const current = handled?.[handled.length - 1];
      if (current && vm.frames[k] === f) throw raisedAgain(current, f);
      if (current) throw new PyError(current);
      if (vm.frames[k] !== f) break;
    }
    return vm.raise("RuntimeError", "No active exception to reraise");
  }
  const value = exc instanceof PyClass ? vm.call(exc, []) : exc;
  if (!(value instanceof PyInstance) || !value.cls.isSubclassOf(vm.types.exception)) {
    if (value instanceof PyUnknown) throw vm.makeError("Exception", [value.what]);
    return vm.raise("TypeError", "exceptions must derive from BaseException");
  }
  value.attrs ??= vm.dict();
  if (cause !== undefined) value.attrs.set("__cause__", cause);
  const handled = f.handling[f.handling.length - 1];
  if (handled && handled !== value) value.attrs.set("__context__", handled);
  throw new PyError(value);
}
