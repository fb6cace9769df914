// inspect and typing: signatures of interpreted functions, and the forms that annotations are made of.
import { func, method } from "../builtins/define";
import { PyFunction } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { plain, special } from "../interp/operators";
import {
  PyBuiltin,
  PyClass,
  PyDict,
  PyInstance,
  PyMethod,
  type PyModule,
  PyNamed,
  PyObject,
  PyStaticMethod,
  PyTuple,
  type Value,
} from "../objects/values";

import { frameAt, moduleOf, stackOf } from "./frames";

const LITERAL = "typing.Literal";

const text = (v: Value | undefined): string => String(plain(v ?? null));

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
          ["default", value === undefined ? empty : value],
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
  func(vm, m, "stack", () => stackOf(vm));
  func(vm, m, "currentframe", () => frameAt(vm, 0));
  func(vm, m, "getmodule", ([o]) => moduleOf(vm, o ?? null));
  func(vm, m, "unwrap", ([f]) => unwrap(f ?? null)?.f ?? f ?? null);
  return m;
}

export function typingModule(vm: Machine, abstracts: Map<string, PyClass>, name: string): PyModule {
  const m = vm.newModule(name);
  const form = vm.klass("_SpecialForm", [], "typing");
  // a Literal keeps its values, which get_args gives; Optional[...] and the like are themselves
  method(vm, form, "__getitem__", ([self, key]) => {
    if (!(self instanceof PyNamed) || self.text !== LITERAL) return self ?? null;
    const values = key instanceof PyTuple ? key : vm.tuple([key ?? null]);
    return new PyNamed(form, `${LITERAL}[${values.items.map(v => vm.repr(v)).join(", ")}]`, values);
  });
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
  func(vm, m, "get_args", ([o]) => {
    const items = o instanceof PyNamed ? o.data : o;
    return items instanceof PyTuple ? items : vm.tuple([]);
  });
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
