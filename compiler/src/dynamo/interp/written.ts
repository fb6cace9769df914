// Values as text: repr, str and format, with the methods that classes define for them.
import {
  PyBuiltin,
  PyInstance,
  PyMethod,
  PyModule,
  PyNamed,
  PyObject,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import type { Interp } from "./api";
import { bind } from "./attributes";
import { PyFunction } from "./frame";
import { plain } from "./operators";
import { formatValue, plainRepr } from "./text";

export function repr(vm: Interp, v: Value): string {
  for (const g of vm.guests) {
    const t = g.repr?.(v, false);
    if (t !== undefined) return t;
  }
  if (v instanceof PyObject) {
    const own = v.cls.lookup("__repr__");
    if (own !== undefined) return String(vm.call(bind(vm, own, v, v.cls), []));
  }
  const text = plainRepr(vm, v);
  if (text !== undefined) return text;
  if (v instanceof PyNamed) return v.text;
  if (v instanceof PyFunction) return `<function ${v.qualname} at 0x7f0000000000>`;
  if (v instanceof PyBuiltin) return `<built-in function ${v.name}>`;
  if (v instanceof PyMethod) return `<bound method ${nameOf(vm, v.func)} of ${vm.repr(v.self)}>`;
  if (v instanceof PyModule) return `<module '${v.name}'>`;
  if (v instanceof PyUnknown) return `<unknown ${v.what}>`;
  const cls = vm.typeOf(v);
  if (cls.isSubclassOf(vm.types.exception) && v instanceof PyObject) {
    const args = v.attrs?.get("args");
    return `${cls.name}(${args instanceof PyTuple ? args.items.map(a => vm.repr(a)).join(", ") : ""})`;
  }
  return `<${cls.module === "builtins" ? "__main__" : cls.module}.${cls.qualname} object at 0x7f0000000000>`;
}
function nameOf(_vm: Interp, f: Value): string {
  if (f instanceof PyFunction) return f.qualname;
  return f instanceof PyBuiltin ? f.name : "?";
}
export function str(vm: Interp, v: Value): string {
  if (typeof v === "string") return v;
  for (const g of vm.guests) {
    const t = g.repr?.(v, true);
    if (t !== undefined) return t;
  }
  if (v instanceof PyObject) {
    const own = v.cls.lookup("__str__");
    if (own !== undefined) return String(plain(vm.call(bind(vm, own, v, v.cls), [])));
    if (v instanceof PyInstance && typeof v.payload === "string" && v.cls.lookup("__repr__") === undefined) {
      return v.payload;
    }
    if (v.cls.isSubclassOf(vm.types.exception)) {
      const args = v.attrs?.get("args");
      if (args instanceof PyTuple) {
        const only = args.items[0];
        if (args.items.length === 1 && only !== undefined) {
          return v.cls.name === "KeyError" ? vm.repr(only) : vm.str(only);
        }
        return args.items.length === 0 ? "" : vm.repr(args);
      }
    }
  }
  return vm.repr(v);
}
export function format(vm: Interp, v: Value, spec: string): string {
  for (const g of vm.guests) {
    const t = g.format?.(v, spec);
    if (t !== undefined) return t;
  }
  if (v instanceof PyObject) {
    const own = v.cls.lookup("__format__");
    if (own !== undefined) return vm.str(vm.call(bind(vm, own, v, v.cls), [spec]));
  }
  const text = formatValue(vm, plain(v), spec);
  if (text !== undefined) return text;
  if (spec === "") return vm.str(v);
  if (v instanceof PyUnknown) return vm.str(v);
  return vm.raise("TypeError", `unsupported format string passed to ${vm.typeOf(v).name}.__format__`);
}
