// What happens on a Tensor: attributes, methods, operators, truth. In: Python's requests through the guest interface.
// Out: constants where shapes or dtypes answer, operators of the table elsewhere, and graph breaks where Dynamo has them.
import { lookupPython } from "../../aten/registry";
import type { MemoryFormat } from "../../aten/types";
import { MemoryFormatArg, PyFloat } from "../../aten/types";
import { type Expr, intValue } from "../../inductor/symbolic/expr";
import type { BinaryOperator, CompareOperator, Guest } from "../interp/api";
import { isNumber } from "../interp/numbers";
import {
  type Kwargs,
  PyBuiltin,
  PyClass,
  PyDict,
  PyList,
  PyMethod,
  PyNamed,
  PyTuple,
  type Value,
} from "../objects/values";
import { isComplex, isFloating, itemSize, type Torch } from "./context";
import { runOp } from "./dispatch";
import { tensorGetItem, tensorSetItem } from "./indexing";
import { PySymFloat, PySymInt, PyTensor, PyUnknownNumber } from "./objects";
import { Unsupported } from "./sink";

const OPERATOR_NAMES: Readonly<Record<BinaryOperator, string>> = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "/": "truediv",
  "//": "floordiv",
  "%": "mod",
  "**": "pow",
  "@": "matmul",
  "<<": "lshift",
  ">>": "rshift",
  "&": "and_",
  "|": "or_",
  "^": "xor",
};
const COMPARE_NAMES: Readonly<Record<string, string>> = {
  "==": "eq",
  "!=": "ne",
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
};

export type TensorMethod = (torch: Torch, self: PyTensor, args: readonly Value[], kwargs: Kwargs) => Value;

/** a method of the table, as the graph records it */
export function methodOp(torch: Torch, name: string, self: Value, args: readonly Value[], kwargs: Kwargs): Value {
  return runOp(torch, { op: "call_method", target: name, spelling: `Tensor.${name}` }, [self, ...args], kwargs);
}

export function functionOp(
  torch: Torch,
  target: string,
  args: readonly Value[],
  kwargs: Kwargs = new Map(),
  spelling = target,
): Value {
  return runOp(torch, { op: "call_function", target, spelling }, args, kwargs);
}

export const unsupportedItem = (name: string): Unsupported =>
  new Unsupported({
    type: "Unsupported Tensor.item() call with capture_scalar_outputs=False",
    number: "0124",
    explanation: "Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.",
    hints: [
      "Set `torch._dynamo.config.capture_scalar_outputs = True` or `export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` to include these operations in the captured graph.",
    ],
    context: `call_method TensorVariable() ${name} () {}`,
  });

const REPORT = "Please report an issue to PyTorch.";
const SUPPORTABLE =
  "It may be possible to write Dynamo tracing rules for this code. Please report an issue to PyTorch if you encounter this graph break often and it is causing performance issues.";
const FUNDAMENTAL =
  "This graph break is fundamental - it is unlikely that Dynamo will ever be able to trace through your code. Consider finding a workaround.";

function breakOn(type: string, number: string, explanation: string, hints: readonly string[], context: string): never {
  throw new Unsupported({ type, number, explanation, hints, context });
}

/**
 * The number in a tensor of one element: known, or unknown until the program's control flow asks for it. Inside a
 * compiled call it is worked out at once, since the frame that goes on is compiled for it.
 */
export function itemValue(torch: Torch, t: PyTensor, what: string, index = 0): Value {
  const one = t.known?.[index] ?? (torch.compiling ? elements(torch, t)?.[index] : undefined);
  if (one !== undefined) return asPython(torch, t, one);
  const { vm } = torch;
  const cls = t.meta.dtype === "bool" ? vm.types.bool : isFloating(t.meta.dtype) ? vm.types.float : vm.types.int;
  const step = torch.steps.length;
  return new PyUnknownNumber(cls, what, t, () => {
    const v = elements(torch, t, step)?.[index];
    return v === undefined ? undefined : Number(v);
  });
}

/** `step`: how far the program had come when the value was taken */
export function elements(
  torch: Torch,
  t: PyTensor,
  step = torch.steps.length,
): readonly (number | boolean)[] | undefined {
  if (t.known) return t.known;
  if (torch.stepsPaused) return undefined;
  return torch.options.evaluate?.(torch.steps.slice(0, step), torch.runtime(t));
}

function asPython(_torch: Torch, t: PyTensor, v: number | boolean): Value {
  if (t.meta.dtype === "bool") return Boolean(v);
  return isFloating(t.meta.dtype) ? new PyFloat(Number(v)) : Number(v);
}

function toList(torch: Torch, t: PyTensor): Value {
  const { vm } = torch;
  const flat = t.known ?? (torch.compiling ? elements(torch, t) : undefined);
  const sizes = torch.hints(t);
  const build = (dim: number, offset: number): Value => {
    if (dim === sizes.length) {
      const v = flat?.[offset];
      return v === undefined ? itemValue(torch, t, "an element", offset) : asPython(torch, t, v);
    }
    const inner = sizes.slice(dim + 1).reduce((a, b) => a * b, 1);
    return vm.list(
      Array.from({ length: Math.min(sizes[dim] ?? 0, 4096) }, (_, i) => build(dim + 1, offset + i * inner)),
    );
  };
  return build(0, 0);
}

// ---- attributes that answer without an operator

function attribute(torch: Torch, t: PyTensor, name: string): Value | undefined {
  const { vm } = torch;
  switch (name) {
    case "shape":
      return shapeOf(torch, t);
    case "dtype":
      return torch.dtype(t.meta.dtype);
    case "device":
      return torch.device(t.meta.device);
    case "ndim":
      return t.meta.shape.length;
    case "requires_grad":
      return t.meta.requiresGrad;
    case "is_leaf":
      return t.isLeaf;
    case "layout":
      return torch.strided;
    case "is_cuda":
      return t.meta.device.type === "cuda";
    case "is_cpu":
      return t.meta.device.type === "cpu";
    case "is_meta":
      return t.meta.device.type === "meta";
    case "is_sparse":
    case "is_quantized":
    case "is_mkldnn":
    case "is_nested":
    case "is_xpu":
    case "is_mps":
    case "retains_grad":
      return false;
    case "itemsize":
      return itemSize(t.meta.dtype);
    case "nbytes":
      return torch.dimValue(torch.meta.mul(torch.meta.product(t.meta.shape), itemSize(t.meta.dtype)));
    case "grad":
      return t.grad;
    case "grad_fn":
      return t.isLeaf ? null : vm.unknown("grad_fn");
    case "_version":
      return t.storage.version;
    case "name":
      return null;
    case "data":
      return functionOp(torch, "torch._C._autograd._get_data_attr", [t], undefined, "Tensor.detach");
    case "T":
    case "mT":
    case "H":
    case "mH":
    case "real":
    case "imag":
      return runOp(
        torch,
        { op: "call_function", target: "getattr", spelling: `Tensor.${name}`, display: name, suffix: [name] },
        [t],
        new Map(),
      );
    case "__dict__":
      t.attrs ??= vm.dict();
      return t.attrs;
    default:
      return undefined;
  }
}

export function shapeOf(torch: Torch, t: PyTensor): Value {
  const dims = t.meta.shape.map(d => torch.dimValue(d));
  recordSizes(torch, t, dims, "size");
  return torch.size(dims);
}

/** reading a symbolic shape takes the names that Dynamo's size and getitem nodes take; the nodes themselves go again */
function recordSizes(torch: Torch, t: PyTensor, dims: readonly Value[], target: "size" | "stride"): void {
  const trace = torch.trace;
  if (!trace || !dims.some(d => d instanceof PySymInt)) return;
  const node = trace.emit("call_method", target, [trace.nodeOf(t)], new Map(), null);
  for (const [i, d] of dims.entries()) {
    trace.emit("call_function", "operator.getitem", [node, i], new Map(), d instanceof PySymInt ? d.expr : null);
  }
}

// ---- methods that are no operators of the table

const METHODS: Readonly<Record<string, TensorMethod>> = {
  size: (torch, t, args, kw) => {
    const d = args[0] ?? kw.get("dim");
    if (d === undefined || d === null) return shapeOf(torch, t);
    const v = torch.dimValue(t.meta.shape[torch.meta.wrapDim(torch.vm.index(d), t.meta.shape.length)] as Expr);
    if (v instanceof PySymInt)
      torch.trace?.emit("call_method", "size", [torch.trace.nodeOf(t), torch.vm.index(d)], new Map(), v.expr);
    return v;
  },
  stride: (torch, t, args, kw) => {
    const d = args[0] ?? kw.get("dim");
    if (d === undefined || d === null) return torch.vm.tuple(t.meta.stride.map(s => torch.dimValue(s)));
    return torch.dimValue(t.meta.stride[torch.meta.wrapDim(torch.vm.index(d), t.meta.shape.length)] as Expr);
  },
  dim: (_torch, t) => t.meta.shape.length,
  ndimension: (_torch, t) => t.meta.shape.length,
  numel: (torch, t) => torch.dimValue(torch.meta.product(t.meta.shape)),
  nelement: (torch, t) => torch.dimValue(torch.meta.product(t.meta.shape)),
  storage_offset: (torch, t) => torch.dimValue(t.meta.storageOffset),
  element_size: (_torch, t) => itemSize(t.meta.dtype),
  is_contiguous: (torch, t, args, kw) => torch.meta.isContiguous(t.meta, format(args[0] ?? kw.get("memory_format"))),
  is_floating_point: (_torch, t) => isFloating(t.meta.dtype),
  is_complex: (_torch, t) => isComplex(t.meta.dtype),
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
  __len__: (torch, t) => {
    const n = t.meta.shape[0];
    return n === undefined ? torch.vm.raise("TypeError", "len() of a 0-d tensor") : torch.dimValue(n);
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
    const named = typeof d === "string" ? dtypeOfName(torch, d) : d;
    return methodOp(torch, torch.trace ? "type" : "to", t, [named], new Map());
  },
  add_: (torch, t, args, kw) => scaledInplace(torch, t, "add_", args, kw),
  addcmul_: (torch, t, args, kw) => valuedInplace(torch, t, "addcmul_", "torch.mul", args, kw),
  addcdiv_: (torch, t, args, kw) => valuedInplace(torch, t, "addcdiv_", "torch.div", args, kw),
  new: (torch, t, args) => methodOp(torch, "new_empty", t, args, new Map()),
  resize_: (torch, t) => {
    if (torch.trace)
      breakOn(
        "Unsupported Tensor.resize_() call",
        "0126",
        "Dynamo does not support tracing `Tensor.resize_()`.",
        [],
        "call_method TensorVariable() resize_ () {}",
      );
    return t;
  },
  map_: (_torch, t) => t,
  apply_: (_torch, t) => t,
  to_sparse: torch => torch.vm.unknown("a sparse tensor"),
  as_subclass: (_torch, t) => t,
  has_names: () => false,
  dim_order: (torch, t) => torch.vm.tuple(t.meta.shape.map((_, i) => i)),
  record_stream: () => null,
  zero_grad: () => null,
};

/** in-place random fills write values nobody replays: the parameters they fill are filled anew when compiled */
const RANDOM_FILLS = new Set([
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

function tracedItem(torch: Torch, t: PyTensor, name: string): Value {
  if (torch.dynamoConfig.get("capture_scalar_outputs") !== true) {
    if (name === "tolist" && isFloating(t.meta.dtype)) {
      breakOn(
        "Tensor.tolist() with non-integer tensor",
        "0109",
        "Dynamo currently does not support tracing `tolist()` on non-integer tensors.",
        ["Ensure the input tensor to `tolist()` is an integer type (e.g., int8, int16, int32, int64)."],
        `call_method TensorVariable() tolist`,
      );
    }
    throw unsupportedItem("item");
  }
  const trace = torch.trace;
  if (!trace || name === "tolist" || isFloating(t.meta.dtype)) throw unsupportedItem("item");
  const u = trace.unbackedInt();
  const node = trace.emit("call_method", "item", [trace.nodeOf(t)], new Map(), u);
  return new PySymInt(torch.vm.types.int, u, node, trace);
}

function number(torch: Torch, t: PyTensor, as: "int" | "float"): Value {
  if (torch.trace) {
    if (t.known && t.proxy?.trace !== torch.trace) return asPython(torch, t, t.known[0] ?? 0);
    throw unsupportedItem("item");
  }
  const v = itemValue(torch, t, `${as}(tensor)`);
  if (v instanceof PyUnknownNumber) return new PyUnknownNumber(torch.vm.types[as], v.what, t);
  return torch.vm.call(torch.vm.types[as], [v]);
}

export function truth(torch: Torch, t: PyTensor): boolean {
  if (torch.trace) {
    throw new Unsupported(
      {
        type: "Data-dependent branching",
        number: "0170",
        explanation:
          "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not support tracing dynamic control flow.",
        hints: [FUNDAMENTAL, "Use `torch.cond` to express dynamic control flow."],
        context: "attempted to jump with TensorVariable()",
      },
      true,
    );
  }
  const v = elements(torch, t)?.[0];
  if (v !== undefined) return Boolean(v);
  return torch.decideUnknown("the truth of a tensor");
}

/** eager iterates over unbind's views; Dynamo takes each item by its index, all of them before the first is used */
function iterate(torch: Torch, t: PyTensor): Value {
  const { vm } = torch;
  if (t.meta.shape.length === 0) vm.raise("TypeError", "iteration over a 0-d tensor");
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

// ---- the guest

const isTensor = (v: Value): v is PyTensor => v instanceof PyTensor;
const operand = (v: Value): boolean =>
  isTensor(v) || isNumber(v) || v instanceof PySymInt || v instanceof PySymFloat || v instanceof PyUnknownNumber;

export function tensorGuest(torch: Torch): Guest {
  const { vm } = torch;
  const bound = (name: string, self: PyTensor, fn: TensorMethod): Value => {
    const b = new PyBuiltin(vm.types.builtin, name, ([t, ...args], kw) => fn(torch, t as PyTensor, args, kw));
    b.method = true;
    return new PyMethod(vm.types.method, b, self);
  };
  return {
    getattr(o, name) {
      if (!isTensor(o)) {
        // torch.Tensor.add and the like
        if (o !== torch.tensorClass && o !== torch.parameterClass) return undefined;
        return classMethod(torch, name);
      }
      // Dynamo realises a lazy input as soon as anything is read off it
      torch.trace?.nodeOf(o);
      const own = o.attrs?.get(name);
      if (own !== undefined) return own;
      const simple = attribute(torch, o, name);
      if (simple !== undefined) return simple;
      if (o.cls !== torch.tensorClass && o.cls !== torch.parameterClass) {
        const custom = o.cls.lookup(name);
        if (custom !== undefined) return undefined;
      }
      const m = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
      if (m) return bound(name, o, m);
      if (RANDOM_FILLS.has(name) && !torch.trace) {
        return bound(name, o, (_t, self) => {
          self.storage.version++;
          return self;
        });
      }
      if (lookupPython(`Tensor.${name}`).length > 0) {
        return bound(name, o, (t, self, args, kw) => methodOp(t, name, self, args, kw));
      }
      if (/^__\w+__$/.test(name)) return undefined;
      if (KNOWN_METHODS.test(name)) return bound(name, o, (t, self, args, kw) => methodOp(t, name, self, args, kw));
      return undefined;
    },
    setattr(o, name, v) {
      if (!isTensor(o)) return false;
      if (name === "data" && isTensor(v)) {
        if (torch.trace) methodOp(torch, "set_", o, [v], new Map());
        else o.meta = { ...v.meta, requiresGrad: o.meta.requiresGrad };
        return true;
      }
      if (name === "requires_grad") {
        const on = vm.truthy(v);
        if (torch.trace && on !== o.meta.requiresGrad) {
          breakOn(
            "Unsupported Tensor.requires_grad setter",
            "0206",
            "Dynamo does not support changes to a Tensor's `requires_grad`.",
            [REPORT],
            "requires_grad",
          );
        }
        o.meta = { ...o.meta, requiresGrad: on };
        return true;
      }
      if (name === "grad") {
        o.setGrad(isTensor(v) ? v : null);
        return true;
      }
      return false;
    },
    binary(op, a, b, inplace) {
      if (!isTensor(a) && !isTensor(b)) return undefined;
      if (!operand(a) || !operand(b)) return undefined;
      const custom = !isTensor(a) ? b : a;
      if (isTensor(custom) && custom.cls !== torch.tensorClass && custom.cls !== torch.parameterClass) {
        const overridden = custom.cls.lookup(`__${OPERATOR_NAMES[op].replace("_", "")}__`);
        if (overridden !== undefined) return undefined;
      }
      return binaryOp(torch, op, a, b, inplace);
    },
    unary(op, a) {
      if (!isTensor(a)) return undefined;
      if (op === "+") return a;
      const name = op === "-" ? "neg" : "invert";
      return functionOp(torch, `operator.${name}`, [a], undefined, op === "-" ? "Tensor.neg" : "Tensor.bitwise_not");
    },
    compare(op, a, b) {
      if (!isTensor(a) && !isTensor(b)) return undefined;
      return compareOp(torch, op, a, b);
    },
    getitem: (o, key) => (isTensor(o) ? tensorGetItem(torch, o, key) : undefined),
    setitem(o, key, v) {
      if (!isTensor(o)) return false;
      tensorSetItem(torch, o, key, v);
      return true;
    },
    truth: v => (isTensor(v) ? truth(torch, v) : undefined),
    touched(v) {
      if (isTensor(v)) torch.trace?.nodeOf(v);
    },
    length: v => (isTensor(v) ? METHODS.__len__?.(torch, v, [], new Map()) : undefined),
    iterate(v) {
      if (!isTensor(v)) return undefined;
      return vm.iterate(iterate(torch, v));
    },
    index(v) {
      if (!isTensor(v)) return undefined;
      const n = number(torch, v, "int");
      return typeof n === "number" ? n : 0;
    },
    repr: v => (isTensor(v) ? tensorText(torch, v) : undefined),
    hash: v => (isTensor(v) ? v : undefined),
    format: (v, spec) =>
      isTensor(v)
        ? spec === "" || v.meta.shape.length > 0
          ? tensorText(torch, v)
          : vm.format(number(torch, v, "float"), spec)
        : undefined,
  };
}

/** methods that may be missing in the table; they become opaque operators instead of AttributeErrors */
const KNOWN_METHODS =
  /^(new_\w+|to_\w+|is_\w+|\w+_$|svd|qr|lu|fft|stft|istft|median|mode|kthvalue|histc|unique|unique_consecutive|cummax|cummin|logcumsumexp|corrcoef|cov|renorm|geqrf|inverse|pinverse|det|logdet|slogdet|cholesky|triangular_solve|nanmedian|quantile|nanquantile|view_as_complex|view_as_real|rename|refine_names|align_to|index_reduce|swapdims)$/;

function classMethod(torch: Torch, name: string): Value | undefined {
  const { vm } = torch;
  const fn = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  const known = fn !== undefined || lookupPython(`Tensor.${name}`).length > 0;
  if (!known || name === "__iter__" || name === "__getitem__" || name === "__setitem__") return undefined;
  if (name.startsWith("__") && name !== "__len__") return undefined;
  const b = new PyBuiltin(vm.types.builtin, name, ([self, ...args], kw) => {
    if (!(self instanceof PyTensor))
      return vm.raise("TypeError", `descriptor '${name}' requires a 'torch._C.TensorBase' object`);
    return fn ? fn(torch, self, args, kw) : methodOp(torch, name, self, args, kw);
  });
  b.method = true;
  return b;
}

function binaryOp(torch: Torch, op: BinaryOperator, a: Value, b: Value, inplace: boolean): Value {
  const base = OPERATOR_NAMES[op];
  if (inplace && isTensor(a)) {
    const target = `operator.i${base.replace(/_$/, "")}`;
    const spelling = lookupPython(target).length > 0 ? target : `Tensor.${INPLACE[op] ?? `${base}_`}`;
    return functionOp(torch, target, [a, b], undefined, spelling);
  }
  return functionOp(torch, `operator.${base}`, [a, b], undefined, `operator.${base}`);
}

const INPLACE: Partial<Record<BinaryOperator, string>> = {
  "/": "div_",
  "//": "floor_divide_",
  "%": "remainder_",
  "**": "pow_",
  "&": "bitwise_and_",
  "|": "bitwise_or_",
  "^": "bitwise_xor_",
  "<<": "bitwise_left_shift_",
  ">>": "bitwise_right_shift_",
  "@": "matmul_",
};

function compareOp(torch: Torch, op: CompareOperator, a: Value, b: Value): Value | undefined {
  const name = COMPARE_NAMES[op];
  if (name === undefined) return undefined;
  if (!operand(a) || !operand(b)) {
    if (op === "==") return false;
    return op === "!=" ? true : undefined;
  }
  if (op === "==" && isTensor(a)) {
    return runOp(torch, { op: "call_method", target: "__eq__", spelling: "operator.eq" }, [a, b], new Map());
  }
  return functionOp(torch, `operator.${name}`, [a, b], undefined, `operator.${name}`);
}

function tensorText(torch: Torch, t: PyTensor): string {
  const { vm } = torch;
  const parts = [`shape=torch.Size([${torch.hints(t).join(", ")}])`];
  const values = t.known && t.meta.shape.length <= 1 ? t.known : null;
  const shown = values
    ? t.meta.shape.length === 0
      ? vm.repr(asPython(torch, t, values[0] ?? 0))
      : `[${values.map(v => vm.repr(asPython(torch, t, v))).join(", ")}]`
    : "...";
  if (values) parts.length = 0;
  if (t.meta.device.type === "cuda") parts.push(`device='cuda:${t.meta.device.index ?? 0}'`);
  if (t.meta.dtype !== torch.defaultDtype && t.meta.dtype !== "int64") parts.push(`dtype=torch.${t.meta.dtype}`);
  return `tensor(${[shown, ...parts].join(", ")})`;
}

export { intValue, PyClass, PyDict, PyList, PyTuple };
