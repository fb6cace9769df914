// Pointwise kernels and indirect indices, written by hand.
import type { DType, OpName } from "@fuselens/compiler/aten/types";
import { add, int, mul, sub } from "@fuselens/compiler/inductor/symbolic/expr";
import { describe, expect } from "vitest";
import { KernelChecker } from "./check_kernel";
import { check, f32, test, X } from "./checked";
import { handSchedule } from "./hand_built";

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
