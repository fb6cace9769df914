// What a value says of itself: truth, length, index, hash, and whether it is of a class.
import {
  type Key,
  keyOf,
  PyClass,
  PyComplex,
  PyInstance,
  PyObject,
  PyRange,
  PyStaticMethod,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import type { Interp } from "./api";
import { bind } from "./attributes";
import { plainLength } from "./containers";
import { PyFunction } from "./frame";
import { asFloat, asInt, fitsSize, type Int } from "./numbers";
import { plain, special } from "./operators";

/** of a length that no size holds */
export const TOO_LARGE = "Python int too large to convert to C ssize_t";

export function truthy(vm: Interp, v: Value): boolean {
  if (typeof v === "boolean") return v;
  if (v === null) return false;
  if (typeof v === "number" || typeof v === "bigint") return v !== 0 && v !== 0n;
  if (typeof v === "string") return v !== "";
  for (const g of vm.guests) {
    const t = g.truth?.(v);
    if (t !== undefined) return t;
  }
  const f = asFloat(v);
  if (f !== undefined) return f !== 0;
  if (v instanceof PyComplex) return v.re !== 0 || v.im !== 0;
  const own = special(vm, v, "__bool__");
  if (own !== undefined) return vm.truthy(vm.call(own, []));
  if (v instanceof PyObject) {
    const len = v.cls.lookup("__len__");
    if (len instanceof PyFunction) return vm.truthy(vm.call(bind(vm, len, v, v.cls), []));
  }
  const n = plainLength(v);
  if (n !== undefined) return n > 0;
  if (plain(v) !== v) return vm.truthy(plain(v));
  const len = special(vm, v, "__len__");
  return len === undefined ? true : vm.truthy(vm.call(len, []));
}
export function length(vm: Interp, v: Value): Value {
  for (const g of vm.guests) {
    const n = g.length?.(v);
    if (n !== undefined) return n;
  }
  if (v instanceof PyObject) {
    const own = v.cls.lookup("__len__");
    if (own instanceof PyFunction) return vm.call(bind(vm, own, v, v.cls), []);
  }
  if (v instanceof PyRange) return fitsSize(v.count) ? v.count : vm.raise("OverflowError", TOO_LARGE);
  const n = plainLength(v);
  if (n !== undefined) return n;
  const own = special(vm, v, "__len__");
  if (own !== undefined) return vm.call(own, []);
  if (plain(v) !== v) return vm.length(plain(v));
  if (v instanceof PyUnknown) return vm.unknown(`len(${v.what})`);
  return vm.raise("TypeError", `object of type '${vm.typeOf(v).name}' has no len()`);
}
/** an integer that is a size or a position; one that no memory holds raises OverflowError, as a position IndexError */
export function index(vm: Interp, v: Value, what = "an integer"): number {
  const i = integer(vm, v, what);
  if (!fitsSize(i)) {
    const error = what.endsWith("indices") ? "IndexError" : "OverflowError";
    vm.raise(error, "cannot fit 'int' into an index-sized integer");
  }
  return Number(i);
}
/** an integer of any size */
export function integer(vm: Interp, v: Value, what = "an integer"): Int {
  const i = asInt(v);
  if (i !== undefined) return i;
  for (const g of vm.guests) {
    const n = g.index?.(v);
    if (n !== undefined) return n;
  }
  const p = plain(v);
  if (p !== v) return vm.integer(p, what);
  const own = special(vm, v, "__index__");
  if (own !== undefined) return vm.integer(vm.call(own, []), what);
  return vm.raise(
    "TypeError",
    what.endsWith("indices")
      ? `${what} must be integers or slices, not ${vm.typeOf(v).name}`
      : `'${vm.typeOf(v).name}' object cannot be interpreted as an integer`,
  );
}
export function hash(vm: Interp, v: Value): Key {
  for (const g of vm.guests) {
    const k = g.hash?.(v);
    if (k !== undefined) return k;
  }
  if (v instanceof PyInstance && v.hashKey === undefined) {
    const own = v.cls.lookup("__hash__");
    if (own instanceof PyFunction) v.hashKey = `\u0000h${String(keyOf(vm.call(own, [v])))}:${v.cls.name}`;
    else if (v.payload !== undefined) return vm.hash(v.payload);
    else if (own === null) vm.raise("TypeError", `unhashable type: '${v.cls.name}'`);
    else return v;
  }
  if (v instanceof PyTuple) {
    vm.charge(v.items.length >> 3);
    for (const x of v.items) if (x instanceof PyInstance) vm.hash(x);
  }
  const k = keyOf(v);
  if (k === undefined) vm.raise("TypeError", `unhashable type: '${vm.typeOf(v).name}'`);
  return k;
}

/** says of an object that stands in for others which classes those are of */
export const STANDS_FOR = "__fuselens_stands_for__";

export function isInstance(vm: Interp, v: Value, cls: Value): boolean {
  vm.touch(v);
  if (cls instanceof PyTuple) return cls.items.some(c => vm.isInstance(v, c));
  if (cls instanceof PyUnknown) return v instanceof PyUnknown && v.what.startsWith(cls.what);
  if (cls === null) return v === null;
  if (!(cls instanceof PyClass)) {
    const check = special(vm, cls, "__instancecheck__");
    if (check !== undefined) return vm.truthy(vm.call(check, [v]));
    return vm.raise("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union");
  }
  if (cls.cls !== cls && cls.cls !== vm.types.type) {
    const check = cls.cls.lookup("__instancecheck__");
    if (check !== undefined) return vm.truthy(vm.call(bind(vm, check, cls, cls.cls), [v]));
  }
  const native = cls.dict.get("__instancecheck__");
  if (native instanceof PyStaticMethod) return vm.truthy(vm.call(native.func, [v]));
  if (vm.typeOf(v).isSubclassOf(cls)) return true;
  const stands = v instanceof PyInstance ? v.cls.dict.get(STANDS_FOR) : undefined;
  return stands !== undefined && vm.call(stands, [cls]) === true;
}
