// Dense matrices in float64, small ones: factorizations in plain loops. In and out: row-major arrays. Promises: nothing is
// written to an argument. Sources: Golub and Van Loan, Matrix Computations (LU 3.4, Cholesky 4.2, Householder 5.2, Jacobi
// 8.5 and 8.6.3, matrix exponential 9.3).

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly a: Float64Array;
}

export const zeros = (rows: number, columns: number): Matrix => ({
  rows,
  columns,
  a: new Float64Array(rows * columns),
});

export function build(rows: number, columns: number, f: (i: number, j: number) => number): Matrix {
  const m = zeros(rows, columns);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) m.a[i * columns + j] = f(i, j);
  return m;
}

export const at = (m: Matrix, i: number, j: number): number => m.a[i * m.columns + j] ?? 0;
export const transposed = (m: Matrix): Matrix => build(m.columns, m.rows, (i, j) => at(m, j, i));
export const identity = (n: number): Matrix => build(n, n, (i, j) => (i === j ? 1 : 0));
export const scaled = (m: Matrix, s: number): Matrix => ({ ...m, a: m.a.map(x => x * s) });
export const sum = (x: Matrix, y: Matrix): Matrix => ({ ...x, a: x.a.map((v, i) => v + (y.a[i] ?? 0)) });

export function product(x: Matrix, y: Matrix): Matrix {
  return build(x.rows, y.columns, (i, j) => {
    let s = 0;
    for (let k = 0; k < x.columns; k++) s += at(x, i, k) * at(y, k, j);
    return s;
  });
}

export interface Lu {
  /** unit lower and upper factor in one matrix */
  readonly lu: Matrix;
  /** row that row i was swapped with, from 0 */
  readonly pivots: Int32Array;
}

export function luFactor(m: Matrix): Lu {
  const n = m.rows;
  const lu = { ...m, a: m.a.slice() };
  const pivots = new Int32Array(Math.min(n, m.columns));
  for (let k = 0; k < pivots.length; k++) {
    let p = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(at(lu, i, k)) > Math.abs(at(lu, p, k))) p = i;
    pivots[k] = p;
    swapRows(lu, k, p);
    for (let i = k + 1; i < n; i++) {
      const f = at(lu, i, k) / at(lu, k, k);
      lu.a[i * m.columns + k] = f;
      for (let j = k + 1; j < m.columns; j++) lu.a[i * m.columns + j] = at(lu, i, j) - f * at(lu, k, j);
    }
  }
  return { lu, pivots };
}

function swapRows(m: Matrix, i: number, j: number): void {
  if (i === j) return;
  for (let c = 0; c < m.columns; c++) {
    const t = at(m, i, c);
    m.a[i * m.columns + c] = at(m, j, c);
    m.a[j * m.columns + c] = t;
  }
}

/** sign and logarithm of the determinant's magnitude */
export function logDeterminant({ lu, pivots }: Lu): { sign: number; log: number } {
  let sign = 1;
  let log = 0;
  for (const [k, p] of pivots.entries()) {
    const d = at(lu, k, k);
    sign *= Math.sign(d) * (p === k ? 1 : -1);
    log += Math.log(Math.abs(d));
  }
  return { sign, log };
}

/** solves op(A) X = B */
export function luSolve({ lu, pivots }: Lu, b: Matrix, adjoint = false): Matrix {
  const x = { ...b, a: b.a.slice() };
  if (!adjoint) {
    for (const [k, p] of pivots.entries()) swapRows(x, k, p);
    return triangularSolve(lu, triangularSolve(lu, x, false, true), true, false);
  }
  const t = transposed(lu);
  const y = triangularSolve(t, triangularSolve(t, x, false, false), true, true);
  for (const [k, p] of [...pivots.entries()].reverse()) swapRows(y, k, p);
  return y;
}

/** solves T X = B by substitution; `unit`: the diagonal counts as ones */
export function triangularSolve(t: Matrix, b: Matrix, upper: boolean, unit: boolean): Matrix {
  const x = { ...b, a: b.a.slice() };
  const n = t.rows;
  for (let step = 0; step < n; step++) {
    const i = upper ? n - 1 - step : step;
    for (let c = 0; c < b.columns; c++) {
      let s = at(x, i, c);
      for (let k = upper ? i + 1 : 0; k < (upper ? n : i); k++) s -= at(t, i, k) * at(x, k, c);
      x.a[i * b.columns + c] = unit ? s : s / at(t, i, i);
    }
  }
  return x;
}

/** the lower factor of a symmetric positive definite matrix, of which the lower triangle is read */
export function cholesky(m: Matrix): Matrix {
  const l = zeros(m.rows, m.rows);
  for (let i = 0; i < m.rows; i++) {
    for (let j = 0; j <= i; j++) {
      let s = at(m, i, j);
      for (let k = 0; k < j; k++) s -= at(l, i, k) * at(l, j, k);
      l.a[i * m.rows + j] = i === j ? Math.sqrt(s) : s / at(l, j, j);
    }
  }
  return l;
}

/** Householder QR: Q of rows x rows, R of the matrix's own size */
export function householder(m: Matrix): { q: Matrix; r: Matrix } {
  let r: Matrix = { ...m, a: m.a.slice() };
  let q = identity(m.rows);
  for (let k = 0; k < Math.min(m.rows - 1, m.columns); k++) {
    let norm = 0;
    for (let i = k; i < m.rows; i++) norm = Math.hypot(norm, at(r, i, k));
    if (norm === 0) continue;
    const alpha = at(r, k, k) > 0 ? -norm : norm;
    const v = Float64Array.from({ length: m.rows }, (_, i) => (i < k ? 0 : at(r, i, k) - (i === k ? alpha : 0)));
    const vv = v.reduce((s, x) => s + x * x, 0);
    const reflector = build(m.rows, m.rows, (i, j) => (i === j ? 1 : 0) - (2 * (v[i] ?? 0) * (v[j] ?? 0)) / vv);
    r = product(reflector, r);
    q = product(q, reflector);
  }
  return { q, r };
}

const SWEEPS = 60;

/** eigenvalues, ascending, with eigenvectors as columns, of a symmetric matrix (cyclic Jacobi) */
export function symmetricEigen(m: Matrix): { values: Float64Array; vectors: Matrix } {
  const n = m.rows;
  const a = { ...m, a: m.a.slice() };
  const v = identity(n);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let off = 0;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) off += at(a, p, q) ** 2;
    if (off < 1e-300) break;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        if (at(a, p, q) === 0) continue;
        const tau = (at(a, q, q) - at(a, p, p)) / (2 * at(a, p, q));
        const t = (tau >= 0 ? 1 : -1) / (Math.abs(tau) + Math.hypot(1, tau));
        const c = 1 / Math.hypot(1, t);
        rotateColumns(a, p, q, c, t * c);
        rotateRows(a, p, q, c, t * c);
        rotateColumns(v, p, q, c, t * c);
      }
    }
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => at(a, i, i) - at(a, j, j));
  return {
    values: Float64Array.from(order, i => at(a, i, i)),
    vectors: build(n, n, (i, j) => at(v, i, order[j] ?? 0)),
  };
}

function rotateColumns(m: Matrix, p: number, q: number, c: number, s: number): void {
  for (let i = 0; i < m.rows; i++) {
    const [x, y] = [at(m, i, p), at(m, i, q)];
    m.a[i * m.columns + p] = c * x - s * y;
    m.a[i * m.columns + q] = s * x + c * y;
  }
}
function rotateRows(m: Matrix, p: number, q: number, c: number, s: number): void {
  for (let j = 0; j < m.columns; j++) {
    const [x, y] = [at(m, p, j), at(m, q, j)];
    m.a[p * m.columns + j] = c * x - s * y;
    m.a[q * m.columns + j] = s * x + c * y;
  }
}

export interface Svd {
  /** rows x k, k the smaller side */
  readonly u: Matrix;
  /** descending */
  readonly s: Float64Array;
  /** k x columns */
  readonly vh: Matrix;
}

/** one-sided Jacobi */
export function svd(m: Matrix): Svd {
  if (m.rows < m.columns) {
    const t = svd(transposed(m));
    return { u: transposed(t.vh), s: t.s, vh: transposed(t.u) };
  }
  const n = m.columns;
  const u = { ...m, a: m.a.slice() };
  const v = identity(n);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let turned = false;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        let [pp, qq, pq] = [0, 0, 0];
        for (let i = 0; i < m.rows; i++) {
          pp += at(u, i, p) ** 2;
          qq += at(u, i, q) ** 2;
          pq += at(u, i, p) * at(u, i, q);
        }
        if (Math.abs(pq) <= 1e-17 * Math.sqrt(pp * qq)) continue;
        turned = true;
        const tau = (qq - pp) / (2 * pq);
        const t = (tau >= 0 ? 1 : -1) / (Math.abs(tau) + Math.hypot(1, tau));
        const c = 1 / Math.hypot(1, t);
        rotateColumns(u, p, q, c, t * c);
        rotateColumns(v, p, q, c, t * c);
      }
    }
    if (!turned) break;
  }
  const norms = Array.from({ length: n }, (_, j) => {
    let s = 0;
    for (let i = 0; i < m.rows; i++) s = Math.hypot(s, at(u, i, j));
    return s;
  });
  const order = norms.map((_, i) => i).sort((i, j) => (norms[j] ?? 0) - (norms[i] ?? 0));
  return {
    u: build(m.rows, n, (i, j) => at(u, i, order[j] ?? 0) / (norms[order[j] ?? 0] || 1)),
    s: Float64Array.from(order, i => norms[i] ?? 0),
    vh: build(n, n, (i, j) => at(v, j, order[i] ?? 0)),
  };
}

/** orthonormal columns, completed to a square orthogonal matrix */
export function completed(u: Matrix): Matrix {
  const columns = Array.from({ length: u.columns }, (_, j) =>
    Float64Array.from({ length: u.rows }, (_, i) => at(u, i, j)),
  );
  for (let e = 0; e < u.rows && columns.length < u.rows; e++) {
    const v = Float64Array.from({ length: u.rows }, (_, i) => (i === e ? 1 : 0));
    for (const c of [...columns, ...columns]) {
      const dot = c.reduce((s, x, i) => s + x * (v[i] ?? 0), 0);
      for (let i = 0; i < v.length; i++) v[i] = (v[i] ?? 0) - dot * (c[i] ?? 0);
    }
    const norm = Math.hypot(...v);
    if (norm > 1e-6) columns.push(v.map(x => x / norm));
  }
  return build(u.rows, u.rows, (i, j) => columns[j]?.[i] ?? 0);
}

/** scaling and squaring of a Taylor series */
export function exponential(m: Matrix): Matrix {
  let norm = 0;
  for (const x of m.a) norm = Math.max(norm, Math.abs(x) * m.rows);
  const squarings = norm > 0.25 ? Math.ceil(Math.log2(norm / 0.25)) : 0;
  const x = scaled(m, 2 ** -squarings);
  let term = identity(m.rows);
  let total = term;
  for (let k = 1; k <= 14; k++) {
    term = scaled(product(term, x), 1 / k);
    total = sum(total, term);
  }
  for (let i = 0; i < squarings; i++) total = product(total, total);
  return total;
}
