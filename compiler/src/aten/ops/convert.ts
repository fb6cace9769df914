// Changes of dtype and device, copies and aliases: Tensor.to and the shorthands for it, clone, contiguous, detach.
import {
  type Args,
  type ArgValue,
  type Device,
  DeviceArg,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type MemoryFormat,
  MemoryFormatArg,
  type MetaBuilder,
  type OpRecord,
  type TensorMeta,
} from "../types";
import { each, fallback, isComplexDType, isFloatDType, NOT_DIFFERENTIABLE, pointwise } from "./helpers/define";
import { composed, contiguousStrides, copiedStrides, suggestedFormat } from "./helpers/shape";
import { STRIDED, zerosLike } from "./helpers/trace";

const sameDevice = (x: Device, y: Device): boolean =>
  x.type === y.type && (x.type !== "cuda" || (x.index ?? 0) === (y.index ?? 0));

/** what a copy of a tensor looks like under a memory format; preserve keeps dense strides */
function copyMeta(
  m: MetaBuilder,
  x: TensorMeta,
  to: { dtype: DType; device: Device },
  format: MemoryFormat | null,
): TensorMeta {
  switch (format) {
    case "contiguous_format":
      return m.tensor(x.shape, to);
    case "channels_last":
    case "channels_last_3d":
      return m.tensor(x.shape, to, m.channelsLast(x.shape));
    case "preserve_format":
    case null: {
      return m.tensor(x.shape, to, copiedStrides(m, x));
    }
    default: {
      const never: never = format;
      return never;
    }
  }
}

const convertElementType: OpRecord = {
  name: "prims.convert_element_type.default",
  schema: "convert_element_type(Tensor a, ScalarType dtype) -> Tensor",
  tags: ["pointwise"],
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => {
    const x = a.tensor("a");
    return m.tensor(x.shape, { dtype: a.dtype("dtype") ?? x.dtype, device: x.device }, copiedStrides(m, x));
  },
  lower: (b, a) => {
    const x = a.tensor("a");
    const dtype = a.dtype("dtype") ?? b.dtype(x);
    if (!isComplexDType(dtype) || b.size(x).length === 0) return b.toDtype(x, dtype, true);
    // ATen writes complex numbers into new memory
    const size = b.size(x);
    const copy = b.empty(size, contiguousStrides(b, size), dtype, b.device(x));
    return b.extern({
      kind: "fallback",
      kernel: "aten.copy_",
      op: "aten.copy_.default",
      inputs: [copy, x],
      args: [copy, x],
      mutates: [copy],
    });
  },
};

const devicePut: OpRecord = {
  name: "prims.device_put.default",
  schema: "device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => {
    const x = a.tensor("a");
    return copyMeta(m, x, { dtype: x.dtype, device: a.device("device") ?? x.device }, null);
  },
  lower: (b, a) => b.toDevice(a.tensor("a"), a.device("device") ?? b.device(a.tensor("a"))),
};

const toCopy: OpRecord = {
  name: "aten._to_copy.default",
  schema:
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
  meta: (m, a) => {
    const x = a.tensor("self");
    const to = { dtype: a.dtype("dtype") ?? x.dtype, device: a.device("device") ?? x.device };
    return copyMeta(m, x, to, a.memoryFormat("memory_format"));
  },
  decompose: (b, a) => {
    let x = a.tensor("self");
    const [dtype, device, format] = [a.dtype("dtype"), a.device("device"), a.memoryFormat("memory_format")];
    if (dtype === null && device === null && format === null) return b.call("aten.clone.default", [x]);
    const cast = (y: typeof x): typeof x =>
      dtype === null ? y : b.call("prims.convert_element_type.default", [y, new DTypeArg(dtype)]);
    const moves = device !== null && !sameDevice(device, b.meta(x).device);
    // on the way to the CPU the cast is done first, on the accelerator
    const castFirst = moves && device.type === "cpu";
    if (castFirst) x = cast(x);
    if (moves) {
      const nonBlocking = a.bool("non_blocking");
      x = b.call("prims.device_put.default", [x, new DeviceArg(device), ...(nonBlocking ? [true] : [])]);
    }
    if (!castFirst) x = cast(x);
    return format === null ? x : b.call("aten.clone.default", [x], { memory_format: new MemoryFormatArg(format) });
  },
  derivative: each({
    self: (b, c) => {
      const [g, x] = [b.meta(c.grad()), b.meta(c.args.tensor("self"))];
      if (isComplexDType(g.dtype) && !isComplexDType(x.dtype)) return b.call("aten.real.default", [c.grad()]);
      if (g.dtype === x.dtype && sameDevice(g.device, x.device)) return c.grad();
      return b.call("aten._to_copy.default", [c.grad()], {
        dtype: new DTypeArg(x.dtype),
        layout: STRIDED,
        device: new DeviceArg(x.device),
      });
    },
  }),
};

interface Target {
  readonly dtype?: DType | null;
  readonly device?: Device | null;
  readonly nonBlocking?: boolean;
  readonly copy?: boolean;
  readonly format?: MemoryFormat | null;
}

/** Tensor.to: the tensor itself if nothing changes */
function to<T>(b: GraphBuilder<T>, x: T, target: Target): T {
  const m = b.meta(x);
  const format = target.format ?? null;
  const device = target.device ?? null;
  const dtype = target.dtype ?? m.dtype;
  const relaid = format !== null && format !== "preserve_format" && suggestedFormat(b, m) !== format;
  const moved = device !== null && !sameDevice(device, m.device);
  if (!target.copy && dtype === m.dtype && !moved && !relaid) return x;
  const kwargs: Record<string, ArgValue<T>> = { dtype: new DTypeArg(dtype) };
  if (device !== null || format !== null) {
    kwargs.layout = STRIDED;
    kwargs.device = new DeviceArg(device ?? m.device);
  }
  if (target.nonBlocking) kwargs.non_blocking = true;
  if (format !== null) kwargs.memory_format = new MemoryFormatArg(format);
  return b.call("aten._to_copy.default", [x], kwargs);
}

function options<T>(a: Args<T>): Pick<Target, "nonBlocking" | "copy" | "format"> {
  return { nonBlocking: a.bool("non_blocking"), copy: a.bool("copy"), format: a.memoryFormat("memory_format") };
}

const OPTIONS = "bool non_blocking=False, bool copy=False";

const conversions: OpRecord[] = [
  composed({
    name: "aten.to.dtype",
    schema: `to.dtype(Tensor(a) self, ScalarType dtype, ${OPTIONS}, MemoryFormat? memory_format=None) -> Tensor(a)`,
    python: ["Tensor.to"],
    composite: (b, a) => to(b, a.tensor("self"), { dtype: a.dtype("dtype"), ...options(a) }),
  }),
  composed({
    name: "aten.to.other",
    schema: `to.other(Tensor(a) self, Tensor other, ${OPTIONS}, MemoryFormat? memory_format=None) -> Tensor(a)`,
    python: ["Tensor.to"],
    composite: (b, a) => {
      const { dtype, device } = b.meta(a.tensor("other"));
      return to(b, a.tensor("self"), { dtype, device, ...options(a) });
    },
  }),
  composed({
    name: "Tensor.to.device",
    schema: `to.device(Tensor self, Device? device=None, ScalarType? dtype=None, ${OPTIONS}, *, MemoryFormat? memory_format=None) -> Tensor`,
    python: ["Tensor.to"],
    composite: (b, a) =>
      to(b, a.tensor("self"), { dtype: a.dtype("dtype"), device: a.device("device"), ...options(a) }),
  }),
  composed({
    name: "aten.to.dtype_layout",
    schema: `to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, ${OPTIONS}, MemoryFormat? memory_format=None) -> Tensor(a)`,
    composite: (b, a) =>
      to(b, a.tensor("self"), { dtype: a.dtype("dtype"), device: a.device("device"), ...options(a) }),
  }),
  composed({
    name: "aten.type_as.default",
    schema: "type_as(Tensor self, Tensor other) -> Tensor",
    python: ["Tensor.type_as"],
    composite: (b, a) => {
      const { dtype, device } = b.meta(a.tensor("other"));
      return to(b, a.tensor("self"), { dtype, device });
    },
  }),
  composed({
    name: "Tensor.type.default",
    schema: "type(Tensor self, ScalarType dtype, bool non_blocking=False) -> Tensor",
    python: ["Tensor.type"],
    composite: (b, a) => to(b, a.tensor("self"), { dtype: a.dtype("dtype"), nonBlocking: a.bool("non_blocking") }),
  }),
  ...(["cuda", "cpu"] as const).map(device =>
    composed({
      name: `Tensor.${device}.default`,
      schema:
        device === "cuda"
          ? "cuda(Tensor self, Device? device=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor"
          : "cpu(Tensor self, MemoryFormat? memory_format=None) -> Tensor",
      python: [`Tensor.${device}`],
      composite: (b, a) => {
        const wanted: Device =
          device === "cpu" ? { type: "cpu", index: null } : (a.device("device") ?? { type: "cuda", index: 0 });
        return to(b, a.tensor("self"), { device: wanted, format: a.memoryFormat("memory_format") });
      },
    }),
  ),
];

const SHORTHANDS: Readonly<Record<string, DType>> = {
  float: "float32",
  half: "float16",
  bfloat16: "bfloat16",
  double: "float64",
  long: "int64",
  int: "int32",
  short: "int16",
  char: "int8",
  byte: "uint8",
  bool: "bool",
  cfloat: "complex64",
  cdouble: "complex128",
};

const shorthands: OpRecord[] = Object.entries(SHORTHANDS).map(([name, dtype]) =>
  composed({
    name: `Tensor.${name}.default`,
    schema: `${name}(Tensor self, MemoryFormat? memory_format=None) -> Tensor`,
    python: [`Tensor.${name}`],
    composite: (b, a) => to(b, a.tensor("self"), { dtype, format: a.memoryFormat("memory_format") }),
  }),
);

const clone: OpRecord = {
  name: "aten.clone.default",
  schema: "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
  python: ["torch.clone", "Tensor.clone"],
  tags: ["pointwise"],
  meta: (m, a) => copyMeta(m, a.tensor("self"), a.tensor("self"), a.memoryFormat("memory_format")),
  lower: (b, a) => b.clone(a.tensor("self")),
  derivative: each({ self: (_b, c) => c.grad() }),
};

/** a copy made when either side is written; Inductor leaves it to eager, and every pass treats it as opaque */
const lazyClone: OpRecord = {
  name: "aten._lazy_clone.default",
  schema: "_lazy_clone(Tensor self) -> Tensor",
  meta: (m, a) => copyMeta(m, a.tensor("self"), a.tensor("self"), null),
  lower: fallback("aten._lazy_clone.default", ["self"], ["self"]),
  derivative: each({ self: (_b, c) => c.grad() }),
};

const contiguous: OpRecord = composed({
  name: "aten.contiguous.default",
  schema: "contiguous(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)",
  python: ["Tensor.contiguous"],
  composite: (b, a) => {
    const x = a.tensor("self");
    const format = a.memoryFormat("memory_format") ?? "contiguous_format";
    if (b.isContiguous(x, format)) return x;
    return b.call("aten.clone.default", [x], { memory_format: new MemoryFormatArg(format) });
  },
});

const aliases: OpRecord[] = [
  {
    name: "aten.alias.default",
    schema: "alias(Tensor(a) self) -> Tensor(a)",
    tags: ["view"],
    viewOf: "self",
    meta: (_m, a) => a.tensor("self"),
    lower: (_b, a) => a.tensor("self"),
    derivative: each({ self: (_b, c) => c.grad() }),
  },
  {
    name: "aten.detach.default",
    schema: "detach(Tensor(a) self) -> Tensor(a)",
    python: ["torch.detach", "Tensor.detach", "torch._C._autograd._get_data_attr"],
    tags: ["view"],
    viewOf: "self",
    meta: (_m, a) => ({ ...a.tensor("self"), requiresGrad: false }),
    decompose: (b, a) => b.call("aten.alias.default", [a.tensor("self")]),
    derivative: NOT_DIFFERENTIABLE,
  },
  composed({
    name: "aten.resolve_conj.default",
    schema: "resolve_conj(Tensor(a) self) -> Tensor(a)",
    python: ["torch.resolve_conj", "Tensor.resolve_conj"],
    composite: (_b, a) => a.tensor("self"),
  }),
  composed({
    name: "aten.resolve_neg.default",
    schema: "resolve_neg(Tensor(a) self) -> Tensor(a)",
    python: ["torch.resolve_neg", "Tensor.resolve_neg"],
    composite: (_b, a) => a.tensor("self"),
  }),
];

const copy: OpRecord = {
  name: "aten.copy.default",
  schema: "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
  meta: (m, a) => {
    const [x, src] = [a.tensor("self"), a.tensor("src")];
    const shape = m.broadcast(x.shape, src.shape);
    if (shape.length !== x.shape.length) {
      return m.fail("output with shape doesn't match the broadcast shape");
    }
    return m.tensor(x.shape, x, x.stride);
  },
  lower: (b, a) => {
    const [x, src] = [a.tensor("self"), a.tensor("src")];
    const here = b.toDtype(b.toDevice(src, b.device(x)), b.dtype(x));
    return b.clone(b.expand(here, b.size(x)));
  },
  derivative: each({
    self: (b, c) => zerosLike(b, c.grad()),
    src: (b, c) => {
      const [g, src] = [b.meta(c.grad()), b.meta(c.args.tensor("src"))];
      if (!isFloatDType(src.dtype) || (g.dtype === src.dtype && sameDevice(g.device, src.device))) return c.grad();
      return b.call("aten._to_copy.default", [c.grad()], {
        dtype: new DTypeArg(src.dtype),
        layout: STRIDED,
        device: new DeviceArg(src.device),
      });
    },
  }),
};

const copyInplace: OpRecord = {
  name: "aten.copy_.default",
  schema: "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
  python: ["Tensor.copy_"],
  tags: ["inplace"],
  functional: "aten.copy.default",
  meta: (_m, a) => a.tensor("self"),
  lower: (b, a) => b.copyInto(a.tensor("self"), a.tensor("src")),
};

/** fused multiply-add, which the softmax gradient is written with */
const fma: OpRecord = pointwise({
  name: "prims.fma.default",
  schema: "fma(Tensor a, Tensor b, Tensor c) -> Tensor",
  operands: ["a", "b", "c"],
  op: "fma",
  derivative: NOT_DIFFERENTIABLE,
});

export const records: readonly OpRecord[] = [
  convertElementType,
  devicePut,
  toCopy,
  ...conversions,
  ...shorthands,
  clone,
  lazyClone,
  contiguous,
  ...aliases,
  copy,
  copyInplace,
  fma,
];
