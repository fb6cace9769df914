// What numpy does to plain numbers, in one step each: tables of positions do it to each of their elements. In: numpy's
// module after its Python text has run. Promises: what is not a plain number goes to the Python text.
import { func } from "../builtins/define";
import type { Machine } from "../interp/machine";
import { withoutDtype } from "../objects/numpy_scalar";
import { PyFloat, PyInstance, PyList, type PyModule, PyTuple, type Value } from "../objects/values";

const ELEMENTWISE = {
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  tanh: Math.tanh,
  arctan: Math.atan,
  sqrt: Math.sqrt,
} as const;

export function numpyOfNumbers(vm: Machine, m: PyModule): void {
  const power = m.dict.get("power") ?? null;
  func(vm, m, "power", (args, kw) => {
    const [a, b] = args;
    const known = args.length === 2 && (a instanceof PyFloat || b instanceof PyFloat);
    const [x, y] = [numberOf(a), numberOf(b)];
    return known && x !== undefined && y !== undefined ? new PyFloat(x ** y) : vm.call(power, args, kw);
  });
  for (const [name, f] of Object.entries(ELEMENTWISE)) {
    const general = m.dict.get(name) ?? null;
    func(vm, m, name, (args, kw) => {
      const x = args.length === 1 ? numberOf(args[0]) : undefined;
      const r = x === undefined ? Number.NaN : f(x);
      return Number.isFinite(r) ? new PyFloat(r) : vm.call(general, args, kw);
    });
  }
  const plain = m.dict.get("_plain") ?? null;
  func(vm, m, "_plain", args => plainItems(vm, args[0] ?? null) ?? vm.call(plain, args));
}

const numberOf = (v: Value | undefined): number | undefined =>
  v instanceof PyFloat ? v.value : typeof v === "number" ? v : undefined;

/** nested lists without the dtypes of their numbers; undefined: they hold other things */
function plainItems(vm: Machine, v: Value): Value | undefined {
  if (typeof v === "number" || v instanceof PyFloat || typeof v === "boolean") return v;
  if (v instanceof PyList || v instanceof PyTuple) {
    vm.charge(v.items.length >> 4);
    const items: Value[] = [];
    for (const x of v.items) {
      const p = plainItems(vm, x);
      if (p === undefined) return undefined;
      items.push(p);
    }
    return new PyList(vm.types.list, items);
  }
  const number = v instanceof PyInstance ? withoutDtype(v) : v;
  return number === v ? undefined : number;
}
