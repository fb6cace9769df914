// x[...] and x[...] = v on tensors. In: the index as Python wrote it. Out: the meta of the selection, and the getitem or
// setitem node as Dynamo records it. Basic indices are worked out here; index tensors through aten.index's record.
import { makeArgs } from "../../aten/args";
import { isExpr } from "../../aten/dim_math";
import { lookup } from "../../aten/registry";
import { parseSchema } from "../../aten/schema";
import { type ArgValue, type Dim, OpError, type TensorMeta } from "../../aten/types";
import { FxGraph } from "../../fx/graph";
import { type FakeTensor, TupleArg } from "../../fx/types";
import type { Expr } from "../../inductor/symbolic/expr";
import { PyFloat, PyList, PyRange, PySlice, PyTuple, PyUnknown, type Value } from "../objects/values";
import { isDifferentiableDType, isFloatDType, type Torch } from "./context";
import { Converter } from "./convert";
import { countOf, isTensorLike, opaqueOp, refuseLeaf } from "./dispatch";
import { elements } from "./item_values";
import { items, knownItem, knownWritten } from "./known_items";
import { PySymInt, PyTensor, PyUnknownNumber, type Storage } from "./objects";
import { eagerStep } from "./results";
import { Unsupported } from "./sink";

interface Selected {
  shape: Dim[];
  stride: Dim[];
  offset: Dim;
}

type Picker = { readonly kind: "tensor"; readonly meta: TensorMeta } | { readonly kind: "keep" };

function isMask(v: Value): boolean {
  return v instanceof PyTensor && (v.meta.dtype === "bool" || v.meta.dtype === "uint8");
}

/** a list used as an index becomes a tensor of it */
function listMeta(torch: Torch, v: PyList): TensorMeta {
  const shape: number[] = [];
  let level: Value | undefined = v;
  let flag = false;
  while (level instanceof PyList || level instanceof PyTuple) {
    shape.push(level.items.length);
    level = level.items[0];
  }
  if (typeof level === "boolean") flag = true;
  return torch.meta.tensor(shape, { dtype: flag ? "bool" : "int64", device: torch.defaultDevice });
}

export interface Selection {
  readonly meta: FakeTensor;
  /** shares memory with the tensor */
  readonly view: boolean;
}

export function selectMeta(torch: Torch, t: PyTensor, key: Value): Selection {
  const { vm } = torch;
  const m = torch.meta;
  const given = items(key);
  const rank = t.meta.shape.length;
  const consumed = (v: Value): number => {
    if (v === null || v === vm.ellipsis || typeof v === "boolean") return 0;
    return isMask(v) && v instanceof PyTensor ? v.meta.shape.length : 1;
  };
  const used = given.reduce<number>((n, v) => n + consumed(v), 0);
  if (used > rank) vm.raise("IndexError", `too many indices for tensor of dimension ${rank}`);
  const current: Selected = { shape: [], stride: [], offset: t.meta.storageOffset };
  const pickers: Picker[] = [];
  let dim = 0;
  let advanced = false;
  const keep = (size: Dim, stride: Dim): void => {
    current.shape.push(size);
    current.stride.push(stride);
    pickers.push({ kind: "keep" });
  };
  const size = (): Dim => t.meta.shape[dim] as Dim;
  const stride = (): Dim => t.meta.stride[dim] as Dim;
  for (const v of given) {
    if (v === null || typeof v === "boolean") {
      keep(m.int(1), dim < rank ? m.mul(size(), stride()) : m.int(1));
      if (typeof v === "boolean") {
        advanced = true;
        pickers[pickers.length - 1] = {
          kind: "tensor",
          meta: m.tensor([v ? 1 : 0], { dtype: "int64", device: t.meta.device }),
        };
      }
    } else if (v === vm.ellipsis) {
      for (let k = rank - used; k > 0; k--, dim++) keep(size(), stride());
    } else if (v instanceof PySlice) {
      const s = sliceOf(torch, v, size(), stride());
      current.offset = m.add(current.offset, m.mul(s.start, stride()));
      keep(s.length, s.stride);
      dim++;
    } else if (v instanceof PyTensor && (v.meta.shape.length > 0 || isMask(v) || !known(v))) {
      advanced = true;
      if (isMask(v)) {
        dynamicMask(torch);
        for (let k = 0; k < v.meta.shape.length; k++, dim++) keep(size(), stride());
        pickers.length -= v.meta.shape.length;
        pickers.push({ kind: "tensor", meta: v.meta });
        for (let k = 1; k < v.meta.shape.length; k++) pickers.push({ kind: "keep" });
      } else {
        keep(size(), stride());
        pickers[pickers.length - 1] = { kind: "tensor", meta: v.meta };
        dim++;
      }
    } else if (v instanceof PyList || v instanceof PyTuple || v instanceof PyRange) {
      advanced = true;
      keep(size(), stride());
      const list = v instanceof PyList ? v : vm.list(vm.toArray(v));
      const one = list.items.length > 0 && list.items.every(x => x instanceof PyTensor);
      const meta = one ? stackedMeta(torch, list) : listMeta(torch, list);
      pickers[pickers.length - 1] = { kind: "tensor", meta };
      dim++;
    } else {
      const i = integer(torch, v);
      const at = selectIndex(torch, i, size(), dim);
      current.offset = m.add(current.offset, m.mul(at, stride()));
      dim++;
    }
  }
  for (; dim < rank; dim++) keep(size(), stride());
  const basic: TensorMeta = {
    shape: current.shape,
    stride: current.stride,
    storageOffset: current.offset,
    dtype: t.meta.dtype,
    device: t.meta.device,
    requiresGrad: false,
  };
  if (!advanced) return { meta: basic as FakeTensor, view: true };
  return { meta: advancedMeta(torch, basic, pickers) as FakeTensor, view: false };
}

const known = (t: PyTensor): boolean => t.known !== null && t.meta.shape.length === 0 && !t.proxy;

function stackedMeta(torch: Torch, list: PyList): TensorMeta {
  const first = list.items[0] as PyTensor;
  return torch.meta.tensor([list.items.length, ...first.meta.shape], first.meta);
}

function dynamicMask(torch: Torch): void {
  const trace = torch.trace;
  if (!trace || torch.dynamoConfig.get("capture_dynamic_output_shape_ops") === true) return;
  throw new Unsupported({
    type: "Dynamic shape operator",
    number: "0036",
    explanation: "Operator `aten.nonzero.default`'s output shape depends on input Tensor data.",
    hints: [
      "Enable tracing of dynamic shape operators with `torch._dynamo.config.capture_dynamic_output_shape_ops = True`",
    ],
    context: "aten.nonzero.default",
  });
}

function integer(torch: Torch, v: Value): Dim {
  if (v instanceof PySymInt) return v.expr;
  if (v instanceof PyTensor) {
    const n = v.known?.[0];
    return torch.meta.int(typeof n === "number" ? n : 0);
  }
  if (v instanceof PyUnknownNumber || v instanceof PyUnknown) {
    torch.trace?.note("an index is not known");
    return torch.meta.int(0);
  }
  if (v instanceof PyFloat || typeof v === "string") {
    return torch.vm.raise(
      "TypeError",
      "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices",
    );
  }
  return torch.meta.int(torch.vm.index(v, "tensor indices"));
}

function selectIndex(torch: Torch, i: Dim, size: Dim, dim: number): Dim {
  const m = torch.meta;
  const n = m.static(i);
  const s = m.static(size);
  if (n !== undefined && s !== undefined && (n >= s || n < -s)) {
    torch.vm.raise("IndexError", `index ${n} is out of bounds for dimension ${dim} with size ${s}`);
  }
  // a trial's sizes are all symbols: which of them are too small is to be known of it
  if (torch.probe && n !== undefined && s === undefined && m.lt(size, n < 0 ? -n : n + 1)) {
    torch.vm.raise("IndexError", `index ${n} is out of bounds for dimension ${dim} with size ${m.hint(size)}`);
  }
  return n !== undefined ? (n < 0 ? m.add(size, n) : i) : m.lt(i, 0) ? m.add(size, i) : i;
}

function sliceOf(torch: Torch, s: PySlice, size: Dim, stride: Dim): { start: Dim; length: Dim; stride: Dim } {
  const { vm } = torch;
  const m = torch.meta;
  const placed = (at: Dim | number): Dim => {
    let e = typeof at === "number" ? m.int(at) : at;
    if (m.lt(e, 0)) e = m.add(size, e);
    if (m.lt(e, 0)) return m.int(0);
    return m.static(size) === undefined && m.knownEq(e, size) ? size : clampTo(torch, e, size);
  };
  const bound = (v: Value, missing: Dim): Dim => {
    if (v === null) return missing;
    if (v instanceof PyTensor && !torch.trace) {
      if (torch.hints(v).some(n => n !== 1) || isFloatDType(v.meta.dtype))
        return vm.raise("TypeError", "only integer tensors of a single element can be converted to an index");
      // outside of a trace any bound may stand for one that nobody knows
      const n = elements(torch, v)?.[0];
      return n === undefined ? missing : placed(Number(n));
    }
    if (v instanceof PyTensor && !known(v)) {
      throw new Unsupported({
        type: "Dynamic slicing with Tensor arguments",
        number: "0038",
        explanation:
          "Creating slices with Tensor arguments is not supported. e.g. `l[:x]`, where `x` is a 1-element tensor.",
        hints: [
          "It may be possible to write Dynamo tracing rules for this code. Please report an issue to PyTorch if you encounter this graph break often and it is causing performance issues.",
        ],
        context: "SliceVariable",
      });
    }
    // larger than any tensor
    if (typeof v === "bigint") return v < 0n ? m.int(0) : size;
    return placed(integer(torch, v));
  };
  /** x[at : at + 32] is 32 long wherever it is */
  const lengthGiven = ({ start, stop }: PySlice): Dim | undefined =>
    !torch.trace && stop instanceof PyTensor && stop.sum?.from === start && elements(torch, stop) === undefined
      ? placed(stop.sum.more)
      : undefined;
  const step =
    s.step === null
      ? 1
      : typeof s.step === "bigint"
        ? Math.sign(Number(s.step)) * Number.MAX_SAFE_INTEGER
        : vm.index(s.step, "slice");
  if (step <= 0) vm.raise("ValueError", "step must be greater than zero");
  const start = bound(s.start, m.int(0));
  const stop = lengthGiven(s) ?? bound(s.stop, size);
  const span = m.lt(stop, start) ? m.int(0) : m.sub(stop, start);
  const length = step === 1 ? span : m.ceildiv(span, step);
  return { start, length, stride: step === 1 ? stride : m.mul(stride, step) };
}

/** min(e, size), decided by the example values where it is not known */
function clampTo(torch: Torch, e: Dim, size: Dim): Dim {
  const m = torch.meta;
  return m.le(e, size) ? e : size;
}

function advancedMeta(torch: Torch, basic: TensorMeta, pickers: readonly Picker[]): TensorMeta {
  const { vm } = torch;
  const record = lookup("aten.index.Tensor");
  const m = torch.meta;
  const last = pickers.reduce((n, p, i) => (p.kind === "tensor" ? i : n), 0);
  const indices: ArgValue<TensorMeta>[] = pickers.slice(0, last + 1).map(p => (p.kind === "tensor" ? p.meta : null));
  if (!record) return basic;
  const schema = parseSchema(record.schema);
  const values = new Map<string, ArgValue<TensorMeta>>([
    ["self", basic],
    ["indices", indices],
  ]);
  try {
    const args = makeArgs<TensorMeta>(
      { schema, values },
      {
        isTensor: (x): x is TensorMeta => typeof x === "object" && x !== null && "shape" in x,
        isDim: (x): x is Dim => isExpr(x),
        int: m.int,
        specialize: d => m.hint(d),
      },
    );
    return record.meta(m, args) as TensorMeta;
  } catch (e) {
    if (e instanceof OpError) return vm.raise(e.pythonType === "RuntimeError" ? "IndexError" : e.pythonType, e.message);
    throw e;
  }
}

/** in a trace few numbers are followed: those that a program reads after a break */
const FOLLOWED = 8;

export function tensorGetItem(torch: Torch, t: PyTensor, key: Value): Value {
  const trace = torch.trace;
  const graph = trace?.graph ?? new FxGraph();
  const conv = new Converter(torch, graph);
  const self = conv.convert(t).arg;
  const index = conv.convert(key).arg;
  if (conv.unknown !== null) {
    const call = { op: "call_function", target: "operator.getitem", spelling: "" } as const;
    return opaqueOp({ call, conv, args: [self, index], kwargs: new Map() });
  }
  torch.dataSizes.begin();
  torch.dataSize = () => countOf(torch, masksIn(key), "indexing by a mask");
  const selected = selectMeta(torch, t, key);
  const requiresGrad = torch.gradEnabled && t.meta.requiresGrad && isDifferentiableDType(t.meta.dtype);
  const meta: FakeTensor = { ...selected.meta, requiresGrad };
  const storage: Storage | undefined = selected.view ? t.storage : undefined;
  const out = torch.newTensor(meta, storage);
  out.isLeaf = !requiresGrad;
  if (t.known && (!trace || t.known.length <= FOLLOWED)) out.known = knownItem(torch, t, key) ?? null;
  if (trace) {
    trace.adopt(out, trace.emit("call_function", "operator.getitem", [self, index], new Map(), meta));
    return out;
  }
  const node = graph.create("call_function", "operator.getitem", [self, index], new Map(), {
    val: meta,
    stack: [],
    fromNode: [],
  });
  graph.create("output", "output", [new TupleArg([node])], new Map(), { stack: [], fromNode: [] });
  eagerStep(conv, [out]);
  return out;
}

export function tensorSetItem(torch: Torch, t: PyTensor, key: Value, value: Value): void {
  const trace = torch.trace;
  const graph = trace?.graph ?? new FxGraph();
  const conv = new Converter(torch, graph);
  const self = conv.convert(t).arg;
  // Dynamo reaches for the arguments themselves first, and then for what a tuple of indices holds
  const before = key instanceof PyTuple ? conv.convert(value).arg : undefined;
  const index = conv.convert(key).arg;
  const v = before === undefined ? conv.convert(value).arg : before;
  // a boolean mask selects a number of elements nobody needs to know here
  if (!hasMask(key)) {
    const target = selectMeta(torch, t, key);
    if (value instanceof PyTensor) checkAssignable(torch, target.meta, value.meta);
  }
  if (!trace && torch.gradEnabled && !torch.inferenceMode) refuseLeaf(torch, t, "a view of ");
  const written = trace ? undefined : knownWritten(torch, t, key, value);
  t.storage.wrote();
  t.known = written ?? null;
  if (torch.gradEnabled && value instanceof PyTensor && value.meta.requiresGrad && isFloatDType(t.meta.dtype)) {
    t.meta = { ...t.meta, requiresGrad: true };
    t.isLeaf = false;
  }
  if (trace) {
    trace.emit("call_function", "operator.setitem", [self, index, v], new Map(), null);
    return;
  }
  const node = graph.create("call_function", "operator.setitem", [self, index, v], new Map(), {
    val: t.meta,
    stack: [],
    fromNode: [],
  });
  graph.create("output", "output", [new TupleArg([node])], new Map(), { stack: [], fromNode: [] });
  eagerStep(conv, [t]);
}

const masksIn = (key: Value): PyTensor[] => items(key).filter((v): v is PyTensor => v instanceof PyTensor && isMask(v));

function hasMask(key: Value): boolean {
  return items(key).some(isMask);
}

function checkAssignable(torch: Torch, target: FakeTensor, value: FakeTensor): void {
  const m = torch.meta;
  const extra = value.shape.length - target.shape.length;
  const fits = value.shape.every((s: Expr, i) => {
    const other = target.shape[i - extra];
    if (other === undefined) return m.eq(s, 1);
    return m.eq(s, 1) || m.eq(s, other);
  });
  if (!fits) {
    const text = (t: FakeTensor): string => `[${t.shape.map(d => m.hint(d)).join(", ")}]`;
    torch.vm.raise(
      "RuntimeError",
      `shape mismatch: value tensor of shape ${text(value)} cannot be broadcast to indexing result of shape ${text(target)}`,
    );
  }
}

export { isTensorLike };
