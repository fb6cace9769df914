// Linear systems, determinants and exponentials of matrices. The kernels are ATen's; the gradients are those of
// torch/csrc/autograd/FunctionsManual.cpp.
import { type Dim, type GraphBuilder, type MetaBuilder, type OpRecord, PyFloat, type TensorMeta } from "../types";
import { aten, each, fallback, fallbackMany, NOT_DIFFERENTIABLE } from "./helpers/define";
import { adjoint, columnMajor, isVector, square } from "./helpers/matrices";
import { at, composed, contiguousStrides } from "./helpers/shape";

const matmul = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.matmul.default", [x, y]);

function batches(m: MetaBuilder, matrix: TensorMeta, right: TensorMeta): Dim[] {
  return m.broadcast(matrix.shape.slice(0, -2), right.shape.slice(0, -2));
}

/** what is solved for: by columns if from the left, by rows if from the right */
function solution(m: MetaBuilder, like: TensorMeta, shape: readonly Dim[], left: boolean): TensorMeta {
  return left ? columnMajor(m, like, shape) : m.tensor(shape, like);
}

/** the kernels factor the transpose of what lies by rows */
const byRows = (b: GraphBuilder<unknown>, t: TensorMeta): boolean => {
  const dense = contiguousStrides(b, t.shape);
  return t.shape.every((s, i) => b.eq(s, 1) || b.eq(at(t.stride, i), at(dense, i)));
};

function luSolve<T>(b: GraphBuilder<T>, lu: T, pivots: T, x: T, left: boolean, turned: boolean): T {
  return b.call("aten.linalg_lu_solve.default", [lu, pivots, x], {
    ...(left ? {} : { left }),
    ...(turned ? { adjoint: true } : {}),
  });
}

const factors = (m: MetaBuilder, t: TensorMeta): [TensorMeta, TensorMeta] => [
  columnMajor(m, t, t.shape),
  m.tensor(t.shape.slice(0, -1), { dtype: "int32", device: t.device }),
];

const systems: OpRecord[] = [
  {
    name: "aten._linalg_solve_ex.default",
    schema:
      "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    tags: ["extern"],
    meta: (m, a) => {
      const [matrix, right] = [a.tensor("A"), a.tensor("B")];
      square(m, matrix, "linalg.solve");
      const info = m.tensor(matrix.shape.slice(0, -2), { dtype: "int32", device: matrix.device });
      if (isVector(m, matrix, right)) {
        const batch = m.broadcast(matrix.shape.slice(0, -2), right.shape.slice(0, -1));
        const size = at(right.shape, right.shape.length - 1);
        const shape = [...batch, size];
        return [batch.length > 0 ? columnMajor(m, right, shape) : m.tensor(shape, right), ...factors(m, matrix), info];
      }
      const shape = [...batches(m, matrix, right), ...right.shape.slice(-2)];
      return [solution(m, right, shape, a.bool("left")), ...factors(m, matrix), info];
    },
    nonDifferentiable: [1, 2, 3],
    derivative: {
      kind: "joint",
      of: ["A", "B"],
      grads: (b, c) => {
        const f = aten(b);
        const left = c.args.bool("left");
        const result = c.result(0);
        const vector = isVector(b, b.meta(c.args.tensor("A")), b.meta(c.args.tensor("B")));
        const matrix = (x: ReturnType<typeof c.grad>): typeof x => (vector ? f("unsqueeze.default", x, -1) : x);
        const gradB = luSolve(b, c.result(1), c.result(2), matrix(c.grad()), left, true);
        let gradA: typeof gradB | null = null;
        if (c.needs("A")) {
          const turned = adjoint(b, matrix(result));
          gradA = f("neg.default", left ? matmul(b, gradB, turned) : matmul(b, turned, gradB));
        }
        return { A: gradA, B: c.needs("B") ? (vector ? f("squeeze.dim", gradB, -1) : gradB) : null };
      },
    },
    lower: fallbackMany("aten._linalg_solve_ex.default", ["A", "B"], ["A", "B"], ["left", "check_errors"]),
  },
  ...(["linalg_solve", "linalg_solve_ex"] as const).map(name =>
    composed({
      name: `aten.${name}.default`,
      schema:
        name === "linalg_solve"
          ? "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor"
          : "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
      python: [name === "linalg_solve" ? "torch.linalg.solve" : "torch.linalg.solve_ex"],
      printedAs: `torch._C._linalg.${name}`,
      composite: (b, a) => {
        const left: Record<string, boolean> = a.bool("left") ? {} : { left: false };
        const parts = b.callMany("aten._linalg_solve_ex.default", [a.tensor("A"), a.tensor("B")], left);
        const result = parts[0] ?? a.tensor("B");
        return name === "linalg_solve" ? result : [result, at(parts, 3)];
      },
    }),
  ),
  {
    // called by gradients alone
    name: "aten.linalg_lu_solve.default",
    schema: "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => {
      const [lu, right] = [a.tensor("LU"), a.tensor("B")];
      const shape = [...batches(m, lu, right), ...right.shape.slice(-2)];
      return solution(m, right, shape, a.bool("left"));
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.linalg_lu_solve.default", ["LU", "pivots", "B"], ["LU", "pivots", "B"], ["left", "adjoint"]),
  },
  {
    name: "aten.linalg_solve_triangular.default",
    schema:
      "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    python: ["torch.linalg.solve_triangular"],
    printedAs: "torch._C._linalg.linalg_solve_triangular",
    tags: ["extern"],
    meta: (m, a) => {
      const [matrix, right] = [a.tensor("self"), a.tensor("B")];
      square(m, matrix, "linalg.solve_triangular");
      return columnMajor(m, right, [...batches(m, matrix, right), ...right.shape.slice(-2)]);
    },
    derivative: {
      kind: "joint",
      of: ["self", "B"],
      grads: (b, c) => {
        const f = aten(b);
        const [upper, left, unit] = [c.args.bool("upper"), c.args.bool("left"), c.args.bool("unitriangular")];
        const result = c.result();
        const gradB = b.call("aten.linalg_solve_triangular.default", [adjoint(b, c.args.tensor("self")), c.grad()], {
          upper: !upper,
          ...(left ? {} : { left }),
          ...(unit ? { unitriangular: true } : {}),
        });
        if (!c.needs("self")) return { self: null, B: gradB };
        const turned = adjoint(b, result);
        const whole = f("neg.default", left ? matmul(b, gradB, turned) : matmul(b, turned, gradB));
        const self = upper
          ? f("triu.default", whole, ...(unit ? [1] : []))
          : f("tril.default", whole, ...(unit ? [-1] : []));
        return { self, B: c.needs("B") ? gradB : null };
      },
    },
    lower: fallback(
      "aten.linalg_solve_triangular.default",
      ["self", "B"],
      ["self", "B"],
      ["upper", "left", "unitriangular"],
    ),
  },
];

/** a matrix per element of `scale`, that times the identity, by columns */
function scaledIdentity<T>(b: GraphBuilder<T>, scale: T, pivots: T): T {
  const f = aten(b);
  const wide = f("expand.default", f("unsqueeze.default", scale, -1), b.meta(pivots).shape);
  return f("mT.default", f("diag_embed.default", wide));
}

const EPSILON: Readonly<Record<string, number>> = { float32: 1.1920928955078125e-7, float64: 2.220446049250313e-16 };

const determinants: OpRecord[] = [
  {
    name: "aten._linalg_det.default",
    schema: "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("A");
      square(m, t, "linalg.det");
      return [m.tensor(t.shape.slice(0, -2), t), ...factors(m, t)];
    },
    nonDifferentiable: [1, 2],
    derivative: each({
      A: (b, c) => {
        const f = aten(b);
        const result = c.result(0);
        const [lu, pivots] = [c.result(1), c.result(2)];
        const right = scaledIdentity(b, f("mul.Tensor", c.grad(), result), pivots);
        // zeros among the pivots become as small as can be
        const singular = f("eq.Scalar", f("diagonal.default", lu, 0, -2, -1), new PyFloat(0));
        const epsilon = EPSILON[b.meta(lu).dtype] ?? 0;
        const shift = f("where.Scalar", singular, new PyFloat(epsilon), new PyFloat(0));
        const regular = f("add.Tensor", lu, f("diag_embed.default", shift));
        return luSolve(b, regular, pivots, right, true, !byRows(b, b.meta(c.args.tensor("A"))));
      },
    }),
    lower: fallbackMany("aten._linalg_det.default", ["A"], ["A"]),
  },
  ...(["linalg_det", "det"] as const).map(name =>
    composed({
      name: `aten.${name}.default`,
      schema: name === "det" ? "det(Tensor self) -> Tensor" : "linalg_det(Tensor A) -> Tensor",
      python: name === "det" ? ["torch.det", "Tensor.det"] : ["torch.linalg.det"],
      ...(name === "det" ? {} : { printedAs: "torch._C._linalg.linalg_det" }),
      composite: (b, a) => {
        const x = a.tensor(name === "det" ? "self" : "A");
        return b.callMany("aten._linalg_det.default", [x])[0] ?? x;
      },
    }),
  ),
  {
    name: "aten._linalg_slogdet.default",
    schema: "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("A");
      square(m, t, "linalg.slogdet");
      const each_ = m.tensor(t.shape.slice(0, -2), t);
      return [each_, each_, ...factors(m, t)];
    },
    nonDifferentiable: [2, 3],
    derivative: each({
      A: (b, c) => {
        const grad = c.optGrad(1);
        if (grad === null) return null; // a sign does not change
        const [lu, pivots] = [c.result(2), c.result(3)];
        const right = scaledIdentity(b, grad, pivots);
        return luSolve(b, lu, pivots, right, true, !byRows(b, b.meta(c.args.tensor("A"))));
      },
    }),
    lower: fallbackMany("aten._linalg_slogdet.default", ["A"], ["A"]),
  },
  ...(["linalg_slogdet", "slogdet"] as const).map(name =>
    composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor ${name === "slogdet" ? "self" : "A"}) -> (Tensor sign, Tensor logabsdet)`,
      python: name === "slogdet" ? ["torch.slogdet", "Tensor.slogdet"] : ["torch.linalg.slogdet"],
      ...(name === "slogdet" ? {} : { printedAs: "torch._C._linalg.linalg_slogdet" }),
      composite: (b, a) => {
        const parts = b.callMany("aten._linalg_slogdet.default", [a.tensor(name === "slogdet" ? "self" : "A")]);
        return [at(parts, 0), at(parts, 1)];
      },
    }),
  ),
  composed({
    name: "aten.logdet.default",
    schema: "logdet(Tensor self) -> Tensor",
    python: ["torch.logdet", "Tensor.logdet"],
    composite: (b, a) => {
      const x = a.tensor("self");
      const [sign, logarithm] = b.callMany("aten._linalg_slogdet.default", [x]);
      const negative = b.call("aten.eq.Scalar", [sign ?? x, new PyFloat(-1)]);
      return b.call("aten.where.ScalarSelf", [negative, new PyFloat(Number.NaN), logarithm ?? x]);
    },
  }),
];

const exponentials: OpRecord[] = [
  {
    name: "aten.linalg_matrix_exp.default",
    schema: "linalg_matrix_exp(Tensor self) -> Tensor",
    python: ["torch.linalg.matrix_exp"],
    printedAs: "torch._C._linalg.linalg_matrix_exp",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("self");
      square(m, t, "linalg.matrix_exp");
      return m.tensor(t.shape, t);
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const x = c.args.tensor("self");
        const turned = adjoint(b, x);
        const top = f("cat.default", [turned, c.grad()], -1);
        const bottom = f("cat.default", [f("zeros_like.default", turned), turned], -1);
        const whole = f("linalg_matrix_exp.default", f("cat.default", [top, bottom], -2));
        const { shape } = b.meta(x);
        const n = at(shape, shape.length - 1);
        return f("narrow.default", f("narrow.default", whole, -2, 0, n), -1, n, n);
      },
    }),
    lower: fallback("aten.linalg_matrix_exp.default", ["self"], ["self"]),
  },
  composed({
    name: "aten.matrix_exp.default",
    schema: "matrix_exp(Tensor self) -> Tensor",
    python: ["torch.matrix_exp", "Tensor.matrix_exp"],
    composite: (b, a) => b.call("aten.linalg_matrix_exp.default", [a.tensor("self")]),
  }),
];

export const records: readonly OpRecord[] = [...systems, ...determinants, ...exponentials];
