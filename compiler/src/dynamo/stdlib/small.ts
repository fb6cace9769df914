// Modules of the standard library that take a few lines each, and those of which only the names are known.
import { PythonFile } from "../../python/file";
import { walk } from "../../python/walk";
import { func, native } from "../builtins/define";
import { evaluate } from "../builtins/evaluate";
import type { Machine } from "../interp/machine";
import { plain } from "../interp/operators";
import { isPrepared } from "../interp/prepared";
import { runningFile } from "../interp/running_file";
import { PyFloat, PyInstance, type PyModule, PyUnknown, type Value } from "../objects/values";
import { abstractClass } from "./abstract";

const text = (v: Value | undefined): string => String(plain(v ?? null));

const LITERAL = /^(Expr|Constant|Tuple|List|Dict|Set|UnaryOp|BinOp)$/;

/** the value of a text that is a literal: ValueError where it is another expression, as a name is */
function literal(vm: Machine, given: Value): Value {
  const s = plain(given);
  if (typeof s !== "string") return s instanceof PyUnknown ? vm.unknown("ast.literal_eval(...)") : given;
  const parsed = new PythonFile(s.trim());
  let other = parsed.module.body.length !== 1;
  walk(parsed.module.body, n => {
    other ||= !LITERAL.test(n.kind);
  });
  if (parsed.problems.length > 0) return vm.raise("SyntaxError", "invalid syntax");
  return other ? vm.raise("ValueError", `malformed node or string: ${s}`) : evaluate(vm, s);
}

/** modules of the standard library of which nothing is modelled: they are there, and what comes from them is unknown */
const NAMES_ALONE: ReadonlySet<string> = new Set(
  (
    "aifc array asynchat asyncio asyncore audioop base64 bdb binascii bz2 cProfile calendar cgi " +
    "cgitb chunk cmath cmd code codecs codeop colorsys compileall concurrent concurrent.futures " +
    "contextvars copyreg crypt csv ctypes curses datetime dbm decimal difflib dis distutils " +
    "doctest email email.mime encodings ensurepip errno faulthandler fcntl filecmp fileinput fnmatch fractions " +
    "ftplib genericpath getopt getpass gettext graphlib grp gzip heapq hmac html http http.client http.server " +
    "imaplib imghdr imp importlib.abc importlib.machinery importlib.resources ipaddress keyword linecache locale " +
    "logging.handlers lzma mailbox mailcap marshal mimetypes mmap modulefinder msilib multiprocessing " +
    "multiprocessing.pool netrc nis nntplib ntpath nturl2path opcode optparse ossaudiodev pdb pickle " +
    "pickletools pipes pkgutil plistlib poplib posixpath profile pstats pty pwd py_compile pyclbr pydoc pydoc_data " +
    "pyexpat queue quopri readline reprlib resource rlcompleter runpy sched secrets select selectors shelve " +
    "shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse " +
    "ssl stat stringprep struct subprocess sunau symtable sysconfig syslog tabnanny tarfile telnetlib tempfile " +
    "termios threading timeit token tokenize tomllib trace tracemalloc tty unicodedata unittest unittest.mock urllib " +
    "urllib.error urllib.parse urllib.request uu venv wave webbrowser wsgiref xdrlib xml xml.etree " +
    "xml.etree.ElementTree xmlrpc zipapp zipfile zipimport zlib zoneinfo"
  ).split(" "),
);

/** libraries that are there wherever torch is, or that are modelled */
const THERE = /^(torch|torchvision|numpy|einops|timm|transformers|typing_extensions|packaging)(\.|$)/;

/** `absent`: whether a library that nobody knows is taken not to be there; it is remembered that it was asked for */
export function smallModule(vm: Machine, name: string, absent: (library: string) => boolean): PyModule | undefined {
  const m = vm.newModule(name);
  switch (name) {
    case "gc":
      for (const n of ["collect", "disable", "enable", "freeze"]) func(vm, m, n, () => 0);
      return m;
    case "string":
      m.dict.set("whitespace", " \t\n\r\v\f");
      m.dict.set("hexdigits", "0123456789abcdefABCDEF");
      m.dict.set("octdigits", "01234567");
      m.dict.set("ascii_letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
      m.dict.set("ascii_lowercase", "abcdefghijklmnopqrstuvwxyz");
      m.dict.set("ascii_uppercase", "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
      m.dict.set("digits", "0123456789");
      m.dict.set("punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
      return m;
    case "ast":
      func(vm, m, "literal_eval", ([s]) => literal(vm, s ?? null));
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
      func(vm, m, "import_module", ([n]) => (n instanceof PyUnknown ? n : vm.importModule(text(n), runningFile(vm))));
      func(vm, m, "reload", ([n]) => n ?? null);
      m.lazy = n => (n === "util" || n === "metadata" ? vm.importModule(`importlib.${n}`, null) : undefined);
      return m;
    case "importlib.util":
      func(vm, m, "find_spec", ([n]) => (THERE.test(text(n)) || !absent(text(n)) ? vm.unknown("spec") : null));
      return m;
    case "importlib.metadata":
      func(vm, m, "version", ([n]) => {
        if (text(n) === "torch") return "2.11.0";
        if (isPrepared(vm) && absent(text(n)))
          return vm.raise("ModuleNotFoundError", `No package metadata was found for ${text(n)}`);
        return "9.9.9";
      });
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
      for (const n of ["uuid1", "uuid4"]) {
        func(vm, m, n, () => {
          const id = new PyInstance(vm.klass("UUID", [], "uuid"));
          id.attrs = vm.dict([
            ["hex", "00000000000040008000000000000000"],
            ["int", 0],
          ]);
          return id;
        });
      }
      return m;
    case "glob":
      for (const n of ["glob", "iglob"]) func(vm, m, n, ([p]) => vm.list(vm.host.texts?.glob(vm.str(p ?? "")) ?? []));
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
    default:
      return undefined;
  }
}

/** a module of the standard library that is only known to be there; files of the workspace go before it */
export function nameAlone(vm: Machine, name: string): PyModule | undefined {
  if (!NAMES_ALONE.has(name)) return undefined;
  const m = vm.newModule(name);
  m.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`${name}.${n}`));
  return m;
}
