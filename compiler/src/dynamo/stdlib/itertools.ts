// The module itertools. In: the machine. Out: its module object.
import { func, native } from "../builtins/define";
import { NativeArgs } from "../interp/arguments";
import type { Machine } from "../interp/machine";
import type { PyIterator, PyModule, Value } from "../objects/values";

export function itertoolsModule(vm: Machine): PyModule {
  const m = vm.newModule("itertools");
  const it = (v: Value | undefined): PyIterator => vm.iterate(v ?? null);
  const chain = vm.builtin("chain", args => {
    let k = 0;
    let current: PyIterator | null = null;
    return vm.iterator(() => {
      for (;;) {
        current ??= k < args.length ? it(args[k++]) : null;
        if (!current) return undefined;
        const v = current.next();
        if (v !== undefined) return v;
        current = null;
        vm.tick();
      }
    }, "chain");
  });
  chain.attrs = vm.dict([
    ["from_iterable", vm.builtin("from_iterable", ([xs]) => vm.call(chain, vm.toArray(xs ?? null)))],
  ]);
  m.dict.set("chain", chain);
  func(vm, m, "islice", ([xs, ...bounds]) => {
    const [start, stop, step] = bounds.length === 1 ? [0, bounds[0], 1] : [bounds[0] ?? 0, bounds[1], bounds[2] ?? 1];
    const source = it(xs);
    const from = start === null ? 0 : vm.index(start as Value);
    const to = stop === null || stop === undefined ? Infinity : vm.index(stop);
    const by = step === null ? 1 : vm.index(step as Value);
    let i = 0;
    let next = from;
    return vm.iterator(() => {
      while (next < to) {
        const v = source.next();
        if (v === undefined) return undefined;
        if (i++ === next) {
          next += by;
          return v;
        }
      }
      return undefined;
    }, "islice");
  });
  m.dict.set(
    "count",
    native(vm, "count", ["start?", "step?"], a => {
      let v: Value = a.get("start") ?? 0;
      const step = a.get("step") ?? 1;
      return vm.iterator(() => {
        const r = v;
        v = vm.binary("+", v, step);
        return r;
      }, "count");
    }),
  );
  m.dict.set(
    "repeat",
    native(vm, "repeat", ["object", "times?"], a => {
      const times = a.get("times");
      let left = times === undefined ? Infinity : vm.index(times);
      return vm.iterator(() => (left-- > 0 ? a.need("object") : undefined), "repeat");
    }),
  );
  func(vm, m, "cycle", ([xs]) => {
    const items = vm.toArray(xs ?? null);
    let i = 0;
    return vm.iterator(() => {
      vm.tick();
      return items.length === 0 ? undefined : items[i++ % items.length];
    }, "cycle");
  });
  m.dict.set(
    "accumulate",
    native(vm, "accumulate", ["iterable", "func?", "*", "initial?"], a => {
      const source = it(a.need("iterable"));
      const f = a.get("func") ?? null;
      let acc: Value | undefined = a.get("initial");
      let first = acc !== undefined && acc !== null;
      if (acc === null) acc = undefined;
      return vm.iterator(() => {
        if (first) {
          first = false;
          return acc;
        }
        const v = source.next();
        if (v === undefined) return undefined;
        acc = acc === undefined ? v : f === null ? vm.binary("+", acc, v) : vm.call(f, [acc, v]);
        return acc;
      }, "accumulate");
    }),
  );
  func(vm, m, "product", (args, kw) => {
    const repeat = vm.index(kw.get("repeat") ?? 1);
    const pools: Value[][] = [];
    for (let r = 0; r < repeat; r++) {
      vm.tick();
      for (const a of args) pools.push(vm.toArray(a));
    }
    let size = pools.length;
    for (const p of pools) {
      size *= p.length;
      vm.room(size);
    }
    let rows: Value[][] = [[]];
    for (const p of pools) rows = rows.flatMap(row => p.map(x => [...row, x]));
    return vm.iterate(vm.tuple(rows.map(r => vm.tuple(r))));
  });
  const choose = (items: readonly Value[], n: number, ordered: boolean, again: boolean): Value[][] => {
    const out: Value[][] = [];
    const go = (row: number[]): void => {
      vm.tick();
      if (row.length === n) {
        out.push(row.map(i => items[i] as Value));
        return;
      }
      const last = row[row.length - 1] ?? -1;
      for (let i = 0; i < items.length; i++) {
        if (ordered ? row.includes(i) : again ? i < Math.max(last, 0) : i <= last) continue;
        go([...row, i]);
      }
    };
    go([]);
    return out;
  };
  const choices = (name: string, ordered: boolean, again: boolean): void => {
    func(vm, m, name, ([xs, n]) => {
      const items = vm.toArray(xs ?? null);
      const rows = choose(items, n === undefined || n === null ? items.length : vm.index(n), ordered, again);
      return vm.iterate(vm.tuple(rows.map(r => vm.tuple(r))));
    });
  };
  choices("combinations", false, false);
  choices("combinations_with_replacement", false, true);
  choices("permutations", true, false);
  func(vm, m, "pairwise", ([xs]) => {
    const items = vm.toArray(xs ?? null);
    return vm.iterate(vm.tuple(items.slice(1).map((v, i) => vm.tuple([items[i] as Value, v]))));
  });
  func(vm, m, "batched", ([xs, n]) => {
    const items = vm.toArray(xs ?? null);
    const size = vm.index(n ?? 1);
    if (size < 1) vm.raise("ValueError", "n must be at least one");
    const rows: Value[] = [];
    for (let i = 0; i < items.length; i += size) rows.push(vm.tuple(items.slice(i, i + size)));
    return vm.iterate(vm.tuple(rows));
  });
  func(vm, m, "zip_longest", (args, kw) => {
    const fill = kw.get("fillvalue") ?? null;
    const lists = args.map(a => vm.toArray(a));
    const n = Math.max(0, ...lists.map(l => l.length));
    return vm.iterate(vm.tuple(Array.from({ length: n }, (_, i) => vm.tuple(lists.map(l => l[i] ?? fill)))));
  });
  const filtered = (name: string, keep: (f: Value, v: Value) => boolean, stop: boolean): void => {
    func(vm, m, name, ([f, xs]) => {
      const source = it(xs);
      return vm.iterator(() => {
        for (let v = source.next(); v !== undefined; v = source.next()) {
          vm.tick();
          if (keep(f ?? null, v)) return v;
          if (stop) return undefined;
        }
        return undefined;
      }, name);
    });
  };
  filtered("takewhile", (f, v) => vm.truthy(vm.call(f, [v])), true);
  filtered("filterfalse", (f, v) => !vm.truthy(f === null ? v : vm.call(f, [v])), false);
  func(vm, m, "dropwhile", ([f, xs]) => {
    const source = it(xs);
    let dropping = true;
    return vm.iterator(() => {
      for (let v = source.next(); v !== undefined; v = source.next()) {
        vm.tick();
        dropping &&= vm.truthy(vm.call(f ?? null, [v]));
        if (!dropping) return v;
      }
      return undefined;
    }, "dropwhile");
  });
  func(vm, m, "starmap", ([f, xs]) => {
    const source = it(xs);
    return vm.iterator(() => {
      const v = source.next();
      return v === undefined ? undefined : vm.call(f ?? null, vm.toArray(v));
    }, "starmap");
  });
  func(vm, m, "compress", ([xs, tests]) => {
    const keep = vm.toArray(tests ?? null);
    return vm.iterate(vm.tuple(vm.toArray(xs ?? null).filter((_, i) => vm.truthy(keep[i] ?? false))));
  });
  func(vm, m, "groupby", (args, kw) => {
    const a = new NativeArgs(vm, "groupby", ["iterable", "key?"], args, kw);
    const key = a.get("key") ?? null;
    const groups: { k: Value; items: Value[] }[] = [];
    for (const v of vm.toArray(a.need("iterable"))) {
      const k = key === null ? v : vm.call(key, [v]);
      const last = groups[groups.length - 1];
      if (last && vm.equal(last.k, k)) last.items.push(v);
      else groups.push({ k, items: [v] });
    }
    return vm.iterate(vm.tuple(groups.map(g => vm.tuple([g.k, vm.iterate(vm.tuple(g.items))]))));
  });
  func(vm, m, "tee", ([xs, n]) => {
    const items = vm.tuple(vm.toArray(xs ?? null));
    return vm.tuple(Array.from({ length: n === undefined ? 2 : vm.index(n) }, () => vm.iterate(items)));
  });
  return m;
}
