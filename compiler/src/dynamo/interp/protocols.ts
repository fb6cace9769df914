// Methods behind operators that values of built-in types have under their names: `hasattr(sizes, "__iter__")`,
// `self.fn.__call__`. In: a value and a name that nothing else has found. Out: the method, made of the operator.
import { PyBuiltin, PyMethod, type Value } from "../objects/values";
import type { Interp } from "./api";
import { PyFunction } from "./frame";

interface Protocol {
  readonly types: ReadonlySet<string>;
  readonly module: "builtins" | "operator";
  readonly name: string;
}

const protocol = (types: string, module: Protocol["module"], name: string): Protocol => ({
  types: new Set(types.split(" ")),
  module,
  name,
});

const NUMBERS = "int float bool complex";
const SEQUENCES = "str list tuple range bytes";
const CONTAINERS = `${SEQUENCES} dict set frozenset`;
const JOINED = `str list tuple bytes ${NUMBERS}`;

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map([
  ["__iter__", protocol(`${CONTAINERS} generator`, "builtins", "iter")],
  ["__len__", protocol(CONTAINERS, "builtins", "len")],
  ["__getitem__", protocol(`${SEQUENCES} dict`, "operator", "getitem")],
  ["__contains__", protocol(CONTAINERS, "operator", "contains")],
  ["__reversed__", protocol("list dict range", "builtins", "reversed")],
  ["__add__", protocol(JOINED, "operator", "add")],
  ["__mul__", protocol(JOINED, "operator", "mul")],
  ["__bool__", protocol(`${NUMBERS} NoneType`, "builtins", "bool")],
  ["__int__", protocol("int float bool", "builtins", "int")],
  ["__float__", protocol("int float bool", "builtins", "float")],
]);

export function protocolMethod(vm: Interp, o: Value, name: string): Value | undefined {
  if (name === "__call__" && (o instanceof PyFunction || o instanceof PyBuiltin || o instanceof PyMethod)) return o;
  const p = PROTOCOLS.get(name);
  if (!p?.types.has(builtinName(vm, o, p.types) ?? "")) return undefined;
  const operator = vm.getattr(vm.importModule(p.module, null), p.name);
  return vm.builtin(name, args => vm.call(operator, [o, ...args]));
}

/** the built-in type that a value is of, or its class derives from */
const builtinName = (vm: Interp, o: Value, among: ReadonlySet<string>): string | undefined =>
  vm.typeOf(o).mro.find(c => c.module === "builtins" && among.has(c.name))?.name;
