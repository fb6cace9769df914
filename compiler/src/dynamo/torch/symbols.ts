// Symbolic ints and floats as Python numbers: arithmetic makes expressions (and the nodes that Dynamo records for them),
// comparisons are decided by the example values and guarded on.
import { lookupPython } from "../../aten/registry";
import { PyFloat } from "../../aten/types";
import { add, type Expr, floorDiv, int, intValue, mod, mul, pow, relation, sub } from "../../inductor/symbolic/expr";
import type { BinaryOperator, Guest } from "../interp/api";
import { asFloat, asInt } from "../interp/numbers";
import { COMPARISON_WORDS, isComparison, operatorFunction } from "../interp/operator_names";
import { type Kwargs, PyDict, PyInstance, PyList, PyTuple, PyUnknown, type Value } from "../objects/values";
import type { Torch } from "./context";
import { Converter } from "./convert";
import { isTensorLike, opaqueOp } from "./dispatch";
import { PySymFloat, PySymInt, PyTensor, PyUnknownNumber } from "./objects";

const isSym = (v: Value): v is PySymInt => v instanceof PySymInt;
const isSequence = (v: Value): boolean => v instanceof PyList || v instanceof PyTuple || typeof v === "string";

export function symbolGuest(torch: Torch): Guest {
  const { vm } = torch;
  const expr = (v: Value): Expr | undefined => {
    if (isSym(v)) return v.expr;
    const i = asInt(v);
    return i === undefined ? undefined : int(Number(i));
  };
  const hint = (v: Value): number | undefined => {
    if (isSym(v)) return torch.trace?.hint(v.expr) ?? intValue(v.expr);
    if (v instanceof PySymFloat) return v.hint.value;
    return asFloat(v);
  };
  const wrap = (op: BinaryOperator, e: Expr, a: Value, b: Value): Value => {
    const n = intValue(e);
    if (n !== undefined) return n;
    const trace = torch.trace;
    if (!trace) return torch.meta.hint(e);
    const arg = (v: Value) => (isSym(v) ? trace.nodeOfSym(v) : (asInt(v) ?? 0));
    const target = `operator.${operatorFunction(op)}`;
    const node = trace.emit("call_function", target, [arg(a), arg(b)], new Map(), e);
    return new PySymInt(vm.types.int, e, node, trace);
  };
  return {
    binary(op, a, b) {
      if (a instanceof PyTensor || b instanceof PyTensor) return undefined;
      if (a instanceof PySymFloat || b instanceof PySymFloat) {
        const [x, y] = [hint(a), hint(b)];
        return x === undefined || y === undefined ? undefined : vm.binary(op, new PyFloat(x), new PyFloat(y));
      }
      if (!isSym(a) && !isSym(b)) return undefined;
      const [x, y] = [expr(a), expr(b)];
      // [0] * n: how many items a list has is a plain number
      if (op === "*" && [a, b].some(isSequence))
        return vm.binary(op, isSym(a) ? specialize(torch, a) : a, isSym(b) ? specialize(torch, b) : b);
      if (x === undefined || y === undefined) {
        // a float on the other side: the symbol's example value decides, as the graph would compute it
        const [p, q] = [hint(a), hint(b)];
        if (p === undefined || q === undefined) return undefined;
        torch.trace?.note("a symbolic size was used as a number");
        return vm.binary(op, isSym(a) ? p : a, isSym(b) ? q : b);
      }
      switch (op) {
        case "+":
          return wrap(op, add(x, y), a, b);
        case "-":
          return wrap(op, sub(x, y), a, b);
        case "*":
          return wrap(op, mul(x, y), a, b);
        case "//":
          if (intValue(y) === 0) return vm.raise("ZeroDivisionError", "integer division or modulo by zero");
          return wrap(op, floorDiv(x, y), a, b);
        case "%":
          if (intValue(y) === 0) return vm.raise("ZeroDivisionError", "integer modulo by zero");
          return wrap(op, mod(x, y), a, b);
        case "**": {
          const n = intValue(y);
          return n !== undefined && n >= 0 ? wrap(op, pow(x, n), a, b) : vm.binary(op, hint(a) ?? 0, hint(b) ?? 0);
        }
        default:
          return vm.binary(op, hint(a) ?? 0, hint(b) ?? 0);
      }
    },
    unary(op, a) {
      if (!isSym(a)) return undefined;
      if (op === "+") return a;
      return op === "-" ? wrap("-", sub(int(0), a.expr), 0, a) : -(hint(a) ?? 0) - 1;
    },
    compare(op, a, b) {
      if (a instanceof PyTensor || b instanceof PyTensor) return undefined;
      if (!isSym(a) && !isSym(b)) {
        if (!(a instanceof PySymFloat || b instanceof PySymFloat)) return undefined;
        const [x, y] = [hint(a), hint(b)];
        return x === undefined || y === undefined ? undefined : vm.compare(op, new PyFloat(x), new PyFloat(y));
      }
      if (!isComparison(op)) return undefined;
      const [x, y] = [expr(a), expr(b)];
      if (x === undefined || y === undefined) {
        const [p, q] = [hint(a), hint(b)];
        if (p === undefined || q === undefined) return op === "!=" ? true : op === "==" ? false : undefined;
        return vm.compare(op, new PyFloat(p), new PyFloat(q));
      }
      const trace = torch.trace;
      return trace ? trace.decide(relation(COMPARISON_WORDS[op], x, y)) : vm.compare(op, hint(a) ?? 0, hint(b) ?? 0);
    },
    truth(v) {
      if (isSym(v)) return torch.trace ? torch.trace.decide(relation("ne", v.expr, int(0))) : hint(v) !== 0;
      return v instanceof PySymFloat ? v.hint.value !== 0 : undefined;
    },
    getattr(o, name) {
      const value = isSym(o) && name === "__float__" ? hint(o) : undefined;
      if (value === undefined) return undefined;
      torch.trace?.note("a symbolic size was used as a number");
      return vm.builtin(name, () => new PyFloat(value));
    },
    index: v => (isSym(v) ? specialize(torch, v) : undefined),
    hash: v => (isSym(v) ? specialize(torch, v) : undefined),
    repr: v => (isSym(v) ? String(hint(v)) : v instanceof PySymFloat ? vm.repr(v.hint) : undefined),
    format: (v, spec) =>
      isSym(v) ? vm.format(hint(v) ?? 0, spec) : v instanceof PySymFloat ? vm.format(v.hint, spec) : undefined,
  };
}

/** a symbol that must be a plain number (range(n), a list index) is fixed to its example value */
function specialize(torch: Torch, v: PySymInt): number {
  const n = intValue(v.expr);
  if (n !== undefined) return n;
  const trace = torch.trace;
  if (!trace) return torch.meta.hint(v.expr);
  const value = trace.hint(v.expr);
  trace.decide(relation("eq", v.expr, int(value)));
  return value;
}

/** what int(), float() and abs() make of a number that is not known */
const CONVERSIONS: Readonly<Record<string, "int" | "float">> = {
  __int__: "int",
  __trunc__: "int",
  __float__: "float",
  __abs__: "float",
};

/** an object of a class of its own decides itself what an operator with a number gives (numpy's arrays) */
const hasOperators = (v: Value): boolean => v instanceof PyInstance && v.payload === undefined;

/** numbers nobody knows: arithmetic on them stays unknown, a question about them is decided and noted */
export function unknownGuest(torch: Torch): Guest {
  const { vm } = torch;
  const isUnknown = (v: Value): v is PyUnknownNumber => v instanceof PyUnknownNumber;
  const numberOf = (v: Value): number | undefined => (isUnknown(v) ? v.value() : asFloat(v));
  const asValue = (v: Value, n: number): Value => {
    const float = v instanceof PyFloat || (isUnknown(v) && v.cls === vm.types.float);
    return float || !Number.isInteger(n) ? new PyFloat(n) : n;
  };
  return {
    binary(op, a, b) {
      if (a instanceof PyTensor || b instanceof PyTensor) return undefined;
      if (!isUnknown(a) && !isUnknown(b)) return undefined;
      const other = isUnknown(a) ? b : a;
      if (hasOperators(other)) return undefined;
      if (op === "*" && (other instanceof PyList || other instanceof PyTuple || typeof other === "string"))
        return vm.binary(op, other, vm.index(isUnknown(a) ? a : b));
      const source = isUnknown(a) ? a : (b as PyUnknownNumber);
      const float = op === "/" || [a, b].some(v => v instanceof PyFloat || vm.typeOf(v) === vm.types.float);
      const cls = float ? vm.types.float : source.cls;
      return new PyUnknownNumber(cls, source.what, source.from, () => {
        const [x, y] = [numberOf(a), numberOf(b)];
        return x === undefined || y === undefined ? undefined : numberOf(vm.binary(op, asValue(a, x), asValue(b, y)));
      });
    },
    unary(op, a) {
      if (!isUnknown(a)) return undefined;
      return new PyUnknownNumber(a.cls, a.what, a.from, () => {
        const x = a.value();
        return x === undefined ? undefined : numberOf(vm.unary(op, asValue(a, x)));
      });
    },
    compare(op, a, b) {
      if (a instanceof PyTensor || b instanceof PyTensor) return undefined;
      if (!isUnknown(a) && !isUnknown(b)) return undefined;
      if (op === "in" || op === "not in" || op === "is" || op === "is not") return undefined;
      if (hasOperators(isUnknown(a) ? b : a)) return undefined;
      const source = isUnknown(a) ? a : (b as PyUnknownNumber);
      return new PyUnknownNumber(vm.types.bool, source.what, source.from, () => {
        const [x, y] = [numberOf(a), numberOf(b)];
        if (x === undefined || y === undefined) return undefined;
        return vm.truthy(vm.compare(op, asValue(a, x), asValue(b, y))) ? 1 : 0;
      });
    },
    truth(v) {
      if (isUnknown(v)) {
        const known = v.value();
        return known === undefined ? torch.decideUnknown(v.what) : known !== 0;
      }
      return v instanceof PyUnknown ? torch.decideUnknown(v.what) : undefined;
    },
    call(f, args, kwargs) {
      if (!(f instanceof PyUnknown) || !torch.trace) return undefined;
      if (!args.some(holdsTensors) && ![...kwargs.values()].some(holdsTensors)) return undefined;
      return unknownCall(torch, f, args, kwargs);
    },
    getattr(o, name) {
      const cls = CONVERSIONS[name];
      if (!isUnknown(o) || cls === undefined) return undefined;
      const made = new PyUnknownNumber(vm.types[cls], o.what, o.from, () => {
        const x = o.value();
        if (x === undefined) return undefined;
        return name === "__int__" || name === "__trunc__" ? Math.trunc(x) : name === "__abs__" ? Math.abs(x) : x;
      });
      return vm.builtin(name, () => made);
    },
    getitem(o, key) {
      // whichever a number that nobody knows stands for
      if (!isUnknown(key) || !(o instanceof PyDict) || key.value() !== undefined) return undefined;
      return o.keys().every(k => typeof k === "number") ? o.values()[0] : undefined;
    },
    index: v => (isUnknown(v) ? Math.trunc(v.value() ?? 1) : undefined),
    hash: v => (isUnknown(v) ? v : undefined),
    repr: v => (isUnknown(v) ? "?" : undefined),
    format: v => (isUnknown(v) ? "?" : undefined),
  };
}

const holdsTensors = (v: Value): boolean => isTensorLike(v) || (v instanceof PyDict && v.values().some(isTensorLike));

/** a function or layer of a library that nobody knows, called with tensors: an opaque operator */
function unknownCall(torch: Torch, f: PyUnknown, args: readonly Value[], kwargs: Kwargs): Value {
  const trace = torch.trace;
  if (!trace) return null;
  const target = f.what.replace(/\([^()]*\)/g, "").replace(/[^\w.]/g, "") || "unknown";
  const conv = new Converter(torch, trace.graph);
  // a dictionary is what its tensors are
  const argument = (v: Value) =>
    v instanceof PyDict && holdsTensors(v)
      ? v.values().flatMap(x => (isTensorLike(x) ? [conv.convert(x).arg] : []))
      : conv.convert(v).arg;
  const made = opaqueOp({
    call: { op: "call_function", target, spelling: "", options: { opaque: `${f.what} is not known here` } },
    conv,
    args: args.map(argument),
    kwargs: new Map([...kwargs].map(([k, v]) => [k, argument(v)] as const)),
  });
  if (!(made instanceof PyTensor)) return made;
  made.guessedFrom = f.what;
  fillEmpty(torch, conv.tensors, made);
  return made;
}

/** empty tensors that an unknown function is handed beside others are what it writes its results into */
function fillEmpty(torch: Torch, tensors: readonly PyTensor[], result: PyTensor): void {
  const isEmpty = (t: PyTensor): boolean => torch.hints(t).includes(0);
  const like = tensors.find(t => !isEmpty(t));
  if (!torch.trace || !result.proxy || !like || isEmpty(result)) return;
  for (const t of tensors.filter(isEmpty)) {
    t.meta = { ...result.meta, dtype: t.meta.dtype };
    torch.trace.adopt(t, result.proxy.node);
  }
}

export { lookupPython };
