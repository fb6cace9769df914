// Operators on any values: guests first (tensors, symbols), plain numbers and containers next, then the special methods
// of classes, reflected ones included. In: operands. Out: the value, or Python's TypeError.

import { equalityAsked } from "../code/raising_branch";
import {
  PyBytes,
  PyClass,
  PyDict,
  PyInstance,
  PyList,
  PyMethod,
  PyObject,
  PyRange,
  PySet,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import type { BinaryOperator, CompareOperator, Interp } from "./api";
import { bind } from "./attributes";
import { plainContains } from "./containers";
import { PyFunction } from "./frame";
import { asFloat, asInt, compareNumbers, type Int, isNumber, normal, numberOp } from "./numbers";
import { COMPARISON_WORDS, isComparison, OPERATOR_WORDS, SWAPPED } from "./operator_names";
import { percentFormat } from "./text";

/** the plain value inside an instance of a subclass of int, str, ... */
export function plain(v: Value): Value {
  return v instanceof PyInstance && v.payload !== undefined ? v.payload : v;
}

/** a special method found on the class of `o`; undefined if the class has none */
export function special(vm: Interp, o: Value, name: string): Value | undefined {
  if (!(o instanceof PyObject)) return undefined;
  const cls = vm.typeOf(o);
  const found = cls.lookup(name);
  return found === undefined || found === null ? undefined : bind(vm, found, o, cls);
}

function tryMethod(vm: Interp, o: Value, name: string, args: readonly Value[]): Value | undefined {
  const m = special(vm, o, name);
  if (m === undefined) return undefined;
  const r = vm.call(m, args);
  return r === vm.notImplemented ? undefined : r;
}

/** whether the class of a container, or one that it derives from, has this method in Python */
const writes = (o: Value, name: string): boolean =>
  (o instanceof PyList || o instanceof PyTuple || o instanceof PyDict || o instanceof PySet) &&
  o.cls.lookup(name) instanceof PyFunction;

export function binaryOperation(vm: Interp, op: BinaryOperator, a: Value, b: Value, inplace: boolean): Value {
  for (const g of vm.guests) {
    const r = g.binary?.(op, a, b, inplace);
    if (r !== undefined) return r;
  }
  const number = numberOp(vm, op, a, b);
  if (number !== undefined) return number;
  const name = OPERATOR_WORDS[op];
  if (inplace) {
    if (op === "+" && a instanceof PyList && !(a.cls.lookup("__iadd__") instanceof PyFunction)) {
      vm.observer?.mutated?.(a);
      vm.extend(a, vm.toArray(b));
      return a;
    }
    if (op === "|" && a instanceof PyDict && b instanceof PyDict) {
      for (const [k, key, v] of b.rawEntries()) a.setKey(k, key, v);
      return a;
    }
    if (a instanceof PySet && !a.frozen && b instanceof PySet) {
      const r = setOperation(vm, op, a, b);
      if (r) {
        a.replace(r.entries);
        return a;
      }
    }
    const r = tryMethod(vm, a, `__i${name}__`, [b]);
    if (r !== undefined) return r;
  }
  // a class that derives from a container may add in its own way
  const own = writes(a, `__${name}__`) || writes(b, `__r${name}__`);
  const container = own ? undefined : containerOperation(vm, op, a, b);
  if (container !== undefined) return container;
  const reflectedFirst =
    a instanceof PyObject && b instanceof PyObject && b.cls !== a.cls && vm.typeOf(b).isSubclassOf(vm.typeOf(a));
  if (reflectedFirst) {
    const r = tryMethod(vm, b, `__r${name}__`, [a]);
    if (r !== undefined) return r;
  }
  const left = tryMethod(vm, a, `__${name}__`, [b]);
  if (left !== undefined) return left;
  const right = tryMethod(vm, b, `__r${name}__`, [a]);
  if (right !== undefined) return right;
  const [pa, pb] = [plain(a), plain(b)];
  if (pa !== a || pb !== b) return binaryOperation(vm, op, pa, pb, false);
  if (a instanceof PyUnknown) return vm.unknown(`${a.what} ${op} ...`);
  if (b instanceof PyUnknown) return vm.unknown(`... ${op} ${b.what}`);
  // X | Y of annotations and isinstance
  if (op === "|" && (a instanceof PyClass || b instanceof PyClass)) return unionOf(vm, a, b);
  const shown = inplace ? `${op}=` : op === "**" ? "** or pow()" : op;
  return vm.raise(
    "TypeError",
    `unsupported operand type(s) for ${shown}: '${vm.typeOf(a).name}' and '${vm.typeOf(b).name}'`,
  );
}

function unionOf(vm: Interp, a: Value, b: Value): Value {
  const parts = (v: Value): readonly Value[] => (v instanceof PyTuple ? v.items : [v]);
  return vm.tuple([...parts(a), ...parts(b)].map(v => (v === null ? vm.types.none : v)));
}

function containerOperation(vm: Interp, op: BinaryOperator, a: Value, b: Value): Value | undefined {
  if (op === "+") {
    if (typeof a === "string" && typeof b === "string") {
      vm.room(a.length + b.length);
      return a + b;
    }
    if (a instanceof PyList && b instanceof PyList) {
      vm.room(a.items.length + b.items.length);
      return vm.list([...a.items, ...b.items]);
    }
    if (a instanceof PyTuple && b instanceof PyTuple) {
      const size = a.cls.name === "Size" || b.cls.name === "Size";
      vm.room(a.items.length + b.items.length);
      const items = [...a.items, ...b.items];
      return size ? new PyTuple(a.cls.name === "Size" ? a.cls : b.cls, items) : vm.tuple(items);
    }
    vm.room(a instanceof PyBytes && b instanceof PyBytes ? a.data.length + b.data.length : 0);
    if (a instanceof PyBytes && b instanceof PyBytes) return vm.bytes(Uint8Array.from([...a.data, ...b.data]));
  }
  if (op === "*") {
    const n = asInt(b);
    if (n !== undefined) {
      const r = repeat(vm, a, n);
      if (r !== undefined) return r;
    }
    const m = asInt(a);
    if (m !== undefined) return repeat(vm, b, m);
  }
  if (op === "%" && typeof a === "string") return percentFormat(vm, a, b);
  if (op === "|" && a instanceof PyDict && b instanceof PyDict) {
    const out = vm.dict();
    for (const d of [a, b]) for (const [k, key, v] of d.rawEntries()) out.setKey(k, key, v);
    return out;
  }
  if (a instanceof PySet && b instanceof PySet) return setOperation(vm, op, a, b);
  return undefined;
}

function repeat(vm: Interp, v: Value, n: Int): Value | undefined {
  if (!(v instanceof PyList || v instanceof PyTuple || v instanceof PyBytes || typeof v === "string")) return undefined;
  const times = Math.max(0, vm.index(n));
  if (v instanceof PyBytes) {
    vm.room(v.data.length * times);
    const out = new Uint8Array(v.data.length * times);
    for (let i = 0; i < times; i++) out.set(v.data, i * v.data.length);
    return vm.bytes(out);
  }
  const items = v instanceof PyList || v instanceof PyTuple ? v.items : undefined;
  if (items) {
    vm.room(items.length * times);
    const out: Value[] = [];
    for (let i = 0; i < times; i++) for (const x of items) out.push(x);
    return v instanceof PyList ? vm.list(out) : v instanceof PyTuple ? new PyTuple(v.cls, out) : undefined;
  }
  if (typeof v === "string") {
    vm.room(v.length * times);
    return v.repeat(times);
  }
  return undefined;
}

export function setOperation(vm: Interp, op: BinaryOperator, a: PySet, b: PySet): PySet | undefined {
  vm.charge((a.size + b.size) >> 3);
  const out = new PySet(a.cls, a.frozen);
  const keep = (from: PySet, test: (k: string | number | bigint | object) => boolean): void => {
    for (const [k, v] of from.entries) if (test(k)) out.entries.set(k, v);
  };
  switch (op) {
    case "|":
      keep(a, () => true);
      keep(b, () => true);
      return out;
    case "&":
      keep(a, k => b.entries.has(k));
      return out;
    case "-":
      keep(a, k => !b.entries.has(k));
      return out;
    case "^":
      keep(a, k => !b.entries.has(k));
      keep(b, k => !a.entries.has(k));
      return out;
    default:
      return undefined;
  }
}

export function unaryOperation(vm: Interp, op: "+" | "-" | "~" | "not", a: Value): Value {
  if (op === "not") return !vm.truthy(a);
  for (const g of vm.guests) {
    const r = g.unary?.(op, a);
    if (r !== undefined) return r;
  }
  const i = asInt(a);
  if (i !== undefined) {
    if (op === "-") return i === 0 ? 0 : -i;
    if (op === "+") return i;
    return normal(~BigInt(i));
  }
  if (isNumber(a) && op !== "~") {
    if (op === "+") return a;
    const zero = asFloat(a) === undefined ? 0 : null;
    return zero === null ? (numberOp(vm, "*", a, -1) as Value) : (numberOp(vm, "-", zero, a) as Value);
  }
  const name = op === "-" ? "__neg__" : op === "+" ? "__pos__" : "__invert__";
  const r = tryMethod(vm, a, name, []);
  if (r !== undefined) return r;
  if (plain(a) !== a) return unaryOperation(vm, op, plain(a));
  if (a instanceof PyUnknown) return a;
  return vm.raise("TypeError", `bad operand type for unary ${op}: '${vm.typeOf(a).name}'`);
}

// ---- comparison

function sameObject(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof PyMethod && b instanceof PyMethod) return false;
  return false;
}

export function compareOperation(vm: Interp, op: CompareOperator, a: Value, b: Value): Value {
  if (op === "is" || op === "is not") {
    vm.touch(a);
    vm.touch(b);
    return sameObject(a, b) === (op === "is");
  }
  if (op === "in") return contains(vm, b, a);
  if (op === "not in") return !vm.truthy(contains(vm, b, a));
  for (const g of vm.guests) {
    const r = g.compare?.(op, a, b);
    if (r !== undefined) return r;
  }
  if (isNumber(a) && isNumber(b)) {
    const c = compareNumbers(a, b);
    if (op === "==" || op === "!=") {
      const equal = c === undefined ? vm.hash(a) === vm.hash(b) && asFloat(a) === undefined : c === 0;
      return op === "==" ? equal : !equal;
    }
    if (c === undefined) return false;
    return order(op, c);
  }
  if (typeof a === "string" && typeof b === "string") return order(op, a < b ? -1 : a > b ? 1 : 0);
  const custom = richMethods(vm, op, a, b);
  if (custom !== undefined) return custom;
  const sequence = compareSequences(vm, op, a, b);
  if (sequence !== undefined) return sequence;
  const [pa, pb] = [plain(a), plain(b)];
  if (pa !== a || pb !== b) return compareOperation(vm, op, pa, pb);
  const unknown = (a instanceof PyUnknown || b instanceof PyUnknown) && a !== b;
  if (unknown && (op === "==" || op === "!=")) {
    const equal = equalityAsked(vm.frames[vm.frames.length - 1]);
    if (equal !== undefined) return equal === (op === "==");
  }
  if (op === "==") return equalObjects(vm, a, b);
  if (op === "!=") return !equalObjects(vm, a, b);
  if (a instanceof PyUnknown || b instanceof PyUnknown) return vm.unknown("comparison with an unknown value");
  return vm.raise(
    "TypeError",
    `'${op}' not supported between instances of '${vm.typeOf(a).name}' and '${vm.typeOf(b).name}'`,
  );
}

function richMethods(vm: Interp, op: CompareOperator, a: Value, b: Value): Value | undefined {
  if (!isComparison(op)) return undefined;
  const direct = tryMethod(vm, a, `__${COMPARISON_WORDS[op]}__`, [b]);
  if (direct !== undefined) return direct;
  const reflected = tryMethod(vm, b, `__${COMPARISON_WORDS[SWAPPED[op]]}__`, [a]);
  if (reflected !== undefined) return reflected;
  if (op === "!=") {
    const eq = tryMethod(vm, a, "__eq__", [b]) ?? tryMethod(vm, b, "__eq__", [a]);
    if (eq !== undefined) return !vm.truthy(eq);
  }
  return undefined;
}

function order(op: CompareOperator, c: number): boolean {
  switch (op) {
    case "==":
      return c === 0;
    case "!=":
      return c !== 0;
    case "<":
      return c < 0;
    case "<=":
      return c <= 0;
    case ">":
      return c > 0;
    default:
      return c >= 0;
  }
}

function compareSequences(vm: Interp, op: CompareOperator, a: Value, b: Value): Value | undefined {
  const lists = a instanceof PyList && b instanceof PyList;
  const tuples = a instanceof PyTuple && b instanceof PyTuple;
  if (lists || tuples) {
    const n = Math.min(a.items.length, b.items.length);
    if ((op === "==" || op === "!=") && a.items.length !== b.items.length) return op === "!=";
    for (let i = 0; i < n; i++) {
      const [x, y] = [a.items[i] as Value, b.items[i] as Value];
      if (x === y || vm.equal(x, y)) continue;
      if (op === "==") return false;
      if (op === "!=") return true;
      return compareOperation(vm, op, x, y);
    }
    return order(op, a.items.length - b.items.length);
  }
  if (a instanceof PySet && b instanceof PySet) {
    const within = (x: PySet, y: PySet): boolean => [...x.entries.keys()].every(k => y.entries.has(k));
    switch (op) {
      case "==":
        return a.size === b.size && within(a, b);
      case "!=":
        return !(a.size === b.size && within(a, b));
      case "<=":
        return within(a, b);
      case "<":
        return a.size < b.size && within(a, b);
      case ">=":
        return within(b, a);
      default:
        return b.size < a.size && within(b, a);
    }
  }
  if (a instanceof PyDict && b instanceof PyDict && (op === "==" || op === "!=")) {
    const same =
      a.size === b.size &&
      a.rawEntries().every(([k, , v]) => {
        const other = b.getKey(k);
        return other !== undefined && (other === v || vm.equal(v, other));
      });
    return op === "==" ? same : !same;
  }
  return undefined;
}

function equalObjects(vm: Interp, a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof PyMethod && b instanceof PyMethod) return a.func === b.func && a.self === b.self;
  if (a instanceof PyBytes && b instanceof PyBytes) return vm.hash(a) === vm.hash(b);
  if (a instanceof PyRange && b instanceof PyRange) {
    const n = a.count;
    return n === b.count && (n === 0 || (a.start === b.start && (n === 1 || a.step === b.step)));
  }
  return false;
}

function contains(vm: Interp, container: Value, x: Value): Value {
  const own = special(vm, container, "__contains__");
  if (own !== undefined) return vm.truthy(vm.call(own, [x]));
  const builtin = plainContains(vm, plain(container), x);
  if (builtin !== undefined) return builtin;
  if (container instanceof PyUnknown) return vm.unknown(`... in ${container.what}`);
  const it = vm.iterate(container);
  for (let v = it.next(); v !== undefined; v = it.next()) {
    vm.tick();
    if (v === x || vm.equal(v, x)) return true;
  }
  return false;
}
