// Reductions, written by hand.
import type { DType } from "@fuselens/compiler/aten/types";
import { add, type Expr, mul } from "@fuselens/compiler/inductor/symbolic/expr";
import { describe, expect } from "vitest";
import { check, f32, test, X } from "./checked";
import type { HandGraph } from "./hand_built";

const reduceRows = (type: Parameters<typeof reduction>[0], dtype: DType, rows = 19, columns = 53) =>
  reduction(type, dtype, [rows], [columns], (i, r) => add(mul(columns, i), r));
const reduceColumns = (type: Parameters<typeof reduction>[0], dtype: DType, rows = 19, columns = 53) =>
  reduction(type, dtype, [columns], [rows], (i, r) => add(i, mul(columns, r)));

type Kind = "sum" | "prod" | "max" | "min" | "any" | "xor_sum" | "argmax" | "argmin";

function reduction(
  type: Kind,
  dtype: DType,
  iter: number[],
  reduce: number[],
  at: (i: typeof X, r: typeof X) => ReturnType<typeof add>,
): HandGraph {
  const out: DType = type.startsWith("arg") ? "int64" : type === "any" ? "bool" : dtype;
  return {
    inputs: { a: { dtype, size: [(iter[0] as number) * (reduce[0] as number)] } },
    operations: [
      {
        name: "out",
        dtype: out,
        size: iter,
        iter,
        reduce,
        run: (ops, [i = X], [r = X]) => {
          const [v] = ops.reduction(out, dtype, type, ops.load("a", at(i as typeof X, r as typeof X)));
          if (v !== undefined) ops.storeReduction("out", i, v);
        },
      },
    ],
  };
}

describe("reductions", () => {
  for (const dtype of ["float32", "float64", "int64", "int32", "bfloat16", "float16"] as const) {
    test(`along rows and along columns in ${dtype}`, () => {
      const kinds: Kind[] = /int/.test(dtype)
        ? ["sum", "prod", "max", "min", "any", "xor_sum", "argmax", "argmin"]
        : ["sum", "prod", "max", "min", "any", "argmax", "argmin"];
      for (const k of kinds) {
        check(reduceRows(k, dtype), { tolerance: 1e-5 });
        check(reduceColumns(k, dtype), { tolerance: 1e-5 });
        check(reduceRows(k, dtype, 1, 1000), { tolerance: 1e-5 });
      }
    });
  }

  test("of booleans", () => {
    check(reduceRows("any", "bool"));
    check(reduceRows("max", "bool"));
  });

  test("find the first extreme, and NaN before all", () => {
    const data = [1, 5, 5, 2, Number.NaN, 9, Number.NaN, 3];
    const { checker } = check(reduceRows("argmax", "float32", 2, 4), { data: new Map([["a", data]]) });
    expect([...checker.values("out")]).toEqual([1, 0]);
    const { checker: max } = check(reduceRows("max", "float32", 2, 4), { data: new Map([["a", data]]) });
    expect([...max.values("out")]).toEqual([5, Number.NaN]);
  });

  test("of variance by Welford, then what needs it, in one kernel", () => {
    const { kernels } = check({
      inputs: { a: f32([21, 67]) },
      operations: [
        {
          name: "mean",
          ...f32([21]),
          iter: [21],
          reduce: [67],
          kind: { kind: "WelfordReduction", type: "welford_reduce", hint: "INNER", srcDtype: "float32" },
          run: (ops, [i = X], [r = X]) => {
            const [mean] = ops.reduction("float32", "float32", "welford_reduce", ops.load("a", add(mul(67, i), r)));
            if (mean !== undefined) ops.storeReduction("mean", i, mean);
          },
        },
        {
          name: "m2",
          ...f32([21]),
          iter: [21],
          reduce: [67],
          kind: {
            kind: "WelfordReduction",
            type: "welford_reduce",
            hint: "INNER",
            srcDtype: "float32",
            outputIndex: 1,
          },
          run: (ops, [i = X], [r = X]) => {
            const [, m2] = ops.reduction("float32", "float32", "welford_reduce", ops.load("a", add(mul(67, i), r)));
            if (m2 !== undefined) ops.storeReduction("m2", i, m2);
          },
        },
        {
          name: "normed",
          ...f32([21, 67]),
          iter: [21, 67],
          run: (ops, [i = X, j = X]) => {
            const x = ops.op("sub", ops.load("a", add(mul(67, i), j)), ops.load("mean", i));
            const scale = ops.op("rsqrt", ops.op("truediv", ops.load("m2", i), ops.constant(67, "float32")));
            ops.store("normed", add(mul(67, i), j), ops.op("mul", x, scale), null);
          },
        },
      ],
    });
    expect(kernels).toBe(1);
  });

  test("of softmax in one pass", () => {
    check(
      {
        inputs: { a: f32([9, 40]) },
        operations: [0, 1].map(k => ({
          name: k ? "sum" : "max",
          ...f32([9]),
          iter: [9],
          reduce: [40],
          kind: {
            kind: "OnlineSoftmaxReduction" as const,
            type: "online_softmax_reduce" as const,
            hint: "INNER" as const,
            srcDtype: "float32" as const,
            outputIndex: k,
          },
          run: (ops, [i = X], [r = X]) => {
            const results = ops.reduction(
              "float32",
              "float32",
              "online_softmax_reduce",
              ops.load("a", add(mul(40, i), r)),
            );
            ops.storeReduction(k ? "sum" : "max", i, results[k] as (typeof results)[number]);
          },
        })),
      },
      { fill: (_b, _d, i) => (i % 40 === 3 ? Number.NEGATIVE_INFINITY : (i % 17) * 3 - 20) },
    );
  });

  const softmaxOf = (columns: number, fill: (row: number, column: number) => number): { texts: readonly string[] } => {
    const at = (i: Expr, j: Expr): Expr => add(mul(columns, i), j);
    const reduction = (k: number): Parameters<typeof check>[0]["operations"][number] => ({
      name: k ? "sum" : "max",
      ...f32([6]),
      iter: [6],
      reduce: [columns],
      kind: {
        kind: "OnlineSoftmaxReduction",
        type: "online_softmax_reduce",
        hint: "INNER",
        srcDtype: "float32",
        outputIndex: k,
      },
      run: (ops, [i = X], [r = X]) => {
        const x = ops.op("mul", ops.load("a", at(i, r)), ops.constant(0.5, "float32"));
        const results = ops.reduction("float32", "float32", "online_softmax_reduce", x);
        ops.storeReduction(k ? "sum" : "max", i, results[k] as (typeof results)[number]);
      },
    });
    return check(
      {
        inputs: { a: f32([6, columns]) },
        outputs: ["out"],
        operations: [
          reduction(0),
          reduction(1),
          {
            name: "out",
            ...f32([6, columns]),
            iter: [6, columns],
            run: (ops, [i = X, j = X]) => {
              const x = ops.op("mul", ops.load("a", at(i, j)), ops.constant(0.5, "float32"));
              const power = ops.op("exp", ops.op("sub", x, ops.load("max", i)));
              ops.store("out", at(i, j), ops.op("truediv", power, ops.load("sum", i)), null);
            },
          },
        ],
      },
      { fill: (_b, _d, i) => fill(Math.floor(i / columns), i % columns) },
    );
  };

  const rows: readonly (readonly [what: string, columns: number, fill: (row: number, column: number) => number])[] = [
    ["of a usual row", 64, (row, j) => ((j * 7 + row) % 23) - 11],
    ["of a row that is no multiple of four", 71, (row, j) => ((j * 7 + row) % 23) - 11],
    ["whose maximum grows by more than the headroom, again and again", 128, (row, j) => j * (row + 1)],
    ["whose last element is far above the others", 67, (_row, j) => (j === 66 ? 300 : j / 8)],
    ["of which most is masked", 64, (row, j) => (j % 5 === row ? j : Number.NEGATIVE_INFINITY)],
    ["whose first turn is masked", 64, (_row, j) => (j < 16 ? Number.NEGATIVE_INFINITY : -j)],
    ["of numbers far below the maximum", 64, (_row, j) => (j === 3 ? 0 : -170 - j)],
    ["of numbers that are all far below zero", 64, (_row, j) => -2000 + j],
  ];
  for (const [what, columns, fill] of rows)
    test(`of a softmax, whose exponentials the next loop takes over: ${what}`, () => {
      const { texts } = softmaxOf(columns, fill);
      expect(texts[0]).toContain("$scratch");
      expect(texts[0]).toContain("$factor");
    });

  test("whose values a second loop needs, through the thread's own memory", () => {
    // exp(x) is written in the loop of the sum and read in the loop after it
    const { kernels, texts } = check({
      inputs: { a: f32([12, 50]) },
      outputs: ["out"],
      operations: [
        {
          name: "e",
          ...f32([12, 50]),
          iter: [12, 50],
          run: (ops, [i = X, j = X]) =>
            ops.store("e", add(mul(50, i), j), ops.op("exp", ops.load("a", add(mul(50, i), j))), null),
        },
        {
          name: "s",
          ...f32([12]),
          iter: [12],
          reduce: [50],
          run: (ops, [i = X], [r = X]) => {
            const [s] = ops.reduction("float32", "float32", "sum", ops.load("e", add(mul(50, i), r)));
            if (s !== undefined) ops.storeReduction("s", i, s);
          },
        },
        {
          name: "out",
          ...f32([12, 50]),
          iter: [12, 50],
          run: (ops, [i = X, j = X]) =>
            ops.store(
              "out",
              add(mul(50, i), j),
              ops.op("truediv", ops.load("e", add(mul(50, i), j)), ops.load("s", i)),
              null,
            ),
        },
      ],
    });
    expect(kernels).toBe(1);
    expect(texts[0]).toContain("$scratch");
  });
});
