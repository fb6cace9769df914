// A method that is written here, not in Python. In: its class, its name, what it does. Out: the method on the class.
import { type Kwargs, PyBuiltin, type PyClass, type Value } from "../objects/values";
import type { Interp } from "./api";

export type Native = (args: readonly Value[], kwargs: Kwargs) => Value;

/** `fn` gets the receiver as its first argument */
export function method(vm: Interp, cls: PyClass, name: string, fn: Native): void {
  const b = new PyBuiltin(vm.types.builtin, name, fn);
  b.method = true;
  cls.dict.set(name, b);
}
