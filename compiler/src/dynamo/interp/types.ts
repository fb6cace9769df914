// The built-in classes of Python, before any of them has a method.
import { PyClass, PyDict } from "../objects/values";
import type { Types } from "./api";

export function makeTypes(): Types {
  // `type` and `object` need each other and a dict class that needs both
  const placeholder = { name: "dict" } as unknown as PyClass;
  const raw = (name: string, bases: PyClass[], meta: PyClass | null): PyClass =>
    new PyClass(name, bases, new PyDict(placeholder), meta);
  const type = raw("type", [], null);
  const object = raw("object", [], type);
  type.mro = [type, object];
  type.bases = [object];
  const made = (name: string, base = object): PyClass => raw(name, [base], type);
  const dict = made("dict");
  const int = made("int");
  const all = [type, object, dict, int];
  const add = (name: string, base = object): PyClass => {
    const c = made(name, base);
    all.push(c);
    return c;
  };
  const types: Types = {
    object,
    type,
    dict,
    int,
    none: add("NoneType"),
    bool: add("bool", int),
    float: add("float"),
    complex: add("complex"),
    str: add("str"),
    bytes: add("bytes"),
    list: add("list"),
    tuple: add("tuple"),
    set: add("set"),
    frozenset: add("frozenset"),
    range: add("range"),
    slice: add("slice"),
    func: add("function"),
    method: add("method"),
    builtin: add("builtin_function_or_method"),
    module: add("module"),
    generator: add("generator"),
    iterator: add("iterator"),
    cell: add("cell"),
    property: add("property"),
    staticmethod: add("staticmethod"),
    classmethod: add("classmethod"),
    super: add("super"),
    ellipsis: add("ellipsis"),
    notImplemented: add("NotImplementedType"),
    unknown: add("unknown"),
    code: add("code"),
    exception: add("BaseException"),
  };
  for (const c of all) c.dict.cls = dict;
  return types;
}
