// Instructions that read, write and delete names and attributes: locals, cells, globals, class bodies.
import type { OpName } from "../../code/instructions";
import { PyCell, PyDict, type Value } from "../../objects/values";
import type { Interp } from "../api";
import type { Frame } from "../frame";
import { starName } from "../star_imports";
import { type Handler, nameOf, peek, pop, push } from "./stack";

/** cells: own ones count from 0, those of the closure are written as ~index */
function cell(f: Frame, arg: number): PyCell {
  const c = f.cells[arg >= 0 ? arg : f.code.cellNames.length + ~arg];
  if (!c) throw new Error("no such cell");
  return c;
}

function unbound(vm: Interp, name: string): never {
  return vm.raise(
    "UnboundLocalError",
    `cannot access local variable '${name}' where it is not associated with a value`,
  );
}

function global(vm: Interp, f: Frame, name: string): Value {
  // a global that is None is null here, so `??` would look past it
  const own = f.globals.get(name);
  if (own !== undefined) return own;
  const v = vm.builtins.get(name) ?? starName(vm, f.globals, name, false);
  if (v === undefined) return vm.raise("NameError", `name '${name}' is not defined`);
  return v;
}

function storeLocal(vm: Interp, f: Frame, slot: number, v: Value): void {
  f.locals[slot] = v;
  if (!f.storeOrder.includes(slot)) f.storeOrder.push(slot);
  vm.observer?.stored?.(f.code.varnames[slot] ?? "", v, f);
}

export const NAMES = {
  LOAD_CONST: (vm, f, i) => {
    const c = i.data as Value | { readonly type: "bytes"; readonly value: Uint8Array } | { readonly type: "Ellipsis" };
    if (typeof c === "object" && c !== null && "type" in c) {
      return push(f, c.type === "bytes" ? vm.bytes((c as { value: Uint8Array }).value) : vm.ellipsis);
    }
    return push(f, c as Value);
  },
  LOAD_FAST: (vm, f, i) => {
    const v = f.locals[i.arg];
    if (v === undefined) return unbound(vm, nameOf(i));
    return push(f, vm.observer?.loadedLocal ? vm.observer.loadedLocal(nameOf(i), v, f) : v);
  },
  STORE_FAST: (vm, f, i) => {
    storeLocal(vm, f, i.arg, pop(f));
    return undefined;
  },
  DELETE_FAST: (vm, f, i) => {
    if (f.locals[i.arg] === undefined) unbound(vm, nameOf(i));
    f.locals[i.arg] = undefined;
    return undefined;
  },
  LOAD_DEREF: (vm, f, i) => {
    const v = cell(f, i.arg).value;
    if (v === undefined) {
      return vm.raise(
        "NameError",
        `cannot access free variable '${nameOf(i)}' where it is not associated with a value in enclosing scope`,
      );
    }
    return push(f, vm.observer?.loadedDeref ? vm.observer.loadedDeref(nameOf(i), v, f) : v);
  },
  STORE_DEREF: (vm, f, i) => {
    const v = pop(f);
    cell(f, i.arg).value = v;
    vm.observer?.stored?.(nameOf(i), v, f);
    return undefined;
  },
  DELETE_DEREF: (_vm, f, i) => {
    cell(f, i.arg).value = undefined;
    return undefined;
  },
  LOAD_CLOSURE: (_vm, f, i) => push(f, cell(f, i.arg)),
  NEW_CELL: (vm, f, i) => {
    f.cells[i.arg] = new PyCell(vm.types.cell);
    return undefined;
  },
  LOAD_GLOBAL: (vm, f, i) => {
    const v = global(vm, f, nameOf(i));
    return push(f, vm.observer?.loadedGlobal ? vm.observer.loadedGlobal(nameOf(i), v, f) : v);
  },
  STORE_GLOBAL: (vm, f, i) => {
    const v = pop(f);
    vm.observer?.mutated?.(f.globals);
    f.globals.set(nameOf(i), v);
    return undefined;
  },
  DELETE_GLOBAL: (vm, f, i) => {
    if (!f.globals.deleteKey(nameOf(i))) vm.raise("NameError", `name '${nameOf(i)}' is not defined`);
    return undefined;
  },
  LOAD_NAME: (vm, f, i) => {
    const own = f.names?.get(nameOf(i));
    if (own !== undefined) return push(f, own);
    const v = global(vm, f, nameOf(i));
    return push(f, vm.observer?.loadedGlobal ? vm.observer.loadedGlobal(nameOf(i), v, f) : v);
  },
  STORE_NAME: (vm, f, i) => {
    const v = pop(f);
    const names = f.names ?? f.globals;
    // a namespace prepared by a metaclass may want to see stores (enum)
    if (names.cls === vm.types.dict) names.set(nameOf(i), v);
    else vm.setitem(names, nameOf(i), v);
    return undefined;
  },
  DELETE_NAME: (vm, f, i) => {
    if (!(f.names ?? f.globals).deleteKey(nameOf(i))) vm.raise("NameError", `name '${nameOf(i)}' is not defined`);
    return undefined;
  },
  LOAD_CLASSDEREF: (vm, f, i) => {
    const own = f.names?.get(nameOf(i)) ?? cell(f, i.arg).value;
    return push(f, own ?? global(vm, f, nameOf(i)));
  },
  LOAD_ATTR: (vm, f, i) => {
    const o = peek(f, 1);
    const v = vm.getattr(o, nameOf(i));
    f.stack[f.stack.length - 1] = v;
    return undefined;
  },
  STORE_ATTR: (vm, f, i) => {
    const o = peek(f, 1);
    vm.setattr(o, nameOf(i), peek(f, 2));
    f.stack.length -= 2;
    return undefined;
  },
  DELETE_ATTR: (vm, f, i) => {
    vm.delattr(pop(f), nameOf(i));
    return undefined;
  },
  STORE_ANNOTATION: (vm, f, i) => {
    const { name, text } = i.data as { name: string; text: string };
    const names = f.names ?? f.globals;
    let annotations = names.get("__annotations__");
    if (!(annotations instanceof PyDict)) {
      annotations = vm.dict();
      names.set("__annotations__", annotations);
    }
    (annotations as PyDict).set(name, text);
    return undefined;
  },
} satisfies Partial<Record<OpName, Handler>>;
