// Functions of the package torch itself that are no operators of the table, and its constants. In: the module to fill.
import { type DType, LayoutArg, type MemoryFormat, PyFloat } from "../../aten/types";
import { defineInstances, defineNew, func } from "../builtins/define";
import { type PyClass, type PyModule, PyNamed, type Value } from "../objects/values";
import { DTYPES, isComplexDType, isFloatDType, type Torch } from "./context";
import { legacyTensor, tensorFromData, underArray } from "./factories";
import type { TorchParts } from "./namespace_parts";
import { limits } from "./namespace_types";
import { PyTensor } from "./objects";
import { sameValues } from "./tensor_values";

const FORMATS: readonly MemoryFormat[] = ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"];

const LEGACY: Readonly<Record<string, DType>> = {
  FloatTensor: "float32",
  DoubleTensor: "float64",
  HalfTensor: "float16",
  BFloat16Tensor: "bfloat16",
  LongTensor: "int64",
  IntTensor: "int32",
  ShortTensor: "int16",
  CharTensor: "int8",
  ByteTensor: "uint8",
  BoolTensor: "bool",
};

/** FloatTensor and the like, of torch and of torch.cuda */
export function legacyClasses(ns: TorchParts, m: PyModule, device: "cpu" | "cuda"): void {
  const { vm, torch } = ns;
  const options: ReadonlyMap<string, Value> = device === "cuda" ? new Map([["device", "cuda"]]) : new Map();
  for (const [k, dtype] of Object.entries(LEGACY)) {
    const cls = vm.klass(k, [torch.tensorClass], m.name);
    defineNew(vm, cls, (_c, args, kw) => legacyTensor(torch, dtype, args, new Map([...options, ...kw])));
    defineInstances(vm, cls, v => v instanceof PyTensor && v.meta.dtype === dtype && v.meta.device.type === device);
    m.dict.set(k, cls);
  }
}

/** torch.autograd.Variable: every tensor is one, and of a tensor it makes that tensor */
export function variableClass(ns: TorchParts): PyClass {
  const { vm } = ns;
  const cls = vm.klass("Variable", [], "torch.autograd.variable");
  defineNew(vm, cls, (_c, [t]) => t ?? null);
  defineInstances(vm, cls, v => v instanceof PyTensor);
  return cls;
}

export function fillTorch(ns: TorchParts, m: PyModule): void {
  const { vm, torch, api } = ns;
  const d = m.dict;
  d.set("__version__", "2.11.0");
  d.set("Tensor", torch.tensorClass);
  d.set("Size", torch.sizeClass);
  d.set("device", torch.deviceClass);
  d.set("dtype", torch.dtypeClass);
  d.set("layout", torch.layoutClass);
  d.set("memory_format", torch.formatClass);
  d.set("strided", torch.strided);
  d.set("sparse_coo", new PyNamed(torch.layoutClass, "torch.sparse_coo", new LayoutArg("strided")));
  for (const [k, v] of Object.entries(DTYPES)) d.set(k, torch.dtype(v));
  for (const f of FORMATS) d.set(f, torch.memoryFormat(f));
  // what contiguous_format was called first
  d.set("legacy_contiguous_format", torch.memoryFormat("contiguous_format"));
  for (const [k, v] of Object.entries({ pi: Math.PI, e: Math.E, inf: Infinity, nan: Number.NaN }))
    d.set(k, new PyFloat(v));
  d.set("newaxis", null);
  d.set("compile", api.compileFunction());
  d.set("SymInt", vm.types.int);
  d.set("SymFloat", vm.types.float);
  d.set("SymBool", vm.types.bool);
  legacyClasses(ns, m, "cpu");
  for (const n of ["tensor", "as_tensor", "asarray"])
    func(vm, m, n, (args, kw) => tensorFromData(torch, args, kw, n)).module = "torch";
  func(vm, m, "from_numpy", ([x]) => {
    const t = underArray(x ?? null);
    return t instanceof PyTensor ? t : tensorFromData(torch, [t], vm.emptyKwargs, "tensor");
  });
  func(vm, m, "is_tensor", ([x]) => x instanceof PyTensor);
  for (const n of ["equal", "allclose"] as const) func(vm, m, n, (args, kw) => sameValues(torch, n, args, kw));
  func(vm, m, "is_storage", () => false);
  func(vm, m, "is_floating_point", ([x]) => x instanceof PyTensor && isFloatDType(x.meta.dtype));
  func(vm, m, "is_complex", ([x]) => x instanceof PyTensor && isComplexDType(x.meta.dtype));
  func(vm, m, "is_grad_enabled", () => torch.gradEnabled);
  func(vm, m, "is_inference_mode_enabled", () => torch.inferenceMode);
  func(vm, m, "is_autocast_enabled", () => torch.autocast.enabled);
  func(vm, m, "is_autocast_cpu_enabled", () => torch.autocast.enabled && torch.autocast.device === "cpu");
  func(vm, m, "is_autocast_cache_enabled", () => true);
  for (const n of ["get_autocast_gpu_dtype", "get_autocast_cpu_dtype", "get_autocast_dtype"])
    func(vm, m, n, () => torch.dtype(torch.autocast.dtype));
  func(vm, m, "get_default_dtype", () => torch.dtype(torch.defaultDtype));
  func(vm, m, "set_default_dtype", ([x]) => {
    torch.defaultDtype = torch.asDtype(x) ?? torch.defaultDtype;
    return null;
  });
  func(vm, m, "get_default_device", () => torch.device(torch.defaultDevice));
  func(vm, m, "set_default_device", ([x]) => {
    torch.defaultDevice = torch.asDevice(x) ?? { type: "cpu", index: null };
    return null;
  });
  func(vm, m, "numel", ([x]) => (x instanceof PyTensor ? vm.call(vm.getattr(x, "numel"), []) : 0));
  func(vm, m, "typename", ([x]) => vm.typeOf(x ?? null).name);
  func(vm, m, "are_deterministic_algorithms_enabled", () => torch.deterministic);
  func(vm, m, "get_num_threads", () => 8);
  func(vm, m, "get_rng_state", () => vm.unknown("torch.get_rng_state()"));
  func(vm, m, "initial_seed", () => 0);
  func(vm, m, "load", () => vm.unknown("torch.load(...)"));
  func(vm, m, "_assert", () => null);
  func(vm, m, "result_type", args => {
    const metas = args.map(a => (a instanceof PyTensor ? a.meta : (a as number)));
    return torch.dtype(torch.meta.promote("default", ...metas));
  });
  func(vm, m, "promote_types", ([a, b]) => torch.dtype(promoteDtypes(torch, a, b)));
  func(vm, m, "can_cast", () => true);
  func(vm, m, "broadcast_shapes", shapes => {
    const all = shapes.map(s => vm.toArray(typeof s === "number" ? vm.tuple([s]) : s));
    const rank = Math.max(0, ...all.map(s => s.length));
    const out = Array.from({ length: rank }, (_, i) => {
      const sizes = all.map(s => s[i - (rank - s.length)] ?? 1);
      return sizes.find(v => v !== 1) ?? 1;
    });
    return torch.size(out);
  });
  func(vm, m, "sym_max", args => args.reduce((a, b) => (vm.truthy(vm.compare(">", a, b)) ? a : b)));
  func(vm, m, "sym_min", args => args.reduce((a, b) => (vm.truthy(vm.compare("<", a, b)) ? a : b)));
  func(vm, m, "sym_int", ([x]) => x ?? 0);
  func(vm, m, "sym_float", ([x]) => vm.call(vm.types.float, [x ?? 0]));
  func(vm, m, "cond", ([p, a, b, xs]) => cond(ns, p ?? null, a ?? null, b ?? null, xs ?? vm.tuple([])));
  func(vm, m, "vmap", (args, kw) => vm.call(ns.helper("vmap") ?? null, args, kw));
  func(vm, m, "get_float32_matmul_precision", () => torch.float32Precision);
  func(vm, m, "set_float32_matmul_precision", ([precision]) => {
    torch.float32Precision = vm.str(precision ?? "highest");
    return null;
  });
  func(vm, m, "use_deterministic_algorithms", ([on]) => {
    torch.deterministic = vm.truthy(on ?? false);
    return null;
  });
  d.set("finfo", limits(ns, "finfo"));
  d.set("iinfo", limits(ns, "iinfo"));
}

export function cond(ns: TorchParts, p: Value, a: Value, b: Value, xs: Value): Value {
  const { vm, torch } = ns;
  torch.trace?.note("torch.cond: the first branch was taken");
  return vm.call(p === false ? b : a, vm.toArray(xs));
}

function promoteDtypes(torch: Torch, a: Value | undefined, b: Value | undefined): Parameters<Torch["dtype"]>[0] {
  const m = torch.metaStatic;
  const like = (d: Value | undefined) =>
    m.tensor([1], { dtype: torch.asDtype(d) ?? "float32", device: torch.defaultDevice });
  return m.promote("default", like(a), like(b));
}
