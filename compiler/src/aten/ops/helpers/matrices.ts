// What records of linear algebra share: layouts of matrices as LAPACK leaves them, checks, transposes.
import type { Dim, GraphBuilder, MetaBuilder, TensorMeta } from "../../types";
import { at } from "./shape";

/** matrices stored by columns, as LAPACK leaves them */
export function columnMajor(m: MetaBuilder, t: TensorMeta, shape: readonly Dim[]): TensorMeta {
  const turned = [...shape.slice(0, -2), at(shape, shape.length - 1), at(shape, shape.length - 2)];
  const dense = m.contiguous(turned);
  const n = dense.length;
  return m.tensor(shape, t, [...dense.slice(0, -2), at(dense, n - 1), at(dense, n - 2)]);
}

/** whether the right-hand side is a batch of vectors (linalg_solve_is_vector_rhs) */
export function isVector(m: GraphBuilder<unknown>, matrix: TensorMeta, right: TensorMeta): boolean {
  const batch = matrix.shape.slice(0, -1);
  return (
    right.shape.length === 1 ||
    (right.shape.length === batch.length && right.shape.every((s, i) => m.eq(s, at(batch, i))))
  );
}

export function square(m: MetaBuilder, t: TensorMeta, name: string): void {
  const n = t.shape.length;
  if (n < 2) m.fail(`${name}: The input tensor A must have at least 2 dimensions.`);
  if (!m.eq(at(t.shape, n - 1), at(t.shape, n - 2))) {
    m.fail(
      `${name}: A must be batches of square matrices, but they are ${m.hint(at(t.shape, n - 2))} by ${m.hint(at(t.shape, n - 1))} matrices`,
    );
  }
}

/** conjugate transpose of the matrices */
export function adjoint<T>(b: GraphBuilder<T>, x: T): T {
  return b.call("aten.mH.default", [x]);
}
