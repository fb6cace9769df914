// Lesser modules of torch: cuda, library, nn.init, autograd's functions and the recurrent layers' native half. In: the
// module to fill, or a call. Out: native functions.
import { PyFloat } from "../../aten/types";
import { func, method, native } from "../builtins/define";
import { PyFunction } from "../interp/frame";
import {
  type PyBuiltin,
  type PyClass,
  PyInstance,
  PyList,
  type PyModule,
  PyObject,
  PyTuple,
  type Value,
} from "../objects/values";
import { legacyClasses } from "./namespace_functions";
import type { TorchParts } from "./namespace_parts";
import { PyTensor } from "./objects";
import { customOperator } from "./ops_namespace";

export function fillCuda(ns: TorchParts, m: PyModule): void {
  const { vm } = ns;
  func(vm, m, "is_available", () => true);
  func(vm, m, "is_initialized", () => true);
  func(vm, m, "is_bf16_supported", () => true);
  func(vm, m, "device_count", () => 1);
  func(vm, m, "current_device", () => 0);
  func(vm, m, "get_device_name", () => "NVIDIA H100 80GB HBM3");
  func(vm, m, "get_device_capability", () => vm.tuple([9, 0]));
  func(vm, m, "get_device_properties", () => {
    const o = new PyInstance(vm.klass("_CudaDeviceProperties", [], "torch.cuda"));
    o.attrs = vm.dict([
      ["name", "NVIDIA H100 80GB HBM3"],
      ["major", 9],
      ["minor", 0],
      ["multi_processor_count", 132],
      ["total_memory", 85899345920],
      ["shared_memory_per_block_optin", 232448],
    ]);
    return o;
  });
  for (const n of ["memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"])
    func(vm, m, n, () => 0);
  func(vm, m, "mem_get_info", () => vm.tuple([85899345920, 85899345920]));
  for (const n of ["Event", "Stream"]) m.dict.set(n, ns.helper(n) ?? null);
  legacyClasses(ns, m, "cuda");
  for (const n of ["device", "device_of"]) m.dict.set(n, ns.mode("_Null"));
  m.dict.set("stream", ns.mode("_Null"));
  m.dict.set("graph", ns.mode("_Null"));
  for (const n of ["current_stream", "default_stream"]) func(vm, m, n, () => vm.call(ns.helper("Stream") ?? null, []));
}

export function fillLibrary(ns: TorchParts, m: PyModule): void {
  const { vm, torch } = ns;
  const decorator = (f: (g: Value) => Value): PyBuiltin => vm.builtin("decorator", ([g]) => f(g ?? null));
  func(vm, m, "custom_op", ([name, fn], kw) => {
    // one that writes its arguments is followed inside: what it writes is what the program goes on with
    const writes = kw.get("mutates_args");
    const mutating = writes !== undefined && (typeof writes === "string" || vm.toArray(writes).length > 0);
    const make = (g: Value): Value =>
      mutating ? torch.customOp(String(name), g) : customOperator(torch, String(name), g);
    return fn === undefined || fn === null ? decorator(make) : make(fn);
  });
  func(vm, m, "triton_op", ([name, fn]) => {
    const make = (g: Value): Value => torch.customOp(String(name), g);
    return fn === undefined || fn === null ? decorator(make) : make(fn);
  });
  func(vm, m, "wrap_triton", ([k]) => k ?? null);
  for (const n of ["register_fake", "impl_abstract"]) {
    func(vm, m, n, ([name, fn]) => {
      const set = (g: Value): Value => {
        torch.fakes.set(customName(name ?? null), g);
        return g;
      };
      return fn === undefined || fn === null ? decorator(set) : set(fn);
    });
  }
  func(vm, m, "impl", args => {
    const names = args.filter(a => typeof a === "string").map(String);
    const given = args.find(a => a instanceof PyFunction) ?? null;
    const name = names.find(n => n.includes("::"));
    const set = (g: Value): Value => {
      if (name !== undefined) torch.customOps.set(name, g);
      return g;
    };
    return given === null ? decorator(set) : set(given);
  });
  for (const n of ["define", "register_autograd", "register_kernel", "opcheck"]) {
    func(vm, m, n, args => {
      const last = args[args.length - 1];
      return last instanceof PyObject && !(last instanceof PyTuple) && !(last instanceof PyList) && args.length > 1
        ? null
        : decorator(g => g);
    });
  }
  m.dict.set("Library", libraryClass(ns));
}

/** torch.library.Library: what its `impl` is given are the namespace's operators */
function libraryClass({ vm, torch }: TorchParts): PyClass {
  const cls = vm.klass("Library", [], "torch.library");
  method(vm, cls, "__init__", ([self, space]) => {
    if (self instanceof PyInstance) self.attrs = vm.dict([["ns", space ?? null]]);
    return null;
  });
  const nameIn = (self: Value | undefined, op: Value | undefined): string => {
    const space = self instanceof PyInstance ? self.attrs?.get("ns") : "";
    const name = String(op).split(/[(.]/)[0]?.trim() ?? "";
    return name.includes("::") ? name : `${String(space)}::${name}`;
  };
  method(vm, cls, "define", ([self, schema]) => nameIn(self, schema));
  method(vm, cls, "impl", ([self, op, fn]) => {
    if (fn instanceof PyFunction) torch.customOps.set(nameIn(self, op), fn);
    return null;
  });
  method(vm, cls, "_register_fake", ([self, op, fn]) => {
    torch.fakes.set(nameIn(self, op), fn ?? null);
    return null;
  });
  return cls;
}

export function initFunction(ns: TorchParts, name: string): Value | undefined {
  const { vm } = ns;
  if (name === "calculate_gain") {
    return native(vm, name, ["nonlinearity", "param?"], a => {
      const gains: Record<string, number> = { tanh: 5 / 3, relu: Math.SQRT2, selu: 0.75 };
      return new PyFloat(gains[vm.str(a.need("nonlinearity"))] ?? 1);
    });
  }
  if (name === "_calculate_fan_in_and_fan_out") {
    return vm.builtin(name, ([t]) => {
      if (!(t instanceof PyTensor)) return vm.tuple([1, 1]);
      const s = ns.torch.hints(t);
      const field = s.slice(2).reduce((p, n) => p * n, 1);
      return vm.tuple([(s[1] ?? 1) * field, (s[0] ?? 1) * field]);
    });
  }
  if (name === "_calculate_correct_fan") {
    const both = initFunction(ns, "_calculate_fan_in_and_fan_out") ?? null;
    return vm.builtin(name, ([t, mode]) => {
      const [into, outOf] = vm.toArray(vm.call(both, [t ?? null]));
      return (vm.str(mode ?? null).toLowerCase() === "fan_out" ? outOf : into) ?? null;
    });
  }
  if (!/_$|^(uniform|normal|constant|xavier\w*|kaiming\w*|orthogonal|eye|dirac|sparse)$/.test(name)) return undefined;
  // values of parameters are given anew when a module is compiled; what an initialiser writes is not followed
  return vm.builtin(name, (args, kw) => {
    const t = args[0] ?? kw.get("tensor") ?? null;
    if (t instanceof PyTensor) {
      t.storage.wrote();
      t.known = null;
    }
    return t;
  });
}

export function autogradBackward(ns: TorchParts, args: readonly Value[]): Value {
  const { vm } = ns;
  const roots = args[0] instanceof PyTensor ? [args[0]] : vm.toArray(args[0] ?? vm.list([]));
  for (const r of roots) vm.call(vm.getattr(r, "backward"), []);
  return null;
}

export function autogradGrad(ns: TorchParts, args: readonly Value[], kw: ReadonlyMap<string, Value>): Value {
  const { vm, torch } = ns;
  if (torch.trace)
    throw torch.breakOn({
      type: "using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`",
      number: "9186",
      explanation:
        "Attempted to call `torch.autograd.grad` with config `torch._dynamo.config.trace_autograd_ops` set to `False`.",
      hints: ["Change `torch._dynamo.config.trace_autograd_ops` to `True`."],
      context: "trace_autograd_ops=False",
    });
  const inputs = args[1] ?? kw.get("inputs") ?? vm.tuple([]);
  const list = inputs instanceof PyTensor ? [inputs] : vm.toArray(inputs);
  const given = args[0] ?? kw.get("outputs") ?? null;
  const outputs = given instanceof PyTensor ? [given] : vm.toArray(given);
  outputs.forEach((t, i) => {
    if (t instanceof PyTensor && !t.meta.requiresGrad)
      vm.raise("RuntimeError", `element ${i} of tensors does not require grad and does not have a grad_fn`);
  });
  if (list.some(t => t instanceof PyTensor && !t.meta.requiresGrad))
    vm.raise("RuntimeError", "One of the differentiated Tensors does not require grad");
  // gradients of gradients may be taken of what keeps its graph
  const requiresGrad = vm.truthy(kw.get("create_graph") ?? args[4] ?? false);
  return vm.tuple(
    list.map(t => {
      if (!(t instanceof PyTensor)) return null;
      const made = torch.newTensor({ ...t.meta, requiresGrad });
      made.isLeaf = !requiresGrad;
      return made;
    }),
  );
}

export function recurrent(ns: TorchParts, self: Value, x: Value, hx: Value): Value {
  const { vm, torch } = ns;
  if (torch.trace) {
    const mode = vm.str(vm.getattr(self, "mode"));
    throw torch.breakOn({
      type: "Attempted to wrap RNN, GRU, or LSTM",
      number: "0014",
      explanation: "Dynamo does not support RNN, GRU, or LSTM.",
      hints: [
        "Set torch._dynamo.config.allow_rnn=True to enable experimental support for RNN, GRU, and LSTM in Dynamo",
      ],
      context: mode,
    });
  }
  if (x instanceof PyInstance && x.cls.name === "PackedSequence") {
    // kept padded: what is packed differs in its order alone
    const data = vm.getattr(x, "data");
    const first = vm.truthy(vm.getattr(x, "_batch_first"));
    const turned =
      first === vm.truthy(vm.getattr(self, "batch_first")) ? data : vm.call(vm.getattr(data, "transpose"), [0, 1]);
    const [out, hidden] = vm.toArray(recurrent(ns, self, turned, hx));
    const packed = vm.call(x.cls, [out ?? null, vm.getattr(x, "batch_sizes")]);
    vm.setattr(packed, "_batch_first", vm.getattr(self, "batch_first"));
    return vm.tuple([packed, hidden ?? null]);
  }
  return x instanceof PyTensor ? vm.call(vm.getattr(self, "_run"), [x, hx]) : vm.unknown("an RNN's output");
}

function customName(v: Value): string {
  const defined = v instanceof PyInstance ? v.attrs?.get("_qualname") : undefined;
  if (typeof defined === "string") return defined;
  return typeof v === "string" ? v : v instanceof PyObject && "name" in v ? String(v.name) : String(v);
}
