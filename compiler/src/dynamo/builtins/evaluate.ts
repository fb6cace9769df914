// eval and exec: text of the program's own, interpreted like the rest of it. In: the text, the names it may use. Out: the
// expression's value; exec leaves its names in the namespace. A text that is no Python raises SyntaxError.
import { PythonFile } from "../../python/file";
import { compileModule } from "../code/compiler";
import type { Code } from "../code/instructions";
import { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { plain } from "../interp/operators";
import { PyDict, PyFloat, PyModule, type Value } from "../objects/values";

/** where an expression's value is left */
const RESULT = "__evaluated__";
/** characters: a program that makes longer text of its own would take all steps to read it */
const LONGEST = 100_000;

export function evaluate(vm: Machine, text: Value, globals?: Value, locals?: Value): Value {
  const given = plain(text);
  if (typeof given !== "string") return vm.unknown("eval(...)");
  const s = given.trim();
  // names and numbers, which is what most configurations hold, need no parser
  if (/^-?\d+$/.test(s)) return Number(s);
  if (/^-?\d*\.\d+$/.test(s)) return new PyFloat(Number(s));
  const names = namespace(vm, globals, locals);
  runText(vm, codeOf(vm, `${RESULT} = (${s}\n)`), names);
  return names.locals.get(RESULT) ?? null;
}

export function execute(vm: Machine, text: Value, globals?: Value, locals?: Value): Value {
  const given = plain(text);
  if (typeof given !== "string") {
    vm.report("no-exec", "exec() of text that is not known here is not followed", "warning");
    return null;
  }
  const names = namespace(vm, globals, locals);
  runText(vm, codeOf(vm, given), names);
  // what exec defines, callers find in the dict that they gave, or in a module's own names
  if (names.written) for (const [k, v] of names.locals.entries()) names.written.set(String(k), v);
  return null;
}

interface Names {
  readonly globals: PyDict;
  readonly locals: PyDict;
  /** where exec's definitions go */
  readonly written: PyDict | undefined;
}

function namespace(vm: Machine, globals: Value | undefined, locals: Value | undefined): Names {
  const frame = vm.frames[vm.frames.length - 1];
  const asDict = (v: Value | undefined): PyDict | undefined =>
    v instanceof PyDict ? v : v instanceof PyModule ? v.dict : undefined;
  const [g, l] = [asDict(globals), asDict(locals)];
  if (g) {
    if (g.get("__builtins__") === undefined) g.set("__builtins__", vm.importModule("builtins", null));
    return { globals: g, locals: copied(vm, l), written: l ?? g };
  }
  const own = vm.dict();
  frame?.code.varnames.forEach((name, i) => {
    const v = frame.locals[i];
    if (v !== undefined) own.set(name, v);
  });
  for (const [k, v] of frame?.names?.entries() ?? []) own.set(String(k), v);
  return { globals: frame?.globals ?? vm.dict(), locals: own, written: frame?.names ?? undefined };
}

function copied(vm: Machine, d: PyDict | undefined): PyDict {
  return vm.dict((d?.entries() ?? []).map(([k, v]) => [String(k), v] as const));
}

function codeOf(vm: Machine, text: string): Code {
  if (text.length > LONGEST) vm.raise("MemoryError", "the text is too long to be followed");
  const parsed = new PythonFile(text);
  if (parsed.problems.length > 0) vm.raise("SyntaxError", "invalid syntax");
  return compileModule(parsed.module, { name: "<string>", lines: text.split("\n"), library: "hidden" }, text);
}

function runText(vm: Machine, code: Code, names: Names): void {
  const frame = new Frame(code, names.globals, null, []);
  frame.names = names.locals;
  vm.run(frame);
}
