// Methods of list, tuple, dict, set, range and slice. In: the machine. Out: methods on the classes.
import { NativeArgs } from "../interp/arguments";
import { plainContains, sameAs, sliceBounds } from "../interp/containers";
import type { Machine } from "../interp/machine";
import { normal } from "../interp/numbers";
import { setOperation } from "../interp/operators";
import {
  type Kwargs,
  type PyClass,
  PyDict,
  PyIterator,
  PyList,
  PyRange,
  PySet,
  PySlice,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import { defineNew, method, methods, property } from "./define";

export function sortValues(vm: Machine, items: readonly Value[], kw: Kwargs): Value[] {
  const a = new NativeArgs(vm, "sort", ["*", "key?", "reverse?"], [], kw);
  const key = a.get("key") ?? null;
  const reverse = vm.truthy(a.get("reverse") ?? false);
  const keyed = items.map((v, i) => ({ v, i, k: key === null ? v : vm.call(key, [v]) }));
  const less = (x: Value, y: Value): boolean => {
    vm.tick();
    return vm.truthy(vm.compare("<", x, y));
  };
  keyed.sort((x, y) => {
    const c = less(x.k, y.k) ? -1 : less(y.k, x.k) ? 1 : 0;
    return c === 0 ? x.i - y.i : reverse ? -c : c;
  });
  return keyed.map(e => e.v);
}

function find(vm: Machine, items: readonly Value[], x: Value): number {
  return items.findIndex(sameAs(vm, x, items.length));
}

function countOf(vm: Machine, items: readonly Value[], x: Value): number {
  return items.filter(sameAs(vm, x, items.length)).length;
}

export function installContainers(vm: Machine): void {
  installLists(vm);
  installTuples(vm);
  installDicts(vm);
  installSets(vm);
  installRanges(vm);
}

function installLists(vm: Machine): void {
  const cls = vm.types.list;
  // what a list of unknown items holds at a place is unknown too
  defineNew(vm, cls, (c, [it]) =>
    c === cls && it instanceof PyUnknown ? vm.unknown(`list(${it.what})`) : new PyList(c, []),
  );
  method(vm, cls, "__init__", ([self, it]) => {
    if (self instanceof PyList && it !== undefined) self.replace(vm.toArray(it));
    return null;
  });
  const self = (v: Value): PyList => (v instanceof PyList ? v : vm.raise("TypeError", "a list is needed"));
  const changed = (l: PyList): PyList => {
    vm.observer?.mutated?.(l);
    return l;
  };
  const without = (l: PyList, at: number): void => {
    vm.charge(l.items.length >> 8);
    l.replace(l.items.toSpliced(at, 1));
  };
  methods(vm, cls, self, {
    append: (l, [v]) => {
      changed(l).push(v ?? null);
      return null;
    },
    extend: (l, [it]) => {
      vm.extend(changed(l), vm.toArray(it ?? null));
      return null;
    },
    insert: (l, [i, v]) => {
      const at = vm.index(i ?? 0);
      vm.room(l.items.length);
      const k = at < 0 ? Math.max(0, l.items.length + at) : Math.min(at, l.items.length);
      changed(l).replace([...l.items.slice(0, k), v ?? null, ...l.items.slice(k)]);
      return null;
    },
    pop: (l, [i]) => {
      if (l.items.length === 0) vm.raise("IndexError", "pop from empty list");
      const at = i === undefined ? l.items.length - 1 : vm.index(i);
      const k = at < 0 ? at + l.items.length : at;
      const v = l.items[k];
      if (v === undefined) return vm.raise("IndexError", "pop index out of range");
      without(changed(l), k);
      return v;
    },
    remove: (l, [v]) => {
      const k = find(vm, l.items, v ?? null);
      if (k < 0) vm.raise("ValueError", "list.remove(x): x not in list");
      without(changed(l), k);
      return null;
    },
    clear: l => {
      changed(l).replace([]);
      return null;
    },
    index: (l, [v]) => {
      const k = find(vm, l.items, v ?? null);
      return k < 0 ? vm.raise("ValueError", `${vm.repr(v ?? null)} is not in list`) : k;
    },
    count: (l, [v]) => countOf(vm, l.items, v ?? null),
    reverse: l => {
      vm.room(l.items.length);
      changed(l).replace([...l.items].reverse());
      return null;
    },
    sort: (l, _args, kw) => {
      changed(l).replace(sortValues(vm, l.items, kw));
      return null;
    },
    copy: l => vm.list(l.items),
    __len__: l => l.items.length,
    __getitem__: (l, [k]) => vm.getitem(vm.list(l.items), k ?? null),
    __setitem__: (l, [k, v]) => {
      const plain = new PyList(vm.types.list, l.items);
      vm.setitem(plain, k ?? null, v ?? null);
      if (plain.items !== l.items) l.replace(plain.items);
      return null;
    },
    __iter__: l => vm.iterate(vm.tuple(l.items)),
    __contains__: (l, [v]) => find(vm, l.items, v ?? null) >= 0,
    __add__: (l, [o]) => (o instanceof PyList ? vm.list([...l.items, ...o.items]) : vm.notImplemented),
    __eq__: (l, [o]) =>
      o instanceof PyList ? vm.compare("==", vm.tuple(l.items), vm.tuple(o.items)) : vm.notImplemented,
  });
  // found on the class first, these would hide the built-in paths of the machine
  for (const name of ["__iter__", "__eq__", "__contains__"]) cls.dict.deleteKey(name);
}

function installTuples(vm: Machine): void {
  const cls = vm.types.tuple;
  defineNew(vm, cls, (c, [it]) => new PyTuple(c, it === undefined ? [] : vm.toArray(it)));
  const self = (v: Value): PyTuple => (v instanceof PyTuple ? v : vm.raise("TypeError", "a tuple is needed"));
  methods(vm, cls, self, {
    index: (t, [v]) => {
      const k = find(vm, t.items, v ?? null);
      return k < 0 ? vm.raise("ValueError", "tuple.index(x): x not in tuple") : k;
    },
    count: (t, [v]) => countOf(vm, t.items, v ?? null),
    __len__: t => t.items.length,
    __getitem__: (t, [k]) => vm.getitem(vm.tuple(t.items), k ?? null),
  });
}

function installDicts(vm: Machine): void {
  const cls = vm.types.dict;
  defineNew(vm, cls, c => new PyDict(c));
  const self = (v: Value): PyDict => (v instanceof PyDict ? v : vm.raise("TypeError", "a dict is needed"));
  const update = (d: PyDict, args: readonly Value[], kw: Kwargs): Value => {
    vm.observer?.mutated?.(d);
    const put = (k: Value, v: Value): void => {
      if (d.cls === cls) d.setKey(vm.hash(k), k, v);
      else vm.setitem(d, k, v);
    };
    const [from] = args;
    if (from instanceof PyDict) {
      vm.charge(from.size >> 3);
      for (const [k, v] of from.entries()) put(k, v);
    } else if (from !== undefined && from !== null) {
      const keys = vm.getattrOrUndefined(from, "keys");
      if (keys !== undefined) for (const k of vm.toArray(vm.call(keys, []))) put(k, vm.getitem(from, k));
      else {
        for (const pair of vm.toArray(from)) {
          const [k, v] = vm.toArray(pair);
          if (k === undefined || v === undefined)
            vm.raise("ValueError", "dictionary update sequence element is no pair");
          put(k, v);
        }
      }
    }
    for (const [k, v] of kw) put(k, v);
    return null;
  };
  method(vm, cls, "__init__", ([d, ...args], kw) => (d instanceof PyDict ? update(d, args, kw) : null));
  const view = (items: Value[]): Value => vm.list(items);
  methods(vm, cls, self, {
    get: (d, [k, other]) => {
      const v = d.getKey(vm.hash(k ?? null));
      if (v === undefined) return other ?? null;
      return vm.observer?.loadedItem ? vm.observer.loadedItem(d, k ?? null, v) : v;
    },
    keys: d => view(d.keys()),
    values: d => view(d.entries().map(([k, v]) => vm.observer?.loadedItem?.(d, k, v) ?? v)),
    items: d => view(d.entries().map(([k, v]) => vm.tuple([k, vm.observer?.loadedItem?.(d, k, v) ?? v]))),
    pop: (d, [k, other]) => {
      vm.observer?.mutated?.(d);
      const key = vm.hash(k ?? null);
      const v = d.getKey(key);
      if (v === undefined) {
        if (other === undefined) throw vm.makeError("KeyError", [k ?? null]);
        return other;
      }
      d.deleteKey(key);
      return v;
    },
    popitem: d => {
      const last = d.entries().pop();
      if (!last) throw vm.makeError("KeyError", ["popitem(): dictionary is empty"]);
      d.deleteKey(vm.hash(last[0]));
      return vm.tuple(last);
    },
    setdefault: (d, [k, v]) => {
      const key = vm.hash(k ?? null);
      const old = d.getKey(key);
      if (old !== undefined) return old;
      vm.observer?.mutated?.(d);
      d.setKey(key, k ?? null, v ?? null);
      return v ?? null;
    },
    update: (d, args, kw) => update(d, args, kw),
    clear: d => {
      d.clear();
      return null;
    },
    copy: d => {
      vm.charge(d.size >> 3);
      const out = new PyDict(d.cls);
      out.defaultFactory = d.defaultFactory;
      for (const [k, key, v] of d.rawEntries()) out.setKey(k, key, v);
      return out;
    },
    move_to_end: (d, args, kw) => {
      const a = new NativeArgs(vm, "move_to_end", ["key", "last?"], args, kw);
      d.moveToEnd(vm.hash(a.need("key")), vm.truthy(a.get("last") ?? true));
      return null;
    },
    __len__: d => d.size,
    __contains__: (d, [k]) => d.has(vm.hash(k ?? null)),
    __getitem__: (d, [k]) => {
      const v = d.getKey(vm.hash(k ?? null));
      if (v !== undefined) return v;
      throw vm.makeError("KeyError", [k ?? null]);
    },
    __setitem__: (d, [k, v]) => {
      d.setKey(vm.hash(k ?? null), k ?? null, v ?? null);
      return null;
    },
    __delitem__: (d, [k]) => {
      if (!d.deleteKey(vm.hash(k ?? null))) throw vm.makeError("KeyError", [k ?? null]);
      return null;
    },
    __iter__: d => vm.iterate(vm.tuple(d.keys())),
  });
  cls.dict.deleteKey("__iter__");
  cls.dict.set(
    "fromkeys",
    vm.builtin("fromkeys", ([it, v]) => {
      const d = vm.dict();
      for (const k of vm.toArray(it ?? null)) d.setKey(vm.hash(k), k, v ?? null);
      return d;
    }),
  );
}

function installSets(vm: Machine): void {
  const self = (v: Value): PySet => (v instanceof PySet ? v : vm.raise("TypeError", "a set is needed"));
  const of = (cls: PyClass, frozen: boolean, it: Value | undefined): PySet => {
    const s = new PySet(cls, frozen);
    if (it !== undefined) for (const v of vm.toArray(it)) s.entries.set(vm.hash(v), v);
    return s;
  };
  const asSet = (v: Value): PySet => (v instanceof PySet ? v : of(vm.types.set, false, v));
  const fold = (s: PySet, others: readonly Value[], op: "|" | "&" | "-" | "^"): PySet =>
    others.reduce<PySet>((acc, o) => setOperation(vm, op, acc, asSet(o)) ?? acc, of(s.cls, s.frozen, s));
  defineNew(vm, vm.types.set, (c, [it]) => of(c, false, it));
  defineNew(vm, vm.types.frozenset, (c, [it]) => of(c, true, it));
  for (const cls of [vm.types.set, vm.types.frozenset]) {
    methods(vm, cls, self, {
      union: (s, others) => fold(s, others, "|"),
      intersection: (s, others) => fold(s, others, "&"),
      difference: (s, others) => fold(s, others, "-"),
      symmetric_difference: (s, others) => fold(s, others, "^"),
      issubset: (s, [o]) => vm.compare("<=", s, asSet(o ?? null)),
      issuperset: (s, [o]) => vm.compare(">=", s, asSet(o ?? null)),
      isdisjoint: (s, [o]) => fold(s, [o ?? null], "&").size === 0,
      copy: s => of(s.cls, s.frozen, s),
      __len__: s => s.size,
    });
  }
  methods(vm, vm.types.set, self, {
    add: (s, [v]) => {
      vm.observer?.mutated?.(s);
      s.add(vm.hash(v ?? null), v ?? null);
      return null;
    },
    discard: (s, [v]) => {
      s.delete(vm.hash(v ?? null));
      return null;
    },
    remove: (s, [v]) => {
      if (!s.delete(vm.hash(v ?? null))) throw vm.makeError("KeyError", [v ?? null]);
      return null;
    },
    pop: s => {
      for (const [k, v] of s.entries) {
        s.delete(k);
        return v;
      }
      throw vm.makeError("KeyError", ["pop from an empty set"]);
    },
    clear: s => {
      s.replace(new Map());
      return null;
    },
    update: (s, others) => {
      s.replace(fold(s, others, "|").entries);
      return null;
    },
    difference_update: (s, others) => {
      s.replace(fold(s, others, "-").entries);
      return null;
    },
    intersection_update: (s, others) => {
      s.replace(fold(s, others, "&").entries);
      return null;
    },
  });
}

function installRanges(vm: Machine): void {
  defineNew(vm, vm.types.range, (c, args) => {
    const [a, b, step] = args.map(v => vm.integer(v));
    if (a === undefined) return vm.raise("TypeError", "range expected at least 1 argument, got 0");
    if (step === 0) vm.raise("ValueError", "range() arg 3 must not be zero");
    return b === undefined ? new PyRange(c, 0, a, 1) : new PyRange(c, a, b, step ?? 1);
  });
  for (const [name, get] of [
    ["start", (r: PyRange) => r.start],
    ["stop", (r: PyRange) => r.stop],
    ["step", (r: PyRange) => r.step],
  ] as const) {
    property(vm, vm.types.range, name, v => (v instanceof PyRange ? get(v) : null));
  }
  method(vm, vm.types.range, "index", ([r, v]) => {
    if (!(r instanceof PyRange)) return 0;
    if (!plainContains(vm, r, v ?? null)) vm.raise("ValueError", `${vm.repr(v ?? null)} is not in range`);
    return normal((BigInt(vm.integer(v ?? 0)) - BigInt(r.start)) / BigInt(r.step));
  });
  defineNew(vm, vm.types.slice, (c, args) => {
    const [a, b, s] = args;
    return args.length < 2 ? new PySlice(c, null, a ?? null, null) : new PySlice(c, a ?? null, b ?? null, s ?? null);
  });
  for (const name of ["start", "stop", "step"] as const) {
    property(vm, vm.types.slice, name, v => (v instanceof PySlice ? v[name] : null));
  }
  method(vm, vm.types.slice, "indices", ([s, n]) => {
    if (!(s instanceof PySlice)) return null;
    const b = sliceBounds(vm, s, vm.index(n ?? 0));
    return vm.tuple([b.start, b.stop, b.step]);
  });
  method(vm, vm.types.iterator, "__next__", ([it, ...rest]) => {
    const v = it instanceof PyIterator ? it.next() : undefined;
    if (v !== undefined) return v;
    if (rest[0] !== undefined) return rest[0];
    throw vm.makeError("StopIteration", []);
  });
  method(vm, vm.types.iterator, "__iter__", ([it]) => it ?? null);
}
