// Tensors of numbers that the program writes: torch.tensor, the legacy constructors, new_tensor.

import {
  type Args,
  type ArgValue,
  type Device,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type OpRecord,
  type Scalar,
  type TensorMeta,
} from "../types";
import { isFloatDType } from "./helpers/define";
import { deviceOf, options, scalarDType } from "./helpers/factories";
import { composed } from "./helpers/shape";
import { cast } from "./helpers/trace";

/** numbers of a nested list, row by row, and its shape */
function flattenList<T>(b: GraphBuilder<T>, x: ArgValue<T>): { values: Scalar[]; shape: number[] } {
  if (!Array.isArray(x)) return { values: [b.isDim(x) ? b.hint(x) : (x as Scalar)], shape: [] };
  const items = (x as readonly ArgValue<T>[]).map(y => flattenList(b, y));
  const inner = items[0]?.shape ?? [];
  if (items.some(i => i.shape.length !== inner.length || i.shape.some((s, d) => s !== inner[d]))) {
    return b.fail(`expected sequence of length ${inner[0] ?? 0} at dim 1`, "ValueError");
  }
  return { values: items.flatMap(i => i.values), shape: [items.length, ...inner] };
}

function literalDType<T>(b: GraphBuilder<T>, values: readonly Scalar[]): DType {
  const kinds = values.map(v => scalarDType(b, v));
  return (
    kinds.find(k => k.startsWith("complex")) ??
    kinds.find(isFloatDType) ??
    kinds.find(k => k === "int64") ??
    kinds[0] ??
    b.defaultDType()
  );
}

/** a tensor in the dtype and on the device that a call names, or those of another tensor */
function placed<T>(b: GraphBuilder<T>, x: T, a: Args<T>, like?: TensorMeta): T {
  const meta = b.meta(x);
  const dtype = a.dtype("dtype") ?? like?.dtype ?? meta.dtype;
  const device = a.device("device") === null && like === undefined ? meta.device : deviceOf(b, a, like);
  if (device.type === meta.device.type && device.index === meta.device.index) return cast(b, x, dtype);
  return b.call("aten._to_copy.default", [x], {
    ...(dtype === meta.dtype ? {} : { dtype: new DTypeArg(dtype) }),
    device: new DeviceArg(device),
  });
}

/** torch.tensor of numbers: a constant of the graph, copied; of tensors: a stack */
function tensorOf<T>(b: GraphBuilder<T>, a: Args<T>, like?: TensorMeta): T {
  const data = a.raw("data");
  if (b.isTensor(data)) return placed(b, b.call("aten.clone.default", [data]), a, like);
  if (Array.isArray(data) && data.length > 0 && data.every(x => b.isTensor(x)))
    return placed(b, b.call("aten.stack.default", [data as readonly T[] as ArgValue<T>]), a, like);
  const { values, shape } = flattenList(b, data);
  const dtype = a.dtype("dtype") ?? like?.dtype ?? literalDType(b, values);
  const constant = b.literal({ values, shape, dtype, device: deviceOf(b, a, like) });
  return b.call("aten.lift_fresh_copy.default", [constant]);
}

const literals: OpRecord[] = [
  composed({
    name: "torch.tensor.default",
    schema:
      "tensor(Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False, bool pin_memory=False) -> Tensor",
    python: ["torch.tensor"],
    tags: ["factory"],
    composite: (b, a) => tensorOf(b, a),
  }),
  composed({
    name: "torch.as_tensor.default",
    schema: "as_tensor(Any data, ScalarType? dtype=None, Device? device=None) -> Tensor",
    python: ["torch.as_tensor", "torch.asarray"],
    tags: ["factory"],
    composite: (b, a) => {
      const data = a.raw("data");
      return b.isTensor(data) ? placed(b, data, a) : tensorOf(b, a);
    },
  }),
  composed({
    name: "torch.Tensor.new_tensor.default",
    schema:
      "new_tensor(Tensor self, Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False, bool pin_memory=False) -> Tensor",
    python: ["Tensor.new_tensor"],
    tags: ["factory"],
    composite: (b, a) => tensorOf(b, a, b.meta(a.tensor("self"))),
  }),
];

const TYPED: readonly (readonly [name: string, dtype: DType | null])[] = [
  ["Tensor", null],
  ["FloatTensor", "float32"],
  ["DoubleTensor", "float64"],
  ["HalfTensor", "float16"],
  ["BFloat16Tensor", "bfloat16"],
  ["LongTensor", "int64"],
  ["IntTensor", "int32"],
  ["ShortTensor", "int16"],
  ["CharTensor", "int8"],
  ["ByteTensor", "uint8"],
  ["BoolTensor", "bool"],
];

/** legacy constructors: of numbers, or of sizes */
function typed<T>(b: GraphBuilder<T>, data: ArgValue<T>, dtype: DType, device: Device): T {
  if (b.isTensor(data)) return b.call("aten.alias.default", [data]);
  const items = Array.isArray(data) ? (data as readonly ArgValue<T>[]) : [data];
  if (!Array.isArray(data) || items.length === 0) {
    return b.call("aten.empty.memory_format", [items as (Dim | number)[]], options(dtype, device));
  }
  const { values, shape } = flattenList(b, data);
  return b.call("aten.lift_fresh_copy.default", [b.literal({ values, shape, dtype, device })]);
}

const legacy: OpRecord[] = [
  ...TYPED.map(([name, dtype]) =>
    composed({
      name: `torch.${name}.default`,
      schema: `${name}(Any data=[]) -> Tensor`,
      python: [`torch.${name}`],
      tags: ["factory"],
      composite: (b, a) => typed(b, a.raw("data"), dtype ?? b.defaultDType(), { type: "cpu", index: null }),
    }),
  ),
  composed({
    name: "Tensor.new.default",
    schema: "new(Tensor self, Any data=[]) -> Tensor",
    python: ["Tensor.new"],
    tags: ["factory"],
    composite: (b, a) => {
      const t = b.meta(a.tensor("self"));
      return typed(b, a.raw("data"), t.dtype, t.device);
    },
  }),
];

export const records: readonly OpRecord[] = [...literals, ...legacy];
