// Linear algebra that Inductor leaves to ATen, batch by batch in float64. Half of LAPACK's conventions can be seen in the
// results and are kept: pivots count from 1, singular values descend, eigenvalues ascend.
import { read, write } from "../dense";
import { isContiguous, numel, type TensorView } from "../tensors";
import { argument, boolOf, isTensor, numberOf, optionalTensor, stringOf, tensorAt } from "./arguments";
import { broadcastTo } from "./matmul";
import * as mat from "./matrices";
import { manyResults, oneResult } from "./results";
import type { ExternContext, ExternFunction, ExternStep } from "./types";

type Matrix = mat.Matrix;

/** the matrices of a batch, its leading dims broadcast to `lead` */
function matrices(ctx: ExternContext, t: TensorView, lead = t.size.slice(0, -2)): Matrix[] {
  const [rows = 1, columns = 1] = t.size.slice(-2);
  const values = read(ctx.buffer, broadcastTo(t, [...lead, rows, columns]));
  return Array.from({ length: numel(lead) }, (_, b) => ({
    rows,
    columns,
    a: Float64Array.from({ length: rows * columns }, (_, i) => values[b * rows * columns + i] ?? 0),
  }));
}

/** all values of a batch of results, one after the other */
function put(ctx: ExternContext, out: TensorView | null | undefined, parts: readonly ArrayLike<number>[]): void {
  if (!out) return;
  const all = new Float64Array(numel(out.size));
  let next = 0;
  for (const p of parts) for (let i = 0; i < p.length; i++) all[next++] = p[i] ?? 0;
  write(ctx.buffer, out, all);
}
const putMatrices = (ctx: ExternContext, out: TensorView | null | undefined, ms: readonly Matrix[]): void =>
  put(
    ctx,
    out,
    ms.map(m => m.a),
  );

const clear = (ctx: ExternContext, t: TensorView | null | undefined): void => put(ctx, t, []);
const fromOne = (pivots: Int32Array): Int32Array => pivots.map(p => p + 1);
/** a batch of factorizations: both factors in one matrix, and the swaps counted from 1 */
function putFactors(
  ctx: ExternContext,
  factors: readonly mat.Lu[],
  lu: TensorView | null | undefined,
  pivots: TensorView | null | undefined,
): void {
  putMatrices(
    ctx,
    lu,
    factors.map(f => f.lu),
  );
  put(
    ctx,
    pivots,
    factors.map(f => fromOne(f.pivots)),
  );
}
const flag = (step: ExternStep, at: number, name: string, otherwise = false): boolean =>
  boolOf(argument(step, at, name), otherwise);

const solveEx: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([x, lu, pivots, info]) => {
    const [a, b] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1)];
    const left = flag(step, 2, "left", true);
    const factors = matrices(ctx, a).map(mat.luFactor);
    if (x) {
      // a batch of vectors counts as matrices of one column
      const vector = b.size.length === 1 || (b.size.length === a.size.length - 1 && x.size.length === b.size.length);
      const wide = vector ? { ...b, size: [...b.size, 1], stride: [...b.stride, 1] } : b;
      const lead = x.size.slice(0, vector ? -1 : -2);
      const of = lead.length === a.size.length - 2 ? factors : matrices(ctx, a, lead).map(mat.luFactor);
      const rhs = matrices(ctx, wide, lead);
      put(
        ctx,
        x,
        rhs.map((r, i) => solved(of[i] as mat.Lu, r, left)),
      );
    }
    putFactors(ctx, factors, lu, pivots);
    clear(ctx, info);
  });

/** A X = B, or X A = B as A' X' = B' */
function solved(f: mat.Lu, b: Matrix, left: boolean, adjoint = false): Float64Array {
  if (left) return mat.luSolve(f, b, adjoint).a;
  return mat.transposed(mat.luSolve(f, mat.transposed(b), !adjoint)).a;
}

const luSolve: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const lead = out.size.slice(0, -2);
    const lus = matrices(ctx, tensorAt(step, ctx, 0), lead);
    const p = tensorAt(step, ctx, 1);
    const n = p.size[p.size.length - 1] ?? 0;
    const pivots = read(ctx.buffer, broadcastTo(p, [...lead, n]));
    const rhs = matrices(ctx, tensorAt(step, ctx, 2), lead);
    const [left, adjoint] = [flag(step, 3, "left", true), flag(step, 4, "adjoint")];
    put(
      ctx,
      out,
      rhs.map((b, i) => {
        const own = Int32Array.from({ length: n }, (_, k) => (pivots[i * n + k] ?? 1) - 1);
        return solved({ lu: lus[i] as Matrix, pivots: own }, b, left, adjoint);
      }),
    );
  });

const determinant =
  (logarithm: boolean): ExternFunction =>
  (step, ctx) =>
    manyResults(step, ctx, outs => {
      const a = tensorAt(step, ctx, 0);
      // what lies by rows is factored as its transpose, and the gradient's formula counts on it
      const turned = isContiguous(a);
      const factors = matrices(ctx, a).map(m => mat.luFactor(turned ? mat.transposed(m) : m));
      const logs = factors.map(mat.logDeterminant);
      const [lu, pivots] = outs.slice(logarithm ? 2 : 1);
      if (logarithm) {
        put(ctx, outs[0], [logs.map(d => d.sign)]);
        put(ctx, outs[1], [logs.map(d => d.log)]);
      } else put(ctx, outs[0], [logs.map(d => d.sign * Math.exp(d.log))]);
      putFactors(ctx, factors, lu, pivots);
    });

const invEx: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([inverse, info]) => {
    const all = matrices(ctx, tensorAt(step, ctx, 0));
    putMatrices(
      ctx,
      inverse,
      all.map(m => mat.luSolve(mat.luFactor(m), mat.identity(m.rows))),
    );
    clear(ctx, info);
  });

const solveTriangular: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const lead = out.size.slice(0, -2);
    const [upper, unit] = [flag(step, 2, "upper"), flag(step, 4, "unitriangular")];
    const left = flag(step, 3, "left", true);
    const ts = matrices(ctx, tensorAt(step, ctx, 0), lead);
    putMatrices(
      ctx,
      out,
      matrices(ctx, tensorAt(step, ctx, 1), lead).map((b, i) => {
        const t = ts[i] as Matrix;
        if (left) return mat.triangularSolve(t, b, upper, unit);
        return mat.transposed(mat.triangularSolve(mat.transposed(t), mat.transposed(b), !upper, unit));
      }),
    );
  });

const lower = (m: Matrix, upper: boolean): Matrix => (upper ? mat.transposed(m) : m);

function choleskyOf(m: Matrix, upper: boolean): Matrix {
  return lower(mat.cholesky(lower(m, upper)), upper);
}

const choleskySolve: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const lead = out.size.slice(0, -2);
    const upper = flag(step, 2, "upper");
    const factors = matrices(ctx, tensorAt(step, ctx, 1), lead);
    putMatrices(
      ctx,
      out,
      matrices(ctx, tensorAt(step, ctx, 0), lead).map((b, i) => cholSolve(lower(factors[i] as Matrix, upper), b)),
    );
  });

const cholSolve = (l: Matrix, b: Matrix): Matrix =>
  mat.triangularSolve(mat.transposed(l), mat.triangularSolve(l, b, false, false), true, false);

const qr: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([q, r]) => {
    const mode = stringOf(argument(step, 1, "mode"), "reduced");
    const all = matrices(ctx, tensorAt(step, ctx, 0)).map(m => {
      const f = mat.householder(m);
      const k = mode === "complete" ? m.rows : Math.min(m.rows, m.columns);
      return {
        q: mat.build(m.rows, k, (i, j) => mat.at(f.q, i, j)),
        r: mat.build(k, m.columns, (i, j) => (i <= j ? mat.at(f.r, i, j) : 0)),
      };
    });
    if (mode !== "r") {
      putMatrices(
        ctx,
        q,
        all.map(f => f.q),
      );
    }
    putMatrices(
      ctx,
      r,
      all.map(f => f.r),
    );
  });

const eigh: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([values, vectors]) => {
    const upper = stringOf(argument(step, 1, "UPLO"), "L").toUpperCase() === "U";
    const all = matrices(ctx, tensorAt(step, ctx, 0)).map(m => {
      const entry = (i: number, j: number): number => (i >= j !== upper || i === j ? mat.at(m, i, j) : mat.at(m, j, i));
      return mat.symmetricEigen(mat.build(m.rows, m.rows, entry));
    });
    put(
      ctx,
      values,
      all.map(e => e.values),
    );
    if (vectors && numel(vectors.size) > 0) {
      putMatrices(
        ctx,
        vectors,
        all.map(e => e.vectors),
      );
    }
  });

const svd: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([u, s, vh]) => {
    const [full, vectors] = [flag(step, 1, "full_matrices"), flag(step, 2, "compute_uv", true)];
    const all = matrices(ctx, tensorAt(step, ctx, 0)).map(mat.svd);
    put(
      ctx,
      s,
      all.map(f => f.s),
    );
    if (!vectors) return;
    putMatrices(
      ctx,
      u,
      all.map(f => (full ? mat.completed(f.u) : f.u)),
    );
    putMatrices(
      ctx,
      vh,
      all.map(f => (full ? mat.transposed(mat.completed(mat.transposed(f.vh))) : f.vh)),
    );
  });

const pinv: ExternFunction = (step, ctx) =>
  oneResult(step, ctx, out => {
    const a = tensorAt(step, ctx, 0);
    const all = matrices(ctx, a);
    const tolerance = (name: "atol" | "rtol", at: number): ArrayLike<number> | number | null => {
      const t = optionalTensor(step, ctx, at, name);
      if (t) return read(ctx.buffer, broadcastTo(t, a.size.slice(0, -2)));
      const given = argument(step, at, name);
      return given === undefined || given.kind === "none" || isTensor(given) ? null : numberOf(ctx, given, 0);
    };
    const [atol, rtol] = [tolerance("atol", 1), tolerance("rtol", 2)];
    const value = (t: ArrayLike<number> | number | null, i: number): number =>
      t === null ? 0 : typeof t === "number" ? t : (t[i] ?? 0);
    const epsilon = a.dtype === "float64" ? 2 ** -52 : 2 ** -23;
    putMatrices(
      ctx,
      out,
      all.map((m, i) => {
        const f = mat.svd(m);
        const relative = rtol === null && value(atol, i) === 0 ? Math.max(m.rows, m.columns) * epsilon : value(rtol, i);
        const least = Math.max(value(atol, i), relative * (f.s[0] ?? 0));
        const scaledU = mat.build(f.u.columns, m.rows, (k, r) => {
          const s = f.s[k] ?? 0;
          return s > least ? mat.at(f.u, r, k) / s : 0;
        });
        return mat.product(mat.transposed(f.vh), scaledU);
      }),
    );
  });

/** by singular values, whatever the driver: where a matrix has full rank all of them agree */
const leastSquares: ExternFunction = (step, ctx) =>
  manyResults(step, ctx, ([solution, residuals, rank, singular]) => {
    const [a, b] = [tensorAt(step, ctx, 0), tensorAt(step, ctx, 1)];
    if (!solution) return;
    const vector = b.size.length < a.size.length;
    const wide = vector ? { ...b, size: [...b.size, 1], stride: [...b.stride, 1] } : b;
    const lead = solution.size.slice(0, vector ? -1 : -2);
    const factored = (all: Matrix[]): { m: Matrix; f: ReturnType<typeof mat.svd>; rank: number }[] =>
      all.map(m => {
        const f = mat.svd(m);
        const least = Math.max(m.rows, m.columns) * (a.dtype === "float64" ? 2 ** -52 : 2 ** -23) * (f.s[0] ?? 0);
        return { m, f, rank: [...f.s].filter(s => s > least).length };
      });
    const own = factored(matrices(ctx, a));
    const parts = lead.length === a.size.length - 2 ? own : factored(matrices(ctx, a, lead));
    const rights = matrices(ctx, wide, lead);
    const solved = parts.map(({ f, rank: kept }, i) => {
      const turned = mat.product(mat.transposed(f.u), rights[i] as Matrix);
      const scaled = mat.build(f.s.length, turned.columns, (k, j) =>
        k < kept ? mat.at(turned, k, j) / (f.s[k] ?? 1) : 0,
      );
      return mat.product(mat.transposed(f.vh), scaled);
    });
    const rest = (i: number): Float64Array => {
      const right = rights[i] as Matrix;
      const reached = mat.product((parts[i] as { m: Matrix }).m, solved[i] as Matrix);
      const of = (j: number): number =>
        Array.from({ length: right.rows }, (_, r) => (mat.at(right, r, j) - mat.at(reached, r, j)) ** 2).reduce(
          (s, x) => s + x,
          0,
        );
      return Float64Array.from({ length: right.columns }, (_, j) => of(j));
    };
    put(
      ctx,
      solution,
      solved.map(m => m.a),
    );
    const filled = (t: TensorView | null | undefined): boolean => t != null && numel(t.size) > 0;
    if (filled(residuals))
      put(
        ctx,
        residuals,
        solved.map((_, i) => rest(i)),
      );
    if (filled(rank)) put(ctx, rank, [own.map(p => p.rank)]);
    if (filled(singular))
      put(
        ctx,
        singular,
        own.map(p => p.f.s),
      );
  });

const matrixwise =
  (f: (m: Matrix, step: ExternStep) => Matrix): ExternFunction =>
  (step, ctx) =>
    oneResult(step, ctx, out =>
      putMatrices(
        ctx,
        out,
        matrices(ctx, tensorAt(step, ctx, 0)).map(m => f(m, step)),
      ),
    );

export const linalg: Readonly<Record<string, ExternFunction>> = {
  "aten._linalg_solve_ex": solveEx,
  "aten.linalg_lu_solve": luSolve,
  "aten._linalg_det": determinant(false),
  "aten._linalg_slogdet": determinant(true),
  "aten.linalg_inv_ex": invEx,
  "aten.linalg_solve_triangular": solveTriangular,
  "aten.linalg_cholesky_ex": (step, ctx) =>
    manyResults(step, ctx, ([l, info]) => {
      const upper = flag(step, 1, "upper");
      putMatrices(
        ctx,
        l,
        matrices(ctx, tensorAt(step, ctx, 0)).map(m => choleskyOf(m, upper)),
      );
      clear(ctx, info);
    }),
  "aten.cholesky": matrixwise((m, step) => choleskyOf(m, flag(step, 1, "upper"))),
  "aten.cholesky_inverse": matrixwise((m, step) => cholSolve(lower(m, flag(step, 1, "upper")), mat.identity(m.rows))),
  "aten.cholesky_solve": choleskySolve,
  "aten.linalg_matrix_exp": matrixwise(mat.exponential),
  "aten.linalg_qr": qr,
  "aten._linalg_eigh": eigh,
  "aten._linalg_svd": svd,
  "aten.linalg_pinv": pinv,
  "aten.linalg_lstsq": leastSquares,
};
