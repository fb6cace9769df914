// Pooling: max, average, power-average. Inductor unrolls small windows in the loop; the places of maxima are
// kept as small offsets within the window.
import {
  type Args,
  type ArgValue,
  type Dim,
  type DType,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpRecord,
  PyFloat,
  type TensorMeta,
} from "../types";
import { aten, each, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, composed, range } from "./helpers/shape";
import { opmath } from "./helpers/trace";
import {
  bounded,
  flattenIndex,
  likeFormat,
  loopSize,
  lowest,
  perDim,
  pooledShape,
  unflatten,
  type Window,
  windowIndex,
  windowOf,
} from "./helpers/windows";

/** windows of this many elements are not unrolled any more */
export const UNROLLED = 25;
export const MINUS_INFINITY = new PyFloat(Number.NEGATIVE_INFINITY);
const MAX_ARGS = ["kernel_size", "stride", "padding", "dilation", "ceil_mode"] as const;

const windowSize = (w: Window): number => w.kernel.reduce((p, q) => p * q, 1);

/** max pooling's values and indices */
function maxMeta(m: MetaBuilder, x: TensorMeta, w: Window, name: string, indices: DType): TensorMeta[] {
  const shape = pooledShape(m, x, w, name);
  const stride = likeFormat(m, x, shape);
  return [m.tensor(shape, x, stride), m.tensor(shape, { dtype: indices, device: x.device }, stride)];
}

/** values, and offsets within the window */
function maxLoops<B>(
  b: LoweringBuilder<B>,
  x: B,
  w: Window,
  unrollBelow: number | undefined,
): { values: B; offsets: B } {
  b.realizeHint(x);
  const dims = w.kernel.length;
  const sizes = b.size(x);
  const first = sizes.length - dims;
  const pooled = range(dims).map(i => loopSize(b, at(sizes, first + i), w, i));
  const size = [...sizes.slice(0, first), ...pooled.map(p => p.size)];
  const dtype = b.dtype(x);
  const outside = w.padding.some(p => p !== 0) || pooled.some(p => p.ceil) || w.dilation.some(d => d > 1);
  const load = outside ? bounded(b, x, lowest(dtype, MINUS_INFINITY), dims) : b.loader(x);
  const reduce = (type: "max" | "argmax", result: DType): B =>
    b.reduceWindow({
      input: x,
      size,
      window: w.kernel,
      type,
      dtype: result,
      ...(unrollBelow === undefined ? {} : { unrollBelow }),
      body: (ops, index, window) => load(ops, windowIndex(b, w, index, window)),
    });
  return { values: reduce("max", dtype), offsets: reduce("argmax", "int64") };
}

/** running numbers in the input, from offsets within the window */
function offsetsToIndices<B>(b: LoweringBuilder<B>, offsets: B, w: Window, input: readonly Dim[]): B {
  const load = b.loader(offsets);
  const count = b.int(windowSize(w));
  const dims = w.kernel.length;
  return b.pointwise({
    size: b.size(offsets),
    dtype: "int64",
    device: b.device(offsets),
    body: (ops, index) => {
      const offset = ops.indirectIndexing(load(ops, index), count);
      const place = windowIndex(b, w, index, unflatten(b, offset, w.kernel)).slice(-dims);
      return ops.indexExpr(flattenIndex(b, place, input), "int64");
    },
  });
}

function primWindow<T>(a: Args<T>, dims: number, ceil: boolean): Window {
  return {
    kernel: a.ints("kernel_size"),
    stride: a.ints("stride"),
    padding: perDim(a.ints("padding"), dims, []),
    dilation: a.ints("dilation"),
    ceil,
  };
}

const lowMemory: OpRecord[] = [
  {
    name: "prims._low_memory_max_pool_with_offsets.default",
    schema:
      "_low_memory_max_pool_with_offsets(Tensor self, SymInt[] kernel_size, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool ceil_mode) -> (Tensor, Tensor)",
    meta: (m, a) => {
      const w = primWindow(a, a.ints("kernel_size").length, a.bool("ceil_mode"));
      return maxMeta(m, a.tensor("self"), w, "max_pool", "int8");
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const w = primWindow(a, a.ints("kernel_size").length, a.bool("ceil_mode"));
      const { values, offsets } = maxLoops(b, a.tensor("self"), w, UNROLLED);
      return [values, b.toDtype(offsets, "int8")];
    },
  },
  {
    name: "prims._low_memory_max_pool_offsets_to_indices.default",
    schema:
      "_low_memory_max_pool_offsets_to_indices(Tensor self, SymInt[] kernel_size, SymInt[] input_size, SymInt[] stride, SymInt[] padding, SymInt[] dilation) -> Tensor",
    meta: (m, a) => m.elementwise("int64", a.tensor("self")),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const w = primWindow(a, a.ints("kernel_size").length, false);
      return offsetsToIndices(b, a.tensor("self"), w, a.dims("input_size"));
    },
  },
];

const maxPools: OpRecord[] = ([2, 3] as const).flatMap(dims => {
  const name = `aten.max_pool${dims}d_with_indices`;
  const list = `int[${dims}]`;
  const parameters = `${list} kernel_size, ${list} stride=[], ${list} padding=0, ${list} dilation=1, bool ceil_mode=False`;
  return [
    {
      name: `${name}.default`,
      schema: `max_pool${dims}d_with_indices(Tensor self, ${parameters}) -> (Tensor, Tensor)`,
      python: [`torch.nn.functional.max_pool${dims}d_with_indices`],
      meta: (m, a) => maxMeta(m, a.tensor("self"), windowOf(a, dims, true), `max_pool${dims}d`, "int64"),
      decompose: (b, a) => {
        const w = windowOf(a, dims, true);
        if (windowSize(w) > UNROLLED) return undefined;
        const x = a.tensor("self");
        const [values, offsets] = b.callMany("prims._low_memory_max_pool_with_offsets.default", [
          x,
          w.kernel,
          w.stride,
          w.padding,
          w.dilation,
          w.ceil,
        ]);
        if (values === undefined || offsets === undefined) return undefined;
        const size = b.meta(x).shape.slice(-dims);
        const indices = b.call("prims._low_memory_max_pool_offsets_to_indices.default", [
          offsets,
          w.kernel,
          size,
          w.stride,
          w.padding,
          w.dilation,
        ]);
        return [values, indices];
      },
      derivative: each({
        self: (b, c) =>
          b.call(`${name}_backward.default`, [
            c.grad(),
            c.args.tensor("self"),
            ...MAX_ARGS.map(n => c.args.raw(n)),
            c.result(1),
          ]),
      }),
      lower: (b, a) => {
        const w = windowOf(a, dims, true);
        const x = a.tensor("self");
        const { values, offsets } = maxLoops(b, x, w, undefined);
        return [values, offsetsToIndices(b, offsets, w, b.size(x).slice(-dims))];
      },
    } satisfies OpRecord,
    composed({
      name: `aten.max_pool${dims}d.default`,
      schema: `max_pool${dims}d(Tensor self, ${parameters}) -> Tensor`,
      python: [`torch.max_pool${dims}d`],
      composite: (b, a) => {
        const [values] = b.callMany(`${name}.default`, [a.tensor("self"), ...MAX_ARGS.map(n => a.raw(n))]);
        return values ?? a.tensor("self");
      },
    }),
  ];
});

/** a 1-d operator runs as the 2-d one on a single row; C++ evaluates the parts of a result from the right */
export function asRow<T>(b: GraphBuilder<T>, x: T): T {
  return b.call("aten.unsqueeze.default", [x, -2]);
}
export const fromRow = <T>(b: GraphBuilder<T>, y: T): T => b.call("aten.squeeze.dim", [y, -2]);

const max1d: OpRecord[] = [
  composed({
    name: "aten.max_pool1d_with_indices.default",
    schema:
      "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
    python: ["torch.max_pool1d_with_indices", "torch.nn.functional.max_pool1d_with_indices"],
    composite: (b, a) => {
      const w = windowOf(a, 1, true);
      const row = (ns: readonly number[], other: number): number[] => [other, at(ns, 0)];
      const [values, indices] = b.callMany("aten.max_pool2d_with_indices.default", [
        asRow(b, a.tensor("self")),
        row(w.kernel, 1),
        row(w.stride, 1),
        row(w.padding, 0),
        row(w.dilation, 1),
        w.ceil,
      ]);
      if (values === undefined || indices === undefined) return b.fail("max_pool2d_with_indices has two results");
      return [fromRow(b, values), fromRow(b, indices)];
    },
  }),
  composed({
    name: "aten.max_pool1d.default",
    schema:
      "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor",
    python: ["torch.max_pool1d"],
    composite: (b, a) => {
      const parameters = MAX_ARGS.map(n => a.raw(n));
      const [values] = b.callMany("aten.max_pool1d_with_indices.default", [a.tensor("self"), ...parameters]);
      return values ?? a.tensor("self");
    },
  }),
];

/** F.max_poolNd: with or without the indices */
const maxFunctions: OpRecord[] = ([1, 2, 3] as const).flatMap(dims => {
  const list = `int[${dims}]`;
  const parameters = `Tensor input, ${list} kernel_size, ${list}? stride=None, ${list} padding=0, ${list} dilation=1, bool ceil_mode=False`;
  const call = <T>(a: Args<T>): ArgValue<T>[] => [
    a.tensor("input"),
    a.raw("kernel_size"),
    a.raw("stride") ?? [],
    a.raw("padding"),
    a.raw("dilation"),
    a.raw("ceil_mode"),
  ];
  const python = [`torch.nn.functional.max_pool${dims}d`];
  return [
    composed({
      name: `torch.nn.functional.max_pool${dims}d.default`,
      schema: `max_pool${dims}d(${parameters}, bool return_indices=False) -> Any`,
      python,
      composite: (b, a) => {
        if (!a.bool("return_indices")) return b.call(`aten.max_pool${dims}d.default`, call(a));
        return b.callMany(`aten.max_pool${dims}d_with_indices.default`, call(a));
      },
    }),
  ];
});

/** average pooling as a sum over the window and a division */
export function averageLoops<B>(
  b: LoweringBuilder<B>,
  x: B,
  w: Window,
  countPadding: boolean,
  divisor: number | null,
): B {
  const dims = w.kernel.length;
  b.realizeHint(x);
  const sizes = b.size(x);
  const first = sizes.length - dims;
  const input = sizes.slice(first);
  const pooled = range(dims).map(i => loopSize(b, at(input, i), w, i));
  const size = [...sizes.slice(0, first), ...pooled.map(p => p.size)];
  const dtype = b.dtype(x);
  const outside = w.padding.some(p => p !== 0) || pooled.some(p => p.ceil);
  const load = outside ? bounded(b, x, fl(0), dims) : b.loader(x);
  const total = b.reduceWindow({
    input: x,
    size,
    window: w.kernel,
    type: "sum",
    dtype: opmath(dtype),
    ...(windowSize(w) <= UNROLLED ? { unrollBelow: UNROLLED } : {}),
    body: (ops, index, window) => load(ops, windowIndex(b, w, index, window)),
  });
  if (!outside || divisor !== null) {
    const by = divisor ?? windowSize(w);
    return b.toDtype(b.elementwise("truediv", [total, fl(by)]), dtype);
  }
  const counts = b.pointwise({
    size,
    dtype,
    device: b.device(x),
    body: (ops, index) =>
      index
        .slice(-dims)
        .map((o, i) => {
          let start = b.sub(b.mul(o, at(w.stride, i)), at(w.padding, i));
          let end = b.min(b.add(start, at(w.kernel, i)), b.add(at(input, i), at(w.padding, i)));
          if (!countPadding) {
            start = b.max(start, 0);
            end = b.min(end, at(input, i));
          }
          return ops.indexExpr(b.sub(end, start), "int32");
        })
        .reduce((p, q) => ops.op("mul", p, q)),
  });
  return b.toDtype(b.elementwise("truediv", [total, counts], { promotion: null, dtype: opmath(dtype) }), dtype);
}

const AVERAGE_ARGS = [
  "kernel_size",
  "stride",
  "padding",
  "ceil_mode",
  "count_include_pad",
  "divisor_override",
] as const;

const averages: OpRecord[] = ([2, 3] as const).map(dims => {
  const list = `int[${dims}]`;
  const name = `aten.avg_pool${dims}d.default`;
  return {
    name,
    schema: `avg_pool${dims}d(Tensor self, ${list} kernel_size, ${list} stride=[], ${list} padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor`,
    python: [`torch.nn.functional.avg_pool${dims}d`],
    printedAs: `torch._C._nn.avg_pool${dims}d`,
    meta: (m, a) => {
      const x = a.tensor("self");
      if (a.has("divisor_override") && a.int("divisor_override") === 0) return m.fail("divisor must be not zero");
      const shape = pooledShape(m, x, windowOf(a, dims, false), `avg_pool${dims}d`);
      return m.tensor(shape, x, dims === 2 ? likeFormat(m, x, shape) : undefined);
    },
    derivative: each({
      self: (b, c) =>
        b.call(`aten.avg_pool${dims}d_backward.default`, [
          c.grad(),
          c.args.tensor("self"),
          ...AVERAGE_ARGS.map(n => c.args.raw(n)),
        ]),
    }),
    lower: (b, a) => {
      const w = windowOf(a, dims, false);
      if (windowSize(w) > UNROLLED && w.kernel.some((k, i) => k !== w.stride[i])) {
        const x = a.tensor("self");
        b.realizeHint(x);
        const flags = [a.bool("ceil_mode"), a.bool("count_include_pad"), a.optInt("divisor_override")];
        return b.extern({
          kind: "fallback",
          kernel: `torch.ops.${name}`,
          op: name,
          inputs: [x],
          args: [x, w.kernel, w.stride, w.padding, ...flags],
        });
      }
      return averageLoops(b, a.tensor("self"), w, a.bool("count_include_pad"), a.optInt("divisor_override"));
    },
  };
});

const average1d = composed({
  name: "aten.avg_pool1d.default",
  schema:
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
  python: ["torch.avg_pool1d", "torch.nn.functional.avg_pool1d"],
  printedAs: "torch.avg_pool1d",
  composite: (b, a) => {
    const w = windowOf(a, 1, false);
    const row = (ns: readonly number[], other: number): number[] => [other, at(ns, 0)];
    const y = b.call("aten.avg_pool2d.default", [
      asRow(b, a.tensor("self")),
      row(w.kernel, 1),
      row(w.stride, 1),
      row(w.padding, 0),
      w.ceil,
      a.raw("count_include_pad"),
    ]);
    return fromRow(b, y);
  },
});

const power: OpRecord[] = ([1, 2, 3] as const).map(dims =>
  composed({
    name: `torch.nn.functional.lp_pool${dims}d.default`,
    schema: `lp_pool${dims}d(Tensor input, Scalar norm_type, int[${dims}] kernel_size, int[${dims}]? stride=None, bool ceil_mode=False) -> Tensor`,
    python: [`torch.nn.functional.lp_pool${dims}d`],
    composite: (b, a) => {
      const f = aten(b);
      const kernel = perDim(a.ints("kernel_size"), dims, []);
      const norm = a.number("norm_type");
      const raised = f("pow.Tensor_Scalar", a.tensor("input"), a.raw("norm_type"));
      const call = [raised, a.raw("kernel_size"), a.raw("stride") ?? [], 0, a.raw("ceil_mode")];
      const out = b.call(`aten.avg_pool${dims}d.default`, call);
      const positive = f("mul.Tensor", f("sign.default", out), f("relu.default", f("abs.default", out)));
      const count = kernel.reduce((p, q) => p * q, 1);
      return f("pow.Tensor_Scalar", f("mul.Tensor", positive, count), fl(1 / norm));
    },
  }),
);

export const records: readonly OpRecord[] = [
  ...lowMemory,
  ...maxPools,
  ...max1d,
  ...maxFunctions,
  ...averages,
  average1d,
  ...power,
];
