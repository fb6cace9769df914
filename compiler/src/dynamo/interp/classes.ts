// The class statement: metaclass, namespace, __set_name__, __init_subclass__. In: body function, bases, keywords. Out: the
// class, or what the metaclass made of it.
import type { Code, Position } from "../code/instructions";
import {
  PyCell,
  PyClass,
  PyDict,
  PyInstance,
  PyModule,
  PyNamed,
  PyStaticMethod,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import { type Interp, PyError } from "./api";
import { bind } from "./attributes";
import { type Frame, PyFunction } from "./frame";
import { method } from "./native_method";

interface BodyRunner extends Interp {
  runCode(code: Code, globals: PyDict, names: PyDict | null, cells?: PyCell[]): Frame;
}

/** what a class that only says what others have is marked with, as typing does */
export const PROTOCOL = "_is_protocol";

export function buildClass(
  vm: BodyRunner,
  name: string,
  body: PyFunction,
  written: readonly Value[],
  keywords: Map<string, Value>,
  at: Position,
): Value {
  const bases = resolveBases(vm, written, definesForward(body));
  const metaclass = pickMetaclass(vm, bases, keywords.get("metaclass"));
  keywords.delete("metaclass");
  const prepare = metaclass === vm.types.type ? undefined : metaclass.lookup("__prepare__");
  const prepared =
    prepare === undefined
      ? undefined
      : vm.call(bind(vm, prepare, metaclass, metaclass), [name, vm.tuple(bases)], keywords);
  const names = prepared instanceof PyDict ? prepared : vm.dict();
  const moduleName = body.globals.get("__name__");
  names.set("__module__", moduleName ?? "__main__");
  names.set("__qualname__", body.code.qualname);
  if (body.code.docstring !== null) names.set("__doc__", body.code.docstring);
  const cells: PyCell[] = [];
  for (let i = 0; i < body.code.cellNames.length; i++) cells.push(new PyCell(vm.types.cell));
  cells.push(...body.closure);
  const frame = vm.runCode(body.code, body.globals, names, cells);
  const made =
    metaclass === vm.types.type
      ? makeClass(vm, vm.types.type, name, bases, names, keywords)
      : vm.call(metaclass, [name, vm.tuple(bases), names], keywords);
  if (made instanceof PyClass) {
    made.place = { file: body.code.file.name, line: at.span.line };
    made.module = typeof moduleName === "string" ? moduleName : "__main__";
    made.qualname = body.code.qualname;
    if (written.some(b => b instanceof PyNamed && b.text.startsWith("typing.Protocol"))) made.dict.set(PROTOCOL, true);
    const cell = body.code.cellNames.indexOf("__class__");
    const own = cell < 0 ? undefined : frame.cells[cell];
    if (own) own.value = made;
  }
  return made;
}

function definesForward(body: PyFunction): boolean {
  return body.code.instructions.some(
    i => i.op === "MAKE_FUNCTION" && (i.data as { readonly code: Code }).code.name === "forward",
  );
}

/** names of library classes that are modules */
const MODULE_LIKE = /(Module|Model|Net|Network|Layer|Block|Encoder|Decoder|Backbone|Head|Transformer|Attention)\w*$/;

/**
 * A base that nobody knows is a module that does nothing where the class has a forward or the base is named so, and an
 * empty class elsewhere; its constructor takes anything.
 */
function standIn(vm: Interp, b: PyUnknown, forward: boolean, others: readonly PyClass[]): PyClass {
  const name = b.what.split(".").pop() ?? "unknown";
  const module = vm.moduleBase();
  const known = module !== null && others.some(c => c.isSubclassOf(module));
  const isModule = module !== null && !known && (forward || (MODULE_LIKE.test(name) && !/^sklearn\b/.test(b.what)));
  const how = isModule ? "; it is taken to be a plain nn.Module" : "";
  vm.report("unknown-base", `the base class ${b.what} is not known here${how}`, "warning");
  const stand = vm.klass(name, [isModule ? module : vm.types.object], "unknown");
  const init = isModule ? module.lookup("__init__") : undefined;
  method(vm, stand, "__init__", ([self]) => (init === undefined ? null : vm.call(init, [self ?? null])));
  if (isModule) standForMembers(vm, stand, module, b.what);
  else if (!known) standForAttributes(vm, stand, b.what);
  return stand;
}

/** what an object that is no module inherits is unknown as well: a metric's states, what a base's constructor sets */
function standForAttributes(vm: Interp, stand: PyClass, what: string): void {
  method(vm, stand, "__getattr__", ([self, name]) => {
    const n = String(name);
    const cls = self instanceof PyInstance ? self.cls.name : stand.name;
    return n.startsWith("_")
      ? vm.raise("AttributeError", `'${cls}' object has no attribute '${n}'`)
      : vm.unknown(`${what}.${n}`);
  });
}

const LOADING = ["from_pretrained", "from_config", "load_from_checkpoint"] as const;

/** what a module inherits from a base that nobody knows is unknown: its forward, the parts that its constructor makes */
function standForMembers(vm: Interp, stand: PyClass, module: PyClass, what: string): void {
  method(vm, stand, "forward", ([, ...args], kwargs) => vm.call(vm.unknown(`${what}.forward`), args, kwargs));
  const members = module.lookup("__getattr__");
  const held = (run: () => Value): Value | undefined => {
    try {
      return run();
    } catch (e) {
      if (!(e instanceof PyError) || !e.value.cls.isSubclassOf(vm.exceptionClass("AttributeError"))) throw e;
      return undefined;
    }
  };
  // a part that nobody knows was made is deleted without a word
  const deletes = module.lookup("__delattr__");
  if (deletes !== undefined)
    method(vm, stand, "__delattr__", ([self, name]) => {
      held(() => vm.call(deletes, [self ?? null, name ?? null]));
      return null;
    });
  // weights that a class method loads
  for (const name of LOADING)
    stand.dict.set(
      name,
      vm.builtin(name, (args, kwargs) => vm.call(vm.unknown(`${what}.${name}`), args, kwargs)),
    );
  method(vm, stand, "__getattr__", ([self, name]) => {
    const found = members && held(() => vm.call(members, [self ?? null, name ?? null]));
    if (found !== undefined) return found;
    const n = String(name);
    if (n.startsWith("_")) return vm.raise("AttributeError", `'${stand.name}' object has no attribute '${n}'`);
    return vm.unknown(`${what}.${n}`);
  });
}

function resolveBases(vm: Interp, written: readonly Value[], forward = false): PyClass[] {
  const out: PyClass[] = [];
  for (const b of written) {
    if (b instanceof PyClass) out.push(b);
    else if (b instanceof PyUnknown) {
      const others = written.filter(o => o instanceof PyClass);
      out.push(standIn(vm, b, forward, others));
    } else if (b instanceof PyModule) vm.raise("TypeError", "module() takes at most 2 arguments (3 given)");
    else {
      const entries = vm.getattrOrUndefined(b, "__mro_entries__");
      if (entries !== undefined) {
        const r = vm.call(entries, [vm.tuple(written)]);
        for (const c of vm.toArray(r)) if (c instanceof PyClass) out.push(c);
      }
      // typing constructs (Generic[T], Protocol) add nothing
    }
  }
  return out.length > 0 ? out : [vm.types.object];
}

function pickMetaclass(vm: Interp, bases: readonly PyClass[], given: Value | undefined): PyClass {
  let best = given instanceof PyClass ? given : vm.types.type;
  for (const b of bases) {
    const m = b.cls;
    if (m !== best && m.isSubclassOf(best)) best = m;
  }
  return best;
}

/** type.__new__ */
function makeClass(
  vm: Interp,
  metaclass: PyClass,
  name: string,
  bases: readonly PyClass[],
  names: PyDict,
  keywords: ReadonlyMap<string, Value>,
): PyClass {
  const dict = vm.dict();
  for (const [k, key, v] of names.rawEntries()) dict.setKey(k, key, v);
  const init = dict.get("__init_subclass__");
  if (init instanceof PyFunction) dict.set("__init_subclass__", classMethod(vm, init));
  const newer = dict.get("__new__");
  if (newer instanceof PyFunction) dict.set("__new__", new PyStaticMethod(vm.types.staticmethod, newer));
  const item = dict.get("__class_getitem__");
  if (item instanceof PyFunction) dict.set("__class_getitem__", classMethod(vm, item));
  // an own __eq__ without __hash__ makes instances unhashable, except where identity is all the analysis needs
  const c = new PyClass(name, bases.length > 0 ? bases : [vm.types.object], dict, metaclass);
  for (const [, key, v] of dict.rawEntries()) {
    if (!(v instanceof PyInstance)) continue;
    const hook = v.cls.lookup("__set_name__");
    if (hook !== undefined) vm.call(bind(vm, hook, v, v.cls), [c, key]);
  }
  const parentInit = c.lookupAfter(c, "__init_subclass__");
  if (parentInit !== undefined) vm.call(bind(vm, parentInit, c, c), [], keywords);
  return c;
}

function classMethod(vm: Interp, f: PyFunction): Value {
  return vm.call(vm.types.classmethod, [f]);
}

/** type(name, bases, dict) and Meta(name, bases, dict) */
export function makeClassFromArgs(
  vm: Interp,
  metaclass: PyClass,
  args: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
): PyClass {
  const [name, bases, dict] = args;
  if (typeof name !== "string" || !(bases instanceof PyTuple) || !(dict instanceof PyDict)) {
    return vm.raise("TypeError", "type.__new__() takes a name, a tuple of bases and a dict");
  }
  return makeClass(vm, metaclass, name, resolveBases(vm, bases.items), dict, keywords);
}
