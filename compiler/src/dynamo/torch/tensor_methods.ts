// Methods of a tensor that are no operators of the table. In: the tensor and its arguments. Out: constants where shapes or
// dtypes answer, operators elsewhere, and graph breaks where Dynamo has them.
import type { MemoryFormat } from "../../aten/types";
import { MemoryFormatArg } from "../../aten/types";
import type { Expr } from "../../inductor/symbolic/expr";
import { type Kwargs, PyClass, PyNamed, type Value } from "../objects/values";
import { isComplexDType, isFloatDType, itemSize, type Torch } from "./context";
import { tensorGetItem, tensorSetItem } from "./indexing";
import { itemValue } from "./item_values";
import { PySymInt, PyTensor } from "./objects";
import { shapeOf } from "./tensor_attributes";
import { breakOn, FUNDAMENTAL, functionOp, methodOp, SUPPORTABLE } from "./tensor_ops";
import { number, sameValues, toList, tracedItem, truth } from "./tensor_values";

/** the size or stride of one dimension, which a tensor of none has not got */
function ofDimension(torch: Torch, all: readonly Expr[], dim: Value): Expr {
  const d = torch.vm.index(dim);
  return (
    all[torch.meta.wrapDim(d, all.length)] ??
    torch.vm.raise("IndexError", `Dimension specified as ${d} but tensor has no dimensions`)
  );
}

export type TensorMethod = (torch: Torch, self: PyTensor, args: readonly Value[], kwargs: Kwargs) => Value;

export const METHODS: Readonly<Record<string, TensorMethod>> = {
  size: (torch, t, args, kw) => {
    const d = args[0] ?? kw.get("dim");
    if (d === undefined || d === null) return shapeOf(torch, t);
    const v = torch.sizeValue(t, ofDimension(torch, t.meta.shape, d));
    if (v instanceof PySymInt)
      torch.trace?.emit("call_method", "size", [torch.trace.nodeOf(t), torch.vm.index(d)], new Map(), v.expr);
    return v;
  },
  stride: (torch, t, args, kw) => {
    const d = args[0] ?? kw.get("dim");
    if (d === undefined || d === null) return torch.vm.tuple(t.meta.stride.map(s => torch.dimValue(s)));
    return torch.dimValue(ofDimension(torch, t.meta.stride, d));
  },
  dim: (_torch, t) => t.meta.shape.length,
  ndimension: (_torch, t) => t.meta.shape.length,
  numel: (torch, t) => numelOf(torch, t, "numel"),
  nelement: (torch, t) => numelOf(torch, t, "nelement"),
  storage_offset: (torch, t) => torch.dimValue(t.meta.storageOffset),
  element_size: (_torch, t) => itemSize(t.meta.dtype),
  is_contiguous: (torch, t, args, kw) => torch.meta.isContiguous(t.meta, format(args[0] ?? kw.get("memory_format"))),
  is_floating_point: (_torch, t) => isFloatDType(t.meta.dtype),
  is_complex: (_torch, t) => isComplexDType(t.meta.dtype),
  is_signed: (_torch, t) => !/^(uint|bool)/.test(t.meta.dtype),
  is_pinned: () => false,
  is_shared: () => false,
  is_inference: torch => torch.inferenceMode,
  get_device: (_torch, t) => t.meta.device.index ?? -1,
  data_ptr: () => 0,
  untyped_storage: torch => torch.vm.unknown("untyped_storage()"),
  storage: torch => torch.vm.unknown("storage()"),
  pin_memory: (_torch, t) => t,
  share_memory_: (_torch, t) => t,
  retain_grad: () => null,
  register_hook: torch => torch.vm.unknown("a hook's handle"),
  register_post_accumulate_grad_hook: torch => torch.vm.unknown("a hook's handle"),
  requires_grad_: (torch, t, args, kw) => {
    const on = args[0] ?? kw.get("requires_grad") ?? true;
    if (torch.trace) {
      if (torch.vm.truthy(on) === t.meta.requiresGrad) return t;
      breakOn(
        "Unsupported Tensor.requires_grad_() call",
        "0125",
        "Dynamo does not support changes to a Tensor's `requires_grad` through calling `requires_grad_()`.",
        [],
        `call_method TensorVariable() requires_grad_ () {}`,
      );
    }
    t.meta = { ...t.meta, requiresGrad: torch.vm.truthy(on) };
    return t;
  },
  item: (torch, t) => {
    if (torch.trace) return tracedItem(torch, t, "item");
    return itemValue(torch, t, ".item()");
  },
  tolist: (torch, t) => {
    if (torch.trace) return tracedItem(torch, t, "tolist");
    return toList(torch, t);
  },
  numpy: (torch, t) => {
    if (torch.trace)
      breakOn(
        "Unsupported Tensor.numpy() call",
        "0130",
        "Dynamo cannot trace this use of numpy.",
        [SUPPORTABLE],
        "call_method TensorVariable() numpy () {}",
      );
    return torch.vm.call(torch.vm.getattr(torch.vm.importModule("numpy", null), "ndarray"), [t]);
  },
  backward: (torch, t, args, kw) => backward(torch, t, args, kw),
  detach_: (torch, t, args, kw) => {
    if (torch.trace) return methodOp(torch, "detach_", t, args, kw);
    t.meta = { ...t.meta, requiresGrad: false };
    t.isLeaf = true;
    return t;
  },
  equal: (torch, t, args, kw) => sameValues(torch, "equal", [t, ...args], kw),
  allclose: (torch, t, args, kw) => sameValues(torch, "allclose", [t, ...args], kw),
  __len__: (torch, t) => {
    const n = t.meta.shape[0];
    return n === undefined ? torch.vm.raise("TypeError", "len() of a 0-d tensor") : torch.sizeValue(t, n);
  },
  __deepcopy__: (torch, t) => copyOf(torch, t),
  __copy__: (_torch, t) => t,
  __float__: (torch, t) => number(torch, t, "float"),
  __int__: (torch, t) => number(torch, t, "int"),
  __index__: (torch, t) => number(torch, t, "int"),
  __bool__: (torch, t) => truth(torch, t),
  __contains__: (torch, t, [x]) => {
    const eq = torch.vm.compare("==", t, x ?? null);
    return torch.vm.truthy(methodOp(torch, "any", eq, [], new Map()));
  },
  __iter__: (torch, t) => iterate(torch, t),
  __getitem__: (torch, t, [k]) => tensorGetItem(torch, t, k ?? null),
  __setitem__: (torch, t, [k, v]) => {
    tensorSetItem(torch, t, k ?? null, v ?? null);
    return null;
  },
  __reversed__: (torch, t) => methodOp(torch, "flip", t, [0], new Map()),
  __abs__: (torch, t) => methodOp(torch, "abs", t, [], new Map()),
  __format__: () => "tensor(...)",
  type: (torch, t, args, kw) => {
    if (args.length === 0 && kw.size === 0) return typeName(t);
    const d = args[0] ?? kw.get("dtype") ?? null;
    const named =
      d === torch.tensorClass
        ? torch.dtype(torch.defaultDtype)
        : typeof d === "string" || d instanceof PyClass
          ? dtypeOfName(torch, typeof d === "string" ? d : d.name)
          : d;
    const type = deviceOfType(d);
    const there = t.meta.device.type;
    if (type === undefined || type === there)
      return methodOp(torch, torch.trace ? "type" : "to", t, [named], new Map());
    // a type of another device's tensors moves the tensor
    return methodOp(torch, "to", t, [type, named], new Map());
  },
  add_: (torch, t, args, kw) => scaledInplace(torch, t, "add_", args, kw),
  addcmul_: (torch, t, args, kw) => valuedInplace(torch, t, "addcmul_", "torch.mul", args, kw),
  addcdiv_: (torch, t, args, kw) => valuedInplace(torch, t, "addcdiv_", "torch.div", args, kw),
  new: (torch, t, args) => methodOp(torch, "new_empty", t, args.length > 0 ? args : [0], new Map()),
  resize_: (torch, t, args) => {
    if (torch.trace)
      breakOn(
        "Unsupported Tensor.resize_() call",
        "0126",
        "Dynamo does not support tracing `Tensor.resize_()`.",
        [],
        "call_method TensorVariable() resize_ () {}",
      );
    const made = methodOp(torch, "new_empty", t, args, new Map());
    if (made instanceof PyTensor) t.meta = { ...made.meta, requiresGrad: t.meta.requiresGrad };
    t.known = null;
    return t;
  },
  map_: (_torch, t) => t,
  apply_: (_torch, t) => t,
  // a sparse matrix is an opaque one with the same entries
  to_sparse: (torch, t, args, kw) => methodOp(torch, "to_sparse", t, args, kw),
  coalesce: (_torch, t) => t,
  to_dense: (_torch, t) => t,
  as_subclass: (_torch, t) => t,
  has_names: () => false,
  dim_order: (torch, t) => torch.vm.tuple(t.meta.shape.map((_, i) => i)),
  record_stream: () => null,
  zero_grad: () => null,
};

/** in-place random fills write values nobody replays: the parameters they fill are filled anew when compiled */
export const RANDOM_FILLS = new Set([
  "normal_",
  "uniform_",
  "bernoulli_",
  "random_",
  "exponential_",
  "cauchy_",
  "geometric_",
  "log_normal_",
]);

function format(v: Value | undefined): MemoryFormat | undefined {
  return v instanceof PyNamed && v.data instanceof MemoryFormatArg ? v.data.format : undefined;
}

function scaledInplace(torch: Torch, t: PyTensor, name: string, args: readonly Value[], kw: Kwargs): Value {
  const alpha = kw.get("alpha");
  if (!torch.trace || alpha === undefined || alpha === null) return methodOp(torch, name, t, args, kw);
  const scaled = functionOp(torch, "torch.mul", [args[0] ?? kw.get("other") ?? null, alpha]);
  return methodOp(torch, name, t, [scaled], new Map());
}

function valuedInplace(torch: Torch, t: PyTensor, name: string, op: string, args: readonly Value[], kw: Kwargs): Value {
  const value = kw.get("value");
  if (!torch.trace || value === undefined || value === null) return methodOp(torch, name, t, args, kw);
  const combined = functionOp(torch, op, args.slice(0, 2));
  return methodOp(torch, "add_", t, [functionOp(torch, "torch.mul", [combined, value])], new Map());
}

/** what an item that iteration takes of a tensor costs in instructions of plain Python */
const ITEM_STEPS = 100;

/** eager iterates over unbind's views; Dynamo takes each item by its index, all of them before the first is used */
export function iterate(torch: Torch, t: PyTensor): Value {
  const { vm } = torch;
  if (t.meta.shape.length === 0) vm.raise("TypeError", "iteration over a 0-d tensor");
  // an item of thousands is made as one of a few is
  vm.charge((torch.hints(t)[0] ?? 0) * ITEM_STEPS);
  if (!torch.trace) return vm.iterate(methodOp(torch, "unbind", t, [0], new Map()));
  const length = vm.index(METHODS.__len__?.(torch, t, [], new Map()) ?? 0);
  return vm.iterate(vm.list(Array.from({ length }, (_, i) => tensorGetItem(torch, t, i))));
}

function copyOf(torch: Torch, t: PyTensor): PyTensor {
  const c = torch.newTensor(t.meta, undefined, t.cls);
  c.isLeaf = t.isLeaf;
  c.known = t.known;
  if (!torch.trace) {
    torch.create(c, { how: "full", value: 0 });
  }
  return c;
}

function backward(torch: Torch, t: PyTensor, args: readonly Value[], kw: ReadonlyMap<string, Value>): Value {
  if (torch.trace) {
    breakOn(
      "Unsupported Tensor.backward() call",
      "0123",
      "Dynamo currently does not support tracing `Tensor.backward()`.",
      [FUNDAMENTAL],
      "call_method TensorVariable() backward () {}",
    );
  }
  const { vm } = torch;
  if (!t.meta.requiresGrad)
    vm.raise("RuntimeError", "element 0 of tensors does not require grad and does not have a grad_fn");
  const given = args[0] ?? kw.get("gradient") ?? null;
  if (given === null && torch.hints(t).some(n => n !== 1))
    vm.raise("RuntimeError", "grad can be implicitly created only for scalar outputs");
  const kept = args[1] ?? kw.get("retain_graph") ?? args[2] ?? kw.get("create_graph") ?? false;
  if (!torch.beginBackward([t], kept !== false && kept !== null))
    vm.raise(
      "RuntimeError",
      "Trying to backward through the graph a second time: its saved values were freed by the first backward(); retain_graph=True keeps them",
    );
  const frame = vm.frames[vm.frames.length - 1];
  const span = frame?.code.instructions[frame.pc - 1]?.at.span ?? { line: 1, column: 0, endLine: 1, endColumn: 0 };
  torch.runBackward([t], span);
  return null;
}

function typeName(t: PyTensor): string {
  const names: Record<string, string> = {
    float32: "FloatTensor",
    float64: "DoubleTensor",
    float16: "HalfTensor",
    bfloat16: "BFloat16Tensor",
    int64: "LongTensor",
    int32: "IntTensor",
    int16: "ShortTensor",
    int8: "CharTensor",
    uint8: "ByteTensor",
    bool: "BoolTensor",
  };
  return `torch.${t.meta.device.type === "cuda" ? "cuda." : ""}${names[t.meta.dtype] ?? "Tensor"}`;
}

/** the device that a tensor type names, as text or as a class; undefined: it is a dtype */
function deviceOfType(d: Value): "cpu" | "cuda" | undefined {
  const name = typeof d === "string" ? d : d instanceof PyClass ? `${d.module}.${d.name}` : "";
  if (!/[a-z]Tensor$/.test(name)) return undefined;
  return /\bcuda\./.test(name) ? "cuda" : "cpu";
}

function dtypeOfName(torch: Torch, name: string): Value {
  const short = name.split(".").pop()?.replace("Tensor", "").toLowerCase() ?? "";
  const map: Record<string, Parameters<Torch["dtype"]>[0]> = {
    float: "float32",
    double: "float64",
    half: "float16",
    bfloat16: "bfloat16",
    long: "int64",
    int: "int32",
    short: "int16",
    char: "int8",
    byte: "uint8",
    bool: "bool",
  };
  const d = map[short];
  return d ? torch.dtype(d) : torch.vm.raise("ValueError", `invalid type: '${name}'`);
}

/** how many elements a tensor has; where that is symbolic, the graph asks the tensor */
function numelOf(torch: Torch, t: PyTensor, method: string): Value {
  const v = torch.sizeValue(t, torch.meta.product(t.meta.shape));
  const { trace } = torch;
  if (!trace || !(v instanceof PySymInt)) return v;
  const node = trace.emit("call_method", method, [trace.nodeOf(t)], new Map(), v.expr);
  return new PySymInt(v.cls, v.expr, node, trace);
}
