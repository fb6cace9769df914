// Native parts of the standard library: os, sys, time, random, hashlib, json, re, inspect, types, typing, collections and
// small ones. In: the machine. Out: module objects. Nothing here touches the machine that FuseLens runs on: there are no
// files, no clock, no environment but the one given.
import { createHash } from "node:crypto";
import { func, method, methods, native, property } from "../builtins/define";
import { isCallable } from "../builtins/functions";
import { PyFunction, PyGenerator } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { asFloat } from "../interp/numbers";
import { plain, special } from "../interp/operators";
import {
  PyBuiltin,
  PyBytes,
  PyClass,
  PyDict,
  PyFloat,
  PyInstance,
  PyIterator,
  PyList,
  PyMethod,
  type PyModule,
  PyNamed,
  PyObject,
  PyRange,
  PySet,
  PyStaticMethod,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";

const text = (v: Value | undefined): string => String(plain(v ?? null));

/** a class whose isinstance() is a test of shape */
export function abstractClass(vm: Machine, name: string, module: string, test: (v: Value) => boolean): PyClass {
  const c = vm.klass(name, [], module);
  c.dict.set(
    "__instancecheck__",
    new PyStaticMethod(
      vm.types.staticmethod,
      vm.builtin(name, ([v]) => test(v ?? null)),
    ),
  );
  return c;
}

export function abstractCollections(vm: Machine): Map<string, PyClass> {
  const has = (v: Value, name: string): boolean => special(vm, v, name) !== undefined;
  const iterable = (v: Value): boolean =>
    typeof v === "string" ||
    v instanceof PyList ||
    v instanceof PyTuple ||
    v instanceof PyDict ||
    v instanceof PySet ||
    v instanceof PyRange ||
    v instanceof PyIterator ||
    v instanceof PyGenerator ||
    has(v, "__iter__");
  const sequence = (v: Value): boolean =>
    typeof v === "string" ||
    v instanceof PyList ||
    v instanceof PyTuple ||
    v instanceof PyRange ||
    v instanceof PyBytes;
  const tests: Record<string, (v: Value) => boolean> = {
    Iterable: iterable,
    Iterator: v => v instanceof PyIterator || v instanceof PyGenerator || has(v, "__next__"),
    Generator: v => v instanceof PyGenerator,
    Callable: v => isCallable(vm, v),
    Sequence: sequence,
    MutableSequence: v => v instanceof PyList,
    Mapping: v => v instanceof PyDict,
    MutableMapping: v => v instanceof PyDict,
    Set: v => v instanceof PySet,
    MutableSet: v => v instanceof PySet && !v.frozen,
    Sized: v => sequence(v) || v instanceof PyDict || v instanceof PySet || has(v, "__len__"),
    Container: v => sequence(v) || v instanceof PyDict || v instanceof PySet,
    Collection: v => sequence(v) || v instanceof PyDict || v instanceof PySet,
    Hashable: v => !(v instanceof PyList || v instanceof PyDict),
    Awaitable: () => false,
    Coroutine: () => false,
    AsyncIterator: () => false,
    AsyncIterable: () => false,
  };
  return new Map(Object.entries(tests).map(([n, t]) => [n, abstractClass(vm, n, "collections.abc", t)]));
}

export function osModule(vm: Machine, environment: PyDict): PyModule {
  const m = vm.newModule("os");
  m.dict.set("environ", environment);
  m.dict.set("name", "posix");
  m.dict.set("sep", "/");
  m.dict.set("linesep", "\n");
  func(vm, m, "getenv", ([k, d]) => environment.get(text(k)) ?? d ?? null);
  func(vm, m, "putenv", ([k, v]) => {
    environment.set(text(k), v ?? null);
    return null;
  });
  func(vm, m, "cpu_count", () => 8);
  func(vm, m, "getpid", () => 1000);
  func(vm, m, "getcwd", () => "/");
  func(vm, m, "urandom", ([n]) => vm.bytes(new Uint8Array(vm.index(n ?? 0))));
  func(vm, m, "listdir", () => vm.list([]));
  func(vm, m, "walk", () => vm.list([]));
  for (const name of ["makedirs", "mkdir", "remove", "unlink", "chdir", "system", "rename"])
    func(vm, m, name, () => null);
  func(vm, m, "fspath", ([p]) => vm.str(p ?? null));
  const path = vm.newModule("os.path");
  m.dict.set("path", path);
  const parts = (s: string): [string, string] => {
    const at = s.lastIndexOf("/");
    return at < 0 ? ["", s] : [s.slice(0, at) || "/", s.slice(at + 1)];
  };
  func(vm, path, "join", args =>
    args
      .map(a => vm.str(a))
      .reduce((a, b) => (b.startsWith("/") ? b : a === "" || a.endsWith("/") ? a + b : `${a}/${b}`)),
  );
  func(vm, path, "dirname", ([p]) => parts(vm.str(p ?? ""))[0]);
  func(vm, path, "basename", ([p]) => parts(vm.str(p ?? ""))[1]);
  func(vm, path, "split", ([p]) => vm.tuple(parts(vm.str(p ?? ""))));
  func(vm, path, "splitext", ([p]) => {
    const s = vm.str(p ?? "");
    const at = s.lastIndexOf(".");
    return vm.tuple(at > s.lastIndexOf("/") ? [s.slice(0, at), s.slice(at)] : [s, ""]);
  });
  for (const name of ["exists", "isfile", "isdir", "islink"]) func(vm, path, name, () => false);
  for (const name of ["abspath", "realpath", "expanduser", "normpath", "expandvars"]) {
    func(vm, path, name, ([p]) => vm.str(p ?? ""));
  }
  func(vm, path, "getsize", () => 0);
  return m;
}

export function sysModule(vm: Machine, modules: PyDict): PyModule {
  const m = vm.newModule("sys");
  const version = vm.call(vm.getattr(vm.importModule("collections", null), "namedtuple"), [
    "version_info",
    vm.list(["major", "minor", "micro", "releaselevel", "serial"]),
  ]);
  m.dict.set("version_info", vm.call(version, [3, 12, 8, "final", 0]));
  m.dict.set("version", "3.12.8 (main)");
  m.dict.set("modules", modules);
  m.dict.set("argv", vm.list(["main.py"]));
  m.dict.set("path", vm.list([]));
  m.dict.set("platform", "linux");
  m.dict.set("executable", "python3");
  m.dict.set("byteorder", "little");
  m.dict.set("maxsize", 9223372036854775807n);
  const stream = vm.klass("TextIOWrapper", [], "io");
  methods(vm, stream, v => v, { write: () => 0, flush: () => null, isatty: () => false, close: () => null });
  for (const name of ["stdout", "stderr", "stdin", "__stdout__"]) m.dict.set(name, new PyInstance(stream));
  func(vm, m, "exit", () => {
    throw vm.makeError("SystemExit", []);
  });
  for (const name of ["setrecursionlimit", "settrace", "excepthook"]) func(vm, m, name, () => null);
  func(vm, m, "getdefaultencoding", () => "utf-8");
  func(vm, m, "getfilesystemencoding", () => "utf-8");
  m.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`sys.${n}`));
  func(vm, m, "getrecursionlimit", () => 1000);
  func(vm, m, "getsizeof", () => 64);
  func(vm, m, "exc_info", () => vm.tuple([null, null, null]));
  func(vm, m, "intern", ([s]) => s ?? null);
  return m;
}

/** time stands still and chance is fixed, so that two runs agree */
export function timeModule(vm: Machine): PyModule {
  const m = vm.newModule("time");
  for (const name of ["time", "perf_counter", "monotonic", "process_time", "thread_time"]) {
    func(vm, m, name, () => new PyFloat(0)).module = "time";
  }
  for (const name of ["time_ns", "perf_counter_ns", "monotonic_ns"]) func(vm, m, name, () => 0).module = "time";
  func(vm, m, "sleep", () => null).module = "time";
  func(vm, m, "strftime", () => "1970-01-01").module = "time";
  func(vm, m, "ctime", () => "").module = "time";
  func(vm, m, "localtime", () => vm.unknown("time.localtime()"));
  func(vm, m, "gmtime", () => vm.unknown("time.gmtime()"));
  return m;
}

export function randomModule(vm: Machine): PyModule {
  const m = vm.newModule("random");
  let state = 88172645463325252n;
  const next = (): number => {
    state ^= (state << 13n) & 0xffffffffffffffffn;
    state ^= state >> 7n;
    state ^= (state << 17n) & 0xffffffffffffffffn;
    return Number(state >> 11n) / 2 ** 53;
  };
  const f = (name: string, fn: (args: readonly Value[]) => Value): void => {
    func(vm, m, name, fn).module = "random";
  };
  const num = (v: Value | undefined): number => asFloat(plain(v ?? 0)) ?? 0;
  f("random", () => new PyFloat(next()));
  f("uniform", ([a, b]) => new PyFloat(num(a) + (num(b) - num(a)) * next()));
  f("gauss", () => new PyFloat(next() - 0.5));
  f("normalvariate", () => new PyFloat(next() - 0.5));
  f("randint", ([a, b]) => num(a) + Math.floor(next() * (num(b) - num(a) + 1)));
  f("randrange", ([a, b]) =>
    b === undefined ? Math.floor(next() * num(a)) : num(a) + Math.floor(next() * (num(b) - num(a))),
  );
  f("choice", ([xs]) => {
    const items = vm.toArray(xs ?? null);
    return items[Math.floor(next() * items.length)] ?? null;
  });
  f("sample", ([xs, k]) => vm.list(vm.toArray(xs ?? null).slice(0, num(k))));
  f("choices", ([xs]) => vm.list(vm.toArray(xs ?? null).slice(0, 1)));
  f("shuffle", () => null);
  f("seed", () => null);
  f("getstate", () => null);
  f("setstate", () => null);
  return m;
}

export function hashlibModule(vm: Machine): PyModule {
  const m = vm.newModule("hashlib");
  const cls = vm.klass("HASH", [], "_hashlib");
  const make = (algorithm: string, parts: readonly Uint8Array[]): PyInstance => {
    const o = new PyInstance(cls);
    o.attrs = vm.dict([["name", algorithm]]);
    hashed.set(o, [...parts]);
    return o;
  };
  const hashed = new Map<PyInstance, Uint8Array[]>();
  const digest = (o: Value): Buffer => {
    if (!(o instanceof PyInstance)) return Buffer.alloc(0);
    const h = createHash(String(o.attrs?.get("name")));
    for (const p of hashed.get(o) ?? []) h.update(p);
    return h.digest();
  };
  const data = (v: Value | undefined): Uint8Array => (v instanceof PyBytes ? v.data : new Uint8Array());
  for (const name of ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]) {
    const b = new PyBuiltin(vm.types.builtin, `openssl_${name}`, ([d]) => make(name, d === undefined ? [] : [data(d)]));
    b.module = "_hashlib";
    m.dict.set(name, b);
  }
  func(vm, m, "new", ([n, d]) => make(text(n), d === undefined ? [] : [data(d)])).module = "_hashlib";
  methods(vm, cls, v => v, {
    hexdigest: o => digest(o).toString("hex"),
    digest: o => vm.bytes(digest(o)),
    update: (o, [d]) => {
      if (o instanceof PyInstance) hashed.get(o)?.push(data(d));
      return null;
    },
  });
  return m;
}

export function jsonModule(vm: Machine): PyModule {
  const m = vm.newModule("json");
  const from = (x: unknown, source: string): Value => {
    if (x === null || typeof x === "string" || typeof x === "boolean") return x;
    if (typeof x === "number") return Number.isInteger(x) && !source.includes(`${x}.0`) ? x : new PyFloat(x);
    if (Array.isArray(x)) return vm.list(x.map(y => from(y, source)));
    return vm.dict(Object.entries(x as object).map(([k, v]) => [k, from(v, source)] as const));
  };
  const to = (v: Value): unknown => {
    const p = plain(v);
    if (p === null || typeof p === "string" || typeof p === "boolean" || typeof p === "number") return p;
    if (p instanceof PyFloat) return p.value;
    if (p instanceof PyList || p instanceof PyTuple) return p.items.map(to);
    if (p instanceof PyDict) return Object.fromEntries(p.entries().map(([k, x]) => [vm.str(k), to(x)]));
    return vm.str(p);
  };
  func(vm, m, "loads", ([s]) => {
    try {
      return from(JSON.parse(text(s)), text(s));
    } catch {
      return vm.raise("ValueError", "invalid JSON");
    }
  });
  func(vm, m, "dumps", ([v], kw) => {
    const indent = kw.get("indent");
    const made = JSON.stringify(to(v ?? null), null, typeof indent === "number" ? indent : undefined);
    return indent === undefined || indent === null ? made.replace(/,(?=")/g, ", ").replace(/":/g, '": ') : made;
  });
  func(vm, m, "load", () => vm.unknown("json.load(...)"));
  func(vm, m, "dump", () => null);
  return m;
}

/** steps that matching one text may take at worst */
const MAX_MATCHING = 1e8;

/** regular expressions: Python's syntax is close enough to JavaScript's for the patterns of model files */
export function reModule(vm: Machine): PyModule {
  const m = vm.newModule("re");
  const pattern = vm.klass("Pattern", [], "re");
  const match = vm.klass("Match", [], "re");
  const compiled = new Map<PyInstance, RegExp>();
  const matches = new Map<PyInstance, RegExpExecArray>();
  const regexp = (p: Value | undefined, flags: string): RegExp => {
    if (p instanceof PyInstance) {
      const known = compiled.get(p);
      if (known) return new RegExp(known.source, known.flags.replace("g", "") + flags.replace(/[^g]/g, ""));
    }
    const source = text(p)
      .replace(/\(\?P</g, "(?<")
      .replace(/\(\?P=(\w+)\)/g, "\\k<$1>")
      .replace(/\\Z/g, "$")
      .replace(/\\A/g, "^");
    // a pattern that could take for ever on the text is refused by its shape
    if (/(\([^)]*[+*][^)]*\))[+*]/.test(source)) return vm.raise("ValueError", "pattern is too complex here");
    try {
      return new RegExp(source, `${flags}s`);
    } catch {
      return vm.raise("ValueError", `cannot read the pattern ${source}`);
    }
  };
  const found = (r: RegExpExecArray | null): Value => {
    if (!r) return null;
    const o = new PyInstance(match);
    matches.set(o, r);
    return o;
  };
  /** matching backtracks: what could take for ever on this text is refused */
  const bounded = (re: RegExp, s: string): RegExp => {
    const loops = (re.source.match(/[^\\][+*]|\{\d*,\}/g) ?? []).length;
    const choices = /\((?:[^()]|\([^()]*\))*\|(?:[^()]|\([^()]*\))*\)(?:[+*]|\{)/.test(re.source);
    if ((choices && s.length > 24) || s.length ** Math.max(1, loops) > MAX_MATCHING)
      return vm.raise("ValueError", "the pattern is too complex for this text");
    vm.room(s.length);
    return re;
  };
  const regexpFor = (p: Value | undefined, flags: string, s: string): RegExp => bounded(regexp(p, flags), s);
  const search = (p: Value | undefined, s: string, how: "search" | "match" | "fullmatch"): Value => {
    const re = regexpFor(p, "", s);
    if (how === "search") return found(re.exec(s));
    return found(new RegExp(how === "match" ? `^(?:${re.source})` : `^(?:${re.source})$`, re.flags).exec(s));
  };
  const table = {
    search: (p: Value, [s]: readonly Value[]) => search(p, text(s), "search"),
    match: (p: Value, [s]: readonly Value[]) => search(p, text(s), "match"),
    fullmatch: (p: Value, [s]: readonly Value[]) => search(p, text(s), "fullmatch"),
    findall: (p: Value, [s]: readonly Value[]) =>
      vm.list(
        [...text(s).matchAll(regexpFor(p, "g", text(s)))].map(r =>
          r.length > 2 ? vm.tuple(r.slice(1)) : (r[1] ?? r[0]),
        ),
      ),
    finditer: (p: Value, [s]: readonly Value[]) =>
      vm.iterate(vm.list([...text(s).matchAll(regexpFor(p, "g", text(s)))].map(r => found(r as RegExpExecArray)))),
    split: (p: Value, [s]: readonly Value[]) =>
      vm.list(
        text(s)
          .split(regexpFor(p, "", text(s)))
          .map(x => x ?? null),
      ),
    sub: (p: Value, [by, s]: readonly Value[]) =>
      text(s).replace(regexpFor(p, "g", text(s)), (...r: unknown[]) => {
        if (typeof by !== "string") return vm.str(vm.call(by ?? null, [found(r.slice(0, -2) as RegExpExecArray)]));
        return by.replace(/\\(\d)|\\g<(\w+)>/g, (_, n) => String(r[Number(n)] ?? ""));
      }),
  };
  methods(vm, pattern, v => v, table);
  for (const [name, fn] of Object.entries(table)) func(vm, m, name, ([p, ...args]) => fn(p ?? null, args));
  func(vm, m, "compile", ([p]) => {
    const o = new PyInstance(pattern);
    compiled.set(o, regexp(p, ""));
    o.attrs = vm.dict([["pattern", p ?? ""]]);
    return o;
  });
  func(vm, m, "escape", ([s]) => text(s).replace(/[^\w]/g, "\\$&"));
  for (const [i, name] of ["I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE"].entries())
    m.dict.set(name, i);
  const group = (o: Value, k: Value): Value => {
    const r = o instanceof PyInstance ? matches.get(o) : undefined;
    return (typeof k === "string" ? r?.groups?.[k] : r?.[vm.index(k)]) ?? null;
  };
  methods(vm, match, v => v, {
    group: (o, ks) => (ks.length > 1 ? vm.tuple(ks.map(k => group(o, k))) : group(o, ks[0] ?? 0)),
    groups: o => vm.tuple((o instanceof PyInstance ? (matches.get(o)?.slice(1) ?? []) : []).map(x => x ?? null)),
    groupdict: o => vm.dict(Object.entries((o instanceof PyInstance && matches.get(o)?.groups) || {})),
    start: o => (o instanceof PyInstance ? (matches.get(o)?.index ?? 0) : 0),
    end: o => (o instanceof PyInstance ? (matches.get(o)?.index ?? 0) + (matches.get(o)?.[0].length ?? 0) : 0),
    __getitem__: (o, [k]) => group(o, k ?? 0),
  });
  return m;
}

export function inspectModule(vm: Machine): PyModule {
  const m = vm.newModule("inspect");
  const empty = vm.klass("_empty", [], "inspect");
  const parameter = vm.klass("Parameter", [], "inspect");
  parameter.dict.set("empty", empty);
  for (const k of ["POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD"]) {
    parameter.dict.set(k, k);
  }
  m.dict.set("Parameter", parameter);
  m.dict.set("_empty", empty);
  const signature = vm.klass("Signature", [], "inspect");
  signature.dict.set("empty", empty);
  m.dict.set("Signature", signature);
  const unwrap = (f: Value): { f: PyFunction; skip: number } | undefined => {
    if (f instanceof PyFunction) {
      const inner = f.attrs?.get("__wrapped__");
      return inner === undefined ? { f, skip: 0 } : unwrap(inner);
    }
    if (f instanceof PyMethod) {
      const inner = unwrap(f.func);
      return inner && { f: inner.f, skip: 1 };
    }
    if (f instanceof PyClass) {
      const init = f.lookup("__init__");
      return init instanceof PyFunction ? { f: init, skip: 1 } : undefined;
    }
    const call = special(vm, f, "forward") ?? special(vm, f, "__call__");
    return call instanceof PyMethod ? unwrap(call) : undefined;
  };
  func(vm, m, "signature", ([f]) => {
    const s = new PyInstance(signature);
    const params = vm.dict();
    const target = unwrap(f ?? null);
    if (target) {
      const code = target.f.code;
      const add = (name: string, kind: string, value: Value | undefined): void => {
        const p = new PyInstance(parameter);
        p.attrs = vm.dict([
          ["name", name],
          ["kind", kind],
          ["default", value ?? empty],
          ["annotation", empty],
        ]);
        params.set(name, p);
      };
      const firstDefault = code.argCount - target.f.defaults.length;
      for (let i = target.skip; i < code.argCount; i++) {
        add(
          code.varnames[i] ?? "",
          "POSITIONAL_OR_KEYWORD",
          i >= firstDefault ? target.f.defaults[i - firstDefault] : undefined,
        );
      }
      let next = code.argCount + code.kwOnlyCount;
      if (code.varargs) add(code.varnames[next++] ?? "args", "VAR_POSITIONAL", undefined);
      for (let i = code.argCount; i < code.argCount + code.kwOnlyCount; i++) {
        const n = code.varnames[i] ?? "";
        add(n, "KEYWORD_ONLY", target.f.kwDefaults.get(n));
      }
      if (code.varkw) add(code.varnames[next] ?? "kwargs", "VAR_KEYWORD", undefined);
    }
    s.attrs = vm.dict([
      ["parameters", params],
      ["return_annotation", empty],
    ]);
    return s;
  });
  func(vm, m, "isfunction", ([f]) => f instanceof PyFunction);
  func(vm, m, "ismethod", ([f]) => f instanceof PyMethod);
  func(vm, m, "isclass", ([f]) => f instanceof PyClass);
  func(vm, m, "isbuiltin", ([f]) => f instanceof PyBuiltin);
  func(vm, m, "isgeneratorfunction", ([f]) => f instanceof PyFunction && f.code.isGenerator);
  func(vm, m, "ismodule", ([f]) => f instanceof PyObject && f.cls === vm.types.module);
  func(vm, m, "getmembers", ([o]) =>
    vm.list(
      vm
        .toArray(vm.call(vm.builtins.get("dir") ?? null, [o ?? null]))
        .map(n => vm.tuple([n, vm.getattrOrUndefined(o ?? null, String(n)) ?? null])),
    ),
  );
  func(vm, m, "getfullargspec", ([f]) => {
    const target = unwrap(f ?? null);
    const spec = vm.call(vm.getattr(vm.importModule("collections", null), "namedtuple"), [
      "FullArgSpec",
      "args varargs varkw defaults kwonlyargs kwonlydefaults annotations",
    ]);
    const code = target?.f.code;
    return vm.call(spec, [
      vm.list(code?.varnames.slice(0, code.argCount) ?? []),
      null,
      null,
      vm.tuple(target?.f.defaults ?? []),
      vm.list(code?.varnames.slice(code.argCount, code.argCount + code.kwOnlyCount) ?? []),
      null,
      vm.dict(),
    ]);
  });
  func(vm, m, "getsource", () => "");
  func(vm, m, "getfile", () => "");
  func(vm, m, "stack", () => vm.list([]));
  func(vm, m, "currentframe", () => vm.unknown("inspect.currentframe()"));
  func(vm, m, "unwrap", ([f]) => unwrap(f ?? null)?.f ?? f ?? null);
  return m;
}

export function typingModule(vm: Machine, abstracts: Map<string, PyClass>, name: string): PyModule {
  const m = vm.newModule(name);
  const form = vm.klass("_SpecialForm", [], "typing");
  const t = vm.types;
  const same: Record<string, PyClass> = {
    List: t.list,
    Dict: t.dict,
    Tuple: t.tuple,
    Set: t.set,
    FrozenSet: t.frozenset,
    Type: t.type,
    Text: t.str,
    DefaultDict: t.dict,
    OrderedDict: t.dict,
  };
  for (const [k, v] of Object.entries(same)) m.dict.set(k, v);
  for (const [k, v] of abstracts) m.dict.set(k, v);
  m.dict.set("TYPE_CHECKING", false);
  const typeVar = vm.klass("TypeVar", [], "typing");
  const variable = (n: Value | undefined): Value => new PyNamed(typeVar, `~${text(n)}`);
  for (const n of ["TypeVar", "ParamSpec", "TypeVarTuple"]) func(vm, m, n, ([s]) => variable(s));
  func(vm, m, "NewType", ([, c]) => c ?? null);
  func(vm, m, "cast", ([, v]) => v ?? null);
  func(vm, m, "overload", ([f]) => f ?? null);
  func(vm, m, "final", ([f]) => f ?? null);
  func(vm, m, "override", ([f]) => f ?? null);
  func(vm, m, "no_type_check", ([f]) => f ?? null);
  func(vm, m, "runtime_checkable", ([c]) => c ?? null);
  func(vm, m, "dataclass_transform", () => vm.builtin("decorator", ([c]) => c ?? null));
  func(vm, m, "get_type_hints", ([o]) => vm.getattrOrUndefined(o ?? null, "__annotations__") ?? vm.dict());
  func(vm, m, "get_origin", () => null);
  func(vm, m, "get_args", ([o]) => (o instanceof PyTuple ? o : vm.tuple([])));
  func(vm, m, "assert_never", () => null);
  func(vm, m, "reveal_type", ([v]) => v ?? null);
  func(vm, m, "TypedDict", () => t.dict);
  m.dict.set("TypedDict", vm.klass("TypedDict", [t.dict], "typing"));
  const meta = vm.klass("NamedTupleMeta", [t.type], "typing");
  const collect = (n: Value, body: PyDict): Value => {
    const annotations = body.get("__annotations__");
    const names = annotations instanceof PyDict ? annotations.keys() : [];
    const defaults = names.map(k => body.get(String(k))).filter(v => v !== undefined);
    const rest = vm.dict();
    for (const [k, v] of body.entries()) if (!names.includes(k)) rest.set(String(k), v);
    const make = vm.getattr(vm.importModule("collections", null), "_make_namedtuple");
    return vm.call(make, [n, vm.tuple(names), vm.tuple(defaults), t.tuple, rest]);
  };
  const namedTuple = new PyClass("NamedTuple", [t.object], vm.dict(), meta);
  method(vm, meta, "__call__", ([c, n, bases, body]) => {
    if (c === namedTuple) {
      const fields = vm.toArray(bases ?? vm.list([])).map(p => vm.getitem(p, 0));
      return vm.call(vm.getattr(vm.importModule("collections", null), "namedtuple"), [n ?? "", vm.list(fields)]);
    }
    return collect(n ?? "", body instanceof PyDict ? body : vm.dict());
  });
  meta.dict.set(
    "__new__",
    new PyStaticMethod(
      t.staticmethod,
      vm.builtin("__new__", ([, n, , body]) => collect(n ?? "", body instanceof PyDict ? body : vm.dict())),
    ),
  );
  m.dict.set("NamedTuple", namedTuple);
  m.lazy = n => (/^[A-Z]/.test(n) ? new PyNamed(form, `typing.${n}`) : undefined);
  return m;
}

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

export function smallModule(vm: Machine, name: string): PyModule | undefined {
  const m = vm.newModule(name);
  switch (name) {
    case "gc":
      for (const n of ["collect", "disable", "enable", "freeze"]) func(vm, m, n, () => 0);
      return m;
    case "string":
      m.dict.set("ascii_letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
      m.dict.set("ascii_lowercase", "abcdefghijklmnopqrstuvwxyz");
      m.dict.set("ascii_uppercase", "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
      m.dict.set("digits", "0123456789");
      m.dict.set("punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
      return m;
    case "textwrap":
      func(vm, m, "dedent", ([s]) => s ?? "");
      func(vm, m, "indent", ([s]) => s ?? "");
      return m;
    case "numbers": {
      const number = abstractClass(vm, "Number", "numbers", v => typeof v === "number" || v instanceof PyFloat);
      m.dict.set("Number", number);
      m.dict.set("Real", number);
      m.dict.set("Complex", number);
      m.dict.set(
        "Integral",
        abstractClass(vm, "Integral", "numbers", v => typeof v === "number"),
      );
      return m;
    }
    case "importlib":
      func(vm, m, "import_module", ([n]) => vm.importModule(text(n), null));
      func(vm, m, "reload", ([n]) => n ?? null);
      m.lazy = n => (n === "util" || n === "metadata" ? vm.importModule(`importlib.${n}`, null) : undefined);
      return m;
    case "importlib.util":
      func(vm, m, "find_spec", ([n]) => (/^(torch|numpy|einops)$/.test(text(n)) ? vm.unknown("spec") : null));
      return m;
    case "importlib.metadata":
      func(vm, m, "version", ([n]) =>
        text(n) === "torch"
          ? "2.11.0"
          : vm.raise("ModuleNotFoundError", `No package metadata was found for ${text(n)}`),
      );
      m.dict.set("PackageNotFoundError", vm.exceptionClass("ModuleNotFoundError"));
      return m;
    case "platform":
      for (const [n, v] of [
        ["system", "Linux"],
        ["machine", "x86_64"],
        ["python_version", "3.12.8"],
        ["platform", "Linux"],
      ]) {
        func(vm, m, n ?? "", () => v ?? "");
      }
      return m;
    case "uuid":
      func(vm, m, "uuid4", () => "00000000-0000-4000-8000-000000000000");
      return m;
    case "glob":
      func(vm, m, "glob", () => vm.list([]));
      return m;
    case "atexit":
      func(vm, m, "register", ([f]) => f ?? null);
      return m;
    case "traceback":
      for (const n of ["print_exc", "print_stack", "format_exc"]) func(vm, m, n, () => "");
      return m;
    case "weakref": {
      func(vm, m, "ref", ([o]) => vm.builtin("ref", () => o ?? null));
      func(vm, m, "proxy", ([o]) => o ?? null);
      m.dict.set("WeakKeyDictionary", vm.types.dict);
      m.dict.set("WeakValueDictionary", vm.types.dict);
      m.dict.set("WeakSet", vm.types.set);
      return m;
    }
    case "pprint":
      func(vm, m, "pprint", ([v]) => {
        vm.print(`${vm.repr(v ?? null)}\n`);
        return null;
      });
      return m;
    case "bisect": {
      const at = (xs: Value, x: Value, right: boolean): number =>
        vm.toArray(xs).filter(y => vm.truthy(vm.compare(right ? "<=" : "<", y, x))).length;
      func(vm, m, "bisect_left", ([xs, x]) => at(xs ?? null, x ?? null, false));
      func(vm, m, "bisect_right", ([xs, x]) => at(xs ?? null, x ?? null, true));
      func(vm, m, "bisect", ([xs, x]) => at(xs ?? null, x ?? null, true));
      return m;
    }
    case "statistics":
      m.dict.set(
        "mean",
        native(vm, "mean", ["data"], a => {
          const items = vm.toArray(a.need("data"));
          return vm.binary(
            "/",
            items.reduce((x, y) => vm.binary("+", x, y), 0),
            items.length,
          );
        }),
      );
      return m;
    case "cmath":
    case "keyword":
    case "threading":
    case "queue":
    case "multiprocessing":
    case "concurrent":
    case "concurrent.futures":
    case "subprocess":
    case "shutil":
    case "tempfile":
    case "datetime":
    case "pickle":
    case "io":
    case "struct":
    case "base64":
    case "csv":
    case "heapq":
    case "signal":
    case "socket":
    case "urllib":
    case "urllib.request":
    case "urllib.parse":
    case "zipfile":
    case "tarfile":
    case "fractions":
    case "decimal":
    case "array":
    case "ctypes":
    case "getpass":
    case "secrets":
    case "unittest":
    case "unittest.mock":
    case "cProfile":
    case "asyncio":
    case "html":
    case "itertools_ext":
      m.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`${name}.${n}`));
      return m;
    default:
      return undefined;
  }
}

export { PyUnknown };
