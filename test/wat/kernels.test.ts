// Kernels of loop nests written by hand, run through wabt and compared with what their bodies mean.
import type { DType, OpName } from "@fuselens/compiler/aten/types";
import { UnsupportedOnCpu } from "@fuselens/compiler/inductor/codegen/wat/index";
import { trueDiv } from "@fuselens/compiler/inductor/symbolic/divide";
import { add, type Expr, int, mul, sub } from "@fuselens/compiler/inductor/symbolic/expr";
import { InternTable, withInternTable } from "@fuselens/compiler/inductor/symbolic/index";
import { describe, expect, it } from "vitest";
import { type CheckOptions, KernelChecker } from "./check_kernel";
import { type HandGraph, handSchedule, sizeSymbol } from "./hand_built";

/** runs every kernel of the graph and compares; returns the checker, for looking at values */
function check(g: HandGraph, options: CheckOptions = {}): { checker: KernelChecker; kernels: number; texts: string[] } {
  const schedule = handSchedule(g);
  const checker = new KernelChecker(schedule, { limit: 1e7, ...options });
  const results = checker.run();
  for (const r of results) {
    expect(r.ran).toBe(true);
    expect(r.differences, r.kernel.text).toEqual([]);
  }
  return { checker, kernels: results.length, texts: results.map(r => r.kernel.text) };
}

const test = (name: string, run: () => void): void => it(name, () => withInternTable(new InternTable(), run));

const X = int(37);
const f32 = (size: readonly number[]) => ({ dtype: "float32" as DType, size });

describe("pointwise kernels", () => {
  const unary: OpName[] = [
    "abs",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "square",
    "relu",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "asinh",
    "atan",
    "erf",
    "floor",
    "ceil",
    "trunc",
    "round",
    "sign",
    "neg",
    "isnan",
    "isinf",
    "signbit",
  ];
  for (const dtype of ["float32", "float64", "float16", "bfloat16"] as const) {
    test(`compute every function of one number in ${dtype}`, () => {
      for (const fn of unary) {
        const isBool = fn.startsWith("is") || fn === "signbit";
        check(
          {
            inputs: { a: { dtype, size: [101] } },
            operations: [
              {
                name: "out",
                dtype: isBool ? "bool" : dtype,
                size: [101],
                iter: [101],
                run: (ops, [i = X]) => ops.store("out", i, ops.op(fn, ops.load("a", i)), null),
              },
            ],
          },
          { tolerance: 3e-6 },
        );
      }
    });
  }

  const binary: OpName[] = [
    "add",
    "sub",
    "mul",
    "truediv",
    "maximum",
    "minimum",
    "atan2",
    "copysign",
    "hypot",
    "fmod",
    "remainder",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
  ];
  test("compute every function of two floats", () => {
    for (const fn of binary) {
      const isBool = ["eq", "ne", "lt", "le", "gt", "ge"].includes(fn);
      check({
        inputs: { a: f32([101]), b: f32([101]) },
        operations: [
          {
            name: "out",
            dtype: isBool ? "bool" : "float32",
            size: [101],
            iter: [101],
            run: (ops, [i = X]) => ops.store("out", i, ops.op(fn, ops.load("a", i), ops.load("b", i)), null),
          },
        ],
      });
    }
  });

  const whole: OpName[] = [
    "add",
    "sub",
    "mul",
    "maximum",
    "minimum",
    "floordiv",
    "truncdiv",
    "remainder",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "lt",
    "ge",
  ];
  for (const dtype of ["int64", "int32", "int16", "int8", "uint8"] as const) {
    test(`compute functions of two integers in ${dtype}, which wrap`, () => {
      const fill = (buffer: string, _d: DType, i: number): number => {
        const v = buffer === "b" ? (i % 13) + 1 : ((i * 77) % 256) - (dtype === "uint8" ? 0 : 128);
        return dtype !== "uint8" && buffer === "b" && i % 3 === 0 ? -v : v;
      };
      for (const fn of whole) {
        const isBool = ["eq", "lt", "ge"].includes(fn);
        check(
          {
            inputs: { a: { dtype, size: [300] }, b: { dtype, size: [300] } },
            operations: [
              {
                name: "out",
                dtype: isBool ? "bool" : dtype,
                size: [300],
                iter: [300],
                run: (ops, [i = X]) => ops.store("out", i, ops.op(fn, ops.load("a", i), ops.load("b", i)), null),
              },
            ],
          },
          { fill },
        );
      }
    });
  }

  test("convert between all dtypes", () => {
    const all: DType[] = [
      "float64",
      "float32",
      "float16",
      "bfloat16",
      "int64",
      "int32",
      "int16",
      "int8",
      "uint8",
      "bool",
      "float8_e4m3fn",
      "float8_e5m2",
    ];
    for (const from of all) {
      for (const to of all) {
        check({
          inputs: { a: { dtype: from, size: [40] } },
          operations: [
            {
              name: "out",
              dtype: to,
              size: [40],
              iter: [40],
              run: (ops, [i = X]) => ops.store("out", i, ops.toDtype(ops.load("a", i), to, from), null),
            },
          ],
        });
      }
    }
  });

  test("read the same bits as another dtype", () => {
    const pairs: [DType, DType][] = [
      ["float32", "int32"],
      ["int32", "float32"],
      ["float64", "int64"],
      ["bfloat16", "int16"],
      ["int16", "bfloat16"],
      ["float16", "int16"],
      ["int16", "float16"],
      ["uint8", "int8"],
      ["int8", "uint8"],
    ];
    for (const [from, to] of pairs) {
      check({
        inputs: { a: { dtype: from, size: [50] } },
        operations: [
          {
            name: "out",
            dtype: to,
            size: [50],
            iter: [50],
            run: (ops, [i = X]) => ops.store("out", i, ops.toDtypeBitcast(ops.load("a", i), to, from), null),
          },
        ],
      });
    }
  });

  test("transpose, broadcast and flip by their indices", () => {
    check({
      inputs: { a: f32([6, 35]), row: f32([6]), col: f32([35]) },
      operations: [
        {
          name: "out",
          ...f32([35, 6]),
          iter: [35, 6],
          run: (ops, [i = X, j = X]) => {
            const x = ops.load("a", add(mul(35, j), i));
            const y = ops.op("add", x, ops.load("row", j));
            ops.store("out", add(mul(6, i), j), ops.op("mul", y, ops.load("col", sub(34, i))), null);
          },
        },
      ],
    });
  });

  test("read rows from the last to the first, beginning below the first address that a row alone would have", () => {
    check({
      inputs: { a: f32([64, 64]) },
      operations: [
        {
          name: "out",
          ...f32([64, 64]),
          iter: [64, 64],
          run: (ops, [i = X, j = X]) => {
            const x = ops.op("sin", ops.load("a", add(mul(64, sub(63, i)), j)));
            ops.store("out", add(mul(64, i), j), x, null);
          },
        },
      ],
    });
  });

  for (const dtype of ["float32", "float64", "bfloat16", "int64", "int32", "uint8", "bool"] as const) {
    test(`turn over tiles of ${dtype}, whole and cut`, () => {
      for (const [rows, columns] of [
        [64, 128],
        [70, 33],
        [16, 200],
      ] as const) {
        const { texts } = check({
          inputs: { a: { dtype, size: [2, rows, columns] }, b: { dtype, size: [2, columns, rows] } },
          operations: [
            {
              name: "out",
              dtype,
              size: [2, columns, rows],
              iter: [2, columns, rows],
              run: (ops, [p = X, i = X, j = X]) => {
                const plane = mul(rows * columns, p);
                const x = ops.load("a", add(plane, add(mul(columns, j), i)));
                const at = add(plane, add(mul(rows, i), j));
                ops.store("out", at, ops.op("maximum", x, ops.load("b", at)), null);
              },
            },
          ],
        });
        if (process.env["FUSELENS_MODE"] === undefined) expect(texts[0]).toContain("$turn_");
      }
    });
  }

  test("load under a mask only what the mask allows", () => {
    // the shifted load would leave the buffer; memory there holds NaN
    check({
      inputs: { a: f32([50]) },
      operations: [
        {
          name: "out",
          ...f32([60]),
          iter: [60],
          run: (ops, [i = X]) => {
            const inside = ops.op("lt", ops.indexExpr(i, "int64"), ops.constant(50, "int64"));
            ops.store(
              "out",
              i,
              ops.masked(inside, () => ops.op("exp", ops.load("a", i)), -1.5),
              null,
            );
          },
        },
      ],
    });
  });

  test("nest masks", () => {
    check({
      inputs: { a: f32([20]) },
      operations: [
        {
          name: "out",
          ...f32([30]),
          iter: [30],
          run: (ops, [i = X]) => {
            const at = ops.indexExpr(i, "int64");
            const low = ops.op("ge", at, ops.constant(5, "int64"));
            const high = ops.op("lt", at, ops.constant(25, "int64"));
            const x = ops.masked(low, () => ops.masked(high, () => ops.load("a", sub(i, 5)), 7), 9);
            ops.store("out", i, x, null);
          },
        },
      ],
    });
  });

  test("share loads and values among fused operations, and keep removed buffers out of memory", () => {
    const { kernels, texts } = check({
      inputs: { a: f32([64, 33]) },
      outputs: ["second"],
      operations: [
        {
          name: "first",
          ...f32([64, 33]),
          iter: [64, 33],
          run: (ops, [i = X, j = X]) =>
            ops.store("first", add(mul(33, i), j), ops.op("sin", ops.load("a", add(mul(33, i), j))), null),
        },
        {
          name: "second",
          ...f32([64, 33]),
          iter: [64 * 33],
          run: (ops, [i = X]) => ops.store("second", i, ops.op("mul", ops.load("first", i), ops.load("a", i)), null),
        },
      ],
    });
    expect(kernels).toBe(1);
    expect(texts[0]?.match(/f32\.load/g)?.length).toBeLessThan(3);
  });
});

describe("indirect indices", () => {
  const gather = (data: readonly number[]) => {
    const schedule = handSchedule({
      inputs: { table: f32([10, 4]), index: { dtype: "int64", size: [data.length] } },
      operations: [
        {
          name: "out",
          ...f32([data.length, 4]),
          iter: [data.length, 4],
          run: (ops, [i = X, j = X]) => {
            const row = ops.indirectIndexing(ops.load("index", i), int(10)) as typeof X;
            ops.store("out", add(mul(4, i), j), ops.load("table", add(mul(4, row), j)), null);
          },
        },
      ],
    });
    return new KernelChecker(schedule, { data: new Map([["index", data]]) });
  };

  test("are followed, negative ones from the end", () => {
    expect(gather([3, 0, 9, -1, -10]).run()[0]?.differences).toEqual([]);
  });

  test("out of bounds are a fault with index, size and line", () => {
    const checker = gather([3, 10]);
    let kernel: ReturnType<KernelChecker["generate"]> | undefined;
    for (const node of checker.schedule.nodes) kernel = checker.generate(node);
    expect(() => checker.runNode(checker.schedule.nodes[0] as (typeof checker.schedule.nodes)[number])).toThrow();
    const view = new DataView(checker.memory.buffer);
    expect(view.getInt32(64, true)).toBe(1);
    expect(view.getBigInt64(72, true)).toBe(10n);
    expect(view.getBigInt64(80, true)).toBe(10n);
    expect(kernel?.text.split("\n")[view.getInt32(88, true) - 1]).toContain("out_of_bounds");
  });

  test("add up where they meet", () => {
    const { checker } = check(
      {
        inputs: { a: f32([200]), index: { dtype: "int64", size: [200] }, total: f32([7]) },
        outputs: ["total"],
        operations: [
          {
            name: "sum",
            ...f32([7]),
            target: "total",
            iter: [200],
            kind: { kind: "Scatter", mode: "atomic_add" },
            run: (ops, [i = X]) => {
              const at = ops.indirectIndexing(ops.load("index", i), int(7)) as typeof X;
              ops.store("sum", at, ops.load("a", i), "atomic_add");
            },
          },
        ],
      },
      { fill: (b, _d, i) => (b === "index" ? (i * 5) % 7 : b === "total" ? 1 : i) },
    );
    expect([...checker.values("total")].reduce((a, b) => a + b)).toBe(7 + (199 * 200) / 2);
  });
});

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
