// Methods of str and bytes. In: the machine. Out: methods on the two classes.
import { NativeArgs } from "../interp/arguments";
import type { Machine } from "../interp/machine";
import { asFloat, asInt } from "../interp/numbers";
import { plain } from "../interp/operators";
import { type Kwargs, PyBytes, PyClass, PyDict, PyInstance, PyTuple, PyUnknown, type Value } from "../objects/values";
import { defineNew, method, methods } from "./define";

export function installStrings(vm: Machine): void {
  const str = vm.types.str;
  const text = (v: Value): string => {
    const p = plain(v);
    if (typeof p !== "string") return vm.raise("TypeError", `expected str instance, ${vm.typeOf(v).name} found`);
    return p;
  };
  defineNew(vm, str, (cls, args) => {
    const [v] = args;
    const s = v === undefined ? "" : v instanceof PyBytes && args.length > 1 ? decode(v) : vm.str(v);
    if (cls === str) return s;
    const o = new PyInstance(cls);
    o.payload = s;
    return o;
  });
  const chars = (v: Value | undefined): string | undefined => (v === undefined || v === null ? undefined : text(v));
  const strip = (s: string, set: string | undefined, left: boolean, right: boolean): string => {
    const letters = [...s];
    const gone = (c: string | undefined): boolean =>
      c !== undefined && (set === undefined ? /\s/.test(c) : set.includes(c));
    let [a, b] = [0, letters.length];
    if (left) while (a < b && gone(letters[a])) a++;
    if (right) while (b > a && gone(letters[b - 1])) b--;
    return letters.slice(a, b).join("");
  };
  const some = (v: Value | undefined, test: (s: string) => boolean): boolean =>
    v instanceof PyTuple ? v.items.some(x => test(text(x))) : test(text(v ?? null));
  const range = (s: string, args: readonly Value[]): [string, number] => {
    const from = args[1] === undefined || args[1] === null ? 0 : vm.index(args[1]);
    const to = args[2] === undefined || args[2] === null ? s.length : vm.index(args[2]);
    const a = from < 0 ? Math.max(0, s.length + from) : from;
    return [s.slice(a, to < 0 ? s.length + to : to), a];
  };
  const every = (s: string, re: RegExp): boolean => s !== "" && re.test(s);
  const justify = (s: string, args: readonly Value[], how: "l" | "r" | "c"): string => {
    const width = vm.index(args[0] ?? 0);
    const fill = chars(args[1]) ?? " ";
    vm.room(width);
    if (how === "l") return s.padEnd(width, fill);
    if (how === "r") return s.padStart(width, fill);
    const left = Math.floor(Math.max(0, width - s.length) / 2);
    return s.padStart(s.length + left, fill).padEnd(width, fill);
  };
  const capital = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1).toLowerCase();
  const counted = (v: Value): string => {
    const s = text(v);
    vm.charge(s.length >> 8);
    return s;
  };
  methods(vm, str, counted, {
    upper: s => s.toUpperCase(),
    lower: s => s.toLowerCase(),
    casefold: s => s.toLowerCase(),
    capitalize: s => capital(s),
    title: s => s.replace(/[A-Za-z]+/g, capital),
    swapcase: s => [...s].map(c => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join(""),
    strip: (s, [set]) => strip(s, chars(set), true, true),
    lstrip: (s, [set]) => strip(s, chars(set), true, false),
    rstrip: (s, [set]) => strip(s, chars(set), false, true),
    startswith: (s, args) => some(args[0], p => range(s, args)[0].startsWith(p)),
    endswith: (s, args) => some(args[0], p => range(s, args)[0].endsWith(p)),
    removeprefix: (s, [p]) => (s.startsWith(text(p ?? "")) ? s.slice(text(p ?? "").length) : s),
    removesuffix: (s, [p]) => {
      const t = text(p ?? "");
      return t !== "" && s.endsWith(t) ? s.slice(0, -t.length) : s;
    },
    replace: (s, [a, b, n]) => {
      const [from, to] = [text(a ?? ""), text(b ?? "")];
      let left = n === undefined ? -1 : vm.index(n);
      if (left < 0) {
        const pieces = s.split(from);
        vm.room(s.length + (pieces.length - 1) * to.length);
        return pieces.join(to);
      }
      let out = "";
      let rest = s;
      for (let at = rest.indexOf(from); at >= 0 && left > 0; at = rest.indexOf(from), left--) {
        out += rest.slice(0, at) + to;
        rest = rest.slice(at + from.length);
      }
      return out + rest;
    },
    split: (s, args, kw) => vm.list(split(vm, s, args, kw)),
    rsplit: (s, args, kw) => vm.list(rsplit(vm, s, args, kw)),
    splitlines: s => vm.list(s.replace(/\r?\n$/, "").split(/\r?\n/)),
    partition: (s, [sep]) => {
      const p = text(sep ?? "");
      const at = s.indexOf(p);
      return vm.tuple(at < 0 ? [s, "", ""] : [s.slice(0, at), p, s.slice(at + p.length)]);
    },
    rpartition: (s, [sep]) => {
      const p = text(sep ?? "");
      const at = s.lastIndexOf(p);
      return vm.tuple(at < 0 ? ["", "", s] : [s.slice(0, at), p, s.slice(at + p.length)]);
    },
    join: (s, [it]) => {
      const items = vm.toArray(it ?? null);
      if (items.some(p => p instanceof PyUnknown)) return vm.unknown("str.join(...)");
      const pieces = items.map(text);
      vm.room(pieces.reduce((n, p) => n + p.length + s.length, 0));
      return pieces.join(s);
    },
    find: (s, args) => {
      const [r, a] = range(s, args);
      const at = r.indexOf(text(args[0] ?? ""));
      return at < 0 ? -1 : at + a;
    },
    rfind: (s, args) => s.lastIndexOf(text(args[0] ?? "")),
    index: (s, args) => {
      const at = s.indexOf(text(args[0] ?? ""));
      return at < 0 ? vm.raise("ValueError", "substring not found") : at;
    },
    count: (s, [p]) => (text(p ?? "") === "" ? s.length + 1 : s.split(text(p ?? "")).length - 1),
    format: (s, args, kw) => formatMethod(vm, s, args, kw),
    format_map: (s, [m]) => formatMethod(vm, s, [], new Map(), m),
    isdigit: s => every(s, /^\d+$/),
    isdecimal: s => every(s, /^\d+$/),
    isnumeric: s => every(s, /^\d+$/),
    isalpha: s => every(s, /^\p{L}+$/u),
    isalnum: s => every(s, /^[\p{L}\d]+$/u),
    isspace: s => every(s, /^\s+$/),
    isupper: s => s !== s.toLowerCase() && s === s.toUpperCase(),
    islower: s => s !== s.toUpperCase() && s === s.toLowerCase(),
    isprintable: s => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(s),
    isidentifier: s => /^[A-Za-z_]\w*$/.test(s),
    istitle: s => /^([A-Z][a-z]*\W*)+$/.test(s),
    ljust: (s, args) => justify(s, args, "l"),
    rjust: (s, args) => justify(s, args, "r"),
    center: (s, args) => justify(s, args, "c"),
    zfill: (s, [w]) => {
      const sign = /^[+-]/.test(s) ? s.charAt(0) : "";
      vm.room(vm.index(w ?? 0));
      return sign + s.slice(sign.length).padStart(vm.index(w ?? 0) - sign.length, "0");
    },
    expandtabs: (s, [w]) => {
      const width = w === undefined ? 8 : Math.max(0, vm.index(w));
      vm.room(s.length * Math.max(1, width));
      // up to the next column that is a multiple of the width
      const line = (l: string): string =>
        l.split("\t").reduce((out, part) => out + " ".repeat(width === 0 ? 0 : width - (out.length % width)) + part);
      return s.split("\n").map(line).join("\n");
    },
    encode: s => vm.bytes(new TextEncoder().encode(s)),
    translate: (s, [table]) =>
      [...s]
        .map(c => {
          const r = table instanceof PyDict ? table.getKey(c.codePointAt(0) ?? 0) : undefined;
          return r === undefined ? c : r === null ? "" : typeof r === "number" ? String.fromCodePoint(r) : text(r);
        })
        .join(""),
    __len__: s => [...s].length,
    __contains__: (s, [x]) => s.includes(text(x ?? null)),
    __add__: (s, [x]) => (typeof plain(x ?? null) === "string" ? s + text(x ?? null) : vm.notImplemented),
    __mod__: (s, [x]) => vm.binary("%", s, x ?? null),
    __getitem__: (s, [k]) => vm.getitem(s, k ?? null),
  });
  str.dict.set(
    "maketrans",
    vm.builtin("maketrans", ([a, b]) => {
      const d = vm.dict();
      if (a instanceof PyDict) {
        for (const [k, v] of a.entries()) {
          const code = typeof k === "string" ? (k.codePointAt(0) ?? 0) : vm.index(k);
          d.setKey(code, code, v);
        }
      } else {
        [...text(a ?? "")].forEach((c, i) => {
          const code = c.codePointAt(0) ?? 0;
          d.setKey(code, code, [...text(b ?? "")][i]?.codePointAt(0) ?? null);
        });
      }
      return d;
    }),
  );
  installBytes(vm);
}

function split(vm: Machine, s: string, args: readonly Value[], kw: Kwargs): string[] {
  const a = new NativeArgs(vm, "split", ["sep?", "maxsplit?"], args, kw);
  const sep = a.get("sep") ?? null;
  const limit = a.get("maxsplit");
  const n = limit === undefined ? -1 : vm.index(limit);
  if (sep === null) {
    const words = s.trim() === "" ? [] : s.trim().split(/\s+/);
    if (n < 0 || words.length <= n + 1) return words;
    const m = new RegExp(`^(?:\\S+\\s+){${n}}`).exec(s.trimStart());
    return [...words.slice(0, n), s.trimStart().slice(m?.[0].length ?? 0)];
  }
  const parts = s.split(String(sep));
  return n < 0 || parts.length <= n + 1 ? parts : [...parts.slice(0, n), parts.slice(n).join(String(sep))];
}

function rsplit(vm: Machine, s: string, args: readonly Value[], kw: Kwargs): string[] {
  const a = new NativeArgs(vm, "rsplit", ["sep?", "maxsplit?"], args, kw);
  const sep = a.get("sep") ?? null;
  const limit = a.get("maxsplit");
  const n = limit === undefined ? -1 : vm.index(limit);
  const parts = sep === null ? s.trim().split(/\s+/) : s.split(String(sep));
  if (n < 0 || parts.length <= n + 1) return parts;
  const at = parts.length - n;
  return [parts.slice(0, at).join(sep === null ? " " : String(sep)), ...parts.slice(at)];
}

function formatMethod(vm: Machine, s: string, args: readonly Value[], kw: Kwargs, mapping?: Value): string {
  let auto = 0;
  const render = (t: string, depth: number): string =>
    t.replace(/\{\{|\}\}|\{([^{}:!]*)(?:!([rsa]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}/g, (whole, path, conv, spec) => {
      if (whole === "{{") return "{";
      if (whole === "}}") return "}";
      const [head = "", ...rest] = String(path).split(/(?=[.[])/);
      let v: Value;
      if (head === "") v = args[auto++] ?? vm.raise("IndexError", "Replacement index out of range");
      else if (/^\d+$/.test(head)) v = args[Number(head)] ?? vm.raise("IndexError", "Replacement index out of range");
      else {
        const found = mapping === undefined ? kw.get(head) : vm.getitem(mapping, head);
        if (found === undefined) throw vm.makeError("KeyError", [head]);
        v = found;
      }
      for (const r of rest) {
        if (r.startsWith(".")) v = vm.getattr(v, r.slice(1));
        else {
          const key = r.slice(1, -1);
          v = vm.getitem(v, /^\d+$/.test(key) ? Number(key) : key);
        }
      }
      const shown = conv === "r" || conv === "a" ? vm.repr(v) : conv === "s" ? vm.str(v) : v;
      return vm.format(shown, spec === undefined ? "" : depth < 2 ? render(spec, depth + 1) : spec);
    });
  return render(s, 0);
}

const decode = (b: PyBytes): string => new TextDecoder().decode(b.data);

function installBytes(vm: Machine): void {
  const cls = vm.types.bytes;
  defineNew(vm, cls, (_c, [v]) => {
    if (v === undefined) return vm.bytes(new Uint8Array());
    if (typeof v === "string") return vm.bytes(new TextEncoder().encode(v));
    const n = asInt(v);
    if (n !== undefined) {
      const size = vm.index(n);
      if (size < 0) vm.raise("ValueError", "negative count");
      vm.room(size);
      return vm.bytes(new Uint8Array(size));
    }
    return vm.bytes(Uint8Array.from(vm.toArray(v).map(x => vm.index(x))));
  });
  const self = (v: Value): PyBytes => {
    if (!(v instanceof PyBytes)) return vm.raise("TypeError", "a bytes object is needed");
    vm.charge(v.data.length >> 6);
    return v;
  };
  methods(vm, cls, self, {
    decode: b => decode(b),
    hex: b => [...b.data].map(x => x.toString(16).padStart(2, "0")).join(""),
    __len__: b => b.data.length,
    startswith: (b, [p]) => decode(b).startsWith(p instanceof PyBytes ? decode(p) : ""),
    endswith: (b, [p]) => decode(b).endsWith(p instanceof PyBytes ? decode(p) : ""),
  });
}

/** int(), float() and friends from text */
export function parseFloatText(vm: Machine, s: string): number {
  const t = s.trim().replace(/_/g, "").toLowerCase();
  if (/^[+-]?(inf|infinity)$/.test(t)) return t.startsWith("-") ? -Infinity : Infinity;
  if (/^[+-]?nan$/.test(t)) return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(t)) {
    vm.raise("ValueError", `could not convert string to float: ${vm.repr(s)}`);
  }
  return Number(t);
}

export { asFloat, method, PyClass };
