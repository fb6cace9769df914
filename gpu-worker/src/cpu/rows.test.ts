import { beforeAll, describe, expect, it } from "vitest";
import { uniform } from "./fill";
import { createTensor, fillTensor } from "./inputs";
import type { Machine } from "./machine";
import { valueRow } from "./rows";
import { contiguousStride } from "./tensors";
import { testMachine } from "./testing/machine";

let machine: Machine;
beforeAll(async () => {
  machine = await testMachine();
});

function rowOf(size: number[], dtype: string, fill: Parameters<typeof fillTensor>[2], stride = contiguousStride(size)) {
  const held = createTensor(machine, { size, stride, dtype });
  fillTensor(machine, held.view, fill);
  return valueRow(machine, held.view);
}

describe("value rows", () => {
  it("of complex tensors are those of their parts", () => {
    const row = rowOf([2, 3], "complex64", { how: "randn", k: 4 });
    expect([row.shape, row.dtype]).toEqual([[2, 3], "torch.complex64"]);
    const parts = rowOf([2, 3, 2], "float32", { how: "randn", k: 4 });
    expect([row.sum, row.wsum, row.values]).toEqual([parts.sum, parts.wsum, parts.values]);
    expect(rowOf([2], "complex128", { how: "data", values: [3, -1] }).values).toEqual([3, 0, -1, 0]);
  });

  // weighted sums that torch computed on a GPU, to the last bit
  it.each([
    { count: 16384, k: 4, high: 32000, wsum: 131502069.91761269 },
    { count: 100000, k: 1, high: 5000, wsum: 125007206.18355505 },
  ])("sums $count integers in the GPU's order", ({ count, k, high, wsum }) => {
    expect(rowOf([count], "int64", { how: "randint", k, low: 0, high }).wsum).toBe(wsum);
  });

  it("counts elements row-major, however they lie in memory", () => {
    const row = rowOf([300, 5], "float32", { how: "randn", k: 3 });
    const turned = rowOf([300, 5], "float32", { how: "randn", k: 3 }, [1, 300]);
    expect(turned).toEqual(row);
  });

  it("fills every dtype in kernels as the definition says", () => {
    for (const dtype of [
      "float32",
      "float64",
      "float16",
      "bfloat16",
      "int64",
      "int32",
      "int16",
      "int8",
      "uint8",
      "bool",
    ]) {
      const fill = /int|bool/.test(dtype)
        ? ({ how: "randint", k: 2, low: 0, high: 2 } as const)
        : ({ how: "randn", k: 2 } as const);
      const row = rowOf([40, 25], dtype, fill);
      const digits = dtype === "bfloat16" ? 1 : dtype === "float16" ? 2 : 6;
      row.at.forEach((flat, i) => {
        const u = uniform(flat, 2);
        const want = /int|bool/.test(dtype) ? Math.floor(u * 2) : (u - 0.5) * 3.4641016151377544;
        expect(row.values[i]).toBeCloseTo(want, digits);
      });
    }
  });

  it("writes non-finite numbers as strings", () => {
    expect(rowOf([1], "float32", { how: "full", value: Number.NEGATIVE_INFINITY }).values).toEqual(["-inf"]);
  });
});
