// What each instruction does to its frame. In: machine, frame, instruction. Out: nothing, or how the frame's run ends.
import type { CallSpec } from "../code/compile_expressions";
import type { FunctionSpec, Instruction, OpName } from "../code/instructions";
import {
  PyCell,
  PyClass,
  PyDict,
  type PyInstance,
  PyList,
  PyModule,
  PySlice,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import { type BinaryOperator, type CompareOperator, type Interp, PyError, raisedAgain } from "./api";
import { spread, spreadKeywords } from "./arguments";
import { buildClass } from "./classes";
import { enterContext, exitContext, raiseStatement } from "./control";
import { type Frame, PyFunction, PyGenerator } from "./frame";

/** What handlers need of the machine beyond Interp. */
export interface Runner extends Interp {
  resume(g: PyGenerator, sent: Value, thrown?: PyError): Value | undefined;
  runCode(code: FunctionSpec["code"], globals: PyDict, names: PyDict | null, cells?: PyCell[]): Frame;
}

type Done = { readonly kind: "return" | "yield"; readonly value: Value };
type Handler = (vm: Runner, f: Frame, i: Instruction) => Done | undefined;

function pop(f: Frame): Value {
  const v = f.stack.pop();
  if (v === undefined) throw new Error("stack underflow");
  return v;
}
function popN(f: Frame, n: number): Value[] {
  return n === 0 ? [] : f.stack.splice(f.stack.length - n, n);
}
function peek(f: Frame, n: number): Value {
  const v = f.stack[f.stack.length - n];
  if (v === undefined) throw new Error("stack underflow");
  return v;
}
const push = (f: Frame, v: Value): undefined => {
  f.stack.push(v);
  return undefined;
};
const jump = (f: Frame, i: Instruction): undefined => {
  f.pc = i.arg;
  return undefined;
};
const nameOf = (i: Instruction): string => i.data as string;

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
  const v = own === undefined ? vm.builtins.get(name) : own;
  if (v === undefined) return vm.raise("NameError", `name '${name}' is not defined`);
  return v;
}

function storeLocal(vm: Interp, f: Frame, slot: number, v: Value): void {
  f.locals[slot] = v;
  if (!f.storeOrder.includes(slot)) f.storeOrder.push(slot);
  vm.observer?.stored?.(f.code.varnames[slot] ?? "", v, f);
}

export const handlers: Readonly<Record<OpName, Handler>> = {
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
  BINARY_OP: (vm, f, i) => {
    const r = vm.binary(i.data as BinaryOperator, peek(f, 2), peek(f, 1));
    f.stack.length -= 2;
    return push(f, r);
  },
  INPLACE_OP: (vm, f, i) => {
    const r = vm.binary(i.data as BinaryOperator, peek(f, 2), peek(f, 1), true);
    f.stack.length -= 2;
    return push(f, r);
  },
  UNARY_OP: (vm, f, i) => {
    const r = vm.unary(i.data as "+" | "-" | "~" | "not", peek(f, 1));
    f.stack[f.stack.length - 1] = r;
    return undefined;
  },
  COMPARE_OP: (vm, f, i) => {
    const r = vm.compare(i.data as CompareOperator, peek(f, 2), peek(f, 1));
    f.stack.length -= 2;
    return push(f, r);
  },
  BINARY_SUBSCR: (vm, f) => {
    const r = vm.getitem(peek(f, 2), peek(f, 1));
    f.stack.length -= 2;
    return push(f, r);
  },
  STORE_SUBSCR: (vm, f) => {
    vm.setitem(peek(f, 2), peek(f, 1), peek(f, 3));
    f.stack.length -= 3;
    return undefined;
  },
  DELETE_SUBSCR: (vm, f) => {
    const [o, key] = popN(f, 2) as [Value, Value];
    vm.delitem(o, key);
    return undefined;
  },
  BUILD_SLICE: (vm, f) => {
    const [a, b, c] = popN(f, 3) as [Value, Value, Value];
    return push(f, new PySlice(vm.types.slice, a, b, c));
  },
  BUILD_TUPLE: (vm, f, i) => push(f, vm.tuple(popN(f, i.arg))),
  BUILD_LIST: (vm, f, i) => push(f, vm.list(popN(f, i.arg))),
  BUILD_SET: (vm, f, i) => push(f, vm.set(popN(f, i.arg))),
  BUILD_MAP: (vm, f, i) => {
    const items = popN(f, 2 * i.arg);
    const d = vm.dict();
    for (let k = 0; k < items.length; k += 2) {
      const key = items[k] as Value;
      d.setKey(vm.hash(key), key, items[k + 1] as Value);
    }
    return push(f, d);
  },
  LIST_APPEND: (_vm, f, i) => {
    const v = pop(f);
    (peek(f, i.arg) as PyList).push(v);
    return undefined;
  },
  SET_ADD: (vm, f, i) => {
    const v = pop(f);
    vm.call(vm.getattr(peek(f, i.arg), "add"), [v]);
    return undefined;
  },
  MAP_ADD: (vm, f, i) => {
    const [k, v] = popN(f, 2) as [Value, Value];
    (peek(f, i.arg) as PyDict).setKey(vm.hash(k), k, v);
    return undefined;
  },
  LIST_EXTEND: (vm, f) => {
    const items = vm.toArray(pop(f));
    const list = peek(f, 1) as PyList;
    for (const v of items) list.push(v);
    return undefined;
  },
  SET_UPDATE: (vm, f) => {
    const items = vm.toArray(pop(f));
    const set = peek(f, 1);
    for (const v of items) vm.call(vm.getattr(set, "add"), [v]);
    return undefined;
  },
  DICT_UPDATE: (vm, f) => {
    const from = pop(f);
    const d = peek(f, 1) as PyDict;
    if (from instanceof PyDict) for (const [k, key, v] of from.rawEntries()) d.setKey(k, key, v);
    else
      for (const k of vm.toArray(vm.call(vm.getattr(from, "keys"), []))) d.setKey(vm.hash(k), k, vm.getitem(from, k));
    return undefined;
  },
  DICT_MERGE: (vm, f) => {
    const from = pop(f);
    const d = peek(f, 1) as PyDict;
    if (from instanceof PyUnknown) return undefined;
    for (const [k, v] of spreadKeywords(vm, from)) {
      if (d.has(k)) vm.raise("TypeError", `got multiple values for keyword argument '${k}'`);
      d.set(k, v);
    }
    return undefined;
  },
  LIST_TO_TUPLE: (vm, f) => push(f, vm.tuple((pop(f) as PyList).items)),
  FORMAT_VALUE: (vm, f, i) => {
    const spec = i.arg === 1 ? vm.str(pop(f)) : "";
    const v = pop(f);
    const text = i.data === "r" || i.data === "a" ? vm.repr(v) : i.data === "s" ? vm.str(v) : v;
    return push(f, vm.format(text, spec));
  },
  BUILD_STRING: (_vm, f, i) => push(f, popN(f, i.arg).join("")),
  CALL: (vm, f, i) => {
    const spec = i.data as CallSpec;
    const n = i.arg;
    const base = f.stack.length - n;
    const args = f.stack.slice(base, f.stack.length - spec.kwnames.length);
    let kwargs = vm.emptyKwargs;
    if (spec.kwnames.length > 0) {
      const map = new Map<string, Value>();
      const from = f.stack.length - spec.kwnames.length;
      spec.kwnames.forEach((name, k) => {
        if (map.has(name)) vm.raise("SyntaxError", `keyword argument repeated: ${name}`);
        map.set(name, f.stack[from + k] as Value);
      });
      kwargs = map;
    }
    const func = f.stack[base - 1] as Value;
    const r = vm.call(func, args, kwargs);
    f.stack.length = base - 1;
    // an unknown decorator most likely registers or wraps: what it decorates stands for the result
    const undecorated = spec.decorator === true && r instanceof PyUnknown && func instanceof PyUnknown;
    return push(f, undecorated ? (args[0] ?? r) : r);
  },
  CALL_EX: (vm, f, i) => {
    const kwargs = i.arg === 1 ? spreadKeywords(vm, peek(f, 1)) : vm.emptyKwargs;
    const at = i.arg === 1 ? 2 : 1;
    const r = vm.call(peek(f, at + 1), spread(vm, peek(f, at)), kwargs);
    f.stack.length -= at + 1;
    return push(f, r);
  },
  JUMP: (_vm, f, i) => jump(f, i),
  POP_JUMP_IF_FALSE: (vm, f, i) => {
    const t = vm.truthy(peek(f, 1));
    f.stack.length--;
    return t ? undefined : jump(f, i);
  },
  POP_JUMP_IF_TRUE: (vm, f, i) => {
    const t = vm.truthy(peek(f, 1));
    f.stack.length--;
    return t ? jump(f, i) : undefined;
  },
  JUMP_IF_FALSE_OR_POP: (vm, f, i) => {
    if (!vm.truthy(peek(f, 1))) return jump(f, i);
    f.stack.length--;
    return undefined;
  },
  JUMP_IF_TRUE_OR_POP: (vm, f, i) => {
    if (vm.truthy(peek(f, 1))) return jump(f, i);
    f.stack.length--;
    return undefined;
  },
  GET_ITER: (vm, f) => {
    const v = peek(f, 1);
    // a generator stays itself, so that send() and yield from reach it
    f.stack[f.stack.length - 1] = v instanceof PyGenerator ? v : vm.iterate(v);
    return undefined;
  },
  FOR_ITER: (vm, f, i) => {
    const v = vm.next(peek(f, 1));
    if (v !== undefined) return push(f, v);
    f.stack.length--;
    return jump(f, i);
  },
  UNPACK_SEQUENCE: (vm, f, i) => {
    const v = peek(f, 1);
    const items = unpacked(vm, v, i.arg);
    if (items.length > i.arg) vm.raise("ValueError", `too many values to unpack (expected ${i.arg})`);
    if (items.length < i.arg) {
      vm.raise("ValueError", `not enough values to unpack (expected ${i.arg}, got ${items.length})`);
    }
    f.stack.length--;
    for (const item of items.reverse()) f.stack.push(item);
    return undefined;
  },
  UNPACK_EX: (vm, f, i) => {
    const after = i.data as number;
    const v = pop(f);
    const items = unpacked(vm, v, i.arg + after);
    if (items.length < i.arg + after) {
      vm.raise("ValueError", `not enough values to unpack (expected at least ${i.arg + after}, got ${items.length})`);
    }
    const tail = after === 0 ? [] : items.slice(items.length - after);
    const middle = items.slice(i.arg, items.length - after);
    for (const item of tail.reverse()) f.stack.push(item);
    f.stack.push(vm.list(middle));
    for (const item of items.slice(0, i.arg).reverse()) f.stack.push(item);
    return undefined;
  },
  POP_TOP: (_vm, f) => {
    pop(f);
    return undefined;
  },
  COPY: (_vm, f, i) => push(f, peek(f, i.arg)),
  SWAP: (_vm, f, i) => {
    const top = f.stack.length - 1;
    const other = f.stack.length - i.arg;
    const a = f.stack[top] as Value;
    f.stack[top] = f.stack[other] as Value;
    f.stack[other] = a;
    return undefined;
  },
  RETURN_VALUE: (_vm, f) => ({ kind: "return", value: pop(f) }),
  YIELD_VALUE: (_vm, f) => ({ kind: "yield", value: pop(f) }),
  YIELD_FROM: (vm, f) => {
    const sent = pop(f);
    const source = peek(f, 1);
    const v = source instanceof PyGenerator ? vm.resume(source, sent) : vm.next(source);
    if (v === undefined) {
      f.stack.length--;
      return push(f, source instanceof PyGenerator ? source.returned : null);
    }
    f.pc--; // comes back here with what is sent
    return { kind: "yield", value: v };
  },
  MAKE_FUNCTION: (vm, f, i) => {
    const spec = i.data as FunctionSpec;
    const closure = spec.closure ? (pop(f) as PyTuple).items.map(c => c as PyCell) : [];
    const kwValues = popN(f, spec.kwDefaults.length);
    const kwDefaults = new Map(spec.kwDefaults.map((n, k) => [n, kwValues[k] as Value]));
    const defaults = spec.defaults ? (pop(f) as PyTuple).items : [];
    const module = moduleOf(f);
    return push(f, new PyFunction(vm.types.func, spec.code, f.globals, module, defaults, kwDefaults, closure));
  },
  BUILD_CLASS: (vm, f, i) => {
    const [body, bases, kw] = popN(f, 3) as [PyFunction, PyTuple, PyDict];
    return push(f, buildClass(vm, nameOf(i), body, bases.items, spreadKeywords(vm, kw), i.at));
  },
  IMPORT_NAME: (vm, f, i) => {
    const spec = i.data as { module: string; level: number; names: string[] | null; whole: boolean };
    const fromFile = f.globals.get("__file__");
    const path = typeof fromFile === "string" ? fromFile : null;
    const name = ".".repeat(spec.level) + spec.module;
    const m = vm.importModule(name, path);
    if (spec.whole || !spec.module.includes(".")) return push(f, m);
    return push(f, vm.importModule(spec.module.split(".")[0] ?? spec.module, path));
  },
  IMPORT_FROM: (vm, f, i) => {
    const m = peek(f, 1);
    const v = vm.getattrOrUndefined(m, nameOf(i));
    if (v !== undefined) return push(f, v);
    const from = m instanceof PyModule ? m.name : "?";
    const fromFile = f.globals.get("__file__");
    try {
      return push(f, vm.importModule(`${from}.${nameOf(i)}`, typeof fromFile === "string" ? fromFile : null));
    } catch (e) {
      if (!(e instanceof PyError)) throw e;
      return vm.raise("ImportError", `cannot import name '${nameOf(i)}' from '${from}'`);
    }
  },
  IMPORT_STAR: (vm, f) => {
    const m = pop(f);
    if (!(m instanceof PyModule)) return undefined;
    const all = m.dict.get("__all__");
    const names = all !== undefined ? vm.toArray(all).map(String) : m.dict.keys().map(String);
    for (const n of names) {
      const v = m.dict.get(n);
      if (v !== undefined && (all !== undefined || !n.startsWith("_"))) (f.names ?? f.globals).set(n, v);
    }
    return undefined;
  },
  RAISE: (vm, f, i) => raiseStatement(vm, f, popN(f, i.arg)),
  RERAISE: (_vm, f) => {
    f.handling.pop();
    throw raisedAgain(pop(f) as PyInstance, f);
  },
  PUSH_EXC: (_vm, f) => {
    f.handling.push(peek(f, 1) as PyInstance);
    return undefined;
  },
  CHECK_EXC_MATCH: (vm, f) => {
    const type = pop(f);
    const exc = peek(f, 1);
    const one = (t: Value): boolean =>
      t instanceof PyClass ? vm.typeOf(exc).isSubclassOf(t) : t instanceof PyTuple ? t.items.some(one) : false;
    return push(f, one(type));
  },
  POP_EXCEPT: (_vm, f) => {
    f.handling.pop();
    return undefined;
  },
  BEFORE_WITH: (vm, f) => {
    const { exit, entered } = enterContext(vm, peek(f, 1));
    f.stack.length--;
    f.stack.push(exit);
    return push(f, entered);
  },
  WITH_EXIT: (vm, f) => {
    exitContext(vm, peek(f, 1), null);
    f.stack.length--;
    return undefined;
  },
  WITH_EXCEPT: (vm, f) => push(f, exitContext(vm, peek(f, 2), peek(f, 1))),
  LOAD_ASSERTION_ERROR: (vm, f) => push(f, vm.exceptionClass("AssertionError")),
  MATCH_SEQUENCE: (vm, f) => {
    const v = pop(f);
    return push(f, v instanceof PyList || (v instanceof PyTuple && vm.typeOf(v) !== vm.types.str));
  },
  MATCH_MAPPING: (_vm, f) => push(f, pop(f) instanceof PyDict),
  MATCH_KEYS: (vm, f) => {
    const [o, k] = popN(f, 2) as [Value, Value];
    return push(f, vm.truthy(vm.compare("in", k, o)));
  },
  MATCH_CLASS: (vm, f, i) => {
    const [o, cls] = popN(f, 2) as [Value, Value];
    return push(f, matchClass(vm, o, cls, i.arg, i.data as string[]));
  },
  GET_LEN: (vm, f) => push(f, vm.length(pop(f))),
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
  SYNTAX_PROBLEM: (vm, _f, i) => {
    vm.report("syntax", String(i.data), "error", i.at.span);
    return undefined;
  },
};

function unpacked(vm: Interp, v: Value, n: number): Value[] {
  for (const g of vm.guests) {
    const items = g.unpack?.(v, n);
    if (items !== undefined) return [...items];
  }
  if (!(v instanceof PyUnknown)) return vm.toArray(v);
  return Array.from({ length: n }, (_, k) => vm.unknown(`${v.what}[${k}]`));
}

function moduleOf(f: Frame): PyModule | null {
  if (f.func?.module) return f.func.module;
  const m = f.globals.get("__module_object__");
  return m instanceof PyModule ? m : null;
}

function matchClass(vm: Interp, o: Value, cls: Value, count: number, names: readonly string[]): Value {
  if (!(cls instanceof PyClass) || !vm.isInstance(o, cls)) return null;
  const attrs: Value[] = [];
  const positional = count > 0 ? cls.lookup("__match_args__") : undefined;
  if (count > 0 && positional === undefined) {
    // int(x), str(x) and the like match the value itself
    if (count > 1) return null;
    attrs.push(o);
  }
  const matchNames = positional === undefined ? [] : vm.toArray(positional).slice(0, count).map(String);
  for (const n of [...matchNames, ...names]) {
    const v = vm.getattrOrUndefined(o, n);
    if (v === undefined) return null;
    attrs.push(v);
  }
  return vm.tuple(attrs);
}
