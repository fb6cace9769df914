// Matrix products: the kernels themselves (mm, addmm, bmm, baddbmm), what PyTorch composes of them (matmul, linear and
// kin), and the small products that Inductor writes as multiply and sum.
import {
  type Args,
  type ArgValue,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpRecord,
  type Scalar,
  type TensorMeta,
} from "../types";
import { each, fallback, inplace, isComplex, NOT_DIFFERENTIABLE, numberOf, spell } from "./helpers/define";
import { at, broadcastShapes, composed, decomposed, range } from "./helpers/shape";
import { CONTIGUOUS, convert, full, iota, isHalf, withOpmath } from "./helpers/trace";
import { reshape } from "./view";

/** t * s as derivative formulas write it (maybe_multiply) */
export function maybeMultiply<T>(b: GraphBuilder<T>, x: T, s: Scalar): T {
  return numberOf(s) === 1 ? x : b.call("aten.mul.Scalar", [x, s]);
}

/**
 * Inductor's decompositions of mm, bmm and addmm cast half-precision operands before they find that they do not apply;
 * the casts are dropped, but their names are used up.
 */
function castInVain<T>(b: GraphBuilder<T>, xs: readonly T[]): void {
  if (!xs.some(x => isHalf(b.meta(x).dtype))) return;
  for (const x of xs) if (isHalf(b.meta(x).dtype)) convert(b, x, "float32");
}

const isOne = (b: { static(d: Dim): number | undefined }, d: Dim): boolean => b.static(d) === 1;

/** with coordinate descent tuning a product with one row or column is written as multiply and sum */
function asSum<T>(b: GraphBuilder<T>): boolean {
  return b.config("coordinate_descent_tuning") === true;
}

function conjIfComplex<T>(b: GraphBuilder<T>, x: T): T {
  return isComplex(b.meta(x).dtype) ? b.call("aten.clone.default", [b.call("aten._conj.default", [x])]) : x;
}

/** column-major: strides (1, rows) */
function isColumnMajor<T>(b: GraphBuilder<T>, x: T): boolean {
  const t = b.meta(x);
  return b.knownEq(at(t.stride, 0), 1) && b.knownEq(at(t.stride, 1), at(t.shape, 0));
}

const t = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.t.default", [x]);
const mm = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.mm.default", [x, y]);

const onCpu = <T>(b: GraphBuilder<T>, x: T): boolean => b.meta(x).device.type === "cpu";

/** on CPUs a row times a column is a sum of products (decompose_mm) */
function rowTimesColumn<T>(b: GraphBuilder<T>, row: T, column: T): T {
  const left = b.call("aten.squeeze.dim", [row, 0]);
  const product = b.call("aten.mul.Tensor", [left, b.call("aten.squeeze.dim", [column, -1])]);
  return b.call("aten.unsqueeze.default", [b.call("aten.sum.dim_IntList", [product, [0], true]), 0]);
}

/** gradient of the left factor; keeps a column-major layout */
function mmLeftGrad<T>(b: GraphBuilder<T>, grad: T, left: T, right: T, alpha: Scalar): T {
  if (isColumnMajor(b, left)) return maybeMultiply(b, t(b, mm(b, conjIfComplex(b, right), t(b, grad))), alpha);
  return maybeMultiply(b, mm(b, grad, conjIfComplex(b, t(b, right))), alpha);
}

function mmRightGrad<T>(b: GraphBuilder<T>, grad: T, left: T, right: T, alpha: Scalar): T {
  if (isColumnMajor(b, right)) return maybeMultiply(b, t(b, mm(b, t(b, grad), conjIfComplex(b, left))), alpha);
  return maybeMultiply(b, mm(b, conjIfComplex(b, t(b, left)), grad), alpha);
}

const swapLast = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.transpose.int", [x, 1, 2]);
const bmm = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.bmm.default", [x, y]);

function checkSameDType(m: MetaBuilder, x: TensorMeta, y: TensorMeta): void {
  if (x.dtype !== y.dtype) {
    m.fail(`expected m1 and m2 to have the same dtype, but got: ${cType(x.dtype)} != ${cType(y.dtype)}`);
  }
}
const C_TYPES: Partial<Record<DType, string>> = {
  float32: "float",
  float64: "double",
  float16: "c10::Half",
  bfloat16: "c10::BFloat16",
  int64: "long int",
};
const cType = (d: DType): string => C_TYPES[d] ?? d;

function mmMeta(m: MetaBuilder, x: TensorMeta, y: TensorMeta): TensorMeta {
  if (x.shape.length !== 2) return m.fail("self must be a matrix");
  if (y.shape.length !== 2) return m.fail("mat2 must be a matrix");
  const [n, k, k2, p] = [at(x.shape, 0), at(x.shape, 1), at(y.shape, 0), at(y.shape, 1)];
  if (!m.eq(k, k2)) {
    return m.fail(
      `mat1 and mat2 shapes cannot be multiplied (${m.hint(n)}x${m.hint(k)} and ${m.hint(k2)}x${m.hint(p)})`,
    );
  }
  checkSameDType(m, x, y);
  return m.tensor([n, p], x);
}

function bmmMeta(m: MetaBuilder, x: TensorMeta, y: TensorMeta): TensorMeta {
  if (x.shape.length !== 3) return m.fail("batch1 must be a 3D tensor");
  if (y.shape.length !== 3) return m.fail("batch2 must be a 3D tensor");
  const [batch, n, k] = x.shape as readonly [Dim, Dim, Dim];
  if (!m.eq(at(y.shape, 0), batch) || !m.eq(at(y.shape, 1), k)) {
    return m.fail(
      `Expected size for first two dimensions of batch2 tensor to be: [${m.hint(batch)}, ${m.hint(k)}] but got: [${m.hint(at(y.shape, 0))}, ${m.hint(at(y.shape, 1))}].`,
    );
  }
  checkSameDType(m, x, y);
  return m.tensor([batch, n, at(y.shape, 2)], x);
}

/** an added operand must broadcast to the product */
function addedMeta(m: MetaBuilder, self: TensorMeta, product: TensorMeta): TensorMeta {
  const shape = m.broadcast(self.shape, product.shape);
  if (shape.length !== product.shape.length || shape.some((s, i) => !m.eq(s, at(product.shape, i)))) {
    const text = (x: readonly Dim[]): string => `[${x.map(s => m.hint(s)).join(", ")}]`;
    return m.fail(
      `The expanded size of the tensor (${text(product.shape)}) must match the existing size (${text(self.shape)})`,
    );
  }
  return product;
}

function externOut<B>(
  b: LoweringBuilder<B>,
  name: string,
  inputs: readonly B[],
  kwargs: Record<string, ArgValue<B>> = {},
): B {
  return b.extern({
    kind: "out",
    kernel: `extern_kernels.${name}`,
    op: `aten.${name}.default`,
    inputs,
    args: inputs as readonly ArgValue<B>[],
    kwargs,
    // of the products only these two leave their layout open to what reads them
    layout: name === "mm" || name === "addmm" ? "flexible" : "contiguous",
    strides: "mm",
  });
}

const scale = <T>(a: Args<T>): Record<string, ArgValue<T>> => ({ alpha: a.raw("alpha"), beta: a.raw("beta") });

const kernels: OpRecord[] = [
  {
    name: "aten.mm.default",
    schema: "mm(Tensor self, Tensor mat2) -> Tensor",
    python: spell("mm"),
    meta: (m, a) => mmMeta(m, a.tensor("self"), a.tensor("mat2")),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("mat2")];
      if (asSum(b) && (isOne(b, at(b.meta(x).shape, 0)) || isOne(b, at(b.meta(y).shape, 1)))) {
        const product = b.call("aten.mul.Tensor", [
          b.call("aten.unsqueeze.default", [x, 2]),
          b.call("aten.unsqueeze.default", [y, 0]),
        ]);
        return b.call("aten.sum.dim_IntList", [product, [1]]);
      }
      if (onCpu(b, x)) {
        const [p, q] = [b.meta(x), b.meta(y)];
        const small = b.static(b.add(b.product(p.shape), b.product(q.shape)));
        const outer = isOne(b, at(p.shape, 1)) && b.static(at(p.shape, 0)) !== 0 && isOne(b, at(q.shape, 0));
        if (outer && p.dtype === q.dtype && small !== undefined && small <= 32) {
          return withOpmath(b, [x, y], (u, v) => b.call("aten.mul.Tensor", [u, v]));
        }
        if (isOne(b, at(p.shape, 0)) && isOne(b, at(q.shape, 1))) {
          return withOpmath(b, [x, y], (u, v) => rowTimesColumn(b, u, v));
        }
      }
      castInVain(b, [x, y]);
      return undefined;
    },
    derivative: each({
      self: (b, c) => mmLeftGrad(b, c.grad(), c.args.tensor("self"), c.args.tensor("mat2"), 1),
      mat2: (b, c) => mmRightGrad(b, c.grad(), c.args.tensor("self"), c.args.tensor("mat2"), 1),
    }),
    lower: (b, a) => externOut(b, "mm", [a.tensor("self"), a.tensor("mat2")]),
  },
  {
    name: "aten.addmm.default",
    schema: "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    python: spell("addmm"),
    meta: (m, a) => addedMeta(m, a.tensor("self"), mmMeta(m, a.tensor("mat1"), a.tensor("mat2"))),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("mat1"), a.tensor("mat2")];
      const [p, q] = [b.meta(x).shape, b.meta(y).shape];
      if (onCpu(b, x) && isOne(b, at(p, 0))) {
        const few = [at(q, 0), at(q, 1)].every(s => (b.static(s) ?? 17) <= 16);
        const single = isOne(b, at(q, 1));
        if (single || few) {
          return withOpmath(b, [a.tensor("self"), x, y], (bias, u, v) => {
            const out = single
              ? rowTimesColumn(b, u, v)
              : b.call("aten.sum.dim_IntList", [
                  b.call("aten.mul.Tensor", [b.call("aten.permute.default", [u, [1, 0]]), v]),
                  [0],
                  true,
                ]);
            const scaledOut = b.call("aten.mul.Tensor", [out, a.scalar("alpha")]);
            return b.call("aten.add.Tensor", [scaledOut, b.call("aten.mul.Tensor", [bias, a.scalar("beta")])]);
          });
        }
      }
      castInVain(b, [a.tensor("self"), x, y]);
      return undefined;
    },
    derivative: each({
      self: (b, c) => maybeMultiply(b, c.grad(), c.args.scalar("beta")),
      mat1: (b, c) => mmLeftGrad(b, c.grad(), c.args.tensor("mat1"), c.args.tensor("mat2"), c.args.scalar("alpha")),
      mat2: (b, c) => mmRightGrad(b, c.grad(), c.args.tensor("mat1"), c.args.tensor("mat2"), c.args.scalar("alpha")),
    }),
    lower: (b, a) => externOut(b, "addmm", [a.tensor("self"), a.tensor("mat1"), a.tensor("mat2")], scale(a)),
  },
  {
    name: "aten.bmm.default",
    schema: "bmm(Tensor self, Tensor mat2) -> Tensor",
    python: spell("bmm"),
    meta: (m, a) => bmmMeta(m, a.tensor("self"), a.tensor("mat2")),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("mat2")];
      if (asSum(b) && (isOne(b, at(b.meta(x).shape, 1)) || isOne(b, at(b.meta(y).shape, 2)))) {
        const product = b.call("aten.mul.Tensor", [
          b.call("aten.unsqueeze.default", [x, -1]),
          b.call("aten.unsqueeze.default", [y, 1]),
        ]);
        return b.call("aten.sum.dim_IntList", [product, [2]]);
      }
      if (onCpu(b, x) && isOne(b, at(b.meta(x).shape, 1)) && isOne(b, at(b.meta(y).shape, 2))) {
        return withOpmath(b, [x, y], (u, v) => {
          const row = b.call("aten.squeeze.dim", [u, 1]);
          const product = b.call("aten.mul.Tensor", [row, b.call("aten.squeeze.dim", [v, -1])]);
          return b.call("aten.unsqueeze.default", [b.call("aten.sum.dim_IntList", [product, [1], true]), 1]);
        });
      }
      castInVain(b, [x, y]);
      return undefined;
    },
    derivative: each({
      self: (b, c) => bmm(b, c.grad(), conjIfComplex(b, swapLast(b, c.args.tensor("mat2")))),
      mat2: (b, c) => bmm(b, conjIfComplex(b, swapLast(b, c.args.tensor("self"))), c.grad()),
    }),
    lower: (b, a) => externOut(b, "bmm", [a.tensor("self"), a.tensor("mat2")]),
  },
  {
    name: "aten.baddbmm.default",
    schema: "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    python: spell("baddbmm"),
    meta: (m, a) => addedMeta(m, a.tensor("self"), bmmMeta(m, a.tensor("batch1"), a.tensor("batch2"))),
    derivative: each({
      self: (b, c) => maybeMultiply(b, c.grad(), c.args.scalar("beta")),
      batch1: (b, c) =>
        maybeMultiply(
          b,
          bmm(b, c.grad(), conjIfComplex(b, swapLast(b, c.args.tensor("batch2")))),
          c.args.scalar("alpha"),
        ),
      batch2: (b, c) =>
        maybeMultiply(
          b,
          bmm(b, conjIfComplex(b, swapLast(b, c.args.tensor("batch1"))), c.grad()),
          c.args.scalar("alpha"),
        ),
    }),
    lower: (b, a) => externOut(b, "baddbmm", [a.tensor("self"), a.tensor("batch1"), a.tensor("batch2")], scale(a)),
  },
  {
    name: "aten.addbmm.default",
    schema: "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    python: spell("addbmm"),
    tags: ["extern"],
    meta: (m, a) => {
      const product = bmmMeta(m, a.tensor("batch1"), a.tensor("batch2"));
      return m.tensor(product.shape.slice(1), product);
    },
    derivative: each({
      self: (b, c) => maybeMultiply(b, c.grad(), c.args.scalar("beta")),
      batch1: (b, c) => {
        const grad = batched(b, c.grad(), c.args.tensor("batch1"));
        return maybeMultiply(b, bmm(b, grad, swapLast(b, c.args.tensor("batch2"))), c.args.scalar("alpha"));
      },
      batch2: (b, c) => {
        const left = swapLast(b, c.args.tensor("batch1"));
        return maybeMultiply(b, bmm(b, left, batched(b, c.grad(), c.args.tensor("batch1"))), c.args.scalar("alpha"));
      },
    }),
    lower: fallback(
      "aten.addbmm.default",
      ["self", "batch1", "batch2"],
      ["self", "batch1", "batch2"],
      ["beta", "alpha"],
    ),
  },
  {
    name: "aten._scaled_mm.default",
    schema:
      "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
    python: ["torch._scaled_mm"],
    tags: ["extern"],
    meta: (m, a) => {
      const x = a.tensor("self");
      return m.tensor([at(x.shape, 0), at(a.tensor("mat2").shape, 1)], {
        dtype: a.dtype("out_dtype") ?? x.dtype,
        device: x.device,
      });
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const inputs = ["self", "mat2", "scale_a", "scale_b", "bias"].flatMap(n => (a.isTensor(n) ? [a.tensor(n)] : []));
      return b.extern({
        kind: "out",
        kernel: "extern_kernels._scaled_mm",
        op: "aten._scaled_mm.default",
        inputs,
        args: inputs as readonly ArgValue<(typeof inputs)[number]>[],
        kwargs: { out_dtype: a.raw("out_dtype"), use_fast_accum: a.raw("use_fast_accum") },
        layout: "meta",
        strides: "mm",
      });
    },
  },
  {
    name: "aten._int_mm.default",
    schema: "_int_mm(Tensor self, Tensor mat2) -> Tensor",
    python: ["torch._int_mm"],
    tags: ["extern"],
    meta: (m, a) =>
      m.tensor([at(a.tensor("self").shape, 0), at(a.tensor("mat2").shape, 1)], {
        dtype: "int32",
        device: a.tensor("self").device,
      }),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => externOut(b, "_int_mm", [a.tensor("self"), a.tensor("mat2")]),
  },
];

/** grad with a batch dim in front, as wide as the batch */
function batched<T>(b: GraphBuilder<T>, grad: T, batch: T): T {
  const wide = b.call("aten.unsqueeze.default", [grad, 0]);
  return b.call("aten.expand.default", [wide, [at(b.meta(batch).shape, 0), ...b.meta(grad).shape]]);
}

const outer = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.outer.default", [x, y]);
const mv = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.mv.default", [x, y]);

const vectors: OpRecord[] = [
  decomposed({
    name: "aten.mv.default",
    schema: "mv(Tensor self, Tensor vec) -> Tensor",
    python: spell("mv"),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("vec")];
      const [xs, ys] = [b.meta(x).shape, b.meta(y).shape];
      if (xs.length !== 2 || ys.length !== 1) return b.fail(`matrix @ vector expected, got ${xs.length}, ${ys.length}`);
      if (!b.eq(at(xs, 1), at(ys, 0))) {
        return b.fail(
          `size mismatch, got input (${b.hint(at(xs, 0))}x${b.hint(at(xs, 1))}), vec (${b.hint(at(ys, 0))})`,
        );
      }
      return b.call("aten.sum.dim_IntList", [b.call("aten.mul.Tensor", [x, y]), [1]]);
    },
    derivative: each({
      self: (b, c) => outer(b, c.grad(), conjIfComplex(b, c.args.tensor("vec"))),
      vec: (b, c) => mv(b, t(b, conjIfComplex(b, c.args.tensor("self"))), c.grad()),
    }),
  }),
  decomposed({
    name: "aten.dot.default",
    schema: "dot(Tensor self, Tensor tensor) -> Tensor",
    python: spell("dot"),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("tensor")];
      if (b.meta(x).shape.length !== 1 || b.meta(y).shape.length !== 1) {
        return b.fail(`1D tensors expected, but got ${b.meta(x).shape.length}D and ${b.meta(y).shape.length}D tensors`);
      }
      return withOpmath(b, [x, y], (p, q) => b.call("aten.sum.default", [b.call("aten.mul.Tensor", [p, q])]));
    },
    derivative: each({
      self: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("tensor")]),
      tensor: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("self")]),
    }),
  }),
  decomposed({
    name: "aten.vdot.default",
    schema: "vdot(Tensor self, Tensor other) -> Tensor",
    python: spell("vdot"),
    decompose: (b, a) => b.call("aten.dot.default", [conjIfComplex(b, a.tensor("self")), a.tensor("other")]),
    derivative: each({
      self: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("other")]),
      other: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("self")]),
    }),
  }),
  decomposed({
    name: "aten.addmv.default",
    schema: "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    python: spell("addmv"),
    decompose: (b, a) => {
      const product = b.call("aten.mul.Tensor", [mv(b, a.tensor("mat"), a.tensor("vec")), a.scalar("alpha")]);
      const beta = a.scalar("beta");
      if (numberOf(beta) === 0) return product;
      return b.call("aten.add.Tensor", [product, b.call("aten.mul.Tensor", [a.tensor("self"), beta])]);
    },
    derivative: each({
      self: (b, c) => maybeMultiply(b, c.grad(), c.args.scalar("beta")),
      mat: (b, c) => maybeMultiply(b, outer(b, c.grad(), c.args.tensor("vec")), c.args.scalar("alpha")),
      vec: (b, c) => maybeMultiply(b, mv(b, t(b, c.args.tensor("mat")), c.grad()), c.args.scalar("alpha")),
    }),
  }),
  decomposed({
    name: "aten.addr.default",
    schema: "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    python: spell("addr"),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("vec1"), a.tensor("vec2")];
      const shape = [at(b.meta(x).shape, 0), at(b.meta(y).shape, 0)];
      const beta = a.scalar("beta");
      const self = b.call("aten.expand.default", [a.tensor("self"), shape]);
      const kept = numberOf(beta) === 0 ? null : b.call("aten.mul.Tensor", [self, beta]);
      const product = b.call("aten.mul.Tensor", [outer(b, x, y), a.scalar("alpha")]);
      return kept === null ? product : b.call("aten.add.Tensor", [kept, product]);
    },
    derivative: each({
      self: (b, c) => maybeMultiply(b, c.grad(), c.args.scalar("beta")),
      vec1: (b, c) => maybeMultiply(b, mv(b, c.grad(), c.args.tensor("vec2")), c.args.scalar("alpha")),
      vec2: (b, c) => maybeMultiply(b, mv(b, t(b, c.grad()), c.args.tensor("vec1")), c.args.scalar("alpha")),
    }),
  }),
  ...["outer", "ger"].map(name =>
    composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor self, Tensor vec2) -> Tensor`,
      python: spell(name),
      composite: (b, a) => {
        const x = a.tensor("self");
        const shape = b.meta(x).shape;
        if (shape.length !== 1 || b.meta(a.tensor("vec2")).shape.length !== 1) {
          return b.fail(`outer: Expected 1-D argument self, but got ${shape.length}-D`);
        }
        return b.call("aten.mul.Tensor", [reshape(b, x, [at(shape, 0), 1]), a.tensor("vec2")]);
      },
    }),
  ),
];

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
      const left = reshape(
        b,
        x,
        xs.flatMap(s => [s, one]),
      );
      const right = reshape(
        b,
        y,
        ys.flatMap(s => [one, s]),
      );
      return reshape(
        b,
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
        return b.call("aten.view.default", [z, [-1, at(shape, shape.length - 1)]]);
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
        const flat = full(b, [b.mul(rows, cols)], 0, t.dtype, t.device);
        const step = b.hint(cols) + 1;
        const places = iota(b, b.ceildiv(b.mul(rows, cols), step), t.device, 0, step);
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
  if (b.static(at(shape, dim)) !== 3) return b.fail(`linalg.cross: inputs dimension ${d} must have length 3.`);
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

const writable = (name: string): OpRecord[] =>
  [...kernels, ...vectors].filter(r => r.name === `aten.${name}.default`).map(r => inplace(r));

export const records: readonly OpRecord[] = [
  ...kernels,
  ...vectors,
  ...compositions,
  ...["addmm", "baddbmm", "addbmm", "addmv", "addr"].flatMap(writable),
];
