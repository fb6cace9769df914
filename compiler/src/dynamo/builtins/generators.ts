// The methods of generators. In: the machine. Out: its generator class, filled.
import { PyError } from "../interp/api";
import { PyGenerator } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { PyClass, PyInstance, type Value } from "../objects/values";
import { method } from "./define";

export function installGenerators(vm: Machine): void {
  const cls = vm.types.generator;
  const self = (v: Value | undefined): PyGenerator =>
    v instanceof PyGenerator ? v : vm.raise("TypeError", "a generator is needed");
  const result = (g: PyGenerator, v: Value | undefined): Value => {
    if (v !== undefined) return v;
    const e = vm.makeError("StopIteration", g.returned === null ? [] : [g.returned]);
    throw e;
  };
  method(vm, cls, "__next__", ([g]) => result(self(g), vm.resume(self(g), null)));
  method(vm, cls, "send", ([g, v]) => result(self(g), vm.resume(self(g), v ?? null)));
  method(vm, cls, "throw", ([g, e]) => {
    const value = e instanceof PyClass ? vm.call(e, []) : (e ?? null);
    const error = vm.makeError("RuntimeError", []);
    const thrown: PyError = value instanceof PyInstance ? Object.assign(error, { value }) : error;
    return result(self(g), vm.resume(self(g), null, thrown));
  });
  method(vm, cls, "close", ([g]) => {
    const generator = self(g);
    if (generator.state !== "suspended") {
      generator.state = "done";
      return null;
    }
    try {
      if (vm.resume(generator, null, vm.makeError("GeneratorExit", [])) === undefined) return null;
    } catch (e) {
      if (e instanceof PyError && /^(GeneratorExit|StopIteration)$/.test(e.value.cls.name)) return null;
      throw e;
    }
    return vm.raise("RuntimeError", "generator ignored GeneratorExit");
  });
  method(vm, cls, "__iter__", ([g]) => g ?? null);
  cls.dict.deleteKey("__iter__");
}
