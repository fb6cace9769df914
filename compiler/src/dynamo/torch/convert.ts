// Python's arguments of an operator as graph arguments and as values for the operator's rules. In: values. Out: both forms,
// and the tensors met on the way, realised as inputs in that order.
import {
  type ArgValue,
  DeviceArg,
  DTypeArg,
  LayoutArg,
  MemoryFormatArg,
  PyComplex,
  PyFloat,
  type TensorMeta,
} from "../../aten/types";
import type { FxGraph, FxNode } from "../../fx/graph";
import {
  type Argument,
  EllipsisArg,
  type FakeTensor,
  type NodeMeta,
  OpaqueArg,
  SliceArg,
  TupleArg,
} from "../../fx/types";
import {
  PyDict,
  PyInstance,
  PyList,
  PyNamed,
  PyRange,
  PySlice,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import type { Torch } from "./context";
import { PySymFloat, PySymInt, PyTensor, PyUnknownNumber } from "./objects";

interface Converted {
  readonly arg: Argument;
  readonly bound: ArgValue<TensorMeta>;
}

/** turns Python arguments into graph arguments, realising tensors as inputs in the order in which they are met */
export class Converter {
  readonly tensors: PyTensor[] = [];
  readonly byMeta = new Map<TensorMeta, PyTensor>();
  /** placeholders of a one-operator graph outside a trace */
  readonly eager = new Map<PyTensor, FxNode>();
  unknown: string | null = null;
  readonly floats = new Map<ArgValue<TensorMeta>, PySymFloat>();

  constructor(
    readonly torch: Torch,
    readonly graph: FxGraph,
  ) {}

  private nodeOf(t: PyTensor): FxNode {
    const trace = this.torch.trace;
    if (trace) return trace.nodeOf(t);
    this.torch.probe?.touched(t);
    let n = this.eager.get(t);
    if (!n) {
      n = this.graph.create("placeholder", `arg${this.eager.size}`, [], new Map(), inputMeta(t, t.meta));
      this.eager.set(t, n);
    }
    return n;
  }

  /**
   * Realises a call's tensors as inputs in the order in which Dynamo looks at them for overrides: arguments and the items of
   * lists, breadth first. Those inside of tuples come with the conversion.
   */
  realize(values: readonly Value[]): void {
    const queue = [...values];
    // the array grows while it is gone through
    for (const v of queue) {
      if (v instanceof PyTensor) this.nodeOf(v);
      else if (v instanceof PyList) for (const [i, x] of v.items.entries()) queue.push(this.item(v, i, x));
    }
  }

  convert(v: Value): Converted {
    if (
      v === null ||
      typeof v === "string" ||
      typeof v === "boolean" ||
      typeof v === "number" ||
      typeof v === "bigint"
    ) {
      return { arg: v, bound: v };
    }
    if (v instanceof PyFloat || v instanceof PyComplex) return { arg: v, bound: v };
    if (v instanceof PyTensor) {
      const arg = this.nodeOf(v);
      // one meta object per argument, so that a view can be traced back to its base
      const bound = { ...v.meta };
      this.tensors.push(v);
      this.torch.noteLeaf(v);
      this.byMeta.set(bound, v);
      return { arg, bound };
    }
    if (v instanceof PySymInt) return { arg: this.torch.trace?.nodeOfSym(v) ?? v.expr, bound: v.expr };
    if (v instanceof PySymFloat) {
      const bound = new PyFloat(v.hint.value);
      this.floats.set(bound, v);
      return { arg: this.torch.trace?.nodeOfSym(v) ?? v.hint, bound };
    }
    if (v instanceof PyList) {
      const items = v.items.map((x, i) => this.convert(this.item(v, i, x)));
      return { arg: items.map(i => i.arg), bound: items.map(i => i.bound) };
    }
    if (v instanceof PyTuple) {
      const items = v.items.map((x, i) => this.convert(this.item(v, i, x)));
      return { arg: new TupleArg(items.map(i => i.arg)), bound: items.map(i => i.bound) };
    }
    if (v instanceof PyRange) return this.convert(this.torch.vm.list(this.torch.vm.toArray(v)));
    if (v instanceof PySlice) {
      const parts = [v.start, v.stop, v.step].map(x => this.convert(typeof x === "bigint" ? clamped(x) : x).arg);
      const [a, b, c] = parts as [Argument, Argument, Argument];
      return { arg: new SliceArg(a, b, c), bound: null };
    }
    if (v instanceof PyNamed) {
      if (v === this.torch.vm.ellipsis) return { arg: new EllipsisArg(), bound: null };
      const d = v.data;
      if (d instanceof DTypeArg || d instanceof DeviceArg || d instanceof LayoutArg || d instanceof MemoryFormatArg) {
        return { arg: d, bound: d };
      }
      return { arg: new OpaqueArg(v.text), bound: null };
    }
    if (v instanceof PyInstance && v.payload !== undefined) return this.convert(v.payload);
    if (v instanceof PyInstance && v.cls.name === "ndarray") {
      const under = v.attrs?.get("_t");
      if (under instanceof PyTensor) return this.convert(under);
    }
    const dtype = this.torch.asDtype(v);
    if (dtype) return { arg: new DTypeArg(dtype), bound: new DTypeArg(dtype) };
    if (v instanceof PyUnknownNumber) {
      this.torch.trace?.note(`the value of ${v.what} is not known`);
      const known = v.value() ?? 1;
      if (v.cls !== this.torch.vm.types.float) return { arg: new OpaqueArg("int"), bound: Math.trunc(known) };
      return { arg: new OpaqueArg("float"), bound: new PyFloat(known) };
    }
    if (v instanceof PyUnknown) this.unknown = v.what;
    const text = v instanceof PyDict ? "dict" : this.torch.vm.typeOf(v).name;
    return { arg: new OpaqueArg(text), bound: null };
  }

  private item(list: Value, i: number, x: Value): Value {
    return this.torch.vm.observer?.loadedItem?.(list, i, x) ?? x;
  }
}

/** as torch reads a slice's bound: what is beyond int64 is its end */
const clamped = (i: bigint): bigint => (BigInt.asIntN(64, i) === i ? i : i < 0n ? -(2n ** 63n) : 2n ** 63n - 1n);

/** a placeholder's meta */
export function inputMeta(t: PyTensor, val: FakeTensor): NodeMeta {
  return { val, stack: [], fromNode: [], ...(val.requiresGrad && !t.isLeaf ? { nonLeaf: true } : {}) };
}

/** a tensor among an operator's arguments */
export const isMeta = (x: unknown): x is TensorMeta =>
  typeof x === "object" && x !== null && "shape" in x && "stride" in x && "dtype" in x;
