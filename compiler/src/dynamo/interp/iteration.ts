// Iteration: iterators over every kind of value, next, and lists of what an iterator gives.
import { record, recording } from "../objects/journal";
import {
  PyBuiltin,
  PyBytes,
  PyClass,
  PyDict,
  PyInstance,
  PyIterator,
  PyList,
  PyObject,
  PyRange,
  PySet,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import { type Interp, MAX_ELEMENTS, PyError } from "./api";
import { bind } from "./attributes";
import { PyFunction, PyGenerator } from "./frame";
import { TOO_LARGE } from "./measures";
import { fitsSize } from "./numbers";
import { plain, special } from "./operators";

export function iterate(vm: Interp, v: Value): PyIterator {
  for (const g of vm.guests) {
    const it = g.iterate?.(v);
    if (it) return it;
  }
  if (v instanceof PyIterator) return v;
  if (v instanceof PyGenerator) return vm.iterator(() => vm.resume(v, null), "generator");
  if (v instanceof PyObject) {
    const own = v.cls.lookup("__iter__");
    if (own instanceof PyFunction || own instanceof PyBuiltin) {
      const made = vm.call(bind(vm, own, v, v.cls), []);
      // an iterator may be its own: asking it again would not end
      const step = made instanceof PyInstance ? special(vm, made, "__next__") : undefined;
      return step === undefined ? vm.iterate(made) : vm.iterator(() => nextOrEnd(vm, () => vm.call(step, [])));
    }
  }
  let i = 0;
  const next = (): number =>
    advance(
      vm,
      () => i,
      n => {
        i = n;
      },
    );
  if (v instanceof PyList || v instanceof PyTuple) {
    const kind = v instanceof PyList ? "list_iterator" : "tuple_iterator";
    return vm.iterator(() => {
      const at = next();
      const item = v.items[at];
      return item === undefined ? undefined : (vm.observer?.loadedItem?.(v, at, item) ?? item);
    }, kind);
  }
  if (v instanceof PyRange) {
    const n = v.length;
    return vm.iterator(() => (i < n ? v.at(next()) : undefined), "range_iterator");
  }
  if (typeof v === "string") {
    const letters = [...v];
    return vm.iterator(() => letters[i++]);
  }
  if (v instanceof PyDict) {
    const keys = v.keys();
    return vm.iterator(() => keys[i++]);
  }
  if (v instanceof PySet) {
    const items = [...v.entries.values()];
    return vm.iterator(() => items[i++]);
  }
  if (v instanceof PyBytes) return vm.iterator(() => v.data[i++]);
  if (v instanceof PyUnknown) return vm.iterator(() => undefined);
  if (v instanceof PyClass && v.cls !== v) {
    const meta = v.cls.lookup("__iter__");
    if (meta !== undefined) return vm.iterate(vm.call(bind(vm, meta, v, v.cls), []));
  }
  const own = special(vm, v, "__next__");
  if (own !== undefined) return vm.iterator(() => nextOrEnd(vm, () => vm.call(own, [])));
  const get = special(vm, v, "__getitem__");
  if (get !== undefined) {
    return vm.iterator(() => nextOrEnd(vm, () => vm.call(get, [i++]), "IndexError"));
  }
  if (plain(v) !== v) return vm.iterate(plain(v));
  return vm.raise("TypeError", `'${vm.typeOf(v).name}' object is not iterable`);
}
/** an iterator that lived before a trace must be wound back with it */
function advance(_vm: Interp, get: () => number, set: (n: number) => void): number {
  const i = get();
  if (recording()) record(() => set(i));
  set(i + 1);
  return i;
}
function nextOrEnd(vm: Interp, f: () => Value, end = "StopIteration"): Value | undefined {
  try {
    return f();
  } catch (e) {
    if (e instanceof PyError && e.value.cls.isSubclassOf(vm.exceptionClass(end))) return undefined;
    throw e;
  }
}
export function next(vm: Interp, it: Value): Value | undefined {
  if (it instanceof PyIterator) return it.next();
  if (it instanceof PyGenerator) return vm.resume(it, null);
  const own = special(vm, it, "__next__");
  if (own !== undefined) return nextOrEnd(vm, () => vm.call(own, []));
  if (it instanceof PyUnknown) return undefined;
  return vm.raise("TypeError", `'${vm.typeOf(it).name}' object is not an iterator`);
}
export function toArray(vm: Interp, v: Value): Value[] {
  if (v instanceof PyList || v instanceof PyTuple) {
    if (!(v.cls.lookup("__iter__") instanceof PyFunction)) {
      // items of a sourced list are found through it
      if (vm.observer?.loadedItem) return v.items.map((x, i) => vm.observer?.loadedItem?.(v, i, x) ?? x);
      vm.room(v.items.length);
      return [...v.items];
    }
  }
  if (v instanceof PyRange) {
    if (!fitsSize(v.count)) vm.raise("OverflowError", TOO_LARGE);
    vm.room(v.length);
  }
  const it = vm.iterate(v);
  const out: Value[] = [];
  for (let x = it.next(); x !== undefined; x = it.next()) {
    vm.tick();
    if (out.length >= MAX_ELEMENTS) vm.room(out.length + 1);
    out.push(x);
  }
  return out;
}
