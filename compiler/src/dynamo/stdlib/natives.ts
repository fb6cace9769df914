// The native halves of modules whose rest is Python text: collections and copy.
import { func, method, property } from "../builtins/define";
import type { Machine } from "../interp/machine";
import { PyDict, PyInstance, PyList, type PyModule, PyObject, PyTuple, type Value } from "../objects/values";

export function collectionsNatives(vm: Machine, m: PyModule): void {
  const cls = vm.klass("defaultdict", [vm.types.dict], "collections");
  method(vm, cls, "__init__", ([d, factory, ...rest], kw) => {
    if (!(d instanceof PyDict)) return null;
    d.defaultFactory = factory ?? null;
    const init = vm.types.dict.dict.get("__init__");
    return init === undefined ? null : vm.call(init, [d, ...rest], kw);
  });
  property(vm, cls, "default_factory", d => (d instanceof PyDict ? d.defaultFactory : null));
  m.dict.set("defaultdict", cls);
}

export function copyNatives(vm: Machine, m: PyModule): void {
  const like = (v: Value): Value => {
    if (v instanceof PyList) return new PyList(v.cls, []);
    if (v instanceof PyDict) {
      const d = new PyDict(v.cls);
      d.defaultFactory = v.defaultFactory;
      return d;
    }
    if (v instanceof PyInstance) {
      const o = new PyInstance(v.cls);
      o.payload = v.payload;
      return o;
    }
    return v;
  };
  func(vm, m, "_empty_like", ([v]) => like(v ?? null));
  func(vm, m, "_same_kind", ([v, items]) => {
    const made = vm.toArray(items ?? null);
    return v instanceof PyTuple ? new PyTuple(v.cls, made) : vm.tuple(made);
  });
  func(vm, m, "_copy_attributes", ([from, to, memo, copy]) => {
    if (from instanceof PyObject && to instanceof PyObject && from.attrs && from !== to) {
      to.attrs ??= vm.dict();
      for (const [k, key, v] of from.attrs.rawEntries())
        to.attrs.setKey(k, key, vm.call(copy ?? null, [v, memo ?? null]));
    }
    return null;
  });
  func(vm, m, "_shallow", ([v]) => {
    const o = like(v ?? null);
    if (v instanceof PyObject && o instanceof PyObject && v.attrs && o !== v) {
      o.attrs = vm.dict();
      for (const [k, key, x] of v.attrs.rawEntries()) {
        // containers that a module owns are its own after copy(), as Module.__setstate__ leaves them
        o.attrs.setKey(k, key, x);
      }
    }
    return o;
  });
  func(vm, m, "_is_plain_callable", ([v]) => !(v instanceof PyInstance || v instanceof PyDict || v instanceof PyList));
}
