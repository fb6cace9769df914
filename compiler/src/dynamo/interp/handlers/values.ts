// Instructions that compute: operators, items, and what makes and takes apart containers and strings.
import type { OpName } from "../../code/instructions";
import { PyDict, type PyList, PySlice, PyUnknown, type Value } from "../../objects/values";
import type { BinaryOperator, CompareOperator, Interp } from "../api";
import { spreadKeywords } from "../arguments";
import { type Handler, peek, pop, popN, push } from "./stack";

function unpacked(vm: Interp, v: Value, n: number): Value[] {
  for (const g of vm.guests) {
    const items = g.unpack?.(v, n);
    if (items !== undefined) return [...items];
  }
  if (!(v instanceof PyUnknown)) return vm.toArray(v);
  return Array.from({ length: n }, (_, k) => vm.unknown(`${v.what}[${k}]`));
}

export const VALUES = {
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
    if (from instanceof PyDict) {
      vm.charge(from.size >> 3);
      for (const [k, key, v] of from.rawEntries()) d.setKey(k, key, v);
    } else
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
} satisfies Partial<Record<OpName, Handler>>;
