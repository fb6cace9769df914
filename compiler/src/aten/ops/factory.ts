// Tensors made from nothing: constants, ranges, *_like and new_*, literals, triangular masks. Inductor inlines them all
// but empty, which is an allocation.
import {
  type Args,
  type ArgValue,
  type Device,
  type Dim,
  type DType,
  type GraphBuilder,
  MemoryFormatArg,
  type OpRecord,
  PyFloat,
  type Scalar,
  type TensorMeta,
} from "../types";
import { each, fallback, inplace, isFloat, NOT_DIFFERENTIABLE, numberOf, spell } from "./helpers/define";
import {
  asNumber,
  type Count,
  deviceOf,
  isIntegral,
  likeLayout,
  OPTIONS,
  options,
  scalarDType,
  toFormat,
  writtenDevice,
} from "./helpers/factories";
import { pythonOptions } from "./helpers/python_call";
import { at, composed, decomposed, outMeta, range } from "./helpers/shape";
import { cast, convert, iota, toDtype, where } from "./helpers/trace";
import { moveDims, reshape } from "./view";

const LIKE = `${OPTIONS}, MemoryFormat? memory_format=None`;

const fullGiven = <T>(
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
      m.tensor(a.dims("size"), {
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
      const shape = a.dims("size");
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
        a.dims("size"),
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
        a.dims("size"),
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

/** torch.arange (torch._refs.arange): integers as one iota, floats as an affine map of one */
function arange<T>(b: GraphBuilder<T>, a: Args<T>, start: Count, end: Count, step: Count): T {
  const integral = [start, end, step].every(x => isIntegral(b, x));
  const dtype = a.dtype("dtype") ?? (integral ? "int64" : b.defaultDType());
  const device = writtenDevice(b, a);
  const isInt = !isFloat(dtype) && dtype !== "complex64" && dtype !== "complex128";
  const by = asNumber(b, step);
  if (by === 0) return b.fail("step must be nonzero");
  const [from, to] = [asNumber(b, start), asNumber(b, end)];
  if (by > 0 ? to < from : to > from) return b.fail("upper bound and lower bound inconsistent with step sign");
  const trunc = (x: Count): Dim | number => (b.isDim(x) ? x : Math.trunc(asNumber(b, x)));
  const length =
    dtype === "int64" || integral
      ? b.floordiv(b.sub(b.add(b.sub(trunc(end), trunc(start)), trunc(step)), Math.sign(by)), trunc(step))
      : b.int(Math.ceil((to - from) / by));
  if (isInt) {
    const first = trunc(start);
    const stride = trunc(step);
    return b.call("prims.iota.default", [sizeArg(b, length)], {
      ...iotaOptions(dtype, device),
      start: typeof first === "number" ? first : (b.static(first) ?? first),
      step: typeof stride === "number" ? stride : (b.static(stride) ?? stride),
    });
  }
  const index = iota(b, length, device);
  const half = dtype === "float16" || dtype === "bfloat16";
  // the type that sums have on the device
  const wide: DType = integral ? "int64" : device.type === "cpu" ? "float64" : half ? "float32" : dtype;
  const scaled = b.call("aten.mul.Tensor", [toDtype(b, index, wide), step]);
  return toDtype(b, b.call("aten.add.Tensor", [scaled, start]), dtype);
}

const sizeArg = (b: { static(d: Dim): number | undefined }, d: Dim): Dim | number => b.static(d) ?? d;

function iotaOptions<T>(
  dtype: DType,
  device: { type: "cuda" | "cpu" | "meta"; index: number | null },
): Record<string, ArgValue<T>> {
  const o = options<T>(dtype, device);
  return { start: 0, step: 1, dtype: o.dtype as ArgValue<T>, device: o.device as ArgValue<T>, requires_grad: false };
}

const count = <T>(a: Args<T>, name: string): Count => a.raw(name) as Count;

/** torch.linspace (torch._refs.linspace): counted from both ends, so that both are exact */
function linspace<T>(b: GraphBuilder<T>, a: Args<T>, dtype: DType): T {
  const [start, end] = [a.scalar("start"), a.scalar("end")];
  const device = writtenDevice(b, a);
  const steps = a.int("steps");
  if (steps < 0) return b.fail("number of steps must be non-negative");
  if (steps === 0) return fullGiven(b, [0], 0, options(dtype, device));
  if (steps === 1) return fullGiven(b, [1], start, options(dtype, device));
  const places = iota(b, steps, device);
  const wide: DType = isFloat(dtype) ? (dtype === "float16" || dtype === "bfloat16" ? "float32" : dtype) : "int64";
  const step = new PyFloat((numberOf(end) - numberOf(start)) / (steps - 1));
  const firstHalf = b.call("aten.lt.Scalar", [places, new PyFloat(steps / 2)]);
  const up = b.call("aten.mul.Tensor", [toDtype(b, places, wide), step]);
  const fromStart = b.call("aten.add.Tensor", [up, start]);
  const back = b.call("aten.sub.Tensor", [steps - 1, places]);
  const down = b.call("aten.mul.Tensor", [toDtype(b, back, wide), step]);
  const fromEnd = b.call("aten.sub.Tensor", [end, down]);
  return toDtype(b, b.call("aten.where.self", [firstHalf, fromStart, fromEnd]), dtype);
}

function eye<T>(b: GraphBuilder<T>, a: Args<T>, n: Dim, m: Dim): T {
  const dtype = a.dtype("dtype") ?? b.defaultDType();
  const device = writtenDevice(b, a);
  const [rows, cols] = [b.static(n), b.static(m)];
  const most = rows === undefined || cols === undefined ? undefined : Math.max(rows, cols);
  const small: DType = most === undefined ? "int64" : most <= 255 ? "uint8" : most <= 65535 ? "uint16" : "int32";
  const [first, second] = [iota(b, n, device, 0, 1, small), iota(b, m, device, 0, 1, small)];
  const down = b.call("aten.unsqueeze.default", [first, -1]);
  return toDtype(b, b.call("aten.eq.Tensor", [down, second]), dtype);
}

const ranges: OpRecord[] = [
  {
    name: "prims.iota.default",
    schema:
      "iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool requires_grad) -> Tensor",
    tags: ["factory"],
    meta: (m, a) => m.tensor([a.dim("length")], { dtype: a.dtype("dtype") ?? "int64", device: deviceOf(m, a) }),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const t = outMeta(b);
      const [start, step] = [a.dim("start"), a.dim("step")];
      return b.pointwise({
        size: t.shape,
        dtype: t.dtype,
        device: t.device,
        body: (ops, index) => ops.indexExpr(b.add(b.mul(step, at(index, 0)), start), t.dtype),
      });
    },
  },
  decomposed({
    name: "aten.arange.default",
    schema: `arange(Scalar end, ${OPTIONS}) -> Tensor`,
    python: ["torch.arange"],
    tags: ["factory"],
    decompose: (b, a) => arange(b, a, 0, count(a, "end"), 1),
    derivative: NOT_DIFFERENTIABLE,
  }),
  decomposed({
    name: "aten.arange.start",
    schema: `arange.start(Scalar start, Scalar end, ${OPTIONS}) -> Tensor`,
    python: ["torch.arange"],
    tags: ["factory"],
    decompose: (b, a) => arange(b, a, count(a, "start"), count(a, "end"), 1),
    derivative: NOT_DIFFERENTIABLE,
  }),
  decomposed({
    name: "aten.arange.start_step",
    schema: `arange.start_step(Scalar start, Scalar end, Scalar step=1, ${OPTIONS}) -> Tensor`,
    python: ["torch.arange"],
    tags: ["factory"],
    decompose: (b, a) => arange(b, a, count(a, "start"), count(a, "end"), count(a, "step")),
    derivative: NOT_DIFFERENTIABLE,
  }),
  composed({
    name: "aten.range.step",
    schema: `range.step(Scalar start, Scalar end, Scalar step=1, ${OPTIONS}) -> Tensor`,
    python: ["torch.range"],
    tags: ["factory"],
    composite: (b, a) => {
      const [start, end, step] = (["start", "end", "step"] as const).map(n => asNumber(b, count(a, n)));
      const [from, by] = [start as number, step as number];
      const steps = Math.floor(((end as number) - from) / by) + 1;
      const dtype = a.dtype("dtype") ?? b.defaultDType();
      const scaled = b.call("aten.mul.Tensor", [iota(b, steps, writtenDevice(b, a)), new PyFloat(by)]);
      return toDtype(b, b.call("aten.add.Tensor", [scaled, new PyFloat(from)]), dtype);
    },
  }),
  decomposed({
    name: "aten.linspace.default",
    schema: `linspace(Scalar start, Scalar end, int steps, ${OPTIONS}) -> Tensor`,
    python: ["torch.linspace"],
    tags: ["factory"],
    decompose: (b, a) => linspace(b, a, a.dtype("dtype") ?? b.defaultDType()),
    derivative: NOT_DIFFERENTIABLE,
  }),
  decomposed({
    name: "aten.logspace.default",
    schema: `logspace(Scalar start, Scalar end, int steps, float base=10.0, ${OPTIONS}) -> Tensor`,
    python: ["torch.logspace"],
    tags: ["factory"],
    decompose: (b, a) => {
      const powers = linspace(b, a, "float64");
      const raised = b.call("aten.pow.Scalar", [a.number("base") === 10 ? 10 : new PyFloat(a.number("base")), powers]);
      return toDtype(b, raised, a.dtype("dtype") ?? b.defaultDType());
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
  decomposed({
    name: "aten.eye.default",
    schema: `eye(SymInt n, ${OPTIONS}) -> Tensor`,
    python: ["torch.eye"],
    tags: ["factory"],
    decompose: (b, a) => eye(b, a, a.dim("n"), a.dim("n")),
    derivative: NOT_DIFFERENTIABLE,
  }),
  decomposed({
    name: "aten.eye.m",
    schema: `eye.m(SymInt n, SymInt m, ${OPTIONS}) -> Tensor`,
    python: ["torch.eye"],
    tags: ["factory"],
    decompose: (b, a) => eye(b, a, a.dim("n"), a.dim("m")),
    derivative: NOT_DIFFERENTIABLE,
  }),
  ...(["tril", "triu"] as const).map(name =>
    decomposed({
      name: `aten.${name}_indices.default`,
      schema: `${name}_indices(int row, int col, int offset=0, ${OPTIONS}) -> Tensor`,
      python: [`torch.${name}_indices`],
      tags: ["factory"],
      decompose: (b, a) => triangleIndices(b, a, name === "triu"),
      derivative: NOT_DIFFERENTIABLE,
    }),
  ),
];

/** row and column of each place in a triangle, worked out from its running number (torch._refs.tril_indices) */
function triangleIndices<T>(b: GraphBuilder<T>, a: Args<T>, upper: boolean): T {
  const [row, col, offset] = [a.int("row"), a.int("col"), a.int("offset")];
  const dtype = a.dtype("dtype") ?? "int64";
  const device = writtenDevice(b, a);
  const lower = (shift: number): { trapezoid: number; rectangle: number; first: number } => {
    if (row === 0 || col === 0) return { trapezoid: 0, rectangle: 0, first: 0 };
    const first = shift > 0 ? Math.min(col, 1 + shift) : Number(row + shift > 0);
    const last = Math.max(0, Math.min(col, row + shift));
    const rows = last - first + 1;
    const trapezoid = Math.floor(((first + last) * rows) / 2);
    const all = Math.max(0, Math.min(row, row + shift));
    return { trapezoid, rectangle: Math.max(0, (all - rows) * col), first };
  };
  const f = (op: string, ...args: ArgValue<T>[]): T => b.call(`aten.${op}`, args);
  const numbers = (n: number): T => convert(b, f("add.Tensor", f("mul.Tensor", iota(b, n, device), 1), 0), "float64");
  const fl = (x: number): PyFloat => new PyFloat(x);
  const flat = (n: number): T => iota(b, n, device, 0, 1, dtype);
  const stack = (rows: T[], cols: T[]): T =>
    f("stack.default", [f("cat.default", rows) as ArgValue<T>, f("cat.default", cols) as ArgValue<T>]);
  if (!upper) {
    const { trapezoid, rectangle, first } = lower(offset);
    const rowOffset = Math.max(0, -offset);
    const xs = numbers(trapezoid);
    const half = first - 0.5;
    const root = f("sqrt.default", f("add.Tensor", f("mul.Tensor", xs, 2), fl(half * half)));
    const rows1 = f("floor.default", f("add.Tensor", root, fl(-half)));
    const before = f("mul.Tensor", f("mul.Tensor", f("add.Tensor", rows1, 2 * first - 1), rows1), fl(0.5));
    const cols1 = f("floor.default", f("sub.Tensor", xs, before));
    const rowsInt = toDtype(b, f("add.Tensor", rows1, rowOffset), dtype);
    const colsInt = toDtype(b, cols1, dtype);
    const rest = flat(rectangle);
    const rows2 = f("add.Tensor", f("floor_divide.default", rest, col), col - first + 1 + rowOffset);
    return stack([rowsInt, rows2], [colsInt, f("remainder.Scalar", rest, col)]);
  }
  const first = row === 0 || col === 0 ? 0 : offset > 0 ? Math.max(0, col - offset) : col;
  const rectangle = row === 0 || col === 0 ? 0 : Math.max(0, Math.min(row, -offset) * col);
  const below = lower(offset - 1);
  const trapezoid = row === 0 || col === 0 ? 0 : row * col - (below.trapezoid + below.rectangle) - rectangle;
  const rest = flat(rectangle);
  const rows2 = f("floor_divide.default", rest, col);
  const cols2 = f("remainder.Scalar", rest, col);
  const xs = numbers(trapezoid);
  const half = -0.5 - first;
  const root = f("sqrt.default", f("sub.Tensor", fl(half * half), f("mul.Tensor", xs, 2)));
  const rows1 = f("floor.default", f("sub.Tensor", fl(-half), root));
  const before = f("mul.Tensor", f("mul.Tensor", f("sub.Tensor", 2 * first - 1, rows1), rows1), fl(0.5));
  const cols1 = f("floor.default", f("sub.Tensor", xs, before));
  const [rowNumbers, colNumbers] = [toDtype(b, rows1, dtype), toDtype(b, cols1, dtype)];
  const rowsInt = f("add.Tensor", rowNumbers, col ? Math.floor(rectangle / col) : 0);
  const colsInt = f("add.Tensor", colNumbers, Math.max(0, offset));
  return stack([rows2, rowsInt], [cols2, colsInt]);
}

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
    kinds.find(isFloat) ??
    kinds.find(k => k === "int64") ??
    kinds[0] ??
    b.defaultDType()
  );
}

/** torch.tensor of numbers: a constant of the graph, copied; of tensors: a stack */
function tensorOf<T>(b: GraphBuilder<T>, a: Args<T>, like?: TensorMeta): T {
  const data = a.raw("data");
  if (b.isTensor(data)) {
    const copy = b.call("aten.clone.default", [data]);
    const dtype = a.dtype("dtype");
    return dtype === null ? copy : cast(b, copy, dtype);
  }
  if (Array.isArray(data) && data.length > 0 && data.every(x => b.isTensor(x))) {
    const stacked = b.call("aten.stack.default", [data as readonly T[] as ArgValue<T>]);
    const dtype = a.dtype("dtype");
    return dtype === null ? stacked : cast(b, stacked, dtype);
  }
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
      if (!b.isTensor(data)) return tensorOf(b, a);
      const dtype = a.dtype("dtype");
      return dtype === null ? data : cast(b, data, dtype);
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

/** where a triangle starts: column minus row, compared with the diagonal */
function triangle<T>(b: GraphBuilder<T>, a: Args<T>, upper: boolean): T {
  const x = a.tensor("self");
  const t = b.meta(x);
  const rank = t.shape.length;
  if (rank < 2) return b.fail(`${upper ? "triu" : "tril"}: input tensor must have at least 2 dimensions`);
  const [h, w] = [at(t.shape, rank - 2), at(t.shape, rank - 1)];
  const cols = b.call("aten.unsqueeze.default", [iota(b, w, t.device), -2]);
  const rows = b.call("aten.unsqueeze.default", [iota(b, h, t.device), -1]);
  const apart = b.call("aten.sub.Tensor", [cols, rows]);
  const mask = b.call(upper ? "aten.ge.Scalar" : "aten.le.Scalar", [apart, a.raw("diagonal")]);
  if (t.dtype === "bool") return b.call("aten.logical_and.default", [mask, x]);
  return where(b, mask, x, 0);
}

const triangles: OpRecord[] = (["tril", "triu"] as const).flatMap(name => {
  const record = decomposed({
    name: `aten.${name}.default`,
    schema: `${name}(Tensor self, int diagonal=0) -> Tensor`,
    python: spell(name),
    decompose: (b, a) => triangle(b, a, name === "triu"),
    derivative: each({ self: (b, c) => b.call(`aten.${name}.default`, [c.grad(), c.args.raw("diagonal")]) }),
  });
  return [record, inplace(record)];
});

/** diag_embed: the last dim on a diagonal of a new square (torch._refs.diag_embed) */
function diagEmbed<T>(b: GraphBuilder<T>, x: T, offset: number, d1: number, d2: number): T {
  const t = b.meta(x);
  const rank = t.shape.length + 1;
  let [dim1, dim2] = [b.wrapDim(d1, rank), b.wrapDim(d2, rank)];
  if (dim1 === dim2) return b.fail(`diagonal dimensions cannot be identical ${dim1}, ${dim2}`);
  let shift = offset;
  if (dim1 > dim2) {
    [dim1, dim2] = [dim2, dim1];
    shift = -shift;
  }
  const last = at(t.shape, t.shape.length - 1);
  const n = b.add(last, Math.abs(shift));
  let y = x;
  if (shift !== 0) {
    const pad = b.call(
      "aten.full.default",
      [[...t.shape.slice(0, -1), Math.abs(shift)], 0],
      options(t.dtype, t.device),
    );
    y = b.call("aten.cat.default", [shift > 0 ? [pad, y] : [y, pad], -1]);
  }
  y = b.call("aten.unsqueeze.default", [y, dim1]);
  y = moveDims(b, y, [-1], [dim2]);
  const along = iota(b, n, t.device);
  const down = shift === 0 ? iota(b, n, t.device) : iota(b, n, t.device, shift, 1);
  const hit = b.call("aten.eq.Tensor", [along, b.call("aten.unsqueeze.default", [down, -1])]);
  const shape = range(rank).map(d => (d === dim1 || d === dim2 ? n : b.int(1)));
  return where(b, reshape(b, hit, shape), y, 0);
}

const diagonals: OpRecord[] = [
  decomposed({
    name: "aten.diag_embed.default",
    schema: "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    python: spell("diag_embed"),
    decompose: (b, a) => diagEmbed(b, a.tensor("self"), a.int("offset"), a.int("dim1"), a.int("dim2")),
    derivative: each({
      self: (b, c) =>
        b.call("aten.diagonal.default", [c.grad(), c.args.raw("offset"), c.args.raw("dim1"), c.args.raw("dim2")]),
    }),
  }),
  composed({
    name: "aten.diagflat.default",
    schema: "diagflat(Tensor self, int offset=0) -> Tensor",
    python: spell("diagflat"),
    composite: (b, a) =>
      b.call("aten.diag.default", [b.call("aten.reshape.default", [a.tensor("self"), [-1]]), a.raw("offset")]),
  }),
  composed({
    name: "aten.diag.default",
    schema: "diag(Tensor self, int diagonal=0) -> Tensor",
    python: spell("diag"),
    composite: (b, a) => {
      const x = a.tensor("self");
      const rank = b.meta(x).shape.length;
      if (rank === 1) return b.call("aten.diag_embed.default", [x, a.raw("diagonal")]);
      if (rank !== 2) return b.fail(`diag(): Supports 1D or 2D tensors. Got ${rank}D`);
      // the copy is a new tensor, not a view
      return b.call("aten.diagonal_copy.default", [x, a.raw("diagonal")]);
    },
  }),
  decomposed({
    name: "aten.diagonal_copy.default",
    schema: "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    decompose: (b, a) => {
      const d = b.call("aten.diagonal.default", [a.tensor("self"), a.raw("offset"), a.raw("dim1"), a.raw("dim2")]);
      return b.call("aten.clone.default", [d], { memory_format: new MemoryFormatArg("contiguous_format") });
    },
    derivative: each({
      self: (b, c) =>
        b.call("aten.diagonal_backward.default", [
          c.grad(),
          b.meta(c.args.tensor("self")).shape,
          c.args.raw("offset"),
          c.args.raw("dim1"),
          c.args.raw("dim2"),
        ]),
    }),
  }),
];

/** window functions have no formula in Inductor: each is a call */
const windows: OpRecord[] = (["hann", "hamming", "blackman", "bartlett"] as const).flatMap(kind =>
  (["default", "periodic"] as const).map((overload): OpRecord => {
    const name = `aten.${kind}_window.${overload}`;
    const periodic = overload === "periodic";
    const positional = ["window_length", ...(periodic ? ["periodic"] : [])];
    return {
      name,
      schema: `${kind}_window${periodic ? ".periodic" : ""}(int window_length${periodic ? ", bool periodic" : ""}, ${OPTIONS}) -> Tensor`,
      python: [`torch.${kind}_window`],
      tags: ["factory", "extern"],
      meta: (m, a) =>
        m.tensor([a.int("window_length")], { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) }),
      decompose: (b, a) => {
        const given = pythonOptions(b, a);
        return given === null
          ? undefined
          : b.call(
              name,
              positional.map(n => a.raw(n)),
              given,
            );
      },
      derivative: NOT_DIFFERENTIABLE,
      lower: fallback(name, [], positional, ["dtype", "layout", "device", "pin_memory"]),
    };
  }),
);

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

export const records: readonly OpRecord[] = [
  ...constants,
  ...empties,
  ...ranges,
  ...literals,
  ...triangles,
  ...diagonals,
  ...windows,
  ...legacy,
];
