// os, sys, time, random and hashlib. In: the machine. Out: module objects. Nothing here touches the machine that
// FuseLens runs on: there are no files but texts of the project, no clock, no environment but the one given.

import { createHash } from "node:crypto";
import { func, methods } from "../builtins/define";
import { truthAskedNext } from "../code/raising_branch";
import type { Machine } from "../interp/machine";
import { asFloat } from "../interp/numbers";
import { plain } from "../interp/operators";
import {
  PyBuiltin,
  PyBytes,
  type PyDict,
  PyFloat,
  PyInstance,
  type PyModule,
  PyUnknown,
  type Value,
} from "../objects/values";
import { frameAt } from "./frames";

const text = (v: Value | undefined): string => String(plain(v ?? null));

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
  const listed = (p: Value | undefined): string[] => vm.host.texts?.list(vm.str(p ?? ".")) ?? [];
  func(vm, m, "listdir", ([p]) => vm.list(listed(p)));
  func(vm, m, "walk", () => vm.list([]));
  // folders that the program has made
  const made = new Set<string>();
  const folder = (p: Value | undefined): string => vm.str(p ?? "").replace(/\/+$/, "");
  for (const name of ["makedirs", "mkdir"])
    func(vm, m, name, ([p]) => {
      made.add(folder(p));
      return null;
    });
  for (const name of ["remove", "unlink", "chdir", "system", "rename"]) func(vm, m, name, () => null);
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
  // a file that the program refuses to go on without is taken to be there
  const refused = (): boolean => truthAskedNext(vm.frames[vm.frames.length - 1]) ?? false;
  for (const name of ["exists", "isfile"])
    func(
      vm,
      path,
      name,
      ([p]) => vm.host.texts?.exists(vm.str(p ?? "")) || (name === "exists" && made.has(folder(p))) || refused(),
    );
  func(vm, path, "isdir", ([p]) => listed(p).length > 0 || made.has(folder(p)) || refused());
  for (const name of ["islink", "ismount"]) func(vm, path, name, refused);
  for (const name of ["abspath", "realpath", "expanduser", "normpath", "expandvars"]) {
    func(vm, path, name, ([p]) => vm.str(p ?? ""));
  }
  func(vm, path, "getsize", () => 0);
  func(vm, path, "getmtime", () => new PyFloat(0));
  func(vm, path, "isabs", ([p]) => vm.str(p ?? "").startsWith("/"));
  func(vm, path, "relpath", ([p]) => vm.str(p ?? ""));
  path.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`os.path.${n}`));
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
  methods(vm, stream, v => v, {
    write: () => 0,
    read: () => "",
    readline: () => "",
    flush: () => null,
    isatty: () => false,
    writelines: () => null,
    fileno: () => 1,
    __enter__: o => o,
    __exit__: () => null,
    close: () => null,
  });
  for (const name of ["stdout", "stderr", "stdin", "__stdout__"]) m.dict.set(name, new PyInstance(stream));
  func(vm, m, "exit", () => {
    throw vm.makeError("SystemExit", []);
  });
  for (const name of ["setrecursionlimit", "settrace", "excepthook"]) func(vm, m, name, () => null);
  func(vm, m, "getdefaultencoding", () => "utf-8");
  func(vm, m, "getfilesystemencoding", () => "utf-8");
  m.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`sys.${n}`));
  func(vm, m, "getrecursionlimit", () => 1000);
  func(vm, m, "_getframe", ([n]) => frameAt(vm, vm.index(n ?? 0)));
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
  const hash = (algorithm: string, d: Value | undefined): Value =>
    d instanceof PyUnknown ? vm.unknown("a hash") : make(algorithm, d === undefined ? [] : [data(d)]);
  for (const name of ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]) {
    const b = new PyBuiltin(vm.types.builtin, `openssl_${name}`, ([d]) => hash(name, d));
    b.module = "_hashlib";
    m.dict.set(name, b);
  }
  func(vm, m, "new", ([n, d]) => hash(text(n), d)).module = "_hashlib";
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
