// What PyTorch composes of matrix products: matmul, linear, tensordot, bilinear, cross and kin.

import { type Args, type ArgValue, DeviceArg, type Dim, DTypeArg, type GraphBuilder, type OpRecord } from "../types";
import { each, fallback, spell } from "./helpers/define";
import { bmm, mm, mv, t } from "./helpers/products";
import { at, broadcastShapes, composed, decomposed, range } from "./helpers/shape";
import { CONTIGUOUS, filledWith } from "./helpers/trace";
import { reshape } from "./view";

/** whether a product with a vector or matrix is done as one mm over the flattened other side (should_fold) */
function shouldFold<T>(b: GraphBuilder<T>, x: T, y: T): boolean {
  const [xm, ym] = [b.meta(x), b.meta(y)];
  const leftLarger = xm.shape.length >= ym.shape.length;
  const large = leftLarger ? xm : ym;
  const small = leftLarger ? ym : xm;
  if (!(large.shape.length >= 3 && small.shape.length <= 2)) return false;
  if (small.requiresGrad) return true;
  if (xm.shape.length === 2) return false;
  if (large.shape.some(s => b.static(s) === 0)) return true;
  return range(large.shape.length - 2).every(i =>
    b.eq(at(large.stride, i), b.mul(at(large.stride, i + 1), at(large.shape, i + 1))),
  );
}

const unsafeView = <T>(b: GraphBuilder<T>, x: T, shape: readonly Dim[]): T =>
  b.call("aten._unsafe_view.default", [x, shape]);

/** at::matmul */
export function matmul<T>(b: GraphBuilder<T>, x: T, y: T): T {
  const [xs, ys] = [b.meta(x).shape, b.meta(y).shape];
  const [p, q] = [xs.length, ys.length];
  if (p === 0 || q === 0) {
    return b.fail(`both arguments to matmul need to be at least 1D, but they are ${p}D and ${q}D`);
  }
  if (p === 1 && q === 1) return b.call("aten.dot.default", [x, y]);
  if (p === 2 && q === 1) return mv(b, x, y);
  if (p === 1 && q === 2) {
    const product = mm(b, b.call("aten.unsqueeze.default", [x, 0]), y);
    return b.call("aten.squeeze.dim", [product, 0]);
  }
  if (p === 2 && q === 2) return mm(b, x, y);
  if (shouldFold(b, x, y)) {
    const flipped = q > p;
    const large = flipped ? b.call("aten.transpose.int", [y, -2, -1]) : x;
    const small = !flipped ? y : p === 2 ? t(b, x) : x;
    const shape = b.meta(large).shape;
    const lead = shape.slice(0, -1);
    const folded = reshape(b, large, [b.product(lead), at(shape, shape.length - 1)]);
    const matrix = b.meta(small).shape.length === 2;
    if (!matrix) return unsafeView(b, mv(b, folded, small), lead);
    const out = unsafeView(b, mm(b, folded, small), [...lead, at(b.meta(small).shape, 1)]);
    if (!flipped) return out;
    const back = b.call("aten.transpose.int", [out, -2, -1]);
    return b.isContiguous(back) ? back : b.call("aten.clone.default", [back], { memory_format: CONTIGUOUS });
  }
  const n = p > 1 ? at(xs, p - 2) : b.int(1);
  const k = at(xs, p - 1);
  const k2 = q > 1 ? at(ys, q - 2) : at(ys, 0);
  const m = q > 1 ? at(ys, q - 1) : b.int(1);
  const [batchX, batchY] = [xs.slice(0, Math.max(0, p - 2)), ys.slice(0, Math.max(0, q - 2))];
  if (p === 3 && q === 3 && !b.eq(at(batchX, 0), at(batchY, 0))) {
    if (b.eq(at(batchX, 0), 1) && b.meta(x).requiresGrad) return matmul(b, b.call("aten.squeeze.dim", [x, 0]), y);
    if (b.eq(at(batchY, 0), 1) && b.meta(y).requiresGrad) return matmul(b, x, b.call("aten.squeeze.dim", [y, 0]));
  }
  const batch = broadcastShapes(b, batchX, batchY);
  const all = b.product(batch);
  b.computeNow?.(all);
  const left = reshape(b, b.call("aten.expand.default", [x, [...batch, n, k]]), [all, n, k]);
  const vector = q === 1;
  const wide = b.call("aten.expand.default", [y, vector ? [...batch, k2] : [...batch, k2, m]]);
  const right = vector
    ? b.call("aten.unsqueeze.default", [reshape(b, wide, [all, k2]), 2])
    : reshape(b, wide, [all, k2, m]);
  const shape = [...batch, ...(p > 1 ? [n] : []), ...(q > 1 ? [m] : [])];
  const product = bmm(b, left, right);
  return b.call("aten.view.default", [vector ? b.call("aten.squeeze.dim", [product, -1]) : product, shape]);
}

function linear<T>(b: GraphBuilder<T>, x: T, weight: T, bias: T | null): T {
  const shape = b.meta(x).shape;
  const rank = shape.length;
  if (rank === 0 || b.meta(weight).shape.length === 0) {
    return b.fail(
      `both arguments to linear need to be at least 1D, but they are ${rank}D and ${b.meta(weight).shape.length}D`,
    );
  }
  if (bias !== null && rank === 2) return b.call("aten.addmm.default", [bias, x, t(b, weight)]);
  if (bias !== null && b.isContiguous(x) && b.meta(bias).shape.length === 1) {
    const rows = b.product(shape.slice(0, -1));
    const flat = reshape(b, x, [rows, at(shape, rank - 1)]);
    const out = b.call("aten.addmm.default", [bias, flat, t(b, weight)]);
    return b.call("aten.view.default", [out, [...shape.slice(0, -1), at(b.meta(out).shape, 1)]]);
  }
  const out = matmul(b, x, t(b, weight));
  return bias === null ? out : b.call("aten.add.Tensor", [out, bias]);
}

/** at::tensordot */
function tensordot<T>(b: GraphBuilder<T>, x: T, y: T, dimsX: readonly number[], dimsY: readonly number[]): T {
  if (dimsX.length !== dimsY.length) return b.fail("both dimension lists should have same length");
  const [xs, ys] = [b.meta(x).shape, b.meta(y).shape];
  let [left, right] = [x, y];
  const inX = dimsX.map(d => b.wrapDim(d, xs.length));
  const inY = dimsY.map(d => b.wrapDim(d, ys.length));
  let inner: Dim = b.int(1);
  const dtype = new DTypeArg(b.meta(x).dtype);
  const collapse = (z: T, dim: number): T => b.call("aten.sum.dim_IntList", [z, [dim], true], { dtype });
  inX.forEach((d, i) => {
    const [s, u] = [at(xs, d), at(ys, at(inY, i))];
    if (b.static(u) === 1) left = collapse(left, at(dimsX, i));
    else if (b.static(s) === 1) right = collapse(right, at(dimsY, i));
    else {
      if (!b.eq(s, u)) {
        b.fail(
          `contracted dimensions need to match, but first has size ${b.hint(s)} in dim ${at(dimsX, i)} and second has size ${b.hint(u)} in dim ${at(dimsY, i)}`,
        );
      }
      inner = b.mul(inner, s);
    }
  });
  const freeX = range(xs.length).filter(d => !inX.includes(d));
  const freeY = range(ys.length).filter(d => !inY.includes(d));
  const sizes = (s: readonly Dim[], ds: readonly number[]): Dim[] => ds.map(d => at(s, d));
  const permute = (z: T, order: readonly number[]): T => b.call("aten.permute.default", [z, order]);
  const result = [...sizes(xs, freeX), ...sizes(ys, freeY)];
  const [rows, columns] = [b.product(sizes(xs, freeX)), b.product(sizes(ys, freeY))];
  left = permute(left, [...freeX, ...dimsX]);
  if (b.static(rows) !== 1 || b.static(columns) !== 1) {
    const p = reshape(b, left, [rows, inner]);
    const q = reshape(b, permute(right, [...dimsY, ...freeY]), [inner, columns]);
    return reshape(b, mm(b, p, q), result);
  }
  right = permute(right, [...dimsY, ...freeY]);
  if (b.isContiguous(left) && b.isContiguous(right)) {
    const flat = (z: T): T => (b.meta(z).shape.length === 1 ? z : reshape(b, z, [inner]));
    right = flat(right);
    return reshape(b, b.call("aten.dot.default", [flat(left), right]), result);
  }
  right = b.call("aten.squeeze.default", [right]);
  const product = b.call("aten.mul.Tensor", [b.call("aten.squeeze.default", [left]), right]);
  return reshape(b, b.call("aten.sum.default", [product], { dtype }), result);
}

const numbersOf = <T>(x: ArgValue<T>): number[] =>
  Array.isArray(x) ? (x as readonly number[]).map(Number) : [Number(x)];

const compositions: OpRecord[] = [
  composed({
    name: "aten.matmul.default",
    schema: "matmul(Tensor self, Tensor other) -> Tensor",
    python: [...spell("matmul"), "operator.matmul"],
    composite: (b, a) => matmul(b, a.tensor("self"), a.tensor("other")),
  }),
  composed({
    name: "aten.linalg_matmul.default",
    schema: "linalg_matmul(Tensor self, Tensor other) -> Tensor",
    python: ["torch.linalg.matmul"],
    printedAs: "torch._C._linalg.linalg_matmul",
    composite: (b, a) => matmul(b, a.tensor("self"), a.tensor("other")),
  }),
  composed({
    name: "aten.linear.default",
    schema: "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    python: ["torch.nn.functional.linear"],
    printedAs: "torch._C._nn.linear",
    composite: (b, a) => linear(b, a.tensor("input"), a.tensor("weight"), a.optTensor("bias")),
  }),
  composed({
    name: "aten.inner.default",
    schema: "inner(Tensor self, Tensor other) -> Tensor",
    python: spell("inner"),
    composite: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("other")];
      if (b.meta(x).shape.length === 0 || b.meta(y).shape.length === 0) return b.call("aten.mul.Tensor", [x, y]);
      return tensordot(b, x, y, [-1], [-1]);
    },
  }),
  composed({
    name: "aten.tensordot.default",
    schema: "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    composite: (b, a) => tensordot(b, a.tensor("self"), a.tensor("other"), a.ints("dims_self"), a.ints("dims_other")),
  }),
  composed({
    name: "torch.tensordot.default",
    schema: "tensordot(Tensor a, Tensor b, Any dims=2) -> Tensor",
    python: ["torch.tensordot", "torch.functional.tensordot"],
    printedAs: "torch.functional.tensordot",
    composite: (b, a) => {
      const [x, y] = [a.tensor("a"), a.tensor("b")];
      const dims = a.raw("dims");
      if (Array.isArray(dims)) {
        const [p, q] = dims as readonly ArgValue<typeof x>[];
        return tensordot(b, x, y, numbersOf(p ?? []), numbersOf(q ?? []));
      }
      const n = Number(dims);
      return tensordot(
        b,
        x,
        y,
        range(n).map(i => i - n),
        range(n),
      );
    },
  }),
  composed({
    name: "aten.kron.default",
    schema: "kron(Tensor self, Tensor other) -> Tensor",
    python: spell("kron"),
    composite: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("other")];
      const rank = Math.max(b.meta(x).shape.length, b.meta(y).shape.length);
      const padded = (z: typeof x): Dim[] => {
        const own = b.meta(z).shape;
        return [...range(rank - own.length).map(() => b.int(1)), ...own];
      };
      const [xs, ys] = [padded(x), padded(y)];
      const one = b.int(1);
      const view = (z: typeof x, shape: readonly Dim[]): typeof x => b.call("aten._unsafe_view.default", [z, shape]);
      const left = view(
        x,
        xs.flatMap(s => [s, one]),
      );
      const right = view(
        y,
        ys.flatMap(s => [one, s]),
      );
      return view(
        b.call("aten.mul.Tensor", [left, right]),
        xs.map((s, i) => b.mul(s, at(ys, i))),
      );
    },
  }),
  composed({
    name: "aten.bilinear.default",
    schema: "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    python: ["torch.nn.functional.bilinear", "torch.bilinear"],
    printedAs: "torch.bilinear",
    composite: (b, a) => {
      const [x, y, w] = [a.tensor("input1"), a.tensor("input2"), a.tensor("weight")];
      const flat = (z: typeof x): typeof x => {
        const shape = b.meta(z).shape;
        return reshape(b, z, [-1, at(shape, shape.length - 1)]);
      };
      const product = b.call("aten._trilinear.default", [flat(x), w, flat(y), [1, 3], [0], [1, 2], [2, 3]]);
      const out = reshape(b, product, [...b.meta(x).shape.slice(0, -1), at(b.meta(w).shape, 0)]);
      const bias = a.optTensor("bias");
      return bias === null ? out : b.call("aten.add.Tensor", [out, bias]);
    },
  }),
  {
    name: "aten._trilinear.default",
    schema:
      "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => {
      const rank = a.tensor("i1").shape.length + a.ints("expand1").length;
      const wide = (name: string, expand: string): Dim[] => {
        const own = [...a.tensor(name).shape];
        const places = a.ints(expand);
        return range(rank).map(d => (places.includes(d) ? m.int(1) : (own.shift() ?? m.int(1))));
      };
      const shape = m.broadcast(wide("i1", "expand1"), wide("i2", "expand2"), wide("i3", "expand3"));
      const summed = a.ints("sumdim");
      return m.tensor(
        shape.filter((_, d) => !summed.includes(d)),
        a.tensor("i1"),
      );
    },
    derivative: each({
      i1: (b, c) =>
        trilinear(
          b,
          c.args,
          [c.grad(), c.args.tensor("i2"), c.args.tensor("i3")],
          ["sumdim", "expand2", "expand3", "expand1"],
        ),
      i2: (b, c) =>
        trilinear(
          b,
          c.args,
          [c.args.tensor("i1"), c.grad(), c.args.tensor("i3")],
          ["expand1", "sumdim", "expand3", "expand2"],
        ),
      i3: (b, c) =>
        trilinear(
          b,
          c.args,
          [c.args.tensor("i1"), c.args.tensor("i2"), c.grad()],
          ["expand1", "expand2", "sumdim", "expand3"],
        ),
    }),
    lower: fallback(
      "aten._trilinear.default",
      ["i1", "i2", "i3"],
      ["i1", "i2", "i3", "expand1", "expand2", "expand3", "sumdim", "unroll_dim"],
    ),
  },
  decomposed({
    name: "aten.trace.default",
    schema: "trace(Tensor self) -> Tensor",
    python: spell("trace"),
    decompose: (b, a) => {
      const x = a.tensor("self");
      if (b.meta(x).shape.length !== 2)
        return b.fail(`trace: expected a matrix, but got tensor with dim ${b.meta(x).shape.length}`);
      return b.call("aten.sum.default", [b.call("aten.diagonal_copy.default", [x])]);
    },
    derivative: each({
      self: (b, c) => {
        const t = b.meta(c.args.tensor("self"));
        const [rows, cols] = [at(t.shape, 0), at(t.shape, 1)];
        const flat = filledWith(b, "zeros", [b.mul(rows, cols)], b.meta(c.grad()));
        const step = b.hint(cols) + 1;
        const places = b.call("aten.arange.start_step", [0, b.mul(rows, cols), step], {
          dtype: new DTypeArg("int64"),
          device: new DeviceArg(t.device),
          pin_memory: false,
        });
        const filled = b.call("aten.index_fill.int_Tensor", [flat, 0, places, c.grad()]);
        return b.call("aten.view.default", [filled, t.shape]);
      },
    }),
  }),
  decomposed({
    name: "aten.linalg_cross.default",
    schema: "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    python: ["torch.linalg.cross"],
    printedAs: "torch._C._linalg.linalg_cross",
    decompose: (b, a) => cross(b, a.tensor("self"), a.tensor("other"), a.int("dim")),
    derivative: each({
      self: (b, c) =>
        b.call("aten.linalg_cross.default", [c.args.tensor("other"), c.grad()], { dim: c.args.raw("dim") }),
      other: (b, c) =>
        b.call("aten.linalg_cross.default", [c.grad(), c.args.tensor("self")], { dim: c.args.raw("dim") }),
    }),
  }),
  composed({
    name: "aten.cross.default",
    schema: "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    python: spell("cross"),
    composite: (b, a) => {
      const shape = b.meta(a.tensor("self")).shape;
      const dim = a.optInt("dim") ?? shape.findIndex(s => b.static(s) === 3);
      return b.call("aten.linalg_cross.default", [a.tensor("self"), a.tensor("other")], { dim });
    },
  }),
];

function trilinear<T>(b: GraphBuilder<T>, a: Args<T>, inputs: readonly T[], lists: readonly string[]): T {
  return b.call("aten._trilinear.default", [...inputs, ...lists.map(n => a.raw(n))]);
}

function cross<T>(b: GraphBuilder<T>, x: T, y: T, d: number): T {
  const shape = broadcastShapes(b, b.meta(x).shape, b.meta(y).shape);
  const dim = b.wrapDim(d, shape.length);
  if (!b.eq(at(shape, dim), 3)) return b.fail(`linalg.cross: inputs dimension ${d} must have length 3.`);
  const expand = (z: T): T => {
    const own = b.meta(z).shape;
    const same = own.length === shape.length && own.every((s, i) => b.knownEq(s, at(shape, i)));
    return same ? z : b.call("aten.expand.default", [z, shape]);
  };
  const [p, q] = [expand(x), expand(y)];
  const places = b.call("aten.arange.default", [3], { device: deviceArg(b, x) });
  const turn = (z: T, by: number): T => {
    const index = b.call("aten.remainder.Scalar", [b.call("aten.add.Tensor", [places, by]), 3]);
    return b.call("aten.index_select.default", [z, dim, index]);
  };
  const first = b.call("aten.mul.Tensor", [turn(p, 1), turn(q, 2)]);
  const second = b.call("aten.mul.Tensor", [turn(p, 2), turn(q, 1)]);
  return b.call("aten.sub.Tensor", [first, second]);
}

const deviceArg = <T>(b: GraphBuilder<T>, x: T): ArgValue<T> => {
  const d = b.meta(x).device;
  return d.index === null ? d.type : `${d.type}:${d.index}`;
};

export const records: readonly OpRecord[] = [...compositions];
