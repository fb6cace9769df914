// Subscripts: reading, writing and deleting items, with the methods that classes define for them.
import { PyClass, PyClassMethod, PyNamed, PyObject, PyUnknown, type Value } from "../objects/values";
import type { Interp } from "./api";
import { bind } from "./attributes";
import { deleteItem, getItem, setItem } from "./containers";
import { PyFunction } from "./frame";
import { plain, special } from "./operators";

export function getitem(vm: Interp, o: Value, key: Value): Value {
  const v = itemOf(vm, o, key);
  return vm.observer?.loadedItem ? vm.observer.loadedItem(o, key, v) : v;
}
function itemOf(vm: Interp, o: Value, key: Value): Value {
  for (const g of vm.guests) {
    const v = g.getitem?.(o, key);
    if (v !== undefined) return v;
  }
  if (o instanceof PyObject && o.cls.lookup("__getitem__") instanceof PyFunction) {
    return vm.call(bind(vm, o.cls.lookup("__getitem__") as Value, o, o.cls), [key]);
  }
  const item = getItem(vm, o, key);
  if (item !== undefined) return item;
  if (o instanceof PyClass) return classItem(vm, o, key);
  const method = special(vm, o, "__getitem__");
  if (method !== undefined) return vm.call(method, [key]);
  if (plain(o) !== o) return vm.getitem(plain(o), key);
  if (o instanceof PyUnknown) return vm.unknown(`${o.what}[...]`);
  if (o instanceof PyNamed) return o; // Optional[...] and the like
  return vm.raise("TypeError", `'${vm.typeOf(o).name}' object is not subscriptable`);
}
function classItem(vm: Interp, c: PyClass, key: Value): Value {
  const meta = c.cls === c ? undefined : c.cls.lookup("__getitem__");
  if (meta !== undefined) return vm.call(bind(vm, meta, c, c.cls), [key]);
  const own = c.lookup("__class_getitem__");
  if (own instanceof PyClassMethod) return vm.call(own.func, [c, key]);
  return c; // list[int] is list, for every purpose here
}
export function setitem(vm: Interp, o: Value, key: Value, v: Value): void {
  vm.observer?.mutated?.(o);
  for (const g of vm.guests) if (g.setitem?.(o, key, v)) return;
  if (o instanceof PyObject) {
    const own = o.cls.lookup("__setitem__");
    if (own instanceof PyFunction) {
      vm.call(bind(vm, own, o, o.cls), [key, v]);
      return;
    }
  }
  if (setItem(vm, o, key, v) || o instanceof PyUnknown) return;
  const method = special(vm, o, "__setitem__");
  if (method === undefined) {
    vm.raise("TypeError", `'${vm.typeOf(o).name}' object does not support item assignment`);
  }
  vm.call(method, [key, v]);
}
export function delitem(vm: Interp, o: Value, key: Value): void {
  vm.observer?.mutated?.(o);
  const method = o instanceof PyObject ? o.cls.lookup("__delitem__") : undefined;
  if (method instanceof PyFunction && o instanceof PyObject) {
    vm.call(bind(vm, method, o, o.cls), [key]);
    return;
  }
  if (deleteItem(vm, o, key) || o instanceof PyUnknown) return;
  const own = special(vm, o, "__delitem__");
  if (own === undefined) vm.raise("TypeError", `'${vm.typeOf(o).name}' object doesn't support item deletion`);
  vm.call(own, [key]);
}
