// Extern kernels against their definitions, written out plainly.
import { beforeAll, describe, expect, it } from "vitest";
import { type Held, numel } from "../tensors";
import { call, close, startMachine, tensor, values } from "../testing/extern_call";

beforeAll(startMachine);

function matmul(a: ArrayLike<number>, b: ArrayLike<number>, m: number, k: number, n: number): Float64Array {
  const c = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++)
      for (let q = 0; q < k; q++)
        c[i * n + j] = (c[i * n + j] as number) + (a[i * k + q] as number) * (b[q * n + j] as number);
  return c;
}

describe("matrix products", () => {
  it.each([
    [1, 1, 1],
    [6, 4, 8],
    [7, 5, 9],
    [48, 256, 256],
    [49, 257, 263],
    [3, 600, 1],
    [130, 33, 20],
  ])("of %i x %i x %i", (m, k, n) => {
    const [a, b] = [tensor([m, k], { k: 1 }), tensor([k, n], { k: 2 })];
    close(
      call("aten.mm.default", [a, b], [[[m, n], "float32"]])[0] as Float64Array,
      matmul(values(a), values(b), m, k, n),
    );
  });

  it("of transposed and half operands", () => {
    const a = tensor([20, 30], { k: 1, stride: [1, 20] });
    const b = tensor([30, 25], { k: 2, stride: [1, 30] });
    close(
      call("aten.mm.default", [a, b], [[[20, 25], "float32"]])[0] as Float64Array,
      matmul(values(a), values(b), 20, 30, 25),
    );
    for (const dtype of ["bfloat16", "float16", "float64"]) {
      const [x, y] = [tensor([20, 30], { k: 1, dtype }), tensor([30, 25], { k: 2, dtype, stride: [1, 30] })];
      close(
        call("aten.mm.default", [x, y], [[[20, 25], dtype]])[0] as Float64Array,
        matmul(values(x), values(y), 20, 30, 25),
        dtype === "bfloat16" ? 8e-3 : dtype === "float16" ? 1e-3 : 1e-6,
      );
    }
  });

  it("with a bias, alpha and beta", () => {
    const [x, a, b] = [tensor([25], { k: 3 }), tensor([20, 30], { k: 1 }), tensor([30, 25], { k: 2 })];
    const product = matmul(values(a), values(b), 20, 30, 25);
    for (const [alpha, beta] of [
      [1, 1],
      [0.5, 2],
      [1, 0],
      [-1, 1],
    ] as const) {
      const want = product.map((p, i) => alpha * p + beta * (values(x)[i % 25] as number));
      close(call("aten.addmm.default", [x, a, b], [[[20, 25], "float32"]], { alpha, beta })[0] as Float64Array, want);
    }
  });

  it("in batches", () => {
    const [a, b] = [tensor([3, 10, 12], { k: 1 }), tensor([3, 12, 9], { k: 2 })];
    const want = [0, 1, 2].flatMap(i => [
      ...matmul(values(a).subarray(i * 120), values(b).subarray(i * 108), 10, 12, 9),
    ]);
    close(call("aten.bmm.default", [a, b], [[[3, 10, 9], "float32"]])[0] as Float64Array, want);
  });
});

interface Conv {
  x: number[];
  w: number[];
  stride: number[];
  padding: number[];
  dilation: number[];
  transposed: boolean;
  groups: number;
}

/** calls f(x index, w index, y index) for every product of a convolution, and gives the output's size */
function eachProduct(c: Conv, f: (x: number, w: number, y: number) => void, outputPadding = 0): number[] {
  const dims = c.x.length - 2;
  const kernel = c.w.slice(2);
  const size = (d: number): number =>
    c.transposed
      ? ((c.x[d + 2] as number) - 1) * (c.stride[d] as number) -
        2 * (c.padding[d] as number) +
        (c.dilation[d] as number) * ((kernel[d] as number) - 1) +
        outputPadding +
        1
      : Math.floor(
          ((c.x[d + 2] as number) +
            2 * (c.padding[d] as number) -
            (c.dilation[d] as number) * ((kernel[d] as number) - 1) -
            1) /
            (c.stride[d] as number),
        ) + 1;
  const out = Array.from({ length: dims }, (_, d) => size(d));
  const channels = c.transposed ? (c.w[1] as number) * c.groups : (c.w[0] as number);
  const y = [c.x[0] as number, channels, ...out];
  const places = (s: number[]): number[][] =>
    s.reduce<number[][]>((all, n) => all.flatMap(p => Array.from({ length: n }, (_, i) => [...p, i])), [[]]);
  const flat = (i: number[], s: number[]): number => i.reduce((n, v, d) => n * (s[d] as number) + v, 0);
  const [outPer, inPer] = [channels / c.groups, (c.x[1] as number) / c.groups];
  for (let n = 0; n < (c.x[0] as number); n++) {
    for (let g = 0; g < c.groups; g++) {
      for (let o = 0; o < outPer; o++) {
        for (let i = 0; i < inPer; i++) {
          for (const k of places(kernel)) {
            for (const p of places(c.transposed ? c.x.slice(2) : out)) {
              // window position p of the image, element k
              const q = p.map(
                (v, d) =>
                  v * (c.stride[d] as number) - (c.padding[d] as number) + (k[d] as number) * (c.dilation[d] as number),
              );
              const image = c.transposed ? out : c.x.slice(2);
              if (q.some((v, d) => v < 0 || v >= (image[d] as number))) continue;
              const [xs, ys] = c.transposed ? [p, q] : [q, p];
              const wAt = c.transposed ? [g * inPer + i, o, ...k] : [g * outPer + o, i, ...k];
              f(flat([n, g * inPer + i, ...xs], c.x), flat(wAt, c.w), flat([n, g * outPer + o, ...ys], y));
            }
          }
        }
      }
    }
  }
  return y;
}

describe("convolutions", () => {
  const cases: Conv[] = [
    { x: [2, 3, 9], w: [4, 3, 3], stride: [1], padding: [1], dilation: [1], transposed: false, groups: 1 },
    {
      x: [2, 4, 8, 7],
      w: [6, 2, 3, 3],
      stride: [2, 1],
      padding: [1, 0],
      dilation: [1, 2],
      transposed: false,
      groups: 2,
    },
    {
      x: [1, 4, 5, 5],
      w: [4, 1, 3, 3],
      stride: [1, 1],
      padding: [1, 1],
      dilation: [1, 1],
      transposed: false,
      groups: 4,
    },
    {
      x: [1, 3, 4, 4],
      w: [5, 3, 1, 1],
      stride: [1, 1],
      padding: [0, 0],
      dilation: [1, 1],
      transposed: false,
      groups: 1,
    },
    {
      x: [1, 2, 4, 5, 4],
      w: [3, 2, 2, 3, 2],
      stride: [1, 2, 1],
      padding: [0, 1, 1],
      dilation: [1, 1, 1],
      transposed: false,
      groups: 1,
    },
    {
      x: [2, 4, 5, 4],
      w: [4, 3, 3, 2],
      stride: [2, 1],
      padding: [1, 0],
      dilation: [1, 1],
      transposed: true,
      groups: 1,
    },
    { x: [1, 4, 6], w: [4, 2, 3], stride: [3], padding: [1], dilation: [2], transposed: true, groups: 2 },
  ];

  it.each(cases)("of %o", c => {
    const [x, w] = [tensor(c.x, { k: 1 }), tensor(c.w, { k: 2 })];
    const size = eachProduct(c, () => undefined);
    const bias = tensor([size[1] as number], { k: 3 });
    const [xv, wv, bv] = [values(x), values(w), values(bias)];
    const places = numel(size.slice(2));
    const want = Float64Array.from(
      { length: numel(size) },
      (_, i) => bv[Math.floor(i / places) % (size[1] as number)] as number,
    );
    eachProduct(c, (i, k, o) => {
      want[o] = (want[o] as number) + (xv[i] as number) * (wv[k] as number);
    });
    const options = {
      stride: c.stride,
      padding: c.padding,
      dilation: c.dilation,
      transposed: c.transposed,
      output_padding: c.stride.map(() => 0),
      groups: c.groups,
    };
    close(call("aten.convolution.default", [x, w], [[size, "float32"]], { ...options, bias })[0] as Float64Array, want);
    // gradients: every product's other factor
    const dy = tensor(size, { k: 4 });
    const gv = values(dy);
    const [dx, dw] = [new Float64Array(numel(c.x)), new Float64Array(numel(c.w))];
    eachProduct(c, (i, k, o) => {
      dx[i] = (dx[i] as number) + (wv[k] as number) * (gv[o] as number);
      dw[k] = (dw[k] as number) + (xv[i] as number) * (gv[o] as number);
    });
    const db = new Float64Array(size[1] as number);
    gv.forEach((g, i) => {
      const ch = Math.floor(i / places) % (size[1] as number);
      db[ch] = (db[ch] as number) + g;
    });
    const args = [
      dy,
      x,
      w,
      [size[1] as number],
      c.stride,
      c.padding,
      c.dilation,
      c.transposed,
      c.stride.map(() => 0),
      c.groups,
      [true, true, true],
    ];
    const grads = call("aten.convolution_backward.default", args, [
      [c.x, "float32"],
      [c.w, "float32"],
      [[size[1] as number], "float32"],
    ]);
    close(grads[0] as Float64Array, dx);
    close(grads[1] as Float64Array, dw);
    close(grads[2] as Float64Array, db);
  });
});

describe("attention", () => {
  const [B, H, L, S, E, V] = [2, 3, 5, 7, 4, 6];
  const q = (): Held => tensor([B, H, L, E], { k: 1 });
  const k = (): Held => tensor([B, H, S, E], { k: 2 });
  const v = (): Held => tensor([B, H, S, V], { k: 3 });

  /** outputs, and the scalar sum(out * g) that its gradients are of */
  function plain(
    qv: Float64Array,
    kv: Float64Array,
    vv: Float64Array,
    bias: Float64Array | null,
    causal: boolean,
    scale: number,
  ) {
    const out = new Float64Array(B * H * L * V);
    const lse = new Float64Array(B * H * L);
    for (let h = 0; h < B * H; h++) {
      for (let i = 0; i < L; i++) {
        const s = Array.from({ length: S }, (_, j) => {
          if (causal && j > i) return Number.NEGATIVE_INFINITY;
          let dot = 0;
          for (let e = 0; e < E; e++) dot += (qv[(h * L + i) * E + e] as number) * (kv[(h * S + j) * E + e] as number);
          return dot * scale + (bias ? (bias[i * S + j] as number) : 0);
        });
        const max = Math.max(...s);
        const sum = s.reduce((a, x) => a + Math.exp(x - max), 0);
        lse[h * L + i] = max + Math.log(sum);
        for (let j = 0; j < S; j++)
          for (let e = 0; e < V; e++)
            out[(h * L + i) * V + e] =
              (out[(h * L + i) * V + e] as number) +
              (Math.exp((s[j] as number) - max) / sum) * (vv[(h * S + j) * V + e] as number);
      }
    }
    return { out, lse };
  }

  it.each([false, true])("weights values by softmax of scores, causal %s", causal => {
    const [qt, kt, vt] = [q(), k(), v()];
    const bias = tensor([1, 1, L, S], { k: 5 });
    const want = plain(values(qt), values(kt), values(vt), values(bias), causal, 0.3);
    const [out, lse] = call(
      "aten._scaled_dot_product_efficient_attention.default",
      [qt, kt, vt, bias, true, 0, causal],
      [[[B, H, L, V], "float32"], [[B, H, L], "float32"], null, null],
      { scale: 0.3 },
    );
    close(out as Float64Array, want.out);
    close(lse as Float64Array, want.lse);
  });

  it.each([false, true])("has the gradients of its definition, causal %s", causal => {
    const [qt, kt, vt] = [q(), k(), v()];
    const bias = tensor([1, 1, L, S], { k: 5 });
    const g = tensor([B, H, L, V], { k: 6 });
    const gv = values(g);
    const parts = [values(qt), values(kt), values(vt), values(bias)];
    const loss = (): number =>
      plain(
        parts[0] as Float64Array,
        parts[1] as Float64Array,
        parts[2] as Float64Array,
        parts[3] as Float64Array,
        causal,
        0.5,
      ).out.reduce((s, x, i) => s + x * (gv[i] as number), 0);
    const out = plain(
      parts[0] as Float64Array,
      parts[1] as Float64Array,
      parts[2] as Float64Array,
      parts[3] as Float64Array,
      causal,
      0.5,
    );
    const outT = tensor([B, H, L, V], { values: [...out.out] });
    const lseT = tensor([B, H, L], { values: [...out.lse] });
    const seed = tensor([], { dtype: "int64", values: [0] });
    const grads = call(
      "aten._scaled_dot_product_efficient_attention_backward.default",
      [g, qt, kt, vt, bias, outT, lseT, seed, seed, 0, [true, true, true, true], causal],
      [
        [[B, H, L, E], "float32"],
        [[B, H, S, E], "float32"],
        [[B, H, S, V], "float32"],
        [[1, 1, L, S], "float32"],
      ],
      { scale: 0.5 },
    );
    parts.forEach((p, n) => {
      for (const at of [0, 3, p.length - 1]) {
        const x = p[at] as number;
        const h = 1e-5;
        p[at] = x + h;
        const up = loss();
        p[at] = x - h;
        const down = loss();
        p[at] = x;
        expect((grads[n] as Float64Array)[at]).toBeCloseTo((up - down) / (2 * h), 4);
      }
    });
  });
});

describe("ordering", () => {
  const x = (): Held => tensor([2, 4, 3], { values: Array.from({ length: 24 }, (_, i) => (i * 7) % 11) });

  it("takes the largest along a dim, the first of equals", () => {
    const t = tensor([5], { values: [3, 9, 1, 9, 4] });
    expect(
      call(
        "aten.topk.default",
        [t, 3],
        [
          [[3], "float32"],
          [[3], "int64"],
        ],
      ),
    ).toEqual([Float64Array.of(9, 9, 4), Float64Array.of(1, 3, 4)]);
  });

  it("sorts along any dim with NaN last", () => {
    const [v, i] = call(
      "aten.sort.stable",
      [x()],
      [
        [[2, 4, 3], "float32"],
        [[2, 4, 3], "int64"],
      ],
      { stable: true, dim: 1, descending: true },
    );
    const all = values(x());
    for (let o = 0; o < 2; o++)
      for (let c = 0; c < 3; c++) {
        const line = [0, 1, 2, 3].map(r => all[(o * 4 + r) * 3 + c] as number);
        expect([0, 1, 2, 3].map(r => (v as Float64Array)[(o * 4 + r) * 3 + c])).toEqual(
          [...line].sort((a, b) => b - a),
        );
        for (let r = 0; r < 4; r++)
          expect(line[(i as Float64Array)[(o * 4 + r) * 3 + c] as number]).toBe(
            (v as Float64Array)[(o * 4 + r) * 3 + c],
          );
      }
    expect(
      call("aten.sort.default", [tensor([3], { values: [Number.NaN, 1, 0] })], [[[3], "float32"], null])[0],
    ).toEqual(Float64Array.of(0, 1, Number.NaN));
  });

  it("finds places in sorted boundaries", () => {
    const edges = tensor([4], { values: [1, 2, 2, 5] });
    const v = tensor([5], { values: [0, 2, 3, 5, 6] });
    expect(call("aten.searchsorted.Tensor", [edges, v], [[[5], "int64"]])[0]).toEqual(Float64Array.of(0, 1, 3, 3, 4));
    expect(call("aten.searchsorted.Tensor", [edges, v], [[[5], "int64"]], { right: true })[0]).toEqual(
      Float64Array.of(0, 3, 3, 4, 4),
    );
  });

  it("runs sums along a dim", () => {
    expect(
      call("aten.cumsum.default", [tensor([2, 3], { values: [1, 2, 3, 4, 5, 6] }), 1], [[[2, 3], "float32"]])[0],
    ).toEqual(Float64Array.of(1, 3, 6, 4, 9, 15));
  });
});

describe("indexing", () => {
  const table = (): Held => tensor([3, 4], { values: Array.from({ length: 12 }, (_, i) => i) });
  const ints = (v: number[], size = [v.length]): Held => tensor(size, { dtype: "int64", values: v });

  it("gathers pairs, rows and masks", () => {
    expect(call("aten.index.Tensor", [table(), [ints([0, 2]), ints([1, -1])]], [[[2], "float32"]])[0]).toEqual(
      Float64Array.of(1, 11),
    );
    expect(call("aten.index.Tensor", [table(), [null, ints([3, 0])]], [[[3, 2], "float32"]])[0]).toEqual(
      Float64Array.of(3, 0, 7, 4, 11, 8),
    );
    const mask = tensor([3], { dtype: "bool", values: [1, 0, 1] });
    expect(call("aten.index.Tensor", [table(), [mask]], [[[2, 4], "float32"]])[0]).toEqual(
      Float64Array.of(0, 1, 2, 3, 8, 9, 10, 11),
    );
  });

  it("puts values, and adds where indices meet", () => {
    const args = [table(), [ints([0, 0]), ints([1, 1])], tensor([2], { values: [10, 20] })];
    expect(call("aten.index_put.default", [...args, true], [[[3, 4], "float32"]])[0]?.[1]).toBe(31);
    expect(call("aten.index_put.default", [...args, false], [[[3, 4], "float32"]])[0]?.[1]).toBe(20);
  });

  it("says which index is out of bounds", () => {
    expect(() => call("aten.index.Tensor", [table(), [ints([3])]], [[[1, 4], "float32"]])).toThrow(
      "index 3 is out of bounds for a dimension of size 3",
    );
  });

  it("scatters with every reduction", () => {
    const self = (): Held => tensor([4], { values: [1, 2, 3, 4] });
    const src = tensor([3], { values: [10, 20, 30] });
    const at = ints([0, 0, 2]);
    const reduce = (how: string, includeSelf: boolean): number[] => [
      ...(call("aten.scatter_reduce.two", [self(), 0, at, src, how], [[[4], "float32"]], {
        include_self: includeSelf,
      })[0] as Float64Array),
    ];
    expect(reduce("sum", true)).toEqual([31, 2, 33, 4]);
    expect(reduce("sum", false)).toEqual([30, 2, 30, 4]);
    expect(reduce("prod", true)).toEqual([200, 2, 90, 4]);
    expect(reduce("amax", true)).toEqual([20, 2, 30, 4]);
    expect(reduce("amin", true)).toEqual([1, 2, 3, 4]);
    expect(reduce("mean", false)).toEqual([15, 2, 30, 4]);
  });
});

describe("pooling", () => {
  const x = (): Held => tensor([1, 1, 4, 4], { values: Array.from({ length: 16 }, (_, i) => i) });

  it("averages windows, padding counted or not", () => {
    expect(call("aten.avg_pool2d.default", [x(), [2, 2], [2, 2]], [[[1, 1, 2, 2], "float32"]])[0]).toEqual(
      Float64Array.of(2.5, 4.5, 10.5, 12.5),
    );
    const padded = (count: boolean): number =>
      call(
        "aten.avg_pool2d.default",
        [x(), [3, 3], [3, 3], [1, 1], false, count],
        [[[1, 1, 2, 2], "float32"]],
      )[0]?.[0] as number;
    expect(padded(false)).toBeCloseTo(2.5, 6);
    expect(padded(true)).toBeCloseTo(10 / 9, 6);
  });

  it("takes maxima and their places, and gives gradients back to them", () => {
    const [v, i] = call(
      "aten.max_pool2d_with_indices.default",
      [x(), [2, 2]],
      [
        [[1, 1, 2, 2], "float32"],
        [[1, 1, 2, 2], "int64"],
      ],
    );
    expect([...(v as Float64Array)]).toEqual([5, 7, 13, 15]);
    expect([...(i as Float64Array)]).toEqual([5, 7, 13, 15]);
    const g = tensor([1, 1, 2, 2], { values: [1, 2, 3, 4] });
    const at = tensor([1, 1, 2, 2], { dtype: "int64", values: [...(i as Float64Array)] });
    const back = call(
      "aten.max_pool2d_with_indices_backward.default",
      [g, x(), [2, 2], [2, 2], [0, 0], [1, 1], false, at],
      [[[1, 1, 4, 4], "float32"]],
    )[0] as Float64Array;
    expect([5, 7, 13, 15].map(p => back[p])).toEqual([1, 2, 3, 4]);
    expect(back.reduce((a, b) => a + b)).toBe(10);
  });

  it("interpolates between pixels", () => {
    const t = tensor([1, 1, 2, 2], { values: [0, 1, 2, 3] });
    const up = call(
      "aten.upsample_bilinear2d.default",
      [t, [4, 4], false],
      [[[1, 1, 4, 4], "float32"]],
    )[0] as Float64Array;
    expect([...up.slice(0, 4)]).toEqual([0, 0.25, 0.75, 1]);
    const corners = call(
      "aten.upsample_bilinear2d.default",
      [t, [3, 3], true],
      [[[1, 1, 3, 3], "float32"]],
    )[0] as Float64Array;
    expect([...corners]).toEqual([0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3]);
  });
});

describe("an operator that is not there", () => {
  it("is unsupported, by name", () => {
    expect(() => call("aten.no_such_thing.default", [], [])).toThrow("aten.no_such_thing.default");
  });
});
