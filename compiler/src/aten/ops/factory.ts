// Tensors made from nothing: constants, empty, *_like and new_*. Inductor inlines them all but empty, which is an
// allocation.

import {
  type Args,
  type ArgValue,
  type Dim,
  type DType,
  type GraphBuilder,
  MemoryFormatArg,
  type OpRecord,
  type Scalar,
} from "../types";
import { NOT_DIFFERENTIABLE } from "./helpers/define";
import {
  deviceOf,
  likeLayout,
  newSize,
  OPTIONS,
  options,
  scalarDType,
  toFormat,
  writtenDevice,
} from "./helpers/factories";
import { pythonOptions } from "./helpers/python_call";
import { composed, decomposed, outMeta } from "./helpers/shape";

const LIKE = `${OPTIONS}, MemoryFormat? memory_format=None`;

export const fullGiven = <T>(
  b: GraphBuilder<T>,
  size: readonly (Dim | number)[],
  value: Scalar,
  kwargs: Record<string, ArgValue<T>>,
): T => b.call("aten.full.default", [size, value], kwargs);

const constants: OpRecord[] = [
  composed({
    name: "torch.scalar_tensor.default",
    schema: `scalar_tensor(Scalar s, ${OPTIONS}) -> Tensor`,
    python: ["torch.scalar_tensor"],
    tags: ["factory"],
    composite: (b, a) => b.call("aten.scalar_tensor.default", [a.raw("s")], pythonOptions(b, a) ?? {}),
  }),
  {
    name: "aten.full.default",
    schema: `full(SymInt[] size, Scalar fill_value, ${OPTIONS}) -> Tensor`,
    python: ["torch.full"],
    tags: ["factory"],
    meta: (m, a) =>
      m.tensor(newSize(m, a), {
        dtype: a.dtype("dtype") ?? scalarDType(m, a.scalar("fill_value")),
        device: deviceOf(m, a),
      }),
    // a call without dtype is written with it
    decompose: (b, a) => {
      const given = pythonOptions(b, a);
      if (given === null && a.has("dtype")) return undefined;
      const dtype = a.dtype("dtype") ?? scalarDType(b, a.scalar("fill_value"));
      const kwargs = options<ReturnType<typeof a.tensor>>(dtype, writtenDevice(b, a), { layout: a.has("layout") });
      return fullGiven(b, a.dims("size"), a.scalar("fill_value"), kwargs);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const t = outMeta(b);
      return b.constant(a.scalar("fill_value"), t.dtype, t.device, t.shape);
    },
  },
  {
    name: "aten.scalar_tensor.default",
    schema: `scalar_tensor(Scalar s, ${OPTIONS}) -> Tensor`,
    tags: ["factory"],
    meta: (m, a) => m.tensor([], { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) }),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const t = outMeta(b);
      const s = a.raw("s");
      if (!b.isDim(s)) return b.constant(a.scalar("s"), t.dtype, t.device, []);
      // a symbolic number is read where the loop runs
      return b.pointwise({ size: [], dtype: t.dtype, device: t.device, body: ops => ops.indexExpr(s, t.dtype) });
    },
  },
  ...(
    [
      ["zeros", 0],
      ["ones", 1],
    ] as const
  ).flatMap(([name, value]) => {
    const of = (dtype: DType): Scalar => (dtype === "bool" ? value === 1 : value);
    return [
      decomposed({
        name: `aten.${name}.default`,
        schema: `${name}(SymInt[] size, ${OPTIONS}) -> Tensor`,
        python: [`torch.${name}`],
        tags: ["factory"],
        decompose: (b, a) => {
          const dtype = a.dtype("dtype") ?? b.defaultDType();
          return fullGiven(b, a.dims("size"), of(dtype), options(dtype, writtenDevice(b, a)));
        },
        derivative: NOT_DIFFERENTIABLE,
      }),
      decomposed({
        name: `aten.${name}_like.default`,
        schema: `${name}_like(Tensor self, ${LIKE}) -> Tensor`,
        python: [`torch.${name}_like`],
        tags: ["factory"],
        decompose: (b, a) => {
          const dtype = a.dtype("dtype") ?? b.meta(a.tensor("self")).dtype;
          return fullLikeOf(b, a, of(dtype));
        },
        derivative: NOT_DIFFERENTIABLE,
      }),
      decomposed({
        name: `aten.new_${name}.default`,
        schema: `new_${name}(Tensor self, SymInt[] size, ${OPTIONS}) -> Tensor`,
        python: [`Tensor.new_${name}`],
        tags: ["factory"],
        decompose: (b, a) => {
          const t = b.meta(a.tensor("self"));
          const dtype = a.dtype("dtype") ?? t.dtype;
          return fullGiven(b, a.dims("size"), of(dtype), options(dtype, writtenDevice(b, a, t)));
        },
        derivative: NOT_DIFFERENTIABLE,
      }),
    ];
  }),
  decomposed({
    name: "aten.full_like.default",
    schema: `full_like(Tensor self, Scalar fill_value, ${LIKE}) -> Tensor`,
    python: ["torch.full_like"],
    tags: ["factory"],
    decompose: (b, a) => fullLikeOf(b, a, a.scalar("fill_value")),
    derivative: NOT_DIFFERENTIABLE,
  }),
  decomposed({
    name: "aten.new_full.default",
    schema: `new_full(Tensor self, SymInt[] size, Scalar fill_value, ${OPTIONS}) -> Tensor`,
    python: ["Tensor.new_full"],
    tags: ["factory"],
    decompose: (b, a) => {
      const t = b.meta(a.tensor("self"));
      return fullGiven(
        b,
        a.dims("size"),
        a.scalar("fill_value"),
        options(a.dtype("dtype") ?? t.dtype, writtenDevice(b, a, t)),
      );
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
];

function fullLikeOf<T>(b: GraphBuilder<T>, a: Args<T>, value: Scalar): T {
  const x = a.tensor("self");
  const t = b.meta(x);
  const kwargs = options<T>(a.dtype("dtype") ?? t.dtype, writtenDevice(b, a, t));
  const format = a.memoryFormat("memory_format") ?? "preserve_format";
  if (format !== "preserve_format") {
    return toFormat(b, fullGiven(b, t.shape, value, kwargs), new MemoryFormatArg(format));
  }
  return likeLayout(b, x, shape => fullGiven(b, shape, value, kwargs), true);
}

const empties: OpRecord[] = [
  {
    name: "aten.empty.memory_format",
    schema: `empty.memory_format(SymInt[] size, ${LIKE}) -> Tensor`,
    python: ["torch.empty"],
    tags: ["factory"],
    meta: (m, a) => {
      const shape = newSize(m, a);
      const like = { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) };
      return m.tensor(
        shape,
        like,
        a.memoryFormat("memory_format") === "channels_last" ? m.channelsLast(shape) : undefined,
      );
    },
    decompose: (b, a) => {
      const given = pythonOptions(b, a, true);
      return given === null ? undefined : b.call("aten.empty.memory_format", [a.dims("size")], given);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: b => {
      const t = outMeta(b);
      return b.empty(t.shape, t.stride, t.dtype, t.device);
    },
  },
  {
    name: "aten.empty_strided.default",
    schema: `empty_strided(SymInt[] size, SymInt[] stride, ${OPTIONS}) -> Tensor`,
    python: ["torch.empty_strided"],
    tags: ["factory"],
    meta: (m, a) =>
      m.tensor(
        newSize(m, a),
        { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) },
        a.dims("stride"),
      ),
    derivative: NOT_DIFFERENTIABLE,
    lower: b => {
      const t = outMeta(b);
      return b.empty(t.shape, t.stride, t.dtype, t.device);
    },
  },
  composed({
    name: "Tensor.new_empty_strided.default",
    schema: `new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, ${OPTIONS}) -> Tensor`,
    python: ["Tensor.new_empty_strided"],
    composite: (b, a) =>
      b.call("aten.new_empty_strided.default", [a.tensor("self"), a.raw("size"), a.raw("stride")], {
        dtype: a.raw("dtype"),
        layout: a.raw("layout"),
        device: a.raw("device"),
        pin_memory: a.raw("pin_memory") ?? false,
      }),
  }),
  {
    name: "aten.new_empty_strided.default",
    schema: `new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, ${OPTIONS}) -> Tensor`,
    tags: ["factory"],
    meta: (m, a) => {
      const t = a.tensor("self");
      return m.tensor(
        newSize(m, a),
        { dtype: a.dtype("dtype") ?? t.dtype, device: deviceOf(m, a, t) },
        a.dims("stride"),
      );
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: b => {
      const t = outMeta(b);
      return b.empty(t.shape, t.stride, t.dtype, t.device);
    },
  },
  {
    ...decomposed({
      name: "aten.empty_like.default",
      schema: `empty_like(Tensor self, ${LIKE}) -> Tensor`,
      python: ["torch.empty_like"],
      tags: ["factory"],
      decompose: (b, a) => {
        const x = a.tensor("self");
        const t = b.meta(x);
        const kwargs = options<typeof x>(a.dtype("dtype") ?? t.dtype, writtenDevice(b, a, t));
        const make = (shape: readonly Dim[]): typeof x => b.call("aten.empty.memory_format", [shape], kwargs);
        const format = a.memoryFormat("memory_format") ?? "preserve_format";
        if (format === "contiguous_format") return make(t.shape);
        if (format !== "preserve_format") {
          return b.call("aten.empty.memory_format", [t.shape], {
            ...kwargs,
            memory_format: new MemoryFormatArg(format),
          });
        }
        return likeLayout(b, x, make, false);
      },
      derivative: NOT_DIFFERENTIABLE,
    }),
    meta: (m, a) => {
      const t = a.tensor("self");
      const like = { dtype: a.dtype("dtype") ?? t.dtype, device: deviceOf(m, a, t) };
      const format = a.memoryFormat("memory_format") ?? "preserve_format";
      if (format === "contiguous_format") return m.tensor(t.shape, like);
      if (format !== "preserve_format") return m.tensor(t.shape, like, m.channelsLast(t.shape));
      return { ...m.elementwise(like.dtype, { ...t, storageOffset: m.int(0) }), device: like.device };
    },
  },
  decomposed({
    name: "aten.new_empty.default",
    schema: `new_empty(Tensor self, SymInt[] size, ${OPTIONS}) -> Tensor`,
    python: ["Tensor.new_empty"],
    tags: ["factory"],
    decompose: (b, a) => {
      const t = b.meta(a.tensor("self"));
      return b.call(
        "aten.empty.memory_format",
        [a.dims("size")],
        options(a.dtype("dtype") ?? t.dtype, writtenDevice(b, a, t)),
      );
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
];

export const records: readonly OpRecord[] = [...constants, ...empties];
