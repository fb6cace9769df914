// Factorizations of matrices. The kernels are ATen's; the gradients are those of torch/csrc/autograd/FunctionsManual.cpp,
// which evaluates the right operand of an expression before the left one.
import { type DerivativeContext, type Dim, type GraphBuilder, type OpRecord, PyFloat } from "../types";
import { aten, each, fallback, fallbackMany } from "./helpers/define";
import { adjoint, columnMajor, square } from "./helpers/matrices";
import { at, composed } from "./helpers/shape";

const matmul = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.matmul.default", [x, y]);
const diagonal = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.diagonal.default", [x, 0, -2, -1]);
const sizeFromEnd = <T>(b: GraphBuilder<T>, x: T, i: number): Dim => {
  const { shape } = b.meta(x);
  return at(shape, shape.length - i);
};

function solveTriangular<T>(b: GraphBuilder<T>, a: T, x: T, upper: boolean, left = true): T {
  return b.call("aten.linalg_solve_triangular.default", [a, x], { upper, ...(left ? {} : { left }) });
}

/** differences of squares of singular values, or of eigenvalues, with `ones` on the diagonal */
function gaps<T>(b: GraphBuilder<T>, values: T, ones: number | PyFloat): T {
  const column = b.call("aten.unsqueeze.default", [values, -1]);
  const row = b.call("aten.unsqueeze.default", [values, -2]);
  const result = b.call("aten.sub.Tensor", [row, column]);
  b.call("aten.fill_.Scalar", [diagonal(b, result), ones]);
  return result;
}

const skew = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.sub.Tensor", [x, adjoint(b, x)]);

function choleskyGrad<T>(b: GraphBuilder<T>, c: DerivativeContext<T>): T {
  const f = aten(b);
  const upper = c.args.bool("upper");
  const saved = c.result(0);
  const factor = upper ? adjoint(b, saved) : saved;
  const grad = upper ? adjoint(b, c.grad()) : c.grad();
  const lower = f("tril.default", matmul(b, adjoint(b, factor), grad));
  const both = f("add.Tensor", lower, adjoint(b, f("tril.default", lower, -1)));
  const half = f("mul.Scalar", both, new PyFloat(0.5));
  return solveTriangular(b, factor, solveTriangular(b, adjoint(b, factor), half, true), false, false);
}

const cholesky: OpRecord[] = [
  {
    name: "aten.linalg_cholesky_ex.default",
    schema: "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    python: ["torch.linalg.cholesky_ex"],
    printedAs: "torch._C._linalg.linalg_cholesky_ex",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("self");
      square(m, t, "linalg.cholesky");
      return [columnMajor(m, t, t.shape), m.tensor(t.shape.slice(0, -2), { dtype: "int32", device: t.device })];
    },
    nonDifferentiable: [1],
    derivative: each({ self: choleskyGrad }),
    lower: fallbackMany("aten.linalg_cholesky_ex.default", ["self"], ["self"], ["upper", "check_errors"]),
  },
  composed({
    name: "aten.linalg_cholesky.default",
    schema: "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    python: ["torch.linalg.cholesky"],
    printedAs: "torch._C._linalg.linalg_cholesky",
    composite: (b, a) => {
      const x = a.tensor("self");
      return b.callMany("aten.linalg_cholesky_ex.default", [x], { upper: a.raw("upper") })[0] ?? x;
    },
  }),
  {
    name: "aten.cholesky.default",
    schema: "cholesky(Tensor self, bool upper=False) -> Tensor",
    python: ["torch.cholesky", "Tensor.cholesky"],
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("self");
      square(m, t, "cholesky");
      return columnMajor(m, t, t.shape);
    },
    derivative: each({ self: choleskyGrad }),
    lower: fallback("aten.cholesky.default", ["self"], ["self", "upper"]),
  },
  {
    name: "aten.cholesky_solve.default",
    schema: "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    python: ["torch.cholesky_solve", "Tensor.cholesky_solve"],
    tags: ["extern"],
    meta: (m, a) => {
      const [x, factor] = [a.tensor("self"), a.tensor("input2")];
      square(m, factor, "cholesky_solve");
      const batch = m.broadcast(x.shape.slice(0, -2), factor.shape.slice(0, -2));
      return columnMajor(m, x, [...batch, ...x.shape.slice(-2)]);
    },
    derivative: {
      kind: "joint",
      of: ["self", "input2"],
      grads: (b, c) => {
        const f = aten(b);
        const result = c.result();
        const factor = c.args.tensor("input2");
        const upper = c.args.bool("upper");
        const self = f("cholesky_solve.default", c.grad(), factor, upper);
        if (!c.needs("input2")) return { self, input2: null };
        const part = matmul(b, self, adjoint(b, result));
        const common = f("add.Tensor", part, adjoint(b, part));
        const input2 = f("neg.default", upper ? matmul(b, factor, common) : matmul(b, common, factor));
        return { self, input2 };
      },
    },
    lower: fallback("aten.cholesky_solve.default", ["self", "input2"], ["self", "input2", "upper"]),
  },
  {
    name: "aten.cholesky_inverse.default",
    schema: "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    python: ["torch.cholesky_inverse", "Tensor.cholesky_inverse"],
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("self");
      square(m, t, "cholesky_inverse");
      return columnMajor(m, t, t.shape);
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const inverse = c.result();
        const factor = c.args.tensor("self");
        const both = f("add.Tensor", c.grad(), adjoint(b, c.grad()));
        const common = matmul(b, inverse, matmul(b, both, inverse));
        return f("neg.default", c.args.bool("upper") ? matmul(b, factor, common) : matmul(b, common, factor));
      },
    }),
    lower: fallback("aten.cholesky_inverse.default", ["self"], ["self", "upper"]),
  },
];

function svdGrad<T>(b: GraphBuilder<T>, c: DerivativeContext<T>): T {
  const f = aten(b);
  const values = c.result(1);
  let left = c.result(0);
  let right = c.result(2);
  let [gradLeft, gradRight] = [c.optGrad(0), c.optGrad(2)];
  const gradValues = c.optGrad(1);
  const [m, n] = [sizeFromEnd(b, c.args.tensor("A"), 2), sizeFromEnd(b, c.args.tensor("A"), 1)];
  const k = b.le(m, n) ? m : n;
  const cut = (x: T, dim: number): T => f("narrow.default", x, dim, 0, k);
  if (c.args.bool("full_matrices")) {
    right = cut(right, -2);
    left = cut(left, -1);
    if (gradRight !== null) gradRight = cut(gradRight, -2);
    if (gradLeft !== null) gradLeft = cut(gradLeft, -1);
  }
  const column = (x: T): T => f("unsqueeze.default", x, -1);
  const row = (x: T): T => f("unsqueeze.default", x, -2);
  const tall = b.le(n, m);
  if (gradLeft === null && gradRight === null) {
    if (gradValues === null) return b.fail("svd: no gradient");
    if (tall) return matmul(b, left, f("mul.Tensor", column(gradValues), right));
    return matmul(b, f("mul.Tensor", left, row(gradValues)), right);
  }
  const leftPart = gradLeft === null ? null : skew(b, matmul(b, adjoint(b, left), gradLeft));
  const rightPart = gradRight === null ? null : skew(b, matmul(b, right, adjoint(b, gradRight)));
  const between = gaps(b, f("mul.Tensor", values, values), 1);
  let grad: T;
  if (leftPart !== null && rightPart !== null) {
    const second = f("mul.Tensor", column(values), rightPart);
    const first = f("mul.Tensor", leftPart, row(values));
    grad = f("div.Tensor", f("add.Tensor", first, second), between);
  } else if (leftPart !== null) {
    const along = row(values);
    grad = f("mul.Tensor", f("div.Tensor", leftPart, between), along);
  } else {
    const quotient = f("div.Tensor", rightPart as T, between);
    grad = f("mul.Tensor", column(values), quotient);
  }
  if (gradValues !== null) grad = f("add.Tensor", grad, f("diag_embed.default", gradValues));
  if (!b.eq(m, k) && gradLeft !== null) {
    const inside = matmul(b, left, grad);
    const scaled = f("div.Tensor", gradLeft, row(values));
    const projected = matmul(b, left, matmul(b, adjoint(b, left), scaled));
    return matmul(b, f("sub.Tensor", f("add.Tensor", inside, scaled), projected), right);
  }
  if (!b.eq(n, k) && gradRight !== null) {
    const inside = matmul(b, grad, right);
    const scaled = f("div.Tensor", gradRight, column(values));
    const projected = matmul(b, matmul(b, scaled, adjoint(b, right)), right);
    return matmul(b, left, f("sub.Tensor", f("add.Tensor", inside, scaled), projected));
  }
  return tall ? matmul(b, left, matmul(b, grad, right)) : matmul(b, matmul(b, left, grad), right);
}

const svd: OpRecord[] = [
  {
    name: "aten._linalg_svd.default",
    schema:
      "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("A");
      if (t.shape.length < 2) m.fail("linalg.svd: The input tensor A must have at least 2 dimensions.");
      const [batch, rows, columns] = [
        t.shape.slice(0, -2),
        at(t.shape, t.shape.length - 2),
        at(t.shape, t.shape.length - 1),
      ];
      const k = m.le(rows, columns) ? rows : columns;
      const values = m.tensor([...batch, k], t);
      if (!a.bool("compute_uv")) return [m.tensor([0], t), values, m.tensor([0], t)];
      const full = a.bool("full_matrices");
      const rightShape = [...batch, full ? columns : k, columns];
      return [
        columnMajor(m, t, [...batch, rows, full ? rows : k]),
        values,
        // cusolver leaves it by rows, LAPACK by columns
        t.device.type === "cuda" ? m.tensor(rightShape, t) : columnMajor(m, t, rightShape),
      ];
    },
    derivative: each({ A: svdGrad }),
    lower: fallbackMany("aten._linalg_svd.default", ["A"], ["A", "full_matrices", "compute_uv"], ["driver"]),
  },
  composed({
    name: "aten.linalg_svd.default",
    schema: "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    python: ["torch.linalg.svd"],
    printedAs: "torch._C._linalg.linalg_svd",
    composite: (b, a) => {
      return b.callMany("aten._linalg_svd.default", [a.tensor("A"), a.raw("full_matrices"), true], {
        driver: a.raw("driver"),
      });
    },
  }),
  composed({
    name: "aten.linalg_svdvals.default",
    schema: "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    python: ["torch.linalg.svdvals"],
    printedAs: "torch._C._linalg.linalg_svdvals",
    composite: (b, a) => {
      const x = a.tensor("A");
      const parts = b.callMany("aten._linalg_svd.default", [x, false, b.meta(x).requiresGrad], {
        driver: a.raw("driver"),
      });
      return parts[1] ?? x;
    },
  }),
  composed({
    name: "aten.svd.default",
    schema: "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    python: ["torch.svd", "Tensor.svd"],
    composite: (b, a) => {
      if (!a.bool("compute_uv")) return b.fail("torch.svd without singular vectors is not supported");
      const parts = b.callMany("aten._linalg_svd.default", [a.tensor("self"), !a.bool("some"), true]);
      return [at(parts, 0), at(parts, 1), adjoint(b, parts[2] ?? a.tensor("self"))];
    },
  }),
];

function qrGrad<T>(b: GraphBuilder<T>, c: DerivativeContext<T>): T {
  const f = aten(b);
  const [q, r] = [c.result(0), c.result(1)];
  const [gradQ, gradR] = [c.optGrad(0), c.optGrad(1)];
  const [m, n] = [sizeFromEnd(b, c.args.tensor("A"), 2), sizeFromEnd(b, c.args.tensor("A"), 1)];
  const mode = c.args.str("mode");
  if (mode === "r") return b.fail("The derivative of linalg.qr depends on Q, which is not computed when mode='r'.");
  const tall = b.le(n, m);
  if (mode === "complete" && !b.le(m, n)) {
    return b.fail("The QR decomposition is not differentiable when mode='complete' and nrows > ncols");
  }
  let grad: T;
  if (gradQ === null) grad = matmul(b, gradR ?? c.grad(), adjoint(b, r));
  else {
    const first = matmul(b, adjoint(b, q), gradQ);
    grad = gradR === null ? f("neg.default", first) : f("sub.Tensor", matmul(b, gradR, adjoint(b, r)), first);
  }
  if (tall) {
    const upper = f("triu.default", grad);
    const symmetric = f("add.Tensor", upper, adjoint(b, upper));
    b.call("aten.mul_.Scalar", [diagonal(b, symmetric), new PyFloat(0.5)]);
    grad = matmul(b, q, symmetric);
    if (gradQ !== null) grad = f("add.Tensor", grad, gradQ);
    return solveTriangular(b, adjoint(b, r), grad, false, false);
  }
  const turned = f("neg.default", grad);
  const lower = f("tril.default", skew(b, turned));
  const inside = matmul(b, q, lower);
  const solved = solveTriangular(b, adjoint(b, f("narrow.default", r, -1, 0, m)), inside, false, false);
  const shape = [...b.meta(r).shape.slice(0, -1), b.sub(n, m)];
  const zeros = b.call("aten.new_zeros.default", [solved, shape]);
  const padded = f("cat.default", [solved, zeros], -1);
  return gradR === null ? padded : f("add.Tensor", padded, matmul(b, q, gradR));
}

const qr: OpRecord[] = [
  {
    name: "aten.linalg_qr.default",
    schema: "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    python: ["torch.linalg.qr"],
    printedAs: "torch._C._linalg.linalg_qr",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("A");
      const mode = a.str("mode");
      if (!["reduced", "complete", "r"].includes(mode)) {
        m.fail(`qr received unrecognized mode '${mode}' but expected one of 'reduced' (default), 'r', or 'complete'`);
      }
      const [batch, rows, columns] = [
        t.shape.slice(0, -2),
        at(t.shape, t.shape.length - 2),
        at(t.shape, t.shape.length - 1),
      ];
      const k = mode === "complete" || m.le(rows, columns) ? rows : columns;
      const inner = mode === "complete" ? rows : k;
      const q = mode === "r" ? m.tensor([0], t) : columnMajor(m, t, [...batch, rows, inner]);
      return [q, columnMajor(m, t, [...batch, inner, columns])];
    },
    derivative: each({ A: qrGrad }),
    lower: fallbackMany("aten.linalg_qr.default", ["A"], ["A", "mode"]),
  },
  composed({
    name: "aten.qr.default",
    schema: "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    python: ["torch.qr", "Tensor.qr"],
    composite: (b, a) =>
      b.callMany("aten.linalg_qr.default", [a.tensor("self"), a.bool("some") ? "reduced" : "complete"]),
  }),
];

function eighGrad<T>(b: GraphBuilder<T>, c: DerivativeContext<T>): T {
  const f = aten(b);
  const [values, vectors] = [c.result(0), c.result(1)];
  const [gradValues, gradVectors] = [c.optGrad(0), c.optGrad(1)];
  const turned = adjoint(b, vectors);
  if (gradVectors === null) {
    return matmul(b, f("mul.Tensor", vectors, f("unsqueeze.default", gradValues ?? c.grad(), -2)), turned);
  }
  const part = f("mul.Scalar", skew(b, matmul(b, turned, gradVectors)), new PyFloat(0.5));
  let inner = f("div.Tensor", part, gaps(b, values, new PyFloat(1)));
  if (gradValues !== null) inner = f("diagonal_scatter.default", inner, gradValues, 0, -2, -1);
  return matmul(b, vectors, matmul(b, inner, adjoint(b, vectors)));
}

const eigen: OpRecord[] = [
  {
    name: "aten._linalg_eigh.default",
    schema: "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("A");
      square(m, t, "linalg.eigh");
      const vectors = a.bool("compute_v") ? columnMajor(m, t, t.shape) : m.tensor([0], t);
      return [m.tensor(t.shape.slice(0, -1), t), vectors];
    },
    derivative: each({ A: eighGrad }),
    lower: fallbackMany("aten._linalg_eigh.default", ["A"], ["A", "UPLO", "compute_v"]),
  },
  composed({
    name: "aten.linalg_eigh.default",
    schema: "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    python: ["torch.linalg.eigh"],
    printedAs: "torch._C._linalg.linalg_eigh",
    composite: (b, a) => b.callMany("aten._linalg_eigh.default", [a.tensor("self"), a.raw("UPLO"), true]),
  }),
  composed({
    name: "aten.linalg_eigvalsh.default",
    schema: "linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor",
    python: ["torch.linalg.eigvalsh"],
    printedAs: "torch._C._linalg.linalg_eigvalsh",
    composite: (b, a) => {
      const x = a.tensor("self");
      return b.callMany("aten._linalg_eigh.default", [x, a.raw("UPLO"), b.meta(x).requiresGrad])[0] ?? x;
    },
  }),
];

export const records: readonly OpRecord[] = [...cholesky, ...svd, ...qr, ...eigen];
