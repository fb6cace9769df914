// Running frames as inspect and sys show them. In: the machine. Out: frame objects, the innermost of the user's code first, and the
// module that a frame or another object is of.
import type { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { PyDict, PyInstance, PyModule, type Value } from "../objects/values";

const FRAME = "frame";

export function runningFrames(vm: Machine): PyInstance[] {
  const cls = vm.klass(FRAME, [], "builtins");
  const running = vm.frames.filter(f => f.code.file.library === "user");
  let outer: PyInstance | null = null;
  const made = running.map(f => {
    const o = new PyInstance(cls);
    o.attrs = vm.dict([
      ["f_globals", f.globals],
      ["f_locals", localsOf(vm, f)],
      ["f_lineno", f.code.firstLine],
      ["f_code", codeObject(vm, f)],
      ["f_back", outer],
    ]);
    outer = o;
    return o;
  });
  return made.reverse();
}

/** sys._getframe(depth), inspect.currentframe() */
export const frameAt = (vm: Machine, depth: number): Value =>
  runningFrames(vm)[depth] ?? vm.raise("ValueError", "call stack is not deep enough");

/** inspect.stack(): frame, file, line, function, lines of code, which of them */
export function stackOf(vm: Machine): Value {
  const info = vm.call(vm.getattr(vm.importModule("collections", null), "namedtuple"), [
    "FrameInfo",
    "frame filename lineno function code_context index",
  ]);
  const read = (o: Value, name: string): Value => vm.getattr(o, name);
  return vm.list(
    runningFrames(vm).map(f => {
      const code = read(f, "f_code");
      return vm.call(info, [f, read(code, "co_filename"), read(f, "f_lineno"), read(code, "co_name"), null, null]);
    }),
  );
}

/** inspect.getmodule() */
export function moduleOf(vm: Machine, o: Value): Value {
  if (o instanceof PyModule) return o;
  const globals = o instanceof PyInstance && o.cls.name === FRAME ? o.attrs?.get("f_globals") : undefined;
  if (globals instanceof PyDict) return globals.get("__module_object__") ?? null;
  const name = vm.getattrOrUndefined(o, "__module__");
  const known = vm.getattr(vm.importModule("sys", null), "modules");
  return typeof name === "string" && known instanceof PyDict ? (known.get(name) ?? null) : null;
}

/** names of a running function that have a value, with those of enclosing ones that it reads */
export function localsOf(vm: Machine, f: Frame): PyDict {
  const out = vm.dict();
  // parameters that inner functions use are in cells
  const held = new Map(f.code.cellParams);
  f.code.varnames.forEach((name, i) => {
    const cell = held.get(i);
    const own = f.locals[i];
    const v = own !== undefined || cell === undefined ? own : f.cells[cell]?.value;
    if (v !== undefined) out.set(name, v);
  });
  f.code.freeNames.forEach((name, i) => {
    const v = f.cells[f.code.cellNames.length + i]?.value;
    if (v !== undefined) out.set(name, v);
  });
  for (const [k, v] of f.names?.entries() ?? []) out.set(String(k), v);
  return out;
}

function codeObject(vm: Machine, f: Frame): PyInstance {
  const o = new PyInstance(vm.klass("code", [], "builtins"));
  o.attrs = vm.dict([
    ["co_name", f.code.name],
    ["co_filename", f.code.file.name],
    ["co_firstlineno", f.code.firstLine],
  ]);
  return o;
}
