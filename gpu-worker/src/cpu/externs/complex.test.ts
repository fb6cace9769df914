// Complex numbers, against their definitions.
import { beforeAll, describe, expect, it } from "vitest";
import { type Held, inParts } from "../tensors";
import { call, close, startMachine, tensor, values } from "../testing/extern_call";

beforeAll(startMachine);

type Pair = readonly [number, number];

/** a complex tensor of these parts, or of random ones */
function complex(size: readonly number[], parts?: readonly number[]): Held {
  const real = tensor([...size, 2], parts ? { values: [...parts] } : { k: 7 });
  const stride = real.view.stride.slice(0, -1).map(s => s / 2);
  return { base: real.base, view: { ...real.view, size, stride, dtype: "complex64", itemSize: 8 } };
}
const pairsOf = (xs: ArrayLike<number>): Pair[] =>
  Array.from({ length: xs.length / 2 }, (_, i) => [xs[2 * i] as number, xs[2 * i + 1] as number] as const);
const numbers = (z: Held): Pair[] => pairsOf(values({ ...z, view: inParts(z.view) }));
const times = ([a, b]: Pair, [c, d]: Pair): Pair => [a * c - b * d, a * d + b * c];
const plus = (xs: readonly Pair[]): Pair => [xs.reduce((s, x) => s + x[0], 0), xs.reduce((s, x) => s + x[1], 0)];

/** the parts of the only result */
const parts = (op: string, args: Parameters<typeof call>[1], size: readonly number[]): Float64Array =>
  call(op, args, [[[...size], "complex64"]])[0] as Float64Array;

const Z = [0.5, -1.25, -2, 0.75, 0.1, 3, -0.6, -0.2];

describe("complex functions", () => {
  /** sum of z^k / k! */
  const series = (z: Pair, keep: (k: number) => number): Pair => {
    let [power, sum]: [Pair, Pair] = [
      [1, 0],
      [keep(0), 0],
    ];
    for (let k = 1; k < 40; k++) {
      power = times(power, [z[0] / k, z[1] / k]);
      sum = [sum[0] + keep(k) * power[0], sum[1] + keep(k) * power[1]];
    }
    return sum;
  };
  const SERIES: readonly [string, (k: number) => number][] = [
    ["exp", () => 1],
    ["sin", k => [0, 1, 0, -1][k % 4] ?? 0],
    ["cos", k => [1, 0, -1, 0][k % 4] ?? 0],
    ["sinh", k => k % 2],
    ["cosh", k => 1 - (k % 2)],
  ];

  it.each(SERIES)("%s is its series", (name, keep) => {
    const got = parts(`aten.${name}.default`, [complex([4], Z)], [4]);
    close(
      got,
      pairsOf(Z).flatMap(z => series(z, keep)),
    );
  });

  it("log, sqrt, rsqrt and powers are inverses of products", () => {
    const z = complex([4], Z);
    const log = parts("aten.log.default", [z], [4]);
    close(parts("aten.exp.default", [complex([4], [...log])], [4]), Z);
    const root = pairsOf(parts("aten.sqrt.default", [z], [4]));
    close(
      root.flatMap(r => times(r, r)),
      Z,
    );
    for (const [re] of root) expect(re).toBeGreaterThanOrEqual(0);
    const inverse = pairsOf(parts("aten.rsqrt.default", [z], [4]));
    close(
      inverse.flatMap((r, i) => times(r, root[i] as Pair)),
      [1, 0, 1, 0, 1, 0, 1, 0],
    );
    close(
      parts("aten.pow.Tensor_Scalar", [z, 3], [4]),
      pairsOf(Z).flatMap(x => times(x, times(x, x))),
    );
    close(parts("aten.pow.Tensor_Scalar", [z, 0.5], [4]), root.flat());
  });

  it("tan and tanh are quotients", () => {
    for (const [t, s, c] of [
      ["tan", "sin", "cos"],
      ["tanh", "sinh", "cosh"],
    ] as const) {
      const [q, n, d] = [t, s, c].map(name => pairsOf(parts(`aten.${name}.default`, [complex([4], Z)], [4])));
      close(
        (q as Pair[]).flatMap((x, i) => times(x, d?.[i] as Pair)),
        (n as Pair[]).flat(),
      );
    }
    close(parts("aten.tanh.default", [complex([1], [400, 1])], [1]), [1, 0]);
  });
});

describe("complex reductions and scans", () => {
  it("sum, average and multiply along dims", () => {
    const z = complex([3, 4]);
    const x = numbers(z);
    const column = (j: number): Pair[] => [0, 1, 2].map(i => x[4 * i + j] as Pair);
    const columns = [0, 1, 2, 3].map(column);
    close(parts("aten.sum.dim_IntList", [z, [0]], [4]), columns.flatMap(plus));
    close(parts("aten.sum.default", [z], []), plus(x));
    close(
      parts("aten.mean.dim", [z, [0]], [4]),
      columns.flatMap(c => plus(c).map(s => s / 3)),
    );
    close(
      parts("aten.prod.dim_int", [z, 0], [4]),
      columns.flatMap(c => c.reduce(times)),
    );
    close(
      parts("aten.cumsum.default", [z, -1], [3, 4]),
      x.flatMap((_, i) => plus(x.slice(i - (i % 4), i + 1))),
    );
  });
});

describe("complex views", () => {
  it("move, turn and join elements", () => {
    const [z, w] = [complex([2, 3]), complex([1, 3], [1, 2, 3, 4, 5, 6])];
    const x = numbers(z);
    close(
      parts("prims.rev.default", [z, [1]], [2, 3]),
      [2, 1, 0, 5, 4, 3].flatMap(i => x[i] as Pair),
    );
    close(parts("aten.cat.default", [[z, w], 0], [3, 3]), [...x.flat(), 1, 2, 3, 4, 5, 6]);
    close(
      parts("aten.permute.default", [z, [1, 0]], [3, 2]),
      [0, 3, 1, 4, 2, 5].flatMap(i => x[i] as Pair),
    );
    close(
      parts("aten.slice.Tensor", [z, 1, 1, 9223372036854775807], [2, 2]),
      [1, 2, 4, 5].flatMap(i => x[i] as Pair),
    );
    close(parts("aten.reshape.default", [z, [6]], [6]), x.flat());
  });

  it("say what there is none of", () => {
    expect(() => parts("aten.digamma.default", [complex([4])], [4])).toThrow(/no aten\.\S+ of complex64/);
  });
});
