import { describe, expect, it } from "vitest";
import { difference } from "./compare";
import { accessor, itemSize } from "./dtypes";
import { forEachElement, type TensorView } from "./tensors";

const buffer = new SharedArrayBuffer(2 ** 20);

function view(address: number, dtype: string, size: readonly number[], stride: readonly number[]): TensorView {
  return { size, stride, address, dtype, itemSize: itemSize(dtype) };
}

function filled(t: TensorView, f: (flat: number) => number): TensorView {
  const element = accessor(buffer, t.dtype);
  forEachElement(t, (flat, address) => element.set(address, f(flat)));
  return t;
}

describe("the difference of two tensors", () => {
  it.each([
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "float8_e5m2",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
  ])("of %s is that of the elements farthest apart", dtype => {
    const a = filled(view(1024, dtype, [4, 6], [6, 1]), i => (i === 13 ? 0 : 1));
    const b = filled(view(4096, dtype, [4, 6], [6, 1]), () => 1);
    expect(difference(buffer, a, b)).toEqual({ maxAbs: 1, maxRel: 1 });
    expect(difference(buffer, b, b)).toEqual({ maxAbs: 0, maxRel: 0 });
  });

  it("is by element whatever the strides", () => {
    const value = (i: number) => (i === 5 ? 9 : i);
    const rows = filled(view(1024, "float32", [4, 6], [6, 1]), value);
    const columns = filled(view(4096, "float32", [4, 6], [1, 4]), value);
    const alike = filled(view(8192, "float32", [4, 6], [1, 4]), i => i);
    const gaps = filled(view(16384, "float32", [4, 6], [12, 2]), i => i);
    expect(difference(buffer, rows, columns).maxAbs).toBe(0);
    expect(difference(buffer, columns, alike).maxAbs).toBe(4);
    expect(difference(buffer, gaps, alike).maxAbs).toBe(0);
    expect(difference(buffer, rows, gaps).maxAbs).toBe(4);
  });

  it("is in the last of many pieces too", () => {
    const size = [100_001];
    const a = filled(view(1024, "float32", size, [1]), i => (i === 100_000 ? 2 : 1));
    const b = filled(view(2 ** 19, "float32", size, [1]), () => 1);
    expect(difference(buffer, a, b).maxAbs).toBe(1);
  });

  it("relates an element's error to the element, or to the mean where that is more", () => {
    const size = [4];
    const of = (address: number, xs: readonly number[]) =>
      filled(view(address, "float64", size, [1]), i => xs[i] as number);
    const b = of(1024, [1000, 1, 1, Number.NaN]);
    expect(difference(buffer, of(2048, [1010, 1, 1, Number.NaN]), b)).toEqual({ maxAbs: 10, maxRel: 0.01 });
    expect(difference(buffer, of(2048, [1000, 1, 4.34, Number.NaN]), b).maxRel).toBeCloseTo(0.01);
    expect(difference(buffer, of(2048, [0, 0, 0, 1]), of(1024, [0, 0, 0, 0]))).toEqual({
      maxAbs: 1,
      maxRel: Number.POSITIVE_INFINITY,
    });
  });

  it("takes what is not finite for infinitely far from anything else", () => {
    const of = (address: number, x: number) => filled(view(address, "float32", [2], [1]), i => (i ? x : 1));
    const [nan, inf, one] = [of(1024, Number.NaN), of(2048, Number.POSITIVE_INFINITY), of(4096, 1)];
    expect(difference(buffer, nan, nan).maxAbs).toBe(0);
    expect(difference(buffer, inf, inf).maxAbs).toBe(0);
    expect(difference(buffer, nan, one).maxAbs).toBe(Number.POSITIVE_INFINITY);
    expect(difference(buffer, inf, one).maxAbs).toBe(Number.POSITIVE_INFINITY);
    expect(difference(buffer, one, view(1024, "float32", [1], [1])).maxAbs).toBe(Number.POSITIVE_INFINITY);
  });
});
