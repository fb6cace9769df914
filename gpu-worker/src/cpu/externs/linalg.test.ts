// Factorizations, lists, cells and resampling against what defines them.
import { beforeAll, describe, expect, it } from "vitest";
import type { Held } from "../tensors";
import { call, close, noise, startMachine, tensor, values } from "../testing/extern_call";
import { at, build, exponential, identity, luFactor, luSolve, type Matrix, product, svd, transposed } from "./matrices";
import { erf, erfc } from "./special";

beforeAll(startMachine);

const F64 = "float64";
const random = (rows: number, columns: number, k = 0): Matrix =>
  build(rows, columns, (i, j) => noise(i * columns + j, k));
const asMatrix = (a: ArrayLike<number>, rows: number, columns: number): Matrix =>
  build(rows, columns, (i, j) => a[i * columns + j] ?? Number.NaN);
const held = (m: Matrix): Held => tensor([m.rows, m.columns], { dtype: F64, values: [...m.a] });

describe("matrices", () => {
  it("solve with their factors, and with the adjoint of them", () => {
    const [a, b] = [random(5, 5), random(5, 2, 1)];
    close(product(a, luSolve(luFactor(a), b)).a, b.a, 1e-12);
    close(product(transposed(a), luSolve(luFactor(a), b, true)).a, b.a, 1e-12);
  });

  it.each([
    [5, 3],
    [3, 5],
    [4, 4],
  ])("of %i by %i have singular values that give them back, descending", (rows, columns) => {
    const a = random(rows, columns);
    const { u, s, vh } = svd(a);
    const diagonal = build(s.length, s.length, (i, j) => (i === j ? (s[i] ?? 0) : 0));
    close(product(product(u, diagonal), vh).a, a.a, 1e-12);
    close(product(transposed(u), u).a, identity(s.length).a, 1e-12);
    expect([...s]).toEqual([...s].sort((x, y) => y - x));
  });

  it("have an exponential whose inverse is that of the negative", () => {
    const a = random(4, 4);
    const negative = build(4, 4, (i, j) => -at(a, i, j));
    close(product(exponential(a), exponential(negative)).a, identity(4).a, 1e-12);
  });
});

describe("linear algebra", () => {
  const a = random(4, 4);
  const spd = build(4, 4, (i, j) => at(product(a, transposed(a)), i, j) + (i === j ? 1 : 0));

  it("solves systems from both sides, alone and by factors that another call gave", () => {
    const b = random(4, 2, 1);
    const [x, lu, pivots] = call(
      "aten._linalg_solve_ex.default",
      [held(a), held(b)],
      [
        [[4, 2], F64],
        [[4, 4], F64],
        [[4], "int32"],
        [[], "int32"],
      ],
    );
    close(product(a, asMatrix(x ?? [], 4, 2)).a, b.a, 1e-12);
    const factors = [
      tensor([4, 4], { dtype: F64, values: [...(lu ?? [])] }),
      tensor([4], { dtype: "int32", values: [...(pivots ?? [])] }),
    ];
    const [y] = call("aten.linalg_lu_solve.default", [...factors, held(b)], [[[4, 2], F64]]);
    close(y ?? [], x ?? [], 1e-12);
    const [z] = call("aten.linalg_lu_solve.default", [...factors, held(transposed(b))], [[[2, 4], F64]], {
      left: false,
      adjoint: true,
    });
    close(product(asMatrix(z ?? [], 2, 4), transposed(a)).a, transposed(b).a, 1e-12);
  });

  it("has determinants whose logarithm agrees with them", () => {
    const results = [[[], F64] as const, [[4, 4], F64] as const, [[4], "int32"] as const] as [number[], string][];
    const [det] = call("aten._linalg_det.default", [held(a)], results);
    const [sign, log] = call("aten._linalg_slogdet.default", [held(a)], [[[], F64], ...results]);
    close([(sign?.[0] ?? 0) * Math.exp(log?.[0] ?? 0)], det ?? [], 1e-12);
    const minor = (m: Matrix): number =>
      m.rows === 1
        ? at(m, 0, 0)
        : Array.from({ length: m.rows }, (_, j) => {
            const rest = build(m.rows - 1, m.rows - 1, (r, c) => at(m, r + 1, c < j ? c : c + 1));
            return (j % 2 ? -1 : 1) * at(m, 0, j) * minor(rest);
          }).reduce((s, x) => s + x, 0);
    close(det ?? [], [minor(a)], 1e-12);
  });

  it("factors symmetric matrices: Cholesky's way and by eigenvalues", () => {
    const [l] = call(
      "aten.linalg_cholesky_ex.default",
      [held(spd)],
      [
        [[4, 4], F64],
        [[], "int32"],
      ],
    );
    const lower = asMatrix(l ?? [], 4, 4);
    close(product(lower, transposed(lower)).a, spd.a, 1e-12);
    const [inverse] = call("aten.cholesky_inverse.default", [held(lower)], [[[4, 4], F64]]);
    close(product(asMatrix(inverse ?? [], 4, 4), spd).a, identity(4).a, 1e-11);
    const [w, v] = call(
      "aten._linalg_eigh.default",
      [held(spd)],
      [
        [[4], F64],
        [[4, 4], F64],
      ],
    );
    const vectors = asMatrix(v ?? [], 4, 4);
    const scaledVectors = build(4, 4, (i, j) => at(vectors, i, j) * (w?.[j] ?? 0));
    close(product(scaledVectors, transposed(vectors)).a, spd.a, 1e-12);
  });

  it("has a pseudo-inverse that is one, and Q R that is the matrix", () => {
    const tall = random(5, 3);
    const [p] = call("aten.linalg_pinv.atol_rtol_tensor", [held(tall)], [[[3, 5], F64]]);
    close(product(asMatrix(p ?? [], 3, 5), tall).a, identity(3).a, 1e-11);
    const [q, r] = call(
      "aten.linalg_qr.default",
      [held(tall), "reduced"],
      [
        [[5, 3], F64],
        [[3, 3], F64],
      ],
    );
    close(product(asMatrix(q ?? [], 5, 3), asMatrix(r ?? [], 3, 3)).a, tall.a, 1e-12);
  });

  it("has least squares that leave nothing of the columns, and says what they leave", () => {
    const [tall, b] = [random(5, 3), random(5, 2, 1)];
    const results = [[[3, 2], F64] as const, [[2], F64] as const, [[0], "int64"] as const, [[0], F64] as const];
    const [x, left] = call(
      "aten.linalg_lstsq.default",
      [held(tall), held(b), null],
      results as unknown as [number[], string][],
    );
    const reached = product(tall, asMatrix(x ?? [], 3, 2));
    const rest = build(5, 2, (i, j) => at(b, i, j) - at(reached, i, j));
    close(product(transposed(tall), reached).a, product(transposed(tall), b).a, 1e-12);
    close(
      left ?? [],
      [0, 1].map(j => [0, 1, 2, 3, 4].reduce((s, i) => s + at(rest, i, j) ** 2, 0)),
      1e-12,
    );
  });
});

it("erf and erfc are precise on both sides of their switch", () => {
  // Abramowitz and Stegun, tables 7.1 and 7.3
  close([erf(0.5), erf(1.98), erf(2.5)], [0.5204998778, 0.9948920004, 0.999593048], 1e-9);
  expect(erf(-2.5)).toBe(-erf(2.5));
  close([erfc(3) * 1e5], [2.209049699858544], 1e-12);
});

describe("lists", () => {
  it("take a number, a list of numbers or a list of tensors as second operand", () => {
    const [x, y] = [tensor([3], { k: 1 }), tensor([2, 2], { k: 2 })];
    const results = [[[3], "float32"] as const, [[2, 2], "float32"] as const] as [number[], string][];
    const plus = (s: number[]): number[][] => [x, y].map((t, i) => [...values(t)].map(v => v + (s[i] ?? 0)));
    const agree = (got: readonly Float64Array[], want: readonly number[][]): void => {
      for (const [i, w] of want.entries()) close(got[i] ?? [], w);
    };
    agree(call("aten._foreach_add.Scalar", [[x, y], 2], results), plus([2, 2]));
    agree(
      call(
        "aten._foreach_add.ScalarList",
        [
          [x, y],
          [2, 3],
        ],
        results,
      ),
      plus([2, 3]),
    );
    const squares = [x, y].map(t => [...values(t)].map(v => v * v));
    agree(
      call(
        "aten._foreach_mul.List",
        [
          [x, y],
          [x, y],
        ],
        results,
      ),
      squares,
    );
    const [n] = call("aten._foreach_norm.Scalar", [[x], 2], [[[], "float32"]]);
    close(n ?? [], [Math.hypot(...values(x))]);
  });
});

describe("sampling", () => {
  it("reads pixels where the grid stands on them", () => {
    const image = tensor([1, 1, 2, 3], { values: [1, 2, 3, 4, 5, 6] });
    const grid = tensor([1, 1, 3, 2], { values: [-1, -1, 1, 1, 0, 0] });
    const [out] = call("aten.grid_sampler_2d.default", [image, grid, 0, 0, true], [[[1, 1, 1, 3], "float32"]]);
    close(out ?? [], [1, 6, 3.5]);
  });

  it("keeps the mean when it halves an image with antialiasing", () => {
    const image = tensor([1, 1, 8, 8], {});
    const [out] = call(
      "aten._upsample_bilinear2d_aa.default",
      [image, [1, 1], false, null, null],
      [[[1, 1, 1, 1], "float32"]],
    );
    // one output pixel: a triangle over the whole image
    const w = Array.from({ length: 8 }, (_, i) => 1 - Math.abs((i + 0.5 - 4) / 8));
    const total = w.reduce((s, x) => s + x, 0);
    const v = values(image);
    const want = w.reduce((s, r, i) => s + w.reduce((t, c, j) => t + r * c * (v[i * 8 + j] ?? 0), 0), 0) / total ** 2;
    close(out ?? [], [want]);
  });
});
