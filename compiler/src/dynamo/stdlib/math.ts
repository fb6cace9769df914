// The modules math, operator, itertools, time and random. In: the machine. Out: module objects.

import { func, native } from "../builtins/define";
import { toFloat, toInt } from "../builtins/numbers";
import type { BinaryOperator, CompareOperator } from "../interp/api";
import { NativeArgs } from "../interp/arguments";
import { exp, log, log2, pow } from "../interp/exact_math";
import type { Machine } from "../interp/machine";
import { asFloat, asInt, normal } from "../interp/numbers";
import { COMPARISON_WORDS, OPERATOR_WORDS, operatorFunction } from "../interp/operator_names";
import { plain } from "../interp/operators";
import { PyFloat, type PyIterator, type PyModule, PyTuple, PyUnknown, type Value } from "../objects/values";

function toNumber(vm: Machine, v: Value | undefined): number {
  const p = plain(v ?? null);
  if (p instanceof PyFloat) return p.value;
  const r = toFloat(vm, p);
  return asFloat(r) ?? 0;
}

export function mathModule(vm: Machine): PyModule {
  const m = vm.newModule("math");
  const constants = { pi: Math.PI, e: Math.E, tau: 2 * Math.PI, inf: Infinity, nan: Number.NaN };
  for (const [k, v] of Object.entries(constants)) m.dict.set(k, new PyFloat(v));
  const one = (name: string, fn: (x: number) => number, domain?: (x: number) => boolean): void => {
    func(vm, m, name, ([v]) => {
      if (v instanceof PyUnknown) return vm.unknown(`math.${name}(${v.what})`);
      const x = toNumber(vm, v);
      if (domain && !domain(x)) vm.raise("ValueError", "math domain error");
      return new PyFloat(fn(x));
    });
  };
  one("sqrt", Math.sqrt, x => !(x < 0));
  one("exp", exp);
  one("expm1", Math.expm1);
  one("log1p", Math.log1p, x => x > -1);
  for (const name of ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "cbrt"] as const) {
    one(name, Math[name]);
  }
  one("asinh", Math.asinh);
  one("acosh", Math.acosh);
  one("atanh", Math.atanh);
  one("fabs", Math.abs);
  one("degrees", x => (x * 180) / Math.PI);
  one("radians", x => (x * Math.PI) / 180);
  one("erf", erf);
  one("erfc", x => 1 - erf(x));
  one("gamma", gamma);
  one("lgamma", x => Math.log(Math.abs(gamma(x))));
  // of integers that no float holds too
  const logarithm = (v: Value | undefined, log: (x: number) => number): number => {
    const i = asInt(plain(v ?? null));
    if (typeof i === "bigint" && i > 0n) {
      const digits = i.toString(16).length - 16;
      return digits <= 0 ? log(Number(i)) : log(Number(i >> BigInt(4 * digits))) + digits * log(16);
    }
    const x = toNumber(vm, v);
    if (!(x > 0)) vm.raise("ValueError", "math domain error");
    return log(x);
  };
  for (const [name, fn] of [
    ["log2", log2],
    ["log10", Math.log10],
  ] as const)
    func(vm, m, name, ([v]) => {
      if (v instanceof PyUnknown) return vm.unknown(`math.${name}(${v.what})`);
      return new PyFloat(logarithm(v, fn));
    });
  func(vm, m, "log", ([v, base]) => {
    const x = logarithm(v, log);
    return new PyFloat(base === undefined ? x : x / logarithm(base, log));
  });
  func(vm, m, "pow", ([a, b]) => new PyFloat(pow(toNumber(vm, a), toNumber(vm, b))));
  func(vm, m, "fmod", ([a, b]) => new PyFloat(toNumber(vm, a) % toNumber(vm, b)));
  func(vm, m, "atan2", ([a, b]) => new PyFloat(Math.atan2(toNumber(vm, a), toNumber(vm, b))));
  func(vm, m, "hypot", args => new PyFloat(Math.hypot(...args.map(a => toNumber(vm, a)))));
  func(vm, m, "copysign", ([a, b]) => {
    const y = toNumber(vm, b);
    const negative = y < 0 || Object.is(y, -0);
    return new PyFloat((negative ? -1 : 1) * Math.abs(toNumber(vm, a)));
  });
  const whole = (name: string, fn: (x: number) => number): void => {
    func(vm, m, name, ([v]) => {
      const p = plain(v ?? null);
      const own = p instanceof PyFloat || asInt(p) !== undefined ? undefined : vm.getattrOrUndefined(p, `__${name}__`);
      if (own !== undefined) return vm.call(own, []);
      if (asInt(p) !== undefined) return p;
      return toInt(vm, new PyFloat(fn(toNumber(vm, p))));
    });
  };
  whole("floor", Math.floor);
  whole("ceil", Math.ceil);
  whole("trunc", Math.trunc);
  func(vm, m, "isqrt", ([v]) => normal(squareRoot(vm, BigInt(vm.integer(v ?? 0)))));
  func(vm, m, "isnan", ([v]) => Number.isNaN(toNumber(vm, v)));
  func(vm, m, "isinf", ([v]) => Math.abs(toNumber(vm, v)) === Infinity);
  func(vm, m, "isfinite", ([v]) => Number.isFinite(toNumber(vm, v)));
  m.dict.set(
    "isclose",
    native(vm, "isclose", ["a", "b", "*", "rel_tol?", "abs_tol?"], a => {
      const [x, y] = [toNumber(vm, a.need("a")), toNumber(vm, a.need("b"))];
      const rel = toNumber(vm, a.get("rel_tol") ?? new PyFloat(1e-9));
      const abs = toNumber(vm, a.get("abs_tol") ?? new PyFloat(0));
      return x === y || Math.abs(x - y) <= Math.max(rel * Math.max(Math.abs(x), Math.abs(y)), abs);
    }),
  );
  func(vm, m, "prod", ([v], kw) => vm.toArray(v ?? null).reduce((a, x) => vm.binary("*", a, x), kw.get("start") ?? 1));
  func(vm, m, "fsum", ([v]) => new PyFloat(vm.toArray(v ?? null).reduce<number>((a, x) => a + toNumber(vm, x), 0)));
  const magnitude = (a: bigint): bigint => (a < 0n ? -a : a);
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? magnitude(a) : gcd(b, a % b));
  const exact = (v: Value): bigint => BigInt(vm.integer(v));
  func(vm, m, "gcd", args => normal(args.reduce<bigint>((a, x) => gcd(a, exact(x)), 0n)));
  func(vm, m, "lcm", args =>
    normal(
      args.reduce<bigint>((a, x) => {
        const n = exact(x);
        return a === 0n || n === 0n ? 0n : magnitude(a * n) / gcd(a, n);
      }, 1n),
    ),
  );
  func(vm, m, "factorial", ([v]) => {
    let r = 1n;
    for (let i = 2n; i <= BigInt(vm.index(v ?? 0)); i++) r *= i;
    return normal(r);
  });
  func(vm, m, "comb", ([n, k]) => {
    const [a, b] = [BigInt(vm.index(n ?? 0)), BigInt(vm.index(k ?? 0))];
    if (b > a) return 0;
    let r = 1n;
    for (let i = 1n; i <= b; i++) r = (r * (a - b + i)) / i;
    return normal(r);
  });
  func(vm, m, "modf", ([v]) => {
    const x = toNumber(vm, v);
    return vm.tuple([new PyFloat(x - Math.trunc(x)), new PyFloat(Math.trunc(x))]);
  });
  func(vm, m, "frexp", ([v]) => {
    const x = toNumber(vm, v);
    if (x === 0 || !Number.isFinite(x)) return vm.tuple([new PyFloat(x), 0]);
    const e = Math.floor(Math.log2(Math.abs(x))) + 1;
    return vm.tuple([new PyFloat(x / 2 ** e), e]);
  });
  func(vm, m, "ldexp", ([x, e]) => new PyFloat(toNumber(vm, x) * 2 ** vm.index(e ?? 0)));
  return m;
}

/** the largest integer whose square is not larger */
function squareRoot(vm: Machine, n: bigint): bigint {
  if (n < 0n) vm.raise("ValueError", "isqrt() argument must be nonnegative");
  if (n < 2n) return n;
  // Newton's steps from above end at it
  let x = 1n << BigInt(2 * n.toString(16).length + 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

/** Abramowitz and Stegun 7.1.26 refined by one Newton step on the series near 0; good to double rounding noise */
function erf(x: number): number {
  const a = Math.abs(x);
  if (a < 2.5) {
    // Maclaurin series
    let term = a;
    let sum = a;
    for (let n = 1; n < 60; n++) {
      term *= (-a * a) / n;
      sum += term / (2 * n + 1);
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  // continued fraction of erfc
  let f = 0;
  for (let k = 60; k > 0; k--) f = k / 2 / (a + f);
  return Math.sign(x) * (1 - Math.exp(-a * a) / (Math.sqrt(Math.PI) * (a + f)));
}

/** Lanczos */
function gamma(x: number): number {
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x));
  const g = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const t = x - 1 + 7.5;
  const a = g.reduce((s, c, i) => (i === 0 ? c : s + c / (x - 1 + i)), 0);
  return Math.sqrt(2 * Math.PI) * t ** (x - 0.5) * Math.exp(-t) * a;
}

export function operatorModule(vm: Machine): PyModule {
  const m = vm.newModule("operator");
  for (const op of Object.keys(OPERATOR_WORDS) as BinaryOperator[]) {
    func(vm, m, operatorFunction(op), ([a, b]) => vm.binary(op, a ?? null, b ?? null));
    func(vm, m, `i${OPERATOR_WORDS[op]}`, ([a, b]) => vm.binary(op, a ?? null, b ?? null, true));
  }
  for (const [op, name] of [...Object.entries(COMPARISON_WORDS), ["is", "is_"], ["is not", "is_not"]] as const)
    func(vm, m, name, ([a, b]) => vm.compare(op as CompareOperator, a ?? null, b ?? null));
  func(vm, m, "contains", ([a, b]) => vm.compare("in", b ?? null, a ?? null));
  func(vm, m, "neg", ([a]) => vm.unary("-", a ?? null));
  func(vm, m, "not_", ([a]) => !vm.truthy(a ?? null));
  func(vm, m, "truth", ([a]) => vm.truthy(a ?? null));
  func(vm, m, "index", ([a]) => vm.index(a ?? null));
  func(vm, m, "getitem", ([a, k]) => vm.getitem(a ?? null, k ?? null));
  func(vm, m, "setitem", ([a, k, v]) => {
    vm.setitem(a ?? null, k ?? null, v ?? null);
    return null;
  });
  func(vm, m, "itemgetter", keys =>
    vm.builtin("itemgetter", ([o]) => {
      const got = keys.map(k => vm.getitem(o ?? null, k));
      return got.length === 1 ? (got[0] as Value) : vm.tuple(got);
    }),
  );
  func(vm, m, "attrgetter", names =>
    vm.builtin("attrgetter", ([o]) => {
      const got = names.map(n =>
        String(n)
          .split(".")
          .reduce<Value>((x, k) => vm.getattr(x, k), o ?? null),
      );
      return got.length === 1 ? (got[0] as Value) : vm.tuple(got);
    }),
  );
  func(vm, m, "methodcaller", ([name, ...args], kw) =>
    vm.builtin("methodcaller", ([o]) => vm.call(vm.getattr(o ?? null, String(name)), args, kw)),
  );
  return m;
}

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
  const filtered = (name: string, keep: (f: Value, v: Value, i: number) => boolean, stop: boolean): void => {
    func(vm, m, name, ([f, xs]) => {
      const source = it(xs);
      let i = 0;
      return vm.iterator(() => {
        for (let v = source.next(); v !== undefined; v = source.next()) {
          vm.tick();
          if (keep(f ?? null, v, i++)) return v;
          if (stop) return undefined;
        }
        return undefined;
      }, name);
    });
  };
  filtered("takewhile", (f, v) => vm.truthy(vm.call(f, [v])), true);
  filtered("filterfalse", (f, v) => !vm.truthy(f === null ? v : vm.call(f, [v])), false);
  let dropping = true;
  filtered(
    "dropwhile",
    (f, v, i) => {
      if (i === 0) dropping = true;
      if (dropping && vm.truthy(vm.call(f, [v]))) return false;
      dropping = false;
      return true;
    },
    false,
  );
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

export { PyTuple };
