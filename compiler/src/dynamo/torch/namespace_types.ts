// The classes of the torch package: Parameter, Tensor, Size, device, dtype, Buffer, finfo. In: the machine and torch. Out:
// their constructors and methods, installed.
import { PyFloat } from "../../aten/types";
import { defineNew, method, native, property } from "../builtins/define";
import { PyInstance, PyNamed, PyTuple, type Value } from "../objects/values";
import { isComplexDType, isFloatDType, itemSize, type Torch } from "./context";
import { factory, legacyTensor } from "./factories";
import type { TorchParts } from "./namespace_parts";
import { PyTensor } from "./objects";

export function installClasses(ns: TorchParts): void {
  const { vm, torch } = ns;
  const isTensor = (v: Value | undefined): v is PyTensor => v instanceof PyTensor;
  defineNew(vm, torch.parameterClass, (cls, args, kw) => {
    const data = args[0] ?? kw.get("data");
    const source = isTensor(data) ? data : (vm.call(factory(torch, "empty"), [0]) as PyTensor);
    const grad = args[1] ?? kw.get("requires_grad") ?? true;
    const p = torch.newTensor({ ...source.meta, requiresGrad: vm.truthy(grad) }, source.storage, cls);
    p.isLeaf = true;
    p.storage.root = p;
    p.takeRuntime(source);
    return p;
  });
  defineNew(vm, torch.tensorClass, (cls, args, kw) => {
    if (cls !== torch.tensorClass && isTensor(args[0])) return torch.newTensor(args[0].meta, args[0].storage, cls);
    return legacyTensor(torch, torch.defaultDtype, args, kw);
  });
  defineNew(vm, torch.sizeClass, (_c, [it]) => torch.size(it === undefined ? [] : vm.toArray(it)));
  method(vm, torch.sizeClass, "numel", ([s]) =>
    s instanceof PyTuple ? s.items.reduce((a, x) => vm.binary("*", a, x), 1 as Value) : 0,
  );
  method(
    vm,
    torch.sizeClass,
    "__repr__",
    ([s]) => `torch.Size([${s instanceof PyTuple ? s.items.map(x => vm.repr(x)).join(", ") : ""}])`,
  );
  defineNew(vm, torch.deviceClass, (_c, args, kw) => {
    const first = args[0] ?? kw.get("type") ?? kw.get("device") ?? null;
    const index = args[1] ?? kw.get("index");
    const d = torch.asDevice(first);
    if (!d) return vm.raise("TypeError", "device(): argument 'type' must be str");
    return torch.device(
      index === undefined || index === null ? explicit(first, d) : { type: d.type, index: vm.index(index) },
    );
  });
  property(vm, torch.deviceClass, "type", v => torch.asDevice(v)?.type ?? "cpu");
  property(vm, torch.deviceClass, "index", v => torch.asDevice(v)?.index ?? null);
  method(vm, torch.deviceClass, "__eq__", ([a, b]) => {
    const [x, y] = [torch.asDevice(a), b instanceof PyNamed ? torch.asDevice(b) : undefined];
    return x !== undefined && y !== undefined && x.type === y.type && x.index === y.index;
  });
  method(vm, torch.deviceClass, "__hash__", ([a]) => vm.str(a ?? null));
  method(vm, torch.deviceClass, "__str__", ([a]) => {
    const d = torch.asDevice(a);
    return d ? (d.index === null ? d.type : `${d.type}:${d.index}`) : "";
  });
  const outer: Torch["defaultDevice"][] = [];
  method(vm, torch.deviceClass, "__enter__", ([d]) => {
    outer.push(torch.defaultDevice);
    torch.defaultDevice = torch.asDevice(d) ?? torch.defaultDevice;
    return d ?? null;
  });
  method(vm, torch.deviceClass, "__exit__", () => {
    torch.defaultDevice = outer.pop() ?? torch.defaultDevice;
    return null;
  });
  const flag = (name: string, test: (d: Parameters<typeof isFloatDType>[0]) => boolean): void =>
    property(vm, torch.dtypeClass, name, v => test(torch.asDtype(v) ?? "float32"));
  flag("is_floating_point", isFloatDType);
  flag("is_complex", isComplexDType);
  flag("is_signed", d => !/^(uint|bool)/.test(d));
  property(vm, torch.dtypeClass, "itemsize", v => itemSize(torch.asDtype(v) ?? "float32"));
  method(vm, torch.dtypeClass, "to_complex", () => torch.dtype("complex64"));
  method(vm, torch.dtypeClass, "to_real", () => torch.dtype("float32"));
  ns.vm.guests.push({
    hash: v => (v instanceof PyNamed && v.cls === torch.deviceClass ? `\u0000d${v.text}` : undefined),
  });
}

export function bufferClass(ns: TorchParts): Value {
  const { torch, vm } = ns;
  return native(vm, "Buffer", ["data?", "*", "persistent?"], a => {
    const data = a.get("data");
    const t =
      data instanceof PyTensor
        ? torch.newTensor(data.meta, data.storage)
        : (vm.call(factory(torch, "empty"), [0]) as PyTensor);
    if (data instanceof PyTensor) t.takeRuntime(data);
    t.isBuffer = true;
    return t;
  });
}

export function limits(ns: TorchParts, name: "finfo" | "iinfo"): Value {
  const { vm, torch } = ns;
  const cls = vm.klass(name, [], "torch");
  defineNew(vm, cls, (c, [given]) => {
    const dtype = torch.asDtype(given) ?? torch.defaultDtype;
    const o = new PyInstance(c);
    o.attrs = vm.dict([
      ["dtype", dtype],
      ["bits", itemSize(dtype) * 8],
    ]);
    for (const [k, v] of Object.entries(LIMITS[dtype] ?? {}))
      o.attrs.set(k, name === "finfo" ? new PyFloat(Number(v)) : v);
    return o;
  });
  return cls;
}

function explicit(first: Value, d: { type: "cuda" | "cpu" | "meta"; index: number | null }): typeof d {
  // "cuda" without an index stays without one until a tensor is made
  return typeof first === "string" && first === "cuda" ? { type: "cuda", index: 0 } : d;
}

const LIMITS: Readonly<Record<string, Readonly<Record<string, number | bigint>>>> = {
  float32: {
    max: 3.4028234663852886e38,
    min: -3.4028234663852886e38,
    eps: 1.1920928955078125e-7,
    tiny: 1.1754943508222875e-38,
    smallest_normal: 1.1754943508222875e-38,
    resolution: 1e-6,
  },
  float64: {
    max: 1.7976931348623157e308,
    min: -1.7976931348623157e308,
    eps: 2.220446049250313e-16,
    tiny: 2.2250738585072014e-308,
    smallest_normal: 2.2250738585072014e-308,
    resolution: 1e-15,
  },
  float16: {
    max: 65504,
    min: -65504,
    eps: 0.0009765625,
    tiny: 0.00006103515625,
    smallest_normal: 0.00006103515625,
    resolution: 0.001,
  },
  bfloat16: {
    max: 3.3895313892515355e38,
    min: -3.3895313892515355e38,
    eps: 0.0078125,
    tiny: 1.1754943508222875e-38,
    smallest_normal: 1.1754943508222875e-38,
    resolution: 0.01,
  },
  float8_e4m3fn: { max: 448, min: -448, eps: 0.125, tiny: 0.015625, smallest_normal: 0.015625, resolution: 1 },
  float8_e5m2: {
    max: 57344,
    min: -57344,
    eps: 0.25,
    tiny: 0.00006103515625,
    smallest_normal: 0.00006103515625,
    resolution: 1,
  },
  int8: { max: 127, min: -128 },
  uint8: { max: 255, min: 0 },
  int16: { max: 32767, min: -32768 },
  int32: { max: 2147483647, min: -2147483648 },
  int64: { max: 9223372036854775807n, min: -9223372036854775808n },
};
