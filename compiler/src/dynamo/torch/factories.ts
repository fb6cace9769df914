// Tensors made from nothing, outside a trace: which values they take when the program is replayed. In: the factory call.
// Out: the tensor and a create step. Inside a trace factories are operators like any other.
import { isComplexDType } from "../../aten/ops/helpers/dtypes";
import { lookupPython } from "../../aten/registry";
import { type DType, PyFloat } from "../../aten/types";
import { intValue } from "../../inductor/symbolic/expr";
import { asFloat, asInt } from "../interp/numbers";
import { plain } from "../interp/operators";
import { numpyDtype } from "../objects/numpy_scalar";
import {
  type Kwargs,
  PyBuiltin,
  PyInstance,
  PyList,
  PyNamed,
  PyRange,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import type { Fill } from "../types";
import { isFloatDType, type Torch } from "./context";
import { runOp } from "./dispatch";
import { PySymInt, PyTensor, PyUnknownNumber } from "./objects";

type FillOf = (torch: Torch, t: PyTensor, args: readonly Value[], kw: Kwargs) => Fill | null;

const random =
  (how: "rand" | "randn"): FillOf =>
  (torch, t) =>
    isFloatDType(t.meta.dtype) || isComplexDType(t.meta.dtype)
      ? { how, k: torch.nextFill() }
      : { how: "full", value: 0 };

const FILLS: Readonly<Record<string, FillOf>> = {
  randn: random("randn"),
  rand: random("rand"),
  empty: random("randn"),
  randn_like: random("randn"),
  rand_like: random("rand"),
  randint: (torch, _t, args, kw) => {
    const [low, high] = bounds(torch, args, kw);
    return { how: "randint", k: torch.nextFill(), low, high };
  },
  randint_like: (torch, _t, args, kw) => {
    const [low, high] = bounds(torch, args.slice(1), kw);
    return { how: "randint", k: torch.nextFill(), low, high };
  },
  zeros: () => ({ how: "full", value: 0 }),
  zeros_like: () => ({ how: "full", value: 0 }),
  ones: () => ({ how: "full", value: 1 }),
  ones_like: () => ({ how: "full", value: 1 }),
  empty_like: () => ({ how: "full", value: 0 }),
  full: (torch, _t, args, kw) => fullValue(torch, args[1] ?? kw.get("fill_value") ?? 0),
  full_like: (torch, _t, args, kw) => fullValue(torch, args[1] ?? kw.get("fill_value") ?? 0),
};

function fullValue(_torch: Torch, v: Value): Fill | null {
  const p = plain(v);
  if (typeof p === "boolean") return { how: "full", value: p };
  const n = asFloat(p);
  return n === undefined ? null : { how: "full", value: n };
}

function bounds(torch: Torch, args: readonly Value[], kw: Kwargs): [number, number] {
  const ints = args.filter(a => asInt(a) !== undefined || a instanceof PySymInt).map(a => torch.vm.index(a));
  if (ints.length >= 2) return [ints[0] ?? 0, ints[1] ?? 1];
  const low = kw.get("low");
  if (ints.length === 1)
    return kw.has("high") ? [ints[0] ?? 0, torch.vm.index(kw.get("high") ?? 1)] : [0, ints[0] ?? 1];
  return [low === undefined ? 0 : torch.vm.index(low), torch.vm.index(kw.get("high") ?? 1)];
}

export const isFactory = (name: string): boolean => Object.hasOwn(FILLS, name);

export function factory(torch: Torch, name: string): PyBuiltin {
  const { vm } = torch;
  const target = `torch.${name}`;
  const b = new PyBuiltin(vm.types.builtin, name, (args, kw) => {
    const call = { op: "call_function", target, spelling: target } as const;
    if (torch.trace) return runOp(torch, call, args, kw);
    const rest = new Map(kw);
    rest.delete("requires_grad");
    rest.delete("generator");
    rest.delete("pin_memory");
    const steps = torch.pauseSteps();
    let made: Value;
    try {
      made = runOp(torch, call, args, rest);
    } finally {
      steps();
    }
    if (!(made instanceof PyTensor)) return made;
    const fill = FILLS[name]?.(torch, made, args, kw) ?? null;
    made.isLeaf = true;
    made.meta = { ...made.meta, requiresGrad: vm.truthy(kw.get("requires_grad") ?? false) };
    if (fill) torch.create(made, fill);
    else torch.create(made, { how: "full", value: 0 });
    if (fill?.how === "full") knowFull(made, fill.value);
    return made;
  });
  b.module = "torch";
  return b;
}

function knowFull(t: PyTensor, value: number | boolean): void {
  const n = t.meta.shape.reduce((p, d) => p * (intValue(d) ?? 0), 1);
  if (n <= 4096) t.known = new Array<number | boolean>(n).fill(value);
}

/** torch.tensor(data): the values are written in the program */
export function tensorFromData(torch: Torch, args: readonly Value[], kw: Kwargs, name: string): Value {
  const { vm } = torch;
  const data = underArray(args[0] ?? kw.get("data") ?? null);
  if (torch.trace) {
    const call = { op: "call_function", target: `torch.${name}`, spelling: `torch.${name}` } as const;
    const made = runOp(torch, call, args, kw);
    if (made instanceof PyTensor) made.known = fewNumbers(torch, data) ?? null;
    return made;
  }
  if (data instanceof PyTensor) {
    const dtype = args[1] ?? kw.get("dtype") ?? null;
    const device = args[2] ?? kw.get("device") ?? null;
    let made: Value = name === "tensor" ? methodCall(torch, methodCall(torch, data, "detach"), "clone") : data;
    if (dtype !== null) made = methodCall(torch, made, "to", [dtype]);
    if (device !== null) made = methodCall(torch, made, "to", [device]);
    return made;
  }
  if (data instanceof PyUnknown) return vm.unknown(`torch.${name}(${data.what})`);
  const shape: number[] = [];
  const flat: Value[] = [];
  const given = new Set<DType | null>();
  let unread = false;
  const sized = (depth: number, n: number): void => {
    if (shape.length === depth) shape.push(n);
    else if (shape[depth] !== n)
      vm.raise("ValueError", `expected sequence of length ${shape[depth]} at dim ${depth} (got ${n})`);
  };
  const walk = (v: Value, depth: number): void => {
    const array = underArray(v);
    if (array instanceof PyTensor && array !== v && array.meta.shape.length > 0) {
      const sizes = torch.hints(array);
      sizes.forEach((n, i) => {
        sized(depth + i, n);
      });
      given.add(array.meta.dtype);
      unread ||= array.known === null;
      flat.push(...(array.known ?? []).map(x => asElement(array, x)));
      return;
    }
    const p = plain(v);
    if (!(p instanceof PyList || p instanceof PyTuple)) given.add(numpyDtype(v));
    if (p instanceof PyList || p instanceof PyTuple) {
      sized(depth, p.items.length);
      for (const x of p.items) walk(x, depth + 1);
    } else if (p instanceof PyTensor && p.meta.shape.length === 0) flat.push(known0(torch, p));
    else flat.push(p);
  };
  const source =
    data !== null &&
    typeof data === "object" &&
    !(data instanceof PyList || data instanceof PyTuple) &&
    asFloat(plain(data)) === undefined &&
    !(data instanceof PyUnknownNumber)
      ? vm.list(vm.toArray(data))
      : data;
  walk(source, 0);
  const dtype =
    torch.asDtype(args[1] ?? kw.get("dtype")) ?? (given.size === 1 ? [...given][0] : null) ?? inferred(torch, flat);
  const device = torch.asDevice(args[2] ?? kw.get("device")) ?? torch.defaultDevice;
  const meta = torch.metaStatic.tensor(shape, { dtype, device });
  const t = torch.newTensor({
    ...(meta as PyTensor["meta"]),
    requiresGrad: vm.truthy(kw.get("requires_grad") ?? false),
  });
  if (unread) {
    torch.create(t, { how: "full", value: 0 });
    return t;
  }
  const values = flat.map((v): number | boolean => (typeof v === "boolean" ? v : (asFloat(v) ?? 0)));
  if (!flat.some(v => v instanceof PyUnknownNumber || v instanceof PyUnknown)) t.known = values;
  torch.create(t, { how: "data", values });
  return t;
}

function methodCall(torch: Torch, t: Value, name: string, args: readonly Value[] = []): Value {
  return torch.vm.call(torch.vm.getattr(t, name), args);
}

/** the tensor, or what nobody knows, that stands behind a numpy array; other values as they are */
export function underArray(v: Value): Value {
  const t = v instanceof PyInstance && v.cls.name === "ndarray" ? v.attrs?.get("_t") : undefined;
  return t instanceof PyTensor || t instanceof PyUnknown ? t : v;
}

function inferred(torch: Torch, flat: readonly Value[]): DType {
  if (flat.some(v => v instanceof PyFloat || torch.vm.typeOf(v) === torch.vm.types.float)) return torch.defaultDtype;
  if (flat.length > 0 && flat.every(v => typeof v === "boolean")) return "bool";
  return flat.length === 0 ? torch.defaultDtype : "int64";
}

function known0(torch: Torch, t: PyTensor): Value {
  const v = t.known?.[0];
  return v === undefined ? torch.vm.unknown("a tensor's value") : asElement(t, v);
}

/** a known element as the number that Python reads */
const asElement = (t: PyTensor, v: number | boolean): Value =>
  isFloatDType(t.meta.dtype) ? new PyFloat(Number(v)) : v;

const FEW = 8;

/** a number, or lists of few, as a tensor's elements: what a program may read once the graph that makes it has ended */
function fewNumbers(torch: Torch, data: Value): number[] | undefined {
  const flat = (v: Value): (number | undefined)[] => {
    if (v instanceof PyList || v instanceof PyTuple) return v.items.slice(0, FEW + 1).flatMap(flat);
    // trials of inputs have every size symbolic
    if (v instanceof PySymInt && torch.probe) return [torch.meta.hint(v.expr)];
    return [typeof v === "boolean" ? Number(v) : asFloat(plain(v))];
  };
  const values = flat(data);
  return values.length <= FEW && values.every(v => v !== undefined) ? values : undefined;
}

/** torch.FloatTensor(2, 3) and the like */
export function legacyTensor(torch: Torch, dtype: DType, args: readonly Value[], kw: Kwargs): Value {
  const named = new Map<string, Value>([
    ["dtype", torch.dtype(dtype)],
    ["device", kw.get("device") ?? null],
  ]);
  const first = underArray(args[0] ?? null);
  if (first instanceof PyList || first instanceof PyTuple) {
    if (first.cls.name !== "Size") return tensorFromData(torch, [first], named, "tensor");
    return torch.vm.call(factory(torch, "empty"), [first], named);
  }
  if (first instanceof PyRange) return tensorFromData(torch, [torch.vm.list(torch.vm.toArray(first))], named, "tensor");
  if (first instanceof PyTensor) {
    const typed = first.meta.dtype === dtype ? first : methodCall(torch, first, "to", [torch.dtype(dtype)]);
    const device = kw.get("device");
    return device === undefined || device === null ? typed : methodCall(torch, typed, "to", [device]);
  }
  return torch.vm.call(factory(torch, "empty"), args.length === 0 ? [0] : args, named);
}

export { lookupPython, PyNamed };
