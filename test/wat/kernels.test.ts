// Scans, sorts, several nests in one launch, symbolic sizes and random numbers, written by hand.
import { UnsupportedOnCpu } from "@fuselens/compiler/inductor/codegen/wat/index";
import { trueDiv } from "@fuselens/compiler/inductor/symbolic/divide";
import { add, int, mul, sub } from "@fuselens/compiler/inductor/symbolic/expr";
import { describe, expect } from "vitest";
import { KernelChecker } from "./check_kernel";
import { check, f32, test, X } from "./checked";
import { handSchedule, sizeSymbol } from "./hand_built";

describe("scans and sorts", () => {
  test("run along a dim", () => {
    for (const dtype of ["float32", "int64"] as const) {
      check({
        inputs: { a: { dtype, size: [8, 31] } },
        operations: [
          {
            name: "out",
            dtype,
            size: [8, 31],
            iter: [8],
            reduce: [31],
            kind: { kind: "Scan" },
            run: (ops, [i = X], [r = X]) => {
              const [v] = ops.scan([dtype], (o, [p], [q]) => [o.op("add", p as never, q as never)], [
                ops.load("a", add(mul(31, i), r)),
              ]);
              if (v !== undefined) ops.store("out", add(mul(31, i), r), v, null);
            },
          },
        ],
      });
    }
  });

  test("carry a pair: the running maximum and its place", () => {
    for (const which of [0, 1]) {
      check({
        inputs: { a: f32([5, 24]) },
        operations: [
          {
            name: "out",
            dtype: which ? "int64" : "float32",
            size: [5, 24],
            iter: [5],
            reduce: [24],
            kind: { kind: "Scan" },
            run: (ops, [i = X], [r = X]) => {
              const at = ops.indexExpr(r, "int64");
              const results = ops.scan(
                ["float32", "int64"],
                (o, [p, pi], [q, qi]) => {
                  const keep = o.op("gt", p as never, q as never);
                  return [o.op("where", keep, p as never, q as never), o.op("where", keep, pi as never, qi as never)];
                },
                [ops.load("a", add(mul(24, i), r)), at],
              );
              ops.store("out", add(mul(24, i), r), results[which] as (typeof results)[number], null);
            },
          },
        ],
      });
    }
  });

  for (const descending of [false, true]) {
    for (const length of [1, 7, 8, 9, 100]) {
      test(`sort rows of ${length}, ${descending ? "largest" : "smallest"} first, ties in order`, () => {
        for (const which of [0, 1]) {
          check(
            {
              inputs: { a: f32([3, length]) },
              operations: [
                {
                  name: "out",
                  dtype: which ? "int16" : "float32",
                  size: [3, length],
                  iter: [3],
                  reduce: [length],
                  kind: { kind: "Sort", stable: true, descending },
                  run: (ops, [i = X], [r = X]) => {
                    const results = ops.sort(
                      ["float32", "int16"],
                      [ops.load("a", add(mul(length, i), r)), ops.indexExpr(r, "int16")],
                      true,
                      descending,
                    );
                    ops.store("out", add(mul(length, i), r), results[which] as (typeof results)[number], null);
                  },
                },
              ],
            },
            { fill: (_b, _d, i) => (i % 11 === 5 ? Number.NaN : ((i * 7) % 13) - 6) },
          );
        }
      });
    }
  }
});

describe("several nests in one launch", () => {
  test("of a foreach list run side by side", () => {
    const sizes = [100, 7, 3000];
    const { kernels } = check({
      inputs: Object.fromEntries(sizes.map((n, k) => [`a${k}`, f32([n])])),
      foreach: [sizes.map((_, k) => `op${k}`)],
      operations: sizes.map((n, k) => ({
        name: `out${k}`,
        ...f32([n]),
        iter: [n],
        run: (ops, [i = X]) =>
          ops.store(`out${k}`, i, ops.op("mul", ops.load(`a${k}`, i), ops.constant(k + 2, "float32")), null),
      })),
    });
    expect(kernels).toBe(1);
  });
});

describe("sizes that are symbols", () => {
  test("are read at run time", () => {
    const [s, t] = [sizeSymbol("s0"), sizeSymbol("s1")];
    const { texts } = check({
      symbols: new Map([
        [s, 13],
        [t, 21],
      ]),
      inputs: { a: { dtype: "float32", size: [s, t] } },
      operations: [
        {
          name: "sum",
          dtype: "float32",
          size: [s],
          iter: [s],
          reduce: [t],
          run: (ops, [i = X], [r = X]) => {
            const [v] = ops.reduction("float32", "float32", "sum", ops.load("a", add(mul(t, i), r)));
            if (v !== undefined) ops.storeReduction("sum", i, v);
          },
        },
        {
          name: "out",
          dtype: "float32",
          size: [t, s],
          iter: [t, s],
          run: (ops, [i = X, j = X]) => ops.store("out", add(mul(s, i), j), ops.load("a", add(mul(t, j), i)), null),
        },
      ],
    });
    expect(texts.every(text => text.includes("$s0"))).toBe(true);
  });

  test("have quotients that are no whole numbers", () => {
    const s = sizeSymbol("s0");
    const { checker, kernels } = check({
      symbols: new Map([[s, 13]]),
      inputs: { a: f32([37]) },
      operations: [
        {
          name: "out",
          dtype: "float32",
          size: [37],
          iter: [37],
          run: (ops, [i = X]) => {
            const correction = ops.indexExpr(trueDiv(s, sub(s, int(1))), "float32");
            ops.store("out", i, ops.op("mul", ops.load("a", i), correction), null);
          },
        },
      ],
    });
    expect(kernels).toBe(1);
    const [a, out] = [checker.values("a"), checker.values("out")];
    expect(out).toEqual(a.map(x => Math.fround(x * Math.fround(13 / 12))));
  });
});

describe("random numbers", () => {
  const draw = (kind: "rand" | "randn", n: number): Float64Array => {
    const schedule = handSchedule({
      inputs: { seeds: { dtype: "int64", size: [2] } },
      operations: [
        {
          name: "out",
          ...f32([n]),
          iter: [n],
          run: (ops, [i = X]) =>
            ops.store("out", i, ops.random(kind, ops.loadSeed("seeds", 1), ops.indexExpr(i, "int32")), null),
        },
      ],
    });
    const checker = new KernelChecker(schedule, { limit: 0, data: new Map([["seeds", [1, 42]]]) });
    for (const node of schedule.nodes) checker.executeNode(node);
    return checker.values("out");
  };

  test("are triton's", () => {
    // triton.language.rand(42, 0..3), by the definition of Philox 4x32-10
    const u = draw("rand", 4000);
    expect(u.every(x => x >= 0 && x < 1)).toBe(true);
    expect(u.reduce((a, b) => a + b) / u.length).toBeCloseTo(0.5, 1);
    const z = draw("randn", 4000);
    expect(z.reduce((a, b) => a + b) / z.length).toBeCloseTo(0, 1);
    expect(z.reduce((a, b) => a + b * b, 0) / z.length).toBeCloseTo(1, 1);
  });

  test("as integers stay in their range", () => {
    const schedule = handSchedule({
      inputs: { seeds: { dtype: "int64", size: [1] } },
      operations: [
        {
          name: "out",
          dtype: "int64",
          size: [500],
          iter: [500],
          run: (ops, [i = X]) =>
            ops.store(
              "out",
              i,
              ops.randint64(
                ops.loadSeed("seeds", 0),
                ops.indexExpr(i, "int32"),
                ops.constant(-3, "int64"),
                ops.constant(4, "int64"),
              ),
              null,
            ),
        },
      ],
    });
    const checker = new KernelChecker(schedule, { limit: 0, data: new Map([["seeds", [7]]]) });
    for (const node of schedule.nodes) checker.executeNode(node);
    expect(new Set(checker.values("out"))).toEqual(new Set([-3, -2, -1, 0, 1, 2, 3]));
  });
});

describe("what has no code", () => {
  test("is said by name", () => {
    expect(() =>
      check({
        inputs: { a: { dtype: "complex64", size: [4] } },
        operations: [
          {
            name: "out",
            dtype: "complex64",
            size: [4],
            iter: [4],
            run: (ops, [i = X]) => ops.store("out", i, ops.load("a", i), null),
          },
        ],
      }),
    ).toThrow(UnsupportedOnCpu);
  });
});
