// Extern kernels that few programs call, against their definitions.
import { beforeAll, describe, expect, it } from "vitest";
import { call, close, startMachine, tensor, values } from "../testing/extern_call";

beforeAll(startMachine);

describe("products with scales", () => {
  const [m, k, n] = [3, 5, 4];
  const a = (): ReturnType<typeof tensor> => tensor([m, k], { k: 1, dtype: "float8_e4m3fn" });
  const b = (): ReturnType<typeof tensor> => tensor([k, n], { k: 2, dtype: "float8_e4m3fn", stride: [1, k] });
  const product = (x: ArrayLike<number>, y: ArrayLike<number>, i: number, j: number): number => {
    let sum = 0;
    for (let q = 0; q < k; q++) sum += (x[i * k + q] as number) * (y[q * n + j] as number);
    return sum;
  };

  it("of whole tensors, with a bias", () => {
    const [x, y] = [a(), b()];
    const [one, two] = [tensor([], { values: [0.5] }), tensor([], { values: [3] })];
    const bias = tensor([n], { k: 3 });
    const [got] = call("aten._scaled_mm.default", [x, y, one, two, bias], [[[m, n], "float32"]]);
    const [p, q, r] = [values(x), values(y), values(bias)];
    close(
      got as Float64Array,
      Array.from({ length: m * n }, (_, e) => 1.5 * product(p, q, Math.floor(e / n), e % n) + (r[e % n] as number)),
    );
  });

  it("of rows and columns", () => {
    const [x, y] = [a(), b()];
    const [rows, columns] = [tensor([m, 1], { k: 4 }), tensor([1, n], { k: 5 })];
    const [got] = call("aten._scaled_mm.default", [x, y, rows, columns], [[[m, n], "float32"]]);
    const [p, q, r, c] = [values(x), values(y), values(rows), values(columns)];
    close(
      got as Float64Array,
      Array.from({ length: m * n }, (_, e) => {
        const [i, j] = [Math.floor(e / n), e % n];
        return (r[i] as number) * (c[j] as number) * product(p, q, i, j);
      }),
    );
  });

  it("of int8, exactly", () => {
    const x = tensor([2, 3], { dtype: "int8", values: [127, -128, 3, 4, 5, 6] });
    const y = tensor([3, 2], { dtype: "int8", values: [127, 1, -128, 2, 3, 3] });
    const [got] = call("aten._int_mm.default", [x, y], [[[2, 2], "int32"]]);
    expect([...(got as Float64Array)]).toEqual([127 * 127 + 128 * 128 + 9, 127 - 256 + 9, 508 - 640 + 18, 4 + 10 + 18]);
  });
});

describe("bags of embeddings", () => {
  it("give each sample its row times its bag's gradient", () => {
    const [grad, weight] = [tensor([2, 3], { k: 1 }), tensor([4, 3], { k: 2 })];
    const int = (xs: number[]): ReturnType<typeof tensor> => tensor([xs.length], { dtype: "int64", values: xs });
    const args = [grad, weight, int([3, 1, 0, 2]), int([0, 2]), int([0, 0, 1, 1]), 0, 1] as const;
    const [got] = call("aten._embedding_bag_per_sample_weights_backward.default", args, [[[4], "float32"]]);
    const [g, w] = [values(grad), values(weight)];
    const dot = (bag: number, row: number): number =>
      [0, 1, 2].reduce((s, j) => s + (g[bag * 3 + j] as number) * (w[row * 3 + j] as number), 0);
    close(got as Float64Array, [dot(0, 3), 0, dot(1, 0), dot(1, 2)]);
  });

  it("refuse a row that is not there", () => {
    const int = (xs: number[]): ReturnType<typeof tensor> => tensor([xs.length], { dtype: "int64", values: xs });
    const args = [tensor([1, 2]), tensor([4, 2]), int([4]), int([0]), int([0]), 0, -1] as const;
    expect(() => call("aten._embedding_bag_per_sample_weights_backward.default", args, [[[1], "float32"]])).toThrow(
      /4/,
    );
  });
});

describe("counted tensors", () => {
  it("are frequencies of a transform", () => {
    close(call("aten.fft_fftfreq.default", [5, 0.5], [[[5], "float32"]])[0] as Float64Array, [0, 0.4, 0.8, -0.8, -0.4]);
    close(call("aten.fft_fftfreq.default", [4, 1], [[[4], "float32"]])[0] as Float64Array, [0, 0.25, -0.5, -0.25]);
    close(call("aten.fft_rfftfreq.default", [5, 1], [[[3], "float32"]])[0] as Float64Array, [0, 0.2, 0.4]);
  });

  it("are triangular windows", () => {
    close(call("aten.bartlett_window.default", [4], [[[4], "float32"]])[0] as Float64Array, [0, 0.5, 1, 0.5]);
    const whole = call("aten.bartlett_window.periodic", [5, false], [[[5], "float32"]])[0] as Float64Array;
    close(whole, [0, 0.5, 1, 0.5, 0]);
  });

  it("are Kaiser windows", () => {
    // I0(5 sqrt(1 - x^2)) / I0(5) at x = -1, -1/2, 0, 1/2, 1, of the series of I0
    const i0 = (x: number): number => {
      let [sum, term] = [1, 1];
      for (let k = 1; k < 60; k++) {
        term *= (x / 2 / k) ** 2;
        sum += term;
      }
      return sum;
    };
    const side = i0(5 * Math.sqrt(0.75)) / i0(5);
    const whole = call("aten.kaiser_window.beta", [5, false, 5], [[[5], "float32"]])[0] as Float64Array;
    close(whole, [1 / i0(5), side, 1, side, 1 / i0(5)]);
    const periodic = call("aten.kaiser_window.default", [4], [[[4], "float32"]])[0] as Float64Array;
    const quarter = i0(12 * Math.sqrt(0.75)) / i0(12);
    close(periodic, [1 / i0(12), quarter, 1, quarter]);
    close(call("aten.kaiser_window.periodic", [1, true], [[[1], "float32"]])[0] as Float64Array, [1]);
  });

  it("are normal numbers of a mean and a deviation", () => {
    const [got] = call("aten.normal_functional.default", [tensor([4000]), 3, 0.5], [[[4000], "float32"]]);
    const xs = [...(got as Float64Array)];
    const mean = xs.reduce((s, x) => s + x, 0) / xs.length;
    expect(mean).toBeCloseTo(3, 1);
    expect(Math.sqrt(xs.reduce((s, x) => s + (x - mean) ** 2, 0) / xs.length)).toBeCloseTo(0.5, 1);
  });
});

describe("slices that are there once", () => {
  const x = (): ReturnType<typeof tensor> => tensor([3, 4], { values: [2, 1, 1, 2, 5, 3, 3, 5, 0, 7, 7, 0] });

  it("are sorted, with where each went and how often it was there", () => {
    const results = [
      [[3, 2], "float32"],
      [[4], "int64"],
      [[2], "int64"],
    ] as const;
    const got = call(
      "aten.unique_dim.default",
      [x(), 1, true, true, true],
      results.map(r => [[...r[0]], r[1]] as const),
    );
    expect(got.map(g => [...g])).toEqual([
      [1, 2, 3, 5, 7, 0],
      [1, 0, 0, 1],
      [2, 2],
    ]);
  });

  it("are joined only with their neighbours", () => {
    const got = call("aten.unique_consecutive.default", [x(), true, true, -1], [[[3, 3], "float32"], null, null]);
    expect(got.map(g => [...g])).toEqual([
      [2, 1, 2, 5, 3, 5, 0, 7, 0],
      [0, 1, 1, 2],
      [1, 2, 1],
    ]);
  });
});
