// Matrix products: the kernels themselves (mm, addmm, bmm, baddbmm and kin), and the small products that Inductor writes
// as multiply and sum.

import type { Args, ArgValue, Dim, DType, GraphBuilder, MetaBuilder, OpRecord, Scalar, TensorMeta } from "../types";
import { each, fallback, inplace, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import { bmm, conjIfComplex, externOut, maybeMultiply, mm, swapLast, t } from "./helpers/products";
import { at } from "./helpers/shape";
import { convert, isHalf, withOpmath } from "./helpers/trace";

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

/** column-major: strides (1, rows) */
function isColumnMajor<T>(b: GraphBuilder<T>, x: T): boolean {
  const t = b.meta(x);
  return b.knownEq(at(t.stride, 0), 1) && b.knownEq(at(t.stride, 1), at(t.shape, 0));
}

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
    lower: (b, a) => {
      const [x, y] = [b.operand(a.tensor("mat1")), b.operand(a.tensor("mat2"))];
      // what is added is brought to the product's size for templates; the library's kernel takes it as it is, and where that
      // was a copy it is dropped again
      b.operand(b.expand(a.tensor("self"), [at(b.size(x), 0), at(b.size(y), 1)]));
      return externOut(b, "addmm", [a.tensor("self"), x, y], scale(a));
    },
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
    lower: (b, a) => {
      const [x, y] = [b.operand(a.tensor("batch1")), b.operand(a.tensor("batch2"))];
      const size = [at(b.size(x), 0), at(b.size(x), 1), at(b.size(y), 2)];
      return externOut(b, "baddbmm", [b.expand(a.tensor("self"), size), x, y], scale(a));
    },
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

export const records: readonly OpRecord[] = [
  ...kernels,
  ...kernels
    .filter(r => ["aten.addmm.default", "aten.baddbmm.default", "aten.addbmm.default"].includes(r.name))
    .map(r => inplace(r)),
];
