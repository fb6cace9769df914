// Tensors of counted places: arange, linspace, logspace, eye, tril_indices and triu_indices.

import { type Args, type ArgValue, type Dim, type DType, type GraphBuilder, type OpRecord, PyFloat } from "../types";
import { fullGiven } from "./factory";
import { isFloatDType, NOT_DIFFERENTIABLE, numberOf } from "./helpers/define";
import { asNumber, type Count, deviceOf, isIntegral, OPTIONS, options, writtenDevice } from "./helpers/factories";
import { at, composed, decomposed, outMeta } from "./helpers/shape";
import { convert, iota, toDtype } from "./helpers/trace";

/** torch.arange (torch._refs.arange): integers as one iota, floats as an affine map of one */
function arange<T>(b: GraphBuilder<T>, a: Args<T>, start: Count, end: Count, step: Count): T {
  const integral = [start, end, step].every(x => isIntegral(b, x));
  const dtype = a.dtype("dtype") ?? (integral ? "int64" : b.defaultDType());
  const device = writtenDevice(b, a);
  const isInt = !isFloatDType(dtype) && dtype !== "complex64" && dtype !== "complex128";
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
  const wide: DType = isFloatDType(dtype) ? (dtype === "float16" || dtype === "bfloat16" ? "float32" : dtype) : "int64";
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

export const records: readonly OpRecord[] = [...ranges];
